//! csplit builtin - split a file at lines that patterns find
//!
//! Patterns are line numbers, `/REGEXP/[OFFSET]`, `%REGEXP%[OFFSET]` (skips) and
//! repeats `{N}` and `{*}`. Sizes are printed as the pieces are written, and an
//! error removes the pieces again unless `-k` keeps them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

use crate::commands::files::{quote, quote_if_needed};
use crate::commands::printf::render_printf_bytes;

/// Command that splits a file at lines, as `csplit`.
///
/// Usage: csplit [-ksz] [-f PREFIX] [-b SUFFIX] [-n DIGITS] FILE PATTERN...
pub(crate) struct Csplit;

const HELP: &str = "Usage: csplit [OPTION]... FILE PATTERN...\nOutput pieces of FILE separated by PATTERN(s) to files 'xx00', 'xx01', ...,\nand output byte counts of each piece to standard output.\n\n  -b, --suffix-format=FORMAT\tuse sprintf FORMAT instead of %02d\n  -f, --prefix=PREFIX\tuse PREFIX instead of 'xx'\n  -k, --keep-files\tdo not remove output files on errors\n  --suppress-matched\tsuppress the lines matching PATTERN\n  -n, --digits=DIGITS\tuse specified number of digits instead of 2\n  -s, --quiet, --silent\tdo not print counts of output file sizes\n  -z, --elide-empty-files\tremove empty output files\n";

/// Largest number of pieces that are written.
const MOST_PIECES: usize = 10_000;

#[derive(Default)]
struct CsplitOptions {
    prefix: String,
    suffix: Option<String>,
    digits: usize,
    keep: bool,
    quiet: bool,
    elide: bool,
    suppress: bool,
}

/// Position at which a piece ends.
enum Mark {
    /// Before a line of this number.
    Line(usize),
    /// Before a line that matches, moved by an offset; if not kept, it is skipped.
    Match { regex: regex::bytes::Regex, offset: isize, kept: bool },
}

/// Pattern, and how often it is repeated; without a number, as often as it matches.
struct Pattern {
    text: String,
    mark: Mark,
    repeats: Option<usize>,
}

fn parse_patterns(words: &[String]) -> std::result::Result<Vec<Pattern>, String> {
    let mut patterns: Vec<Pattern> = Vec::new();
    let mut last_line = 0;
    for word in words {
        if let Some(count) = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let pattern = patterns.last_mut().ok_or_else(|| format!("'{word}': invalid pattern"))?;
            pattern.repeats = match count {
                "*" => None,
                count => Some(count.parse().map_err(|_| format!("'{word}': integer required between '{{' and '}}'"))?),
            };
            continue;
        }
        let mark = match word.chars().next() {
            Some(delimiter @ ('/' | '%')) => parse_match(word, delimiter)?,
            _ => {
                let line: usize = word.parse().map_err(|_| format!("'{word}': invalid pattern"))?;
                if line == 0 {
                    return Err(format!("{word}: line number must be greater than zero"));
                }
                if line < last_line {
                    return Err(format!("line number '{line}' is smaller than preceding line number, {last_line}"));
                }
                last_line = line;
                Mark::Line(line)
            }
        };
        patterns.push(Pattern { text: word.clone(), mark, repeats: Some(0) });
    }
    Ok(patterns)
}

fn parse_match(word: &str, delimiter: char) -> std::result::Result<Mark, String> {
    let end = word.rfind(delimiter).filter(|end| *end > 0);
    let end = end.ok_or_else(|| format!("{word}: closing delimiter '{delimiter}' missing"))?;
    let translated = crate::commands::sed::translate_posix_regex(&word[1..end], false);
    let regex = regex::bytes::RegexBuilder::new(&translated)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| format!("{word}: invalid regular expression"))?;
    let offset = match &word[end + 1..] {
        "" => 0,
        offset => offset
            .strip_prefix('+')
            .unwrap_or(offset)
            .parse()
            .map_err(|_| format!("{word}: integer expected after delimiter"))?,
    };
    Ok(Mark::Match { regex, offset, kept: delimiter == '/' })
}

