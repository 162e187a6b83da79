//! The index: what its lines say, how they are chained, and what they come to. Must not touch a file. Its bytes are
//! described in `format.md`; change both together.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime},
};

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    name::{PackageName, ReleaseName, Requirement},
    oci::Origin,
    signature::{PublicKey, SIGNATURE_BYTES},
    store::{Blob, length},
};

/// The only form of lines there is so far.
const FORM: u32 = 1;

/// Longest message of a deprecation, in bytes: a sentence or two.
pub(crate) const MAX_MESSAGE: usize = 1_000;

/// What stands between what is hashed and the hash.
const SUM: &str = ",\"sum\":\"";

/// What is published under a name and a version. It never changes, but for `yanked`, `deprecated` and `signatures`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Release {
    /// The package.
    pub name: PackageName,
    /// Its version.
    pub version: Version,
    /// The component.
    pub component: Blob,
    /// The WIT text, with doc comments if the publisher gave it.
    pub wit: Blob,
    /// The manifest, as the publisher wrote it.
    pub manifest: Blob,
    /// The readme.
    pub readme: Option<Blob>,
    /// When, by the clock of who published it.
    pub published: SystemTime,
    /// Where it was pulled from, if it was not published here.
    pub origin: Option<Origin>,
    /// It breaks what earlier releases had that its version says it does not, and the publisher said so.
    pub breaking: bool,
    /// Taken back: it is not resolved any more, and who has pinned it still gets it.
    pub yanked: bool,
    /// Who uses it should use something else: it is resolved all the same.
    pub deprecated: Option<Deprecation>,
    /// Who signed it, as the index says. [`Registry::verify_signature`](crate::Registry::verify_signature) says whether
    /// they did.
    pub signatures: Vec<Signature>,
}

/// Why a release should not be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deprecation {
    /// What its users are told.
    pub message: String,
    /// What to use instead.
    pub replacement: Option<Requirement>,
}

/// A signature of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// Whose.
    pub key: PublicKey,
    /// The bytes.
    pub signature: Blob,
}

impl Release {
    /// The component's hash.
    pub fn digest(&self) -> Digest {
        self.component.digest
    }

    /// Name and version.
    #[must_use]
    pub fn full_name(&self) -> ReleaseName {
        ReleaseName { name: self.name.clone(), version: self.version.clone() }
    }

    /// All blobs that it names, each with a word for what it holds.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = (&'static str, Blob)> {
        let parts = [("component", self.component), ("WIT text", self.wit), ("manifest", self.manifest)];
        let readme = self.readme.map(|blob| ("readme", blob));
        let signatures = self.signatures.iter().map(|signature| ("signature", signature.signature));
        parts.into_iter().chain(readme).chain(signatures)
    }
}

impl fmt::Display for Deprecation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        match &self.replacement {
            Some(replacement) => write!(out, "; use `{replacement}`"),
            None => Ok(()),
        }
    }
}

/// A line, less its sum.
#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    seq: u64,
    prev: Digest,
    /// Milliseconds since the Unix epoch.
    time: u64,
    #[serde(flatten)]
    change: Change,
}

/// What a line does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Change {
    Publish {
        name: PackageName,
        version: Version,
        component: Blob,
        wit: Blob,
        manifest: Blob,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        readme: Option<Blob>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        breaking: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    Yank {
        name: PackageName,
        version: Version,
    },
    Unyank {
        name: PackageName,
        version: Version,
    },
    Deprecate {
        name: PackageName,
        version: Version,
        /// None: it is deprecated no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replacement: Option<Requirement>,
    },
    Sign {
        name: PackageName,
        version: Version,
        key: PublicKey,
        signature: Blob,
    },
}

/// Every operation, as it is written.
const OPERATIONS: [&str; 5] = ["publish", "yank", "unyank", "deprecate", "sign"];

/// What of a line must be readable to say that a newer program wrote it.
#[derive(Deserialize)]
struct Header {
    v: u32,
    op: String,
}

/// What is wrong with a line. `line` counts from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    Altered { line: u64, problem: String },
    Newer { line: u64, what: String },
}

/// What the lines read so far come to.
#[derive(Debug, Default)]
pub(crate) struct Index {
    packages: BTreeMap<PackageName, BTreeMap<Version, Release>>,
    head: Option<Digest>,
    lines: u64,
    end: u64,
}

impl Index {
    /// How many bytes of the file have been read and hold: where the next line begins.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// All releases, by name, oldest version first.
    pub(crate) fn releases(&self) -> impl Iterator<Item = &Release> {
        self.packages.values().flat_map(BTreeMap::values)
    }

