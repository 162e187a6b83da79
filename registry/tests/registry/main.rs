//! The registry from outside: through its public API, its files, and other processes.

mod job;
mod package;
mod processes;
mod publish;
mod strangers;
mod support;
mod tamper;
#[path = "../../src/testing.rs"]
#[expect(dead_code, reason = "the unit tests use the rest")]
mod testing;
mod trust;
