//! Creation of sessions.

use std::sync::Arc;
use std::time::Duration;

use super::open_session::first_head;
use super::record::{Created, Origin, RunRecord, States};
use super::removal::clear_records;
use super::session_lock::SessionLock;
use super::session_log::{json, retried};
use super::shared_budgets::FamilyId;
use super::{RecordStatus, SessionId, Sessions, SessionsError, Waiting, record_key};
use crate::capability::{Grant, Limits, Policy, Setting};
use crate::gate::{Approver, ApproverKeys, Audit};
use crate::session::SuspensionObserver;
use crate::store::Batch;
use crate::tool::{HostTool, Lock, McpCalls, Secrets};
use crate::vfs::now;
use crate::vfs::{SnapshotId, Tree};

/// Number of records that one commit copies.
const PAGE: usize = 500;

/// Pause before checking again whether a name is free.
const PAUSE: Duration = Duration::from_millis(10);

/// Returns the first epoch of a session. It is random, so that it differs from the epochs of a removed session with the
/// same name.
pub(super) fn new_epoch() -> Result<u64, SessionsError> {
    let random = getrandom::u64().map_err(|error| SessionsError::Random(error.into()))?;
    // Far from the end, and above every epoch of a session that was created by an earlier version.
    Ok(random >> 1 | 1 << 32)
}

/// Options for opening a session on disk.
#[derive(Default)]
pub struct OpenOptions {
    /// Policy that the session must have been created with, but for its limits, or is created with. With `None`, any
    /// policy is accepted, and a new session gets no grants.
    pub policy: Option<Policy>,
    /// Packages to mount in addition to those of the policy. An existing session must have been created with them.
    pub tools: Vec<(String, String)>,
    /// Aliases of programs that scripts may run as commands, as for a session in memory; they become part of the
    /// policy.
    pub commands: Vec<String>,
    /// Host functions that the embedding program provides as tools. They are not saved: whoever opens the session
    /// provides them again.
    pub host_tools: Vec<HostTool>,
    /// Connections to the MCP servers of the policy, as for a session in memory. They are not saved.
    pub mcp: Option<Arc<dyn McpCalls>>,
    /// Lock that pins the mounted releases. An existing session must have been created with it.
    pub lock: Option<Lock>,
    /// Limits of the runs, in place of those of the policy.
    pub limits: Overrides,
    /// Initial files of a new session. With `None`, an empty `/workspace` and `/tmp`.
    pub files: Option<Tree>,
    /// True to create the session: one that exists, or that another process creates meanwhile, is an error
    /// ([`SessionsError::Exists`]). With `false`, such a session is opened, and `files` are not used.
    pub must_create: bool,
    /// Destination of every audit event besides the session's own log. With `None`, there is no other.
    pub audit: Option<Arc<dyn Audit>>,
    /// Approver that is asked where a grant requires it. With `None`, a script that makes such a call is suspended.
    pub approver: Option<Arc<dyn Approver>>,
    /// Keys of those whose signed approvals count. They do only if `policy` is given too: what a store says about who can
    /// approve proves nothing.
    pub approver_keys: Option<ApproverKeys>,
    /// Values of the secrets that the policy grants to tools. They are not saved.
    pub secrets: Secrets,
    /// Callback that decides whether to go on waiting while another run has the session. With `None`, it waits without
    /// end.
    pub waiting: Option<Waiting>,
    /// Observer that is told when a run of the session is suspended.
    pub on_suspended: Option<Arc<dyn SuspensionObserver>>,
}

/// Limits that replace those of the policy.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Limits in place of all of those of the policy, before the others: those of the run that is to be resumed
    /// ([`UnfinishedRuns::limits_of`](super::UnfinishedRuns::limits_of)).
    pub base: Option<Limits>,
    /// Time from start to end.
    pub wall: Option<Duration>,
    /// Bytes of memory of one guest.
    pub memory: Option<u64>,
    /// Units of fuel, as the guests count it.
    pub fuel: Option<u64>,
    /// Further limits.
    pub others: Vec<Setting>,
}

impl Overrides {
    /// Applies the limits.
    pub fn apply(&self, limits: &mut Limits) {
        if let Some(base) = &self.base {
            limits.clone_from(base);
        }
        limits.wall = self.wall.unwrap_or(limits.wall);
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.fuel = self.fuel.unwrap_or(limits.fuel);
        self.others.iter().for_each(|setting| setting.apply(limits));
    }
}

/// Returns true if two policies are the same but for their limits, which are of runs and not of a session.
pub(in crate::session) fn is_same_but_for_limits(given: &Policy, kept: &Policy) -> bool {
    Policy { limits: kept.limits.clone(), ..given.clone() }.to_json() == kept.to_json()
}

/// Creator of sessions, from what they start with or from their records.
#[derive(Clone, Copy)]
pub(in crate::session) struct SessionCreator<'s> {
    pub(super) sessions: &'s Sessions,
}

