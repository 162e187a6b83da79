//! Group commit: one thread makes what many threads ask, many batches to a sync.
//!
//! What a database must bring is an [`Engine`]; what a [`Store`] promises on top of it is here, once for all databases.
//!
//! A commit that fails leaves open what the disk holds. The database is then closed, and what comes next opens it again;
//! until that succeeds, all is refused. What is read then need not be on the disk: after a sync that failed Linux takes for
//! written what it could not write, and says so to nobody. So before the next commit all of it is copied to a new database.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::thread::JoinHandle;

use super::place::{Place, size};
use super::record::{Batch, Done, OWN, Record, Store, StoreError, first};
use super::tail::Tail;

/// The most batches of one group, so that the first of them does not wait for long.
const MAX_GROUP: usize = 512;

/// The most bytes of one group, unless one batch alone has more.
const MAX_GROUP_BYTES: usize = 4 << 20;

/// How many records are copied at a time when a database is compacted.
pub(super) const COPIED: usize = 1_000;

/// The record that counts the groups.
const COUNT: [u8; 2] = [OWN, b'n'];

/// What becomes of which record.
pub(super) type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A database. It does not panic, whatever it is built on.
pub(super) trait Engine: Send + Sync + Sized + 'static {
    /// Opens the database in this directory, or makes one there. All that it then holds is durable.
    fn open(path: &Path) -> Result<Self, StoreError>;

    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// The records from there on, as long as their keys have the prefix, at most so many.
    fn range(&self, from: Bound<&[u8]>, prefix: &[u8], limit: usize) -> Result<Vec<Record>, StoreError>;

    /// Makes all changes or none; durable when it returns. Called by one thread at a time. After an error the engine is
    /// not used any more.
    fn apply(&self, changes: &Changes) -> Result<(), StoreError>;
}

/// What compacting came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before.
    pub before: u64,
    /// Bytes on disk after.
    pub after: u64,
}

/// A store that stands on an engine.
pub(super) struct Grouped<E: Engine> {
    inner: Arc<Inner<E>>,
    committer: Option<JoinHandle<()>>,
}

struct Inner<E> {
    place: Place,
    /// The database, or why it was closed.
    database: RwLock<Result<Database<E>, StoreError>>,
    queue: Mutex<Queue>,
    work: Condvar,
}

struct Database<E> {
    engine: E,
    number: u64,
    tail: Tail,
    /// A commit has failed: what is read of it may not be on the disk.
    unsure: bool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

enum Job {
    Commit(Batch, Done),
    Compact(mpsc::Sender<Result<Compacted, StoreError>>),
}

impl<E: Engine> Grouped<E> {
    /// Opens the database that a place names, or makes its first.
    pub(super) fn open(place: Place) -> Result<Self, StoreError> {
        let number = match place.current()? {
            Some(number) => {
                place.sweep(number)?;
                number
            }
            None => 1,
        };
        let database = Database::open(&place, number)?;
        if place.named()?.is_none() {
            place.point_at(number)?;
        }
        let inner = Arc::new(Inner {
            place,
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

    fn push(&self, job: Job) {
        self.inner.lock().jobs.push_back(job);
        self.inner.work.notify_one();
    }
}

impl<E: Engine> Drop for Grouped<E> {
    fn drop(&mut self) {
        self.inner.lock().closed = true;
        self.inner.work.notify_one();
        // Dropped by what it told that a batch is made, it ends by itself.
        let here = std::thread::current().id();
        if let Some(committer) = self.committer.take().filter(|committer| committer.thread().id() != here) {
            // It ends when the queue is empty; if it panicked there is nothing left to wait for.
            drop(committer.join());
        }
    }
}

impl<E: Engine> Store for Grouped<E> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read(|database| database.engine.get(key))
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.inner.read(|database| database.engine.range(first(prefix, after), prefix, limit))
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (sender, answer) = mpsc::sync_channel(1);
        self.submit(batch, Box::new(move |outcome| drop(sender.send(outcome))));
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn submit(&self, batch: Batch, done: Done) {
        match batch.check() {
            Ok(()) => self.push(Job::Commit(batch, done)),
            Err(error) => done(Err(error)),
        }
    }

    fn compact(&self) -> Result<Compacted, StoreError> {
        let (sender, answer) = mpsc::channel();
        self.push(Job::Compact(sender));
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

/// The committer is gone: only a panic of its own brings that about.
fn gone() -> StoreError {
    StoreError::Damaged("the thread that commits has ended".to_owned())
}

impl<E: Engine> Inner<E> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it holds the queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, what: impl FnOnce(&Database<E>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let database = self.ready()?;
        database.as_ref().map_err(StoreError::clone).and_then(what)
    }

    /// The database, opened again if it had failed.
    fn ready(&self) -> Result<RwLockReadGuard<'_, Result<Database<E>, StoreError>>, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        if database.is_ok() {
            return Ok(database);
        }
        drop(database);
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if database.is_err() {
            let number = self.place.current()?.unwrap_or(1);
            *database = Ok(Database::open(&self.place, number)?);
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
            let path = self.place.database(database.number);
            // What finds no room is refused at once; unless the device is full and the file system is not.
            if !matches!(error, StoreError::Full(_)) || self.place.has_room() {
                // Where it cannot be made, nobody commits. In a power cut it may go: then all is read from the disk.
                drop(File::create(doubt(&path)));
            }
        }
    }

    /// Copies a database that may not be on the disk.
    fn make_sure(&self) -> Result<(), StoreError> {
        if self.read(|database| Ok(database.unsure))? { self.compact().map(drop) } else { Ok(()) }
    }

    /// What the committer does, to the end.
    fn serve(&self) {
        while let Some(jobs) = self.next() {
            let mut group = Vec::with_capacity(jobs.len());
            for job in jobs {
                match job {
                    Job::Commit(batch, done) => group.push((batch, done)),
                    Job::Compact(answer) => {
                        self.make(std::mem::take(&mut group));
                        // Who asked may have gone.
                        drop(answer.send(self.compact()));
                    }
                }
            }
            self.make(group);
        }
    }

    /// Waits for work, and takes a group's worth of it; none when the store is closed and all is done.
    fn next(&self) -> Option<Vec<Job>> {
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
                Job::Commit(batch, _) => batch.bytes(),
                Job::Compact(_) => 0,
            };
            if jobs.len() >= MAX_GROUP || (bytes > MAX_GROUP_BYTES && !jobs.is_empty()) {
                queue.jobs.push_front(job);
                break;
            }
            jobs.push(job);
        }
        Some(jobs)
    }

