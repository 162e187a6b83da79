//! `xz`, `unxz`, `xzcat` and `lzma`, `unlzma`, `lzcat`, as XZ Utils 5.4 has them.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`codec`] | compression and decompression |
//! | [`index`] | sizes that the index of a file tells, for `xz -l` |
//! | [`list`] | table of `xz -l` |
//!
//! A file is compressed by one thread, with a window of at most 8 MiB, so that memory stays within that of a script.

pub(super) mod codec;
mod index;
mod list;
mod options;
#[cfg(test)]
mod tests;

use std::path::Path;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::limits::BudgetedBytes;
use bashkit::{ExecResult, Result};

use self::codec::{XzFormat, data_problem};
use self::list::ListTable;
use self::options::{XzOptions, XzTask};
use crate::commands::budget::{archive_io_error, budgeted_bytes, consume_pass, with_execution_budget};
use crate::commands::operands::file_error_reason;

const HELP: &str = "\
Usage: xz [OPTION]... [FILE]...
Compress or decompress FILEs in the .xz format.

  -z, --compress      force compression
  -d, --decompress    force decompression
  -t, --test          test compressed file integrity
  -l, --list          list information about .xz files
  -k, --keep          keep (don't delete) input files
  -f, --force         force overwrite of output file
  -c, --stdout        write to standard output and don't delete input files
  -0 ... -9           compression preset; default is 6
  -F, --format=FMT    xz, lzma or auto
  -C, --check=CHECK   none, crc32, crc64 or sha256
  -S, --suffix=.SUF   use the suffix '.SUF' on compressed files
  -q, --quiet         suppress warnings; specify twice to suppress errors too
  -v, --verbose       be verbose
  -Q, --no-warn       make warnings not affect the exit status
  -T, --threads=NUM   accepted, and without effect
  -h, --help          display this help and exit
  -V, --version       display the version number and exit

With no FILE, or when FILE is -, read standard input.
";

const VERSION: &str = "xz (XZ Utils) 5.4.1\nliblzma 5.4.1";

/// Status of warnings without errors.
const WARNING: i32 = 2;

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "(stdin)";

/// Command of the family of `xz`.
pub(crate) struct Xz {
    command: &'static str,
    task: XzTask,
    to_stdout: bool,
    format: Option<XzFormat>,
}

impl Xz {
    /// Returns all commands of the family.
    pub(crate) fn family() -> [Self; 6] {
        let lzma = Some(XzFormat::Lzma);
        [
            Self { command: "xz", task: XzTask::Compress, to_stdout: false, format: None },
            Self { command: "unxz", task: XzTask::Decompress, to_stdout: false, format: None },
            Self { command: "xzcat", task: XzTask::Decompress, to_stdout: true, format: None },
            Self { command: "lzma", task: XzTask::Compress, to_stdout: false, format: lzma },
            Self { command: "unlzma", task: XzTask::Decompress, to_stdout: false, format: lzma },
            Self { command: "lzcat", task: XzTask::Decompress, to_stdout: true, format: lzma },
        ]
    }

    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &'static str {
        self.command
    }
}

#[async_trait]
impl Builtin for Xz {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let is_short = |word: &String, letter: char| word.len() == 2 && word.starts_with('-') && word.ends_with(letter);
        if ctx.args.first().is_some_and(|word| is_short(word, 'h') || is_short(word, 'H')) {
            return Ok(ExecResult::ok(HELP));
        }
        if ctx.args.first().is_some_and(|word| is_short(word, 'V')) {
            return Ok(ExecResult::ok(format!("{VERSION}\n")));
        }
        if let Some(result) = check_help_version(ctx.args, HELP, Some(VERSION)) {
            return Ok(result);
        }
        let defaults = (self.task, self.to_stdout, self.format);
        let (options, files) = match XzOptions::parse(self.command, ctx.args, defaults) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let files = if files.is_empty() { vec!["-".to_owned()] } else { files };
        let output = budgeted_bytes(&ctx)?;
        let table = ListTable::default();
        let mut call =
            XzCall { ctx: &ctx, command: self.command, options, output, table, messages: String::new(), status: 0 };
        for file in &files {
            call.operand(file).await?;
        }
        Ok(call.finish(files.len()))
    }
}

