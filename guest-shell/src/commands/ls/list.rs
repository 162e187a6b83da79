//! ls builtin - list directory contents.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::file::File;
use super::options::{Follow, Format, Hidden, Options, Sort, unknown_word};
use super::print::Printer;
use super::sort::sort;
use crate::commands::clap_answer::clap_answer;
use crate::commands::date::Date;
use crate::commands::file_status::{self, FmtEnv};
use crate::commands::files::quote;
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::DEFAULT_USERNAME;
use bashkit::builtins::clap_env::apply_env_defaults;
use bashkit::builtins::generated::ls_args::LS_ENV_DEFAULTS;
use bashkit::builtins::ls::glob::fnmatch;
use bashkit::builtins::resolve_path;
use bashkit::cached_command;
use bashkit::error::{Error, Result, io_error_reason};
use bashkit::fs::{Metadata, vfs_join};

/// The ls builtin - list directory contents, as GNU does in the C locale when its output is not a terminal. Dates are
/// in the zone of `TZ`, or in UTC.
///
/// Usage: ls [OPTION]... [FILE]...
pub(crate) struct Ls {
    clock: Date,
    username: String,
}

impl Default for Ls {
    fn default() -> Self {
        Self::new(Date::default(), DEFAULT_USERNAME)
    }
}

impl Ls {
    /// Create an ls builtin that reads the time from `clock`. `username` owns every file.
    pub(crate) fn new(clock: Date, username: impl Into<String>) -> Self {
        Self { clock, username: username.into() }
    }
}

// Cached `ls` arg surface: pre-built once, cloned per invocation.
// See `builtins::clap_cache` for why it is built, not just constructed.
cached_command!(ls_cmd, bashkit::builtins::generated::ls_args::ls_command());

/// Terminals that have colours, as far as `ls` knows, by the beginnings of their names.
const COLOUR_TERMINALS: [&str; 20] = [
    "Eterm",
    "ansi",
    "con",
    "cygwin",
    "dtterm",
    "gnome",
    "hurd",
    "jfbterm",
    "konsole",
    "kterm",
    "linux",
    "mlterm",
    "putty",
    "rxvt",
    "screen",
    "st",
    "terminator",
    "tmux",
    "vt100",
    "xterm",
];

/// Returns true if the environment names colours, or a terminal that has some.
fn has_colours(env: &HashMap<String, String>) -> bool {
    let value = |name: &str| env.get(name).filter(|value| !value.is_empty());
    let is_known = |terminal: &String| {
        let known = COLOUR_TERMINALS.iter().any(|name| terminal.starts_with(name));
        known || terminal.contains("color") || terminal.contains("direct")
    };
    value("LS_COLORS").is_some() || value("COLORTERM").is_some() || value("TERM").is_some_and(is_known)
}

#[async_trait]
impl Builtin for Ls {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        // clap expects argv[0] = program name; bashkit's ctx.args excludes it.
        let argv: Vec<OsString> =
            std::iter::once(OsString::from("ls")).chain(ctx.args.iter().map(OsString::from)).collect();
        // The environment is the sandbox's, never the host's (TM-INF-024).
        let argv = apply_env_defaults(argv, LS_ENV_DEFAULTS, ctx.env);
        let matches = match ls_cmd().try_get_matches_from(argv) {
            Ok(m) => m,
            Err(error) => return Ok(clap_answer("ls", &error, 2)),
        };
        if let Some(message) = unknown_word(&matches) {
            return Ok(ExecResult::err(message, 1));
        }
        let columns = ctx.env.get("COLUMNS").and_then(|text| text.parse().ok());
        let opts = match Options::new(&matches, columns, has_colours(ctx.env)) {
            Ok(opts) => opts,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        let mut operands: Vec<String> = matches
            .get_many::<OsString>("paths")
            .map(|vs| vs.map(|v| v.to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        if operands.is_empty() {
            operands.push(".".to_string());
        }
        let env = FmtEnv { clock: self.clock, tz: ctx.env.get("TZ").cloned(), username: self.username.clone() };
        let mut lister = Lister {
            ctx: &ctx,
            opts: &opts,
            printer: Printer::new(&opts, env),
            errors: PlacedMessages::new(),
            status: 0,
        };
        lister.list(&operands).await?;
        Ok(ExecResult {
            stderr: lister.errors.beside_text(&lister.printer.out),
            stdout: lister.printer.out.into(),
            exit_code: lister.status,
            ..Default::default()
        })
    }
}

/// Directory that is not listed yet.
struct Pending {
    name: String,
    path: PathBuf,
    /// Nesting depth below the listed operand.
    depth: usize,
}

struct Lister<'a> {
    ctx: &'a Context<'a>,
    opts: &'a Options,
    printer: Printer<'a>,
    errors: PlacedMessages,
    status: i32,
}

impl Lister<'_> {
    /// Reports an error about a file. The status is 2 for an operand, and 1 for a file in a directory.
    fn complain(&mut self, what: &str, name: &str, error: &Error, status: i32) {
        let reason = io_error_reason(error);
        self.errors.push(&format!("ls: {what} {}: {reason}\n", quote(name)), self.printer.out.len());
        self.status = self.status.max(status);
    }

