//! `shred`: overwrites files, and with `-u` removes them.
//!
//! What was in the file before is not kept by the session's files; each pass is written all the same, so that the file
//! has the size and the contents that the last one leaves.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use crate::commands::du::size::parse_block_size;
use crate::commands::files::quote_if_needed;

/// Size that files are rounded up to.
const BLOCK: u64 = 4096;

const HELP: &str = "\
Usage: shred [OPTION]... FILE...
Overwrite the specified FILE(s) repeatedly, in order to make it harder
for even very expensive hardware probing to recover the data.

  -f, --force    change permissions to allow writing if necessary
  -n, --iterations=N  overwrite N times instead of the default (3)
  -s, --size=N   shred this many bytes (suffixes like K, M, G accepted)
  -u             deallocate and remove file after overwriting
      --remove[=HOW]  like -u
  -v, --verbose  show progress
  -x, --exact    do not round file sizes up to the next full block
  -z, --zero     add a final overwrite with zeros to hide shredding
      --help     display this help and exit
      --version  output version information and exit
";

const LONG: [(&str, OptArg, char); 8] = [
    ("exact", OptArg::No, 'x'),
    ("force", OptArg::No, 'f'),
    ("iterations", OptArg::Required, 'n'),
    ("random-source", OptArg::Required, 'R'),
    ("remove", OptArg::Optional, 'u'),
    ("size", OptArg::Required, 's'),
    ("verbose", OptArg::No, 'v'),
    ("zero", OptArg::No, 'z'),
];

/// Command `shred` of the shell.
pub(crate) struct Shred;

/// Options of one call.
struct ShredOptions {
    iterations: u64,
    size: Option<u64>,
    remove: bool,
    verbose: bool,
    exact: bool,
    zero: bool,
}

impl ShredOptions {
    /// Reads a command line: options and files. The error is the result of a wrong call.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let (given, files) = gnu_getopt("shred", words, "fn:s:uvxz", &LONG, true, 1)?;
        let mut options = Self { iterations: 3, size: None, remove: false, verbose: false, exact: false, zero: false };
        let failure = |message: String| ExecResult::err(format!("shred: {message}\n"), 1);
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'n' => {
                    let number = value.parse().map_err(|_| failure(format!("invalid number of passes: '{value}'")));
                    options.iterations = number?;
                }
                's' => {
                    let size = parse_block_size(&value);
                    options.size = Some(size.ok_or_else(|| failure(format!("invalid file size: '{value}'")))?);
                }
                'u' => match value.as_str() {
                    "" | "unlink" | "wipe" | "wipesync" => options.remove = true,
                    _ => return Err(failure(format!("invalid argument '{value}' for '--remove'"))),
                },
                'v' => options.verbose = true,
                'x' => options.exact = true,
                'z' => options.zero = true,
                'R' => return Err(failure("--random-source is not supported here".to_owned())),
                _ => {}
            }
        }
        if files.is_empty() {
            let message = "shred: missing file operand\nTry 'shred --help' for more information.\n";
            return Err(ExecResult::err(message, 1));
        }
        Ok((options, files))
    }

    fn length(&self, size: u64) -> u64 {
        match self.size {
            Some(size) => size,
            None if self.exact => size,
            None => size.next_multiple_of(BLOCK),
        }
    }
}

#[async_trait]
impl Builtin for Shred {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("shred (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, files) = match ShredOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let (mut messages, mut status) = (String::new(), 0);
        for file in &files {
            if let Err(message) = shred(&ctx, &options, file, &mut messages).await? {
                messages.push_str(&format!("shred: {}: {message}\n", quote_if_needed(file)));
                status = 1;
            }
        }
        Ok(ExecResult { stderr: messages.into(), ..ExecResult::with_code(String::new(), status) })
    }
}

/// Overwrites one file. The error is a message for the user.
async fn shred(
    ctx: &Context<'_>,
    options: &ShredOptions,
    file: &str,
    progress: &mut String,
) -> Result<std::result::Result<(), String>> {
    let path = resolve_path(ctx.cwd, file);
    let failed = |error: &bashkit::Error| format!("failed to open for writing: {}", io_error_reason(error));
    let status = match ctx.fs.stat(&path).await {
        Ok(status) if status.file_type.is_dir() => {
            return Ok(Err("failed to open for writing: Is a directory".to_owned()));
        }
        Ok(status) => status,
        Err(error) => return Ok(Err(failed(&error))),
    };
    let length = options.length(status.size);
    if let Err(error) = ctx.fs.limits().check_file_size(length) {
        return Ok(Err(error.to_string()));
    }
    let Ok(length) = usize::try_from(length) else {
        return Ok(Err("File too large".to_owned()));
    };
    let passes = options.iterations.saturating_add(u64::from(options.zero));
    let _lease = ctx.lease_budget_bytes(length)?;
    for pass in 1..=passes {
        ctx.consume_budget_work(1 + length as u64 / 1024)?;
        let is_zero = options.zero && pass == passes;
        let content = if is_zero { vec![0; length] } else { random_bytes(length) };
        if let Err(error) = ctx.fs.write_file(&path, &content).await {
            return Ok(Err(failed(&error)));
        }
        if options.verbose {
            let kind = if is_zero { "000000" } else { "random" };
            progress.push_str(&format!("shred: {file}: pass {pass}/{passes} ({kind})...\n"));
        }
    }
    if options.remove {
        if options.verbose {
            progress.push_str(&format!("shred: {file}: removing\nshred: {file}: removed\n"));
        }
        if let Err(error) = ctx.fs.remove(&path, false).await {
            return Ok(Err(format!("failed to remove: {}", io_error_reason(&error))));
        }
    }
    Ok(Ok(()))
}

/// Bytes of a generator (xorshift) whose state is one of the hash keys, which differ from run to run.
fn random_bytes(length: usize) -> Vec<u8> {
    use std::hash::BuildHasher as _;
    let mut state = std::hash::RandomState::new().hash_one(length) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(length)
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn shred_overwrites_and_removes_files() {
        for (script, output, status) in [
            ("echo secret > a; shred a; wc -c < a; grep -c secret a", "4096\n0\n", 1),
            ("echo secret > a; shred -xz -n 1 a; tr -d '\\0' < a | wc -c; wc -c < a", "0\n7\n", 0),
            ("echo a > a; shred -u a; ls; shred -n1 --remove=wipe a", "", 1),
            ("echo a > a; shred -s 100 a; wc -c < a", "100\n", 0),
            ("echo a > a; shred -vzn1 a 2>&1", "shred: a: pass 1/2 (random)...\nshred: a: pass 2/2 (000000)...\n", 0),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn shred_of_what_cannot_be_written_is_an_error() {
        for (script, message) in [
            ("shred none", "shred: none: failed to open for writing: No such file or directory"),
            ("mkdir d; shred d", "shred: d: failed to open for writing: Is a directory"),
            ("shred", "shred: missing file operand"),
            ("shred -Q a", "shred: invalid option -- 'Q'"),
            ("shred -n x a", "shred: invalid number of passes: 'x'"),
        ] {
            let result = run(script).await;
            assert_eq!((result.stderr.lines().next().unwrap_or_default(), result.exit_code), (message, 1));
        }
    }
}
