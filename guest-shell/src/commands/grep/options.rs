//! Options of `grep`, read as `getopt_long` reads them: options and operands mix, and long options may be abbreviated.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::file_filter::FileGlob;
use super::pattern::Syntax;
use crate::commands::option_parser::option_word;

const USAGE: &str = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n";

/// Treatment of input that is not text (`--binary-files`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryFiles {
    /// A message in place of the lines.
    Message,
    Text,
    WithoutMatch,
}

/// Treatment of operands that are directories (`-d`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    Read,
    Skip,
    Recurse,
}

/// Lines of context that are printed around selected lines; `None` if no option asked for them.
#[derive(Clone, Copy, Default)]
pub(super) struct ContextLines {
    before: Option<usize>,
    after: Option<usize>,
    /// Lines of `-C` and `-NUM`, on sides without an option of their own.
    around: Option<usize>,
}

impl ContextLines {
    pub(super) fn before(self) -> usize {
        self.before.or(self.around).unwrap_or(0)
    }

    pub(super) fn after(self) -> usize {
        self.after.or(self.around).unwrap_or(0)
    }

    /// Returns true if an option asked for context, of no line even: groups of lines are then separated.
    pub(super) fn is_requested(self) -> bool {
        self.before.or(self.after).or(self.around).is_some()
    }
}

pub(super) struct GrepOptions {
    /// Patterns of `-e`, or the first operand; each holds a pattern a line.
    pub(super) patterns: Vec<String>,
    /// Files of patterns (`-f`).
    pub(super) pattern_files: Vec<String>,
    /// Operands that are searched.
    pub(super) files: Vec<String>,
    pub(super) syntax: Syntax,
    pub(super) ignore_case: bool,
    pub(super) invert_match: bool,
    pub(super) word_match: bool,
    pub(super) line_match: bool,
    /// Lines that end in NUL (`-z`).
    pub(super) null_data: bool,
    pub(super) count_only: bool,
    pub(super) files_with_matches: bool,
    pub(super) files_without_match: bool,
    pub(super) only_matching: bool,
    pub(super) quiet: bool,
    pub(super) max_count: Option<usize>,
    pub(super) context: ContextLines,
    /// Names before lines, if `-H` or `-h` decided that.
    pub(super) with_filename: Option<bool>,
    pub(super) line_numbers: bool,
    pub(super) byte_offset: bool,
    pub(super) initial_tab: bool,
    /// Names that end in NUL (`-Z`).
    pub(super) null_filename: bool,
    /// Name of standard input in the output (`--label`).
    pub(super) label: Option<String>,
    /// Separator of groups of lines; `None` after `--no-group-separator`.
    pub(super) group_separator: Option<String>,
    /// Marks in the output (`--color=always`).
    pub(super) color: bool,
    pub(super) suppress_errors: bool,
    pub(super) binary_files: BinaryFiles,
    pub(super) directories: Directories,
    /// Symbolic links that a recursive search follows (`-R`).
    pub(super) dereference: bool,
    /// Globs of `--include` and `--exclude`, in the order of the options.
    pub(super) file_globs: Vec<FileGlob>,
    /// Globs of `--exclude-dir`.
    pub(super) excluded_directories: Vec<String>,
    /// Files of globs (`--exclude-from`).
    pub(super) exclude_from: Vec<String>,
}

impl Default for GrepOptions {
    fn default() -> Self {
        GrepOptions {
            patterns: Vec::new(),
            pattern_files: Vec::new(),
            files: Vec::new(),
            syntax: Syntax::Basic,
            ignore_case: false,
            invert_match: false,
            word_match: false,
            line_match: false,
            null_data: false,
            count_only: false,
            files_with_matches: false,
            files_without_match: false,
            only_matching: false,
            quiet: false,
            max_count: None,
            context: ContextLines::default(),
            with_filename: None,
            line_numbers: false,
            byte_offset: false,
            initial_tab: false,
            null_filename: false,
            label: None,
            group_separator: Some("--".to_owned()),
            color: false,
            suppress_errors: false,
            binary_files: BinaryFiles::Message,
            directories: Directories::Read,
            dereference: false,
            file_globs: Vec::new(),
            excluded_directories: Vec::new(),
            exclude_from: Vec::new(),
        }
    }
}

