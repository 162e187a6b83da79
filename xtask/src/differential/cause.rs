//! Causes of differences: shrunk examples, and the cases that each of them explains.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::accepted::AcceptedDifference;
use super::case::TestCase;
use super::compare::{ComparisonVerdict, DifferenceAspect};
use super::shrink::shrink;
use super::sides::{CaseTrial, ComparedSides};

/// Least share of the cases with a cause's productions that must differ, in percent, before the cause explains other
/// cases that were not shrunk.
const EXPLAINS: usize = 60;

/// Case for which the two sides give different results.
pub(crate) struct DifferingCase {
    /// The case as it was generated.
    pub(crate) case: TestCase,
    /// Productions of the case.
    pub(crate) features: BTreeSet<String>,
    /// Aspects in which the sides differ.
    pub(crate) aspects: BTreeSet<DifferenceAspect>,
}

/// Cause of differences, identified by the productions that remain in its shrunk example.
pub(crate) struct DifferenceCause {
    /// Productions of the example.
    pub(crate) features: BTreeSet<String>,
    /// Aspects of the example.
    pub(crate) aspects: BTreeSet<DifferenceAspect>,
    /// Case after shrinking.
    pub(crate) example: TestCase,
    /// Results of both sides for the shrunk case.
    pub(crate) trial: CaseTrial,
    /// Generated cases that the cause explains.
    pub(crate) cases: Vec<String>,
    /// Reason why the difference is accepted, if it is.
    pub(crate) accepted: Option<String>,
}

/// Differing cases grouped by cause, and those that no shrunk example explains.
pub(crate) struct GroupedCauses {
    /// Causes, the most frequent first.
    pub(crate) causes: Vec<DifferenceCause>,
    /// Cases that were not shrunk, grouped by their most suspicious production.
    pub(crate) rest: BTreeMap<String, Vec<String>>,
}

/// Number of cases with each production, and number of those that differ.
#[derive(Default)]
pub(crate) struct ProductionCounts {
    all: BTreeMap<String, usize>,
    differing: BTreeMap<String, usize>,
}

impl ProductionCounts {
    /// Counts a case with these productions.
    pub(crate) fn add(&mut self, features: &BTreeSet<String>, differs: bool) {
        for feature in features {
            *self.all.entry(feature.clone()).or_default() += 1;
            *self.differing.entry(feature.clone()).or_default() += usize::from(differs);
        }
    }

    /// Returns the suspicion of a production, in thousandths: the share of its cases that differ, lowered if it has few
    /// cases.
    fn suspicion(&self, feature: &str) -> usize {
        let all = self.all.get(feature).copied().unwrap_or(0);
        self.differing.get(feature).copied().unwrap_or(0) * 1000 / (all + 2)
    }

    fn prime_suspect(&self, features: &BTreeSet<String>) -> String {
        let most = features.iter().max_by_key(|feature| self.suspicion(feature));
        most.cloned().unwrap_or_default()
    }
}

/// Shrinks differing cases, at most `limit` of them, and groups all differing cases by the causes that were found.
pub(crate) fn group(
    mut open: Vec<DifferingCase>,
    same: &[BTreeSet<String>],
    sides: &ComparedSides,
    accepted: &[AcceptedDifference],
    limit: usize,
) -> Result<GroupedCauses> {
    let mut frequencies = ProductionCounts::default();
    open.iter().for_each(|differing| frequencies.add(&differing.features, true));
    same.iter().for_each(|features| frequencies.add(features, false));
    let mut causes: BTreeMap<(BTreeSet<String>, BTreeSet<DifferenceAspect>), DifferenceCause> = BTreeMap::new();
    // The most suspicious cases come first, because their causes explain the most other cases.
    open.sort_by_key(|differing| frequencies.suspicion(&frequencies.prime_suspect(&differing.features)));
    let mut shrunk = 0;
    while shrunk < limit
        && let Some(differing) = open.pop()
    {
        shrunk += 1;
        let example = shrink(&differing.case, &differing.aspects, sides)?;
        let Some(trial) = sides.trials(&[&example])?.pop() else { break };
        let ComparisonVerdict::Differs(aspects) = trial.verdict.clone() else { continue };
        let features = example.features();
        let cause = causes.entry((features.clone(), aspects.clone())).or_insert_with(|| DifferenceCause {
            accepted: AcceptedDifference::reason(accepted, differing.case.subject, &features, &aspects),
            features: features.clone(),
            aspects: aspects.clone(),
            example,
            trial,
            cases: Vec::new(),
        });
        cause.cases.push(differing.case.id);
        let covers = |other: &BTreeSet<String>| features.is_subset(other);
        let same_covered = same.iter().filter(|features| covers(features)).count();
        let covered = open.iter().filter(|open| covers(&open.features)).count();
        // A small sample proves nothing: two differing cases out of two would explain each other.
        if !features.is_empty() && covered >= 2 && covered * 100 >= (covered + same_covered) * EXPLAINS {
            let explained = open.extract_if(.., |open| covers(&open.features) && !aspects.is_disjoint(&open.aspects));
            cause.cases.extend(explained.map(|explained| explained.case.id));
        }
    }
    let mut rest: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for differing in open {
        rest.entry(frequencies.prime_suspect(&differing.features)).or_default().push(differing.case.id);
    }
    let mut causes: Vec<DifferenceCause> = causes.into_values().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.cases.len()));
    Ok(GroupedCauses { causes, rest })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ProductionCounts;

    #[test]
    fn suspect_is_the_production_whose_cases_differ_most() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let mut frequencies = ProductionCounts::default();
        for _ in 0..10 {
            frequencies.add(&set(&["sort", "sort -k"]), true);
            frequencies.add(&set(&["sort", "sort -n"]), false);
        }
        assert_eq!(frequencies.prime_suspect(&set(&["sort", "sort -k"])), "sort -k");
    }
}
