//! WIT texts of an untrusted publisher, which need not match the component that they come with.

use std::sync::LazyLock;

use tollhouse::tool::reflect::{DefaultInterface, check_wit, reflect};
use tollhouse_registry::PublishRequest;

/// Component that the texts claim to describe.
static COMPONENT: LazyLock<Vec<u8>> =
    LazyLock::new(|| wat::parse_str(include_str!("../corpus/component/stats.wat")).expect("a component"));

/// Reads a text as WIT. The text must be refused or parsed, and at worst the component gets no documentation.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn wit(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parses = check_wit(text).is_ok();
    let with = reflect(&COMPONENT, Some(text), &DefaultInterface::Only);
    assert_eq!(with.is_ok(), parses, "{with:?}");
    if let Ok(with) = with {
        let without = reflect(&COMPONENT, None, &DefaultInterface::Only).expect("it is a component");
        let names = |package: &tollhouse::tool::types::Package| {
            package.functions.iter().map(|function| function.method("a")).collect::<Vec<_>>()
        };
        assert_eq!(names(&with), names(&without), "docs change no function");
    }
    let mut request = PublishRequest::new(COMPONENT.clone());
    request.wit = Some(text.to_owned());
    if request.check().is_ok() {
        assert!(parses, "what is published can be mounted");
    }
}