/// Call of `xz`, with its options and its result so far.
struct XzCall<'a> {
    ctx: &'a Context<'a>,
    command: &'static str,
    options: XzOptions,
    output: BudgetedBytes,
    table: ListTable,
    messages: String,
    status: i32,
}

impl XzCall<'_> {
    fn finish(mut self, operands: usize) -> ExecResult {
        let table = if self.options.task == XzTask::List { self.table.render(operands) } else { String::new() };
        let (mut output, _lease) = self.output.into_parts();
        output.extend_from_slice(table.as_bytes());
        if self.status == WARNING && self.options.ignores_warnings {
            self.status = 0;
        }
        ExecResult { stderr: self.messages.into(), exit_code: self.status, ..ExecResult::ok_bytes(output) }
    }

    fn fail(&mut self, name: &str, reason: &str) {
        if self.options.quietness < 2 {
            self.messages.push_str(&format!("{}: {name}: {reason}\n", self.command));
        }
        self.status = 1;
    }

    fn warn(&mut self, name: &str, reason: &str) {
        if self.options.quietness < 1 {
            self.messages.push_str(&format!("{}: {name}: {reason}\n", self.command));
        }
        if self.status == 0 {
            self.status = WARNING;
        }
    }

    async fn operand(&mut self, file: &str) -> Result<()> {
        if file == "-" {
            return self.standard_input().await;
        }
        let path = resolve_path(self.ctx.cwd, file);
        let status = match self.ctx.fs.lstat(&path).await {
            Ok(status) => status,
            Err(error) => {
                self.fail(file, &file_error_reason(error)?);
                return Ok(());
            }
        };
        if status.file_type.is_dir() {
            self.warn(file, "Is a directory, skipping");
            return Ok(());
        }
        if status.file_type.is_symlink() && self.options.writes_files() && !self.options.forces {
            self.warn(file, "Is a symbolic link, skipping");
            return Ok(());
        }
        let input = match self.ctx.fs.read_file(&path).await {
            Ok(input) => input,
            Err(error) => {
                self.fail(file, &file_error_reason(error)?);
                return Ok(());
            }
        };
        self.ctx.consume_budget_input(input.len())?;
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        // Data in another format counts more than the name.
        let is_unknown = self.options.task == XzTask::Decompress && XzFormat::detect(&input).is_none();
        let name = match self.output_name(file) {
            Ok(name) => name,
            Err(_) if is_unknown => None,
            Err(reason) => {
                self.warn(file, &reason);
                return Ok(());
            }
        };
        let Some(output) = self.transform(&input, file)? else { return Ok(()) };
        match name {
            Some(name) => self.replace(file, &path, &name, &output).await?,
            None => self.output.try_extend_from_slice(&output)?,
        }
        self.tell_sizes(file, &input, output.len());
        Ok(())
    }

    async fn standard_input(&mut self) -> Result<()> {
        if self.options.task == XzTask::List {
            self.messages.push_str(&format!("{}: --list does not support reading from standard input\n", self.command));
            self.status = 1;
            return Ok(());
        }
        let input = self.ctx.stdin_to_end().await?;
        let input = input.as_bytes();
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        if let Some(output) = self.transform(input, STANDARD_INPUT)? {
            self.output.try_extend_from_slice(&output)?;
            self.tell_sizes(STANDARD_INPUT, input, output.len());
        }
        Ok(())
    }

    /// Returns the name of what is made of a file, or none if it goes to standard output or nowhere. The error is a
    /// warning.
    fn output_name(&self, file: &str) -> std::result::Result<Option<String>, String> {
        if !self.options.writes_files() {
            return Ok(None);
        }
        let own = self.options.suffix.as_deref();
        if self.options.task == XzTask::Compress {
            let (usual, known): (&str, &[&str]) = match self.options.written_format() {
                XzFormat::Xz => (".xz", &[".xz", ".txz"]),
                XzFormat::Lzma => (".lzma", &[".lzma", ".tlz"]),
            };
            if let Some(suffix) = own.iter().chain(known).find(|suffix| has_suffix(file, suffix)) {
                return Err(format!("File already has `{suffix}' suffix, skipping"));
            }
            return Ok(Some(format!("{file}{}", own.unwrap_or(usual))));
        }
        let known = [(".xz", ""), (".txz", ".tar"), (".lzma", ""), (".tlz", ".tar")];
        let suffixes = own.map(|suffix| (suffix, "")).into_iter().chain(known);
        let found = suffixes.into_iter().find(|(suffix, _)| has_suffix(file, suffix));
        let (suffix, end) = found.ok_or("Filename has an unknown suffix, skipping")?;
        Ok(Some(format!("{}{end}", &file[..file.len() - suffix.len()])))
    }

    /// Compresses or decompresses data. Returns nothing if nothing is to be written, or after a message.
    fn transform(&mut self, input: &[u8], name: &str) -> Result<Option<BudgetedBytes>> {
        let (task, level, check) = (self.options.task, self.options.level, self.options.check);
        if task == XzTask::List {
            match index::sizes(input) {
                Some(sizes) => self.table.add(name, sizes),
                None if input.len() < 2 * index::HEADER_SIZE => self.fail(name, "Too small to be a valid .xz file"),
                None => self.fail(name, "File format not recognized"),
            }
            return Ok(None);
        }
        let format = match task {
            XzTask::Compress => self.options.written_format(),
            _ => match XzFormat::detect(input).filter(|found| self.options.format.is_none_or(|only| only == *found)) {
                Some(format) => format,
                // `xzcat -f` copies data that is not compressed.
                None if task == XzTask::Decompress && self.options.forces && self.options.to_stdout => {
                    self.output.try_extend_from_slice(input)?;
                    return Ok(None);
                }
                None => {
                    self.fail(name, "File format not recognized");
                    return Ok(None);
                }
            },
        };
        let max_size = self.ctx.fs.limits().max_file_size;
        let made = with_execution_budget(self.ctx, |budget| {
            Ok(match task {
                XzTask::Compress => format.compress(input, level, check, budget),
                _ => format.decompress(input, max_size, budget),
            })
        })?;
        let output = match made {
            Ok(output) => output,
            Err(error) => {
                let Some(problem) = data_problem(&error) else {
                    return Err(archive_io_error(&format!("{}: {name}", self.command), error));
                };
                self.fail(name, problem);
                return Ok(None);
            }
        };
        self.ctx.consume_budget_input(output.len())?;
        consume_pass(self.ctx, input.len().max(output.len()))?;
        if task == XzTask::Test {
            self.tell_sizes(name, input, output.len());
            return Ok(None);
        }
        Ok(Some(output))
    }

    /// Writes the output beside a file, and removes the file unless it is kept.
    async fn replace(&mut self, file: &str, path: &Path, name: &str, output: &[u8]) -> Result<()> {
        let target = resolve_path(self.ctx.cwd, name);
        if !self.options.forces && self.ctx.fs.exists(&target).await.unwrap_or(false) {
            self.fail(name, "File exists");
            return Ok(());
        }
        if let Err(error) = self.ctx.fs.write_file(&target, output).await {
            self.fail(name, &file_error_reason(error)?);
            return Ok(());
        }
        if let Ok(status) = self.ctx.fs.stat(path).await {
            // As in xz, a file system without modes and times is no failure.
            let _ = self.ctx.fs.chmod(&target, status.mode).await;
            let _ = self.ctx.fs.set_modified_time(&target, status.modified).await;
        }
        if !self.options.keeps
            && let Err(error) = self.ctx.fs.remove(path, false).await
        {
            self.warn(file, &format!("Cannot remove: {}", file_error_reason(error)?));
        }
        Ok(())
    }

    /// Tells the sizes with `-v`.
    fn tell_sizes(&mut self, name: &str, input: &[u8], output: usize) {
        if !self.options.is_verbose {
            return;
        }
        let (packed, plain) = match self.options.task {
            XzTask::Compress => (output, input.len()),
            _ => (input.len(), output),
        };
        let ratio = match list::ratio(packed, plain) {
            Some(ratio) => format!("= {ratio}"),
            None => "> 9.999".to_owned(),
        };
        let line = format!("{name}: {} / {} {ratio}\n", list::size(packed), list::size(plain));
        self.messages.push_str(&line);
    }
}

fn has_suffix(file: &str, suffix: &str) -> bool {
    file.strip_suffix(suffix).is_some_and(|stem| !stem.is_empty() && !stem.ends_with('/'))
}
