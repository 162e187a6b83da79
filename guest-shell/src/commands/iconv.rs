//! `iconv`: converts text between encodings, as glibc's does.
//!
//! The encodings of Unicode, ASCII, ISO-8859-1, ISO-8859-15 and Windows-1252 are supported; others are refused.

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use super::operands;

const HELP: &str = "\
Usage: iconv [OPTION]... [FILE]...
Convert text from one character encoding to another.

  -f, --from-code=ENCODING  encoding of the input (default: UTF-8)
  -t, --to-code=ENCODING    encoding of the output (default: UTF-8), with //TRANSLIT or //IGNORE
  -c                        leave out what cannot be converted
  -o, --output=FILE         write to FILE
  -s, --silent              no warnings
  -l, --list                list the encodings
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

const LONG: [(&str, OptArg, char); 6] = [
    ("from-code", OptArg::Required, 'f'),
    ("to-code", OptArg::Required, 't'),
    ("output", OptArg::Required, 'o'),
    ("silent", OptArg::No, 's'),
    ("verbose", OptArg::No, 's'),
    ("list", OptArg::No, 'l'),
];

/// Encoding of characters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
    Latin9,
    Cp1252,
    /// UTF-16 with a byte order mark, which determines the byte order of input. Output is little-endian.
    Utf16,
    Utf16Le,
    Utf16Be,
}

/// Names of the encodings, without hyphens and underscores.
const NAMES: [(&str, Encoding); 20] = [
    ("UTF8", Encoding::Utf8),
    ("ASCII", Encoding::Ascii),
    ("USASCII", Encoding::Ascii),
    ("ANSIX3.41968", Encoding::Ascii),
    ("646", Encoding::Ascii),
    ("ISO88591", Encoding::Latin1),
    ("LATIN1", Encoding::Latin1),
    ("L1", Encoding::Latin1),
    ("ISO885915", Encoding::Latin9),
    ("LATIN9", Encoding::Latin9),
    ("CP1252", Encoding::Cp1252),
    ("WINDOWS1252", Encoding::Cp1252),
    ("MSANSI", Encoding::Cp1252),
    ("UTF16", Encoding::Utf16),
    ("UTF16LE", Encoding::Utf16Le),
    ("UTF16BE", Encoding::Utf16Be),
    ("UNICODE", Encoding::Utf16),
    ("UCS2", Encoding::Utf16Le),
    ("UNICODELITTLE", Encoding::Utf16Le),
    ("UNICODEBIG", Encoding::Utf16Be),
];

/// Characters of Windows-1252 from 0x80 to 0x9f; NUL marks an undefined byte.
const CP1252: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// Characters of ISO-8859-15 that differ from ISO-8859-1.
const LATIN9: [(u8, char); 8] =
    [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];

