//! Budgets that several sessions of a store share: a session, its forks, and imports of any of them.
//!
//! These sessions are a family. Each has its own ledger and balances, like a session without forks. In addition, the
//! family has one record for each account that it debits, with the total that its sessions have spent. A call is paid
//! from both in one commit, on the condition that the family's record has not changed since it was read, so two
//! sessions never spend the same amount.
//!
//! A session that is the only member of its family has no such records. Each of its commits requires that there are
//! none, so that a fork, which does not wait for the session, is noticed at the next commit.
//!
//! **Invariant:** the spent amount of an account is never less than the family's record says, nor than the session's
//! own balance.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::record::{Balance, Created};
use super::record_reader::{damaged, parse_record};
use super::session_log::json;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::Amount;
use crate::gate::limited_accounts;
use crate::ledger::{Allowance, Used};
use crate::store::{Batch, Record, StoreError};

/// Number of records that one commit changes.
const PAGE: usize = 500;

/// Most attempts at a change of a family while other sessions change it.
pub(super) const ATTEMPTS: u32 = 1000;

/// Identifier of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FamilyId(blake3::Hash);

impl FamilyId {
    /// Creates the identifier of a new family.
    pub(super) fn random() -> Result<Self, SessionsError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| SessionsError::Random(error.into()))?;
        Ok(Self(bytes.into()))
    }

    /// Returns the family of a session: the one that it was given by a fork, export or import, or else the one that it
    /// founds, identified by a hash of the session's seed.
    pub(super) fn of(id: &SessionId, created: &Created) -> Result<Self, SessionsError> {
        let text = created.family.as_ref().unwrap_or(&created.seed);
        let hash = blake3::Hash::from_hex(text).map_err(|_| damaged(id, "its family"))?;
        Ok(match created.family {
            Some(_) => Self(hash),
            None => Self(blake3::derive_key("tollhouse 2026 family of a session", hash.as_bytes()).into()),
        })
    }

    /// Returns the identifier as records spell it.
    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Key of the family's record, which exists if the family has, or had, more than one member.
    pub(super) fn key(&self) -> Vec<u8> {
        record_key::family(self.0.as_bytes())
    }

    fn account(&self, name: &str) -> Vec<u8> {
        record_key::family_account(self.0.as_bytes(), name)
    }

    /// Returns true if this is the key of the family's record, or of one of its accounts.
    pub(super) fn has_key(&self, key: &[u8]) -> bool {
        self.key() == key || key.starts_with(&record_key::family_prefix(self.0.as_bytes()))
    }
}

/// Record of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FamilyRecord {
    /// Number of sessions in the family.
    pub members: u64,
    /// Whereabouts of what is left of the budgets.
    #[serde(default, skip_serializing_if = "BudgetsAt::is_here")]
    pub budgets: BudgetsAt,
}

/// Whereabouts of what is left of a family's budgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BudgetsAt {
    /// Here, as ever.
    #[default]
    Here,
    /// It went along with a hand-over: no copy of a member brings it back.
    HandedOver,
    /// A hand-over has brought it back. Members that were made meanwhile still have none of it.
    Returned,
}

impl BudgetsAt {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_here(&self) -> bool {
        *self == Self::Here
    }
}

/// Family with its record as it was read.
pub(super) struct LoadedFamily {
    pub(super) id: FamilyId,
    family: FamilyRecord,
    value: Vec<u8>,
}

impl LoadedFamily {
    /// Returns the number of sessions besides one.
    pub(super) fn others(&self) -> u64 {
        self.family.members.saturating_sub(1)
    }

    /// Returns true if what is left of the budgets went along with a hand-over.
    pub(super) fn is_handed_over(&self) -> bool {
        self.family.budgets == BudgetsAt::HandedOver
    }

    /// Adds a member to the family in a batch, on the condition that the record is unchanged.
    pub(super) fn join(&self, batch: &mut Batch) {
        self.replace(FamilyRecord { members: self.family.members.saturating_add(1), ..self.family }, batch);
    }

