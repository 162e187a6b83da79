//! Patterns of methods.

use std::collections::BTreeSet;

use tollhouse::capability::Pattern;

/// Largest number of segments of two patterns for which the test is complete: if such patterns differ, they differ on a
/// method of at most [`LONGEST`] segments.
const EXACT: usize = 4;

/// Largest number of segments of the methods that are tried.
const LONGEST: usize = 6;

/// Name that occurs in no pattern. Inputs that contain it are skipped.
const OTHER: &str = "\u{2603}";

/// Compares two patterns, one on each line. Matching, subset and overlap must agree with trying all methods up to a
/// length.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn pattern(data: &[u8]) {
    let Some(text) = std::str::from_utf8(data).ok().filter(|text| !text.contains(OTHER)) else { return };
    let (own, other) = text.split_once('\n').unwrap_or((text, text));
    let (Ok(own), Ok(other)) = (own.parse::<Pattern>(), other.parse::<Pattern>()) else { return };
    for pattern in [&own, &other] {
        assert_eq!(&pattern.to_string().parse::<Pattern>().expect("it prints itself"), pattern);
        assert!(pattern.is_subset_of(pattern) && pattern.overlaps(pattern), "{pattern} is within itself");
        assert!(pattern.exact().is_none_or(|exact| pattern.matches(&exact)), "{pattern} covers what it says");
    }
    assert_eq!(own.overlaps(&other), other.overlaps(&own), "{own} {other}");
    compare(&own, &other);
    compare(&other, &own);
}

fn compare(own: &Pattern, other: &Pattern) {
    let names = names(&[own, other]);
    // With more than three names, not every method that distinguishes the patterns is tried.
    let exact = names.len() <= 3 && [own, other].iter().all(|pattern| segments(pattern) <= EXACT);
    let names: Vec<&str> = names.iter().map(String::as_str).take(3).collect();
    let text = own.to_string();
    let segments: Vec<&str> = text.split('/').collect();
    let (mut both, mut only) = (None, None);
    each_method(&names, LONGEST, &mut |method| {
        let matches = own.matches(method);
        assert_eq!(matches, covers(&segments, &method.split('/').collect::<Vec<_>>()), "{own} and `{method}`");
        if matches {
            let found = if other.matches(method) { &mut both } else { &mut only };
            found.get_or_insert_with(|| method.to_owned());
        }
    });
    let (subset, overlaps) = (own.is_subset_of(other), own.overlaps(other));
    assert!(!(subset && only.is_some()), "`{own}` is not within `{other}`: {only:?}");
    assert!(overlaps || both.is_none(), "`{own}` and `{other}` overlap: {both:?}");
    if exact {
        assert_eq!(subset, only.is_none(), "`{own}` within `{other}`");
        assert_eq!(overlaps, both.is_some(), "`{own}` and `{other}` overlap");
    }
}

/// Returns the names in some patterns, after one that is in none of them.
fn names(patterns: &[&Pattern]) -> Vec<String> {
    let texts: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    let names: BTreeSet<&str> = texts.iter().flat_map(|text| text.split('/')).collect();
    let exact = names.into_iter().filter(|name| !["*", "**", OTHER].contains(name));
    std::iter::once(OTHER).chain(exact).map(str::to_owned).collect()
}

fn segments(pattern: &Pattern) -> usize {
    pattern.to_string().split('/').count()
}

/// Visits every method of at most `longest` segments.
fn each_method(names: &[&str], longest: usize, see: &mut dyn FnMut(&str)) {
    fn longer(method: &mut String, names: &[&str], left: usize, see: &mut dyn FnMut(&str)) {
        let length = method.len();
        for name in names {
            if length > 0 {
                method.push('/');
            }
            method.push_str(name);
            see(method);
            if left > 1 {
                longer(method, names, left - 1, see);
            }
            method.truncate(length);
        }
    }
    longer(&mut String::new(), names, longest, see);
}

/// Returns true if segments of a pattern match the names of a method: the definition, as a recursion.
fn covers(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((&"**", after)), _) => covers(after, names) || (!names.is_empty() && covers(pattern, &names[1..])),
        (Some((&"*", after)), Some((_, names))) => covers(after, names),
        (Some((exact, after)), Some((name, names))) => exact == name && covers(after, names),
        _ => false,
    }
}
