//! Command `which`, as Debian's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::{BASH_BUILTIN_NAMES, Builtin, Context, resolve_path, search_path_all};
use bashkit::{ExecResult, Result};

const USAGE: &str = "Usage: /usr/bin/which [-a] args\n";

/// Command `which` of the shell.
pub(crate) struct Which;

/// Returns true with `-a`, and the names. The error is an option that `which` does not have.
fn parse(args: &[String]) -> std::result::Result<(bool, &[String]), char> {
    let (mut all, mut names) = (false, args);
    while let [word, behind @ ..] = names {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        names = behind;
        if letters == "-" {
            break;
        }
        match letters.chars().find(|letter| *letter != 'a') {
            Some(letter) => return Err(letter),
            None => all = true,
        }
    }
    Ok((all, names))
}

/// Returns the files that a name stands for: the first one in `PATH`, or all of them.
async fn find(ctx: &Context<'_>, name: &str, all: bool) -> Vec<String> {
    if name.contains('/') {
        let found = ctx.fs.stat(&resolve_path(ctx.cwd, name)).await;
        let is_executable = found.is_ok_and(|found| found.file_type.is_file() && found.mode & 0o111 != 0);
        return if is_executable { vec![name.to_string()] } else { Vec::new() };
    }
    let mut files = search_path_all(ctx, name, !all).await;
    // A builtin of bash that is a command of the table here.
    files.retain(|file| !matches!(file.as_str(), "/usr/bin/logout" | "/bin/logout"));
    let is_builtin = ctx.shell.as_ref().is_some_and(|shell| shell.has_builtin(name));
    if files.is_empty() && is_builtin && !BASH_BUILTIN_NAMES.contains(&name) && name != "logout" {
        // Without files of programs, a command is all that there is.
        return vec![name.to_string()];
    }
    files
}

#[async_trait]
impl Builtin for Which {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let (all, names) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(letter) => {
                let stderr = format!("Illegal option -{letter}\n").into();
                return Ok(ExecResult { stderr, ..ExecResult::with_code(USAGE, 2) });
            }
        };
        let mut output = String::new();
        let mut status = i32::from(names.is_empty());
        for name in names {
            let files = find(&ctx, name, all).await;
            if files.is_empty() {
                status = 1;
            }
            for file in files {
                output.push_str(&file);
                output.push('\n');
            }
        }
        Ok(ExecResult::with_code(output, status))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn which_prints_the_files_of_commands() {
        let files = "mkdir -p /tmp/b /tmp/c; for d in b c; do echo : > /tmp/$d/p; chmod +x /tmp/$d/p; done; PATH=/tmp/b:/tmp/c:$PATH; ";
        for (script, stdout, status) in [
            ("which p", "/tmp/b/p\n", 0),
            ("which -a p", "/tmp/b/p\n/tmp/c/p\n", 0),
            ("which p missing", "/tmp/b/p\n", 1),
            ("which /tmp/c/p", "/tmp/c/p\n", 0),
            ("which /tmp/b", "", 1),
            ("which -- cd logout", "", 1),
            ("which", "", 1),
        ] {
            let result = run(&format!("{files}{script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (stdout, status), "{script}");
        }
    }

    #[tokio::test]
    async fn which_refuses_other_options() {
        let result = run("which -ax ls").await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (super::USAGE, "Illegal option -x\n", 2));
    }
}
