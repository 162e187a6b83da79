//! The command line of `sed`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::getopt_long;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

/// Text that `--help` prints.
pub(super) const HELP: &str = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n\
Stream editor for filtering and transforming text.\n\n  \
-n, --quiet, --silent\tsuppress automatic printing of pattern space\n  \
-e script, --expression=script\n\t\tadd the script to the commands to be executed\n  \
-f file, --file=file\tadd the contents of script-file to the commands\n  \
-i[SUFFIX], --in-place[=SUFFIX]\n\t\tedit files in place (makes backup if SUFFIX supplied)\n  \
-E, -r, --regexp-extended\n\t\tuse extended regular expressions\n  \
-s, --separate\tconsider files as separate rather than as a single stream\n  \
-z, --null-data\tseparate lines by NUL characters\n  \
-l N, --line-length=N\tspecify the desired line-wrap length for the `l' command\n  \
-u, --unbuffered\taccepted for compatibility (no effect)\n  \
--help\t\tdisplay this help and exit\n  \
--version\toutput version information and exit\n";

/// Width at which `l` wraps lines, unless `-l` or its own number says otherwise.
const DEFAULT_LINE_LENGTH: usize = 70;

/// Status of a call without input files that needs some.
const NO_INPUT_STATUS: i32 = 4;

/// Place of a part of the script.
pub(super) enum ScriptSource {
    Text(String),
    File(String),
}

/// Options and operands of a call.
pub(super) struct Options {
    pub(super) sources: Vec<ScriptSource>,
    pub(super) files: Vec<String>,
    /// Suffix of the copies that `-i` makes; it makes none if the suffix is empty.
    pub(super) in_place: Option<String>,
    pub(super) quiet: bool,
    pub(super) extended: bool,
    pub(super) separate: bool,
    pub(super) null_data: bool,
    pub(super) posix: bool,
    /// Refuses scripts that read or write files.
    pub(super) sandbox: bool,
    pub(super) line_length: usize,
}

/// Key of `--posix`, which has no letter.
const POSIX: char = 'p';
/// Key of `--sandbox`, which has no letter.
const SANDBOX: char = 'x';
/// Key of `--debug`, which has no letter.
const DEBUG: char = 'D';
/// Key of the long options without an effect.
const WITHOUT_EFFECT: char = 'u';

const LONG: [(&str, OptArg, char); 15] = [
    ("debug", OptArg::No, DEBUG),
    ("expression", OptArg::Required, 'e'),
    ("file", OptArg::Required, 'f'),
    ("follow-symlinks", OptArg::No, WITHOUT_EFFECT),
    ("in-place", OptArg::Optional, 'i'),
    ("line-length", OptArg::Required, 'l'),
    ("null-data", OptArg::No, 'z'),
    ("posix", OptArg::No, POSIX),
    ("quiet", OptArg::No, 'n'),
    ("regexp-extended", OptArg::No, 'E'),
    ("sandbox", OptArg::No, SANDBOX),
    ("separate", OptArg::No, 's'),
    ("silent", OptArg::No, 'n'),
    ("unbuffered", OptArg::No, WITHOUT_EFFECT),
    ("zero-terminated", OptArg::No, 'z'),
];

/// Result of parsing; the error is the result of the call.
type Parsed<T> = Result<T, Box<ExecResult>>;

fn usage_error<T>(message: impl std::fmt::Display) -> Parsed<T> {
    Err(Box::new(ExecResult::err(format!("sed: {message}\n"), 1)))
}

impl Options {
    /// Parses the arguments of a call. Whether the first operand is the script is known behind the last: with `-e` or `-f` it is a file.
    pub(super) fn parse(arguments: &[String]) -> Parsed<Options> {
        let mut options = Options {
            sources: Vec::new(),
            files: Vec::new(),
            in_place: None,
            quiet: false,
            extended: false,
            separate: false,
            null_data: false,
            posix: false,
            sandbox: false,
            line_length: DEFAULT_LINE_LENGTH,
        };
        let (given, files) =
            getopt_long("sed", arguments, "e:Ef:i::l:nrsuz", &LONG, true, 1).map_err(|mut refusal| {
                refusal.stderr = format!("{}{HELP}", &*refusal.stderr).into();
                refusal
            })?;
        options.files = files;
        for option in given {
            options.take(option.key, option.value)?;
        }
        options.complete()
    }

    /// Takes the script from the operands if it was not given otherwise, and does what `-i` implies.
    fn complete(mut self) -> Parsed<Options> {
        if self.sources.is_empty() {
            if self.files.is_empty() {
                let usage = HELP.to_owned();
                return Err(Box::new(ExecResult::err(usage, 1)));
            }
            self.sources.push(ScriptSource::Text(self.files.remove(0)));
        }
        if self.in_place.is_some() {
            if self.files.is_empty() {
                return Err(Box::new(ExecResult::err("sed: no input files\n".to_string(), NO_INPUT_STATUS)));
            }
            self.separate = true;
        }
        Ok(self)
    }

    fn take(&mut self, key: char, value: Option<String>) -> Parsed<()> {
        match (key, value) {
            ('n', _) => self.quiet = true,
            ('E' | 'r', _) => self.extended = true,
            ('s', _) => self.separate = true,
            ('z', _) => self.null_data = true,
            (POSIX, _) => self.posix = true,
            (SANDBOX, _) => self.sandbox = true,
            // Its output is between that of the script.
            (DEBUG, _) => return usage_error("the option '--debug' is not available"),
            // An attached suffix only, so that `sed -i s/a/b/ f` edits `f`.
            ('i', suffix) => self.in_place = Some(suffix.unwrap_or_default()),
            (letter, Some(value)) => self.set(letter, &value)?,
            // Without an effect: `-u`, `--follow-symlinks`.
            _ => {}
        }
        Ok(())
    }

    /// Takes up an option with a value.
    fn set(&mut self, letter: char, value: &str) -> Parsed<()> {
        match letter {
            'e' => self.sources.push(ScriptSource::Text(value.to_string())),
            'f' => self.sources.push(ScriptSource::File(value.to_string())),
            _ => match value.parse() {
                Ok(length) => self.line_length = length,
                Err(_) => return usage_error(format!("invalid line length: {value}")),
            },
        }
        Ok(())
    }
}
