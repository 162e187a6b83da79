//! Reading a session from a file. What is in it may come from a stranger, and may be large: records go to the store and
//! blobs to the disk as they are read, and are a session when all of it has been checked, and it is settled what it may
//! spend here (`arrival`).

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use super::arrival::Arrival;
use super::create::new_epoch;
use super::demand::Demands;
use super::family::ATTEMPTS;
use super::look::damaged;
use super::transfer::{Exported, unpair};
use super::turn::{Locks, Turn};
use super::{SessionId, Sessions, SessionsError, State, key};
use crate::store::{ArchiveError, Batch, BlobError, Blobs, Part, Record, Store, StoreError, Upload, read_archive};
use crate::vfs::{Limits, Usage};

/// How many bytes of records a session from elsewhere may have: a million calls, about.
const MAX_RECORDS: usize = 1 << 30;

/// How many records, and about how many bytes of them, one commit adds.
const PAGE: usize = 500;
const PAGE_BYTES: usize = 1 << 20;

/// How many bytes of blobs are in memory until they are durable: if another upload is given up, they are put again.
const MAX_UNSYNCED: usize = 8 << 20;

/// How often that is tried.
const TRIES: u32 = 100;

/// How a session is imported.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Its name here. None: the one that it had.
    pub name: Option<SessionId>,
    /// The most bytes that are read, unpacked, and that its files may have at any point.
    pub most: u64,
    /// What it may spend. None: where sessions are that share its budgets, what they have left; elsewhere nothing.
    pub budget: Option<ImportBudget>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { name: None, most: 16 << 30, budget: None }
    }
}

/// What an import may spend by its operator's decision, apart from every other session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportBudget {
    /// What was left when it was exported.
    Keep,
    /// All that its policy gives.
    Fresh,
}

/// A session that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Its name.
    pub session: SessionId,
    /// What it may spend.
    pub budget: ImportedBudget,
}

/// What a session that was imported may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportedBudget {
    /// Its policy sets no budget.
    None,
    /// What is left to the sessions of this store with which it shares its budgets.
    Shared,
    /// Nothing.
    Exhausted,
    /// What was left when it was exported.
    Kept,
    /// All that its policy gives.
    Fresh,
}

impl Sessions {
    /// Reads a session from a file, under its own name or another. All of it is checked before any of it is a session:
    /// every hash, every record, the log, and that no blob is missing.
    ///
    /// Its policy comes with it: see to it that you want what it grants. Its budgets are those of the session that was
    /// exported, if that or a fork of it is here; else nothing is left of them, unless the options say otherwise.
    ///
    /// # Errors
    /// [`SessionsError::Exists`]; if it is no such file, or damaged.
    pub fn import(&self, from: impl Read, options: &ImportOptions) -> Result<Imported, SessionsError> {
        let mut blobs = Incoming::begin(self.blobs())?;
        let (mut making, mut exported) = (None, None);
        read_archive(from, options.most, |part| -> Result<(), SessionsError> {
            match part {
                Part::Manifest(bytes) => {
                    let read = exported.insert(Exported::read(&bytes)?);
                    let id = options.name.as_ref().unwrap_or(&read.session);
                    making = Some(Making::begin(self, id.clone())?);
                    Ok(())
                }
                Part::Record(_, bytes) => making.as_mut().ok_or(SessionsError::NoArchive)?.records(&bytes),
                Part::Blob(_, bytes) => Ok(blobs.put(bytes)?),
            }
        })?;
        blobs.sync()?;
        // The upload lives on: until a record names them, blobs may be removed as unused.
        let making = making.ok_or(SessionsError::NoArchive)?;
        making.finish(&exported.ok_or(SessionsError::NoArchive)?, options, &mut blobs)
    }
}

/// A session that is being made.
pub(super) struct Making<'s> {
    pub(super) place: &'s Sessions,
    pub(super) id: SessionId,
    _turn: Turn,
    /// The records of which it has one each: with them, it is a session.
    pub(super) few: BTreeMap<Vec<u8>, Vec<u8>>,
    page: Batch,
    page_bytes: usize,
    bytes: usize,
    made: bool,
}

impl<'s> Making<'s> {
    fn begin(place: &'s Sessions, id: SessionId) -> Result<Self, SessionsError> {
        let turn = place.take_new(&id)?;
        place.clear(&id)?;
        let few = BTreeMap::from([(key::one(b'O', &id), new_epoch()?.to_be_bytes().to_vec())]);
        let mut making =
            Self { place, id, _turn: turn, few, page: Batch::default(), page_bytes: 0, bytes: 0, made: false };
        making.page.put(key::one(b'X', &making.id), []);
        making.write()?;
        Ok(making)
    }

