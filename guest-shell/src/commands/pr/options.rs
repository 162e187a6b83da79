//! Command-line options of `pr`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

const HEADER_LINES: usize = 5;

/// Lines at the end of a page with a header.
pub(super) const TRAILER_LINES: usize = 5;

const DEFAULT_PAGE_LENGTH: usize = 66;
const DEFAULT_WIDTH: usize = 72;

/// Largest length, width, indent, and number of columns and digits. It bounds the growth of a small input.
const MAX_DIMENSION: usize = 10_000;

/// Key of `--columns`, which has no short option.
const COLUMNS_KEY: char = '#';

const LONG: [(&str, char); 19] = [
    ("across", 'a'),
    ("columns", COLUMNS_KEY),
    ("date-format", 'D'),
    ("double-space", 'd'),
    ("first-line-number", 'N'),
    ("form-feed", 'F'),
    ("header", 'h'),
    ("indent", 'o'),
    ("join-lines", 'J'),
    ("length", 'l'),
    ("merge", 'm'),
    ("no-file-warnings", 'r'),
    ("number-lines", 'n'),
    ("omit-header", 't'),
    ("omit-pagination", 'T'),
    ("page-width", 'W'),
    ("sep-string", 'S'),
    ("separator", 's'),
    ("width", 'w'),
];

/// Command-line options of one call.
pub(super) struct PrOptions {
    pub(super) columns: usize,
    /// True if columns are filled across, instead of down.
    pub(super) across: bool,
    pub(super) double_space: bool,
    pub(super) date_format: String,
    pub(super) form_feed: bool,
    /// Title that replaces the name of the file.
    pub(super) header: Option<String>,
    join: bool,
    page_length: usize,
    /// True if all files are printed side by side.
    pub(super) merge: bool,
    /// Character after the number of a line, and number of digits.
    pub(super) numbering: Option<(char, usize)>,
    pub(super) first_number: i64,
    /// Number of blanks before each line.
    pub(super) indent: usize,
    /// Separator of `-s`. With it, columns are padded only if there is a width.
    separator_letter: Option<String>,
    /// Separator of `-S`.
    separator_text: Option<String>,
    omit_header: bool,
    /// Width of `-w`.
    column_line_width: Option<usize>,
    /// Width of `-W`, which also truncates lines of a single column.
    pub(super) cut_width: Option<usize>,
    first_page: usize,
    last_page: Option<usize>,
    /// Names of files, at least one; `-` is standard input.
    pub(super) files: Vec<String>,
}

impl Default for PrOptions {
    fn default() -> Self {
        Self {
            columns: 1,
            across: false,
            double_space: false,
            date_format: "%Y-%m-%d %H:%M".to_owned(),
            form_feed: false,
            header: None,
            join: false,
            page_length: DEFAULT_PAGE_LENGTH,
            merge: false,
            numbering: None,
            first_number: 1,
            indent: 0,
            separator_letter: None,
            separator_text: None,
            omit_header: false,
            column_line_width: None,
            cut_width: None,
            first_page: 1,
            last_page: None,
            files: Vec::new(),
        }
    }
}

