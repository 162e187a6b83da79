//! split builtin command - split a file into pieces
//!
//! Pieces are of lines (`-l`), bytes (`-b`), whole lines up to some bytes (`-C`)
//! or a number of pieces (`-n`, also `l/N`, `r/N` and `K/N`); names have suffixes
//! of letters or digits that grow longer when they run out, as GNU's do.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::{OptArg, gnu_getopt};
use bashkit::builtins::place;
use bashkit::builtins::resolve_path;

/// The split builtin command.
///
/// Usage: split [-l lines | -b bytes | -C bytes | -n chunks] [-a length] [-d | -x] [FILE [PREFIX]]
pub(crate) struct Split;

const HELP: &str = "Usage: split [OPTION]... [FILE [PREFIX]]\nSplit a file into pieces.\n\n  -a, --suffix-length=N\tgenerate suffixes of length N (default 2)\n  --additional-suffix=SUFFIX\tappend an additional SUFFIX to file names\n  -b, --bytes=SIZE\tput SIZE bytes per output file\n  -C, --line-bytes=SIZE\tput at most SIZE bytes of records per output file\n  -d, --numeric-suffixes[=FROM]\tuse numeric suffixes instead of alphabetic\n  -x, --hex-suffixes[=FROM]\tuse hexadecimal suffixes\n  -e, --elide-empty-files\tdo not generate empty output files with '-n'\n  -l, --lines=NUMBER\tput NUMBER lines per output file (default 1000)\n  -n, --number=CHUNKS\tgenerate CHUNKS output files\n  -t, --separator=SEP\tuse SEP instead of newline as the record separator\n  --verbose\tprint a diagnostic before each output file is opened\n";

/// Most files that one call writes.
const MOST_FILES: usize = 100_000;

/// Rule that says what a piece is.
enum Pieces {
    Lines(usize),
    Bytes(usize),
    LineBytes(usize),
    /// Cut into a number of pieces; if one of them is selected, only that one is printed.
    Chunks(Chunks, Option<usize>, usize),
}

/// Way in which a file is cut into a number of pieces.
#[derive(Clone, Copy, PartialEq)]
enum Chunks {
    Bytes,
    Lines,
    RoundRobin,
}

