//! Builtins `enable`, `logout` and `suspend`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::{BASH_BUILTIN_NAMES, Builtin, Context};
use bashkit::{ExecResult, Result};

const USAGE: &str = "enable: usage: enable [-a] [-dnps] [-f filename] [name ...]\n";

/// Special builtins of POSIX, which `enable -s` lists.
const SPECIAL_BUILTINS: [&str; 16] = [
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source",
    "times", "trap", "unset",
];

/// Builtin `enable` of the shell.
pub(crate) struct Enable;

/// Arguments of `enable`.
#[derive(Default)]
struct Request<'a> {
    /// Option `-a`.
    all: bool,
    /// Option `-n`.
    off: bool,
    /// Option `-d`.
    delete: bool,
    /// Option `-s`.
    special: bool,
    /// Option `-p`.
    print: bool,
    names: Vec<&'a String>,
}

/// Parses the arguments of `enable`. The error is the result of a call that is refused.
fn parse(args: &[String]) -> std::result::Result<Request<'_>, ExecResult> {
    let mut request = Request::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            break;
        }
        let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            request.names.push(arg);
            break;
        };
        for letter in letters.chars() {
            match letter {
                'a' => request.all = true,
                'n' => request.off = true,
                'd' => request.delete = true,
                's' => request.special = true,
                'p' => request.print = true,
                'f' => {
                    let file = args.next().map_or("", String::as_str);
                    let message =
                        format!("bash: enable: cannot open shared object {file}: loading builtins is not supported\n");
                    return Err(ExecResult::err(message, 1));
                }
                _ => return Err(ExecResult::err(format!("bash: enable: -{letter}: invalid option\n{USAGE}"), 2)),
            }
        }
    }
    request.names.extend(args);
    Ok(request)
}

impl Request<'_> {
    /// Returns the list of the builtins that are enabled, of those that are not, or of both.
    fn list(&self, is_disabled: impl Fn(&str) -> bool) -> String {
        let mut list = String::new();
        for name in BASH_BUILTIN_NAMES.iter().filter(|name| !self.special || SPECIAL_BUILTINS.contains(name)) {
            match is_disabled(name) {
                true if self.all || self.off => list.push_str(&format!("enable -n {name}\n")),
                false if self.all || !self.off => list.push_str(&format!("enable {name}\n")),
                _ => {}
            }
        }
        list
    }
}

#[async_trait]
impl Builtin for Enable {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let Some(shell) = ctx.shell else {
            return Ok(ExecResult::err("bash: enable: not available here\n".to_string(), 1));
        };
        let request = match parse(ctx.args) {
            Ok(request) => request,
            Err(refusal) => return Ok(refusal),
        };
        let disabled = shell.disabled_builtins;
        if request.names.is_empty() || request.print {
            return Ok(ExecResult::ok(request.list(|name| disabled.contains(name))));
        }
        let mut messages = String::new();
        for name in &request.names {
            if !BASH_BUILTIN_NAMES.contains(&name.as_str()) {
                messages.push_str(&format!("bash: enable: {name}: not a shell builtin\n"));
            } else if request.delete {
                messages.push_str(&format!("bash: enable: {name}: not dynamically loaded\n"));
            } else if request.off {
                disabled.insert((*name).clone());
            } else {
                disabled.remove(*name);
            }
        }
        let exit_code = i32::from(!messages.is_empty());
        Ok(ExecResult { stderr: messages.into(), exit_code, ..ExecResult::default() })
    }
}

/// Builtin `logout` of a shell that is not a login shell.
pub(crate) struct Logout;

#[async_trait]
impl Builtin for Logout {
    async fn execute(&self, _: Context<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err("bash: logout: not login shell: use `exit'\n", 1))
    }
}

/// Builtin `suspend` of a shell without job control.
pub(crate) struct Suspend;

#[async_trait]
impl Builtin for Suspend {
    async fn execute(&self, _: Context<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err("bash: suspend: cannot suspend: no job control\n", 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn builtin_that_is_disabled_is_listed_as_such() {
        for (script, stdout) in [
            ("enable | grep -c '^enable [^-]'", "61\n"),
            ("enable -n test; enable -n", "enable -n test\n"),
            ("enable -n test; enable -a | grep test", "enable -n test\n"),
            ("enable -n test; enable test; enable -n", ""),
            ("enable -s | head -2", "enable .\nenable :\n"),
        ] {
            assert_eq!(&*run(script).await.stdout, stdout, "{script}");
        }
    }

    #[tokio::test]
    async fn wrong_calls_of_enable_are_refused_in_the_words_of_bash() {
        for (script, message, status) in [
            ("enable ls", "bash: line 1: enable: ls: not a shell builtin\n", 1),
            ("enable -d cd", "bash: line 1: enable: cd: not dynamically loaded\n", 1),
            (
                "enable -z",
                "bash: line 1: enable: -z: invalid option\nenable: usage: enable [-a] [-dnps] [-f filename] [name ...]\n",
                2,
            ),
            (
                "enable -f x.so y",
                "bash: line 1: enable: cannot open shared object x.so: loading builtins is not supported\n",
                1,
            ),
            ("logout", "bash: line 1: logout: not login shell: use `exit'\n", 1),
            ("suspend", "bash: line 1: suspend: cannot suspend: no job control\n", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, status), "{script}");
        }
    }
}
