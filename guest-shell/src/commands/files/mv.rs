//! `mv`: moves and renames files.

use super::call::{Call, Done};
use super::copy::{Copier, Existing, Follow, Make, Options};
use super::cp::strip_slashes;
use super::target::{Backups, Control, find};
use super::words::{NONE, Spec};
use crate::commands::getopt::Takes;

const SPEC: Spec = Spec {
    usage: "[OPTION]... SOURCE... DEST",
    short: "bfint:uvS:TZ",
    long: &[
        ("backup", NONE, Takes::Optional),
        ("context", 'Z', Takes::Nothing),
        ("force", 'f', Takes::Nothing),
        ("interactive", 'i', Takes::Nothing),
        ("no-clobber", 'n', Takes::Nothing),
        ("no-target-directory", 'T', Takes::Nothing),
        ("strip-trailing-slashes", NONE, Takes::Nothing),
        ("suffix", 'S', Takes::Required),
        ("target-directory", 't', Takes::Required),
        ("update", 'u', Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

/// Runs the command `mv`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(mut words) = call.options(&SPEC) else { return Ok(()) };
    let Some(backups) = Backups::read(call, &words) else { return Ok(()) };
    let existing = match words.last(&["force", "interactive", "no-clobber"]) {
        Some("no-clobber") => Existing::Keep,
        Some("interactive") => Existing::Ask,
        _ => Existing::Replace,
    };
    // `--backup=none` is a wish for backups, too.
    let wants_backups = backups.control != Control::Off || words.has("backup");
    if wants_backups && existing == Existing::Keep {
        call.usage("options --backup and --no-clobber are mutually exclusive");
        return Ok(());
    }
    if words.has("strip-trailing-slashes") {
        strip_slashes(&mut words);
    }
    let Some((sources, target)) = find(call, &words).await else { return Ok(()) };
    let options = Options {
        make: Make::Move,
        recursive: true,
        follow: Follow::Never,
        existing,
        update: words.has("update"),
        backups,
        verbose: words.has("verbose"),
        force: words.has("force"),
        unlink_first: false,
        keep_mode: true,
        default_mode: false,
        keep_time: true,
        attributes_only: false,
        mode: None,
    };
    let mut copier = Copier::new(options);
    for source in sources {
        copier.operand(call, &source, &target.of(&source)).await?;
    }
    Ok(())
}
