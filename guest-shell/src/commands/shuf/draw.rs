//! Draws of lines and numbers.
//!
//! The output is bounded before memory is reserved for it (THREAT[TM-DOS-090]), and a range of numbers is never listed.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::random::Rng;

/// Lines or numbers that are drawn from.
pub(super) enum ShufInput {
    Items(Vec<String>),
    Range(RangeInclusive<u64>),
}

/// Bounds of a draw.
pub(super) struct Draw {
    pub(super) head_count: Option<u64>,
    pub(super) separator: char,
    /// Most bytes of the output.
    pub(super) output_limit: usize,
}

/// Returns lines that are drawn independently of each other (`-r`). GNU goes on without an end if there is no count;
/// here that is an error, as are all errors a message.
pub(super) fn render_repeat(input: ShufInput, draw: &Draw, rng: &mut Rng) -> Result<String, String> {
    let count = draw.head_count.ok_or("shuf: --repeat requires --head-count to be finite\n")?;
    let nothing = || "shuf: no lines to repeat from\n".to_string();
    match input {
        ShufInput::Items(items) => {
            let longest = items.iter().map(String::len).max().ok_or_else(nothing)?;
            let mut out = draw.buffer(count, longest)?;
            for _ in 0..count {
                out.push_str(&items[rng.index_below(items.len())?]);
                out.push(draw.separator);
            }
            Ok(out)
        }
        ShufInput::Range(range) => {
            let (start, end, length) = range_parts(&range).ok_or_else(nothing)?;
            let mut out = draw.buffer(count, max_range_value_len(start, end))?;
            for _ in 0..count {
                let offset = rng.below(length)?;
                out.push_str(&(u128::from(start) + offset).to_string());
                out.push(draw.separator);
            }
            Ok(out)
        }
    }
}

impl Draw {
    /// Returns a text with room for lines, if the output may have so many.
    fn buffer(&self, count: u64, longest: usize) -> Result<String, String> {
        let longest = longest.saturating_add(self.separator.len_utf8());
        ensure_output_fits(u128::from(count), longest as u128, self.output_limit)?;
        Ok(String::with_capacity(repeat_capacity(count, longest, self.output_limit)?))
    }
}

/// Returns lines in another order, each once at most. A pipe is `sampled` as GNU does while it reads it, which draws
/// other numbers. The error is a message.
pub(super) fn render_non_repeat(input: ShufInput, draw: &Draw, sampled: bool, rng: &mut Rng) -> Result<String, String> {
    let Draw { head_count, separator, output_limit } = *draw;
    match input {
        ShufInput::Items(mut items) => {
            let wanted = head_count.map_or(usize::MAX, u64_to_usize_saturating);
            if sampled && head_count.is_some() {
                items = sample(items, wanted, rng)?;
            }
            // As GNU permutes: from the front, and no further than is wanted.
            for i in 0..items.len().min(wanted) {
                let j = i + rng.index_below(items.len() - i)?;
                items.swap(i, j);
            }
            items.truncate(wanted);
            render_items(items, separator, output_limit)
        }
        ShufInput::Range(range) => {
            let Some((start, end, len)) = range_parts(&range) else {
                return Ok(String::new());
            };
            let output_count = head_count.map(u128::from).unwrap_or(len).min(len);
            let max_line_len = max_range_value_len(start, end).saturating_add(separator.len_utf8());
            ensure_output_fits(output_count, max_line_len as u128, output_limit)?;

            let count = usize::try_from(output_count).map_err(|_| output_too_large(output_limit))?;
            let values = sample_range_without_replacement(start, len, count, rng)?;
            render_items(values, separator, output_limit)
        }
    }
}

fn render_items(items: Vec<String>, separator: char, output_limit: usize) -> Result<String, String> {
    let output_len = items_output_len(&items, separator).ok_or_else(|| output_too_large(output_limit))?;
    if output_len > output_limit {
        return Err(output_too_large(output_limit));
    }

    let mut out = String::with_capacity(output_len);
    for line in &items {
        out.push_str(line);
        out.push(separator);
    }
    Ok(out)
}

fn sample_range_without_replacement(start: u64, len: u128, count: usize, rng: &mut Rng) -> Result<Vec<String>, String> {
    let mut swaps: HashMap<u128, u128> = HashMap::with_capacity(count.saturating_mul(2));
    let mut out = Vec::with_capacity(count);
    for i in 0..count as u128 {
        let j = i + rng.below(len - i)?;
        let selected = *swaps.get(&j).unwrap_or(&j);
        let replacement = *swaps.get(&i).unwrap_or(&i);
        swaps.insert(j, replacement);
        out.push((start as u128 + selected).to_string());
    }
    Ok(out)
}

/// Returns a reservoir of as many lines as are wanted: each later line takes the place of one of them or of none. GNU
/// draws once more for the end of the input.
fn sample(mut items: Vec<String>, wanted: usize, rng: &mut Rng) -> Result<Vec<String>, String> {
    if items.len() < wanted {
        return Ok(items);
    }
    for read in wanted..=items.len() {
        let place = rng.index_below(read + 1)?;
        if place < wanted && read < items.len() {
            items.swap(place, read);
        }
    }
    items.truncate(wanted);
    Ok(items)
}

fn range_parts(range: &RangeInclusive<u64>) -> Option<(u64, u64, u128)> {
    let start = *range.start();
    let end = *range.end();
    if start > end {
        return None;
    }
    Some((start, end, u128::from(end - start) + 1))
}

fn items_output_len(items: &[String], separator: char) -> Option<usize> {
    let sep_len = separator.len_utf8();
    items.iter().try_fold(0usize, |sum, item| sum.checked_add(item.len())?.checked_add(sep_len))
}

fn ensure_output_fits(count: u128, max_line_len: u128, output_limit: usize) -> Result<(), String> {
    let Some(max_output_len) = count.checked_mul(max_line_len) else {
        return Err(output_too_large(output_limit));
    };
    if max_output_len > output_limit as u128 {
        return Err(output_too_large(output_limit));
    }
    Ok(())
}

fn repeat_capacity(count: u64, max_line_len: usize, output_limit: usize) -> Result<usize, String> {
    let capacity = (count as u128).checked_mul(max_line_len as u128).ok_or_else(|| output_too_large(output_limit))?;
    usize::try_from(capacity).map_err(|_| output_too_large(output_limit))
}

fn max_range_value_len(start: u64, end: u64) -> usize {
    start.to_string().len().max(end.to_string().len())
}

pub(super) fn u64_to_usize_saturating(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn output_too_large(output_limit: usize) -> String {
    format!("shuf: output too large (limit {output_limit} bytes)\n")
}
