//! Command `less`: prints its files, or its input, as `less` does whose output is no terminal.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::fmt::Write as _;

use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result, async_trait, text_of};

const HELP: &str = "Usage: less [FILE]...\nView file contents (pager).\n\nInside a bashkit::terminal::Terminal session, less pages interactively\n(q quit, space/b page, j/k line, g/G ends, /pattern n N search, -F).\nEverywhere else it behaves like cat.\n\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Command `less`.
pub(super) struct Less;

#[async_trait]
impl Builtin for Less {
    async fn execute(&self, context: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(context.args, HELP, Some("less (bashkit) 0.1")) {
            return Ok(answer);
        }
        let files: Vec<&String> = context.args.iter().filter(|word| !word.starts_with('-')).collect();
        if files.is_empty() {
            let input = context.read_stdin().await?;
            return Ok(ExecResult::ok(input.map(|input| input.to_string()).unwrap_or_default()));
        }
        let mut output = String::new();
        for (index, file) in files.iter().enumerate() {
            let path = resolve_path(context.cwd, file);
            if !context.fs.exists(&path).await.unwrap_or(false) {
                return Ok(ExecResult::err(format!("{file}: No such file or directory\n"), 1));
            }
            if context.fs.stat(&path).await?.file_type.is_dir() {
                return Ok(ExecResult::err(format!("{file}: Is a directory\n"), 1));
            }
            if files.len() > 1 {
                let gap = if index > 0 { "\n" } else { "" };
                let _ = writeln!(output, "{gap}==> {file} <==");
            }
            output.push_str(&text_of(&context.fs.read_file(&path).await?));
        }
        Ok(ExecResult::ok(output))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn less_of_files_prints_them_with_headers() {
        let result = run("cd /tmp; echo 1 > a; echo 2 > b; less a b; echo 3 | less; less -R a").await;
        assert_eq!(&*result.stdout, "==> a <==\n1\n\n==> b <==\n2\n3\n1\n");
        let result = run("less missing").await;
        assert_eq!((&*result.stderr, result.exit_code), ("missing: No such file or directory\n", 1));
    }
}
