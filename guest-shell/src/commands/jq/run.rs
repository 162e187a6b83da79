//! Run of `jq`: reads inputs, runs the program on each, and writes results.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::compiler::{Program, compile, read_all};
use super::failure::Failure;
use super::library::library;
use super::machine::{Host, Machine};
use super::metadata::ModuleMetadata;
use super::modules::{Source, directories};
use super::options::{Given, Options, Raw};
use super::reader::{Reader, read_one};
use super::utf8::text_of;
use super::value::{Members, Val};
use super::writer::{Colors, Layout, compact, write, write_string};
use crate::commands::date::SandboxTimezone;

/// Largest output, in bytes.
const MAX_OUTPUT: usize = 64 << 20;

/// Inputs and settings of a run, read beforehand.
pub(crate) struct Job<'a> {
    pub(crate) options: &'a Options,
    pub(crate) source: &'a Source,
    /// Inputs in order: the name of each file (`None` for standard input), and its bytes.
    pub(crate) inputs: Vec<(Option<String>, Vec<u8>)>,
    /// Contents of named files, by name.
    pub(crate) files: HashMap<String, Vec<u8>>,
    pub(crate) environment: Vec<(String, String)>,
    /// Messages about files that could not be read; they set the status to 2.
    pub(crate) complaints: String,
    pub(crate) now: i64,
    /// Metadata of the modules that the program asked for in earlier runs.
    pub(crate) modules: &'a ModuleMetadata,
    /// Called regularly; an error ends the run.
    pub(crate) check: &'a mut dyn FnMut() -> Result<(), String>,
}

/// Result of a run.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) output: Vec<u8>,
    pub(crate) error: String,
    pub(crate) status: i32,
    /// Limit that ended the run.
    pub(crate) stopped: Option<String>,
    /// Module whose metadata the run needs: it has to begin again with it.
    pub(crate) needed_module: Option<String>,
}

/// Inputs as one text, in jq's manner.
struct Inputs<'a> {
    mode: Mode<'a>,
    /// Positions in the text at which files end, with their names.
    ends: Vec<(usize, Option<String>)>,
    bytes: &'a [u8],
    /// Number of bytes that have been read.
    at: usize,
    stream_errors: bool,
}

enum Mode<'a> {
    Json(Box<Reader<'a>>),
    Lines,
    /// Values that were read in advance: one value, and the errors before it.
    Ready(VecDeque<Result<Val, String>>),
}

struct Surroundings<'a> {
    inputs: Inputs<'a>,
    error: String,
    now: i64,
    time_zone: SandboxTimezone,
    modules: &'a ModuleMetadata,
    needed_module: Option<String>,
    directories: Vec<String>,
    check: &'a mut dyn FnMut() -> Result<(), String>,
    /// True if no input was read, and none is needed.
    null_input: bool,
}

impl Host for Surroundings<'_> {
    fn input(&mut self) -> Option<Result<Val, String>> {
        self.null_input = false;
        self.inputs.next()
    }

    fn input_filename(&self) -> Option<String> {
        let named = self.inputs.file().map(|(_, name)| name.clone().unwrap_or_else(|| "<stdin>".to_owned()));
        named.filter(|_| !self.null_input)
    }

    fn input_line(&self) -> usize {
        self.inputs.lines()
    }

    fn message(&mut self, text: &str) {
        if self.error.len() < MAX_OUTPUT {
            self.error.push_str(text);
        }
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn module(&mut self, name: &str) -> Option<Result<Val, String>> {
        match self.modules.get(name) {
            Some(known) => Some(known.as_ref().map_err(String::clone).and_then(|text| read_one(text))),
            None => {
                self.needed_module = Some(name.to_owned());
                None
            }
        }
    }

    fn time_zone(&self) -> &SandboxTimezone {
        &self.time_zone
    }

    fn search_list(&self) -> Val {
        self.directories.iter().map(|it| Val::from(it.as_str())).collect()
    }

    fn check(&mut self) -> Result<(), String> {
        (self.check)()
    }
}

