//! Requests that are being answered, and how many of them one client may have: see `place_shares`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::place_shares::PlaceShares;

/// Places of the requests of all clients. Clones share them.
#[derive(Clone)]
pub(super) struct RequestPlaces(Arc<Mutex<PlaceShares>>);

/// Place of a request, until this is dropped.
pub(super) struct RequestPlace {
    places: RequestPlaces,
    client: String,
}

impl RequestPlaces {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(PlaceShares::new(most))))
    }

    /// Takes a place for a request of a client; `None` if the client has as many as it may.
    pub(super) fn take(&self, client: &str) -> Option<RequestPlace> {
        let taken = self.lock().take(client);
        taken.then(|| RequestPlace { places: self.clone(), client: client.to_owned() })
    }

    /// Locks the places. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, PlaceShares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        self.places.lock().leave(&self.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_want_all_places_leave_one_for_another() {
        let places = RequestPlaces::new(256);
        let mut taken: Vec<Vec<RequestPlace>> = Vec::new();
        for client in 0..12 {
            let own: Vec<RequestPlace> = std::iter::from_fn(|| places.take(&client.to_string())).collect();
            assert!(!own.is_empty(), "client {client} finds no place");
            taken.push(own);
        }
        assert_eq!(taken[..3].iter().map(Vec::len).collect::<Vec<_>>(), [86, 57, 38]);
    }

    #[test]
    fn places_that_are_left_are_those_of_all_again() {
        let places = RequestPlaces::new(4);
        let own = [(); 2].map(|()| places.take("a").expect("there are four"));
        assert!(places.take("a").is_none());
        let other = places.take("b").expect("two are left");
        assert!(places.take("b").is_none());
        drop(own);
        assert!(places.take("b").is_some());
        drop(other);
        assert!(places.lock().is_unused());
    }
}
