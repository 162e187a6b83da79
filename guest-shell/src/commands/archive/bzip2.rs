//! `bzip2`, `bunzip2` and `bzcat`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::Path;
use std::result::Result as StdResult;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::limits::{BudgetedBytes, BudgetedVec};
use bashkit::{ExecResult, Result};

use super::codec::{ArchiveCompression, compress_bzip2};
use crate::commands::budget::{budgeted_bytes, budgeted_vec, consume_pass, with_execution_budget};
use crate::commands::operands::file_error_reason;

/// First bytes of compressed data.
const MAGIC: &[u8] = b"BZh";

/// Status of a file that cannot be read or written.
const TROUBLE: i32 = 1;
/// Status of data that was not made by bzip2, or is damaged.
const BAD_DATA: i32 = 2;

const USAGE: &str = "\
bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.

   usage: bzip2 [flags and input files in any order]

   -h --help           print this message
   -d --decompress     force decompression
   -z --compress       force compression
   -k --keep           keep (don't delete) input files
   -f --force          overwrite existing output files
   -t --test           test compressed file integrity
   -c --stdout         output to standard out
   -q --quiet          suppress noncritical error messages
   -v --verbose        be verbose (a 2nd -v gives more)
   -L --license        display software version & license
   -V --version        display software version & license
   -s --small          use less memory (at most 2500k)
   -1 .. -9            set block size to 100k .. 900k
   --fast              alias for -1
   --best              alias for -9
";

/// Command `bzip2` of the shell.
pub(crate) struct Bzip2;

/// Command `bunzip2` of the shell.
pub(crate) struct Bunzip2;

/// Command `bzcat` of the shell.
pub(crate) struct Bzcat;

#[async_trait]
impl Builtin for Bzip2 {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(&ctx, "bzip2", Bzip2Options::default()).await
    }
}

#[async_trait]
impl Builtin for Bunzip2 {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        run(&ctx, "bunzip2", Bzip2Options { task: Bzip2Task::Decompress, ..Bzip2Options::default() }).await
    }
}

#[async_trait]
impl Builtin for Bzcat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let task = Bzip2Task::Decompress;
        run(&ctx, "bzcat", Bzip2Options { task, to_stdout: true, ..Bzip2Options::default() }).await
    }
}

/// Work of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bzip2Task {
    Compress,
    Decompress,
    Test,
}

/// Options of one call.
#[derive(Clone, Copy, Debug)]
struct Bzip2Options {
    task: Bzip2Task,
    to_stdout: bool,
    keep: bool,
    force: bool,
    verbose: bool,
    /// Size of blocks in units of 100 kB.
    level: u32,
}

impl Default for Bzip2Options {
    fn default() -> Self {
        let task = Bzip2Task::Compress;
        Self { task, to_stdout: false, keep: false, force: false, verbose: false, level: 9 }
    }
}

impl Bzip2Options {
    /// Applies the options of a command line and adds its operands to `files`. The error is the flag that is none.
    fn parse<'a>(&mut self, words: &'a [String], files: &mut BudgetedVec<&'a str>) -> Result<StdResult<(), String>> {
        let mut options_ended = false;
        for word in words {
            if options_ended || !word.starts_with('-') || word == "-" {
                files.try_push(word.as_str())?;
            } else if word == "--" {
                options_ended = true;
            } else if let Some(name) = word.strip_prefix("--") {
                if !self.set_long(name) {
                    return Ok(Err(word.clone()));
                }
            } else if word[1..].chars().any(|letter| !self.set_short(letter)) {
                return Ok(Err(word.clone()));
            }
        }
        Ok(Ok(()))
    }

    /// Applies a long option. Returns false if there is none of that name.
    fn set_long(&mut self, name: &str) -> bool {
        let letter = match name {
            "stdout" => 'c',
            "decompress" => 'd',
            "compress" => 'z',
            "keep" => 'k',
            "force" => 'f',
            "test" => 't',
            "quiet" => 'q',
            "verbose" => 'v',
            "small" => 's',
            "fast" => '1',
            "best" => '9',
            "repetitive-best" | "repetitive-fast" => 's',
            _ => return false,
        };
        self.set_short(letter)
    }

    /// Applies a short option. Returns false if there is none of that letter.
    fn set_short(&mut self, letter: char) -> bool {
        match letter {
            'c' => self.to_stdout = true,
            'd' => self.task = Bzip2Task::Decompress,
            'z' => self.task = Bzip2Task::Compress,
            't' => self.task = Bzip2Task::Test,
            'k' => self.keep = true,
            'f' => self.force = true,
            'v' => self.verbose = true,
            '1'..='9' => self.level = letter.to_digit(10).unwrap_or(9),
            // Nothing is told that would be left out, and memory is bounded anyway.
            'q' | 's' => {}
            _ => return false,
        }
        true
    }
}

