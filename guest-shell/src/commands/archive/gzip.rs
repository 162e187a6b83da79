//! gzip, gunzip and zcat.
//!
//! What is unpacked is bounded by the limits of the file system and by the ratio that `archive`
//! checks, so that a small file cannot fill the memory.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use flate2::{Compression, GzBuilder};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::commands::archive::{append_unpacked, archive_io_error, budgeted_bytes};
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::{OptArg, gnu_getopt};
use bashkit::builtins::resolve_path;
use bashkit::fs::{FileType, Metadata};
use bashkit::limits::BudgetedBytes;

const LONG_OPTIONS: &[(&str, OptArg, char)] = &[
    ("ascii", OptArg::No, 'a'),
    ("to-stdout", OptArg::No, 'c'),
    ("stdout", OptArg::No, 'c'),
    ("decompress", OptArg::No, 'd'),
    ("uncompress", OptArg::No, 'd'),
    ("force", OptArg::No, 'f'),
    ("help", OptArg::No, 'h'),
    ("keep", OptArg::No, 'k'),
    ("list", OptArg::No, 'l'),
    ("license", OptArg::No, 'L'),
    ("no-name", OptArg::No, 'n'),
    ("name", OptArg::No, 'N'),
    ("quiet", OptArg::No, 'q'),
    ("silent", OptArg::No, 'q'),
    ("recursive", OptArg::No, 'r'),
    ("suffix", OptArg::Required, 'S'),
    ("synchronous", OptArg::No, 'm'),
    ("test", OptArg::No, 't'),
    ("verbose", OptArg::No, 'v'),
    ("version", OptArg::No, 'V'),
    ("fast", OptArg::No, '1'),
    ("best", OptArg::No, '9'),
    ("bits", OptArg::Required, 'b'),
    ("rsyncable", OptArg::No, 'm'),
];

const HELP: &str = "Usage: gzip [OPTION]... [FILE]...\nCompress files.\n\n  -c, --stdout\twrite to standard output, keep original files\n  -d, --decompress\tdecompress\n  -f, --force\tforce overwrite\n  -k, --keep\tkeep original file\n  -l, --list\tlist the sizes of compressed files\n  -n, --no-name\tdo not save or restore the name and time\n  -N, --name\tsave or restore the name and time\n  -q, --quiet\tsuppress warnings\n  -r, --recursive\tcompress the files in directories\n  -S, --suffix=SUF\tuse suffix SUF\n  -t, --test\ttest compressed files\n  -v, --verbose\ttell what is done\n  -1..-9\tcompression level\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";
const VERSION: &str = "gzip (bashkit) 0.1\n";
const TRY_HELP: &str = "Try `gzip --help' for more information.\n";

/// Standard input's name in messages.
const STANDARD_INPUT: &str = "stdin";

const END_OF_FILE: &str = "unexpected end of file";

const MAGIC: &[u8] = &[0x1f, 0x8b];

/// The header without a name, and the trailer.
const HEADER_SIZE: usize = 10;
const TRAILER_SIZE: usize = 8;

/// The gzip builtin: `gzip [-cdfklnNqrtv] [-1..-9] [-S SUFFIX] [FILE...]`
pub(crate) struct Gzip;

/// `gunzip`: `gzip -d`.
pub(crate) struct Gunzip;

/// `zcat`: `gzip -cd`.
pub(crate) struct Zcat;

struct Options {
    to_stdout: bool,
    decompress: bool,
    force: bool,
    keep: bool,
    list: bool,
    quiet: bool,
    recursive: bool,
    test: bool,
    verbose: bool,
    /// Whether the name is stored or restored: `-N`, `-n` or neither.
    name: Option<bool>,
    level: Compression,
    suffix: String,
}

impl Options {
    fn new(decompress: bool, to_stdout: bool) -> Self {
        Self {
            to_stdout,
            decompress,
            force: false,
            keep: false,
            list: false,
            quiet: false,
            recursive: false,
            test: false,
            verbose: false,
            name: None,
            level: Compression::default(),
            suffix: ".gz".to_string(),
        }
    }

