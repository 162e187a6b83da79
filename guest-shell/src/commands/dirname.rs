//! Command `dirname`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, invalid_option};
use bashkit::{ExecResult, Result};

const HELP: &str = "Usage: dirname NAME...\nOutput each NAME with its last non-slash component and trailing slashes removed.\nIf NAME contains no slashes, output '.' (current directory).\n\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Command `dirname` of the shell.
pub(crate) struct Dirname;

/// Returns a name without its last component.
fn directory(name: &str) -> &str {
    let trimmed = name.trim_end_matches('/');
    match trimmed.rfind('/').map(|at| trimmed[..at].trim_end_matches('/')) {
        Some("") => "/",
        Some(directory) => directory,
        // Slashes alone are the root.
        None if trimmed.is_empty() && !name.is_empty() => "/",
        None => ".",
    }
}

#[async_trait]
impl Builtin for Dirname {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("dirname (GNU coreutils) 9.1")) {
            return Ok(answer);
        }
        let (mut names, mut end) = (ctx.args, '\n');
        while let [word, behind @ ..] = names {
            match word.as_str() {
                "--" => {
                    names = behind;
                    break;
                }
                "-z" | "--zero" => end = '\0',
                option if option.starts_with('-') && option.len() > 1 => {
                    return Ok(invalid_option("dirname", option, 1));
                }
                _ => break,
            }
            names = behind;
        }
        if names.is_empty() {
            return Ok(ExecResult::err("dirname: missing operand\n".to_string(), 1));
        }
        let mut output = String::new();
        for name in names {
            output.push_str(directory(name));
            output.push(end);
        }
        Ok(ExecResult::ok(output))
    }
}

#[cfg(test)]
mod tests {
    use super::directory;
    use crate::commands::testing::run;

    #[test]
    fn directory_of_a_name_is_all_before_its_last_component() {
        for (name, expected) in [
            ("/usr/lib/x", "/usr/lib"),
            ("usr//lib//", "usr"),
            ("/usr", "/"),
            ("//usr", "/"),
            ("//", "/"),
            ("x", "."),
            ("x/", "."),
            ("", "."),
            ("../x", ".."),
        ] {
            assert_eq!(directory(name), expected, "{name}");
        }
    }

    #[tokio::test]
    async fn options_of_dirname_come_before_the_names() {
        for (script, stdout, stderr, status) in [
            ("dirname a/b c", "a\n.\n", "", 0),
            ("dirname -- -a/b", "-a\n", "", 0),
            ("dirname -z a/b c | tr '\\0' ,", "a,.,", "", 0),
            ("dirname", "", "dirname: missing operand\n", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (stdout, stderr, status), "{script}");
        }
        let refused = run("dirname -x a").await;
        assert_eq!(refused.exit_code, 1);
        assert!(refused.stderr.starts_with("dirname: invalid option -- 'x'\n"), "{}", refused.stderr);
    }
}
