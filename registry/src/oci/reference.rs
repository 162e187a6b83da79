//! References of artifacts: `HOST/REPOSITORY:TAG@sha256:DIGEST`. Must not look anything up.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{digest::Digest, error::excerpt};

/// Longest name of a repository with its host: the limit of implementations of the distribution specification.
const MAX_NAME: usize = 255;

/// Longest tag, by the distribution specification.
const MAX_TAG: usize = 128;

/// Repository of a registry: `ghcr.io/acme/payments`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    host: Box<str>,
    path: Box<str>,
}

/// Artifact in a repository, by tag, by digest, or by both: then the tag must refer to that digest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reference {
    /// Repository of the artifact.
    pub repository: Repository,
    /// Tag, which may come to refer to another artifact.
    pub tag: Option<String>,
    /// Digest of the manifest, which never changes.
    pub digest: Option<Digest>,
}

/// Origin of a pulled release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// Repository that the release was pulled from.
    pub repository: Repository,
    /// Digest of the artifact's manifest.
    pub manifest: Digest,
}

/// Error of a text that is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a reference to an artifact: {problem}; write `HOST/REPOSITORY:TAG`")]
pub struct ReferenceError {
    given: String,
    problem: &'static str,
}

impl Repository {
    /// Returns the host, with its port if it has one: `ghcr.io`, `localhost:5000`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the path of the repository on the host.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if the host is this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let host = match self.host.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => host,
            _ => &self.host,
        };
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for Repository {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let wrong = |problem| ReferenceError { given: excerpt(text), problem };
        let (host, path) = text.split_once('/').ok_or(wrong("it has no host"))?;
        if text.len() > MAX_NAME {
            return Err(wrong("it is too long"));
        }
        if !is_host(host) {
            return Err(wrong("it does not begin with a host, such as `ghcr.io` or `localhost:5000`"));
        }
        if !path.split('/').all(is_component) {
            return Err(wrong("its repository may have a-z, 0-9, and `.`, `_`, `-` between them"));
        }
        Ok(Self { host: host.into(), path: path.into() })
    }
}

/// Returns true for a host with a dot or a port, and for `localhost`: as in Docker, another name is the first part of a
/// path.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    if port.is_some_and(|port| port.starts_with('+') || !port.parse::<u16>().is_ok_and(|port| port != 0)) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let label = |label: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        label.chars().all(plain) && edge(label.chars().next()) && edge(label.chars().last())
    };
    (port.is_some() || host.contains('.') || host == "localhost") && host.split('.').all(label)
}

/// Returns true for a valid part of a repository's path: words of a-z and 0-9 with `.`, `_`, `__` or hyphens between
/// them.
fn is_component(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let between = |run: &str| matches!(run, "." | "_" | "__") || run.bytes().all(|byte| byte == b'-');
    let mut separators = text.split(word).filter(|run| !run.is_empty());
    text.starts_with(word) && text.ends_with(word) && separators.all(between)
}

/// Returns true if a text is a valid tag.
pub(super) fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=MAX_TAG).contains(&text.len()) && text.starts_with(word) && text.chars().all(|c| word(c) || ".-".contains(c))
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let wrong = |problem| ReferenceError { given: excerpt(text), problem };
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (
                rest,
                Some(digest.parse().map_err(|_| wrong("its digest is not `sha256:` and 64 hexadecimal digits"))?),
            ),
            None => (text, None),
        };
        let (name, tag) = match rest.rsplit_once(':') {
            // A colon before a slash begins a port.
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (rest, None),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(wrong("its tag may have letters, digits, `_`, `.` and `-`"));
        }
        let repository = name.parse().map_err(|error: ReferenceError| wrong(error.problem))?;
        Ok(Self { repository, tag: tag.map(str::to_owned), digest })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.host, self.path)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.repository, out)?;
        if let Some(tag) = &self.tag {
            write!(out, ":{tag}")?;
        }
        self.digest.map_or(Ok(()), |digest| write!(out, "@{digest}"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.repository, self.manifest)
    }
}

impl Serialize for Repository {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Repository {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::name::deserialize_from_str(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_are_read_and_written() {
        let digest = Digest::of(b"");
        for text in [
            "ghcr.io/acme/payments".to_owned(),
            "ghcr.io/acme/payments:1.2.0".to_owned(),
            format!("localhost:5000/a@{digest}"),
            format!("localhost/a__b/c.d-e:x@{digest}"),
            "127.0.0.1:5000/a:v1_2.3-x".to_owned(),
            "[::1]:5000/a/b:1".to_owned(),
        ] {
            let reference: Reference = text.parse().expect("a reference");
            assert_eq!(reference.to_string(), text);
        }
        let reference: Reference = "localhost:5000/a/b".parse().expect("a reference");
        assert_eq!((reference.repository.host(), reference.repository.path()), ("localhost:5000", "a/b"));
        assert_eq!((reference.tag, reference.digest), (None, None));
    }

    #[test]
    fn reference_that_is_malformed_is_refused() {
        for text in [
            "",
            "payments",
            "acme/payments:1",
            "ghcr.io/",
            "ghcr.io/a:",
            "ghcr.io/a@x",
            "ghcr.io/a@sha256:00",
            "ghcr.io/a@sha512:00",
            "GHCR.io/a",
            "ghcr.io/A",
            "ghcr.io/a//b",
            "ghcr.io/../a",
            "ghcr.io/a..b",
            "ghcr.io/-a",
            "ghcr.io/a_-b",
            "ghcr.io:0/a",
            "ghcr.io:+1/a",
            "ghcr.io:99999/a",
            "u@ghcr.io/a",
            "ghcr.io/a?b",
            "ghcr.io/a:b/c:d",
            "https://ghcr.io/a",
            "[::1/a",
            "[x]:1/a",
            ".ghcr.io/a",
            "ghcr.io/a:-b",
            "ghcr.io/a:\u{1b}",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
        assert!(format!("ghcr.io/{}", "a".repeat(MAX_NAME)).parse::<Reference>().is_err());
    }

    #[test]
    fn repository_on_this_machine_is_local() {
        for (host, local) in [
            ("localhost", true),
            ("localhost:5000", true),
            ("127.0.0.1:1", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("[::1]:5000", true),
            ("ghcr.io", false),
            ("localhost.evil.io", false),
            ("10.0.0.1:5000", false),
        ] {
            let repository: Repository = format!("{host}/a").parse().expect(host);
            assert_eq!(repository.is_local(), local, "{host}");
        }
    }

    proptest! {
        #[test]
        fn reference_parser_with_arbitrary_text_does_not_panic(text in "[a-b0-1./:@_\\[\\]é-]{0,24}") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string(), text);
            }
        }
    }
}