    /// Adds a member that brings back what is left of budgets that went along with a hand-over.
    pub(super) fn return_budgets(&self, batch: &mut Batch) {
        let members = self.family.members.saturating_add(1);
        self.replace(FamilyRecord { members, budgets: BudgetsAt::Returned }, batch);
    }

    /// Lets what is left of the budgets go along with a hand-over.
    pub(super) fn hand_over(&self, batch: &mut Batch) {
        self.replace(FamilyRecord { budgets: BudgetsAt::HandedOver, ..self.family }, batch);
    }

    /// Leaves the record as it is, on the condition that it is unchanged.
    pub(super) fn keep(&self, batch: &mut Batch) {
        batch.expect(self.id.key(), Some(self.value.clone()));
    }

    fn replace(&self, family: FamilyRecord, batch: &mut Batch) {
        self.keep(batch);
        batch.put(self.id.key(), json(&family));
    }

    /// Removes a member from the family in a batch, on the condition that the record is unchanged. Returns true if it
    /// was the last.
    pub(super) fn leave(&self, batch: &mut Batch) -> bool {
        let members = self.family.members.saturating_sub(1);
        if members == 0 {
            self.keep(batch);
            batch.remove(self.id.key());
        } else {
            self.replace(FamilyRecord { members, ..self.family }, batch);
        }
        members == 0
    }
}

/// Budgets of the families of a store.
#[derive(Clone, Copy)]
pub(super) struct BudgetFamilies<'s> {
    pub(super) sessions: &'s Sessions,
}

