//! The index: the chain of its lines, and the releases that they add up to. Must not touch a file. Its bytes are
//! described in `format.md`; change both together.

mod line;
mod release;

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use semver::Version;

use self::line::IndexLine;
pub(crate) use self::line::{IndexDamage, MAX_MESSAGE, ReleaseChange, check_message, last_sum};
pub use self::release::{Deprecation, Release, Signature};
use crate::{digest::Digest, name::PackageName, signature::SIGNATURE_BYTES, store::length};

/// State after the lines read so far.
#[derive(Debug, Default)]
pub(crate) struct ReleaseIndex {
    packages: BTreeMap<PackageName, BTreeMap<Version, Release>>,
    head: Option<Digest>,
    lines: u64,
    end: u64,
}

impl ReleaseIndex {
    /// Returns the number of bytes that were read and are valid: the offset of the next line.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Iterates over all releases, by name, oldest version first.
    pub(crate) fn releases(&self) -> impl Iterator<Item = &Release> {
        self.packages.values().flat_map(BTreeMap::values)
    }

    /// Returns the sum of the last line. `None` if there is no line.
    pub(crate) fn head(&self) -> Option<Digest> {
        self.head
    }

    /// Returns the number of lines.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns all packages and their releases, oldest version first.
    pub(crate) fn packages(&self) -> &BTreeMap<PackageName, BTreeMap<Version, Release>> {
        &self.packages
    }

    /// Returns the release of that name and version.
    pub(crate) fn release(&self, name: &PackageName, version: &Version) -> Option<&Release> {
        self.packages.get(name)?.get(version)
    }

    /// Reads the bytes that follow `end()`. A torn last line is left unread: one without a line feed, or with a zero
    /// byte (a crash can leave a hole where a page was not written). After an error the index must not be used.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), IndexDamage> {
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

