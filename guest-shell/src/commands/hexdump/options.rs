//! Command line of `hexdump`.

use crate::commands::option_parser::gnu_getopt;

use super::format::{DumpFormat, block_size};

/// Format strings of the styles, each with its letter.
const STYLES: [(char, &[&str]); 6] = [
    ('C', &[r#""%08.8_Ax\n""#, r#""%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x ""#, r#""  |" 16/1 "%_p" "|\n""#]),
    ('b', &[r#""%07.7_Ax\n""#, r#""%07.7_ax " 16/1 "%03o " "\n""#]),
    ('c', &[r#""%07.7_Ax\n""#, r#""%07.7_ax " 16/1 "%3_c " "\n""#]),
    ('d', &[r#""%07.7_Ax\n""#, r#""%07.7_ax " 8/2 "  %05u " "\n""#]),
    ('o', &[r#""%07.7_Ax\n""#, r#""%07.7_ax " 8/2 " %06o " "\n""#]),
    ('x', &[r#""%07.7_Ax\n""#, r#""%07.7_ax " 8/2 "   %04x " "\n""#]),
];

/// Format strings of a call without a style.
const USUAL_STYLE: [&str; 2] = [r#""%07.7_Ax\n""#, r#""%07.7_ax " 8/2 "%04x " "\n""#];

/// Options of one call.
#[derive(Debug, Default)]
pub(super) struct HexdumpOptions {
    /// Format strings by which each block is shown.
    formats: Vec<String>,
    /// Files of format strings (`-f`).
    pub(super) format_files: Vec<String>,
    pub(super) length: Option<usize>,
    pub(super) offset: usize,
    /// True if repeated blocks are all shown (`-v`).
    pub(super) verbose: bool,
}

impl HexdumpOptions {
    /// Reads a command line into options and names of files. The error is a message.
    pub(super) fn parse(words: &[String], canonical: bool) -> Result<(Self, Vec<String>), String> {
        use bashkit::builtins::arg_parser::OptArg::{No, Required};
        const LONG: [(&str, bashkit::builtins::arg_parser::OptArg, char); 11] = [
            ("one-byte-octal", No, 'b'),
            ("one-byte-char", No, 'c'),
            ("canonical", No, 'C'),
            ("two-bytes-decimal", No, 'd'),
            ("two-bytes-octal", No, 'o'),
            ("two-bytes-hex", No, 'x'),
            ("format", Required, 'e'),
            ("format-file", Required, 'f'),
            ("length", Required, 'n'),
            ("skip", Required, 's'),
            ("no-squeezing", No, 'v'),
        ];
        let (given, files) = gnu_getopt("hexdump", words, "bcCde:f:n:os:vx", &LONG, true, 1)
            .map_err(|refusal| refusal.stderr.to_string().trim_end().to_owned())?;
        let mut options = Self::default();
        if canonical {
            options.add_style('C');
        }
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'v' => options.verbose = true,
                'e' => options.formats.push(value),
                'f' => options.format_files.push(value),
                'n' => options.length = Some(parse_size(&value, "length")?),
                's' => options.offset = parse_size(&value, "offset")?,
                style => options.add_style(style),
            }
        }
        Ok((options, files))
    }

    fn add_style(&mut self, letter: char) {
        let style = STYLES.iter().find(|(name, _)| *name == letter);
        self.formats.extend(style.into_iter().flat_map(|(_, formats)| formats.iter().map(|text| (*text).to_owned())));
    }

    /// Adds the lines of a file of format strings. Lines that begin with `#` are comments.
    pub(super) fn add_format_file(&mut self, text: &str) {
        let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#'));
        self.formats.extend(lines.map(str::to_owned));
    }

    /// Returns the formats of the options. The error is a message without the name of the command.
    pub(super) fn formats(&self) -> Result<Vec<DumpFormat>, String> {
        let usual = USUAL_STYLE.map(str::to_owned);
        let texts = if self.formats.is_empty() { &usual[..] } else { &self.formats };
        let mut formats = texts.iter().map(|text| DumpFormat::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let block = block_size(&formats);
        for format in &mut formats {
            format.fill(block);
        }
        Ok(formats)
    }
}

/// Returns a number of bytes, which may be hexadecimal and have a suffix such as `K`, `KiB` or `MB`. The error is a message.
fn parse_size(text: &str, what: &str) -> Result<usize, String> {
    let refusal = || format!("hexdump: failed to parse {what}: '{text}'");
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    let radix = if radix == 10 && digits.starts_with('0') { 8 } else { radix };
    let number = u64::from_str_radix(&digits[..end], radix).map_err(|_| refusal())?;
    let multiplier = match &digits[end..] {
        "" => 1,
        suffix => {
            let (letter, unit) = suffix.split_at_checked(1).ok_or_else(refusal)?;
            let base = match unit {
                "" | "iB" => 1024_u64,
                "B" => 1000,
                _ => return Err(refusal()),
            };
            let power = "kmgtpe".find(&letter.to_ascii_lowercase()).ok_or_else(refusal)?;
            base.pow(u32::try_from(power).map_err(|_| refusal())? + 1)
        }
    };
    number.checked_mul(multiplier).and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(refusal)
}
