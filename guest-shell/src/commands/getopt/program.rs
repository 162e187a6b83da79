//! Main function of getopt: finds options, and prints them as text for a script to evaluate.

use super::options::{self, Options, Quoting, Request};
use super::scanner::{Found, Order, Takes, scan};

/// Outcome of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Text for standard output.
    pub(crate) output: String,
    /// Text for standard error.
    pub(crate) errors: String,
    /// Exit status of the command.
    pub(crate) status: i32,
}

/// Status after errors in the parsed words.
const MISTAKES: i32 = 1;
/// Status after errors in getopt's own command line.
const WRONG: i32 = 2;
/// Exit status of `-T`.
const ENHANCED: i32 = 4;

/// Runs getopt with these words; `variable` returns true if an environment variable is set.
pub(crate) fn run(words: &[String], variable: impl Fn(&str) -> bool) -> Outcome {
    match options::read(words, variable("GETOPT_COMPATIBLE")) {
        Request::Run(options) => parse(&options, variable("POSIXLY_CORRECT")),
        Request::Print(text) => Outcome { output: text.to_owned(), ..Outcome::default() },
        Request::Test => Outcome { status: ENHANCED, ..Outcome::default() },
        Request::Nothing => Outcome { output: " --\n".to_owned(), ..Outcome::default() },
        Request::Wrong(what) => Outcome {
            errors: format!("getopt: {what}\nTry 'getopt --help' for more information.\n"),
            status: WRONG,
            ..Outcome::default()
        },
    }
}

fn parse(options: &Options, posix: bool) -> Outcome {
    let mut known = options.known.clone();
    let order = match known.short.chars().next() {
        _ if posix => Order::Require,
        Some('-') => Order::Keep,
        Some('+') => Order::Require,
        _ => Order::Permute,
    };
    if !posix && order != Order::Permute {
        known.short.remove(0);
    }
    // A colon at the beginning suppresses error messages.
    let quiet = options.quiet || known.short.starts_with(':');
    let (found, rest) = scan(&known, order, &options.words);
    let mut outcome = Outcome::default();
    let output = &mut outcome.output;
    for found in found {
        match found {
            Found::Short(letter, value) => {
                output.push_str(&format!(" -{letter}"));
                output.extend(value.map(|value| format!(" {}", quoted(&value, options.quoting()))));
            }
            Found::Long(name, value) => {
                output.push_str(&format!(" --{name}"));
                // An optional argument that is not there is printed as an empty one.
                let is_optional = known.long.iter().any(|(long, takes)| *long == name && *takes == Takes::Optional);
                let value = value.or_else(|| is_optional.then(String::new));
                output.extend(value.map(|value| format!(" {}", quoted(&value, options.quoting()))));
            }
            Found::Word(word) => output.push_str(&format!(" {}", quoted(&word, options.quoting()))),
            Found::Mistake(what) => {
                outcome.status = MISTAKES;
                if !quiet {
                    outcome.errors.push_str(&format!("{}: {what}\n", options.name));
                }
            }
        }
    }
    output.push_str(" --");
    for word in rest {
        output.push_str(&format!(" {}", quoted(&word, options.quoting())));
    }
    output.push('\n');
    if options.silent {
        output.clear();
    }
    outcome
}

/// Quotes a word so that a shell reads it unchanged.
fn quoted(word: &str, quoting: Quoting) -> String {
    if quoting == Quoting::Plain {
        return word.to_owned();
    }
    let mut text = String::from("'");
    for character in word.chars() {
        match character {
            '\'' => text.push_str(r"'\''"),
            '\\' if quoting == Quoting::Csh => text.push_str(r"\\"),
            '!' if quoting == Quoting::Csh => text.push_str(r"'\!'"),
            '\n' if quoting == Quoting::Csh => text.push_str(r"\n"),
            space if quoting == Quoting::Csh && space.is_ascii_whitespace() => {
                text.push_str(&format!(r"'\{space}'"));
            }
            other => text.push(other),
        }
    }
    text.push('\'');
    text
}
