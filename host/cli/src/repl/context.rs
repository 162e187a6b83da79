//! Session that the inputs share, and the execution of one input in it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tollhouse::error::ErrorKind;
use tollhouse::guest::{Language, OutputSink, Script, Stream, Typed};
use tollhouse::session::{
    At, Host, HostError, Point, RunOptions, RunResult, Session, SessionId, Sessions, SessionsError, Status,
};
use tollhouse::vfs::Tree;

use super::super::run::{Lang, Output, name_in};
use super::super::session_args::warn_of_run;
use super::super::signals::CANCELLED;
use super::super::stdio::note_part;
use super::super::{CliError, Result, show};
use super::interrupt::ReplInterrupt;

/// Directory in which scripts start.
pub(super) const WORKSPACE: &str = "/workspace";

/// Name of an input in stack traces.
const NAME: &str = "repl";

/// Store of the session, on disk or in memory.
pub(super) struct StoredSession {
    pub(super) sessions: Sessions,
    pub(super) id: SessionId,
}

impl StoredSession {
    /// Returns a point of the session.
    pub(super) fn point(&self, at: At) -> Point {
        Point { session: self.id.clone(), at }
    }
}

/// Context of all inputs.
pub(super) struct ReplContext {
    pub(super) host: Host,
    pub(super) session: Session,
    pub(super) stored: Option<StoredSession>,
    pub(super) lang: Lang,
    pub(super) environment: Vec<(String, String)>,
    pub(super) keep_state: bool,
    pub(super) colors: bool,
    pub(super) interactive: bool,
    /// Working directory of bash.
    pub(super) directory: String,
    pub(super) interrupt: ReplInterrupt,
}

impl ReplContext {
    /// Returns the language's short name.
    pub(super) fn word(&self) -> &'static str {
        match self.lang {
            Lang::Js => "js",
            Lang::Ts => "ts",
            Lang::Sh => "sh",
        }
    }

    /// Returns true if an input continues on the next line; false if that cannot be determined.
    pub(super) fn is_open(&self, input: &str) -> bool {
        is_open(&self.host, self.lang, input)
    }

    /// Returns the current files.
    pub(super) fn files(&self) -> std::result::Result<Tree, SessionsError> {
        match &self.stored {
            Some(stored) => stored.sessions.reader().files(&stored.point(At::Head)),
            None => Ok(self.session.files()),
        }
    }

    /// Runs an input, shows its result, and returns its status.
    pub(super) fn run(&mut self, input: &str) -> Result<u8> {
        self.interrupt.begin();
        let ran = self.start(input);
        self.interrupt.end();
        let (result, line) = match ran {
            Ok(ran) => ran,
            Err(HostError::Sessions(SessionsError::Busy(_))) if self.interrupt.pressed() => {
                note!("gave up: another run of the session has not ended");
                return Ok(CANCELLED);
            }
            Err(HostError::Sessions(error)) => {
                return Err(super::super::session::failed("the input cannot be run", &error));
            }
            Err(error) => return Err(error.into()),
        };
        if self.interactive && !line.load(Ordering::Relaxed) {
            // The next prompt starts a line.
            show::line("");
        }
        warn_of_run(self.session.gate(), &result);
        self.show(&result);
        if self.lang.is_shell()
            && let Some(serde_json::Value::String(directory)) = &result.value
        {
            self.directory.clone_from(directory);
        }
        Ok(result.exit_code)
    }

    fn start(&self, input: &str) -> std::result::Result<(RunResult, Arc<AtomicBool>), HostError> {
        let language = Language::from(self.lang);
        let name = if self.lang.is_shell() { "bash" } else { NAME };
        let script = Script {
            source: input.to_owned(),
            name: name_in(Some(self.lang), name.to_owned()),
            from_file: false,
            arguments: Vec::new(),
            environment: self.environment.clone(),
            typed: Some(Typed { colors: self.colors }),
        };
        let line = Arc::new(AtomicBool::new(true));
        let output = LineOutput { output: Output, at_start: Arc::clone(&line) };
        let keep_state = self.keep_state;
        let options = RunOptions { output: Some(Box::new(output)), keep_state, ..RunOptions::default() };
        let run = self.session.start(language, script, options)?;
        self.interrupt.watch(run.cancel_handle());
        Ok((run.finish(), line))
    }

    /// Shows why an input failed. Its value was shown by the script's own guest.
    fn show(&self, result: &RunResult) {
        let Some(error) = &result.error else { return };
        if result.status == Status::Cancelled {
            note_part(&(self.dim("cancelled") + "\n"));
            return;
        }
        // bash has already reported what was wrong.
        if self.lang.is_shell() && matches!(error.kind, ErrorKind::Exit | ErrorKind::Syntax) {
            note_part(&(self.dim(&format!("[status {}]", result.exit_code)) + "\n"));
            return;
        }
        if error.kind == ErrorKind::Exit {
            note_part(&(self.dim(&format!("[status {}]", result.exit_code)) + "\n"));
            return;
        }
        if self.colors {
            note_part("\x1b[31m");
        }
        show::failure(error);
        if self.colors {
            note_part("\x1b[39m");
        }
    }

    /// Styles a text that is not the script's own.
    pub(super) fn dim(&self, text: &str) -> String {
        if self.colors { format!("\x1b[2m{text}\x1b[22m") } else { text.to_owned() }
    }

    /// Returns the session's store.
    ///
    /// # Errors
    /// If the session is not stored.
    pub(super) fn stored(&self) -> Result<&StoredSession> {
        self.stored.as_ref().ok_or_else(|| {
            CliError::usage("the session comes from a token, and is not stored")
                .hint("create it from a policy: `--policy` instead of `--token`")
        })
    }
}

/// Returns true if an input in a language continues on the next line.
pub(super) fn is_open(host: &Host, lang: Lang, input: &str) -> bool {
    host.is_open(lang.into(), input, &name_in(Some(lang), NAME.to_owned())).unwrap_or(false)
}

/// Output sink that knows whether the output is at the start of a line.
struct LineOutput {
    output: Output,
    at_start: Arc<AtomicBool>,
}

impl OutputSink for LineOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if let Some(last) = bytes.last() {
            self.at_start.store(*last == b'\n', Ordering::Relaxed);
        }
        self.output.write(stream, bytes)
    }
}
