//! Command line of `mktemp` in GNU's manner, for bashkit's command: options may be repeated and abbreviated, and
//! `--tmpdir` takes no word behind it.

use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, Mktemp as BashkitMktemp, check_help_version};
use bashkit::{ExecResult, Result};

use crate::commands::option_parser::gnu_getopt;

const HELP: &str = "\
Usage: mktemp [OPTION]... [TEMPLATE]
Create a temporary file or directory, safely, and print its name.
TEMPLATE must contain at least 3 consecutive 'X's in last component.
If TEMPLATE is not specified, use tmp.XXXXXXXXXX, and --tmpdir is implied.

  -d, --directory     create a directory, not a file
  -u, --dry-run       do not create anything; merely print a name (unsafe)
  -q, --quiet         suppress diagnostics about file/dir-creation failure
      --suffix=SUFF   append SUFF to TEMPLATE; SUFF must not contain a slash
  -p DIR, --tmpdir[=DIR]  interpret TEMPLATE relative to DIR; if DIR is not
                        specified, use $TMPDIR if set, else /tmp
  -t                  interpret TEMPLATE as a single file name component,
                        relative to a directory: $TMPDIR, if set; else the
                        directory specified via -p; else /tmp [deprecated]
      --help        display this help and exit
      --version     output version information and exit
";

const LONG: [(&str, OptArg, char); 5] = [
    ("directory", OptArg::No, 'd'),
    ("quiet", OptArg::No, 'q'),
    ("dry-run", OptArg::No, 'u'),
    ("suffix", OptArg::Required, SUFFIX),
    ("tmpdir", OptArg::Optional, 'p'),
];

/// Key of `--suffix`.
const SUFFIX: char = 'S';

/// Command `mktemp` of the shell.
pub(crate) struct Mktemp;

#[async_trait]
impl Builtin for Mktemp {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("mktemp (GNU coreutils) 9.1")) {
            return Ok(answer);
        }
        let (given, templates) = match gnu_getopt("mktemp", ctx.args, "dp:qtu", &LONG, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        if templates.len() > 1 {
            let message = "mktemp: too many templates\nTry 'mktemp --help' for more information.\n";
            return Ok(ExecResult::err(message, 1));
        }
        let mut words: Vec<String> = ['d', 'q', 't', 'u']
            .into_iter()
            .filter(|letter| given.iter().any(|option| option.key == *letter))
            .map(|letter| format!("-{letter}"))
            .collect();
        let last = |key: char| given.iter().rev().find(|option| option.key == key);
        if let Some(suffix) = last(SUFFIX).and_then(|option| option.value.as_ref()) {
            words.push(format!("--suffix={suffix}"));
        }
        if let Some(directory) = last('p') {
            let default = ctx.env.get("TMPDIR").filter(|directory| !directory.is_empty());
            let given = directory.value.as_ref().filter(|directory| !directory.is_empty());
            words.push(format!("--tmpdir={}", given.or(default).map_or("/tmp", String::as_str)));
        }
        words.push("--".to_owned());
        words.extend(templates);
        let mut ctx = ctx;
        ctx.args = &words;
        BashkitMktemp.execute(ctx).await
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn mktemp_directory_of_an_option_without_a_value_is_the_usual_one() {
        for (options, directory) in [
            ("--tmpdir x.XXX", "/tmp/x."),
            ("--tmpd -u x.XXX", "/tmp/x."),
            ("-u -u -p /d x.XXX", "/d/x."),
            ("-d --tmpdir=/d x.XXX", "/d/x."),
            ("x.XXX", "x."),
            ("-t x.XXX", "/tmp/x."),
            ("", "/tmp/tmp."),
        ] {
            let result = run(&format!("mkdir -p /d; mktemp {options}")).await;
            assert!(result.stdout.starts_with(directory), "{options}: {}", &*result.stdout);
        }
        let result = run("mktemp --suffix .txt x.XXX").await;
        assert!(result.stdout.ends_with(".txt\n"));
        assert_eq!(run("mktemp a.XXX b.XXX").await.exit_code, 1);
    }
}
