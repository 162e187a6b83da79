//! What to do with a store that is damaged: keep it aside, and go on with what can be read.

use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::group::{COPIED, Engine, count};
use super::place::{Backend, Place, sync_dir};
use super::record::{Record, StoreError};
use super::shared::{holder, lock};
use super::sled::{Sled, without_indexes};
use super::tail::Tail;

/// What a repair came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Where the damaged files are kept, as they were found.
    pub aside: PathBuf,
    /// How many records were saved.
    pub saved: usize,
    /// How many places of the database could not be read: what was there is lost.
    pub gaps: usize,
    /// How many groups of commits are missing at the end of what was acknowledged.
    pub lost: u64,
}

/// Keeps the files of a store's database aside, and makes a new one of what can be read of it. What its records refer to
/// may be missing afterwards: who wrote them must check.
///
/// # Errors
/// [`StoreError::InUse`] while a process has the store; [`StoreError::Format`] if there is none; what the system says.
pub fn repair(dir: &Path, backend: Backend) -> Result<Repaired, StoreError> {
    let Some(_lock) = lock(dir)? else {
        return Err(StoreError::InUse { path: dir.to_owned(), pid: holder(dir) });
    };
    let place = Place::new(dir, backend);
    match backend {
        Backend::Sled => rebuild::<Sled>(&place),
        #[cfg(feature = "redb")]
        Backend::Redb => rebuild::<super::redb::Redb>(&place),
        #[cfg(not(feature = "redb"))]
        Backend::Redb => Err(place.without_redb()),
    }
}

fn rebuild<E: Engine>(place: &Place) -> Result<Repaired, StoreError> {
    let number = place.current()?.ok_or_else(|| place.refused("there is no database in it".to_owned()))?;
    place.sweep(number)?;
    let (old, new, aside) = (place.database(number), place.database(number + 1), place.aside());
    // A copy: to open a damaged database may change it.
    copy(&old, &aside)?;
    let mut repaired = Repaired { aside, saved: 0, gaps: 0, lost: 0 };
    let rebuilt = E::open(&new)?;
    match E::open(&old).or_else(|error| without_indexes(&old, |_| true).map_err(|_| error).and_then(|()| E::open(&old)))
    {
        Ok(engine) => {
            repaired.lost = Tail::acknowledged(&old).unwrap_or(0).saturating_sub(count(&engine).unwrap_or(0));
            save(&engine, &rebuilt, &mut repaired)?;
        }
        Err(_) => repaired.gaps += 1,
    }
    drop(rebuilt);
    place.point_at(number + 1)?;
    fs::remove_dir_all(old)?;
    Ok(repaired)
}

/// Copies what can be read, page by page, and around what cannot.
fn save(from: &impl Engine, to: &impl Engine, repaired: &mut Repaired) -> Result<(), StoreError> {
    let mut at = Some(Vec::new());
    while let Some(start) = at {
        let (records, next) = read_on(from, &start, repaired);
        at = next;
        repaired.saved += records.len();
        to.apply(&records.into_iter().map(|(key, value)| (key, Some(value))).collect())?;
    }
    Ok(())
}

/// Some records from a key on, and where to go on, if there is more.
fn read_on(from: &impl Engine, start: &[u8], repaired: &mut Repaired) -> (Vec<Record>, Option<Vec<u8>>) {
    let mut limit = COPIED;
    loop {
        match from.range(Bound::Included(start), &[], limit) {
            Ok(records) => {
                // The next possible key.
                let next = records.last().map(|(key, _)| [key.as_slice(), &[0]].concat());
                return (records, next);
            }
            // Up to what cannot be read.
            Err(_) if limit > 1 => limit /= 2,
            Err(_) => {
                repaired.gaps += 1;
                return (Vec::new(), beyond(from, start));
            }
        }
    }
}

/// The nearest key behind one, by shortening it, from where the database can be read again.
fn beyond(from: &impl Engine, key: &[u8]) -> Option<Vec<u8>> {
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