    fn read_line(&mut self, line: &[u8]) -> Result<(), IndexDamage> {
        let number = self.lines + 1;
        let altered = |problem: &str| IndexDamage::Altered { line: number, problem: problem.into() };
        let (line, digest) = IndexLine::read(line, number)?;
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

    fn apply(&mut self, change: ReleaseChange, published: SystemTime) -> Result<(), String> {
        match change {
            ReleaseChange::Publish { name, version, component, wit, manifest, readme, breaking, origin } => {
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
            ReleaseChange::Yank { name, version } => self.change(&name, &version).map(|release| release.yanked = true),
            ReleaseChange::Unyank { name, version } => {
                self.change(&name, &version).map(|release| release.yanked = false)
            }
            ReleaseChange::Deprecate { name, version, message, replacement } => {
                let release = self.change(&name, &version)?;
                release.deprecated = match (message, replacement) {
                    (Some(message), replacement) => {
                        check_message(&message)?;
                        Some(Deprecation { message, replacement })
                    }
                    (None, None) => None,
                    (None, Some(_)) => return Err("it has a replacement but no message".into()),
                };
                Ok(())
            }
            ReleaseChange::Sign { name, version, key, signature } => {
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

    /// Encodes the line that would make `change`, with its line feed. Reading it makes the change.
    pub(crate) fn line(&self, change: ReleaseChange, now: SystemTime) -> Vec<u8> {
        IndexLine::new(self.lines, self.head.unwrap_or(Digest::ZERO), now, change).write()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{index::line::SUM, store::Blob};

    fn publish(name: &str, version: &str) -> ReleaseChange {
        let blob = Blob::of(name.as_bytes());
        ReleaseChange::Publish {
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

    fn yank(name: &str, version: &str) -> ReleaseChange {
        ReleaseChange::Yank { name: name.parse().expect("a name"), version: version.parse().expect("a version") }
    }

    fn deprecate(message: Option<&str>, replacement: Option<&str>) -> ReleaseChange {
        ReleaseChange::Deprecate {
            name: "a:b".parse().expect("a name"),
            version: Version::new(1, 0, 0),
            message: message.map(str::to_owned),
            replacement: replacement.map(|text| text.parse().expect("a requirement")),
        }
    }

    fn file(changes: Vec<ReleaseChange>) -> Vec<u8> {
        let mut index = ReleaseIndex::default();
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

    fn read(bytes: &[u8]) -> Result<ReleaseIndex, IndexDamage> {
        let mut index = ReleaseIndex::default();
        index.read(bytes).map(|()| index)
    }

    #[test]
    fn index_line_matches_the_documented_format() {
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
    fn index_replayed_gives_releases_and_yanks() {
        let index = read(&sample()).expect("an index");
        let name = "a:b".parse().expect("a name");
        assert!(!index.release(&name, &Version::new(1, 0, 0)).expect("a release").yanked);
        assert!(index.release(&name, &Version::new(1, 1, 0)).expect("a release").yanked);
        assert_eq!(index.end(), length(&sample()));
    }

    #[test]
    fn index_deprecation_is_applied_and_withdrawn() {
        let mut changes = vec![publish("a:b", "1.0.0"), deprecate(Some("too old"), Some("a:c@^1"))];
        let release = |changes: &[ReleaseChange]| {
            let index = read(&file(changes.to_vec())).expect("an index");
            index.release(&"a:b".parse().expect("a name"), &Version::new(1, 0, 0)).expect("a release").clone()
        };
        let told = release(&changes).deprecated.expect("it is deprecated").to_string();
        assert_eq!(told, "too old; use `a:c@^1`");
        changes.push(deprecate(None, None));
        assert_eq!(release(&changes).deprecated, None);
    }

    #[test]
    fn index_with_torn_last_line_is_read_up_to_it() {
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
            assert!(matches!(read(&other), Err(IndexDamage::Altered { .. })), "{order:?}");
        }
    }

    #[test]
    fn index_line_with_invalid_change_is_refused() {
        for changes in [
            vec![publish("a:b", "1.0.0"), publish("a:b", "1.0.0")],
            vec![yank("a:b", "1.0.0")],
            vec![publish("a:b", "1.0.0+x")],
            vec![deprecate(Some("too old"), None)],
            vec![publish("a:b", "1.0.0"), deprecate(Some("two\nlines"), None)],
            vec![publish("a:b", "1.0.0"), deprecate(Some(" "), None)],
            vec![publish("a:b", "1.0.0"), deprecate(None, Some("a:c@^1"))],
        ] {
            let mut index = ReleaseIndex::default();
            let outcome = changes.into_iter().try_for_each(|change| {
                let line = index.line(change, SystemTime::UNIX_EPOCH);
                index.read(&line)
            });
            assert!(matches!(outcome, Err(IndexDamage::Altered { .. })));
        }
    }

    #[test]
    fn index_line_of_a_newer_version_is_reported() {
        let sealed = |body: &str| format!("{body}{SUM}{}\"}}\n", Digest::of(body.as_bytes())).into_bytes();
        let zero = Digest::ZERO;
        let operation = sealed(&format!("{{\"v\":1,\"seq\":0,\"prev\":\"{zero}\",\"time\":0,\"op\":\"melt\""));
        assert!(matches!(read(&operation), Err(IndexDamage::Newer { line: 1, what }) if what.contains("`melt`")));
        let form = sealed("{\"v\":2,\"op\":\"publish\"");
        assert!(matches!(read(&form), Err(IndexDamage::Newer { line: 1, what }) if what.contains('2')));
        let garbage = sealed("{\"v\":1");
        assert!(matches!(read(&garbage), Err(IndexDamage::Altered { line: 1, .. })));
    }

    proptest! {
        /// No byte of an index can be changed unnoticed: the index is refused, or (a zero, or the end of the last line)
        /// the last line counts as torn.
        #[test]
        fn index_with_any_byte_changed_is_refused_or_torn(at in any::<prop::sample::Index>(), to in any::<u8>()) {
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
        fn index_reader_with_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>()) {
            let _ = read(&bytes);
        }
    }
}