/// Characters that //TRANSLIT replaces, with their ASCII replacements.
const TRANSLITERATIONS: [(&str, &str); 76] = [
    ("ÀÁÂÃÄÅĀĂĄ", "A"),
    ("àáâãäåāăą", "a"),
    ("ÇĆĈĊČ", "C"),
    ("çćĉċč", "c"),
    ("ÐĎĐ", "D"),
    ("ďđð", "d"),
    ("ÈÉÊËĒĔĖĘĚ", "E"),
    ("èéêëēĕėęě", "e"),
    ("ĜĞĠĢ", "G"),
    ("ĝğġģ", "g"),
    ("ĤĦ", "H"),
    ("ĥħ", "h"),
    ("ÌÍÎÏĨĪĬĮİ", "I"),
    ("ìíîïĩīĭįı", "i"),
    ("Ĵ", "J"),
    ("ĵ", "j"),
    ("Ķ", "K"),
    ("ķ", "k"),
    ("ĹĻĽŁ", "L"),
    ("ĺļľł", "l"),
    ("ÑŃŅŇ", "N"),
    ("ñńņň", "n"),
    ("ÒÓÔÕÖØŌŎŐ", "O"),
    ("òóôõöøōŏő", "o"),
    ("ŔŖŘ", "R"),
    ("ŕŗř", "r"),
    ("ŚŜŞŠȘ", "S"),
    ("śŝşšș", "s"),
    ("ŢŤŦȚ", "T"),
    ("ţťŧț", "t"),
    ("ÙÚÛÜŨŪŬŮŰŲ", "U"),
    ("ùúûüũūŭůűų", "u"),
    ("Ŵ", "W"),
    ("ŵ", "w"),
    ("ÝŶŸ", "Y"),
    ("ýÿŷ", "y"),
    ("ŹŻŽ", "Z"),
    ("źżž", "z"),
    ("Æ", "AE"),
    ("æ", "ae"),
    ("Œ", "OE"),
    ("œ", "oe"),
    ("ß", "ss"),
    ("Þ", "TH"),
    ("þ", "th"),
    ("‘’‛′", "'"),
    ("‚", ","),
    ("“”‟", "\""),
    ("„", ",,"),
    ("«", "<<"),
    ("»", ">>"),
    ("‹", "<"),
    ("›", ">"),
    ("‐‑‒–—―−", "-"),
    ("…", "..."),
    ("•", "o"),
    ("·", "."),
    ("×", "x"),
    ("\u{a0}\u{2002}\u{2003}\u{2009}\u{202f}", " "),
    ("\u{ad}", "-"),
    ("€", "EUR"),
    ("™", "(TM)"),
    ("©", "(C)"),
    ("®", "(R)"),
    ("№", "No"),
    ("½", " 1/2 "),
    ("¼", " 1/4 "),
    ("¾", " 3/4 "),
    ("→", "->"),
    ("←", "<-"),
    ("⇒", "=>"),
    ("⇐", "<="),
    ("≤", "<="),
    ("≥", ">="),
    ("ﬁ", "fi"),
    ("ﬂ", "fl"),
];

impl Encoding {
    fn named(name: &str) -> Option<Self> {
        let plain: String = name.to_ascii_uppercase().chars().filter(|letter| !"-_".contains(*letter)).collect();
        NAMES.iter().find(|(known, _)| *known == plain).map(|(_, encoding)| *encoding)
    }

    /// Returns the character of a byte in a single-byte encoding.
    fn character_of(self, byte: u8) -> Option<char> {
        match (self, byte) {
            (_, ..0x80) => Some(char::from(byte)),
            (Self::Cp1252, 0x80..=0x9f) => Some(CP1252[usize::from(byte - 0x80)]).filter(|found| *found != '\0'),
            (Self::Latin9, _) => {
                let special = LATIN9.iter().find(|(special, _)| *special == byte).map(|(_, found)| *found);
                Some(special.unwrap_or(char::from(byte)))
            }
            (Self::Latin1 | Self::Cp1252, _) => Some(char::from(byte)),
            _ => None,
        }
    }

    /// Writes a character, and returns false if the encoding does not have it.
    fn encode(self, character: char, output: &mut Vec<u8>) -> bool {
        let mut units = [0; 2];
        match self {
            Self::Utf8 => output.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Utf16 | Self::Utf16Le => {
                output.extend(character.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_le_bytes()));
            }
            Self::Utf16Be => {
                output.extend(character.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_be_bytes()))
            }
            _ if character.is_ascii() => output.push(character as u8),
            _ => match (0x80..=u8::MAX).find(|byte| self.character_of(*byte) == Some(character)) {
                Some(byte) => output.push(byte),
                None => return false,
            },
        }
        true
    }

    /// Decodes the first character of non-empty input. Returns it with its number of bytes.
    fn decode(self, input: &[u8]) -> std::result::Result<(char, usize), Undecodable> {
        match self {
            Self::Utf8 => {
                let start = &input[..input.len().min(4)];
                let valid = match std::str::from_utf8(start) {
                    Ok(text) => text,
                    Err(error) if error.valid_up_to() > 0 => {
                        std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
                    }
                    Err(error) if error.error_len().is_none() && start.len() == input.len() => {
                        return Err(Undecodable::Incomplete);
                    }
                    Err(_) => return Err(Undecodable::Illegal),
                };
                let first = valid.chars().next().ok_or(Undecodable::Illegal)?;
                Ok((first, first.len_utf8()))
            }
            Self::Utf16 | Self::Utf16Le | Self::Utf16Be => {
                let unit = |at: usize| {
                    let pair = input.get(at..at + 2)?.try_into().ok()?;
                    Some(if self == Self::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
                };
                let first = unit(0).ok_or(Undecodable::Incomplete)?;
                let units = match first {
                    0xd800..0xdc00 => vec![first, unit(2).ok_or(Undecodable::Incomplete)?],
                    _ => vec![first],
                };
                let decoded = char::decode_utf16(units.iter().copied()).next();
                let character = decoded.and_then(std::result::Result::ok).ok_or(Undecodable::Illegal)?;
                Ok((character, 2 * units.len()))
            }
            _ => self.character_of(input[0]).map(|character| (character, 1)).ok_or(Undecodable::Illegal),
        }
    }
}

