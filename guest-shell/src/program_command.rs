//! Commands for mounted programs. A command passes its words and streams to the host, which runs the program, and
//! returns the output.
//!
//! Input is read only when the program requests it: in `while read line; do program; done` the lines belong to the
//! loop.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bashkit::{Command, CommandContext, CommandOutput, CommandStatus, Result, async_trait};

use crate::bindings::types::{ErrorKind, Failure, Operation, ProgramRun, Runnable, StreamRead, StreamWrite, Value};
use crate::operations;
use crate::tool_command::{explain, status};

/// Number of bytes that are transferred at once, which is the capacity of a stream.
const CHUNK: u32 = 64 << 10;

/// Status of a program that trapped: 128 + SIGABRT.
const TRAPPED: i32 = 134;
/// Exit status for a program that cannot be executed, according to POSIX.
const CANNOT_RUN: i32 = 126;
/// Status of a program that exceeded the memory limit: 128 + SIGKILL, as on a real system.
const KILLED: i32 = 137;

thread_local! {
    /// Number of the most recent stream. 0 is the standard input of the script.
    static STREAMS: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of a new stream.
fn stream() -> u32 {
    STREAMS.set(STREAMS.get() + 1);
    STREAMS.get()
}

/// Command that runs the program with its own name.
pub(crate) struct ProgramCommand;

#[async_trait]
impl Command for ProgramCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let what = Runnable::Program(context.name.to_owned());
        run(&context, what, context.args.to_vec()).await
    }
}

/// Runs a program or script with the streams and variables of a command, until it ends.
pub(crate) async fn run(context: &CommandContext<'_>, what: Runnable, arguments: Vec<String>) -> Result<CommandStatus> {
    run_with(context, what, arguments, Vec::new()).await
}

/// Runs a program or script like [`run`], with further variables. Those of the command take precedence.
pub(crate) async fn run_with(
    context: &CommandContext<'_>,
    what: Runnable,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
) -> Result<CommandStatus> {
    let environment = with_exported(context, environment);
    if let Some(place) = not_text(&what, &arguments, &environment) {
        let message =
            format!("{}: {place} is not UTF-8 text\nhint: pass bytes on standard input, or in a file\n", context.name);
        context.stderr.write_text(&message).await?;
        return Ok(CommandStatus::with_code(CANNOT_RUN));
    }
    let run = ProgramRun {
        what,
        arguments,
        environment,
        directory: context.cwd.to_string_lossy().into_owned(),
        stdin: stream(),
        stdout: stream(),
        stderr: stream(),
    };
    let (stdin, stdout, stderr) = (run.stdin, run.stdout, run.stderr);
    let mut ended = pin!(operations::begin(Operation::Run(run)));
    let mut fed = pin!(feed(context, stdin));
    let mut written = pin!(drain(stdout, &context.stdout));
    let mut complained = pin!(drain(stderr, &context.stderr));
    let (mut ending, mut feeding, mut writing, mut complaining) = (None, true, true, true);
    let ending = poll_fn(|task| {
        // Its output is written first. If the output has no reader any more, the program is stopped.
        for (stream, going) in [(&mut complained, &mut complaining), (&mut written, &mut writing)] {
            if *going && let Poll::Ready(result) = stream.as_mut().poll(task) {
                result?;
                *going = false;
            }
        }
        if feeding && let Poll::Ready(result) = fed.as_mut().poll(task) {
            result?;
            feeding = false;
        }
        if ending.is_none()
            && let Poll::Ready(result) = ended.as_mut().poll(task)
        {
            ending = Some(result);
        }
        if writing || complaining {
            Poll::Pending
        } else {
            ending.take().map_or(Poll::Pending, |it| Poll::Ready(Ok(it)))
        }
    });
    match ending.await {
        Err(error) => Err(error),
        Ok(Ok(Value::Exited(status))) => Ok(CommandStatus::with_code(i32::from(status))),
        Ok(Ok(_)) => Ok(CommandStatus::success()),
        Ok(Err(failure)) => {
            context.stderr.write_all(explain(context.name, &failure).as_bytes()).await?;
            Ok(CommandStatus::with_code(of_program(&failure)))
        }
    }
}

/// Returns an environment with the exported variables of the shell, which replace those of the same name.
fn with_exported(context: &CommandContext<'_>, mut environment: Vec<(String, String)>) -> Vec<(String, String)> {
    environment.retain(|(name, _)| !context.env.contains_key(name));
    environment.extend(context.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    environment.sort();
    environment
}

/// Returns a description of an input that is not valid text: the script, an argument or a variable. WASI supports only
/// strings.
fn not_text(what: &Runnable, arguments: &[String], environment: &[(String, String)]) -> Option<String> {
    if let Runnable::Script(script) = what
        && bashkit::has_raw_bytes(&script.source)
    {
        return Some("the script".to_owned());
    }
    if let Some(at) = arguments.iter().position(|argument| bashkit::has_raw_bytes(argument)) {
        return Some(format!("argument {}", at + 1));
    }
    let (name, _) = environment.iter().find(|(_, value)| bashkit::has_raw_bytes(value))?;
    Some(format!("the variable `{name}`"))
}

/// Returns the exit status for a program that did not end normally.
fn of_program(failure: &Failure) -> i32 {
    match failure.kind {
        ErrorKind::Tool => TRAPPED,
        ErrorKind::Limit => KILLED,
        _ => status(failure),
    }
}

/// Passes standard input to a program on request, until the program or the input ends.
async fn feed(context: &CommandContext<'_>, stream: u32) -> Result<()> {
    let write = |bytes: Vec<u8>, end: bool| operations::begin(Operation::Write(StreamWrite { stream, bytes, end }));
    let mut asked = write(Vec::new(), false).await;
    while asked.is_ok() {
        let Some(part) = context.stdin.read_chunk().await? else {
            let _ = write(Vec::new(), true).await;
            break;
        };
        asked = give(stream, part).await;
    }
    Ok(())
}

/// Sends bytes to a program, in parts of at most the capacity of a stream.
async fn give(stream: u32, bytes: Vec<u8>) -> operations::Ending {
    let mut asked = Ok(Value::Nothing);
    for part in bytes.chunks(CHUNK as usize) {
        asked = operations::begin(Operation::Write(StreamWrite { stream, bytes: part.to_vec(), end: false })).await;
        if asked.is_err() {
            break;
        }
    }
    asked
}

/// Forwards the output of a program incrementally.
async fn drain(stream: u32, output: &CommandOutput) -> Result<()> {
    loop {
        match operations::begin(Operation::Read(StreamRead { stream, limit: CHUNK })).await {
            Ok(Value::Bytes(bytes)) if !bytes.is_empty() => output.write_all(&bytes).await?,
            // The stream has ended, or the program never started, for which its result has the reason.
            _ => return Ok(()),
        }
    }
}
