//! Inputs that a person types: whether one goes on with the next line.

use bashkit::parser::Parser;

use crate::limits;

/// What no script may stand before: behind a whole one it is a syntax error, in a here-document a line like any other.
const NOTHING_BEFORE: &str = "\n)\n";

/// Whether a script's last line ends with an operator that another command must follow: bashkit takes it for an end.
fn wants_more(script: &str) -> bool {
    let last = script.trim_end().rsplit('\n').next().unwrap_or_default();
    !last.contains('#') && ["&&", "||", "|"].iter().any(|operator| last.ends_with(operator))
}

/// Whether a script ends in the middle of something.
pub(crate) fn is_open(source: &str) -> bool {
    let line = source.strip_suffix('\n').unwrap_or(source);
    let escapes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if escapes % 2 == 1 {
        return true;
    }
    match Parser::with_fuel(source, limits::PARSER_STEPS).parse() {
        Ok(_) if wants_more(line) => true,
        Ok(_) => Parser::with_fuel(&format!("{source}{NOTHING_BEFORE}"), limits::PARSER_STEPS).parse().is_ok(),
        Err(bashkit::Error::Parse { message, .. }) => {
            let early = ["unexpected end of", "unexpected EOF", "unterminated"];
            // `f()` and its body may stand on two lines.
            early.iter().any(|word| message.contains(word)) || line.trim_end().ends_with("()")
        }
        Err(_) => false,
    }
}
