//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::grep::pattern::{CompileOptions, PatternMatcher, Syntax, compile};
use crate::commands::testing::run;

fn perl(pattern: &str, icase: bool) -> Result<PatternMatcher, String> {
    let options =
        CompileOptions { syntax: Syntax::Perl, icase, word: false, line: false, null_data: false, bytes_match: false };
    compile(&[pattern.to_string()], &options).map(|(matcher, _)| matcher)
}

/// The first match in `text`.
fn first(pattern: &str, text: &str) -> Option<String> {
    let found = perl(pattern, false).unwrap().find_at(text, 0).unwrap();
    found.map(|(start, end)| text[start..end].to_string())
}

#[test]
fn escapes_mean_what_they_mean_in_pcre() {
    for (pattern, text, found) in [
        (r"\<b\>", "b <b>", "<b>"),
        (r"\h+", "ab \t", " \t"),
        (r"\d+", "٣3", "3"),
        (r"\w+", "é1_", "1_"),
        (r"[[:alpha:]]+", "éa", "a"),
        (r"\bb", "éb", "b"),
        (r"x{,2}", "xx x{,2}", "x{,2}"),
        (r"a{", "aa{", "a{"),
        (r"\101\x42\x{43}\o{104}\cA", "ABCD\u{1}", "ABCD\u{1}"),
        (r"\Q.+\E", "a.+", ".+"),
        (r"[]a\Q]\E-]+", "b]-a", "]-a"),
        (r"[&&~~-]+", "a&~-", "&~-"),
        (r"(?<n>a)(?P<m>b)\k{m}\g{-2}", "abba", "abba"),
        (r"(?x) a \ b # c", "a b", "a b"),
        (r"(?x) a + +", "aa", "aa"),
        (r"(?<=a|bc)d", "bcd", "d"),
        (r"(?=b)*a", "a", "a"),
        (r"(a)?(?(1)b|c)", "c", "c"),
        (r"(?U)a+", "aa", "a"),
    ] {
        assert_eq!(first(pattern, text).as_deref(), Some(found), "{pattern}");
    }
    assert_eq!(first(r"a$", "a\n"), None);
}

#[test]
fn a_property_keeps_its_case_where_case_is_ignored() {
    assert!(!perl(r"\p{Lu}", true).unwrap().is_match("a").unwrap());
    assert!(perl(r"[\p{Lu}b]", true).unwrap().is_match("B").unwrap());
    assert!(!perl(r"[\p{Lu}b]", true).unwrap().is_match("a").unwrap());
}

#[test]
fn what_cannot_be_expressed_or_is_no_pcre_is_an_error() {
    for (pattern, reason) in [
        (r"^{2}a", "quantifier does not follow a repeatable item"),
        (r"\b+", "quantifier does not follow a repeatable item"),
        (r"a{2}{3}", "quantifier does not follow a repeatable item"),
        (r"a{3,2}", "numbers out of order in {} quantifier"),
        (r"(a)\2", "reference to non-existent subpattern"),
        (r"[a-\d]", "invalid range in character class"),
        (r"(?<=a+)b", "lookbehind assertion is not fixed length"),
        (r"\y", "unrecognized character follows \\"),
        (r"\X", "-P: \\X is not supported here"),
        (r"(?|(a)|(b))", "-P: (?| (groups that share a number) is not supported here"),
        (r"(a(?1)?b)", "-P: recursion ((?R), (?1), (?&name)) is not supported here"),
        (r"a(*SKIP)b", "-P: (*SKIP) is not supported here"),
        ("(a", "missing closing parenthesis"),
    ] {
        assert_eq!(perl(pattern, false).err().as_deref(), Some(reason), "{pattern}");
    }
}

#[test]
fn a_search_that_is_given_up_is_an_error() {
    let matcher = perl(r"(?:(a+)+\1)+b|x", false).unwrap();
    let text = "a".repeat(60);
    assert!(matcher.is_match(&text).is_err());
    assert!(matcher.find_at(&text, 0).is_err());
}

#[tokio::test]
async fn rg_pcre2_pattern_has_the_syntax_of_grep() {
    // For the engine alone, `\h` is a hexadecimal digit.
    let result = run(r"printf 'a\tb\n' | rg -oP 'a\hb'").await;
    assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("a\tb\n", "", 0));
    let result = run(r"echo a | rg -P '(?|a)'").await;
    assert_eq!(result.exit_code, 2, "{}", &*result.stderr);
}