async fn run(ctx: &Context<'_>, command: &'static str, mut options: Bzip2Options) -> Result<ExecResult> {
    let version = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.";
    if let Some(result) = check_help_version(ctx.args, USAGE, Some(version)) {
        return Ok(result);
    }
    let mut files = budgeted_vec(ctx)?;
    if let Err(flag) = options.parse(ctx.args, &mut files)? {
        return Ok(ExecResult::err(format!("{command}: Bad flag `{flag}'\n{USAGE}"), TROUBLE));
    }
    if options.task == Bzip2Task::Test && options.to_stdout {
        return Ok(ExecResult::err(format!("{command}: -c and -t cannot be used together.\n"), TROUBLE));
    }
    let mut call =
        Bzip2Call { ctx, command, options, output: budgeted_bytes(ctx)?, messages: String::new(), status: 0 };
    if files.is_empty() {
        call.standard_input().await?;
    }
    let longest = files.iter().map(|file| file.chars().count()).max().unwrap_or(0);
    for file in &*files {
        call.file(file, longest).await?;
    }
    let (output, _lease) = call.output.into_parts();
    Ok(ExecResult {
        stdout: output.into(),
        stderr: call.messages.into(),
        exit_code: call.status,
        ..ExecResult::default()
    })
}

/// Call of `bzip2` in progress: its options, and the output, messages and status so far.
struct Bzip2Call<'a> {
    ctx: &'a Context<'a>,
    command: &'static str,
    options: Bzip2Options,
    output: BudgetedBytes,
    messages: String,
    status: i32,
}

