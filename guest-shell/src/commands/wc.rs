//! Word count builtin - count lines, words, bytes, and characters
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::character_locale::is_c_locale;
use async_trait::async_trait;

use crate::commands::files::quote_if_needed;
use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// The wc builtin - print newline, word, and byte counts.
///
/// Usage: wc [-lwcmL] [FILE...]
///
/// Options:
///   -l, --lines   Print the newline count
///   -w, --words   Print the word count
///   -c, --bytes   Print the byte count
///   -m, --chars   Print the character count
///   -L, --max-line-length  Print the maximum line length
///
/// With no options, prints lines, words, and bytes.
pub(crate) struct Wc;

/// Options of `wc`, with the operands.
struct WcFlags {
    lines: bool,
    words: bool,
    bytes: bool,
    chars: bool,
    max_line_length: bool,
    /// True in the locale C.
    bytes_are_characters: bool,
    /// List of the files' names.
    files_from: Option<String>,
    files: Vec<String>,
    /// Messages about names of the list that are none, each with the number of names before it.
    list_errors: Vec<(usize, String)>,
}

const LONG: [(&str, OptArg, char); 6] = [
    ("bytes", OptArg::No, 'c'),
    ("chars", OptArg::No, 'm'),
    ("files0-from", OptArg::Required, 'F'),
    ("lines", OptArg::No, 'l'),
    ("max-line-length", OptArg::No, 'L'),
    ("words", OptArg::No, 'w'),
];

impl WcFlags {
    fn parse(args: &[String]) -> std::result::Result<Self, ExecResult> {
        let (given, files) = gnu_getopt("wc", args, "clLmw", &LONG, true, 1)?;
        let has = |key: char| given.iter().any(|option| option.key == key);
        let counts_nothing = !"clLmw".chars().any(has);
        let files_from = given.iter().rfind(|option| option.key == 'F').and_then(|option| option.value.clone());
        if let (Some(_), Some(extra)) = (&files_from, files.first()) {
            let message = "file operands cannot be combined with --files0-from";
            let text = format!("wc: extra operand '{extra}'\n{message}\nTry 'wc --help' for more information.\n");
            return Err(ExecResult::err(text, 1));
        }
        Ok(Self {
            lines: counts_nothing || has('l'),
            words: counts_nothing || has('w'),
            bytes: counts_nothing || has('c'),
            chars: has('m'),
            max_line_length: has('L'),
            bytes_are_characters: false,
            files_from,
            files,
            list_errors: Vec::new(),
        })
    }

    /// Returns true if lines and bytes are all that is counted: no character is looked at then.
    fn only_lines_and_bytes(&self) -> bool {
        !(self.words || self.chars || self.max_line_length)
    }

    /// Number of active count fields
    fn active_count(&self) -> usize {
        [self.lines, self.words, self.bytes, self.chars, self.max_line_length].iter().filter(|&&b| b).count()
    }
}

#[async_trait]
impl Builtin for Wc {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: wc [OPTION]... [FILE]...\nPrint newline, word, and byte counts for each FILE.\n\n  -l, --lines\t\t\tprint the newline counts\n  -w, --words\t\t\tprint the word counts\n  -c, --bytes\t\t\tprint the byte counts\n  -m, --chars\t\t\tprint the character counts\n  -L, --max-line-length\t\tprint the maximum line length\n  --help\t\t\tdisplay this help and exit\n  --version\t\t\toutput version information and exit\n",
            Some("wc (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        let mut flags = match WcFlags::parse(ctx.args) {
            Ok(f) => f,
            Err(e) => return Ok(e),
        };
        flags.bytes_are_characters = is_c_locale(ctx.env);
        if let Some(list) = &flags.files_from {
            match crate::commands::operands::read_name_list(&ctx, "wc", list).await? {
                Ok(names) => (flags.files, flags.list_errors) = names,
                Err(message) => return Ok(ExecResult::err(message, 1)),
            }
        }
        let mut messages = Vec::new();
        let counted = count_inputs(&ctx, &flags, &mut messages).await?;
        // The sizes of files whose names come from a pipe are not known when the first is counted.
        let names_are_piped = flags.files_from.as_deref() == Some("-")
            && ctx.stdin_stream().and_then(|input| input.file_size()).is_none();
        let (output, ends) = report(&counted, &flags, names_are_piped);
        let mut placed = PlacedMessages::new();
        for (position, message) in &messages {
            placed.push(message, ends[*position]);
        }
        let status = i32::from(!placed.is_empty());
        Ok(ExecResult { stderr: placed.beside_text(&output), ..ExecResult::with_code(output, status) })
    }
}

