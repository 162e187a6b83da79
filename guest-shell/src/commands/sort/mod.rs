//! `sort`: sorts, merges and checks lines, as GNU's does in the C locale.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`key`] | keys of `-k`, and the part of a line that they select |
//! | [`comparison`] | comparison of lines by keys |
//! | [`value`] | values of keys |
//! | [`version`] | order of names with version numbers, also for `ls` |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod comparison;
mod key;
mod options;
#[cfg(test)]
mod tests;
mod value;
mod version;

use std::cmp::Ordering;
use std::result::Result as StdResult;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use self::comparison::LineOrder;
use self::options::{SortMistake, SortOptions, SortTask};
use crate::commands::files::quote_if_needed;
use crate::commands::operands;
use crate::commands::records::{records, separator};

pub(super) use self::version::filevercmp;

const HELP: &str = "\
Usage: sort [OPTION]... [FILE]...
Write sorted concatenation of all FILE(s) to standard output.

  -b\t\tignore leading blanks
  -d\t\tconsider only blanks and alphanumeric characters
  -f\t\tfold lower case to upper case characters
  -g\t\tcompare according to general numerical value
  -i\t\tconsider only printable characters
  -M\t\tcompare (unknown) < 'JAN' < ... < 'DEC'
  -h\t\tcompare human readable numbers (e.g., 2K 1G)
  -n\t\tcompare according to string numerical value
  -R\t\tshuffle, but group identical keys
  -r\t\treverse the result of comparisons
  -V\t\tnatural sort of (version) numbers within text
  --sort=WORD\tsort according to WORD
  -c, -C\tcheck for sorted input
  -k KEYDEF\tsort via a key definition
  -m\t\tmerge already sorted files
  -o FILE\twrite output to FILE
  -s\t\tstable sort
  -t SEP\tuse SEP as field separator
  -u\t\toutput only the first of an equal run
  -z\t\tline delimiter is NUL, not newline
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `sort` of the shell.
///
/// Options that tune resources (`-S`, `-T`, `--parallel`, `--compress-program`, `--batch-size`) are checked and have no
/// effect. `--debug` and `--random-source`, which change the output, are refused.
pub(crate) struct Sort;

#[async_trait]
impl Builtin for Sort {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("sort (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let mut options = match SortOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(SortMistake { message, status }) => {
                return Ok(ExecResult::err(format!("sort: {message}\n"), status));
            }
        };
        if let Some(list) = &options.files_from {
            match names_of_list(&ctx, list).await? {
                Ok(names) => options.files = names,
                Err(message) => return Ok(failure(message)),
            }
        }
        let inputs = match read_inputs(&ctx, &options).await? {
            Ok(inputs) => inputs,
            Err(message) => return Ok(failure(message)),
        };
        let separator = separator(options.zero_terminated);
        let inputs: Vec<Vec<&[u8]>> = inputs.iter().map(|text| records(text, separator).collect()).collect();
        let lines = match options.task {
            SortTask::Check { quiet } => return Ok(check(&inputs.concat(), &options, quiet)),
            SortTask::Merge => merged(&inputs, &options.order),
            SortTask::Sort => sorted(inputs.concat(), &options.order),
        };
        let lines = if options.unique { without_repeats(lines, &options.order) } else { lines };
        let mut output = lines.join(&separator);
        if !lines.is_empty() {
            output.push(separator);
        }
        write_output(&ctx, &options, output).await
    }
}

fn failure(message: impl std::fmt::Display) -> ExecResult {
    ExecResult::err(format!("sort: {message}\n"), 2)
}

/// Reads the names of the inputs from a list. The error is a message.
async fn names_of_list(ctx: &Context<'_>, list: &str) -> Result<StdResult<Vec<String>, String>> {
    if list != "-"
        && let Err(error) = ctx.fs.stat(&resolve_path(ctx.cwd, list)).await
    {
        return Ok(Err(open_failed(list, &error)));
    }
    Ok(match operands::read_name_list(ctx, "sort", list).await? {
        // The first mistake ends it.
        Ok((_, errors)) if !errors.is_empty() => {
            let message = errors.first().map_or("", |(_, message)| message.trim_end());
            Err(message.trim_start_matches("sort: ").to_owned())
        }
        Ok((names, _)) if names.is_empty() => Err(format!("no input from '{list}'")),
        Ok((names, _)) => Ok(names),
        Err(message) => Err(message.trim_start_matches("sort: ").trim_end().to_owned()),
    })
}

