//! Deliberate bugs, one for each fuzz target, which the target must find.
//!
//! In the product each bug is one line behind `#[cfg(fuzzing)]`, as is the dependency on this crate, so only builds of
//! `cargo fuzz` contain the bugs. Such a build has all of them, switched off; `cargo xtask fuzz --seeded` switches on
//! one at a time, and checks that its target finds it.

use std::sync::LazyLock;

/// Environment variable that switches a bug on. Its value is the name of the bug's target.
const VARIABLE: &str = "TOLLHOUSE_SEEDED_BUG";

/// Returns true if the bug of a target is switched on.
#[must_use]
pub fn bug(target: &str) -> bool {
    static ON: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());
    ON.as_deref() == Some(target)
}
