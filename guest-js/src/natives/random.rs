//! Random numbers of this run. Every instance starts from the same image, so the random state of the engine itself is
//! not used.

use std::cell::Cell;

use rquickjs::{Ctx, Object, Result, Value};

use super::add_all;
use crate::bindings::random;
use crate::convert;

/// Largest number of bytes that the host returns at once.
const MOST: u32 = 65_536;

thread_local! {
    /// State of `Math.random`, which is two 64-bit words, seeded by the host at first use.
    static STATE: Cell<Option<[u64; 2]>> = const { Cell::new(None) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "random" => random_number, "randomBytes" => random_bytes)
}

/// Returns a number from 0 to below 1 by xoroshiro128+ (Blackman and Vigna), from its upper 53 bits.
fn random_number() -> f64 {
    let [a, mut b] = STATE.get().unwrap_or_else(seed);
    let sum = a.wrapping_add(b);
    b ^= a;
    STATE.set(Some([a.rotate_left(24) ^ b ^ (b << 16), b.rotate_left(37)]));
    super::number(sum >> 11) / 9_007_199_254_740_992.0
}

/// Returns two words from the host, which must not both be zero: that state never changes.
fn seed() -> [u64; 2] {
    let bytes = random::bytes(16);
    let word = |at: usize| bytes.iter().skip(at).take(8).fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
    [word(0), word(8) | 1]
}

/// Returns this many random bytes.
fn random_bytes(ctx: Ctx<'_>, count: u32) -> Result<Value<'_>> {
    let mut bytes = Vec::new();
    let mut left = count;
    while left > 0 {
        let part = left.min(MOST);
        bytes.extend(random::bytes(part));
        left -= part;
    }
    convert::bytes_value(&ctx, bytes)
}
