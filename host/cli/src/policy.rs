//! `tollhouse policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;
use tollhouse::capability::{Approve, Clause, Policy as Grants, Test};
use tollhouse::gate::{Coverage, Optional, Reach, suggest};
use tollhouse::remedy::set_remedy_wording;

use super::audit::CheckAuditCommand;
use super::confine::ConfineArgs;
use super::locations::Locations;
use super::remedy::CallWording;
use super::session_args::{self, SessionArgs};
use super::terminal_escape::escape_toml;
use super::{CliError, Result, show, token};
use crate::Exit;

/// Check, explain, suggest, sign and narrow policies
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum PolicyCommand {
    /// Check a policy against the mounted tools: which methods each grant covers, and where it can allow nothing
    #[command(after_help = "Example:\n  tollhouse policy check policy.toml")]
    Check(CheckPolicyCommand),
    /// Explain how a policy decides a call: which grant, which clause, what would be debited, whether a human is asked
    ///
    /// Nothing is called. Exit status 0 if the call would be allowed, else 3.
    #[command(after_help = "\
Example:
  tollhouse policy explain payments/charges/create '{\"amount\": 500}' --policy policy.toml")]
    Explain(ExplainCallCommand),
    /// Suggest the least policy that would have allowed the calls in an audit log; refused calls become comments
    #[command(after_help = "\
Example:
  tollhouse run agent.js --allow '**' --audit audit.jsonl
  tollhouse policy suggest audit.jsonl > policy.toml")]
    Suggest {
        /// A log that `run --audit` wrote
        #[arg(value_name = "LOG")]
        log: PathBuf,
    },
    /// Print the JSON Schema of policies
    Schema,
    Keygen(token::TokenKeygenCommand),
    Seal(token::SealCommand),
    Attenuate(token::AttenuateCommand),
    Inspect(token::InspectTokenCommand),
    Audit(CheckAuditCommand),
}

#[derive(Args)]
pub(crate) struct CheckPolicyCommand {
    /// The policy, as with `--policy`
    #[arg(value_name = "POLICY", conflicts_with_all = ["policy", "token"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print {grants: [{grant, pattern, methods: [{method, problem, optional, takes_undeclared}]}], tools: [{tool, asks, granted}]}
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct ExplainCallCommand {
    /// The method, in any of its spellings
    #[arg(value_name = "METHOD")]
    method: String,
    /// The arguments: one JSON object
    #[arg(value_name = "JSON")]
    arguments: String,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {grant, method, allows, why}
    #[arg(long)]
    json: bool,
}

impl PolicyCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::Check(check) => check.execute(locations),
            Self::Explain(explain) => explain.execute(locations),
            Self::Suggest { log } => {
                let suggestion = suggest(&log).map_err(|error| CliError::because("cannot suggest a policy", &error))?;
                show::styled(escape_toml(suggestion.to_toml().trim_end()));
                Ok(Exit::SUCCESS)
            }
            Self::Keygen(keygen) => keygen.execute(),
            Self::Seal(seal) => seal.execute(locations),
            Self::Attenuate(attenuate) => attenuate.execute(locations),
            Self::Inspect(inspect) => inspect.execute(),
            Self::Schema => {
                show::json_pretty(&Grants::schema());
                Ok(Exit::SUCCESS)
            }
            Self::Audit(audit) => audit.execute(locations),
        }
    }
}

impl CheckPolicyCommand {
    fn execute(mut self, locations: &Locations) -> Result {
        if let Some(file) = self.file.take() {
            self.session.set_policy(file);
        }
        let session = self.session.look(locations, None, self.confine)?;
        let (covered, reach) = (session.gate().coverage(), session.gate().reach());
        session_args::note_lost_faces(session.gate(), |_| true);
        let unasked = unasked(session.gate().policy(), &covered);
        if self.json {
            let all = serde_json::json!({ "grants": covered, "tools": reach, "notes": unasked });
            show::json_pretty(&all);
            return Ok(Exit::SUCCESS);
        }
        if covered.is_empty() {
            show::line("no grants: every call will be denied");
        }
        for grant in &covered {
            show::line(format_args!("{}  ({})", grant.grant, grant.pattern));
            for method in &grant.methods {
                match &method.problem {
                    None => show::line(format_args!("  {}", method.method)),
                    Some(problem) => show::line(format_args!("  {}  never: {problem}", method.method)),
                }
                method.optional.iter().for_each(print_optional);
                if method.takes_undeclared {
                    show::line(
                        "    takes arguments that it does not declare: they pass, unless a clause names them (`not_exists`)",
                    );
                }
            }
        }
        reach.iter().for_each(print_permissions);
        note_path_prefixes(session.gate().policy());
        unasked.iter().for_each(|note| note!("note: {note}"));
        for grant in covered {
            let never = grant.methods.iter().filter(|method| method.problem.is_some()).count();
            if never > 0 {
                note!(
                    "note: grant `{}` can never allow {never} of the {} methods that its pattern covers; grants of the \
                     others alone would say the same",
                    grant.grant,
                    grant.methods.len()
                );
            }
        }
        Ok(Exit::SUCCESS)
    }
}