struct SplitOptions {
    pieces: Pieces,
    suffix_length: Option<usize>,
    additional: String,
    alphabet: &'static [u8],
    from: usize,
    elide: bool,
    verbose: bool,
    separator: u8,
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const HEXADECIMAL: &[u8] = b"0123456789abcdef";

fn failure(message: String) -> ExecResult {
    ExecResult::err(format!("split: {message}\n"), 1)
}

fn usage(message: String) -> ExecResult {
    failure(format!("{message}\nTry 'split --help' for more information."))
}

fn parse_args(args: &[String]) -> std::result::Result<(SplitOptions, Vec<String>), ExecResult> {
    // The obsolete `-NUM` is `-lNUM`.
    let obsolete = |word: &String| {
        word.len() > 1 && word.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut words = args.to_vec();
    if let Some(word) = words.first_mut().filter(|word| obsolete(word)) {
        word.insert(1, 'l');
    }
    let (opts, operands) = gnu_getopt(
        "split",
        &words,
        "a:b:C:del:n:t:ux",
        &[
            ("additional-suffix", OptArg::Required, 'A'),
            ("bytes", OptArg::Required, 'b'),
            ("elide-empty-files", OptArg::No, 'e'),
            ("hex-suffixes", OptArg::Optional, 'x'),
            ("line-bytes", OptArg::Required, 'C'),
            ("lines", OptArg::Required, 'l'),
            ("number", OptArg::Required, 'n'),
            ("numeric-suffixes", OptArg::Optional, 'd'),
            ("separator", OptArg::Required, 't'),
            ("suffix-length", OptArg::Required, 'a'),
            ("unbuffered", OptArg::No, 'u'),
            ("verbose", OptArg::No, 'v'),
        ],
        true,
        1,
    )?;
    let mut options = SplitOptions {
        pieces: Pieces::Lines(1000),
        suffix_length: None,
        additional: String::new(),
        alphabet: LETTERS,
        from: 0,
        elide: false,
        verbose: false,
        separator: b'\n',
    };
    let mut chosen = false;
    for opt in opts {
        let given = opt.value.is_some();
        let value = opt.value.unwrap_or_default();
        if "bCln".contains(opt.key) && std::mem::replace(&mut chosen, true) {
            return Err(usage("cannot split in more than one way".into()));
        }
        match opt.key {
            'a' => options.suffix_length = Some(number(&value, "suffix length", true)?),
            'A' if value.contains('/') => {
                return Err(usage(format!("invalid suffix '{value}', contains directory separator")));
            }
            'A' => options.additional = value,
            'b' => options.pieces = Pieces::Bytes(number(&value, "number of bytes", false)?),
            'C' => options.pieces = Pieces::LineBytes(number(&value, "number of bytes", false)?),
            'l' => options.pieces = Pieces::Lines(number(&value, "number of lines", false)?),
            'n' => options.pieces = chunks(&value)?,
            'd' | 'x' => {
                options.alphabet = if opt.key == 'd' { DIGITS } else { HEXADECIMAL };
                if given {
                    let radix = if opt.key == 'd' { 10 } else { 16 };
                    options.from = usize::from_str_radix(&value, radix)
                        .map_err(|_| usage(format!("{value}: invalid start value for numerical suffix")))?;
                }
            }
            'e' => options.elide = true,
            't' => match &*bashkit::bytes_of(&value) {
                [only] => options.separator = *only,
                b"\\0" => options.separator = 0,
                [] => return Err(failure("empty record separator".into())),
                _ => return Err(failure(format!("multi-character separator '{value}'"))),
            },
            'v' => options.verbose = true,
            _ => {}
        }
    }
    if let Some(extra) = operands.get(2) {
        return Err(usage(format!("extra operand '{extra}'")));
    }
    Ok((options, operands))
}

/// A number with GNU's multipliers.
fn number(value: &str, what: &str, zero: bool) -> std::result::Result<usize, ExecResult> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let multiplier = crate::commands::excerpt::count::count_multiplier(&value[digits..]);
    let number = value[..digits].parse::<usize>().ok().zip(multiplier);
    match number.map(|(number, multiplier)| number.saturating_mul(multiplier)) {
        Some(number) if number > 0 || zero => Ok(number),
        _ => Err(failure(format!("invalid {what}: '{value}'"))),
    }
}

fn chunks(value: &str) -> std::result::Result<Pieces, ExecResult> {
    let (kind, rest) = match value.split_once('/') {
        Some(("l", rest)) => (Chunks::Lines, rest),
        Some(("r", rest)) => (Chunks::RoundRobin, rest),
        _ => (Chunks::Bytes, value),
    };
    let (only, count) = match rest.split_once('/') {
        Some((only, count)) => (Some(only), count),
        None => (None, rest),
    };
    let invalid = |what: &str, value: &str| failure(format!("invalid {what}: '{value}'"));
    let count: usize =
        count.parse().ok().filter(|count| *count > 0).ok_or_else(|| invalid("number of chunks", count))?;
    let only = match only {
        None => None,
        Some(only) => {
            let number = only.parse().ok().filter(|number| (1..=count).contains(number));
            Some(number.ok_or_else(|| invalid("chunk number", only))?)
        }
    };
    Ok(Pieces::Chunks(kind, only, count))
}

impl SplitOptions {
    /// Cuts the data into pieces, in their order.
    fn cut<'d>(&self, data: &'d [u8]) -> Vec<std::borrow::Cow<'d, [u8]>> {
        let lines = || data.split_inclusive(|byte| *byte == self.separator);
        match &self.pieces {
            // No more than are written, and one to tell that there were more.
            Pieces::Bytes(size) => data.chunks(*size).take(MOST_FILES + 1).map(Into::into).collect(),
            Pieces::Lines(count) => {
                let mut pieces = Vec::new();
                let (mut start, mut end, mut taken) = (0, 0, 0);
                for line in lines() {
                    end += line.len();
                    taken += 1;
                    if taken == *count && pieces.len() <= MOST_FILES {
                        pieces.push(data[start..end].into());
                        (start, taken) = (end, 0);
                    }
                }
                if start < end {
                    pieces.push(data[start..end].into());
                }
                pieces
            }
            Pieces::LineBytes(size) => self.line_bytes(data, *size),
            Pieces::Chunks(Chunks::Bytes, _, count) => {
                // The last one has what does not divide evenly.
                let size = data.len() / count;
                let start = |index: usize| {
                    if index == *count { data.len() } else { index * size }
                };
                (0..*count).map(|index| data[start(index)..start(index + 1)].into()).collect()
            }
            Pieces::Chunks(Chunks::Lines, _, count) => {
                // A line is in the piece that its first byte would be in.
                let size = data.len() / count;
                let end = |index: usize| {
                    if index + 1 == *count { data.len() } else { (index + 1) * size }
                };
                let mut pieces = Vec::with_capacity(*count);
                let mut at = 0;
                let mut lines = lines().peekable();
                for index in 0..*count {
                    let start = at;
                    while let Some(line) = lines.next_if(|_| at < end(index)) {
                        at += line.len();
                    }
                    pieces.push(data[start..at].into());
                }
                pieces
            }
            Pieces::Chunks(Chunks::RoundRobin, _, count) => {
                let mut pieces = vec![Vec::new(); *count];
                for (index, line) in lines().enumerate() {
                    pieces[index % count].extend_from_slice(line);
                }
                pieces.into_iter().map(Into::into).collect()
            }
        }
    }

    /// Whole lines up to a size; a line that is longer is cut.
    fn line_bytes<'d>(&self, data: &'d [u8], size: usize) -> Vec<std::borrow::Cow<'d, [u8]>> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < data.len() && pieces.len() <= MOST_FILES {
            let window = &data[start..data.len().min(start.saturating_add(size))];
            let whole = window.iter().rposition(|byte| *byte == self.separator);
            let length = match whole {
                _ if start + window.len() == data.len() => window.len(),
                Some(at) => at + 1,
                None => window.len(),
            };
            pieces.push(window[..length].into());
            start += length;
        }
        pieces
    }

    /// The name of a piece; nothing if the suffixes are exhausted.
    fn suffix(&self, index: usize) -> Option<String> {
        let base = self.alphabet.len();
        // Without a length that is given, the last letter of the first place is left for longer suffixes.
        let open = self.suffix_length.is_none_or(|length| length == 0) && self.from == 0;
        let (mut length, mut number) = (self.length(), index.saturating_add(self.from));
        let mut prefix = 0;
        if open {
            loop {
                let room = base.checked_pow(u32::try_from(length).ok()?)? / base * (base - 1);
                if number < room {
                    break;
                }
                number -= room;
                prefix += 1;
                length += 1;
            }
        }
        let mut suffix = vec![self.alphabet[0]; length];
        for place in suffix.iter_mut().rev() {
            *place = self.alphabet[number % base];
            number /= base;
        }
        let last = char::from(self.alphabet[base - 1]).to_string().repeat(prefix);
        (number == 0).then(|| last + &bashkit::text_of(&suffix))
    }

    /// Places of the suffixes: given, or what the number of pieces needs, or 2.
    fn length(&self) -> usize {
        let given = self.suffix_length.filter(|length| *length > 0);
        let needed = match self.pieces {
            Pieces::Chunks(_, _, count) => {
                let mut largest = count - 1;
                if self.from < count {
                    largest += self.from;
                }
                let mut places = 1;
                while largest >= self.alphabet.len() {
                    largest /= self.alphabet.len();
                    places += 1;
                }
                places
            }
            _ => 0,
        };
        given.unwrap_or(needed.max(2))
    }
}