impl PrOptions {
    /// Parses a command line. The error is the result of an invalid call.
    pub(super) fn parse(words: &[String]) -> Result<Self, ExecResult> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                // `+0` is not a page number, and therefore a file.
                "-" | "+0" => options.files.push(word.clone()),
                "--" => options.files.extend(words.by_ref().cloned()),
                _ => {
                    if let Some(pages) = word.strip_prefix('+') {
                        options.take_pages(pages)?;
                    } else if let Some(option) = word.strip_prefix("--") {
                        options.take_long(option, &mut words)?;
                    } else if let Some(letters) = word.strip_prefix('-') {
                        options.take_letters(letters, &mut words)?;
                    } else {
                        options.files.push(word.clone());
                    }
                }
            }
        }
        if options.files.is_empty() {
            options.files.push("-".to_owned());
        }
        if options.merge {
            options.columns = options.files.len();
        }
        // Otherwise there would be no room for a body.
        options.omit_header |= options.page_length <= HEADER_LINES + TRAILER_LINES;
        Ok(options)
    }

    /// Returns true if pages have headers and trailers.
    pub(super) fn has_headers(&self) -> bool {
        !self.omit_header
    }

    /// Returns the number of lines of a page without header and trailer.
    pub(super) fn body_lines(&self) -> usize {
        match self.omit_header {
            true => self.page_length,
            false => self.page_length - HEADER_LINES - TRAILER_LINES,
        }
    }

    /// Returns the number of rows of a page, at least one.
    pub(super) fn rows_per_page(&self) -> usize {
        let lines = self.body_lines();
        let rows = if self.double_space { lines.div_ceil(2) } else { lines };
        rows.max(1)
    }

    /// Returns true if a page is printed.
    pub(super) fn prints_page(&self, page: usize) -> bool {
        page >= self.first_page && self.last_page.is_none_or(|last| page <= last)
    }

    /// Returns the width of a line of several columns, and of a header.
    pub(super) fn line_width(&self) -> usize {
        self.cut_width.or(self.column_line_width).unwrap_or(DEFAULT_WIDTH)
    }

    /// Returns true if text in columns is truncated and padded.
    pub(super) fn has_column_width(&self) -> bool {
        let has_width = self.column_line_width.is_some() || self.cut_width.is_some();
        !self.join && (self.separator_letter.is_none() || has_width)
    }

    /// Returns the text between columns.
    pub(super) fn separator(&self) -> &str {
        match (&self.separator_text, &self.separator_letter) {
            (Some(text), _) => text,
            (None, Some(letter)) => &letter[..letter.chars().next().map_or(0, char::len_utf8)],
            (None, None) if self.join => "\t",
            (None, None) => " ",
        }
    }

    fn take_pages(&mut self, pages: &str) -> Result<(), ExecResult> {
        let (first, last) = match pages.split_once(':') {
            Some((first, last)) => (first, Some(last)),
            None => (pages, None),
        };
        let page = |text: &str| {
            let page = text.parse().ok().filter(|page| *page >= 1);
            page.ok_or_else(|| value_error(&format!("invalid + argument '{pages}'")))
        };
        self.first_page = page(first)?;
        if let Some(last) = last {
            self.last_page = Some(page(last)?);
        }
        Ok(())
    }

    fn take_long(&mut self, option: &str, words: &mut Iter<'_, String>) -> Result<(), ExecResult> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let (name, key) = long_option(option, name)?;
        let value = match argument_of(key) {
            Some(OptArg::No) if value.is_some() => {
                return Err(usage_error(&format!("option '--{name}' doesn't allow an argument")));
            }
            Some(OptArg::Required) => {
                let value = value.or_else(|| words.next().map(String::as_str));
                Some(value.ok_or_else(|| usage_error(&format!("option '--{name}' requires an argument")))?)
            }
            _ => value,
        };
        self.take(key, value)
    }

    fn take_letters(&mut self, letters: &str, words: &mut Iter<'_, String>) -> Result<(), ExecResult> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            if letter.is_ascii_digit() {
                let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
                let (digits, behind) = rest.split_at(end);
                self.take(COLUMNS_KEY, Some(digits))?;
                rest = behind;
                continue;
            }
            rest = &rest[letter.len_utf8()..];
            let attached = Some(rest).filter(|value| !value.is_empty());
            match argument_of(letter).filter(|_| letter != COLUMNS_KEY) {
                Some(OptArg::No) => self.take(letter, None)?,
                Some(OptArg::Optional) => return self.take(letter, attached),
                Some(OptArg::Required) => {
                    let value = attached.or_else(|| words.next().map(String::as_str));
                    let missing = || usage_error(&format!("option requires an argument -- '{letter}'"));
                    return self.take(letter, Some(value.ok_or_else(missing)?));
                }
                None => return Err(usage_error(&format!("invalid option -- '{letter}'"))),
            }
        }
        Ok(())
    }

    fn take(&mut self, key: char, value: Option<&str>) -> Result<(), ExecResult> {
        let text = value.unwrap_or_default();
        match key {
            'a' => self.across = true,
            'd' => self.double_space = true,
            'D' => self.date_format = text.to_owned(),
            'F' | 'f' => self.form_feed = true,
            'h' => self.header = Some(text.to_owned()),
            'J' => self.join = true,
            'l' => self.page_length = dimension("'-l PAGE_LENGTH' invalid number of lines", text, 1)?,
            'm' => self.merge = true,
            'n' => self.numbering = Some(parse_numbering(text)?),
            'N' => {
                let number = text.parse();
                let message = || value_error(&format!("'-N NUMBER' invalid starting line number: '{text}'"));
                self.first_number = number.map_err(|_| message())?;
            }
            'o' => self.indent = dimension("'-o MARGIN' invalid line offset", text, 0)?,
            's' => self.separator_letter = Some(value.unwrap_or("\t").to_owned()),
            'S' => self.separator_text = Some(text.to_owned()),
            't' => self.omit_header = true,
            'T' => (self.omit_header, self.form_feed) = (true, false),
            'w' => {
                let width = dimension("'-w PAGE_WIDTH' invalid number of characters", text, 1)?;
                self.column_line_width = Some(width);
            }
            'W' => self.cut_width = Some(dimension("'-W PAGE_WIDTH' invalid number of characters", text, 1)?),
            COLUMNS_KEY => self.columns = dimension("invalid number of columns", text, 1)?,
            _ => {}
        }
        Ok(())
    }
}