/// Splits lines into pieces; with an error, also returns the pieces before it.
fn split_lines(lines: &[&[u8]], patterns: &[Pattern], suppress: bool) -> (Vec<Vec<u8>>, Option<String>) {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    // The search for a match begins after the line of the previous one.
    let mut search_from = 0;
    for pattern in patterns {
        let mut round = 0;
        while pattern.repeats.is_none_or(|repeats| round <= repeats) && pieces.len() < MOST_PIECES {
            let repetition = if round == 0 { String::new() } else { format!(" on repetition {round}") };
            match &pattern.mark {
                Mark::Line(line) => {
                    let end = line.saturating_mul(round + 1) - 1;
                    if lines.is_empty() {
                        return (pieces, Some("input disappeared".to_owned()));
                    }
                    // Lines must be left for the next piece, unless the line is left out.
                    let last = if suppress { lines.len() } else { lines.len() - 1 };
                    if end > last || (suppress && at >= lines.len()) {
                        pieces.push(lines[at.min(lines.len())..].concat());
                        return (pieces, Some(format!("'{}': line number out of range{repetition}", pattern.text)));
                    }
                    pieces.push(lines[at.min(end)..end].concat());
                    at = end + usize::from(suppress);
                    search_from = end;
                }
                Mark::Match { regex, offset, kept } => {
                    let stripped = |line: &[u8]| regex.is_match(line.strip_suffix(b"\n").unwrap_or(line));
                    let from = if pieces.is_empty() && round == 0 && at == 0 { 0 } else { search_from + 1 };
                    let found = (from..lines.len()).find(|index| stripped(lines[*index]));
                    let Some(found) = found else {
                        let error = format!("'{}': match not found{repetition}", pattern.text);
                        if pattern.repeats.is_none() {
                            break;
                        }
                        if *kept {
                            pieces.push(lines[at..].concat());
                        }
                        return (pieces, Some(error));
                    };
                    let end = found.checked_add_signed(*offset).filter(|end| *end >= at && *end <= lines.len());
                    let Some(end) = end else {
                        pieces.push(lines[at..].concat());
                        let error = format!("'{}': line number out of range{repetition}", pattern.text);
                        return (pieces, Some(error));
                    };
                    if *kept {
                        pieces.push(lines[at..end].concat());
                    }
                    at = end + usize::from(suppress);
                    search_from = found.max(end);
                }
            }
            round += 1;
        }
    }
    pieces.push(lines[at.min(lines.len())..].concat());
    (pieces, None)
}

fn parse_args(args: &[String]) -> std::result::Result<(CsplitOptions, Vec<String>), ExecResult> {
    let (opts, words) = gnu_getopt(
        "csplit",
        args,
        "b:f:kn:sqz",
        &[
            ("digits", OptArg::Required, 'n'),
            ("elide-empty-files", OptArg::No, 'z'),
            ("keep-files", OptArg::No, 'k'),
            ("prefix", OptArg::Required, 'f'),
            ("quiet", OptArg::No, 's'),
            ("silent", OptArg::No, 's'),
            ("suffix-format", OptArg::Required, 'b'),
            ("suppress-matched", OptArg::No, 'm'),
        ],
        true,
        1,
    )?;
    let mut options = CsplitOptions { prefix: "xx".to_string(), digits: 2, ..Default::default() };
    for opt in opts {
        let value = opt.value.unwrap_or_default();
        match opt.key {
            'b' => {
                check_suffix_format(&value).map_err(|message| ExecResult::err(format!("csplit: {message}\n"), 1))?;
                options.suffix = Some(value);
            }
            'f' => options.prefix = value,
            'k' => options.keep = true,
            'm' => options.suppress = true,
            'z' => options.elide = true,
            'n' => match value.parse() {
                Ok(digits) if digits <= 255 => options.digits = digits,
                _ => {
                    let message = format!("csplit: invalid number: '{value}'\n");
                    return Err(ExecResult::err(message, 1));
                }
            },
            _ => options.quiet = true,
        }
    }
    Ok((options, words))
}

impl CsplitOptions {
    /// Returns the name of a piece.
    fn name(&self, index: usize) -> std::result::Result<String, String> {
        let Some(format) = &self.suffix else {
            return Ok(format!("{}{index:0digits$}", self.prefix, digits = self.digits));
        };
        let suffix = render_printf_bytes(format, &[index.to_string()])?;
        Ok(format!("{}{}", self.prefix, bashkit::text_of(&suffix)))
    }
}

/// Checks that the format of suffixes has a single conversion, of an integer. The error is a message.
fn check_suffix_format(format: &str) -> std::result::Result<(), String> {
    let mut conversions = 0;
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        if let Some(behind) = behind.strip_prefix('%') {
            rest = behind;
            continue;
        }
        let behind = behind.trim_start_matches(['-', '0', '\'', '#']);
        let behind = behind.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
        let letter = behind.chars().next().ok_or("missing conversion specifier in suffix")?;
        if !matches!(letter, 'd' | 'i' | 'u' | 'o' | 'x' | 'X') {
            return Err(format!("invalid conversion specifier in suffix: {letter}"));
        }
        conversions += 1;
        rest = &behind[1..];
    }
    match conversions {
        0 => Err("missing % conversion specification in suffix".to_owned()),
        1 => Ok(()),
        _ => Err("too many % conversion specifications in suffix".to_owned()),
    }
}

