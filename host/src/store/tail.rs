//! How far a database has been acknowledged, kept beside it: so that a log that ends too early is noticed.
//!
//! sled takes the first record of its log that does not check as the log's end, so that a flipped bit near the end would
//! silently undo what was acknowledged. This file holds the number of the last acknowledged group. It is written after
//! each sync and not synced itself: after `kill -9` it is exact; after a power cut it may be behind, and never ahead.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::guard::damaged;
use super::record::StoreError;

/// A number of eight bytes and the first eight of its hash.
const BYTES: usize = 16;

/// The file, and the number of the last group that was acknowledged.
pub(super) struct Tail(Mutex<(File, u64)>);

impl Tail {
    /// Refuses a database that has seen fewer groups than were acknowledged.
    pub(super) fn open(database: &Path, counted: u64) -> Result<Self, StoreError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path(database))?;
        let acknowledged = Self::acknowledged(database)?;
        if acknowledged > counted {
            let lost = acknowledged - counted;
            return Err(damaged(database, &format!("the last {lost} of {acknowledged} groups of commits are lost")));
        }
        Ok(Self(Mutex::new((file, counted))))
    }

    /// The number of the last group that was acknowledged, as far as is known. What does not check says nothing: it may
    /// have been torn by a power cut.
    pub(super) fn acknowledged(database: &Path) -> Result<u64, StoreError> {
        let mut bytes = Vec::new();
        File::open(path(database))?.take(64).read_to_end(&mut bytes)?;
        let number = bytes.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
        Ok(if bytes == line(number) { number } else { 0 })
    }

    /// The number of the last acknowledged group.
    pub(super) fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Takes down that a group is durable. If that fails a later loss goes unnoticed, but there is none yet.
    pub(super) fn acknowledge(&self, count: u64) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.1 = count;
        drop(tail.0.seek(SeekFrom::Start(0)).and_then(|_| tail.0.write_all(&line(count))));
    }
}

fn path(database: &Path) -> PathBuf {
    database.join("acknowledged")
}

fn line(count: u64) -> [u8; BYTES] {
    let mut line = [0; BYTES];
    let number = count.to_be_bytes();
    line[..8].copy_from_slice(&number);
    line[8..].copy_from_slice(&blake3::hash(&number).as_bytes()[..8]);
    line
}
