//! Shells that Tollhouse's is compared with: bashkit, natively and without patches, and just-bash from npm. Their
//! runners in `tests/conformance/rivals` read the lines of a batch and write results.

use std::path::PathBuf;

use crate::run::{cargo, command, say, succeeds, target};

/// npm package of just-bash.
const JUST_BASH: &str = "just-bash@3.4.2";

/// Builds the runner of bashkit. Returns `None` if that fails.
pub(crate) fn bashkit() -> Option<PathBuf> {
    let manifest = "tests/conformance/rivals/bashkit/Cargo.toml";
    let out = target().join("rivals");
    let mut build = cargo(&["build", "--quiet", "--release", "--manifest-path", manifest]);
    if succeeds(build.arg("--target-dir").arg(&out)) {
        return Some(out.join("release/tollhouse-rival-bashkit"));
    }
    say("bashkit cannot be built natively here: left out");
    None
}

/// Installs just-bash. Returns the directory of its modules, or `None` if that fails.
pub(crate) fn just_bash() -> Option<PathBuf> {
    let prefix = target().join("rivals/npm");
    if succeeds(command("npm").arg("install").arg("--prefix").arg(&prefix).arg(JUST_BASH)) {
        return Some(prefix.join("node_modules"));
    }
    say(&format!("{JUST_BASH} cannot be installed here (it takes npm): left out"));
    None
}

/// Path of the runner of just-bash.
pub(crate) const JUST_BASH_RUNNER: &str = "tests/conformance/rivals/just-bash.mjs";