    async fn list(&mut self, operands: &[String]) -> Result<()> {
        let mut files = Vec::new();
        for operand in operands {
            self.ctx.consume_budget_work(1)?;
            match self.operand(operand).await {
                Ok(file) => files.push(file),
                Err(error) => self.complain("cannot access", operand, &error, 2),
            }
        }
        sort(&mut files, self.opts);
        let widths = self.printer.widths(&files);
        let (directories, files): (Vec<File>, Vec<File>) =
            files.into_iter().partition(|file| file.is_directory() && !self.opts.directory);
        self.printer.listing(&files, &widths);
        let headers = self.opts.recursive || operands.len() > 1;
        let mut pending: Vec<Pending> =
            directories.into_iter().rev().map(|file| Pending { name: file.name, path: file.path, depth: 0 }).collect();
        // Ancestors of the current directory, with links resolved.
        let mut above: Vec<PathBuf> = Vec::new();
        while let Some(directory) = pending.pop() {
            above.truncate(directory.depth);
            let place = bashkit::builtins::place(self.ctx.fs.as_ref(), &directory.path, true).await;
            if above.contains(&place) {
                let message = format!("ls: {}: not listing already-listed directory\n", directory.name);
                self.errors.push(&message, self.printer.out.len());
                self.status = 2;
                continue;
            }
            let found = self.directory(&directory, &place, headers).await?;
            above.push(place);
            pending.extend(found.into_iter().rev());
        }
        Ok(())
    }

