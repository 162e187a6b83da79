//! strings builtin command - print printable strings from binary data
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::OptArg;

/// The strings builtin - find printable strings in files.
///
/// Usage: strings [-afow] [-n MIN] [-t RADIX] [-e ENCODING] [-s SEPARATOR] [FILE...]
pub(crate) struct Strings;

const USAGE: &str = "Usage: strings [option(s)] [file(s)]\n";

const LONG_OPTIONS: &[(&str, OptArg, char)] = &[
    ("all", OptArg::No, 'a'),
    ("bytes", OptArg::Required, 'n'),
    ("data", OptArg::No, 'd'),
    ("encoding", OptArg::Required, 'e'),
    ("include-all-whitespace", OptArg::No, 'w'),
    ("output-separator", OptArg::Required, 's'),
    ("print-file-name", OptArg::No, 'f'),
    ("radix", OptArg::Required, 't'),
    ("target", OptArg::Required, 'T'),
    ("unicode", OptArg::Required, 'U'),
];

/// Encoding of characters.
#[derive(Clone, Copy)]
struct Encoding {
    bytes: usize,
    big_endian: bool,
    /// True if characters above ASCII are printable.
    eight_bit: bool,
}

impl Encoding {
    fn named(name: &str) -> Option<Self> {
        let (bytes, big_endian) = match name {
            "s" | "S" => (1, false),
            "b" => (2, true),
            "l" => (2, false),
            "B" => (4, true),
            "L" => (4, false),
            _ => return None,
        };
        Some(Self { bytes, big_endian, eight_bit: name == "S" })
    }

    /// Returns the character at the start of the data, if it fits in a byte.
    fn first(self, data: &[u8]) -> Option<u8> {
        let stored = data.get(..self.bytes)?;
        let (byte, zeros) = match self.big_endian {
            true => stored.split_last()?,
            false => stored.split_first()?,
        };
        zeros.iter().all(|zero| *zero == 0).then_some(*byte)
    }
}

struct StringsOptions {
    min_length: u64,
    /// Radix of offsets: `o`, `d` or `x`.
    radix: Option<char>,
    encoding: Encoding,
    all_whitespace: bool,
    file_names: bool,
    separator: String,
}

impl Default for StringsOptions {
    fn default() -> Self {
        Self {
            min_length: 4,
            radix: None,
            encoding: Encoding { bytes: 1, big_endian: false, eight_bit: false },
            all_whitespace: false,
            file_names: false,
            separator: "\n".to_string(),
        }
    }
}

impl StringsOptions {
    /// Applies an option. The error is a message for standard error.
    fn set(&mut self, key: char, value: String) -> std::result::Result<(), String> {
        match key {
            'n' => self.min_length = min_length(&value)?,
            'f' => self.file_names = true,
            'o' => self.radix = Some('o'),
            'w' => self.all_whitespace = true,
            's' => self.separator = value,
            't' => match value.as_str() {
                "o" | "d" | "x" => self.radix = value.chars().next(),
                _ => return Err(USAGE.to_string()),
            },
            'e' => self.encoding = Encoding::named(&value).ok_or(USAGE)?,
            'U' if !matches!(value.as_str(), "d" | "default") => {
                return Err(format!("strings: the option '-U {value}' is not available\n"));
            }
            // All data is scanned; the sections of object files are not distinguished.
            _ => {}
        }
        Ok(())
    }

    fn is_printable(&self, byte: u8) -> bool {
        match byte {
            b'\t' | 0x20..=0x7e => true,
            b'\n' | b'\r' | 0x0b | 0x0c => self.all_whitespace,
            _ => byte > 0x7f && self.encoding.eight_bit,
        }
    }

    /// Returns the printable characters at the start of the data.
    fn run(&self, data: &[u8]) -> Vec<u8> {
        let stored = data.chunks(self.encoding.bytes);
        let printable = |byte: &u8| self.is_printable(*byte);
        stored.map_while(|c| self.encoding.first(c).filter(printable)).collect()
    }
}

/// Parses a number in C's notation: `12`, `014` or `0xc`.
fn min_length(value: &str) -> std::result::Result<u64, String> {
    let (sign, digits) = match value.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", value),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let number = match digits {
        "" => 0,
        digits => {
            u64::from_str_radix(digits, radix).map_err(|_| format!("strings: invalid integer argument {value}\n"))?
        }
    };
    match (number, sign) {
        (0, _) => Err("strings: invalid minimum string length 0\n".to_string()),
        // As in C, the number becomes huge, so that no string is long enough.
        (_, "-") => Ok(u64::MAX),
        (number, _) => Ok(number),
    }
}

