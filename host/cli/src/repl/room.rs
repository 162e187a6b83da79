//! The session that the inputs share, and what one input does in it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tollhouse::error::ErrorKind;
use tollhouse::guest::{Language, OutputSink, Script, Stream, Typed};
use tollhouse::session::{
    At, Host, HostError, Point, RunOptions, RunResult, Session, SessionId, Sessions, SessionsError, Status, Stdin,
};
use tollhouse::vfs::Tree;

use super::super::opening::warn_of_run;
use super::super::run::{Lang, Output, name_in};
use super::super::signals::CANCELLED;
use super::super::stdio::note_part;
use super::super::{CliError, Result, show};
use super::interrupt::Interrupt;

/// Where scripts start.
pub(super) const WORKSPACE: &str = "/workspace";

/// What stack traces call an input.
const NAME: &str = "repl";

/// Where a session is kept, on disk or in memory.
pub(super) struct Keeper {
    pub(super) sessions: Sessions,
    pub(super) id: SessionId,
}

impl Keeper {
    /// A point of the session.
    pub(super) fn point(&self, at: At) -> Point {
        Point { session: self.id.clone(), at }
    }
}

/// All that an input may touch.
pub(super) struct Room {
    pub(super) host: Host,
    pub(super) session: Session,
    pub(super) keeper: Option<Keeper>,
    pub(super) lang: Lang,
    pub(super) environment: Vec<(String, String)>,
    pub(super) keep_state: bool,
    pub(super) colors: bool,
    pub(super) interactive: bool,
    /// Where bash is.
    pub(super) directory: String,
    pub(super) interrupt: Interrupt,
}

impl Room {
    /// The language's word.
    pub(super) fn word(&self) -> &'static str {
        match self.lang {
            Lang::Js => "js",
            Lang::Ts => "ts",
            Lang::Sh => "sh",
        }
    }

    /// Whether an input goes on with the next line. What cannot be asked does not.
    pub(super) fn is_open(&self, input: &str) -> bool {
        is_open(&self.host, self.lang, input)
    }

    /// The files as they are now.
    pub(super) fn files(&self) -> std::result::Result<Tree, SessionsError> {
        match &self.keeper {
            Some(keeper) => keeper.sessions.files(&keeper.point(At::Head)),
            None => Ok(self.session.files()),
        }
    }

    /// Runs an input, and shows what came of it; gives its status.
    pub(super) fn run(&mut self, input: &str) -> Result<u8> {
        self.interrupt.begin();
        let ran = self.start(input);
        self.interrupt.end();
        let (result, line) = match ran {
            Ok(ran) => ran,
            Err(HostError::Sessions(SessionsError::Busy(_))) if self.interrupt.pressed() => {
                note!("given up: another run of the session has not ended");
                return Ok(CANCELLED);
            }
            Err(HostError::Sessions(error)) => {
                return Err(super::super::session::failed("the input cannot be run", &error));
            }
            Err(error) => return Err(error.into()),
        };
        if self.interactive && !line.load(Ordering::Relaxed) {
            // The next prompt begins a line.
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
        let output = Lines { output: Output, at_start: Arc::clone(&line) };
        let options = RunOptions { output: Some(Box::new(output)), stdin: Stdin::Empty, keep_state: self.keep_state };
        let run = self.session.start(language, script, options)?;
        self.interrupt.watch(run.cancel_handle());
        Ok((run.finish(), line))
    }

    /// Why it failed. Its value was shown by the script's own guest.
    fn show(&self, result: &RunResult) {
        let Some(error) = &result.error else { return };
        if result.status == Status::Cancelled {
            note_part(&(self.dim("cancelled") + "\n"));
            return;
        }
        // bash has said what was wrong.
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

    /// A text that is not the script's own.
    pub(super) fn dim(&self, text: &str) -> String {
        if self.colors { format!("\x1b[2m{text}\x1b[22m") } else { text.to_owned() }
    }

    /// The session's keeper.
    ///
    /// # Errors
    /// If nothing of it is kept.
    pub(super) fn keeper(&self) -> Result<&Keeper> {
        self.keeper.as_ref().ok_or_else(|| {
            CliError::usage("the session is made of a token, and nothing keeps it")
                .hint("make it of a policy: `--policy` instead of `--token`")
        })
    }
}

/// Whether an input of a language goes on with the next line.
pub(super) fn is_open(host: &Host, lang: Lang, input: &str) -> bool {
    host.is_open(lang.into(), input, &name_in(Some(lang), NAME.to_owned())).unwrap_or(false)
}

/// Output, and whether it stands at the beginning of a line.
struct Lines {
    output: Output,
    at_start: Arc<AtomicBool>,
}

impl OutputSink for Lines {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if let Some(last) = bytes.last() {
            self.at_start.store(*last == b'\n', Ordering::Relaxed);
        }
        self.output.write(stream, bytes)
    }
}
