//! expand/unexpand builtin commands - convert between tabs and spaces
//!
//! Decision: tab-stop parsing and column tracking follow GNU
//! `expand-common.c` / `unexpand.c`: `-t` lists accumulate across options,
//! a trailing `/N` repeats every N columns, `+N` repeats N after the last
//! stop, past the last explicit stop expand emits one space and unexpand
//! stops converting, and backspace moves the column back.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use crate::commands::operands::Operands;
use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// Largest distance of tab stops.
const MAX_TAB_STOP: usize = 10_000;

/// Largest output: a single tab may stand for thousands of spaces.
const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// Parsed tab stops (GNU `tab_list` + `extend_size` + `increment_size`).
#[derive(Default, Debug)]
struct TabStops {
    list: Vec<usize>,
    extend: usize,
    increment: usize,
    /// Uniform tab size, or 0 when `list`/extend/increment apply.
    size: usize,
}

impl TabStops {
    /// Add the stops in one `-t` argument (commas or blanks separate).
    fn parse_into(&mut self, s: &str) -> std::result::Result<(), String> {
        let bad = || format!("invalid tab size: '{s}'");
        let mut extend = false;
        let mut increment = false;
        let mut val: Option<usize> = None;
        let flush = |val: &mut Option<usize>,
                     extend: bool,
                     increment: bool,
                     this: &mut Self|
         -> std::result::Result<(), String> {
            if let Some(v) = val.take() {
                if v == 0 || v > MAX_TAB_STOP {
                    return Err(bad());
                }
                if extend {
                    this.extend = v;
                } else if increment {
                    this.increment = v;
                } else {
                    this.list.push(v);
                }
            }
            Ok(())
        };
        for c in s.chars() {
            match c {
                ',' | ' ' | '\t' => flush(&mut val, extend, increment, self)?,
                '/' | '+' => {
                    if val.is_some() {
                        return Err(bad());
                    }
                    extend = c == '/';
                    increment = c == '+';
                }
                '0'..='9' => {
                    let d = c as usize - '0' as usize;
                    let v = val.unwrap_or(0).saturating_mul(10).saturating_add(d);
                    val = Some(v.min(MAX_TAB_STOP + 1));
                }
                _ => return Err(bad()),
            }
        }
        flush(&mut val, extend, increment, self)
    }

    /// Validates the tab stops and picks the uniform size, as GNU's `finalize_tab_stops`.
    fn finalize(&mut self) -> std::result::Result<(), String> {
        let mut prev = 0;
        for &t in &self.list {
            if t <= prev {
                return Err("tab sizes must be ascending".to_string());
            }
            prev = t;
        }
        self.size = if self.list.is_empty() {
            if self.extend != 0 {
                self.extend
            } else if self.increment != 0 {
                self.increment
            } else {
                8
            }
        } else if self.list.len() == 1 && self.extend == 0 && self.increment == 0 {
            self.list[0]
        } else {
            0
        };
        Ok(())
    }

    /// GNU `get_next_tab_column`; `None` means past the last tab stop.
    fn next(&self, col: usize, idx: &mut usize) -> Option<usize> {
        if self.size != 0 {
            return Some(col + (self.size - col % self.size));
        }
        while *idx < self.list.len() {
            let tab = self.list[*idx];
            if col < tab {
                return Some(tab);
            }
            *idx += 1;
        }
        if self.extend != 0 {
            return Some(col + (self.extend - col % self.extend));
        }
        if self.increment != 0 {
            let end = self.list.last().copied().unwrap_or(0);
            return Some(col + (self.increment - (col - end) % self.increment));
        }
        None
    }
}

/// Split obsolete `-N[,N...]` tab-list arguments out of `args`.
fn split_obsolete_tabs(args: &[String]) -> (Vec<String>, Vec<String>) {
    let mut rest = Vec::new();
    let mut lists = Vec::new();
    let mut done = false;
    for a in args {
        if done {
            rest.push(a.clone());
            continue;
        }
        if a == "--" {
            done = true;
            rest.push(a.clone());
        } else if a.len() > 1
            && a.starts_with('-')
            && a[1..].starts_with(|c: char| c.is_ascii_digit())
            && a[1..].chars().all(|c| c.is_ascii_digit() || c == ',')
        {
            lists.push(a[1..].to_string());
        } else {
            rest.push(a.clone());
        }
    }
    (rest, lists)
}

