//! Limits on the resources of a run.

use std::str::FromStr;
use std::time::Duration;

use super::policy::{self, PolicyError};

/// Limits on the resources of a run. Reaching a limit ends the run, or fails the operation that reached it; the session
/// continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from start to end, including waiting but not compilation.
    pub wall: Duration,
    /// Number of steps as counted by the guest; the same script always uses the same number.
    pub fuel: u64,
    /// Bytes of memory of a session: its scripts, its tools, and data that the host holds for them.
    pub memory: u64,
    /// Bytes of standard output and standard error together.
    pub output: u64,
    /// Size of the arguments of one call in bytes of JSON.
    pub argument: u64,
    /// Size of the result of one call in bytes of JSON.
    pub result: u64,
    /// Total size of the session's files in bytes.
    pub files: u64,
    /// Bytes that a run may add to the audit log.
    pub log: u64,
    /// Number of calls that run at the same time; further calls wait.
    pub concurrency: u32,
    /// Number of calls of a run, including refused ones. Each call is recorded, so this limits the size of the record.
    pub calls: u64,
    /// Number of operations that one guest may wait for at once: calls, timers, reads, scripts.
    pub pending: u32,
    /// Number of scripts of a run at the same time, including the main script; and of programs that one of them runs.
    pub processes: u32,
    /// Nesting depth of scripts that run scripts, and of tools that call tools.
    pub depth: u32,
    /// Wall-clock time of one call of a tool; [`Duration::MAX`] for as long as the run.
    pub tool_wall: Duration,
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
            // The 100,000 calls of `calls` with short arguments take 48 MB (63 MB with MACs); a single call with
            // arguments of 64 MiB, which `argument` allows, takes about as much.
            log: 256 << 20,
            concurrency: 16,
            calls: 100_000,
            pending: 10_000,
            processes: 16,
            depth: 8,
            tool_wall: Duration::MAX,
        }
    }
}

impl Limits {
    /// Keys of `[limits]` in a policy.
    pub const KEYS: [&str; 14] = [
        "wall",
        "fuel",
        "memory",
        "output",
        "argument",
        "result",
        "files",
        "log",
        "concurrency",
        "calls",
        "pending",
        "processes",
        "depth",
        "tool_wall",
    ];

    /// Returns the smaller value of each limit.
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
            log: self.log.min(other.log),
            concurrency: self.concurrency.min(other.concurrency),
            calls: self.calls.min(other.calls),
            pending: self.pending.min(other.pending),
            processes: self.processes.min(other.processes),
            depth: self.depth.min(other.depth),
            tool_wall: self.tool_wall.min(other.tool_wall),
        }
    }
}

/// A limit and its value, as on a command line: `calls=1000`, `tool_wall=5s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    name: String,
    value: String,
}

impl Setting {
    /// Sets the limit.
    pub fn apply(&self, limits: &mut Limits) {
        *limits = self.applied(limits).expect("it was tried when it was read, and no limit depends on another");
    }

    fn applied(&self, limits: &Limits) -> Result<Limits, PolicyError> {
        policy::with_limit(limits, &self.name, &self.value)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE, for example `calls=1000`")?;
        let setting = Self { name: name.to_owned(), value: value.to_owned() };
        let known = || format!("the limits are {}", Limits::KEYS.join(", "));
        match setting.applied(&Limits::default()) {
            Ok(_) => Ok(setting),
            Err(_) if !Limits::KEYS.contains(&name) => Err(format!("there is no limit `{name}`: {}", known())),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_settings_have_the_syntax_of_policies() {
        let mut limits = Limits::default();
        for text in ["calls=7", "tool_wall=5s", "memory=1MiB", "files=12B", "processes=2", "log=3KiB"] {
            text.parse::<Setting>().expect(text).apply(&mut limits);
        }
        assert_eq!((limits.calls, limits.tool_wall, limits.processes), (7, Duration::from_secs(5), 2));
        assert_eq!((limits.memory, limits.files, limits.depth, limits.log), (1 << 20, 12, 8, 3 << 10));
        for text in [
            "calls",
            "calls=",
            "calls=-1",
            "calls=5s",
            "memory=1MB",
            "processes=0",
            "call=1",
            "=1",
            "wall=5",
            "memory=256",
        ] {
            text.parse::<Setting>().expect_err(text);
        }
    }
}
