//! Which role this process has, and how it finds another when a leader goes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::store::group::Compacted;
use crate::store::record::{Batch, Done, Record, Store, StoreError};

use super::follower::{Follower, Missed};
use super::leader::Leader;
use super::lock::{holder, lock};
use super::wire::{Answer, Client, Request};
use super::{COMPACTING, Opener, PATIENCE, mark};

/// The longest pause between two looks at who leads.
const PAUSE: Duration = Duration::from_millis(10);

/// An open store, which this process shares with others. When it is dropped, what has been asked is answered first, and
/// another process may hold the store then.
pub struct OpenStore(Arc<Core>);

struct Core {
    dir: PathBuf,
    open: Opener,
    client: Client,
    slots: Mutex<Slots>,
    role: RwLock<Role>,
    /// Held by the one thread that looks for a new role.
    electing: Mutex<()>,
    closed: AtomicBool,
    /// How long a leader may leave a request without an answer, and nobody lead.
    patience: Duration,
}

/// What this process is.
#[derive(Clone)]
enum Role {
    /// Nothing yet; or it was about to lead, and the store would not open.
    None,
    Leader(Arc<Leader>),
    Follower(Arc<Follower>),
}

/// See `mark`: slots that are free, with the number of their last commit; and how many there are.
#[derive(Default)]
struct Slots {
    free: Vec<(u32, u64)>,
    made: u32,
}

impl Slots {
    fn take(&mut self) -> (u32, u64) {
        self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            (self.made, 0)
        })
    }
}

impl OpenStore {
    /// Opens the store, or connects to the process that has it. The directory is there.
    pub(in crate::store) fn open(dir: &Path, open: Opener) -> Result<Self, StoreError> {
        Self::open_within(dir, open, PATIENCE)
    }

    pub(super) fn open_within(dir: &Path, open: Opener, patience: Duration) -> Result<Self, StoreError> {
        let mut client = Client::default();
        getrandom::fill(&mut client).map_err(std::io::Error::from)?;
        let core = Arc::new(Core {
            dir: dir.to_owned(),
            open,
            client,
            slots: Mutex::default(),
            role: RwLock::new(Role::None),
            electing: Mutex::default(),
            closed: AtomicBool::new(false),
            patience,
        });
        core.elect(&Role::None, Instant::now() + patience)?;
        Ok(Self(core))
    }

    /// Whether this process holds the store.
    #[must_use]
    pub fn leads(&self) -> bool {
        matches!(self.0.role(), Role::Leader(_))
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::SeqCst);
        let role = self.0.take();
        if let Role::Follower(leader) = &role {
            leader.tell(&Request::Bye, Instant::now() + PAUSE);
        }
    }
}

impl Store for OpenStore {
    fn may_open_sockets(&self) -> bool {
        !self.leads()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let request = Request::Get { key: key.to_vec() };
        self.0.ask(
            &request,
            self.0.patience,
            |store| store.get(key),
            |answer| match answer {
                Answer::Value(value) => Some(value),
                _ => None,
            },
        )
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map(|(key, _)| key.as_slice()).or(after);
            let left = limit - records.len();
            let request = Request::Scan {
                prefix: prefix.to_vec(),
                after: after.map(<[u8]>::to_vec),
                limit: u64::try_from(left).unwrap_or(u64::MAX),
            };
            let whole = |store: &dyn Store| store.scan(prefix, after, left).map(|records| (records, false));
            let (page, more) = self.0.ask(&request, self.0.patience, whole, |answer| match answer {
                Answer::Page(page, more) if page.len() <= left => Some((page, more)),
                _ => None,
            })?;
            let more = more && !page.is_empty();
            records.extend(page);
            if !more {
                return Ok(records);
            }
        }
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        batch.check()?;
        if let Role::Leader(leader) = self.0.role() {
            return leader.store().commit(batch);
        }
        let (slot, last) = self.0.slots().take();
        let sequence = last + 1;
        let request = Request::Commit { slot, sequence, batch };
        let outcome = self.0.ask(
            &request,
            self.0.patience,
            |store| self.0.commit_again(store, &request),
            |answer| match answer {
                Answer::Done => Some(()),
                _ => None,
            },
        );
        // What nobody has answered may yet be made: its slot is given up.
        if !matches!(outcome, Err(StoreError::Hangs { .. })) {
            self.0.slots().free.push((slot, sequence));
        }
        outcome
    }

    fn submit(&self, batch: Batch, done: Done) {
        match self.0.role() {
            Role::Leader(leader) => leader.store().submit(batch, done),
            _ => done(self.commit(batch)),
        }
    }

    fn compact(&self) -> Result<Compacted, StoreError> {
        self.0.ask(
            &Request::Compact,
            COMPACTING,
            |store| store.compact(),
            |answer| match answer {
                Answer::Compacted(compacted) => Some(compacted),
                _ => None,
            },
        )
    }
}

