//! Bugs that are there to be found, one for each fuzz target.
//!
//! In the product they stand behind `#[cfg(fuzzing)]`, a line each, and so does the dependency on this crate: no build but
//! `cargo fuzz`'s has them. There they are all in one build, and off; `cargo xtask fuzz --seeded` switches on one at a time
//! and sees whether its target finds it.

use std::sync::LazyLock;

/// Variable that switches a bug on: it holds the name of the bug's target.
const VARIABLE: &str = "TOLLHOUSE_SEEDED_BUG";

/// Returns true if the bug of a target is switched on.
#[must_use]
pub fn bug(target: &str) -> bool {
    static ON: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());
    ON.as_deref() == Some(target)
}
