//! `sdiff`: two files side by side, as `diff -y` shows them.

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::Diff;

const HELP: &str = "\
Usage: sdiff [OPTION]... FILE1 FILE2
Side-by-side merge of differences between FILE1 and FILE2.

  -i, --ignore-case            consider upper- and lower-case to be the same
  -E, --ignore-tab-expansion   ignore changes due to tab expansion
  -Z, --ignore-trailing-space  ignore white space at line end
  -b, --ignore-space-change    ignore changes in the amount of white space
  -W, --ignore-all-space       ignore all white space
  -B, --ignore-blank-lines     ignore changes whose lines are all blank
  -I, --ignore-matching-lines=RE  ignore changes all whose lines match RE
      --strip-trailing-cr      strip trailing carriage return on input
  -a, --text                   treat all files as text
  -w, --width=NUM              output at most NUM (default 130) print columns
  -l, --left-column            output only the left column of common lines
  -s, --suppress-common-lines  do not output common lines
  -d, --minimal                try hard to find a smaller set of changes
      --help                   display this help and exit
  -v, --version                output version information and exit
";

const LONG: [(&str, OptArg, char); 14] = [
    ("ignore-all-space", OptArg::No, 'W'),
    ("ignore-blank-lines", OptArg::No, 'B'),
    ("ignore-case", OptArg::No, 'i'),
    ("ignore-matching-lines", OptArg::Required, 'I'),
    ("ignore-space-change", OptArg::No, 'b'),
    ("ignore-tab-expansion", OptArg::No, 'E'),
    ("ignore-trailing-space", OptArg::No, 'Z'),
    ("left-column", OptArg::No, 'l'),
    ("minimal", OptArg::No, 'd'),
    ("speed-large-files", OptArg::No, 'd'),
    ("strip-trailing-cr", OptArg::No, 'c'),
    ("suppress-common-lines", OptArg::No, 's'),
    ("text", OptArg::No, 'a'),
    ("width", OptArg::Required, 'w'),
];

/// Command `sdiff` of the shell.
pub(crate) struct Sdiff;

/// Returns the words for `diff`. The error is the result of a wrong call.
fn words_for_diff(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    let usage = |message: &str| {
        ExecResult::err(format!("sdiff: {message}\nsdiff: Try 'sdiff --help' for more information.\n"), 2)
    };
    let parsed = getopt_long("sdiff", words, "BEHI:WZabdilsw:", &LONG, true, 2);
    let (given, files) =
        parsed.map_err(|error| usage(error.stderr.text_lossy().trim_start_matches("sdiff: ").trim_end()))?;
    match files.as_slice() {
        [] => return Err(usage("missing operand after 'sdiff'")),
        [only] => return Err(usage(&format!("missing operand after '{only}'"))),
        [_, _] => {}
        [_, _, extra, ..] => return Err(usage(&format!("extra operand '{extra}'"))),
    }
    let mut for_diff = vec!["-y".to_owned()];
    for option in given {
        let value = option.value.unwrap_or_default();
        for_diff.push(match option.key {
            'W' => "-w".to_owned(),
            'w' => format!("--width={value}"),
            'l' => "--left-column".to_owned(),
            's' => "--suppress-common-lines".to_owned(),
            'c' => "--strip-trailing-cr".to_owned(),
            'I' => format!("--ignore-matching-lines={value}"),
            key => format!("-{key}"),
        });
    }
    for_diff.push("--".to_owned());
    for_diff.extend(files);
    Ok(for_diff)
}

#[async_trait]
impl Builtin for Sdiff {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("sdiff (GNU diffutils) 3.8")) {
            return Ok(result);
        }
        let words = match words_for_diff(ctx.args) {
            Ok(words) => words,
            Err(result) => return Ok(result),
        };
        Diff.execute(Context { args: &words, ..ctx }).await
    }
}
