//! `zstd`, `unzstd` and `zstdcat`, as zstd 1.5.4 has them.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`codec`] | compression and decompression |
//!
//! Data is compressed at one level, which is like zstd's first one, whatever level is asked for.

pub(super) mod codec;
mod options;
#[cfg(test)]
mod tests;

use std::path::Path;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, resolve_path};
use bashkit::limits::BudgetedBytes;
use bashkit::{ExecResult, Result};

use self::codec::{ZSTD_MAGIC, compress, data_problem, decompress};
use self::options::{ZstdOptions, ZstdTask};
use crate::commands::budget::{archive_io_error, budgeted_bytes, consume_pass, with_execution_budget};
use crate::commands::operands::file_error_reason;

const HELP: &str = "\
Compress or decompress the INPUT file(s); reads from STDIN if INPUT is `-` or not provided.

Usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]

Options:
  -o OUTPUT                     Write output to a single file, OUTPUT.
  -k, --keep                    Preserve INPUT file(s). [Default]
  --rm                          Remove INPUT file(s) after successful (de)compression.

  -#                            Accepted; there is one level, which is like -1.

  -d, --decompress              Perform decompression.
  -t, --test                    Test compressed file integrity.
  -c, --stdout                  Write to STDOUT and keep the INPUT file(s).
  -f, --force                   Overwrite existing files; with -dc, copy data in other formats.
  -q, --quiet                   Suppress what is told of each file.

  -h                            Display usage and exit.
  -V, --version                 Display the program version and exit.

";

const VERSION: &str = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***\n";

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "/*stdin*\\";

/// Suffixes of compressed files, with those of what is in them.
const SUFFIXES: [(&str, &str); 2] = [(".zst", ""), (".tzst", ".tar")];

/// Command of the family of `zstd`.
pub(crate) struct Zstd {
    command: &'static str,
    task: ZstdTask,
    to_stdout: bool,
}

impl Zstd {
    /// Returns all commands of the family.
    pub(crate) fn family() -> [Self; 4] {
        [
            Self { command: "zstd", task: ZstdTask::Compress, to_stdout: false },
            Self { command: "zstdmt", task: ZstdTask::Compress, to_stdout: false },
            Self { command: "unzstd", task: ZstdTask::Decompress, to_stdout: false },
            Self { command: "zstdcat", task: ZstdTask::Decompress, to_stdout: true },
        ]
    }

    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &'static str {
        self.command
    }
}

#[async_trait]
impl Builtin for Zstd {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let mut options = ZstdOptions::new(self.task, self.to_stdout);
        if let Err(result) = options.parse(ctx.args) {
            return Ok(result);
        }
        if options.files.is_empty() {
            options.files.push("-".to_owned());
        }
        let output = budgeted_bytes(&ctx)?;
        let mut call =
            ZstdCall { ctx: &ctx, options, output, messages: String::new(), status: 0, sums: Sums::default() };
        for file in std::mem::take(&mut call.options.files) {
            call.operand(&file).await?;
        }
        call.finish().await
    }
}

/// Sums over the files of one call.
#[derive(Default)]
struct Sums {
    files: usize,
    input: usize,
    output: usize,
    last_line: String,
}

/// Call of `zstd`, with its options and its result so far.
struct ZstdCall<'a> {
    ctx: &'a Context<'a>,
    options: ZstdOptions,
    output: BudgetedBytes,
    messages: String,
    status: i32,
    sums: Sums,
}

