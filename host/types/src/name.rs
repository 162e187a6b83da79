//! Names and requirements of packages: `namespace:package` and `namespace:package@requirement`. Must not look anything
//! up.

use std::{fmt, marker::PhantomData, str::FromStr};

use semver::{Version, VersionReq};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::excerpt;

/// Longest name in bytes, colon included. Leaves room for a registry's host within the 255 bytes that OCI
/// implementations allow a repository's name.
pub const MAX_NAME: usize = 128;

/// Name of a package: `namespace:package`, each a WIT identifier in lower case (`acme:payments-eu`).
///
/// WIT also allows words in upper case, and treats two names as equal that differ in case only. Here there is one
/// spelling, so that two packages never look alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageName {
    text: Box<str>,
    colon: usize,
}

/// Error of a text that is not a package name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text has no colon.
    #[error("`{given}` has no namespace: a package is named `namespace:package`")]
    NoNamespace {
        /// Text that was rejected.
        given: String,
    },
    /// The part before or after the colon is empty.
    #[error("the {part} in `{given}` is empty: a package is named `namespace:package`")]
    Empty {
        /// Part of the name: `namespace` or `package`.
        part: &'static str,
        /// Text that was rejected.
        given: String,
    },
    /// The name has a character that is not allowed.
    #[error("the {part} in `{given}` holds `{character}`: only a-z, 0-9 and `-` are allowed")]
    Character {
        /// Part of the name: `namespace` or `package`.
        part: &'static str,
        /// Text that was rejected.
        given: String,
        /// The character, escaped if it does not print.
        character: String,
    },
    /// The namespace or the package begins with a digit.
    #[error("the {part} in `{given}` begins with a digit: it must begin with a letter")]
    Digit {
        /// Part of the name: `namespace` or `package`.
        part: &'static str,
        /// Text that was rejected.
        given: String,
    },
    /// A hyphen is at the beginning, at the end or beside another one.
    #[error("the {part} in `{given}` has a hyphen that is not between two words")]
    Hyphen {
        /// Part of the name: `namespace` or `package`.
        part: &'static str,
        /// Text that was rejected.
        given: String,
    },
    /// The name is longer than [`MAX_NAME`].
    #[error("`{given}` is {length} bytes long: a package name has at most {MAX_NAME}")]
    Long {
        /// Beginning of the rejected text.
        given: String,
        /// Length of the name in bytes.
        length: usize,
    },
}

impl PackageName {
    /// Returns the part before the colon.
    pub fn namespace(&self) -> &str {
        &self.text[..self.colon]
    }

    /// Returns the part after the colon.
    pub fn package(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// Returns the whole name, with the colon.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for PackageName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text.len() > MAX_NAME {
            return Err(NameError::Long { given: excerpt(text), length: text.len() });
        }
        let Some((namespace, package)) = text.split_once(':') else {
            return Err(NameError::NoNamespace { given: excerpt(text) });
        };
        check_part("namespace", namespace, text)?;
        check_part("package", package, text)?;
        Ok(Self { text: text.into(), colon: namespace.len() })
    }
}

/// Checks the rules of WIT for identifiers, without upper case.
fn check_part(part: &'static str, value: &str, whole: &str) -> Result<(), NameError> {
    let given = || excerpt(whole);
    let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    if let Some(character) = value.chars().find(|c| !allowed(*c)) {
        return Err(NameError::Character { part, given: given(), character: character.escape_debug().to_string() });
    }
    match value.bytes().next() {
        None => return Err(NameError::Empty { part, given: given() }),
        Some(b'0'..=b'9') => return Err(NameError::Digit { part, given: given() }),
        Some(_) => {}
    }
    if value.split('-').any(str::is_empty) {
        return Err(NameError::Hyphen { part, given: given() });
    }
    Ok(())
}

impl fmt::Display for PackageName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.text)
    }
}

impl fmt::Debug for PackageName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, out)
    }
}

impl Serialize for PackageName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PackageName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_str(deserializer)
    }
}

/// Requirement of a package: its name and the versions that are acceptable. Written `acme:payments@^1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Name of the package.
    pub name: PackageName,
    /// Acceptable versions. If none were written, `*`, which matches every release except pre-releases.
    pub versions: VersionReq,
}

/// Error of a text that is not a requirement.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// The part before the `@` is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The part after the `@` is not a SemVer requirement.
    #[error("`{given}` is not a version requirement: expected for example `^1.2`, `=1.2.3` or `>=1, <3`")]
    Versions {
        /// Text that was rejected.
        given: String,
        /// Error of the parser.
        source: VersionsError,
    },
}

