//! `bzip2`, `bunzip2` and `bzcat`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::Path;
use std::result::Result as StdResult;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::limits::{BudgetedBytes, BudgetedVec};
use bashkit::{ExecResult, Result};

use super::budget::{budgeted_bytes, budgeted_vec, consume_pass, with_execution_budget};
use super::codec::ArchiveCompression;

const HELP: &str = "\
Compress or decompress files with bzip2.

  -c, --stdout\twrite to standard output
  -d, --decompress\tdecompress
  -z, --compress\tcompress
  -k, --keep\tkeep input files
  -f, --force\toverwrite output files
  --help\tdisplay this help and exit
  --version\toutput version information and exit
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
        run(&ctx, "bunzip2", Bzip2Options { decompress: true, ..Bzip2Options::default() }).await
    }
}

#[async_trait]
impl Builtin for Bzcat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let options = Bzip2Options { decompress: true, to_stdout: true, keep: true, ..Bzip2Options::default() };
        run(&ctx, "bzcat", options).await
    }
}

/// Options of one call.
#[derive(Clone, Copy, Debug, Default)]
struct Bzip2Options {
    decompress: bool,
    to_stdout: bool,
    keep: bool,
    force: bool,
}

impl Bzip2Options {
    /// Applies the options of a command line and adds its operands to `files`. The error is a message.
    fn parse<'a>(&mut self, words: &'a [String], files: &mut BudgetedVec<&'a str>) -> Result<StdResult<(), String>> {
        let mut options_ended = false;
        for word in words {
            if options_ended || !word.starts_with('-') || word == "-" {
                files.try_push(word.as_str())?;
            } else if word == "--" {
                options_ended = true;
            } else if let Some(name) = word.strip_prefix("--") {
                if !self.set_long(name) {
                    return Ok(Err(format!("unrecognized option '{word}'")));
                }
            } else if let Some(letter) = word[1..].chars().find(|letter| !self.set_short(*letter)) {
                return Ok(Err(format!("invalid option -- '{letter}'")));
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
            _ => return false,
        };
        self.set_short(letter)
    }

    /// Applies a short option. Returns false if there is none of that letter.
    fn set_short(&mut self, letter: char) -> bool {
        match letter {
            'c' => self.to_stdout = true,
            'd' => self.decompress = true,
            'z' => self.decompress = false,
            'k' => self.keep = true,
            'f' => self.force = true,
            _ => return false,
        }
        true
    }
}

async fn run(ctx: &Context<'_>, command: &'static str, mut options: Bzip2Options) -> Result<ExecResult> {
    let help = format!("Usage: {command} [OPTION]... [FILE]...\n{HELP}");
    if let Some(result) = check_help_version(ctx.args, &help, Some(&format!("{command} (bashkit) 0.1"))) {
        return Ok(result);
    }
    let mut files = budgeted_vec(ctx)?;
    if let Err(message) = options.parse(ctx.args, &mut files)? {
        return Ok(failure(command, &message));
    }
    let call = Bzip2Call { ctx, command, options };
    let output = if files.is_empty() { call.standard_input().await? } else { call.files(&files).await? };
    Ok(match output {
        Ok(output) => {
            let (output, _lease) = output.into_parts();
            ExecResult { stdout: output.into(), ..ExecResult::default() }
        }
        Err(result) => result,
    })
}

fn failure(command: &str, message: &str) -> ExecResult {
    ExecResult::err(format!("{command}: {message}\n"), 1)
}

/// One call with its options. The errors of its methods are results of the command.
struct Bzip2Call<'a> {
    ctx: &'a Context<'a>,
    command: &'static str,
    options: Bzip2Options,
}

