//! Known and accepted differences, read from a data file. The documentation lists the same differences.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::compare::DifferenceAspect;
use crate::run::root;

/// Path of the data file, relative to the root of the repository. `docs/compatibility.md` lists the same reasons.
pub(crate) const FILE: &str = "tests/conformance/differences.json";

/// Accepted difference between the two sides, with its reason.
pub(crate) struct AcceptedDifference {
    subject: String,
    features: BTreeSet<String>,
    aspects: BTreeSet<String>,
    reason: String,
}

/// Contents of the data file.
pub(crate) struct Expectations {
    /// List of the accepted differences.
    pub(crate) accepted: Vec<AcceptedDifference>,
    /// Runs that are part of the tests.
    pub(crate) short_runs: Vec<BoundedRun>,
    /// Runs that are part of `cargo xtask test --full`.
    pub(crate) long_runs: Vec<BoundedRun>,
}

/// Run in which only a limited number of cases may differ, accepted ones included.
pub(crate) struct BoundedRun {
    /// Name of a generator.
    pub(crate) subject: String,
    /// Number of cases that the generator makes.
    pub(crate) count: u64,
    /// Seed of the cases.
    pub(crate) seed: u64,
    /// Largest number of cases that may differ. A change that lowers the number lowers it in the file too.
    pub(crate) at_most: usize,
}

impl Expectations {
    /// Reads the data file.
    pub(crate) fn read() -> Result<Self> {
        let text = std::fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        let file: Value = serde_json::from_str(&text).with_context(|| format!("{FILE} is not JSON"))?;
        let list = |key: &str| file[key].as_array().with_context(|| format!("{FILE} has no list `{key}`"));
        Ok(Self {
            accepted: list("accepted")?.iter().map(AcceptedDifference::parse).collect::<Result<_>>()?,
            short_runs: list("short_runs")?.iter().map(BoundedRun::parse).collect::<Result<_>>()?,
            long_runs: list("long_runs")?.iter().map(BoundedRun::parse).collect::<Result<_>>()?,
        })
    }
}

impl BoundedRun {
    fn parse(entry: &Value) -> Result<Self> {
        let number = |key: &str| entry[key].as_u64().with_context(|| format!("{FILE}: {entry} has no `{key}`"));
        Ok(Self {
            subject: entry["subject"].as_str().context("a run without a subject")?.to_owned(),
            count: number("count")?,
            seed: number("seed")?,
            at_most: usize::try_from(number("at_most")?)?,
        })
    }
}

impl AcceptedDifference {
    fn parse(entry: &Value) -> Result<Self> {
        let text = |key: &str| {
            let text = entry[key].as_str().filter(|text| !text.is_empty());
            text.map(str::to_owned).with_context(|| format!("{FILE}: {entry} has no `{key}`"))
        };
        let set = |key: &str| {
            let list = entry[key].as_array().with_context(|| format!("{FILE}: {entry} has no list `{key}`"))?;
            Ok::<_, anyhow::Error>(list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<_>>())
        };
        let accepted = Self {
            subject: text("subject")?,
            features: set("features")?,
            aspects: set("aspects")?,
            reason: text("reason")?,
        };
        // An entry without productions would accept every difference of its subject.
        if accepted.features.is_empty() {
            anyhow::bail!("{FILE}: {entry} names no features");
        }
        Ok(accepted)
    }

    /// Returns the reason why a difference with these productions and aspects is accepted, or `None`.
    pub(crate) fn reason(
        accepted: &[Self],
        subject: &str,
        features: &BTreeSet<String>,
        aspects: &BTreeSet<DifferenceAspect>,
    ) -> Option<String> {
        let matching = accepted.iter().find(|accepted| {
            accepted.subject == subject
                && accepted.features.is_subset(features)
                && aspects.iter().all(|aspect| accepted.aspects.contains(aspect.name()))
        });
        matching.map(|accepted| accepted.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Expectations;
    use crate::run::root;

    #[test]
    fn accepted_differences_are_listed_in_the_documentation() {
        let text = std::fs::read_to_string(root().join("docs/compatibility.md")).expect("the page can be read");
        let page = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for accepted in Expectations::read().expect("the file can be read").accepted {
            assert!(page.contains(&accepted.reason), "docs/compatibility.md does not list: {}", accepted.reason);
        }
    }
}
