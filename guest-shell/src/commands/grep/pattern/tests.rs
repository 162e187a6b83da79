//! Tests of patterns.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::*;
use crate::commands::grep::pattern::translator::translate;

fn tr(p: &str, d: Dialect) -> Result<String, String> {
    translate(p, d, false, false, 0).map(|t| t.rust)
}

fn m(p: &str, syntax: Syntax) -> PatternMatcher {
    compile(
        &[p.to_string()],
        &CompileOptions { syntax, icase: false, word: false, line: false, null_data: false, bytes_match: false },
    )
    .map(|(m, _)| m)
    .unwrap_or(PatternMatcher::Nothing)
}

#[test]
fn bre_operators_and_literals() {
    assert_eq!(tr(r"a\(b\)c", Dialect::Basic).unwrap(), "a(b)c");
    assert_eq!(tr("a(b)|c+?", Dialect::Basic).unwrap(), r"a\(b\)\|c\+\?");
    assert_eq!(tr("*a", Dialect::Basic).unwrap(), r"\*a");
    assert_eq!(tr("^*", Dialect::Basic).unwrap(), r"^\*");
    assert_eq!(tr("a^b$c", Dialect::Basic).unwrap(), r"a\^b\$c");
    assert_eq!(tr(r"a\{2,3\}", Dialect::Basic).unwrap(), "a{2,3}");
    assert_eq!(tr(r"a\|b", Dialect::Basic).unwrap(), "a|b");
}

#[test]
fn stacked_repetitions_are_grouped() {
    assert_eq!(tr("a**", Dialect::Extended).unwrap(), "(?:a*)*");
    assert_eq!(tr("a+?", Dialect::Extended).unwrap(), "(?:a+)?");
}

#[test]
fn ere_leading_operator_is_dropped_with_warning() {
    let t = translate("*xyz", Dialect::Extended, false, false, 0).unwrap();
    assert_eq!(t.rust, "xyz");
    assert_eq!(t.warnings, vec!["warning: * at start of expression"]);
    assert!(tr("(*)b", Dialect::Extended).is_err());
    assert_eq!(tr("{1", Dialect::Extended).unwrap(), "1");
}

#[test]
fn syntax_errors_use_glibc_messages() {
    let err = |p: &str, d| tr(p, d).err().unwrap_or_default();
    assert_eq!(err(r"\(a", Dialect::Basic), "Unmatched ( or \\(");
    assert_eq!(err(r"a\)", Dialect::Basic), "Unmatched ) or \\)");
    assert_eq!(err("[abc", Dialect::Extended), "Unmatched [, [^, [:, [., or [=");
    assert_eq!(err("[[:foo:]]", Dialect::Extended), "Invalid character class name");
    assert_eq!(err("[z-a]", Dialect::Extended), "Invalid range end");
    assert_eq!(err("a{3,1}", Dialect::Extended), "Invalid content of \\{\\}");
    assert_eq!(err(r"a\{1", Dialect::Basic), "Unmatched \\{");
    assert_eq!(err(r"\(a\)\2", Dialect::Basic), "Invalid back reference");
    assert_eq!(err("ab\\", Dialect::Basic), "Trailing backslash");
    assert_eq!(err("[à-ú]", Dialect::Extended), "Invalid collation character");
    assert_eq!(err("b{40000}", Dialect::Extended), "Regular expression too big");
    assert_eq!(err("[:space:]", Dialect::Extended), "character class syntax is [[:space:]], not [:space:]");
}

#[test]
fn literal_braces_and_parens_in_ere() {
    assert!(m("a{x}", Syntax::Extended).is_match("a{x}").unwrap());
    assert!(m("a)", Syntax::Extended).is_match("a)").unwrap());
    assert!(m("a{1,*}", Syntax::Extended).is_match("a{1,,,}").unwrap());
}

#[test]
fn leftmost_longest_and_backrefs() {
    assert_eq!(m("ab|abcd", Syntax::Extended).find_at("abcd", 0).unwrap(), Some((0, 4)));
    assert_eq!(m(r"\(ab\)\1", Syntax::Basic).find_at("xabab", 0).unwrap(), Some((1, 5)));
    assert!(!m(r"\(ab\)\1", Syntax::Basic).is_match("abx").unwrap());
}

#[test]
fn brackets_follow_posix() {
    assert!(m(r"[a\]]", Syntax::Basic).is_match("\\]").unwrap());
    assert!(m("[]a]", Syntax::Basic).is_match("]").unwrap());
    assert!(m("[[:alpha:]]", Syntax::Basic).is_match("é").unwrap());
    assert!(m("a[[.-.]--]c", Syntax::Extended).is_match("a-c").unwrap());
    assert!(m("a[\x01-\x03]?c", Syntax::Extended).is_match("a\x02c").unwrap());
}