    /// Applies an option that only sets something.
    fn set(&mut self, key: char) {
        match key {
            'c' => self.to_stdout = true,
            'd' => self.decompress = true,
            'f' => self.force = true,
            'k' => self.keep = true,
            'l' => self.list = true,
            'n' => self.name = Some(false),
            'N' => self.name = Some(true),
            'q' => self.quiet = true,
            'r' => self.recursive = true,
            't' => self.test = true,
            'v' => self.verbose = true,
            '1'..='9' => self.level = Compression::new(u32::from(key) - u32::from('0')),
            // Times are always kept, and nothing is written later than it is told.
            _ => {}
        }
    }

    fn unpacks(&self) -> bool {
        self.decompress || self.list || self.test
    }

    fn writes_files(&self) -> bool {
        !(self.to_stdout || self.list || self.test)
    }

    /// The known suffix of a name, as it is written there.
    fn known_suffix<'n>(&self, name: &'n str) -> Option<&'n str> {
        let known = [".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"];
        let known = std::iter::once(self.suffix.as_str()).chain(known);
        known
            .filter_map(|suffix| Some((name.len().checked_sub(suffix.len())?, suffix)))
            .filter(|(at, _)| *at > 0 && !name[..*at].ends_with('/'))
            .find_map(|(at, suffix)| {
                let end = name.get(at..)?;
                end.eq_ignore_ascii_case(suffix).then_some(end)
            })
    }

    /// The name of what is unpacked from a file.
    fn unpacked_name(&self, name: &str) -> Option<String> {
        let suffix = self.known_suffix(name)?;
        let stem = &name[..name.len() - suffix.len()];
        match suffix.to_ascii_lowercase().as_str() {
            ".tgz" | ".taz" => Some(format!("{stem}.tar")),
            _ => Some(stem.to_string()),
        }
    }
}

/// What was done so far.
struct Progress {
    stdout: BudgetedBytes,
    stderr: String,
    /// 1: an error; 2: a warning alone.
    status: i32,
    /// After data that end too early, gzip goes on with no other file.
    given_up: bool,
    listed: usize,
    /// Sums of what was listed: compressed, uncompressed, and the size of the last frame.
    totals: (usize, usize, usize),
}

impl Progress {
    /// An error outranks a warning.
    fn error(&mut self, message: &str) {
        self.stderr.push_str(&format!("gzip: {message}\n"));
        self.status = 1;
    }

    fn warn(&mut self, options: &Options, message: &str) {
        if !options.quiet {
            self.stderr.push_str(&format!("gzip: {message}\n"));
        }
        if self.status == 0 {
            self.status = 2;
        }
    }

    /// An error in data starts on a line of its own.
    fn data_error(&mut self, name: &str, problem: &str) {
        self.stderr.push_str(&format!("\ngzip: {name}: {problem}\n"));
        self.status = 1;
        self.given_up |= problem == END_OF_FILE;
    }
}

/// The share of the input that compression saved, as gzip has it: `-1.9%`.
fn saved(original: usize, compressed: usize, frame: usize) -> String {
    let body = compressed as f64 - frame as f64;
    let share = match original {
        0 => 0.0,
        _ => (original as f64 - body) / original as f64 * 100.0,
    };
    format!("{share:5.1}%")
}

/// A header's name and time, and the size of the frame that is not data.
struct Frame {
    name: Option<String>,
    time: u64,
    size: usize,
}

impl Frame {
    fn of(packed: &[u8]) -> Self {
        let decoder = flate2::bufread::GzDecoder::new(packed);
        let header = decoder.header();
        let name = header.and_then(|header| header.filename());
        let extra = header.and_then(|header| header.extra()).map_or(0, |extra| extra.len() + 2);
        Self {
            name: name.map(|name| String::from_utf8_lossy(name).into_owned()),
            time: header.map_or(0, |header| u64::from(header.mtime())),
            size: HEADER_SIZE + TRAILER_SIZE + extra + name.map_or(0, |name| name.len() + 1),
        }
    }
}

