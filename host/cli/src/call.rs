//! `tollhouse call`.

use clap::Args;
use tollhouse::remedy::set_remedy_wording;
use tollhouse::session::SessionId;

use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::locations::Locations;
use super::remedy::CallWording;
use super::session_args::{OwnArgs, SessionArgs, warn_of_deprecated};
use super::{CliError, Result, show, signals};
use crate::Exit;

/// Call one tool, through the gate
///
/// The arguments are one JSON object, or words as in the shell: `--values '[1, 2, 3]'`. Nothing is granted unless
/// `--allow` or the policy says so.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse call stats/describe '{\"values\": [1, 2, 3]}' --allow 'stats/*'
  tollhouse call stats/describe --allow 'stats/*' -- --values '[1, 2, 3]'
  tollhouse call stats/describe '{\"values\": [1, 2, 3]}' --session report")]
pub(crate) struct CallCommand {
    /// The method, in any of its spellings: stats/describe, stats.describe
    #[arg(value_name = "METHOD")]
    method: String,
    /// The arguments: one JSON object
    #[arg(value_name = "JSON", conflicts_with = "words")]
    json: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Call in this session, or create it: the call is a run of its own there, with the session's files and budgets
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    #[command(flatten)]
    audit: AuditArgs,
    /// The arguments as words
    #[arg(last = true, value_name = "WORDS")]
    words: Vec<String>,
}

impl CallCommand {
    /// Makes the call, and prints the result as JSON.
    pub(crate) fn execute(mut self, locations: &Locations) -> Result {
        set_remedy_wording(&CallWording);
        self.own.read_secrets()?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        self.audit.read_key()?;
        self.confine.apply(|| self.session.touched(locations, self.id.is_some(), &self.audit).with_network())?;
        let session = self.session.open(locations, &self.own, self.id.as_ref(), &self.audit)?;
        let gate = session.gate();
        self.confine.isolate(&session)?;
        let tool = gate.tools().find(&self.method);
        let method = tool.as_ref().map_or(self.method.as_str(), |tool| tool.method());
        let arguments = match (&self.json, &tool) {
            (Some(json), _) => json.clone(),
            (None, Some(tool)) => {
                let parsed = tool.parse_words(&self.words, session.gate().limits().memory);
                parsed.map_err(|error| CliError::usage(format!("{method}: {error}")).hint(tool.help()))?.to_string()
            }
            (None, None) => "{}".to_owned(),
        };
        let call = session.start_call(method, &arguments)?;
        let interrupt = call.interrupt();
        signals::on_first(move || interrupt.cancel());
        let called = call.finish();
        warn_of_deprecated(gate, [method]);
        match called {
            Ok(payload) => {
                show::json_pretty(&payload.value);
                Ok(Exit::SUCCESS)
            }
            Err(failure) => {
                show::failure(&failure);
                Ok(show::exit_code(failure.kind))
            }
        }
    }
}