/// Replaces options such as `-8` by `-n8`.
fn number_options(args: &[String]) -> Vec<String> {
    let mut options = Vec::with_capacity(args.len());
    let mut is_value = false;
    let mut ended = false;
    for arg in args {
        let number = arg
            .strip_prefix('-')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
        match number {
            Some(digits) if !is_value && !ended => options.push(format!("-n{digits}")),
            _ => options.push(arg.clone()),
        }
        ended |= arg == "--" && !is_value;
        is_value = !is_value && matches!(arg.as_str(), "-n" | "-t" | "-e" | "-s" | "-T" | "-U");
    }
    options
}

fn parse_strings_args(args: &[String]) -> std::result::Result<(StringsOptions, Vec<String>), ExecResult> {
    let args = number_options(args);
    let short = "adfn:ot:e:s:wT:U:";
    let (parsed, files) = getopt_long("strings", &args, short, LONG_OPTIONS, true, 1)
        .map_err(|error| ExecResult::err(format!("{}{USAGE}", error.stderr), 1))?;
    let mut opts = StringsOptions::default();
    for option in parsed {
        opts.set(option.key, option.value.unwrap_or_default()).map_err(|message| ExecResult::err(message, 1))?;
    }
    Ok((opts, files))
}

fn extract_strings(name: &str, data: &[u8], opts: &StringsOptions, output: &mut Vec<u8>) {
    let mut start = 0;
    while start < data.len() {
        let run = opts.run(&data[start..]);
        if (run.len() as u64) < opts.min_length {
            // The character that ended the string, or its second byte, may start the next one.
            start += run.len() * opts.encoding.bytes + 1;
            continue;
        }
        if opts.file_names {
            output.extend_from_slice(format!("{name}: ").as_bytes());
        }
        let offset = match opts.radix {
            Some('o') => format!("{start:>7o} "),
            Some('x') => format!("{start:>7x} "),
            Some(_) => format!("{start:>7} "),
            None => String::new(),
        };
        output.extend_from_slice(offset.as_bytes());
        output.extend_from_slice(&run);
        output.extend_from_slice(opts.separator.as_bytes());
        start += run.len() * opts.encoding.bytes + 1;
    }
}

