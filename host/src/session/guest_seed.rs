//! Seeds of the random numbers of a run's guests.

use std::sync::{Arc, Mutex, PoisonError};

use super::session_storage::derive_seed;

/// Seed of the random numbers of a guest, from which those of the guests that it starts follow. All guests of a run have
/// one secret.
#[derive(Clone)]
pub(super) struct GuestSeed {
    secret: Arc<Mutex<[u8; 32]>>,
    /// Numbers that identify the guest.
    numbers: Vec<u64>,
}

impl GuestSeed {
    /// Creates the seed of a run whose journal has its secret.
    pub(super) fn of_run(secret: [u8; 32]) -> Self {
        Self { secret: Arc::new(Mutex::new(secret)), numbers: Vec::new() }
    }

    /// Creates the seed of a run without a secret of its own: that of the session, and the run's number.
    pub(super) fn of_session(secret: [u8; 32], run: u64) -> Self {
        Self { secret: Arc::new(Mutex::new(secret)), numbers: vec![run] }
    }

    /// Returns the seed of a guest that this one starts, which these numbers identify.
    pub(super) fn of(&self, numbers: &[u64]) -> Self {
        Self { secret: Arc::clone(&self.secret), numbers: [&self.numbers, numbers].concat() }
    }

    /// Returns the value of the seed.
    pub(super) fn value(&self) -> [u8; 32] {
        derive_seed(&self.secret.lock().unwrap_or_else(PoisonError::into_inner), "guest", &self.numbers)
    }

    /// Replaces the secret of all guests of the run, for what they draw from now on.
    pub(super) fn replace(&self, secret: [u8; 32]) {
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = secret;
    }
}
