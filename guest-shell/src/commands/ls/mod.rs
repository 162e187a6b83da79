//! Directory listing builtins - ls, rmdir, and shared glob matching.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod columns;
mod file;
mod list;
mod options;
mod print;
mod sort;
mod unit;

pub(crate) use list::Ls;

#[cfg(test)]
mod gnu_tests;
#[cfg(test)]
mod tests;
