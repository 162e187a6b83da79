//! Requests that are being answered, and how many of them one client may have.
//!
//! A client may have half as many as there are places left (switches share their buffers in this way: dynamic thresholds). Alone it
//! has a third of all, and each further client a third of what the others have left: so it takes many clients that want as many as
//! they can get before another one finds no place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places of the requests of all clients. Clones share them.
#[derive(Clone)]
pub(super) struct RequestPlaces {
    most: usize,
    taken: Arc<Mutex<TakenPlaces>>,
}

#[derive(Default)]
struct TakenPlaces {
    all: usize,
    of_client: HashMap<String, usize>,
}

/// Place of a request, until this is dropped.
pub(super) struct RequestPlace {
    places: RequestPlaces,
    client: String,
}

impl RequestPlaces {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Takes a place for a request of a client; `None` if the client has as many as it may.
    pub(super) fn take(&self, client: &str) -> Option<RequestPlace> {
        let mut taken = self.lock();
        let own = taken.of_client.get(client).copied().unwrap_or_default();
        if own.saturating_mul(2) >= self.most.saturating_sub(taken.all) {
            return None;
        }
        taken.all += 1;
        taken.of_client.insert(client.to_owned(), own + 1);
        Some(RequestPlace { places: self.clone(), client: client.to_owned() })
    }

    /// Locks the places. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, TakenPlaces> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all -= 1;
        if let Some(own) = taken.of_client.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                taken.of_client.remove(&self.client);
            }
        }
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
        assert_eq!(places.lock().of_client.len(), 1);
        drop(other);
        let taken = places.lock();
        assert_eq!((taken.all, taken.of_client.len()), (0, 0));
    }
}
