//! `tollhouse registry yank|unyank|deprecate`.

use clap::Args;
use tollhouse_registry::{ChangeError, Changed, ReleaseName, Requirement};

use super::super::locations::Locations;
use super::super::{Result, show};
use super::list::described;
use crate::Exit;

/// Yank a release: it is no longer resolved
///
/// Sessions and `tollhouse.lock` files that pin it still get it.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse registry yank acme:payments@1.2.0")]
pub(crate) struct YankCommand {
    #[command(flatten)]
    which: ReleaseArgs,
}

/// Undo a yank
#[derive(Args)]
pub(crate) struct UnyankCommand {
    #[command(flatten)]
    which: ReleaseArgs,
}

/// Tell the users of a release why to use something else
///
/// It is resolved and runs as before; whoever mounts it is warned on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse registry deprecate acme:payments@1.2.0 --message 'rounds wrongly' --replacement acme:payments@^1.3
  tollhouse registry deprecate acme:payments@1.2.0 --lift")]
pub(crate) struct DeprecateCommand {
    #[command(flatten)]
    which: ReleaseArgs,
    /// The reason, in a sentence
    #[arg(long, value_name = "TEXT", required_unless_present = "lift")]
    message: Option<String>,
    /// What to use instead
    #[arg(long, value_name = "NS:NAME@REQ", requires = "message")]
    replacement: Option<Requirement>,
    /// Remove the deprecation
    #[arg(long, conflicts_with = "message")]
    lift: bool,
}

#[derive(Args)]
struct ReleaseArgs {
    /// The release
    #[arg(value_name = "NS:NAME@VERSION")]
    release: ReleaseName,
    /// Print the release as one JSON object
    #[arg(long)]
    json: bool,
}

impl YankCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        self.which.print_report("yanked", super::existing(locations)?.yank(&self.which.release, true))
    }
}

impl UnyankCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        self.which.print_report("unyanked", super::existing(locations)?.yank(&self.which.release, false))
    }
}

impl DeprecateCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let why = self.message.map(|message| (message, self.replacement));
        let done = if why.is_some() { "deprecated" } else { "no longer deprecated" };
        self.which.print_report(done, super::existing(locations)?.deprecate(&self.which.release, why))
    }
}

impl ReleaseArgs {
    fn print_report(&self, done: &str, changed: std::result::Result<Changed, ChangeError>) -> Result {
        let changed = changed
            .map_err(|error| super::failed(&format!("cannot change `{}`", self.release), &error, error.hint()))?;
        if self.json {
            show::json(&described(&changed.release));
        } else {
            let already = if changed.already { "already " } else { "" };
            show::line(format_args!("{already}{done} {}", self.release));
        }
        Ok(Exit::SUCCESS)
    }
}
