//! Calls of a tool: sources of arguments, output, and exit statuses of failures.

use base64::Engine as _;
use bashkit::{CommandContext, CommandInput, Result};
use serde_json::{Map, Value as Json};

use super::words::{Options, Parameters};
use super::{Run, Stop};
use crate::bindings::catalog;
use crate::bindings::types::{self, ErrorKind, Failure, Operation, SpecialKind, ToolCall, Value};
use crate::catalog::Method;
use crate::operations;

/// Exit status of a failure that the tool reported.
const FAILED: i32 = 1;
/// Exit status if the words do not name a method, or its arguments are invalid.
pub(super) const USAGE_ERROR: i32 = 2;
/// Exit status of a call that timed out, as for `timeout`.
const TIMED_OUT: i32 = 124;
/// Exit status of a method that was found but must not be executed.
const DENIED: i32 = 126;
/// Exit status of a cancelled call: 128 + SIGINT.
const CANCELLED: i32 = 130;

/// Call of a method by its command.
pub(super) struct Call<'a> {
    /// Label of the call in messages: the words on the command line.
    pub(super) label: String,
    pub(super) method: &'a Method,
    pub(super) options: Options,
}

impl Call<'_> {
    /// Calls the method once, with parameters of the command line or of standard input.
    pub(super) async fn once(&self, context: &CommandContext<'_>) -> Run<i32> {
        let arguments = match &self.options.words[..] {
            [] => return self.by_input(context).await,
            [json, dash] if json == "--json" && dash == "-" => {
                let text = Lines::new(&context.stdin).rest().await?;
                self.object(self.utf8(&text, "standard input")?.trim(), "standard input")?
            }
            words => match words.iter().position(|word| bashkit::has_raw_bytes(word)) {
                Some(at) => return Err(self.not_text(&format!("argument {}", at + 1))),
                None => catalog::parse_words(&self.method.name, words)
                    .map_err(|message| Stop::Misuse(format!("{}: {}\n", self.label, message.trim_end())))?,
            },
        };
        self.call(context, arguments).await
    }

    /// Makes the calls of a command without parameters: one call for the JSON object on standard input, if any, or one
    /// call for each line if the first line is a complete object.
    ///
    /// For a method without parameters, nothing is read. For a method whose parameters are all optional, input that is
    /// not an object is put back, since it belongs to a `while read` loop around the call. The standard input of the
    /// script itself is not read in this case, because it may stay open for ever.
    async fn by_input(&self, context: &CommandContext<'_>) -> Run<i32> {
        let parameters = Parameters::of(self.method);
        let needed = parameters.some_required();
        if !parameters.any() || (!needed && context.stdin.is_inherited().await) {
            return self.call(context, "{}".to_owned()).await;
        }
        let mut lines = Lines::new(&context.stdin);
        if !needed && !lines.begin_with_object().await? {
            return self.call(context, "{}".to_owned()).await;
        }
        let Some(mut text) = lines.filled().await? else { return self.call(context, "{}".to_owned()).await };
        if std::str::from_utf8(&text).is_ok_and(|text| is_object(text).is_ok()) {
            return self.lines(context, lines, Some(text)).await;
        }
        text.push(b'\n');
        text.extend(lines.rest().await?);
        self.call(context, self.object(self.utf8(&text, "standard input")?.trim(), "standard input")?).await
    }

    /// Makes a call for each line of standard input, which may only contain lines.
    pub(super) async fn each(&self, context: &CommandContext<'_>) -> Run<i32> {
        if let Some(word) = self.options.words.first() {
            let message = format!("{}: `--each` takes its arguments from standard input, not `{word}`\n", self.label);
            return Err(Stop::Misuse(message));
        }
        self.lines(context, Lines::new(&context.stdin), None).await
    }

    /// Makes a call for this line, if any, and for each following one. Returns the status of the last failed call.
    async fn lines(&self, context: &CommandContext<'_>, mut lines: Lines<'_>, first: Option<Vec<u8>>) -> Run<i32> {
        let (mut status, mut next) = (0, first);
        loop {
            let line = match next.take() {
                Some(line) => line,
                None => match lines.filled().await? {
                    Some(line) => line,
                    None => return Ok(status),
                },
            };
            let place = format!("line {}", lines.number);
            let result = match self.utf8(&line, &place).and_then(|line| self.object(line, &place)) {
                Ok(arguments) => self.call(context, arguments).await?,
                Err(Stop::Shell(error)) => return Err(error.into()),
                Err(Stop::Misuse(message)) => {
                    context.stderr.write_text(&message).await?;
                    USAGE_ERROR
                }
            };
            if result != 0 {
                status = result;
            }
        }
    }

    /// Returns the text if it is a JSON object. It is passed on unchanged, since parsing it here would round its
    /// numbers.
    fn object(&self, text: &str, place: &str) -> Run<String> {
        match is_object(text) {
            Ok(()) => Ok(text.to_owned()),
            Err(error) => Err(Stop::Misuse(format!("{}: {place} is not one JSON object: {error}\n", self.label))),
        }
    }

    /// Returns input as text, or an error that names its place.
    fn utf8<'t>(&self, bytes: &'t [u8], place: &str) -> Run<&'t str> {
        std::str::from_utf8(bytes).map_err(|_| self.not_text(place))
    }

    /// Returns the error for bytes that JSON cannot represent. Replacing them would result in a different call.
    fn not_text(&self, place: &str) -> Stop {
        Stop::Misuse(format!("{}: {place} is not UTF-8 text\nhint: pass bytes as base64\n", self.label))
    }

    /// Calls the method, and prints the result.
    async fn call(&self, context: &CommandContext<'_>, arguments: String) -> Run<i32> {
        let call = ToolCall { method: self.method.name.clone(), arguments, location: operations::location() };
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

    /// Returns the result as JSON on one line. With `--raw`, a string becomes its text on a line, and bytes are output
    /// unchanged.
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

/// Returns the bytes that the entire result represents, if any.
fn decoded(specials: &[types::Special], text: &str) -> Option<Vec<u8>> {
    let whole = |special: &types::Special| special.pointer.is_empty() && special.kind == SpecialKind::Bytes;
    if !specials.iter().any(whole) {
        return None;
    }
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// Returns the message about a failure, for standard error.
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

/// Returns the exit status for a failure.
pub(crate) fn status(failure: &Failure) -> i32 {
    match failure.kind {
        ErrorKind::Capability | ErrorKind::Approval | ErrorKind::Policy => DENIED,
        ErrorKind::Argument => USAGE_ERROR,
        ErrorKind::Cancelled => CANCELLED,
        ErrorKind::Limit if failure.name == "TimeoutError" => TIMED_OUT,
        _ => FAILED,
    }
}

fn is_object(text: &str) -> serde_json::Result<()> {
    serde_json::from_str::<Map<String, Json>>(text).map(drop)
}

/// Lines of an input, which are available as soon as they are complete.
struct Lines<'a> {
    /// Input; `None` after its end.
    input: Option<&'a CommandInput>,
    pending: Vec<u8>,
    /// Length of the prefix of `pending` that is known to contain no line end.
    searched: usize,
    /// Number of lines that were consumed.
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(input: &'a CommandInput) -> Self {
        Self { input: Some(input), pending: Vec::new(), searched: 0, number: 0 }
    }

    /// Returns true if the input begins with an object. Otherwise, nothing is consumed.
    async fn begin_with_object(&mut self) -> Result<bool> {
        while self.pending.trim_ascii_start().is_empty() && self.more().await? {}
        let begins = self.pending.trim_ascii_start().starts_with(b"{");
        if let (false, Some(input)) = (begins, self.input) {
            input.unread(&std::mem::take(&mut self.pending)).await;
        }
        Ok(begins)
    }

    /// Returns the next line that is not blank, trimmed.
    async fn filled(&mut self) -> Result<Option<Vec<u8>>> {
        while let Some(line) = self.next().await? {
            self.number += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Ok(Some(line.to_vec()));
            }
        }
        Ok(None)
    }

    /// Returns the next line, without its end.
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
            if self.more().await? {
                continue;
            }
            self.searched = 0;
            return Ok((!self.pending.is_empty()).then(|| std::mem::take(&mut self.pending)));
        }
    }

    /// Reads the remaining input.
    async fn rest(&mut self) -> Result<Vec<u8>> {
        while self.more().await? {}
        self.searched = 0;
        Ok(std::mem::take(&mut self.pending))
    }

    /// Reads more input into the buffer, and returns false at the end.
    async fn more(&mut self) -> Result<bool> {
        let Some(input) = self.input else { return Ok(false) };
        match input.read_chunk().await? {
            Some(chunk) => self.pending.extend(chunk),
            None => self.input = None,
        }
        Ok(self.input.is_some())
    }
}