/// The expand builtin command.
///
/// Usage: expand [-i] [-t LIST] [FILE...]
///
/// Converts tabs to spaces. Default tab stop is 8.
pub(crate) struct Expand;

impl BuiltinHelper for Expand {
    const NAME: &'static str = "expand";
}

#[async_trait]
impl Builtin for Expand {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: expand [OPTION]... [FILE]...\nConvert tabs to spaces.\n\n  -i, --initial\tdo not convert tabs after non blanks\n  -t, --tabs=LIST\tuse comma separated list of tab positions\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("expand (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let (stops, initial, files) = match parse_expand_args(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let operands = crate::commands::operands::read_all(&ctx, "expand", &files).await?;
        let ends = output_ends(&operands, |input| expand_tabs(input, &stops, initial));
        let input = operands.concat();
        match expand_tabs(&bashkit::text_of(&input), &stops, initial) {
            Some(output) => Ok(operands.finish_text(output, &ends)),
            None => Ok(Self::err(format!("output exceeds byte limit ({MAX_OUTPUT_BYTES})"), 1)),
        }
    }
}

/// Returns the length of the output behind each readable operand, if a message stands there. A line goes on in the next
/// operand.
fn output_ends(operands: &Operands, convert: impl Fn(&str) -> Option<String>) -> Vec<usize> {
    if operands.errors.is_empty() {
        return Vec::new();
    }
    let mut input = Vec::new();
    let end_of = |(_, data): &(String, Vec<u8>)| {
        input.extend_from_slice(data);
        convert(&bashkit::text_of(&input)).map_or(0, |output| output.len())
    };
    operands.contents.iter().map(end_of).collect()
}

/// Reads a command line into tab stops, the choice of initial tabs, and names of files. The error is the result of a wrong
/// call.
fn parse_expand_args(words: &[String]) -> std::result::Result<(TabStops, bool, Vec<String>), ExecResult> {
    let (words, obsolete) = split_obsolete_tabs(words);
    let longs = [("initial", OptArg::No, 'i'), ("tabs", OptArg::Required, 't')];
    let (given, files) = gnu_getopt("expand", &words, "it:", &longs, true, 1)?;
    let fail = |message: String| Expand::err(message, 1);
    let mut stops = TabStops::default();
    let mut initial = false;
    for list in &obsolete {
        stops.parse_into(list).map_err(fail)?;
    }
    for option in given {
        match option.value {
            Some(list) => stops.parse_into(&list).map_err(fail)?,
            None => initial = true,
        }
    }
    stops.finalize().map_err(fail)?;
    Ok((stops, initial, files))
}

/// Returns a text with spaces for tabs, or nothing if it would be too large.
fn expand_tabs(input: &str, stops: &TabStops, initial: bool) -> Option<String> {
    let mut output = String::new();
    let mut col = 0usize;
    let mut idx = 0usize;
    let mut convert = true;
    for ch in input.chars() {
        if convert && ch == '\t' {
            let next = stops.next(col, &mut idx).unwrap_or(col + 1);
            let spaces = next - col;
            if output.len().saturating_add(spaces) > MAX_OUTPUT_BYTES {
                return None;
            }
            output.extend(std::iter::repeat_n(' ', spaces));
            col = next;
            continue;
        }
        if output.len() >= MAX_OUTPUT_BYTES {
            return None;
        }
        match ch {
            '\n' => {
                col = 0;
                idx = 0;
                convert = true;
            }
            '\x08' if convert => {
                col = col.saturating_sub(1);
                idx = idx.saturating_sub(1);
            }
            // Bytes, as GNU counts them.
            _ if convert => {
                col += bashkit::bytes_of(ch.encode_utf8(&mut [0; 4])).len();
                convert = !(initial && ch != ' ' && ch != '\t');
            }
            _ => {}
        }
        output.push(ch);
    }
    Some(output)
}

/// The unexpand builtin command.
///
/// Usage: unexpand [-a] [--first-only] [-t LIST] [FILE...]
///
/// Converts spaces to tabs. By default, only converts leading spaces.
pub(crate) struct Unexpand;

impl BuiltinHelper for Unexpand {
    const NAME: &'static str = "unexpand";
}

