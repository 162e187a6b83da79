//! Patterns of `grep`: basic, extended, fixed and Perl's, with POSIX's leftmost-longest matches but for the last.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`translator`], [`bracket`] | translation of POSIX's expressions to the syntax of the crate `regex` |
//! | [`matcher`] | compiled patterns and their matches |
//!
//! Decisions (GNU grep 3.11 in a UTF-8 locale is the reference):
//! - Matching reuses `awk::regex::AwkRegex` (leftmost-first find + anchored
//!   `MatchKind::All` DFA for the longest end), so `grep -oE 'ab|abcd'`
//!   prints `abcd`. Only the translation differs from awk's gawk dialect:
//!   `.` does not match newline, `\b` is a word boundary (not backspace),
//!   backslash is literal inside brackets, and errors are GNU's messages.
//! - Back-references (`\(a\)\1`, also in ERE) need a backtracking engine:
//!   such pattern sets compile with fancy-regex (leftmost-first, bounded by
//!   `FANCY_BACKTRACK_LIMIT`, TM-DOS-025).
//! - Syntax errors carry glibc's `regerror` text ("Unmatched ( or \\(",
//!   "Invalid content of \\{\\}", ...). A leading ERE repetition operator
//!   (`*a`, `(+b)`, `a|{1}c`) applies to nothing: it is dropped and the
//!   dfa.c warning ("* at start of expression") is reported. glibc skips a
//!   leading `{` even when it does not open a valid interval.
//! - Stacked repetitions (`a**`, `a+?`, `a*\{1\}`) wrap the previous
//!   repetition in a group, since `regex` rejects or reinterprets them
//!   (`+?` would be lazy).
//! - Bracket ranges with a non-ASCII endpoint fail with "Invalid collation
//!   character", as in glibc's C.UTF-8. Multi-character collating elements
//!   (`[[.ch.]]`) are rejected the same way.
//! - `[:alpha:]` & co. are Unicode-aware (C.UTF-8 classifies Unicode);
//!   under `-i`, `[:upper:]`/`[:lower:]` match any letter like glibc.
//! - The warning "stray \\ before X" (grep >= 3.8) is not written.
//! - THREAT[TM-DOS-023]: every compiled program uses the shared regex size
//!   limits; intervals above RE_DUP_MAX (32767) are rejected up front.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod bracket;
mod matcher;
#[cfg(test)]
mod tests;
mod translator;

pub(crate) use self::matcher::PatternMatcher;
use self::translator::{Dialect, Translated, translate};
use super::perl;
use crate::commands::awk::regex::{AwkRegex, RegexError};
use bashkit::builtins::search_common::{FANCY_BACKTRACK_LIMIT, REGEX_DFA_SIZE_LIMIT, REGEX_SIZE_LIMIT};

/// Syntax of the patterns of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Basic,
    Extended,
    Fixed,
    Perl,
}

/// Options of a call that change what its patterns match.
pub(crate) struct CompileOptions {
    pub(crate) syntax: Syntax,
    pub(crate) icase: bool,
    pub(crate) word: bool,
    pub(crate) line: bool,
    /// Option `-z`: records may contain newlines, which `.` then matches.
    pub(crate) null_data: bool,
    /// True in the locale C, as [`AwkRegex::matching_bytes`] has it.
    pub(crate) bytes_match: bool,
}

/// Patterns in the syntax of the crate `regex`, one by one.
#[derive(Default)]
struct TranslatedList {
    parts: Vec<String>,
    /// True if they need backtracking.
    fancy: bool,
    warnings: Vec<String>,
}

/// Compiles the patterns of a call. Returns what matches them, and warnings such as those of grep's dfa.c. The error is
/// the message without the command's name.
pub(crate) fn compile(patterns: &[String], options: &CompileOptions) -> Result<(PatternMatcher, Vec<String>), String> {
    if patterns.is_empty() {
        return Ok((PatternMatcher::Nothing, Vec::new()));
    }
    let list = match options.syntax {
        Syntax::Perl => return compile_perl(patterns, options).map(|matcher| (matcher, Vec::new())),
        Syntax::Fixed => {
            let parts = patterns.iter().map(|pattern| regex::escape(pattern)).collect();
            TranslatedList { parts, ..TranslatedList::default() }
        }
        Syntax::Basic => translate_list(patterns, Dialect::Basic, options.icase)?,
        Syntax::Extended => translate_list(patterns, Dialect::Extended, options.icase)?,
    };
    let pattern = flags(options) + &whole_pattern(&list, options);
    let matcher = match list.fancy {
        true => compile_fancy(&pattern)?,
        false => compile_posix(pattern, true, options).map_err(|error| match error.0 {
            message if message.contains("too big") => "Regular expression too big".to_string(),
            message => message,
        })?,
    };
    Ok((matcher, list.warnings))
}

