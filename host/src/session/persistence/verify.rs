//! Verification of stored sessions: every record, chain, sum and reference.

use std::collections::HashMap;

use super::call_decisions::pending;
use super::gc_roots::{ComparedBlobs, roots_of};
use super::record::{LedgerEntry, LedgerOutcome};
use super::record_check::RecordChecker;
use super::record_reader::damaged;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::Amount;
use crate::ledger::Used;
use crate::store::{StoreError, Verified};

/// Most attempts at a session that seems damaged and has changed meanwhile.
const TRIES: u32 = 4;

/// Result of verifying a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of records.
    pub records: u64,
    /// Number of blobs that the records name, at any depth.
    pub blobs: u64,
    /// Number of lines in the log.
    pub lines: u64,
}

/// Verifier of stored sessions. They may run meanwhile.
#[derive(Clone, Copy)]
pub struct SessionVerifier<'s> {
    pub(super) sessions: &'s Sessions,
}

impl SessionVerifier<'_> {
    /// Verifies one session: every record can be read, the log is whole, the balances are the sums of the ledger, the calls
    /// that wait are those that were asked about, and every named blob exists and matches its hash and what is claimed of
    /// it. The session may run meanwhile.
    ///
    /// # Errors
    /// [`SessionsError::Unknown`] if the session is removed meanwhile; else the first problem.
    pub fn verify_session(&self, id: &SessionId) -> Result<Checked, SessionsError> {
        let mut left = TRIES;
        loop {
            let before = self.state_marker(id)?;
            let checked = self.verify_now(id);
            left -= 1;
            if checked.is_ok() || self.state_marker(id)? == before || left == 0 {
                return checked;
            }
        }
    }

    /// Verifies that each family record counts the sessions that share its budgets. Sessions may be created and removed
    /// meanwhile.
    ///
    /// # Errors
    /// If they cannot be read; else the first problem.
    pub fn verify_families(&self) -> Result<(), SessionsError> {
        let mut left = TRIES;
        loop {
            left -= 1;
            let wrong = self.sessions.families().miscounted()?.len();
            if wrong == 0 {
                return Ok(());
            }
            if left == 0 {
                let what = format!("{wrong} records of sessions that share budgets have a wrong count");
                return Err(StoreError::Damaged(what).into());
            }
        }
    }

    /// Checks every blob, including those that no session names.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn verify_blobs(&self) -> Result<Verified, SessionsError> {
        Ok(self.sessions.blob_files()?.verify()?)
    }

    /// Returns bytes that every commit changes and that no other session has.
    fn state_marker(&self, id: &SessionId) -> Result<(Vec<u8>, Option<Vec<u8>>), SessionsError> {
        Ok((self.sessions.record_reader().identity(id)?, self.sessions.records().get(&record_key::single(b'H', id))?))
    }

    fn verify_now(&self, id: &SessionId) -> Result<Checked, SessionsError> {
        let mut checked = Checked::default();
        let mut compared = ComparedBlobs::default();
        self.sessions.record_reader().created(id)?;
        self.sessions.reader().policy(id)?;
        self.sessions.reader().lock(id)?;
        self.sessions.record_reader().seed(id)?;
        let head = self.sessions.record_reader().head(id)?;
        let mut check = RecordChecker::new(self.sessions, id);
        check.head(&head)?;
        self.sessions.record_reader().records_of(id, |record| {
            checked.records += 1;
            check.record(&record)?;
            self.sessions.blob_references().compare(roots_of(id, &record)?, &mut compared)
        })?;
        check.all(&head, &self.sessions.record_reader().head(id)?)?;
        self.sessions.reader().log(id, &mut |_| checked.lines += 1)?;
        self.verify_ledger(id)?;
        self.sessions.reader().spent(id)?;
        if let Some(run) = head.unfinished {
            let journal = self.sessions.journals().without_values(id, run)?;
            // Nothing could continue the run, and no other may begin.
            if journal.is_empty() && head.handed_over.is_none() {
                return Err(damaged(id, &format!("run {run}, which waits to be resumed, has no journal")));
            }
            pending(id, run, journal)?;
        }
        checked.blobs = compared.blobs.len() as u64;
        Ok(checked)
    }

    /// Verifies that the balances are the sums of the ledger. While a run makes calls, the balances read before the
    /// ledger have no more than it shows, and those read after have at least what it shows to be settled.
    fn verify_ledger(&self, id: &SessionId) -> Result<(), SessionsError> {
        let mut left = TRIES;
        loop {
            left -= 1;
            let stands = self.state_marker(id)?;
            let before = self.sessions.record_reader().balances(id)?;
            let shown = self.ledger(id)?;
            let after = self.sessions.record_reader().balances(id)?;
            let quiet = self.state_marker(id)? == stands;
            let fits = if quiet {
                shown.sums == after.into_iter().filter(|(_, used)| *used != Used::default()).collect()
            } else {
                covers(&shown.most, &before) && covers(&after, &shown.settled)
            };
            match (fits, quiet || left == 0) {
                (false, _) => return Err(damaged(id, "its balances are not the sums of its ledger")),
                (true, true) => return Ok(()),
                (true, false) => {}
            }
        }
    }

    fn ledger(&self, id: &SessionId) -> Result<LedgerSums, SessionsError> {
        let carried = self.sessions.record_reader().carried(id)?;
        let mut shown = LedgerSums { sums: carried.clone(), settled: carried.clone(), most: carried };
        self.sessions.record_reader().for_each_record(&record_key::prefix(b'E', id), |(_, value)| {
            let entry: LedgerEntry = serde_json::from_slice(&self.sessions.record_reader().value(id, &value)?)
                .map_err(|error| damaged(id, &format!("an entry of its ledger: {error}")))?;
            for (account, amount) in entry.debits {
                let amount = amount.map(|text| text.parse().map(Amount::from_millionths));
                let amount = amount.transpose().map_err(|_| damaged(id, "an amount in its ledger"))?;
                let amount = amount.unwrap_or_default();
                let pending = entry.outcome == LedgerOutcome::Pending;
                let released = entry.outcome == LedgerOutcome::Released;
                let sums = [(&mut shown.sums, !released), (&mut shown.settled, !released && !pending)];
                for (sums, _) in sums.into_iter().filter(|(_, counts)| *counts) {
                    add(sums, &account, amount);
                }
                add(&mut shown.most, &account, amount);
            }
            Ok(())
        })?;
        shown.sums.retain(|_, used| *used != Used::default());
        Ok(shown)
    }
}

/// Amounts that the ledger of a session shows as spent, by account.
struct LedgerSums {
    /// Sum of all calls but those that never started.
    sums: HashMap<String, Used>,
    /// Sum of the calls that have ended: none of it is ever given back.
    settled: HashMap<String, Used>,
    /// Sum of all calls, including those that never started.
    most: HashMap<String, Used>,
}

fn add(sums: &mut HashMap<String, Used>, account: &str, amount: Amount) {
    let used = sums.entry(account.to_owned()).or_default();
    *used = used.plus(Used::of_call(amount));
}

/// Returns true if no account has more spent in the second map than in the first.
fn covers(most: &HashMap<String, Used>, sums: &HashMap<String, Used>) -> bool {
    sums.iter().all(|(account, used)| {
        let most = most.get(account).copied().unwrap_or_default();
        used.calls <= most.calls && used.spend <= most.spend
    })
}
