//! Head and tail builtins - output first/last lines of input
//!
//! Decisions (#2447):
//! - Counts follow GNU coreutils: `-n -N` (head: all but the last N),
//!   `-n +N` (tail: start at N), multiplier suffixes (`1k`, `2MiB`, `3KB`,
//!   `b` = 512), and invalid counts fail with exit 1 instead of silently
//!   defaulting to 10.
//! - `head -c`/`tail -c` count bytes; `tail -c` supports the same signs.
//! - Selection works on raw bytes, so a missing final newline and non-UTF-8
//!   input pass through unchanged.
//! - Line selection finds only the requested boundary, scanning from the
//!   nearest end without allocating an offset for every input line.
//! - A missing file is reported and skipped; the command then exits 1.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod tail_follow;

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::fs::vfs_join;
use tail_follow::Follow;

/// Default number of lines to output
const DEFAULT_LINES: usize = 10;

/// What a count selects from the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Selection {
    /// The first N units (`head -n N`).
    First(usize),
    /// Everything except the last N units (`head -n -N`).
    AllButLast(usize),
    /// The last N units (`tail -n N`).
    Last(usize),
    /// Everything from unit N on, 1-based (`tail -n +N`).
    From(usize),
}

/// Unit a selection counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    /// Lines that end with a NUL, `-z`.
    Records,
    Bytes,
}

impl Unit {
    /// The byte that ends a line.
    fn end(self) -> u8 {
        if self == Unit::Records { 0 } else { b'\n' }
    }
}

/// Leading sign of a count value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Plus,
    Minus,
}

/// Parse a GNU count such as `10`, `-3`, `+2`, `1k`, `2MiB` or `5KB`.
fn parse_count(val: &str) -> Option<(Sign, usize)> {
    let (sign, rest) = match val.as_bytes().first() {
        Some(b'+') => (Sign::Plus, &val[1..]),
        Some(b'-') => (Sign::Minus, &val[1..]),
        _ => (Sign::None, val),
    };
    let digits_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if digits_end == 0 {
        return None;
    }
    let multiplier = count_multiplier(&rest[digits_end..])?;
    // Values beyond usize mean "everything", as in GNU.
    let n = rest[..digits_end].parse::<usize>().unwrap_or(usize::MAX).saturating_mul(multiplier);
    Some((sign, n))
}

/// Multiplier for a GNU size suffix (`K` = 1024, `KB` = 1000, `KiB` = 1024).
pub(super) fn count_multiplier(suffix: &str) -> Option<usize> {
    if suffix.is_empty() {
        return Some(1);
    }
    if suffix == "b" {
        return Some(512);
    }
    let mut chars = suffix.chars();
    let letter = chars.next()?;
    let power = match letter {
        'k' | 'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        'P' => 5,
        'E' => 6,
        _ => return None,
    };
    let base: usize = match chars.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    Some(base.saturating_pow(power))
}

/// Parse a `-n`/`-c` value into a selection for `cmd`.
fn parse_selection(cmd: &str, val: &str, unit: Unit) -> std::result::Result<Selection, ExecResult> {
    let what = match unit {
        Unit::Lines | Unit::Records => "lines",
        Unit::Bytes => "bytes",
    };
    let Some((sign, n)) = parse_count(val) else {
        return Err(ExecResult::err(format!("{cmd}: invalid number of {what}: '{val}'\n"), 1));
    };
    Ok(match (cmd, sign) {
        ("head", Sign::Minus) => Selection::AllButLast(n),
        ("head", _) => Selection::First(n),
        (_, Sign::Plus) => Selection::From(n),
        _ => Selection::Last(n),
    })
}

/// When to print `==> NAME <==` headers.
#[derive(Clone, Copy, PartialEq)]
enum Headers {
    Auto,
    Never,
    Always,
}

