//! Tests of `-P`, and which of the types of patterns counts.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::run_grep;

#[tokio::test]
async fn grep_pattern_type_perl_then_extended_last_wins() {
    // -P then -E: extended wins. GNU ERE supports back-references too,
    // but `\d` would be a literal `d`, not a digit.
    let result = run_grep(&["-P", "-E", r"\d"], Some("d\n1\n")).await.unwrap();
    assert_eq!(result.stdout, "d\n");
}

#[tokio::test]
async fn grep_pattern_type_long_options_last_wins() {
    // --perl-regexp then --extended-regexp: extended wins -> `\d` is `d`.
    let result = run_grep(&["--perl-regexp", "--extended-regexp", r"\d"], Some("d\n1\n")).await.unwrap();
    assert_eq!(result.stdout, "d\n");
}

#[tokio::test]
async fn grep_perl_invalid_pattern_errors() {
    // Unbalanced group: fancy-regex rejects it; we surface an error, not a
    // panic, and must not leak the engine's Debug shape.
    let result = run_grep(&["-P", "(foo"], Some("foo")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.starts_with("grep: "));
    assert!(!result.stderr.contains("Error {"));
}

#[tokio::test]
async fn grep_perl_catastrophic_backtrack_is_bounded() {
    // TM-DOS-025: a classic catastrophic-backtracking pattern against a
    // long non-matching line must terminate (here without backtracking)
    // rather than hang the sandbox.
    let haystack = format!("{}!", "a".repeat(40));
    let result = run_grep(&["-P", r"(a+)+$"], Some(&haystack)).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "");
}