#[async_trait]
impl Builtin for Split {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, HELP, Some("split (bashkit) 0.1")) {
            return Ok(r);
        }
        let (options, operands) = match parse_args(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let file = operands.first().map_or("-", String::as_str);
        let prefix = operands.get(1).map_or("x", String::as_str);
        let data = match crate::commands::operands::read(&ctx, file).await? {
            Ok(data) => data,
            Err(reason) if reason == "Is a directory" => {
                // For a number of pieces the size comes first.
                let reason = match options.pieces {
                    Pieces::Chunks(..) => format!("cannot determine file size: {reason}"),
                    _ => reason,
                };
                return Ok(failure(format!("{file}: {reason}")));
            }
            Err(reason) => {
                return Ok(failure(format!("cannot open '{file}' for reading: {reason}")));
            }
        };
        if let Pieces::Chunks(_, _, count) = options.pieces
            && count > MOST_FILES
        {
            return Ok(failure(format!("more than {MOST_FILES} files are not written")));
        }
        let pieces = options.cut(&data);
        if let Pieces::Chunks(_, Some(only), _) = options.pieces {
            return Ok(ExecResult::ok_bytes(pieces[only - 1].to_vec()));
        }
        let input = match file {
            "-" => None,
            file => Some(place(ctx.fs.as_ref(), &resolve_path(ctx.cwd, file), true).await),
        };
        let mut told = String::new();
        for (index, piece) in pieces.iter().filter(|piece| !(options.elide && piece.is_empty())).enumerate() {
            let Some(suffix) = options.suffix(index).filter(|_| index < MOST_FILES) else {
                let mut result = failure("output file suffixes exhausted".into());
                result.stdout = told.into();
                return Ok(result);
            };
            let name = format!("{prefix}{suffix}{}", options.additional);
            if options.verbose {
                told.push_str(&format!("creating file '{name}'\n"));
            }
            let path = resolve_path(ctx.cwd, &name);
            if Some(place(ctx.fs.as_ref(), &path, true).await) == input {
                let message = format!("'{name}' would overwrite input; aborting");
                let mut result = failure(message);
                result.stdout = told.into();
                return Ok(result);
            }
            if let Err(error) = ctx.fs.write_file(&path, piece).await {
                let reason = bashkit::error::io_error_reason(&error);
                return Ok(failure(format!("{name}: {reason}")));
            }
        }
        Ok(ExecResult::ok(told))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashkit::fs::{FileSystem, InMemoryFs};
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    async fn run_split(args: &[&str], stdin: Option<&str>, fs: Arc<dyn FileSystem>) -> ExecResult {
        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let env = HashMap::new();
        let mut variables = HashMap::new();
        let mut cwd = PathBuf::from("/");
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };
        Split.execute(ctx).await.expect("split failed")
    }

    #[tokio::test]
    async fn test_split_by_lines() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "line1\nline2\nline3\nline4\nline5\n";
        fs.write_file(Path::new("/input"), input.as_bytes()).await.unwrap();
        let result = run_split(&["-l", "2", "/input"], None, fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        // Should create xaa (2 lines), xab (2 lines), xac (1 line)
        assert!(fs.exists(Path::new("/xaa")).await.unwrap());
        assert!(fs.exists(Path::new("/xab")).await.unwrap());
        assert!(fs.exists(Path::new("/xac")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_numeric_suffix() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "a\nb\nc\n";
        let result = run_split(&["-l", "1", "-d"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/x00")).await.unwrap());
        assert!(fs.exists(Path::new("/x01")).await.unwrap());
        assert!(fs.exists(Path::new("/x02")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_by_chunks() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "abcdef";
        let result = run_split(&["-n", "3"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/xaa")).await.unwrap());
        assert!(fs.exists(Path::new("/xab")).await.unwrap());
        assert!(fs.exists(Path::new("/xac")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_custom_prefix() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "data\n";
        let result = run_split(&["-l", "1", "-", "out_"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/out_aa")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_missing_file() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["/nonexistent"], None, fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("cannot open"));
    }

    #[tokio::test]
    async fn test_split_unknown_option() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-Q"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_split_zero_chunks() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-n", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
    }

    #[tokio::test]
    async fn test_split_zero_lines() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-l", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of lines"));
    }

    #[tokio::test]
    async fn test_split_zero_bytes() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-b", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of bytes"));
    }

    #[test]
    fn test_suffixes_grow_when_they_run_out() {
        let options = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            parse_args(&words).map(|(options, _)| options).unwrap_or_else(|_| panic!("{words:?}"))
        };
        let letters = options(&[]);
        assert_eq!(letters.suffix(0).as_deref(), Some("aa"));
        assert_eq!(letters.suffix(26).as_deref(), Some("ba"));
        assert_eq!(letters.suffix(26 * 25).as_deref(), Some("zaaa"));
        assert_eq!(options(&["-d"]).suffix(90).as_deref(), Some("9000"));
        assert_eq!(options(&["-a1"]).suffix(26), None);
        assert_eq!(options(&["--numeric-suffixes=9"]).suffix(0).as_deref(), Some("09"));
    }
}
