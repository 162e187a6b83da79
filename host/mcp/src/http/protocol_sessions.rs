//! Protocol sessions with their owners, and limits on how many there are.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most protocol sessions of one token.
const MAX_OF_TOKEN: usize = 32;

/// Most clients with protocol sessions.
const MAX_CLIENTS: usize = 256;

/// Owners of protocol sessions. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ProtocolSessions(Arc<Mutex<OwnedSessions>>);

#[derive(Default)]
struct OwnedSessions {
    /// Names of the owners' tokens, by protocol session.
    owners: HashMap<String, String>,
    /// Numbers of protocol sessions that are about to begin, by the name of the token.
    beginning: HashMap<String, usize>,
}

/// Place of a protocol session that is about to begin. It counts until this is dropped.
pub(super) struct Reservation {
    sessions: ProtocolSessions,
    token: String,
    /// Number of protocol sessions that were about to begin when this one was added to them.
    beginning: usize,
}

impl ProtocolSessions {
    /// Reserves a place for a protocol session of a token; `None` if the token has as many as it may. Clients without a
    /// token are the operator's.
    pub(super) fn reserve(&self, token: &str) -> Option<Reservation> {
        let mut sessions = self.lock();
        let begun = sessions.owners.values().filter(|owner| *owner == token).count();
        let beginning = sessions.beginning.get(token).copied().unwrap_or_default();
        if !token.is_empty() && begun + beginning >= MAX_OF_TOKEN {
            return None;
        }
        sessions.beginning.insert(token.to_owned(), beginning + 1);
        let beginning = sessions.beginning.values().sum();
        Some(Reservation { sessions: self.clone(), token: token.to_owned(), beginning })
    }

    /// Returns true if a request with this token may use a protocol session.
    pub(super) fn owns(&self, protocol_session: &str, token: &str) -> bool {
        self.lock().owners.get(protocol_session).is_none_or(|owner| owner == token)
    }

    /// Lists the protocol sessions that have owners.
    pub(super) fn known(&self) -> BTreeSet<String> {
        self.lock().owners.keys().cloned().collect()
    }

    /// Removes protocol sessions that have ended.
    pub(super) fn remove(&self, ended: &BTreeSet<String>) {
        self.lock().owners.retain(|id, _| !ended.contains(id));
    }

    /// Locks the sessions. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, OwnedSessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Returns true if the server has room for the protocol session; `open` is the number of those that are open, counted
    /// since the reservation was made. One that has just begun may count twice.
    pub(super) fn has_room(&self, open: usize) -> bool {
        open + self.beginning <= MAX_CLIENTS
    }

    /// Turns the place into the protocol session that has begun.
    pub(super) fn begun(self, protocol_session: &str) {
        self.sessions.lock().owners.insert(protocol_session.to_owned(), self.token.clone());
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock();
        if let Some(beginning) = sessions.beginning.get_mut(&self.token) {
            *beginning -= 1;
            if *beginning == 0 {
                sessions.beginning.remove(&self.token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_begin_at_the_same_time_count_for_the_limit_of_their_token() {
        let sessions = ProtocolSessions::default();
        sessions.reserve("a").expect("the first one").begun("a0");
        let beginning: Vec<Reservation> = (1..MAX_OF_TOKEN).filter_map(|_| sessions.reserve("a")).collect();
        assert_eq!(beginning.len(), MAX_OF_TOKEN - 1);
        assert!(sessions.reserve("a").is_none());
        assert!(sessions.reserve("b").is_some(), "another token has places of its own");
        // One fails to begin, and the others begin.
        for (number, reservation) in beginning.into_iter().enumerate().skip(1) {
            reservation.begun(&format!("a{number}"));
        }
        assert!(sessions.reserve("a").is_some());
        assert!(sessions.owns("a1", "a") && !sessions.owns("a1", "b"));
        sessions.remove(&sessions.known());
        let all: Vec<Reservation> = (0..=MAX_OF_TOKEN).filter_map(|_| sessions.reserve("a")).collect();
        assert_eq!(all.len(), MAX_OF_TOKEN);
    }

    #[test]
    fn sessions_that_begin_at_the_same_time_count_for_the_limit_of_all() {
        let sessions = ProtocolSessions::default();
        let beginning: Vec<Reservation> = (0..=MAX_CLIENTS).filter_map(|_| sessions.reserve("")).collect();
        let has_room: Vec<bool> = beginning.iter().map(|reservation| reservation.has_room(0)).collect();
        assert_eq!(has_room, [vec![true; MAX_CLIENTS], vec![false]].concat());
        drop(beginning);
        let reservation = sessions.reserve("").expect("the operator's clients have no limit of their own");
        assert!(reservation.has_room(MAX_CLIENTS - 1) && !reservation.has_room(MAX_CLIENTS));
    }
}
