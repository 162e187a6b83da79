//! How a commit that is asked for twice is made once.
//!
//! A leader that dies leaves its followers' commits unanswered: made or not, nobody knows, and each is asked for again of
//! the next leader. So each commit leaves a mark in the same batch. A follower has slots, one commit in each at a time,
//! and numbers the commits of a slot upwards; the mark of a slot is the number of the last commit that was made:
//!
//! - it is the number of the one that is asked for: that was made, and is answered as made;
//! - it is lower, or there is none: the commit is made, on condition that the mark is still so. If it is not, an earlier
//!   asking for the same commit was under way and has now been made: nothing else writes this mark.
//!
//! A slot is used again when its commit was answered. If a leader hangs and the answer never came, the slot is given up.
//! Marks are as many as a follower has commits under way at once. They go when it says that it goes. Of one that was
//! killed they go when a leader begins and they are [`STALE`]; a follower asks again for [`super::PATIENCE`] only.

use std::time::{Duration, SystemTime};

use crate::store::record::{Batch, MAX_BATCH_BYTES, OWN, Store, StoreError};

use super::wire::Client;

/// The age at which a mark is of no more use: far above how long a follower asks again.
const STALE: Duration = Duration::from_secs(600);

/// The kind of the store's own records that are marks.
const KIND: [u8; 2] = [OWN, b'm'];

/// The record that holds a slot's mark.
fn key(client: &Client, slot: u32) -> Vec<u8> {
    [&KIND[..], client, &slot.to_be_bytes()].concat()
}

/// The number of the commit, and when it was made.
fn value(sequence: u64) -> Vec<u8> {
    [sequence.to_be_bytes(), seconds().to_be_bytes()].concat()
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn number(bytes: Option<&[u8]>) -> Option<u64> {
    bytes.and_then(|bytes| bytes.first_chunk()).map(|bytes| u64::from_be_bytes(*bytes))
}

/// Makes a follower's commit once, however often it is asked for.
pub(super) fn commit_once(
    store: &dyn Store,
    (client, slot, sequence): (&Client, u32, u64),
    mut batch: Batch,
    done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
) {
    let key = key(client, slot);
    // The marks that are added are no part of what the follower may weigh.
    let checked = batch.check().and_then(|()| store.get(&key));
    let found = match checked {
        Ok(found) => found,
        Err(error) => return done(Err(error)),
    };
    let last = number(found.as_deref());
    if last > Some(sequence) {
        return done(Err(StoreError::Damaged(
            "a commit was asked for again after the one that followed it".to_owned(),
        )));
    }
    if last == Some(sequence) {
        // It was made. That it is durable too is certain when what comes behind it has been answered.
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

/// Removes the marks of a follower that goes.
pub(super) fn forget(store: &dyn Store, client: &Client) {
    remove(store, &[&KIND[..], client].concat(), |_| true);
}

/// Removes the marks of followers that were killed long ago.
pub(super) fn sweep(store: &dyn Store) {
    let now = seconds();
    remove(store, &KIND, |value| {
        let made = number(value.get(8..)).unwrap_or(0);
        now.saturating_sub(made) > STALE.as_secs()
    });
}

/// Removes marks. If that fails they stay for a time: they harm nobody.
fn remove(store: &dyn Store, prefix: &[u8], which: impl Fn(&[u8]) -> bool) {
    let Ok(marks) = store.scan(prefix, None, 10_000) else { return };
    let mut batch = Batch { own: true, ..Batch::default() };
    for (key, _) in marks.into_iter().filter(|(_, value)| which(value)) {
        batch.remove(key);
    }
    if !batch.changes.is_empty() {
        store.submit(batch, Box::new(drop));
    }
}
