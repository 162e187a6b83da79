//! Storage of a session: in this process or on disk, with the secret from which its random numbers are derived.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::host::HostError;
use super::journal::JournalEntry;
use super::persistence::{
    CancelRegistration, JudgedOperation, PersistentSession, SessionId, SessionsError, StartedRun,
};
use super::saved_session::PortableError;
use crate::gate::Audit;

/// Storage of a session.
pub(super) enum SessionStorage {
    /// In this process. Delegated sessions have runs of their own, which are counted with those of their parent.
    Memory { secret: [u8; 32], runs: Arc<AtomicU64> },
    /// On disk; the files are the session's own (`main`), or those of a delegated session.
    Disk {
        secret: [u8; 32],
        persistent: Arc<PersistentSession>,
        main: bool,
        /// Destination of audit events besides the session's own log.
        other_audit: Option<Arc<dyn Audit>>,
    },
}

/// Slot of a run in its session, held until the run has ended.
pub(super) enum RunSlot {
    /// Slot in memory, with the run's number.
    Memory(u64),
    /// Slot on disk, with the run's record.
    Disk(StartedRun),
}

impl RunSlot {
    /// Returns the run's number.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Memory(number) => *number,
            Self::Disk(started_run) => started_run.number,
        }
    }
}

impl SessionStorage {
    /// Creates the storage of a new session in this process.
    pub(super) fn in_process(runs: Arc<AtomicU64>) -> Result<Self, HostError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| HostError::Random(error.into()))?;
        Ok(Self::Memory { secret, runs })
    }

    /// Creates the storage of a delegated session, whose files are in memory.
    pub(super) fn delegated(&self) -> Result<Self, HostError> {
        match self {
            Self::Memory { runs, .. } => Self::in_process(Arc::clone(runs)),
            Self::Disk { secret, persistent, other_audit, .. } => Ok(Self::Disk {
                secret: *secret,
                persistent: Arc::clone(persistent),
                main: false,
                other_audit: other_audit.clone(),
            }),
        }
    }

    /// Returns the session on disk that this one is, and not one that was delegated from it.
    pub(super) fn main(&self) -> Option<&Arc<PersistentSession>> {
        match self {
            Self::Disk { persistent, main: true, .. } => Some(persistent),
            _ => None,
        }
    }

    /// Returns the session on disk that has the log and the ledger.
    fn persistent(&self) -> Option<&Arc<PersistentSession>> {
        match self {
            Self::Disk { persistent, .. } => Some(persistent),
            Self::Memory { .. } => None,
        }
    }

    /// Returns the run that holds the session on disk, with that session.
    pub(super) fn on_disk<'s>(&'s self, slot: &'s RunSlot) -> Option<(&'s PersistentSession, &'s StartedRun)> {
        match (self, slot) {
            (Self::Disk { persistent, .. }, RunSlot::Disk(started_run)) => Some((persistent, started_run)),
            _ => None,
        }
    }

    /// Returns the audit log to which the end of a run has to be written, if there is one. The log of a session on disk
    /// has it by the commit that makes it so.
    pub(super) fn audit_of_ends<'a>(&'a self, audit: &'a Arc<dyn Audit>) -> Option<&'a Arc<dyn Audit>> {
        match self {
            Self::Memory { .. } => Some(audit),
            Self::Disk { other_audit, .. } => other_audit.as_ref(),
        }
    }

    /// Returns the number of the next run in this process.
    pub(super) fn next_run(runs: &AtomicU64) -> RunSlot {
        RunSlot::Memory(runs.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Returns the name of a session on disk that has its own files there.
    pub(super) fn id(&self) -> Option<&SessionId> {
        self.main().map(|persistent| persistent.id())
    }

    /// Returns true if this process may still open sockets for the session: another process holds its store, and may
    /// end.
    pub(super) fn may_open_sockets(&self) -> bool {
        self.persistent().is_some_and(|persistent| persistent.may_open_sockets())
    }

    /// Registers a run of a persistent session to be stopped when the session is removed.
    pub(super) fn stoppable(&self, stop: impl Fn() + Send + Sync + 'static) -> Option<CancelRegistration> {
        self.persistent().map(|persistent| persistent.stoppable(stop))
    }

    /// Checks that the session is in this process.
    pub(super) fn in_memory(&self) -> Result<(), PortableError> {
        self.persistent().map_or(Ok(()), |_| Err(PortableError::OnDisk))
    }

    /// Returns true if a run with this slot has a journal.
    pub(super) fn is_journaled(&self, slot: &RunSlot) -> bool {
        self.main().is_some() && matches!(slot, RunSlot::Disk(_))
    }

    /// Adds an entry to the journal of the active run.
    pub(super) fn journal(&self, entry: &JournalEntry) {
        if let Some(persistent) = self.persistent() {
            persistent.journal(entry);
        }
    }

    /// Sets the operation whose call the gate is about to judge, for the journal.
    pub(super) fn judging(&self, operation: Option<JudgedOperation>) {
        if let Some(persistent) = self.main() {
            persistent.judging(operation);
        }
    }

    /// Gives back what a call of a resumed run had reserved, because it is judged again.
    pub(super) fn give_back(&self, run: u64, seq: u64) -> Result<(), SessionsError> {
        self.persistent().map_or(Ok(()), |persistent| persistent.give_back(run, seq))
    }

    /// Returns the number of bytes of the journal that no commit has written yet, and of the whole journal.
    pub(super) fn journal_bytes(&self) -> (usize, u64) {
        self.persistent().map_or((0, 0), |persistent| persistent.journal_bytes())
    }

    /// Derives a seed for one purpose in the life of the session, the same each time.
    pub(super) fn seed(&self, purpose: &str, numbers: &[u64]) -> [u8; 32] {
        derive_seed(self.secret(), purpose, numbers)
    }

    /// Returns the secret from which the session's random numbers are derived.
    pub(super) fn secret(&self) -> &[u8; 32] {
        let (Self::Memory { secret, .. } | Self::Disk { secret, .. }) = self;
        secret
    }
}

/// Derives a seed for one purpose from a secret.
pub(super) fn derive_seed(secret: &[u8; 32], purpose: &str, numbers: &[u64]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_keyed(secret);
    hasher.update(purpose.as_bytes());
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
