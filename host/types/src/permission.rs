//! Permissions that a tool requests beyond its arguments. Data only: a policy grants them, and the host enforces them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::excerpt;
use crate::http_rule::HttpRule;

/// Permissions that a tool requests. It gets those that the policy grants.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Permissions {
    /// Files and directories of the session.
    #[serde(deserialize_with = "texts", serialize_with = "as_texts")]
    pub files: Vec<FileRule>,
    /// HTTP requests by `wasi:http`.
    #[serde(deserialize_with = "texts", serialize_with = "as_texts")]
    pub http: Vec<HttpRule>,
    /// Buckets of `wasi:keyvalue`: names of letters, digits, `-` and `_`.
    #[serde(deserialize_with = "buckets")]
    pub keyvalue: Vec<String>,
    /// Secrets that the tool uses.
    #[serde(deserialize_with = "secrets")]
    pub secrets: Vec<Secret>,
    /// Methods of other tools that it calls, as patterns.
    #[serde(deserialize_with = "tools")]
    pub tools: Vec<String>,
}

/// Largest number of entries of one list, here and in a policy: each request is compared with all of them, and each
/// entry of a policy with each of a manifest.
pub const MAX_PERMISSIONS: usize = 1000;

/// Path of the session's files, with everything below it: `/workspace/out`, or `/workspace/in:ro` to read only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRule {
    /// Absolute path, without `.`, `..` or empty segments. `/` means everything.
    pub path: String,
    /// True if writing is permitted.
    pub write: bool,
}

/// Error of a text that is not a file rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path of a session: write `/workspace/data`, or `/workspace/data:ro` to read only")]
pub struct FileRuleError(String);

impl FileRule {
    /// Returns true if this rule permits everything that `other` permits.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        (self.write || !other.write) && self.holds(&other.path)
    }

    /// Returns true if a path is this one or below it.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let base = self.path.trim_end_matches('/');
        path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl FromStr for FileRule {
    type Err = FileRuleError;

    fn from_str(text: &str) -> Result<Self, FileRuleError> {
        let (path, write) = text.strip_suffix(":ro").map_or((text, true), |path| (path, false));
        let segment = |segment: &str| !matches!(segment, "" | "." | "..");
        let inner = path.strip_prefix('/').ok_or_else(|| FileRuleError(excerpt(text)))?;
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        if path.contains(['\0', ':']) || (!inner.is_empty() && !inner.split('/').all(segment)) {
            return Err(FileRuleError(excerpt(text)));
        }
        Ok(Self { path: format!("/{inner}"), write })
    }
}

impl fmt::Display for FileRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = self.write;
        write!(f, "{}{}", self.path, if write { "" } else { ":ro" })
    }
}

/// Secret by name. A manifest, a policy or a log never holds more of a secret than its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Name of letters, digits and `_`: `API_KEY`. A tool that puts any secret it is asked for into a header requests
    /// `*`.
    pub name: String,
    /// True if the tool must see the value. Otherwise it writes `{{secret:NAME}}` into a header, and the host inserts
    /// the value when it sends the request.
    pub expose: bool,
}

/// Returns true if a text is a valid name of a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let character = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.len() <= 100
        && name.chars().all(character)
}

/// Returns true if a text is a valid name of a bucket.
#[must_use]
pub fn is_bucket_name(name: &str) -> bool {
    let character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= 100 && name.chars().all(character)
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("expose", &self.expose)?;
        map.end()
    }
}

/// Secret as a manifest writes it: `"API_KEY"`, or `{ name = "API_KEY", expose = true }`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a secret is its name, or a table with `name` and `expose`")]
enum WrittenSecret {
    Name(String),
    Table(SecretTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretTable {
    name: String,
    #[serde(default)]
    expose: bool,
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, expose) = match WrittenSecret::deserialize(deserializer)? {
            WrittenSecret::Name(name) => (name, false),
            WrittenSecret::Table(table) => (table.name, table.expose),
        };
        if is_secret_name(&name) || (name == "*" && !expose) {
            return Ok(Self { name, expose });
        }
        Err(D::Error::custom(format!("`{}` is not a name of a secret: letters, digits and `_`", excerpt(&name))))
    }
}

fn texts<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let texts = bounded(Vec::<String>::deserialize(deserializer)?)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

fn as_texts<S: Serializer, T: fmt::Display>(rules: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rules.iter().map(ToString::to_string))
}

fn bounded<T, E: serde::de::Error>(list: Vec<T>) -> Result<Vec<T>, E> {
    if list.len() <= MAX_PERMISSIONS {
        return Ok(list);
    }
    Err(E::custom(format!("{} entries: at most {MAX_PERMISSIONS} are allowed", list.len())))
}

fn secrets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Secret>, D::Error> {
    bounded(Vec::deserialize(deserializer)?)
}

/// Deserializes a list of strings that must all pass a check.
fn list<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<String>, D::Error> {
    let values = bounded(Vec::<String>::deserialize(deserializer)?)?;
    match values.iter().find(|value| !fits(value)) {
        None => Ok(values),
        Some(value) => Err(D::Error::custom(format!("`{}` is not a {expected}", excerpt(value)))),
    }
}

fn buckets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    list(deserializer, "name of a bucket: letters, digits, `-` and `_`", is_bucket_name)
}

fn tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    list(deserializer, "method or pattern such as `payments/charges/*`", is_method)
}

/// Returns true if a text is a valid method or pattern of methods.
#[doc(hidden)]
pub fn is_method(text: &str) -> bool {
    let character = |c: char| !c.is_whitespace() && !c.is_control();
    text.split('/').all(|segment| !segment.is_empty() && segment.chars().all(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> FileRule {
        text.parse().expect("a path")
    }

    #[test]
    fn paths_cover_what_is_below_them() {
        for (outer, inner, expected) in [
            ("/workspace", "/workspace/in", true),
            ("/workspace/", "/workspace", true),
            ("/workspace", "/workspaces", false),
            ("/workspace:ro", "/workspace/in", false),
            ("/workspace:ro", "/workspace/in:ro", true),
            ("/workspace/in", "/workspace:ro", false),
            ("/", "/tmp/x", true),
        ] {
            assert_eq!(rule(outer).covers(&rule(inner)), expected, "{outer} {inner}");
        }
        for text in ["", "workspace", "/a/../b", "/a/./b", "//a", "/a//b", "/a\0", "/a:rw", "/a:ro:ro", "./a"] {
            assert!(text.parse::<FileRule>().is_err(), "{text:?}");
        }
    }
}