    async fn operand(&self, name: &str) -> Result<File> {
        if name.is_empty() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "No such file or directory").into());
        }
        let fs = self.ctx.fs.as_ref();
        let path = resolve_path(self.ctx.cwd, name);
        let own = fs.lstat(&path).await?;
        let is_directory = name.ends_with('/');
        let follow = own.file_type.is_symlink()
            && (is_directory
                || match self.opts.follow {
                    Follow::Never => false,
                    Follow::OperandsToDirectories => fs.stat(&path).await.is_ok_and(|meta| meta.file_type.is_dir()),
                    Follow::Operands | Follow::Always => true,
                });
        let meta = if follow { fs.stat(&path).await? } else { own };
        if is_directory && !meta.file_type.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::NotADirectory).into());
        }
        let place = bashkit::builtins::place(fs, &path, follow).await;
        Ok(self.file(name.to_string(), path, &place, Some(meta)).await)
    }

    /// Returns the description of a file. `place` is the resolved `path`, for the inode.
    async fn file(&self, name: String, path: PathBuf, place: &Path, meta: Option<Metadata>) -> File {
        let fs = self.ctx.fs.as_ref();
        let long = self.opts.format == Format::Long;
        let mut file =
            File { name, meta, target: None, target_meta: None, links: 1, inode: file_status::inode(place), path };
        let Some(meta) = &file.meta else {
            return file;
        };
        if long {
            file.links = file_status::links(fs, &file.path, meta).await;
        }
        if meta.file_type.is_symlink() && (long || self.opts.needs_targets()) {
            let target = fs.read_link(&file.path).await.ok();
            file.target = target.map(|target| target.to_string_lossy().into_owned());
            if self.opts.needs_targets() {
                file.target_meta = fs.stat(&file.path).await.ok();
            }
        }
        file
    }

    fn is_listed(&self, name: &str) -> bool {
        let dotted = name.starts_with('.');
        if dotted && self.opts.hidden == Hidden::None {
            return false;
        }
        // Only a dot matches a dot at the beginning.
        !self.opts.ignore.iter().any(|pattern| (!dotted || pattern.starts_with('.')) && fnmatch(name, pattern, false))
    }

    /// Returns the entries of a directory, in the order of the listing.
    async fn entries(&mut self, directory: &Pending, place: &Path) -> Result<Option<Vec<File>>> {
        let fs = self.ctx.fs.clone();
        let entries = match fs.read_dir(&directory.path).await {
            Ok(entries) => entries,
            Err(error) => {
                let status = if directory.depth == 0 { 2 } else { 1 };
                self.complain("cannot open directory", &directory.name, &error, status);
                return Ok(None);
            }
        };
        self.ctx.consume_budget_work(u64::try_from(entries.len()).unwrap_or(u64::MAX))?;
        let mut files = Vec::new();
        if self.opts.hidden == Hidden::All {
            let parent = place.parent().unwrap_or(place);
            for (name, path) in [(".", place), ("..", parent)] {
                if self.is_listed(name) {
                    let meta = fs.stat(path).await.ok();
                    files.push(self.file(name.to_string(), path.to_path_buf(), path, meta).await);
                }
            }
        }
        for entry in entries {
            if !self.is_listed(&entry.name) {
                continue;
            }
            let path = vfs_join(&directory.path, &entry.name);
            let mut own_place = vfs_join(place, &entry.name);
            let mut meta = Some(entry.metadata);
            if self.opts.follow == Follow::Always && meta.as_ref().is_some_and(|meta| meta.file_type.is_symlink()) {
                match fs.stat(&path).await {
                    Ok(found) => {
                        own_place = bashkit::builtins::place(fs.as_ref(), &path, true).await;
                        meta = Some(found);
                    }
                    Err(_) if !self.needs_status() => {}
                    Err(error) => {
                        let name = match directory.name.as_str() {
                            "." => entry.name.clone(),
                            above => joined(above, &entry.name),
                        };
                        self.complain("cannot access", &name, &error, 1);
                        meta = None;
                    }
                }
            }
            files.push(self.file(entry.name, path, &own_place, meta).await);
        }
        sort(&mut files, self.opts);
        Ok(Some(files))
    }

    /// Returns true if the listing requires more than names.
    fn needs_status(&self) -> bool {
        let opts = self.opts;
        opts.format == Format::Long
            || opts.inode
            || opts.blocks
            || opts.recursive
            || opts.colour
            || opts.needs_targets()
            || matches!(opts.sort, Sort::Size | Sort::Time)
    }

    /// Lists a directory, and returns the directories in it that are listed next.
    async fn directory(&mut self, directory: &Pending, place: &Path, header: bool) -> Result<Vec<Pending>> {
        let Some(files) = self.entries(directory, place).await? else {
            return Ok(Vec::new());
        };
        if header {
            self.printer.header(&directory.name);
        }
        self.printer.total(&files);
        let widths = self.printer.widths(&files);
        self.printer.listing(&files, &widths);
        if !self.opts.recursive {
            return Ok(Vec::new());
        }
        let found = files.into_iter().filter(|file| file.is_directory() && file.name != "." && file.name != "..");
        Ok(found
            .map(|file| Pending {
                name: joined(&directory.name, &file.name),
                path: file.path,
                depth: directory.depth + 1,
            })
            .collect())
    }
}

fn joined(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}
