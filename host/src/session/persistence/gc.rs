//! Garbage collection of blobs that no session names, beside active sessions.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::gc_roots::BlobRoot;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::JournalRetention;
use crate::store::{
    self, Backend, Batch, BlobFiles, BlobId, Compacted, Named, Owner, Repaired, StoreError, SweepOptions, Swept,
    Verified,
};
use crate::vfs::{ReferenceKind, references};

/// Most time to wait for active commits, each time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Result of repairing a damaged store of sessions.
#[derive(Clone, Debug)]
pub struct Salvaged {
    /// Repaired records.
    pub records: Repaired,
    /// Blobs that were set aside.
    pub blobs: Vec<BlobId>,
}

impl Sessions {
    /// Removes the blobs that no session names. Runs and commits continue meanwhile.
    ///
    /// # Errors
    /// If something cannot be read: then it is not known what is unused, and nothing more is removed.
    pub fn gc(&self, dry_run: bool) -> Result<Swept, SessionsError> {
        self.collect(dry_run, false)
    }

    /// Removes the blobs that no session names, like [`gc`](Self::gc), although directories of sessions cannot be read. What
    /// only those name is removed as well: even if they were found again, their files would not be.
    ///
    /// # Errors
    /// If records cannot be read, or the system reports an error.
    pub fn gc_skipping_unreadable(&self, dry_run: bool) -> Result<Swept, SessionsError> {
        self.collect(dry_run, true)
    }

    fn collect(&self, dry_run: bool, skip_unreadable: bool) -> Result<Swept, SessionsError> {
        let files = self.0.files.as_ref().ok_or(SessionsError::NoFiles)?;
        if !dry_run {
            self.clear_leftovers()?;
        }
        // Head of each session that has been read: each commit changes it.
        let mut heads = HashMap::new();
        let options = SweepOptions { dry_run, patience: PATIENCE, skip_unreadable };
        files.sweep(&options, || self.new_roots(&mut heads), named)
    }

    /// Removes the records of sessions that a killed process was creating or removing.
    fn clear_leftovers(&self) -> Result<(), SessionsError> {
        let mut marked = Vec::new();
        self.for_each_record(b"X", |(name, _)| {
            marked.extend(std::str::from_utf8(&name[1..]).ok().and_then(|name| name.parse::<SessionId>().ok()));
            Ok(())
        })?;
        for id in marked {
            if let Some(_session_lock) = self.0.locks.try_take(&id)?
                && !self.contains(&id)?
            {
                self.clear(&id)?;
            }
        }
        self.clear_families()?;
        self.clear_journals()
    }

    /// Removes the journals of runs that have ended, unless the session's policy keeps them: a process died before it could,
    /// an earlier version left them, or their time is over.
    fn clear_journals(&self) -> Result<(), SessionsError> {
        for id in self.list()? {
            let journals = record_key::prefix(b'J', &id);
            if self.records().scan(&journals, None, 1)?.is_empty() {
                continue;
            }
            // While a run is active, its journal is needed.
            let Some(_session_lock) = self.0.locks.try_take(&id)? else { continue };
            let head = match self.head(&id) {
                // The session was removed since it was listed.
                Err(SessionsError::Unknown { .. }) => continue,
                head => head?,
            };
            let mut batch = Batch::of(Owner { key: record_key::single(b'O', &id), epoch: self.epoch(&id)? });
            match self.policy(&id)?.journal {
                JournalRetention::Suspended => self.for_each_record(&journals, |(name, _)| {
                    if !record_key::read_journal(&name).is_some_and(|(_, run)| head.needs_journal(run)) {
                        batch.remove(name);
                    }
                    Ok(())
                })?,
                retention => {
                    let outdated = self.outdated_journals(&id, retention, &head, usize::MAX)?;
                    outdated.into_iter().for_each(|key| batch.remove(key));
                }
            }
            if !batch.changes.is_empty() {
                self.records().commit(batch)?;
            }
        }
        Ok(())
    }

    /// Checks every blob, including those that no session names.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn verify_blobs(&self) -> Result<Verified, SessionsError> {
        Ok(self.0.files.as_ref().ok_or(SessionsError::NoFiles)?.verify()?)
    }

    /// Compacts the records. Commits wait meanwhile.
    ///
    /// # Errors
    /// Those of the system.
    pub fn compact(&self) -> Result<Compacted, SessionsError> {
        Ok(self.records().compact()?)
    }

    /// Saves the readable part of a damaged store of sessions, and sets the rest aside.
    ///
    /// # Errors
    /// If a process uses the store, or the system reports an error.
    pub fn repair(directory: &Path, backend: Backend) -> Result<Salvaged, SessionsError> {
        let records = store::repair(&directory.join("records"), backend)?;
        let files = BlobFiles::open(directory)?;
        let mut blobs = Vec::new();
        for fault in files.verify()?.faults {
            if let Some(exclusive) = files.lock_exclusive(PATIENCE)?
                && exclusive.set_aside(&fault.blob)?.is_some()
            {
                blobs.push(fault.blob);
            }
        }
        Ok(Salvaged { records, blobs })
    }

    /// Returns the blobs named by sessions that have changed since they were last read.
    fn new_roots(&self, heads: &mut HashMap<SessionId, Vec<u8>>) -> Result<Vec<Named>, SessionsError> {
        let mut roots = Vec::new();
        // A session that has lost its first record is not listed, and the blobs that it names would be taken for
        // unused.
        self.for_each_record(b"H", |(name, _)| match self.records().get(&[b"S", &name[1..]].concat())? {
            Some(_) => Ok(()),
            // The session has just been removed.
            None if self.records().get(&name)?.is_none() => Ok(()),
            None => {
                Err(StoreError::Damaged(format!("the session `{}` has no first record", name[1..].escape_ascii()))
                    .into())
            }
        })?;
        for id in self.list()? {
            let head = self.records().get(&record_key::single(b'H', &id))?.unwrap_or_default();
            if heads.get(&id) == Some(&head) {
                continue;
            }
            self.records_of(&id, |record| {
                roots.extend(self.roots_of(&id, &record)?.into_iter().map(|root| match root {
                    BlobRoot::Snapshot(id) => Named { id, node: true },
                    BlobRoot::Value(id) => Named { id, node: false },
                }));
                Ok(())
            })?;
            heads.insert(id, head);
        }
        Ok(roots)
    }
}

/// Returns the blobs that a directory node names.
fn named(bytes: &[u8]) -> Option<Vec<Named>> {
    let named = references(bytes).ok()?;
    Some(named.iter().map(|named| Named { id: named.id, node: named.kind == ReferenceKind::Node }).collect())
}
