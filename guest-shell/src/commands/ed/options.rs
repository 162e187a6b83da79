//! The command line of `ed`.

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

use crate::commands::option_parser::gnu_getopt;

/// Text that `--help` prints.
pub(super) const HELP: &str = "Usage: ed [options] [file]

Options:
  -h, --help                 display this help and exit
  -V, --version              display version information and exit
  -E, --extended-regexp      use extended regular expressions
  -G, --traditional          run in compatibility mode
  -l, --loose-exit-status    exit with 0 status even if a command fails
  -p, --prompt=STRING        use STRING as an interactive prompt
  -q, --quiet, --silent      suppress diagnostics written to stderr
  -r, --restricted           run in restricted mode
  -s, --script               suppress byte counts and '!' prompt
  -v, --verbose              be verbose; equivalent to the 'H' command
      --strip-trailing-cr    strip carriage returns at end of text lines

Start edit by reading in 'file' if given.
If 'file' begins with a '!', read output of shell command.
";

const LONG: [(&str, OptArg, char); 11] = [
    ("extended-regexp", OptArg::No, 'E'),
    ("loose-exit-status", OptArg::No, 'l'),
    ("prompt", OptArg::Required, 'p'),
    ("quiet", OptArg::No, 'q'),
    ("restricted", OptArg::No, 'r'),
    ("script", OptArg::No, 's'),
    ("silent", OptArg::No, 'q'),
    ("strip-trailing-cr", OptArg::No, 'c'),
    ("traditional", OptArg::No, 'G'),
    ("unsafe-names", OptArg::No, 'u'),
    ("verbose", OptArg::No, 'v'),
];

/// Options and operand of a call.
#[derive(Default)]
pub(super) struct Options {
    pub(super) file: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) is_extended: bool,
    pub(super) is_loose: bool,
    pub(super) is_quiet: bool,
    pub(super) is_restricted: bool,
    /// Prints no lengths of files and no `!` behind commands of the shell.
    pub(super) is_script: bool,
    pub(super) is_verbose: bool,
    pub(super) strips_carriage_returns: bool,
}

impl Options {
    pub(super) fn parse(words: &[String]) -> Result<Self, Box<ExecResult>> {
        let (given, operands) = gnu_getopt("ed", words, "EGlp:qrsv", &LONG, true, 1)?;
        let mut options = Self { file: operands.into_iter().next(), ..Self::default() };
        for option in given {
            match option.key {
                'E' => options.is_extended = true,
                'l' => options.is_loose = true,
                'p' => options.prompt = option.value,
                'q' => options.is_quiet = true,
                'r' => options.is_restricted = true,
                's' => options.is_script = true,
                'v' => options.is_verbose = true,
                'c' => options.strips_carriage_returns = true,
                'G' => {
                    let message = "ed: the mode of old versions (-G) is not supported\n";
                    return Err(Box::new(ExecResult::err(message, 1)));
                }
                _ => {}
            }
        }
        Ok(options)
    }
}
