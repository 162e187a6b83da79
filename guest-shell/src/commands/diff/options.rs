//! Options of `diff`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt, gnu_getopt};

use super::trouble;

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
    Rcs,
    SideBySide,
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
    /// Options as they were given, for the lines that tell of files in directories.
    pub(super) words: String,
}

const LONG: [(&str, OptArg, char); 21] = [
    ("brief", OptArg::No, 'q'),
    ("context", OptArg::Optional, 'C'),
    ("ed", OptArg::No, 'e'),
    ("ignore-all-space", OptArg::No, 'w'),
    ("ignore-blank-lines", OptArg::No, 'B'),
    ("ignore-case", OptArg::No, 'i'),
    ("ignore-space-change", OptArg::No, 'b'),
    ("ignore-trailing-space", OptArg::No, 'Z'),
    ("label", OptArg::Required, 'L'),
    ("left-column", OptArg::No, '1'),
    ("new-file", OptArg::No, 'N'),
    ("normal", OptArg::No, '0'),
    ("rcs", OptArg::No, 'n'),
    ("recursive", OptArg::No, 'r'),
    ("report-identical-files", OptArg::No, 's'),
    ("side-by-side", OptArg::No, 'y'),
    ("strip-trailing-cr", OptArg::No, '2'),
    ("suppress-common-lines", OptArg::No, '3'),
    ("text", OptArg::No, 'a'),
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
            words: String::new(),
        }
    }
}

impl DiffOptions {
    /// Reads a command line into options and names of files. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        let parsed = gnu_getopt("diff", words, "0123BC:L:NU:W:Zabcdeinqrstuwy", &LONG, true, 2);
        let (given, files) =
            parsed.map_err(|error| trouble(error.stderr.text_lossy().trim_start_matches("diff: ").trim_end()))?;
        let mut options = Self::default();
        let mut style = None;
        for option in given {
            match style_of(&option)? {
                Some(chosen) => style = Some(combine(style, chosen)?),
                None => options.take(option)?,
            }
        }
        options.style = style.unwrap_or(DiffStyle::Normal);
        let words = words.iter().filter(|word| word.len() > 1 && word.starts_with('-'));
        options.words = words.map(|word| format!(" {word}")).collect();
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
            // `-d` and `-t`: the script is the shortest already, and tabs stay.
            _ => {}
        }
        Ok(())
    }

    /// Returns a line as it is compared.
    pub(super) fn compared_line(&self, line: &[u8]) -> Vec<u8> {
        let mut compared = match self.strip_trailing_cr && line.ends_with(b"\r\n") {
            true => [&line[..line.len() - 2], b"\n"].concat(),
            false => line.to_vec(),
        };
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
