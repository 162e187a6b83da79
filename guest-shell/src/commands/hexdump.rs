//! `hexdump`: dumps bytes in the styles of util-linux.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::arg_parser::ArgParser;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use super::byte_text::{character_or_escape, printable_or_dot};
use super::operands::{Operands, read_all_parts};

const HELP: &str = "\
Usage: hexdump [OPTION]... [FILE]...
Display file contents in hexadecimal.

  -b, -c, -d, -o, -x\tone-byte octal, characters, two-byte decimal, octal, hexadecimal
  -C\tcanonical hex+ASCII display
  -n LENGTH\tinterpret only LENGTH bytes
  -s OFFSET\tskip OFFSET bytes from beginning
  -v\tshow all lines that are equal
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Number of bytes in a line.
const LINE_SIZE: usize = 16;

/// Command `hexdump` of the shell.
pub(crate) struct Hexdump;

#[async_trait]
impl Builtin for Hexdump {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("hexdump (bashkit) 0.1")) {
            return Ok(result);
        }
        let (options, files) = match HexdumpOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("{message}\n"), 1)),
        };
        let operands = read_files(&ctx, &options, &files).await?;
        let output = options.dump(&operands.concat());
        Ok(operands.finish(output))
    }
}

/// Reads files, or standard input if there are none. `-` is an ordinary file name.
async fn read_files(ctx: &Context<'_>, options: &HexdumpOptions, files: &[String]) -> Result<Operands> {
    let readable: Vec<String> = files.iter().filter(|file| *file != "-").cloned().collect();
    let mut operands = if readable.is_empty() && !files.is_empty() {
        Operands { contents: Vec::new(), errors: String::new() }
    } else {
        let used = options.length.map(|length| length.saturating_add(options.offset));
        read_all_parts(ctx, "hexdump", &readable, used).await?
    };
    let missing = "hexdump: -: No such file or directory\n".repeat(files.len() - readable.len());
    operands.errors.insert_str(0, &missing);
    if operands.contents.is_empty() {
        operands.errors.push_str("hexdump: all input file arguments failed\n");
    }
    Ok(operands)
}

/// Form of the bytes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HexdumpStyle {
    /// Hexadecimal words, the default.
    Words,
    Canonical,
    OctalBytes,
    Characters,
    DecimalWords,
    OctalWords,
    WideWords,
}

const STYLE_OPTIONS: [(&str, HexdumpStyle); 6] = [
    ("-C", HexdumpStyle::Canonical),
    ("-b", HexdumpStyle::OctalBytes),
    ("-c", HexdumpStyle::Characters),
    ("-d", HexdumpStyle::DecimalWords),
    ("-o", HexdumpStyle::OctalWords),
    ("-x", HexdumpStyle::WideWords),
];

/// Options of one call.
#[derive(Debug, Default)]
struct HexdumpOptions {
    /// Styles in which each line is shown, at least one.
    styles: Vec<HexdumpStyle>,
    length: Option<usize>,
    offset: usize,
    /// True if repeated lines are all shown (`-v`).
    verbose: bool,
}

impl HexdumpOptions {
    /// Reads a command line into options and names of files. The error is a message.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), String> {
        let mut options = Self::default();
        let mut files = Vec::new();
        let mut parser = ArgParser::new(words);
        while !parser.is_done() {
            if let Some((_, style)) = STYLE_OPTIONS.iter().find(|(name, _)| parser.flag(name)) {
                options.styles.push(*style);
            } else if parser.flag("-v") {
                options.verbose = true;
            } else if parser.flag_any(&["-vC", "-Cv"]) {
                options.verbose = true;
                options.styles.push(HexdumpStyle::Canonical);
            } else if let Some(value) = parser.flag_value("-n", "hexdump")? {
                let length = value.parse().map_err(|_| format!("hexdump: invalid length: '{value}'"))?;
                options.length = Some(length);
            } else if let Some(value) = parser.flag_value("-s", "hexdump")? {
                options.offset = value.parse().map_err(|_| format!("hexdump: invalid offset: '{value}'"))?;
            } else if parser.is_flag() && parser.current() != Some("--") {
                return Err(unknown_option(parser.current().unwrap_or_default()));
            } else if let Some(word) = parser.positional() {
                files.push(word.to_owned());
            }
        }
        if options.styles.is_empty() {
            options.styles.push(HexdumpStyle::Words);
        }
        Ok((options, files))
    }

    /// Returns the dump of some bytes.
    fn dump(&self, data: &[u8]) -> String {
        let data = data.get(self.offset..).unwrap_or_default();
        let data = &data[..data.len().min(self.length.unwrap_or(data.len()))];
        let mut output = String::new();
        let mut previous: Option<&[u8]> = None;
        let mut in_duplicates = false;
        for (index, line) in data.chunks(LINE_SIZE).enumerate() {
            if previous == Some(line) && !self.verbose {
                if !in_duplicates {
                    output.push_str("*\n");
                }
                in_duplicates = true;
                continue;
            }
            (previous, in_duplicates) = (Some(line), false);
            for style in &self.styles {
                push_line(&mut output, self.offset + index * LINE_SIZE, line, *style);
            }
        }
        let end = self.offset + data.len();
        match self.styles[0] {
            _ if data.is_empty() => {}
            HexdumpStyle::Canonical => output.push_str(&format!("{end:08x}\n")),
            _ => output.push_str(&format!("{end:07x}\n")),
        }
        output
    }
}

