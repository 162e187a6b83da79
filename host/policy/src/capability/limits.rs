//! Limits on the resources of a run, and their form in documents: keys, reading, writing, schema.

use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tollhouse_types::quantity::{LEAST_WITHOUT_UNIT, QuantityError};

use super::number::Number;
use super::policy::PolicyError;
use super::policy_parser::{self, TableReader};
use super::spanned_value::{DocumentValue, SpannedKey, SpannedValue};

/// Limits that are sizes in bytes.
const SIZE_KEYS: [&str; 6] = ["memory", "output", "argument", "result", "files", "log"];

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

    /// Returns these limits where they are named, and those above otherwise.
    ///
    /// # Errors
    /// The key of a limit that is named and exceeds the one above.
    pub fn within(&self, above: &Self, is_named: impl Fn(&str) -> bool) -> Result<Self, &'static str> {
        fn least<T: PartialOrd>(is_named: bool, own: T, above: T, key: &'static str) -> Result<T, &'static str> {
            match (is_named, own > above) {
                (false, _) => Ok(above),
                (true, false) => Ok(own),
                (true, true) => Err(key),
            }
        }
        Ok(Self {
            wall: least(is_named("wall"), self.wall, above.wall, "wall")?,
            fuel: least(is_named("fuel"), self.fuel, above.fuel, "fuel")?,
            memory: least(is_named("memory"), self.memory, above.memory, "memory")?,
            output: least(is_named("output"), self.output, above.output, "output")?,
            argument: least(is_named("argument"), self.argument, above.argument, "argument")?,
            result: least(is_named("result"), self.result, above.result, "result")?,
            files: least(is_named("files"), self.files, above.files, "files")?,
            log: least(is_named("log"), self.log, above.log, "log")?,
            concurrency: least(is_named("concurrency"), self.concurrency, above.concurrency, "concurrency")?,
            calls: least(is_named("calls"), self.calls, above.calls, "calls")?,
            pending: least(is_named("pending"), self.pending, above.pending, "pending")?,
            processes: least(is_named("processes"), self.processes, above.processes, "processes")?,
            depth: least(is_named("depth"), self.depth, above.depth, "depth")?,
            tool_wall: least(is_named("tool_wall"), self.tool_wall, above.tool_wall, "tool_wall")?,
        })
    }

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
        with_limit(limits, &self.name, &self.value)
    }
}

/// Reason why a text is not a setting of a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The text has no `=`.
    #[error("it must be NAME=VALUE, for example `calls=1000`")]
    NoValue,
    /// There is no such limit.
    #[error("there is no limit `{0}`: the limits are {known}", known = Limits::KEYS.join(", "))]
    Unknown(String),
    /// The value is not one of the limit.
    #[error(transparent)]
    Value(PolicyError),
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (name, value) = text.split_once('=').ok_or(SettingError::NoValue)?;
        if !Limits::KEYS.contains(&name) {
            return Err(SettingError::Unknown(name.to_owned()));
        }
        let setting = Self { name: name.to_owned(), value: value.to_owned() };
        setting.applied(&Limits::default()).map_err(SettingError::Value)?;
        Ok(setting)
    }
}

/// Limits on a run. Omitted limits have their defaults.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenLimits {
    /// Wall-clock time from start to end: `60s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall: Option<String>,
    /// Number of steps as counted by the guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
    /// Memory that a session uses at one time, by scripts, tools and the host for them: `256MiB`, or bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<WrittenSize>,
    /// Size of standard output and standard error together.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<WrittenSize>,
    /// Size of the arguments of one call, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<WrittenSize>,
    /// Size of the result of one call, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<WrittenSize>,
    /// Total size of the session's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<WrittenSize>,
    /// Bytes that a run may add to the audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<WrittenSize>,
    /// Number of calls that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    concurrency: Option<u32>,
    /// Number of calls of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    /// Number of operations that one guest may wait for at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pending: Option<u32>,
    /// Number of scripts of a run at the same time, and of programs of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    processes: Option<u32>,
    /// Nesting depth of scripts that run scripts, and of tools that call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    /// Wall-clock time of one call of a tool: `5s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_wall: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum WrittenSize {
    /// A number of bytes.
    Bytes(u64),
    /// A size with a unit: `256MiB`.
    Text(String),
}

impl WrittenLimits {
    pub(super) fn is_empty(&self) -> bool {
        serde_json::to_value(self).is_ok_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty))
    }
}