/// Error of a SemVer requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VersionsError(String);

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let (name, versions) = match text.split_once('@') {
            None => (text, VersionReq::STAR),
            Some((name, given)) => {
                let versions = given.parse().map_err(|error: semver::Error| RequirementError::Versions {
                    given: excerpt(given),
                    source: VersionsError(error.to_string()),
                })?;
                (name, versions)
            }
        };
        Ok(Self { name: name.parse()?, versions })
    }
}

impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Name and version of a release. Written `acme:payments@1.2.0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseName {
    /// Name of the package.
    pub name: PackageName,
    /// Version of the release.
    pub version: Version,
}

/// Error of a text that does not name a release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseNameError {
    /// The part before the `@` is not a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The part after the `@` is not a version.
    #[error("`{0}` is not the name of a release: write the whole version, for example `acme:payments@1.2.0`")]
    Version(String),
}

impl FromStr for ReleaseName {
    type Err = ReleaseNameError;

    fn from_str(text: &str) -> Result<Self, ReleaseNameError> {
        let no_version = || ReleaseNameError::Version(excerpt(text));
        let (name, version) = text.split_once('@').ok_or_else(no_version)?;
        Ok(Self { name: name.parse()?, version: version.parse().map_err(|_| no_version())? })
    }
}

impl fmt::Display for ReleaseName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.name, self.version)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.name, self.versions)
    }
}

impl<'de> Deserialize<'de> for Requirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_str(deserializer)
    }
}

/// Deserializes a string by its `FromStr`, so that a parser's error keeps the place of the string.
#[doc(hidden)]
pub fn deserialize_from_str<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    struct FromStrVisitor<T>(PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for FromStrVisitor<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a string")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(FromStrVisitor(PhantomData))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        text.parse::<PackageName>().expect_err("a bad name").to_string()
    }

    #[test]
    fn package_name_has_namespace_and_package() {
        let name: PackageName = "acme:payments-2-eu".parse().expect("a name");
        assert_eq!((name.namespace(), name.package()), ("acme", "payments-2-eu"));
        assert_eq!(name.to_string(), "acme:payments-2-eu");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert_eq!(error("stats"), "`stats` has no namespace: a package is named `namespace:package`");
        assert_eq!(error(":x"), "the namespace in `:x` is empty: a package is named `namespace:package`");
        assert_eq!(error("a:B"), "the package in `a:B` holds `B`: only a-z, 0-9 and `-` are allowed");
        assert_eq!(error("a:b/c"), "the package in `a:b/c` holds `/`: only a-z, 0-9 and `-` are allowed");
        assert_eq!(error("a:b:c"), "the package in `a:b:c` holds `:`: only a-z, 0-9 and `-` are allowed");
        assert_eq!(error("1a:b"), "the namespace in `1a:b` begins with a digit: it must begin with a letter");
        assert_eq!(error("a:b--c"), "the package in `a:b--c` has a hyphen that is not between two words");
        assert_eq!(error("a:\u{1b}"), "the package in `a:\\u{1b}` holds `\\u{1b}`: only a-z, 0-9 and `-` are allowed");
        assert!(error(&format!("a:{}", "b".repeat(MAX_NAME))).contains("at most 128"));
    }

    #[test]
    fn requirement_is_parsed_and_malformed_is_refused() {
        let requirement: Requirement = "acme:payments@^1.2".parse().expect("a requirement");
        assert_eq!(requirement.to_string(), "acme:payments@^1.2");
        let any: Requirement = "acme:payments".parse().expect("a requirement");
        assert_eq!(any.versions, VersionReq::STAR);
        for bad in ["acme:payments@", "acme:payments@latest", "payments@1", "acme:payments@1@2"] {
            assert!(bad.parse::<Requirement>().is_err(), "{bad}");
        }
    }

    proptest! {
        /// Every name that we accept is a WIT identifier.
        #[test]
        fn names_are_wit_identifiers(text in "[a-c0-2:-]{0,8}") {
            if let Ok(name) = text.parse::<PackageName>() {
                prop_assert!(wit_parser::validate_id(name.namespace()).is_ok());
                prop_assert!(wit_parser::validate_id(name.package()).is_ok());
                prop_assert_eq!(name.as_str(), text);
            }
        }

        /// Every lower-case WIT identifier is accepted.
        #[test]
        fn package_name_accepts_every_wit_identifier(text in "[a-c0-2-]{0,8}") {
            if wit_parser::validate_id(&text).is_ok() {
                let name = format!("{text}:{text}");
                prop_assert!(name.parse::<PackageName>().is_ok());
            }
        }

        #[test]
        fn requirement_parser_with_arbitrary_text_does_not_panic(text in any::<String>()) {
            let _ = text.parse::<Requirement>();
        }
    }
}
