//! Removal of sessions, and of what is left of them.

use super::record_reader::parse_record;
use super::session_lock::Waiting;
use super::shared_budgets::{ATTEMPTS, FamilyId};
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::store::{Batch, Owner, StoreError};

/// Number of records that one commit removes.
const PAGE: usize = 500;

/// Result of removing a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Number of records removed. Blobs that only this session named are removed by garbage collection.
    pub records: u64,
}

/// Removes a session: its files, budgets, runs and log. An active run is cancelled, in whatever process it runs.
///
/// # Errors
/// If there is no such session, or it cannot be removed. A session of which only a part could be removed no longer
/// exists either.
pub(super) fn remove(sessions: &Sessions, id: &SessionId, waiting: &Waiting) -> Result<Removed, SessionsError> {
    sessions.record_reader().created(id)?;
    let _demand = sessions.terminations().demand(id)?;
    let _session_lock = sessions.locks().take(id, waiting)?;
    let identity = sessions.record_reader().identity(id)?;
    let family = FamilyId::of(id, &parse_record(id, "its first record", &identity)?)?;
    let ones = || record_key::KINDS.iter().filter(|kind| !record_key::MULTIPLE.contains(kind));
    for _ in 0..ATTEMPTS {
        let mut batch =
            Batch::of(Owner { key: record_key::single(b'O', id), epoch: sessions.record_reader().epoch(id)? });
        batch.expect(record_key::single(b'S', id), Some(identity.clone()));
        // From here on the session does not exist: the mark lets a later cleanup find its remaining records.
        batch.put(record_key::single(b'X', id), []);
        ones().for_each(|kind| batch.remove(record_key::single(*kind, id)));
        let is_last = match sessions.families().record(id, family)? {
            Some(founded) => founded.leave(&mut batch),
            None => {
                batch.expect(family.key(), None);
                false
            }
        };
        match sessions.records().commit(batch) {
            // Another session of the family was created or removed meanwhile.
            Err(StoreError::Conflict { key }) if key == family.key() => continue,
            removed => removed?,
        }
        if is_last {
            sessions.families().clear(family)?;
        }
        return Ok(Removed { records: ones().count() as u64 + clear_records(sessions, id)? });
    }
    Err(SessionsError::Busy(id.clone()))
}

/// Removes the remaining records of a session that no longer exists, or does not exist yet. Returns their number.
pub(super) fn clear_records(sessions: &Sessions, id: &SessionId) -> Result<u64, SessionsError> {
    let mut removed = 0;
    let none = |batch: &mut Batch| batch.expect(record_key::single(b'S', id), None);
    for kind in record_key::MULTIPLE {
        let prefix = record_key::prefix(*kind, id);
        loop {
            let page = sessions.records().scan(&prefix, None, PAGE)?;
            if page.is_empty() {
                break;
            }
            let mut batch = Batch::default();
            none(&mut batch);
            removed += page.len() as u64;
            page.into_iter().for_each(|(name, _)| batch.remove(name));
            sessions.records().commit(batch)?;
        }
    }
    let mark = record_key::single(b'X', id);
    if sessions.records().get(&mark)?.is_some() {
        let mut batch = Batch::default();
        none(&mut batch);
        batch.remove(mark);
        sessions.records().commit(batch)?;
    }
    Ok(removed)
}
