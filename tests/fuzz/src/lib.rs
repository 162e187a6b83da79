//! Fuzz targets: what reads hostile text and bytes, and what must hold of it whatever it is given.
//!
//! A target is a function of some bytes that panics when something does not hold; the bytes themselves may be anything.
//! `fuzz_targets/` hands them to libFuzzer (`cargo xtask fuzz`), and `tests/security/fuzz_corpora.rs` replays `corpus/` and
//! mutations of it through the same functions, and inputs that are `structured` as a target reads them. A file of the corpus
//! is a seed, or what a finding came down to.

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
pub const TARGETS: [(&str, Target); 18] = [
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
    ("pattern", pattern),
    ("policy", policy),
    ("snapshot", snapshot),
    ("step", step),
    ("token", token),
    ("vfs", vfs),
    ("wit", wit),
    ("words", words),
];

/// Gives a target the files that are named on the command line, one after another: what a finding is looked at with.
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
