//! A durable counter of acknowledged commits beside each database, to detect a log that ends too early.
//!
//! sled treats the first log record with a bad checksum as the end of the log, so that a flipped bit near the end would
//! silently undo acknowledged commits. This file holds the number of the last acknowledged group. It is written after
//! each sync but not synced itself: it is exact after `kill -9`; after a power failure it may lag behind, but is never
//! ahead.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::catch_panic::damaged;
use super::record::StoreError;

/// File size: a number of eight bytes and the first eight bytes of its hash.
const FILE_BYTES: usize = 16;

/// The counter file, and the number of the last acknowledged group.
pub(super) struct AckCounter(Mutex<(File, u64)>);

impl AckCounter {
    /// Opens the counter, and rejects a database with fewer groups than were acknowledged.
    pub(super) fn open(database: &Path, counted: u64) -> Result<Self, StoreError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path(database))?;
        let acknowledged = Self::acknowledged(database)?;
        if acknowledged > counted {
            let lost = acknowledged - counted;
            return Err(damaged(database, &format!("the last {lost} of {acknowledged} groups of commits are lost")));
        }
        Ok(Self(Mutex::new((file, counted))))
    }

    /// Reads the number of the last acknowledged group. A file with a bad checksum counts as 0: a power failure may
    /// have torn it.
    pub(super) fn acknowledged(database: &Path) -> Result<u64, StoreError> {
        let mut bytes = Vec::new();
        File::open(path(database))?.take(64).read_to_end(&mut bytes)?;
        let number = bytes.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
        Ok(if bytes == line(number) { number } else { 0 })
    }

    /// Number of the last acknowledged group.
    pub(super) fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Records that a group is durable. If this fails, a later loss may go unnoticed, but nothing is lost yet.
    pub(super) fn acknowledge(&self, count: u64) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.1 = count;
        drop(tail.0.seek(SeekFrom::Start(0)).and_then(|_| tail.0.write_all(&line(count))));
    }
}

fn path(database: &Path) -> PathBuf {
    database.join("acknowledged")
}

fn line(count: u64) -> [u8; FILE_BYTES] {
    let mut line = [0; FILE_BYTES];
    let number = count.to_be_bytes();
    line[..8].copy_from_slice(&number);
    line[8..].copy_from_slice(&blake3::hash(&number).as_bytes()[..8]);
    line
}
