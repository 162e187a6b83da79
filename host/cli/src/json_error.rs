//! Errors as JSON, for commands with `--json`.

use std::ffi::{OsStr, OsString};

use serde_json::{Value, json};
use tollhouse::error::Failure;
use tollhouse::session::RunResult;

use super::{CliError, show, stdio};

/// Form in which a command's errors are printed on standard output, besides the text on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonErrors {
    /// No JSON: the command prints text.
    Off,
    /// The object of a run, with all its keys.
    Run,
    /// An object with status, exit_code and error.
    Object,
}

impl JsonErrors {
    /// Determines the form from the command line, which may be invalid. The first argument is the program.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let words = || arguments.iter().skip(1).map(OsString::as_os_str).take_while(|word| *word != "--");
        if !words().any(|word| word == "--json") {
            return Self::Off;
        }
        let is_option = |word: &&OsStr| word.as_encoded_bytes().starts_with(b"-");
        if words().find(|word| !is_option(word)).is_some_and(|word| word == "run") { Self::Run } else { Self::Object }
    }

    /// Prints an error, unless the command has printed something already: then its output stays as it is.
    pub(crate) fn print(self, error: &CliError) {
        if stdio::is_used() {
            return;
        }
        match self {
            Self::Off => {}
            Self::Object => show::json(&error.to_json()),
            Self::Run => show::json(&as_run(error)),
        }
    }
}

/// Returns the object of a run that did not start.
fn as_run(error: &CliError) -> Value {
    let mut run = json!(RunResult::refused(Failure::host("")));
    if let (Value::Object(run), Value::Object(said)) = (&mut run, error.to_json()) {
        run.extend(said);
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_errors_form_follows_command() {
        let of = |line: &str| JsonErrors::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("tollhouse run --json --nope"), JsonErrors::Run);
        assert_eq!(of("tollhouse tools --json"), JsonErrors::Object);
        assert_eq!(of("tollhouse run x.js -- --json"), JsonErrors::Off);
    }

    #[test]
    fn error_of_run_has_all_keys_of_a_run() {
        let run = as_run(&CliError::usage("wrong"));
        assert_eq!((&run["error"]["kind"], &run["exit_code"], &run["calls"]), (&json!("usage"), &json!(2), &json!([])));
    }
}
