//! Command-line options of bc.

use super::parser::Dialect;

/// Text of the option `-v`.
pub(crate) const VERSION: &str = "\
bc 1.07.1
Tollhouse's own bc, which behaves as GNU bc 1.07.1 does.
";

/// Output of the statement `warranty`.
pub(crate) const WARRANTY: &str = "
bc 1.07.1
Tollhouse's own bc, which behaves as GNU bc 1.07.1 does. There is no warranty.

";

/// Output of the option `-h`, and of an invalid option.
pub(crate) const USAGE: &str = "\
usage: bc [options] [file ...]
  -h  --help         print this usage and exit
  -i  --interactive  force interactive mode
  -l  --mathlib      use the predefined math routines
  -q  --quiet        don't print initial banner
  -s  --standard     non-standard bc constructs are errors
  -w  --warn         warn about non-standard bc constructs
  -v  --version      print version information and exit
";

/// Settings of one bc.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// True if the functions of `-l` are defined, and the scale is 20.
    pub(crate) mathlib: bool,
    /// Dialect of the language that is accepted.
    pub(crate) dialect: Dialect,
    /// Files to read before standard input.
    pub(crate) files: Vec<String>,
}

/// Action that the command line requests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A program is run.
    Run(Options),
    /// A text is printed.
    Print(&'static str),
    /// The command line is invalid: an error message, after which the usage is printed on standard output.
    Wrong(String),
}

/// Long options and their short forms.
const LONG: [(&str, char); 9] = [
    ("help", 'h'),
    ("interactive", 'i'),
    ("compile", 'c'),
    ("mathlib", 'l'),
    ("quiet", 'q'),
    ("standard", 's'),
    ("version", 'v'),
    ("warn", 'w'),
    ("_", '_'),
];

/// Parses the command line, after the words of `BC_ENV_ARGS`.
pub(crate) fn read(environment: &[String], words: &[String], posix: bool) -> Request {
    let mut options = Options::default();
    if posix {
        options.dialect = Dialect::Standard;
    }
    for words in [environment, words] {
        if let Err(other) = read_words(words, &mut options) {
            return other;
        }
    }
    Request::Run(options)
}

fn read_words(words: &[String], options: &mut Options) -> Result<(), Request> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            options.files.extend(words.by_ref().cloned());
        } else if let Some(name) = word.strip_prefix("--") {
            apply(long(name)?, options)?;
        } else if word.len() > 1 && word.starts_with('-') {
            for letter in word.chars().skip(1) {
                apply(letter, options)?;
            }
        } else {
            options.files.push(word.clone());
        }
    }
    Ok(())
}

/// Returns the short form of a long option, which may be abbreviated as long as it is unambiguous.
fn long(name: &str) -> Result<char, Request> {
    let mut found = LONG.iter().filter(|(long, _)| long.starts_with(name) && *long != "_");
    match (LONG.iter().find(|(long, _)| *long == name), found.next(), found.next()) {
        (Some((_, letter)), ..) | (None, Some((_, letter)), None) => Ok(*letter),
        (None, Some(_), Some(_)) => Err(Request::Wrong(format!("bc: option '--{name}' is ambiguous\n"))),
        _ => Err(Request::Wrong(format!("bc: unrecognized option '--{name}'\n"))),
    }
}

fn apply(letter: char, options: &mut Options) -> Result<(), Request> {
    match letter {
        'h' => return Err(Request::Print(USAGE)),
        'v' => return Err(Request::Print(VERSION)),
        'l' => options.mathlib = true,
        's' => options.dialect = Dialect::Standard,
        'w' => options.dialect = Dialect::Warn,
        // There is no terminal here, so no banner and no editing.
        'i' | 'q' => {}
        _ => return Err(Request::Wrong(format!("bc: invalid option -- '{letter}'\n"))),
    }
    Ok(())
}
