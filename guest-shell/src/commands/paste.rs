//! `paste`: merges lines of files, as GNU's does. Characters of a list of delimiters are those of UTF-8, where
//! coreutils 9.1 takes bytes.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, PlacedMessages, Result};

use super::operands;
use super::records::{records, separator};
use crate::commands::files::quote_if_needed;

const HELP: &str = "\
Usage: paste [OPTION]... [FILE]...
Write lines consisting of the sequentially corresponding lines from
each FILE, separated by TABs, to standard output.

With no FILE, or when FILE is -, read standard input.

  -d, --delimiters=LIST\treuse characters from LIST instead of TABs
  -s, --serial\tpaste one file at a time instead of in parallel
  -z, --zero-terminated\tline delimiter is NUL, not newline
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `paste` of the shell.
pub(crate) struct Paste;

#[async_trait]
impl Builtin for Paste {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("paste (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, files) = match PasteOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let files = if files.is_empty() { vec!["-".to_owned()] } else { files };
        let mut sources = Vec::with_capacity(files.len());
        for file in &files {
            sources.push(Source::read(&ctx, file, files.iter().position(|earlier| earlier == "-")).await?);
        }
        Ok(if options.serial { paste_serially(&options, &sources) } else { paste_in_parallel(&options, &sources) })
    }
}

/// Options of one call.
struct PasteOptions {
    /// Delimiters, which may be empty, in turns.
    delimiters: Vec<Vec<u8>>,
    serial: bool,
    /// Byte that ends each line.
    line_end: u8,
}

impl PasteOptions {
    /// Reads a command line. The error is the result of a wrong call.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let long =
            [("delimiters", OptArg::Required, 'd'), ("serial", OptArg::No, 's'), ("zero-terminated", OptArg::No, 'z')];
        let (given, files) = gnu_getopt("paste", words, "d:sz", &long, true, 1)?;
        let (mut list, mut serial, mut zero_terminated) = ("\t".to_owned(), false, false);
        for option in given {
            match option.key {
                'd' => list = option.value.unwrap_or_default(),
                's' => serial = true,
                _ => zero_terminated = true,
            }
        }
        let delimiters = delimiters(&list).map_err(|message| ExecResult::err(message, 1))?;
        Ok((Self { delimiters, serial, line_end: separator(zero_terminated) }, files))
    }

    fn delimiter(&self, index: usize) -> &[u8] {
        &self.delimiters[index % self.delimiters.len()]
    }
}

/// Returns the delimiters of a list with escapes. An empty list is one empty delimiter.
fn delimiters(list: &str) -> std::result::Result<Vec<Vec<u8>>, String> {
    let mut delimiters = Vec::new();
    let mut characters = list.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            delimiters.push(character.to_string());
            continue;
        }
        let escaped = characters
            .next()
            .ok_or_else(|| format!("paste: delimiter list ends with an unescaped backslash: {list}\n"))?;
        delimiters.push(match escaped {
            '0' => String::new(),
            'b' => '\u{8}'.to_string(),
            'f' => '\u{c}'.to_string(),
            'n' => '\n'.to_string(),
            'r' => '\r'.to_string(),
            't' => '\t'.to_string(),
            'v' => '\u{b}'.to_string(),
            other => other.to_string(),
        });
    }
    if delimiters.is_empty() {
        delimiters.push(String::new());
    }
    Ok(delimiters.iter().map(|delimiter: &String| bashkit::bytes_of(delimiter).into_owned()).collect())
}

/// Input of a call.
struct Source {
    text: Vec<u8>,
    /// Index of the operand whose lines this operand continues: each `-` reads on in standard input.
    shared: Option<usize>,
    failure: Option<Failure>,
}

/// Reason why an operand has no lines.
struct Failure {
    message: String,
    /// True if the operand could be opened, as a directory can.
    opened: bool,
}

impl Source {
    /// Reads the lines of an operand. `standard_input` is the index of the first operand `-`.
    async fn read(ctx: &Context<'_>, name: &str, standard_input: Option<usize>) -> Result<Self> {
        let shared = standard_input.filter(|_| name == "-");
        Ok(match operands::read(ctx, name).await? {
            Ok(text) => Self { text, shared, failure: None },
            Err(reason) => {
                let opened = reason == "Is a directory";
                let failure = Failure { message: format!("paste: {}: {reason}\n", quote_if_needed(name)), opened };
                Self { text: Vec::new(), shared, failure: Some(failure) }
            }
        })
    }
}

