//! Leader election: which role this process has, and how it gets a new one when the leader ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::group_commit::Compacted;
use crate::record::{Batch, Done, Record, Store, StoreError};

use super::follower::{RequestFailure, StoreFollower};
use super::leader::StoreLeader;
use super::leader_lock::{holder, lock};
use super::protocol::{ClientId, StoreAnswer, StoreRequest};
use super::{COMPACTION_TIMEOUT, LEADER_TIMEOUT, Opener, commit_dedup};

/// Maximum pause between two attempts to find a leader.
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// An open store, shared with other processes. Dropping it first answers all pending requests; then another process may
/// take the store.
pub struct OpenStore(Arc<StoreMember>);

struct StoreMember {
    dir: PathBuf,
    open: Opener,
    client: ClientId,
    slots: Mutex<CommitSlots>,
    role: RwLock<ProcessRole>,
    /// Held by the one thread that looks for a new role.
    electing: Mutex<()>,
    closed: AtomicBool,
    /// Time limit for a leader to answer a request, and for an election.
    patience: Duration,
}

/// Role of this process.
#[derive(Clone)]
enum ProcessRole {
    /// No role yet; or this process was about to lead, and the store could not be opened.
    None,
    Leader(Arc<StoreLeader>),
    Follower(Arc<StoreFollower>),
}

/// Commit slots (see `commit_dedup`): the free ones with the number of their last commit, and how many exist.
#[derive(Default)]
struct CommitSlots {
    free: Vec<(u32, u64)>,
    made: u32,
}

impl CommitSlots {
    fn take(&mut self) -> (u32, u64) {
        self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            (self.made, 0)
        })
    }
}

impl OpenStore {
    /// Opens the store in an existing directory, or connects to the process that holds it.
    pub(crate) fn open(dir: &Path, open: Opener) -> Result<Self, StoreError> {
        Self::open_within(dir, open, LEADER_TIMEOUT)
    }

    pub(super) fn open_within(dir: &Path, open: Opener, patience: Duration) -> Result<Self, StoreError> {
        let mut client = ClientId::default();
        getrandom::fill(&mut client).map_err(std::io::Error::from)?;
        let core = Arc::new(StoreMember {
            dir: dir.to_owned(),
            open,
            client,
            slots: Mutex::default(),
            role: RwLock::new(ProcessRole::None),
            electing: Mutex::default(),
            closed: AtomicBool::new(false),
            patience,
        });
        core.elect(&ProcessRole::None, Instant::now() + patience)?;
        Ok(Self(core))
    }

    /// Returns true if this process holds the store.
    #[must_use]
    pub fn leads(&self) -> bool {
        matches!(self.0.role(), ProcessRole::Leader(_))
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::SeqCst);
        let role = self.0.take();
        if let ProcessRole::Follower(leader) = &role {
            leader.notify(&StoreRequest::Bye, Instant::now() + MAX_PAUSE);
        }
    }
}

