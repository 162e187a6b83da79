//! Calls of a tool: where the arguments come from, what is printed, and the exit status that stands for a failure.

use base64::Engine as _;
use bashkit::{CommandContext, CommandInput, Result};
use serde_json::{Map, Value as Json};

use super::words::{Options, Parameters};
use super::{Run, Stop};
use crate::bindings::catalog;
use crate::bindings::types::{self, ErrorKind, Failure, Operation, SpecialKind, ToolCall, Value};
use crate::catalog::Method;
use crate::operations;
use crate::stdin::ScriptInput;

/// A tool's own failure.
const FAILED: i32 = 1;
/// The words do not name a method, or its arguments do not fit.
pub(super) const USAGE_ERROR: i32 = 2;
/// As `timeout` has it.
const TIMED_OUT: i32 = 124;
/// Found, but may not be executed.
const DENIED: i32 = 126;
/// 128 + SIGINT.
const CANCELLED: i32 = 130;

/// One use of a method's command.
pub(super) struct Call<'a> {
    /// What messages call it: the words that the user wrote.
    pub(super) label: String,
    pub(super) method: &'a Method,
    pub(super) options: Options,
}

impl Call<'_> {
    /// One call.
    pub(super) async fn once(&self, context: &CommandContext<'_>, input: &ScriptInput) -> Run<i32> {
        let arguments = match &self.options.words[..] {
            [] => self.input_arguments(context, input, false).await?,
            [json, dash] if json == "--json" && dash == "-" => self.input_arguments(context, input, true).await?,
            words => catalog::parse_words(&self.method.name, words)
                .map_err(|message| Stop::Misuse(format!("{}: {}\n", self.label, message.trim_end())))?,
        };
        self.call(context, arguments).await
    }

    /// The arguments of a call without parameters: a JSON object on standard input, if there is one.
    ///
    /// A method that takes nothing leaves its input alone, and one that needs nothing ignores input that is no object:
    /// a `while read` loop around it has input of its own. The script's standard input is read only by a call that
    /// cannot go without.
    async fn input_arguments(&self, context: &CommandContext<'_>, script: &ScriptInput, explicit: bool) -> Run<String> {
        let parameters = Parameters::of(self.method);
        let needed = explicit || parameters.some_required();
        if !explicit && !parameters.any() {
            return Ok("{}".to_owned());
        }
        let mut bytes = read_all(&context.stdin).await?;
        if bytes.is_empty() && needed {
            bytes = script.rest().await;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if text.is_empty() || !needed && !text.starts_with('{') {
            return Ok("{}".to_owned());
        }
        self.object(text, "standard input")
    }

    /// A call for each line of standard input. The status is that of the last call that failed.
    pub(super) async fn each(&self, context: &CommandContext<'_>) -> Run<i32> {
        if let Some(word) = self.options.words.first() {
            let message = format!("{}: `--each` takes its arguments from standard input, not `{word}`\n", self.label);
            return Err(Stop::Misuse(message));
        }
        let (mut status, mut number) = (0, 0_u64);
        let mut lines = Lines::new(&context.stdin);
        while let Some(line) = lines.next().await? {
            number += 1;
            let line = String::from_utf8_lossy(&line);
            if line.trim().is_empty() {
                continue;
            }
            let result = match self.object(line.trim(), &format!("line {number}")) {
                Ok(arguments) => self.call(context, arguments).await?,
                Err(Stop::Shell(error)) => return Err(error.into()),
                Err(Stop::Misuse(message)) => {
                    context.stderr.write_all(message.as_bytes()).await?;
                    USAGE_ERROR
                }
            };
            if result != 0 {
                status = result;
            }
        }
        Ok(status)
    }

    /// The text, if it is a JSON object. It is passed on as it is: parsing it here would round its numbers.
    fn object(&self, text: &str, place: &str) -> Run<String> {
        match serde_json::from_str::<Map<String, Json>>(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(Stop::Misuse(format!("{}: {place} is not one JSON object: {error}\n", self.label))),
        }
    }

    /// Calls, and prints what comes of it.
    async fn call(&self, context: &CommandContext<'_>, arguments: String) -> Run<i32> {
        let call = ToolCall { method: self.method.name.clone(), arguments };
        match operations::begin(Operation::Call(call)).await {
            Ok(value) => {
                context.stdout.write_all(&self.render(value)).await?;
                Ok(0)
            }
            Err(failure) => {
                context.stderr.write_all(explain(&self.label, &failure).as_bytes()).await?;
                Ok(status(&failure))
            }
        }
    }

    /// The result as JSON on a line; with `--raw` a string as its text on a line, and bytes as they are.
    fn render(&self, value: Value) -> Vec<u8> {
        let json = match value {
            Value::Json(json) => json,
            Value::Bytes(bytes) => return bytes,
            Value::Nothing | Value::Exited(_) => types::Json { text: "null".to_owned(), specials: Vec::new() },
        };
        let mut text = json.text;
        if self.options.raw
            && let Ok(string) = serde_json::from_str::<String>(&text)
        {
            if let Some(bytes) = decoded(&json.specials, &string) {
                return bytes;
            }
            text = string;
        }
        text.push('\n');
        text.into_bytes()
    }
}

/// The bytes that a result as a whole stands for, if it does.
fn decoded(specials: &[types::Special], text: &str) -> Option<Vec<u8>> {
    let whole = |special: &types::Special| special.pointer.is_empty() && special.kind == SpecialKind::Bytes;
    if !specials.iter().any(whole) {
        return None;
    }
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// A failure, for standard error.
pub(crate) fn explain(label: &str, failure: &Failure) -> String {
    let mut text = format!("{label}: {}: {}\n", failure.name, failure.message);
    if let Some(payload) = &failure.payload {
        text.push_str(&format!("payload: {}\n", payload.text));
    }
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("hint: {hint}\n"));
    }
    text
}

/// The exit status that stands for a failure.
pub(crate) fn status(failure: &Failure) -> i32 {
    match failure.kind {
        ErrorKind::Capability | ErrorKind::Approval | ErrorKind::Policy => DENIED,
        ErrorKind::Argument => USAGE_ERROR,
        ErrorKind::Cancelled => CANCELLED,
        ErrorKind::Limit if failure.name == "TimeoutError" => TIMED_OUT,
        _ => FAILED,
    }
}

async fn read_all(input: &CommandInput) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = input.read_chunk().await? {
        bytes.extend(chunk);
    }
    Ok(bytes)
}

/// Lines of an input, each as soon as it is complete.
struct Lines<'a> {
    input: &'a CommandInput,
    pending: Vec<u8>,
    /// Up to here `pending` holds no end of a line.
    searched: usize,
}

impl<'a> Lines<'a> {
    fn new(input: &'a CommandInput) -> Self {
        Self { input, pending: Vec::new(), searched: 0 }
    }

    /// The next line, without its end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.pending[self.searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.pending.split_off(self.searched + end + 1);
                let mut line = std::mem::replace(&mut self.pending, rest);
                line.pop();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.pending.len();
            match self.input.read_chunk().await? {
                Some(chunk) => self.pending.extend(chunk),
                None if self.pending.is_empty() => return Ok(None),
                None => {
                    self.searched = 0;
                    return Ok(Some(std::mem::take(&mut self.pending)));
                }
            }
        }
    }
}