impl BudgetFamilies<'_> {
    /// Reads the family's record; `None` if no other session was ever in the family.
    pub(super) fn record(&self, id: &SessionId, family: FamilyId) -> Result<Option<LoadedFamily>, SessionsError> {
        let Some(value) = self.sessions.records().get(&family.key())? else { return Ok(None) };
        let read: FamilyRecord = parse_record(id, "the record of its family", &value)?;
        Ok(Some(LoadedFamily { id: family, family: read, value }))
    }

    /// Returns the spent amount of each account, by its name: by the session, and by all that share it.
    pub(super) fn spent(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        let mut spent = self.sessions.record_reader().balances(id)?;
        let family = FamilyId::of(id, &self.sessions.record_reader().created(id)?)?;
        if self.record(id, family)?.is_none() {
            return Ok(spent);
        }
        for (account, _) in limited_accounts(&self.sessions.reader().policy(id)?) {
            if let Some((_, shared)) = self.account(id, family, &account)? {
                let own = spent.entry(account).or_default();
                *own = own.max(shared);
            }
        }
        Ok(spent)
    }

    /// Returns the family's record of an account, and the amount that it says is spent.
    fn account(
        &self,
        id: &SessionId,
        family: FamilyId,
        account: &str,
    ) -> Result<Option<(Vec<u8>, Used)>, SessionsError> {
        let Some(value) = self.sessions.records().get(&family.account(account))? else { return Ok(None) };
        let spent: FamilyBalance = parse_record(id, "an account of its family", &value)?;
        let used = spent.used().ok_or_else(|| damaged(id, "an account of its family"))?;
        Ok(Some((value, used)))
    }

    /// Reads the session's own balance of an account from the store.
    fn own_balance(&self, id: &SessionId, account: &str) -> Result<Used, SessionsError> {
        let Some(value) = self.sessions.records().get(&record_key::account(id, account))? else {
            return Ok(Used::default());
        };
        let balance: Balance = parse_record(id, "a balance", &self.sessions.record_reader().value(id, &value)?)?;
        balance.used().ok_or_else(|| damaged(id, "a balance"))
    }

    /// Makes a session's budgets shareable. The session may run meanwhile: from then on, it pays from the family's
    /// records too.
    pub(super) fn share(&self, id: &SessionId) -> Result<LoadedFamily, SessionsError> {
        for _ in 0..ATTEMPTS {
            let identity = self.sessions.record_reader().identity(id)?;
            let family = FamilyId::of(id, &parse_record(id, "its first record", &identity)?)?;
            if let Some(founded) = self.record(id, family)? {
                self.fill(id, &founded)?;
                return Ok(founded);
            }
            self.clear(family)?;
            let mut batch = Batch::default();
            batch.expect(record_key::single(b'S', id), Some(identity));
            batch.expect(family.key(), None);
            batch.put(family.key(), json(&FamilyRecord { members: 1, budgets: BudgetsAt::Here }));
            match self.sessions.records().commit(batch) {
                Err(StoreError::Conflict { .. }) => {}
                committed => committed?,
            }
        }
        Err(SessionsError::Busy(id.clone()))
    }

    /// Creates the family's records for accounts of a session that have none yet. If the session spends meanwhile, it
    /// creates such a record itself.
    fn fill(&self, id: &SessionId, family: &LoadedFamily) -> Result<(), SessionsError> {
        // Of budgets that went along with a hand-over, members that are left count as having spent all, and have not.
        let unspent =
            if family.family.budgets.is_here() { HashMap::new() } else { self.sessions.record_reader().carried(id)? };
        let family = family.id;
        for _ in 0..ATTEMPTS {
            let mut pages = vec![Batch::default()];
            for (account, used) in self.sessions.record_reader().balances(id)? {
                if unspent.get(&account) == Some(&used) || self.account(id, family, &account)?.is_some() {
                    continue;
                }
                if pages.last().is_some_and(|page| page.changes.len() >= PAGE) {
                    pages.push(Batch::default());
                }
                let page = pages.last_mut().expect("there is one");
                page.expect(family.account(&account), None);
                page.put(family.account(&account), FamilyBalance::of(used));
            }
            let mut made = pages.into_iter().filter(|page| !page.changes.is_empty());
            match made.try_for_each(|page| self.sessions.records().commit(page)) {
                Err(StoreError::Conflict { .. }) => {}
                made => return Ok(made?),
            }
        }
        Err(SessionsError::Busy(id.clone()))
    }

    /// Raises what a family has spent to at least these amounts, in a batch and on the condition that the family's records
    /// are unchanged: its sessions would not see more that one of them spends.
    pub(super) fn raise(
        &self,
        id: &SessionId,
        family: FamilyId,
        balances: &HashMap<String, Used>,
        batch: &mut Batch,
    ) -> Result<(), SessionsError> {
        for (account, own) in balances {
            let shared = self.account(id, family, account)?;
            let (value, used) = shared.map_or((None, Used::default()), |(value, used)| (Some(value), used));
            let raised = used.max(*own);
            if raised != used {
                batch.expect(family.account(account), value);
                batch.put(family.account(account), FamilyBalance::of(raised));
            }
        }
        Ok(())
    }

    /// Removes the remaining records of a family that no longer exists.
    pub(super) fn clear(&self, family: FamilyId) -> Result<(), SessionsError> {
        loop {
            let page = self.sessions.records().scan(&record_key::family_prefix(family.0.as_bytes()), None, PAGE)?;
            if page.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::default();
            batch.expect(family.key(), None);
            page.into_iter().for_each(|(name, _)| batch.remove(name));
            match self.sessions.records().commit(batch) {
                // The family exists again.
                Err(StoreError::Conflict { .. }) => return Ok(()),
                removed => removed?,
            }
        }
    }

    /// Removes the remains of families whose last session a killed process was removing, and of sessions that a damaged
    /// store has lost.
    pub(super) fn clear_all(&self) -> Result<(), SessionsError> {
        self.recount()?;
        let mut last = None;
        let mut left = Vec::new();
        self.sessions.record_reader().for_each_record(record_key::FAMILY_ACCOUNTS, |(name, _)| {
            let family = record_key::family_of(&name).map(|bytes| FamilyId(bytes.into()));
            if let Some(family) = family.filter(|family| last != Some(*family)) {
                last = Some(family);
                left.extend(self.sessions.records().get(&family.key())?.is_none().then_some(family));
            }
            Ok(())
        })?;
        left.into_iter().try_for_each(|family| self.clear(family))
    }

    /// Returns the families whose records have a wrong member count: the record, and the right count.
    pub(super) fn miscounted(&self) -> Result<Vec<(Record, u64)>, SessionsError> {
        let mut families = Vec::new();
        self.sessions.record_reader().for_each_record(record_key::FAMILIES, |record| {
            families.push(record);
            Ok(())
        })?;
        // After the records were read: whoever joins or leaves meanwhile changes them.
        let mut members = HashMap::<Vec<u8>, u64>::new();
        for id in if families.is_empty() { Vec::new() } else { self.sessions.list()? } {
            // A session may have been removed since it was listed.
            if let Some(created) = self.sessions.record_reader().find_created(&id)? {
                *members.entry(FamilyId::of(&id, &created)?.key()).or_default() += 1;
            }
        }
        let counted = |value: &[u8]| serde_json::from_slice::<FamilyRecord>(value).ok().map(|family| family.members);
        let there = |name: &[u8]| members.get(name).copied().unwrap_or_default();
        let mut wrong = Vec::new();
        for (name, value) in families.into_iter().filter(|(name, value)| counted(value) != Some(there(name))) {
            if self.sessions.records().get(&name)?.as_ref() == Some(&value) {
                let members = there(&name);
                wrong.push(((name, value), members));
            }
        }
        Ok(wrong)
    }

    /// Corrects wrong member counts: sessions that a damaged store has lost did not leave their families.
    fn recount(&self) -> Result<(), SessionsError> {
        for ((name, value), members) in self.miscounted()? {
            let mut batch = Batch::default();
            batch.expect(name.clone(), Some(value.clone()));
            if members == 0 {
                batch.remove(name);
            } else {
                // Of a record that cannot be read, nobody knows whether its budgets are still here.
                let record = serde_json::from_slice::<FamilyRecord>(&value);
                let budgets = record.map_or(BudgetsAt::HandedOver, |record| record.budgets);
                batch.put(name, json(&FamilyRecord { members, budgets }));
            }
            match self.sessions.records().commit(batch) {
                // A session joined or left meanwhile.
                Err(StoreError::Conflict { .. }) => {}
                counted => counted?,
            }
        }
        Ok(())
    }

    /// Returns the sessions of a family.
    pub(super) fn members(&self, family: FamilyId) -> Result<Vec<SessionId>, SessionsError> {
        let mut members = Vec::new();
        for id in self.sessions.list()? {
            // A session may have been removed since it was listed.
            if let Some(created) = self.sessions.record_reader().find_created(&id)?
                && FamilyId::of(&id, &created)? == family
            {
                members.push(id);
            }
        }
        Ok(members)
    }
}

