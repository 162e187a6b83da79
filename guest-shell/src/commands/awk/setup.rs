//! What comes before a program runs: its text is read and parsed, and variables are set.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;
use std::sync::Arc;

use super::ast::{Program, Source, VarRef, special};
use super::interpreter::{Evaluation, Interpreter, RunLimits, Slot, Unwind, truncate};
use super::io::{Bridge, Host, InputPipe, Io, command_line_assignment};
use super::lexer::{UnknownEscape, unescape};
use super::options::{Options, ProgramSource, USAGE, VERSION, failure};
use super::parser::{ParseError, ParseErrorKind, Parser};
use super::value::Value;
use super::{Awk, driver};
use crate::commands::character_locale::CharacterSet;
use bashkit::builtins::{Context, check_help_version};
use bashkit::fs::vfs_join;
use bashkit::limits::ExecutionLimits;
use bashkit::{ExecResult, Result};

/// Most bytes of a name that an error message quotes.
const MAX_NAME_BYTES: usize = 200;

/// Longest line and longest message that are shown of a program with a syntax error, in bytes.
const MAX_LINE_BYTES: usize = 400;
const MAX_MESSAGE_BYTES: usize = 300;

/// Elements of the array `PROCINFO`.
const PROCINFO: [(&str, &str); 4] =
    [("version", "5.2.1"), ("strftime", "%a %b %e %H:%M:%S %Z %Y"), ("FS", "FS"), ("platform", "posix")];

/// Outcome of the preparations.
pub(super) enum Setup {
    /// The call has ended: `--help`, or an error.
    Done(Box<ExecResult>),
    Run(Box<Interpreter>),
}

/// Text of a program, joined from its sources.
#[derive(Default)]
struct ProgramText {
    text: String,
    /// Offset and name of each source.
    sources: Vec<Source>,
    /// True if standard input was read for a source (`-f -`).
    is_of_stdin: bool,
}

impl Awk {
    /// Parses arguments and program, and prepares an interpreter.
    pub(super) async fn setup(&self, ctx: &Context<'_>, bridge: Option<Bridge>) -> Result<Setup> {
        if let Some(result) = check_help_version(ctx.args, USAGE, Some(VERSION)) {
            return Ok(Setup::Done(Box::new(result)));
        }
        let options = match Options::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(Setup::Done(result)),
        };
        let characters = CharacterSet::of_environment(ctx.env);
        let text = ProgramText::read(&options.sources, ctx).await?;
        let program = match text.as_ref().map_err(Clone::clone).and_then(|text| text.parse(characters)) {
            Ok(program) => program,
            Err(result) => return Ok(Setup::Done(result)),
        };
        let warnings: Vec<String> = match &text {
            Ok(text) => program.unknown_escapes.iter().map(|escape| text.warning(escape)).collect(),
            Err(_) => Vec::new(),
        };
        let mut io = Io::new(self.host(ctx, bridge));
        if text.is_ok_and(|text| text.is_of_stdin) {
            io.give_up_stdin();
        }
        io.in_place.is_enabled = options.edits_files;
        io.in_place.suffix = options.copy_suffix.clone();
        let bytes_match = characters == CharacterSet::Bytes;
        let mut interpreter = match Interpreter::new(Arc::new(program), io, limits_of(ctx), bytes_match) {
            Ok(interpreter) => Box::new(interpreter),
            Err(message) => return Ok(Setup::Done(failure(format!("awk: fatal: {message}\n"), 2))),
        };
        for warning in warnings {
            interpreter.write_error_line(&warning);
        }
        if set_variables(&mut interpreter, &options).is_err() {
            let status = if interpreter.ending.fatal { 2 } else { 1 };
            return Ok(Setup::Done(Box::new(driver::result_of(&mut interpreter, status)?)));
        }
        Ok(Setup::Run(interpreter))
    }

    fn host(&self, ctx: &Context<'_>, bridge: Option<Bridge>) -> Host {
        let mut env: Vec<(String, String)> =
            ctx.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        env.sort();
        let characters = CharacterSet::of_environment(ctx.env);
        Host {
            fs: ctx.fs.clone(),
            cwd: ctx.cwd.clone(),
            env,
            characters,
            stdin: ctx.stdin.map(|stdin| characters.of_text(stdin.text_lossy().into_owned())),
            pipe: ctx.stdin_stream().map(|stream| InputPipe::new(stream, characters)),
            output: ctx.stdout_stream(),
            budget: ctx.execution_budget().and_then(|budget| budget.try_with(Clone::clone).ok()),
            clock: self.clock,
            bridge,
        }
    }
}

