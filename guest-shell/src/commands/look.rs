//! look builtin - lines of a sorted file that begin with a string
//!
//! A binary search finds the first line, as in util-linux: the result for an unsorted file depends on its steps.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use async_trait::async_trait;

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// Command that prints lines with a given beginning, as `look`.
///
/// Usage: look [-d] [-f] [-t CHAR] STRING FILE
pub(crate) struct Look;

const HELP: &str = "Usage: look [options] <string> <file>\nDisplay lines beginning with a specified string.\n\n  -d, --alphanum\tcompare only blanks and alphanumeric characters\n  -f, --ignore-case\tignore case differences when comparing\n  -t, --terminate CHAR\tdefine the string-termination character\n";

/// Search for lines that begin with a string.
struct Search {
    string: Vec<u8>,
    alphanumeric: bool,
    ignore_case: bool,
}

impl Search {
    /// Returns the significant characters of a text, in the form in which they are compared.
    fn significant<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = u8> + 't {
        let counts = |byte: &u8| !self.alphanumeric || byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t');
        let folded = |byte: &u8| {
            if self.ignore_case { byte.to_ascii_lowercase() } else { *byte }
        };
        text.iter().filter(move |byte| counts(byte)).map(folded)
    }

    /// Returns the order of the string and the beginning of the line at this position.
    fn compare(&self, data: &[u8], at: usize) -> Ordering {
        let line = data[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut line = self.significant(line);
        for byte in self.significant(&self.string) {
            match line.next() {
                None => return Ordering::Greater,
                Some(other) if other != byte => return byte.cmp(&other),
                Some(_) => {}
            }
        }
        Ordering::Equal
    }

    /// Returns the lines that begin with the string.
    fn lines<'d>(&self, data: &'d [u8]) -> &'d [u8] {
        let next_line = |from: usize, end: usize| {
            let newline = data[from..end].iter().position(|byte| *byte == b'\n');
            newline.map_or(end, |length| from + length + 1)
        };
        let (mut front, mut back) = (0, data.len());
        loop {
            let middle = next_line(front + (back - front) / 2, back);
            if middle >= back || back <= front {
                break;
            }
            match self.compare(data, middle) {
                Ordering::Greater => front = middle,
                _ => back = middle,
            }
        }
        while front < back && self.compare(data, front) == Ordering::Greater {
            front = next_line(front, back);
        }
        let mut end = front;
        while end < data.len() && self.compare(data, end) == Ordering::Equal {
            end = next_line(end, data.len());
        }
        &data[front..end]
    }
}

#[async_trait]
impl Builtin for Look {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, HELP, Some("look from util-linux 2.38.1")) {
            return Ok(r);
        }
        let longs = [
            ("alphanum", OptArg::No, 'd'),
            ("alternative", OptArg::No, 'a'),
            ("ignore-case", OptArg::No, 'f'),
            ("terminate", OptArg::Required, 't'),
        ];
        let (opts, words) = match gnu_getopt("look", ctx.args, "adft:", &longs, true, 1) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let [string, file] = words.as_slice() else {
            // There is no dictionary for a command line with a single word.
            let (message, code) = match words.as_slice() {
                [_] => ("look: /usr/share/dict/words: No such file or directory\n", 1),
                _ => ("look: bad usage\nTry 'look --help' for more information.\n", 1),
            };
            return Ok(ExecResult::err(message, code));
        };
        let mut string = bashkit::bytes_of(string).into_owned();
        for opt in opts.iter().filter(|opt| opt.key == 't') {
            let end = opt.value.as_deref().unwrap_or_default().bytes().next();
            if let Some(at) = string.iter().position(|byte| Some(*byte) == end) {
                string.truncate(at + 1);
            }
        }
        let search = Search {
            string,
            alphanumeric: opts.iter().any(|opt| opt.key == 'd'),
            ignore_case: opts.iter().any(|opt| opt.key == 'f'),
        };
        let data = match crate::commands::operands::read(&ctx, file).await? {
            Ok(data) => data,
            Err(reason) => return Ok(ExecResult::err(format!("look: {file}: {reason}\n"), 1)),
        };
        let found = search.lines(&data);
        let mut result = ExecResult::ok_bytes(found.to_vec());
        result.exit_code = i32::from(found.is_empty());
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::Search;

    #[test]
    fn look_finds_the_lines_of_a_sorted_file() {
        let search = |string: &str, ignore_case| Search { string: string.into(), alphanumeric: false, ignore_case };
        let data = b"apple\nbanana\nfig\nfigs\ngrape\n";
        assert_eq!(search("fig", false).lines(data), b"fig\nfigs\n");
        assert_eq!(search("Fi", true).lines(data), b"fig\nfigs\n");
        assert_eq!(search("x", false).lines(data), b"");
    }
}
