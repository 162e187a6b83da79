//! Output of a run's result for people.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use serde::Serialize;
use serde_json::Value;
use tollhouse::error::{ErrorKind, Failure, Location};
use tollhouse::gate::{BudgetKind, CallOutcome};
use tollhouse::session::RunResult;
use unicode_width::UnicodeWidthStr as _;

use super::stdio::Stdout;
use super::terminal_escape::{escape_hidden, escape_json};
use crate::Exit;

/// Prints a line on standard output, with hidden characters escaped. Standard output keeps its first error: see
/// [`stdio::conclude`](super::stdio::conclude).
pub(crate) fn line(text: impl std::fmt::Display) {
    styled(escape_hidden(&text.to_string()));
}

/// Prints a line unchanged: our own text, perhaps with colors, or a script's output.
pub(crate) fn styled(text: impl std::fmt::Display) {
    let _ = Stdout.write_all(format!("{text}\n").as_bytes());
}

/// Prints a value as one line of JSON, while it is serialized: it may have as many bytes as memory.
pub(crate) fn json(value: &impl Serialize) {
    if io::stdout().is_terminal() {
        styled(shown(serde_json::to_string(value)));
        return;
    }
    let mut out = BufWriter::with_capacity(OUTPUT_BUFFER, Stdout);
    match serde_json::to_writer(&mut out, value) {
        // Standard output keeps its first error.
        Ok(()) => drop(out.write_all(b"\n").and_then(|()| out.flush())),
        Err(error) => assert!(error.is_io(), "what is printed is plain data: {error}"),
    }
}

/// Bytes that are written at once.
const OUTPUT_BUFFER: usize = 64 << 10;

/// Prints a text that is already one line of JSON.
pub(crate) fn json_text(text: String) {
    styled(shown(Ok(text)));
}

/// Prints a value as JSON of several lines.
pub(crate) fn json_pretty(value: &impl Serialize) {
    styled(shown(serde_json::to_string_pretty(value)));
}

/// Returns JSON for standard output: on a terminal, hidden characters are escaped, which does not change the meaning.
fn shown(json: serde_json::Result<String>) -> String {
    let json = json.expect("what is printed is plain data");
    if io::stdout().is_terminal() { escape_json(&json) } else { json }
}

/// Prints the returned value, after the output: strings raw, the rest as JSON, nothing for no value. Then prints the
/// failure.
pub(crate) fn result(result: &RunResult) {
    match &result.value {
        None => {}
        // Like the script's own output.
        Some(Value::String(text)) => styled(text),
        Some(value) => json_pretty(value),
    }
    if let Some(error) = &result.error {
        located(error);
    }
}

/// Prints a failure on standard error, with the line of the script where it happened.
pub(crate) fn located(error: &Failure) {
    if let Some(location) = &error.location {
        quote(location);
    }
    failure(error);
}

/// Prints a failure on standard error: stack or name and message, then the hint. The script or a tool may have written
/// any of it.
pub(crate) fn failure(error: &Failure) {
    // A shell script's own exit status needs no message.
    if error.kind == ErrorKind::Exit {
        return;
    }
    note!("{}", indented(&format!("{}: {}", error.name, error.message)));
    if let Some(stack) = error.stack.as_deref().filter(|stack| !stack.trim().is_empty()) {
        // As it is: what it shows of an error's properties is indented already.
        stack.trim().lines().for_each(|line| note!("    {}", line.trim_end()));
    }
    if let Some(payload) = &error.payload {
        note!("payload: {}", payload.value);
    }
    if let Some(hint) = &error.hint {
        note!("hint: {}", indented(hint));
    }
}

/// Prints the line of a script in which an error happened, and a mark below its column. The shell has already printed
/// its errors, with their lines.
fn quote(location: &Location) {
    let (Some(source), Some(column)) = (&location.source, location.column) else { return };
    note!("{}:{}", indented(&location.file), location.line);
    note!("    {}", source.trim_end());
    note!("    {}", marker(source, column));
}

/// Returns a mark below a column of a line, after as much space as the text before it takes on a terminal.
fn marker(source: &str, column: u32) -> String {
    let before = source.char_indices().take_while(|(at, _)| at + 1 < column as usize).map(|(_, c)| c);
    let blank = |c| if c == '\t' { "\t".to_owned() } else { " ".repeat(escape_hidden(&String::from(c)).width()) };
    let mut marker: String = before.map(blank).collect();
    marker.push('^');
    marker
}

/// Indents the further lines of a text, so that they cannot be taken for our own.
fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let further = lines
        .iter()
        .skip(1)
        .map(|line| if line.starts_with("    ") { (*line).to_owned() } else { format!("    {line}") });
    lines.first().map(|line| (*line).to_owned()).into_iter().chain(further).collect::<Vec<_>>().join("\n")
}

/// Returns the exit status of an uncaught failure.
pub(crate) fn exit_code(kind: ErrorKind) -> Exit {
    Exit::from(match kind {
        ErrorKind::Argument | ErrorKind::Policy => super::error::USAGE,
        ErrorKind::Capability | ErrorKind::Approval => 3,
        ErrorKind::Limit => 4,
        ErrorKind::Cancelled => 130,
        _ => 1,
    })
}

/// Prints the calls and budgets on standard error.
pub(crate) fn summary(result: &RunResult) {
    let calls = result.calls.as_slice();
    note!("\ncalls ({})", calls.len());
    for call in calls {
        let outcome = match call.outcome {
            CallOutcome::Ok => "ok",
            CallOutcome::Failed => "failed",
            CallOutcome::Denied => "denied",
            CallOutcome::Cancelled => "cancelled",
            _ => "pending",
        };
        let grant = call.grant.as_deref().unwrap_or("-");
        // Escaped first: a guest may ask for any method, and the columns depend on what is visible.
        let method = escape_hidden(&call.method);
        note!("  {:>3}  {method:<28} {outcome:<10} {:>9} us  {grant}", call.seq, call.micros);
    }
    note!("budgets ({})", result.budgets.len());
    for budget in &result.budgets {
        let kind = match budget.kind {
            BudgetKind::Calls => "calls",
            _ => "spend",
        };
        note!("  {:<34} {kind}  {} of {} used, {} left", budget.grant, budget.used, budget.limit, budget.remaining);
    }
    let usage = &result.usage;
    note!(
        "{} ms, {} KiB of memory, {} KiB of files",
        usage.wall_micros / 1_000,
        usage.memory_bytes / 1_024,
        usage.file_bytes / 1_024
    );
}
/// Characters of a value that are shown as text.
const CLIP: usize = 200;

/// Formats a text as one line.
pub(crate) fn plain(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// Formats the name of an argument: as JSON, unless it is a plain word. A tool may take names that a script chooses, which
/// could look like lines and values.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    if !text.is_empty() && text.chars().all(is_word) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(Value::from(text).to_string())
}

/// Returns the beginning of a text, and how long it is.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(CLIP) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that a script chose cannot look like a line of the question, or like a value.
    #[test]
    fn name_that_is_no_word_is_shown_as_json() {
        assert_eq!(name("amount"), "amount");
        assert_eq!(name("customer-id_2"), "customer-id_2");
        assert_eq!(name("a = 1\n  grant `none`: it asks"), "\"a = 1\\n  grant `none`: it asks\"");
        assert_eq!(name(""), "\"\"");
        assert_eq!(name(" x"), "\" x\"");
    }
}
