//! Import of a session from a file. The file may come from a stranger, and may be large: records go to the store and
//! blobs to the disk as they are read. The session exists once everything has been checked and its budgets are decided
//! (`import_decision`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::create::new_epoch;
use super::export::{Exported, take_record};
use super::import_decision::ImportDecision;
use super::record_reader::damaged;
use super::removal::clear_records;
use super::session_lock::SessionLock;
use super::shared_budgets::ATTEMPTS;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::store::{ArchiveError, Batch, BlobError, Blobs, Record, Store, StoreError, Upload};
use crate::vfs::{Limits, Usage};

/// Most bytes of records of an imported session: about a million calls.
const MAX_RECORDS: usize = 1 << 30;

/// Number of records, and approximate number of their bytes, that one commit adds.
const PAGE: usize = 500;
const PAGE_BYTES: usize = 1 << 20;

/// Bytes of blobs that stay in memory until they are durable: if another upload is abandoned, they are put again.
const MAX_UNSYNCED: usize = 8 << 20;

/// Most attempts at putting them again.
const TRIES: u32 = 100;

/// Options of an import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Name of the session in this store. With `None`, its name in the export.
    pub name: Option<SessionId>,
    /// Most bytes that are read and unpacked, and that the session's files may have at any point.
    pub most: u64,
    /// Budgets of the session. With `None`, it shares those of sessions in this store that belong to its family;
    /// without such sessions, its budgets are exhausted.
    pub budget: Option<ImportBudget>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { name: None, most: 16 << 30, budget: None }
    }
}

/// Budgets of an import by its operator's decision, separate from every other session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportBudget {
    /// The amounts that were left at the export.
    Keep,
    /// The full amounts that the policy grants.
    Fresh,
}

/// Session that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Name of the session.
    pub session: SessionId,
    /// Budgets of the session.
    pub budget: ImportedBudget,
    /// True if the file moved the session: with its unfinished run, and the decisions that were made about it.
    pub is_hand_over: bool,
}

/// Budgets of a session that was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportedBudget {
    /// The policy sets no budget.
    None,
    /// The amounts left to the sessions of this store that share the budgets.
    Shared,
    /// No amount is left.
    Exhausted,
    /// The amounts that were left at the export.
    Kept,
    /// The full amounts that the policy grants.
    Fresh,
}

/// Session that is being built.
pub(super) struct SessionBuilder<'s> {
    pub(super) sessions: &'s Sessions,
    pub(super) id: SessionId,
    _session_lock: SessionLock,
    /// The single records of the session: once they are written, it exists.
    pub(super) single_records: BTreeMap<Vec<u8>, Vec<u8>>,
    /// True if the archive moves the session, with the journal of its unfinished run.
    is_moved: bool,
    page: Batch,
    page_bytes: usize,
    bytes: usize,
    made: bool,
}

impl<'s> SessionBuilder<'s> {
    pub(super) fn begin(sessions: &'s Sessions, id: SessionId, is_moved: bool) -> Result<Self, SessionsError> {
        let session_lock = sessions.creator().take_new(&id)?;
        clear_records(sessions, &id)?;
        let single_records = BTreeMap::from([(record_key::single(b'O', &id), new_epoch()?.to_be_bytes().to_vec())]);
        let mut making = Self {
            sessions,
            id,
            _session_lock: session_lock,
            single_records,
            is_moved,
            page: Batch::default(),
            page_bytes: 0,
            bytes: 0,
            made: false,
        };
        making.page.put(record_key::single(b'X', &making.id), []);
        making.write()?;
        Ok(making)
    }

    /// Adds the records of an archive entry.
    pub(super) fn records(&mut self, mut entry: &[u8]) -> Result<(), SessionsError> {
        self.bytes = self.bytes.saturating_add(entry.len());
        if self.bytes > MAX_RECORDS {
            return Err(damaged(&self.id, &format!("the archive has more than {MAX_RECORDS} bytes of its records")));
        }
        while !entry.is_empty() {
            let read = take_record(&self.id, self.is_moved, &mut entry);
            let (name, value) = read.ok_or_else(|| damaged(&self.id, "its records in the archive"))?;
            if record_key::MULTIPLE.contains(&name[0]) {
                self.put(name, Some(value))?;
            } else {
                self.single_records.insert(name, value);
            }
        }
        Ok(())
    }

    /// Adds one of the multiple records.
    pub(super) fn put(&mut self, name: Vec<u8>, value: Option<Vec<u8>>) -> Result<(), SessionsError> {
        self.page_bytes += name.len() + value.as_ref().map_or(0, Vec::len);
        match value {
            Some(value) => self.page.put(name, value),
            None => self.page.remove(name),
        }
        if self.page.changes.len() >= PAGE || self.page_bytes >= PAGE_BYTES { self.write() } else { Ok(()) }
    }

    /// Commits the records that were added.
    pub(super) fn write(&mut self) -> Result<(), SessionsError> {
        let mut page = std::mem::take(&mut self.page);
        self.page_bytes = 0;
        page.expect(record_key::single(b'S', &self.id), None);
        Ok(self.sessions.records().commit(page)?)
    }

