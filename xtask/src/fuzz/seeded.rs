//! Whether each target finds what it is there to find: a bug that a patch of `tests/fuzz/seeded` puts into a copy of the
//! sources for it. One build has all of these bugs, and each run switches on one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{BOUNDS, after, cargo_fuzz, directory};
use crate::patched::{self, Files};
use crate::run::{command, output, root, run, say, succeeds, target};

/// Directory of the patches, each with the name of its target.
const PATCHES: &str = "tests/fuzz/seeded";

/// Environment variable that switches a bug on; its value is the name of the target.
const VARIABLE: &str = "TOLLHOUSE_SEEDED_BUG";

/// Way in which a target found its bug.
struct FoundBug {
    time: Duration,
    runs: String,
    /// True if the input is a file of the corpus.
    corpus: bool,
}

/// Directory of the copy of the sources that has the bugs.
fn copy() -> PathBuf {
    directory().join("seeded/sources")
}

/// `cargo fuzz` of the copy. What it builds of others is that of the sources themselves.
fn cargo_fuzz_of_copy(subcommand: &str) -> Command {
    let mut fuzz = cargo_fuzz(subcommand);
    fuzz.current_dir(copy()).env("TOLLHOUSE_GUESTS_DIR", target().join("guests"));
    fuzz
}

/// Makes the copy, and puts the bugs into it.
fn make_copy() -> Result<()> {
    let listed = output(command("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    let mut files = Files::new();
    for name in listed.split_terminator('\0') {
        // A file that was removed is still listed until that is committed.
        if let Ok(content) = std::fs::read(root().join(name)) {
            files.insert(name.into(), content);
        }
    }
    patched::apply_all(PATCHES, &mut files)?;
    patched::write(&copy(), &files)
}

/// Runs each target with its bug, until that is found, or for so long.
pub(super) fn find(targets: &[&String], only: Option<&str>, seconds: u32) -> Result<()> {
    make_copy()?;
    say("building the fuzz targets of sources with bugs");
    run(cargo_fuzz_of_copy("build").args(only))?;
    let width = targets.iter().map(|target| target.len()).max().unwrap_or_default();
    let mut missed = Vec::new();
    for target in targets {
        match one(target, seconds)? {
            Some(FoundBug { time, runs, corpus }) => {
                let by = if corpus { ", by its corpus" } else { "" };
                println!("{target:width$}  found after {:.1} s, {runs} runs{by}", time.as_secs_f64());
            }
            None => {
                println!("{target:width$}  not found in {seconds} s");
                missed.push(target.as_str());
            }
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    bail!("these did not find what was put there for them: {}", missed.join(", "))
}

/// Runs one target, starting with its corpus alone. An input that also fails without the bug is a real finding, and an
/// error here.
fn one(target: &str, seconds: u32) -> Result<Option<FoundBug>> {
    let place = directory().join("seeded").join(target);
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let (grown, input) = (place.join("corpus"), place.join("found"));
    std::fs::create_dir_all(&grown)?;
    let log = place.join("log");
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let corpus = root().join("tests/fuzz/corpus").join(target);
    let mut fuzz = cargo_fuzz_of_copy("run");
    fuzz.arg(target).arg(grown).arg(&corpus).arg("--").args(BOUNDS).env(VARIABLE, target);
    fuzz.arg(format!("-max_total_time={seconds}")).arg(format!("-exact_artifact_path={}", input.display()));
    let begun = Instant::now();
    let status = fuzz.arg("-print_final_stats=1").stdout(file.try_clone()?).stderr(file).status();
    let time = begun.elapsed();
    if status.context("cannot run cargo fuzz")?.success() {
        return Ok(None);
    }
    if !input.exists() {
        bail!("{target} did not run to its end: {}", log.display());
    }
    if !succeeds(cargo_fuzz_of_copy("run").arg(target).arg(&input)) {
        say(&format!("{target} finds {} without the bug, too", input.display()));
        bail!("that is a finding: mend it first");
    }
    let told = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    let runs = after(&told, "stat::number_of_executed_units:").unwrap_or("?").to_owned();
    Ok(Some(FoundBug { time, runs, corpus: holds(&corpus, &input)? }))
}

/// Returns true if a directory contains a file with the same bytes.
fn holds(directory: &Path, file: &Path) -> Result<bool> {
    let bytes = std::fs::read(file)?;
    for entry in std::fs::read_dir(directory)? {
        if std::fs::read(entry?.path())? == bytes {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::targets;
    use super::*;

    #[test]
    fn each_fuzz_target_has_a_bug_that_can_be_put_into_the_sources() {
        for target in targets().expect("they are there") {
            let name = format!("{PATCHES}/{target}.patch");
            let text = std::fs::read_to_string(root().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(text.contains(&format!("bug == \"{target}\"")), "{name} switches on something else");
            let changed = text.lines().find_map(|line| line.strip_prefix("--- a/")).expect("it changes a file");
            assert!(["host/", "registry/"].iter().any(|place| changed.starts_with(place)), "{name}: {changed}");
        }
        let mut files = Files::new();
        for patch in std::fs::read_dir(root().join(PATCHES)).expect("it is there") {
            let text = std::fs::read_to_string(patch.expect("it is read").path()).expect("text");
            for changed in text.lines().filter_map(|line| line.strip_prefix("--- a/")) {
                files.insert(changed.into(), std::fs::read(root().join(changed)).expect("it is there"));
            }
        }
        patched::apply_all(PATCHES, &mut files).expect("each of them fits");
    }
}