fn limits_of(ctx: &Context<'_>) -> RunLimits {
    let of = |limits: &ExecutionLimits| RunLimits {
        max_loop: limits.max_loop_iterations,
        max_total_loop: limits.max_total_loop_iterations,
        max_memory: usize::try_from(limits.max_live_intermediate_bytes).unwrap_or(usize::MAX),
    };
    let given = ctx.execution_extension::<ExecutionLimits>().and_then(|limits| limits.try_with(of).ok());
    given.unwrap_or_else(|| of(&ExecutionLimits::default()))
}

impl ProgramText {
    /// Reads and joins sources; the inner error is the result of the call.
    async fn read(
        sources: &[ProgramSource],
        ctx: &Context<'_>,
    ) -> Result<std::result::Result<ProgramText, Box<ExecResult>>> {
        let mut joined = ProgramText::default();
        for source in sources {
            match source {
                ProgramSource::Text(text) => joined.add("cmd. line", text),
                ProgramSource::File(file) if matches!(file.as_str(), "-" | "/dev/stdin" | "/dev/fd/0") => {
                    let bytes = ctx.stdin_to_end().await?;
                    joined.add(file, &bashkit::text_of(bytes.as_bytes()));
                    joined.is_of_stdin = true;
                }
                ProgramSource::File(file) => {
                    let path = if file.starts_with('/') { PathBuf::from(file) } else { vfs_join(ctx.cwd, file) };
                    match ctx.fs.read_file(&path).await {
                        Ok(bytes) => {
                            ctx.consume_budget_input(bytes.len())?;
                            joined.add(file, &bashkit::text_of(&bytes));
                        }
                        Err(error) => return Ok(Err(cannot_open(file, &error))),
                    }
                }
            }
        }
        Ok(Ok(joined))
    }

    fn add(&mut self, name: &str, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.sources.push(Source { name: name.to_string(), start: self.text.len() });
        self.text.push_str(text);
    }

    fn parse(&self, characters: CharacterSet) -> std::result::Result<Program, Box<ExecResult>> {
        Parser::new(&self.text, &self.sources, characters).parse_program().map_err(|error| self.failure_of(&error))
    }

    /// Returns the source and the line of a position, and where the source begins.
    fn location(&self, position: usize) -> (String, usize) {
        let source = self.sources.iter().rfind(|source| source.start <= position).or(self.sources.first());
        let (name, start) = source.map_or(("cmd. line", 0), |source| (source.name.as_str(), source.start));
        let line_number = self.text[start..position].matches('\n').count() + 1;
        (format!("{}:{line_number}", truncate(name, MAX_NAME_BYTES)), start)
    }

    /// Returns the warning about an escape.
    fn warning(&self, escape: &UnknownEscape) -> String {
        let (location, _) = self.location(escape.offset.min(self.text.len()));
        format!("awk: {location}: warning: {}", escape.warning())
    }

    /// Returns the result of a call whose program has an error, with gawk's message.
    fn failure_of(&self, error: &ParseError) -> Box<ExecResult> {
        let position = error.position.min(self.text.len());
        let (location, start) = self.location(position);
        let message = &error.message;
        match error.kind {
            ParseErrorKind::Syntax => {
                let (line, caret_column) = self.line_at(position, start);
                let message = truncate(message, MAX_MESSAGE_BYTES);
                let caret = indentation(line, caret_column);
                failure(format!("awk: {location}: {line}\nawk: {location}: {caret}^ {message}\n"), 1)
            }
            ParseErrorKind::Error => failure(format!("awk: {location}: error: {message}\n"), 1),
            ParseErrorKind::Fatal => failure(format!("awk: {location}: fatal: {message}\n"), 2),
            ParseErrorKind::Limit => failure(format!("awk: fatal: {message}\n"), 2),
        }
    }

