//! Command `watch`, which is refused: there is no terminal that it could write to again and again.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

const HELP: &str = "Usage: watch [OPTION]... COMMAND\nExecute a program periodically, showing output.\n\n  -n SECONDS\tupdate interval (default: 2)\n  -t\t\tno title line\n  -g\t\texit when the output changes\n  -x\t\tpass COMMAND's words to exec instead of bash -c\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n";

/// Interval without `-n`, in seconds.
const DEFAULT_INTERVAL: f64 = 2.0;
/// Shortest interval, in seconds, as in `watch` of procps.
const SHORTEST_INTERVAL: f64 = 0.1;

/// Command `watch` of the shell.
pub(crate) struct Watch;

/// Returns the interval in seconds, and the words of the command. The error is a message about a wrong call.
fn parse(args: &[String]) -> std::result::Result<(f64, &[String]), String> {
    let mut interval = DEFAULT_INTERVAL;
    let mut words = args;
    while let [word, behind @ ..] = words {
        match word.as_str() {
            "-n" | "--interval" => {
                let [value, rest @ ..] = behind else {
                    return Err("watch: option requires an argument -- 'n'\n".to_string());
                };
                interval = match value.parse::<f64>() {
                    Ok(seconds) if seconds > 0.0 && seconds.is_finite() => seconds.max(SHORTEST_INTERVAL),
                    _ => return Err(format!("watch: invalid interval '{value}'\n")),
                };
                words = rest;
            }
            // Other options change what is shown, and nothing is.
            option if option.starts_with('-') && option != "-" => words = behind,
            _ => return Ok((interval, words)),
        }
    }
    Err("watch: no command specified\n".to_string())
}

#[async_trait]
impl Builtin for Watch {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("watch from procps-ng 4.0.2")) {
            return Ok(answer);
        }
        let message = match parse(ctx.args) {
            Ok((interval, command)) => format!(
                "watch: there is no terminal: `while {}; do sleep {interval}; done` repeats a command\n",
                command.join(" ")
            ),
            Err(message) => message,
        };
        Ok(ExecResult::err(message, 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn watch_is_refused_with_what_repeats_the_command() {
        for (script, message) in [
            ("watch ls -l", "watch: there is no terminal: `while ls -l; do sleep 2; done` repeats a command\n"),
            ("watch -n 5 -t date", "watch: there is no terminal: `while date; do sleep 5; done` repeats a command\n"),
            ("watch -n 0.01 date", "watch: there is no terminal: `while date; do sleep 0.1; done` repeats a command\n"),
            ("watch -n x date", "watch: invalid interval 'x'\n"),
            ("watch -n", "watch: option requires an argument -- 'n'\n"),
            ("watch -t", "watch: no command specified\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        }
    }
}
