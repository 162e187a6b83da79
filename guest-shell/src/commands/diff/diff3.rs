//! `diff3`: compares three files line by line, and merges them, as GNU's does. Scripts for `ed` are refused.

use crate::commands::option_parser::getopt_long;
use std::collections::HashMap;

use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::script::{Change, changes};
use crate::commands::operands;

const HELP: &str = "\
Usage: diff3 [OPTION]... MYFILE OLDFILE YOURFILE
Compare three files line by line.

  -m, --merge                 output actual merged file, with conflicts
                                in brackets
  -A, --show-all              the same with -m
  -a, --text                  treat all files as text
      --strip-trailing-cr     strip trailing carriage return on input
  -T, --initial-tab           make tabs line up by prepending a tab
  -L, --label=LABEL           use LABEL instead of file name
                                (can be repeated up to three times)
      --help                  display this help and exit
  -v, --version               output version information and exit

If a FILE is '-', read standard input.
Exit status is 0 if successful, 1 if conflicts, 2 if trouble.
";

const LONG: [(&str, OptArg, char); 12] = [
    ("merge", OptArg::No, 'm'),
    ("show-all", OptArg::No, 'A'),
    ("text", OptArg::No, 'a'),
    ("strip-trailing-cr", OptArg::No, 'r'),
    ("initial-tab", OptArg::No, 'T'),
    ("label", OptArg::Required, 'L'),
    ("diff-program", OptArg::Required, 'D'),
    ("ed", OptArg::No, 'e'),
    ("show-overlap", OptArg::No, 'E'),
    ("easy-only", OptArg::No, '3'),
    ("overlap-only", OptArg::No, 'x'),
    ("version", OptArg::No, 'v'),
];

/// Status of a call that cannot be obeyed.
const TROUBLE: i32 = 2;

/// Command `diff3` of the shell.
pub(crate) struct Diff3;

#[async_trait]
impl Builtin for Diff3 {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let version = "diff3 (GNU diffutils) 3.8";
        if let Some(result) = check_help_version(ctx.args, HELP, Some(version)) {
            return Ok(result);
        }
        let options = match Diff3Options::parse(ctx.args) {
            Ok(Some(options)) => options,
            Ok(None) => return Ok(ExecResult::ok(format!("{version}\n"))),
            Err(message) => return Ok(failure(&message)),
        };
        let mut texts = Vec::with_capacity(3);
        for name in &options.names {
            match operands::read(&ctx, name).await? {
                Ok(text) => texts.push(options.input(text)),
                Err(reason) => return Ok(failure(&format!("{name}: {reason}"))),
            }
        }
        let lines = [0, 1, 2].map(|file| texts[file].split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>());
        Ok(if options.merges { merge(&options, &lines) } else { describe(&options, &lines) })
    }
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("diff3: {message}\n"), TROUBLE)
}

/// Options of one call.
struct Diff3Options {
    merges: bool,
    /// Text before each line in a description.
    line_prefix: &'static str,
    strips_carriage_returns: bool,
    names: [String; 3],
    labels: [String; 3],
}

impl Diff3Options {
    /// Reads a command line. None stands for the version that is asked for; the error is a message.
    fn parse(words: &[String]) -> std::result::Result<Option<Self>, String> {
        let hint = |message: String| format!("{message}\ndiff3: Try 'diff3 --help' for more information.");
        let (given, names) = getopt_long("diff3", words, "mAaTL:eE3xXiv", &LONG, true, TROUBLE).map_err(|result| {
            let message = result.stderr.text_lossy().into_owned();
            hint(message.trim_end().strip_prefix("diff3: ").unwrap_or(&message).to_owned())
        })?;
        let (mut merges, mut line_prefix, mut strips, mut labels) = (false, "  ", false, Vec::new());
        let mut shows_all = false;
        let script = |letter: char| format!("-{letter}: scripts for `ed` are not written here; use `diff3 -m`");
        for option in given {
            match option.key {
                'm' => merges = true,
                'T' => line_prefix = "\t",
                'r' => strips = true,
                'L' if labels.len() == 3 => return Err("too many file label options".to_owned()),
                'L' => labels.extend(option.value),
                'v' => return Ok(None),
                'A' => shows_all = true,
                'a' => {}
                'D' => return Err("--diff-program: there is only one comparison here".to_owned()),
                letter => return Err(script(letter)),
            }
        }
        if shows_all && !merges {
            return Err(script('A'));
        }
        if !labels.is_empty() && !merges {
            return Err(hint("incompatible options".to_owned()));
        }
        let names: [String; 3] = names.try_into().map_err(|names: Vec<String>| {
            hint(match names.as_slice() {
                [] => "missing operand".to_owned(),
                [.., last] if names.len() < 3 => format!("missing operand after '{last}'"),
                names => format!("extra operand '{}'", names[3]),
            })
        })?;
        if names.iter().filter(|name| *name == "-").count() > 1 {
            return Err("'-' specified for more than one input file".to_owned());
        }
        let mut shown = names.clone();
        for (name, label) in shown.iter_mut().zip(labels) {
            *name = label;
        }
        Ok(Some(Self { merges, line_prefix, strips_carriage_returns: strips, names, labels: shown }))
    }