/// Argument that a long option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    None,
    Required,
    Optional,
}

/// A long option of GNU grep 3.11.
struct LongOption {
    name: &'static str,
    argument: Argument,
    /// The short option that does the same.
    short: Option<char>,
}

const fn long(name: &'static str, argument: Argument, short: Option<char>) -> LongOption {
    LongOption { name, argument, short }
}

const LONG_OPTIONS: &[LongOption] = &[
    long("after-context", Argument::Required, Some('A')),
    long("basic-regexp", Argument::None, Some('G')),
    long("before-context", Argument::Required, Some('B')),
    long("binary", Argument::None, Some('U')),
    long("binary-files", Argument::Required, None),
    long("byte-offset", Argument::None, Some('b')),
    long("color", Argument::Optional, None),
    long("colour", Argument::Optional, None),
    long("context", Argument::Required, Some('C')),
    long("count", Argument::None, Some('c')),
    long("dereference-recursive", Argument::None, Some('R')),
    long("devices", Argument::Required, Some('D')),
    long("directories", Argument::Required, Some('d')),
    long("exclude", Argument::Required, None),
    long("exclude-dir", Argument::Required, None),
    long("exclude-from", Argument::Required, None),
    long("extended-regexp", Argument::None, Some('E')),
    long("file", Argument::Required, Some('f')),
    long("files-with-matches", Argument::None, Some('l')),
    long("files-without-match", Argument::None, Some('L')),
    long("fixed-strings", Argument::None, Some('F')),
    long("group-separator", Argument::Required, None),
    long("help", Argument::None, None),
    long("ignore-case", Argument::None, Some('i')),
    long("include", Argument::Required, None),
    long("initial-tab", Argument::None, Some('T')),
    long("invert-match", Argument::None, Some('v')),
    long("label", Argument::Required, None),
    long("line-buffered", Argument::None, None),
    long("line-number", Argument::None, Some('n')),
    long("line-regexp", Argument::None, Some('x')),
    long("max-count", Argument::Required, Some('m')),
    long("no-filename", Argument::None, Some('h')),
    long("no-group-separator", Argument::None, None),
    long("no-ignore-case", Argument::None, None),
    long("no-messages", Argument::None, Some('s')),
    long("null", Argument::None, Some('Z')),
    long("null-data", Argument::None, Some('z')),
    long("only-matching", Argument::None, Some('o')),
    long("perl-regexp", Argument::None, Some('P')),
    long("quiet", Argument::None, Some('q')),
    long("recursive", Argument::None, Some('r')),
    long("regexp", Argument::Required, Some('e')),
    long("silent", Argument::None, Some('q')),
    long("text", Argument::None, Some('a')),
    long("unix-byte-offsets", Argument::None, Some('u')),
    long("version", Argument::None, None),
    long("with-filename", Argument::None, Some('H')),
    long("word-regexp", Argument::None, Some('w')),
];

/// Finds the long option of a name, or the only one that begins with it.
fn find_long(name: &str) -> Result<&'static LongOption, String> {
    if let Some(option) = LONG_OPTIONS.iter().find(|option| option.name == name) {
        return Ok(option);
    }
    let candidates: Vec<&LongOption> = LONG_OPTIONS.iter().filter(|option| option.name.starts_with(name)).collect();
    match candidates.as_slice() {
        [] => Err(usage_error(format!("grep: unrecognized option '--{name}'\n"))),
        [only] => Ok(only),
        several => {
            let names: Vec<String> = several.iter().map(|option| format!("'--{}'", option.name)).collect();
            let names = names.join(" ");
            Err(usage_error(format!("grep: option '--{name}' is ambiguous; possibilities: {names}\n")))
        }
    }
}

fn usage_error(message: impl Into<String>) -> String {
    message.into() + USAGE
}

type Arguments<'a> = std::slice::Iter<'a, String>;

