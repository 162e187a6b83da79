//! `tollhouse registry diff`.

use std::io::IsTerminal as _;

use clap::Args;
use semver::Version;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use tollhouse_registry::{Permissions, Registry, ReleaseName};

use super::super::confine::ConfineArgs;
use super::super::error::colors;
use super::super::locations::Locations;
use super::super::terminal_escape::escape_hidden;
use super::super::{Result, show};
use crate::Exit;

/// Show the differences of two releases that matter to their users: WIT and permissions
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse registry diff acme:payments@1.2.0 1.3.0")]
pub(crate) struct DiffReleasesCommand {
    /// The release before
    #[arg(value_name = "NS:NAME@V1")]
    old: ReleaseName,
    /// The version after
    #[arg(value_name = "V2")]
    new: Version,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: old, new, wit, permissions, description; each diff is text
    #[arg(long)]
    json: bool,
}

/// Compared texts of a release.
struct ReleaseTexts {
    wit: String,
    permissions: String,
    description: String,
}

impl DiffReleasesCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        super::read_only(locations, self.confine)?;
        let registry = super::existing(locations)?;
        let new = ReleaseName { name: self.old.name.clone(), version: self.new.clone() };
        let (before, after) = (texts(&registry, &self.old)?, texts(&registry, &new)?);
        let unified = |what: &str, old: &str, new_text: &str| {
            let diff = TextDiff::from_lines(old, new_text);
            let header = |release: &ReleaseName| format!("{what} of {release}");
            diff.unified_diff().context_radius(3).header(&header(&self.old), &header(&new)).to_string()
        };
        let parts = [
            ("description", &before.description, &after.description),
            ("permissions", &before.permissions, &after.permissions),
            ("wit", &before.wit, &after.wit),
        ];
        if self.json {
            let mut object = json!({ "old": self.old.to_string(), "new": new.to_string() });
            for (what, old, new) in parts {
                object[what] = if old == new { Value::Null } else { unified(what, old, new).into() };
            }
            show::json_pretty(&object);
            return Ok(Exit::SUCCESS);
        }
        let colored = std::io::stdout().is_terminal() && colors();
        for (what, old, new) in parts {
            if old != new {
                print(&unified(what, old, new), colored);
            }
        }
        Ok(Exit::SUCCESS)
    }
}

fn texts(registry: &Registry, release: &ReleaseName) -> Result<ReleaseTexts> {
    let found = registry
        .find(release)
        .map_err(|error| super::failed(&format!("cannot compare `{release}`"), &error, error.hint()))?;
    let failed = |error| super::unreadable(&error);
    let manifest = registry.load_manifest(&found).map_err(failed)?;
    Ok(ReleaseTexts {
        wit: registry.load_wit(&found).map_err(failed)?,
        permissions: listed(&manifest.permissions),
        description: manifest.description.map(|text| text + "\n").unwrap_or_default(),
    })
}

/// Lists the requested permissions, one per line.
fn listed(permissions: &Permissions) -> String {
    let asks = serde_json::to_value(permissions).expect("permissions are plain data");
    let lists = asks.as_object().into_iter().flatten();
    let lines = lists.flat_map(|(key, list)| {
        list.as_array().into_iter().flatten().map(move |item| match item {
            Value::String(text) => format!("{key} {text}\n"),
            other => format!("{key} {other}\n"),
        })
    });
    lines.collect()
}

fn print(diff: &str, colored: bool) {
    for line in diff.lines() {
        let tag = match line.as_bytes().first() {
            Some(b'+') => ChangeTag::Insert,
            Some(b'-') => ChangeTag::Delete,
            _ => ChangeTag::Equal,
        };
        let line = escape_hidden(line);
        match (colored, tag) {
            (true, ChangeTag::Insert) => show::styled(format_args!("\u{1b}[32m{line}\u{1b}[0m")),
            (true, ChangeTag::Delete) => show::styled(format_args!("\u{1b}[31m{line}\u{1b}[0m")),
            _ => show::line(line),
        }
    }
}
