//! Differential testing: runs generated scripts with the real program and with Tollhouse, compares the results, and
//! shrinks and groups the cases that differ.
//!
//! A generator makes cases from the grammar of its subject ([`generators`]); the [`reference`](mod@reference) and our
//! [`subject`] run them; [`compare`] finds the aspects in which the results differ; [`shrink`] makes small examples of
//! differing cases, [`cause`] groups them, and [`report`] prints the table.

mod accepted;
mod case;
mod cause;
mod compare;
mod engine;
mod generators;
mod grammar;
mod node;
mod random;
mod reference;
mod report;
mod shrink;
mod sides;
mod subject;
mod worker;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::accepted::Expectations;
use self::case::TestCase;
use self::cause::DifferingCase;
use self::compare::ComparisonVerdict;
use self::generators::CaseGenerator;
use self::random::CaseRandom;
use self::reference::ReferencePrograms;
use self::report::{RunReport, SUMMARY_HEAD};
use self::sides::ComparedSides;
use crate::build::{self, Profile};
use crate::run::{say, target};

pub(crate) use self::worker::work;

/// Differing cases that a bounded run shrinks before it fails.
const SHRUNK: usize = 20;

/// Number of cases that are run between two messages of progress.
const ROUND: usize = 1_000;

/// Number of times that the reference runs a case again whose results differ.
const REPEATS: usize = 4;

/// Options of a run.
struct DifferentialOptions {
    subjects: Vec<&'static dyn CaseGenerator>,
    count: u64,
    seed: u64,
    jobs: usize,
    /// Directory that the reports are written to.
    keep: PathBuf,
    /// Number of differing cases that are shrunk.
    shrink: usize,
    /// Program that is tested instead of Tollhouse.
    ours: Option<PathBuf>,
    /// Index of the one case that is printed instead of a run.
    only: Option<u64>,
}