impl GrepOptions {
    /// Reads the command line.
    ///
    /// # Errors
    ///
    /// The message of GNU grep, with which it exits with status 2.
    pub(super) fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = GrepOptions::default();
        let mut operands = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                operands.extend(args.by_ref().cloned());
            } else if let Some(option) = arg.strip_prefix("--") {
                options.parse_long(option, &mut args)?;
            } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                options.parse_short(letters, &mut args)?;
            } else {
                operands.push(arg.clone());
            }
        }
        if options.patterns.is_empty() && options.pattern_files.is_empty() {
            if operands.is_empty() {
                return Err(USAGE.to_owned());
            }
            options.patterns.push(operands.remove(0));
        }
        options.files = operands;
        Ok(options)
    }

    fn parse_long(&mut self, option: &str, args: &mut Arguments<'_>) -> Result<(), String> {
        let (name, inline) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let option = find_long(name)?;
        let name = option.name;
        let value = match option.argument {
            Argument::None if inline.is_some() => {
                return Err(usage_error(format!("grep: option '--{name}' doesn't allow an argument\n")));
            }
            Argument::None => String::new(),
            Argument::Optional => inline.unwrap_or_default(),
            Argument::Required => inline
                .or_else(|| args.next().cloned())
                .ok_or_else(|| usage_error(format!("grep: option '--{name}' requires an argument\n")))?,
        };
        match option.short {
            Some(letter) if option.argument == Argument::None => self.set_flag(letter),
            Some(letter) => self.set_value(letter, value),
            None => self.set_long(name, value),
        }
    }

    /// Reads an argument of short options; consecutive digits in it are one number of lines (`-NUM`).
    fn parse_short(&mut self, letters: &str, args: &mut Arguments<'_>) -> Result<(), String> {
        let mut number: Option<usize> = None;
        for (index, letter) in letters.char_indices() {
            if let Some(digit) = letter.to_digit(10) {
                number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
                self.context.around = number;
                continue;
            }
            number = None;
            if matches!(letter, 'A' | 'B' | 'C' | 'D' | 'd' | 'e' | 'f' | 'm' | 'X') {
                let rest = &letters[index + letter.len_utf8()..];
                let value = if rest.is_empty() { args.next().cloned() } else { Some(rest.to_owned()) };
                let value =
                    value.ok_or_else(|| usage_error(format!("grep: option requires an argument -- '{letter}'\n")))?;
                return self.set_value(letter, value);
            }
            self.set_flag(letter)?;
        }
        Ok(())
    }

    fn set_flag(&mut self, letter: char) -> Result<(), String> {
        match letter {
            'i' | 'y' => self.ignore_case = true,
            'v' => self.invert_match = true,
            'n' => self.line_numbers = true,
            'c' => self.count_only = true,
            'l' => self.list_files(true),
            'L' => self.list_files(false),
            'o' => self.only_matching = true,
            'w' => self.word_match = true,
            'x' => self.line_match = true,
            'F' => self.syntax = Syntax::Fixed,
            'E' => self.syntax = Syntax::Extended,
            'G' => self.syntax = Syntax::Basic,
            'P' => self.syntax = Syntax::Perl,
            'q' => self.quiet = true,
            'H' => self.with_filename = Some(true),
            'h' => self.with_filename = Some(false),
            'b' => self.byte_offset = true,
            'a' => self.binary_files = BinaryFiles::Text,
            'I' => self.binary_files = BinaryFiles::WithoutMatch,
            'z' => self.null_data = true,
            's' => self.suppress_errors = true,
            'Z' => self.null_filename = true,
            'T' => self.initial_tab = true,
            'r' => self.directories = Directories::Recurse,
            'R' => {
                self.directories = Directories::Recurse;
                self.dereference = true;
            }
            // Files and offsets are binary anyway where lines end in `\n` alone.
            'U' | 'u' => {}
            _ => return Err(usage_error(format!("grep: invalid option -- '{letter}'\n"))),
        }
        Ok(())
    }

    fn set_value(&mut self, letter: char, value: String) -> Result<(), String> {
        match letter {
            'A' => self.context.after = Some(context_length(&value)?),
            'B' => self.context.before = Some(context_length(&value)?),
            'C' => self.context.around = Some(context_length(&value)?),
            'e' => self.patterns.push(value),
            'f' => self.pattern_files.push(value),
            'm' => self.max_count = Some(max_count(&value)?),
            'd' => self.directories = directories(&value)?,
            // Nothing that is searched is a device.
            'D' if matches!(value.as_str(), "read" | "skip") => {}
            'D' => return Err("grep: unknown devices method\n".to_owned()),
            'X' => self.syntax = matcher_syntax(&value)?,
            _ => unreachable!("the caller passes only options that take a value"),
        }
        Ok(())
    }

    /// Sets an option that has no short form.
    fn set_long(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "no-ignore-case" => self.ignore_case = false,
            "binary-files" => self.binary_files = binary_files(&value)?,
            "label" => self.label = Some(value),
            "group-separator" => self.group_separator = Some(value),
            "no-group-separator" => self.group_separator = None,
            "color" | "colour" => self.color = is_colored(&value)?,
            // The output is one piece, or goes out as lines are found.
            "line-buffered" => {}
            "include" => self.file_globs.push(FileGlob::include(value)),
            "exclude" => self.file_globs.push(FileGlob::exclude(value)),
            "exclude-dir" => self.excluded_directories.push(value.trim_end_matches('/').to_owned()),
            "exclude-from" => self.exclude_from.push(value),
            // Spelled out, they are answered before the command line is read.
            "help" | "version" => return Err(format!("grep: option '--{name}' must be spelled out in full\n")),
            _ => unreachable!("each entry of LONG_OPTIONS without a short option is handled"),
        }
        Ok(())
    }

    /// Sets `-l` or `-L`, of which the last one counts.
    fn list_files(&mut self, with_matches: bool) {
        self.files_with_matches = with_matches;
        self.files_without_match = !with_matches;
    }

    pub(super) fn is_recursive(&self) -> bool {
        self.directories == Directories::Recurse
    }

    /// Returns true if names or counts of files, or a status alone, are wanted in place of lines.
    pub(super) fn prints_no_lines(&self) -> bool {
        self.count_only || self.ends_at_first_match()
    }

    /// Returns true if the first selected line of a file decides about that file.
    pub(super) fn ends_at_first_match(&self) -> bool {
        self.quiet || self.files_with_matches || self.files_without_match
    }
}