impl Bzip2Call<'_> {
    fn fail(&mut self, status: i32, message: &str) {
        self.messages.push_str(&format!("{}: {message}\n", self.command));
        self.status = self.status.max(status);
    }

    /// Compresses or decompresses standard input.
    async fn standard_input(&mut self) -> Result<()> {
        let input = self.ctx.stdin_to_end().await?;
        let input = input.as_bytes();
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        if let Some(output) = self.transform(input, "(stdin)")?
            && self.options.task != Bzip2Task::Test
        {
            self.append_to_stdout(&output)?;
        }
        Ok(())
    }

    /// Reads an input file, and returns `None`, after a message, if it cannot be read, or if it is a link and links are
    /// refused.
    async fn read(&mut self, file: &str, path: &Path, refuses_links: bool) -> Result<Option<Vec<u8>>> {
        let is_link = self.ctx.fs.lstat(path).await.is_ok_and(|status| status.file_type.is_symlink());
        if is_link && refuses_links {
            self.fail(TROUBLE, &format!("Input file {file} is not a normal file."));
            return Ok(None);
        }
        let input = match self.ctx.fs.stat(path).await {
            Ok(status) if status.file_type.is_dir() => {
                self.fail(TROUBLE, &format!("Input file {file} is a directory."));
                return Ok(None);
            }
            Ok(_) => self.ctx.fs.read_file(path).await,
            Err(error) => Err(error),
        };
        match input {
            Ok(input) => Ok(Some(input)),
            Err(error) => {
                let reason = file_error_reason(error)?;
                self.fail(TROUBLE, &format!("Can't open input file {file}: {reason}."));
                Ok(None)
            }
        }
    }

    async fn file(&mut self, file: &str, longest: usize) -> Result<()> {
        if file == "-" {
            return self.standard_input().await;
        }
        let path = resolve_path(self.ctx.cwd, file);
        let writes = !self.options.to_stdout && self.options.task != Bzip2Task::Test;
        let Some(input) = self.read(file, &path, writes && !self.options.force).await? else { return Ok(()) };
        self.ctx.consume_budget_input(input.len())?;
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        if self.options.task == Bzip2Task::Compress
            && !self.options.to_stdout
            && [".bz2", ".bz", ".tbz2", ".tbz"].iter().any(|suffix| file.ends_with(suffix))
        {
            let suffix = file.rsplit('.').next().unwrap_or_default();
            self.fail(TROUBLE, &format!("Input file {file} already has .{suffix} suffix."));
            return Ok(());
        }
        let name = self.output_name(file);
        let output_path = resolve_path(self.ctx.cwd, &name);
        if writes && !self.options.force && self.ctx.fs.exists(&output_path).await.unwrap_or(false) {
            self.fail(TROUBLE, &format!("Output file {name} already exists."));
            return Ok(());
        }
        let Some(output) = self.transform(&input, file)? else {
            return Ok(());
        };
        if self.options.verbose {
            let result = match self.options.task {
                Bzip2Task::Compress => compression_ratio(input.len(), output.len()),
                Bzip2Task::Decompress => "done".to_owned(),
                Bzip2Task::Test => "ok".to_owned(),
            };
            self.messages.push_str(&format!("  {:<longest$}  {result}\n", format!("{file}:")));
        }
        match writes {
            true => {
                if let Err(error) = self.replace(&name, &path, &output).await {
                    let reason = file_error_reason(error)?;
                    self.fail(TROUBLE, &format!("Can't create output file {name}: {reason}."));
                }
                Ok(())
            }
            false if self.options.task == Bzip2Task::Test => Ok(()),
            false => self.append_to_stdout(&output),
        }
    }

    /// Compresses or decompresses one text. Returns nothing if it is not what it should be, which is told.
    fn transform(&mut self, input: &[u8], name: &str) -> Result<Option<BudgetedBytes>> {
        let max_size = self.ctx.fs.limits().max_file_size;
        let (command, level) = (self.command, self.options.level);
        let output = if self.options.task == Bzip2Task::Compress {
            with_execution_budget(self.ctx, |budget| compress_bzip2(input, level, command, budget))?
        } else if !input.starts_with(MAGIC) {
            match self.options.task {
                Bzip2Task::Test => {
                    self.fail(BAD_DATA, &format!("{name}: bad magic number (file not created by bzip2)\n\n{RECOVERY}"))
                }
                _ => self.fail(BAD_DATA, &format!("{name} is not a bzip2 file.")),
            }
            return Ok(None);
        } else {
            let bzip2 = ArchiveCompression::Bzip2;
            match with_execution_budget(self.ctx, |budget| bzip2.decompress(input, max_size, command, budget)) {
                Ok(output) => output,
                Err(error @ (bashkit::Error::ResourceLimit(_) | bashkit::Error::Cancelled)) => return Err(error),
                Err(error) => {
                    let reason = error.to_string();
                    let reason = reason.rsplit(": ").next().unwrap_or_default();
                    self.fail(BAD_DATA, &format!("{name}: data integrity error: {reason}\n\n{RECOVERY}"));
                    return Ok(None);
                }
            }
        };
        self.ctx.consume_budget_input(output.len())?;
        consume_pass(self.ctx, output.len())?;
        Ok(Some(output))
    }

    fn append_to_stdout(&mut self, part: &[u8]) -> Result<()> {
        let length = self
            .output
            .len()
            .checked_add(part.len())
            .ok_or_else(|| bashkit::Error::Execution(format!("{}: output size overflow", self.command)))?;
        if let Err(error) = self.ctx.fs.limits().check_total_bytes(0, length as u64) {
            self.fail(TROUBLE, &error.to_string());
            return Ok(());
        }
        self.output.try_extend_from_slice(part)?;
        Ok(())
    }

    /// Returns the name of what is made of a file, and tells of one that cannot be guessed.
    fn output_name(&mut self, file: &str) -> String {
        if self.options.task != Bzip2Task::Decompress {
            return format!("{file}.bz2");
        }
        let without = |suffix: &str| file.strip_suffix(suffix);
        if let Some(stem) = without(".bz2").or_else(|| without(".bz")) {
            return stem.to_owned();
        }
        if let Some(stem) = without(".tbz2").or_else(|| without(".tbz")) {
            return format!("{stem}.tar");
        }
        if !self.options.to_stdout {
            let message = format!("Can't guess original name for {file} -- using {file}.out");
            self.messages.push_str(&format!("{}: {message}\n", self.command));
        }
        format!("{file}.out")
    }

    /// Writes the output beside a file, and removes the file unless it is kept.
    async fn replace(&self, name: &str, path: &Path, output: &[u8]) -> Result<()> {
        let output_path = resolve_path(self.ctx.cwd, name);
        let status = self.ctx.fs.stat(path).await?;
        self.ctx.fs.write_file(&output_path, output).await?;
        self.ctx.fs.chmod(&output_path, status.mode).await?;
        self.ctx.fs.set_modified_time(&output_path, status.modified).await?;
        if !self.options.keep {
            self.ctx.fs.remove(path, false).await?;
        }
        Ok(())
    }
}

