//! fold builtin command - wrap lines at specified width
//!
//! Decision: a port of GNU fold's column state machine. Backspace moves one
//! column left, CR resets to column 0, TAB advances to the next multiple of
//! 8, and a character that alone overflows an empty line is kept on it. Each
//! byte counts one column, as GNU counts; with `-b` also those that move it.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use crate::commands::operands::{OutputFlush, read_all};
use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// The fold builtin command.
///
/// Usage: fold [-w width] [-s] [-b] [FILE...]
///
/// Options:
///   -w width  Wrap at width columns (default 80)
///   -s        Break at spaces (word boundary)
///   -b        Count bytes instead of columns
pub(crate) struct Fold;

impl BuiltinHelper for Fold {
    const NAME: &'static str = "fold";
}

const TAB_WIDTH: usize = 8;

fn adjust_column(column: usize, byte: u8, count_bytes: bool) -> usize {
    if count_bytes {
        return column + 1;
    }
    match byte {
        0x08 => column.saturating_sub(1),
        b'\r' => 0,
        b'\t' => column + TAB_WIDTH - column % TAB_WIDTH,
        _ => column + 1,
    }
}

/// Folds a text that may arrive in pieces.
struct Folder {
    width: usize,
    break_spaces: bool,
    count_bytes: bool,
    /// Part of the line that was read and not yet written, and its width.
    line: Vec<u8>,
    column: usize,
}

impl Folder {
    /// Reads a command line into a folder and names of files. The error is the result of a wrong call.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        const LONG: [(&str, OptArg, char); 3] =
            [("bytes", OptArg::No, 'b'), ("spaces", OptArg::No, 's'), ("width", OptArg::Required, 'w')];
        let words = normalize_args(words);
        let (given, files) = gnu_getopt("fold", &words, "bsw:", &LONG, true, 1)?;
        let mut folder = Self { width: 80, break_spaces: false, count_bytes: false, line: Vec::new(), column: 0 };
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'b' => folder.count_bytes = true,
                's' => folder.break_spaces = true,
                _ => {
                    let invalid = || ExecResult::err(format!("fold: invalid number of columns: '{value}'\n"), 1);
                    folder.width = value.parse().ok().filter(|width| *width > 0).ok_or_else(invalid)?;
                }
            }
        }
        Ok((folder, files))
    }

    fn fold(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for byte in text {
            if *byte == b'\n' {
                self.end(out);
                out.push(b'\n');
            } else {
                self.put(*byte, out);
            }
        }
    }

    fn put(&mut self, byte: u8, out: &mut Vec<u8>) {
        loop {
            self.column = adjust_column(self.column, byte, self.count_bytes);
            if self.column <= self.width {
                break self.line.push(byte);
            }
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
            if self.break_spaces
                && let Some(blank) = self.line.iter().rposition(blank)
            {
                out.extend(self.line.drain(..=blank));
                out.push(b'\n');
                let advance = |column, byte: &u8| adjust_column(column, *byte, self.count_bytes);
                self.column = self.line.iter().fold(0, advance);
                continue;
            }
            if self.line.is_empty() {
                break self.line.push(byte);
            }
            self.end(out);
            out.push(b'\n');
        }
    }

    /// Writes the last line.
    fn end(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.line);
        self.column = 0;
    }
}

/// Rewrites obsolete widths: `-NUM` as `-wNUM`, also behind letters (`-bNUM`).
fn normalize_args(args: &[String]) -> Vec<String> {
    let mut words = Vec::with_capacity(args.len());
    let mut is_operand = false;
    for word in args {
        is_operand |= word == "--";
        let letters = word.strip_prefix('-').filter(|_| !is_operand).unwrap_or_default();
        let width = letters.trim_start_matches(['b', 's']);
        if !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit()) {
            words.push(format!("-{}w{width}", &letters[..letters.len() - width.len()]));
        } else {
            words.push(word.clone());
        }
    }
    words
}

