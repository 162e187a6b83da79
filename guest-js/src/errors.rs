//! Converts errors in both directions: a thrown value of the script becomes a `failure` for the host, and a `failure`
//! of the host becomes a record from which the prelude makes an exception.
//!
//! The prelude itself examines thrown values (`describe` in `prelude/errors.js`), since it knows which errors came from
//! the host.
#![expect(unsafe_code, reason = "an exception that no script can catch")]

use rquickjs::{Ctx, Error, Exception, Function, Object, Result, Value, qjs};

use crate::bindings::types::{ErrorKind, Failure, Json, Location};
use crate::convert::{self, JsonPurpose};
use crate::source::SourceError;
use crate::text;

/// Names of error kinds, as the prelude spells them.
const KINDS: [(ErrorKind, &str); 12] = [
    (ErrorKind::Syntax, "syntax"),
    (ErrorKind::Exception, "exception"),
    (ErrorKind::Exit, "exit"),
    (ErrorKind::Tool, "tool"),
    (ErrorKind::Argument, "argument"),
    (ErrorKind::Capability, "capability"),
    (ErrorKind::Approval, "approval"),
    (ErrorKind::Limit, "limit"),
    (ErrorKind::Cancelled, "cancelled"),
    (ErrorKind::Policy, "policy"),
    (ErrorKind::Deadlock, "deadlock"),
    (ErrorKind::Host, "host"),
];

/// Converts an uncaught exception to a failure, with the prelude's function `describe`.
pub(crate) fn from_thrown<'js>(ctx: &Ctx<'js>, describe: &Function<'js>, thrown: Value<'js>) -> Failure {
    match described(ctx, describe, thrown) {
        Ok(failure) => failure,
        Err(_) => {
            // An exception that a getter of the thrown value throws is dropped. It must not stay pending.
            ctx.catch();
            plain(ErrorKind::Exception, "Error", "the script threw a value that cannot be described")
        }
    }
}

/// Asks the prelude to describe a thrown value.
fn described<'js>(ctx: &Ctx<'js>, describe: &Function<'js>, thrown: Value<'js>) -> Result<Failure> {
    let record: Object<'js> = describe.call((thrown,))?;
    let field = |key: &str| -> Result<Option<String>> {
        let value: Value<'js> = record.get(key)?;
        if value.is_string() { text::to_text(&value).map(Some) } else { Ok(None) }
    };
    let payload: Value<'js> = record.get("payload")?;
    let frames = field("stack")?;
    let location = frames.as_deref().and_then(location);
    let stack = match (frames, field("properties")?) {
        (Some(frames), Some(properties)) => Some(format!("{frames} {properties}")),
        (frames, properties) => frames.or(properties),
    };
    Ok(Failure {
        kind: kind(field("kind")?.as_deref().unwrap_or_default()),
        name: field("name")?.unwrap_or_default(),
        message: field("message")?.unwrap_or_default(),
        hint: field("hint")?,
        location,
        stack,
        payload: match convert::to_json(ctx, payload, JsonPurpose::Outcome) {
            Ok(text) => text.map(|text| Json { text, specials: Vec::new() }),
            Err(_) => {
                // A payload that cannot be written as JSON is left out; the error itself matters more.
                ctx.catch();
                None
            }
        },
    })
}

/// Returns the kind with this name, or `exception` for any other name.
fn kind(name: &str) -> ErrorKind {
    KINDS.iter().find(|(_, known)| *known == name).map_or(ErrorKind::Exception, |(kind, _)| *kind)
}

/// Returns the record from which the prelude makes an exception.
pub(crate) fn to_record<'js>(ctx: &Ctx<'js>, failure: Failure) -> Result<Object<'js>> {
    let record = Object::new_proto(ctx.clone(), None)?;
    let name = KINDS.iter().find(|(kind, _)| *kind == failure.kind).map_or("host", |(_, name)| name);
    record.set("kind", name)?;
    record.set("name", failure.name)?;
    record.set("message", failure.message)?;
    record.set("hint", failure.hint)?;
    record.set("stack", failure.stack)?;
    if let Some(payload) = failure.payload {
        record.set("payload", convert::from_json(ctx, payload)?)?;
    }
    Ok(record)
}

/// Returns a failure of a kind, with a name and a message.
pub(crate) fn plain(kind: ErrorKind, name: &str, message: &str) -> Failure {
    Failure {
        kind,
        name: name.to_owned(),
        message: message.to_owned(),
        hint: None,
        stack: None,
        location: None,
        payload: None,
    }
}

/// Returns the place of the innermost frame that belongs to a script. Frames of a stack trace are `at NAME
/// (FILE:LINE:COLUMN)`, at the top level of a script `at FILE:LINE:COLUMN`, of native functions `at NAME (native)`, of
/// parsed text such as JSON `at <input>:…`, and of this guest's own JavaScript `at NAME (tollhouse:…)`.
pub(crate) fn location(stack: &str) -> Option<Location> {
    stack.lines().find_map(|line| {
        let frame = line.trim().strip_prefix("at ")?;
        let place = match frame.strip_suffix(')') {
            Some(named) => named.split_once(" (")?.1,
            None => frame,
        };
        if place.starts_with('<') || place.starts_with("tollhouse:") {
            return None;
        }
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Location { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? })
    })
}

/// Returns the failure of a script that is not valid TypeScript.
pub(crate) fn from_problem(problem: SourceError, name: &str) -> Failure {
    let mut failure = plain(ErrorKind::Syntax, "SyntaxError", &problem.message);
    failure.stack = Some(format!("at {name}:{}:{}", problem.line, problem.column));
    failure.location = failure.stack.as_deref().and_then(location);
    failure
}

/// Returns a `TypeError` with which a native function refuses an argument.
pub(crate) fn type_error(ctx: &Ctx<'_>, message: &str) -> Error {
    Exception::throw_type(ctx, message)
}

/// Returns an exception that no script can catch, and for which no `finally` block runs.
pub(crate) fn uncatchable(ctx: &Ctx<'_>, message: &str) -> Error {
    let _ = Exception::throw_internal(ctx, message);
    let thrown = ctx.catch();
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the value was just caught and is alive; `JS_Throw` takes over the reference made for it.
    unsafe {
        qjs::JS_SetUncatchableError(raw, thrown.as_raw());
        qjs::JS_Throw(raw, qjs::JS_DupValue(raw, thrown.as_raw()));
    }
    Error::Exception
}
