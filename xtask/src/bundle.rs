//! Node's modules for the JavaScript guest: bundled from npm, and committed, so that no build needs npm.

use anyhow::Result;

use crate::run::{command, root, run, say};

/// Installs exactly what the lock file names, and makes the bundle and its licences; or checks that they are so made.
pub(crate) fn bundle(check: bool) -> Result<()> {
    let directory = root().join("guest-js/node");
    say("bundling Node's modules (guest-js/node)");
    run(command("npm").current_dir(&directory).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    let mut build = command("node");
    build.current_dir(&directory).arg("build.mjs");
    if check {
        build.arg("--check");
    }
    run(&mut build)
}