/// Parsed head/tail command line.
pub(super) struct Options {
    pub(super) selection: Selection,
    pub(super) unit: Unit,
    headers: Headers,
    pub(super) files: Vec<String>,
    follow: Option<Follow>,
    /// Options that say something only with `-f`.
    warnings: String,
}

impl Options {
    pub(super) fn shows_headers(&self) -> bool {
        match self.headers {
            Headers::Auto => self.files.len() > 1,
            Headers::Never => false,
            Headers::Always => true,
        }
    }
}

/// Returns true if these arguments of `tail` ask for following files.
fn tail_follows(args: &[String]) -> bool {
    parse_args("tail", args).is_ok_and(|options| options.follow.is_some())
}

/// Shortest interval between two looks at followed files.
const LEAST_INTERVAL: std::time::Duration = std::time::Duration::from_millis(50);

/// Reads the value of an option that says how to follow.
fn set_follow(follow: &mut Follow, key: char, value: &str) -> std::result::Result<(), ExecResult> {
    let wrong = |what: &str| Err(ExecResult::err(format!("tail: invalid {what}: ‘{value}’\n"), 1));
    match key {
        'P' => match value.parse() {
            // 0 is no process.
            Ok(pid) => follow.pid = Some(pid).filter(|pid| *pid != 0),
            Err(_) => return wrong("PID"),
        },
        's' => match std::time::Duration::try_from_secs_f64(value.parse().unwrap_or(-1.0)) {
            // What the script itself writes wakes it before: an interval of 0 would only spend fuel.
            Ok(interval) => follow.interval = interval.max(LEAST_INTERVAL),
            Err(_) => return wrong("number of seconds"),
        },
        'M' if value.parse::<u64>().is_err() => {
            return wrong("maximum number of unchanged stats between opens");
        }
        'M' => {}
        _ if "name".starts_with(value) && !value.is_empty() => follow.by_name = true,
        _ if "descriptor".starts_with(value) => {}
        _ => {
            let message = format!(
                "tail: invalid argument ‘{value}’ for ‘--follow’\nValid arguments are:\n  - ‘descriptor’\n  - ‘name’\n\
                 Try 'tail --help' for more information.\n"
            );
            return Err(ExecResult::err(message, 1));
        }
    }
    Ok(())
}