/// Counts of an input.
struct CountedInput<'f> {
    name: Option<&'f String>,
    counts: TextCounts,
    /// Size, where it was known before the file was read.
    size: Option<usize>,
}

/// Counts each file, or standard input without any. Messages are noted with the number of counts before them.
async fn count_inputs<'f>(
    ctx: &Context<'_>,
    flags: &'f WcFlags,
    messages: &mut Vec<(usize, String)>,
) -> Result<Vec<CountedInput<'f>>> {
    let mut counted = Vec::new();
    let stdin_size = ctx.stdin_stream().and_then(|input| input.file_size());
    if flags.files.is_empty() && flags.files_from.is_none() {
        counted.push(CountedInput { name: None, counts: count_stdin(ctx, flags).await?, size: stdin_size });
    }
    let mut ended = false;
    for (index, file) in flags.files.iter().enumerate() {
        messages.extend(list_errors_at(flags, index, counted.len()));
        if *file == "-" {
            let again = std::mem::replace(&mut ended, true);
            let counts = if again { Counter::default().finish() } else { count_stdin(ctx, flags).await? };
            counted.push(CountedInput { name: Some(file), counts, size: stdin_size });
            continue;
        }
        let path = bashkit::builtins::resolve_path(ctx.cwd, file);
        let regular = ctx.fs.stat(&path).await.is_ok_and(|m| m.file_type.is_file());
        match crate::commands::operands::read(ctx, file).await? {
            Ok(data) => {
                let counts = count_data(&data, flags);
                let size = regular.then_some(counts.bytes);
                counted.push(CountedInput { name: Some(file), counts, size });
            }
            Err(_) if file.is_empty() => {
                messages.push((counted.len(), "wc: invalid zero-length file name\n".to_owned()));
            }
            Err(reason) => {
                messages.push((counted.len(), format!("wc: {}: {reason}\n", quote_if_needed(file))));
                // A directory is counted as empty.
                if reason == "Is a directory" {
                    counted.push(CountedInput { name: Some(file), counts: Counter::default().finish(), size: None });
                }
            }
        }
    }
    messages.extend(list_errors_at(flags, flags.files.len(), counted.len()));
    Ok(counted)
}

/// Returns the messages about the list that come before one of its names, behind a number of counts.
fn list_errors_at(flags: &WcFlags, name: usize, counted: usize) -> impl Iterator<Item = (usize, String)> {
    let errors = flags.list_errors.iter().filter(move |(position, _)| *position == name);
    errors.map(move |(_, message)| (counted, message.clone()))
}

