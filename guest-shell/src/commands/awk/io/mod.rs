//! Input and output of awk programs.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`reader`] | sources of records, and how records are separated |
//! | [`main_input`] | records of the files that `ARGV` names |
//! | [`getline`] | `getline`, its files and commands |
//! | [`in_place`] | files that are edited |
//! | [`output`] | `print`, redirections, `close` and `fflush` |
//! | [`command`] | commands that the shell runs for the program |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod command;
mod getline;
mod in_place;
mod main_input;
mod output;
mod reader;

use std::path::PathBuf;
use std::sync::Arc;

pub(super) use command::{Bridge, BridgeState, CommandRequest};
pub(super) use in_place::InPlace;
pub(super) use main_input::command_line_assignment;
pub(super) use reader::{InputPipe, RecordSeparator};

use self::getline::OpenInputs;
use self::main_input::MainInput;
use self::output::OpenOutputs;
use self::reader::Reader;
use crate::commands::character_locale::CharacterSet;
use crate::commands::date::Date;
use bashkit::builtins::StdoutStream;
use bashkit::fs::{FileSystem, vfs_join};
use bashkit::stream::with_bytes_joined;
use bashkit::{PlacedMessages, StreamData};

/// Parts of the shell around awk that it uses.
pub(super) struct Host {
    pub(super) fs: Arc<dyn FileSystem>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
    /// Characters of which the program's text and its input consist.
    pub(super) characters: CharacterSet,
    pub(super) stdin: Option<String>,
    /// Part of standard input that comes behind `stdin`.
    pub(super) pipe: Option<InputPipe>,
    /// Pipe to which output goes as it is made; without one it is kept.
    pub(super) output: Option<StdoutStream>,
    pub(super) budget: Option<bashkit::limits::ExecutionBudget>,
    pub(super) clock: Date,
    /// Slot through which the shell is asked to run commands.
    pub(super) bridge: Option<Bridge>,
}

/// Bytes that the standard library of C collects before it writes to a pipe or file.
const STDIO_BUFFER: usize = 4096;

/// Open inputs and outputs of a program.
pub(super) struct Io {
    pub(super) host: Host,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Starts of parts of `stderr`, each with the number of bytes of `stdout` that were written before it.
    message_places: Vec<(usize, usize)>,
    /// Bytes of `stdout` and `stderr` that were passed on already, when a command ran.
    pub(super) emitted: (usize, usize),
    /// Bytes of `stdout` that gawk would have written by now. What follows waits in its buffer while the command of an
    /// output pipe runs.
    flushed: usize,
    outputs: OpenOutputs,
    inputs: OpenInputs,
    main: MainInput,
    pub(super) in_place: InPlace,
    stdin_is_taken: bool,
    has_warned_of_commands: bool,
}

impl Io {
    pub(super) fn new(host: Host) -> Self {
        Io {
            host,
            stdout: String::new(),
            stderr: String::new(),
            message_places: Vec::new(),
            emitted: (0, 0),
            flushed: 0,
            outputs: OpenOutputs::default(),
            inputs: OpenInputs::default(),
            main: MainInput::default(),
            in_place: InPlace::default(),
            stdin_is_taken: false,
            has_warned_of_commands: false,
        }
    }

    /// Reports a problem, before which gawk writes what it has printed.
    pub(super) fn report(&mut self, message: &str) {
        self.message_places.push((self.stderr.len(), self.stdout.len()));
        self.stderr.push_str(message);
    }

    /// Writes what the program prints to standard error. What it has printed to standard output stays in the buffer of
    /// the standard library of C.
    fn print_error(&mut self, text: &str) {
        let written = self.flushed.max(self.emitted.0);
        let waiting = self.stdout.len().saturating_sub(written);
        let blocks = waiting.saturating_sub(1) / STDIO_BUFFER * STDIO_BUFFER;
        self.message_places.push((self.stderr.len(), written + blocks));
        self.stderr.push_str(text);
    }

    /// Returns both outputs behind those that were passed on.
    pub(super) fn streams_from(&self, (stdout, stderr): (usize, usize)) -> (StreamData, StreamData) {
        let output = self.stdout.get(stdout..).unwrap_or_default();
        let mut messages = PlacedMessages::new();
        let mut places = self.message_places.iter().filter(|(start, _)| *start >= stderr).peekable();
        while let Some((start, after)) = places.next() {
            let end = places.peek().map_or(self.stderr.len(), |(next, _)| *next);
            let message = self.stderr.get(*start..end).unwrap_or_default();
            messages.push(message, after.saturating_sub(stdout));
        }
        (with_bytes_joined(output.to_owned()).into(), messages.beside_text(output))
    }

    /// Leaves nothing of standard input: the program came from there.
    pub(super) fn give_up_stdin(&mut self) {
        self.stdin_is_taken = true;
    }

    /// Returns standard input; when it is asked for again, nothing is left of it.
    fn take_stdin(&mut self) -> Reader {
        if std::mem::replace(&mut self.stdin_is_taken, true) {
            return Reader::new(String::new());
        }
        Reader::with_pipe(self.host.stdin.take().unwrap_or_default(), self.host.pipe.take())
    }

    /// Notes that gawk flushes standard output here.
    fn flush_stdout(&mut self) {
        self.flushed = self.stdout.len();
    }

    fn resolve(&self, name: &str) -> PathBuf {
        // A name may have a character for each of its bytes.
        let name = &with_bytes_joined(name.to_owned());
        if name.starts_with('/') { PathBuf::from(name) } else { vfs_join(&self.host.cwd, name) }
    }
}