/// Parse head/tail arguments: GNU getopt surface (`-n`, `-c`, `-q`, `-v`,
/// their long forms, bundles) plus the obsolete `-NUM` line count.
fn parse_args(cmd: &str, args: &[String]) -> std::result::Result<Options, ExecResult> {
    let default = if cmd == "head" { Selection::First(DEFAULT_LINES) } else { Selection::Last(DEFAULT_LINES) };
    let mut opts = Options {
        selection: default,
        unit: Unit::Lines,
        headers: Headers::Auto,
        files: Vec::new(),
        follow: None,
        warnings: String::new(),
    };
    // Obsolete `-NUM` is rewritten to `-nNUM` before getopt sees it.
    // A `-NUM` that is the value of a preceding `-n`/`-c` stays as is.
    let wants_value = |prev: &str| {
        matches!(prev, "--lines" | "--bytes")
            || (prev.len() > 1
                && !prev.starts_with("--")
                && prev.starts_with('-')
                && prev.ends_with(['n', 'c'])
                && prev[1..].bytes().all(|b| b"cnqvfFz".contains(&b)))
    };
    // tail's `+NUM` counts where it is the only word, or one file follows it.
    let from_start = |arg: &String| {
        let digits = arg.strip_prefix('+').unwrap_or_default();
        cmd == "tail"
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && args.len() <= 2
            && args.get(1).is_none_or(|file| file == "-" || !file.starts_with('-'))
    };
    let mut normalized = Vec::with_capacity(args.len());
    let mut ended = false;
    for (i, arg) in args.iter().enumerate() {
        if !ended && arg == "--" {
            ended = true;
        }
        let is_value = i > 0 && wants_value(&args[i - 1]);
        if i == 0 && from_start(arg) {
            normalized.push(format!("-n{arg}"));
            continue;
        }
        let digits = arg.strip_prefix('-').unwrap_or_default();
        let obsolete = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if cmd == "head" && i > 0 && !ended && !is_value && obsolete {
            return Err(ExecResult::err(
                format!("head: invalid trailing option -- {}\nTry 'head --help' for more information.\n", &digits[..1]),
                1,
            ));
        }
        let alone = args.len() == 1 || (args.len() == 2 && i == 0 && (args[1] == "-" || !args[1].starts_with('-')));
        if cmd == "tail" && !ended && !is_value && obsolete && !alone {
            let message = format!("tail: option used in invalid context -- {}\n", &digits[..1]);
            return Err(ExecResult::err(message, 1));
        }
        // `-5f`, the first word of at most two.
        let followed = digits.strip_suffix('f').filter(|digits| !digits.is_empty());
        if cmd == "tail"
            && i == 0
            && alone
            && let Some(digits) = followed.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        {
            normalized.extend([format!("-n{digits}"), "-f".to_string()]);
            continue;
        }
        match arg.strip_prefix('-') {
            Some(num) if !ended && !is_value && !num.is_empty() && num.bytes().all(|b| b.is_ascii_digit()) => {
                normalized.push(format!("-n{num}"));
            }
            _ => normalized.push(arg.clone()),
        }
    }
    let short = if cmd == "tail" { "c:n:qvzfFs:" } else { "c:n:qvz" };
    let (parsed, files) = bashkit::builtins::arg_parser::gnu_getopt(
        cmd,
        &normalized,
        short,
        &[
            ("bytes", bashkit::builtins::arg_parser::OptArg::Required, 'c'),
            ("lines", bashkit::builtins::arg_parser::OptArg::Required, 'n'),
            ("quiet", bashkit::builtins::arg_parser::OptArg::No, 'q'),
            ("silent", bashkit::builtins::arg_parser::OptArg::No, 'q'),
            ("verbose", bashkit::builtins::arg_parser::OptArg::No, 'v'),
            ("zero-terminated", bashkit::builtins::arg_parser::OptArg::No, 'z'),
            ("follow", bashkit::builtins::arg_parser::OptArg::Optional, 'f'),
            ("max-unchanged-stats", bashkit::builtins::arg_parser::OptArg::Required, 'M'),
            ("pid", bashkit::builtins::arg_parser::OptArg::Required, 'P'),
            ("retry", bashkit::builtins::arg_parser::OptArg::No, 'R'),
            ("sleep-interval", bashkit::builtins::arg_parser::OptArg::Required, 's'),
        ],
        true,
        1,
    )?;
    let mut zero_terminated = false;
    let second = std::time::Duration::from_secs(1);
    let mut follow = Follow { by_name: false, retry: false, interval: second, pid: None };
    let mut follows = false;
    for o in parsed {
        match o.key {
            'n' | 'c' => {
                let unit = if o.key == 'n' { Unit::Lines } else { Unit::Bytes };
                opts.selection = parse_selection(cmd, &o.value.unwrap_or_default(), unit)?;
                opts.unit = unit;
            }
            'z' => zero_terminated = true,
            'f' | 'M' | 'P' | 'R' | 's' if cmd == "head" => {
                let message = format!(
                    "head: unrecognized option '--{}'\nTry 'head --help' for more information.\n",
                    long_name(o.key)
                );
                return Err(ExecResult::err(message, 1));
            }
            'F' => {
                follows = true;
                (follow.by_name, follow.retry) = (true, true);
            }
            'R' => follow.retry = true,
            'f' | 'M' | 'P' | 's' => {
                follows |= o.key == 'f';
                let default = if o.key == 'f' { "descriptor" } else { "" };
                set_follow(&mut follow, o.key, o.value.as_deref().unwrap_or(default))?;
            }
            'q' => opts.headers = Headers::Never,
            _ => opts.headers = Headers::Always,
        }
    }
    if zero_terminated && opts.unit == Unit::Lines {
        opts.unit = Unit::Records;
    }
    opts.files = files;
    if !follows && follow.retry {
        opts.warnings += "tail: warning: --retry ignored; --retry is useful only when following\n";
    }
    if !follows && follow.pid.is_some() {
        opts.warnings += "tail: warning: PID ignored; --pid=PID is useful only when following\n";
    }
    // A pipe is not followed, and nothing else is asked for without a file.
    let only_input = opts.files.iter().all(|file| file == "-");
    opts.follow = (follows && !only_input).then_some(follow);
    Ok(opts)
}