/// Parses the arguments of `unexpand`: the tab stops, true if all blanks are converted, and the files. The error is the
/// result of a wrong call.
fn parse_unexpand_args(words: &[String]) -> std::result::Result<(TabStops, bool, Vec<String>), ExecResult> {
    const LONG: [(&str, OptArg, char); 3] =
        [("all", OptArg::No, 'a'), ("first-only", OptArg::No, 'F'), ("tabs", OptArg::Required, 't')];
    let refusal = |message: String| Unexpand::err(message, 1);
    let (words, obsolete) = split_obsolete_tabs(words);
    let (options, files) = gnu_getopt("unexpand", &words, "at:", &LONG, true, 1)?;
    let mut stops = TabStops::default();
    for list in &obsolete {
        stops.parse_into(list).map_err(refusal)?;
    }
    let (mut all, mut first_only) = (false, false);
    for option in options {
        match option.key {
            'a' => all = true,
            'F' => first_only = true,
            _ => {
                stops.parse_into(&option.value.unwrap_or_default()).map_err(refusal)?;
                // A list of stops is for all blanks.
                all = true;
            }
        }
    }
    stops.finalize().map_err(refusal)?;
    Ok((stops, all && !first_only, files))
}

#[async_trait]
impl Builtin for Unexpand {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: unexpand [OPTION]... [FILE]...\nConvert spaces to tabs.\n\n  -a, --all\tconvert all blanks, instead of just initial blanks\n  --first-only\tconvert only leading sequences of blanks\n  -t, --tabs=LIST\tuse comma separated list of tab positions (implies -a)\n  --help\t\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("unexpand (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let (stops, all, files) = match parse_unexpand_args(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let operands = crate::commands::operands::read_all(&ctx, "unexpand", &files).await?;
        let input = operands.concat();
        let unexpand = |input: &str| {
            let mut output = String::with_capacity(input.len());
            for line in input.split_inclusive('\n') {
                unexpand_line(line, &stops, all, &mut output);
            }
            output
        };
        let output = unexpand(&bashkit::text_of(&input));
        let ends = output_ends(&operands, |input| Some(unexpand(input)));
        Ok(operands.finish_text(output, &ends))
    }
}

/// Writes blanks that were held back. Returns true if there were any.
fn flush_blanks(pending: &mut Vec<char>, one_blank_before_stop: bool, out: &mut String) -> bool {
    if pending.len() > 1 && one_blank_before_stop {
        pending[0] = '\t';
    }
    let has_blanks = !pending.is_empty();
    out.extend(pending.drain(..));
    has_blanks
}

