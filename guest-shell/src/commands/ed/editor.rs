//! The editor: a machine that reads commands, and asks for what it cannot do by itself.

use super::buffer::Buffer;
use super::global::Global;
use super::options::Options;
use super::output::Output;
use super::pattern::Pattern;
use super::scanner::Scanner;
use super::substitution::Substitution;
use super::text::{self, Input, InputSource};

/// Request of the editor to its caller, which has the files and the shell.
pub(super) enum Request {
    /// Read a file.
    Read { name: String },
    /// Write a file, or append to it.
    Write { name: String, bytes: Vec<u8>, appends: bool },
    /// Run a command, and return its output to the editor if `captures`.
    Shell { command: String, stdin: Option<Vec<u8>>, captures: bool },
    /// End the program with a status.
    End(i32),
}

/// Answer to a request, with the reason if a file could not be read or written.
pub(super) enum Reply {
    /// First answer, before any request.
    Nothing,
    Read(Result<Vec<u8>, String>),
    Written(Result<(), String>),
    /// Output of a command that was captured.
    Shell(Vec<u8>),
}

/// Work of the editor that continues with the answer to a request.
pub(super) enum Pending {
    /// The file that is edited is read; it is the first one if nothing was edited before.
    Edit { is_first: bool, name: String },
    /// A file is read behind an address.
    Insert { after: usize, name: String },
    /// Lines were written to a file: `length` bytes, which were the whole buffer or not.
    Write { length: usize, is_whole: bool, quits: bool, name: String },
    /// Lines were written to a command.
    Pipe { length: usize },
    /// A command was run.
    Shell,
}

/// Effect of a command beyond changes of the buffer.
pub(super) enum Action {
    /// Read the next command.
    Continue,
    Ask(Request, Pending),
    Quit,
}

/// Reason why a command fails.
pub(super) enum Failure {
    Message(&'static str),
    /// The modified buffer would be lost. The same command again is obeyed.
    Modified,
}

impl From<&'static str> for Failure {
    fn from(message: &'static str) -> Self {
        Self::Message(message)
    }
}

/// Result of a command.
pub(super) type Outcome = Result<Action, Failure>;

/// Message about a modified buffer.
const MODIFIED: &str = "Warning: buffer modified";
/// Status of a call in which a command has failed.
const FAILED_STATUS: i32 = 1;
/// Status of a call whose input ends while the buffer is modified.
const LOST_STATUS: i32 = 2;

/// Editor of one call.
pub(super) struct Editor {
    pub(super) options: Options,
    pub(super) buffer: Buffer,
    pub(super) output: Output,
    pub(super) input: Input,
    pub(super) last_pattern: Option<Pattern>,
    pub(super) substitution: Option<Substitution>,
    pub(super) global: Option<Global>,
    /// Lines that were deleted or copied last, for `x`.
    pub(super) cut: Vec<std::sync::Arc<str>>,
    pub(super) file_name: String,
    pub(super) last_shell_command: String,
    pub(super) window: usize,
    pub(super) is_prompting: bool,
    pub(super) is_verbose: bool,
    pub(super) message: &'static str,
    pending: Option<Pending>,
    /// True behind a command that was refused because the buffer is modified.
    pub(super) was_warned: bool,
    status: i32,
}

/// Lines that `z` prints.
const WINDOW_LINES: usize = 22;

impl Editor {
    /// Returns an editor whose commands are in `stdin`, and which begins with its file.
    pub(super) fn new(options: Options, stdin: &str, source: InputSource) -> Self {
        let is_first = true;
        Self {
            buffer: Buffer::default(),
            output: Output::default(),
            input: Input::new(stdin, source),
            last_pattern: None,
            substitution: None,
            global: None,
            cut: Vec::new(),
            file_name: String::new(),
            last_shell_command: String::new(),
            window: WINDOW_LINES,
            is_prompting: options.prompt.is_some(),
            is_verbose: options.is_verbose,
            message: "",
            pending: options.file.clone().map(|name| Pending::Edit { is_first, name }),
            was_warned: false,
            status: 0,
            options,
        }
    }

    /// Works until something is needed.
    pub(super) fn run(&mut self, reply: Reply) -> Request {
        let mut outcome = match (self.pending.take(), reply) {
            (Some(Pending::Edit { name, is_first }), Reply::Nothing) => {
                let request = self.read_request(&name);
                Ok(Action::Ask(request, Pending::Edit { is_first, name }))
            }
            (Some(pending), reply) => self.resume(pending, reply),
            (None, _) => Ok(Action::Continue),
        };
        loop {
            match outcome {
                Ok(Action::Continue) => self.was_warned = false,
                Ok(Action::Ask(request, pending)) => {
                    self.was_warned = false;
                    self.pending = Some(pending);
                    return request;
                }
                Ok(Action::Quit) => return Request::End(self.status),
                Err(failure) => {
                    self.report(failure);
                    if self.input.source() == InputSource::File {
                        return Request::End(self.status);
                    }
                }
            }
            outcome = match self.next_command() {
                Ok(Some(line)) => self.execute(&mut Scanner::new(&line)),
                Ok(None) => return Request::End(self.end_of_input()),
                Err(failure) => Err(failure),
            };
        }
    }

