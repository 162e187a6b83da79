//! Scripts that the script runs, in guests of their own.

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
    /// The number that the last stream got. 0 is the script's own standard input.
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

/// The numbers of three streams: what a script reads, what it writes, and what it writes about that.
fn new_streams() -> Vec<u32> {
    let last = STREAMS.get();
    STREAMS.set(last + 3);
    vec![last + 1, last + 2, last + 3]
}

/// Runs a script, given as `{language, source, name, arguments, environment, directory}`, where the environment is
/// names and values in turn.
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

/// Runs such a script to its end, within this step. Besides it has `{input, stdout, stderr, timeout}`: bytes, or
/// nothing for the standard input of this script; for each of the two a destination, or the most bytes that are kept;
/// and milliseconds. Gives `{how, status, what, stdout, stderr}`, or `{failure}`.
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
    // The other script has what this one has left.
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

/// Gives bytes to a script that this one runs: at most 64 KiB, and none to wait until it asks for some.
fn write(stream: u32, bytes: Bytes, end: bool) -> f64 {
    number(operations::begin(Operation::Write(StreamWrite { stream, bytes: bytes.0, end })))
}
