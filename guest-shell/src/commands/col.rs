//! `col`: filters reverse line feeds and overstrikes, as util-linux's does.
//!
//! Characters are collected by line and column, and written in that order. Lines are counted in halves, since there are
//! half line feeds.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};
use unicode_width::UnicodeWidthChar as _;

use crate::commands::option_parser::gnu_getopt;

const HELP: &str = "
Usage:
 col [options]

Filter out reverse line feeds from standard input.

Options:
 -b, --no-backspaces    do not output backspaces
 -f, --fine             permit forward half line feeds
 -p, --pass             pass unknown control sequences
 -h, --tabs             convert spaces to tabs
 -x, --spaces           convert tabs to spaces
 -l, --lines NUM        buffer at least NUM lines
 -H, --help             display this help
 -v, --version          display version
";

const LONG: [(&str, OptArg, char); 6] = [
    ("no-backspaces", OptArg::No, 'b'),
    ("fine", OptArg::No, 'f'),
    ("pass", OptArg::No, 'p'),
    ("tabs", OptArg::No, 'h'),
    ("spaces", OptArg::No, 'x'),
    ("lines", OptArg::Required, 'l'),
];

/// Columns between two stops of tabs.
const TAB_WIDTH: usize = 8;
/// Half lines of a line.
const WHOLE_LINE: usize = 2;

/// Command `col` of the shell.
pub(crate) struct Col;

/// Options of a call.
#[derive(Clone, Copy, Default)]
struct ColOptions {
    /// Writes the last character of each column alone.
    drops_overstrikes: bool,
    /// Writes half line feeds.
    is_fine: bool,
    passes_controls: bool,
    keeps_spaces: bool,
}

/// Character at its column.
#[derive(Clone, Copy)]
struct Cell {
    column: usize,
    letter: char,
    width: usize,
}

/// Characters of the input by half line, and the place behind the last one.
#[derive(Default)]
struct Sheet {
    lines: BTreeMap<usize, Vec<Cell>>,
    line: usize,
    column: usize,
    /// Width of the last character, which a backspace goes back by.
    last_width: usize,
    /// Half line behind the last line feed.
    end: usize,
    backed_past_start: bool,
}

impl Sheet {
    /// Lays out a text.
    fn new(text: &str, options: ColOptions) -> Self {
        let mut sheet = Self { last_width: 1, ..Self::default() };
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\x08' => sheet.column = sheet.column.saturating_sub(sheet.last_width),
                '\r' => sheet.column = 0,
                '\n' => {
                    sheet.feed(WHOLE_LINE);
                    sheet.column = 0;
                }
                ' ' => sheet.column += 1,
                '\t' => sheet.column = (sheet.column / TAB_WIDTH + 1) * TAB_WIDTH,
                '\x0b' => sheet.back(WHOLE_LINE),
                '\x1b' => match letters.next() {
                    Some('\x07') => sheet.back(WHOLE_LINE),
                    Some('\x08') => sheet.back(1),
                    Some('\t') => sheet.feed(1),
                    // Other sequences are dropped with their first letter.
                    _ => {}
                },
                letter if letter.is_control() && !options.passes_controls => {}
                letter if letter.is_whitespace() => sheet.column += letter.width().unwrap_or(0),
                letter => sheet.push(letter),
            }
        }
        sheet
    }

    fn feed(&mut self, halves: usize) {
        self.line += halves;
        self.end = self.end.max(self.line);
    }

    fn back(&mut self, halves: usize) {
        self.backed_past_start |= self.line < halves;
        self.line = self.line.saturating_sub(halves);
    }

    fn push(&mut self, letter: char) {
        let width = letter.width().unwrap_or(0);
        self.lines.entry(self.line).or_default().push(Cell { column: self.column, letter, width });
        self.column += width;
        self.last_width = width;
    }

    /// Returns the lines as text.
    fn text(self, options: ColOptions) -> String {
        let mut output = String::new();
        let mut blank_halves = 0;
        let mut next = 0;
        let is_empty = self.lines.is_empty();
        for (line, cells) in self.lines {
            blank_halves += line - next;
            push_feeds(blank_halves, options, &mut output);
            push_line(cells, options, &mut output);
            (next, blank_halves) = (line, 0);
        }
        let mut rest = self.end.saturating_sub(next);
        rest += rest % WHOLE_LINE;
        if rest == 0 && !is_empty {
            rest = WHOLE_LINE;
        }
        push_feeds(rest, options, &mut output);
        output
    }
}

