//! What a run may use.

use std::time::Duration;

/// What a run may use. Reaching a limit ends the run, or fails what reached it; the session lives on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from start to end, waiting included and compiling left out.
    pub wall: Duration,
    /// Steps of the guest's own count; the same script uses the same number each time.
    pub fuel: u64,
    /// Bytes of memory of one guest.
    pub memory: u64,
    /// Bytes of standard output and standard error together.
    pub output: u64,
    /// Bytes of the arguments of one call, as JSON.
    pub argument: u64,
    /// Bytes of the result of one call, as JSON.
    pub result: u64,
    /// Bytes of all files of the session.
    pub files: u64,
    /// Calls that run at the same time; further ones wait.
    pub concurrency: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(60),
            fuel: 2_000_000_000,
            memory: 256 << 20,
            output: 64 << 20,
            argument: 64 << 20,
            result: 64 << 20,
            files: 1 << 30,
            concurrency: 16,
        }
    }
}

impl Limits {
    /// The keys of `[limits]` in a policy.
    pub const KEYS: [&str; 8] = ["wall", "fuel", "memory", "output", "argument", "result", "files", "concurrency"];

    /// The smaller of each.
    #[must_use]
    pub fn at_most(&self, other: &Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            fuel: self.fuel.min(other.fuel),
            memory: self.memory.min(other.memory),
            output: self.output.min(other.output),
            argument: self.argument.min(other.argument),
            result: self.result.min(other.result),
            files: self.files.min(other.files),
            concurrency: self.concurrency.min(other.concurrency),
        }
    }
}
