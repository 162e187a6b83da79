//! Places of runs and calls that are in progress, and how many of them the clients of one account may have.
//!
//! An account (a token with those that were made narrower, or a subject) has a share of them (`place_shares`), so that its runs leave
//! room for those of others, however many tokens and sessions it has. What finds no place waits: of those who wait, the first whose
//! account may have one is given the next place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::place_shares::PlaceShares;

/// Places of the runs of all clients. Clones share them.
#[derive(Clone)]
pub(crate) struct RunPlaces(Arc<Mutex<PlacesState>>);

struct PlacesState {
    shares: PlaceShares,
    /// True if one account may have all of them.
    undivided: bool,
    /// Those who wait, in the order in which they came.
    waiting: BTreeMap<u64, Waiter>,
    next: u64,
}

struct Waiter {
    account: String,
    /// True once the place is given, which is told by `told`.
    given: bool,
    told: Arc<Notify>,
}

/// Place of a run, until this is dropped.
pub(crate) struct RunPlace {
    places: RunPlaces,
    account: String,
}

/// Entry among those who wait, until this is dropped.
struct QueueEntry {
    places: RunPlaces,
    number: u64,
}

impl RunPlaces {
    pub(crate) fn new(most: usize) -> Self {
        let shares = PlaceShares::new(most);
        Self(Arc::new(Mutex::new(PlacesState { shares, undivided: false, waiting: BTreeMap::new(), next: 0 })))
    }

    /// Lets each account have all places: in a process that serves one account, nobody else wants them.
    pub(crate) fn leave_undivided(&self) {
        self.lock().undivided = true;
    }

    /// Waits for a place for a run of a client of an account. Clients without an account are the operator's, and may have all of
    /// them. Nothing is taken if the future is dropped.
    pub(crate) async fn take(&self, account: &str) -> RunPlace {
        let told = Arc::<Notify>::default();
        let waiting = {
            let mut state = self.lock();
            let number = state.next;
            state.next += 1;
            let waiter = Waiter { account: account.to_owned(), given: false, told: Arc::clone(&told) };
            state.waiting.insert(number, waiter);
            state.give();
            QueueEntry { places: self.clone(), number }
        };
        // Told before it waits, it does not wait.
        told.notified().await;
        waiting.into_place()
    }

    /// Locks the places. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, PlacesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlacesState {
    /// Gives the places that are left to those who wait and may have one.
    fn give(&mut self) {
        let Self { shares, waiting, undivided, .. } = self;
        for waiter in waiting.values_mut().filter(|waiter| !waiter.given) {
            if shares.left() == 0 {
                return;
            }
            let account = &waiter.account;
            waiter.given =
                if *undivided || account.is_empty() { shares.take_any(account) } else { shares.take(account) };
            if waiter.given {
                waiter.told.notify_one();
            }
        }
    }

    fn leave(&mut self, account: &str) {
        self.shares.leave(account);
        self.give();
    }
}

impl QueueEntry {
    /// Turns the entry, whose place was given, into the place.
    fn into_place(self) -> RunPlace {
        let waiter = self.places.lock().waiting.remove(&self.number);
        RunPlace { places: self.places.clone(), account: waiter.map(|waiter| waiter.account).unwrap_or_default() }
    }
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        let mut state = self.places.lock();
        // A place that was given to somebody who has left is given to the next.
        if let Some(Waiter { account, given: true, .. }) = state.waiting.remove(&self.number) {
            state.leave(&account);
        }
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        self.places.lock().leave(&self.account);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Takes a place if there is one now.
    fn take(places: &RunPlaces, account: &str) -> Option<RunPlace> {
        match pin!(places.take(account)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    }

    fn take_all(places: &RunPlaces, account: &str) -> Vec<RunPlace> {
        std::iter::from_fn(|| take(places, account)).collect()
    }

    #[test]
    fn accounts_that_want_all_places_leave_one_for_another() {
        let places = RunPlaces::new(64);
        let taken: Vec<usize> = (0..8)
            .map(|account| take_all(&places, &account.to_string()))
            .scan(Vec::new(), |kept, own| {
                kept.push(own);
                kept.last().map(Vec::len)
            })
            .collect();
        assert_eq!(taken, [22, 14, 10, 6, 4, 3, 2, 1]);
    }

    #[test]
    fn clients_of_the_operator_may_have_all_places() {
        let places = RunPlaces::new(64);
        assert_eq!(take_all(&places, "").len(), 64);
        let places = RunPlaces::new(64);
        places.leave_undivided();
        assert_eq!(take_all(&places, "the only one").len(), 64);
    }

    #[tokio::test]
    async fn place_that_is_left_is_given_to_the_first_whose_account_may_have_one() {
        let places = RunPlaces::new(4);
        let (own, other) = (take_all(&places, "a"), take(&places, "b"));
        assert_eq!((own.len(), other.is_some()), (2, true));
        let wait = |account: &'static str| {
            let places = places.clone();
            tokio::spawn(async move { places.take(account).await })
        };
        let (same, next) = (wait("a"), wait("c"));
        assert!(next.await.is_ok(), "one place is left, and `c` has none, although `a` came before");
        drop(own);
        assert!(same.await.is_ok(), "`a` has none any more");
    }

    #[tokio::test]
    async fn those_who_wait_no_longer_take_no_place() {
        let places = RunPlaces::new(1);
        let own = take(&places, "a").expect("there is one");
        assert!(take(&places, "b").is_none());
        let waits = tokio::spawn({
            let places = places.clone();
            async move { places.take("c").await }
        });
        tokio::task::yield_now().await;
        waits.abort();
        assert!(waits.await.is_err());
        drop(own);
        assert!(take(&places, "d").is_some());
        let state = places.lock();
        assert!(state.shares.is_unused() && state.waiting.is_empty());
    }
}
