//! `tollhouse session new`.

use clap::Args;
use serde_json::json;
use tollhouse::session::{Point, SessionId, SessionsError};

use super::super::audit::AuditArgs;
use super::super::confine::ConfineArgs;
use super::super::locations::{Locations, waiting};
use super::super::session_args::{OpenParams, OwnArgs, SessionArgs};
use super::super::{CliError, Result, show};
use crate::Exit;

/// Create an empty session, or one with the files of another
///
/// Its policy and its tools are fixed from then on (`session grant` adds to them). Its initial files are those that
/// `--mount` copies in, and those of `--from`. Its budgets are its own: those of `session fork` are shared. Secrets,
/// `--timeout`, `--memory` and `--fuel` belong to each run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session new report --policy policy.toml --mount ./data:/workspace/data:ro
  tollhouse session new second --from report@3 --policy other.toml
  tollhouse run --session report report.js")]
pub(crate) struct NewSessionCommand {
    /// Its name [default: a random one]
    #[arg(value_name = "ID")]
    id: Option<SessionId>,
    /// Start with the files of SESSION, SESSION@RUN or SESSION@LABEL, and nothing else of it
    #[arg(long, value_name = "POINT")]
    from: Option<Point>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: session, snapshot
    #[arg(long)]
    json: bool,
}

impl NewSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        self.confine.apply(|| self.session.touched(locations, true, &AuditArgs::default()))?;
        let sessions = locations.new_sessions()?;
        let id = match self.id {
            Some(id) => id,
            None => made_up()?,
        };
        let exists = sessions.contains(&id).map_err(|error| super::failed("cannot create a session", &error))?;
        if exists {
            return Err(super::failed("cannot create a session", &SessionsError::Exists(id)));
        }
        let files = self.from.as_ref().map(|from| sessions.reader().files(from)).transpose();
        let files = files.map_err(|error| super::failed("cannot create a session", &error))?;
        let opening = OpenParams {
            limits: None,
            own: &OwnArgs::default(),
            approver: None,
            audit: &AuditArgs::default(),
            waiting: waiting(&id),
            files,
            is_named: true,
            must_create: true,
        };
        let session = self.session.open_kept(locations, &locations.host()?, &sessions, &id, opening)?;
        self.confine.isolate(&session)?;
        let head = sessions.show(&id).map_err(|error| super::failed("cannot show the session", &error))?.head;
        if self.json {
            show::json(&json!({ "session": id, "snapshot": head.snapshot.to_string() }));
        } else {
            show::line(&id);
        }
        Ok(Exit::SUCCESS)
    }
}

/// Generates a name that nobody else has chosen.
fn made_up() -> Result<SessionId> {
    let mut bytes = [0; 5];
    getrandom::fill(&mut bytes)
        .map_err(|error| CliError::because("cannot generate a name", &std::io::Error::from(error)))?;
    let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("s{name}").parse().expect("letters and digits"))
}
