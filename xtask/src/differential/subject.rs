//! The tested side: `tollhouse batch`, with a fresh session for each case.

use std::path::Path;

use super::engine::EngineProcess;
use crate::build::{Profile, binary};
use crate::run::command;

/// Time limit of one case. A script that takes longer counts as different.
const LONGEST: &str = "10s";

/// Returns the engine of the tested side: the built binary, or another program that reads the same jobs.
pub(crate) fn engine(jobs: usize, other: Option<&Path>) -> EngineProcess {
    let other = other.map(Path::to_owned);
    EngineProcess::new(usize::MAX, move || match &other {
        Some(program) => command(program),
        None => {
            let mut batch = command(binary(Profile::Debug));
            // Variables of the caller's environment must not influence the results.
            batch.args(["batch", "--files", "--timeout", LONGEST, "--jobs", &jobs.to_string()]);
            batch
        }
    })
}