#[async_trait]
impl Builtin for Csplit {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, HELP, Some("csplit (GNU coreutils) 9.1")) {
            return Ok(r);
        }
        let (options, words) = match parse_args(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let (Some(file), Some(patterns)) = (words.first(), words.get(1..).filter(|rest| !rest.is_empty())) else {
            let after = words.first().map(|word| format!(" after '{word}'")).unwrap_or_default();
            let message = format!("csplit: missing operand{after}\nTry 'csplit --help' for more information.\n");
            return Ok(ExecResult::err(message, 1));
        };
        let patterns = match parse_patterns(patterns) {
            Ok(patterns) => patterns,
            Err(message) => return Ok(ExecResult::err(format!("csplit: {message}\n"), 1)),
        };
        let data = match crate::commands::operands::read(&ctx, file).await? {
            Ok(data) => data,
            Err(reason) => {
                let message = format!("csplit: cannot open {} for reading: {reason}\n", quote(file));
                return Ok(ExecResult::err(message, 1));
            }
        };
        let lines: Vec<&[u8]> = data.split_inclusive(|byte| *byte == b'\n').collect();
        let (pieces, error) = split_lines(&lines, &patterns, options.suppress);
        let mut sizes = String::new();
        let mut written = Vec::new();
        for piece in pieces.iter().filter(|piece| !(options.elide && piece.is_empty())) {
            let name = match options.name(written.len()) {
                Ok(name) => name,
                Err(message) => return Ok(ExecResult::err(message, 1)),
            };
            let path = bashkit::builtins::resolve_path(ctx.cwd, &name);
            if let Err(error) = ctx.fs.write_file(&path, piece).await {
                let reason = bashkit::error::io_error_reason(&error);
                return Ok(ExecResult::err(format!("csplit: {}: {reason}\n", quote_if_needed(&name)), 1));
            }
            written.push(path);
            if !options.quiet {
                sizes.push_str(&format!("{}\n", piece.len()));
            }
        }
        let mut result = ExecResult::ok(sizes);
        if let Some(error) = error {
            if !options.keep {
                for path in written {
                    // A piece that cannot be removed remains; the status reports the error already.
                    let _ = ctx.fs.remove(&path, false).await;
                }
            }
            result.stderr = format!("csplit: {error}\n").into();
            result.exit_code = 1;
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_patterns, split_lines};
    use crate::commands::testing::run;

    fn pieces(words: &[&str]) -> (Vec<String>, Option<String>) {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let lines: Vec<&[u8]> = vec![b"a\n", b"b\n", b"c\n", b"b\n", b"d\n"];
        let patterns = parse_patterns(&words).unwrap();
        let (pieces, error) = split_lines(&lines, &patterns, false);
        let text = |piece: Vec<u8>| String::from_utf8(piece).unwrap();
        (pieces.into_iter().map(text).collect(), error)
    }

    #[test]
    fn csplit_cuts_before_lines_and_matches() {
        assert_eq!(pieces(&["2"]).0, ["a\n", "b\nc\nb\nd\n"]);
        assert_eq!(pieces(&["/b/", "{*}"]).0, ["a\n", "b\nc\n", "b\nd\n"]);
        assert_eq!(pieces(&["%c%"]).0, ["c\nb\nd\n"]);
        assert_eq!(pieces(&["/x/"]).1.unwrap(), "'/x/': match not found");
    }

    #[tokio::test]
    async fn csplit_that_cannot_split_says_why() {
        for (script, sizes, message) in [
            ("seq 5 | csplit - 2 '{*}'", "2\n4\n4\n", "csplit: '2': line number out of range on repetition 2\n"),
            ("seq 5 | csplit - 6", "10\n", "csplit: '6': line number out of range\n"),
            ("csplit /dev/null 1", "", "csplit: input disappeared\n"),
            ("seq 5 | csplit -b %d%d - 2", "", "csplit: too many % conversion specifications in suffix\n"),
            ("seq 5 | csplit -b x%% - 2", "", "csplit: missing % conversion specification in suffix\n"),
            ("seq 5 | csplit -b %s - 2", "", "csplit: invalid conversion specifier in suffix: s\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (sizes, message, 1), "{script}");
        }
        let result = run("seq 5 | csplit -q -b %5.2d - 2 4; ls").await;
        assert_eq!(&*result.stdout, "xx   00\nxx   01\nxx   02\n");
    }
}
