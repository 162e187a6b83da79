//! Tests of regular expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::*;

fn re(p: &str) -> AwkRegex {
    AwkRegex::new(p, false).ok().unwrap()
}

#[test]
fn leftmost_longest() {
    assert_eq!(re("ab|abcd").find_at("xabcd", 0), Some((1, 5)));
    assert_eq!(re("a*(ab)?b?").find_at("aab", 0), Some((0, 3)));
    assert_eq!(re("x*").find_at("abc", 0), Some((0, 0)));
    assert_eq!(re("(a|ab)(c|bcd)").find_at("abcd", 0), Some((0, 4)));
}

#[test]
fn translation() {
    assert!(re("a.b").is_match("a\nb"));
    assert!(re("[/]").is_match("/"));
    assert!(re("[]a]").is_match("]"));
    assert!(re("[^]a]").is_match("b"));
    assert!(re("a{2}").is_match("aa"));
    assert!(re("{").is_match("{"));
    assert!(re("a{").is_match("a{"));
    assert!(re("^+").is_match("+"));
    assert!(!re("^+").is_match("a"));
    assert!(re("\\yfoo\\y").is_match("a foo b"));
    assert!(re("[[:alpha:]]+").is_match("olá"));
    assert!(re("\\.").is_match("."));
    assert!(!re("\\.").is_match("a"));
    assert!(re("\\d").is_match("d"));
    assert!(re("[a\\]]").is_match("]"));
    assert!(re("a|").is_match("b"));
    assert!(re("\\<the\\>").is_match("in the end"));
    assert!(!re("\\<the\\>").is_match("other"));
}

#[test]
fn captures_follow_longest() {
    let r = re("(a|ab)(c|bcd)");
    let c = r.captures_at("abcd", 0).unwrap();
    assert_eq!(c[0], Some((0, 4)));
}

#[test]
fn huge_pattern_fails_cleanly() {
    assert!(AwkRegex::new("((a|b){1000}){1000}", false).is_err());
}
