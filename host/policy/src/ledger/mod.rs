//! The ledger: the spending of each budget.
//!
//! An account belongs to one grant in one session. A debit is made before a call starts, in the account and all
//! accounts above it or in none, and is taken back only if the call provably did not start. The ledger does not know
//! what a grant covers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::capability::Amount;

/// The accounts of a session and of the sessions derived from it. Every method is atomic.
#[derive(Debug, Default)]
pub struct Ledger {
    accounts: Mutex<Vec<LedgerAccount>>,
}

/// The id of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(usize);

/// The terms of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Maximum number of calls; `None` if unlimited.
    pub calls: Option<u64>,
    /// Maximum sum of an argument; `None` if unlimited.
    pub spend: Option<Amount>,
    /// Time when the account ends.
    pub expires: Option<SystemTime>,
    /// Parent account, which is debited too.
    pub parent: Option<AccountId>,
}

#[derive(Debug)]
struct LedgerAccount {
    terms: Terms,
    used: Used,
    revoked: bool,
}

/// The spending of an account, including reservations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Number of calls.
    pub calls: u64,
    /// Sum of the argument.
    pub spend: Amount,
}

/// Limits on the use of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Maximum number of calls; `None` if unlimited.
    pub calls: Option<u64>,
    /// Maximum sum; `None` if unlimited.
    pub spend: Option<Amount>,
}

impl Allowance {
    /// Returns true if anything is limited.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.calls.is_some() || self.spend.is_some()
    }

    /// Returns the largest use that is allowed, with zero for what is unlimited.
    #[must_use]
    pub fn whole(&self) -> Used {
        Used { calls: self.calls.unwrap_or_default(), spend: self.spend.unwrap_or_default() }
    }

    /// Returns true if this use is within the limits.
    #[must_use]
    pub fn covers(&self, used: Used) -> bool {
        self.calls.is_none_or(|limit| used.calls <= limit) && self.spend.is_none_or(|limit| used.spend <= limit)
    }
}

impl Used {
    /// Returns the use of one call that takes this amount.
    #[must_use]
    pub fn of_call(spend: Amount) -> Self {
        Self { calls: 1, spend }
    }

    /// Adds both, saturating at the maximum.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let bound = Amount::from_millionths(u128::MAX);
        Self {
            calls: self.calls.saturating_add(more.calls),
            spend: self.spend.checked_add(more.spend).unwrap_or(bound),
        }
    }

    /// Subtracts the other, resulting in at least zero.
    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        Self { calls: self.calls.saturating_sub(less.calls), spend: self.spend.saturating_sub(less.spend) }
    }

    /// Returns the greater number of calls, and the greater sum.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { calls: self.calls.max(other.calls), spend: self.spend.max(other.spend) }
    }
}

/// The reason why nothing was debited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The number of calls is exhausted.
    #[error("its budget is used up: {limit} of {limit} calls, its limit")]
    Calls {
        /// Maximum number of calls.
        limit: u64,
    },
    /// The sum would exceed the budget.
    #[error("its budget is {limit}, {used} of that is used, and this call asks for {asked}")]
    Spend {
        /// Maximum sum.
        limit: Amount,
        /// Amount used so far.
        used: Amount,
        /// Amount that the call needs.
        asked: Amount,
    },
    /// The summed argument is missing, negative or too large.
    #[error("the argument that its budget sums up is not a valid amount in this call")]
    NoAmount,
    /// The account has ended.
    #[error("it has expired")]
    Expired,
    /// The account was revoked.
    #[error("it was revoked")]
    Revoked,
}

impl Ledger {
    /// Opens an account.
    pub fn open(&self, terms: Terms) -> AccountId {
        let mut accounts = self.lock();
        accounts.push(LedgerAccount { terms, used: Used::default(), revoked: false });
        AccountId(accounts.len() - 1)
    }

    /// Debits one call from an account and all accounts above it: `amount` returns what the call takes from each
    /// account that sums up an argument.
    ///
    /// # Errors
    /// The first refusal; then nothing is debited.
    pub fn reserve(
        &self,
        account: AccountId,
        amount: &dyn Fn(AccountId) -> Option<Amount>,
        now: SystemTime,
    ) -> Result<(), (AccountId, Refused)> {
        let mut accounts = self.lock();
        check(&accounts, account, amount, now)?;
        change_lineage(&mut accounts, account, |id, account| account.used.plus(account.debit(|| amount(id))));
        Ok(())
    }

