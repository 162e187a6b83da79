//! Group commit: one thread executes the commits of many threads, many batches to a sync.
//!
//! A database implements [`StorageEngine`]; the guarantees of a [`Store`] beyond that are implemented here, once for
//! all databases.
//!
//! After a failed commit it is unknown what the disk holds. The database is then closed, and the next operation reopens
//! it; until that succeeds, all operations are refused. Data read after reopening need not be on the disk: after a
//! failed sync, Linux treats pages that it could not write as clean, and reports that to nobody. So before the next
//! commit, everything is copied to a new database.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use tracing::debug;

use super::ack_counter::AckCounter;
use super::record::{Batch, Done, OWN_KEY_PREFIX, Record, Store, StoreError, first};
use super::store_dir::{StoreDirectory, size};

/// Maximum number of batches in a group, so that the first of them does not wait for long.
const MAX_GROUP_BATCHES: usize = 512;

/// Maximum size of a group in bytes, unless a single batch is larger.
const MAX_GROUP_BYTES: usize = 4 << 20;

/// Number of records copied at a time by compaction.
pub(super) const COPY_BATCH: usize = 1_000;

/// Key of the record that counts the groups.
const COUNT: [u8; 2] = [OWN_KEY_PREFIX, b'n'];

/// New values by key; `None` deletes the record.
pub(super) type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A database. Implementations never panic, even if the library below does.
pub(super) trait StorageEngine: Send + Sync + Sized + 'static {
    /// Opens the database in this directory, or creates one. Everything it then contains is durable.
    fn open(path: &Path) -> Result<Self, StoreError>;

    /// Returns the value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns at most `limit` records from `from` on, while their keys begin with `prefix`.
    fn range(&self, from: Bound<&[u8]>, prefix: &[u8], limit: usize) -> Result<Vec<Record>, StoreError>;

    /// Applies all changes or none; they are durable when it returns. Called by one thread at a time. After an error
    /// the engine is not used again.
    fn apply(&self, changes: &Changes) -> Result<(), StoreError>;
}

/// Sizes of a database before and after compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before compaction.
    pub before: u64,
    /// Bytes on disk after compaction.
    pub after: u64,
}

/// A store with group commit, over a storage engine.
pub(super) struct GroupCommitStore<E: StorageEngine> {
    inner: Arc<SharedState<E>>,
    committer: Option<JoinHandle<()>>,
}

struct SharedState<E> {
    directory: StoreDirectory,
    /// The open database, or the error that closed it.
    database: RwLock<Result<OpenDatabase<E>, StoreError>>,
    queue: Mutex<JobQueue>,
    work: Condvar,
}

struct OpenDatabase<E> {
    engine: E,
    number: u64,
    tail: AckCounter,
    /// Set if a commit has failed: data read from this database may not be on the disk.
    unsure: bool,
}

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<CommitterJob>,
    closed: bool,
}

enum CommitterJob {
    Commit(Batch, Done),
    Compact(mpsc::Sender<Result<Compacted, StoreError>>),
}

impl<E: StorageEngine> GroupCommitStore<E> {
    /// Opens the current database of the store's directory, or creates the first one.
    pub(super) fn open(directory: StoreDirectory) -> Result<Self, StoreError> {
        let number = match directory.current()? {
            Some(number) => {
                directory.remove_stale_databases(number)?;
                number
            }
            None => 1,
        };
        let database = OpenDatabase::open(&directory, number)?;
        if directory.number_in_format()?.is_none() {
            directory.set_current(number)?;
        }
        let inner = Arc::new(SharedState {
            directory,
            database: RwLock::new(Ok(database)),
            queue: Mutex::default(),
            work: Condvar::new(),
        });
        let committer = std::thread::Builder::new().name("store commits".to_owned()).spawn({
            let inner = Arc::clone(&inner);
            move || inner.serve()
        })?;
        Ok(Self { inner, committer: Some(committer) })
    }

    fn push(&self, job: CommitterJob) {
        self.inner.lock().jobs.push_back(job);
        self.inner.work.notify_one();
    }
}

