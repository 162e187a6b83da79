//! `tollhouse registry`.

mod change;
mod credentials;
mod diff;
mod gc;
mod import;
mod list;
mod pull;
mod push;
mod search;
pub(crate) mod sign;
pub(crate) mod trust;
mod verify;

use clap::Subcommand;
use tollhouse_registry::{Registry as Store, Release};

use super::confine::{ConfineArgs, Confinement};
use super::locations::Locations;
use super::{CliError, Result};

/// Inspect, verify, sign, yank and deprecate releases
///
/// A release never changes. It can be yanked (nobody new gets it), deprecated (its users are told why) and signed (a
/// policy with `require_signature` mounts nothing else).
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum RegistryCommand {
    Ls(list::ListReleasesCommand),
    Show(list::ShowPackageCommand),
    Search(search::SearchCommand),
    Diff(diff::DiffReleasesCommand),
    Verify(verify::VerifyRegistryCommand),
    Yank(change::YankCommand),
    Unyank(change::UnyankCommand),
    Deprecate(change::DeprecateCommand),
    Keygen(sign::SigningKeygenCommand),
    Sign(sign::SignCommand),
    #[command(subcommand)]
    Trust(trust::TrustCommand),
    Push(push::PushCommand),
    Pull(pull::PullCommand),
    Import(import::ImportReleasesCommand),
    Gc(gc::CollectRegistryBlobsCommand),
}

impl RegistryCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::Ls(ls) => ls.execute(locations),
            Self::Show(show) => show.execute(locations),
            Self::Search(search) => search.execute(locations),
            Self::Diff(diff) => diff.execute(locations),
            Self::Verify(verify) => verify.execute(locations),
            Self::Yank(yank) => yank.execute(locations),
            Self::Unyank(unyank) => unyank.execute(locations),
            Self::Deprecate(deprecate) => deprecate.execute(locations),
            Self::Keygen(keygen) => keygen.execute(),
            Self::Sign(sign) => sign.execute(locations),
            Self::Trust(trust) => trust.execute(locations),
            Self::Push(push) => push.execute(locations),
            Self::Pull(pull) => pull.execute(locations),
            Self::Import(import) => import.execute(locations),
            Self::Gc(gc) => gc.execute(locations),
        }
    }
}

/// Opens the registry to read or change what is in it. One that the command line names must be there.
pub(super) fn existing(locations: &Locations) -> Result<Store> {
    refuse_absent(locations, locations.is_registry_named)?;
    open(locations)
}

/// Refuses to go on if there is no registry, and there should be one.
fn refuse_absent(locations: &Locations, is_expected: bool) -> Result<()> {
    if is_expected && !locations.has_registry() { Err(locations.no_registry()) } else { Ok(()) }
}

/// Opens the registry, which need not be there yet.
pub(super) fn open(locations: &Locations) -> Result<Store> {
    locations.registry().checked().map_err(|error| unreadable(&error))
}

/// Confines a command that reads the registry and writes nothing.
pub(super) fn read_only(locations: &Locations, confine: ConfineArgs) -> Result<()> {
    confine.seal(|| Confinement::of(locations, false))
}

/// Confines a command that reads the registry, and stores its search index there.
fn searching(locations: &Locations, confine: ConfineArgs) -> Result<()> {
    confine.seal(|| {
        // A missing registry is not created by a search.
        let kept = Some(locations.registry.as_path()).filter(|registry| registry.is_dir());
        Confinement::of(locations, false).writing_in(kept)
    })
}

/// Converts an error of reading the registry for the user.
pub(super) fn unreadable(error: &tollhouse_registry::Error) -> CliError {
    failed("cannot read the registry", error, error.hint())
}

/// Creates an error for the user, with an optional hint.
pub(super) fn failed(what: &str, error: &(dyn std::error::Error + 'static), hint: Option<&str>) -> CliError {
    let shown = CliError::because(what, error);
    match hint {
        Some(hint) => shown.hint(hint),
        None => shown,
    }
}

/// Returns the labels that follow a release wherever it is listed.
fn marks(release: &Release) -> String {
    let yanked = if release.yanked { "  yanked" } else { "" };
    let deprecated = if release.deprecated.is_some() { "  deprecated" } else { "" };
    let signed = if release.signatures.is_empty() { "" } else { "  signed" };
    format!("{yanked}{deprecated}{signed}")
}