/// Describes grants that ask a human and come behind one that covers the same methods and does not ask: grants are tried
/// in order, so its calls are asked about only where the first one does not allow them.
fn unasked(policy: &Grants, covered: &[Coverage]) -> Vec<String> {
    let methods = |index: usize| covered[index].methods.iter().map(|covered| covered.method.as_str());
    let mut notes = Vec::new();
    for (later, asking) in policy.grants.iter().enumerate().filter(|(_, grant)| grant.approve != Approve::Never) {
        for (earlier, first) in policy.grants.iter().enumerate().take(later) {
            if first.approve != Approve::Never {
                continue;
            }
            let shared: Vec<&str> =
                methods(later).filter(|method| methods(earlier).any(|other| other == *method)).collect();
            let Some(method) = shared.first() else { continue };
            let unless = if first.clauses.is_empty() { "" } else { ", unless its conditions fail" };
            notes.push(format!(
                "grant `{}` asks a human about `{method}`, but `{}` before it allows the call without asking{unless}: put \
                 the grant that asks first",
                asking.name, first.name
            ));
        }
    }
    notes
}

/// Warns of clauses that compare paths by their beginning, which `..` escapes.
fn note_path_prefixes(policy: &Grants) {
    for grant in &policy.grants {
        for param in grant.clauses.iter().flat_map(Clause::params) {
            for test in &param.tests {
                if let Test::StartsWith(text) = test
                    && text.starts_with('/')
                {
                    note!(
                        "note: grant `{}` compares `{}` by its beginning, which a path with `..` may leave again; \
                         directories are compared by `within = {text:?}`",
                        grant.name,
                        param.path,
                    );
                }
            }
        }
    }
}

/// Prints a parameter that a clause reads and a call may leave out.
fn print_optional(optional: &Optional) {
    let without = match optional.without {
        "asks" => "without it, a human is asked",
        "does not ask" => "without it, the clause does not ask",
        "fails" => "without it, the clause fails",
        _ => "without it, the clause holds",
    };
    let default = optional.default.as_ref().map(|value| format!("; its default is {value}")).unwrap_or_default();
    let docs = optional.docs.as_ref().map(|docs| format!("; {}", docs.replace('\n', " "))).unwrap_or_default();
    show::line(format_args!(
        "    `{}` of `{}` is optional: {without}{default}{docs}",
        optional.param, optional.read_by
    ));
}

/// Prints the permissions of a tool, line by line, including those that it asks for in vain.
fn print_permissions(reach: &Reach) {
    show::line(format_args!("tool.{}", reach.tool));
    let asks = serde_json::to_value(&reach.asks).expect("it is plain data");
    for key in ["http", "secrets", "files", "keyvalue", "tools"] {
        let listed = |value: &Value| {
            let items = value[key].as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        };
        match (listed(&reach.granted), listed(&asks)) {
            (granted, _) if !granted.is_empty() => show::line(format_args!("  {key}: {granted}")),
            (_, asked) if !asked.is_empty() => show::line(format_args!("  {key}: none, it asks for {asked}")),
            _ => {}
        }
    }
}

/// Formats one entry of a list of permissions: a text, a secret or a grant.
fn item(value: &Value) -> String {
    let name = value.as_str().or_else(|| value["method"].as_str()).or_else(|| value["name"].as_str());
    let exposed = if value["expose"] == true { " (it sees the value)" } else { "" };
    let open = if value["insecure"] == true { " (it may go without TLS)" } else { "" };
    let header = value["header"].as_str().map(|header| format!(" (in the header `{header}` only)")).unwrap_or_default();
    format!("{}{exposed}{open}{header}", name.unwrap_or_default())
}

impl ExplainCallCommand {
    fn execute(&self, locations: &Locations) -> Result {
        set_remedy_wording(&CallWording);
        let session = self.session.look(locations, None, self.confine)?;
        let gate = session.gate();
        let found = gate.tools().find(&self.method);
        let method = found.as_ref().map_or(self.method.as_str(), |tool| tool.method());
        let opinions = match gate.explain(method, &self.arguments) {
            Ok(opinions) => opinions,
            Err(failure) => {
                show::failure(&failure);
                return Ok(show::exit_code(failure.kind));
            }
        };
        // The first grant that allows the call is the one that would be debited.
        let allowed = opinions.iter().position(|opinion| opinion.allows);
        if self.json {
            show::json_pretty(&opinions);
        } else {
            match allowed {
                Some(at) => show::line(format_args!("{method}: allowed by grant `{}`", opinions[at].grant)),
                None => show::line(format_args!("{method}: denied")),
            }
            if opinions.is_empty() {
                show::line("  no grant covers the method");
            }
            for opinion in &opinions {
                let word = if opinion.allows { "allows" } else { "denies" };
                let why = if opinion.why.is_empty() { String::new() } else { format!(": {}", opinion.why.join(", ")) };
                show::line(format_args!("  {} ({}) {word}{why}", opinion.grant, opinion.method));
            }
        }
        Ok(if allowed.is_some() { Exit::SUCCESS } else { Exit::from(3) })
    }
}