/// Amount that a family has spent on an account.
#[derive(Serialize, Deserialize)]
struct FamilyBalance {
    calls: u64,
    /// Sum in millionths, as a decimal number.
    spend: String,
}

impl FamilyBalance {
    fn of(used: Used) -> Vec<u8> {
        json(&Self { calls: used.calls, spend: used.spend.millionths().to_string() })
    }

    fn used(&self) -> Option<Used> {
        Some(Used { calls: self.calls, spend: Amount::from_millionths(self.spend.parse().ok()?) })
    }
}

/// In-memory ledger of a session that is in use.
pub(in crate::session) trait SpendingObserver: Send + Sync {
    /// Sets the spent amount of each account, by its name.
    fn restore(&self, spent: &HashMap<String, Used>);

    /// Updates an account after other sessions that share it have spent, or given back.
    fn shift(&self, account: &str, before: Used, after: Used);

    /// Drops cached entries, because another process had the session.
    fn forget(&self);
}

/// Accounts of a session that is in use, as far as other sessions may share them.
pub(super) struct BudgetSharing {
    family: FamilyId,
    /// Allowance of each account that was debited.
    allowances: HashMap<String, Allowance>,
    /// Set if the session's budgets are shared.
    shared: Option<SharedAccounts>,
}

#[derive(Default)]
struct SharedAccounts {
    /// Amounts that the in-memory ledger considers spent, for calls in the session's log.
    known: HashMap<String, Used>,
    /// Accounts that were debited or credited since the last commit.
    touched: BTreeSet<String>,
}