    /// Returns a text as it is compared.
    fn input(&self, text: Vec<u8>) -> Vec<u8> {
        if !self.strips_carriage_returns {
            return text;
        }
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let stripped = lines.flat_map(|line| match line.strip_suffix(b"\r\n") {
            Some(body) => [body, b"\n"].concat(),
            None => line.to_vec(),
        });
        stripped.collect()
    }
}

/// Files that differ in a block.
#[derive(Clone, Copy, PartialEq)]
enum OddFile {
    /// Difference of one file from the other two, which are alike.
    One(usize),
    All,
}

/// Run of lines in which the files differ: first line from 0, and the one behind the last, of each file.
struct Block {
    ranges: [(usize, usize); 3],
    odd: OddFile,
}

/// Returns the blocks in which three files differ. `base` is the file that the other two are compared with.
fn blocks(lines: &[Vec<&[u8]>; 3], base: usize) -> Vec<Block> {
    let mut numbers: HashMap<&[u8], u32> = HashMap::new();
    let numbered = [0, 1, 2]
        .map(|file: usize| lines[file].iter().copied().map(|line| number_of(&mut numbers, line)).collect::<Vec<u32>>());
    let others = match base {
        1 => [0, 2],
        _ => [0, 1],
    };
    let found = others.map(|other| changes(&numbered[base], &numbered[other]));
    let mut next = [0, 0];
    // How many lines more each of the other files has had so far than the base.
    let mut shifts = [0isize; 2];
    let mut blocks = Vec::new();
    while let Some(start) = [0, 1].into_iter().filter_map(|side| Some(found[side].get(next[side])?.old.0)).min() {
        let (mut end, shifts_before) = (start, shifts);
        let mut changed = [false; 2];
        // Changes that touch are one block.
        while let Some(side) =
            [0, 1].into_iter().find(|side| found[*side].get(next[*side]).is_some_and(|it| it.old.0 <= end))
        {
            let change = found[side][next[side]];
            next[side] += 1;
            changed[side] = true;
            end = end.max(change.old.0 + change.old.1);
            shifts[side] += growth(&change);
        }
        let mut ranges = [(start, end); 3];
        for side in [0, 1] {
            ranges[others[side]] = (shifted(start, shifts_before[side]), shifted(end, shifts[side]));
        }
        let of = |file: usize| &numbered[file][ranges[file].0..ranges[file].1];
        let odd = match changed {
            [true, false] => OddFile::One(others[0]),
            [false, _] => OddFile::One(others[1]),
            [true, true] if of(others[0]) == of(others[1]) => OddFile::One(base),
            [true, true] => OddFile::All,
        };
        blocks.push(Block { ranges, odd });
    }
    blocks
}

/// Returns the number of a line, the same for equal lines.
fn number_of<'l>(numbers: &mut HashMap<&'l [u8], u32>, line: &'l [u8]) -> u32 {
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(line).or_insert(next)
}

fn growth(change: &Change) -> isize {
    let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
    signed(change.new.1) - signed(change.old.1)
}

fn shifted(line: usize, shift: isize) -> usize {
    line.saturating_add_signed(shift)
}

/// Describes the differences.
fn describe(options: &Diff3Options, lines: &[Vec<&[u8]>; 3]) -> ExecResult {
    let mut output = Vec::new();
    for block in blocks(lines, 2) {
        let (title, order, silent) = match block.odd {
            OddFile::All => ("====\n".to_owned(), [0, 1, 2], None),
            // The two files that are alike stand together, and lines only with the last one of them.
            OddFile::One(0) => ("====1\n".to_owned(), [0, 1, 2], Some(1)),
            OddFile::One(1) => ("====2\n".to_owned(), [0, 2, 1], Some(0)),
            OddFile::One(_) => ("====3\n".to_owned(), [0, 1, 2], Some(0)),
        };
        output.extend_from_slice(title.as_bytes());
        for file in order {
            let (start, end) = block.ranges[file];
            let place = match end - start {
                0 => format!("{}:{start}a\n", file + 1),
                1 => format!("{}:{end}c\n", file + 1),
                _ => format!("{}:{},{end}c\n", file + 1, start + 1),
            };
            output.extend_from_slice(place.as_bytes());
            if silent == Some(file) {
                continue;
            }
            for line in &lines[file][start..end] {
                output.extend_from_slice(options.line_prefix.as_bytes());
                output.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    output.extend_from_slice(b"\n\\ No newline at end of file\n");
                }
            }
        }
    }
    ExecResult::ok_bytes(output)
}

