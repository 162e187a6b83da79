//! shuf builtin.
//!
//! Argument surface is generated from uutils/coreutils' `uu_app()` via the
//! `bashkit-coreutils-port` codegen tool — see `generated/shuf_args.rs`
//! and `crates/bashkit-coreutils-port/`. Behaviour is implemented locally
//! against the bashkit VFS.
//!
//! Resource decision: shuf builds an ExecResult/String in-process, so it must
//! reject outputs that exceed ExecutionLimits before allocation and must never
//! materialize numeric ranges only to apply `-n` afterward.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod random;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::cached_command;
use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::commands::clap_answer::clap_answer;
use crate::commands::operands;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::error::io_error_reason;
use bashkit::fs::vfs_join;
use bashkit::limits::ExecutionLimits;

use self::random::{ByteRng, RANDOM_BYTES, Rng, SmallRng};
use crate::commands::files::quote_if_needed;

pub(crate) struct Shuf;

// Cached `shuf` arg surface: pre-built once, cloned per invocation.
// See `builtins::clap_cache` for why it is built, not just constructed.
cached_command!(shuf_cmd, bashkit::builtins::generated::shuf_args::shuf_command());

#[async_trait]
impl Builtin for Shuf {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let argv: Vec<OsString> =
            std::iter::once(OsString::from("shuf")).chain(ctx.args.iter().map(OsString::from)).collect();

        let matches = match shuf_cmd().try_get_matches_from(argv) {
            Ok(m) => m,
            Err(error) => return Ok(clap_answer("shuf", &error, 1)),
        };

        // Not an option of GNU's.
        if matches.contains_id("random-seed") {
            return Ok(ExecResult::err("shuf: unrecognized option '--random-seed'\n", 1));
        }
        let mut rng = match random_source(&ctx, &matches).await? {
            Ok(rng) => rng,
            Err(refusal) => return Ok(refusal),
        };
        let call = match ShufCall::from_matches(&matches) {
            Ok(call) => call,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        let input = match call.read_input(&ctx).await? {
            Ok(input) => input,
            Err(refusal) => return Ok(refusal),
        };
        let output = match call.render(&ctx, input, &mut rng) {
            Ok(output) => output,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        let Some(path) = call.output else { return Ok(ExecResult::ok(output)) };
        let resolved = if path.is_absolute() { path.clone() } else { vfs_join(ctx.cwd, &path) };
        Ok(match ctx.fs.write_file(&resolved, &bashkit::bytes_of(&output)).await {
            Ok(()) => ExecResult::ok(String::new()),
            Err(error) => ExecResult::err(format!("shuf: {}: {}\n", path.display(), io_error_reason(&error)), 1),
        })
    }
}

/// Returns the source of random numbers. The error is the result of a call whose source cannot be read.
async fn random_source(
    ctx: &Context<'_>,
    matches: &bashkit::clap::ArgMatches,
) -> Result<std::result::Result<Rng, ExecResult>> {
    let Some(path) = matches.get_one::<PathBuf>("random-source") else {
        return Ok(Ok(Rng::Clock(SmallRng::seed_from_now())));
    };
    let name = path.to_string_lossy();
    let path = bashkit::builtins::resolve_path(ctx.cwd, &name);
    let bytes = match ctx.fs.read_endless(&path, RANDOM_BYTES).await? {
        Some(bytes) => Ok(bytes),
        None => ctx.fs.read_file(&path).await,
    };
    Ok(match bytes {
        Ok(bytes) => Ok(Rng::File(ByteRng::new(name.into_owned(), bytes))),
        Err(error) => {
            let reason = bashkit::error::io_error_reason(&error);
            Err(ExecResult::err(format!("shuf: {}: {reason}\n", quote_if_needed(&name)), 1))
        }
    })
}

/// Options and operands of one call.
struct ShufCall {
    /// True if the operands are the lines (`-e`).
    echo: bool,
    repeat: bool,
    separator: char,
    head_count: Option<u64>,
    output: Option<PathBuf>,
    range: Option<RangeInclusive<u64>>,
    operands: Vec<String>,
}

impl ShufCall {
    /// Converts clap's matches to options. The error is a message for the user.
    fn from_matches(matches: &bashkit::clap::ArgMatches) -> std::result::Result<Self, String> {
        let operands = matches.get_many::<OsString>("file-or-args").into_iter().flatten();
        let call = Self {
            echo: matches.get_flag("echo"),
            repeat: matches.get_flag("repeat"),
            separator: if matches.get_flag("zero-terminated") { '\0' } else { '\n' },
            // The generated arguments have parsers, so that the values are read with their types. `input-range` is the
            // exception; see `read_input_range`.
            head_count: matches.get_many::<u64>("head-count").and_then(|mut counts| counts.next_back().copied()),
            output: matches.get_one::<PathBuf>("output").cloned(),
            range: read_input_range(matches).transpose()?,
            operands: operands.map(|operand| operand.to_string_lossy().into_owned()).collect(),
        };
        match call.operands.get(1).filter(|_| !call.echo) {
            Some(extra) => Err(format!("shuf: extra operand '{extra}'\nTry 'shuf --help' for more information.\n")),
            None => Ok(call),
        }
    }