fn unknown_option(word: &str) -> String {
    match word.strip_prefix("--") {
        Some(name) => format!("hexdump: unrecognized option '--{name}'"),
        None => format!("hexdump: invalid option -- '{}'", word.chars().nth(1).unwrap_or('-')),
    }
}

/// Adds a line. Spaces fill the width of a whole one.
fn push_line(output: &mut String, offset: usize, line: &[u8], style: HexdumpStyle) {
    let words = || line.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    let (cells, width) = match style {
        HexdumpStyle::Canonical => return push_canonical_line(output, offset, line),
        HexdumpStyle::Words => (words().map(|word| format!(" {word:04x}")).collect::<String>(), 40),
        HexdumpStyle::WideWords => (words().map(|word| format!("    {word:04x}")).collect(), 64),
        HexdumpStyle::DecimalWords => (words().map(|word| format!("   {word:05}")).collect(), 64),
        HexdumpStyle::OctalWords => (words().map(|word| format!("  {word:06o}")).collect(), 64),
        HexdumpStyle::OctalBytes => (line.iter().map(|byte| format!(" {byte:03o}")).collect(), 64),
        HexdumpStyle::Characters => {
            (line.iter().map(|byte| format!(" {:>3}", character_or_escape(*byte))).collect(), 64)
        }
    };
    output.push_str(&format!("{offset:07x}{cells:width$}\n"));
}

/// Adds a line of `hexdump -C`.
fn push_canonical_line(output: &mut String, offset: usize, line: &[u8]) {
    output.push_str(&format!("{offset:08x}  "));
    for index in 0..LINE_SIZE {
        match line.get(index) {
            Some(byte) => output.push_str(&format!("{byte:02x} ")),
            None => output.push_str("   "),
        }
        if index % 8 == 7 {
            output.push(' ');
        }
    }
    output.push('|');
    output.extend(line.iter().map(|byte| printable_or_dot(*byte)));
    output.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn hexdump_with_a_style_pads_as_util_linux() {
        for (option, cells) in [
            ("-x", "    6261    6463    000a"),
            ("-d", "   25185   25699   00010"),
            ("-o", "  061141  062143  000012"),
            ("-b", " 141 142 143 144 012"),
            ("-c", "   a   b   c   d  \\n"),
        ] {
            let result = run(&format!("echo abcd | hexdump {option}")).await;
            assert_eq!(&*result.stdout, format!("0000000{cells:64}\n0000005\n"), "{option}");
        }
        assert_eq!(&*run("printf AB | hexdump").await.stdout, format!("0000000{:40}\n0000002\n", " 4241"));
    }

    #[tokio::test]
    async fn hexdump_canonical_shows_equal_lines_once_unless_asked() {
        let line = "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|";
        let result = run("head -c 48 /dev/zero > f; hexdump -C f; hexdump -vC f").await;
        let squeezed = format!("00000000  {line}\n*\n00000030\n");
        let all = format!("00000000  {line}\n00000010  {line}\n00000020  {line}\n00000030\n");
        assert_eq!(&*result.stdout, squeezed + &all);
    }

    #[tokio::test]
    async fn hexdump_of_a_part_keeps_addresses() {
        let result = run("printf Hello | hexdump -C -s 2 -n 2; printf '' | hexdump").await;
        let cells = "6c 6c".to_owned() + &" ".repeat(3 * 14 + 3);
        assert_eq!(&*result.stdout, format!("00000002  {cells}|ll|\n00000004\n"));
    }

    #[tokio::test]
    async fn hexdump_failures_have_messages() {
        for (script, message) in [
            ("hexdump -Q", "hexdump: invalid option -- 'Q'\n"),
            ("hexdump --none", "hexdump: unrecognized option '--none'\n"),
            ("hexdump -n x", "hexdump: invalid length: 'x'\n"),
            ("hexdump -", "hexdump: -: No such file or directory\nhexdump: all input file arguments failed\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        }
    }
}