impl SessionCreator<'_> {
    /// Creates a session.
    ///
    /// # Errors
    /// [`SessionsError::Exists`]; [`SessionsError::Token`] if the policy cannot be saved.
    pub(in crate::session) fn create(
        &self,
        id: &SessionId,
        policy: &Policy,
        lock: &Lock,
        files: &Tree,
    ) -> Result<(), SessionsError> {
        let narrowed = |grant: &Grant| grant.expires.is_some() || grant.parent.is_some();
        if policy.grants.iter().any(narrowed) {
            return Err(SessionsError::Token);
        }
        // Garbage collection may have removed a blob meanwhile that this session relies on.
        retried(|| self.create_now(id, policy, lock, files))
    }

    fn create_now(&self, id: &SessionId, policy: &Policy, lock: &Lock, files: &Tree) -> Result<(), SessionsError> {
        let mut upload = self.sessions.blobs().begin()?;
        let snapshot = files.seal(&mut *upload)?;
        let mut batch = self.first(id, None, snapshot, files, States::new())?;
        let policy = policy.to_json().to_string().into_bytes();
        for (kind, value) in [(b'P', policy), (b'M', json(lock))] {
            let stored = match record_key::inline_value(&value) {
                Some(here) => here,
                None => record_key::blob_value(&upload.put(value)?),
            };
            batch.put(record_key::single(kind, id), stored);
        }
        upload.sync()?;
        self.establish(id, Vec::new(), batch)
    }

    /// Creates a session from its records: the multiple ones, and a last batch that makes it exist. Remains of an
    /// earlier session with the same name, or of an interrupted attempt, are removed first.
    pub(super) fn establish(
        &self,
        id: &SessionId,
        many: Vec<(Vec<u8>, Vec<u8>)>,
        mut last: Batch,
    ) -> Result<(), SessionsError> {
        let _session_lock = self.take_new(id)?;
        clear_records(self.sessions, id)?;
        let pages = many.chunks(PAGE);
        if pages.len() > 1 {
            let mut mark = Batch::default();
            mark.expect(record_key::single(b'S', id), None);
            mark.put(record_key::single(b'X', id), []);
            self.sessions.records().commit(mark)?;
        }
        let alone = pages.len() <= 1;
        for page in pages {
            let mut part = Batch::default();
            part.expect(record_key::single(b'S', id), None);
            page.iter().for_each(|(name, value)| part.put(name.clone(), value.clone()));
            if alone {
                last.changes.append(&mut part.changes);
            } else {
                self.sessions.records().commit(part)?;
            }
        }
        last.remove(record_key::single(b'X', id));
        Ok(self.sessions.records().commit(last)?)
    }

    /// Locks a session that does not exist yet.
    pub(super) fn take_new(&self, id: &SessionId) -> Result<SessionLock, SessionsError> {
        loop {
            if self.sessions.contains(id)? {
                return Err(SessionsError::Exists(id.clone()));
            }
            if let Some(session_lock) = self.sessions.locks().try_take(id)? {
                return if self.sessions.contains(id)? {
                    Err(SessionsError::Exists(id.clone()))
                } else {
                    Ok(session_lock)
                };
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Builds the records of a session without runs.
    pub(super) fn first(
        &self,
        id: &SessionId,
        from: Option<(Origin, FamilyId)>,
        snapshot: SnapshotId,
        files: &Tree,
        states: States,
    ) -> Result<Batch, SessionsError> {
        let (from, family) = from.map(|(from, family)| (from, family.text())).unzip();
        let created =
            Created { created: now(), seed: Created::new_seed()?, from, family, hand_overs: Vec::new(), import: None };
        let run = RunRecord {
            status: RecordStatus::Created,
            script: String::new(),
            hash: String::new(),
            log: None,
            started: created.created,
            ended: Some(created.created),
            base: snapshot,
            snapshot: Some(snapshot),
            states: states.clone(),
            error: None,
            calls: 0,
            denied: 0,
        };
        let mut batch = Batch::default();
        batch.expect(record_key::single(b'S', id), None);
        batch.put(record_key::single(b'S', id), json(&created));
        batch.put(record_key::single(b'O', id), new_epoch()?.to_be_bytes());
        batch.put(record_key::single(b'H', id), json(&first_head(snapshot, files, states)));
        batch.put(record_key::numbered(b'R', id, 0), json(&run));
        Ok(batch)
    }

    /// Rejects a session that was created with something else.
    pub(in crate::session) fn same(&self, id: &SessionId, policy: &Policy, lock: &Lock) -> Result<(), SessionsError> {
        let differs = |what| Err(SessionsError::Differs { session: id.clone(), what });
        match () {
            () if !is_same_but_for_limits(policy, &self.sessions.reader().policy(id)?) => differs("grants"),
            () if self.sessions.reader().lock(id)? != *lock => differs("tools"),
            () => Ok(()),
        }
    }
}
