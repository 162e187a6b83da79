//! `tee [-ai] [FILE]…`: copies its input byte by byte.
//!
//! bashkit's converts its input to text first, so that bytes that are not UTF-8 become U+FFFD in the output and in the
//! files. POSIX (`tee`) requires a copy. If a file cannot be written, the status is 1, and the other files are still
//! written.

use bashkit::builtins::arg_parser::OptArg;
use bashkit::error::io_error_reason;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait, vfs_join};

use crate::commands::option_parser::gnu_getopt;

pub(super) struct Tee;

const HELP: &str = "\
Usage: tee [OPTION]... [FILE]...
Copy standard input to each FILE, and also to standard output.

  -a, --append             append to the given FILEs, do not overwrite
  -i, --ignore-interrupts  taken and ignored
  -p, --output-error[=MODE]  taken and ignored: a file that cannot be written is reported, the others are written
";

const LONG: [(&str, OptArg, char); 3] =
    [("append", OptArg::No, 'a'), ("ignore-interrupts", OptArg::No, 'i'), ("output-error", OptArg::Optional, 'p')];

#[async_trait]
impl Builtin for Tee {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        if context.args.iter().take_while(|word| *word != "--").any(|word| word == "--help") {
            return Ok(ExecResult::ok(HELP));
        }
        let (given, files) = match gnu_getopt("tee", context.args, "aip", &LONG, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let modes = ["warn", "warn-nopipe", "exit", "exit-nopipe"];
        if let Some(mode) = given.iter().filter_map(|option| option.value.as_deref()).find(|mode| !modes.contains(mode))
        {
            let valid = modes.map(|mode| format!("  - '{mode}'\n")).concat();
            let message = format!("tee: invalid argument '{mode}' for '--output-error'\nValid arguments are:\n{valid}");
            return Ok(ExecResult::err(format!("{message}Try 'tee --help' for more information.\n"), 1));
        }
        let append = given.iter().any(|option| option.key == 'a');
        let input = context.read_stdin().await?;
        let bytes = input.as_ref().map_or(&[][..], |input| input.as_bytes());
        let (mut result, mut complaints) = (ExecResult::ok_bytes(bytes.to_vec()), String::new());
        for file in files {
            let path = vfs_join(context.cwd, std::path::Path::new(&file));
            let written = match append {
                true => context.fs.append_file(&path, bytes).await,
                false => context.fs.write_file(&path, bytes).await,
            };
            if let Err(error) = written {
                complaints.push_str(&format!("tee: {file}: {}\n", io_error_reason(&error)));
                result.exit_code = 1;
            }
        }
        result.stderr = complaints.into();
        Ok(result)
    }
}
