//! JavaScript: npm, and what `npm run build` runs. That is ComponentizeJS in what `tollhouse new` makes, and may be anything.

use std::path::PathBuf;

use super::{Job, Result};

/// What to do where there is no npm.
const NPM: &str = "install Node.js 20 or newer, which brings npm: https://nodejs.org, or `apt-get install npm`";

/// What was installed: a copy of `package.json`.
const STAMP: &str = "node_modules/.tollhouse.json";

pub(super) fn build(job: &Job<'_>, command: &[String]) -> Result<PathBuf> {
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