impl BudgetSharing {
    /// Creates the state of a session whose budgets are its own; with `spent`, of one that shares them.
    pub(super) fn new(family: FamilyId, spent: Option<HashMap<String, Used>>) -> Self {
        let shared = spent.map(|known| SharedAccounts { known, touched: BTreeSet::new() });
        Self { family, allowances: HashMap::new(), shared }
    }

    /// Returns true if other sessions may spend from the budgets.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Records the allowance of an account.
    pub(super) fn allow(&mut self, account: &str, allowance: Allowance) {
        if !self.allowances.contains_key(account) {
            self.allowances.insert(account.to_owned(), allowance);
        }
    }

    /// Records a change of the session's own balance.
    pub(super) fn changed(&mut self, account: &str, before: Used, after: Used) {
        if let Some(shared) = self.shared.as_mut().filter(|_| self.allowances.contains_key(account)) {
            let known = shared.known.entry(account.to_owned()).or_default();
            *known = known.plus(after).minus(before);
            shared.touched.insert(account.to_owned());
        }
    }

    /// Clears the changes after a commit.
    pub(super) fn committed(&mut self) {
        if let Some(shared) = &mut self.shared {
            shared.touched.clear();
        }
    }

    /// Handles a commit conflict on a record. Returns false if the record does not belong to the shared budgets.
    pub(super) fn refused(&mut self, key: &[u8], balances: &HashMap<String, Used>) -> bool {
        if !self.is_shared() && key == self.family.key() {
            let own = |account: &String| (account.clone(), balances.get(account).copied().unwrap_or_default());
            let touched: BTreeSet<String> = self.allowances.keys().cloned().collect();
            self.shared = Some(SharedAccounts { known: touched.iter().map(own).collect(), touched });
            return true;
        }
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.touched.iter().any(|account| self.family.account(account) == key))
    }

    /// Adds the family's payments to a batch. `balances` are the session's own, as the batch sets them.
    ///
    /// # Errors
    /// [`SessionsError::Spent`] if the family does not have as much left.
    pub(super) fn pay(
        &mut self,
        families: &BudgetFamilies<'_>,
        id: &SessionId,
        balances: &HashMap<String, Used>,
        spending: Option<&dyn SpendingObserver>,
        batch: &mut Batch,
    ) -> Result<(), SessionsError> {
        let Some(shared) = &mut self.shared else {
            batch.expect(self.family.key(), None);
            return Ok(());
        };
        let mut spent = None;
        for account in &shared.touched {
            let own = balances.get(account).copied().unwrap_or_default();
            // Based on the store, and not on the last commit: a commit that failed may have been made after all.
            let stored = families.own_balance(id, account)?;
            let read = families.account(id, self.family, account)?;
            let (value, before) = read.map_or((None, stored), |(value, used)| (Some(value), used));
            let family = before.plus(own).minus(stored);
            let now = own.max(family);
            let known = shared.known.insert(account.clone(), now).unwrap_or_default();
            if let Some(spending) = spending.filter(|_| known != now) {
                spending.shift(account, known, now);
            }
            if own == stored {
                continue;
            }
            let is_more = own.calls > stored.calls || own.spend > stored.spend;
            let allowance = self.allowances.get(account).copied().unwrap_or_default();
            if is_more && !allowance.covers(now) {
                spent = Some(account.clone());
            }
            batch.expect(self.family.account(account), value);
            batch.put(self.family.account(account), FamilyBalance::of(family));
        }
        spent.map_or(Ok(()), |account| Err(SessionsError::Spent { account }))
    }
}
