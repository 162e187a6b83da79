//! `head`: the first lines or bytes of files, as GNU's prints them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

#[cfg(test)]
mod tests;

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::excerpt::count::CountSign;
use super::excerpt::files::write_excerpts;
use super::excerpt::options::{ExcerptCommand, ExcerptOptions, LONG, obsolete_counts};
use super::excerpt::selection::Selection;

const HELP: &str = "\
Usage: head [OPTION]... [FILE]...
Print the first 10 lines of each FILE to standard output.

  -n [-]NUM\toutput the first NUM lines; with '-', all but the last NUM lines
  -c [-]NUM\toutput the first NUM bytes; with '-', all but the last NUM bytes
  -NUM\t\tshorthand for -n NUM
  --help\tdisplay this help and exit
  --version\toutput version information and exit

NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on for G, T, P, E.
";

const HEAD: ExcerptCommand = ExcerptCommand {
    name: "head",
    default: Selection::First(10),
    select: |sign, count| match sign {
        CountSign::Minus => Selection::AllButLast(count),
        CountSign::None | CountSign::Plus => Selection::First(count),
    },
};

/// Command `head` of the shell.
pub(crate) struct Head;

#[async_trait]
impl Builtin for Head {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("head (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        match parse(ctx.args) {
            Ok(options) => write_excerpts(&ctx, HEAD.name, &options, String::new()).await,
            Err(result) => Ok(result),
        }
    }
}

/// Reads a command line. The error is the result of a wrong call.
fn parse(words: &[String]) -> std::result::Result<ExcerptOptions, ExecResult> {
    let words = expand_obsolete_count(words)?;
    let (given, operands) = gnu_getopt(HEAD.name, &words, "c:n:qvz", &LONG, true, 1)?;
    let mut options = ExcerptOptions::new(&HEAD);
    for option in given {
        options.take(&HEAD, option)?;
    }
    Ok(options.finish(operands))
}

/// Replaces a first word `-NUM`, optionally with letters, by options. In other positions `-NUM` is an error.
fn expand_obsolete_count(words: &[String]) -> std::result::Result<Vec<String>, ExecResult> {
    if let Some(options) = words.first().and_then(|word| obsolete_options(word)) {
        let options = options?;
        return Ok(options.into_iter().chain(words[1..].iter().cloned()).collect());
    }
    match obsolete_counts(words).next() {
        Some((_, digits)) => Err(usage_error(&format!("invalid trailing option -- {}", &digits[..1]))),
        None => Ok(words.to_vec()),
    }
}

/// Returns the options that `-NUM[bcklmqvz]` stands for: `b`, `k` and `m` are multipliers for bytes, like `c`.
fn obsolete_options(word: &str) -> Option<std::result::Result<Vec<String>, ExecResult>> {
    let rest = word.strip_prefix('-').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))?;
    let (digits, letters) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len()));
    let (mut unit, mut multiplier, mut flags) = ('n', "", Vec::new());
    for letter in letters.chars() {
        match letter {
            'c' => (unit, multiplier) = ('c', ""),
            'b' => (unit, multiplier) = ('c', "b"),
            'k' => (unit, multiplier) = ('c', "k"),
            'm' => (unit, multiplier) = ('c', "M"),
            'l' => unit = 'n',
            'q' | 'v' | 'z' => flags.push(format!("-{letter}")),
            _ => return Some(Err(usage_error(&format!("invalid trailing option -- {letter}")))),
        }
    }
    flags.insert(0, format!("-{unit}{digits}{multiplier}"));
    Some(Ok(flags))
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("head: {message}\nTry 'head --help' for more information.\n"), 1)
}