    /// Checks whether a call could be debited now, without debiting it.
    ///
    /// # Errors
    /// The first refusal.
    pub fn check(
        &self,
        account: AccountId,
        amount: &dyn Fn(AccountId) -> Option<Amount>,
        now: SystemTime,
    ) -> Result<(), (AccountId, Refused)> {
        check(&self.lock(), account, amount, now)
    }

    /// Returns the first of an account and those above it that has ended or was revoked, whatever remains of its
    /// budget; `None` if there is none.
    #[must_use]
    pub fn over(&self, account: AccountId, now: SystemTime) -> Option<(AccountId, Refused)> {
        lineage(&self.lock(), account).find_map(|(id, account)| Some((id, account.over(now)?)))
    }

    /// Takes back the debit of a call that did not start.
    pub fn release(&self, account: AccountId, amount: &dyn Fn(AccountId) -> Option<Amount>) {
        change_lineage(&mut self.lock(), account, |id, account| account.used.minus(account.debit(|| amount(id))));
    }

    /// Revokes an account and all accounts below it. Running calls continue; new ones are refused.
    pub fn revoke(&self, account: AccountId) {
        self.lock()[account.0].revoked = true;
    }

    /// Sets the spending of an account to that of a session that is reopened.
    pub fn restore(&self, account: AccountId, used: Used) {
        self.lock()[account.0].used = used;
    }

    /// Updates an account by what others that share it have spent, or given back: `before` is the spending known so
    /// far, and `after` the actual one. Reservations made here are kept.
    pub fn shift(&self, account: AccountId, before: Used, after: Used) {
        let mut accounts = self.lock();
        let used = &mut accounts[account.0].used;
        *used = used.plus(after).minus(before);
    }

    /// Returns the spending of an account, including reservations.
    #[must_use]
    pub fn used(&self, account: AccountId) -> Used {
        self.lock()[account.0].used
    }

    /// Locks the accounts. Debits consist of complete, checked steps, so a poisoned lock is still valid.
    fn lock(&self) -> MutexGuard<'_, Vec<LedgerAccount>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(
    accounts: &[LedgerAccount],
    account: AccountId,
    amount: &dyn Fn(AccountId) -> Option<Amount>,
    now: SystemTime,
) -> Result<(), (AccountId, Refused)> {
    lineage(accounts, account)
        .try_for_each(|(id, account)| account.check(|| amount(id), now).map_err(|refused| (id, refused)))
}

/// Returns an account and those above it, from the lowest to the highest.
fn lineage(accounts: &[LedgerAccount], lowest: AccountId) -> impl Iterator<Item = (AccountId, &LedgerAccount)> {
    let account = |id: AccountId| (id, &accounts[id.0]);
    std::iter::successors(Some(account(lowest)), move |(_, below)| below.terms.parent.map(account))
}

/// Sets the spending of an account and of those above it.
fn change_lineage(accounts: &mut [LedgerAccount], lowest: AccountId, used: impl Fn(AccountId, &LedgerAccount) -> Used) {
    let changed: Vec<(AccountId, Used)> =
        lineage(accounts, lowest).map(|(id, account)| (id, used(id, account))).collect();
    changed.into_iter().for_each(|(id, used)| accounts[id.0].used = used);
}

impl LedgerAccount {
    /// Returns what a call takes from the account, or gives back to it.
    fn debit(&self, amount: impl FnOnce() -> Option<Amount>) -> Used {
        Used::of_call(self.terms.spend.and_then(|_| amount()).unwrap_or_default())
    }

    fn over(&self, now: SystemTime) -> Option<Refused> {
        if self.revoked {
            return Some(Refused::Revoked);
        }
        self.terms.expires.is_some_and(|expires| now >= expires).then_some(Refused::Expired)
    }

    fn check(&self, amount: impl FnOnce() -> Option<Amount>, now: SystemTime) -> Result<(), Refused> {
        if let Some(refused) = self.over(now) {
            return Err(refused);
        }
        if let Some(limit) = self.terms.calls
            && self.used.calls >= limit
        {
            return Err(Refused::Calls { limit });
        }
        if let Some(limit) = self.terms.spend {
            let asked = amount().ok_or(Refused::NoAmount)?;
            let sum = self.used.spend.checked_add(asked);
            if sum.is_none_or(|sum| sum > limit) {
                return Err(Refused::Spend { limit, used: self.used.spend, asked });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
