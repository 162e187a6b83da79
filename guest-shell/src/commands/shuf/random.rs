//! Random numbers: of the clock, or of the bytes of a file.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Source of random numbers.
pub(super) enum Rng {
    Clock(SmallRng),
    File(ByteRng),
}

impl Rng {
    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u128) -> std::result::Result<u128, String> {
        match self {
            Rng::Clock(rng) => Ok(rng.next_u128_lt(bound)),
            Rng::File(rng) => rng.below(bound),
        }
    }

    pub(super) fn index_below(&mut self, bound: usize) -> std::result::Result<usize, String> {
        Ok(usize::try_from(self.below(bound as u128)?).unwrap_or(0))
    }
}

/// Bytes that are taken from a source without an end: enough for an order of a
/// million lines.
pub(super) const RANDOM_BYTES: usize = 4 << 20;

/// Random numbers from the bytes of a file, `--random-source`: as many bytes are
/// joined to a number as its bound needs, and what a number leaves of their
/// chance serves the next one, so the same bytes give the same order as GNU's.
pub(super) struct ByteRng {
    name: String,
    bytes: std::vec::IntoIter<u8>,
    /// A number between 0 and `greatest`, each equally likely.
    number: u128,
    greatest: u128,
}

impl ByteRng {
    pub(super) fn new(name: String, bytes: Vec<u8>) -> Self {
        ByteRng { name, bytes: bytes.into_iter(), number: 0, greatest: 0 }
    }

    fn below(&mut self, bound: u128) -> std::result::Result<u128, String> {
        loop {
            while self.greatest < bound - 1 {
                let Some(byte) = self.bytes.next() else {
                    return Err(format!("shuf: {}: end of file\n", self.name));
                };
                self.number = (self.number << 8) + u128::from(byte);
                self.greatest = (self.greatest << 8) + 255;
            }
            if self.greatest == bound - 1 {
                self.greatest = 0;
                return Ok(std::mem::take(&mut self.number));
            }
            // Numbers beyond the last whole multiple of `bound` would favour some.
            let excess = self.greatest - (bound - 1);
            let unusable = excess % bound;
            let last_usable = self.greatest - unusable;
            if self.number <= last_usable {
                let drawn = self.number % bound;
                self.number /= bound;
                self.greatest = excess / bound;
                return Ok(drawn);
            }
            self.number -= last_usable + 1;
            self.greatest = unusable - 1;
        }
    }
}

/// xorshift64* RNG. Adequate for line shuffling — not cryptographic.
/// We choose this over a `rand` workspace dep (currently feature-
/// gated behind `bot-auth`) to keep `shuf` available with no feature
/// flags. Non-cryptographic shuffling does not need rand's quality
/// guarantees.
pub(super) struct SmallRng {
    state: u64,
}

impl SmallRng {
    pub(super) fn seed_from_now() -> Self {
        let nanos = bashkit::time_compat::SystemTime::now()
            .duration_since(bashkit::time_compat::UNIX_EPOCH)
            .map(|d| d.as_nanos() as u64)
            .unwrap_or(0x123_4567_89AB_CDEF);
        // SystemTime::now can return a tiny duration in tight loops; XOR
        // with an address-derived value so two `SmallRng::seed_from_now()`
        // calls in the same nanosecond don't produce the same state.
        let addr_bits = (&nanos as *const u64) as u64;
        let mixed = nanos ^ addr_bits.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { state: if mixed == 0 { 0xDEAD_BEEF_CAFE_F00D } else { mixed } }
    }

    fn next_u64(&mut self) -> u64 {
        let mut x = self.state;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.state = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn next_u128_lt(&mut self, bound: u128) -> u128 {
        debug_assert!(bound > 0);
        loop {
            let value = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
            let zone = u128::MAX - (u128::MAX % bound);
            if value < zone {
                return value % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rng_bounded_in_range() {
        let mut rng = SmallRng::seed_from_now();
        for _ in 0..1000 {
            let n = rng.next_u128_lt(7);
            assert!(n < 7);
        }
    }

    #[test]
    fn small_rng_bound_one_is_always_zero() {
        let mut rng = SmallRng::seed_from_now();
        for _ in 0..100 {
            assert_eq!(rng.next_u128_lt(1), 0);
        }
    }
}
