//! Paths of results, which path queries follow.

use super::Machine;
use crate::commands::jq::failure::{Failure, LONG, SHORT, excerpt};
use crate::commands::jq::paths::index;
use crate::commands::jq::value::Val;

impl Machine<'_> {
    /// Checks in a path query that the value is the one at the current path.
    pub(super) fn track(&self, value: &Val, told: impl Fn(&Val) -> String) -> Result<(), Failure> {
        match &self.tracker {
            Some(tracker) if !tracker.at.identical(value) => {
                Err(Failure::NoPath(format!("Invalid path expression {}", told(value))))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn path_of(&self, value: &Val) -> Result<Val, Failure> {
        self.track(value, |value| format!("with result {}", excerpt(value, LONG)))?;
        let mut path: Vec<Val> = self.tracker.iter().flat_map(|it| it.path.iter().cloned()).collect();
        path.reverse();
        Ok(Val::array(path))
    }

    pub(super) fn access(&mut self, value: &Val, key: &Val) -> Result<Val, Failure> {
        self.track(value, |value| {
            format!("near attempt to access element {} of {}", excerpt(key, SHORT), excerpt(value, LONG))
        })?;
        let found = index(value, key)?;
        if let Some(tracker) = &mut self.tracker {
            tracker.path = tracker.path.push(key.clone());
            tracker.at = found.clone();
        }
        Ok(found)
    }
}