/// Reason why input has no next character.
enum Undecodable {
    Illegal,
    Incomplete,
}

/// Parsed command line.
struct IconvRequest {
    from: Encoding,
    to: Encoding,
    transliterates: bool,
    /// True if characters that cannot be converted are omitted (`-c`).
    omits: bool,
    /// True if they are omitted (`//IGNORE`), and the status reports it.
    ignores: bool,
    output: Option<String>,
}

impl IconvRequest {
    /// Parses a command line into a request and names of files. The error is the result of a call that converts
    /// nothing.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let (given, files) = getopt_long("iconv", words, "f:t:co:sl", &LONG, true, 64)?;
        let (mut from, mut to) = ("UTF-8".to_owned(), "UTF-8".to_owned());
        let (mut omits, mut output) = (false, None);
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'f' => from = value,
                't' => to = value,
                'c' => omits = true,
                'o' => output = Some(value),
                'l' => {
                    return Err(ExecResult::ok(
                        NAMES.iter().map(|(name, _)| format!("{name}//\n")).collect::<String>(),
                    ));
                }
                _ => {}
            }
        }
        let unsupported = |direction: &str, name: &str| {
            ExecResult::err(
                format!(
                    "iconv: conversion {direction} `{name}' is not supported\n\
                     Try `iconv --help' or `iconv --usage' for more information.\n"
                ),
                1,
            )
        };
        let plain_from = from.split("//").next().unwrap_or_default();
        let from_encoding = Encoding::named(plain_from).ok_or_else(|| unsupported("from", &from))?;
        let mut parts = to.split("//");
        let to_encoding = parts.next().and_then(Encoding::named).ok_or_else(|| unsupported("to", &to))?;
        let (mut transliterates, mut ignores) = (false, false);
        for suffix in parts.filter(|suffix| !suffix.is_empty()) {
            match suffix.to_ascii_uppercase().as_str() {
                "TRANSLIT" => transliterates = true,
                "IGNORE" => ignores = true,
                _ => return Err(unsupported("to", &to)),
            }
        }
        Ok((Self { from: from_encoding, to: to_encoding, transliterates, omits, ignores, output }, files))
    }

    /// Converts an input, and returns a message if something could not be converted.
    fn convert(&self, input: &[u8], output: &mut Vec<u8>) -> Option<String> {
        let (from, mut position) = match (self.from, input) {
            (Encoding::Utf16, [0xff, 0xfe, ..]) => (Encoding::Utf16Le, 2),
            (Encoding::Utf16, [0xfe, 0xff, ..]) => (Encoding::Utf16Be, 2),
            (from, _) => (from, 0),
        };
        let mut ignored = None;
        while position < input.len() {
            let illegal = format_args!("iconv: illegal input sequence at position {position}\n").to_string();
            let length = match from.decode(&input[position..]) {
                Ok((character, length)) if self.write(character, output) => {
                    position += length;
                    continue;
                }
                Ok((_, length)) => length,
                Err(Undecodable::Incomplete) => {
                    return Some("iconv: incomplete character or shift sequence at end of buffer\n".to_owned());
                }
                Err(Undecodable::Illegal) => 1,
            };
            if !self.omits && !self.ignores {
                return Some(illegal);
            }
            if !self.omits {
                ignored = Some(illegal);
            }
            position += length;
        }
        ignored
    }

    /// Writes a character or its replacement. Returns false if neither can be written.
    fn write(&self, character: char, output: &mut Vec<u8>) -> bool {
        if self.to.encode(character, output) {
            return true;
        }
        if !self.transliterates {
            return false;
        }
        let found = TRANSLITERATIONS.iter().find(|(characters, _)| characters.contains(character));
        let text = found.map_or("?", |(_, text)| text);
        text.chars().all(|letter| self.to.encode(letter, output))
    }
}

