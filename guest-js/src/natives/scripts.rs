//! Nested scripts, which run in guests of their own.

use std::cell::Cell;

use rquickjs::{Ctx, Object, Result, Value};

use super::{add_all, count, number};
use crate::bindings::scripts::{self, Destination, Ended, Ending, Request};
use crate::bindings::types::{InnerScript, Language, Operation, ProgramRun, Runnable, StreamWrite};
use crate::text::{self, Bytes, Text};
use crate::{convert, errors, limits, operations, time};

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

thread_local! {
    /// Number of the stream that was created last. 0 is the script's own standard input.
    static STREAMS: Cell<u32> = const { Cell::new(0) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "newStreams" => new_streams,
        "runScript" => run_script,
        "runToEnd" => run_to_end,
        "write" => write,
    )
}

/// Returns the numbers of three new streams: standard input, standard output and standard error of a nested script.
fn new_streams() -> Vec<u32> {
    let last = STREAMS.get();
    STREAMS.set(last + 3);
    vec![last + 1, last + 2, last + 3]
}

/// Runs a nested script, given as `{language, source, name, arguments, environment, directory}`, where `environment`
/// alternates names and values.
fn run_script<'js>(ctx: Ctx<'js>, script: Object<'js>, streams: Vec<u32>) -> Result<f64> {
    let [stdin, stdout, stderr] = streams[..] else {
        return Err(errors::type_error(&ctx, "a script has three streams"));
    };
    let run = ProgramRun {
        what: Runnable::Script(inner_script(&script)?),
        arguments: texts(&script, "arguments")?,
        environment: environment(&script)?,
        directory: text_of(&script, "directory")?,
        stdin,
        stdout,
        stderr,
    };
    Ok(number(operations::begin(Operation::Run(run))))
}

/// Runs a nested script to its end within this step. In addition to the fields of `runScript`, `script` has `{input,
/// stdout, stderr, timeout}`: the input as bytes, or nothing for the standard input of this script; a destination, or a
/// maximum number of captured bytes, for each output; and a time in milliseconds. Returns `{how, status, what, stdout,
/// stderr}`, or `{failure}`.
fn run_to_end<'js>(ctx: Ctx<'js>, script: Object<'js>) -> Result<Object<'js>> {
    let request = Request {
        what: inner_script(&script)?,
        arguments: texts(&script, "arguments")?,
        environment: environment(&script)?,
        directory: text_of(&script, "directory")?,
        input: script.get::<_, Option<Bytes>>("input")?.map(|bytes| bytes.0),
        stdout: destination(&script.get("stdout")?)?,
        stderr: destination(&script.get("stderr")?)?,
        timeout: script.get::<_, Option<f64>>("timeout")?.map(|millis| count(millis).saturating_mul(NANOS)),
        now: time::now(),
    };
    // The nested script gets the fuel that this one has left, so the host must know the fuel used so far.
    limits::tell();
    let ended = scripts::run_to_end(&request);
    limits::tell();
    let record = Object::new_proto(ctx.clone(), None)?;
    let Ended { how, stdout, stderr, now } = match ended {
        Ok(ended) => ended,
        Err(failure) => {
            record.set("failure", errors::to_record(&ctx, failure)?)?;
            return Ok(record);
        }
    };
    time::has_passed(now);
    let how = match how {
        Ending::Exited(status) => {
            record.set("status", status)?;
            "exited"
        }
        Ending::TimedOut => "timed out",
        Ending::Overflowed => "overflowed",
        Ending::Asked(what) => {
            record.set("what", what)?;
            "asked"
        }
    };
    record.set("how", how)?;
    record.set("stdout", convert::bytes_value(&ctx, stdout)?)?;
    record.set("stderr", convert::bytes_value(&ctx, stderr)?)?;
    Ok(record)
}

fn destination(value: &Value<'_>) -> Result<Destination> {
    if let Some(most) = value.as_number() {
        return Ok(Destination::Kept(count(most)));
    }
    Ok(match text::to_text(value)?.as_str() {
        "stdout" => Destination::StandardOutput,
        "stderr" => Destination::StandardError,
        _ => Destination::Dropped,
    })
}

fn inner_script(script: &Object<'_>) -> Result<InnerScript> {
    let language = match text_of(script, "language")?.as_str() {
        "shell" => Language::Shell,
        _ => Language::Javascript,
    };
    Ok(InnerScript { language, source: text_of(script, "source")?, name: text_of(script, "name")? })
}

fn environment(script: &Object<'_>) -> Result<Vec<(String, String)>> {
    let variables = texts(script, "environment")?;
    Ok(variables.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
}

fn text_of(script: &Object<'_>, name: &str) -> Result<String> {
    script.get::<_, Text>(name).map(|text| text.0)
}

fn texts(script: &Object<'_>, name: &str) -> Result<Vec<String>> {
    Ok(script.get::<_, Vec<Text>>(name)?.into_iter().map(|text| text.0).collect())
}

/// Writes to the standard input of a nested script: at most 64 KiB. Without bytes, waits until the nested script asks
/// for some.
fn write(stream: u32, bytes: Bytes, end: bool) -> f64 {
    number(operations::begin(Operation::Write(StreamWrite { stream, bytes: bytes.0, end })))
}
