//! Seeded source of choices: the same seed, subject and index give the same case on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// Random choices of one case.
pub(crate) struct CaseRandom(ChaCha8Rng);

impl CaseRandom {
    /// Returns the random source for one case of a run.
    pub(crate) fn new(subject: &str, seed: u64, index: u64) -> Self {
        let digest = Sha256::digest(format!("{subject}/{seed}/{index}"));
        Self(ChaCha8Rng::from_seed(digest.into()))
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The remainder of a 64-bit number is biased, but far less than a few thousand cases could show.
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0.next_u64() % bound).unwrap_or(0)
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Returns true in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::CaseRandom;

    #[test]
    fn random_of_one_case_repeats_and_differs_from_its_neighbor() {
        let draw = |index| {
            let mut random = CaseRandom::new("shell", 7, index);
            (0..8).map(|_| random.below(1 << 30)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