/// Command `iconv` of the shell.
pub(crate) struct Iconv;

#[async_trait]
impl Builtin for Iconv {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("iconv (Debian GLIBC 2.36-9+deb12u10) 2.36")) {
            return Ok(result);
        }
        let (request, mut files) = match IconvRequest::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        if files.is_empty() {
            files.push("-".to_owned());
        }
        let mut output = if request.to == Encoding::Utf16 { vec![0xff, 0xfe] } else { Vec::new() };
        let mut messages = String::new();
        for file in &files {
            match operands::read_part(&ctx, file, None).await? {
                Ok(content) => {
                    if let Some(message) = request.convert(&content, &mut output) {
                        messages += &message;
                        break;
                    }
                }
                Err(reason) => messages += &format!("iconv: cannot open input file `{file}': {reason}\n"),
            }
        }
        let status = i32::from(!messages.is_empty());
        if let Some(name) = request.output.as_ref().filter(|name| *name != "-") {
            if let Err(error) = ctx.fs.write_file(&resolve_path(ctx.cwd, name), &output).await {
                let reason = io_error_reason(&error);
                return Ok(ExecResult::err(format!("iconv: unable to open output file: {reason}\n"), 1));
            }
            output.clear();
        }
        Ok(ExecResult { stderr: messages.into(), exit_code: status, ..ExecResult::ok_bytes(output) })
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    async fn check(cases: &[(&str, &str, &str, i32)]) {
        for (script, output, messages, status) in cases {
            let result = run(script).await;
            assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (*output, *messages, *status), "{script}");
        }
    }

    // Results are those of glibc 2.36 in the locale C.UTF-8.
    #[tokio::test]
    async fn iconv_converts_as_glibc_does() {
        check(&[
            ("printf 'caf\\xc3\\xa9 x\\n' | iconv -c -f utf-8 -t ascii", "caf x\n", "", 0),
            ("printf 'a\\xff b\\n' | iconv -c --from-code=utf-8 --to-code latin1", "a b\n", "", 0),
            ("echo é | iconv -t utf-16 | od -An -tx1", " ff fe e9 00 0a 00\n", "", 0),
            ("echo é | iconv -t utf-16le | od -An -tx1", " e9 00 0a 00\n", "", 0),
            ("printf '\\x93q\\x94 \\x80\\n' | iconv -f cp1252 -t utf-8", "“q” €\n", "", 0),
            ("printf '\\xff\\xfeh\\0' | iconv -f utf-16 -t utf-8; printf 'h\\0' | iconv -f utf-16", "hh", "", 0),
            ("echo 😀 | iconv -t utf-16be | iconv -f UTF16BE", "😀\n", "", 0),
            ("echo é > f; iconv -t latin1 -o g f; od -An -tx1 g", " e9 0a\n", "", 0),
        ])
        .await;
    }

    #[tokio::test]
    async fn iconv_transliterates_as_glibc_does() {
        let text = "naïve “q” – x… ßæœøöÜ€ №½™→漢•Łđ·×°«»‹›„‚ñ";
        let ascii = "naive \"q\" - x... ssaeoeooUEUR No 1/2 (TM)->?oLd.x?<<>><>,,,n\n";
        check(&[
            (&format!("iconv -f utf-8 -t ascii//TRANSLIT <<< '{text}'"), ascii, "", 0),
            ("iconv -t latin1//translit <<< 'é漢“' | od -An -tx1", " e9 3f 22 0a\n", "", 0),
        ])
        .await;
    }

    #[tokio::test]
    async fn iconv_stops_at_what_it_cannot_convert() {
        check(&[
            (
                "printf 'caf\\xc3\\xa9 x\\n' | iconv -f utf-8 -t ascii",
                "caf",
                "iconv: illegal input sequence at position 3\n",
                1,
            ),
            (
                "printf 'caf\\xc3' | iconv -f utf-8 -t latin1",
                "caf",
                "iconv: incomplete character or shift sequence at end of buffer\n",
                1,
            ),
            (
                "iconv -f nix",
                "",
                "iconv: conversion from `nix' is not supported\n\
                 Try `iconv --help' or `iconv --usage' for more information.\n",
                1,
            ),
            ("iconv gone", "", "iconv: cannot open input file `gone': No such file or directory\n", 1),
        ])
        .await;
    }
}
