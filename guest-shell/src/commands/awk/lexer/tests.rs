//! Tests of tokens.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::*;

fn toks(src: &str) -> Vec<Token> {
    let mut l = Lexer::new(src, CharacterSet::Utf8);
    let mut out = Vec::new();
    loop {
        let (t, _) = l.next().ok().unwrap();
        if t == Token::Eof {
            break;
        }
        out.push(t);
    }
    out
}

#[test]
fn numbers() {
    assert_eq!(
        toks("0x1A 011 018 1.5e2 .5"),
        vec![Token::Num(26.0), Token::Num(9.0), Token::Num(18.0), Token::Num(150.0), Token::Num(0.5)]
    );
}

#[test]
fn strings_and_escapes() {
    assert_eq!(toks(r#""a\tb\101\x41\.""#), vec![Token::Str("a\tbAA.".into())]);
}

#[test]
fn operators_and_words() {
    assert_eq!(
        toks("x **= 2; f(1) g (2) length"),
        vec![
            Token::Name("x".into()),
            Token::PowAssign,
            Token::Num(2.0),
            Token::Semi,
            Token::FuncName("f".into()),
            Token::LParen,
            Token::Num(1.0),
            Token::RParen,
            Token::Name("g".into()),
            Token::LParen,
            Token::Num(2.0),
            Token::RParen,
            Token::Builtin("length".into())
        ]
    );
}

#[test]
fn regex_literal_with_slash_in_class() {
    let mut l = Lexer::new("/[/]x\\/y/ z", CharacterSet::Utf8);
    assert_eq!(l.read_regex(0).ok().unwrap(), Token::Regex("[/]x/y".into()));
}

#[test]
fn comments_and_continuations() {
    assert_eq!(toks("a # c\n\\\nb"), vec![Token::Name("a".into()), Token::Newline, Token::Name("b".into())]);
}
