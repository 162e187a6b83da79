//! Memory of a session: one sum for its scripts, its tools, and everything that the host holds for them.
//!
//! **Invariant:** the charges of an account never exceed its limit, and a dropped charge is given back.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::Failure;
use crate::remedy::Remedy;

/// Limit and sum of the bytes of memory that the runs of one session take. Clones share the sum.
#[derive(Clone)]
pub struct MemoryAccount(Arc<AccountState>);

struct AccountState {
    limit: u64,
    taken: AtomicU64,
    /// Number of calls that may pass values to the host now.
    passing: AtomicU32,
    /// Callback that drops whatever is only kept for speed.
    reclaim: Box<dyn Fn() + Send + Sync>,
}

/// Equal part of an account's remaining bytes, for one of the calls that pass values to the host at the same time. It
/// reserves nothing: the size of a value is known only once it has arrived.
pub struct MemoryShare {
    account: MemoryAccount,
    bytes: u64,
}

/// Bytes that are charged to an account until this is dropped.
pub struct MemoryCharge {
    account: MemoryAccount,
    bytes: u64,
}

impl MemoryAccount {
    /// Creates an account with a limit of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self::reclaiming(limit, || {})
    }

    /// Creates an account that calls `reclaim` when little is left. The callback drops data that is only kept for
    /// speed, and must not charge anything.
    #[must_use]
    pub fn reclaiming(limit: u64, reclaim: impl Fn() + Send + Sync + 'static) -> Self {
        let (taken, passing) = Default::default();
        Self(Arc::new(AccountState { limit, taken, passing, reclaim: Box::new(reclaim) }))
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the number of bytes that are charged.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that are left. If that is less than half, data that is only kept for speed is
    /// dropped first.
    #[must_use]
    pub fn left(&self) -> u64 {
        if self.is_short() {
            (self.0.reclaim)();
        }
        self.limit().saturating_sub(self.taken())
    }

    /// Returns true if less than half is left, so that nothing more should be kept just for speed.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.taken() > self.limit() / 2
    }

    /// Charges bytes, or returns `None` if fewer are left.
    #[must_use]
    pub fn charge(&self, bytes: u64) -> Option<MemoryCharge> {
        let mut charge = self.open();
        charge.resize(bytes).then_some(charge)
    }

    /// Returns an empty charge, which can grow.
    #[must_use]
    pub fn open(&self) -> MemoryCharge {
        MemoryCharge { account: self.clone(), bytes: 0 }
    }

    /// Returns an equal part of what is left, for one more of the calls that pass values at the same time.
    #[must_use]
    pub fn share(&self) -> MemoryShare {
        let others = self.0.passing.fetch_add(1, Ordering::Relaxed);
        MemoryShare { account: self.clone(), bytes: self.left() / u64::from(others.saturating_add(1)) }
    }

    fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.limit());
        self.0.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// Creates the failure of a call whose values exceed the memory that its session has left.
#[must_use]
pub fn no_memory_for(what: &str, memory: &MemoryAccount) -> Failure {
    let (left, limit) = (memory.left(), memory.limit());
    let message = format!("{what} take more than the {left} bytes that are left of the memory limit of {limit} bytes");
    Failure::limit(
        message,
        format!("pass less at once, wait for some calls before more begin, or {}", Remedy::RaiseLimit("memory")),
    )
}

impl MemoryCharge {
    /// Returns the number of bytes charged.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the size of the charge. Returns false, and changes nothing, if fewer bytes are left than it grows by.
    #[must_use]
    pub fn resize(&mut self, bytes: u64) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => {
                if !self.account.take(more) {
                    (self.account.0.reclaim)();
                    if !self.account.take(more) {
                        return false;
                    }
                }
            }
            None => {
                self.account.0.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
            }
        }
        self.bytes = bytes;
        true
    }

    /// Adds to the charge. Returns false, and changes nothing, if fewer bytes are left.
    #[must_use]
    pub fn grow(&mut self, more: u64) -> bool {
        self.bytes.checked_add(more).is_some_and(|bytes| self.resize(bytes))
    }
}

impl MemoryShare {
    /// Returns the size of this share in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.account.0.passing.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.account.0.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl fmt::Debug for MemoryAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryAccount({} of {} bytes)", self.taken(), self.limit())
    }
}

impl fmt::Debug for MemoryCharge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryCharge({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, Weak};

    use super::*;

    #[test]
    fn charges_come_to_the_limit_at_most_and_are_given_back() {
        let account = MemoryAccount::new(100);
        let mut one = account.charge(60).expect("it fits");
        assert!(account.charge(41).is_none() && account.taken() == 60);
        let other = account.charge(40).expect("it fits");
        assert!(!one.grow(1) && one.bytes() == 60 && account.left() == 0);
        assert!(one.resize(10) && account.left() == 50);
        drop(other);
        assert!(one.grow(90) && account.left() == 0);
        assert!(!one.grow(u64::MAX) && one.bytes() == 100);
        drop(one);
        assert_eq!(account.taken(), 0);
    }

    #[test]
    fn memory_kept_for_speed_is_released_for_memory_that_is_needed() {
        let kept: Arc<Mutex<Option<MemoryCharge>>> = Arc::default();
        let held = Arc::downgrade(&kept);
        let drop_it = move || {
            let gone = Weak::upgrade(&held).and_then(|held| held.lock().expect("nobody panicked").take());
            drop(gone);
        };
        let account = MemoryAccount::reclaiming(100, drop_it);
        *kept.lock().expect("nobody panicked") = account.charge(40);
        assert!(account.charge(60).is_some() && account.taken() == 40, "both fit");
        assert!(account.charge(61).is_some() && account.taken() == 0, "it was given up");
        *kept.lock().expect("nobody panicked") = account.charge(51);
        assert_eq!(account.left(), 100);
    }

    #[test]
    fn calls_at_once_share_what_is_left() {
        let account = MemoryAccount::new(100);
        let taken = account.charge(40).expect("it fits");
        let (first, second) = (account.share(), account.share());
        assert_eq!((first.bytes(), second.bytes(), account.taken()), (60, 30, 40));
        drop((first, second, taken));
        assert_eq!(account.share().bytes(), 100);
    }

    #[test]
    fn threads_together_never_take_more_than_there_is() {
        let account = MemoryAccount::new(1_000);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for bytes in 0..1_000 {
                        let charge = account.charge(bytes % 400);
                        assert!(account.taken() <= 1_000);
                        drop(charge);
                    }
                });
            }
        });
        assert_eq!(account.taken(), 0);
    }
}