/// GNU `unexpand` state machine for one line (including its newline).
fn unexpand_line(line: &str, stops: &TabStops, all: bool, out: &mut String) {
    let mut convert = true;
    let mut column = 0usize;
    let mut idx = 0usize;
    let mut pending: Vec<char> = Vec::new();
    let mut one_blank_before_stop = false;
    let mut prev_blank = true;

    // `None` stands for end of input so pending blanks get flushed.
    for c in line.chars().map(Some).chain(std::iter::once(None)) {
        let mut ch = c;
        if convert {
            let blank = matches!(c, Some(' ') | Some('\t'));
            if blank {
                match stops.next(column, &mut idx) {
                    None => convert = false,
                    Some(next) => {
                        if c == Some('\t') {
                            column = next;
                            if let Some(p) = pending.first_mut() {
                                *p = '\t';
                            }
                        } else {
                            column += 1;
                            if !(prev_blank && column == next) {
                                if column == next {
                                    one_blank_before_stop = true;
                                }
                                pending.push(' ');
                                prev_blank = true;
                                continue;
                            }
                            ch = Some('\t');
                            if let Some(p) = pending.first_mut() {
                                *p = '\t';
                            }
                        }
                        // Keep only a single blank just before the previous stop.
                        pending.truncate(usize::from(one_blank_before_stop));
                    }
                }
            } else if c == Some('\x08') {
                column = column.saturating_sub(1);
                idx = idx.saturating_sub(1);
            } else {
                // Bytes, as GNU counts them.
                column += c.map_or(1, |c| bashkit::bytes_of(c.encode_utf8(&mut [0; 4])).len());
            }

            one_blank_before_stop &= !flush_blanks(&mut pending, one_blank_before_stop, out);
            prev_blank = blank;
            convert &= all || blank;
        }
        if let Some(ch) = ch {
            out.push(ch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::call_with_files;

    async fn run_expand(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Expand, args, stdin, &[]).await
    }

    async fn run_unexpand(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Unexpand, args, stdin, &[]).await
    }

    #[tokio::test]
    async fn test_expand_default_tab() {
        let result = run_expand(&[], Some("\thello")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "        hello");
    }

    #[tokio::test]
    async fn test_expand_custom_tab() {
        let result = run_expand(&["-t", "4"], Some("\thello")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "    hello");
    }

    #[tokio::test]
    async fn test_expand_rejects_oversized_tab_stop() {
        let result = run_expand(&["-t", "1000000000"], Some("\thello")).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stderr, "expand: invalid tab size: '1000000000'\n");
    }

    #[tokio::test]
    async fn test_expand_rejects_output_amplification_over_cap() {
        let input = "\t".repeat((MAX_OUTPUT_BYTES / MAX_TAB_STOP) + 1);
        let result = run_expand(&["-t", &MAX_TAB_STOP.to_string()], Some(&input)).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stderr, format!("expand: output exceeds byte limit ({MAX_OUTPUT_BYTES})\n"));
    }

    #[tokio::test]
    async fn test_unexpand_rejects_oversized_tab_stop() {
        let result = run_unexpand(&["-t", "1000000000"], Some("        hello")).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stderr, "unexpand: invalid tab size: '1000000000'\n");
    }

    #[tokio::test]
    async fn test_expand_unknown_option() {
        let result = run_expand(&["-Q"], Some("hi")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_unexpand_unknown_option() {
        let result = run_unexpand(&["-Q"], Some("hi")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_expand_no_tabs() {
        let result = run_expand(&[], Some("no tabs here")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "no tabs here");
    }

    #[tokio::test]
    async fn test_expand_multiple_tabs() {
        let result = run_expand(&["-t", "4"], Some("a\tb\tc")).await;
        assert_eq!(result.exit_code, 0);
        // 'a' at col 0, tab to col 4, 'b' at col 4, tab to col 8, 'c' at col 8
        assert_eq!(result.stdout, "a   b   c");
    }

    #[tokio::test]
    async fn test_unexpand_leading_spaces() {
        let result = run_unexpand(&[], Some("        hello")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "\thello");
    }

    #[tokio::test]
    async fn test_unexpand_all() {
        let result = run_unexpand(&["-a"], Some("hello   world")).await;
        assert_eq!(result.exit_code, 0);
        // The spaces might not align to tab stops, so behavior varies
        assert!(result.stdout.contains("hello"));
    }

    #[tokio::test]
    async fn test_expand_empty() {
        let result = run_expand(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
    }

    #[tokio::test]
    async fn test_unexpand_invalid_zero_tab_stop() {
        let result = run_unexpand(&["-t", "0"], Some("        hello")).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stderr, "unexpand: invalid tab size: '0'\n");
    }

    #[tokio::test]
    async fn test_unexpand_invalid_non_numeric_tab_stop() {
        let result = run_unexpand(&["-t", "foo"], Some("        hello")).await;
        assert_eq!(result.exit_code, 1);
        assert_eq!(result.stderr, "unexpand: invalid tab size: 'foo'\n");
    }

    #[tokio::test]
    async fn test_expand_tab_list_extensions() {
        let r = run_expand(&["-t", "2,5,/3"], Some("a\tb\tc\td\te\n")).await;
        assert_eq!(r.stdout, "a b  c   d  e\n");
        let r = run_expand(&["-t", "2,5,+3"], Some("a\tb\tc\td\te\n")).await;
        assert_eq!(r.stdout, "a b  c  d  e\n");
        // Repeated -t accumulate; past the last stop a tab is one space.
        let r = run_expand(&["-t", "2", "-t", "6"], Some("a\tb\tc\td\n")).await;
        assert_eq!(r.stdout, "a b   c d\n");
        let r = run_expand(&["-t", "4,2"], Some("a\n")).await;
        assert_eq!(r.exit_code, 1);
    }

    #[tokio::test]
    async fn test_unexpand_gnu_blank_rules() {
        let r = run_unexpand(&["-a"], Some("abcdefg h\n")).await;
        assert_eq!(r.stdout, "abcdefg h\n");
        let r = run_unexpand(&["-a"], Some("abcdefg \tx\n")).await;
        assert_eq!(r.stdout, "abcdefg\t\tx\n");
        let r = run_unexpand(&["-2,6"], Some("  a   b      c\n")).await;
        assert_eq!(r.stdout, "\ta   b      c\n");
        let r = run_unexpand(&[], Some("x       y")).await;
        assert_eq!(r.stdout, "x       y");
    }
}