/// Data with the message about what is wrong with it.
struct Unpacked {
    data: BudgetedBytes,
    error: Option<&'static str>,
    garbage: bool,
}

fn unpack(ctx: &Context<'_>, name: &str, packed: &[u8]) -> Result<Unpacked> {
    let mut unpacked = Unpacked { data: budgeted_bytes(ctx)?, error: None, garbage: false };
    let max_size = ctx.fs.limits().max_file_size;
    let mut rest = packed;
    let mut buffer = [0u8; 8192];
    loop {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        loop {
            match member.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let size = packed.len();
                    append_unpacked(&mut unpacked.data, &buffer[..count], size, max_size)
                        .map_err(|error| archive_io_error(&format!("gzip: {name}"), error))?;
                }
                Err(error) => {
                    unpacked.error = Some(problem(&error));
                    return Ok(unpacked);
                }
            }
        }
        rest = member.into_inner();
        if !rest.starts_with(MAGIC) {
            // Zeros fill the last block on tapes.
            unpacked.garbage = rest.iter().any(|byte| *byte != 0);
            return Ok(unpacked);
        }
    }
}

fn problem(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => END_OF_FILE,
        _ if error.to_string().contains("checksum") => "invalid compressed data--crc error",
        _ => "invalid compressed data--format violated",
    }
}

/// A header's name is the last part of the file's, and its system is Unix, as gzip's is.
fn pack(ctx: &Context<'_>, options: &Options, data: &[u8], origin: Option<(&str, &Metadata)>) -> Result<BudgetedBytes> {
    let mut header = GzBuilder::new().operating_system(3);
    if let Some((name, meta)) = origin.filter(|_| options.name != Some(false)) {
        let name = name.rsplit('/').next().unwrap_or(name);
        header = header.filename(name.as_bytes()).mtime(seconds(meta) as u32);
    }
    let failed = |error| archive_io_error("gzip: compression failed", error);
    let mut encoder = header.write(budgeted_bytes(ctx)?, options.level);
    encoder.write_all(data).map_err(failed)?;
    encoder.finish().map_err(failed)
}

fn seconds(meta: &Metadata) -> u64 {
    let since = meta.modified.duration_since(bashkit::time_compat::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[async_trait]
impl Builtin for Gzip {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, Options::new(false, false)).await
    }
}

#[async_trait]
impl Builtin for Gunzip {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, Options::new(true, false)).await
    }
}

#[async_trait]
impl Builtin for Zcat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(ctx, Options::new(true, true)).await
    }
}

async fn run(ctx: Context<'_>, mut options: Options) -> Result<ExecResult> {
    let short = "ab:cdfhklLmMnNqrS:tvV123456789";
    let parsed = gnu_getopt("gzip", ctx.args, short, LONG_OPTIONS, true, 1);
    let (parsed, files) = match parsed {
        Ok(parsed) => parsed,
        Err(mut error) => {
            error.stderr = format!("{}{TRY_HELP}", error.stderr).into();
            return Ok(error);
        }
    };
    let mut progress = Progress {
        stdout: budgeted_bytes(&ctx)?,
        stderr: String::new(),
        status: 0,
        given_up: false,
        listed: 0,
        totals: (0, 0, 0),
    };
    for option in parsed {
        let value = option.value.unwrap_or_default();
        if let Some(end) = apply(&mut options, &mut progress, option.key, value) {
            return Ok(end);
        }
    }
    if files.is_empty() {
        standard_input(&ctx, &options, &mut progress).await?;
    }
    for file in &files {
        if progress.given_up {
            break;
        }
        match file.as_str() {
            "-" => standard_input(&ctx, &options, &mut progress).await?,
            file => operand(&ctx, &options, file, &mut progress).await?,
        }
    }
    if options.list && progress.listed > 0 && files.len() > 1 && !options.quiet {
        list_totals(&options, &mut progress)?;
    }
    let (stdout, _lease) = progress.stdout.into_parts();
    Ok(ExecResult {
        stdout: stdout.into(),
        stderr: progress.stderr.into(),
        exit_code: progress.status,
        ..Default::default()
    })
}

