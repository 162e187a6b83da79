//! `tollhouse session grant`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tollhouse::capability::{Limits, Policy};
use tollhouse::session::{SessionId, Widening};

use super::super::locations::{Locations, waiting};
use super::super::policy_file::PolicyFile;
use super::super::session_args::{allowed, command_of, pair};
use super::super::{CliError, Result, show};
use crate::Exit;

/// Add grants and tools to a session
///
/// Existing grants stay. The addition is recorded in the session's log and has a number among its runs. It applies to
/// runs that start later; a process that has the session open gets it when it opens the session again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session grant report --allow 'text/*'
  tollhouse session grant report --policy more.toml
  tollhouse session grant report --tool csv=tollhouse:csv --allow 'csv/*'")]
pub(crate) struct GrantCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// Grant methods: `stats/describe`, `stats/*` (one segment), `stats/**` (any number); with `/run` a program, and
    /// the session's files to it: `python3/run`
    #[arg(long = "allow", value_name = "PATTERN")]
    allow: Vec<String>,
    /// Add the grants, tools and tools' permissions of this policy
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Mount one more package: `stats=tollhouse:stats@^0.1`
    #[arg(long = "tool", value_name = "ALIAS=NS:NAME@REQ", value_parser = pair)]
    tools: Vec<(String, String)>,
    /// Print one JSON object: session, run, policy
    #[arg(long)]
    json: bool,
}

impl GrantCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let source = self.policy.as_deref().map(PolicyFile::read).transpose()?;
        let more = self.widening(source.as_ref())?;
        if self.allow.is_empty() && more.grants.is_empty() && more.tools.is_empty() && more.permissions.is_empty() {
            return Err(
                CliError::usage("nothing to grant").hint("name it: `--allow PATTERN`, `--policy FILE` or `--tool`")
            );
        }
        let sessions = locations.sessions()?;
        let widened = locations.host()?.widen(&sessions, &self.id, more, Some(waiting(&self.id)));
        let policy = widened.map_err(|error| match error {
            tollhouse::session::HostError::Sessions(error) => super::failed("cannot grant", &error),
            error => error.into(),
        })?;
        let failed = |error| super::failed("cannot show the session", &error);
        let run = sessions.show(&self.id).map_err(failed)?.head.left_by;
        if self.json {
            show::json(&json!({ "session": self.id, "run": run, "policy": policy.to_json() }));
        } else {
            let grants: Vec<String> = policy.grants.iter().map(|grant| grant.method.to_string()).collect();
            show::line(format_args!("{}@{run} may call {}", self.id, grants.join(", ")));
        }
        Ok(Exit::SUCCESS)
    }

    /// Builds the additions to the session.
    fn widening(&self, source: Option<&PolicyFile>) -> Result<Widening> {
        let mut policy = source.map(PolicyFile::parse).transpose()?.unwrap_or_default();
        if policy.limits != Limits::default() {
            return Err(CliError::usage("`[limits]` cannot be added to a session")
                .hint("limits are each run's own: `run --timeout`, `--memory`, `--limit`"));
        }
        if policy.signed != Policy::default().signed {
            return Err(CliError::usage("`require_signature` cannot be added to a session")
                .hint("create a new one with it: `tollhouse session new --from ID --policy FILE`"));
        }
        for grant in allowed(&self.allow)? {
            policy.push(grant);
        }
        let commands = self.allow.iter().filter_map(|pattern| command_of(pattern)).collect();
        let tools = policy.tools.into_iter().flatten().chain(self.tools.iter().cloned());
        let permissions = policy.permissions.into_iter().collect();
        Ok(Widening { tools: tools.collect(), permissions, grants: policy.grants, commands, ..Widening::default() })
    }
}
