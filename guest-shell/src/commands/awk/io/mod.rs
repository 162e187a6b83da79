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
use crate::commands::date::Date;
use bashkit::builtins::StdoutStream;
use bashkit::fs::{FileSystem, vfs_join};

/// Parts of the shell around awk that it uses.
pub(super) struct Host {
    pub(super) fs: Arc<dyn FileSystem>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
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

/// Open inputs and outputs of a program.
pub(super) struct Io {
    pub(super) host: Host,
    pub(super) stdout: String,
    pub(super) stderr: String,
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
        if name.starts_with('/') { PathBuf::from(name) } else { vfs_join(&self.host.cwd, name) }
    }
}
