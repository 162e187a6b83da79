//! Command-line options of getopt itself.

use super::scanner::{Found, Known, Order, Takes, scan};

/// Quoting of arguments in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// No quoting at all.
    Plain,
    /// Quoting for Bourne-style shells.
    Bourne,
    /// Quoting for C-style shells.
    Csh,
}

/// Options of one call.
#[derive(Debug)]
pub(super) struct Options {
    /// Options to search for.
    pub(super) known: Known,
    /// Name of the program in error messages.
    pub(super) name: String,
    /// True if error messages are suppressed.
    pub(super) quiet: bool,
    /// True if the output is suppressed.
    pub(super) silent: bool,
    /// True if arguments are not quoted.
    plain: bool,
    /// Shell whose quoting is used.
    shell: Quoting,
    /// Words to search for options.
    pub(super) words: Vec<String>,
}

impl Options {
    /// Returns the quoting of arguments.
    pub(super) fn quoting(&self) -> Quoting {
        if self.plain { Quoting::Plain } else { self.shell }
    }
}

/// Action that the command line requests.
#[derive(Debug)]
pub(super) enum Request {
    /// Options are searched for.
    Run(Box<Options>),
    /// A text is printed.
    Print(&'static str),
    /// Nothing is printed; the status tells that this is the enhanced getopt (`-T`).
    Test,
    /// There is nothing to do.
    Nothing,
    /// The command line is invalid; an error message.
    Wrong(String),
}

const VERSION: &str = "getopt from util-linux 2.38.1\n";

const HELP: &str = "
Usage:
 getopt <optstring> <parameters>
 getopt [options] [--] <optstring> <parameters>
 getopt [options] -o|--options <optstring> [options] [--] <parameters>

Parse command options.

Options:
 -a, --alternative             allow long options starting with single -
 -l, --longoptions <longopts>  the long options to be recognized
 -n, --name <progname>         the name under which errors are reported
 -o, --options <optstring>     the short options to be recognized
 -q, --quiet                   disable error reporting by getopt(3)
 -Q, --quiet-output            no normal output
 -s, --shell <shell>           set quoting conventions to those of <shell>
 -T, --test                    test for getopt(1) version
 -u, --unquoted                do not quote the output

 -h, --help                    display this help
 -V, --version                 display version

For more details see getopt(1).
";

/// Returns the options of getopt itself.
fn own() -> Known {
    let long = [
        ("options", Takes::Required),
        ("longoptions", Takes::Required),
        ("quiet", Takes::Nothing),
        ("quiet-output", Takes::Nothing),
        ("shell", Takes::Required),
        ("test", Takes::Nothing),
        ("unquoted", Takes::Nothing),
        ("help", Takes::Nothing),
        ("alternative", Takes::Nothing),
        ("name", Takes::Required),
        ("version", Takes::Nothing),
    ];
    Known {
        short: "ao:l:n:qQs:TuhV".to_owned(),
        long: long.map(|(name, takes)| (name.to_owned(), takes)).to_vec(),
        single_dash: false,
    }
}

/// Parses the command line. `compatible` is true if the environment requests the old getopt.
pub(super) fn read(words: &[String], compatible: bool) -> Request {
    let mut options = Options {
        known: Known::default(),
        name: "getopt".to_owned(),
        quiet: false,
        silent: false,
        plain: false,
        shell: Quoting::Bourne,
        words: Vec::new(),
    };
    let Some(first) = words.first() else {
        return match compatible {
            true => Request::Nothing,
            false => Request::Wrong("missing optstring argument".to_owned()),
        };
    };
    if compatible || !first.starts_with('-') {
        options.plain = true;
        options.known.short = first.trim_start_matches(['-', '+']).to_owned();
        options.words = words[1..].to_vec();
        return Request::Run(Box::new(options));
    }
    let (found, rest) = scan(&own(), Order::Require, words);
    let mut short = None;
    for found in found {
        let end = match found {
            Found::Short(letter, value) => apply(letter, value.unwrap_or_default(), &mut options, &mut short),
            Found::Long(name, value) => {
                let letter = match name.as_str() {
                    "quiet-output" => 'Q',
                    "test" => 'T',
                    "version" => 'V',
                    name => name.chars().next().unwrap_or('h'),
                };
                apply(letter, value.unwrap_or_default(), &mut options, &mut short)
            }
            Found::Mistake(what) => Err(Request::Wrong(what)),
            Found::Word(_) => Ok(()),
        };
        if let Err(other) = end {
            return other;
        }
    }
    let mut rest = rest.into_iter();
    match short.or_else(|| rest.next()) {
        Some(short) => options.known.short = short,
        None => return Request::Wrong("missing optstring argument".to_owned()),
    }
    options.words = rest.collect();
    Request::Run(Box::new(options))
}

fn apply(letter: char, value: String, options: &mut Options, short: &mut Option<String>) -> Result<(), Request> {
    match letter {
        'a' => options.known.single_dash = true,
        'o' => *short = Some(value),
        'l' => add_long(&value, &mut options.known)?,
        'n' => options.name = value,
        'q' => options.quiet = true,
        'Q' => options.silent = true,
        's' => {
            options.shell = match value.as_str() {
                "sh" | "bash" => Quoting::Bourne,
                "csh" | "tcsh" => Quoting::Csh,
                _ => return Err(Request::Wrong("unknown shell after -s or --shell argument".to_owned())),
            }
        }
        'T' => return Err(Request::Test),
        'u' => options.plain = true,
        'V' => return Err(Request::Print(VERSION)),
        _ => return Err(Request::Print(HELP)),
    }
    Ok(())
}

/// Adds long options from a list with commas or spaces.
fn add_long(list: &str, known: &mut Known) -> Result<(), Request> {
    for word in list.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty()) {
        let name = word.trim_end_matches(':');
        let (name, takes) = match word.len() - name.len() {
            0 => (name, Takes::Nothing),
            1 => (name, Takes::Required),
            colons => (&word[..name.len() + colons - 2], Takes::Optional),
        };
        if name.is_empty() {
            return Err(Request::Wrong("empty long option after -l or --long argument".to_owned()));
        }
        known.long.push((name.to_owned(), takes));
    }
    Ok(())
}