/// The long options of `tail` alone, by their keys.
fn long_name(key: char) -> &'static str {
    match key {
        'f' => "follow",
        'M' => "max-unchanged-stats",
        'P' => "pid",
        'R' => "retry",
        _ => "sleep-interval",
    }
}

/// Apply `selection` to `data`, counting `unit`s. Bytes pass through as-is.
pub(super) fn select(data: &[u8], selection: Selection, unit: Unit) -> &[u8] {
    match unit {
        Unit::Bytes => select_range(data, data.len(), |i| i, selection),
        unit => select_lines(data, selection, unit.end()),
    }
}

/// Select lines without building an input-proportional line-offset index.
// THREAT[TM-DOS-117]: Newline-dense files must not amplify a small head/tail
// request into one heap allocation per input line.
fn select_lines(data: &[u8], selection: Selection, end: u8) -> &[u8] {
    let from_front = |line: usize| {
        if line == 0 {
            return 0;
        }
        data.iter()
            .enumerate()
            .filter(|&(i, &byte)| byte == end && i + 1 < data.len())
            .nth(line - 1)
            .map_or(data.len(), |(i, _)| i + 1)
    };
    let from_back = |lines: usize| {
        if lines == 0 {
            return data.len();
        }
        data.iter()
            .enumerate()
            .rev()
            .filter(|&(i, &byte)| byte == end && i + 1 < data.len())
            .nth(lines - 1)
            .map_or(0, |(i, _)| i + 1)
    };

    match selection {
        Selection::First(n) => &data[..from_front(n)],
        Selection::AllButLast(n) => &data[..from_back(n)],
        Selection::Last(n) => &data[from_back(n)..],
        Selection::From(n) => &data[from_front(n.saturating_sub(1))..],
    }
}

/// Slice `data` to units `[start, end)` of `total`, mapping unit index to a
/// byte offset with `offset` (index `total` maps to the end of the data).
fn select_range(data: &[u8], total: usize, offset: impl Fn(usize) -> usize, selection: Selection) -> &[u8] {
    let (start, end) = match selection {
        Selection::First(n) => (0, n.min(total)),
        Selection::AllButLast(n) => (0, total.saturating_sub(n)),
        Selection::Last(n) => (total.saturating_sub(n), total),
        Selection::From(n) => (n.saturating_sub(1).min(total), total),
    };
    let byte = |i: usize| if i >= total { data.len() } else { offset(i) };
    &data[byte(start)..byte(end)]
}

