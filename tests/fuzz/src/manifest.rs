//! The manifest `tool.toml`.

use tollhouse_registry::Manifest;

/// Parses a manifest. Its parts must be valid, or the error must name a position within the text.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn manifest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Manifest::parse(text) {
        Ok(manifest) => {
            assert!(manifest.version.build.is_empty(), "a second release of one version");
            assert_eq!(manifest.name.as_str().parse().as_ref(), Ok(&manifest.name));
            for path in &manifest.permissions.files {
                assert!(path.path.starts_with('/') && path.path.split('/').all(|segment| segment != ".."), "{path:?}");
            }
            for example in &manifest.examples {
                let text = serde_json::to_string(&example.arguments).expect("it is JSON");
                assert_eq!(serde_json::from_str(&text).ok().as_ref(), Some(&example.arguments), "{text}");
            }
        }
        Err(error) => {
            assert!(text.get(error.span()).is_some(), "{:?} is no part of the text", error.span());
            assert!(error.line() <= text.matches('\n').count() + 1, "line {} is behind the end", error.line());
            assert!(error.column() >= 1 && !error.message().is_empty(), "{error}");
        }
    }
}
