//! Log of a session on disk, and the ledger that it carries.
//!
//! Records wait in memory until something must be durable: a call that is about to start, or the end of a run. Then
//! everything that waits goes into one commit: lines of the log, entries and balances of the ledger, and the head,
//! which names the last line, so that a truncated log is detected.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use tollhouse_registry::Effect;

use super::pending_journal::PendingJournal;
use super::record::{Balance, Head, LedgerEntry, LedgerOutcome};
use super::shared_budgets::{ATTEMPTS as SHARED_ATTEMPTS, BudgetSharing, SpendingObserver};
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::gate::{Audit, AuditError, CallOutcome, Chain, Debits, Event};
use crate::guest::OperationId;
use crate::ledger::Used;
use crate::session::journal::JournalEntry;
use crate::store::{Batch, BlobError, Change, MAX_BLOB_BYTES, Owner, StoreError};

/// Most bytes that wait before they are committed without a request.
const MAX_WAITING: usize = 1 << 20;

/// Log of one session.
pub(super) struct SessionLog {
    sessions: Sessions,
    id: SessionId,
    /// `None` while another process may have the session.
    open: Mutex<Option<OpenLog>>,
    /// Observer of amounts that are spent elsewhere.
    spending: OnceLock<Box<dyn SpendingObserver>>,
}

/// Log that this process may write.
pub(super) struct OpenLog {
    pub(super) owner: Owner,
    /// Head as it is in the store, except for the log's end.
    pub(super) head: Head,
    pub(super) chain: Chain,
    /// Amounts that the session itself has spent.
    pub(super) balances: HashMap<String, Used>,
    sharing: BudgetSharing,
    /// Journal of the active run, if it can be resumed.
    pub(super) journal: Option<PendingJournal>,
    /// Calls that have not ended, by run and number.
    pending: HashMap<(u64, u64), LedgerEntry>,
    /// Records to be committed. Values that may be long are stored as they are, and moved to blobs by the commit.
    waiting: Vec<PendingRecord>,
    bytes: usize,
}

/// Operation whose call the gate is about to judge.
#[derive(Clone, Copy)]
pub(in crate::session) struct JudgedOperation {
    /// The operation.
    pub(in crate::session) id: OperationId,
    /// Effect of repeating the call.
    pub(in crate::session) effect: Effect,
}

/// Record that waits for a commit.
enum PendingRecord {
    /// Change of a record, complete.
    Change(Change),
    /// Key and value of a record whose value may be long.
    Long(Vec<u8>, Vec<u8>),
}

impl OpenLog {
    pub(super) fn new(
        owner: Owner,
        head: Head,
        chain: Chain,
        balances: HashMap<String, Used>,
        sharing: BudgetSharing,
    ) -> Self {
        let (pending, waiting) = (HashMap::new(), Vec::new());
        Self { owner, head, chain, balances, sharing, journal: None, pending, waiting, bytes: 0 }
    }