/// Translates the patterns, once more for backtracking if one of them needs that.
fn translate_list(patterns: &[String], dialect: Dialect, icase: bool) -> Result<TranslatedList, String> {
    let translate_all = |fancy: bool| -> Result<Vec<Translated>, String> {
        let mut groups = 0;
        let translate_next = |pattern: &String| {
            let translated = translate(pattern, dialect, icase, fancy, groups)?;
            groups += translated.groups;
            Ok(translated)
        };
        patterns.iter().map(translate_next).collect()
    };
    let mut translated = translate_all(false)?;
    let fancy = translated.iter().any(|pattern| pattern.backrefs);
    if fancy {
        translated = translate_all(true)?;
    }
    let mut list = TranslatedList { fancy, ..TranslatedList::default() };
    for pattern in translated {
        list.warnings.extend(pattern.warnings);
        list.parts.push(pattern.rust);
    }
    Ok(list)
}

/// Returns one pattern that matches where one of the list does, as a word or a line if that is asked for.
fn whole_pattern(list: &TranslatedList, options: &CompileOptions) -> String {
    let combined = match &list.parts[..] {
        [single] => single.clone(),
        parts => parts.iter().map(|part| format!("(?:{part})")).collect::<Vec<_>>().join("|"),
    };
    match (options.line, options.word) {
        (true, _) => format!("^(?:{combined})$"),
        (false, true) if list.fancy => format!(r"(?<![\w])(?:{combined})(?![\w])"),
        (false, true) => format!(r"\b{{start-half}}(?:{combined})\b{{end-half}}"),
        (false, false) => combined,
    }
}

/// Returns the flags that stand before a pattern.
fn flags(options: &CompileOptions) -> String {
    let flags = match (options.icase, options.null_data) {
        (true, true) => "(?is)",
        (true, false) => "(?i)",
        (false, true) => "(?s)",
        (false, false) => "",
    };
    flags.to_string()
}

fn compile_posix(pattern: String, longest: bool, options: &CompileOptions) -> Result<PatternMatcher, RegexError> {
    let regex = AwkRegex::from_translated(pattern, longest)?;
    Ok(PatternMatcher::Posix(Box::new(regex.matching_bytes(options.bytes_match))))
}

fn compile_fancy(pattern: &str) -> Result<PatternMatcher, String> {
    fancy_regex::RegexBuilder::new(pattern)
        .delegate_size_limit(REGEX_SIZE_LIMIT)
        .delegate_dfa_size_limit(REGEX_DFA_SIZE_LIMIT)
        .backtrack_limit(FANCY_BACKTRACK_LIMIT)
        .build()
        .map(PatternMatcher::Fancy)
        .map_err(|e| fancy_error(&e))
}

/// Compiles the one pattern of `-P`, as PCRE2 reads it. Option `-z` changes nothing.
fn compile_perl(patterns: &[String], options: &CompileOptions) -> Result<PatternMatcher, String> {
    let [pattern] = patterns else {
        return Err("the -P option only supports a single pattern".to_string());
    };
    // As grep does it: `-w` is written around the pattern, in its own syntax.
    let wrapped = if options.word && !options.line { format!(r"(?<!\w)(?:{pattern})(?!\w)") } else { pattern.clone() };
    let written = perl::translate(&wrapped, options.icase)?;
    let mut full = written.text;
    if options.line {
        full = format!(r"\A(?:{full})\z");
    }
    if options.icase {
        full = format!("(?i){full}");
    }
    if written.fancy {
        return compile_fancy(&full);
    }
    compile_posix(full, false, options).map_err(|error| match error.0.as_str() {
        "regular expression too big" => "regular expression is too large".to_string(),
        _ => error.0,
    })
}

fn fancy_error(e: &fancy_regex::Error) -> String {
    let s = e.to_string();
    if s.contains("too big") || s.contains("size limit") {
        return "Regular expression too big".to_string();
    }
    let line = s.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("invalid regular expression");
    line.trim().chars().take(200).collect()
}