/// Merges the changes from the second file to the third one into the first one. Conflicts are in brackets.
fn merge(options: &Diff3Options, lines: &[Vec<&[u8]>; 3]) -> ExecResult {
    let [mine, older, yours] = &options.labels;
    let mut output = Vec::new();
    let (mut copied, mut has_conflict) = (0, false);
    for block in blocks(lines, 1) {
        let part = |file: usize| lines[file][block.ranges[file].0..block.ranges[file].1].concat();
        if block.odd == OddFile::One(0) {
            continue;
        }
        output.extend(lines[0][copied..block.ranges[0].0].concat());
        copied = block.ranges[0].1;
        let is_conflict = block.odd != OddFile::One(2);
        has_conflict |= is_conflict;
        match block.odd {
            OddFile::All => {
                output.extend(format!("<<<<<<< {mine}\n").into_bytes());
                output.extend(part(0));
                output.extend(format!("||||||| {older}\n").into_bytes());
                output.extend(part(1));
            }
            OddFile::One(1) => {
                output.extend(format!("<<<<<<< {older}\n").into_bytes());
                output.extend(part(1));
            }
            OddFile::One(_) => {}
        }
        if is_conflict {
            output.extend_from_slice(b"=======\n");
        }
        output.extend(part(2));
        if is_conflict {
            output.extend(format!(">>>>>>> {yours}\n").into_bytes());
        }
    }
    output.extend(lines[0][copied..].concat());
    let mut result = ExecResult::ok_bytes(output);
    result.exit_code = i32::from(has_conflict);
    result
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    const FILES: &str = "printf '1\\n2\\n3\\n4\\n5\\n6\\n' > o; printf '1\\nM\\n3\\n4\\n5\\n6\\nend\\n' > m; \
                         printf '1\\nY\\n3\\n5\\n6\\n' > y; ";

    async fn check(cases: &[(&str, &str, i32)]) {
        for (script, output, status) in cases {
            let result = run(&format!("{FILES}{script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn diff3_describes_how_three_files_differ() {
        let all =
            "====\n1:2c\n  M\n2:2c\n  2\n3:2c\n  Y\n====3\n1:4c\n2:4c\n  4\n3:3a\n====1\n1:7c\n  end\n2:6a\n3:5a\n";
        check(&[
            ("diff3 m o y", all, 0),
            ("diff3 m m m", "", 0),
            ("diff3 -T m o y | head -3", "====\n1:2c\n\tM\n", 0),
            ("diff3 - o y < m | head -2", "====\n1:2c\n", 0),
            (
                "printf a > p; diff3 p o o | head -4; diff3 o p o | head -3",
                "====1\n1:1c\n  a\n\\ No newline at end of file\n====2\n1:1,6c\n3:1,6c\n",
                0,
            ),
        ])
        .await;
    }

    #[tokio::test]
    async fn diff3_merges_and_brackets_conflicts() {
        check(&[
            ("diff3 -m m o y", "1\n<<<<<<< m\nM\n||||||| o\n2\n=======\nY\n>>>>>>> y\n3\n5\n6\nend\n", 1),
            ("diff3 -m -L a -L b -L c m o y | grep '^[<|>]'", "<<<<<<< a\n||||||| b\n>>>>>>> c\n", 0),
            (
                "printf '1\\n2\\n3\\n4\\n5\\nX\\n' > z; diff3 -m m o z",
                "1\nM\n3\n4\n5\n<<<<<<< m\n6\nend\n||||||| o\n6\n=======\nX\n>>>>>>> z\n",
                1,
            ),
            // Changes of neighbouring lines are one conflict.
            (
                "sed 1s/1/one/ o > z; diff3 -m m o z | head -4; sed 5s/5/five/ o > z; diff3 -m m o z",
                "<<<<<<< m\n1\nM\n||||||| o\n1\nM\n3\n4\nfive\n6\nend\n",
                0,
            ),
            ("sed 4d o > z; diff3 -m m o z", "1\nM\n3\n5\n6\nend\n", 0),
        ])
        .await;
    }

    #[tokio::test]
    async fn diff3_that_cannot_be_obeyed_is_an_error() {
        check(&[
            ("diff3 m o 2>&1 | head -1", "diff3: missing operand after 'o'\n", 0),
            ("diff3 m o none 2>&1", "diff3: none: No such file or directory\n", 2),
            ("diff3 -A m o y 2>&1", "diff3: -A: scripts for `ed` are not written here; use `diff3 -m`\n", 2),
            ("diff3 -e m o y 2>&1", "diff3: -e: scripts for `ed` are not written here; use `diff3 -m`\n", 2),
            ("diff3 - - y 2>&1", "diff3: '-' specified for more than one input file\n", 2),
        ])
        .await;
    }
}
