//! Policies: what a TOML file may say, and what it means.
//!
//! Nothing fails open: an unknown key is an error, so a clause that this version does not know refuses the file
//! rather than being dropped.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::{Grant, Pattern, default_name, parse_bytes, parse_duration};

/// What a session mounts, grants and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Packages to mount: alias to requirement (`acme:payments@^1`). None: whatever the default registry holds.
    pub tools: Option<BTreeMap<String, String>>,
    /// What may be called, tried in this order. Empty: nothing.
    pub grants: Vec<Grant>,
    /// What a run may use.
    pub limits: Limits,
}

/// What a run may use. Reaching a limit ends the run, or fails what reached it; the session lives on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Time from start to end, waiting included.
    #[serde(deserialize_with = "duration", serialize_with = "duration_text")]
    pub wall: Duration,
    /// Steps of the guest's own count; the same script uses the same number each time.
    pub fuel: u64,
    /// Bytes of memory of one guest.
    #[serde(deserialize_with = "bytes")]
    pub memory: u64,
    /// Bytes of standard output and standard error together.
    #[serde(deserialize_with = "bytes")]
    pub output: u64,
    /// Bytes of the arguments of one call, as JSON.
    #[serde(deserialize_with = "bytes")]
    pub argument: u64,
    /// Bytes of the result of one call, as JSON.
    #[serde(deserialize_with = "bytes")]
    pub result: u64,
    /// Bytes of all files of the session.
    #[serde(deserialize_with = "bytes")]
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

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the text.
    pub span: Option<Range<usize>>,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tools: Option<BTreeMap<String, String>>,
    #[serde(default)]
    grant: Vec<GrantEntry>,
    #[serde(default)]
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantEntry {
    name: Option<String>,
    method: Pattern,
    calls: Option<u64>,
}

impl Policy {
    /// Reads a policy file (TOML).
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let file: File = toml::from_str(text)
            .map_err(|error| PolicyError { message: error.message().to_owned(), span: error.span() })?;
        let grants = file.grant.into_iter().enumerate().map(|(index, entry)| Grant {
            name: entry.name.unwrap_or_else(|| default_name(&entry.method.to_string(), index)),
            method: entry.method,
            calls: entry.calls,
        });
        let policy = Self { tools: file.tools, grants: grants.collect(), limits: file.limits };
        policy.check()
    }

    /// What serde cannot see: names that stand twice, limits that allow nothing.
    fn check(self) -> Result<Self, PolicyError> {
        let fail = |message: String| Err(PolicyError { message, span: None });
        for (index, grant) in self.grants.iter().enumerate() {
            if self.grants[..index].iter().any(|earlier| earlier.name == grant.name) {
                return fail(format!("two grants are named `{}`: budgets are counted by name", grant.name));
            }
        }
        if self.limits.concurrency == 0 {
            return fail("`limits.concurrency` is 0: no call could ever run".to_owned());
        }
        Ok(self)
    }
}

/// Either `"256MiB"` or a plain number of bytes.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a size such as \"256MiB\", or a number of bytes")]
    enum Size {
        Number(u64),
        Text(String),
    }
    match Size::deserialize(deserializer)? {
        Size::Number(bytes) => Ok(bytes),
        Size::Text(text) => parse_bytes(&text).map_err(de::Error::custom),
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}

fn duration_text<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}ms", duration.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file() {
        let policy = Policy::parse(
            r#"
            [tools]
            stats = "tollhouse:stats@^0.1"

            [[grant]]
            name = "numbers"
            method = "stats/*"
            calls = 3

            [[grant]]
            method = "text/**"

            [limits]
            wall = "5s"
            memory = "64MiB"
            "#,
        )
        .expect("it is a policy");
        assert_eq!(policy.tools.expect("it mounts")["stats"], "tollhouse:stats@^0.1");
        assert_eq!(policy.grants[0].calls, Some(3));
        assert_eq!(policy.grants[1].name, "text/**#1");
        assert_eq!(policy.limits.wall, Duration::from_secs(5));
        assert_eq!(policy.limits.memory, 64 << 20);
        assert_eq!(policy.limits.fuel, Limits::default().fuel);
    }

    #[test]
    fn nothing_fails_open() {
        for (text, told) in [
            ("[[grant]]\nmethod = 'a'\nwhere = []", "unknown field `where`"),
            ("[[grant]]\nmethod = 'pay*'", "a star stands for whole segments"),
            ("[[grant]]\nmethod = 'a'\ncalls = -1", "invalid value"),
            ("[[grant]]\nname = 'no method'", "missing field `method`"),
            ("[limits]\nmemory = '1.5MiB'", "no number of bytes"),
            ("[limits]\nconcurrency = 0", "no call could ever run"),
            ("[limit]\nwall = '1s'", "unknown field `limit`"),
            ("[[grant]]\nmethod='a'\nname='x'\n[[grant]]\nmethod='b'\nname='x'", "two grants are named `x`"),
        ] {
            let error = Policy::parse(text).expect_err(text);
            assert!(error.message.contains(told), "{text:?}: {}", error.message);
        }
    }

    #[test]
    fn errors_say_where() {
        let text = "[[grant]]\nmethod = 'a'\nmethods = 'b'\n";
        let span = Policy::parse(text).expect_err("the key is unknown").span.expect("it is somewhere");
        assert_eq!(&text[span], "methods");
    }
}
