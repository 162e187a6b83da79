//! The command line of `sed`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::invalid_option;

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
    pub(super) line_length: usize,
}

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
            line_length: DEFAULT_LINE_LENGTH,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                options.files.extend(rest.by_ref().cloned());
            } else if let Some(long) = argument.strip_prefix("--") {
                options.take_long_option(argument, long, &mut rest)?;
            } else if argument.len() > 1 && argument.starts_with('-') {
                options.take_short_options(&argument[1..], &mut rest)?;
            } else {
                options.files.push(argument.clone());
            }
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

    fn take_long_option(&mut self, argument: &str, long: &str, rest: &mut std::slice::Iter<'_, String>) -> Parsed<()> {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        match name {
            "quiet" | "silent" => self.quiet = true,
            "regexp-extended" => self.extended = true,
            "separate" => self.separate = true,
            "null-data" | "zero-terminated" => self.null_data = true,
            "posix" => self.posix = true,
            "unbuffered" | "debug" | "sandbox" | "follow-symlinks" => {}
            "in-place" => self.in_place = Some(attached.unwrap_or_default().to_string()),
            "expression" | "file" | "line-length" => {
                let value = attached.or_else(|| rest.next().map(String::as_str));
                match value {
                    Some(value) => self.set(&name[..1], value)?,
                    None => return usage_error(format!("option '{argument}' requires an argument")),
                }
            }
            _ => return Err(Box::new(invalid_option("sed", argument, 1))),
        }
        Ok(())
    }

    /// Takes a cluster of short options. `-i` takes an attached suffix only, so that `sed -i s/a/b/ f` edits `f`.
    fn take_short_options(&mut self, cluster: &str, rest: &mut std::slice::Iter<'_, String>) -> Parsed<()> {
        for (position, option) in cluster.char_indices() {
            let attached = &cluster[position + option.len_utf8()..];
            match option {
                'n' => self.quiet = true,
                'r' | 'E' => self.extended = true,
                's' => self.separate = true,
                'z' => self.null_data = true,
                'u' => {}
                'i' => {
                    self.in_place = Some(attached.to_string());
                    return Ok(());
                }
                'e' | 'f' | 'l' => {
                    let name = option.encode_utf8(&mut [0; 4]).to_string();
                    let value = Some(attached).filter(|value| !value.is_empty());
                    return match value.or_else(|| rest.next().map(String::as_str)) {
                        Some(value) => self.set(&name, value),
                        None => usage_error(format!("option requires an argument -- '{option}'")),
                    };
                }
                _ => return Err(Box::new(invalid_option("sed", &format!("-{option}"), 1))),
            }
        }
        Ok(())
    }

    /// Takes up an option with a value.
    fn set(&mut self, name: &str, value: &str) -> Parsed<()> {
        match name {
            "e" => self.sources.push(ScriptSource::Text(value.to_string())),
            "f" => self.sources.push(ScriptSource::File(value.to_string())),
            _ => match value.parse() {
                Ok(length) => self.line_length = length,
                Err(_) => return usage_error(format!("invalid line length: {value}")),
            },
        }
        Ok(())
    }
}
