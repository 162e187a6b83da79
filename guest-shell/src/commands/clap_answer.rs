//! Answers to command lines that clap does not accept, in GNU's words.

use bashkit::ExecResult;
use bashkit::clap;
use bashkit::clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the result of a call of a command of coreutils with help, a version or a wrong option.
pub(super) fn clap_answer(name: &str, error: &clap::Error, status: i32) -> ExecResult {
    let usage = |message: &str| {
        ExecResult::err(format!("{name}: {message}\nTry '{name} --help' for more information.\n"), status)
    };
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => &**argument,
        _ => "",
    };
    match error.kind() {
        ErrorKind::DisplayHelp => ExecResult::ok(error.render().to_string()),
        ErrorKind::DisplayVersion => ExecResult::ok(format!("{name} (GNU coreutils) 9.1\n")),
        ErrorKind::UnknownArgument if argument.starts_with("--") => usage(&format!("unrecognized option '{argument}'")),
        ErrorKind::UnknownArgument if argument.len() > 1 => {
            usage(&format!("invalid option -- '{}'", argument.chars().nth(1).unwrap_or_default()))
        }
        ErrorKind::MissingRequiredArgument => usage("missing operand"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => invalid_value(name, error, argument),
        _ => ExecResult::err(error.render().to_string(), status),
    }
}

/// Returns the result of an option whose argument is none of those that it takes, which has status 1 in all commands.
fn invalid_value(name: &str, error: &clap::Error, argument: &str) -> ExecResult {
    let option = argument.split([' ', '=', '[']).next().unwrap_or_default();
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return ExecResult::err(error.render().to_string(), 1);
    };
    let mut message = format!("{name}: invalid argument '{value}' for '{option}'\n");
    if value.is_empty() && !argument.contains('[') {
        message = format!("{name}: option '{option}' requires an argument\n");
    } else if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) {
        message += "Valid arguments are:\n";
        valid.iter().for_each(|value| message += &format!("  - '{value}'\n"));
    }
    ExecResult::err(format!("{message}Try '{name} --help' for more information.\n"), 1)
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn wrong_option_is_refused_in_the_words_of_gnu() {
        for (script, message, status) in [
            ("ls -y", "ls: invalid option -- 'y'\nTry 'ls --help' for more information.\n", 2),
            ("stat -x a", "stat: invalid option -- 'x'\nTry 'stat --help' for more information.\n", 1),
            ("shuf --foo", "shuf: unrecognized option '--foo'\nTry 'shuf --help' for more information.\n", 1),
            ("tac -y", "tac: invalid option -- 'y'\nTry 'tac --help' for more information.\n", 1),
            ("stat", "stat: missing operand\nTry 'stat --help' for more information.\n", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, status), "{script}");
        }
        for command in ["ls", "stat", "shuf", "tac", "od", "truncate"] {
            let result = run(&format!("{command} --version")).await;
            assert_eq!(&*result.stdout, format!("{command} (GNU coreutils) 9.1\n"));
        }
    }
}