    /// Takes the records of an entry.
    fn records(&mut self, mut entry: &[u8]) -> Result<(), SessionsError> {
        self.bytes = self.bytes.saturating_add(entry.len());
        if self.bytes > MAX_RECORDS {
            return Err(damaged(&self.id, &format!("the archive has more than {MAX_RECORDS} bytes of its records")));
        }
        while !entry.is_empty() {
            let read = unpair(&self.id, &mut entry);
            let (name, value) = read.ok_or_else(|| damaged(&self.id, "its records in the archive"))?;
            if key::HAS_MANY.contains(&name[0]) {
                self.put(name, Some(value))?;
            } else {
                self.few.insert(name, value);
            }
        }
        Ok(())
    }

    /// Adds a record to those of which it has many.
    pub(super) fn put(&mut self, name: Vec<u8>, value: Option<Vec<u8>>) -> Result<(), SessionsError> {
        self.page_bytes += name.len() + value.as_ref().map_or(0, Vec::len);
        match value {
            Some(value) => self.page.put(name, value),
            None => self.page.remove(name),
        }
        if self.page.changes.len() >= PAGE || self.page_bytes >= PAGE_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes what was added.
    pub(super) fn write(&mut self) -> Result<(), SessionsError> {
        let mut page = std::mem::take(&mut self.page);
        self.page_bytes = 0;
        page.expect(key::one(b'S', &self.id), None);
        Ok(self.place.records().commit(page)?)
    }

    /// Makes it one, if it is whole.
    fn finish(
        mut self,
        exported: &Exported,
        options: &ImportOptions,
        blobs: &mut Incoming<'_>,
    ) -> Result<Imported, SessionsError> {
        self.write()?;
        let trial = self.trial(self.few.clone());
        // First: to compare what claims to be more takes as long as that.
        self.within(trial.claimed(&self.id)?, options.most)?;
        trial.verify_session(&self.id)?;
        for _ in 0..ATTEMPTS {
            let mut last = Batch::default();
            last.expect(key::one(b'S', &self.id), None);
            let arrival = match Arrival::of(&self, &trial, exported, options.budget) {
                // The session whose budgets it would share was just removed.
                Err(SessionsError::Unknown { session, .. }) if session != self.id => continue,
                arrival => arrival?,
            };
            let few = arrival.settle(&mut self, &trial, blobs, &mut last)?;
            few.iter().for_each(|(name, value)| last.put(name.clone(), value.clone()));
            last.remove(key::one(b'X', &self.id));
            match self.place.records().commit(last) {
                // One of the sessions that share its budgets was made or removed meanwhile.
                Err(StoreError::Conflict { key }) if arrival.rests_on(&key) => {}
                committed => {
                    committed?;
                    self.made = true;
                    return Ok(Imported { session: self.id.clone(), budget: arrival.budget() });
                }
            }
        }
        Err(SessionsError::Busy(self.id.clone()))
    }

    /// A few blobs can be the files of a session many times over: what it says to have then is more than was read.
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

    /// Sessions among which it is one already.
    fn trial(&self, few: BTreeMap<Vec<u8>, Vec<u8>>) -> Sessions {
        let state = &self.place.0;
        Sessions(Arc::new(State {
            records: Arc::new(Trial { there: Arc::clone(&state.records), few }),
            blobs: Arc::clone(&state.blobs),
            files: None,
            locks: Locks::Memory(Arc::default()),
            demands: Demands::default(),
        }))
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        if !self.made {
            // What stays is found by its mark.
            let _ = self.place.clear(&self.id);
        }
    }
}

/// Records as they are, and a few that are not there yet.
struct Trial {
    there: Arc<dyn Store>,
    few: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Store for Trial {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.few.get(key).map_or_else(|| self.there.get(key), |value| Ok(Some(value.clone())))
    }

    /// Of the few, none is ever looked for so.
    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.there.scan(prefix, after, limit)
    }

    /// Who looks commits nothing.
    fn commit(&self, _: Batch) -> Result<(), StoreError> {
        Err(StoreError::Reserved)
    }
}

/// Blobs that are being read, once. When another upload of this process is given up, this one has to begin again: what
/// it had made durable stays, since one upload or the other is alive all the time; the rest is put again.
pub(super) struct Incoming<'s> {
    blobs: &'s dyn Blobs,
    upload: Box<dyn Upload + 's>,
    unsynced: Vec<Vec<u8>>,
    bytes: usize,
}

impl<'s> Incoming<'s> {
    fn begin(blobs: &'s dyn Blobs) -> Result<Self, BlobError> {
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
        // Only now does the other end.
        self.upload = upload;
        self.unsynced.iter().try_for_each(|bytes| self.upload.put(bytes.clone()).map(drop))?;
        self.upload.sync()
    }
}