    fn reads_standard_input(&self) -> bool {
        self.operands.first().is_none_or(|name| name == "-")
    }

    /// Returns what is shuffled. The error is the result of a call whose file cannot be read.
    async fn read_input(&self, ctx: &Context<'_>) -> Result<std::result::Result<ShufInput, ExecResult>> {
        if self.echo {
            return Ok(Ok(ShufInput::Items(self.operands.clone())));
        }
        if let Some(range) = &self.range {
            return Ok(Ok(ShufInput::Range(range.clone())));
        }
        let text = match self.operands.first().filter(|name| *name != "-") {
            None => ctx.stdin_to_end().await?.to_string(),
            Some(file) => match operands::read(ctx, file).await? {
                Ok(text) => bashkit::text_of(&text).into_owned(),
                Err(reason) if reason == "Is a directory" => {
                    return Ok(Err(ExecResult::err(format!("shuf: read error: {reason}\n"), 1)));
                }
                Err(reason) => {
                    return Ok(Err(ExecResult::err(format!("shuf: {}: {reason}\n", quote_if_needed(file)), 1)));
                }
            },
        };
        Ok(Ok(ShufInput::Items(split_separated(&text, self.separator))))
    }

    /// Returns the output of a call. The error is a message for the user.
    fn render(&self, ctx: &Context<'_>, input: ShufInput, rng: &mut Rng) -> std::result::Result<String, String> {
        // THREAT[TM-DOS-090]: Bind shuf's in-process output construction to
        // ExecutionLimits before range/repeat loops can allocate.
        let output_limit = shuf_output_limit(ctx, self.output.is_some());
        if self.repeat {
            return render_repeat(input, self.head_count, self.separator, output_limit, rng);
        }
        // GNU samples a pipe as it reads it, which draws other numbers.
        let from_pipe = self.reads_standard_input() && ctx.stdin_stream().is_some();
        let sampled = !self.echo && input.is_lines() && from_pipe;
        render_non_repeat(input, self.head_count, self.separator, output_limit, sampled, rng)
    }
}

/// Read `-i LO-HI` under either value type the generated surface carries.
///
/// Decision: at the pinned rev the ported surface declares
/// `.value_parser(parse_range)` on `input-range`, so clap hands back a
/// `RangeInclusive<u64>`. Upstream has since dropped that value parser and
/// parses the raw string in its own `uumain`, so the regenerated surface
/// stores a plain `String` and a consumer naming only the pre-parsed type
/// reads nothing — `shuf -i 1-5` printed empty output and failed the weekly
/// drift run (run 39753862402). The drift PR is generated-only and cannot
/// fix its own consumers (`knowledge/runtimes/coreutils-args-port.md` § The
/// drift PR cannot fix its own consumers), so this reads both and stays
/// valid against the pin and upstream HEAD alike — the same rationale as
/// `helpers::string_value`.
///
/// `None` means no `-i` was given; `Some(Err(_))` is a GNU-shaped diagnostic
/// for a malformed range.
fn read_input_range(matches: &bashkit::clap::ArgMatches) -> Option<std::result::Result<RangeInclusive<u64>, String>> {
    // Pinned surface: clap already parsed the range. An `Err` here is a
    // value-type mismatch, i.e. the regenerated surface, not a bad value.
    if let Ok(range) = matches.try_get_one::<RangeInclusive<u64>>("input-range") {
        return range.cloned().map(Ok);
    }
    bashkit::builtins::helpers::string_value(matches, "input-range").map(|raw| parse_input_range(&raw))
}

/// Parse `LO-HI` the way GNU `shuf` does, including its diagnostics.
///
/// Mirrors upstream's own `parse_range`, which is body code rather than
/// argument surface and so is not vendored: GNU reports the range as a
/// whole rather than the offending bound, and distinguishes only the
/// does-not-fit-in-`u64` case. Exit status is 1, matching upstream's
/// `USimpleError::new(1, ...)` — clap's own rejection under the pinned
/// surface exits 2 instead, so this path is strictly closer to GNU.
fn parse_input_range(raw: &str) -> std::result::Result<RangeInclusive<u64>, String> {
    let invalid = || format!("shuf: invalid input range: '{raw}'\n");
    let Some((from, to)) = raw.split_once('-') else {
        return Err(invalid());
    };
    let parse = |bound: &str| match bound.parse::<u64>() {
        Ok(n) => Ok(n),
        Err(e) if *e.kind() == std::num::IntErrorKind::PosOverflow => {
            Err(format!("shuf: invalid input range: '{raw}': Value too large to be stored in data type\n"))
        }
        Err(_) => Err(invalid()),
    };
    let begin = parse(from)?;
    let end = parse(to)?;
    // `begin == end + 1` is GNU's spelling of an empty range, e.g. `-i 5-4`.
    if begin <= end || begin == end + 1 { Ok(begin..=end) } else { Err(invalid()) }
}

fn split_separated(raw: &str, sep: char) -> Vec<String> {
    if raw.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<String> = raw.split(sep).map(str::to_string).collect();
    // Trailing separator yields an empty trailing element; drop it to
    // match GNU shuf's "lines" model.
    if out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

enum ShufInput {
    Items(Vec<String>),
    Range(RangeInclusive<u64>),
}

impl ShufInput {
    fn is_lines(&self) -> bool {
        matches!(self, ShufInput::Items(_))
    }
}

fn shuf_output_limit(ctx: &Context<'_>, output_to_file: bool) -> usize {
    let exec_limit = ctx
        .execution_extension::<ExecutionLimits>()
        .and_then(|limits| limits.try_with(|limits| limits.max_stdout_bytes).ok())
        .unwrap_or_else(|| ExecutionLimits::default().max_stdout_bytes);

    if !output_to_file {
        return exec_limit;
    }

    let fs_limits = ctx.fs.limits();
    exec_limit
        .min(u64_to_usize_saturating(fs_limits.max_file_size))
        .min(u64_to_usize_saturating(fs_limits.max_total_bytes))
}

fn render_repeat(
    input: ShufInput,
    head_count: Option<u64>,
    separator: char,
    output_limit: usize,
    rng: &mut Rng,
) -> std::result::Result<String, String> {
    // -r samples *with* replacement: each pick is independent.
    // GNU shuf -r without -n loops forever; bashkit requires -n because
    // an embedded VFS shell needs a finite output contract.
    let count = match head_count {
        Some(n) => n,
        None => {
            return Err("shuf: --repeat requires --head-count to be finite\n".to_string());
        }
    };

    match input {
        ShufInput::Items(items) => {
            if items.is_empty() {
                return Err("shuf: no lines to repeat from\n".to_string());
            }
            let max_line_len = items.iter().map(String::len).max().unwrap_or(0).saturating_add(separator.len_utf8());
            ensure_output_fits(count as u128, max_line_len as u128, output_limit)?;

            let mut out = String::with_capacity(repeat_capacity(count, max_line_len, output_limit)?);
            for _ in 0..count {
                out.push_str(&items[rng.index_below(items.len())?]);
                out.push(separator);
            }
            Ok(out)
        }
        ShufInput::Range(range) => {
            let Some((start, end, len)) = range_parts(&range) else {
                return Err("shuf: no lines to repeat from\n".to_string());
            };
            let max_line_len = max_range_value_len(start, end).saturating_add(separator.len_utf8());
            ensure_output_fits(count as u128, max_line_len as u128, output_limit)?;

            let mut out = String::with_capacity(repeat_capacity(count, max_line_len, output_limit)?);
            for _ in 0..count {
                let offset = rng.below(len)?;
                out.push_str(&(start as u128 + offset).to_string());
                out.push(separator);
            }
            Ok(out)
        }
    }
}

fn render_non_repeat(
    input: ShufInput,
    head_count: Option<u64>,
    separator: char,
    output_limit: usize,
    sampled: bool,
    rng: &mut Rng,
) -> std::result::Result<String, String> {
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

fn render_items(items: Vec<String>, separator: char, output_limit: usize) -> std::result::Result<String, String> {
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

fn sample_range_without_replacement(
    start: u64,
    len: u128,
    count: usize,
    rng: &mut Rng,
) -> std::result::Result<Vec<String>, String> {
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

/// A reservoir of as many lines as are wanted: each later line takes the place
/// of one of them or of none. GNU draws once more for the end of the input.
fn sample(mut items: Vec<String>, wanted: usize, rng: &mut Rng) -> std::result::Result<Vec<String>, String> {
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

fn ensure_output_fits(count: u128, max_line_len: u128, output_limit: usize) -> std::result::Result<(), String> {
    let Some(max_output_len) = count.checked_mul(max_line_len) else {
        return Err(output_too_large(output_limit));
    };
    if max_output_len > output_limit as u128 {
        return Err(output_too_large(output_limit));
    }
    Ok(())
}

fn repeat_capacity(count: u64, max_line_len: usize, output_limit: usize) -> std::result::Result<usize, String> {
    let capacity = (count as u128).checked_mul(max_line_len as u128).ok_or_else(|| output_too_large(output_limit))?;
    usize::try_from(capacity).map_err(|_| output_too_large(output_limit))
}

fn max_range_value_len(start: u64, end: u64) -> usize {
    start.to_string().len().max(end.to_string().len())
}

fn u64_to_usize_saturating(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn output_too_large(output_limit: usize) -> String {
    format!("shuf: output too large (limit {output_limit} bytes)\n")
}
