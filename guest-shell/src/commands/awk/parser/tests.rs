//! Tests of the parser.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::failure::Parsed;
use super::*;

fn parse(src: &str) -> Parsed<Program> {
    let sources = vec![Source { name: "cmd. line".to_string(), start: 0 }];
    Parser::new(src, &sources, CharacterSet::Utf8).parse_program()
}

#[test]
fn parses_common_programs() {
    for src in [
        "{print $1}",
        "BEGIN { x = 1; y = x ^= 2 } END { print x, y }",
        "!seen[$0]++",
        "NR==1, /end/ { print }",
        "function f(a, b,   c) { c = a + b; return c } { print f($1, $2) }",
        "{ if ($1 > 2) print \"big\"; else print \"small\" }",
        "{ for (k in a) print k, a[k] }",
        "{ for (i = 1; i <= NF; i++) s += $i } END { print s }",
        "BEGIN { while ((\"echo hi\" | getline line) > 0) print line }",
        "BEGIN { print \"x\" > \"/dev/stderr\"; print 1, 2 > \"f\" }",
        "BEGIN { printf(\"%d\\n\", 3) > \"f\" }",
        "{ print (1,2) in a }",
        "BEGIN { if ((1,2) in a) print \"y\" }",
        "BEGIN { a[1][2] = 3; print length(a[1]) }",
        "BEGIN { switch (x) { case 1: print 1; break; case /a/: print 2; default: print 3 } }",
        "BEGIN { getline line < \"file\"; print line }",
        "{ $3 = \"\"; print }",
        "BEGIN { x = -2^2; print x }",
        "BEGIN { print 1 \" \" 2 }",
        "/a/ && /b/",
        "BEGIN { f = \"g\"; print @f(1) } function g(x) { return x }",
        "BEGIN { n = split(\"a b\", arr); print n }",
        "BEGIN { print length }",
        "{ print $NF-1, $(NF-1) }",
        "BEGIN {\n  if (x)\n    print 1\n  else\n    print 2\n}",
        "BEGIN { do x++; while (x < 3); print x }",
    ] {
        if let Err(e) = parse(src) {
            panic!("{src}: {} at {}", e.message, e.position);
        }
    }
}

#[test]
fn syntax_errors() {
    let e = parse("{print $1").unwrap_err();
    assert_eq!(e.message, "unexpected newline or end of string");
    let e = parse("BEGIN { x = = 1 }").unwrap_err();
    assert_eq!(e.message, "syntax error");
    assert_eq!(e.position, 12);
    let e = parse("BEGIN { nosuch(1) }").unwrap_err();
    assert_eq!(e.kind, ParseErrorKind::Fatal);
    let e = parse("BEGIN { print 1/0 }").unwrap_err();
    assert_eq!(e.kind, ParseErrorKind::Error);
}

#[test]
fn depth_limits() {
    let deep = format!("{{print {}1{}}}", "(".repeat(200), ")".repeat(200));
    assert_eq!(parse(&deep).unwrap_err().kind, ParseErrorKind::Limit);
    let unary = format!("{{print {}1}}", "- ".repeat(200));
    assert_eq!(parse(&unary).unwrap_err().kind, ParseErrorKind::Limit);
    let chain = format!("{{print 1{}}}", "+1".repeat(5000));
    assert_eq!(parse(&chain).unwrap_err().kind, ParseErrorKind::Limit);
    let ok = format!("{{print 1{}}}", "+1".repeat(200));
    assert!(parse(&ok).is_ok());
}

#[test]
fn array_params_are_detected() {
    let p = parse("function f(a, n) { a[1] = n } function g(x, y) { f(x, 1); return y } BEGIN { g(z) }").unwrap();
    assert_eq!(p.funcs[0].array_params, vec![true, false]);
    assert_eq!(p.funcs[1].array_params, vec![true, false]);
}