/// Shared head/tail driver.
async fn run(cmd: &str, ctx: Context<'_>) -> Result<ExecResult> {
    let opts = match parse_args(cmd, ctx.args) {
        Ok(v) => v,
        Err(e) => return Ok(e),
    };

    let mut opts = opts;
    if opts.files.is_empty() {
        opts.files.push("-".to_string());
    }
    if let Some(follow) = &opts.follow {
        return tail_follow::run(&ctx, &opts, follow).await;
    }

    if opts.files == ["-"] && opts.headers != Headers::Always && ctx.stdin_stream().is_some() {
        let input = bashkit::builtins::InputChunks::stdin(&ctx)?;
        return stream(&ctx, input, opts.selection, opts.unit).await;
    }
    if let ([file], Selection::First(_)) = (opts.files.as_slice(), opts.selection)
        && opts.headers != Headers::Always
        && let Some(input) = bashkit::builtins::InputChunks::endless_file(&ctx, &vfs_join(ctx.cwd, file)).await?
    {
        return stream(&ctx, input, opts.selection, opts.unit).await;
    }

    let mut out = Vec::new();
    let mut stderr = std::mem::take(&mut opts.warnings);
    let mut failed = false;
    let multiple_files = opts.shows_headers();
    let mut printed_any = false;
    for file in &opts.files {
        let data = if file == "-" {
            ctx.stdin_to_end().await?.as_bytes().to_vec()
        } else {
            let path = if file.starts_with('/') { std::path::PathBuf::from(file) } else { vfs_join(ctx.cwd, file) };
            match ctx.fs.read_file(&path).await {
                Ok(content) => content,
                Err(e) => {
                    failed = true;
                    let reason = bashkit::error::io_error_reason(&e);
                    // A directory can be opened, but not read.
                    stderr.push_str(&match reason.as_str() {
                        "Is a directory" => format!("{cmd}: error reading '{file}': {reason}\n"),
                        _ => format!("{cmd}: cannot open '{file}' for reading: {reason}\n"),
                    });
                    continue;
                }
            }
        };
        if multiple_files {
            if printed_any {
                out.push(b'\n');
            }
            let name = if file == "-" { "standard input" } else { file };
            out.extend_from_slice(format!("==> {name} <==\n").as_bytes());
        }
        printed_any = true;
        out.extend_from_slice(select(&data, opts.selection, opts.unit));
    }

    let mut result = ExecResult::ok_bytes(out);
    if !stderr.is_empty() {
        result.stderr = stderr.into();
        result.exit_code = i32::from(failed);
    }
    Ok(result)
}

/// What a stage writes: into its pipe if it has one, else kept as its result.
pub(super) struct Out {
    stream: Option<bashkit::builtins::StdoutStream>,
    pub(super) kept: Vec<u8>,
}

/// Writes the line above the bytes of a file. False once nobody reads.
pub(super) async fn put_header(out: &mut Out, name: &str, behind_others: bool) -> Result<bool> {
    let space = if behind_others { "\n" } else { "" };
    out.put(format!("{space}==> {name} <==\n").as_bytes()).await
}

impl Out {
    pub(super) fn new(ctx: &Context<'_>) -> Self {
        Self { stream: ctx.stdout_stream(), kept: Vec::new() }
    }

    /// Returns true once nobody reads.
    pub(super) fn is_closed(&self) -> bool {
        self.stream.as_ref().is_some_and(bashkit::builtins::StdoutStream::is_closed)
    }

    /// False once nobody reads.
    pub(super) async fn put(&mut self, bytes: &[u8]) -> Result<bool> {
        if bytes.is_empty() {
            return Ok(true);
        }
        match &self.stream {
            Some(stream) => stream.write(bytes).await,
            None => {
                self.kept.extend_from_slice(bytes);
                Ok(true)
            }
        }
    }
}

/// How much more than it must a stage holds back before it gives some away, so
/// that looking for the place to cut does not cost more than reading.
const SLACK: usize = 64 * 1024;

