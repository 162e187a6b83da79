//! `tollhouse registry`.

mod change;
mod credentials;
mod diff;
mod gc;
mod import;
mod look;
mod pull;
mod push;
mod search;
pub(crate) mod sign;
pub(crate) mod trust;
mod verify;

use clap::Subcommand;
use tollhouse_registry::{Registry as Store, Release};

use super::confine::{ConfineArgs, Confinement};
use super::places::Places;
use super::{CliError, Result};

/// Inspect, verify, sign, yank and deprecate releases
///
/// A release never changes. It can be yanked (nobody new gets it), deprecated (its users are told why) and signed (a
/// policy with `require_signature` mounts nothing else).
#[derive(Subcommand)]
pub(crate) enum Registry {
    Ls(look::Ls),
    Show(look::Show),
    Search(search::Search),
    Diff(diff::Diff),
    Verify(verify::Verify),
    Yank(change::Yank),
    Unyank(change::Unyank),
    Deprecate(change::Deprecate),
    Keygen(sign::Keygen),
    Sign(sign::Sign),
    #[command(subcommand)]
    Trust(trust::Trust),
    Push(push::Push),
    Pull(pull::Pull),
    Import(import::Import),
    Gc(gc::Gc),
}

impl Registry {
    /// Executes the command.
    pub(crate) fn execute(self, places: &Places) -> Result {
        match self {
            Self::Ls(ls) => ls.execute(places),
            Self::Show(show) => show.execute(places),
            Self::Search(search) => search.execute(places),
            Self::Diff(diff) => diff.execute(places),
            Self::Verify(verify) => verify.execute(places),
            Self::Yank(yank) => yank.execute(places),
            Self::Unyank(unyank) => unyank.execute(places),
            Self::Deprecate(deprecate) => deprecate.execute(places),
            Self::Keygen(keygen) => keygen.execute(),
            Self::Sign(sign) => sign.execute(places),
            Self::Trust(trust) => trust.execute(places),
            Self::Push(push) => push.execute(places),
            Self::Pull(pull) => pull.execute(places),
            Self::Import(import) => import.execute(places),
            Self::Gc(gc) => gc.execute(places),
        }
    }
}

/// Opens the registry.
pub(super) fn open(places: &Places) -> Result<Store> {
    places.registry().checked().map_err(|error| unreadable(&error))
}

/// Confines a command that reads the registry and writes nothing.
pub(super) fn read_only(places: &Places, confine: ConfineArgs) -> Result<()> {
    confine.seal(|| Confinement::of(places, false))
}

/// Confines a command that reads the registry, and stores its search index there.
fn searching(places: &Places, confine: ConfineArgs) -> Result<()> {
    confine.seal(|| {
        // A missing registry is not created by a search.
        let kept = Some(places.registry.as_path()).filter(|registry| registry.is_dir());
        Confinement::of(places, false).writing_in(kept)
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