    /// The sum of the last line; none if there is none.
    pub(crate) fn head(&self) -> Option<Digest> {
        self.head
    }

    /// How many lines have been read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// All packages and their releases, oldest version first.
    pub(crate) fn packages(&self) -> &BTreeMap<PackageName, BTreeMap<Version, Release>> {
        &self.packages
    }

    /// The release of that name and version.
    pub(crate) fn release(&self, name: &PackageName, version: &Version) -> Option<&Release> {
        self.packages.get(name)?.get(version)
    }

    /// Reads what follows `end()`. A torn last line is left: that is, one without line feed, or with a zero byte (a
    /// crash can leave a hole where a page was not written). After an error the index must not be used.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Damage> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = (&rest[..at], &rest[at + 1..]);
            if after.is_empty() && line.contains(&0) {
                break;
            }
            self.read_line(line)?;
            self.end += length(line) + 1;
            rest = after;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), Damage> {
        let number = self.lines + 1;
        let altered = |problem: &str| Damage::Altered { line: number, problem: problem.into() };
        let (body, sum) = split_sum(line).ok_or_else(|| altered("it does not end in a sum"))?;
        let digest = Digest::of(body);
        if sum.parse() != Ok(digest) {
            return Err(altered("it does not hash to its sum"));
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| unknown(line, number, &error))?;
        if line.v != FORM {
            return Err(Damage::Newer { line: number, what: format!("the form {}", line.v) });
        }
        if line.seq != self.lines {
            return Err(altered("its number does not follow the line before it"));
        }
        if line.prev != self.head.unwrap_or(Digest::ZERO) {
            return Err(altered("it does not follow the line before it"));
        }
        let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(line.time));
        let time = time.ok_or_else(|| altered("its time is out of range"))?;
        self.apply(line.change, time).map_err(|problem| altered(&problem))?;
        self.head = Some(digest);
        self.lines = number;
        Ok(())
    }

    fn apply(&mut self, change: Change, published: SystemTime) -> Result<(), String> {
        match change {
            Change::Publish { name, version, component, wit, manifest, readme, breaking, origin } => {
                if !version.build.is_empty() {
                    return Err(format!("`{name}@{version}` has build metadata"));
                }
                let versions = self.packages.entry(name.clone()).or_default();
                if versions.contains_key(&version) {
                    return Err(format!("`{name}@{version}` is published a second time"));
                }
                let release = Release {
                    name,
                    version: version.clone(),
                    component,
                    wit,
                    manifest,
                    readme,
                    published,
                    origin,
                    breaking,
                    yanked: false,
                    deprecated: None,
                    signatures: Vec::new(),
                };
                versions.insert(version, release);
                Ok(())
            }
            Change::Yank { name, version } => self.change(&name, &version).map(|release| release.yanked = true),
            Change::Unyank { name, version } => self.change(&name, &version).map(|release| release.yanked = false),
            Change::Deprecate { name, version, message, replacement } => {
                let release = self.change(&name, &version)?;
                release.deprecated = match (message, replacement) {
                    (Some(message), replacement) => {
                        check_message(&message)?;
                        Some(Deprecation { message, replacement })
                    }
                    (None, None) => None,
                    (None, Some(_)) => return Err("it has a replacement and no message".into()),
                };
                Ok(())
            }
            Change::Sign { name, version, key, signature } => {
                let release = self.change(&name, &version)?;
                if signature.size != SIGNATURE_BYTES {
                    return Err(format!("a signature has {SIGNATURE_BYTES} bytes"));
                }
                release.signatures.retain(|other| other.key != key);
                release.signatures.push(Signature { key, signature });
                Ok(())
            }
        }
    }

    fn change(&mut self, name: &PackageName, version: &Version) -> Result<&mut Release, String> {
        let release = self.packages.get_mut(name).and_then(|versions| versions.get_mut(version));
        release.ok_or_else(|| format!("there is no `{name}@{version}` before it"))
    }

    /// The line that would make `change`, with its line feed. Read it to make it.
    pub(crate) fn line(&self, change: Change, now: SystemTime) -> Vec<u8> {
        // A clock before 1970 or past the range is a wrong clock: the order of releases does not hang on it.
        let time = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(time.as_millis()).unwrap_or(0);
        let line = Line { v: FORM, seq: self.lines, prev: self.head.unwrap_or(Digest::ZERO), time, change };
        let mut text = serde_json::to_string(&line).expect("a line has string keys only and no failing value");
        let brace = text.pop();
        debug_assert_eq!(brace, Some('}'), "a struct is an object");
        let sum = Digest::of(text.as_bytes());
        format!("{text}{SUM}{sum}\"}}\n").into_bytes()
    }
}

