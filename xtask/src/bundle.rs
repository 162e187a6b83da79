//! Bundles npm packages that implement Node's modules for the JavaScript guest. The bundle is committed, so that no
//! other build needs npm.

use anyhow::Result;

use crate::run::{command, root, run, say};

/// Installs the packages of the lock file, and writes the bundle and its licences; with `check`, compares them with the
/// committed ones.
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
