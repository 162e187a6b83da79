//! Runs cases on the reference and on Tollhouse, and compares the results.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::TestCase;
use super::compare::{ComparisonVerdict, compare};
use super::engine::EngineProcess;
use super::reference::ReferencePrograms;
use super::subject;

/// Number of cases that a sandbox is given at a time.
const SHARE: usize = 25;

/// Results of both sides for one case.
pub(crate) struct CaseTrial {
    /// Result of the reference.
    pub(crate) reference: Value,
    /// Result of tollhouse.
    pub(crate) ours: Value,
    /// Comparison of the two.
    pub(crate) verdict: ComparisonVerdict,
}

/// Programs of both sides.
pub(crate) struct ComparedSides {
    sandboxes: Vec<Mutex<EngineProcess>>,
    ours: Mutex<EngineProcess>,
}

impl ComparedSides {
    /// Returns both sides, with `jobs` sandboxes for the reference and as many threads for Tollhouse.
    pub(crate) fn new(reference: &ReferencePrograms, jobs: usize, other: Option<&Path>) -> Self {
        let sandboxes = (0..jobs).map(|_| Mutex::new(reference.engine())).collect();
        Self { sandboxes, ours: Mutex::new(subject::engine(jobs, other)) }
    }

    /// Runs cases on both sides.
    pub(crate) fn trials(&self, cases: &[&TestCase]) -> Result<Vec<CaseTrial>> {
        let (reference, ours) = std::thread::scope(|scope| {
            let reference = scope.spawn(|| self.reference(cases));
            let ours = self.ours.lock().map_err(|_| anyhow::anyhow!("our side panicked"))?.run(cases);
            let reference = reference.join().map_err(|_| anyhow::anyhow!("the reference's thread panicked"))?;
            anyhow::Ok((reference?, ours?))
        })?;
        let trials = reference.into_iter().zip(ours);
        Ok(trials.map(|(reference, ours)| CaseTrial { verdict: compare(&reference, &ours), reference, ours }).collect())
    }

    /// Runs cases on the reference alone.
    pub(crate) fn reference(&self, cases: &[&TestCase]) -> Result<Vec<Value>> {
        let next = AtomicUsize::new(0);
        let shares: Vec<&[&TestCase]> = cases.chunks(SHARE).collect();
        let results: Vec<Mutex<Vec<Value>>> = shares.iter().map(|_| Mutex::default()).collect();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .sandboxes
                .iter()
                .map(|sandbox| {
                    scope.spawn(|| {
                        let mut sandbox = sandbox.lock().map_err(|_| anyhow::anyhow!("a sandbox's thread panicked"))?;
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let Some(share) = shares.get(at) else { return anyhow::Ok(()) };
                            *results[at].lock().map_err(|_| anyhow::anyhow!("a result's owner panicked"))? =
                                sandbox.run(share)?;
                        }
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread
                    .join()
                    .map_err(|_| anyhow::anyhow!("a sandbox's thread panicked"))?
                    .context("the reference failed")
            })
        })?;
        Ok(results.into_iter().flat_map(|share| share.into_inner().unwrap_or_default()).collect())
    }
}
