//! Options of `diff`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;

use crate::commands::option_parser::getopt_long;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use super::formats::DiffFormats;
use super::trouble;
use crate::commands::sed::translate_posix_regex;
use regex::bytes::Regex;

/// Lines of context if no number is given.
const DEFAULT_CONTEXT: usize = 3;

/// Letters of a line of `-y` if no width is given.
const DEFAULT_WIDTH: usize = 130;

/// Format of the output, with the number of lines of context.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DiffStyle {
    Normal,
    Unified(usize),
    Context(usize),
    Ed,
    /// Script of ed in the order of the lines, which ed cannot run (`-f`).
    ForwardEd,
    Rcs,
    SideBySide,
    /// Formats of lines and groups decide (`--line-format`, `--changed-group-format`).
    Formatted,
}

/// Options of one call.
pub(super) struct DiffOptions {
    pub(super) style: DiffStyle,
    /// Only tells that files differ.
    pub(super) brief: bool,
    /// Tells of files that are the same.
    pub(super) report_identical: bool,
    pub(super) recursive: bool,
    /// Files that are not there are empty.
    pub(super) new_file: bool,
    pub(super) ignore_case: bool,
    pub(super) ignore_trailing_space: bool,
    pub(super) ignore_space_change: bool,
    pub(super) ignore_all_space: bool,
    pub(super) ignore_blank_lines: bool,
    pub(super) strip_trailing_cr: bool,
    /// No file is binary.
    pub(super) text: bool,
    /// Letters of a line of `-y`.
    pub(super) width: usize,
    pub(super) left_column: bool,
    pub(super) suppress_common_lines: bool,
    pub(super) labels: Vec<String>,
    /// Patterns of names that are left out in directories (`-x`).
    pub(super) exclude: Vec<String>,
    /// Files of such patterns (`-X`).
    pub(super) exclude_files: Vec<String>,
    /// Changes of which all lines match are ignored (`-I`).
    pub(super) ignore_matching: Vec<Regex>,
    /// The last line before a hunk that matches is shown with it (`-F`, `-p`).
    pub(super) function_line: Option<Regex>,
    pub(super) color: bool,
    /// A tab stands behind the mark of a line (`-T`).
    pub(super) initial_tab: bool,
    /// Tabs of lines are printed as blanks (`-t`).
    pub(super) expands_tabs: bool,
    pub(super) ignore_tab_expansion: bool,
    pub(super) formats: DiffFormats,
    /// Options as they were given, for the lines that tell of files in directories.
    pub(super) words: String,
}

const LONG: [(&str, OptArg, char); 42] = [
    ("brief", OptArg::No, 'q'),
    ("changed-group-format", OptArg::Required, '5'),
    ("color", OptArg::Optional, '4'),
    ("context", OptArg::Optional, 'C'),
    ("ed", OptArg::No, 'e'),
    ("expand-tabs", OptArg::No, 't'),
    ("forward-ed", OptArg::No, 'f'),
    ("exclude", OptArg::Required, 'x'),
    ("exclude-from", OptArg::Required, 'X'),
    ("horizon-lines", OptArg::Required, 'd'),
    ("ignore-all-space", OptArg::No, 'w'),
    ("ignore-blank-lines", OptArg::No, 'B'),
    ("ignore-case", OptArg::No, 'i'),
    ("ignore-matching-lines", OptArg::Required, 'I'),
    ("ignore-space-change", OptArg::No, 'b'),
    ("ignore-tab-expansion", OptArg::No, 'E'),
    ("ignore-trailing-space", OptArg::No, 'Z'),
    ("label", OptArg::Required, 'L'),
    ("initial-tab", OptArg::No, 'T'),
    ("left-column", OptArg::No, '1'),
    ("line-format", OptArg::Required, '6'),
    ("minimal", OptArg::No, 'd'),
    ("new-file", OptArg::No, 'N'),
    ("new-group-format", OptArg::Required, '7'),
    ("new-line-format", OptArg::Required, '8'),
    ("normal", OptArg::No, '0'),
    ("old-group-format", OptArg::Required, '9'),
    ("old-line-format", OptArg::Required, 'A'),
    ("rcs", OptArg::No, 'n'),
    ("recursive", OptArg::No, 'r'),
    ("report-identical-files", OptArg::No, 's'),
    ("show-c-function", OptArg::No, 'p'),
    ("show-function-line", OptArg::Required, 'F'),
    ("side-by-side", OptArg::No, 'y'),
    ("speed-large-files", OptArg::No, 'd'),
    ("strip-trailing-cr", OptArg::No, '2'),
    ("suppress-common-lines", OptArg::No, '3'),
    ("text", OptArg::No, 'a'),
    ("unchanged-group-format", OptArg::Required, 'D'),
    ("unchanged-line-format", OptArg::Required, 'G'),
    ("unified", OptArg::Optional, 'U'),
    ("width", OptArg::Required, 'W'),
];

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            style: DiffStyle::Normal,
            brief: false,
            report_identical: false,
            recursive: false,
            new_file: false,
            ignore_case: false,
            ignore_trailing_space: false,
            ignore_space_change: false,
            ignore_all_space: false,
            ignore_blank_lines: false,
            strip_trailing_cr: false,
            text: false,
            width: DEFAULT_WIDTH,
            left_column: false,
            suppress_common_lines: false,
            labels: Vec::new(),
            exclude: Vec::new(),
            exclude_files: Vec::new(),
            ignore_matching: Vec::new(),
            function_line: None,
            color: false,
            initial_tab: false,
            expands_tabs: false,
            ignore_tab_expansion: false,
            formats: DiffFormats::default(),
            words: String::new(),
        }
    }
}

