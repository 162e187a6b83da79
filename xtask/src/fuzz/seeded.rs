//! Whether each target finds what it is there to find: a bug that was put into the code for it, and is switched on for it
//! alone. See `tests/fuzz/seeded`.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{BOUNDS, after, cargo_fuzz, directory};
use crate::run::{root, say, succeeds};

/// Environment variable that switches a bug on; its value is the name of the target.
const VARIABLE: &str = "TOLLHOUSE_SEEDED_BUG";

/// Way in which a target found its bug.
struct FoundBug {
    time: Duration,
    runs: String,
    /// True if the input is a file of the corpus.
    corpus: bool,
}

/// Runs each target with its bug, until that is found, or for so long.
pub(super) fn find(targets: &[&String], seconds: u32) -> Result<()> {
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
    let mut fuzz = cargo_fuzz("run");
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
    if !succeeds(cargo_fuzz("run").arg(target).arg(&input)) {
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
