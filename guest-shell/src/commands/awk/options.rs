//! The command line of `awk`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;

/// Text of `--help` and of usage errors.
pub(super) const USAGE: &str = "\
Usage: awk [POSIX or GNU style options] -f progfile [--] file ...
Usage: awk [POSIX or GNU style options] [--] 'program' file ...
POSIX options:\t\tGNU long options: (standard)
\t-f progfile\t\t--file=progfile
\t-F fs\t\t\t--field-separator=fs
\t-v var=val\t\t--assign=var=val
Short options:\t\tGNU long options: (extensions)
\t-e 'program-text'\t--source='program-text'
\t-i includefile\t\t--include=includefile
\t-k\t\t\t--csv
";

/// Text that `--version` prints.
pub(super) const VERSION: &str = "GNU Awk 5.2.1, API 3.2";

/// Options of gawk that change nothing here.
const IGNORED_OPTIONS: &[&str] = &[
    "-c",
    "--traditional",
    "-N",
    "--use-lc-numeric",
    "-O",
    "--optimize",
    "-P",
    "--posix",
    "-r",
    "--re-interval",
    "-s",
    "--no-optimize",
    "-t",
    "--lint-old",
    "-L",
    "--lint",
];

/// Options of gawk that would change results, and are not there.
const REFUSED_OPTIONS: &[&str] = &[
    "-b",
    "--characters-as-bytes",
    "-C",
    "--copyright",
    "-g",
    "--gen-pot",
    "-M",
    "--bignum",
    "-n",
    "--non-decimal-data",
    "-S",
    "--sandbox",
];

/// Place of a part of the program.
pub(super) enum ProgramSource {
    File(String),
    Text(String),
}

/// Options and operands of a call.
#[derive(Default)]
pub(super) struct Options {
    pub(super) field_separator: Option<String>,
    pub(super) assignments: Vec<String>,
    pub(super) sources: Vec<ProgramSource>,
    /// Libraries (`-i FILE`), which come before the program.
    libraries: Vec<ProgramSource>,
    pub(super) csv: bool,
    /// Files are edited (`-i inplace`).
    pub(super) edits_files: bool,
    /// Suffix of the name of the copy that is kept of an edited file.
    pub(super) copy_suffix: Option<String>,
    pub(super) operands: Vec<String>,
}

/// Returns the result of a call that ends with a message.
pub(super) fn failure(message: String, status: i32) -> Box<ExecResult> {
    let mut result = ExecResult::with_code(String::new(), status);
    result.stderr = message.into();
    Box::new(result)
}

fn usage_error(message: &str) -> Box<ExecResult> {
    failure(format!("{message}{USAGE}"), 1)
}

impl Options {
    /// Parses arguments; the error is the result of the call.
    pub(super) fn parse(arguments: &[String]) -> Result<Options, Box<ExecResult>> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.as_slice().first() {
            if argument == "-" || !argument.starts_with('-') {
                break;
            }
            rest.next();
            if argument == "--" {
                break;
            }
            options.take_option(argument, &mut rest)?;
        }
        if options.sources.is_empty() {
            let program = rest.next().ok_or_else(|| usage_error(""))?;
            options.sources.push(ProgramSource::Text(program.clone()));
        }
        let program = std::mem::replace(&mut options.sources, std::mem::take(&mut options.libraries));
        options.sources.extend(program);
        options.operands = rest.cloned().collect();
        Ok(options)
    }

    /// Takes up one option; `rest` yields its value if it is an argument of its own.
    fn take_option(&mut self, argument: &str, rest: &mut std::slice::Iter<'_, String>) -> Result<(), Box<ExecResult>> {
        if IGNORED_OPTIONS.contains(&argument) || argument.starts_with("--lint=") || argument.starts_with("-L") {
            return Ok(());
        }
        if REFUSED_OPTIONS.contains(&argument) {
            return Err(failure(format!("awk: option {argument} is not supported\n"), 2));
        }
        if matches!(argument, "-h" | "--help") {
            return Err(Box::new(ExecResult::ok(USAGE)));
        }
        let (name, attached) = split_option(argument);
        let mut value = |short_name: &str| match attached.or_else(|| rest.next().map(String::as_str)) {
            Some(value) => Ok(value.to_string()),
            None => Err(usage_error(&format!("awk: option requires an argument -- {short_name}\n"))),
        };
        match name {
            "-F" | "--field-separator" => self.field_separator = Some(value("F")?),
            "-v" | "--assign" => {
                let assignment = value("v")?;
                self.take_assignment(assignment);
            }
            "-i" | "--include" => {
                let library = value("i")?;
                self.include(library);
            }
            "-f" | "--file" => self.sources.push(ProgramSource::File(value("f")?)),
            "-e" | "--source" => self.sources.push(ProgramSource::Text(value("e")?)),
            "-k" | "--csv" if attached.is_none() => self.csv = true,
            _ if name.starts_with("--") => {
                return Err(usage_error(&format!("awk: unrecognized option '{argument}'\n")));
            }
            _ => return Err(usage_error("")),
        }
        Ok(())
    }
}

impl Options {
    /// Takes up an assignment of `-v`; variables of the library `inplace` are what they say here.
    fn take_assignment(&mut self, assignment: String) {
        match assignment.split_once('=') {
            Some(("inplace::suffix", suffix)) => self.copy_suffix = Some(suffix.to_string()),
            Some(("inplace::enable", value)) => self.edits_files &= !matches!(value, "" | "0"),
            Some(("INPLACE_SUFFIX", suffix)) => {
                self.copy_suffix = Some(suffix.to_string());
                self.assignments.push(assignment);
            }
            _ => self.assignments.push(assignment),
        }
    }

    /// Takes up a library. The program itself still has to come.
    fn include(&mut self, library: String) {
        if matches!(library.as_str(), "inplace" | "inplace.awk") {
            self.edits_files = true;
        } else {
            self.libraries.push(ProgramSource::File(library));
        }
    }
}

/// Splits an option into its name and the value that is attached to it: `-F:`, `--file=x`.
fn split_option(argument: &str) -> (&str, Option<&str>) {
    if argument.starts_with("--") {
        return match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
    }
    let name_end = argument.char_indices().nth(2).map_or(argument.len(), |(end, _)| end);
    let (name, value) = argument.split_at(name_end);
    (name, (!value.is_empty()).then_some(value))
}

/// Returns true if the program may run commands: a program of files, or one that has a `|` or `system`.
pub(super) fn may_run_commands(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| {
        argument.starts_with("-f")
            || argument.starts_with("--file")
            || argument.contains("system")
            || argument.replace("||", "").contains('|')
    })
}