/// Head and tail of a pipe: read no further than needed, and hold no more than
/// what may still be wanted.
async fn stream(
    ctx: &Context<'_>,
    mut input: bashkit::builtins::InputChunks<'_>,
    selection: Selection,
    unit: Unit,
) -> Result<ExecResult> {
    let mut out = Out::new(ctx);
    let whole = |data: &[u8]| data.len();
    // Units that pass, or that are skipped, before the rest is not wanted, or is.
    let mut left = match selection {
        Selection::First(n) => n,
        Selection::From(n) => n.saturating_sub(1),
        Selection::AllButLast(n) | Selection::Last(n) => n,
    };
    let mut held: Vec<u8> = Vec::new();
    let mut cut_at = SLACK;
    let mut wanted = true;
    while wanted && !(left == 0 && matches!(selection, Selection::First(_))) {
        let Some(piece) = input.next(whole).await? else {
            break;
        };
        match selection {
            Selection::First(_) => {
                let taken = take_units(&piece, &mut left, unit);
                if left == 0 && (matches!(unit, Unit::Bytes) || input.is_seekable()) {
                    // Bytes are counted as they are read; lines of a pipe are not.
                    input.put_back(&piece[taken.len()..]);
                }
                wanted = out.put(taken).await?;
            }
            Selection::From(_) => {
                let skipped = take_units(&piece, &mut left, unit).len();
                wanted = out.put(&piece[skipped..]).await?;
            }
            Selection::Last(n) | Selection::AllButLast(n) => {
                held.extend_from_slice(&piece);
                if held.len() < cut_at {
                    continue;
                }
                // One unit more: the last line may go on.
                let keep = select(&held, Selection::Last(n.saturating_add(1)), unit).len();
                let gone = held.len() - keep;
                if matches!(selection, Selection::AllButLast(_)) {
                    wanted = out.put(&held[..gone]).await?;
                }
                held.drain(..gone);
                cut_at = 2 * keep + SLACK;
            }
        }
    }
    if wanted && matches!(selection, Selection::Last(_) | Selection::AllButLast(_)) {
        let selected = select(&held, selection, unit);
        if matches!(selection, Selection::AllButLast(_)) && input.is_seekable() {
            input.put_back(&held[selected.len()..]);
        }
        wanted = out.put(selected).await?;
    }
    let mut result = ExecResult::ok_bytes(out.kept);
    if !wanted {
        // SIGPIPE
        result.exit_code = 141;
    }
    Ok(result)
}

/// The first units of some bytes, at most `left`, which is counted down.
fn take_units<'a>(bytes: &'a [u8], left: &mut usize, unit: Unit) -> &'a [u8] {
    let end = match unit {
        Unit::Bytes => {
            let end = bytes.len().min(*left);
            *left -= end;
            end
        }
        _ if *left == 0 => 0,
        unit => {
            let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == unit.end());
            let mut end = bytes.len();
            for (at, _) in ends.by_ref() {
                *left -= 1;
                if *left == 0 {
                    end = at + 1;
                    break;
                }
            }
            end
        }
    };
    &bytes[..end]
}

/// The head builtin - output the first N lines or bytes of input.
///
/// Usage: head [-n [-]NUM | -c [-]NUM] [FILE...]
///
/// Options:
///   -n NUM   Output the first NUM lines (default: 10); -NUM: all but the last NUM
///   -c NUM   Output the first NUM bytes; -NUM: all but the last NUM
///   -NUM     Shorthand for -n NUM
pub(crate) struct Head;

#[async_trait]
impl Builtin for Head {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: head [OPTION]... [FILE]...\nPrint the first 10 lines of each FILE to standard output.\n\n  -n [-]NUM\toutput the first NUM lines; with '-', all but the last NUM lines\n  -c [-]NUM\toutput the first NUM bytes; with '-', all but the last NUM bytes\n  -NUM\t\tshorthand for -n NUM\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n\nNUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on for G, T, P, E.\n",
            Some("head (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        run("head", ctx).await
    }
}

/// The tail builtin - output the last N lines or bytes of input.
///
/// Usage: tail [-n [+]NUM | -c [+]NUM] [FILE...]
///
/// Options:
///   -n NUM   Output the last NUM lines (default: 10)
///   -n +NUM  Output starting from line NUM (1-indexed)
///   -c NUM   Output the last NUM bytes; +NUM: starting from byte NUM
///   -NUM     Shorthand for -n NUM
pub(crate) struct Tail;