impl<E: StorageEngine> Drop for GroupCommitStore<E> {
    fn drop(&mut self) {
        self.inner.lock().closed = true;
        self.inner.work.notify_one();
        // If this is dropped by a callback of the committer thread, that thread ends by itself and must not be joined.
        let here = std::thread::current().id();
        if let Some(committer) = self.committer.take().filter(|committer| committer.thread().id() != here) {
            // It ends when the queue is empty; if it panicked there is nothing left to wait for.
            drop(committer.join());
        }
    }
}

impl<E: StorageEngine> Store for GroupCommitStore<E> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read(|database| database.engine.get(key))
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.inner.read(|database| database.engine.range(first(prefix, after), prefix, limit))
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (sender, answer) = mpsc::sync_channel(1);
        self.submit(batch, Box::new(move |outcome| drop(sender.send(outcome))));
        answer.recv().unwrap_or_else(|_| Err(committer_gone()))
    }

    fn submit(&self, batch: Batch, done: Done) {
        match batch.check() {
            Ok(()) => self.push(CommitterJob::Commit(batch, done)),
            Err(error) => done(Err(error)),
        }
    }

    fn compact(&self) -> Result<Compacted, StoreError> {
        let (sender, answer) = mpsc::channel();
        self.push(CommitterJob::Compact(sender));
        answer.recv().unwrap_or_else(|_| Err(committer_gone()))
    }
}

/// Error for a committer thread that no longer runs, which only a panic can cause.
fn committer_gone() -> StoreError {
    StoreError::Damaged("the commit thread has terminated".to_owned())
}

impl<E: StorageEngine> SharedState<E> {
    fn lock(&self) -> MutexGuard<'_, JobQueue> {
        // No code panics while it holds the queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, what: impl FnOnce(&OpenDatabase<E>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let database = self.ready()?;
        database.as_ref().map_err(StoreError::clone).and_then(what)
    }

    /// Returns the database, reopened if it had failed.
    fn ready(&self) -> Result<RwLockReadGuard<'_, Result<OpenDatabase<E>, StoreError>>, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        if database.is_ok() {
            return Ok(database);
        }
        drop(database);
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if database.is_err() {
            let number = self.directory.current()?.unwrap_or(1);
            *database = Ok(OpenDatabase::open(&self.directory, number)?);
        }
        drop(database);
        Ok(self.database.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn fail(&self, error: &StoreError) {
        let failed = {
            let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *database, Err(error.clone()))
        };
        if let Ok(database) = failed {
            let path = self.directory.database(database.number);
            // A write without free space fails cleanly; but a full device below a file system with free space does not.
            if !matches!(error, StoreError::Full(_)) || self.directory.has_room() {
                // If the marker cannot be created, no commit succeeds either. A power failure may lose it: then
                // everything is read from the disk anyway.
                drop(File::create(unclean_marker_path(&path)));
            }
        }
    }

    /// Copies the database to a new one if a commit has failed and its contents may not be on the disk.
    fn verify_durable(&self) -> Result<(), StoreError> {
        if self.read(|database| Ok(database.unsure))? { self.compact().map(drop) } else { Ok(()) }
    }

    /// Main loop of the committer thread.
    fn serve(&self) {
        while let Some(jobs) = self.next() {
            let mut group = Vec::with_capacity(jobs.len());
            for job in jobs {
                match job {
                    CommitterJob::Commit(batch, done) => group.push((batch, done)),
                    CommitterJob::Compact(answer) => {
                        self.commit_group(std::mem::take(&mut group));
                        // The caller may have gone away.
                        drop(answer.send(self.compact()));
                    }
                }
            }
            self.commit_group(group);
        }
    }

    /// Waits for jobs, and takes one group of them; returns `None` when the store is closed and the queue is empty.
    fn next(&self) -> Option<Vec<CommitterJob>> {
        let mut queue = self.lock();
        while queue.jobs.is_empty() {
            if queue.closed {
                return None;
            }
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while let Some(job) = queue.jobs.pop_front() {
            bytes += match &job {
                CommitterJob::Commit(batch, _) => batch.bytes(),
                CommitterJob::Compact(_) => 0,
            };
            if jobs.len() >= MAX_GROUP_BATCHES || (bytes > MAX_GROUP_BYTES && !jobs.is_empty()) {
                queue.jobs.push_front(job);
                break;
            }
            jobs.push(job);
        }
        Some(jobs)
    }

    /// Commits a group, and answers all its batches. A refusal waits for the sync too, since the record that caused it
    /// may be part of this group.
    fn commit_group(&self, mut group: Vec<(Batch, Done)>) {
        let (started_at, batches) = (Instant::now(), group.len());
        let mut answers = Vec::with_capacity(group.len());
        let made = self.verify_durable();
        let sure = made.is_ok();
        let made = made.and_then(|()| {
            self.read(|database| {
                let mut changes = Changes::new();
                for (batch, done) in group.drain(..) {
                    let allowed = batch.allowed(|key| match changes.get(key) {
                        Some(value) => Ok(value.clone()),
                        None => database.engine.get(key),
                    });
                    if allowed.is_ok() {
                        changes.extend(batch.changes.into_iter().map(|change| (change.key, change.value)));
                    }
                    answers.push((done, allowed));
                }
                if changes.is_empty() { Ok(()) } else { database.apply(changes) }
            })
        });
        debug!(target: "tollhouse::store", batches, ok = made.is_ok(), elapsed = ?started_at.elapsed(), "committed");
        if let Err(error) = &made
            && sure
        {
            self.fail(error);
        }
        for (done, allowed) in answers {
            done(made.clone().and(allowed));
        }
        // Batches that were not evaluated, because the database could not be reopened.
        for (_, done) in group {
            done(made.clone());
        }
    }

    /// Copies the live records to a new database, which then replaces the old one. The old database is complete until
    /// `format` refers to the new one; from then on, the new one is.
    fn compact(&self) -> Result<Compacted, StoreError> {
        let number = self.read(|database| Ok(database.number))?;
        let (old, new) = (self.directory.database(number), self.directory.database(number + 1));
        let before = size(&old)?;
        // An earlier copy that could not be removed contains records that have been deleted since.
        if new.exists() {
            fs::remove_dir_all(&new)?;
        }
        let copied = self.read(|database| database.copy(&new));
        if let Err(error) = copied {
            // The incomplete copy does no harm; if it is not removed now, the next opening removes it.
            drop(fs::remove_dir_all(&new));
            return Err(error);
        }
        // If this fails, either database may be the current one: reopening reads which.
        let pointed = self.directory.set_current(number + 1);
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        *database = pointed.and_then(|()| OpenDatabase::open(&self.directory, number + 1));
        database.as_ref().map(drop).map_err(StoreError::clone)?;
        drop(database);
        fs::remove_dir_all(&old)?;
        Ok(Compacted { before, after: size(&new)? })
    }
}