/// Returns the whole name and the key of a long option, whose name may be abbreviated.
fn long_option(option: &str, name: &str) -> Result<(&'static str, char), ExecResult> {
    let known = || LONG.iter().copied().chain([("help", '?'), ("version", '?')]);
    let matching: Vec<(&str, char)> = known().filter(|(known, _)| known.starts_with(name)).collect();
    let exact = matching.iter().find(|(known, _)| *known == name);
    match (exact, matching.as_slice()) {
        (Some(found), _) | (None, [found]) if found.1 != '?' => Ok(*found),
        (Some(_), _) | (None, [] | [_]) => Err(usage_error(&format!("unrecognized option '--{option}'"))),
        (None, several) => {
            let names: String = several.iter().map(|(name, _)| format!(" '--{name}'")).collect();
            Err(usage_error(&format!("option '--{name}' is ambiguous; possibilities:{names}")))
        }
    }
}

/// Returns whether an option takes a value, or `None` if it does not exist.
fn argument_of(key: char) -> Option<OptArg> {
    match key {
        'a' | 'c' | 'd' | 'F' | 'f' | 'J' | 'm' | 'r' | 't' | 'T' | 'v' => Some(OptArg::No),
        'n' | 's' | 'S' => Some(OptArg::Optional),
        'D' | 'h' | 'l' | 'N' | 'o' | 'w' | 'W' | COLUMNS_KEY => Some(OptArg::Required),
        _ => None,
    }
}

/// Parses a number of lines, columns or characters.
fn dimension(meaning: &str, text: &str, least: usize) -> Result<usize, ExecResult> {
    if let Some(number) = text.parse().ok().filter(|number| (least..=MAX_DIMENSION).contains(number)) {
        return Ok(number);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty();
    let reason = if is_number { ": Numerical result out of range" } else { "" };
    Err(value_error(&format!("{meaning}: '{text}'{reason}")))
}

/// Parses the value of `-n`: an optional character that is not a digit, and a number of digits.
fn parse_numbering(text: &str) -> Result<(char, usize), ExecResult> {
    let mut letters = text.chars();
    let (separator, digits) = match letters.next() {
        Some(letter) if !letter.is_ascii_digit() => (letter, letters.as_str()),
        _ => ('\t', text),
    };
    if digits.is_empty() {
        return Ok((separator, 5));
    }
    if let Some(width) = digits.parse().ok().filter(|width| (1..=MAX_DIMENSION).contains(width)) {
        return Ok((separator, width));
    }
    let wrong = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let wrong = if wrong.is_empty() { digits } else { wrong };
    Err(usage_error(&format!("'-n' extra characters or invalid number in the argument: '{wrong}'")))
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("pr: {message}\nTry 'pr --help' for more information.\n"), 1)
}

/// Returns the result of an invalid value, for which GNU's prints no hint.
fn value_error(message: &str) -> ExecResult {
    ExecResult::err(format!("pr: {message}\n"), 1)
}
