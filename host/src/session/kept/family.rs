//! Budgets that several sessions of a store share: those of a session, its forks, and imports of any of them.
//!
//! These sessions are a family. Each has its own ledger and balances, as a session without forks has. Beside them stands one
//! record for each account that the family debits, with what all of them have spent of it. A call is paid from both in one
//! commit, on condition that the family's record is as it was read: so two sessions never spend the same.
//!
//! A session that is its only member has no such records. Each of its commits rests on there being none, so that a fork, which
//! does not wait for the session, is noticed at the next one.
//!
//! **Invariant:** what is spent of an account is never less than what the family's record says, nor than what the session's own
//! balance does.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::log::json;
use super::look::damaged;
use super::record::{Balance, Created};
use super::{SessionId, Sessions, SessionsError, key};
use crate::capability::Amount;
use crate::gate::limited_accounts;
use crate::ledger::{Allowance, Used};
use crate::store::{Batch, Record, StoreError};

/// How many records one commit changes.
const PAGE: usize = 500;

/// How often a change of a family is tried while others change it.
pub(super) const ATTEMPTS: u32 = 1000;

/// Names a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FamilyId(blake3::Hash);

impl FamilyId {
    /// A new family.
    pub(super) fn random() -> Result<Self, SessionsError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| SessionsError::Random(error.into()))?;
        Ok(Self(bytes.into()))
    }

    /// The family of a session: the one that it was given when it was forked, exported or imported, else the one that it
    /// founds, which is known by a hash of the session's seed.
    pub(super) fn of(id: &SessionId, created: &Created) -> Result<Self, SessionsError> {
        let text = created.family.as_ref().unwrap_or(&created.seed);
        let hash = blake3::Hash::from_hex(text).map_err(|_| damaged(id, "its family"))?;
        Ok(match created.family {
            Some(_) => Self(hash),
            None => Self(blake3::derive_key("tollhouse 2026 family of a session", hash.as_bytes()).into()),
        })
    }

    /// As it stands in a record.
    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// The key of the record that there is if the family has, or had, more than one member.
    pub(super) fn key(&self) -> Vec<u8> {
        key::family(self.0.as_bytes())
    }

    fn account(&self, name: &str) -> Vec<u8> {
        key::shared(self.0.as_bytes(), name)
    }
}

/// The record of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Family {
    /// How many sessions it has.
    pub members: u64,
}

/// A family, and its record as it was read.
pub(super) struct Founded {
    pub(super) id: FamilyId,
    family: Family,
    value: Vec<u8>,
}

impl Founded {
    /// How many sessions it has besides one.
    pub(super) fn others(&self) -> u64 {
        self.family.members.saturating_sub(1)
    }

    /// Adds to a batch that one more session belongs to the family, if it is as it was read.
    pub(super) fn join(&self, batch: &mut Batch) {
        let family = Family { members: self.family.members.saturating_add(1) };
        batch.expect(self.id.key(), Some(self.value.clone()));
        batch.put(self.id.key(), json(&family));
    }

    /// Adds to a batch that one session less belongs to it, if it is as it was read. True if that was the last.
    pub(super) fn leave(&self, batch: &mut Batch) -> bool {
        let members = self.family.members.saturating_sub(1);
        batch.expect(self.id.key(), Some(self.value.clone()));
        if members == 0 {
            batch.remove(self.id.key());
        } else {
            batch.put(self.id.key(), json(&Family { members }));
        }
        members == 0
    }
}

impl Sessions {
    /// The family's record; none if no other session was ever in it.
    pub(super) fn founded(&self, id: &SessionId, family: FamilyId) -> Result<Option<Founded>, SessionsError> {
        let Some(value) = self.records().get(&family.key())? else { return Ok(None) };
        let read: Family = self.read(id, "the record of its family", &value)?;
        Ok(Some(Founded { id: family, family: read, value }))
    }