impl DiffOptions {
    /// Reads a command line into options and names of files. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        // The obsolete `-NUM` is the number of lines of context.
        let is_number = |word: &String| word.len() > 1 && word[1..].bytes().all(|byte| byte.is_ascii_digit());
        let (numbers, rest): (Vec<String>, Vec<String>) =
            words.iter().flat_map(|word| split_number(word)).partition(|word| word.starts_with('-') && is_number(word));
        let parsed = getopt_long("diff", &rest, "BC:EF:HI:L:NTU:W:X:Zabcdefinpqrstuwx:y", &LONG, true, 2);
        let (given, files) =
            parsed.map_err(|error| trouble(error.stderr.text_lossy().trim_start_matches("diff: ").trim_end()))?;
        let mut options = Self::default();
        let mut style = None;
        // Unlike `-F`, it asks for context.
        let shows_function = given.iter().any(|option| option.key == 'p');
        for option in given {
            match style_of(&option)? {
                Some(chosen) => style = Some(combine(style, chosen)?),
                None => options.take(option)?,
            }
        }
        options.style = match style {
            None if shows_function => DiffStyle::Context(DEFAULT_CONTEXT),
            None if options.formats.are_given() => DiffStyle::Formatted,
            None => DiffStyle::Normal,
            Some(_) if options.formats.are_given() => return Err(trouble("conflicting output style options")),
            Some(style) => style,
        };
        let keeps_tabs = [DiffStyle::Ed, DiffStyle::ForwardEd, DiffStyle::Rcs, DiffStyle::Formatted];
        if options.expands_tabs && keeps_tabs.contains(&options.style) {
            return Err(trouble("tabs are not expanded in this output style"));
        }
        let context = numbers.last().and_then(|word| word[1..].parse().ok());
        if let (DiffStyle::Unified(lines) | DiffStyle::Context(lines), Some(context)) = (&mut options.style, context) {
            *lines = context;
        }
        let is_file = |word: &&String| files.contains(*word) && !word.starts_with('-');
        let words = words.iter().filter(|word| !is_file(word) && *word != "-" && *word != "--");
        options.words = words.map(|word| format!(" {}", shell_word(word))).collect();
        Ok((options, files))
    }

    /// Takes an option that chooses no style.
    fn take(&mut self, option: ParsedOpt) -> Result<(), ExecResult> {
        let value = option.value.unwrap_or_default();
        match option.key {
            'q' => self.brief = true,
            's' => self.report_identical = true,
            'r' => self.recursive = true,
            'N' => self.new_file = true,
            'i' => self.ignore_case = true,
            'Z' => self.ignore_trailing_space = true,
            'b' => self.ignore_space_change = true,
            'w' => self.ignore_all_space = true,
            'B' => self.ignore_blank_lines = true,
            '1' => self.left_column = true,
            '2' => self.strip_trailing_cr = true,
            '3' => self.suppress_common_lines = true,
            'a' => self.text = true,
            'L' => self.labels.push(value),
            'W' => {
                let width = value.parse().ok().filter(|width| *width > 0);
                self.width = width.ok_or_else(|| trouble(&format!("invalid width '{value}'")))?;
            }
            'x' => self.exclude.push(value),
            'X' => self.exclude_files.push(value),
            'I' => self.ignore_matching.push(regular_expression(&value)?),
            'F' => self.function_line = Some(regular_expression(&value)?),
            'p' => self.function_line = Some(regular_expression("^[[:alpha:]$_]")?),
            '4' => self.color = color_of(&value)?,
            'T' => self.initial_tab = true,
            't' => self.expands_tabs = true,
            'E' => self.ignore_tab_expansion = true,
            '5'..='9' | 'A' | 'D' | 'G' => self.formats.set(option.key, value),
            // `-d` and `-H`: the script is the shortest already.
            _ => {}
        }
        Ok(())
    }

    /// Returns true if lines that are equal are printed.
    pub(super) fn shows_common_lines(&self) -> bool {
        matches!(self.style, DiffStyle::SideBySide | DiffStyle::Formatted) && !self.brief
    }

    /// Returns a line as it is printed.
    pub(super) fn shown_line<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        if self.expands_tabs { expand_tabs(line).into() } else { line.into() }
    }

    /// Returns a line as it is compared.
    pub(super) fn compared_line(&self, line: &[u8]) -> Vec<u8> {
        let mut compared = line.to_vec();
        if self.ignore_tab_expansion {
            compared = expand_tabs(&compared);
        }
        if self.ignore_all_space {
            compared.retain(|byte| !is_space(*byte));
        } else if self.ignore_space_change || self.ignore_trailing_space {
            let end = compared.iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1);
            compared.truncate(end);
        }
        if self.ignore_space_change && !self.ignore_all_space {
            compared = squeeze_spaces(&compared);
        }
        if self.ignore_case {
            compared.make_ascii_lowercase();
        }
        compared
    }
}

