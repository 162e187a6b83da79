//! Tests of limits, and of mistakes in programs and options.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::run_awk;
use crate::commands::awk::ast::{Program, Source};
use crate::commands::awk::bounds::MAX_MULTI_SUBSCRIPTS;
use crate::commands::awk::parser::{ParseError, Parser};
use crate::commands::character_locale::CharacterSet;
use bashkit::ExecResult;

fn parse(program: &str) -> Result<Program, ParseError> {
    let sources = [Source { name: "cmd. line".to_string(), start: 0 }];
    Parser::new(program, &sources, CharacterSet::Utf8).parse_program()
}

#[tokio::test]
async fn identifier_with_a_letter_beyond_ascii_is_a_syntax_error() {
    // gawk identifiers are ASCII: a syntax error, not a panic.
    let result = run_awk(&["BEGIN{café=7; print café}"], None).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.starts_with("awk: cmd. line:1: "));
}

#[test]
fn expression_in_150_parentheses_is_refused() {
    let depth = 150;
    let open = "(".repeat(depth);
    let close = ")".repeat(depth);
    let program = format!("{{print {open}1{close}}}");

    let result = parse(&program);
    assert!(result.is_err(), "deeply nested parens must be rejected");
    let err = result.unwrap_err().message;
    assert!(err.contains("nesting too deep"), "error should mention nesting: {err}");
}

#[test]
fn expression_with_200_signs_in_a_row_is_refused() {
    let depth = 200;
    let prefix = "- ".repeat(depth);
    let program = format!("{{print {prefix}1}}");

    let result = parse(&program);
    assert!(result.is_err(), "deeply chained unary ops must be rejected");
    let err = result.unwrap_err().message;
    assert!(err.contains("nesting too deep"), "error should mention nesting: {err}");
}

#[test]
fn range_pattern_of_150_patterns_is_a_syntax_error() {
    let operands = std::iter::repeat_n("1", 150).collect::<Vec<_>>().join(",");
    let program = format!("{operands}{{print}}");

    let result = parse(&program);
    assert!(result.is_err(), "comma-chained ranges must be rejected");
    let err = result.unwrap_err().message;
    assert!(err.contains("syntax error"), "comma after a range is a syntax error: {err}");
}

#[test]
fn expression_in_10_parentheses_is_parsed() {
    let depth = 10;
    let open = "(".repeat(depth);
    let close = ")".repeat(depth);
    let program = format!("{{print {open}1{close}}}");

    let result = parse(&program);
    assert!(result.is_ok(), "moderate nesting should succeed: {:?}", result.err());
}

/// Runs a program on a stack as large as that of the shell, and more for what
/// is not optimized.
fn run_deep(program: &'static str) -> ExecResult {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run_awk(&[program], Some(""))).unwrap()
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(run).unwrap().join().unwrap()
}

#[test]
fn functions_recurse_deeply_but_not_endlessly() {
    let result = run_deep("function f(n) { return n ? f(n-1)+1 : 0 } BEGIN { print f(2000) }");
    assert_eq!(result.stdout, "2000\n");
    // Stops at the depth cap without crashing: a fatal error, exit 2.
    for program in [
        "function r(n) { return r(n+1) } BEGIN { print r(0) }",
        "function r(n) { print substr(r(n+1), 1) } BEGIN { r(0) }",
        "function r(n) { gsub(/x/, r(n+1), a[1]) } BEGIN { r(0) }",
        "function r(n) { return split(r(n+1), a, r(1)) } BEGIN { r(0) }",
    ] {
        let result = run_deep(program);
        assert_eq!((result.exit_code, &*result.stdout), (2, ""), "{program}");
        assert_eq!(result.stderr, "awk: fatal: evaluation depth limit (8192) exceeded\n");
    }
}

