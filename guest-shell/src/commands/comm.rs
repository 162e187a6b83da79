//! comm builtin command - compare two sorted files line by line
//!
//! Decision: options follow GNU comm (`-123z`, `--output-delimiter`,
//! `--total`, `--zero-terminated`); lines that are out of order are told
//! and make the status 1, once a line could not be paired, or with `--check-order` at once.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use async_trait::async_trait;

use crate::commands::files::quote_if_needed;
use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// The comm builtin - compare two sorted files line by line.
///
/// Usage: comm [-123z] [--output-delimiter=STR] [--total] FILE1 FILE2
///
/// Options:
///   -1   Suppress lines unique to FILE1
///   -2   Suppress lines unique to FILE2
///   -3   Suppress lines that appear in both files
///   -z   Line delimiter is NUL, not newline
pub(crate) struct Comm;

impl BuiltinHelper for Comm {
    const NAME: &'static str = "comm";
}

struct CommOptions {
    suppress: [bool; 3],
    delimiter: String,
    total: bool,
    zero_terminated: bool,
    /// Rule by which order is checked: always, never, or once a line could not be paired.
    check_order: Option<bool>,
}

impl CommOptions {
    fn line_end(&self) -> u8 {
        if self.zero_terminated { b'\0' } else { b'\n' }
    }
}

fn parse_comm_args(args: &[String]) -> std::result::Result<(CommOptions, Vec<String>), ExecResult> {
    let (parsed, files) = gnu_getopt(
        "comm",
        args,
        "123z",
        &[
            ("check-order", OptArg::No, 'c'),
            ("nocheck-order", OptArg::No, 'C'),
            ("output-delimiter", OptArg::Required, 'o'),
            ("total", OptArg::No, 't'),
            ("zero-terminated", OptArg::No, 'z'),
        ],
        true,
        1,
    )?;
    let mut opts = CommOptions {
        suppress: [false; 3],
        delimiter: "\t".to_string(),
        total: false,
        zero_terminated: false,
        check_order: None,
    };
    let mut delimiter = None;
    for o in parsed {
        match o.key {
            '1' => opts.suppress[0] = true,
            '2' => opts.suppress[1] = true,
            '3' => opts.suppress[2] = true,
            'z' => opts.zero_terminated = true,
            't' => opts.total = true,
            'c' => opts.check_order = Some(true),
            'C' => opts.check_order = Some(false),
            'o' => {
                let given = o.value.unwrap_or_default();
                // GNU: an empty delimiter means a NUL byte.
                let given = if given.is_empty() { "\0".to_string() } else { given };
                if delimiter.replace(given.clone()).is_some_and(|before| before != given) {
                    return Err(ExecResult::err("comm: multiple output delimiters specified\n", 1));
                }
            }
            _ => {}
        }
    }
    if let Some(delimiter) = delimiter {
        opts.delimiter = delimiter;
    }
    Ok((opts, files))
}

fn records(data: &[u8], sep: u8) -> Vec<Vec<u8>> {
    if data.is_empty() {
        return Vec::new();
    }
    let body = data.strip_suffix(&[sep]).unwrap_or(data);
    body.split(|byte| *byte == sep).map(<[u8]>::to_vec).collect()
}

#[async_trait]
impl Builtin for Comm {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: comm [OPTION]... FILE1 FILE2\nCompare two sorted files line by line.\n\n  -1\t\tsuppress column 1 (lines unique to FILE1)\n  -2\t\tsuppress column 2 (lines unique to FILE2)\n  -3\t\tsuppress column 3 (lines that appear in both files)\n  --output-delimiter=STR\tseparate columns with STR\n  --total\toutput a summary\n  -z, --zero-terminated\tline delimiter is NUL, not newline\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("comm (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let (opts, files) = match parse_comm_args(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };

        match files.as_slice() {
            [] => return Ok(Self::err("missing operand", 1)),
            [only] => return Ok(Self::err(format!("missing operand after '{only}'"), 1)),
            [_, _] => {}
            [_, _, extra, ..] => return Ok(Self::err(format!("extra operand '{extra}'"), 1)),
        }
        let mut inputs: Vec<Vec<Vec<u8>>> = Vec::with_capacity(2);
        for file in &files {
            match crate::commands::operands::read(&ctx, file).await? {
                Ok(data) => inputs.push(records(&data, opts.line_end())),
                Err(reason) => return Ok(Self::err(format!("{}: {reason}", quote_if_needed(file)), 1)),
            }
        }
        Ok(compare(&opts, &inputs[0], &inputs[1]))
    }
}

/// Writer of the three columns.
struct ColumnWriter<'o> {
    options: &'o CommOptions,
    /// Delimiters before the lines of each column.
    prefixes: [String; 3],
    counts: [u64; 3],
    output: Vec<u8>,
}

impl<'o> ColumnWriter<'o> {
    fn new(options: &'o CommOptions) -> Self {
        let shown = |column: usize| usize::from(!options.suppress[column]);
        let prefixes = [0, shown(0), shown(0) + shown(1)].map(|count| options.delimiter.repeat(count));
        Self { options, prefixes, counts: [0; 3], output: Vec::new() }
    }

    fn push(&mut self, column: usize, line: &[u8]) {
        self.counts[column] += 1;
        if !self.options.suppress[column] {
            self.output.extend_from_slice(self.prefixes[column].as_bytes());
            self.output.extend_from_slice(line);
            self.output.push(self.options.line_end());
        }
    }

