//! How many of a number of places each account may have.
//!
//! An account may have half as many as there are places left (switches share their buffers in this way: dynamic thresholds). Alone
//! it has a third of all, and each further account a third of what the others have left: so it takes many accounts that want as many
//! as they can get before another one finds no place.

use std::collections::HashMap;

/// Places, and how many of them each account has.
#[derive(Debug)]
pub(crate) struct PlaceShares {
    most: usize,
    all: usize,
    of_account: HashMap<String, usize>,
}

impl PlaceShares {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, all: 0, of_account: HashMap::new() }
    }

    /// Takes a place for an account if it may have one more. Returns false if it has as many as it may.
    pub(crate) fn take(&mut self, account: &str) -> bool {
        let own = self.of_account.get(account).copied().unwrap_or_default();
        own.saturating_mul(2) < self.left() && self.take_any(account)
    }

    /// Takes a place for an account that may have all of them. Returns false if none is left.
    pub(crate) fn take_any(&mut self, account: &str) -> bool {
        if self.left() == 0 {
            return false;
        }
        self.all += 1;
        *self.of_account.entry(account.to_owned()).or_default() += 1;
        true
    }

    /// Gives back a place that an account has.
    pub(crate) fn leave(&mut self, account: &str) {
        self.all -= 1;
        if let Some(own) = self.of_account.get_mut(account) {
            *own -= 1;
            if *own == 0 {
                self.of_account.remove(account);
            }
        }
    }

    /// Number of places that nobody has.
    pub(crate) fn left(&self) -> usize {
        self.most.saturating_sub(self.all)
    }

    /// True if nobody has a place.
    #[cfg(test)]
    pub(crate) fn is_unused(&self) -> bool {
        self.all == 0 && self.of_account.is_empty()
    }
}