fn context_length(value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("grep: {value}: invalid context length argument\n"))
}

/// Reads the number of `-m`, where a negative one means no limit.
fn max_count(value: &str) -> Result<usize, String> {
    let count: i64 = value.parse().map_err(|_| "grep: invalid max count\n".to_owned())?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn directories(value: &str) -> Result<Directories, String> {
    const ACTIONS: [(&str, Directories); 3] =
        [("read", Directories::Read), ("recurse", Directories::Recurse), ("skip", Directories::Skip)];
    option_word("--directories", value, &ACTIONS).map_err(|message| usage_error(format!("grep: {message}\n")))
}

fn binary_files(value: &str) -> Result<BinaryFiles, String> {
    match value {
        "binary" => Ok(BinaryFiles::Message),
        "text" => Ok(BinaryFiles::Text),
        "without-match" => Ok(BinaryFiles::WithoutMatch),
        _ => Err("grep: unknown binary-files type\n".to_owned()),
    }
}

/// Reads the value of `--color`; where output may be a terminal (`auto`), it is none here.
fn is_colored(value: &str) -> Result<bool, String> {
    match value {
        "always" | "yes" | "force" => Ok(true),
        "" | "auto" | "tty" | "if-tty" | "never" | "no" | "none" => Ok(false),
        _ => Err(usage_error("")),
    }
}

/// Reads the value of `-X`, which the manual does not mention.
fn matcher_syntax(value: &str) -> Result<Syntax, String> {
    match value {
        "grep" => Ok(Syntax::Basic),
        "egrep" => Ok(Syntax::Extended),
        "fgrep" => Ok(Syntax::Fixed),
        "perl" => Ok(Syntax::Perl),
        _ => Err(format!("grep: invalid matcher {value}\n")),
    }
}