/// Applies an option; some end the call.
fn apply(options: &mut Options, progress: &mut Progress, key: char, value: String) -> Option<ExecResult> {
    match key {
        'h' => return Some(ExecResult::ok(HELP)),
        'L' | 'V' => return Some(ExecResult::ok(VERSION)),
        'a' => {
            let message = "gzip: option --ascii ignored on this system\n";
            progress.stderr.push_str(message);
        }
        'b' if value.parse::<u32>().is_err() => {
            let message = format!("gzip: -b operand is not an integer\n{TRY_HELP}");
            return Some(ExecResult::err(message, 1));
        }
        'S' if value.is_empty() => {
            return Some(ExecResult::err("gzip: invalid suffix ''\n", 1));
        }
        'S' => options.suffix = value,
        key => options.set(key),
    }
    None
}

/// Packs or unpacks standard input to standard output.
async fn standard_input(ctx: &Context<'_>, options: &Options, progress: &mut Progress) -> Result<()> {
    let input = ctx.stdin_to_end().await?;
    let input = input.as_bytes();
    if !options.unpacks() {
        let packed = pack(ctx, options, input, None)?;
        progress.stdout.try_extend_from_slice(&packed)?;
        if options.verbose {
            let frame = HEADER_SIZE + TRAILER_SIZE;
            let share = saved(input.len(), packed.len(), frame);
            progress.stderr.push_str(&format!("{share}\n"));
        }
        return Ok(());
    }
    let Some(unpacked) = unpack_checked(ctx, options, STANDARD_INPUT, input, progress)? else {
        return Ok(());
    };
    if options.list {
        list(options, progress, "stdout", input, &unpacked, 0)?;
    } else if !options.test {
        progress.stdout.try_extend_from_slice(&unpacked)?;
    } else if options.verbose {
        progress.stderr.push_str(" OK\n");
    }
    Ok(())
}

/// Unpacks data, and tells what is wrong with it. Nothing is returned of a file that is not
/// packed or, unless it goes to standard output, not whole.
fn unpack_checked(
    ctx: &Context<'_>,
    options: &Options,
    name: &str,
    packed: &[u8],
    progress: &mut Progress,
) -> Result<Option<BudgetedBytes>> {
    let to_stdout = options.to_stdout || name == STANDARD_INPUT;
    if !packed.starts_with(MAGIC) {
        if options.force && to_stdout && !options.list && !options.test {
            // `zcat -f`: what is not compressed goes through.
            progress.stdout.try_extend_from_slice(packed)?;
            return Ok(None);
        }
        let problem = match packed.len() {
            0 | 1 => END_OF_FILE,
            _ => "not in gzip format",
        };
        progress.data_error(name, problem);
        return Ok(None);
    }
    let unpacked = unpack(ctx, name, packed)?;
    if unpacked.garbage {
        let message = format!("\ngzip: {name}: decompression OK, trailing garbage ignored\n");
        if !options.quiet {
            progress.stderr.push_str(&message);
        }
        progress.status = progress.status.max(2);
    }
    if let Some(problem) = unpacked.error {
        progress.data_error(name, problem);
        if to_stdout && !options.list && !options.test {
            progress.stdout.try_extend_from_slice(&unpacked.data)?;
        }
        return Ok(None);
    }
    Ok(Some(unpacked.data))
}

