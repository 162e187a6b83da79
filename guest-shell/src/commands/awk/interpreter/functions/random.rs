//! gawk's generator of random numbers: BSD's `random()` with a state of 256 bytes, shuffled by Knuth's algorithm B, two
//! draws per number, so that sequences are those of gawk.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Number of words of state of the additive generator (BSD's `TYPE_4`).
const STATE_WORDS: usize = 63;

/// Distance of the two words that are added.
const SEPARATION: usize = 1;

/// Number of entries of the table that shuffles numbers.
const SHUFFLED: usize = 512;

/// Generator of the numbers of `rand`.
pub(crate) struct RandomNumbers {
    state: [u32; STATE_WORDS],
    front: usize,
    rear: usize,
    /// Numbers that wait for their turn.
    waiting: Vec<u32>,
    /// Number that was given last, which says whose turn is next.
    last: u32,
    seed: f64,
}

impl RandomNumbers {
    pub(crate) fn new() -> Self {
        let mut numbers = RandomNumbers {
            state: [0; STATE_WORDS],
            front: SEPARATION,
            rear: 0,
            waiting: Vec::new(),
            last: 0,
            seed: 1.0,
        };
        numbers.start(1);
        numbers
    }

    /// Starts the sequence of a seed; returns the seed of before.
    pub(super) fn reseed(&mut self, seed: f64) -> f64 {
        self.start(seed as i64 as u32);
        std::mem::replace(&mut self.seed, seed)
    }

    fn start(&mut self, seed: u32) {
        self.state[0] = seed;
        for index in 1..STATE_WORDS {
            self.state[index] = lehmer(self.state[index - 1] as i32) as u32;
        }
        self.front = SEPARATION;
        self.rear = 0;
        self.waiting = (0..SHUFFLED).map(|_| self.next_unshuffled()).collect();
        self.last = self.next_unshuffled();
        for _ in 0..10 * STATE_WORDS {
            self.next_shuffled();
        }
    }

    /// Returns the next number of the shuffled sequence: the one that waits where the last one points. A new one takes
    /// its place.
    fn next_shuffled(&mut self) -> u32 {
        let turn = self.last as usize % SHUFFLED;
        let new = self.next_unshuffled();
        self.last = std::mem::replace(&mut self.waiting[turn], new);
        self.last
    }

    fn next_unshuffled(&mut self) -> u32 {
        self.state[self.front] = self.state[self.front].wrapping_add(self.state[self.rear]);
        let number = self.state[self.front] >> 1;
        self.front = (self.front + 1) % STATE_WORDS;
        self.rear = (self.rear + 1) % STATE_WORDS;
        number
    }

    /// Returns the next number, from 0 to 1, which excludes 1.
    pub(super) fn next_fraction(&mut self) -> f64 {
        const NUMBERS: f64 = 2_147_483_648.0;
        loop {
            let low = f64::from(self.next_shuffled());
            let high = f64::from(self.next_shuffled());
            let fraction = 0.5 + ((low / NUMBERS + high) / NUMBERS) - 0.5;
            if fraction < 1.0 {
                return fraction;
            }
        }
    }
}

/// Returns the number behind `number` in the sequence of Park and Miller's "minimal standard".
fn lehmer(number: i32) -> i32 {
    let number = if number == 0 { 123_459_876 } else { i64::from(number) };
    let next = 16_807 * (number % 127_773) - 2_836 * (number / 127_773);
    (if next < 0 { next + 0x7fff_ffff } else { next }) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseeded_sequence_begins_as_in_gawk() {
        let mut numbers = RandomNumbers::new();
        let texts: Vec<String> = (0..3).map(|_| format!("{:.6}", numbers.next_fraction())).collect();
        assert_eq!(texts, ["0.924046", "0.593909", "0.306394"]);
    }
}