/// Pastes the lines of each file to one line. A file that cannot be opened gives none.
fn paste_serially(options: &PasteOptions, sources: &[Source]) -> ExecResult {
    let (mut output, mut errors) = (Vec::new(), PlacedMessages::new());
    for (index, source) in sources.iter().enumerate() {
        if let Some(failure) = &source.failure {
            errors.push(&failure.message, output.len());
            if !failure.opened {
                continue;
            }
        }
        // A second `-` finds standard input at its end.
        let is_read = source.shared.is_none_or(|first| first == index);
        let lines = is_read.then(|| records(&source.text, options.line_end)).into_iter().flatten();
        for (index, line) in lines.enumerate() {
            if index > 0 {
                output.extend_from_slice(options.delimiter(index - 1));
            }
            output.extend_from_slice(line);
        }
        output.push(options.line_end);
    }
    finish(output, errors)
}

/// Pastes the lines of the same number. A file that cannot be opened ends the call at once.
fn paste_in_parallel(options: &PasteOptions, sources: &[Source]) -> ExecResult {
    if let Some(failure) = sources.iter().filter_map(|source| source.failure.as_ref()).find(|failure| !failure.opened) {
        return ExecResult::err(failure.message.clone(), 1);
    }
    let mut errors = PlacedMessages::new();
    let mut failures: Vec<_> = sources.iter().map(|source| source.failure.as_ref()).collect();
    let mut readers: Vec<_> = sources.iter().map(|source| records(&source.text, options.line_end)).collect();
    let mut output = Vec::new();
    loop {
        let line_start = output.len();
        let mut found = false;
        for (index, source) in sources.iter().enumerate() {
            if index > 0 {
                output.extend_from_slice(options.delimiter(index - 1));
            }
            if let Some(failure) = failures[index].take() {
                errors.push(&failure.message, output.len());
            }
            if let Some(line) = readers[source.shared.unwrap_or(index)].next() {
                found = true;
                output.extend_from_slice(line);
            }
        }
        if !found {
            output.truncate(line_start);
            return finish(output, errors);
        }
        output.push(options.line_end);
    }
}

fn finish(output: Vec<u8>, errors: PlacedMessages) -> ExecResult {
    let mut result = ExecResult::ok_bytes(output);
    result.exit_code = i32::from(!errors.is_empty());
    result.stderr = errors.into();
    result
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    async fn check(cases: &[(&str, &str, i32)]) {
        for (script, output, status) in cases {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn paste_merges_lines_in_parallel_or_serially() {
        check(&[
            ("printf '1\\n2\\n3\\n' > a; printf 'x\\ny' > b; paste a b", "1\tx\n2\ty\n3\t\n", 0),
            ("printf '1\\n2\\n3\\n' > a; paste -s a - < a; paste -sd, a", "1\t2\t3\n1\t2\t3\n1,2,3\n", 0),
            ("seq 5 | paste - - -; seq 3 | paste -s - -", "1\t2\t3\n4\t5\t\n1\t2\t3\n\n", 0),
            ("printf 'a\\0b\\0' | paste -z - - | od -An -c", "   a  \\t   b  \\0\n", 0),
            ("printf '' | paste; printf '' | paste -s", "\n", 0),
            ("printf '\\377\\n' | paste - /dev/null | od -An -tx1", " ff 09 0a\n", 0),
        ])
        .await;
    }

    #[tokio::test]
    async fn paste_takes_delimiters_in_turns() {
        check(&[
            ("seq 6 | paste -d ',:' - - - -", "1,2:3,4\n5,6:,\n", 0),
            ("seq 4 | paste -sd '\\0-'; seq 3 | paste -sd ''", "12-34\n123\n", 0),
            ("seq 4 | paste -sd '\\n\\\\'", "1\n2\\3\n4\n", 0),
            ("seq 3 | paste -sd '→'", "1→2→3\n", 0),
            ("seq 2 | paste -sd $'\\xff' | od -An -tx1", " 31 ff 32 0a\n", 0),
            ("seq 3 | paste -d '\\' - 2>&1", "paste: delimiter list ends with an unescaped backslash: \\\n", 1),
        ])
        .await;
    }

    #[tokio::test]
    async fn paste_of_a_file_that_cannot_be_read_has_a_message() {
        check(&[
            ("echo a > a; paste a none 2>&1", "paste: none: No such file or directory\n", 1),
            ("echo a > a; paste -s none a 2> /dev/null", "a\n", 1),
            ("mkdir d; echo a > a; paste d a 2> /dev/null; paste -s d a 2> /dev/null", "\ta\n\na\n", 1),
        ])
        .await;
    }
}
