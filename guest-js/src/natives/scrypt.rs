//! The mixing function of scrypt (RFC 7914). PBKDF2 before and after it is in `node/src/crypto.js`. The function's
//! memory belongs to the script, and counts as such.

use rquickjs::{Ctx, Object, Result, Value};

use super::{add_all, count};
use crate::errors;
use crate::text;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "scryptMix" => mix_bytes)
}

/// Words in a block of Salsa20.
const SALSA: usize = 16;

/// Mixes bytes in place. `cost`, a power of two, is the number of iterations. The bytes are a multiple of 128, and the
/// scratch memory is `cost` times as large.
fn mix_bytes<'js>(ctx: Ctx<'js>, bytes: Value<'js>, scratch: Value<'js>, cost: f64) -> Result<()> {
    let wrong = || errors::type_error(&ctx, "scrypt mixes blocks of 128 bytes, with as many for each step");
    let cost = usize::try_from(count(cost)).map_err(|_| wrong())?;
    let mut block = text::with_view(&bytes, words).ok_or_else(wrong)?;
    let size = block.len() * 4;
    let fits = cost.is_power_of_two()
        && size > 0
        && size.is_multiple_of(128)
        && text::with_view(&scratch, <[u8]>::len) == size.checked_mul(cost);
    if !fits {
        return Err(wrong());
    }
    text::with_view_mut(&scratch, |scratch| mix(&mut block, scratch, cost)).ok_or_else(wrong)?;
    text::with_view_mut(&bytes, |bytes| store(&block, bytes)).ok_or_else(wrong)
}

/// Converts bytes to little-endian words.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn store(words: &[u32], bytes: &mut [u8]) {
    for (word, place) in words.iter().zip(bytes.as_chunks_mut().0) {
        *place = word.to_le_bytes();
    }
}

/// Fills the scratch memory with successive states of the block, and then mixes the block with pseudorandomly chosen
/// ones.
fn mix(block: &mut Vec<u32>, scratch: &mut [u8], cost: usize) {
    let size = block.len() * 4;
    let mut spare = vec![0; block.len()];
    for step in scratch.chunks_exact_mut(size) {
        store(block, step);
        mix_block(block, &mut spare);
        std::mem::swap(block, &mut spare);
    }
    let last = block.len() - SALSA;
    for _ in 0..cost {
        let place = block[last] as usize & (cost - 1);
        let step = &scratch[place * size..][..size];
        for (word, other) in block.iter_mut().zip(step.as_chunks().0) {
            *word ^= u32::from_le_bytes(*other);
        }
        mix_block(block, &mut spare);
        std::mem::swap(block, &mut spare);
    }
}

/// Mixes blocks of Salsa20 into `mixed`: the even-numbered results first.
fn mix_block(blocks: &[u32], mixed: &mut [u32]) {
    let blocks = blocks.as_chunks::<SALSA>().0;
    let mixed = mixed.as_chunks_mut::<SALSA>().0;
    let half = mixed.len() / 2;
    let mut last = blocks[blocks.len() - 1];
    for (number, block) in blocks.iter().enumerate() {
        for (word, other) in last.iter_mut().zip(block) {
            *word ^= other;
        }
        salsa(&mut last);
        mixed[number / 2 + number % 2 * half] = last;
    }
}

/// Computes Salsa20 with eight rounds.
fn salsa(block: &mut [u32; SALSA]) {
    let mut x = *block;
    for _ in 0..4 {
        for [a, b, c, d] in [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]] {
            quarter(&mut x, a, b, c, d);
        }
        for [a, b, c, d] in [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]] {
            quarter(&mut x, a, b, c, d);
        }
    }
    for (word, mixed) in block.iter_mut().zip(x) {
        *word = word.wrapping_add(mixed);
    }
}

#[inline(always)]
fn quarter(x: &mut [u32; SALSA], a: usize, b: usize, c: usize, d: usize) {
    x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
    x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
    x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
    x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
}