impl ZstdCall<'_> {
    async fn finish(mut self) -> Result<ExecResult> {
        if let Some(name) = self.options.output.take()
            && self.sums.files > 0
        {
            let output = std::mem::replace(&mut self.output, budgeted_bytes(self.ctx)?);
            self.write_file(&name, &output).await?;
        }
        let says_sums = !self.options.is_quiet && (!self.options.to_stdout || self.options.task == ZstdTask::Test);
        match self.sums.files {
            0 => {}
            1 if says_sums => self.messages.push_str(&self.sums.last_line),
            _ if says_sums => self.messages.push_str(&self.sums.line(self.options.task)),
            _ => {}
        }
        let (output, _lease) = self.output.into_parts();
        Ok(ExecResult { stderr: self.messages.into(), exit_code: self.status, ..ExecResult::ok_bytes(output) })
    }

    fn fail(&mut self, message: &str) {
        self.messages.push_str(message);
        self.status = 1;
    }

    async fn operand(&mut self, file: &str) -> Result<()> {
        if file == "-" {
            return self.standard_input().await;
        }
        let path = resolve_path(self.ctx.cwd, file);
        match self.ctx.fs.stat(&path).await {
            Ok(status) if status.file_type.is_dir() => {
                self.fail(&format!("zstd: {file} is a directory -- ignored \n"));
                return Ok(());
            }
            Ok(_) => {}
            Err(error) => {
                let reason = file_error_reason(error)?;
                self.fail(&format!("zstd: can't stat {file} : {reason} -- ignored \n"));
                return Ok(());
            }
        }
        let Some(name) = self.output_name(file) else { return Ok(()) };
        let input = match self.ctx.fs.read_file(&path).await {
            Ok(input) => input,
            Err(error) => {
                let reason = file_error_reason(error)?;
                self.fail(&format!("zstd: {file}: {reason}\n"));
                return Ok(());
            }
        };
        self.ctx.consume_budget_input(input.len())?;
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        let Some(output) = self.transform(&input, file)? else { return Ok(()) };
        let target = name.as_deref().or(self.options.output.as_deref()).unwrap_or(file);
        let line = line_about_file(self.options.task, file, target, input.len(), output.len());
        match &name {
            _ if self.options.task == ZstdTask::Test => {}
            Some(name) => {
                if !self.write_file(name, &output).await? {
                    return Ok(());
                }
                self.remove(&path, file).await?;
            }
            None => self.output.try_extend_from_slice(&output)?,
        }
        self.sums.add(line, input.len(), output.len());
        Ok(())
    }

    async fn standard_input(&mut self) -> Result<()> {
        let input = self.ctx.stdin_to_end().await?;
        let input = input.as_bytes();
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        if let Some(output) = self.transform(input, STANDARD_INPUT)? {
            let target = self.options.output.as_deref().unwrap_or("/*stdout*\\");
            let line = line_about_file(self.options.task, STANDARD_INPUT, target, input.len(), output.len());
            if self.options.task != ZstdTask::Test {
                self.output.try_extend_from_slice(&output)?;
            }
            self.sums.add(line, input.len(), output.len());
        }
        Ok(())
    }

    /// Returns the name of what is made of a file, or none if it goes to the common output. Nothing, after a message, for
    /// a file whose name has no suffix.
    fn output_name(&mut self, file: &str) -> Option<Option<String>> {
        if self.options.to_stdout || self.options.output.is_some() || self.options.task == ZstdTask::Test {
            return Some(None);
        }
        if self.options.task == ZstdTask::Compress {
            return Some(Some(format!("{file}.zst")));
        }
        let stem = SUFFIXES.iter().find_map(|(suffix, end)| Some(format!("{}{end}", file.strip_suffix(suffix)?)));
        if stem.is_none() {
            self.fail(&format!(
                "zstd: {file}: unknown suffix (.zst/.tzst expected). Can't derive the output file name. Specify it with \
                 -o dstFileName. Ignoring.\n"
            ));
        }
        stem.map(Some)
    }

    /// Compresses or decompresses data. Returns nothing after a message.
    fn transform(&mut self, input: &[u8], name: &str) -> Result<Option<BudgetedBytes>> {
        let task = self.options.task;
        let is_skippable = input.len() >= 4 && input[0] & 0xF0 == 0x50 && input[1..4] == [0x2A, 0x4D, 0x18];
        if task != ZstdTask::Compress && !input.starts_with(ZSTD_MAGIC) && !is_skippable {
            if self.options.passes_through && task == ZstdTask::Decompress {
                self.output.try_extend_from_slice(input)?;
                return Ok(None);
            }
            let problem = if input.is_empty() { "unexpected end of file" } else { "unsupported format" };
            self.fail(&format!("zstd: {name}: {problem} \n"));
            return Ok(None);
        }
        let max_size = self.ctx.fs.limits().max_file_size;
        let made = with_execution_budget(self.ctx, |budget| {
            Ok(match task {
                ZstdTask::Compress => compress(input, budget),
                _ => decompress(input, max_size, budget),
            })
        })?;
        match made {
            Ok(output) => {
                self.ctx.consume_budget_input(output.len())?;
                consume_pass(self.ctx, input.len().max(output.len()))?;
                Ok(Some(output))
            }
            Err(error) => match data_problem(&error) {
                Some(problem) => {
                    self.fail(&format!("{name} : {problem} \n"));
                    Ok(None)
                }
                None => Err(archive_io_error(&format!("zstd: {name}"), error)),
            },
        }
    }

    /// Writes an output file, and returns false, after a message, if there is one already, or if it cannot be written.
    async fn write_file(&mut self, name: &str, output: &[u8]) -> Result<bool> {
        let target = resolve_path(self.ctx.cwd, name);
        if !self.options.forces && self.ctx.fs.exists(&target).await.unwrap_or(false) {
            self.fail(&format!("zstd: {name} already exists; overwrite (y/n) ? Not overwritten  \n \n"));
            return Ok(false);
        }
        if let Err(error) = self.ctx.fs.write_file(&target, output).await {
            let reason = file_error_reason(error)?;
            self.fail(&format!("zstd: {name}: {reason}\n"));
            return Ok(false);
        }
        Ok(true)
    }

    /// Removes a file whose data was written, if that is asked for.
    async fn remove(&mut self, path: &Path, file: &str) -> Result<()> {
        if self.options.removes
            && let Err(error) = self.ctx.fs.remove(path, false).await
        {
            let reason = file_error_reason(error)?;
            self.fail(&format!("zstd: {file}: {reason}\n"));
        }
        Ok(())
    }
}

