//! Command-line options of `tail`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::time::Duration;

use crate::commands::option_parser::{gnu_getopt, option_word};
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

use super::TAIL;
use crate::commands::excerpt::options::{ExcerptOptions, LONG, is_number, obsolete_counts};

/// Long options that only `tail` has, with the keys of [`Following::take`].
const FOLLOW_LONG: [(&str, OptArg, char); 5] = [
    ("follow", OptArg::Optional, 'f'),
    ("max-unchanged-stats", OptArg::Required, 'M'),
    ("pid", OptArg::Required, 'P'),
    ("retry", OptArg::No, 'R'),
    ("sleep-interval", OptArg::Required, 's'),
];

/// Shortest interval between two checks of followed files. Writes of the script itself wake `tail` earlier, so a
/// shorter interval would only consume fuel.
const LEAST_INTERVAL: Duration = Duration::from_millis(50);

/// Command-line options of one call.
pub(super) struct TailOptions {
    pub(super) excerpt: ExcerptOptions,
    pub(super) follow: Option<Following>,
    /// Messages about options that require `-f`.
    pub(super) warnings: String,
}

/// Settings for following files.
#[derive(Clone, Debug)]
pub(super) struct Following {
    /// True if files are followed by name, even if another file takes the name.
    pub(super) by_name: bool,
    /// True if a file may be missing.
    pub(super) retry: bool,
    /// Interval between two checks, in the absence of notifications.
    pub(super) interval: Duration,
    /// Process whose end stops the following.
    pub(super) pid: Option<u32>,
}

impl TailOptions {
    /// Parses a command line. The error is the result of an invalid call.
    pub(super) fn parse(words: &[String]) -> Result<Self, ExecResult> {
        let words = expand_obsolete(words)?;
        let long = [&LONG[..], &FOLLOW_LONG[..]].concat();
        let (given, operands) = gnu_getopt(TAIL.name, &words, "c:n:qvzfFs:", &long, true, 1)?;
        let mut excerpt = ExcerptOptions::new(&TAIL);
        let mut following = Following::default();
        let mut follows = false;
        for option in given {
            follows |= matches!(option.key, 'f' | 'F');
            match option.key {
                'f' | 'F' | 'M' | 'P' | 'R' | 's' => following.take(option.key, option.value.as_deref())?,
                _ => excerpt.take(&TAIL, option)?,
            }
        }
        let excerpt = excerpt.finish(operands);
        let warnings = if follows { String::new() } else { following.warnings() };
        // A pipe is not followed, and without files there is nothing else.
        let only_input = excerpt.files.iter().all(|file| file == "-");
        let follow = (follows && !only_input).then_some(following);
        Ok(Self { excerpt, follow, warnings })
    }
}

impl Default for Following {
    fn default() -> Self {
        Self { by_name: false, retry: false, interval: Duration::from_secs(1), pid: None }
    }
}

impl Following {
    fn take(&mut self, key: char, value: Option<&str>) -> Result<(), ExecResult> {
        let text = value.unwrap_or_default();
        match key {
            'F' => (self.by_name, self.retry) = (true, true),
            'R' => self.retry = true,
            // 0 is not a process.
            'P' => self.pid = Some(parse(text, "PID")?).filter(|pid| *pid != 0),
            's' => {
                let seconds: f64 = parse(text, "number of seconds")?;
                if seconds.is_nan() || seconds < 0.0 {
                    return Err(invalid(text, "number of seconds"));
                }
                self.interval = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).max(LEAST_INTERVAL);
            }
            'M' => {
                // The number has no effect, because replaced files are detected at once.
                parse::<u64>(text, "maximum number of unchanged stats between opens")?;
            }
            _ => self.by_name |= names_follow_by_name(value.unwrap_or("descriptor"))?,
        }
        Ok(())
    }

    /// Returns warnings about options without effect, if no file is followed.
    fn warnings(&self) -> String {
        let mut warnings = String::new();
        if self.retry {
            warnings += "tail: warning: --retry ignored; --retry is useful only when following\n";
        }
        if self.pid.is_some() {
            warnings += "tail: warning: PID ignored; --pid=PID is useful only when following\n";
        }
        warnings
    }
}

/// Returns true if the value of `--follow`, which may be abbreviated, is `name`.
fn names_follow_by_name(value: &str) -> Result<bool, ExecResult> {
    option_word("--follow", value, &[("descriptor", false), ("name", true)])
        .map_err(|message| ExecResult::err(format!("tail: {message}\nTry 'tail --help' for more information.\n"), 1))
}

fn parse<T: std::str::FromStr>(text: &str, meaning: &str) -> Result<T, ExecResult> {
    text.parse().map_err(|_| invalid(text, meaning))
}

fn invalid(text: &str, meaning: &str) -> ExecResult {
    ExecResult::err(format!("tail: invalid {meaning}: ‘{text}’\n"), 1)
}

/// Replaces an obsolete first word, such as `-NUM`, `-NUMf` or `+NUM`, by options. At most one file may follow. A
/// `-NUM` elsewhere is invalid.
fn expand_obsolete(words: &[String]) -> Result<Vec<String>, ExecResult> {
    let (first, file) = match words {
        [first] => (first, None),
        [first, file] if file == "-" || !file.starts_with('-') => (first, Some(file.clone())),
        _ => {
            return match obsolete_counts(words).next() {
                Some((_, digits)) => {
                    let message = format!("tail: option used in invalid context -- {}\n", &digits[..1]);
                    Err(ExecResult::err(message, 1))
                }
                None => Ok(words.to_vec()),
            };
        }
    };
    let mut expanded = obsolete_options(first).unwrap_or_else(|| vec![first.clone()]);
    expanded.extend(file);
    Ok(expanded)
}

/// Returns the options equivalent to a word `-NUM[bcl][f]` or `+NUM[bcl][f]`: lines, bytes, or blocks of 512 bytes.
fn obsolete_options(word: &str) -> Option<Vec<String>> {
    let sign = if word.starts_with('+') { "+" } else { "" };
    let rest = word.strip_prefix(['+', '-'])?;
    let (rest, follow) = match rest.strip_suffix('f') {
        Some(rest) => (rest, Some("-f".to_owned())),
        None => (rest, None),
    };
    let (digits, option, multiplier) = match rest.strip_suffix(['b', 'c', 'l']) {
        Some(digits) if rest.ends_with('b') => (digits, 'c', "b"),
        Some(digits) if rest.ends_with('c') => (digits, 'c', ""),
        Some(digits) => (digits, 'n', ""),
        None => (rest, 'n', ""),
    };
    let count = is_number(digits).then(|| format!("-{option}{sign}{digits}{multiplier}"))?;
    Some(std::iter::once(count).chain(follow).collect())
}
