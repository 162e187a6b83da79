//! Compatibility of releases: every export of the first must be an export of the second in the same form.

use semver::Version;

use super::shape::Shape;
use crate::error::excerpt;

/// Lists the exports of `old` that are missing or different in `new`: a sentence each. Functions come first, since
/// those are what users call.
pub(crate) fn breaks(old: &Shape, new: &Shape) -> Vec<String> {
    let (old, new) = (tracks(old), tracks(new));
    let mut functions = Vec::new();
    let mut types = Vec::new();
    for (name, definition) in &old {
        let function = definition.starts_with("func(") || definition.starts_with("async func(");
        let told = if function { &mut functions } else { &mut types };
        let kind = if function { "function" } else { "type" };
        match new.get(name) {
            Some(other) if other == definition => {}
            Some(other) => {
                told.push(format!("the {kind} `{name}` was `{}` and is `{}`", excerpt(definition), excerpt(other)));
            }
            None => told.push(format!("the {kind} `{name}` is missing")),
        }
    }
    // A type that no function uses any more is not reported on its own.
    types.retain(|told| !functions.is_empty() || told.contains(" was "));
    functions.extend(types);
    functions
}

/// Replaces each version in a shape's names by the range that is compatible with it: `@1.2.0` by `@1`, `@0.2.1` by
/// `@0.2`.
fn tracks(shape: &Shape) -> Shape {
    shape.iter().map(|(name, definition)| (track(name), track(definition))).collect()
}

fn track(text: &str) -> String {
    let mut parts = text.split('@');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The name comes after the version: `a:b/c@1.2.0#name`.
        let (version, rest) = part.find('#').map_or((part, ""), |at| part.split_at(at));
        let short = version.parse::<Version>().map_or_else(|_| version.to_owned(), |version| compatible(&version));
        out += &format!("@{short}{rest}");
    }
    out
}

/// Returns the part that all versions share that SemVer calls compatible with this one.
fn compatible(version: &Version) -> String {
    match (version.major, version.minor) {
        _ if !version.pre.is_empty() => version.to_string(),
        (0, 0) => format!("0.0.{}", version.patch),
        (0, minor) => format!("0.{minor}"),
        (major, _) => major.to_string(),
    }
}

/// Returns true if SemVer says that users of `old` can use `new`.
pub(crate) fn is_compatible(old: &Version, new: &Version) -> bool {
    old.pre.is_empty()
        && old < new
        && compatible(old) == compatible(&Version { pre: semver::Prerelease::EMPTY, ..new.clone() })
}

/// Returns the next version that may have breaking changes.
pub(crate) fn next_breaking(version: &Version) -> Version {
    if version.major == 0 { Version::new(0, version.minor + 1, 0) } else { Version::new(version.major + 1, 0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn semver_says_what_is_compatible() {
        for (old, new, expected) in [
            ("1.0.0", "1.0.1", true),
            ("1.0.0", "1.9.0", true),
            ("1.0.0", "1.9.0-rc.1", true),
            ("1.0.0", "2.0.0", false),
            ("1.1.0", "1.0.0", false),
            ("0.1.0", "0.1.1", true),
            ("0.1.0", "0.2.0", false),
            ("0.0.1", "0.0.2", false),
            ("1.0.0-rc.1", "1.0.0", false),
        ] {
            assert_eq!(is_compatible(&version(old), &version(new)), expected, "{old} {new}");
        }
        assert_eq!(next_breaking(&version("1.4.2")), version("2.0.0"));
        assert_eq!(next_breaking(&version("0.4.2")), version("0.5.0"));
    }

    #[test]
    fn versions_in_names_are_compared_by_compatibility() {
        assert_eq!(
            track("func(a: a:b/c@1.2.0#t, b: option<d:e/f@0.2.1#u>)"),
            "func(a: a:b/c@1#t, b: option<d:e/f@0.2#u>)"
        );
        assert_eq!(track("a:b/c#t"), "a:b/c#t");
        let shape = |items: &[(&str, &str)]| -> Shape {
            items.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let old = shape(&[("a:b/c@1.2.0#f", "func(x: u32)"), ("a:b/c@1.2.0#g", "func()")]);
        let more = shape(&[("a:b/c@1.3.0#f", "func(x: u32)"), ("a:b/c@1.3.0#g", "func()"), ("h", "func()")]);
        assert_eq!(breaks(&old, &more), [""; 0]);
        assert_eq!(breaks(&more, &old), ["the function `h` is missing"]);
        let other = shape(&[("a:b/c@1.3.0#f", "func(x: u64)"), ("a:b/c@1.3.0#g", "func()")]);
        assert_eq!(breaks(&old, &other), ["the function `a:b/c@1#f` was `func(x: u32)` and is `func(x: u64)`"]);
    }
}