impl<E: StorageEngine> OpenDatabase<E> {
    fn open(directory: &StoreDirectory, number: u64) -> Result<Self, StoreError> {
        let path = directory.database(number);
        let engine = E::open(&path)?;
        let counted = count(&engine)?;
        let tail = AckCounter::open(&path, counted)?;
        let unsure = unclean_marker_path(&path).exists();
        Ok(Self { engine, number, tail, unsure })
    }

    /// Makes changes durable, and counts the group.
    fn apply(&self, mut changes: Changes) -> Result<(), StoreError> {
        let count = self.tail.count() + 1;
        changes.insert(COUNT.to_vec(), Some(count.to_be_bytes().to_vec()));
        self.engine.apply(&changes)?;
        self.tail.acknowledge(count);
        Ok(())
    }

    /// Copies all records, including the store's own, to a new database.
    fn copy(&self, path: &Path) -> Result<(), StoreError> {
        let new = E::open(path)?;
        let mut from = Bound::Unbounded;
        loop {
            let records = self.engine.range(from.as_ref().map(Vec::as_slice), &[], COPY_BATCH)?;
            let Some((last, _)) = records.last() else { return Ok(()) };
            from = Bound::Excluded(last.clone());
            new.apply(&records.into_iter().map(|(key, value)| (key, Some(value))).collect())?;
        }
    }
}

/// Path of the marker file in a database in which a commit has failed.
fn unclean_marker_path(database: &Path) -> PathBuf {
    database.join("unsure")
}

/// Number of groups committed to a database.
pub(super) fn count(engine: &impl StorageEngine) -> Result<u64, StoreError> {
    match engine.get(&COUNT)? {
        None => Ok(0),
        Some(bytes) => bytes
            .try_into()
            .map(u64::from_be_bytes)
            .map_err(|_| StoreError::Damaged("the record that counts the commits is not a number".to_owned())),
    }
}
