//! Checking what is kept: every record, chain, sum and reference.

use std::collections::HashMap;
use std::sync::Arc;

use super::look::damaged;
use super::record::{Entry, Outcome};
use super::roots::Reached;
use super::{SessionId, Sessions, SessionsError, State, key};
use crate::capability::Amount;
use crate::ledger::Used;
use crate::store::MemoryStore;

/// What a session was found to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Records.
    pub records: u64,
    /// Blobs that they name, at any depth.
    pub blobs: u64,
    /// Lines of the log.
    pub lines: u64,
}

impl Sessions {
    /// Checks one session: that every record can be read, the log is whole, the balances are the sums of the ledger, and
    /// every blob that is named is there and is what its name says.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify_session(&self, id: &SessionId) -> Result<Checked, SessionsError> {
        let mut checked = Checked::default();
        let mut reached = Reached::default();
        self.created(id)?;
        self.policy(id)?;
        self.lock(id)?;
        self.runs(id)?;
        self.labels(id)?;
        self.seed(id)?;
        self.keyvalue(id)?;
        for run in self.head(id)?.running {
            self.run(id, run)?;
        }
        self.records_of(id, |record| {
            checked.records += 1;
            self.reach(self.roots_of(id, &record)?, &mut reached)
        })?;
        self.log(id, &mut |_| checked.lines += 1)?;
        self.verify_settled_ledger(id)?;
        checked.blobs = reached.blobs.len() as u64;
        for blob in &reached.blobs {
            self.blobs().get(blob)?;
        }
        Ok(checked)
    }

    /// Checks the ledger as one commit left it: a session that runs changes while it is read.
    fn verify_settled_ledger(&self, id: &SessionId) -> Result<(), SessionsError> {
        let mut before = self.head(id)?.commits;
        loop {
            let checked = self.verify_ledger(id);
            let after = self.head(id)?.commits;
            if checked.is_ok() || before == after {
                return checked;
            }
            before = after;
        }
    }

    fn verify_ledger(&self, id: &SessionId) -> Result<(), SessionsError> {
        let mut sums: HashMap<String, Used> = self.carried(id)?;
        self.each(&key::many(b'E', id), |(_, value)| {
            let entry: Entry = serde_json::from_slice(&self.value(id, &value)?)
                .map_err(|error| damaged(id, &format!("an entry of its ledger: {error}")))?;
            if entry.outcome == Outcome::Released {
                return Ok(());
            }
            for (account, amount) in entry.debits {
                let used = sums.entry(account).or_default();
                used.calls = used.calls.saturating_add(1);
                let amount = amount.map(|text| text.parse().map(Amount::from_millionths));
                let amount = amount.transpose().map_err(|_| damaged(id, "an amount in its ledger"))?;
                used.spend = used.spend.checked_add(amount.unwrap_or_default()).unwrap_or(used.spend);
            }
            Ok(())
        })?;
        sums.retain(|_, used| *used != Used::default());
        let mut balances = self.balances(id)?;
        balances.retain(|_, used| *used != Used::default());
        if sums == balances { Ok(()) } else { Err(damaged(id, "its balances are not the sums of its ledger")) }
    }

    /// The same blobs, and no records: to try out what would be a session.
    pub(super) fn with_records_in_memory(&self) -> Self {
        let locks = super::turn::Locks::Memory(Arc::default());
        Self(Arc::new(State {
            records: Arc::<MemoryStore>::default(),
            blobs: Arc::clone(&self.0.blobs),
            files: None,
            locks,
        }))
    }
}