impl Bzip2Call<'_> {
    fn failure(&self, message: &str) -> ExecResult {
        failure(self.command, message)
    }

    /// Compresses or decompresses standard input.
    async fn standard_input(&self) -> Result<StdResult<BudgetedBytes, ExecResult>> {
        let input = self.ctx.stdin_to_end().await?;
        let input = input.as_bytes();
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        self.transform(input)
    }

    /// Compresses or decompresses files. Returns what goes to standard output.
    async fn files(&self, files: &[&str]) -> Result<StdResult<BudgetedBytes, ExecResult>> {
        let mut output = budgeted_bytes(self.ctx)?;
        for file in files {
            if let Err(result) = self.file(file, &mut output).await? {
                return Ok(Err(result));
            }
        }
        Ok(Ok(output))
    }

    async fn file(&self, file: &str, output: &mut BudgetedBytes) -> Result<StdResult<(), ExecResult>> {
        let path = resolve_path(self.ctx.cwd, file);
        if !self.ctx.fs.exists(&path).await.unwrap_or(false) {
            return Ok(Err(self.failure(&format!("{file}: No such file or directory"))));
        }
        if self.ctx.fs.stat(&path).await?.file_type.is_dir() {
            return Ok(Err(self.failure(&format!("{file}: Is a directory"))));
        }
        let input = self.ctx.fs.read_file(&path).await?;
        self.ctx.consume_budget_input(input.len())?;
        let _lease = self.ctx.lease_budget_bytes(input.len())?;
        if !self.options.decompress && file.ends_with(".bz2") {
            return Ok(Err(self.failure(&format!("{file}: already has .bz2 suffix"))));
        }
        let transformed = match self.transform(&input)? {
            Ok(transformed) => transformed,
            Err(result) => return Ok(Err(result)),
        };
        if self.options.to_stdout {
            return self.append_to_stdout(output, &transformed);
        }
        self.replace(file, &path, &transformed).await
    }

    /// Compresses or decompresses one text.
    fn transform(&self, input: &[u8]) -> Result<StdResult<BudgetedBytes, ExecResult>> {
        let bzip2 = ArchiveCompression::Bzip2;
        let max_size = self.ctx.fs.limits().max_file_size;
        let output = if self.options.decompress {
            match with_execution_budget(self.ctx, |budget| bzip2.decompress(input, max_size, self.command, budget)) {
                Ok(output) => output,
                Err(error) => return Ok(Err(ExecResult::err(format!("{error}\n"), 1))),
            }
        } else {
            with_execution_budget(self.ctx, |budget| bzip2.compress(input, self.command, budget))?
        };
        self.ctx.consume_budget_input(output.len())?;
        consume_pass(self.ctx, output.len())?;
        Ok(Ok(output))
    }

    fn append_to_stdout(&self, output: &mut BudgetedBytes, part: &[u8]) -> Result<StdResult<(), ExecResult>> {
        let length = output
            .len()
            .checked_add(part.len())
            .ok_or_else(|| bashkit::Error::Execution(format!("{}: output size overflow", self.command)))?;
        if let Err(error) = self.ctx.fs.limits().check_total_bytes(0, length as u64) {
            return Ok(Err(self.failure(&error.to_string())));
        }
        output.try_extend_from_slice(part)?;
        Ok(Ok(()))
    }

    /// Writes the output beside a file, and removes the file unless it is kept.
    async fn replace(&self, file: &str, path: &Path, output: &[u8]) -> Result<StdResult<(), ExecResult>> {
        let name = match self.options.decompress {
            true => decompressed_name(file),
            false => Some(format!("{file}.bz2")),
        };
        let Some(name) = name else {
            return Ok(Err(self.failure(&format!("{file}: unknown suffix -- ignored"))));
        };
        let output_path = resolve_path(self.ctx.cwd, &name);
        if self.ctx.fs.exists(&output_path).await.unwrap_or(false) && !self.options.force {
            return Ok(Err(self.failure(&format!("{name}: already exists"))));
        }
        self.ctx.fs.write_file(&output_path, output).await?;
        if !self.options.keep {
            self.ctx.fs.remove(path, false).await?;
        }
        Ok(Ok(()))
    }
}

fn decompressed_name(file: &str) -> Option<String> {
    if let Some(stem) = file.strip_suffix(".bz2") {
        return Some(stem.to_owned());
    }
    let stem = file.strip_suffix(".tbz2").or_else(|| file.strip_suffix(".tbz"))?;
    Some(format!("{stem}.tar"))
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{assert_no_leak, run};

    #[tokio::test]
    async fn bzip2_and_bunzip2_round_trip_files() {
        let script = "echo a > f; bzip2 f; ls; bzcat f.bz2; bunzip2 -k f.bz2; ls; cat f; bzip2 f f.bz2 2>&1";
        let output = "f.bz2\na\nf\nf.bz2\na\nbzip2: f.bz2: already exists\n";
        assert_eq!(&*run(script).await.stdout, output);
    }

    #[tokio::test]
    async fn bzip2_failures_have_messages() {
        for (script, message) in [
            ("bzip2 none", "bzip2: none: No such file or directory\n"),
            ("mkdir d; bzip2 d", "bzip2: d: Is a directory\n"),
            ("touch a.bz2; bzip2 a.bz2", "bzip2: a.bz2: already has .bz2 suffix\n"),
            ("echo | bzip2 > a; bunzip2 a", "bunzip2: a: unknown suffix -- ignored\n"),
            ("bzip2 -Q", "bzip2: invalid option -- 'Q'\n"),
            ("bzcat --none", "bzcat: unrecognized option '--none'\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        }
    }

    #[tokio::test]
    async fn bunzip2_of_other_data_fails_without_a_leak() {
        let result = run("echo 'not a bzip2 stream' | bunzip2 -c").await;
        assert_eq!(result.exit_code, 1);
        assert_no_leak(&result, "bunzip2", &[]);
    }
}
