//! Report of a run: text for the model, and structured content. What is too long for that goes into files of the session,
//! which the text names.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use tollhouse::error::Failure;
use tollhouse::gate::Call;
use tollhouse::session::{HostError, PendingCall, RunResult, SessionsError, Status};
use tollhouse::vfs::{self, Tree, WriteMode};

use crate::excerpts::shorten;
use crate::images;
use crate::pending;
use crate::sessions::{ClientSessions, OpenedSession};

/// Directory of the texts that are too long for a result.
const OVERFLOW: &str = "/tmp/tollhouse";

/// Most calls that a result lists.
const MAX_CALLS: usize = 50;

/// Most characters of a stack trace, and of an error's message.
const MAX_STACK: usize = 1000;
const MAX_MESSAGE: usize = 2000;

/// Most characters of an error's name.
const MAX_NAME: usize = 100;

/// Run that has ended or waits, with its whole output.
pub(crate) struct FinishedRun {
    pub(crate) result: RunResult,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Lines that were not passed on as log messages.
    pub(crate) dropped: u64,
    /// Calls that wait for a decision.
    pub(crate) pending: Vec<PendingCall>,
    /// Files before the run.
    pub(crate) before: Option<Tree>,
    /// Interrupted run that can be resumed no longer, since this one has begun.
    pub(crate) given_up: Option<u64>,
}

/// Text of a result that was shortened.
struct Shortened {
    what: &'static str,
    characters: usize,
    file: Option<String>,
}

/// Part of a result: the text that is shown, and the whole text if that is shortened.
struct Part {
    what: &'static str,
    shown: String,
    whole: Option<String>,
}

impl Part {
    fn new(what: &'static str, text: String, limit: usize) -> Self {
        let short = shorten(&text, limit);
        match short.of {
            Some(_) => Self { what, shown: short.text, whole: Some(text) },
            None => Self { what, shown: text, whole: None },
        }
    }
}

/// Builds the result of the tool call.
pub(crate) fn report(
    client: &ClientSessions,
    opened: &OpenedSession,
    finished: FinishedRun,
    limit: usize,
) -> CallToolResult {
    let FinishedRun { mut result, stdout, stderr, dropped, pending, before, given_up } = finished;
    if let (Status::Suspended, false, Some(error)) = (result.status, client.on_disk(), &mut result.error) {
        // No command reaches a session in memory.
        error.hint = Some("`resume` asks the client's user again".to_owned());
    }
    let value = result.value.as_ref().filter(|value| !value.is_null()).map(|value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    });
    // The value is what a script means to say; standard output takes what is left.
    let value = Part::new("value", value.unwrap_or_default(), limit / 2);
    let stderr = Part::new("stderr", stderr, limit / 4);
    let left = limit.saturating_sub(value.shown.len()).saturating_sub(stderr.shown.len()).max(limit / 4);
    let stdout = Part::new("stdout", stdout, left);
    let shortened = keep_whole(opened, &result, &[&stdout, &stderr, &value]);
    let after = client.files(opened).ok();
    if let (Some(before), Some(after)) = (&before, &after) {
        client.announce(&opened.name, before, after);
    }
    let shown_images = match (&before, &after) {
        (Some(before), Some(after)) => images::new_ones(&opened.name, before, after),
        _ => Vec::new(),
    };
    let parts = Parts { stdout: &stdout, stderr: &stderr, value: &value };
    let mut text = text(client, opened, &result, &parts, &shortened, &pending, dropped);
    let mut structured = structured(opened, &result, &parts, &shortened, &pending);
    if let Some(run) = given_up {
        push(
            &mut text,
            &format!("[run {run}, which was interrupted, cannot be resumed any more: this run took its place]"),
        );
        structured["given_up"] = json!(run);
    }
    let mut content = vec![ContentBlock::text(text)];
    content.extend(shown_images);
    let is_error = !matches!(result.status, Status::Completed | Status::Suspended);
    let mut report = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    report.structured_content = Some(structured);
    report
}

/// Parts of a result.
struct Parts<'a> {
    stdout: &'a Part,
    stderr: &'a Part,
    value: &'a Part,
}

/// Writes the whole texts of shortened parts to files of the session. While a run is suspended, nothing can be written.
fn keep_whole(opened: &OpenedSession, result: &RunResult, parts: &[&Part]) -> Vec<Shortened> {
    let long: Vec<(&Part, &String)> = parts.iter().filter_map(|part| Some((*part, part.whole.as_ref()?))).collect();
    if long.is_empty() {
        return Vec::new();
    }
    let run = result.run.unwrap_or_default();
    let file = |part: &Part| format!("{OVERFLOW}/run-{run}-{}.txt", part.what);
    let written = write_all(opened, long.iter().map(|(part, whole)| (file(part), whole.as_bytes())).collect());
    let listed = long.into_iter().map(|(part, whole)| Shortened {
        what: part.what,
        characters: whole.chars().count(),
        file: written.is_ok().then(|| file(part)),
    });
    listed.collect()
}