/// Advice of the real program about damaged data.
const RECOVERY: &str = "You can use the `bzip2recover' program to attempt to recover\n\
                        data from undamaged sections of corrupted files.\n";

/// Returns how much smaller the output is than the input, as `-v` tells it.
#[expect(clippy::cast_precision_loss, reason = "sizes of files, printed with three places")]
fn compression_ratio(input: usize, output: usize) -> String {
    if input == 0 {
        return "  no data compressed.".to_owned();
    }
    let (from, to) = (input as f64, output as f64);
    format!(
        "{:6.3}:1, {:6.3} bits/byte, {:5.2}% saved, {input} in, {output} out.",
        from / to,
        to * 8.0 / from,
        100.0 * (1.0 - to / from)
    )
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{assert_no_leak, run};

    async fn check(cases: &[(&str, &str, i32)]) {
        for (script, output, status) in cases {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn bzip2_and_bunzip2_round_trip_files() {
        check(&[
            ("echo a > f; bzip2 f; ls; bzcat f.bz2; bunzip2 -k f.bz2; ls; cat f", "f.bz2\na\nf\nf.bz2\na\n", 0),
            ("echo a > f; bzip2 -k f; bzip2 f f.bz2 2>&1", EXISTS, 1),
            ("echo a > f; chmod 600 f; bzip2 -1k f; head -c 4 f.bz2; stat -c %a f.bz2", "BZh1600\n", 0),
            (
                "echo a > f; bzip2 --best --keep f; bzip2 -t f.bz2 && echo ok; bzip2 -tv f.bz2 2>&1",
                "ok\n  f.bz2:  ok\n",
                0,
            ),
            ("echo a > f; bzip2 f; cat f.bz2 f.bz2 | bzcat", "a\na\n", 0),
            ("echo a > f; bzip2 < f > x; bunzip2 x 2>&1; cat x.out", GUESSED, 0),
            ("echo a > f; bzip2 f; bzcat none f.bz2 2>/dev/null", "a\n", 1),
        ])
        .await;
    }

    const EXISTS: &str = "bzip2: Output file f.bz2 already exists.\nbzip2: Input file f.bz2 already has .bz2 suffix.\n";
    const GUESSED: &str = "bunzip2: Can't guess original name for x -- using x.out\na\n";

    #[tokio::test]
    async fn bzip2_failures_have_messages_and_a_status() {
        for (script, message, status) in [
            ("bzip2 none", "bzip2: Can't open input file none: No such file or directory.", 1),
            ("mkdir d; bzip2 d", "bzip2: Input file d is a directory.", 1),
            ("touch a.bz2; bzip2 a.bz2", "bzip2: Input file a.bz2 already has .bz2 suffix.", 1),
            ("echo junk > j.bz2; bunzip2 j.bz2", "bunzip2: j.bz2 is not a bzip2 file.", 2),
            ("echo junk > j.bz2; bzip2 -t j.bz2", "bzip2: j.bz2: bad magic number (file not created by bzip2)", 2),
            ("echo junk | bzcat", "bzcat: (stdin) is not a bzip2 file.", 2),
            ("bzip2 -Q", "bzip2: Bad flag `-Q'", 1),
            ("bzcat --none", "bzcat: Bad flag `--none'", 1),
        ] {
            let result = run(script).await;
            let first = result.stderr.lines().next().unwrap_or_default().to_owned();
            assert_eq!((&*first, result.exit_code), (message, status), "{script}");
        }
    }

    #[tokio::test]
    async fn bunzip2_of_damaged_data_fails_without_a_leak() {
        let script = "seq 999 | bzip2 > f; { head -c 50 f; printf 'xxxxxxxxxx'; tail -c +61 f; } | bunzip2 -c";
        let result = run(script).await;
        assert_eq!((result.exit_code, result.stdout.len()), (2, 0));
        assert_no_leak(&result, "bunzip2", &[]);
    }
}
