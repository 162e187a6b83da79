//! Untrusted components, before any of their code runs.

use std::borrow::Cow;

use tollhouse::tool::reflect::{DefaultInterface, ReflectError, reflect};
use tollhouse::tool::types::{Function, Package};
use tollhouse::tool::typescript::{self, Mounted};
use tollhouse::tool::{help, schema};
use tollhouse_registry::PublishRequest;

/// Largest size of a package's descriptions, as a multiple of its stored size. Lines are indented by the depth of
/// types.
const TOLD: usize = 256;

/// Reflects a component, given as bytes or as WebAssembly text. It must be reflected or refused. A component that can
/// be published must also be reflected, described in every form, and stored.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn component(data: &[u8]) {
    let Some(bytes) = binary(data) else { return };
    let mut request = PublishRequest::new(bytes.to_vec());
    request.name = Some("a:b".parse().expect("a name"));
    request.version = Some("1.0.0".parse().expect("a version"));
    let published = request.check();
    match (reflect(&bytes, None, &DefaultInterface::Only), published) {
        (Ok(package), _) => holds(&package),
        (Err(error @ ReflectError::Invalid { .. }), Ok(())) => panic!("it can be published, but {error}"),
        (Err(error), _) => assert!(!error.to_string().is_empty(), "an error says something"),
    }
}

/// Converts WebAssembly text to bytes: mutated text is a component far more often than mutated bytes are.
fn binary(data: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !data.starts_with(b"(") {
        return Some(Cow::Borrowed(data));
    }
    wat::parse_bytes(data).ok()
}

fn holds(package: &Package) {
    let stored = serde_json::to_vec(package).expect("it is plain data");
    // Types that nest deeper than the limit of the JSON parser cannot be read back; they are reflected each time.
    assert!(serde_json::from_slice::<Package>(&stored).is_ok_and(|read| read == *package) || is_deep(&stored));
    let mut told = 0;
    for (at, function) in package.functions.iter().enumerate() {
        let taken = |other: &Function| function.path.starts_with(&other.path) || other.path.starts_with(&function.path);
        assert!(!package.functions[..at].iter().any(taken), "{:?} stands for two", function.path);
        let method = function.method("alias");
        told += help::method(&method, function).len() + schema::describe(&method, function, true).to_string().len();
    }
    let mounted = Mounted { alias: "alias", docs: Some("*/ // \u{2028}"), package };
    told += typescript::declarations(&[mounted], &|_| true).len();
    assert!(told <= stored.len().saturating_add(1).saturating_mul(TOLD), "{told} bytes are told of {}", stored.len());
}

/// Returns true if JSON nests deeper than the parser allows.
fn is_deep(json: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(json).is_err()
}
