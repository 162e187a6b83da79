//! Repair of a damaged store: sets its files aside, and recovers what can be read.

use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::ack_counter::AckCounter;
use super::group_commit::{COPY_BATCH, StorageEngine, count};
use super::record::{Record, StoreError};
use super::shared::{holder, lock};
use super::sled::{SledEngine, without_indexes};
use super::store_dir::{Backend, StoreDirectory, sync_dir};

/// Result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Path where the damaged files were set aside, unchanged.
    pub aside: PathBuf,
    /// Number of records recovered.
    pub saved: usize,
    /// Number of ranges of the database that could not be read; their contents are lost.
    pub gaps: usize,
    /// Number of acknowledged groups of commits that are missing at the end of the log.
    pub lost: u64,
}

/// Sets the files of a store's database aside, and builds a new one from what can be read. Data that the recovered
/// records refer to may be missing afterwards: the caller must check it.
///
/// # Errors
/// [`StoreError::InUse`] while a process has the store open; [`StoreError::Format`] if there is no store; errors of the
/// file system.
pub fn repair(dir: &Path, backend: Backend) -> Result<Repaired, StoreError> {
    let Some(_lock) = lock(dir)? else {
        return Err(StoreError::InUse { path: dir.to_owned(), pid: holder(dir) });
    };
    let directory = StoreDirectory::new(dir, backend);
    match backend {
        Backend::Sled => rebuild::<SledEngine>(&directory),
        #[cfg(feature = "redb")]
        Backend::Redb => rebuild::<super::redb::RedbEngine>(&directory),
        #[cfg(not(feature = "redb"))]
        Backend::Redb => Err(directory.without_redb()),
    }
}

fn rebuild<E: StorageEngine>(directory: &StoreDirectory) -> Result<Repaired, StoreError> {
    directory.set_damaged_format_aside()?;
    let number = directory.current()?.ok_or_else(|| directory.format_error("it contains no database".to_owned()))?;
    directory.remove_stale_databases(number)?;
    let (old, new, aside) = (directory.database(number), directory.database(number + 1), directory.set_aside_path());
    // A copy, since opening a damaged database may change it.
    copy(&old, &aside)?;
    let mut repaired = Repaired { aside, saved: 0, gaps: 0, lost: 0 };
    let rebuilt = E::open(&new)?;
    match E::open(&old).or_else(|error| without_indexes(&old, |_| true).map_err(|_| error).and_then(|()| E::open(&old)))
    {
        Ok(engine) => {
            repaired.lost = AckCounter::acknowledged(&old).unwrap_or(0).saturating_sub(count(&engine).unwrap_or(0));
            save(&engine, &rebuilt, &mut repaired)?;
        }
        Err(_) => repaired.gaps += 1,
    }
    drop(rebuilt);
    directory.set_current(number + 1)?;
    fs::remove_dir_all(old)?;
    Ok(repaired)
}

/// Copies all readable records page by page, skipping what cannot be read.
fn save(from: &impl StorageEngine, to: &impl StorageEngine, repaired: &mut Repaired) -> Result<(), StoreError> {
    let mut at = Some(Vec::new());
    while let Some(start) = at {
        let (records, next) = read_page(from, &start, repaired);
        at = next;
        repaired.saved += records.len();
        to.apply(&records.into_iter().map(|(key, value)| (key, Some(value))).collect())?;
    }
    Ok(())
}

/// Reads some records from a key on, and returns the next key to read from, if there may be more.
fn read_page(from: &impl StorageEngine, start: &[u8], repaired: &mut Repaired) -> (Vec<Record>, Option<Vec<u8>>) {
    let mut limit = COPY_BATCH;
    loop {
        match from.range(Bound::Included(start), &[], limit) {
            Ok(records) => {
                // The smallest possible key after this one.
                let next = records.last().map(|(key, _)| [key.as_slice(), &[0]].concat());
                return (records, next);
            }
            // Reads up to the record that cannot be read.
            Err(_) if limit > 1 => limit /= 2,
            Err(_) => {
                repaired.gaps += 1;
                return (Vec::new(), next_readable_key(from, start));
            }
        }
    }
}

/// Finds the nearest later key, by shortening this one, from which the database can be read again.
fn next_readable_key(from: &impl StorageEngine, key: &[u8]) -> Option<Vec<u8>> {
    let mut at = key.to_vec();
    while let Some(last) = at.pop() {
        if let Some(next) = last.checked_add(1) {
            at.push(next);
            if from.range(Bound::Included(&at), &[], 1).is_ok() {
                return Some(at);
            }
            at.pop();
        }
    }
    None
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to)?;
            fs::File::open(&to)?.sync_all()?;
        }
    }
    sync_dir(to)
}