/// Packs or unpacks the file, or the files in the directory, of an operand.
async fn operand(ctx: &Context<'_>, options: &Options, file: &str, progress: &mut Progress) -> Result<()> {
    if file.is_empty() {
        // The empty name would stand for the working directory.
        let reason = "No such file or directory";
        match options.unpacks() {
            true => progress.error(&format!("{}: {reason}", options.suffix)),
            false => progress.error(reason),
        }
        return Ok(());
    }
    let mut name = file.to_string();
    let mut found = ctx.fs.lstat(&resolve_path(ctx.cwd, &name)).await;
    if found.is_err() && options.unpacks() && options.known_suffix(&name).is_none() {
        // gzip looks for what it would have made of it.
        name.push_str(&options.suffix);
        found = ctx.fs.lstat(&resolve_path(ctx.cwd, &name)).await;
    }
    let mut pending = vec![(name, found)];
    while let Some((name, found)) = pending.pop().filter(|_| !progress.given_up) {
        let path = resolve_path(ctx.cwd, &name);
        let follow = options.force || !options.writes_files();
        let found = match found {
            Ok(meta) if meta.file_type == FileType::Symlink && follow => ctx.fs.stat(&path).await,
            found => found,
        };
        match found {
            Ok(meta) if meta.file_type.is_dir() && options.recursive => {
                pending.extend(entries(ctx, &name, &path).await?);
            }
            Ok(meta) if meta.file_type.is_dir() => {
                progress.warn(options, &format!("{name} is a directory -- ignored"));
            }
            Ok(meta) if meta.file_type == FileType::Symlink => {
                progress.error(&format!("{name}: Too many levels of symbolic links"));
            }
            Ok(meta) => regular_file(ctx, options, &name, &meta, progress).await?,
            Err(error) => {
                let reason = bashkit::error::io_error_reason(&error);
                progress.error(&format!("{name}: {reason}"));
            }
        }
    }
    Ok(())
}

/// The names in a directory, the last one first.
async fn entries(ctx: &Context<'_>, name: &str, path: &Path) -> Result<Vec<(String, Result<Metadata>)>> {
    let mut found = ctx.fs.read_dir(path).await?;
    found.sort_by(|one, other| other.name.cmp(&one.name));
    let folder = name.trim_end_matches('/');
    let mut entries = Vec::with_capacity(found.len());
    for entry in found {
        ctx.consume_budget_work(1)?;
        let meta = ctx.fs.lstat(&path.join(&entry.name)).await;
        entries.push((format!("{folder}/{}", entry.name), meta));
    }
    Ok(entries)
}

/// The name of the file to be written; nothing if the file is left alone.
fn output_name(options: &Options, name: &str, progress: &mut Progress) -> Option<String> {
    if options.unpacks() {
        let unpacked = options.unpacked_name(name);
        if unpacked.is_none() && options.writes_files() {
            if !options.recursive && !options.quiet {
                progress.warn(options, &format!("{name}: unknown suffix -- ignored"));
            }
            return None;
        }
        return Some(unpacked.unwrap_or_else(|| name.to_string()));
    }
    if let Some(suffix) = options.known_suffix(name)
        && options.writes_files()
        && !options.force
    {
        if options.verbose || (!options.recursive && !options.quiet) {
            let message = format!("gzip: {name} already has {suffix} suffix -- unchanged\n");
            progress.stderr.push_str(&message);
        }
        return None;
    }
    Some(format!("{name}{}", options.suffix))
}

async fn regular_file(
    ctx: &Context<'_>,
    options: &Options,
    name: &str,
    meta: &Metadata,
    progress: &mut Progress,
) -> Result<()> {
    let Some(mut output) = output_name(options, name, progress) else {
        return Ok(());
    };
    let path = resolve_path(ctx.cwd, name);
    let data = ctx.fs.read_file(&path).await?;
    ctx.consume_budget_input(data.len())?;
    let _lease = ctx.lease_budget_bytes(data.len())?;
    let made = match options.unpacks() {
        true => unpack_checked(ctx, options, name, &data, progress)?,
        false => Some(pack(ctx, options, &data, Some((name, meta)))?),
    };
    let Some(made) = made else {
        return Ok(());
    };
    let work = data.len().max(made.len()).div_ceil(64);
    ctx.consume_budget_work(u64::try_from(work).unwrap_or(u64::MAX))?;
    let frame = Frame::of(if options.unpacks() { &data } else { &made });
    if let (Some(true), true, Some(stored)) = (options.name, options.unpacks(), &frame.name) {
        // Only the last part of a stored name is believed.
        let stored = stored.rsplit('/').next().unwrap_or_default();
        let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
        output = format!("{folder}{stored}");
    }
    if options.list {
        return list(options, progress, &output, &data, &made, seconds(meta));
    }
    let written = match options.writes_files() {
        true => write_file(ctx, options, (&path, meta), &output, &made, progress).await?,
        false => true,
    };
    if options.to_stdout && !options.test {
        progress.stdout.try_extend_from_slice(&made)?;
    }
    if options.verbose && written {
        let (plain, packed) = match options.unpacks() {
            true => (made.len(), data.len()),
            false => (data.len(), made.len()),
        };
        let share = saved(plain, packed, frame.size);
        progress.stderr.push_str(&verbose_line(options, name, &output, &share));
    }
    Ok(())
}

