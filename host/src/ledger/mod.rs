//! What has been spent of each budget.
//!
//! An account stands for one grant in one session. A debit is made before a call starts, in the account and in all above
//! it or in none, and is taken back only if the call provably did not start. Nothing here knows what a grant covers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::capability::Amount;

/// The accounts of a session and of those that were made from it. Every method is atomic.
#[derive(Debug, Default)]
pub struct Ledger {
    accounts: Mutex<Vec<Account>>,
}

/// Names an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(usize);

/// What an account allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// How many calls; none for any number.
    pub calls: Option<u64>,
    /// How much of what it sums; none for any amount.
    pub spend: Option<Amount>,
    /// When it ends.
    pub expires: Option<SystemTime>,
    /// The account that is debited too.
    pub parent: Option<AccountId>,
}

#[derive(Debug)]
struct Account {
    terms: Terms,
    used: Used,
    revoked: bool,
}

/// What is reserved or spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Calls.
    pub calls: u64,
    /// The sum.
    pub spend: Amount,
}

/// How much of an account may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// How many calls; none for any number.
    pub calls: Option<u64>,
    /// The greatest sum; none for any.
    pub spend: Option<Amount>,
}

impl Allowance {
    /// Returns true if it limits anything.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.calls.is_some() || self.spend.is_some()
    }

    /// All that may be used; nothing of what has no limit.
    #[must_use]
    pub fn whole(&self) -> Used {
        Used { calls: self.calls.unwrap_or_default(), spend: self.spend.unwrap_or_default() }
    }

    /// Returns true if so much may be used.
    #[must_use]
    pub fn covers(&self, used: Used) -> bool {
        self.calls.is_none_or(|limit| used.calls <= limit) && self.spend.is_none_or(|limit| used.spend <= limit)
    }
}

impl Used {
    /// The sum of both. What would pass all bounds stays at the bound.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let bound = Amount::from_millionths(u128::MAX);
        Self {
            calls: self.calls.saturating_add(more.calls),
            spend: self.spend.checked_add(more.spend).unwrap_or(bound),
        }
    }

    /// The difference, at least zero.
    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        Self { calls: self.calls.saturating_sub(less.calls), spend: self.spend.saturating_sub(less.spend) }
    }

    /// The greater number of calls, and the greater sum.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { calls: self.calls.max(other.calls), spend: self.spend.max(other.spend) }
    }
}

/// Why nothing was debited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// No call is left.
    #[error("its budget is used up: {limit} of {limit} calls, its limit")]
    Calls {
        /// How many there were.
        limit: u64,
    },
    /// The sum would be too large.
    #[error("its budget is {limit}, {used} of that is used, and this call asks for {asked}")]
    Spend {
        /// The budget.
        limit: Amount,
        /// What is used of it.
        used: Amount,
        /// What the call asks for.
        asked: Amount,
    },
    /// What it sums is missing, negative or beyond all bounds.
    #[error("what its budget sums up is no amount in this call")]
    NoAmount,
    /// It ended.
    #[error("it has expired")]
    Expired,
    /// It was taken back.
    #[error("it was revoked")]
    Revoked,
}

impl Ledger {
    /// Opens an account.
    pub fn open(&self, terms: Terms) -> AccountId {
        let mut accounts = self.lock();
        accounts.push(Account { terms, used: Used::default(), revoked: false });
        AccountId(accounts.len() - 1)
    }

    /// Debits one call of an account and of all above it: `amount` says what the call asks of each that sums something.
    ///
    /// # Errors
    /// The first that refuses; then nothing is debited.
    pub fn reserve(
        &self,
        account: AccountId,
        amount: &dyn Fn(AccountId) -> Option<Amount>,
        now: SystemTime,
    ) -> Result<(), (AccountId, Refused)> {
        let mut accounts = self.lock();
        check(&accounts, account, amount, now)?;
        let mut next = Some(account);
        while let Some(id) = next {
            let account = &mut accounts[id.0];
            account.used.calls = account.used.calls.saturating_add(1);
            if account.terms.spend.is_some() {
                let asked = amount(id).unwrap_or_default();
                account.used.spend = account.used.spend.checked_add(asked).unwrap_or(account.used.spend);
            }
            next = account.terms.parent;
        }
        Ok(())
    }

    /// Whether a call could be debited now. Nothing is.
    ///
    /// # Errors
    /// The first that would refuse.
    pub fn check(
        &self,
        account: AccountId,
        amount: &dyn Fn(AccountId) -> Option<Amount>,
        now: SystemTime,
    ) -> Result<(), (AccountId, Refused)> {
        check(&self.lock(), account, amount, now)
    }

    /// The first of an account and of all above it that has ended or was revoked, whatever is left of its budget; none if
    /// all go on.
    #[must_use]
    pub fn over(&self, account: AccountId, now: SystemTime) -> Option<(AccountId, Refused)> {
        let accounts = self.lock();
        let mut next = Some(account);
        while let Some(id) = next {
            let account = &accounts[id.0];
            if let Some(refused) = account.over(now) {
                return Some((id, refused));
            }
            next = account.terms.parent;
        }
        None
    }

    /// Takes a debit back: the call did not start.
    pub fn release(&self, account: AccountId, amount: &dyn Fn(AccountId) -> Option<Amount>) {
        let mut accounts = self.lock();
        let mut next = Some(account);
        while let Some(id) = next {
            let account = &mut accounts[id.0];
            account.used.calls = account.used.calls.saturating_sub(1);
            if account.terms.spend.is_some() {
                account.used.spend = account.used.spend.saturating_sub(amount(id).unwrap_or_default());
            }
            next = account.terms.parent;
        }
    }

    /// Ends an account, and with it all below it. What runs goes on; what is asked from now on is refused.
    pub fn revoke(&self, account: AccountId) {
        self.lock()[account.0].revoked = true;
    }

    /// Sets what is reserved or spent of an account: what a session that goes on had spent before.
    pub fn restore(&self, account: AccountId, used: Used) {
        self.lock()[account.0].used = used;
    }

    /// Adds to an account what others that share it have spent since, or takes off what they gave back: `before` is what was
    /// known to be spent, and `after` what is. What is reserved here stays reserved.
    pub fn shift(&self, account: AccountId, before: Used, after: Used) {
        let mut accounts = self.lock();
        let used = &mut accounts[account.0].used;
        *used = used.plus(after).minus(before);
    }

    /// What is reserved or spent of an account.
    #[must_use]
    pub fn used(&self, account: AccountId) -> Used {
        self.lock()[account.0].used
    }

    /// Debits are made of whole, checked steps, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Vec<Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(
    accounts: &[Account],
    account: AccountId,
    amount: &dyn Fn(AccountId) -> Option<Amount>,
    now: SystemTime,
) -> Result<(), (AccountId, Refused)> {
    let mut next = Some(account);
    while let Some(id) = next {
        let account = &accounts[id.0];
        account.check(|| amount(id), now).map_err(|refused| (id, refused))?;
        next = account.terms.parent;
    }
    Ok(())
}

impl Account {
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
