//! Dependencies of a component: a section in cargo-auditable's form, JSON compressed with zlib, which vulnerability
//! scanners read. The component's builder wrote it, so it is only as trustworthy as the builder.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use semver::Version;
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use super::{ComponentError, invalid};
use crate::error::excerpt;

/// Name of the custom section.
pub(super) const SECTION: &str = ".dep-v0";

/// Most uncompressed bytes of all lists of a component: ten thousand crates.
const MAX_UNPACKED: u64 = 1 << 20;

/// Least number of bytes that a list counts for, since uncompressing a list of ten bytes costs as much.
const LEAST: u64 = 4 << 10;

/// Longest name of a crate or of its source, in bytes. crates.io allows 64.
const MAX_WORD: usize = 128;

/// Revision of the format in which macros count as build dependencies.
const FORM: u32 = 1;

/// Crate that a component was built from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dependency {
    /// Name of the crate.
    pub name: String,
    /// Version of the crate.
    pub version: Version,
    /// Source of the crate: `crates.io`, `registry`, `git`, `local`, or a later addition.
    pub source: String,
    /// Use of the crate in the component.
    #[serde(default)]
    pub kind: DependencyKind,
    /// Dependencies of the crate, as positions in the list that is written. Empty in a list that was read, since that
    /// is merged from several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<usize>,
    /// True for the package that was built.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub root: bool,
}

/// Use of a crate in a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    /// Only for the build: a macro or build script.
    Build,
    /// Part of the component.
    #[default]
    Runtime,
}

/// Content of the section. auditable-serde's type is not used: its search for cycles takes quadratic time on a hostile
/// list.
#[derive(Serialize, Deserialize)]
struct DependencyList {
    packages: Vec<Dependency>,
    #[serde(default)]
    format: u32,
}

/// Reason why the dependencies of a component are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DependenciesError {
    /// The bytes are not a valid component.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The lists are larger than the limit.
    #[error("the component's list of dependencies has more than {MAX_UNPACKED} bytes")]
    TooLarge,
    /// A list has an unknown form.
    #[error("the component's list of dependencies (section `{SECTION}`) cannot be read: {problem}")]
    Unreadable {
        /// Description of the error.
        problem: String,
    },
}

impl DependenciesError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Component(error) => error.hint(),
            Self::TooLarge | Self::Unreadable { .. } => {
                Some("it runs nevertheless; its publisher should build it again")
            }
        }
    }
}

/// Returns the dependencies of a component by name and version: the union of the lists in it and in its parts. Returns
/// `None` if there is no list.
///
/// # Errors
/// If a list cannot be read, or they are too large.
pub fn dependencies(component: &[u8]) -> Result<Option<Vec<Dependency>>, DependenciesError> {
    let mut left = MAX_UNPACKED;
    let mut found: Option<BTreeMap<_, Dependency>> = None;
    for payload in Parser::new(0).parse_all(component) {
        let Payload::CustomSection(section) = payload.map_err(invalid)? else { continue };
        if section.name() != SECTION {
            continue;
        }
        let found = found.get_or_insert_default();
        for mut one in unpacked(section.data(), &mut left)?.into_iter().filter(|one| !one.root) {
            one.dependencies.clear();
            let key = (one.name.clone(), one.version.clone(), one.source.clone());
            let kind = one.kind;
            let known = found.entry(key).or_insert(one);
            known.kind = known.kind.max(kind);
        }
    }
    Ok(found.map(|found| found.into_values().collect()))
}

/// Unpacks the crates of one list. Its uncompressed size is subtracted from `left`.
fn unpacked(packed: &[u8], left: &mut u64) -> Result<Vec<Dependency>, DependenciesError> {
    let unreadable = |problem: String| DependenciesError::Unreadable { problem: excerpt(&problem) };
    let mut text = Vec::new();
    let read = ZlibDecoder::new(packed).take(*left + 1).read_to_end(&mut text);
    let size = read.map_err(|error| unreadable(error.to_string()))?;
    let size = u64::try_from(size).unwrap_or(u64::MAX).max(LEAST);
    *left = left.checked_sub(size).ok_or(DependenciesError::TooLarge)?;
    let list: DependencyList = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let is_word = |word: &str| (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_graphic());
    match list.packages.iter().find(|one| !is_word(&one.name) || !is_word(&one.source)) {
        Some(one) => Err(unreadable(format!("`{}` from `{}` is not a crate", one.name, one.source))),
        None => Ok(list.packages),
    }
}