    /// What is spent of each account, by its name: by the session, and by all that share it.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn spent(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        let mut spent = self.balances(id)?;
        let family = FamilyId::of(id, &self.created(id)?)?;
        if self.founded(id, family)?.is_none() {
            return Ok(spent);
        }
        for (account, _) in limited_accounts(&self.policy(id)?) {
            if let Some((_, shared)) = self.shared(id, family, &account)? {
                let own = spent.entry(account).or_default();
                *own = own.max(shared);
            }
        }
        Ok(spent)
    }

    /// What the family has spent of an account: the record, and what it says.
    fn shared(
        &self,
        id: &SessionId,
        family: FamilyId,
        account: &str,
    ) -> Result<Option<(Vec<u8>, Used)>, SessionsError> {
        let Some(value) = self.records().get(&family.account(account))? else { return Ok(None) };
        let spent: Spent = self.read(id, "an account of its family", &value)?;
        let used = spent.used().ok_or_else(|| damaged(id, "an account of its family"))?;
        Ok(Some((value, used)))
    }

    /// What the session itself has spent of an account, as the store has it.
    fn balance(&self, id: &SessionId, account: &str) -> Result<Used, SessionsError> {
        let Some(value) = self.records().get(&key::account(id, account))? else { return Ok(Used::default()) };
        let balance: Balance = self.read(id, "a balance", &self.value(id, &value)?)?;
        balance.used().ok_or_else(|| damaged(id, "a balance"))
    }

    /// Makes a session's budgets ones that others can share. It may run meanwhile: from then on, it pays from them too.
    pub(super) fn found(&self, id: &SessionId) -> Result<Founded, SessionsError> {
        for _ in 0..ATTEMPTS {
            let identity = self.identity(id)?;
            let family = FamilyId::of(id, &self.read(id, "its first record", &identity)?)?;
            if let Some(founded) = self.founded(id, family)? {
                self.fill(id, family)?;
                return Ok(founded);
            }
            self.clear_family(family)?;
            let mut batch = Batch::default();
            batch.expect(key::one(b'S', id), Some(identity));
            batch.expect(family.key(), None);
            batch.put(family.key(), json(&Family { members: 1 }));
            match self.records().commit(batch) {
                Err(StoreError::Conflict { .. }) => {}
                committed => committed?,
            }
        }
        Err(SessionsError::Busy(id.clone()))
    }

    /// Gives the family what a session has spent of accounts that it has no record of yet. Whatever the session spends
    /// meanwhile makes such a record itself.
    fn fill(&self, id: &SessionId, family: FamilyId) -> Result<(), SessionsError> {
        for _ in 0..ATTEMPTS {
            let mut pages = vec![Batch::default()];
            for (account, used) in self.balances(id)? {
                if self.shared(id, family, &account)?.is_some() {
                    continue;
                }
                if pages.last().is_some_and(|page| page.changes.len() >= PAGE) {
                    pages.push(Batch::default());
                }
                let page = pages.last_mut().expect("there is one");
                page.expect(family.account(&account), None);
                page.put(family.account(&account), Spent::of(used));
            }
            let mut made = pages.into_iter().filter(|page| !page.changes.is_empty());
            match made.try_for_each(|page| self.records().commit(page)) {
                Err(StoreError::Conflict { .. }) => {}
                made => return Ok(made?),
            }
        }
        Err(SessionsError::Busy(id.clone()))
    }

    /// Removes what is left of a family that is none any more.
    pub(super) fn clear_family(&self, family: FamilyId) -> Result<(), SessionsError> {
        loop {
            let page = self.records().scan(&key::shared_by(family.0.as_bytes()), None, PAGE)?;
            if page.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::default();
            batch.expect(family.key(), None);
            page.into_iter().for_each(|(name, _)| batch.remove(name));
            match self.records().commit(batch) {
                // There is one again.
                Err(StoreError::Conflict { .. }) => return Ok(()),
                removed => removed?,
            }
        }
    }

    /// Removes what a process left that was killed while it removed the last session of a family, and what belongs to sessions
    /// that a damaged store has lost.
    pub(super) fn clear_families(&self) -> Result<(), SessionsError> {
        self.recount()?;
        let mut last = None;
        let mut left = Vec::new();
        self.each(key::SHARED, |(name, _)| {
            let family = key::family_of(&name).map(|bytes| FamilyId(bytes.into()));
            if let Some(family) = family.filter(|family| last != Some(*family)) {
                last = Some(family);
                left.extend(self.records().get(&family.key())?.is_none().then_some(family));
            }
            Ok(())
        })?;
        left.into_iter().try_for_each(|family| self.clear_family(family))
    }

    /// The families whose records count other sessions than there are: the record, and how many there are.
    pub(super) fn miscounted(&self) -> Result<Vec<(Record, u64)>, SessionsError> {
        let mut families = Vec::new();
        self.each(key::FAMILIES, |record| {
            families.push(record);
            Ok(())
        })?;
        // After the records were read: whoever joins or leaves meanwhile changes them.
        let mut members = HashMap::<Vec<u8>, u64>::new();
        for id in if families.is_empty() { Vec::new() } else { self.list()? } {
            match self.created(&id) {
                Ok(created) => *members.entry(FamilyId::of(&id, &created)?.key()).or_default() += 1,
                // Removed since it was listed.
                Err(SessionsError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let counted = |value: &[u8]| serde_json::from_slice::<Family>(value).ok().map(|family| family.members);
        let there = |name: &[u8]| members.get(name).copied().unwrap_or_default();
        let mut wrong = Vec::new();
        for (name, value) in families.into_iter().filter(|(name, value)| counted(value) != Some(there(name))) {
            if self.records().get(&name)?.as_ref() == Some(&value) {
                let members = there(&name);
                wrong.push(((name, value), members));
            }
        }
        Ok(wrong)
    }

    /// Counts the sessions of each family anew, where its record is wrong: sessions that a damaged store lost left no family.
    fn recount(&self) -> Result<(), SessionsError> {
        for ((name, value), members) in self.miscounted()? {
            let mut batch = Batch::default();
            batch.expect(name.clone(), Some(value));
            if members == 0 {
                batch.remove(name);
            } else {
                batch.put(name, json(&Family { members }));
            }
            match self.records().commit(batch) {
                // Somebody joined or left meanwhile.
                Err(StoreError::Conflict { .. }) => {}
                counted => counted?,
            }
        }
        Ok(())
    }

    /// The sessions of a family.
    pub(super) fn members(&self, family: FamilyId) -> Result<Vec<SessionId>, SessionsError> {
        let mut members = Vec::new();
        for id in self.list()? {
            match self.created(&id) {
                Ok(created) if FamilyId::of(&id, &created)? == family => members.push(id),
                // Removed since it was listed.
                Ok(_) | Err(SessionsError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(members)
    }
}

/// What a family has spent of an account.
#[derive(Serialize, Deserialize)]
struct Spent {
    calls: u64,
    /// In millionths, in decimals.
    spend: String,
}

impl Spent {
    fn of(used: Used) -> Vec<u8> {
        json(&Self { calls: used.calls, spend: used.spend.millionths().to_string() })
    }

    fn used(&self) -> Option<Used> {
        Some(Used { calls: self.calls, spend: Amount::from_millionths(self.spend.parse().ok()?) })
    }
}

/// The ledger in memory of a session that is in use.
pub(in crate::session) trait Spending: Send + Sync {
    /// Goes on where the session stands: what is spent of each account, by its name.
    fn restore(&self, spent: &HashMap<String, Used>);

    /// Others that share an account have spent of it, or given back.
    fn shift(&self, account: &str, before: Used, after: Used);

    /// Another process had the session: what was read of its stored entries is out of date.
    fn forget(&self);
}

/// The accounts of a session that is in use, as far as others may share them.
pub(super) struct Sharing {
    family: FamilyId,
    /// How much may be used of each account that was debited.
    allowances: HashMap<String, Allowance>,
    /// Of a session whose budgets are shared.
    shared: Option<Shared>,
}

#[derive(Default)]
struct Shared {
    /// What the ledger in memory takes for spent, of calls that are in the session's log.
    known: HashMap<String, Used>,
    /// The accounts that were debited or given back to since the last commit.
    touched: BTreeSet<String>,
}

impl Sharing {
    /// Of a session whose budgets are its own; with `spent`, of one that shares them, of which so much is spent.
    pub(super) fn new(family: FamilyId, spent: Option<HashMap<String, Used>>) -> Self {
        let shared = spent.map(|known| Shared { known, touched: BTreeSet::new() });
        Self { family, allowances: HashMap::new(), shared }
    }

    /// Returns true if other sessions may spend of its budgets.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Takes note of how much may be used of an account.
    pub(super) fn allow(&mut self, account: &str, allowance: Allowance) {
        if !self.allowances.contains_key(account) {
            self.allowances.insert(account.to_owned(), allowance);
        }
    }

    /// Takes note of what becomes of the session's own balance.
    pub(super) fn changed(&mut self, account: &str, before: Used, after: Used) {
        if let Some(shared) = self.shared.as_mut().filter(|_| self.allowances.contains_key(account)) {
            let known = shared.known.entry(account.to_owned()).or_default();
            *known = known.plus(after).minus(before);
            shared.touched.insert(account.to_owned());
        }
    }

    /// All that was noted is committed.
    pub(super) fn committed(&mut self) {
        if let Some(shared) = &mut self.shared {
            shared.touched.clear();
        }
    }

    /// Takes note of why a commit was refused. False if it was for none of these records.
    pub(super) fn refused(&mut self, key: &[u8], balances: &HashMap<String, Used>) -> bool {
        if !self.is_shared() && key == self.family.key() {
            let own = |account: &String| (account.clone(), balances.get(account).copied().unwrap_or_default());
            let touched: BTreeSet<String> = self.allowances.keys().cloned().collect();
            self.shared = Some(Shared { known: touched.iter().map(own).collect(), touched });
            return true;
        }
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.touched.iter().any(|account| self.family.account(account) == key))
    }

    /// Adds to a batch what the family pays of it. `balances` are the session's own, as the batch makes them.
    ///
    /// # Errors
    /// [`SessionsError::Spent`] if the family has not as much left.
    pub(super) fn pay(
        &mut self,
        place: &Sessions,
        id: &SessionId,
        balances: &HashMap<String, Used>,
        spending: Option<&dyn Spending>,
        batch: &mut Batch,
    ) -> Result<(), SessionsError> {
        let Some(shared) = &mut self.shared else {
            batch.expect(self.family.key(), None);
            return Ok(());
        };
        let mut spent = None;
        for account in &shared.touched {
            let own = balances.get(account).copied().unwrap_or_default();
            // By what the store has, and not by what was once committed: a commit that failed may have been made.
            let stored = place.balance(id, account)?;
            let read = place.shared(id, self.family, account)?;
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
            batch.put(self.family.account(account), Spent::of(family));
        }
        spent.map_or(Ok(()), |account| Err(SessionsError::Spent { account }))
    }
}