    /// Adds a record to the next commit.
    pub(super) fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.bytes += key.len() + value.len();
        self.waiting.push(PendingRecord::Change(Change { key, value: Some(value) }));
    }

    /// Adds a record whose value may be long.
    fn put_long(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.bytes += key.len() + value.len();
        self.waiting.push(PendingRecord::Long(key, value));
    }

    /// Adds a line, unless it is too long ever to be written: it would make every later commit fail.
    pub(super) fn line(&mut self, id: &SessionId, event: &Event<'_>) -> Result<(), SessionsError> {
        let (line, chain) = self.chain.follow(event, SystemTime::now());
        if line.len() > MAX_BLOB_BYTES {
            return Err(BlobError::TooLarge(line.len()).into());
        }
        self.chain = chain;
        self.put_long(record_key::numbered(b'A', id, self.chain.lines()), line);
        Ok(())
    }

    /// Commits with a line that describes the commit. If the commit fails, the line is removed.
    pub(super) fn commit_with_line<T>(
        &mut self,
        id: &SessionId,
        event: &Event<'_>,
        commit: impl FnOnce(&mut Self) -> Result<T, SessionsError>,
    ) -> Result<T, SessionsError> {
        let mark = self.mark();
        self.line(id, event)?;
        commit(self).inspect_err(|_| self.take_back(mark))
    }

    /// Forgets what waited, after a commit that left this head.
    fn committed(&mut self, head: Head) {
        self.head = head;
        self.sharing.committed();
        if let Some(journal) = self.journal.as_mut().filter(|journal| !journal.bytes.is_empty()) {
            journal.committed();
        }
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Returns the current position of the log.
    fn mark(&self) -> LogMark {
        let journal = self.journal.as_ref().map_or(0, |journal| journal.bytes.len());
        LogMark { chain: self.chain.clone(), waiting: self.waiting.len(), bytes: self.bytes, journal }
    }

    /// Removes everything after a position, of which nothing was committed.
    fn take_back(&mut self, mark: LogMark) {
        self.chain = mark.chain;
        self.waiting.truncate(mark.waiting);
        self.bytes = mark.bytes;
        if let Some(journal) = &mut self.journal {
            journal.bytes.truncate(mark.journal);
        }
    }

    fn balance(&mut self, id: &SessionId, account: &str, change: impl FnOnce(Used) -> Used) {
        let used = self.balances.entry(account.to_owned()).or_default();
        let before = *used;
        *used = change(before);
        self.sharing.changed(account, before, *used);
        let balance = Balance::of(account, *used);
        self.put_long(record_key::account(id, account), json(&balance));
    }

    fn admitted(&mut self, id: &SessionId, call: (u64, u64), method: &str, debits: Debits<'_>) {
        debits.limited().for_each(|(account, allowance)| self.sharing.allow(account, allowance));
        for (account, amount) in debits.iter() {
            let debit = Used::of_call(amount.unwrap_or_default());
            self.balance(id, account, |used| used.plus(debit));
        }
        let text = |amount: crate::capability::Amount| amount.millionths().to_string();
        let debits = debits.iter().map(|(account, amount)| (account.to_string(), amount.map(text)));
        let entry =
            LedgerEntry { method: method.to_owned(), debits: debits.collect(), outcome: LedgerOutcome::Pending };
        self.put_long(record_key::entry(id, call.0, call.1), json(&entry));
        self.pending.insert(call, entry);
    }

    /// Takes up a call that an earlier process had started.
    pub(super) fn resume_pending(&mut self, call: (u64, u64), entry: LedgerEntry) {
        self.pending.insert(call, entry);
    }

    /// Records in the journal that a call of its run was admitted.
    fn journal_admission(&mut self, run: u64, seq: u64) {
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.run == run)
            && let Some(JudgedOperation { id, effect }) = journal.judged
        {
            journal.add(&JournalEntry::Admitted { id, seq, effect: Some(effect) });
        }
    }

    /// Removes a record with the next commit.
    pub(super) fn remove(&mut self, key: Vec<u8>) {
        self.waiting.push(PendingRecord::Change(Change { key, value: None }));
    }

    pub(super) fn released(&mut self, id: &SessionId, call: (u64, u64)) {
        if let Some(entry) = self.pending.get(&call).cloned() {
            self.give_back(id, &entry);
            self.settled(id, call, LedgerOutcome::Released);
        }
    }

    fn give_back(&mut self, id: &SessionId, entry: &LedgerEntry) {
        for (account, amount) in &entry.debits {
            let amount = amount.as_deref().and_then(|text| text.parse().ok());
            let amount = amount.map(crate::capability::Amount::from_millionths).unwrap_or_default();
            self.balance(id, account, |used| used.minus(Used::of_call(amount)));
        }
    }

    /// Undoes the admission of a call of which nothing was committed.
    fn retract(&mut self, id: &SessionId, call: (u64, u64), mark: LogMark) {
        if let Some(entry) = self.pending.remove(&call) {
            self.give_back(id, &entry);
        }
        self.take_back(mark);
    }

    fn settled(&mut self, id: &SessionId, call: (u64, u64), outcome: LedgerOutcome) {
        let Some(mut entry) = self.pending.remove(&call) else { return };
        entry.outcome = outcome;
        self.put_long(record_key::entry(id, call.0, call.1), json(&entry));
    }
}

