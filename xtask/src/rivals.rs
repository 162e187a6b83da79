//! The shells that ours is measured against: bashkit as it is, natively, and just-bash from npm. Their runners are in
//! `tests/conformance/rivals`: lines of a batch in, results out.

use std::path::PathBuf;

use crate::run::{cargo, command, say, succeeds, target};

/// just-bash, as it is published.
const JUST_BASH: &str = "just-bash@3.4.2";

/// The runner of bashkit; none if it cannot be built.
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

/// The modules of just-bash; none if they cannot be installed.
pub(crate) fn just_bash() -> Option<PathBuf> {
    let prefix = target().join("rivals/npm");
    if succeeds(command("npm").arg("install").arg("--prefix").arg(&prefix).arg(JUST_BASH)) {
        return Some(prefix.join("node_modules"));
    }
    say(&format!("{JUST_BASH} cannot be installed here (it takes npm): left out"));
    None
}

/// The runner of just-bash.
pub(crate) const JUST_BASH_RUNNER: &str = "tests/conformance/rivals/just-bash.mjs";