fn verbose_line(options: &Options, name: &str, output: &str, share: &str) -> String {
    if options.test {
        return format!("{name}:\t OK\n");
    }
    match (options.to_stdout, options.keep) {
        (true, _) => format!("{name}:\t{share} -- replaced with stdout\n"),
        (false, true) => format!("{name}:\t{share} -- created {output}\n"),
        (false, false) => format!("{name}:\t{share} -- replaced with {output}\n"),
    }
}

/// Writes a file in place of another one; false if there is one already.
async fn write_file(
    ctx: &Context<'_>,
    options: &Options,
    (input, meta): (&PathBuf, &Metadata),
    output: &str,
    made: &[u8],
    progress: &mut Progress,
) -> Result<bool> {
    let path = resolve_path(ctx.cwd, output);
    if !options.force && ctx.fs.exists(&path).await.unwrap_or(false) {
        let message = format!("gzip: {output} already exists;\tnot overwritten\n");
        progress.stderr.push_str(&message);
        progress.status = if progress.status == 1 { 1 } else { 2 };
        return Ok(false);
    }
    ctx.fs.write_file(&path, made).await?;
    let _ = ctx.fs.chmod(&path, meta.mode).await;
    let _ = ctx.fs.set_modified_time(&path, meta.modified).await;
    if !options.keep {
        ctx.fs.remove(input, false).await?;
    }
    Ok(true)
}

/// Adds a line of `-l`, the first one below a header.
fn list(options: &Options, progress: &mut Progress, name: &str, packed: &[u8], plain: &[u8], time: u64) -> Result<()> {
    let frame = Frame::of(packed);
    if progress.listed == 0 && !options.quiet {
        let details = if options.verbose { "method  crc     date  time  " } else { "" };
        let header = "         compressed        uncompressed  ratio uncompressed_name\n";
        progress.stdout.try_extend_from_slice(details.as_bytes())?;
        progress.stdout.try_extend_from_slice(header.as_bytes())?;
    }
    progress.listed += 1;
    progress.totals.0 += packed.len();
    progress.totals.1 += plain.len();
    progress.totals.2 = frame.size;
    let mut details = String::new();
    if options.verbose {
        let crc = packed.len().checked_sub(TRAILER_SIZE).map(|at| &packed[at..at + 4]);
        let crc: String = crc.into_iter().flatten().rev().map(|b| format!("{b:02x}")).collect();
        let time = if frame.time == 0 { time } else { frame.time };
        let date = crate::commands::date::Date::strftime_nanos(None, i128::from(time) * 1_000_000_000, "%b %e %H:%M");
        details = format!("defla {crc} {} ", date.unwrap_or_default());
    }
    let line = list_line(packed.len(), plain.len(), frame.size, name);
    progress.stdout.try_extend_from_slice(format!("{details}{line}").as_bytes())?;
    Ok(())
}

fn list_line(packed: usize, plain: usize, frame: usize, name: &str) -> String {
    format!("{packed:19} {plain:19} {} {name}\n", saved(plain, packed, frame))
}

/// The last line of a list of several files.
fn list_totals(options: &Options, progress: &mut Progress) -> Result<()> {
    // gzip subtracts one frame only.
    let (packed, plain, frame) = progress.totals;
    let indent = if options.verbose { "                            " } else { "" };
    let line = format!("{indent}{}", list_line(packed, plain, frame, "(totals)"));
    progress.stdout.try_extend_from_slice(line.as_bytes())?;
    Ok(())
}
