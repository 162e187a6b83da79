//! Checks the crates that Tollhouse is built from against the RustSec advisory database: those of the host, the tools,
//! the fuzz targets and the guests.
//!
//! The database is a git repository, of which cargo-deny keeps a copy. Without a network the copy is used whatever its
//! age, and the age is printed. Without a copy nothing is checked; a message says so, and with `--require` the check
//! fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::patched;
use crate::run::{cargo, command, output, run, say, succeeds};

/// Address at which the database is published.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";

/// Workspaces with a lock file of their own. The last one is a rival that is only measured and compared with, and is
/// not published.
pub(crate) const MANIFESTS: [&str; 3] = ["Cargo.toml", crate::build::SHELL, patched::RIVAL];

/// Options of the command.
#[derive(Default)]
struct AdvisoryOptions<'a> {
    /// Fail if the database cannot be fetched.
    require: bool,
    /// Clone of the database to use instead of the published one.
    from: Option<&'a str>,
}

/// Checks all lock files. Arguments: `[--require] [--from DIR]`.
pub(crate) fn advisories(arguments: &[&str]) -> Result<()> {
    let options = read(arguments)?;
    patched::bashkit()?;
    check(&options)
}

/// Checks all lock files if the database can be had, and prints a message otherwise.
pub(crate) fn check_if_possible() -> Result<()> {
    check(&AdvisoryOptions::default())
}

/// Installs cargo-deny if it is missing.
pub(crate) fn install_deny() -> Result<()> {
    if !succeeds(&mut cargo(&["deny", "--version"])) {
        say("installing cargo-deny");
        run(&mut cargo(&["install", "--locked", "cargo-deny"]))?;
    }
    Ok(())
}

fn read<'a>(arguments: &[&'a str]) -> Result<AdvisoryOptions<'a>> {
    let mut options = AdvisoryOptions::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--require" => options.require = true,
            "--from" => {
                options.from = Some(rest.next().context("`--from` needs a directory: a clone of the database")?)
            }
            other => {
                bail!("`{other}` is no argument of `cargo xtask advisories`: there are `--require` and `--from DIR`")
            }
        }
    }
    Ok(options)
}

fn check(options: &AdvisoryOptions<'_>) -> Result<()> {
    install_deny()?;
    say("fetching the RustSec advisory database");
    let fetched = fetch(options.from)?;
    if !fetched && (options.require || options.from.is_some()) {
        bail!("the advisory database could not be fetched; without `--require` and `--from` an older copy would do");
    }
    let Some(date) = copy()?.map(|copy| date(&copy)).transpose()? else {
        say(&format!(
            "ADVISORIES WERE NOT CHECKED: {DATABASE} cannot be reached, and there is no copy of it on this machine \
             (`cargo xtask advisories --from DIR` takes a clone)"
        ));
        return Ok(());
    };
    let age = if fetched { "" } else { ", a copy that was fetched earlier: the database cannot be reached" };
    say(&format!("checking advisories; the newest is of {date}{age}"));
    for manifest in MANIFESTS {
        run(&mut cargo(&["fetch", "--locked", "--manifest-path", manifest]))?;
        run(cargo(&["deny", "--offline", "--manifest-path", manifest]).args(CHECK))?;
    }
    Ok(())
}

/// Arguments of cargo-deny. An advisory that is ignored for one lock file may not occur in the others, so
/// `advisory-not-detected` is allowed.
const CHECK: [&str; 6] = ["--config", "deny.toml", "check", "--allow", "advisory-not-detected", "advisories"];

/// Fetches the database with cargo-deny. Returns true if the fetch succeeded.
fn fetch(from: Option<&str>) -> Result<bool> {
    let mut deny = cargo(&["deny", "--config", "deny.toml", "fetch", "db"]);
    if let Some(from) = from {
        let from = Path::new(from).canonicalize().with_context(|| format!("cannot read `{from}`"))?;
        redirect(&mut deny, &from)?;
    }
    Ok(deny.status().context("cannot run cargo deny")?.success())
}

/// Makes git read the clone whenever cargo-deny asks for the published repository.
fn redirect(command: &mut Command, clone: &Path) -> Result<()> {
    let clone = clone.to_str().context("the path of a clone must be UTF-8")?;
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_VALUE_0", DATABASE);
    command.env("GIT_CONFIG_KEY_0", format!("url.file://{clone}.insteadOf"));
    Ok(())
}

/// Returns the path of cargo-deny's copy of the database, or `None` if there is none.
fn copy() -> Result<Option<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let place = home.context("no home directory is known: set CARGO_HOME")?.join("advisory-dbs");
    let Ok(entries) = std::fs::read_dir(place) else { return Ok(None) };
    let copies = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(copies.into_iter().find(|path| path.join("crates").is_dir()))
}

/// Returns the date of the last commit in the copy.
fn date(copy: &Path) -> Result<String> {
    let date = output(command("git").arg("-C").arg(copy).args(["log", "-1", "--format=%cs"]))?;
    Ok(date.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_unknown_ones_refused() {
        let options = read(&["--require", "--from", "dir"]).expect("they are known");
        assert!(options.require && options.from == Some("dir"));
        assert!(!read(&[]).expect("none is needed").require);
        assert!(read(&["--from"]).is_err() && read(&["--requires"]).is_err());
    }
}
