//! Deduplication of commits: a commit that is requested twice is applied once.
//!
//! A leader that dies leaves the commits of its followers unanswered: it is unknown whether they were applied, and each
//! is requested again from the next leader. So each commit writes a mark in the same batch. A follower has slots, with
//! one commit at a time in each, and numbers the commits of a slot in ascending order; the mark of a slot is the number
//! of the last commit applied:
//!
//! - if it equals the number of the requested commit, that commit was applied, and is answered with success;
//! - if it is lower, or there is none, the commit is applied on condition that the mark is still unchanged. If it has
//!   changed, an earlier request for the same commit was under way and has been applied by now: nothing else writes
//!   this mark.
//!
//! A slot is reused when its commit has been answered. If a leader hangs and never answers, the slot is given up. A
//! follower has as many marks as it ever had commits under way at once. Its marks are removed when it says that it
//! closes. Those of a killed follower are removed before a leader serves anybody, if they are older than [`STALE_AGE`]; a
//! follower repeats a request for [`super::LEADER_TIMEOUT`] only.

use std::time::{Duration, SystemTime};

use crate::record::{Batch, MAX_BATCH_BYTES, OWN_KEY_PREFIX, Store, StoreError};

use super::protocol::ClientId;

/// Age at which a mark is obsolete: far longer than a follower repeats a request.
const STALE_AGE: Duration = Duration::from_secs(600);

/// Prefix of the keys of marks, among the store's own records.
const MARK_PREFIX: [u8; 2] = [OWN_KEY_PREFIX, b'm'];

/// Key of the record that holds a slot's mark.
fn key(client: &ClientId, slot: u32) -> Vec<u8> {
    [&MARK_PREFIX[..], client, &slot.to_be_bytes()].concat()
}

/// Encodes a mark: the number of the commit, and the time.
fn value(sequence: u64) -> Vec<u8> {
    [sequence.to_be_bytes(), seconds().to_be_bytes()].concat()
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn number(bytes: Option<&[u8]>) -> Option<u64> {
    bytes.and_then(|bytes| bytes.first_chunk()).map(|bytes| u64::from_be_bytes(*bytes))
}

/// Applies a follower's commit once, however often it is requested.
pub(super) fn commit_once(
    store: &dyn Store,
    (client, slot, sequence): (&ClientId, u32, u64),
    mut batch: Batch,
    done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
) {
    let key = key(client, slot);
    // The mark that is added here does not count towards the follower's size limit.
    let checked = batch.check().and_then(|()| store.get(&key));
    let found = match checked {
        Ok(found) => found,
        Err(error) => return done(Err(error)),
    };
    let last = number(found.as_deref());
    if last > Some(sequence) {
        return done(Err(StoreError::Damaged(
            "a commit was requested again after a later one of the same slot".to_owned(),
        )));
    }
    if last == Some(sequence) {
        // The commit was applied. An empty batch makes sure that it is durable too: its answer comes after the sync.
        batch = Batch::default();
    } else if batch.bytes() + 2 * (key.len() + 64) > MAX_BATCH_BYTES {
        return done(Err(StoreError::TooMuch { bytes: batch.bytes() }));
    } else {
        batch.put(key.clone(), value(sequence));
    }
    batch.own = true;
    batch.expect(key.clone(), found);
    store.submit(
        batch,
        Box::new(move |outcome| match outcome {
            Err(StoreError::Conflict { key: conflict }) if conflict == key => done(Ok(())),
            outcome => done(outcome),
        }),
    );
}

/// Removes the marks of a follower that closes the store.
pub(super) fn remove_marks(store: &dyn Store, client: &ClientId) {
    let removal = removal(store, &[&MARK_PREFIX[..], client].concat(), |_| true);
    if !removal.changes.is_empty() {
        store.submit(removal, Box::new(drop));
    }
}

/// Removes the marks of followers that were killed, or that have not committed for a long time. It returns when they are
/// gone: a mark that disappears while its follower commits again would be taken for that of an earlier request.
pub(super) fn remove_stale_marks(store: &dyn Store) {
    let now = seconds();
    let removal = removal(store, &MARK_PREFIX, |value| {
        let made = number(value.get(8..)).unwrap_or(0);
        now.saturating_sub(made) > STALE_AGE.as_secs()
    });
    if !removal.changes.is_empty() {
        drop(store.commit(removal));
    }
}

/// The removal of marks. If it fails they remain for some time, which does no harm.
fn removal(store: &dyn Store, prefix: &[u8], which: impl Fn(&[u8]) -> bool) -> Batch {
    let marks = store.scan(prefix, None, 10_000).unwrap_or_default();
    let mut batch = Batch { own: true, ..Batch::default() };
    for (key, _) in marks.into_iter().filter(|(_, value)| which(value)) {
        batch.remove(key);
    }
    batch
}
