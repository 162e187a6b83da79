//! `colrm`: removes columns of lines, as util-linux's does.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};
use unicode_width::UnicodeWidthChar as _;

const HELP: &str = "
Usage:
 colrm [startcol [endcol]]

Filter out the specified columns.

Options:
 -h, --help     display this help
 -V, --version  display version

colrm reads from standard input and writes to standard output
";

/// Columns between two stops of tabs.
const TAB_WIDTH: u64 = 8;

/// Command `colrm` of the shell.
pub(crate) struct Colrm;

/// Columns that are removed, counted from 1. Without a number, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RemovedColumns {
    first: u64,
    last: u64,
}

impl RemovedColumns {
    fn parse(words: &[String]) -> std::result::Result<Self, String> {
        let number = |index: usize, which: &str| match words.get(index) {
            None => Ok(0),
            Some(word) => word.parse().map_err(|_| format!("{which} argument: '{word}'")),
        };
        Ok(Self { first: number(0, "first")?, last: number(1, "second")? })
    }

    /// Returns a line, which may end with a newline, without the columns. Blanks stand for parts of characters that are
    /// cut.
    fn remove(self, line: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(line.len());
        let mut characters = characters(line).peekable();
        let mut column = 0;
        // Characters before the removed columns.
        let cut_start = loop {
            let Some((letter, bytes)) = characters.next() else { return kept };
            let before = column;
            column = column_behind(column, letter);
            if letter != Some('\n') && self.first > 0 && column >= self.first {
                break before;
            }
            kept.extend_from_slice(bytes);
        };
        push_blanks((cut_start + 1).max(1), self.first, &mut kept);
        while self.last == 0 || column < self.last {
            match characters.next_if(|(letter, _)| *letter != Some('\n')) {
                Some((letter, _)) => column = column_behind(column, letter),
                None => break,
            }
        }
        if self.last > 0 && characters.peek().is_some_and(|(letter, _)| *letter != Some('\n')) {
            push_blanks(self.last, column, &mut kept);
        }
        kept.extend(characters.flat_map(|(_, bytes)| bytes));
        kept
    }
}

fn push_blanks(from: u64, to: u64, kept: &mut Vec<u8>) {
    let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
    kept.extend(std::iter::repeat_n(b' ', count));
}

/// Returns the characters of a line, each with its bytes. Bytes that are no character stand alone.
fn characters(line: &[u8]) -> impl Iterator<Item = (Option<char>, &[u8])> {
    line.utf8_chunks().flat_map(|chunk| {
        let text = chunk.valid();
        let valid =
            text.char_indices().map(move |(at, letter)| (Some(letter), &text.as_bytes()[at..at + letter.len_utf8()]));
        valid.chain(chunk.invalid().iter().map(|byte| (None, std::slice::from_ref(byte))))
    })
}

/// Returns the column of the end of a character that begins behind a column.
fn column_behind(column: u64, letter: Option<char>) -> u64 {
    match letter {
        Some('\x08') => column.saturating_sub(1),
        Some('\t') => (column / TAB_WIDTH + 1) * TAB_WIDTH,
        Some(letter) => column + letter.width().unwrap_or(0) as u64,
        None => column + 1,
    }
}

#[async_trait]
impl Builtin for Colrm {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("colrm from util-linux 2.38.1")) {
            return Ok(result);
        }
        let (_, words) = match gnu_getopt("colrm", ctx.args, "", &[], true, 1) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let columns = match RemovedColumns::parse(&words) {
            Ok(columns) => columns,
            Err(message) => return Ok(ExecResult::err(format!("colrm: {message}\n"), 1)),
        };
        let input = ctx.stdin_to_end().await?;
        let lines = input.as_bytes().split_inclusive(|byte| *byte == b'\n');
        Ok(ExecResult::ok_bytes(lines.flat_map(|line| columns.remove(line)).collect::<Vec<u8>>()))
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn columns_are_removed_as_util_linux_does() {
        for (script, output) in [
            ("printf 'apple\\nno\\n' | colrm 3", "ap\nno\n"),
            ("printf 'apple\\nno' | colrm 2 3", "ale\nn"),
            ("echo apple | colrm", "apple\n"),
            ("echo apple | colrm 0", "apple\n"),
            ("echo apple | colrm 1 2 3", "ple\n"),
            ("echo apple | colrm 3 2", "ap le\n"),
            ("printf 'a\\tb\\tc\\n' | colrm 3 5", "a    b\tc\n"),
            ("printf 'é漢字b\\n' | colrm 2 3", "é字b\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{script}");
        }
        let result = run("echo a | colrm x").await;
        assert_eq!((&*result.stderr, result.exit_code), ("colrm: first argument: 'x'\n", 1));
    }
}
