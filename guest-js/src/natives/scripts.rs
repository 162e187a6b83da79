//! Scripts that the script runs, in guests of their own.

use std::cell::Cell;

use rquickjs::{Ctx, Object, Result};

use super::{add_all, number};
use crate::bindings::types::{InnerScript, Language, Operation, ProgramRun, Runnable, StreamWrite};
use crate::text::{Bytes, Text};
use crate::{errors, operations};

thread_local! {
    /// The number that the last stream got. 0 is the script's own standard input.
    static STREAMS: Cell<u32> = const { Cell::new(0) };
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "newStreams" => new_streams, "runScript" => run_script, "write" => write)
}

/// The numbers of three streams: what a script reads, what it writes, and what it writes about that.
fn new_streams() -> Vec<u32> {
    let last = STREAMS.get();
    STREAMS.set(last + 3);
    vec![last + 1, last + 2, last + 3]
}

/// Runs a script: `{language, source, name, arguments, environment, directory}`, where the environment is names and
/// values in turn.
fn run_script<'js>(ctx: Ctx<'js>, script: Object<'js>, streams: Vec<u32>) -> Result<f64> {
    let text = |name: &str| script.get::<_, Text>(name).map(|text| text.0);
    let texts = |name: &str| -> Result<Vec<String>> {
        Ok(script.get::<_, Vec<Text>>(name)?.into_iter().map(|text| text.0).collect())
    };
    let language = match text("language")?.as_str() {
        "shell" => Language::Shell,
        _ => Language::Javascript,
    };
    let [stdin, stdout, stderr] = streams[..] else {
        return Err(errors::type_error(&ctx, "a script has three streams"));
    };
    let variables = texts("environment")?;
    let what = Runnable::Script(InnerScript { language, source: text("source")?, name: text("name")? });
    let run = ProgramRun {
        what,
        arguments: texts("arguments")?,
        environment: variables.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
        directory: text("directory")?,
        stdin,
        stdout,
        stderr,
    };
    Ok(number(operations::begin(Operation::Run(run))))
}

/// Gives bytes to a script that this one runs: at most 64 KiB, and none to wait until it asks for some.
fn write(stream: u32, bytes: Bytes, end: bool) -> f64 {
    number(operations::begin(Operation::Write(StreamWrite { stream, bytes: bytes.0, end })))
}
