//! Command `less`: prints its files, or its input, as `less` does whose output is no terminal.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result, async_trait, text_of};

use super::operands::file_error_reason;

const HELP: &str = "Usage: less [FILE]...\nView file contents (pager).\n\nInside a bashkit::terminal::Terminal session, less pages interactively\n(q quit, space/b page, j/k line, g/G ends, /pattern n N search, -F).\nEverywhere else it behaves like cat.\n\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Command `less`.
pub(super) struct Less;

/// Letters of options that take a value, in the same word or in the next one.
const VALUED: &str = "bhjkoOpPtTxyzD#\"";

/// Returns the operands of a command line. Options change nothing of what is printed here; `+COMMAND` is one, too.
fn operands(words: &[String]) -> Vec<&String> {
    let mut files = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // Behind the first file, all words are files.
        if word == "--" || !word.starts_with(['-', '+']) || word == "-" {
            files.extend(Some(word).filter(|word| *word != "--"));
            files.extend(words.by_ref());
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let valued = letters.find(|letter| VALUED.contains(letter));
            if !letters.starts_with('-') && valued.is_some_and(|at| at + 1 == letters.len()) {
                words.next();
            }
        }
    }
    files
}

#[async_trait]
impl Builtin for Less {
    async fn execute(&self, context: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(context.args, HELP, Some("less 590 (tollhouse)")) {
            return Ok(answer);
        }
        let files = operands(context.args);
        if files.is_empty() {
            let input = context.read_stdin().await?;
            return Ok(ExecResult::ok(input.map(|input| input.to_string()).unwrap_or_default()));
        }
        let mut output = String::new();
        for file in files {
            if file == "-" {
                output.push_str(&context.stdin_to_end().await?.text_lossy());
                continue;
            }
            let path = resolve_path(context.cwd, file);
            if context.fs.stat(&path).await.is_ok_and(|status| status.file_type.is_dir()) {
                output.push_str(&format!("{file} is a directory\n"));
                continue;
            }
            match context.fs.read_file(&path).await {
                Ok(bytes) => output.push_str(&text_of(&bytes)),
                // As where a terminal shows them, in the place of the text.
                Err(error) => output.push_str(&format!("{file}: {}\n", file_error_reason(error)?)),
            }
        }
        Ok(ExecResult::ok(output))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn less_into_a_pipe_prints_its_files_one_after_the_other() {
        let result =
            run("cd /tmp; echo 1 > a; echo 2 > b; less a b; echo 3 | less; less -R a; less -x 4 +1 a; less a +1").await;
        assert_eq!((&*result.stdout, result.exit_code), ("1\n2\n3\n1\n1\n1\n+1: No such file or directory\n", 0));
        let result = run("cd /tmp; echo 1 > a; mkdir d; echo x | less missing d - a; less -- a").await;
        assert_eq!(
            (&*result.stdout, &*result.stderr, result.exit_code),
            ("missing: No such file or directory\nd is a directory\nx\n1\n1\n", "", 0)
        );
    }
}
