//! Protocol sessions with their owners, and limits on how many there are.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clients::ClientName;

/// Most protocol sessions of one account: of a token with those that were made narrower, or of a subject.
const MAX_OF_ACCOUNT: usize = 32;

/// Most protocol sessions.
const MAX_SESSIONS: usize = 256;

/// Owners of protocol sessions. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ProtocolSessions(Arc<Mutex<OwnedSessions>>);

#[derive(Default)]
struct OwnedSessions {
    /// Names of the owners, by protocol session.
    owners: HashMap<String, ClientName>,
    /// Numbers of protocol sessions that are about to begin, by account.
    beginning: HashMap<String, usize>,
}

/// Place of a protocol session that is about to begin. It counts until this is dropped.
pub(super) struct Reservation {
    sessions: ProtocolSessions,
    owner: ClientName,
    /// Number of protocol sessions that the account had, with those that were about to begin, before this one.
    own: usize,
    /// Number of protocol sessions that were about to begin when this one was added to them.
    beginning: usize,
}

impl ProtocolSessions {
    /// Reserves a place for a protocol session of a client; `None` if its account has as many as it may. Clients without a
    /// token are the operator's.
    pub(super) fn reserve(&self, owner: &ClientName) -> Option<Reservation> {
        let mut sessions = self.lock();
        let account = &owner.account;
        let begun = sessions.owners.values().filter(|owner| owner.account == *account).count();
        let beginning = sessions.beginning.get(account).copied().unwrap_or_default();
        let own = begun + beginning;
        if !account.is_empty() && own >= MAX_OF_ACCOUNT {
            return None;
        }
        sessions.beginning.insert(account.clone(), beginning + 1);
        let beginning = sessions.beginning.values().sum();
        Some(Reservation { sessions: self.clone(), owner: owner.clone(), own, beginning })
    }

    /// Returns true if a request of the client with this name may use a protocol session.
    pub(super) fn owns(&self, protocol_session: &str, name: &str) -> bool {
        self.lock().owners.get(protocol_session).is_none_or(|owner| owner.own == name)
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
    /// Returns true if the server has room for the protocol session, and as many places are left to others as its account has;
    /// `open` is the number of those that are open, counted since the reservation was made. One that has just begun may count
    /// twice.
    pub(super) fn has_room(&self, open: usize) -> bool {
        let left = MAX_SESSIONS.checked_sub(open + self.beginning);
        left.is_some_and(|left| self.owner.account.is_empty() || self.own <= left)
    }

    /// Turns the place into the protocol session that has begun.
    pub(super) fn begun(self, protocol_session: &str) {
        self.sessions.lock().owners.insert(protocol_session.to_owned(), self.owner.clone());
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock();
        if let Some(beginning) = sessions.beginning.get_mut(&self.owner.account) {
            *beginning -= 1;
            if *beginning == 0 {
                sessions.beginning.remove(&self.owner.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(account: &str, own: &str) -> ClientName {
        ClientName { own: own.to_owned(), account: account.to_owned() }
    }

    #[test]
    fn sessions_that_begin_at_the_same_time_count_for_the_limit_of_their_account() {
        let (sessions, a) = (ProtocolSessions::default(), client("a", "a"));
        sessions.reserve(&a).expect("the first one").begun("a0");
        let beginning: Vec<Reservation> = (1..MAX_OF_ACCOUNT).filter_map(|_| sessions.reserve(&a)).collect();
        assert_eq!(beginning.len(), MAX_OF_ACCOUNT - 1);
        assert!(sessions.reserve(&a).is_none());
        assert!(sessions.reserve(&client("a", "a.b")).is_none(), "a narrower token has no places of its own");
        assert!(sessions.reserve(&client("b", "b")).is_some(), "another token has");
        // One fails to begin, and the others begin.
        for (number, reservation) in beginning.into_iter().enumerate().skip(1) {
            reservation.begun(&format!("a{number}"));
        }
        assert!(sessions.reserve(&a).is_some());
        assert!(sessions.owns("a1", "a") && !sessions.owns("a1", "b") && !sessions.owns("a1", "a.b"));
        sessions.remove(&sessions.known());
        let all: Vec<Reservation> = (0..=MAX_OF_ACCOUNT).filter_map(|_| sessions.reserve(&a)).collect();
        assert_eq!(all.len(), MAX_OF_ACCOUNT);
    }

    #[test]
    fn sessions_that_begin_at_the_same_time_count_for_the_limit_of_all() {
        let (sessions, operator) = (ProtocolSessions::default(), ClientName::default());
        let beginning: Vec<Reservation> = (0..=MAX_SESSIONS).filter_map(|_| sessions.reserve(&operator)).collect();
        let has_room: Vec<bool> = beginning.iter().map(|reservation| reservation.has_room(0)).collect();
        assert_eq!(has_room, [vec![true; MAX_SESSIONS], vec![false]].concat());
        drop(beginning);
        let reservation = sessions.reserve(&operator).expect("the operator's clients have no limit of their own");
        assert!(reservation.has_room(MAX_SESSIONS - 1) && !reservation.has_room(MAX_SESSIONS));
    }

    #[test]
    fn accounts_that_want_all_sessions_leave_one_for_another() {
        let (sessions, mut open) = (ProtocolSessions::default(), 0);
        for account in 0..12 {
            let account = client(&account.to_string(), "");
            let before = open;
            while let Some(reservation) = sessions.reserve(&account).filter(|reservation| reservation.has_room(open)) {
                reservation.begun(&open.to_string());
                open += 1;
            }
            assert!(open > before, "{account:?} finds no place");
        }
    }
}