impl DifferentialOptions {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            subjects: Vec::new(),
            count: 2_000,
            seed: 7,
            jobs: 2,
            keep: target().join("differential"),
            shrink: 150,
            ours: None,
            only: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` takes a value"));
            match *word {
                "--count" => options.count = value()?.parse().context("`--count` takes a number")?,
                "--seed" => options.seed = value()?.parse().context("`--seed` takes a number")?,
                "--jobs" => options.jobs = value()?.parse::<usize>().context("`--jobs` takes a number")?.max(1),
                "--shrink" => options.shrink = value()?.parse().context("`--shrink` takes a number")?,
                "--case" => options.only = Some(value()?.parse().context("`--case` takes a number")?),
                "--keep" => options.keep = value()?.into(),
                "--ours" => options.ours = Some(value()?.into()),
                "all" => options.subjects.extend(generators::all()),
                name => options.subjects.push(generators::named(name)?),
            }
        }
        if options.subjects.is_empty() {
            bail!("name a subject: {}, or all", generators::names());
        }
        Ok(options)
    }
}

/// Runs `cargo xtask differential SUBJECT...`.
pub(crate) fn differential(words: &[&str]) -> Result<()> {
    let options = DifferentialOptions::parse(words)?;
    if options.ours.is_none() {
        build::all(Profile::Debug)?;
    }
    let reference = ReferencePrograms::prepare()?;
    let sides = ComparedSides::new(&reference, options.jobs, options.ours.as_deref());
    if let Some(index) = options.only {
        return options.subjects.iter().try_for_each(|subject| show(*subject, options.seed, index, &sides));
    }
    let expectations = Expectations::read()?;
    std::fs::create_dir_all(&options.keep)?;
    let mut table = format!("{}\n\n{SUMMARY_HEAD}\n", reference::versions());
    for subject in &options.subjects {
        let report = run(*subject, &options, &expectations, &sides)?;
        let name = format!("{}-{}", report.subject, report.seed);
        std::fs::write(options.keep.join(format!("{name}.md")), report.page())?;
        std::fs::write(options.keep.join(format!("{name}.jsonl")), report.records())?;
        println!("{}", report.page());
        table += &format!("{}\n", report.summary());
    }
    println!("{table}");
    println!("by cause, with seeds and examples: {}", options.keep.display());
    Ok(())
}

/// Runs the short runs of the data file, and with `long` also the long ones. Fails if more cases differ than the file
/// allows.
pub(crate) fn bounded(long: bool) -> Result<()> {
    let expectations = Expectations::read()?;
    if !reference::available() {
        if std::env::var_os("CI").is_some() {
            bail!("bubblewrap is missing, so nothing can be compared with the real programs: install `bubblewrap`");
        }
        say("NOT comparing with the real programs: bubblewrap is missing, and this user cannot install it");
        return Ok(());
    }
    let reference = ReferencePrograms::prepare()?;
    let sides = ComparedSides::new(&reference, 2, None);
    let mut worse = Vec::new();
    let long_runs = if long { expectations.long_runs.as_slice() } else { &[] };
    for bounds in expectations.short_runs.iter().chain(long_runs) {
        let mut options = DifferentialOptions::parse(&[&bounds.subject])?;
        (options.count, options.seed, options.shrink) = (bounds.count, bounds.seed, 0);
        let report = run(options.subjects[0], &options, &expectations, &sides)?;
        println!("{}", report.summary());
        if report.differing > bounds.at_most {
            // Shrinking comes last: it takes far longer than running the scripts.
            options.shrink = SHRUNK;
            let report = run(options.subjects[0], &options, &expectations, &sides)?;
            worse.push(format!("{}\n{} differ, {} may", report.page(), report.differing, bounds.at_most));
        }
    }
    if worse.is_empty() { Ok(()) } else { bail!("more scripts differ than before:\n{}", worse.join("\n")) }
}

/// Runs the cases of one subject.
fn run(
    subject: &dyn CaseGenerator,
    options: &DifferentialOptions,
    expectations: &Expectations,
    sides: &ComparedSides,
) -> Result<RunReport> {
    say(&format!("{}: {} scripts, seed {}", subject.name(), options.count, options.seed));
    let cases: Vec<TestCase> = (0..options.count).map(|index| generate(subject, options.seed, index)).collect();
    let (mut same, mut differing, mut void) = (Vec::new(), Vec::new(), 0);
    for (round, cases) in cases.chunks(ROUND).enumerate() {
        let trials = sides.trials(&cases.iter().collect::<Vec<_>>())?;
        let mut suspects = Vec::new();
        for (case, trial) in cases.iter().zip(trials) {
            match trial.verdict {
                ComparisonVerdict::Same => same.push(case.features()),
                ComparisonVerdict::Void(_) => void += 1,
                ComparisonVerdict::Differs(aspects) => suspects.push((case, aspects, trial.reference)),
            }
        }
        // A reference whose result varies, such as that of two processes that write at once, decides nothing.
        for _ in 0..REPEATS {
            let again = sides.reference(&suspects.iter().map(|(case, ..)| *case).collect::<Vec<_>>())?;
            let before = suspects.len();
            let mut again = again.into_iter();
            suspects.retain(|(_, _, reference)| {
                again.next().is_some_and(|again| compare::compare(reference, &again) == ComparisonVerdict::Same)
            });
            void += before - suspects.len();
        }
        differing.extend(suspects.into_iter().map(|(case, aspects, _)| DifferingCase {
            case: case.clone(),
            features: case.features(),
            aspects,
        }));
        say(&format!("{} done, {} differ", round * ROUND + cases.len(), differing.len()));
    }
    let (compared, count) = (same.len() + differing.len(), differing.len());
    let causes = cause::group(differing, &same, sides, &expectations.accepted, options.shrink)?;
    Ok(RunReport { subject: subject.name(), seed: options.seed, compared, void, differing: count, causes })
}

/// Generates one case. The same seed and index give the same case.
fn generate(subject: &dyn CaseGenerator, seed: u64, index: u64) -> TestCase {
    let mut case = subject.generate(&mut CaseRandom::new(subject.name(), seed, index));
    case.id = format!("{}/{seed}/{index}", subject.name());
    case
}

/// Prints one case and the results of both sides.
fn show(subject: &dyn CaseGenerator, seed: u64, index: u64, sides: &ComparedSides) -> Result<()> {
    let case = generate(subject, seed, index);
    println!("{}\nfeatures: {:?}", case.text(), case.features());
    println!("job: {}", case.job());
    for trial in sides.trials(&[&case])? {
        println!("reference: {}\nours: {}\n{:?}", trial.reference, trial.ours, trial.verdict);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{generate, generators};

    #[test]
    fn generators_repeat_a_case_by_its_seed() {
        for subject in generators::all() {
            for index in 0..50 {
                let (one, other) = (generate(subject, 3, index), generate(subject, 3, index));
                assert_eq!(one.job(), other.job(), "{}", one.id);
                assert!(!one.text().trim().is_empty(), "{} is empty", one.id);
            }
        }
    }
}
