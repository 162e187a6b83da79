//! `tollhouse registry verify`.

use clap::Args;
use serde_json::{Value, json};
use tollhouse_registry::Verified;

use super::super::confine::ConfineArgs;
use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::{CliError, Result, format, show};
use crate::Exit;

/// Check everything: the chain of the index, every blob, WIT against component, every signature
///
/// Exit status 1 if something is wrong, with the problems and what to do about them.
#[derive(Args)]
pub(crate) struct VerifyRegistryCommand {
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: lines, torn_bytes, releases, signatures, blobs, bytes, problems
    #[arg(long)]
    json: bool,
}

impl VerifyRegistryCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        super::refuse_absent(locations, true)?;
        super::read_only(locations, self.confine)?;
        let progress = Progress::new("checking the registry");
        // A registry that cannot be opened is what this command is for.
        let registry = locations.registry();
        let verified = registry.verify(|at, of, release| {
            progress.now(format!("checking {} ({} of {of})", release.full_name(), at + 1));
        });
        drop(progress);
        if self.json {
            show::json_pretty(&report(&verified));
        } else {
            let Verified { lines, releases, signatures, blobs, bytes, .. } = &verified;
            let size = format::size(*bytes);
            show::line(format_args!(
                "checked {} of the index, {}, {}, {} ({size})",
                format::count(*lines, "line"),
                format::count(*releases as u64, "release"),
                format::count(*signatures as u64, "signature"),
                format::count(*blobs as u64, "blob")
            ));
            if verified.torn > 0 {
                note!(
                    "warning: the index ends with {} bytes of a line that is not whole: a publisher was killed while it \
                     wrote, or somebody cut it off\n  no release of it is there; the next publish removes it",
                    verified.torn
                );
            }
            for problem in &verified.problems {
                let hint = problem.hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
                note!("{}{hint}", problem.problem);
            }
        }
        if verified.problems.is_empty() {
            return Ok(Exit::SUCCESS);
        }
        let problems = format::count(verified.problems.len() as u64, "problem");
        Err(CliError::because(problems, &RegistryDamaged)
            .hint("a damaged release is not used: no run mounts it; of an index that is damaged, nothing is used"))
    }
}

/// Error with which `verify` ends.
#[derive(Debug, thiserror::Error)]
#[error("the registry is damaged, or was tampered with")]
struct RegistryDamaged;

fn report(verified: &Verified) -> Value {
    let problems: Vec<Value> = verified
        .problems
        .iter()
        .map(|it| json!({ "release": it.release, "problem": it.problem, "hint": it.hint }))
        .collect();
    json!({
        "lines": verified.lines, "torn_bytes": verified.torn, "releases": verified.releases, "signatures": verified.signatures,
        "blobs": verified.blobs, "bytes": verified.bytes, "problems": problems,
    })
}
