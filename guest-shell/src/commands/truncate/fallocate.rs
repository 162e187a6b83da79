//! `fallocate`: files of at least a length, whose new part is zeros.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result};

use super::Truncate;
use crate::commands::du::size::parse_block_size;

const HELP: &str = "
Usage:
 fallocate [options] <filename>

Preallocate space to a file.

Options:
 -l, --length <num>   length for range operations, in bytes
 -n, --keep-size      maintain the apparent size of the file
 -o, --offset <num>   offset for range operations, in bytes
 -x, --posix          use posix_fallocate(3) instead of fallocate(2)

 -h, --help           display this help
 -V, --version        display version
";

const LONG: [(&str, OptArg, char); 4] = [
    ("keep-size", OptArg::No, 'n'),
    ("length", OptArg::Required, 'l'),
    ("offset", OptArg::Required, 'o'),
    ("posix", OptArg::No, 'x'),
];

/// Command `fallocate` of the shell.
pub(crate) struct Fallocate;

/// Returns the words for `truncate`. The error is the result of a wrong call.
fn words_for_truncate(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    let failure = |message: &str| ExecResult::err(format!("fallocate: {message}\n"), 1);
    let (given, files) = gnu_getopt("fallocate", words, "l:no:x", &LONG, true, 1)?;
    let (mut length, mut offset, mut keeps_size) = (None, 0, false);
    for option in given {
        let value = option.value.unwrap_or_default();
        match option.key {
            'l' => {
                length = Some(parse_block_size(&value).ok_or_else(|| failure("invalid length value specified"))?);
            }
            'o' if value == "0" => offset = 0,
            'o' => offset = parse_block_size(&value).ok_or_else(|| failure("invalid offset value specified"))?,
            'n' => keeps_size = true,
            _ => {}
        }
    }
    let length = length.ok_or_else(|| failure("no length argument specified"))?;
    match files.as_slice() {
        [] => Err(failure("no filename specified")),
        [file] => {
            // At least this size: a longer file stays as it is.
            let size = if keeps_size { 0 } else { length.saturating_add(offset) };
            let mut words = vec!["-s".to_owned(), format!(">{size}"), "--".to_owned(), file.clone()];
            if keeps_size {
                // A file that is not there is not made.
                words.insert(0, "-c".to_owned());
            }
            Ok(words)
        }
        _ => Err(failure("unexpected number of arguments")),
    }
}

#[async_trait]
impl Builtin for Fallocate {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("fallocate from util-linux 2.38.1")) {
            return Ok(result);
        }
        let words = match words_for_truncate(ctx.args) {
            Ok(words) => words,
            Err(result) => return Ok(result),
        };
        if let [flag, .., file] = words.as_slice()
            && flag == "-c"
            && !ctx.fs.exists(&resolve_path(ctx.cwd, file)).await.unwrap_or(false)
        {
            return Ok(ExecResult::err(format!("fallocate: cannot open {file}: No such file or directory\n"), 1));
        }
        let mut result = Truncate.execute(Context { args: &words, ..ctx }).await?;
        let messages = result.stderr.text_lossy().replacen("truncate: ", "fallocate: ", 1);
        result.stderr = messages.into();
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn fallocate_makes_files_of_a_length() {
        for (script, output, status) in [
            (
                "fallocate -l 100 z; wc -c < z; fallocate -l 1K z; wc -c < z; tr -d '\\0' < z | wc -c",
                "100\n1024\n0\n",
                0,
            ),
            ("echo abc > z; fallocate -l 2 z; cat z; fallocate -o 4 -l 2 z; wc -c < z", "abc\n6\n", 0),
            (
                "fallocate -n -l 9 z 2>&1; > z; fallocate -n -l 9 z; wc -c < z",
                "fallocate: cannot open z: No such file or directory\n0\n",
                0,
            ),
            ("fallocate z 2>&1", "fallocate: no length argument specified\n", 1),
            ("fallocate -l x z 2>&1", "fallocate: invalid length value specified\n", 1),
            ("fallocate -l 1 2>&1", "fallocate: no filename specified\n", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }
}