/// Position in a log.
struct LogMark {
    chain: Chain,
    waiting: usize,
    bytes: usize,
    /// Bytes of the journal that wait.
    journal: usize,
}

/// Most attempts at a commit while garbage collection abandons uploads. One collection takes longer than many commits,
/// so a commit that meets this many has another problem.
const ATTEMPTS: u32 = 100;

/// Repeats an attempt that garbage collection abandoned, up to a limit.
pub(super) fn retried<T>(mut attempt: impl FnMut() -> Result<T, SessionsError>) -> Result<T, SessionsError> {
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match attempt() {
            Err(SessionsError::Blob(BlobError::Abandoned)) if left > 0 => {}
            done => return done,
        }
    }
}

impl SessionLog {
    pub(super) fn new(sessions: Sessions, id: SessionId) -> Self {
        Self { sessions, id, open: Mutex::default(), spending: OnceLock::new() }
    }

    /// Registers the observer of amounts that are spent elsewhere.
    pub(super) fn on_spending(&self, spending: Box<dyn SpendingObserver>) {
        // A session is opened once, and so is this called.
        let _ = self.spending.set(spending);
    }

    /// Returns the observer of amounts that are spent elsewhere.
    pub(super) fn spending(&self) -> Option<&dyn SpendingObserver> {
        self.spending.get().map(|spending| &**spending)
    }

    /// Locks the log. No change can be seen half done, so a poisoned lock is still good.
    pub(super) fn lock(&self) -> MutexGuard<'_, Option<OpenLog>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits the pending records, and those that `more` adds; `more` may put blobs, which are durable before the
    /// commit. If the commit fails, the pending records stay pending. Amounts spent from shared budgets are paid in the
    /// same commit.
    pub(super) fn commit(
        &self,
        open: &mut OpenLog,
        mut more: impl FnMut(&mut CommitBuilder<'_>) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        for _ in 0..SHARED_ATTEMPTS {
            // Garbage collection may have removed a blob meanwhile that this commit relies on.
            match retried(|| self.try_commit(open, &mut more)) {
                // Other sessions have spent meanwhile, or started to share the budgets.
                Err(SessionsError::Store(StoreError::Conflict { key }))
                    if open.sharing.refused(&key, &open.balances) => {}
                done => return done,
            }
        }
        Err(SessionsError::Busy(self.id.clone()))
    }

    fn try_commit(
        &self,
        open: &mut OpenLog,
        more: &mut impl FnMut(&mut CommitBuilder<'_>) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        let mut commit = self.prepare(open)?;
        more(&mut commit)?;
        let head = commit.finish(&self.id, open)?;
        open.committed(head);
        Ok(())
    }

    /// Begins a commit with everything that waits, and the payments from shared budgets.
    fn prepare(&self, open: &mut OpenLog) -> Result<CommitBuilder<'_>, SessionsError> {
        let mut batch = Batch::of(open.owner.clone());
        open.sharing.pay(&self.sessions.families(), &self.id, &open.balances, self.spending(), &mut batch)?;
        let mut commit = CommitBuilder { batch, upload: None, sessions: &self.sessions, head: open.head.clone() };
        for waiting in &open.waiting {
            match waiting {
                PendingRecord::Change(change) => commit.batch.changes.push(change.clone()),
                PendingRecord::Long(key, value) => commit.long(key.clone(), value)?,
            }
        }
        if let Some(journal) = open.journal.as_ref().filter(|journal| !journal.bytes.is_empty()) {
            commit.long(record_key::journal(&self.id, journal.run, journal.chunks()), &journal.bytes)?;
        }
        Ok(commit)
    }

