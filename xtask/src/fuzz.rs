//! Fuzzing: the targets of `tests/fuzz`, led by coverage. CI only replays their corpus, and inputs that are made for them
//! (`tests/features/fuzz.rs`).

mod seeded;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, root, run, say, succeeds, target};

/// How long each target runs unless `--seconds` or `--minutes` says so: long enough to find again what a change broke.
const SECONDS: u32 = 60;

/// libFuzzer's bounds on one input: seconds, MiB, and bytes. The corpus is smaller, and what grows with the length of its
/// input is seen within that.
const BOUNDS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=1024", "-max_len=4096"];

/// What one target came to.
struct Outcome {
    runs: String,
    found: bool,
}

/// What is asked for.
struct Options<'a> {
    only: Option<&'a str>,
    seconds: u32,
    seeded: bool,
}

/// Runs one target, or all of them.
pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    let Options { only, seconds, seeded } = read(arguments)?;
    let targets = targets()?;
    let chosen: Vec<&String> = targets.iter().filter(|target| only.is_none_or(|only| only == *target)).collect();
    if chosen.is_empty() {
        bail!("`{}` is no target: there are {}", only.unwrap_or_default(), targets.join(", "));
    }
    if !succeeds(&mut cargo(&["fuzz", "--version"])) {
        say("installing cargo-fuzz");
        run(&mut cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    say("building the fuzz targets; the first time takes as long as a release build");
    run(cargo_fuzz("build").args(only))?;
    if seeded { seeded::find(&chosen, seconds) } else { look(&chosen, seconds) }
}

/// Runs targets, each as long.
fn look(chosen: &[&String], seconds: u32) -> Result<()> {
    let mut outcomes = Vec::new();
    for target in chosen {
        say(&format!("fuzzing {target} for {seconds} s"));
        outcomes.push((target, one(target, seconds)?));
    }
    let width = chosen.iter().map(|target| target.len()).max().unwrap_or_default();
    for (target, Outcome { runs, found }) in &outcomes {
        println!("{target:width$}  {runs:>12} runs  {}", if *found { "a finding" } else { "nothing found" });
    }
    if outcomes.iter().any(|(_, outcome)| outcome.found) {
        bail!("there are findings: what one comes down to belongs, once it is mended, in tests/fuzz/corpus");
    }
    Ok(())
}

/// `[TARGET] [--seconds N | --minutes N] [--seeded]`, in any order.
fn read<'a>(arguments: &[&'a str]) -> Result<Options<'a>> {
    let mut options = Options { only: None, seconds: SECONDS, seeded: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            flag @ ("--seconds" | "--minutes") => {
                let given = rest.next().with_context(|| format!("`{flag}` needs a number"))?;
                let number: u32 = given.parse().with_context(|| format!("`{flag} {given}` is no whole number"))?;
                let each = if flag == "--minutes" { 60 } else { 1 };
                options.seconds = number.checked_mul(each).context("that is more than a century")?;
            }
            "--seeded" => options.seeded = true,
            flag if flag.starts_with('-') => bail!("`{flag}` is no flag of `cargo xtask fuzz`"),
            target if options.only.is_none() => options.only = Some(target),
            _ => bail!("one target at a time, or all of them"),
        }
    }
    Ok(options)
}

/// The names of all targets: their files.
fn targets() -> Result<Vec<String>> {
    let directory = root().join("tests/fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))? {
        names.extend(entry?.path().file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// `cargo fuzz`, which wants a nightly compiler for what the stable one has too.
fn cargo_fuzz(command: &str) -> Command {
    let mut fuzz = cargo(&["fuzz", command, "--fuzz-dir", "tests/fuzz", "--target-dir"]);
    // Our own code has no `unsafe`: without the address sanitizer it builds and runs twice as fast.
    fuzz.arg(directory()).args(["--sanitizer", "none"]).env("RUSTC_BOOTSTRAP", "1");
    fuzz
}

/// Where instrumented code, what the fuzzer found interesting, and logs lie.
fn directory() -> PathBuf {
    target().join("fuzz")
}

/// Fuzzes one target. What the fuzzer finds interesting is kept for the next time, beside the corpus and not in it.
fn one(target: &str, seconds: u32) -> Result<Outcome> {
    let found = directory().join("corpus").join(target);
    std::fs::create_dir_all(&found)?;
    let log = directory().join(format!("{target}.log"));
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut fuzz = cargo_fuzz("run");
    fuzz.arg(target).arg(found).arg(root().join("tests/fuzz/corpus").join(target)).arg("--").args(BOUNDS);
    fuzz.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    let status = fuzz.stdout(file.try_clone()?).stderr(file).status().context("cannot run cargo fuzz")?;
    let told = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    if !status.success() {
        report(target, &told, &log);
    }
    let runs = after(&told, "stat::number_of_executed_units:").unwrap_or("?").to_owned();
    Ok(Outcome { runs, found: !status.success() })
}

/// Says what was found, and where its input is.
fn report(target: &str, told: &str, log: &Path) {
    let panicked = told.lines().skip_while(|line| !line.contains("panicked at")).take(3);
    for line in panicked.chain(told.lines().filter(|line| line.starts_with("==") && line.contains("ERROR"))) {
        eprintln!("    {line}");
    }
    match after(told, "Test unit written to") {
        Some(input) => {
            let fuzz = cargo_fuzz("tmin");
            let words: Vec<_> = fuzz.get_args().map(|word| word.to_string_lossy()).collect();
            eprintln!("    its input is {input}; smaller with");
            eprintln!("    RUSTC_BOOTSTRAP=1 cargo {} {target} {input}", words.join(" "));
        }
        None => eprintln!("    {target} did not run to its end"),
    }
    eprintln!("    all of it is in {}", log.display());
}

/// The rest of the last line that has these words, behind them.
fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.lines().rev().find_map(|line| line.split_once(words)).map(|(_, rest)| rest.trim())
}
