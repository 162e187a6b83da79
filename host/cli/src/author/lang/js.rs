//! JavaScript: npm, and the script that `npm run build` runs. In packages of `tollhouse new` that is ComponentizeJS; it
//! may be anything.

use std::path::PathBuf;

use super::{BuildJob, Result};

/// Hint on how to install npm.
const NPM: &str = "install Node.js 20 or newer, which brings npm: https://nodejs.org, or `apt-get install npm`";

/// Marker of the installed dependencies: a copy of `package.json`.
const STAMP: &str = "node_modules/.tollhouse.json";

pub(super) fn build(job: &BuildJob<'_>, command: &[String]) -> Result<PathBuf> {
    let package = job.text("package.json")?.unwrap_or_default();
    if !job.is_installed(STAMP, &package) {
        let mut npm = job.command("npm");
        npm.args(["install", "--no-audit", "--no-fund"]);
        job.run(npm, NPM)?;
        job.installed(STAMP, &package);
    }
    let npm = match command {
        [] => {
            let mut npm = job.command("npm");
            npm.args(["run", "build"]);
            npm
        }
        words => job.words(words),
    };
    let left = job.left();
    job.run(npm, NPM)?;
    Ok(left)
}