impl Sums {
    fn add(&mut self, line: String, input: usize, output: usize) {
        self.files += 1;
        self.input += input;
        self.output += output;
        self.last_line = line;
    }

    /// Returns the line about several files.
    fn line(&self, task: ZstdTask) -> String {
        if task != ZstdTask::Compress {
            return format!("{} files decompressed : {:>6} bytes total \n", self.files, self.output);
        }
        let (input, output) = (size(self.input), size(self.output));
        let share = percentage(self.input, self.output);
        format!(
            "{:>3} files compressed : {share:.2}% ({:>6}{:>4} => {:>6}{:>4})\n",
            self.files, input.0, input.1, output.0, output.1
        )
    }
}

/// Returns the line about one file.
fn line_about_file(task: ZstdTask, file: &str, target: &str, input: usize, output: usize) -> String {
    if task != ZstdTask::Compress {
        return format!("{file:<20}: {output} bytes \n");
    }
    let (from, to) = (size(input), size(output));
    let share = if input == 0 { String::new() } else { format!("{:6.2}% ", percentage(input, output)) };
    format!("{file:<20} :{share}  ({:>6}{} => {:>6}{}, {target}) \n", from.0, from.1, to.0, to.1)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of files, printed with two places")]
fn percentage(input: usize, output: usize) -> f64 {
    output as f64 / input as f64 * 100.0
}

/// Returns a size for readers, and its unit.
#[expect(clippy::cast_precision_loss, reason = "sizes of files, printed with three digits")]
fn size(bytes: usize) -> (String, &'static str) {
    let units = [(1usize << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB")];
    let Some((unit, suffix)) = units.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return (bytes.to_string(), " B");
    };
    let value = bytes as f64 / unit as f64;
    let places = match value {
        _ if value >= 100.0 || bytes.is_multiple_of(unit) => 0,
        _ if value >= 10.0 => 1,
        _ => 2,
    };
    (format!("{value:.places$}"), suffix)
}
