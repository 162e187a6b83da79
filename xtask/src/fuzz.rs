//! Coverage-guided fuzzing of the targets in `tests/fuzz`. CI only replays the corpus, and inputs that are generated
//! for each target (`tests/security/fuzz_corpora.rs`).

mod seeded;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, root, run, say, succeeds, target};

/// Default run time of each target: long enough to find again what a change broke.
const TIME: FuzzTime = FuzzTime::Each(60);

/// libFuzzer's limits for one input: time in seconds, memory in MiB, and length in bytes. The files of the corpus are
/// shorter; cost that grows with the length of an input shows within 4,096 bytes.
const BOUNDS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=1024", "-max_len=4096"];

/// Result of one target.
struct FuzzOutcome {
    runs: String,
    /// Number of code edges that the inputs reach.
    coverage: String,
    /// Number of inputs that are kept for the next run.
    kept: usize,
    /// Path of the input of a finding; `None` if the target ended without one.
    found: Option<String>,
}

/// Run time of the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FuzzTime {
    /// Run time of each target, in seconds.
    Each(u32),
    /// Run time of all targets together, in hours.
    Together(f64),
}

impl FuzzTime {
    /// Returns the seconds for each of `targets` targets.
    fn share(self, targets: usize) -> u32 {
        match self {
            Self::Each(seconds) => seconds,
            // A cast of a float saturates. Less than one second would be no limit for libFuzzer.
            Self::Together(hours) => ((hours * 3600.0 / targets as f64) as u32).max(1),
        }
    }
}

/// Options of the command.
#[derive(Debug, PartialEq)]
struct FuzzOptions<'a> {
    only: Option<&'a str>,
    time: FuzzTime,
    seeded: bool,
}

/// Runs one target, or all of them.
pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    let FuzzOptions { only, time, seeded } = read(arguments)?;
    let targets = targets()?;
    let chosen: Vec<&String> = targets.iter().filter(|target| only.is_none_or(|only| only == *target)).collect();
    if chosen.is_empty() {
        bail!("`{}` is no target: there are {}", only.unwrap_or_default(), targets.join(", "));
    }
    if !succeeds(&mut cargo(&["fuzz", "--version"])) {
        say("installing cargo-fuzz");
        run(&mut cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    let seconds = time.share(chosen.len());
    if seeded {
        return seeded::find(&chosen, only, seconds);
    }
    say("building the fuzz targets; the first time takes as long as a release build");
    run(cargo_fuzz("build").args(only))?;
    look(&chosen, seconds)
}

/// Fuzzes the chosen targets, each for `seconds`. A finding ends its target early, and the next target starts.
fn look(chosen: &[&String], seconds: u32) -> Result<()> {
    let mut outcomes = Vec::new();
    for (at, target) in chosen.iter().enumerate() {
        say(&format!("fuzzing {target} for {seconds} s ({} of {})", at + 1, chosen.len()));
        outcomes.push((target, one(target, seconds)?));
    }
    let width = chosen.iter().map(|target| target.len()).max().unwrap_or_default().max("target".len());
    println!("{:width$}  {:>12}  {:>8}  {:>6}  found", "target", "runs", "coverage", "kept");
    for (target, FuzzOutcome { runs, coverage, kept, found }) in &outcomes {
        let found = found.as_deref().unwrap_or("nothing");
        println!("{target:width$}  {runs:>12}  {coverage:>8}  {kept:>6}  {found}");
    }
    if outcomes.iter().any(|(_, outcome)| outcome.found.is_some()) {
        bail!("there are findings: what one comes down to belongs, once it is mended, in tests/fuzz/corpus");
    }
    Ok(())
}

/// Parses the arguments `[TARGET | --all] [--seconds N | --minutes N | --hours N] [--seeded]`, in any order.
fn read<'a>(arguments: &[&'a str]) -> Result<FuzzOptions<'a>> {
    let mut options = FuzzOptions { only: None, time: TIME, seeded: false };
    let (mut all, mut rest) = (false, arguments.iter());
    while let Some(argument) = rest.next() {
        match *argument {
            flag @ ("--seconds" | "--minutes" | "--hours") => {
                let given = rest.next().with_context(|| format!("`{flag}` needs a number"))?;
                options.time = time(flag, given)?;
            }
            "--seeded" => options.seeded = true,
            "--all" => all = true,
            flag if flag.starts_with('-') => bail!("`{flag}` is no flag of `cargo xtask fuzz`"),
            target if options.only.is_none() => options.only = Some(target),
            _ => bail!("one target at a time, or all of them"),
        }
    }
    if let Some(target) = options.only.filter(|_| all) {
        bail!("`--all` and `{target}`: one target, or all of them");
    }
    Ok(options)
}

/// Parses the value of a flag for the run time. `--hours` is the time of all targets together and may have a fraction;
/// the other flags give the time of each target.
fn time(flag: &str, given: &str) -> Result<FuzzTime> {
    if flag == "--hours" {
        let hours: f64 = given.parse().with_context(|| format!("`{flag} {given}` is no number"))?;
        if !hours.is_finite() || hours <= 0.0 {
            bail!("`{flag} {given}` is no time to fuzz for");
        }
        return Ok(FuzzTime::Together(hours));
    }
    let number: u32 = given.parse().with_context(|| format!("`{flag} {given}` is no whole number"))?;
    let each = if flag == "--minutes" { 60 } else { 1 };
    Ok(FuzzTime::Each(number.checked_mul(each).context("that is more than a century")?))
}