/// Encodes the content of the section.
pub(super) fn packed(dependencies: &[Dependency]) -> Vec<u8> {
    let list = DependencyList { packages: dependencies.to_vec(), format: FORM };
    let text = serde_json::to_vec(&list).expect("a list has string keys only and no failing value");
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&text).and_then(|()| encoder.finish()).expect("memory takes all that is written")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wasm_encoder::{ComponentSection as _, CustomSection};

    use super::*;
    use crate::testing::{CHARGES, component};

    fn one(name: &str) -> Dependency {
        Dependency {
            name: name.into(),
            version: Version::new(1, 0, 0),
            source: "crates.io".into(),
            kind: DependencyKind::Runtime,
            dependencies: Vec::new(),
            root: false,
        }
    }

    /// Makes a component with sections of this content.
    fn with(sections: &[&[u8]]) -> Vec<u8> {
        let mut bytes = component(CHARGES);
        for data in sections {
            CustomSection { name: SECTION.into(), data: (*data).into() }.append_to_component(&mut bytes);
        }
        bytes
    }

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).and_then(|()| encoder.finish()).expect("memory")
    }

    #[test]
    fn dependency_list_matches_the_format_of_cargo_auditable() {
        let root = Dependency { root: true, dependencies: vec![0], source: "local".into(), ..one("shop") };
        let packed = packed(&[Dependency { kind: DependencyKind::Build, ..one("macros") }, root]);
        let mut text = String::new();
        ZlibDecoder::new(&packed[..]).read_to_string(&mut text).expect("zlib");
        let expected = r#"{"packages":[{"name":"macros","version":"1.0.0","source":"crates.io","kind":"build"},"#
            .to_owned()
            + r#"{"name":"shop","version":"1.0.0","source":"local","kind":"runtime","dependencies":[0],"root":true}],"format":1}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn lists_are_put_together_less_what_was_built() {
        assert_eq!(dependencies(&component(CHARGES)), Ok(None));
        let theirs = br#"{"packages":[{"name":"b","version":"1.0.0","source":"crates.io","later":1}]}"#;
        let ours = [Dependency { kind: DependencyKind::Build, dependencies: vec![1], ..one("b") }, one("a")];
        let root = Dependency { root: true, ..one("shop") };
        let bytes = with(&[&packed(&[&ours[..], &[root]].concat()), &compressed(theirs)]);
        assert_eq!(dependencies(&bytes), Ok(Some(vec![one("a"), one("b")])));
        // In a part, where cargo-auditable leaves it in a module: nested parts are read too.
        let nested =
            wat::parse_str(r#"(component (component (core module (@custom ".dep-v0" "?"))))"#).expect("a component");
        assert!(matches!(dependencies(&nested), Err(DependenciesError::Unreadable { .. })));
    }

    #[test]
    fn bombs_and_garbage_are_refused() {
        let bomb = compressed(&vec![b' '; 64 << 20]);
        assert!(bomb.len() < 100_000);
        assert_eq!(dependencies(&with(&[&bomb])), Err(DependenciesError::TooLarge));
        let empty = compressed(br#"{"packages":[]}"#);
        assert_eq!(dependencies(&with(&vec![&empty[..]; 256])), Ok(Some(Vec::new())));
        assert_eq!(dependencies(&with(&vec![&empty[..]; 257])), Err(DependenciesError::TooLarge));
        let long = "x".repeat(MAX_WORD + 1);
        let named =
            |name: &str| serde_json::to_vec(&DependencyList { packages: vec![one(name)], format: 0 }).expect("JSON");
        for text in [&b"{}"[..], b"[", b"\xff", &named(""), &named("a\nsigned by us"), &named(&long)] {
            let outcome = dependencies(&with(&[&compressed(text)]));
            assert!(matches!(outcome, Err(DependenciesError::Unreadable { .. })), "{outcome:?}");
        }
        let cut = &packed(&[one("a")])[..20];
        assert!(matches!(dependencies(&with(&[cut])), Err(DependenciesError::Unreadable { .. })));
        assert!(matches!(dependencies(b"text"), Err(DependenciesError::Component(_))));
    }

    proptest! {
        #[test]
        fn dependency_reader_with_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>(), text in ".*") {
            let _ = dependencies(&with(&[&bytes]));
            let _ = dependencies(&with(&[&compressed(text.as_bytes())]));
        }
    }
}