    /// Commits a call that is paid from a shared budget at once, since other sessions spend from it. If not as much is
    /// left, the admission is undone.
    fn commit_payment(&self, open: &mut OpenLog, call: (u64, u64), mark: LogMark) -> Result<(), SessionsError> {
        let paid = self.commit(open, |_| Ok(()));
        if let Err(SessionsError::Spent { .. }) = &paid {
            open.retract(&self.id, call, mark);
        }
        paid
    }

    /// Makes changes of `wasi:keyvalue` durable, with all pending records.
    pub(super) fn keep(&self, changes: &[crate::tool::EntryChange]) -> Result<(), SessionsError> {
        let mut open = self.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        self.commit(open, |commit| {
            for (name, value) in changes {
                let key = record_key::keyvalue(&self.id, name);
                match value {
                    Some(value) => commit.long(key, value)?,
                    None => commit.batch.remove(key),
                }
            }
            Ok(())
        })
    }
}

/// Commit that is being assembled.
pub(super) struct CommitBuilder<'p> {
    pub(super) batch: Batch,
    pub(super) head: Head,
    upload: Option<Box<dyn crate::store::Upload + 'p>>,
    sessions: &'p Sessions,
}

impl CommitBuilder<'_> {
    /// Adds a record whose value may be long.
    pub(super) fn long(&mut self, key: Vec<u8>, value: &[u8]) -> Result<(), SessionsError> {
        let value = match record_key::inline_value(value) {
            Some(value) => value,
            None => record_key::blob_value(&self.upload()?.put(value.to_vec())?),
        };
        self.batch.put(key, value);
        Ok(())
    }

    /// Returns the upload for blobs.
    pub(super) fn upload(&mut self) -> Result<&mut dyn crate::store::Upload, SessionsError> {
        let upload = match self.upload.take() {
            Some(upload) => upload,
            None => self.sessions.blobs().begin()?,
        };
        Ok(&mut **self.upload.insert(upload))
    }

    /// Makes the commit, with a head that names the end of the log, which is returned. Blobs are durable before the commit
    /// that names them.
    fn finish(mut self, id: &SessionId, open: &OpenLog) -> Result<Head, SessionsError> {
        self.head.commits += 1;
        self.head.lines = open.chain.lines();
        self.head.hash = open.chain.hash().to_string();
        self.batch.put(record_key::single(b'H', id), json(&self.head));
        if let Some(upload) = &mut self.upload {
            upload.sync()?;
        }
        self.sessions.records().commit(self.batch)?;
        Ok(self.head)
    }
}

impl Audit for SessionLog {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut guard = self.lock();
        let open = guard.as_mut().ok_or(SessionsError::NotTaken)?;
        if open.bytes > MAX_WAITING {
            let committed = self.commit(open, |_| Ok(()));
            if open.bytes > 8 * MAX_WAITING {
                // As long as commits fail, no more than that is buffered.
                committed?;
            }
        }
        let mark = open.mark();
        open.line(&self.id, event)?;
        match *event {
            Event::Admitted { run, seq, caller, method, debits, .. } => {
                open.admitted(&self.id, (run, seq), method, debits);
                if caller.is_none() {
                    open.journal_admission(run, seq);
                }
                if open.sharing.is_shared() && debits.limited().next().is_some() {
                    return Ok(self.commit_payment(open, (run, seq), mark)?);
                }
            }
            Event::Released { run, seq } => open.released(&self.id, (run, seq)),
            Event::Settled { run, seq, outcome, .. } if outcome != CallOutcome::Pending => {
                open.settled(&self.id, (run, seq), outcome.into());
            }
            _ => {}
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        let mut guard = self.lock();
        let open = guard.as_mut().ok_or(SessionsError::NotTaken)?;
        let journaled = open.journal.as_ref().is_some_and(|journal| !journal.bytes.is_empty());
        if open.waiting.is_empty() && !journaled { Ok(()) } else { Ok(self.commit(open, |_| Ok(()))?) }
    }
}

/// Serializes a record.
pub(super) fn json<T: serde::Serialize>(record: &T) -> Vec<u8> {
    serde_json::to_vec(record).expect("a record is plain data")
}
