//! The function `random()`: the C library's generator, from its usual seed.
//!
//! An additive feedback generator, `x[n] = x[n-3] + x[n-31]`, whose first values come from a linear congruential one.

/// Number of previous values that the feedback uses.
const DEGREE: usize = 31;
/// Distance of the nearer of the two values that are added.
const SEPARATION: usize = 3;
/// Number of values that are discarded at the start.
const DISCARDED: usize = 310;

/// State of the generator.
#[derive(Debug)]
pub(crate) struct Random {
    values: [u32; DEGREE],
    at: usize,
}

impl Random {
    /// Returns the generator with seed 1, the state of a program that never set a seed.
    pub(crate) fn new() -> Self {
        let mut values = [0; DEGREE];
        let mut value: u64 = 1;
        for slot in &mut values {
            *slot = u32::try_from(value).unwrap_or_default();
            value = value * 16_807 % 2_147_483_647;
        }
        // The C library continues after the first values that the feedback adds.
        let mut random = Self { values, at: SEPARATION };
        for _ in 0..DISCARDED {
            random.step();
        }
        random
    }

    fn step(&mut self) -> u32 {
        let near = (self.at + DEGREE - SEPARATION) % DEGREE;
        let value = self.values[self.at].wrapping_add(self.values[near]);
        self.values[self.at] = value;
        self.at = (self.at + 1) % DEGREE;
        value
    }

    /// Returns the next number of 31 bits.
    pub(crate) fn next(&mut self) -> u32 {
        self.step() >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_gives_the_numbers_of_seed_1() {
        let mut random = Random::new();
        assert_eq!([random.next(), random.next(), random.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
    }
}
