//! Garbage collection of blobs that no session names, beside active sessions.

use std::collections::HashMap;
use std::time::Duration;

use super::gc_roots::{BlobRoot, roots_of};
use super::removal::clear_records;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::JournalRetention;
use crate::store::{Batch, Named, Owner, StoreError, SweepOptions, Swept};
use crate::vfs::{ReferenceKind, references};

/// Most time to wait for active commits, each time.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Garbage collector of blobs that no session names. Runs and commits continue meanwhile.
#[derive(Clone, Copy)]
pub struct GarbageCollector<'s> {
    pub(super) sessions: &'s Sessions,
}

impl GarbageCollector<'_> {
    /// Removes the blobs that no session names. Runs and commits continue meanwhile.
    ///
    /// # Errors
    /// If something cannot be read: then it is not known what is unused, and nothing more is removed.
    pub fn collect(&self, dry_run: bool) -> Result<Swept, SessionsError> {
        self.sweep(dry_run, false)
    }

    /// Removes the blobs that no session names, like [`collect`](Self::collect), although directories of sessions cannot be read. What
    /// only those name is removed as well: even if they were found again, their files would not be.
    ///
    /// # Errors
    /// If records cannot be read, or the system reports an error.
    pub fn collect_skipping_unreadable(&self, dry_run: bool) -> Result<Swept, SessionsError> {
        self.sweep(dry_run, true)
    }

    fn sweep(&self, dry_run: bool, skip_unreadable: bool) -> Result<Swept, SessionsError> {
        let files = self.sessions.blob_files()?;
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
        self.sessions.record_reader().for_each_record(b"X", |(name, _)| {
            marked.extend(std::str::from_utf8(&name[1..]).ok().and_then(|name| name.parse::<SessionId>().ok()));
            Ok(())
        })?;
        for id in marked {
            if let Some(_session_lock) = self.sessions.locks().try_take(&id)?
                && !self.sessions.contains(&id)?
            {
                clear_records(self.sessions, &id)?;
            }
        }
        self.sessions.families().clear_all()?;
        self.clear_journals()
    }

    /// Removes the heaps of runs that have ended, and their journals, unless the session's policy keeps them: a process
    /// died before it could, an earlier version left them, or their time is over.
    fn clear_journals(&self) -> Result<(), SessionsError> {
        for id in self.sessions.list()? {
            let journals = record_key::prefix(b'J', &id);
            let heaps = record_key::prefix(b'I', &id);
            let has_none = |prefix| Ok::<_, SessionsError>(self.sessions.records().scan(prefix, None, 1)?.is_empty());
            if has_none(&journals)? && has_none(&heaps)? {
                continue;
            }
            // While a run is active, its journal is needed.
            let Some(_session_lock) = self.sessions.locks().try_take(&id)? else { continue };
            if self.sessions.record_reader().find_created(&id)?.is_none() {
                // The session was removed since it was listed.
                continue;
            }
            let head = self.sessions.record_reader().head(&id)?;
            let mut batch = Batch::of(Owner {
                key: record_key::single(b'O', &id),
                epoch: self.sessions.record_reader().epoch(&id)?,
            });
            match self.sessions.reader().policy(&id)?.journal {
                JournalRetention::Suspended => {
                    self.sessions.record_reader().for_each_record(&journals, |(name, _)| {
                        if !record_key::read_journal(&name).is_some_and(|(_, run)| head.needs_journal(run)) {
                            batch.remove(name);
                        }
                        Ok(())
                    })?
                }
                retention => {
                    let outdated = self.sessions.journals().outdated(&id, retention, &head, usize::MAX)?;
                    outdated.into_iter().for_each(|key| batch.remove(key));
                }
            }
            self.sessions.record_reader().for_each_record(&heaps, |(name, _)| {
                if !record_key::number(&name).is_some_and(|run| head.needs_journal(run)) {
                    batch.remove(name);
                }
                Ok(())
            })?;
            if !batch.changes.is_empty() {
                self.sessions.records().commit(batch)?;
            }
        }
        Ok(())
    }

    /// Returns the blobs named by sessions that have changed since they were last read.
    fn new_roots(&self, heads: &mut HashMap<SessionId, Vec<u8>>) -> Result<Vec<Named>, SessionsError> {
        let mut roots = Vec::new();
        // A session that has lost its first record is not listed, and the blobs that it names would be taken for
        // unused.
        self.sessions.record_reader().for_each_record(b"H", |(name, _)| {
            match self.sessions.records().get(&[b"S", &name[1..]].concat())? {
                Some(_) => Ok(()),
                // The session has just been removed.
                None if self.sessions.records().get(&name)?.is_none() => Ok(()),
                None => {
                    Err(StoreError::Damaged(format!("the session `{}` has no first record", name[1..].escape_ascii()))
                        .into())
                }
            }
        })?;
        for id in self.sessions.list()? {
            let head = self.sessions.records().get(&record_key::single(b'H', &id))?.unwrap_or_default();
            if heads.get(&id) == Some(&head) {
                continue;
            }
            self.sessions.record_reader().records_of(&id, |record| {
                roots.extend(roots_of(&id, &record)?.into_iter().map(|root| match root {
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
