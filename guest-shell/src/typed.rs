//! Interactive input: detection of input that continues on the next line.

use bashkit::parser::{Parser, Script};

use crate::limits;

/// Line that is invalid after any script: after a complete one it is a syntax error. In a here-document it is an
/// ordinary line.
const NOTHING_BEFORE: &str = "\n)\n";

/// Lines that close constructs which a script may leave open.
const CONTINUATIONS: [&str; 7] = [NOTHING_BEFORE, "\n:\n}", "\n'", "\n\"", "\n`", "\n))", "\n]]"];

/// Returns true if a script is incomplete, so that the result of the parser depends on the next lines. The parser reads
/// from the left and stops at the first error. A script with an error therefore fails in the same way, regardless of
/// the text after it.
pub(crate) fn is_open(source: &str) -> bool {
    let line = source.strip_suffix('\n').unwrap_or(source);
    let escapes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if escapes % 2 == 1 {
        return true;
    }
    let with = |continuation: &str| parse(&format!("{line}{continuation}"));
    match parse(line) {
        Ok(_) => with(NOTHING_BEFORE).is_ok(),
        Err(mistake) => CONTINUATIONS.iter().any(|continuation| with(continuation).err().as_ref() != Some(&mistake)),
    }
}

/// Parses a script into its syntax tree. The error is the message of the parser, with line and column.
fn parse(source: &str) -> Result<Script, String> {
    Parser::with_fuel(source, limits::PARSER_STEPS).parse().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn input_is_open_until_what_it_begins_has_ended() {
        for open in [
            "if true",
            "if true; then echo a",
            "while :; do",
            "for x in a b",
            "case a in",
            "case a in a) echo",
            "f()",
            "f() {",
            "{ echo a",
            "( echo a",
            "echo 'a",
            "echo \"a",
            "echo `a",
            "echo $(a",
            "echo ${a",
            "echo $((1 +",
            "[[ -n a",
            "a=(1 2",
            "true &&",
            "false ||",
            "echo a |",
            "true && # and",
            "echo a \\",
            "cat <<END",
            "cat <<END\na",
            "if true # why",
        ] {
            assert!(is_open(open), "{open}");
        }
    }

    #[test]
    fn input_that_is_whole_or_wrong_is_not_open() {
        for ended in [
            "echo a",
            "echo a # if",
            "echo a # b &&",
            "fi",
            "echo )",
            "if true; fi",
            "true && )",
            "true && fi",
            "echo a &",
            "f() { echo a; }",
            "cat <<END\na\nEND",
            "echo 'a' \"b\" `c`",
            "case a in esac",
            "}",
            "echo a\\\\",
            "done; if true",
            "> &&",
            "",
        ] {
            assert!(!is_open(ended), "{ended}");
        }
    }
}
