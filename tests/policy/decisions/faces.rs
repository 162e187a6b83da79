//! The faces of the gate: each is one function that makes one call, as its own kind of caller does.

use serde_json::Value;
use tollhouse::agent::Program;
use tollhouse::error::{ErrorKind, Failure};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{RunOptions, RunResult, Session};
use tollhouse::tool::names::{Spelling, faces};
use tollhouse_tests::built;

/// Way to call a tool.
pub(super) struct Face {
    pub(super) name: &'static str,
    /// Function that makes one call: a session, a canonical method, and its arguments as JSON text.
    pub(super) call: fn(&Session, &str, &str) -> Told,
}

/// Faces that are compared: the others with the first.
pub(super) const FACES: [Face; 4] = [
    Face { name: "Rust", call: rust },
    Face { name: "JavaScript", call: javascript },
    Face { name: "the shell", call: shell },
    Face { name: "a component", call: component },
];

/// Answer that the caller was given.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// Value that the tool returned, with its numbers as floats: a script's result is written as JavaScript writes it,
    /// without the sign of a zero or the point of a whole number.
    Ok(Value),
    /// No grant, budget or human allows it.
    Denied(String),
    /// The arguments do not fit.
    Refused(String),
    /// Answer that no decision may come to.
    Other(String),
}

impl Told {
    fn returned(value: Value) -> Self {
        Self::Ok(floats(value))
    }

    fn failed(failure: &Failure) -> Self {
        let message = failure.message.clone();
        match failure.kind {
            ErrorKind::Capability | ErrorKind::Approval => Self::Denied(message),
            ErrorKind::Argument => Self::Refused(message),
            kind => Self::Other(format!("{kind:?}: {message}")),
        }
    }
}

fn floats(value: Value) -> Value {
    match value {
        // Minus zero and zero add up to zero.
        Value::Number(number) => number.as_f64().map_or(Value::Null, |float| (float + 0.0).into()),
        Value::Array(items) => items.into_iter().map(floats).collect(),
        Value::Object(object) => object.into_iter().map(|(key, value)| (key, floats(value))).collect(),
        other => other,
    }
}

fn rust(session: &Session, method: &str, arguments: &str) -> Told {
    session.call(method, arguments).map_or_else(|failure| Told::failed(&failure), |result| Told::returned(result.value))
}

fn javascript(session: &Session, method: &str, arguments: &str) -> Told {
    let path = faces(method, Spelling::Wit).path;
    let result = run(session, Language::JavaScript, format!("return await {path}({})", literal(arguments)));
    match &result.error {
        Some(failure) => Told::failed(failure),
        None => Told::returned(result.value.unwrap_or_default()),
    }
}

/// `tool` tells by its exit status what kind of failure it was: 126 for what may not be, 2 for what does not fit.
fn shell(session: &Session, method: &str, arguments: &str) -> Told {
    let quoted = arguments.replace('\'', r"'\''");
    let result = run(session, Language::Shell, format!("tool {} --json '{quoted}'", method.replace('/', ".")));
    let (stdout, stderr) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    let told = stderr.trim_end().split("\nhint: ").next().unwrap_or_default();
    // The words that name the tool, then the error's name where the gate speaks.
    let told = told.split_once(": ").map_or(told, |(_, told)| told);
    let told = ["CapabilityError: ", "ArgumentError: "].iter().find_map(|name| told.strip_prefix(name)).unwrap_or(told);
    match result.exit_code {
        0 => {
            serde_json::from_str(&stdout).map_or_else(|error| Told::Other(format!("{error}: {stdout}")), Told::returned)
        }
        126 => Told::Denied(told.to_owned()),
        2 => Told::Refused(told.to_owned()),
        other => Told::Other(format!("status {other}: {stderr}")),
    }
}

/// A component's arguments are typed before it runs: what does not fit the types it cannot say. Each of the fixture's
/// programs imports one function.
fn component(session: &Session, method: &str, arguments: &str) -> Told {
    let Some(tool) = session.gate().tools().get(method) else {
        return Told::Refused(format!("there is no tool `{method}`"));
    };
    let given = serde_json::from_str(arguments).map_err(|error| error.to_string());
    let typed = given.and_then(|given| tool.canonicalize(given, u64::MAX).map_err(|failure| failure.message));
    let typed = match typed {
        Ok(typed) => typed.to_string(),
        Err(message) => return Told::Refused(message),
    };
    let name = method.rsplit('/').next().unwrap_or_default();
    let path = built().join(format!("../wasm32-wasip2/guest/caller-{name}.wasm"));
    let program = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let arguments = Program { name: name.to_owned(), arguments: vec![typed], ..Program::default() };
    let run = session.start_component(program, arguments, RunOptions::default());
    let result = run.expect("a run").finish();
    match &result.error {
        Some(failure) => Told::failed(failure),
        None => {
            let stdout = String::from_utf8_lossy(&result.stdout);
            serde_json::from_str(&stdout).map_or_else(|error| Told::Other(format!("{error}: {stdout}")), Told::returned)
        }
    }
}

fn run(session: &Session, language: Language, source: String) -> RunResult {
    let script = Script { source, name: "decision".to_owned(), ..Script::default() };
    session.start(language, script, RunOptions::default()).expect("a run").finish()
}

/// JSON as a JavaScript programmer writes it: integers that a number would round are BigInts. A key is computed, since
/// `"__proto__":` in a literal is no key but sets the prototype. Everything else, numbers above all, stays as it is spelled.
fn literal(json: &str) -> String {
    let mut written = String::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '-' | '0'..='9' => rest.find([',', ']', '}', ' ']).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_key = first == '"' && after.trim_start().starts_with(':');
        let rounds = token.parse().is_ok_and(|integer: i128| integer.unsigned_abs() >= 1 << 53);
        match (is_key, rounds) {
            (true, _) => written.push_str(&format!("[{token}]")),
            (_, true) => written.push_str(&format!("{token}n")),
            _ => written.push_str(token),
        }
        rest = after;
    }
    written
}

/// Returns the length of the string at the start of a text, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