#[async_trait]
impl Builtin for Tail {
    fn follows(&self, args: &[String]) -> bool {
        tail_follows(args)
    }

    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: tail [OPTION]... [FILE]...\nPrint the last 10 lines of each FILE to standard output.\n\n  -n [+]NUM\toutput the last NUM lines; with '+', start at line NUM\n  -c [+]NUM\toutput the last NUM bytes; with '+', start at byte NUM\n  -NUM\t\tshorthand for -n NUM\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n\nNUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on for G, T, P, E.\n",
            Some("tail (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        run("tail", ctx).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use bashkit::fs::InMemoryFs;

    async fn run_head(args: &[&str], stdin: Option<&str>) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        Head.execute(ctx).await.unwrap()
    }

    async fn run_tail(args: &[&str], stdin: Option<&str>) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        Tail.execute(ctx).await.unwrap()
    }

    #[tokio::test]
    async fn test_head_default() {
        let input = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let result = run_head(&[], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    }

    #[tokio::test]
    async fn test_head_n_flag() {
        let input = "a\nb\nc\nd\ne\n";
        let result = run_head(&["-n", "3"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\nc\n");
    }

    #[test]
    fn tm_dos_117_newline_dense_selection_finds_boundaries() {
        let input = vec![b'\n'; 1_000_000];

        assert_eq!(select_lines(&input, Selection::First(1), b'\n'), b"\n");
        assert_eq!(select_lines(&input, Selection::Last(1), b'\n'), b"\n");
        assert_eq!(select_lines(&input, Selection::AllButLast(1), b'\n').len(), 999_999);
        assert_eq!(select_lines(&input, Selection::From(1), b'\n'), input);
    }

    #[tokio::test]
    async fn test_head_shorthand() {
        let input = "a\nb\nc\nd\ne\n";
        let result = run_head(&["-2"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\n");
    }

    #[tokio::test]
    async fn test_head_invalid_option() {
        let result = run_head(&["-Q"], Some("a\nb\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_head_c_multibyte_stdin_respects_byte_limit() {
        let result = run_head(&["-c", "1"], Some("éX")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.len() <= 1, "head -c 1 must not emit more than 1 byte for UTF-8 stdin");

        let result = run_head(&["-c", "2"], Some("éX")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "é");
        assert_eq!(result.stdout.len(), 2);
    }

    #[tokio::test]
    async fn test_head_n_negative_all_but_last() {
        let result = run_head(&["-n", "-1"], Some("1\n2\n3\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "1\n2\n");

        let result = run_head(&["-n-2"], Some("1\n2\n3\n")).await;
        assert_eq!(result.stdout, "1\n");

        let result = run_head(&["-n", "-9"], Some("1\n2\n3\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_head_c_negative_all_but_last() {
        let result = run_head(&["-c", "-2"], Some("abcdef")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "abcd");

        let result = run_head(&["-c", "-10"], Some("abc")).await;
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_head_invalid_count() {
        let result = run_head(&["-n", "abc"], Some("a\n")).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stdout, "");
        assert!(result.stderr.contains("invalid number of lines: 'abc'"));

        let result = run_head(&["-c", "-x"], Some("a\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of bytes: '-x'"));
    }

    #[test]
    fn test_parse_count_suffixes_and_signs() {
        assert_eq!(parse_count("10"), Some((Sign::None, 10)));
        assert_eq!(parse_count("-3"), Some((Sign::Minus, 3)));
        assert_eq!(parse_count("+2"), Some((Sign::Plus, 2)));
        assert_eq!(parse_count("1k"), Some((Sign::None, 1024)));
        assert_eq!(parse_count("2KB"), Some((Sign::None, 2000)));
        assert_eq!(parse_count("1MiB"), Some((Sign::None, 1 << 20)));
        assert_eq!(parse_count("3b"), Some((Sign::None, 1536)));
        assert_eq!(parse_count("1E"), Some((Sign::None, 1 << 60)));
        assert_eq!(parse_count("99999999999999999999999"), Some((Sign::None, usize::MAX)));
        for bad in ["", "-", "+", "abc", "3x", "1KiBB", "k", "1 k", "--1"] {
            assert_eq!(parse_count(bad), None, "{bad} must be rejected");
        }
    }

    #[tokio::test]
    async fn test_tail_c_and_signs() {
        let result = run_tail(&["-c", "2"], Some("abcdef")).await;
        assert_eq!(result.stdout, "ef");
        let result = run_tail(&["-c", "+3"], Some("abcdef")).await;
        assert_eq!(result.stdout, "cdef");
        let result = run_tail(&["-n", "-2"], Some("1\n2\n3\n")).await;
        assert_eq!(result.stdout, "2\n3\n");
        let result = run_tail(&["-n", "x"], Some("1\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("tail: invalid number of lines: 'x'"));
    }

    #[tokio::test]
    async fn test_head_tail_preserve_missing_final_newline() {
        let result = run_head(&["-n", "5"], Some("a\nb")).await;
        assert_eq!(result.stdout, "a\nb");
        let result = run_tail(&["-n", "1"], Some("a\nb")).await;
        assert_eq!(result.stdout, "b");
    }

    #[tokio::test]
    async fn test_tail_default() {
        let input = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let result = run_tail(&[], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    }

    #[tokio::test]
    async fn test_tail_n_flag() {
        let input = "a\nb\nc\nd\ne\n";
        let result = run_tail(&["-n", "3"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "c\nd\ne\n");
    }

    #[tokio::test]
    async fn test_tail_shorthand() {
        let input = "a\nb\nc\nd\ne\n";
        let result = run_tail(&["-2"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "d\ne\n");
    }

    #[tokio::test]
    async fn test_tail_invalid_option() {
        let result = run_tail(&["-Q"], Some("a\nb\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_head_empty_input() {
        let result = run_head(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_tail_empty_input() {
        let result = run_tail(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_head_fewer_lines_than_requested() {
        let input = "a\nb\n";
        let result = run_head(&["-n", "10"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\n");
    }

    #[tokio::test]
    async fn test_tail_fewer_lines_than_requested() {
        let input = "a\nb\n";
        let result = run_tail(&["-n", "10"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\n");
    }

    #[tokio::test]
    async fn test_tail_plus_n_from_start() {
        let input = "header\nline1\nline2\nline3\n";
        let result = run_tail(&["-n", "+2"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "line1\nline2\nline3\n");
    }

    #[tokio::test]
    async fn test_tail_plus_1_all_lines() {
        let input = "a\nb\nc\n";
        let result = run_tail(&["-n", "+1"], Some(input)).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\nc\n");
    }

    #[tokio::test]
    async fn test_long_options_and_bundles() {
        let result = run_tail(&["--bytes=2"], Some("a\nb\n")).await;
        assert_eq!(result.stdout, "b\n");
        let result = run_head(&["--lines", "1"], Some("a\nb\n")).await;
        assert_eq!(result.stdout, "a\n");
        let result = run_head(&["-vn1"], Some("a\nb\n")).await;
        assert_eq!(result.stdout, "==> standard input <==\na\n");
    }

    #[tokio::test]
    async fn test_obsolete_count_vs_option_value() {
        let result = run_head(&["-2"], Some("a\nb\nc\n")).await;
        assert_eq!(result.stdout, "a\nb\n");
        // `-1` here is the value of `-n`, not an obsolete count.
        let result = run_head(&["-n", "-1"], Some("a\nb\nc\n")).await;
        assert_eq!(result.stdout, "a\nb\n");
    }

    // As the interpreter has it: what a pointer does not pass on is the answer of the trait, which is no.
    #[test]
    fn tail_says_that_it_follows_behind_a_pointer() {
        let tail: std::sync::Arc<dyn Builtin> = std::sync::Arc::new(Tail);
        let follows = |args: &[&str]| tail.follows(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(follows(&["-f", "log"]) && follows(&["-n", "3", "-F", "log"]));
        assert!(!follows(&["-n", "3", "log"]));
    }
}