    fn push_totals(&mut self) {
        let delimiter = &self.options.delimiter;
        let totals = self.counts.map(|count| format!("{count}{delimiter}")).concat();
        self.output.extend_from_slice(format!("{totals}total{}", char::from(self.options.line_end())).as_bytes());
    }
}

/// Compares the lines of two files.
fn compare(options: &CommOptions, first: &[Vec<u8>], second: &[Vec<u8>]) -> ExecResult {
    let mut columns = ColumnWriter::new(options);
    let mut order = Order::new(options.check_order);
    let (mut i, mut j) = (0, 0);
    while (i < first.len() || j < second.len()) && !order.stopped {
        let which = match (first.get(i), second.get(j)) {
            (Some(one), Some(other)) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        order.unpaired |= which != Ordering::Equal;
        match which {
            Ordering::Less => columns.push(0, &first[i]),
            Ordering::Greater => columns.push(1, &second[j]),
            Ordering::Equal => columns.push(2, &first[i]),
        }
        // The line after one that was taken is compared with it.
        if which != Ordering::Greater {
            order.check(first, i, 0, columns.output.len());
            i += 1;
        }
        if which != Ordering::Less && !order.stopped {
            order.check(second, j, 1, columns.output.len());
            j += 1;
        }
    }
    if options.total && !order.stopped {
        columns.push_totals();
    }
    if !order.stopped && order.told.iter().any(|told| *told) {
        order.messages.push("comm: input is not in sorted order\n", columns.output.len());
    }
    let mut result = ExecResult::ok_bytes(columns.output);
    result.exit_code = i32::from(!order.messages.is_empty());
    result.stderr = order.messages.into();
    result
}

/// State of the check for lines that are out of order.
struct Order {
    checked: Option<bool>,
    /// A line of one file had none like it in the other.
    unpaired: bool,
    told: [bool; 2],
    messages: PlacedMessages,
    stopped: bool,
}

impl Order {
    fn new(checked: Option<bool>) -> Self {
        Order { checked, unpaired: false, told: [false; 2], messages: PlacedMessages::new(), stopped: false }
    }

    /// Checks the line behind `at` of a file, or at its end once more the last one: by now a line may be unpaired.
    fn check(&mut self, lines: &[Vec<u8>], at: usize, file: usize, written: usize) {
        let checks = self.checked.unwrap_or(self.unpaired);
        let out_of_order = match lines.get(at + 1) {
            Some(next) => *next < lines[at],
            None => at > 0 && lines[at] < lines[at - 1],
        };
        if !checks || !out_of_order || std::mem::replace(&mut self.told[file], true) {
            return;
        }
        self.messages.push(&format!("comm: file {} is not in sorted order\n", file + 1), written);
        self.stopped = self.checked == Some(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::call_with_files;

    async fn run_comm(args: &[&str], stdin: Option<&str>, files: &[(&str, &[u8])]) -> ExecResult {
        call_with_files(&Comm, args, stdin, files).await
    }

    #[tokio::test]
    async fn test_comm_basic() {
        let result = run_comm(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\n\t\tb\n\t\tc\n\td\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_1() {
        let result =
            run_comm(&["-1", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "\tb\n\tc\nd\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_2() {
        let result =
            run_comm(&["-2", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\n\tb\n\tc\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_3() {
        let result =
            run_comm(&["-3", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\n\td\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_12() {
        // Show only common lines
        let result =
            run_comm(&["-12", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "b\nc\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_13() {
        // Show only lines unique to file2
        let result =
            run_comm(&["-13", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "d\n");
    }

    #[tokio::test]
    async fn test_comm_suppress_23() {
        // Show only lines unique to file1
        let result =
            run_comm(&["-23", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"b\nc\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\n");
    }

    #[tokio::test]
    async fn test_comm_identical_files() {
        let result = run_comm(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\nc\n"), ("/b.txt", b"a\nb\nc\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "\t\ta\n\t\tb\n\t\tc\n");
    }

    #[tokio::test]
    async fn test_comm_no_common() {
        let result = run_comm(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nc\n"), ("/b.txt", b"b\nd\n")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\n\tb\nc\n\td\n");
    }

    #[tokio::test]
    async fn test_comm_empty_file() {
        let result = run_comm(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\nb\n"), ("/b.txt", b"")]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nb\n");
    }

    #[tokio::test]
    async fn test_comm_missing_operand() {
        let result = run_comm(&["/a.txt"], None, &[("/a.txt", b"a\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("missing operand"));
    }

    #[tokio::test]
    async fn test_comm_invalid_option() {
        let result = run_comm(&["-Q", "/a.txt", "/b.txt"], None, &[("/a.txt", b"a\n"), ("/b.txt", b"b\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_comm_file_not_found() {
        let result = run_comm(&["/a.txt", "/b.txt"], None, &[("/a.txt", b"a\n")]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("comm:"));
    }

    #[tokio::test]
    async fn test_comm_zero_terminated() {
        let result = run_comm(&["-z", "/a", "/b"], None, &[("/a", b"a\0b\0"), ("/b", b"b\0c\0")]).await;
        assert_eq!(result.stdout, "a\0\t\tb\0\tc\0");
    }

    #[tokio::test]
    async fn test_comm_output_delimiter_and_total() {
        let result =
            run_comm(&["--output-delimiter=|", "--total", "/a", "/b"], None, &[("/a", b"a\nb\n"), ("/b", b"b\nc\n")])
                .await;
        assert_eq!(result.stdout, "a\n||b\n|c\n1|1|1|total\n");
    }

    #[tokio::test]
    async fn test_comm_extra_operand() {
        let result = run_comm(&["/a", "/b", "/c"], None, &[]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("extra operand '/c'"));
    }
}