impl Store for OpenStore {
    fn may_open_sockets(&self) -> bool {
        !self.leads()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let request = StoreRequest::Get { key: key.to_vec() };
        self.0.ask(
            &request,
            self.0.patience,
            |store| store.get(key),
            |answer| match answer {
                StoreAnswer::Value(value) => Some(value),
                _ => None,
            },
        )
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map(|(key, _)| key.as_slice()).or(after);
            let left = limit - records.len();
            let request = StoreRequest::Scan {
                prefix: prefix.to_vec(),
                after: after.map(<[u8]>::to_vec),
                limit: u64::try_from(left).unwrap_or(u64::MAX),
            };
            let whole = |store: &dyn Store| store.scan(prefix, after, left).map(|records| (records, false));
            let (page, more) = self.0.ask(&request, self.0.patience, whole, |answer| match answer {
                StoreAnswer::Page(page, more) if page.len() <= left => Some((page, more)),
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
        if let ProcessRole::Leader(leader) = self.0.role() {
            return leader.store().commit(batch);
        }
        let (slot, last) = self.0.slots().take();
        let sequence = last + 1;
        let request = StoreRequest::Commit { slot, sequence, batch };
        let outcome = self.0.ask(
            &request,
            self.0.patience,
            |store| self.0.commit_again(store, &request),
            |answer| match answer {
                StoreAnswer::Done => Some(()),
                _ => None,
            },
        );
        // A commit without an answer may still be applied, so its slot must not be reused.
        if !matches!(outcome, Err(StoreError::Hangs { .. })) {
            self.0.slots().free.push((slot, sequence));
        }
        outcome
    }

    fn submit(&self, batch: Batch, done: Done) {
        match self.0.role() {
            ProcessRole::Leader(leader) => leader.store().submit(batch, done),
            _ => done(self.commit(batch)),
        }
    }

    fn compact(&self) -> Result<Compacted, StoreError> {
        self.0.ask(
            &StoreRequest::Compact,
            COMPACTION_TIMEOUT,
            |store| store.compact(),
            |answer| match answer {
                StoreAnswer::Compacted(compacted) => Some(compacted),
                _ => None,
            },
        )
    }
}

impl StoreMember {
    fn role(&self) -> ProcessRole {
        self.role.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self) -> ProcessRole {
        std::mem::replace(&mut *self.role.write().unwrap_or_else(PoisonError::into_inner), ProcessRole::None)
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, CommitSlots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request to the current leader, and to its successors, until one answers or the time limit is reached.
    fn ask<T>(
        self: &Arc<Self>,
        request: &StoreRequest,
        patience: Duration,
        own: impl Fn(&dyn Store) -> Result<T, StoreError>,
        read: impl Fn(StoreAnswer) -> Option<T>,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + patience;
        loop {
            let role = self.role();
            let missed = match &role {
                ProcessRole::Leader(leader) => return own(&**leader.store()),
                ProcessRole::Follower(leader) => match leader.ask(request, deadline) {
                    Ok(StoreAnswer::Failed(error)) => return Err(error),
                    Ok(answer) => return read(answer).ok_or_else(|| self.protocol_error(leader.pid)),
                    Err(missed) => missed,
                },
                ProcessRole::None => RequestFailure::Gone,
            };
            if missed == RequestFailure::Hangs || Instant::now() >= deadline {
                return Err(self.leader_timeout());
            }
            self.elect(&role, deadline)?;
        }
    }

    /// Applies in this process a commit that was requested from leaders that have ended.
    fn commit_again(&self, store: &dyn Store, request: &StoreRequest) -> Result<(), StoreError> {
        let StoreRequest::Commit { slot, sequence, batch } = request else { return Ok(()) };
        let (sender, answer) = std::sync::mpsc::channel();
        commit_dedup::commit_once(store, (&self.client, *slot, *sequence), batch.clone(), move |outcome| {
            drop(sender.send(outcome));
        });
        answer.recv().unwrap_or_else(|_| Err(self.protocol_error(std::process::id())))
    }

    fn protocol_error(&self, pid: u32) -> StoreError {
        let reason = format!("process {pid}, which holds the store, sent an unexpected answer");
        StoreError::Format { path: self.dir.clone(), reason }
    }

    fn leader_timeout(&self) -> StoreError {
        StoreError::Hangs { path: self.dir.clone(), pid: holder(&self.dir) }
    }

    /// Finds a new role in place of a lost one, unless another thread has done so.
    fn elect(self: &Arc<Self>, lost: &ProcessRole, deadline: Instant) -> Result<(), StoreError> {
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
                return Err(self.leader_timeout());
            }
            sleep(pause);
            pause = MAX_PAUSE.min(pause * 2);
        }
        Ok(())
    }

    /// Becomes the leader if there is none; otherwise connects to the leader as a follower.
    fn find(self: &Arc<Self>, deadline: Instant) -> Result<Option<ProcessRole>, StoreError> {
        if let Some(lock) = lock(&self.dir)? {
            return Ok(Some(ProcessRole::Leader(Arc::new(StoreLeader::start(&self.dir, lock, &self.open)?))));
        }
        let core = Arc::downgrade(self);
        match StoreFollower::connect(&self.dir, &self.client, deadline, move || take_over(&core)) {
            Ok(follower) => Ok(Some(ProcessRole::Follower(Arc::new(follower)))),
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                let pid = holder(&self.dir);
                let reason = format!("process {pid}, which holds the store, runs another version of Tollhouse");
                Err(StoreError::Format { path: self.dir.clone(), reason })
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidFilename => Err(error.into()),
            // The leader has just ended, or does not listen yet.
            Err(_) => Ok(None),
        }
    }
}

/// Called when the leader has ended: one of the remaining processes takes over at once, without waiting for a request.
fn take_over(core: &Weak<StoreMember>) {
    let Some(core) = core.upgrade() else { return };
    let role = core.role();
    // A request may have noticed first and found another role.
    if matches!(&role, ProcessRole::Follower(leader) if leader.is_lost()) {
        // The next request will get the error.
        drop(core.elect(&role, Instant::now() + core.patience));
    }
}

impl ProcessRole {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Leader(one), Self::Leader(other)) => Arc::ptr_eq(one, other),
            (Self::Follower(one), Self::Follower(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
