//! `tollhouse mcp lock`: pins the tools of MCP servers.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::HostError;
use tollhouse::tool::{LockFile, PinnedServer};

use super::StartedServers;
use super::command::told;
use crate::confine::{ConfineArgs, Confinement};
use crate::locations::Locations;
use crate::policy_file::PolicyFile;
use crate::registry::trust;
use crate::session_args::pair;
use crate::show::plain;
use crate::terminal_escape::is_hidden;
use crate::{CliError, Exit, Result, lock, secret, show};

/// Pin the tools of a policy's MCP servers: name, description and schemas of each
///
/// Starts the servers that `--allow-exec` names, and writes what they offer to the lock beside the policy, as `tollhouse
/// lock` does with packages, which are pinned too. A server that cannot be used keeps the pins that it had, and the
/// exit status is 1. From then on a server whose tools differ is refused with a diff.
/// Read what is pinned: descriptions are shown to the model.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse mcp lock --policy agent.toml --allow-exec git
  tollhouse mcp lock --policy agent.toml --allow-exec github --secret GITHUB=env:GITHUB_TOKEN")]
pub(crate) struct LockServersCommand {
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Start this server, or connect with it, and pin its tools; the pins of others stay
    #[arg(long, value_name = "NAME", required = true)]
    allow_exec: Vec<String>,
    /// Mount one more package, as `run --tool` does
    #[arg(long = "tool", value_name = "ALIAS=NS:NAME@REQ", value_parser = pair)]
    tools: Vec<(String, String)>,
    /// The lock file, if it is not the one beside the policy
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    /// Give the value of a secret: `KEY=env:VARIABLE`, `KEY=file:PATH`, `KEY=cmd:PROGRAM ARGS`
    #[arg(long = "secret", value_name = "NAME=SOURCE", value_parser = pair)]
    secrets: Vec<(String, String)>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {server, change, tools, refused: [{name, reason}], difference}, and {server, change, error}
    /// of servers that cannot be used
    #[arg(long)]
    json: bool,
}

/// Outcome for one server.
struct PinReport {
    name: String,
    change: &'static str,
    pins: PinnedServer,
    difference: Option<String>,
}

impl LockServersCommand {
    /// Pins the servers, and reports what they offer.
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let secrets = secret::read(&self.secrets)?;
        let servers = StartedServers::start(&self.allow_exec, &self.policy, locations, &secrets, self.confine)?;
        self.confine.seal(|| self.touched(locations))?;
        let mut policy = PolicyFile::read(&self.policy)?.parse()?;
        trust::resolve(&mut policy, locations)?;
        let path = self.locked.clone().map_or_else(|| lock::place(&self.policy), Ok)?;
        let found = if path.exists() { lock::read_file(&path)? } else { LockFile::default() };
        let pinned = locations.host()?.packages().pin(&policy, &self.tools, &found.lock);
        let mut pins = pinned.map_err(|error| CliError::from(HostError::Mount(error)))?;
        let (mut reports, mut failed) = (Vec::new(), Vec::new());
        for (name, connected) in servers.connect_each()? {
            let present = match connected {
                Ok(connection) => connection.tools().clone(),
                Err(error) => {
                    failed.push((without_network(&name, &policy, error), name));
                    continue;
                }
            };
            let before = pins.servers.insert(name.clone(), present.clone());
            let difference = before.as_ref().and_then(|before| before.difference(&name, &present));
            let change = match (&before, &difference) {
                (None, _) => "pinned",
                (_, None) => "kept",
                _ => "updated",
            };
            reports.push(PinReport { name, change, pins: present, difference });
        }
        if reports.is_empty()
            && let Some((error, _)) = failed.pop()
        {
            return Err(error);
        }
        let is_failed = |name: &String| failed.iter().any(|(_, other)| other == name);
        if let Some(missing) = policy.mcp.keys().find(|name| !pins.servers.contains_key(*name) && !is_failed(name)) {
            return Err(CliError::usage(format!(
                "the policy also names the MCP server `{missing}`, which is not pinned"
            ))
            .hint(format!("add `--allow-exec {missing}`: a lock pins all that a policy mounts")));
        }
        // Names that collide would keep every session from starting.
        let mounted = locations.host()?.packages().mount_locked(&pins, &policy.signed);
        mounted.map_err(|error| CliError::from(HostError::Mount(error)))?;
        lock::save(&path, &LockFile { policy: lock::file_name(&self.policy), lock: pins }, &found)?;
        let status = if failed.is_empty() { Exit::SUCCESS } else { Exit::FAILURE };
        self.print(&reports, failed);
        Ok(status)
    }

    fn touched(&self, locations: &Locations) -> Confinement {
        let beside = lock::candidates(&self.policy);
        let read = [&self.policy].into_iter().chain(&self.locked).chain(&beside);
        let directory = lock::directory(self.locked.as_ref().unwrap_or(&self.policy));
        Confinement::of(locations, false)
            .reading(read)
            .writing_in(Some(directory).filter(|directory| directory.is_dir()))
    }

    fn print(&self, reports: &[PinReport], failed: Vec<(CliError, String)>) {
        if self.json {
            let one = |report: &PinReport| {
                let tools: Vec<&str> = report.pins.names().collect();
                let refused: Vec<Value> = report.pins.refused(&report.name).iter().map(told).collect();
                json!({
                    "server": report.name, "change": report.change, "tools": tools, "refused": refused,
                    "difference": report.difference,
                })
            };
            let of_failed = failed
                .iter()
                .map(|(error, name)| json!({ "server": name, "change": "failed", "error": error.to_json()["error"] }));
            show::json_pretty(&reports.iter().map(one).chain(of_failed).collect::<Vec<_>>());
            return;
        }
        for report in reports {
            let number = report.pins.names().count();
            show::line(format_args!("{:<8} {:<24} {number} tools", report.change, report.name));
            for refused in report.pins.refused(&report.name) {
                note!("note: `{}/{}` is refused: {}", report.name, plain(&refused.name), plain(&refused.reason));
            }
            for name in report.pins.with_text(is_hidden) {
                note!(
                    "warning: the definition of `{}/{}` has characters that are not seen: read it in the lock, where they are escaped",
                    report.name,
                    plain(name)
                );
            }
            if let Some(lines) = &report.difference {
                show::line(lines.trim_end());
            }
        }
        for (error, name) in failed {
            show::line(format_args!("{:<8} {:<24} its pins are as they were", "failed", name));
            error.show_status();
        }
    }
}

/// Programs that download what they run.
const DOWNLOADERS: [&str; 7] = ["npx", "uvx", "bunx", "pnpm", "yarn", "pipx", "uv"];

/// Adds what such a program needs to the error of a server that has no network.
fn without_network(name: &str, policy: &Policy, error: CliError) -> CliError {
    let Some(server) = policy.mcp.get(name).filter(|server| server.url.is_none() && server.ports.is_empty()) else {
        return error;
    };
    let program = server.command.first().map(Path::new).and_then(Path::file_name).and_then(|name| name.to_str());
    match program.filter(|program| DOWNLOADERS.contains(program)) {
        Some(program) => error.also(format!(
            "`{program}` downloads what it runs, and `[mcp.{name}]` lets it reach nothing: add `ports = [443]`, and the \
             directory of its downloads to `write` (of `npx`: `~/.npm`, as an absolute path)"
        )),
        None => error,
    }
}
