//! `tollhouse tools` and `tollhouse types`.

use clap::{Args, ValueEnum};
use serde_json::json;
use tollhouse::gate::Gate;
use tollhouse::session::SessionId;
use tollhouse::tool::help::first_sentence;

use super::confine::ConfineArgs;
use super::locations::Locations;
use super::session_args::{self, SessionArgs};
use super::{CliError, Result, show};
use crate::Exit;

/// Declarations of the globals that every script has besides its tools, for editors. TypeScript's own libraries declare
/// those of the web and Node.
const GLOBALS: &str = include_str!("globals.d.ts");

/// List the mounted tools, and mark the granted ones
#[derive(Args)]
pub(crate) struct ListToolsCommand {
    /// Show the help of one method, or of all with this prefix
    #[arg(value_name = "METHOD")]
    method: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    /// The tools of this session
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {method, path, command, description, parameters, result, granted}
    #[arg(long)]
    json: bool,
}

impl ListToolsCommand {
    /// Prints the list.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let session = self.session.look(locations, self.id.as_ref(), self.confine)?;
        let gate = session.gate();
        let tools = gate.tools();
        if self.json {
            if let Some(method) = self.method.as_deref().filter(|method| tools.help(method).is_none()) {
                return Err(unknown(gate, method));
            }
            let chosen =
                tools.iter().filter(|tool| self.method.as_deref().is_none_or(|method| tool.method() == method));
            let listed: Vec<_> = chosen
                .map(|tool| {
                    let mut described = tool.describe(gate.grants(tool.method()));
                    described["path"] = json!(tool.path());
                    described["command"] = json!(tool.command());
                    described
                })
                .collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        if let Some(method) = &self.method {
            help(gate, method)?;
            let alias = method.split(['/', '.', ' ']).next().unwrap_or(method);
            session_args::note_lost_faces(gate, |lost| lost.alias == alias);
            return Ok(Exit::SUCCESS);
        }
        if tools.is_empty() {
            note!("nothing is mounted: the registry {} has nothing that can be called", locations.registry.display());
        }
        list(gate);
        tools.clashes().iter().for_each(|clash| note!("note: {}", clash.hint()));
        session_args::note_lost_faces(gate, |_| true);
        session_args::warn_of_deprecated(gate, tools.iter().map(|tool| tool.method()));
        Ok(Exit::SUCCESS)
    }
}

/// Prints the mounted tools, a line each, and marks those that are granted.
pub(crate) fn list(gate: &Gate) {
    for tool in gate.tools().iter() {
        let mark = if gate.grants(tool.method()) { "granted" } else { "-" };
        let docs = tool.function().docs.as_deref().map(first_sentence).unwrap_or_default();
        show::line(format_args!("{:<32} {mark:<8} {docs}", tool.method()));
    }
}

/// Prints the help of a method, or of all with that prefix.
pub(crate) fn help(gate: &Gate, method: &str) -> Result<()> {
    let tools = gate.tools();
    let Some(help) = tools.help(method) else { return Err(unknown(gate, method)) };
    show::line(help.trim_end());
    Ok(())
}

/// Creates the error of a method that is not mounted.
fn unknown(gate: &Gate, method: &str) -> CliError {
    let tools = gate.tools();
    let error = CliError::usage(format!("no mounted tool is named `{method}`"));
    match (tools.clash_of(method), tools.nearest(method)) {
        (Some(clash), _) => error.hint(clash.hint()),
        (None, Some(near)) => error.hint(format!("did you mean `{near}`?")),
        (None, None) => error.hint("`tollhouse tools` lists what is mounted"),
    }
}

/// Language of declarations.
#[derive(Clone, Copy, ValueEnum)]
enum DeclarationLanguage {
    /// TypeScript, including the globals of scripts, for editors.
    #[value(alias = "typescript")]
    Ts,
    /// Python: what functions take, return and fail with, as `TypedDict`s.
    #[value(alias = "py")]
    Python,
}

/// Print declarations of the mounted tools, for editors and type checkers
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse types --policy agent.toml > tools.d.ts
  tollhouse types --policy agent.toml --lang python > tools.py")]
pub(crate) struct PrintTypesCommand {
    /// The language of the declarations
    #[arg(long, value_enum, default_value = "ts")]
    lang: DeclarationLanguage,
    #[command(flatten)]
    session: SessionArgs,
    /// The tools of this session
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    #[command(flatten)]
    confine: ConfineArgs,
}

impl PrintTypesCommand {
    /// Prints the declarations.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let session = self.session.look(locations, self.id.as_ref(), self.confine)?;
        let gate = session.gate();
        match self.lang {
            DeclarationLanguage::Ts => {
                session_args::note_lost_faces(gate, |_| true);
                show::line(gate.tools().typescript(&|method| gate.grants(method)).trim_end());
                show::line(GLOBALS.trim_end());
            }
            DeclarationLanguage::Python => show::line(gate.tools().python().trim_end()),
        }
        Ok(Exit::SUCCESS)
    }
}