#[tokio::test]
async fn endless_loop_ends_with_an_error_that_names_the_limit() {
    // Nothing of the output is written: `print i` would tell a wrong number.
    let result = run_awk(&[r#"BEGIN { i=0; while(1) { i++; if(i>200000) break } print i }"#], Some("")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "awk: fatal: loop iteration limit (10000) exceeded\n");
}

#[tokio::test]
async fn key_of_more_subscripts_than_the_limit_is_refused() {
    // The syntax tree of a key nests one level for each subscript.
    let subscripts = std::iter::repeat_n("1", MAX_MULTI_SUBSCRIPTS + 1).collect::<Vec<_>>().join(",");
    let program = format!("BEGIN {{ a[{subscripts}] = 1 }}");

    let r = run_awk(&[&program], Some("")).await.unwrap();

    assert_eq!(r.exit_code, 2);
    assert!(r.stderr.contains("too many array subscripts"));
}

/// Rust's debug representations of internal types, which no message may show.
const DEBUG_REPRESENTATIONS: &[&str] = &["AwkError::", "ParseError {", "Token::"];

#[tokio::test]
async fn message_about_an_unbalanced_brace_shows_no_internal_type() {
    let r = crate::commands::testing::run("echo 1 | awk 'BEGIN { print'").await;
    crate::commands::testing::assert_no_leak(&r, "awk_unbalanced_brace", DEBUG_REPRESENTATIONS);
}

#[tokio::test]
async fn message_about_an_invalid_expression_shows_no_internal_type() {
    let r = crate::commands::testing::run("echo 1 | awk '/[/'").await;
    crate::commands::testing::assert_no_leak(&r, "awk_invalid_regex", DEBUG_REPRESENTATIONS);
}

#[tokio::test]
async fn message_about_an_undefined_function_shows_no_internal_type() {
    let r = crate::commands::testing::run("echo 1 | awk 'BEGIN { totally_undefined_fn() }'").await;
    crate::commands::testing::assert_no_leak(&r, "awk_undefined_function_call", DEBUG_REPRESENTATIONS);
}

#[tokio::test]
async fn mistakes_have_the_status_of_gawk() {
    for (program, status, message) in [
        (r#"BEGIN { match("a[", "[") }"#, 2, "invalid regexp: Invalid regular expression: /[/"),
        (r#"BEGIN { print "a" ~ "(" }"#, 2, "invalid regexp: Unmatched ( or \\(: /(/"),
        (r#"BEGIN { print "a" ~ "[z-a]" }"#, 2, "Invalid range end"),
        ("BEGIN { print /(/ }", 1, "error: Unmatched ( or \\(: /(/"),
        ("function f(x) { } BEGIN { f(f) }", 1, "function `f' called with space"),
        ("function f(f) { } BEGIN { f(1) }", 1, "cannot use function name"),
        ("function f(NF) { } BEGIN { f(1) }", 1, "cannot use special variable `NF'"),
    ] {
        let result = run_awk(&[program], Some("")).await.unwrap();
        assert_eq!(result.exit_code, status, "{program}");
        assert!(result.stderr.contains(message), "{}", result.stderr);
    }
    assert_eq!(run_awk(&["-vx", "1"], Some("")).await.unwrap().exit_code, 1);
    assert_eq!(run_awk(&["-v", "1x=2", "1"], Some("")).await.unwrap().exit_code, 2);
}

#[tokio::test]
async fn fields_that_an_assignment_to_nf_cuts_off_are_not_counted_as_memory() {
    let program = r#"BEGIN { FS = ","; line = "x" sprintf("%0100000d", 1)
        for (i = 0; i < 400; i++) { $0 = line "," line; NF = 1 }
        print "ok" }"#;
    let result = run_awk(&[program], None).await.unwrap();
    assert_eq!((&*result.stdout, result.exit_code), ("ok\n", 0), "{}", &*result.stderr);
}

#[tokio::test]
async fn unknown_option_of_more_than_one_byte_is_a_usage_error() {
    let result = run_awk(&["-\u{e9}", "1"], None).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.starts_with("Usage: awk"), "{}", &*result.stderr);
}