fn write_all(opened: &OpenedSession, files: Vec<(String, &[u8])>) -> Result<(), HostError> {
    opened.session.change("long output of a run", |tree| {
        let now = vfs::now();
        tree.create_directory(OVERFLOW, true, now).or_else(|error| match error {
            vfs::Errno::Exists => Ok(()),
            error => Err(SessionsError::File { path: OVERFLOW.to_owned(), source: error }),
        })?;
        files.into_iter().try_for_each(|(path, bytes)| {
            tree.write(&path, bytes, WriteMode::Replace, now).map_err(|source| SessionsError::File { path, source })
        })
    })
}

/// Writes the text for the model.
fn text(
    client: &ClientSessions,
    opened: &OpenedSession,
    result: &RunResult,
    parts: &Parts<'_>,
    shortened: &[Shortened],
    waiting: &[PendingCall],
    dropped: u64,
) -> String {
    let mut text = String::new();
    push(&mut text, &parts.stdout.shown);
    if !parts.stderr.shown.is_empty() {
        push(&mut text, &format!("stderr:\n{}", parts.stderr.shown));
    }
    if !parts.value.shown.is_empty() {
        push(&mut text, &format!("returned: {}", parts.value.shown));
    }
    if let Some(error) = &result.error {
        push(&mut text, &error_text(result.status, error));
    }
    if matches!(result.status, Status::Suspended | Status::InDoubt) {
        push(&mut text, &pending::explain(client, opened, result.status, waiting));
    }
    for part in shortened {
        let whole = match &part.file {
            Some(file) => format!("`read_file` of {file} has all"),
            None => "the rest could not be kept".to_owned(),
        };
        push(&mut text, &format!("[{} is shortened: {} characters; {whole}]", part.what, part.characters));
    }
    if dropped > 0 {
        push(&mut text, &format!("[{dropped} lines were not sent as log messages: they came too fast]"));
    }
    if text.is_empty() {
        text.push_str("The script ended without output; it returned nothing.");
    }
    text
}

fn push(text: &mut String, part: &str) {
    if part.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(part.trim_end_matches('\n'));
}

fn error_text(status: Status, error: &Failure) -> String {
    let message = shorten(&error.message, MAX_MESSAGE).text;
    let name = shorten(&error.name, MAX_NAME).text;
    let mut text = format!("{}: {name}: {message}", status.word());
    if let Some(stack) = &error.stack {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{}", shorten(stack, MAX_STACK).text.trim_end());
    }
    if let Some(hint) = &error.hint {
        let _ = write!(text, "\nhint: {}", shorten(hint, MAX_MESSAGE).text);
    }
    text
}

/// Builds the structured content.
fn structured(
    opened: &OpenedSession,
    result: &RunResult,
    parts: &Parts<'_>,
    shortened: &[Shortened],
    waiting: &[PendingCall],
) -> Value {
    let value = match &parts.value.whole {
        Some(_) => Value::String(parts.value.shown.clone()),
        None => result.value.clone().unwrap_or_default(),
    };
    let error = result.error.as_ref().map(|error| {
        json!({
            "kind": error.kind,
            "name": shorten(&error.name, MAX_NAME).text,
            "message": shorten(&error.message, MAX_MESSAGE).text,
            "hint": error.hint.as_ref().map(|hint| shorten(hint, MAX_MESSAGE).text),
            "stack": error.stack.as_ref().map(|stack| shorten(stack, MAX_STACK).text),
        })
    });
    let calls = result.calls.as_slice();
    // The last calls tell most of why a run ended as it did.
    let calls: Vec<Value> = calls[calls.len().saturating_sub(MAX_CALLS)..].iter().map(call).collect();
    let shortened =
        shortened.iter().map(|part| json!({ "what": part.what, "characters": part.characters, "file": part.file }));
    json!({
        "status": result.status,
        "value": value,
        "stdout": parts.stdout.shown,
        "stderr": parts.stderr.shown,
        "exit_code": result.exit_code,
        "error": error,
        "calls": calls,
        "budgets": result.budgets,
        "session": opened.name,
        "run": result.run,
        "shortened": shortened.collect::<Vec<_>>(),
        "pending": pending::items(&opened.name, waiting),
    })
}

fn call(call: &Call) -> Value {
    json!({ "seq": call.seq, "method": call.method, "outcome": call.outcome })
}
