//! `tee [-ai] [FILE]…`: copies its input byte by byte.
//!
//! bashkit's converts its input to text first, so that bytes that are not UTF-8 become U+FFFD in the output and in the
//! files. POSIX (`tee`) requires a copy. If a file cannot be written, the status is 1, and the other files are still
//! written.

use bashkit::error::io_error_reason;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait, vfs_join};

pub(super) struct Tee;

const HELP: &str = "\
Usage: tee [OPTION]... [FILE]...
Copy standard input to each FILE, and also to standard output.

  -a, --append             append to the given FILEs, do not overwrite
  -i, --ignore-interrupts  taken and ignored
";

#[async_trait]
impl Builtin for Tee {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        let (mut append, mut files, mut only_files) = (false, Vec::new(), false);
        for word in context.args {
            match word.as_str() {
                "--help" if !only_files => return Ok(ExecResult::ok(HELP)),
                "--" if !only_files => only_files = true,
                "--append" if !only_files => append = true,
                "--ignore-interrupts" if !only_files => {}
                option if !only_files && option.len() > 1 && option.starts_with('-') => {
                    match option[1..].chars().find(|letter| !"aip".contains(*letter)) {
                        Some(letter) => {
                            let hint = "Try 'tee --help' for more information.";
                            return Ok(ExecResult::err(format!("tee: invalid option -- '{letter}'\n{hint}\n"), 1));
                        }
                        None => append |= option.contains('a'),
                    }
                }
                file => files.push(file),
            }
        }
        let input = context.read_stdin().await?;
        let bytes = input.as_ref().map_or(&[][..], |input| input.as_bytes());
        let (mut result, mut complaints) = (ExecResult::ok_bytes(bytes.to_vec()), String::new());
        for file in files {
            let path = vfs_join(context.cwd, std::path::Path::new(file));
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