/// Splits a word like `-u3` into its letters, if they take no argument, and the number.
fn split_number(word: &str) -> Vec<String> {
    let letters = word.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = &word[letters.len()..];
    let takes_none = |letter: char| "EBHNTZabcdefinpqrstuwy".contains(letter);
    match letters.strip_prefix('-') {
        Some(flags) if !flags.is_empty() && !number.is_empty() && flags.chars().all(takes_none) => {
            vec![letters.to_owned(), format!("-{number}")]
        }
        _ => vec![word.to_owned()],
    }
}

/// Reads a basic regular expression, as `grep` does.
fn regular_expression(text: &str) -> Result<Regex, ExecResult> {
    let pattern = translate_posix_regex(text, false);
    Regex::new(&pattern).map_err(|_| trouble(&format!("{text}: Invalid regular expression")))
}

/// Reads when to colour: never on what is no terminal, unless always.
fn color_of(word: &str) -> Result<bool, ExecResult> {
    match word {
        "" | "auto" | "never" => Ok(false),
        "always" => Ok(true),
        _ => Err(trouble(&format!("invalid color '{word}'"))),
    }
}

/// Returns a word as a shell reads it back.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "%+,-./:=@_".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Replaces tabs by the blanks up to the next stop.
fn expand_tabs(line: &[u8]) -> Vec<u8> {
    let mut expanded = Vec::with_capacity(line.len());
    for byte in line {
        match byte {
            b'\t' => expanded.resize((expanded.len() / 8 + 1) * 8, b' '),
            byte => expanded.push(*byte),
        }
    }
    expanded
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Makes each run of spaces one blank.
fn squeeze_spaces(line: &[u8]) -> Vec<u8> {
    let runs = line.chunk_by(|one, other| is_space(*one) && is_space(*other));
    runs.flat_map(|run| if is_space(run[0]) { b" ".as_slice() } else { run }).copied().collect()
}

/// Returns the style that an option chooses.
fn style_of(option: &ParsedOpt) -> Result<Option<DiffStyle>, ExecResult> {
    let lines = || match &option.value {
        Some(value) => value.parse().map_err(|_| trouble(&format!("invalid context length '{value}'"))),
        None => Ok(DEFAULT_CONTEXT),
    };
    Ok(Some(match option.key {
        '0' => DiffStyle::Normal,
        'c' => DiffStyle::Context(DEFAULT_CONTEXT),
        'C' => DiffStyle::Context(lines()?),
        'u' => DiffStyle::Unified(DEFAULT_CONTEXT),
        'U' => DiffStyle::Unified(lines()?),
        'e' => DiffStyle::Ed,
        'f' => DiffStyle::ForwardEd,
        'n' => DiffStyle::Rcs,
        'y' => DiffStyle::SideBySide,
        _ => return Ok(None),
    }))
}

/// Returns the style of two options, with the larger context.
fn combine(earlier: Option<DiffStyle>, later: DiffStyle) -> Result<DiffStyle, ExecResult> {
    match (earlier, later) {
        (Some(DiffStyle::Unified(one)), DiffStyle::Unified(other)) => Ok(DiffStyle::Unified(one.max(other))),
        (Some(DiffStyle::Context(one)), DiffStyle::Context(other)) => Ok(DiffStyle::Context(one.max(other))),
        (Some(earlier), later) if earlier != later => Err(trouble("conflicting output style options")),
        (_, later) => Ok(later),
    }
}