/// The sum of the last line of an index that ends so. Nothing is checked of it. None if it ends in no whole line.
pub(crate) fn last_sum(end: &[u8]) -> Option<Digest> {
    split_sum(end.strip_suffix(b"\n")?)?.1.parse().ok()
}

/// Whether a text can be the message of a deprecation. It is one line of a terminal.
pub(crate) fn check_message(message: &str) -> Result<(), String> {
    if message.trim().is_empty() || message.len() > MAX_MESSAGE || message.chars().any(char::is_control) {
        return Err(format!("a message has 1 to {MAX_MESSAGE} bytes and no control characters"));
    }
    Ok(())
}

/// Takes `,"sum":"…"}` off the end of a line: what is hashed, and the digest as text.
fn split_sum(line: &[u8]) -> Option<(&[u8], &str)> {
    const DIGEST: usize = "sha256:".len() + 64;
    let line = line.strip_suffix(b"\"}")?;
    let (rest, sum) = line.split_at_checked(line.len().checked_sub(DIGEST)?)?;
    Some((rest.strip_suffix(SUM.as_bytes())?, std::str::from_utf8(sum).ok()?))
}

/// Why a line that hashes to its sum cannot be read.
fn unknown(line: &[u8], number: u64, error: &serde_json::Error) -> Damage {
    match serde_json::from_slice::<Header>(line) {
        Ok(Header { v, .. }) if v != FORM => Damage::Newer { line: number, what: format!("the form {v}") },
        Ok(Header { op, .. }) if !OPERATIONS.contains(&op.as_str()) => {
            Damage::Newer { line: number, what: format!("the operation `{}`", crate::error::excerpt(&op)) }
        }
        _ => Damage::Altered { line: number, problem: format!("it is no line of an index: {error}") },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn publish(name: &str, version: &str) -> Change {
        let blob = Blob::of(name.as_bytes());
        Change::Publish {
            name: name.parse().expect("a name"),
            version: version.parse().expect("a version"),
            component: blob,
            wit: blob,
            manifest: blob,
            readme: None,
            breaking: false,
            origin: None,
        }
    }

    fn yank(name: &str, version: &str) -> Change {
        Change::Yank { name: name.parse().expect("a name"), version: version.parse().expect("a version") }
    }

    fn deprecate(message: Option<&str>, replacement: Option<&str>) -> Change {
        Change::Deprecate {
            name: "a:b".parse().expect("a name"),
            version: Version::new(1, 0, 0),
            message: message.map(str::to_owned),
            replacement: replacement.map(|text| text.parse().expect("a requirement")),
        }
    }

    fn file(changes: Vec<Change>) -> Vec<u8> {
        let mut index = Index::default();
        let mut bytes = Vec::new();
        for change in changes {
            let line = index.line(change, SystemTime::UNIX_EPOCH);
            index.read(&line).expect("our own line");
            bytes.extend(line);
        }
        bytes
    }

    fn sample() -> Vec<u8> {
        file(vec![publish("a:b", "1.0.0"), publish("a:c", "0.1.0"), publish("a:b", "1.1.0"), yank("a:b", "1.1.0")])
    }

    fn read(bytes: &[u8]) -> Result<Index, Damage> {
        let mut index = Index::default();
        index.read(bytes).map(|()| index)
    }

    #[test]
    fn a_line_is_as_documented() {
        let line = String::from_utf8(file(vec![publish("a:b", "1.0.0")])).expect("text");
        let blob =
            "{\"digest\":\"sha256:2f47dea8a55d4b9cc6af3eab97d58b5b62eb53a4eae9cfcf3c41f5adf1db1d2a\",\"size\":3}";
        let blob =
            blob.replace("2f47dea8a55d4b9cc6af3eab97d58b5b62eb53a4eae9cfcf3c41f5adf1db1d2a", &Digest::of(b"a:b").hex());
        let zero = "0".repeat(64);
        let body = format!(
            "{{\"v\":1,\"seq\":0,\"prev\":\"sha256:{zero}\",\"time\":0,\"op\":\"publish\",\"name\":\"a:b\",\
             \"version\":\"1.0.0\",\"component\":{blob},\"wit\":{blob},\"manifest\":{blob}"
        );
        assert_eq!(line, format!("{body},\"sum\":\"{}\"}}\n", Digest::of(body.as_bytes())));
    }

    #[test]
    fn replays() {
        let index = read(&sample()).expect("an index");
        let name = "a:b".parse().expect("a name");
        assert!(!index.release(&name, &Version::new(1, 0, 0)).expect("a release").yanked);
        assert!(index.release(&name, &Version::new(1, 1, 0)).expect("a release").yanked);
        assert_eq!(index.end(), length(&sample()));
    }

    #[test]
    fn what_is_deprecated_is_told_and_taken_back() {
        let mut changes = vec![publish("a:b", "1.0.0"), deprecate(Some("too old"), Some("a:c@^1"))];
        let release = |changes: &[Change]| {
            let index = read(&file(changes.to_vec())).expect("an index");
            index.release(&"a:b".parse().expect("a name"), &Version::new(1, 0, 0)).expect("a release").clone()
        };
        let told = release(&changes).deprecated.expect("it is deprecated").to_string();
        assert_eq!(told, "too old; use `a:c@^1`");
        changes.push(deprecate(None, None));
        assert_eq!(release(&changes).deprecated, None);
    }

    #[test]
    fn a_torn_line_is_left() {
        let bytes = sample();
        let third = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).expect("four lines").0 + 1;
        for cut in third..bytes.len() {
            let index = read(&bytes[..cut]).expect("torn, not altered");
            assert_eq!(index.end(), u64::try_from(third).expect("small"));
        }
        let mut hole = bytes.clone();
        hole[third..third + 40].fill(0);
        assert_eq!(read(&hole).expect("torn, not altered").end(), u64::try_from(third).expect("small"));
    }

    #[test]
    fn lines_cannot_be_removed_doubled_or_exchanged() {
        let bytes = sample();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for order in [&[1, 2, 3][..], &[0, 2, 3], &[0, 0, 1], &[1, 0, 2, 3], &[0, 1, 3]] {
            let other: Vec<u8> = order.iter().flat_map(|at| lines[*at].iter().copied()).collect();
            assert!(matches!(read(&other), Err(Damage::Altered { .. })), "{order:?}");
        }
    }

    #[test]
    fn what_a_line_may_not_say() {
        for changes in [
            vec![publish("a:b", "1.0.0"), publish("a:b", "1.0.0")],
            vec![yank("a:b", "1.0.0")],
            vec![publish("a:b", "1.0.0+x")],
            vec![deprecate(Some("too old"), None)],
            vec![publish("a:b", "1.0.0"), deprecate(Some("two\nlines"), None)],
            vec![publish("a:b", "1.0.0"), deprecate(Some(" "), None)],
            vec![publish("a:b", "1.0.0"), deprecate(None, Some("a:c@^1"))],
        ] {
            let mut index = Index::default();
            let outcome = changes.into_iter().try_for_each(|change| {
                let line = index.line(change, SystemTime::UNIX_EPOCH);
                index.read(&line)
            });
            assert!(matches!(outcome, Err(Damage::Altered { .. })));
        }
    }

    #[test]
    fn newer_lines_are_named() {
        let sealed = |body: &str| format!("{body}{SUM}{}\"}}\n", Digest::of(body.as_bytes())).into_bytes();
        let zero = Digest::ZERO;
        let operation = sealed(&format!("{{\"v\":1,\"seq\":0,\"prev\":\"{zero}\",\"time\":0,\"op\":\"melt\""));
        assert!(matches!(read(&operation), Err(Damage::Newer { line: 1, what }) if what.contains("`melt`")));
        let form = sealed("{\"v\":2,\"op\":\"publish\"");
        assert!(matches!(read(&form), Err(Damage::Newer { line: 1, what }) if what.contains('2')));
        let garbage = sealed("{\"v\":1");
        assert!(matches!(read(&garbage), Err(Damage::Altered { line: 1, .. })));
    }

    proptest! {
        /// No byte of an index can be changed unnoticed: it is refused, or (a zero, or the end of the last line) the
        /// last line counts as torn.
        #[test]
        fn no_byte_can_be_changed(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut bytes = sample();
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            if let Ok(index) = read(&bytes) {
                let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("several lines");
                prop_assert!(at > last && index.end() < length(&bytes));
            }
        }

        #[test]
        fn never_panics(bytes in any::<Vec<u8>>()) {
            let _ = read(&bytes);
        }
    }
}