/// Returns the document form of limits: those that differ from the defaults.
pub(super) fn written_limits(limits: &Limits) -> WrittenLimits {
    let default = Limits::default();
    // In a policy file, small sizes need a unit.
    let written = |own: u64| match own {
        1..LEAST_WITHOUT_UNIT => WrittenSize::Text(format!("{own}B")),
        _ => WrittenSize::Bytes(own),
    };
    let size = |own: u64, default: u64| (own != default).then(|| written(own));
    let number = |own: u32, default: u32| (own != default).then_some(own);
    let time = |own: Duration, default: Duration| (own != default).then(|| written_duration(own));
    WrittenLimits {
        wall: time(limits.wall, default.wall),
        fuel: (limits.fuel != default.fuel).then_some(limits.fuel),
        memory: size(limits.memory, default.memory),
        output: size(limits.output, default.output),
        argument: size(limits.argument, default.argument),
        result: size(limits.result, default.result),
        files: size(limits.files, default.files),
        log: size(limits.log, default.log),
        concurrency: number(limits.concurrency, default.concurrency),
        calls: (limits.calls != default.calls).then_some(limits.calls),
        pending: number(limits.pending, default.pending),
        processes: number(limits.processes, default.processes),
        depth: number(limits.depth, default.depth),
        tool_wall: time(limits.tool_wall, default.tool_wall),
    }
}

/// Writes a duration, in milliseconds.
pub(super) fn written_duration(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

/// Returns limits with one of them changed: to a number, or to a text as in a policy.
fn with_limit(others: &Limits, name: &str, value: &str) -> Result<Limits, PolicyError> {
    let value = match value.parse() {
        // A size is read as text: without a unit it is refused if it is small.
        Ok(number) if !SIZE_KEYS.contains(&name) => DocumentValue::Number(Number::Integer(number)),
        _ => DocumentValue::String(value.to_owned()),
    };
    let plain = |value| SpannedValue { value, span: None };
    let key = SpannedKey { name: name.to_owned(), span: None };
    read_limits(plain(DocumentValue::Table(vec![(key, plain(value))])), others.clone())
}

/// Reads limits; omitted ones stay as in `limits`.
pub(super) fn read_limits(node: SpannedValue, mut limits: Limits) -> Result<Limits, PolicyError> {
    let mut table = TableReader::new(node, "`limits`")?;
    for (name, limit) in [("wall", &mut limits.wall), ("tool_wall", &mut limits.tool_wall)] {
        if let Some(time) = table.read(name, duration)? {
            *limit = time;
        }
    }
    for (name, limit) in [("fuel", &mut limits.fuel), ("calls", &mut limits.calls)] {
        if let Some(count) = table.read(name, policy_parser::count)? {
            *limit = count;
        }
    }
    let sizes = [
        ("memory", &mut limits.memory),
        ("output", &mut limits.output),
        ("argument", &mut limits.argument),
        ("result", &mut limits.result),
        ("files", &mut limits.files),
        ("log", &mut limits.log),
    ];
    for (name, limit) in sizes {
        if let Some(size) = table.read(name, size)? {
            *limit = size;
        }
    }
    let numbers = [
        ("concurrency", &mut limits.concurrency, 1, "with 0 no call could ever run"),
        ("pending", &mut limits.pending, 1, "with 0 no script could wait for anything"),
        ("processes", &mut limits.processes, 1, "the run's own counts"),
        ("depth", &mut limits.depth, 0, "0 lets no script run another"),
    ];
    for (name, limit, least, why) in numbers {
        if let Some(node) = table.take(name) {
            let span = node.span.clone();
            let number = u32::try_from(policy_parser::count(node, name)?).ok().filter(|&number| number >= least);
            let message = || format!("`{name}` must be from {least} to 2^32 - 1: {why}");
            *limit = number.ok_or_else(|| PolicyError::new(message(), span))?;
        }
    }
    table.end("`limits`", &Limits::KEYS)?;
    Ok(limits)
}

/// Reads a duration.
pub(super) fn duration(node: SpannedValue, what: &str) -> Result<Duration, PolicyError> {
    let span = node.span.clone();
    super::parse_duration(&policy_parser::string(node, what)?)
        .map_err(|error| PolicyError::new(error.to_string(), span))
}

/// Reads either `"256MiB"` or a plain number of bytes.
fn size(node: SpannedValue, what: &str) -> Result<u64, PolicyError> {
    let span = node.span.clone();
    if matches!(node.value, DocumentValue::Number(_)) {
        let size = policy_parser::count(node, what)?;
        // A program that writes JSON means bytes, whereas an author of TOML may have forgotten the unit.
        return match span {
            Some(_) if size > 0 && size < LEAST_WITHOUT_UNIT => {
                Err(PolicyError::new(format!("{what}: {}", QuantityError::without_unit(size)), span))
            }
            _ => Ok(size),
        };
    }
    super::parse_bytes(&policy_parser::string(node, what)?).map_err(|error| PolicyError::new(error.to_string(), span))
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