#[async_trait]
impl Builtin for Fold {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: fold [OPTION]... [FILE]...\nWrap each input line to fit in specified width.\n\n  -b, --bytes\tcount bytes rather than columns\n  -s, --spaces\tbreak at spaces\n  -w, --width=WIDTH\tuse WIDTH columns instead of 80\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("fold (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let (mut folder, files) = match Folder::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        let mut output = Vec::new();
        // A pipeline stage folds its input as it arrives.
        if let Some(stream) = ctx.stdout_stream().filter(|_| files.is_empty()) {
            let mut input = bashkit::builtins::InputChunks::stdin(&ctx)?;
            while let Some(piece) = input.next(<[u8]>::len).await? {
                ctx.consume_budget_work(1)?;
                folder.fold(&piece, &mut output);
                if !stream.write(&output).await? {
                    return Ok(ExecResult::with_code(String::new(), 141));
                }
                output.clear();
            }
            folder.end(&mut output);
            let code = if stream.write(&output).await? { 0 } else { 141 };
            return Ok(ExecResult::with_code(String::new(), code));
        }
        let operands = read_all(&ctx, "fold", &files).await?;
        let mut ends = Vec::with_capacity(operands.contents.len());
        for (_, data) in &operands.contents {
            folder.fold(data, &mut output);
            folder.end(&mut output);
            ends.push(output.len());
        }
        Ok(operands.finish(output, &ends, OutputFlush::BeforeMessages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::call_with_files;

    async fn run_fold(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Fold, args, stdin, &[]).await
    }

    #[tokio::test]
    async fn test_fold_default_width() {
        let long = "a".repeat(100);
        let result = run_fold(&[], Some(&long)).await;
        assert_eq!(result.exit_code, 0);
        let lines: Vec<&str> = result.stdout.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len(), 80);
        assert_eq!(lines[1].len(), 20);
    }

    #[tokio::test]
    async fn test_fold_custom_width() {
        let result = run_fold(&["-w", "10"], Some("abcdefghijklmno")).await;
        assert_eq!(result.exit_code, 0);
        let lines: Vec<&str> = result.stdout.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "abcdefghij");
        assert_eq!(lines[1], "klmno");
    }

    #[tokio::test]
    async fn test_fold_break_at_spaces() {
        let result = run_fold(&["-w", "15", "-s"], Some("hello world this is a test")).await;
        assert_eq!(result.exit_code, 0);
        // Should break at spaces, not mid-word
        for line in result.stdout.lines() {
            assert!(line.len() <= 15, "Line too long: '{}'", line);
        }
    }

    #[tokio::test]
    async fn test_fold_short_line_unchanged() {
        let result = run_fold(&["-w", "80"], Some("short line\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "short line\n");
    }

    #[tokio::test]
    async fn test_fold_unknown_option() {
        let result = run_fold(&["-Q"], Some("hello")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_fold_empty_input() {
        let result = run_fold(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
    }

    #[tokio::test]
    async fn test_fold_tab_counts_to_next_stop() {
        let result = run_fold(&["-w", "4"], Some("\tab\n")).await;
        assert_eq!(result.stdout, "\t\nab\n");
    }

    #[tokio::test]
    async fn test_fold_backspace_moves_left() {
        let result = run_fold(&["-w", "3"], Some("\x08abcde\n")).await;
        assert_eq!(result.stdout, "\x08abc\nde\n");
    }

    #[tokio::test]
    async fn test_fold_spaces_breaks_after_blank() {
        let result = run_fold(&["-s", "-w", "6"], Some("ab cd efgh\n")).await;
        assert_eq!(result.stdout, "ab cd \nefgh\n");
    }

    #[tokio::test]
    async fn test_fold_obsolete_width() {
        let result = run_fold(&["-3"], Some("abcdef\n")).await;
        assert_eq!(result.stdout, "abc\ndef\n");
    }

    #[tokio::test]
    async fn test_fold_invalid_width() {
        let result = run_fold(&["-w", "0"], Some("a\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of columns: '0'"));
    }
}
