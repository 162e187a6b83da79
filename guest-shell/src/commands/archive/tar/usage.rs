//! Results of wrong calls.

use bashkit::ExecResult;

use super::long_options::LongOption;

/// Returns the result of a call with a wrong option.
pub(super) fn usage_error(message: &str) -> ExecResult {
    usage_result(message, 64)
}

/// Returns the result of a call whose options do not fit together.
pub(super) fn fatal_usage_error(message: &str) -> ExecResult {
    usage_result(message, 2)
}

/// Returns the result of a long option that is not known.
pub(super) fn unrecognized(name: &str) -> ExecResult {
    usage_error(&format!("unrecognized option '--{name}'"))
}

/// Returns the result of a shortened option that may be several.
pub(super) fn ambiguous(name: &str, possible: &[&LongOption]) -> ExecResult {
    let possible: String = possible.iter().map(|(name, ..)| format!(" '--{name}'")).collect();
    usage_error(&format!("option '--{name}' is ambiguous; possibilities:{possible}"))
}

/// Returns the result of an option whose value is none of some words.
pub(super) fn invalid_choice(option: &str, value: &str, words: &[&str]) -> ExecResult {
    let words: String = words.iter().map(|word| format!("  - '{word}'\n")).collect();
    let message = format!("tar: invalid argument '{value}' for '--{option}'\nValid arguments are:\n{words}");
    ExecResult::err(message, 2)
}

fn usage_result(message: &str, status: i32) -> ExecResult {
    let help = "Try 'tar --help' or 'tar --usage' for more information.";
    ExecResult::err(format!("tar: {message}\n{help}\n"), status)
}

/// Returns the result of a file that is no archive; `progress` is what is said of the attempt to go on.
pub(super) fn not_an_archive(progress: &str) -> ExecResult {
    let start = "tar: This does not look like a tar archive\n";
    let end = "tar: Exiting with failure status due to previous errors\n";
    ExecResult::err(format!("{start}{progress}{end}"), 2)
}
