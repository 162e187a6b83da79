//! `logger`: enters messages into the system's log, of which there is none here, as in a container without one.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::operands;

const HELP: &str = "
Usage:
 logger [options] [<message>]

Enter messages into the system log.

Options:
 -i                       log the logger command's PID
 -f, --file <file>        log the contents of this file
 -p, --priority <prio>    mark given message with this priority
 -s, --stderr             output message to standard error as well
 -t, --tag <tag>          mark every line with this tag
 -h, --help               display this help
 -V, --version            display version

There is no system log here: messages are dropped, and -s is an error.
";

const LONG_OPTIONS: [(&str, OptArg, char); 6] = [
    ("file", OptArg::Required, 'f'),
    ("id", OptArg::Optional, 'i'),
    ("no-act", OptArg::No, 'n'),
    ("priority", OptArg::Required, 'p'),
    ("stderr", OptArg::No, 's'),
    ("tag", OptArg::Required, 't'),
];

const FACILITIES: [&str; 21] = [
    "auth", "authpriv", "cron", "daemon", "ftp", "kern", "lpr", "mail", "news", "security", "syslog", "user", "uucp",
    "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];

const LEVELS: [&str; 11] =
    ["alert", "crit", "debug", "emerg", "err", "error", "info", "notice", "panic", "warn", "warning"];

/// Command `logger` of the shell.
pub(crate) struct Logger;

/// Returns what is wrong with a priority, such as `user.err`.
fn priority_mistake(priority: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (facility, level) = match priority.split_once('.') {
        Some((facility, level)) => (Some(facility), level),
        None => (None, priority),
    };
    if let Some(facility) = facility.filter(|name| !FACILITIES.contains(name) && !is_number(name)) {
        return Some(format!("unknown facility name: {facility}"));
    }
    (!LEVELS.contains(&level) && !is_number(level)).then(|| format!("unknown priority name: {level}"))
}

#[async_trait]
impl Builtin for Logger {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("logger from util-linux 2.38.1")) {
            return Ok(result);
        }
        let (given, message) = match gnu_getopt("logger", ctx.args, "f:inp:st:", &LONG_OPTIONS, false, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let failure = |message: &str| Ok(ExecResult::err(format!("logger: {message}\n"), 1));
        let (mut with_errors, mut file) = (false, None);
        for option in given {
            match (option.key, option.value) {
                ('s', _) => with_errors = true,
                ('p', Some(priority)) => {
                    if let Some(mistake) = priority_mistake(&priority) {
                        return failure(&mistake);
                    }
                }
                ('f', value) => file = value,
                _ => {}
            }
        }
        if let Some(file) = file
            && let Err(reason) = operands::read(&ctx, &file).await?
        {
            return failure(&format!("file {file}: {reason}"));
        }
        if with_errors {
            return failure("socket /dev/log: No such file or directory");
        }
        if message.is_empty() {
            ctx.stdin_to_end().await?;
        }
        Ok(ExecResult::ok(String::new()))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn message_without_a_log_is_dropped() {
        for script in ["logger hello", "logger -t tag -p user.err a b", "echo a | logger -i", "logger -p 3 x"] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("", "", 0), "{script}");
        }
    }

    #[tokio::test]
    async fn wrong_call_of_logger_is_an_error() {
        for (script, message) in [
            ("logger -p foo.bar x", "logger: unknown facility name: foo\n"),
            ("logger -p user.bar x", "logger: unknown priority name: bar\n"),
            ("logger -s x", "logger: socket /dev/log: No such file or directory\n"),
            ("logger -f nope", "logger: file nope: No such file or directory\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        }
    }
}
