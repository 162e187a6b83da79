//! Tests of regular expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::{out, run_sed};
use crate::commands::sed::pattern;

#[tokio::test]
async fn back_references_use_the_fancy_engine() {
    assert_eq!(out(&["s/\\(hello\\) \\(world\\)/\\2 \\1/"], "hello world\n").await, "world hello\n");
    assert_eq!(out(&["s/\\(.\\)\\1/X/g"], "aabbc\n").await, "XXc\n");
    assert_eq!(out(&["s/\\(hel\\)lo/\\1p/"], "hello\n").await, "help\n");
    assert_eq!(
        out(&[r#"s|<a href="tag_\([^"]*\)">\1</a>|\1|g"#], "<a href=\"tag_hello\">hello</a>\n").await,
        "hello\n"
    );
}

#[test]
fn fancy_regex_backtrack_limit_is_enforced() {
    let Ok(pattern::SedRegex::Fancy(re, _)) = pattern::SedRegex::build_fancy_with_limit(r"(a+)+\1b", 100) else {
        panic!("expected fancy-regex fallback");
    };
    let err = re.is_match("a".repeat(5_000).as_str()).expect_err("expected backtrack limit error");
    assert!(!err.to_string().is_empty());
}

#[test]
fn a_search_that_is_given_up_is_no_answer() {
    let re = pattern::SedRegex::build_fancy_with_limit(r"((a+)+\2)+b", 100).unwrap();
    assert!(!re.is_match("b") && !re.given_up());
    let _ = re.is_match(&"a".repeat(50));
    assert!(re.given_up());
}

#[tokio::test]
async fn bre_treats_plus_question_pipe_as_literals() {
    assert_eq!(out(&["s/a+b/X/"], "a+b\n").await, "X\n");
    assert_eq!(out(&["s/a?b/X/"], "a?b\n").await, "X\n");
    assert_eq!(out(&["s/a|b/X/"], "a|b\n").await, "X\n");
    assert_eq!(out(&["s/a{b/X/"], "a{b\n").await, "X\n");
    assert_eq!(out(&["s/a(b)/X/"], "a(b)\n").await, "X\n");
    // A leading `*` is an ordinary character, not a dangling quantifier.
    assert_eq!(out(&["s/*a/X/"], "aaa\n").await, "aaa\n");
    // `^` and `$` only anchor at the edges.
    assert_eq!(out(&["-n", "/a^b/p"], "a^b\n").await, "a^b\n");
    assert_eq!(out(&["-n", "/a$b/p"], "a$b\n").await, "a$b\n");
}

#[tokio::test]
async fn address_regexes_go_through_the_same_bre_translation() {
    assert_eq!(out(&["-n", "/a\\+/p"], "aaa\n").await, "aaa\n");
    assert_eq!(out(&["-n", "/a\\|b/p"], "b\n").await, "b\n");
    assert_eq!(out(&["-n", "/a+b/p"], "a+b\n").await, "a+b\n");
    assert_eq!(out(&["/x\\?/d"], "x?\n").await, "");
}

#[tokio::test]
async fn extended_mode_keeps_ere_operators() {
    assert_eq!(out(&["-E", "s/a+/X/"], "aaa\n").await, "X\n");
    assert_eq!(out(&["-E", "s/a(X)b/[\\1]/"], "aXb\n").await, "[X]\n");
    assert_eq!(out(&["-E", "s/a\\+b/X/"], "a+b\n").await, "X\n");
}

#[tokio::test]
async fn bracket_expressions_keep_posix_semantics() {
    assert_eq!(out(&["s/[]]/X/"], "a]b\n").await, "aXb\n");
    assert_eq!(out(&["s/[/]/X/"], "a/b\n").await, "aXb\n");
    assert_eq!(out(&["s/[a-c]/X/g"], "a-b\n").await, "X-X\n");
    assert_eq!(out(&["s/[[:alpha:]]/X/2"], "abc\n").await, "aXc\n");
    // POSIX gives `\` no special meaning inside a bracket expression.
    assert_eq!(out(&["s/[\\]/X/g"], "a\\b\n").await, "aXb\n");
}

#[test]
fn translate_is_positional() {
    assert_eq!(pattern::translate("a+b", false), "a\\+b");
    assert_eq!(pattern::translate("a\\+b", false), "a+b");
    assert_eq!(pattern::translate("^a$", false), "^a$");
    assert_eq!(pattern::translate("a^b$c", false), "a\\^b\\$c");
    assert_eq!(pattern::translate("*a", false), "\\*a");
    assert_eq!(pattern::translate("a*", false), "a*");
    assert_eq!(pattern::translate("a+b", true), "a+b");
}

#[tokio::test]
async fn back_references_beyond_the_group_count_are_rejected() {
    for script in [r"s/a/\1/", r"s/\(a\)/\2/", r"s/a/[\9]/"] {
        let result = run_sed(&[script], Some("a\n")).await;
        assert_eq!(result.exit_code, 1, "{script}");
        assert!(result.stderr.contains("invalid reference"), "{script}: {}", result.stderr);
    }
    // In ERE mode `\(` is a literal paren, so there is no group 1 to reference.
    let ere = run_sed(&["-E", r"s/\(a\)b/[\1]/"], Some("a\n")).await;
    assert_eq!(ere.exit_code, 1);
    assert!(ere.stderr.contains("invalid reference"), "{}", ere.stderr);
    // A real group is fine.
    assert_eq!(out(&["s/\\(a\\)/[\\1]/"], "ab\n").await, "[a]b\n");
}

#[tokio::test]
async fn multibyte_delimiters_do_not_panic() {
    // GNU sed has none.
    for script in ["s≠a≠X≠", "s😀a😀X😀g", "s≠a", "y≠a≠b≠"] {
        let refused = run_sed(&[script], Some("a\n")).await;
        assert_eq!(refused.exit_code, 1, "{script}");
        assert!(refused.stderr.contains("not a single-byte character"), "{}", refused.stderr);
    }
}

// TM-INF-022: malformed-regex stderr must not leak `regex` crate Debug shapes.
#[tokio::test]
async fn no_leak_invalid_regex() {
    let r = crate::commands::testing::run(r"echo 1 | sed -E 's/[[:bogus:]]/x/'").await;
    crate::commands::testing::assert_no_leak(&r, "sed_invalid_regex", &["regex::Error", "ParseError {"]);
}

#[tokio::test]
async fn escaped_delimiter_in_a_regex_is_the_plain_character() {
    // `\|` with `|` as delimiter is a literal `|` in BRE, as in GNU sed.
    assert_eq!(out(&["s|a\\|b|X|"], "a|b\n").await, "X\n");
    // ... and keeps its regex meaning when the character is special.
    assert_eq!(out(&["s.a\\.b.X."], "axb\n").await, "X\n");
}

#[tokio::test]
async fn gnu_character_escapes_are_literal() {
    assert_eq!(out(&["s/z/\\x5cA/"], "z\n").await, "\\A\n");
    assert_eq!(out(&["s/yes/yes\\x26/"], "yes\n").await, "yes&\n");
    assert_eq!(out(&["s/\\x2a/S/"], "a*b\n").await, "aSb\n");
    assert_eq!(out(&["s/b/\\d065\\o101\\cA/"], "abc\n").await, "aAA\x01c\n");
    assert_eq!(out(&["y/b/\\x00/"], "abc\n").await, "a\0c\n");
    // `\t` and `\n` also work inside bracket expressions; other escapes
    // stay literal members.
    assert_eq!(out(&["s/^[ \\t]*//"], "  \t a\n").await, "a\n");
    assert_eq!(out(&["s/[\\.]/X/g"], "a.b\\c\n").await, "aXbXc\n");
}

#[tokio::test]
async fn newlines_in_the_pattern_space_match_as_in_gnu_sed() {
    assert_eq!(out(&["N;s/a.*b/X/"], "a\nb\n").await, "X\n");
    assert_eq!(out(&["N;s/a[^x]b/X/"], "a\nb\n").await, "X\n");
    assert_eq!(out(&["N;s/a.b/X/M"], "a\nb\n").await, "a\nb\n");
    assert_eq!(out(&["N;s/a[^x]b/X/M"], "a\nb\n").await, "a\nb\n");
    assert_eq!(out(&["N;s/$/X/Mg"], "a\nb\n").await, "aX\nbX\n");
    assert_eq!(out(&["-z", "N;s/^/X/Mg"], "a\nb\0c\0").await, "Xa\nb\0Xc\0");
}

#[tokio::test]
async fn expressions_are_posix_and_longest() {
    assert_eq!(out(&["s/\\(abc\\)\\10/X/"], "abcabc0\n").await, "X\n");
    assert_eq!(out(&["s/ab*\\?/X/"], "abb\n").await, "X\n");
    assert_eq!(out(&["s/b\\(\\?#foo\\)c/X/"], "b?#fooc\n").await, "X\n");
    assert_eq!(out(&["s/a\\|ab/X/"], "ab\n").await, "X\n");
    assert_eq!(out(&["-E", "s/x*|y/Q/g"], "xyz\n").await, "QQzQ\n");
    assert_eq!(out(&["s/\\</[/g;s/\\>/]/g"], "the cat\n").await, "[the] [cat]\n");
}

#[tokio::test]
async fn what_gnu_sed_refuses_is_refused() {
    let refused: [(&[&str], &str); 11] = [
        (&["s/ab**/X/"], "char 9: Invalid preceding regular expression"),
        (&["-E", "s/(*b)/X/"], "Invalid preceding regular expression"),
        (&["-E", "s/a{b/X/"], "Unmatched \\{"),
        (&["-E", "s/b)/X/"], "Unmatched ) or \\)"),
        (&["/[[:no:]]/d"], "Invalid character class name"),
        (&["s/\\1\\(a\\)/X/"], "Invalid back reference"),
        (&["y/ab/ba/ and more"], "char 10: extra characters after command"),
        (&["p p"], "extra characters after command"),
        (&["v 5.0.3"], "expected newer version of sed"),
        (&["s/a/b/gg"], "multiple `g' options"),
        (&["a"], "expected \\ after"),
    ];
    for (args, message) in refused {
        let result = run_sed(args, Some("a\n")).await;
        assert_eq!(result.exit_code, 1, "{args:?}"); // debug-ok: test assertion
        assert!(result.stderr.contains(message), "{}", result.stderr);
    }
    let class = run_sed(&["/[:alpha:]/d"], Some("a\n")).await;
    assert_eq!(class.exit_code, 4);
}