    /// Returns the next command, of a global command or of the input.
    fn next_command(&mut self) -> Result<Option<String>, Failure> {
        if self.global.is_some() {
            match self.next_global_command() {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) => self.global = None,
                Err(failure) => return Err(failure),
            }
        }
        self.prompt();
        Ok(self.input.line())
    }

    fn prompt(&mut self) {
        if self.is_prompting {
            self.output.print(self.options.prompt.as_deref().unwrap_or("*"));
        }
    }

    fn report(&mut self, failure: Failure) {
        self.global = None;
        self.was_warned = matches!(failure, Failure::Modified);
        self.message = match failure {
            Failure::Message(message) => message,
            Failure::Modified => MODIFIED,
        };
        self.output.print("?\n");
        if self.is_verbose {
            let line = self.input.line_number();
            match self.input.source() {
                InputSource::File => self.output.print(&format!("script, line {line}: {}\n", self.message)),
                InputSource::Pipe => self.output.print(&format!("{}\n", self.message)),
            }
        }
        if !self.options.is_loose {
            self.status = FAILED_STATUS;
        }
    }

    /// Returns the status at the end of the input, which is a `q` that nobody can repeat.
    fn end_of_input(&mut self) -> i32 {
        if !self.buffer.is_modified() || self.was_warned {
            return self.status;
        }
        self.report(Failure::Modified);
        self.prompt();
        if self.options.is_loose { 0 } else { LOST_STATUS }
    }

    /// Returns the request for the contents of a file, or of what a command prints.
    pub(super) fn read_request(&mut self, name: &str) -> Request {
        match name.strip_prefix('!') {
            Some(command) => Request::Shell { command: command.to_owned(), stdin: None, captures: true },
            None => Request::Read { name: name.to_owned() },
        }
    }

    /// Goes on with a command whose request was answered.
    fn resume(&mut self, pending: Pending, reply: Reply) -> Outcome {
        match (pending, reply) {
            (Pending::Edit { name, .. }, Reply::Read(Ok(bytes)) | Reply::Shell(bytes)) => {
                self.buffer.clear();
                if !name.starts_with('!') {
                    self.file_name = name;
                }
                self.insert_file(0, &bytes);
                self.buffer.set_modified(false);
            }
            (Pending::Edit { is_first, name }, Reply::Read(Err(reason))) => {
                self.complain(&name, &reason);
                self.buffer.clear();
                self.file_name = name;
                if !is_first {
                    return Err("Cannot open input file".into());
                }
                self.message = "Cannot open input file";
            }
            (Pending::Insert { after, name }, Reply::Read(Ok(bytes)) | Reply::Shell(bytes)) => {
                if self.file_name.is_empty() && !name.starts_with('!') {
                    self.file_name = name;
                }
                self.insert_file(after, &bytes);
            }
            (Pending::Insert { name, .. }, Reply::Read(Err(reason))) => {
                self.complain(&name, &reason);
                return Err("Cannot open input file".into());
            }
            (Pending::Write { length, is_whole, quits, .. }, Reply::Written(Ok(()))) => {
                self.print_size(length);
                if is_whole {
                    self.buffer.set_modified(false);
                }
                if quits {
                    return if self.buffer.is_modified() && !self.was_warned {
                        Err(Failure::Modified)
                    } else {
                        Ok(Action::Quit)
                    };
                }
            }
            (Pending::Write { name, .. }, Reply::Written(Err(reason))) => {
                self.complain(&name, &reason);
                return Err("Cannot open output file".into());
            }
            (Pending::Pipe { length }, _) => self.print_size(length),
            (Pending::Shell, _) if !self.options.is_script => self.output.print("!\n"),
            _ => {}
        }
        Ok(Action::Continue)
    }

    fn complain(&mut self, name: &str, reason: &str) {
        if !self.options.is_quiet {
            self.output.complain(&format!("{name}: {reason}\n"));
        }
    }

    fn print_size(&mut self, length: usize) {
        if !self.options.is_script {
            self.output.print(&format!("{length}\n"));
        }
    }

    /// Inserts the lines of a file behind an address, and prints its length.
    fn insert_file(&mut self, after: usize, bytes: &[u8]) {
        let file = text::FileText::new(bytes, self.options.strips_carriage_returns);
        let (length, appended) = (file.length, file.is_newline_appended);
        self.buffer.insert(after, file.lines);
        if appended {
            self.output.print("Newline appended\n");
        }
        self.print_size(length);
    }
}
