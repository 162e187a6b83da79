//! What has been spent of each budget.
//!
//! An entry is made before a call starts and never taken back, unless the call provably did not start. Nothing here
//! knows what a grant covers: it is told which one, and how much is allowed.

use std::sync::{Mutex, PoisonError};

/// Counts the calls of a session by grant. Shared by its runs; every method is atomic.
#[derive(Debug, Default)]
pub struct Ledger {
    calls: Mutex<Vec<u64>>,
}

/// A budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Ledger {
    /// Reserves one call of a grant, by the grant's place in the policy, if fewer than `limit` are used.
    ///
    /// # Errors
    /// If the budget is used up; then nothing is reserved.
    pub fn reserve_call(&self, grant: usize, limit: Option<u64>) -> Result<(), Exhausted> {
        let mut calls = self.lock();
        if calls.len() <= grant {
            calls.resize(grant + 1, 0);
        }
        let used = &mut calls[grant];
        if limit.is_some_and(|limit| *used >= limit) {
            return Err(Exhausted);
        }
        *used = used.saturating_add(1);
        Ok(())
    }

    /// How many calls of a grant are reserved or spent.
    #[must_use]
    pub fn calls(&self, grant: usize) -> u64 {
        self.lock().get(grant).copied().unwrap_or(0)
    }

    /// A panic elsewhere cannot leave the counts half written, so a poisoned lock is still good.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn threads_together_never_overspend() {
        let ledger = Ledger::default();
        let granted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        if ledger.reserve_call(2, Some(777)).is_ok() {
                            granted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(granted.into_inner(), 777);
        assert_eq!(ledger.calls(2), 777);
        assert_eq!(ledger.calls(0), 0);
    }
}
