//! Text reversal builtins: tac (reverse line order) and rev (reverse characters per line).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::operands::{OperandError, OutputFlush};
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;

use crate::commands::files::quote;
use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;

/// Read input from files or stdin. Used by `rev`.
async fn read_input(ctx: &Context<'_>) -> Result<std::result::Result<crate::commands::operands::Operands, ExecResult>> {
    let mut files: Vec<String> = Vec::new();
    let mut missing = String::new();
    for arg in ctx.args {
        if arg == "-" {
            // Standard input has no name, so `-` is a missing file.
            missing.push_str("rev: cannot open -: No such file or directory\n");
        } else if !arg.starts_with('-') {
            files.push(arg.clone());
        } else if arg != "--" {
            return Ok(Err(bashkit::builtins::invalid_option("rev", arg, 1)));
        }
    }
    if files.is_empty() && !missing.is_empty() {
        return Ok(Err(ExecResult::err(missing, 1)));
    }
    let message = |name: &str, reason: &str| match reason {
        "Is a directory" => format!("rev: {name}: 0: {reason}\n"),
        _ => format!("rev: cannot open {name}: {reason}\n"),
    };
    let mut operands = crate::commands::operands::read_each(ctx, &files, message).await?;
    if !missing.is_empty() {
        operands.errors.insert(0, OperandError { position: 0, message: missing });
    }
    Ok(Ok(operands))
}

/// The tac builtin — concatenate and print files in reverse (line order).
pub(crate) struct Tac;

const TAC_HELP: &str = "\
Usage: tac [OPTION]... [FILE]...
Write each FILE to standard output, last line first.

With no FILE, or when FILE is -, read standard input.

  -b, --before             attach the separator before instead of after
  -r, --regex              interpret the separator as a regular expression
  -s, --separator=STRING   use STRING as the separator instead of newline
      --help        display this help and exit
      --version     output version information and exit
";

const TAC_OPTIONS: [(&str, OptArg, char); 3] =
    [("before", OptArg::No, 'b'), ("regex", OptArg::No, 'r'), ("separator", OptArg::Required, 's')];

#[async_trait]
impl Builtin for Tac {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = bashkit::builtins::check_help_version(ctx.args, TAC_HELP, Some("tac (GNU coreutils) 9.1"))
        {
            return Ok(answer);
        }
        let (given, files) = match gnu_getopt("tac", ctx.args, "brs:", &TAC_OPTIONS, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let before = given.iter().any(|option| option.key == 'b');
        let regex = given.iter().any(|option| option.key == 'r');
        // GNU: an empty separator means a NUL byte.
        let separator = match given.into_iter().rev().find(|option| option.key == 's').and_then(|option| option.value) {
            Some(separator) if separator.is_empty() => "\0".to_string(),
            Some(separator) => separator,
            None => "\n".to_string(),
        };
        let sep = if regex {
            let translated = crate::commands::sed::translate_posix_regex(&separator, false);
            match bashkit::builtins::search_common::build_regex(&translated) {
                Ok(re) => TacSep::Regex(re),
                Err(_) => {
                    return Ok(ExecResult::err(format!("tac: invalid regular expression: '{separator}'\n"), 1));
                }
            }
        } else {
            TacSep::Literal(separator)
        };

        let message = |name: &str, reason: &str| match reason {
            // What cannot be sought in cannot be read from its end.
            "Is a directory" => format!("tac: {name}: read error: Invalid argument\n"),
            _ => format!("tac: failed to open {} for reading: {reason}\n", quote(name)),
        };
        let operands = crate::commands::operands::read_each(&ctx, &files, message).await?;
        // GNU tac reverses each file separately, and prints the results in order.
        let mut out = String::new();
        for (_, data) in &operands.contents {
            reverse_records(&bashkit::text_of(data), &sep, before, &mut out);
        }
        Ok(operands.finish(out, &[], OutputFlush::FullBlocks))
    }
}

enum TacSep {
    Literal(String),
    Regex(regex::Regex),
}

impl TacSep {
    /// Byte ranges of every non-empty separator match, left to right.
    fn matches(&self, raw: &str) -> Vec<(usize, usize)> {
        match self {
            TacSep::Literal(s) => raw.match_indices(s.as_str()).map(|(i, m)| (i, i + m.len())).collect(),
            TacSep::Regex(re) => re.find_iter(raw).filter(|m| !m.is_empty()).map(|m| (m.start(), m.end())).collect(),
        }
    }
}

/// Split `raw` into records that end with (or, with `before`, start with) a
/// separator, and append them in reverse order. An unterminated last record
/// is kept as-is, so it joins the previous record without a separator.
fn reverse_records(raw: &str, sep: &TacSep, before: bool, out: &mut String) {
    let mut cuts = vec![0];
    for (start, end) in sep.matches(raw) {
        cuts.push(if before { start } else { end });
    }
    cuts.push(raw.len());
    cuts.dedup();
    for w in cuts.windows(2).rev() {
        out.push_str(&raw[w[0]..w[1]]);
    }
}

/// The rev builtin - reverse characters of each line.
pub(crate) struct Rev;

#[async_trait]
impl Builtin for Rev {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: rev [FILE]...\nReverse characters of each line.\n\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("rev from util-linux 2.38.1"),
        ) {
            return Ok(r);
        }
        let operands = match read_input(&ctx).await? {
            Ok(operands) => operands,
            Err(e) => return Ok(e),
        };
        // A last line without a newline stays without one (util-linux).
        let mut output = String::new();
        for (name, data) in &operands.contents {
            for (number, line) in bashkit::text_of(data).split_inclusive('\n').enumerate() {
                if bashkit::has_raw_bytes(line) {
                    let name = if name == "-" { "stdin" } else { name };
                    let failure = format!("rev: {name}: {number}: Invalid or incomplete multibyte or wide character\n");
                    let mut result = operands.finish(output, &[], OutputFlush::FullBlocks);
                    result.exit_code = 1;
                    result.stderr.push_str(&failure);
                    return Ok(result);
                }
                let end = if line.ends_with('\n') { "\n" } else { "" };
                output.extend(line.trim_end_matches('\n').chars().rev());
                output.push_str(end);
            }
        }
        Ok(operands.finish(output, &[], OutputFlush::FullBlocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::call_with_files;

    async fn run_rev(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Rev, args, stdin, &[]).await
    }

    #[tokio::test]
    async fn test_rev_basic() {
        let result = run_rev(&[], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "olleh\n");
    }

    #[tokio::test]
    async fn test_rev_invalid_option() {
        let result = run_rev(&["-Q"], Some("hello\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    fn tac(raw: &str, sep: TacSep, before: bool) -> String {
        let mut out = String::new();
        reverse_records(raw, &sep, before, &mut out);
        out
    }

    #[test]
    fn test_tac_records_default_and_unterminated() {
        let nl = || TacSep::Literal("\n".to_string());
        assert_eq!(tac("a\nb\n", nl(), false), "b\na\n");
        assert_eq!(tac("a\nb", nl(), false), "ba\n");
        assert_eq!(tac("", nl(), false), "");
    }

    #[test]
    fn test_tac_records_separator_and_before() {
        let x = || TacSep::Literal("X".to_string());
        assert_eq!(tac("aXbXcX", x(), false), "cXbXaX");
        assert_eq!(tac("XaXb", x(), true), "XbXa");
    }

    #[test]
    fn test_tac_records_regex() {
        let re = regex::Regex::new("[0-9]").unwrap();
        assert_eq!(tac("a1b22c", TacSep::Regex(re), false), "c2b2a1");
    }
}