impl<'a> Inputs<'a> {
    fn new(options: &Options, bytes: &'a [u8], ends: Vec<(usize, Option<String>)>) -> Self {
        let mode = if options.raw_input && options.slurp {
            Mode::Ready([Ok(Val::string(text_of(bytes)))].into())
        } else if options.raw_input {
            Mode::Lines
        } else {
            let reader = if options.stream { Reader::streaming(bytes) } else { Reader::new(bytes) };
            Mode::Json(Box::new(if options.seq { reader.of_sequence() } else { reader }))
        };
        let mut inputs = Self { mode, ends, bytes, at: 0, stream_errors: options.stream_errors };
        if options.slurp && !options.raw_input {
            inputs.mode = Mode::Ready(inputs.slurp());
        }
        inputs
    }

    /// Reads all values into an array. Errors precede it.
    fn slurp(&mut self) -> VecDeque<Result<Val, String>> {
        let (mut values, mut ready) = (Vec::new(), VecDeque::new());
        while let Some(next) = self.next() {
            match next {
                Ok(value) => values.push(value),
                Err(message) => ready.push_back(Err(message)),
            }
        }
        ready.push_back(Ok(Val::array(values)));
        ready
    }

    fn next(&mut self) -> Option<Result<Val, String>> {
        match &mut self.mode {
            Mode::Ready(ready) => {
                self.at = self.bytes.len();
                ready.pop_front()
            }
            Mode::Lines => {
                let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
                let end = rest.iter().position(|byte| *byte == b'\n');
                let line = &rest[..end.unwrap_or(rest.len())];
                self.at += line.len() + usize::from(end.is_some());
                Some(Ok(Val::string(text_of(line))))
            }
            Mode::Json(reader) => {
                let read = reader.read();
                self.at = reader.position();
                match read? {
                    Ok(value) => Some(Ok(value)),
                    Err(message) if self.stream_errors => {
                        let path = reader.broken_path();
                        Some(Ok([Val::string(message), path].into_iter().collect()))
                    }
                    Err(message) => Some(Err(message)),
                }
            }
        }
    }

    /// Returns the file that the last input came from.
    fn file(&self) -> Option<&(usize, Option<String>)> {
        self.ends.iter().find(|(end, _)| *end >= self.at).or(self.ends.last())
    }

    /// Counts the lines of the current file that jq has read: it reads whole lines.
    fn lines(&self) -> usize {
        let end = self.file().map_or(0, |(end, _)| *end);
        let begin = self.ends.iter().rev().map(|(end, _)| *end).find(|end| *end < self.at).unwrap_or(0);
        let at = self.at.clamp(begin, end);
        let begun = self.bytes.get(at..end).unwrap_or_default().iter().position(|byte| *byte == b'\n');
        let in_line = at > begin && self.bytes.get(at - 1) != Some(&b'\n');
        let before = self.bytes.get(begin..at).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
        before + usize::from(in_line && begun.is_some())
    }
}

/// Results so far.
struct Output<'a> {
    options: &'a Options,
    layout: Layout,
    bytes: Vec<u8>,
}

