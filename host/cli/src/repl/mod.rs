//! `tollhouse repl`: inputs, one after another, in one session.
//!
//! - `context`: the session, and the execution of one input in it;
//! - `command`: the inputs that begin with a dot;
//! - `editor`, `complete`: interactive input at a terminal;
//! - `script`: inputs from a pipe;
//! - `interrupt`: Ctrl-C, SIGTERM and SIGHUP.
//!
//! **Invariant:** no input ends the repl except `.exit` and the end of the inputs; so do SIGTERM, SIGHUP and, without a
//! terminal, Ctrl-C.

mod command;
mod complete;
mod context;
mod editor;
mod interrupt;
mod script;

use std::io::{self, IsTerminal as _};

use clap::Args;
use tollhouse::session::{SessionId, Sessions};

use self::context::{ReplContext, StoredSession};
use self::interrupt::ReplInterrupt;
use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::locations::Locations;
use super::notify::NotifyArgs;
use super::run::Lang;
use super::session_args::{OpenParams, OwnArgs, SessionArgs, pair};
use super::{Result, error};
use crate::Exit;

/// Run inputs one after another: JavaScript, TypeScript or bash, with completion and history
///
/// Each input is a run of one session, and finds what earlier ones left: files; in JavaScript top-level declarations
/// (values are copied, functions and classes are recreated from their text, imports are repeated) and `state`; in bash
/// directory, variables, functions and aliases. Without `--session` the session ends with the repl.
///
/// The value of the last expression is shown. An input continues on the next line until it is complete. Ctrl-C stops a
/// script, or clears the line; Ctrl-D ends the repl. `.help` lists further commands. Tab completes tools, files and
/// commands. History is kept in $XDG_STATE_HOME/tollhouse (`.history off` keeps an input out); a line that begins with
/// a space is not.
///
/// If standard input is not a terminal, it is read as inputs; the exit status is that of the last.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse repl --allow 'stats/*'
  tollhouse repl --lang sh --mount ./data:/workspace/data
  tollhouse repl --session trip
  printf 'const a = 20\\na + 1\\n' | tollhouse repl")]
pub(crate) struct ReplCommand {
    /// The language to start with; `.lang` changes it
    #[arg(long, value_enum, default_value_t = Lang::Js)]
    lang: Lang,
    /// A variable of the scripts' environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Continue this session, or create it: its files, budgets, variables and log are kept
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    /// Start each input without the state that earlier ones left besides files
    #[arg(long)]
    no_keep_state: bool,
    /// Do not read or write the history
    #[arg(long)]
    no_history: bool,
    #[command(flatten)]
    audit: AuditArgs,
    #[command(flatten)]
    notify: NotifyArgs,
}

/// Name of a session that ends with the repl.
const NAME: &str = "repl";

impl ReplCommand {
    /// Runs inputs to their end.
    pub(crate) fn execute(mut self, locations: &Locations) -> Result {
        self.own.read_secrets()?;
        self.own.on_suspended = self.notify.start_for(self.id.as_ref(), locations)?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
        let history = if interactive && !self.no_history { locations.state.as_deref() } else { None };
        self.audit.read_key()?;
        self.confine.apply(|| {
            let touched = self.session.touched(locations, self.id.is_some(), &self.audit);
            touched.writing_in(history).with_network()
        })?;
        let interrupt = ReplInterrupt::install(interactive);
        let host = locations.host()?;
        let stored = match (&self.id, self.session.is_of_token()) {
            (Some(id), _) => Some(StoredSession { sessions: locations.new_sessions()?, id: id.clone() }),
            (None, false) => {
                let id = NAME.parse().expect("it is a session's name");
                Some(StoredSession { sessions: Sessions::in_memory(), id })
            }
            // Grants of a token expire, so no session keeps them.
            (None, true) => None,
        };
        let session = match &stored {
            Some(StoredSession { sessions, id }) => {
                let (own, audit, waiting) = (&self.own, &self.audit, interrupt.waiting(id));
                let approver = own.approver();
                let opening = OpenParams {
                    own,
                    audit,
                    approver,
                    waiting,
                    files: None,
                    limits: None,
                    is_named: false,
                    must_create: false,
                };
                self.session.open_kept(locations, &host, sessions, id, opening)?
            }
            None => self.session.open_in_memory(locations, &host, &self.own, &self.audit)?,
        };
        self.confine.isolate(&session)?;
        let mut context = ReplContext {
            host,
            session,
            stored,
            lang: self.lang,
            environment: self.environment,
            keep_state: !self.no_keep_state,
            colors: interactive && error::colors(),
            interactive,
            directory: context::WORKSPACE.to_owned(),
            interrupt,
        };
        let status = if interactive {
            editor::converse(&mut context, history, self.id.is_some())?
        } else {
            script::follow(&mut context)?
        };
        Ok(Exit::from(status))
    }
}
