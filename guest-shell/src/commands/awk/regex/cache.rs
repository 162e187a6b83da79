//! Cache of compiled regular expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::AwkRegex;
use crate::commands::awk::bounds::REGEX_CACHE_ENTRIES;
use bashkit::builtins::search_common::REGEX_SIZE_LIMIT;

/// Cache of expressions that a run has compiled from strings, and of their errors.
#[derive(Default)]
pub(crate) struct RegexCache {
    entries: HashMap<(Arc<str>, bool), Result<Arc<AwkRegex>, String>>,
    order: VecDeque<(Arc<str>, bool)>,
    bytes: usize,
    /// True in the locale C, as [`AwkRegex::matching_bytes`] has it.
    pub(in crate::commands::awk) bytes_match: bool,
}

impl RegexCache {
    pub(crate) fn new(bytes_match: bool) -> Self {
        Self { bytes_match, ..Self::default() }
    }

    pub(crate) fn get(&mut self, pattern: &str, icase: bool) -> Result<Arc<AwkRegex>, String> {
        if let Some(r) = self.entries.get(&(Arc::from(pattern), icase)) {
            return r.clone();
        }
        if pattern.len() > REGEX_SIZE_LIMIT {
            return Err("regular expression too big".to_string());
        }
        let compiled = AwkRegex::new(pattern, icase)
            .map(|regex| Arc::new(regex.matching_bytes(self.bytes_match)))
            .map_err(|e| e.0);
        while self.entries.len() >= REGEX_CACHE_ENTRIES || self.bytes + pattern.len() > REGEX_SIZE_LIMIT {
            let Some(old) = self.order.pop_front() else {
                break;
            };
            self.bytes -= old.0.len();
            self.entries.remove(&old);
        }
        let key: (Arc<str>, bool) = (Arc::from(pattern), icase);
        self.bytes += pattern.len();
        self.order.push_back(key.clone());
        self.entries.insert(key, compiled.clone());
        compiled
    }
}