impl Output<'_> {
    /// Writes a result, or returns the reason of the failure.
    fn put(&mut self, value: &Val) -> Result<(), String> {
        let raw = self.options.raw;
        if self.options.seq {
            self.bytes.push(0x1e);
        }
        match value {
            Val::Str(text) if raw != Raw::Json && self.options.ascii => {
                let mut quoted = String::new();
                write_string(&mut quoted, text, true);
                self.bytes.extend_from_slice(quoted.as_bytes());
            }
            Val::Str(text) if raw == Raw::Nul && text.contains('\0') => {
                return Err("Cannot dump a string containing NUL with --raw-output0 option".to_owned());
            }
            Val::Str(text) if raw != Raw::Json => self.bytes.extend_from_slice(text.as_bytes()),
            other => {
                let mut text = String::new();
                write(&mut text, other, &self.layout);
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
        match raw {
            Raw::Json | Raw::Lines => self.bytes.push(b'\n'),
            Raw::Nul => self.bytes.push(0),
            Raw::Joined => {}
        }
        Ok(())
    }
}

/// Returns the variables that a program sees.
fn variables(job: &Job<'_>) -> Result<HashMap<String, Val>, String> {
    let mut named = Members::default();
    for (name, given) in &job.options.named {
        named.insert(Rc::from(name.as_str()), value_of(name, given, &job.files)?);
    }
    let positional = job.options.positional.iter().map(|given| value_of("", given, &job.files));
    let positional = positional.collect::<Result<Vec<_>, _>>()?;
    let mut variables: HashMap<String, Val> =
        named.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let arguments = Val::record([("positional", Val::array(positional)), ("named", Val::object(named))]);
    variables.entry("ARGS".to_owned()).or_insert(arguments);
    let environment = job.environment.iter();
    let environment = environment.map(|(name, value)| (Rc::from(name.as_str()), Val::from(value.as_str()))).collect();
    variables.insert("ENV".to_owned(), Val::object(environment));
    Ok(variables)
}

fn value_of(name: &str, given: &Given, files: &HashMap<String, Vec<u8>>) -> Result<Val, String> {
    let contents = |file: &String| files.get(file).map(Vec::as_slice).unwrap_or_default();
    match given {
        Given::Text(text) => Ok(Val::from(text.as_str())),
        Given::Json(text) => read_one(text),
        Given::RawFile(file) => Ok(Val::string(text_of(contents(file)))),
        Given::Slurped(file) => match read_all(contents(file)) {
            Ok(values) => Ok(Val::array(values)),
            Err(message) => Err(format!("Bad JSON in --slurpfile {name} {file}: {message}")),
        },
    }
}

/// Returns the colours from the environment, with a warning about an invalid setting.
fn colors(environment: &[(String, String)], warnings: &mut String) -> Colors {
    let setting = environment.iter().find(|(name, _)| name == "JQ_COLORS");
    let Some((_, setting)) = setting else { return Colors::default() };
    Colors::parse(setting).unwrap_or_else(|| {
        warnings.push_str("Failed to set $JQ_COLORS\n");
        Colors::default()
    })
}

/// Returns the messages of a program that cannot be run.
fn compile_errors(messages: &[String]) -> String {
    let errors: String = messages.iter().map(|message| format!("jq: error: {message}\n")).collect();
    format!("{errors}jq: {} compile error{}\n", messages.len(), if messages.len() == 1 { "" } else { "s" })
}

/// Runs a program on its inputs.
pub(crate) fn run(job: Job<'_>) -> Done {
    let variables = match variables(&job) {
        Ok(variables) => variables,
        Err(message) => return Done { error: format!("jq: {message}\n"), status: 2, ..Done::default() },
    };
    let program = match compile(&library(), job.source, variables) {
        Ok(program) => program,
        Err(messages) => {
            let error = compile_errors(&messages);
            return Done { error, status: 3, ..Done::default() };
        }
    };
    let mut text = Vec::new();
    let mut ends = Vec::new();
    for (name, bytes) in job.inputs {
        text.extend_from_slice(&bytes);
        ends.push((text.len(), name));
    }
    let complaints = job.complaints;
    let mut surroundings = Surroundings {
        inputs: Inputs::new(job.options, &text, ends),
        error: String::new(),
        now: job.now,
        time_zone: SandboxTimezone::from_env(
            job.environment.iter().find(|(name, _)| name == "TZ").map(|(_, zone)| zone),
        ),
        modules: job.modules,
        needed_module: None,
        directories: directories(&job.options.directories),
        check: job.check,
        null_input: job.options.null_input,
    };
    let options = job.options;
    let colors = options.color.then(|| colors(&job.environment, &mut surroundings.error));
    let layout = Layout { indent: options.indent.clone(), sort_keys: options.sort_keys, ascii: options.ascii, colors };
    let mut output = Output { options, layout, bytes: Vec::new() };
    let ending = if options.null_input {
        process(&program.functions, &program.main, Val::Null, &mut surroundings, &mut output)
    } else {
        process_inputs(&program, &mut surroundings, &mut output)
    };
    // Files that are not read need not exist.
    let failed = !complaints.is_empty() && !surroundings.null_input;
    if failed {
        surroundings.error.insert_str(0, &complaints);
    }
    finish(ending, surroundings, output, failed)
}

/// End of the run on an input.
#[derive(Default)]
struct Ending {
    /// Truth value of the last result.
    last: Option<bool>,
    failed: bool,
    halted: Option<i32>,
    stopped: Option<String>,
}

impl Ending {
    /// Returns true if the next input is to be processed.
    fn last(&self) -> bool {
        self.halted.is_none() && self.stopped.is_none()
    }

    fn then(self, next: Self) -> Self {
        Self { last: next.last.or(self.last), ..next }
    }
}

/// Runs a program on each of its inputs, up to the first one that cannot be read.
fn process_inputs(program: &Program, surroundings: &mut Surroundings<'_>, output: &mut Output<'_>) -> Ending {
    let mut ending = Ending::default();
    while ending.last()
        && let Some(input) = surroundings.inputs.next()
    {
        let input = match input {
            Ok(input) => input,
            Err(message) if output.options.seq => {
                surroundings.message(&format!("jq: ignoring parse error: {message}\n"));
                continue;
            }
            Err(message) => {
                surroundings.message(&format!("jq: parse error: {message}\n"));
                ending.failed = true;
                break;
            }
        };
        let next = process(&program.functions, &program.main, input, surroundings, output);
        ending = ending.then(next);
    }
    ending
}

fn process(
    functions: &[Rc<super::term::Function>],
    main: &super::term::T,
    input: Val,
    surroundings: &mut Surroundings<'_>,
    output: &mut Output<'_>,
) -> Ending {
    let mut ending = Ending::default();
    let mut machine = Machine::new(surroundings, functions, main, input);
    while let Some(result) = machine.next() {
        let failure = match result {
            Ok(value) => {
                ending.last = Some(value.is_true());
                if output.bytes.len() > MAX_OUTPUT {
                    ending.stopped = Some("output is too large".to_owned());
                    break;
                }
                match output.put(&value) {
                    Ok(()) => continue,
                    Err(message) => Failure::new(message),
                }
            }
            Err(failure) => failure,
        };
        let mut complain = |value: &Val| {
            ending.failed = true;
            let host = machine.host();
            let message = complaint(value, host);
            host.message(&message);
        };
        match failure {
            Failure::Error(value) => complain(&value),
            Failure::NoPath(message) => complain(&Val::string(message)),
            Failure::Halt(status, value) => {
                ending.halted = Some(status);
                let text = value.as_ref().map(|value| match value {
                    Val::Str(text) => text.to_string(),
                    Val::Null => String::new(),
                    other => format!("{}\n", compact(other)),
                });
                machine.host().message(&text.unwrap_or_default());
            }
            Failure::Fatal(message) => ending.stopped = Some(message),
        }
        break;
    }
    ending
}

/// Returns the message about an uncaught error.
fn complaint(value: &Val, host: &dyn Host) -> String {
    let place = match host.input_filename() {
        Some(name) => format!("{name}:{}", host.input_line()),
        None => "<unknown>".to_owned(),
    };
    match value {
        // As in C, a NUL ends the text.
        Val::Str(text) => format!("jq: error (at {place}): {}\n", text.split('\0').next().unwrap_or_default()),
        other => format!("jq: error (at {place}) (not a string): {}\n", compact(other)),
    }
}

fn finish(ending: Ending, surroundings: Surroundings<'_>, output: Output<'_>, failed: bool) -> Done {
    let mut done = Done {
        output: output.bytes,
        error: surroundings.error,
        needed_module: surroundings.needed_module,
        ..Done::default()
    };
    done.status = match (ending.halted, ending.failed, ending.last) {
        (Some(status), ..) => status,
        (None, true, _) => 5,
        (None, false, _) if !output.options.exit_status => 0,
        (None, false, Some(truth)) => i32::from(!truth),
        (None, false, None) => 4,
    };
    if failed {
        done.status = 2;
    }
    if let Some(message) = ending.stopped {
        done.error.push_str(&format!("jq: error: {message}\n"));
        done.status = 5;
        done.stopped = Some(message);
    }
    done
}