    /// Returns the line of a position in a source that begins at `start`, cut to what is shown, and its column.
    fn line_at(&self, position: usize, start: usize) -> (&str, usize) {
        let line_start = self.text[..position].rfind('\n').map_or(0, |newline| newline + 1).max(start);
        let line_end = self.text[position..].find('\n').map_or(self.text.len(), |length| position + length);
        let line = truncate(&self.text[line_start..line_end], MAX_LINE_BYTES);
        let column = self.text[line_start..position].chars().count();
        (line, column.min(line.chars().count()))
    }
}

fn cannot_open(file: &str, error: &bashkit::Error) -> Box<ExecResult> {
    let name = truncate(file, MAX_NAME_BYTES);
    let reason = bashkit::error::io_error_reason(error);
    failure(format!("awk: fatal: cannot open source file `{name}' for reading: {reason}\n"), 2)
}

/// Returns what brings a caret under a column of a line, which may contain tabs.
fn indentation(line: &str, column: usize) -> String {
    let blank = |character| if character == '\t' { '\t' } else { ' ' };
    line.chars().map(blank).chain(std::iter::repeat(' ')).take(column).collect()
}

/// Sets `ENVIRON`, `ARGV`, `ARGC` and `PROCINFO`, and does what `-F`, `--csv` and `-v` say.
fn set_variables(interpreter: &mut Interpreter, options: &Options) -> Evaluation<()> {
    let environment = interpreter.io.host.env.clone();
    let characters = interpreter.io.host.characters;
    let input = |text: &str| Value::from_input(characters.of_text(text.to_owned()));
    let environment = environment.into_iter().map(|(name, value)| (name, input(&value)));
    fill(interpreter, special::ENVIRON, environment)?;
    let operands = options.operands.iter().map(|operand| input(operand));
    let arguments = std::iter::once(Value::Str("awk".to_string())).chain(operands);
    fill(interpreter, special::ARGV, arguments.enumerate().map(|(index, argument)| (index.to_string(), argument)))?;
    fill(interpreter, special::PROCINFO, PROCINFO.map(|(key, text)| (key.to_string(), Value::Str(text.to_string()))))?;
    let argument_count = Value::Num((options.operands.len() + 1) as f64);
    interpreter.set_variable(VarRef::Global(special::ARGC), argument_count)?;
    if options.csv {
        interpreter.settings.csv = true;
        interpreter.set_variable(VarRef::Global(special::FS), Value::Str(",".to_string()))?;
    }
    if let Some(separator) = &options.field_separator {
        interpreter.set_variable(VarRef::Global(special::FS), Value::Str(characters.of_text(unescape(separator))))?;
    }
    options.assignments.iter().try_for_each(|assignment| assign(interpreter, assignment))
}

/// Fills an array that is a special variable.
fn fill(
    interpreter: &mut Interpreter,
    index: u32,
    elements: impl IntoIterator<Item = (String, Value)>,
) -> Evaluation<()> {
    let array = interpreter.array_of_variable(VarRef::Global(index))?;
    for (key, value) in elements {
        interpreter.store_element(array, key, Slot::Scalar(value));
    }
    Ok(())
}

/// Does an assignment of `-v`.
fn assign(interpreter: &mut Interpreter, assignment: &str) -> Evaluation<()> {
    let Some((name, value)) = command_line_assignment(assignment) else {
        return Err(refuse_assignment(interpreter, assignment));
    };
    if interpreter.program.funcs.iter().any(|function| function.name == name) {
        let message = format!("awk: cmd. line:1: error: function name `{name}' previously defined");
        interpreter.write_error_line(&message);
        return Err(Unwind::Exit);
    }
    let value = interpreter.io.host.characters.of_text(unescape(value));
    interpreter.assign_by_name(name, Value::from_input(value))
}

fn refuse_assignment(interpreter: &mut Interpreter, assignment: &str) -> Unwind {
    if let Some((name, _)) = assignment.split_once('=') {
        let name = truncate(name, MAX_NAME_BYTES);
        return interpreter.limit_reached(&format!("`{name}' is not a legal variable name"));
    }
    let assignment = truncate(assignment, MAX_NAME_BYTES);
    let usage = USAGE.trim_end();
    interpreter.write_error_line(&format!("awk: `{assignment}' argument to `-v' not in `var=value' form\n\n{usage}"));
    Unwind::Exit
}
