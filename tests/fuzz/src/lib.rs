//! Fuzz targets for the code that reads hostile bytes and text, with the properties that must hold for every input.
//!
//! A target is a function of bytes that panics when a property does not hold. `fuzz_targets/` connects the targets to
//! libFuzzer (`cargo xtask fuzz`). `tests/security/fuzz_corpora.rs` runs the same functions in CI, on the files of
//! `corpus/`, on mutations of them, and on generated inputs (`structured`). A file of the corpus is a seed, or the
//! minimized input of an earlier finding.

mod archive;
mod canonical;
mod component;
mod engine;
mod frames;
mod hosted;
mod index;
mod journal;
mod manifest;
pub mod mutate;
mod names;
mod pack;
mod pattern;
mod policy;
mod shape;
mod snapshot;
mod step;
pub mod structured;
mod token;
mod vfs;
mod wit;
mod words;

use std::process::ExitCode;

pub use archive::archive;
pub use canonical::canonical;
pub use component::component;
pub use engine::engine;
pub use frames::frames;
pub use hosted::hosted;
pub use index::index;
pub use journal::journal;
pub use manifest::manifest;
pub use names::names;
pub use pack::pack;
pub use pattern::pattern;
pub use policy::policy;
pub use snapshot::snapshot;
pub use step::step;
pub use token::token;
pub use vfs::vfs;
pub use wit::wit;
pub use words::words;

/// Function of a fuzz target.
pub type Target = fn(&[u8]);

/// Every target, by the name of its file and of its corpus.
pub const TARGETS: [(&str, Target); 19] = [
    ("archive", archive),
    ("canonical", canonical),
    ("component", component),
    ("engine", engine),
    ("frames", frames),
    ("hosted", hosted),
    ("index", index),
    ("journal", journal),
    ("manifest", manifest),
    ("names", names),
    ("pack", pack),
    ("pattern", pattern),
    ("policy", policy),
    ("snapshot", snapshot),
    ("step", step),
    ("token", token),
    ("vfs", vfs),
    ("wit", wit),
    ("words", words),
];

/// Runs a target on the files that are named on the command line, one after another, to reproduce a finding.
#[must_use]
pub fn replay_files(target: Target) -> ExitCode {
    for path in std::env::args_os().skip(1) {
        match std::fs::read(&path) {
            Ok(data) => target(&data),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
        println!("{}: nothing found", path.display());
    }
    ExitCode::SUCCESS
}
