//! stat builtin - display file status.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod format;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use async_trait::async_trait;

use self::format::{Spec, decimal, hexadecimal, octal, seconds, signed, take_escape, text};
use crate::commands::clap_answer::clap_answer;
use crate::commands::date::Date;
use crate::commands::file_status::{self, DEVICE, FmtEnv, apparent_size, nanos_of};
use crate::commands::files::{missing, quote};
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::DEFAULT_USERNAME;
use bashkit::builtins::ls::quoting::{QuotingStyle, quote_name};
use bashkit::builtins::resolve_path;
use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::cached_command;
use bashkit::error::{Result, io_error_reason};
use bashkit::fs::{FileType, Metadata};

/// Format of the output if none is given.
const FULL: &str = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n\
    Device: %Hd,%Ld\tInode: %-10i  Links: %h\n\
    Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n\
    Access: %x\nModify: %y\nChange: %z\n Birth: %w";

/// Format of terse output (`-t`).
const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o";

/// The stat builtin - display file status, as GNU does in the C locale. Times are in the zone of
/// `TZ`, or in UTC; that of the last change stands for those of the last access and of the last
/// change of status, which the VFS does not keep.
///
/// Usage: stat [-L] [-t] [-c FORMAT] [--printf FORMAT] FILE...
pub(crate) struct Stat {
    clock: Date,
    username: String,
}

impl Default for Stat {
    fn default() -> Self {
        Self::new(Date::default(), DEFAULT_USERNAME)
    }
}

impl Stat {
    /// Create a stat builtin with the zone of `clock`. `username` owns every file.
    pub(crate) fn new(clock: Date, username: impl Into<String>) -> Self {
        Self { clock, username: username.into() }
    }
}

// Cached `stat` arg surface: pre-built once, cloned per invocation.
// See `builtins::clap_cache` for why it is built, not just constructed.
cached_command!(stat_cmd, bashkit::builtins::generated::stat_args::stat_command().args_override_self(true));

/// Format for each file.
struct Format {
    text: String,
    /// True for a format of `--printf`, in which backslashes are escapes and which adds no line end.
    escapes: bool,
    /// Quoting style of names in `%N`.
    quoting: QuotingStyle,
}

impl Format {
    fn new(matches: &bashkit::clap::ArgMatches) -> Self {
        let given = |id: &str| matches.get_one::<String>(id).cloned();
        let (text, escapes, quoting) = match (given("format"), given("printf")) {
            // The last one has precedence.
            (Some(format), printf) if printf.is_none() || matches.index_of("format") > matches.index_of("printf") => {
                (format, false, QuotingStyle::ShellEscapeAlways)
            }
            (_, Some(format)) => (format, true, QuotingStyle::ShellEscapeAlways),
            _ if matches.get_flag("terse") => (TERSE.to_string(), false, QuotingStyle::Literal),
            _ => (FULL.to_string(), false, QuotingStyle::Literal),
        };
        Self { text, escapes, quoting }
    }
}

#[async_trait]
impl Builtin for Stat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let argv: Vec<OsString> =
            std::iter::once(OsString::from("stat")).chain(ctx.args.iter().map(OsString::from)).collect();
        let matches = match stat_cmd().try_get_matches_from(argv) {
            Ok(m) => m,
            Err(error) => return Ok(clap_answer("stat", &error, 1)),
        };
        // The VFS has no block statistics of mounts.
        if matches.get_flag("file-system") {
            return Ok(ExecResult::err("stat: the option '--file-system' is not available\n".to_owned(), 1));
        }
        let format = Format::new(&matches);
        let env = FmtEnv { clock: self.clock, tz: ctx.env.get("TZ").cloned(), username: self.username.clone() };
        let follow = matches.get_flag("dereference");
        let mut output = String::new();
        let mut errors = PlacedMessages::new();
        for name in matches.get_many::<OsString>("files").into_iter().flatten() {
            let name = name.to_string_lossy();
            ctx.consume_budget_work(1)?;
            match Status::of(&ctx, &name, follow, &env).await {
                Ok(status) => status.print(&format, &mut output),
                Err(error) => {
                    let message = format!("stat: cannot statx {}: {}\n", quote(&name), io_error_reason(&error));
                    errors.push(&message, output.len());
                }
            }
        }
        Ok(ExecResult {
            exit_code: i32::from(!errors.is_empty()),
            stderr: errors.beside_text(&output),
            stdout: output.into(),
            ..Default::default()
        })
    }
}

/// Status of a file, for the directives of a format.
struct Status<'a> {
    name: &'a str,
    meta: Metadata,
    target: Option<String>,
    inode: u64,
    links: u64,
    env: &'a FmtEnv,
}