/// Adds line feeds for a number of half lines, which is rounded up to whole ones unless `-f` allows halves.
fn push_feeds(halves: usize, options: ColOptions, output: &mut String) {
    let has_half = options.is_fine && halves % WHOLE_LINE == 1;
    let feeds = if has_half { halves / WHOLE_LINE } else { halves.div_ceil(WHOLE_LINE) };
    output.extend(std::iter::repeat_n('\n', feeds));
    if has_half {
        output.push_str("\x1b\t");
        if feeds == 0 {
            output.push('\r');
        }
    }
}

/// Adds the characters of a line in the order of their columns.
fn push_line(mut cells: Vec<Cell>, options: ColOptions, output: &mut String) {
    cells.sort_by_key(|cell| cell.column);
    let mut end = 0;
    for column in cells.chunk_by(|one, other| one.column == other.column) {
        let Some((last, struck)) = column.split_last() else { continue };
        push_gap(end, last.column, options, output);
        if !options.drops_overstrikes {
            for cell in struck {
                output.push(cell.letter);
                output.extend(std::iter::repeat_n('\x08', cell.width));
            }
        }
        output.push(last.letter);
        end = last.column + last.width;
    }
}

/// Adds blanks between two columns, as tabs where these reach.
fn push_gap(from: usize, to: usize, options: ColOptions, output: &mut String) {
    let mut from = from;
    if !options.keeps_spaces && to > from + 1 {
        loop {
            let stop = (from / TAB_WIDTH + 1) * TAB_WIDTH;
            if stop > to {
                break;
            }
            output.push('\t');
            from = stop;
        }
    }
    output.extend(std::iter::repeat_n(' ', to.saturating_sub(from)));
}

#[async_trait]
impl Builtin for Col {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("col from util-linux 2.38.1")) {
            return Ok(result);
        }
        let (given, operands) = match gnu_getopt("col", ctx.args, "bfhl:px", &LONG, true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let mut options = ColOptions::default();
        for option in given {
            match option.key {
                'b' => options.drops_overstrikes = true,
                'f' => options.is_fine = true,
                'p' => options.passes_controls = true,
                'x' => options.keeps_spaces = true,
                'h' => options.keeps_spaces = false,
                _ => {
                    // The number has no effect, since all lines are kept.
                    let number = option.value.unwrap_or_default();
                    if number.parse::<u64>().is_err() {
                        return Ok(ExecResult::err(format!("col: bad -l argument: '{number}'\n"), 1));
                    }
                }
            }
        }
        if !operands.is_empty() {
            let message = "col: bad usage\nTry 'col --help' for more information.\n";
            return Ok(ExecResult::err(message, 1));
        }
        let input = ctx.stdin_to_end().await?.text_lossy().into_owned();
        if input.contains(['\x0e', '\x0f']) {
            let message = "col: shifts to another character set (SO, SI) are not supported\n";
            return Ok(ExecResult::err(message, 1));
        }
        let sheet = Sheet::new(&input, options);
        let warning = if sheet.backed_past_start { "col: warning: can't back up past first line.\n" } else { "" };
        let mut result = ExecResult::ok(sheet.text(options));
        result.stderr = warning.into();
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn col_places_characters_as_util_linux_does() {
        for (script, output) in [
            (r"printf 'a'", "a\n"),
            (r"printf ''", ""),
            (r"printf '\n\na'", "\n\na\n"),
            (r"printf '_\ba_\bb\n'", "_\x08a_\x08b\n"),
            (r"printf 'x        y\n'", "x\t y\n"),
            (r"printf 'a  b\n        c  \n'", "a  b\n\tc\n"),
            (r"printf 'abc\rX\n'", "a\x08Xbc\n"),
            (r"printf 'a\n\013b\n'", "a\x08b\n"),
            (r"printf 'a\033b\033[1mc\001\n'", "a1mc\n"),
            (r"printf '漢\bx\n'", "漢\x08\x08x\n"),
        ] {
            let result = run(&format!("{script} | col")).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{script}");
        }
        for (script, output) in [
            (r"printf '_\ba_\bb\tc\n' | col -b", "ab\tc\n"),
            (r"printf 'N\bNA\bAM\bME\bE   x\n' | col -bx", "NAME   x\n"),
            (r"printf 'a\tb\n' | col -x", "a       b\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{script}");
        }
        let result = run("col x < /dev/null").await;
        assert_eq!((&*result.stdout, result.exit_code), ("", 1));
    }
}