#[async_trait]
impl Builtin for Strings {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: strings [OPTION]... [FILE]...\nPrint the sequences of printable characters in files.\n\n  -a\t\tscan the whole file (default)\n  -e ENCODING\tsize of characters: s, S (1 byte), b, l (2), B, L (4)\n  -f\t\tprint the name of the file before each string\n  -n MIN\tprint sequences of at least MIN characters (default 4)\n  -o\t\tlike -t o\n  -s SEPARATOR\tprint SEPARATOR behind each string, not a line end\n  -t FORMAT\tprint the offset using FORMAT (d=decimal, o=octal, x=hex)\n  -w\t\tall white space is printable\n  --help\t\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("GNU strings (GNU Binutils for Debian) 2.40"),
        ) {
            return Ok(r);
        }
        let (opts, mut files) = match parse_strings_args(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };

        let dashes = files.len();
        files.retain(|file| file != "-");
        if files.is_empty() && dashes > 0 {
            // `-` is an option without effect, so that a file is missing.
            return Ok(ExecResult::err(USAGE, 1));
        }
        let message = |name: &str, reason: &str| match (name, reason) {
            (_, "No such file or directory") | ("", _) => {
                format!("strings: '{name}': No such file\n")
            }
            (_, "Is a directory") => format!("strings: Warning: '{name}' is a directory\n"),
            _ => format!("strings: {name}: {reason}\n"),
        };
        let operands = crate::commands::operands::read_each(&ctx, &files, message).await?;
        let mut output = Vec::new();
        let mut ends = Vec::with_capacity(operands.contents.len());
        for (name, data) in &operands.contents {
            let name = if files.is_empty() { "{standard input}" } else { name };
            extract_strings(name, data, &opts, &mut output);
            ends.push(output.len());
        }
        Ok(operands.finish(output, &ends, crate::commands::operands::OutputFlush::BeforeMessages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::call_with_files;

    async fn run_strings(args: &[&str], stdin: Option<&str>) -> ExecResult {
        call_with_files(&Strings, args, stdin, &[]).await
    }

    async fn run_strings_with_fs(args: &[&str], files: &[(&str, &[u8])]) -> ExecResult {
        call_with_files(&Strings, args, None, files).await
    }

    #[tokio::test]
    async fn test_strings_basic() {
        let result = run_strings(&[], Some("hello world")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello world\n");
    }

    #[tokio::test]
    async fn test_strings_binary_data() {
        // Mix of binary and text
        let mut data = vec![0u8, 1, 2, 3];
        data.extend_from_slice(b"hello");
        data.extend_from_slice(&[0, 1, 2]);
        data.extend_from_slice(b"world");
        data.push(0);

        let result = run_strings_with_fs(&["/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello\nworld\n");
    }

    #[tokio::test]
    async fn test_strings_min_length() {
        let result = run_strings(&["-n", "8"], Some("hi there how are you")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hi there how are you\n");
    }

    #[tokio::test]
    async fn test_strings_min_length_filter() {
        let mut data = Vec::new();
        data.extend_from_slice(b"ab");
        data.push(0);
        data.extend_from_slice(b"cdef");
        data.push(0);
        data.extend_from_slice(b"ghijklm");
        data.push(0);

        let result = run_strings_with_fs(&["-n", "4", "/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "cdef\nghijklm\n");
    }

    #[tokio::test]
    async fn test_strings_min_length_shorthand() {
        let data = b"short\0longest-string\0";
        let result = run_strings_with_fs(&["-8", "/test.bin"], &[("/test.bin", data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "longest-string\n");
    }

    #[tokio::test]
    async fn test_strings_double_dash_delimits_options() {
        let data = b"after-delimiter\0";
        let result = run_strings_with_fs(&["--", "/test.bin"], &[("/test.bin", data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "after-delimiter\n");
    }

    #[tokio::test]
    async fn test_strings_double_dash_treats_option_like_arg_as_file() {
        // After `--`, an option-looking name like `-8` is a filename, not the
        // `-NUM` minimum-length shorthand.
        let data = b"numeric-name\0";
        let result = run_strings_with_fs(&["--", "-8"], &[("/-8", data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "numeric-name\n");
    }

    #[tokio::test]
    async fn test_strings_short_min() {
        let mut data = Vec::new();
        data.extend_from_slice(b"ab");
        data.push(0);
        data.extend_from_slice(b"cd");
        data.push(0);

        let result = run_strings_with_fs(&["-n", "2", "/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "ab\ncd\n");
    }

    #[tokio::test]
    async fn test_strings_offset_decimal() {
        let mut data = vec![0u8; 10];
        data.extend_from_slice(b"hello");
        data.push(0);

        let result = run_strings_with_fs(&["-t", "d", "/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("10 hello"));
    }

    #[tokio::test]
    async fn test_strings_offset_hex() {
        let mut data = vec![0u8; 16];
        data.extend_from_slice(b"test");
        data.push(0);

        let result = run_strings_with_fs(&["-t", "x", "/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("10 test"));
    }

    #[tokio::test]
    async fn test_strings_empty_input() {
        let result = run_strings(&[], Some("")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_strings_all_binary() {
        let data = vec![0u8, 1, 2, 3, 4, 5];
        let result = run_strings_with_fs(&["/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "");
    }

    #[tokio::test]
    async fn test_strings_file_not_found() {
        let result = run_strings(&["/nonexistent"], None).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("strings:"));
    }

    #[tokio::test]
    async fn test_strings_tab_is_printable() {
        let result = run_strings(&["-n", "1"], Some("a\tb")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\tb\n");
    }

    #[tokio::test]
    async fn test_strings_multiple_sequences() {
        let mut data = Vec::new();
        data.extend_from_slice(b"first");
        data.extend_from_slice(&[0, 0, 0]);
        data.extend_from_slice(b"second");
        data.extend_from_slice(&[0, 0]);
        data.extend_from_slice(b"third");

        let result = run_strings_with_fs(&["/test.bin"], &[("/test.bin", &data)]).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "first\nsecond\nthird\n");
    }

    #[tokio::test]
    async fn test_strings_invalid_min_length() {
        let result = run_strings(&["-n", "abc"], Some("test")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid integer argument abc"));
    }

    #[tokio::test]
    async fn test_strings_rejects_unknown_option() {
        let result = run_strings(&["-Q"], Some("test")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }
}
