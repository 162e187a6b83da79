use crate::commands::find::expression::{CommandAction, Expression, FileAction, FileTest, NumberComparison};
use crate::commands::find::parse::argument::parse_size;
use crate::commands::find::parse::regex::{RegexSyntax, translate};
use crate::commands::find::parse::{FileOwner, FindCommandLine, parse};

const OWNER: FileOwner<'static> = FileOwner { name: "sandbox", uid: 1000, gid: 1000 };

fn read(words: &str) -> Result<FindCommandLine, String> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    parse(&words, &OWNER)
}

#[test]
fn expression_without_an_action_prints() {
    let empty = read("").expect("an empty expression");
    assert_eq!(empty.starting_points, ["."]);
    assert!(matches!(empty.expression, Expression::Action(FileAction::Print('\n'))));
    let test = read("a b -name x").expect("a test");
    assert_eq!(test.starting_points, ["a", "b"]);
    assert!(matches!(test.expression, Expression::And(_, _)));
}

#[test]
fn conjunction_binds_tighter_than_disjunction() {
    let line = read("-name a -type f -o -name c").expect("an expression");
    let Expression::And(left, right) = line.expression else { panic!("no -print is added") };
    assert!(matches!(*right, Expression::Action(FileAction::Print('\n'))));
    assert!(matches!(*left, Expression::Or(_, _)));
}

#[test]
fn command_ends_with_a_semicolon_or_a_plus_behind_braces() {
    for (words, batch) in [("-exec echo {} ;", false), ("-exec echo {} +", true)] {
        let line = read(words).expect("a command");
        assert!(line.executes);
        let Expression::Action(FileAction::Execute(CommandAction { is_batch, .. })) = line.expression else {
            panic!("{words}");
        };
        assert_eq!(is_batch, batch, "{words}");
    }
    assert_eq!(read("-exec echo +").expect_err("no end"), "find: missing argument to `-exec'\n");
}

#[test]
fn wrong_expression_is_refused_as_by_gnu() {
    for (words, message) in [
        ("-D", "Missing argument after the -D option.\nTry 'find --help' for more information."),
        ("-foo", "unknown predicate `-foo'"),
        ("-newermx f", "unknown predicate `-newermx'"),
        ("-name", "missing argument to `-name'"),
        ("-mindepth", "missing argument to `-mindepth'"),
        ("-o -name x", "invalid expression; you have used a binary operator '-o' with nothing before it."),
        ("-name x -a", "invalid expression; you have used a binary operator '-a' with nothing after it."),
        ("( -name x", "invalid expression; I was expecting to find a ')' somewhere but did not see one."),
        ("( )", "invalid expression; empty parentheses are not allowed."),
        ("-name x )", "invalid expression; you have too many ')'"),
        ("-name x y", "paths must precede expression: `y'"),
        ("-type q", "Unknown argument to -type: q"),
        ("-type f,", "Unknown argument to -type: f,"),
        ("-maxdepth x", "Expected a positive decimal integer argument to -maxdepth, but got 'x'"),
        ("-size 3q", "invalid -size type `q'"),
        ("-size 3kk", "invalid argument `3kk' to `-size'"),
        ("-size k", "invalid argument `k' to `-size'"),
        ("!", "expected an expression after '!'"),
        ("-mtime x", "invalid argument `x' to `-mtime'"),
        ("-mtime ++1", "invalid argument `++1' to `-mtime'"),
        ("-perm 999", "invalid mode '999'"),
        ("-user nobodyx", "'nobodyx' is not the name of a known user"),
        ("-regex [", "failed to compile regular expression '[': Invalid regular expression"),
    ] {
        assert_eq!(read(words).expect_err(words), format!("find: {message}\n"), "{words}");
    }
}

#[test]
fn regex_is_translated_by_its_syntax() {
    for (syntax, pattern, translated) in [
        (RegexSyntax::Emacs, r".*\.\(c\|h\)", r".*\.(c|h)"),
        (RegexSyntax::Emacs, r"a(b)", r"a\(b\)"),
        (RegexSyntax::Basic, r"a+\+", r"a\++"),
        (RegexSyntax::Extended, r".*\.(c|h)", r".*\.(c|h)"),
        (RegexSyntax::Emacs, r"[[:digit:]]", r"[[:digit:]]"),
        (RegexSyntax::Emacs, r"[^]a[.-.]~]\<", r"[^\]a\-\~]\b"),
        (RegexSyntax::Emacs, r"[[a]", r"[\[a]"),
    ] {
        assert_eq!(translate(pattern, syntax), translated, "{pattern}");
    }
}

#[test]
fn size_has_a_sign_and_a_unit() {
    for (argument, sign, count, bytes) in [
        ("+2k", NumberComparison::Greater, 2, 1024),
        ("10", NumberComparison::Equal, 10, 512),
        ("-3c", NumberComparison::Less, 3, 1),
    ] {
        let Ok(FileTest::Size { comparison, number, unit }) = parse_size(argument) else { panic!("{argument}") };
        assert_eq!((comparison, number, unit), (sign, count, bytes), "{argument}");
    }
}
