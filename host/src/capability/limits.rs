//! What a run may use.

use std::str::FromStr;
use std::time::Duration;

use super::policy::{self, PolicyError};

/// What a run may use. Reaching a limit ends the run, or fails what reached it; the session lives on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from start to end, waiting included and compiling left out.
    pub wall: Duration,
    /// Steps of the guest's own count; the same script uses the same number each time.
    pub fuel: u64,
    /// Bytes of memory of a session: its scripts, its tools, and what the host holds for both.
    pub memory: u64,
    /// Bytes of standard output and standard error together.
    pub output: u64,
    /// Bytes of the arguments of one call, as JSON.
    pub argument: u64,
    /// Bytes of the result of one call, as JSON.
    pub result: u64,
    /// Bytes of all files of the session.
    pub files: u64,
    /// Bytes that a run adds to the audit log.
    pub log: u64,
    /// Calls that run at the same time; further ones wait.
    pub concurrency: u32,
    /// Calls of a run, refused ones too. Each is on record, so this bounds what the record takes.
    pub calls: u64,
    /// What one guest may wait for at once: calls, timers, reads, scripts.
    pub pending: u32,
    /// Scripts of a run at the same time, its own among them; and programs that one of them runs.
    pub processes: u32,
    /// How deep scripts run scripts, and tools call tools.
    pub depth: u32,
    /// Time of one call of a tool. [`Duration::MAX`]: as long as the run.
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
            // The 100,000 calls of `calls` with short arguments take 48 MB (63 MB with MACs), and a call with arguments of
            // 64 MiB, which `argument` allows, takes as much alone.
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
    /// The keys of `[limits]` in a policy.
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

/// One limit and its value, as on a command line: `calls=1000`, `tool_wall=5s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    name: String,
    value: String,
}

impl Setting {
    /// Sets it.
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
    fn settings_are_read_as_a_policy_is() {
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