impl Core {
    fn role(&self) -> Role {
        self.role.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self) -> Role {
        std::mem::replace(&mut *self.role.write().unwrap_or_else(PoisonError::into_inner), Role::None)
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whoever leads, if need be one after the other, until one has answered or the time is over.
    fn ask<T>(
        self: &Arc<Self>,
        request: &Request,
        patience: Duration,
        own: impl Fn(&dyn Store) -> Result<T, StoreError>,
        read: impl Fn(Answer) -> Option<T>,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + patience;
        loop {
            let role = self.role();
            let missed = match &role {
                Role::Leader(leader) => return own(&**leader.store()),
                Role::Follower(leader) => match leader.ask(request, deadline) {
                    Ok(Answer::Failed(error)) => return Err(error),
                    Ok(answer) => return read(answer).ok_or_else(|| self.nonsense(leader.pid)),
                    Err(missed) => missed,
                },
                Role::None => Missed::Gone,
            };
            if missed == Missed::Hangs || Instant::now() >= deadline {
                return Err(self.hangs());
            }
            self.elect(&role, deadline)?;
        }
    }

    /// Makes in this process a commit that was asked of leaders that have gone.
    fn commit_again(&self, store: &dyn Store, request: &Request) -> Result<(), StoreError> {
        let Request::Commit { slot, sequence, batch } = request else { return Ok(()) };
        let (sender, answer) = std::sync::mpsc::channel();
        mark::commit_once(store, (&self.client, *slot, *sequence), batch.clone(), move |outcome| {
            drop(sender.send(outcome));
        });
        answer.recv().unwrap_or_else(|_| Err(self.nonsense(std::process::id())))
    }

    fn nonsense(&self, pid: u32) -> StoreError {
        let reason = format!("process {pid}, which holds it, answers what was not asked");
        StoreError::Format { path: self.dir.clone(), reason }
    }

    fn hangs(&self) -> StoreError {
        StoreError::Hangs { path: self.dir.clone(), pid: holder(&self.dir) }
    }

    /// Finds a role in place of one that is lost, unless another thread has done so.
    fn elect(self: &Arc<Self>, lost: &Role, deadline: Instant) -> Result<(), StoreError> {
        let _electing = self.electing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.role().is(lost) {
            return Ok(());
        }
        let mut pause = Duration::from_micros(500);
        while !self.closed.load(Ordering::SeqCst) {
            if let Some(role) = self.find(deadline)? {
                *self.role.write().unwrap_or_else(PoisonError::into_inner) = role;
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(self.hangs());
            }
            sleep(pause);
            pause = PAUSE.min(pause * 2);
        }
        Ok(())
    }

    /// Leads, if nobody does; else follows, if the leader lets it.
    fn find(self: &Arc<Self>, deadline: Instant) -> Result<Option<Role>, StoreError> {
        if let Some(lock) = lock(&self.dir)? {
            return Ok(Some(Role::Leader(Arc::new(Leader::start(&self.dir, lock, &self.open)?))));
        }
        let core = Arc::downgrade(self);
        match Follower::connect(&self.dir, &self.client, deadline, move || take_over(&core)) {
            Ok(follower) => Ok(Some(Role::Follower(Arc::new(follower)))),
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                let pid = holder(&self.dir);
                let reason = format!("process {pid}, which holds it, is of another version of Tollhouse");
                Err(StoreError::Format { path: self.dir.clone(), reason })
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidFilename => Err(error.into()),
            // It has just gone, or does not listen yet.
            Err(_) => Ok(None),
        }
    }
}

/// A leader has gone: one of those that remain takes its place at once, and does not wait until somebody asks.
fn take_over(core: &Weak<Core>) {
    let Some(core) = core.upgrade() else { return };
    let role = core.role();
    // Who asks may have noticed first, and found another.
    if matches!(&role, Role::Follower(leader) if leader.is_lost()) {
        // Who asks next learns why it failed.
        drop(core.elect(&role, Instant::now() + core.patience));
    }
}

impl Role {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Leader(one), Self::Leader(other)) => Arc::ptr_eq(one, other),
            (Self::Follower(one), Self::Follower(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