    /// Makes a group, and answers all of it. A refusal waits for the sync too: what it rests on may be of this group.
    fn make(&self, mut group: Vec<(Batch, Done)>) {
        let mut answers = Vec::with_capacity(group.len());
        let made = self.make_sure();
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
        if let Err(error) = &made
            && sure
        {
            self.fail(error);
        }
        for (done, allowed) in answers {
            done(made.clone().and(allowed));
        }
        // What was not even judged, since the database would not open again.
        for (_, done) in group {
            done(made.clone());
        }
    }

    /// Copies what lives to a new database, which then takes the place of the old one. Until `format` names the new one,
    /// the old one is whole; from then on, the new one is.
    fn compact(&self) -> Result<Compacted, StoreError> {
        let number = self.read(|database| Ok(database.number))?;
        let (old, new) = (self.place.database(number), self.place.database(number + 1));
        let before = size(&old)?;
        // An earlier copy that could not be removed holds records that have gone since.
        if new.exists() {
            fs::remove_dir_all(&new)?;
        }
        let copied = self.read(|database| database.copy(&new));
        if let Err(error) = copied {
            // What was begun is in nobody's way, and goes when the store is opened the next time, if not now.
            drop(fs::remove_dir_all(&new));
            return Err(error);
        }
        // If this fails, either may be the one: which, is read when the database is opened again.
        let pointed = self.place.point_at(number + 1);
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        *database = pointed.and_then(|()| Database::open(&self.place, number + 1));
        database.as_ref().map(drop).map_err(StoreError::clone)?;
        drop(database);
        fs::remove_dir_all(&old)?;
        Ok(Compacted { before, after: size(&new)? })
    }
}

impl<E: Engine> Database<E> {
    fn open(place: &Place, number: u64) -> Result<Self, StoreError> {
        let path = place.database(number);
        let engine = E::open(&path)?;
        let counted = count(&engine)?;
        let tail = Tail::open(&path, counted)?;
        let unsure = doubt(&path).exists();
        Ok(Self { engine, number, tail, unsure })
    }

    /// Makes changes durable, and counts them.
    fn apply(&self, mut changes: Changes) -> Result<(), StoreError> {
        let count = self.tail.count() + 1;
        changes.insert(COUNT.to_vec(), Some(count.to_be_bytes().to_vec()));
        self.engine.apply(&changes)?;
        self.tail.acknowledge(count);
        Ok(())
    }

    /// Copies all records, its own too, to a new database.
    fn copy(&self, path: &Path) -> Result<(), StoreError> {
        let new = E::open(path)?;
        let mut from = Bound::Unbounded;
        loop {
            let records = self.engine.range(from.as_ref().map(Vec::as_slice), &[], COPIED)?;
            let Some((last, _)) = records.last() else { return Ok(()) };
            from = Bound::Excluded(last.clone());
            new.apply(&records.into_iter().map(|(key, value)| (key, Some(value))).collect())?;
        }
    }
}

/// The file in a database of which a commit has failed.
fn doubt(database: &Path) -> PathBuf {
    database.join("unsure")
}

/// How many groups a database has seen.
pub(super) fn count(engine: &impl Engine) -> Result<u64, StoreError> {
    match engine.get(&COUNT)? {
        None => Ok(0),
        Some(bytes) => bytes
            .try_into()
            .map(u64::from_be_bytes)
            .map_err(|_| StoreError::Damaged("the record that counts the commits is not a number".to_owned())),
    }
}
