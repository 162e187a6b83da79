//! Our side: `tollhouse batch`, a fresh sandbox for each case.

use std::path::Path;

use super::engine::Engine;
use crate::build::{Profile, binary};
use crate::run::command;

/// Longest time of one case. A script that takes longer differs.
const LONGEST: &str = "10s";

/// Returns the engine of our side: the built binary, or another program that reads the same jobs.
pub(crate) fn engine(jobs: usize, other: Option<&Path>) -> Engine {
    let other = other.map(Path::to_owned);
    Engine::new(usize::MAX, move || match &other {
        Some(program) => command(program),
        None => {
            let mut batch = command(binary(Profile::Debug));
            // Nothing of the caller's environment may change what a script gives.
            batch.args(["batch", "--files", "--timeout", LONGEST, "--jobs", &jobs.to_string()]);
            batch
        }
    })
}