/// Returns the lines of the counts, with a total for several files, and their length before each line.
fn report(counted: &[CountedInput<'_>], flags: &WcFlags, names_are_piped: bool) -> (String, Vec<usize>) {
    let mut output = String::new();
    let mut ends = vec![0];
    let width = match names_are_piped {
        true => 1,
        false => number_width(counted, flags.files.len().max(1), flags.active_count()),
    };
    let mut totals = Counter::default().finish();
    for input in counted {
        output.push_str(&format_counts(&input.counts, flags, input.name, width));
        output.push('\n');
        ends.push(output.len());
        totals.lines += input.counts.lines;
        totals.words += input.counts.words;
        totals.bytes += input.counts.bytes;
        totals.chars += input.counts.chars;
        totals.max_line_length = totals.max_line_length.max(input.counts.max_line_length);
    }
    if flags.files.len() > 1 {
        output.push_str(&format_counts(&totals, flags, Some(&"total".to_string()), width));
        output.push('\n');
    }
    (output, ends)
}

/// Counts standard input as it comes: a pipe may carry more than memory holds.
async fn count_stdin(ctx: &Context<'_>, flags: &WcFlags) -> Result<TextCounts> {
    let mut input = bashkit::builtins::InputChunks::stdin(ctx)?;
    let mut counter = Counter::of(flags);
    while let Some(piece) = input.next(bashkit::builtins::cut_utf8).await? {
        counter.add(&piece);
    }
    Ok(counter.finish())
}

struct TextCounts {
    lines: usize,
    words: usize,
    bytes: usize,
    chars: usize,
    max_line_length: usize,
}

/// Counts stream data piece by piece; pieces end between characters. Invalid
/// UTF-8 is one character per byte, matching the byte-oriented C locale instead
/// of inventing Unicode replacement characters.
#[derive(Default)]
struct Counter {
    lines: usize,
    words: usize,
    bytes: usize,
    chars: usize,
    longest: usize,
    /// Columns of the line so far.
    line: usize,
    in_word: bool,
    bytes_are_characters: bool,
    only_lines_and_bytes: bool,
}

impl Counter {
    fn of(flags: &WcFlags) -> Self {
        let bytes_are_characters = flags.bytes_are_characters;
        Self { only_lines_and_bytes: flags.only_lines_and_bytes(), bytes_are_characters, ..Self::default() }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        if self.only_lines_and_bytes {
            self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
            return;
        }
        let text = bashkit::text_of(bytes);
        for ch in text.chars() {
            // A byte that is no text is no character.
            self.chars += usize::from(!bashkit::has_raw_bytes(ch.encode_utf8(&mut [0; 4])));
            if ch.is_whitespace() {
                self.in_word = false;
            } else if !self.in_word {
                self.in_word = true;
                self.words += 1;
            }
            match ch {
                '\n' => {
                    self.lines += 1;
                    self.end_line();
                }
                '\r' | '\x0c' => self.end_line(),
                '\t' => self.line += 8 - self.line % 8,
                // What is not printed has no width, and no more has a byte
                // that is no character.
                _ if bashkit::has_raw_bytes(ch.encode_utf8(&mut [0; 4])) => {}
                _ => self.line += unicode_width::UnicodeWidthChar::width(ch).unwrap_or(0),
            }
        }
    }

    fn end_line(&mut self) {
        self.longest = self.longest.max(self.line);
        self.line = 0;
    }

    fn finish(mut self) -> TextCounts {
        self.end_line();
        TextCounts {
            lines: self.lines,
            words: self.words,
            bytes: self.bytes,
            chars: if self.bytes_are_characters { self.bytes } else { self.chars },
            max_line_length: self.longest,
        }
    }
}

fn count_data(bytes: &[u8], flags: &WcFlags) -> TextCounts {
    let mut counter = Counter::of(flags);
    counter.add(bytes);
    counter.finish()
}

/// Computes the width of the counts as GNU's `compute_number_width` does: one file with one count is unpadded;
/// otherwise wide enough for the total size of the regular files, and at least 7 when any input is not a regular file
/// (its size is unknown).
fn number_width(counted: &[CountedInput<'_>], operands: usize, active: usize) -> usize {
    if operands == 1 && active == 1 {
        return 1;
    }
    let mut minimum = 1;
    let mut total = 0usize;
    for input in counted {
        match &input.size {
            Some(size) => total = total.saturating_add(*size),
            None => minimum = 7,
        }
    }
    total.to_string().len().max(minimum)
}

/// Format counts for output, each right-aligned in `width` columns.
fn format_counts(counts: &TextCounts, flags: &WcFlags, filename: Option<&String>, width: usize) -> String {
    let mut values: Vec<usize> = Vec::new();

    if flags.lines {
        values.push(counts.lines);
    }
    if flags.words {
        values.push(counts.words);
    }
    if flags.chars {
        values.push(counts.chars);
    }
    if flags.bytes {
        values.push(counts.bytes);
    }
    if flags.max_line_length {
        values.push(counts.max_line_length);
    }

    let parts: Vec<String> = values.iter().map(|v| format!("{v:>width$}")).collect();
    let result = parts.join(" ");

    if let Some(name) = filename { format!("{} {}", result, name) } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::{call, call_with_files};

    async fn run_wc(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Wc, args, stdin, &[]).await
    }

    // Issue #2425: a failed read reports the resolved VFS path, which must be
    // `/`-separated even where the host separator is `\`.
    #[tokio::test]
    async fn error_names_the_file_as_it_was_given() {
        let fs = std::sync::Arc::new(bashkit::fs::InMemoryFs::new());
        let result = call(&Wc, fs, std::path::Path::new("/d/proj"), &["src/missing.rs"]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.starts_with("wc: src/missing.rs:"), "{}", result.stderr);
    }

    #[tokio::test]
    async fn test_wc_all() {
        let result = run_wc(&[], Some("one two three\nfour five\n")).await;
        assert_eq!(result.exit_code, 0);
        // 2 lines, 5 words, 25 bytes
        assert!(result.stdout.contains("2"));
        assert!(result.stdout.contains("5"));
    }

    #[tokio::test]
    async fn test_wc_lines_only() {
        let result = run_wc(&["-l"], Some("one\ntwo\nthree\n")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("3"));
    }

    #[tokio::test]
    async fn test_wc_words_only() {
        let result = run_wc(&["-w"], Some("one two three four five")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("5"));
    }

    #[tokio::test]
    async fn test_wc_bytes_only() {
        let result = run_wc(&["-c"], Some("hello")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("5"));
    }

    #[tokio::test]
    async fn test_wc_empty() {
        let result = run_wc(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("0"));
    }

    #[tokio::test]
    async fn test_wc_chars() {
        let result = run_wc(&["-m"], Some("hello")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("5"));
    }

    #[tokio::test]
    async fn test_wc_chars_unicode() {
        // héllo: 5 chars but 6 bytes (é is 2 bytes in UTF-8)
        let result = run_wc(&["-m"], Some("héllo")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("5"));
    }

    #[tokio::test]
    async fn test_wc_max_line_length() {
        let result = run_wc(&["-L"], Some("short\nlongerline\n")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("10"));
    }

    #[tokio::test]
    async fn test_wc_invalid_option() {
        let result = run_wc(&["-Q"], Some("hello")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_wc_long_flags() {
        let result = run_wc(&["--bytes"], Some("hello")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("5"));

        let result = run_wc(&["--lines"], Some("a\nb\n")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("2"));

        let result = run_wc(&["--words"], Some("one two three")).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.trim().contains("3"));
    }

    #[tokio::test]
    async fn wc_names_of_a_list_are_counted() {
        use crate::commands::testing::run;
        let files = "printf 'b\\na\\n' > a; printf 'c d\\n' > b; printf 'a\\0b\\0' > L; printf 'a\\0\\0b\\0' > M; ";
        for (script, output, status) in [
            ("wc --files0-from=L", "2 2 4 a\n1 2 4 b\n3 4 8 total\n", 0),
            ("cat L | wc -l --files0-from=-", "2 a\n1 b\n3 total\n", 0),
            ("wc --files0-from=M 2>&1", "2 2 4 a\nwc: M:2: invalid zero-length file name\n1 2 4 b\n3 4 8 total\n", 1),
            ("wc --files0-from=L a 2>&1 | head -1", "wc: extra operand 'a'\n", 0),
            ("wc --files0-from=none 2>&1", "wc: cannot open 'none' for reading: No such file or directory\n", 1),
            ("sort --files0-from=L; sort -r --files0-from=- < L", "a\nb\nc d\nc d\nb\na\n", 0),
            ("sort --files0-from=M 2>&1", "sort: M:2: invalid zero-length file name\n", 2),
            ("sort --files0-from=none 2>&1", "sort: open failed: none: No such file or directory\n", 2),
        ] {
            let result = run(&format!("{files}{script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}");
        }
    }
}