/// Returns the names of all targets, which are the names of their files.
fn targets() -> Result<Vec<String>> {
    let directory = root().join("tests/fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))? {
        names.extend(entry?.path().file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Returns a `cargo fuzz` command. cargo-fuzz asks for a nightly compiler, but needs nothing that the stable one lacks.
fn cargo_fuzz(command: &str) -> Command {
    let mut fuzz = cargo(&["fuzz", command, "--fuzz-dir", "tests/fuzz", "--target-dir"]);
    // Our own code has no `unsafe`. Without the address sanitizer the targets build and run twice as fast.
    fuzz.arg(directory()).args(["--sanitizer", "none"]).env("RUSTC_BOOTSTRAP", "1");
    fuzz
}

/// Returns the directory of instrumented code, interesting inputs and logs.
fn directory() -> PathBuf {
    target().join("fuzz")
}

/// Fuzzes one target. Inputs that raise the coverage are kept for the next run in a directory beside the corpus.
fn one(target: &str, seconds: u32) -> Result<FuzzOutcome> {
    let grown = directory().join("corpus").join(target);
    std::fs::create_dir_all(&grown)?;
    let log = directory().join(format!("{target}.log"));
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut fuzz = cargo_fuzz("run");
    fuzz.arg(target).arg(&grown).arg(root().join("tests/fuzz/corpus").join(target)).arg("--").args(BOUNDS);
    fuzz.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    let status = fuzz.stdout(file.try_clone()?).stderr(file).status().context("cannot run cargo fuzz")?;
    let told = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    let found = (!status.success()).then(|| report(target, &told, &log));
    let runs = after(&told, "stat::number_of_executed_units:").unwrap_or("?").to_owned();
    let coverage = after(&told, " cov: ").and_then(|rest| rest.split(' ').next()).unwrap_or("?").to_owned();
    Ok(FuzzOutcome { runs, coverage, kept: std::fs::read_dir(&grown)?.count(), found })
}

/// Prints a finding and how to reproduce it. Returns the path of its input.
fn report(target: &str, told: &str, log: &Path) -> String {
    let panicked = told.lines().skip_while(|line| !line.contains("panicked at")).take(3);
    for line in panicked.chain(told.lines().filter(|line| line.starts_with("==") && line.contains("ERROR"))) {
        eprintln!("    {line}");
    }
    eprintln!("    all of it is in {}", log.display());
    let Some(input) = after(told, "Test unit written to") else {
        eprintln!("    {target} did not run to its end");
        return format!("no end: {}", log.display());
    };
    let fuzz = cargo_fuzz("tmin");
    let words: Vec<_> = fuzz.get_args().map(|word| word.to_string_lossy()).collect();
    eprintln!("    its input is {input}; again, without a fuzzer, with");
    eprintln!("    cargo run --package tollhouse-fuzz --bin {target} -- {input}");
    eprintln!("    and smaller with");
    eprintln!("    RUSTC_BOOTSTRAP=1 cargo {} {target} {input}", words.join(" "));
    input.to_owned()
}

/// Returns the text after `words` in the last line that contains them.
fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.lines().rev().find_map(|line| line.split_once(words)).map(|(_, rest)| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_of_each_target_or_shared() {
        let time = |arguments: &[&str]| read(arguments).expect("it is one").time;
        assert_eq!(time(&[]), TIME);
        assert_eq!(time(&["--minutes", "2"]).share(17), 120);
        assert_eq!(time(&["--all", "--hours", "1"]).share(18), 200);
        assert_eq!(time(&["vfs", "--hours", "0.5"]).share(1), 1800);
        assert_eq!(time(&["--hours", "0.0001"]).share(18), 1, "libFuzzer takes 0 for no limit");
        for wrong in ["0", "-1", "NaN", "inf", "an hour"] {
            assert!(read(&["--all", "--hours", wrong]).is_err(), "{wrong}");
        }
        assert!(read(&["--seconds", "1.5"]).is_err() && read(&["--hours"]).is_err());
    }

    #[test]
    fn fuzz_options_name_one_target_or_all() {
        assert_eq!(read(&["--all"]).expect("it is known"), read(&[]).expect("all of them"));
        assert_eq!(read(&["vfs"]).expect("a target").only, Some("vfs"));
        assert!(read(&["--all", "vfs"]).is_err() && read(&["vfs", "wit"]).is_err() && read(&["--every"]).is_err());
    }

    #[test]
    fn last_line_of_a_log_counts() {
        let log = "#2\tINITED cov: 12 ft: 13\n#4\tNEW    cov: 1500 ft: 1600 corp: 2/2b\n";
        assert_eq!(after(log, " cov: "), Some("1500 ft: 1600 corp: 2/2b"));
        assert_eq!(after(log, "Test unit written to"), None);
    }
}