impl<'a> Status<'a> {
    async fn of(ctx: &Context<'_>, name: &'a str, follow: bool, env: &'a FmtEnv) -> Result<Self> {
        if name.is_empty() {
            return Err(missing());
        }
        let fs = ctx.fs.as_ref();
        let path = resolve_path(ctx.cwd, name);
        let is_directory = name.ends_with('/');
        let follow = follow || is_directory;
        let meta = if follow { fs.stat(&path).await? } else { fs.lstat(&path).await? };
        if is_directory && !meta.file_type.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::NotADirectory).into());
        }
        let target = if meta.file_type.is_symlink() { fs.read_link(&path).await.ok() } else { None };
        Ok(Self {
            name,
            target: target.map(|target| target.to_string_lossy().into_owned()),
            inode: file_status::inode(&bashkit::builtins::place(fs, &path, follow).await),
            links: file_status::links(fs, &path, &meta).await,
            meta,
            env,
        })
    }

    fn print(&self, format: &Format, out: &mut String) {
        let mut rest = format.text.as_str();
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '%' => self.directive(&mut rest, format.quoting, out),
                '\\' if format.escapes => take_escape(&mut rest, out),
                _ => out.push(c),
            }
        }
        if !format.escapes {
            out.push('\n');
        }
    }

    /// Writes the value of a directive, after the `%`.
    fn directive(&self, rest: &mut &str, quoting: QuotingStyle, out: &mut String) {
        let spec = Spec::take(rest);
        // For a device, the major or the minor number.
        let half = rest.chars().next().filter(|c| matches!(c, 'H' | 'L'));
        let letters = &rest[usize::from(half.is_some())..];
        let Some(letter) = letters.chars().next() else {
            out.push('%');
            return;
        };
        if half.is_some() && !matches!(letter, 'd' | 'r') {
            *rest = &rest[1..];
            out.push('?');
            return;
        }
        *rest = &letters[letter.len_utf8()..];
        if letter == 'N' {
            out.push_str(&text(&self.quoted(quoting), &spec));
        } else {
            out.push_str(&self.value(half, letter, &spec));
        }
    }

    fn value(&self, half: Option<char>, letter: char, spec: &Spec) -> String {
        let meta = &self.meta;
        let mode = meta.mode & 0o7777;
        let time = |letter: char| match letter {
            'w' | 'W' => nanos_of(meta.created),
            _ => nanos_of(meta.modified),
        };
        match letter {
            '%' => "%".to_string(),
            'n' => text(self.name, spec),
            'F' => text(self.kind(), spec),
            'A' => text(&file_status::mode_string(meta), spec),
            'a' => octal(mode, spec),
            'f' => hexadecimal(u64::from(type_bits(meta.file_type) | mode), spec),
            's' => signed(apparent_size(meta), spec),
            'b' => decimal(file_status::blocks(meta), spec),
            'B' => decimal(512, spec),
            'o' => decimal(4096, spec),
            'i' => decimal(self.inode, spec),
            'h' => decimal(self.links, spec),
            'u' => decimal(u64::from(SANDBOX_UID), spec),
            'g' => decimal(u64::from(SANDBOX_GID), spec),
            'U' | 'G' => text(&self.env.username, spec),
            'm' => text("/", spec),
            'd' => decimal(device(half, DEVICE), spec),
            'D' => hexadecimal(DEVICE, spec),
            // There are no device files.
            'r' => decimal(0, spec),
            'R' | 't' | 'T' => hexadecimal(0, spec),
            'w' | 'x' | 'y' | 'z' => {
                let full = "%Y-%m-%d %H:%M:%S.%N %z";
                text(&self.env.strftime(time(letter), full), spec)
            }
            'W' | 'X' | 'Y' | 'Z' => seconds(time(letter), spec),
            // This includes `%C`: there are no security contexts.
            _ => "?".to_string(),
        }
    }

    fn quoted(&self, quoting: QuotingStyle) -> String {
        let quote = |name| quote_name(name, quoting);
        match &self.target {
            Some(target) => format!("{} -> {}", quote(self.name), quote(target)),
            None => quote(self.name).into_owned(),
        }
    }

    fn kind(&self) -> &'static str {
        match self.meta.file_type {
            FileType::File if self.meta.size == 0 => "regular empty file",
            FileType::File => "regular file",
            FileType::Directory => "directory",
            FileType::Symlink => "symbolic link",
            FileType::Fifo => "fifo",
        }
    }
}

/// Returns the bits `S_IFMT` of `st_mode`.
fn type_bits(file_type: FileType) -> u32 {
    match file_type {
        FileType::File => 0o100_000,
        FileType::Directory => 0o040_000,
        FileType::Symlink => 0o120_000,
        FileType::Fifo => 0o010_000,
    }
}

/// Returns the number of a device, or its major or minor part. The numbers are small.
fn device(half: Option<char>, number: u64) -> u64 {
    match half {
        Some('H') => number >> 8,
        Some(_) => number & 0xff,
        None => number,
    }
}
