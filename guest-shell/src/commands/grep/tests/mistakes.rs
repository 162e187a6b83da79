//! Tests of mistakes and limits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::run_grep;

#[tokio::test]
async fn grep_invalid_option() {
    let result = run_grep(&["-Q", "hello"], Some("hello world")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("invalid option -- 'Q'"));
}

// TM-INF-022: malformed-regex stderr must not leak `regex` crate Debug.
#[tokio::test]
async fn no_leak_invalid_regex() {
    let r = crate::commands::testing::run(r"echo 1 | grep -E '['").await;
    crate::commands::testing::assert_no_leak(&r, "grep_invalid_regex", &["regex::Error", "ParseError {"]);
}

#[tokio::test]
async fn grep_long_missing_value_errors() {
    let result = run_grep(&["--max-count"], Some("foo")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.starts_with("grep: option '--max-count' requires an argument\n"));
}

#[tokio::test]
async fn grep_bre_backreference_backtracking_is_bounded() {
    // TM-DOS-025: BRE back-references run on the backtracking engine;
    // a pathological pattern must still terminate.
    let haystack = format!("{}!", "a".repeat(40));
    let result = run_grep(&[r"\(a*\)*\1b$"], Some(&haystack)).await.unwrap();
    assert_eq!(result.exit_code, 2);
}

#[tokio::test]
async fn grep_invalid_pattern_messages_have_no_debug_shape() {
    for (flag, pat) in [("-G", r"\("), ("-E", "["), ("-G", r"a\{1"), ("-E", "a{2,1}")] {
        let result = run_grep(&[flag, pat], Some("a")).await.unwrap();
        assert_eq!(result.exit_code, 2, "{pat}");
        assert!(result.stderr.starts_with("grep: "), "{pat}");
        assert!(!result.stderr.contains("Error"), "{pat}");
        assert!(result.stderr.len() < 1024);
    }
}
