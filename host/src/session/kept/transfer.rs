//! A session in one file, that goes on elsewhere.
//!
//! The archive's records are entries of pairs, each a key without the session's name and a value: the kind (one byte),
//! the lengths of the rest of the key and of the value (four bytes each, big-endian), and both.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::create::new_epoch;
use super::look::damaged;
use super::roots::Reached;
use super::{SessionId, Sessions, SessionsError, key};
use crate::store::{ArchiveWriter, Batch, BlobId, Part, read_archive};

/// What the first entry says it is.
const FORMAT: &str = "tollhouse session 1";

/// How many bytes of records one entry has, about.
const ENTRY: usize = 1 << 20;

/// How many bytes of records a session from elsewhere may have: they are in memory while it is checked.
const MAX_RECORDS: usize = 1 << 30;

/// How many records one commit adds.
const PAGE: usize = 500;

/// The first entry of an archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exported {
    format: String,
    /// The session's name where it comes from.
    pub session: SessionId,
    /// How many blobs, and bytes of them.
    pub blobs: u64,
}

impl Sessions {
    /// Writes a session to one file: records, log and all snapshots of its runs. Secrets are not in a session.
    ///
    /// # Errors
    /// If there is none, it has a run that has not ended, or something of it cannot be read or written.
    pub fn export<W: Write>(&self, id: &SessionId, to: W) -> Result<(W, Exported), SessionsError> {
        self.created(id)?;
        let Some(_turn) = self.0.locks.try_take(id)? else { return Err(SessionsError::Busy(id.clone())) };
        let mut reached = Reached::default();
        let (mut pairs, mut entry) = (Vec::new(), Vec::new());
        self.records_of(id, |record| {
            self.reach(self.roots_of(id, &record)?, &mut reached)?;
            if record.0.first() != Some(&b'O') {
                pair(id, &record.0, &record.1, &mut entry);
            }
            if entry.len() >= ENTRY {
                pairs.push(std::mem::take(&mut entry));
            }
            Ok(())
        })?;
        pairs.push(entry);
        let exported = Exported { format: FORMAT.to_owned(), session: id.clone(), blobs: reached.blobs.len() as u64 };
        let manifest = serde_json::to_vec_pretty(&exported).expect("it is plain data");
        let mut archive = ArchiveWriter::new(to, &manifest)?;
        for (number, entry) in pairs.iter().enumerate() {
            archive.record(&format!("{number:08}"), entry)?;
        }
        let ordered: BTreeSet<BlobId> = reached.blobs.into_iter().collect();
        archive.blobs(ordered, &*self.source())?;
        Ok((archive.finish()?, exported))
    }

    /// Reads a session from a file, under its own name or another. All of it is checked before any of it is a session:
    /// every hash, every record, the log, and that no blob is missing. At most `most` bytes are read.
    ///
    /// Its policy comes with it: see to it that you want what it grants.
    ///
    /// # Errors
    /// [`SessionsError::Exists`]; if it is no such file, or damaged.
    pub fn import(&self, from: impl Read, name: Option<&SessionId>, most: u64) -> Result<SessionId, SessionsError> {
        let mut upload = self.blobs().begin()?;
        let (mut id, mut records, mut taken) = (name.cloned(), Vec::new(), 0_usize);
        read_archive(from, most, |part| -> Result<(), SessionsError> {
            match part {
                Part::Manifest(bytes) => {
                    let exported: Exported = serde_json::from_slice(&bytes).map_err(|_| SessionsError::NoArchive)?;
                    if exported.format != FORMAT {
                        return Err(SessionsError::NoArchive);
                    }
                    let id = id.get_or_insert(exported.session);
                    if self.contains(id)? {
                        return Err(SessionsError::Exists(id.clone()));
                    }
                }
                Part::Record(_, bytes) => {
                    let id = id.as_ref().ok_or(SessionsError::NoArchive)?;
                    taken = taken.saturating_add(bytes.len());
                    if taken > MAX_RECORDS {
                        return Err(damaged(id, "its records in the archive are too many"));
                    }
                    unpair(id, &bytes, &mut records).ok_or_else(|| damaged(id, "its records in the archive"))?;
                }
                Part::Blob(_, bytes) => drop(upload.put(bytes)?),
            }
            Ok(())
        })?;
        upload.sync()?;
        let id = id.ok_or(SessionsError::NoArchive)?;
        self.check(&id, &records)?;
        let (many, few): (Vec<_>, Vec<_>) =
            records.into_iter().partition(|(name, _)| name.first().is_some_and(|kind| key::HAS_MANY.contains(kind)));
        let mut last = Batch::default();
        last.expect(key::one(b'S', &id), None);
        last.put(key::one(b'O', &id), new_epoch()?.to_be_bytes());
        few.into_iter().for_each(|(name, value)| last.put(name, value));
        self.establish(&id, many, last)?;
        Ok(id)
    }

    /// Refuses records that do not make a whole session: they are read as a session in memory is.
    fn check(&self, id: &SessionId, records: &[(Vec<u8>, Vec<u8>)]) -> Result<(), SessionsError> {
        let trial = self.with_records_in_memory();
        for page in records.chunks(PAGE) {
            let mut batch = Batch::default();
            page.iter().for_each(|(name, value)| batch.put(name.clone(), value.clone()));
            trial.records().commit(batch)?;
        }
        trial.verify_session(id)?;
        Ok(())
    }
}

/// Adds a record to an entry.
fn pair(id: &SessionId, name: &[u8], value: &[u8], entry: &mut Vec<u8>) {
    let rest = &name[1 + id.as_str().len()..];
    // Keys and values are at most some kilobytes.
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    entry.push(name[0]);
    entry.extend(length(rest));
    entry.extend(length(value));
    entry.extend(rest);
    entry.extend(value);
}

/// Reads what [`pair`] wrote.
fn unpair(id: &SessionId, mut entry: &[u8], records: &mut Vec<(Vec<u8>, Vec<u8>)>) -> Option<()> {
    fn length<'e>(bytes: &mut &'e [u8]) -> Option<usize> {
        let (length, rest): (&'e [u8; 4], _) = bytes.split_first_chunk()?;
        *bytes = rest;
        usize::try_from(u32::from_be_bytes(*length)).ok()
    }
    while let Some((kind, mut rest)) = entry.split_first() {
        let known = key::KINDS.contains(kind) && *kind != b'O';
        let (name, value) = (length(&mut rest)?, length(&mut rest)?);
        let (name, rest) = rest.split_at_checked(name)?;
        let (value, rest) = rest.split_at_checked(value)?;
        // What is behind the session's name: nothing, or what tells one of many from the others.
        let fits = if key::HAS_MANY.contains(kind) { name.first() == Some(&0) } else { name.is_empty() };
        if !known || !fits {
            return None;
        }
        records.push(([&[*kind], id.as_str().as_bytes(), name].concat(), value.to_vec()));
        entry = rest;
    }
    Some(())
}