    /// Checks the session and makes it exist.
    pub(super) fn finish(
        mut self,
        exported: &Exported,
        options: &ImportOptions,
        blobs: &mut IncomingBlobs<'_>,
    ) -> Result<Imported, SessionsError> {
        self.write()?;
        let trial = self.trial(self.single_records.clone());
        // Checked first: the comparison of a snapshot takes as long as what it claims to hold.
        self.within(trial.blob_references().claimed(&self.id)?, options.most)?;
        trial.verifier().verify_session(&self.id)?;
        for _ in 0..ATTEMPTS {
            let mut last = Batch::default();
            last.expect(record_key::single(b'S', &self.id), None);
            let arrival = match ImportDecision::of(&self, &trial, exported, options.budget) {
                // The session whose budgets it would share was just removed.
                Err(SessionsError::Unknown { session, .. }) if session != self.id => continue,
                arrival => arrival?,
            };
            let single_records = arrival.settle(&mut self, &trial, blobs, &mut last)?;
            single_records.iter().for_each(|(name, value)| last.put(name.clone(), value.clone()));
            last.remove(record_key::single(b'X', &self.id));
            match self.sessions.records().commit(last) {
                // A session that shares its budgets was created or removed meanwhile.
                Err(StoreError::Conflict { key }) if arrival.rests_on(&key) => {}
                // The same hand-over was imported meanwhile.
                Err(StoreError::Conflict { key }) if key.starts_with(record_key::HAND_OVERS) => {
                    let name = self.sessions.records().get(&key)?.unwrap_or_default();
                    return Err(SessionsError::ImportedBefore(String::from_utf8_lossy(&name).into_owned()));
                }
                committed => {
                    committed?;
                    self.made = true;
                    let (session, is_hand_over) = (self.id.clone(), exported.hand_over.is_some());
                    return Ok(Imported { session, budget: arrival.budget(), is_hand_over });
                }
            }
        }
        Err(SessionsError::Busy(self.id.clone()))
    }

    /// Checks the claimed sizes. A few blobs can appear in a session many times over, so the session may claim more
    /// than was read.
    fn within(&self, largest: Usage, most: u64) -> Result<(), SessionsError> {
        let entries = Limits::default().entries;
        if largest.bytes > most {
            return Err(ArchiveError::TooLarge(most).into());
        }
        if largest.entries > entries {
            let what = format!("it has {} files and directories: a session has at most {entries}", largest.entries);
            return Err(damaged(&self.id, &what));
        }
        Ok(())
    }

    /// Returns a view of the store in which the session already exists.
    fn trial(&self, single_records: BTreeMap<Vec<u8>, Vec<u8>>) -> Sessions {
        let there = Arc::clone(self.sessions.shared_records());
        let records = Arc::new(OverlayStore { there, single_records });
        Sessions::view(records, Arc::clone(self.sessions.shared_blobs()))
    }
}

impl Drop for SessionBuilder<'_> {
    fn drop(&mut self) {
        if !self.made {
            // Remaining records are found by their mark.
            let _ = clear_records(self.sessions, &self.id);
        }
    }
}

/// Store with a few additional records that are not written yet.
struct OverlayStore {
    there: Arc<dyn Store>,
    single_records: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Store for OverlayStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.single_records.get(key).map_or_else(|| self.there.get(key), |value| Ok(Some(value.clone())))
    }

    /// Scans the underlying store. The additional records are never looked up this way.
    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.there.scan(prefix, after, limit)
    }

    /// Refuses to commit: the view is only read.
    fn commit(&self, _: Batch) -> Result<(), StoreError> {
        Err(StoreError::Reserved)
    }
}

/// Blobs that are being imported. If another upload of this process is abandoned, this one has to begin again: blobs
/// that are already durable stay, since one upload or the other is open all the time; the rest is put again.
pub(super) struct IncomingBlobs<'s> {
    blobs: &'s dyn Blobs,
    upload: Box<dyn Upload + 's>,
    unsynced: Vec<Vec<u8>>,
    bytes: usize,
}

impl<'s> IncomingBlobs<'s> {
    pub(super) fn begin(blobs: &'s dyn Blobs) -> Result<Self, BlobError> {
        Ok(Self { blobs, upload: blobs.begin()?, unsynced: Vec::new(), bytes: 0 })
    }

    pub(super) fn put(&mut self, bytes: Vec<u8>) -> Result<(), BlobError> {
        self.bytes += bytes.len();
        self.unsynced.push(bytes.clone());
        match self.upload.put(bytes) {
            Err(BlobError::Abandoned) => self.sync(),
            Err(error) => Err(error),
            Ok(_) if self.bytes > MAX_UNSYNCED => self.sync(),
            Ok(_) => Ok(()),
        }
    }

    pub(super) fn sync(&mut self) -> Result<(), BlobError> {
        let mut synced = self.upload.sync();
        for _ in 0..TRIES {
            if !matches!(synced, Err(BlobError::Abandoned)) {
                break;
            }
            synced = self.again();
        }
        synced?;
        self.unsynced.clear();
        self.bytes = 0;
        Ok(())
    }

    fn again(&mut self) -> Result<(), BlobError> {
        let upload = self.blobs.begin()?;
        // The previous upload ends only now.
        self.upload = upload;
        self.unsynced.iter().try_for_each(|bytes| self.upload.put(bytes.clone()).map(drop))?;
        self.upload.sync()
    }
}