/// Reads all inputs into memory. The error is a message.
///
/// As in GNU's, checks for all inputs, then creates the output, then reads.
async fn read_inputs(ctx: &Context<'_>, options: &SortOptions) -> Result<StdResult<Vec<Vec<u8>>, String>> {
    for file in options.files.iter().filter(|file| *file != "-") {
        if let Err(error) = ctx.fs.stat(&resolve_path(ctx.cwd, file)).await {
            return Ok(Err(format!("cannot read: {}: {}", quote_if_needed(file), io_error_reason(&error))));
        }
    }
    let mut inputs = Vec::with_capacity(options.files.len());
    for file in &options.files {
        match operands::read(ctx, file).await? {
            Ok(text) => inputs.push(text),
            Err(reason) => {
                let made = make_output(ctx, options).await;
                return Ok(Err(made
                    .err()
                    .unwrap_or_else(|| format!("read failed: {}: {reason}", quote_if_needed(file)))));
            }
        }
    }
    Ok(Ok(inputs))
}

/// Creates the output file if it is missing, and preserves its contents: an input may be the same file.
async fn make_output(ctx: &Context<'_>, options: &SortOptions) -> StdResult<(), String> {
    let Some(name) = &options.output else {
        return Ok(());
    };
    let path = resolve_path(ctx.cwd, name);
    if ctx.fs.exists(&path).await.unwrap_or(false) {
        return Ok(());
    }
    ctx.fs.write_file(&path, b"").await.map_err(|error| open_failed(name, &error))
}

async fn write_output(ctx: &Context<'_>, options: &SortOptions, output: Vec<u8>) -> Result<ExecResult> {
    let Some(name) = &options.output else {
        return Ok(ExecResult::ok_bytes(output));
    };
    Ok(match ctx.fs.write_file(&resolve_path(ctx.cwd, name), &output).await {
        Ok(()) => ExecResult::ok(String::new()),
        Err(error) => failure(open_failed(name, &error)),
    })
}

fn open_failed(name: &str, error: &bashkit::Error) -> String {
    format!("open failed: {}: {}", quote_if_needed(name), io_error_reason(error))
}

/// Returns the result of `-c` and `-C`.
fn check(lines: &[&[u8]], options: &SortOptions, quiet: bool) -> ExecResult {
    let disorder = |pair: &[&[u8]]| match options.order.compare(pair[0], pair[1]) {
        Ordering::Greater => true,
        Ordering::Equal => options.unique,
        Ordering::Less => false,
    };
    let Some(index) = lines.windows(2).position(disorder) else {
        return ExecResult::ok(String::new());
    };
    if quiet {
        return ExecResult::err(String::new(), 1);
    }
    let line = bashkit::text_of(lines[index + 1]);
    ExecResult::err(format!("sort: {}:{}: disorder: {line}\n", options.files[0], index + 2), 1)
}

fn sorted<'a>(mut lines: Vec<&'a [u8]>, order: &LineOrder) -> Vec<&'a [u8]> {
    if order.keys.is_empty() {
        // Lines that compare as equal have the same bytes, so their order does not matter.
        lines.sort_unstable();
        if order.reverse {
            lines.reverse();
        }
    } else {
        // `-u` keeps the first line of equal ones, so the sort is stable.
        lines.sort_by(|left, right| order.compare(left, right));
    }
    lines
}

/// Merges inputs that are sorted. Of equal lines, the line of the earlier input comes first.
fn merged<'a>(inputs: &[Vec<&'a [u8]>], order: &LineOrder) -> Vec<&'a [u8]> {
    let mut rests: Vec<&[&[u8]]> = inputs.iter().map(Vec::as_slice).collect();
    let mut lines = Vec::new();
    loop {
        let mut best: Option<(usize, &[u8])> = None;
        for (index, rest) in rests.iter().enumerate() {
            if let Some(line) = rest.first()
                && best.is_none_or(|(_, least)| order.compare(line, least) == Ordering::Less)
            {
                best = Some((index, line));
            }
        }
        let Some((index, line)) = best else {
            return lines;
        };
        lines.push(line);
        rests[index] = &rests[index][1..];
    }
}

/// Returns the first line of each run of equal lines.
fn without_repeats<'a>(mut lines: Vec<&'a [u8]>, order: &LineOrder) -> Vec<&'a [u8]> {
    lines.dedup_by(|line, kept| order.compare(kept, line) == Ordering::Equal);
    lines
}
