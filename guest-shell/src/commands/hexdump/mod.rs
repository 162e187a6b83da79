//! `hexdump` and `hd`: dumps bytes in the formats of util-linux. Each style is a format string, like those of `-e`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod conversion;
mod dump;
mod format;
mod options;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::options::HexdumpOptions;
use super::operands::{self, OperandError, Operands, read_each_part};

const HELP: &str = "\
Usage: hexdump [OPTION]... [FILE]...
Display file contents in hexadecimal.

  -b, -c, -d, -o, -x\tone-byte octal, characters, two-byte decimal, octal, hexadecimal
  -C\tcanonical hex+ASCII display
  -e FORMAT\tformat string to be used for displaying data
  -f FILE\tfile that contains format strings
  -n LENGTH\tinterpret only LENGTH bytes
  -s OFFSET\tskip OFFSET bytes from beginning
  -v\tshow all lines that are equal
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `hexdump` of the shell, and `hd`, which is `hexdump -C`.
pub(crate) struct Hexdump {
    canonical: bool,
}

impl Hexdump {
    /// Returns the command `hexdump`, which shows words of two bytes.
    pub(crate) const fn with_words() -> Self {
        Self { canonical: false }
    }

    /// Returns the command `hd`.
    pub(crate) const fn hd() -> Self {
        Self { canonical: true }
    }
}

#[async_trait]
impl Builtin for Hexdump {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("hexdump from util-linux 2.38.1")) {
            return Ok(result);
        }
        let (mut options, files) = match HexdumpOptions::parse(ctx.args, self.canonical) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("{message}\n"), 1)),
        };
        for list in std::mem::take(&mut options.format_files) {
            let text = match operands::read(&ctx, &list).await? {
                Ok(text) => text,
                Err(reason) => return Ok(ExecResult::err(format!("hexdump: can't read {list}: {reason}\n"), 1)),
            };
            options.add_format_file(&bashkit::text_of(&text));
        }
        let formats = match options.formats() {
            Ok(formats) => formats,
            Err(message) => return Ok(ExecResult::err(format!("hexdump: {message}\n"), 1)),
        };
        let operands = read_files(&ctx, &options, &files).await?;
        let output = dump::dump(&operands.concat(), &options, formats);
        Ok(operands.finish(output, &[], operands::OutputFlush::FullBlocks))
    }
}

/// Reads files, or standard input if there are none. `-` is an ordinary file name.
async fn read_files(ctx: &Context<'_>, options: &HexdumpOptions, files: &[String]) -> Result<Operands> {
    let readable: Vec<String> = files.iter().filter(|file| *file != "-").cloned().collect();
    let mut operands = if readable.is_empty() && !files.is_empty() {
        Operands { contents: Vec::new(), errors: Vec::new() }
    } else {
        let used = options.length.map(|length| length.saturating_add(options.offset));
        read_each_part(ctx, &readable, used, |name, reason| format!("hexdump: {name}: {reason}\n")).await?
    };
    let mut message = "hexdump: -: No such file or directory\n".repeat(files.len() - readable.len());
    message += &operands.messages();
    if operands.contents.is_empty() {
        message += "hexdump: all input file arguments failed\n";
    }
    operands.errors.clear();
    if !message.is_empty() {
        operands.errors.push(OperandError { position: 0, message });
    }
    Ok(operands)
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
        let result = run("head -c 48 /dev/zero > f; hexdump -C f; hd -v f").await;
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
            ("hexdump -Q", "hexdump: invalid option -- 'Q'\nTry 'hexdump --help' for more information.\n"),
            ("hexdump --none", "hexdump: unrecognized option '--none'\nTry 'hexdump --help' for more information.\n"),
            ("hexdump -n x", "hexdump: failed to parse length: 'x'\n"),
            ("hexdump -e foo /dev/null", "hexdump: bad format {foo}\n"),
            ("hexdump -e '\"%s\"' /dev/null", "hexdump: %s requires a precision or a byte count\n"),
            ("hexdump -e '\"%q\"' /dev/null", "hexdump: bad conversion character %q\n"),
            ("hexdump -e '1/3 \"%x\"' /dev/null", "hexdump: bad byte count for conversion character x\n"),
            ("hexdump -", "hexdump: -: No such file or directory\nhexdump: all input file arguments failed\n"),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        }
    }

    #[tokio::test]
    async fn hexdump_with_format_strings_prints_as_util_linux() {
        // The outputs are those of util-linux 2.38.1.
        for (format, output) in [
            (r#"-v -e '1/1 "%02x "'"#, "6e 6f 20 6e 65 77 6c 69 6e 65 "),
            (r#"-e '16/1 "%02x " "\n"'"#, "6e 6f 20 6e 65 77 6c 69 6e 65                  \n"),
            (r#"-v -e '/1 "%u\n"' -n 2"#, "110\n111\n"),
            (r#"-ve '1/4 "0x%08x\n"'"#, "0x6e206f6e\n0x696c7765\n0x0000656e\n"),
            (r#"-e '"%_ad: " 4/1 "%3d " "\n"'"#, "0: 110 111  32 110\n4: 101 119 108 105\n8: 110 101        \n"),
            (r#"-e '"%_p"'"#, "no newline"),
            (r#"-e '8/1 "%c" "\n"'"#, "no newli\nne\n"),
            (r#"-e '/1 "%02X" "-"'"#, "6E-6F-20-6E-65-77-6C-69-6E-65-"),
            (r#"-e '"%_Ad\n"' -e '4/1 "%x " "\n"'"#, "6e 6f 20 6e\n65 77 6c 69\n6e 65  \n10\n"),
            (
                r#"-e '3/1 "%5.3s|" "\n"'"#,
                "  no |   o |     |\n  new|   ew|    w|\n  lin|   in|    n|\n    e|     |     |\n",
            ),
        ] {
            let result = run(&format!("printf 'no newline' | hexdump {format}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{format}");
        }
        let result = run(r#"printf '3\n' | hexdump -v -e '1/1 "%_c"'; printf '3\n' | hexdump -e '1/1 "%_u "'"#).await;
        assert_eq!(&*result.stdout, "3\\n3 lf ");
    }
}
