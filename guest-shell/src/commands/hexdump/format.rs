//! Format strings: units with a repetition count and a byte count, and the conversions in them.

/// Characters between `%` and the conversion character.
const FLAGS_AND_DIGITS: &str = ".#-+ 0123456789";

/// Format of a block of bytes.
#[derive(Debug)]
pub(super) struct DumpFormat {
    pub(super) units: Vec<FormatUnit>,
    /// Number of bytes that the format interprets.
    pub(super) size: usize,
}

/// Unit of a format: `[COUNT][/BYTES] "TEXT"`.
#[derive(Debug)]
pub(super) struct FormatUnit {
    pub(super) count: usize,
    has_count: bool,
    /// Number of bytes that one repetition interprets.
    pub(super) bytes: usize,
    pub(super) pieces: Vec<FormatPiece>,
}

/// Text of a unit up to the end of one conversion, or behind the last one.
#[derive(Clone, Debug)]
pub(super) struct FormatPiece {
    /// Text before the conversion.
    pub(super) text: Vec<u8>,
    pub(super) conversion: Option<Conversion>,
    /// True if the last repetition leaves out the blank at the end of the text.
    pub(super) drops_blank: bool,
}

/// Conversion of some bytes, or of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    /// Flags, width and precision.
    pub(super) directive: String,
    pub(super) form: ConversionForm,
    pub(super) bytes: usize,
}

/// Form of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversionForm {
    /// Address of the bytes, in the radix of the letter (`_a`).
    Address(char),
    /// Address behind the last byte, once at the end (`_A`).
    LastAddress(char),
    /// Byte as a character (`c`).
    Character,
    /// Byte as a character or an escape of C (`_c`).
    Escaped,
    /// Byte as a character or a dot (`_p`).
    Printable,
    /// Byte as a character or its name in ASCII (`_u`).
    Named,
    Signed,
    /// Unsigned number with this conversion character.
    Unsigned(char),
    /// Floating-point number with this conversion character.
    Float(char),
    String,
}

/// Returns the number of bytes that are shown at once: those of the longest format.
pub(super) fn block_size(formats: &[DumpFormat]) -> usize {
    formats.iter().map(|format| format.size).max().unwrap_or(0)
}

impl DumpFormat {
    /// Parses a format string. The error is a message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let refusal = || format!("bad format {{{text}}}");
        let mut units = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (count, behind) = take_number(rest);
            if count.is_some() && !behind.starts_with(|next: char| next == '/' || next.is_ascii_whitespace()) {
                return Err(refusal());
            }
            // One blank or slash ends the count; a slash may also follow blanks.
            rest = if count.is_some() { &behind[1..] } else { behind }.trim_start();
            rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
            let (bytes, behind) = take_number(rest);
            if bytes.is_some() && !behind.starts_with(|next: char| next.is_ascii_whitespace()) {
                return Err(refusal());
            }
            rest = behind.trim_start().strip_prefix('"').ok_or_else(refusal)?;
            let (format, behind) = rest.split_once('"').ok_or_else(refusal)?;
            rest = behind.trim_start();
            units.push(FormatUnit::parse(count, bytes.unwrap_or(0), &unescape(format))?);
        }
        let size = units.iter().map(|unit| unit.count * unit.bytes).sum();
        Ok(Self { units, size })
    }

    /// Repeats the last unit up to the end of a block, and marks the blanks that the last repetitions leave out.
    pub(super) fn fill(&mut self, block: usize) {
        let size = self.size;
        if let Some(last) = self.units.last_mut().filter(|unit| !unit.has_count && unit.bytes > 0) {
            last.count += block.saturating_sub(size) / last.bytes;
        }
        for unit in self.units.iter_mut().filter(|unit| unit.count > 1) {
            if let Some(piece) = unit.pieces.last_mut() {
                let ends_blank = piece.text.last().is_some_and(u8::is_ascii_whitespace);
                piece.drops_blank = piece.conversion.is_none() && ends_blank;
            }
        }
    }
}

fn take_number(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    // More repetitions than this would never be shown.
    (text[..end].parse().ok().map(|number: usize| number.min(1 << 20)), &text[end..])
}

/// Replaces escapes. As in util-linux, characters between an escape and the end are those at their new places before the
/// escape was replaced.
fn unescape(text: &str) -> Vec<u8> {
    let source = bashkit::bytes_of(text).into_owned();
    let mut output = source.clone();
    let (mut from, mut to) = (0, 0);
    while from < source.len() {
        if source[from] == b'\\' {
            from += 1;
            output[to] = match source.get(from) {
                None => b'\\',
                Some(b'a') => 7,
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'v') => 11,
                Some(other) => *other,
            };
        }
        from += 1;
        to += 1;
    }
    output.truncate(to);
    output
}

impl FormatUnit {
    fn parse(count: Option<usize>, bytes: usize, text: &[u8]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let at = rest.iter().position(|byte| *byte == b'%');
            let text = rest[..at.unwrap_or(rest.len())].to_vec();
            let conversion = match at {
                None => {
                    rest = &[];
                    None
                }
                Some(at) => {
                    let (conversion, behind) = Conversion::parse(&rest[at + 1..], bytes)?;
                    rest = behind;
                    Some(conversion)
                }
            };
            pieces.push(FormatPiece { text, conversion, drops_blank: false });
        }
        let data = pieces.iter().filter_map(|piece| piece.conversion.as_ref()).filter(|conversion| {
            !matches!(conversion.form, ConversionForm::Address(_) | ConversionForm::LastAddress(_))
        });
        let sizes: Vec<usize> = data.map(|conversion| conversion.bytes).collect();
        if bytes > 0 && sizes.len() > 1 {
            return Err("byte count with multiple conversion characters".to_owned());
        }
        let bytes = if bytes > 0 { bytes } else { sizes.iter().sum() };
        Ok(Self { count: count.unwrap_or(1), has_count: count.is_some(), bytes, pieces })
    }

    /// Returns true if the unit is shown once, at the end.
    pub(super) fn is_last(&self) -> bool {
        let conversions = self.pieces.iter().filter_map(|piece| piece.conversion.as_ref());
        conversions.into_iter().any(|conversion| matches!(conversion.form, ConversionForm::LastAddress(_)))
    }
}

impl Conversion {
    /// Parses a conversion behind its `%`, in a unit with this byte count or 0. Returns it with the text behind it; the error
    /// is a message.
    fn parse(text: &[u8], unit_bytes: usize) -> Result<(Self, &[u8]), String> {
        let length = text.iter().take_while(|byte| FLAGS_AND_DIGITS.as_bytes().contains(byte)).count();
        let (directive, rest) = text.split_at(length);
        let directive = String::from_utf8_lossy(directive).into_owned();
        let letter = |index: usize| rest.get(index).map(|byte| char::from(*byte));
        let first = letter(0).unwrap_or_default();
        let unknown = |name: String| Err(format!("bad conversion character %{name}"));
        let (form, name_length) = match first {
            'c' => (ConversionForm::Character, 1),
            'd' | 'i' => (ConversionForm::Signed, 1),
            'o' | 'u' | 'x' | 'X' => (ConversionForm::Unsigned(first), 1),
            'e' | 'f' | 'g' | 'E' | 'G' => (ConversionForm::Float(first), 1),
            's' => (ConversionForm::String, 1),
            '_' => match (letter(1), letter(2)) {
                (Some('a'), Some(radix @ ('d' | 'o' | 'x'))) => (ConversionForm::Address(radix), 3),
                (Some('A'), Some(radix @ ('d' | 'o' | 'x'))) => (ConversionForm::LastAddress(radix), 3),
                (Some(kind @ ('a' | 'A')), other) => {
                    return unknown(format!("_{kind}{}", other.map(String::from).unwrap_or_default()));
                }
                (Some('c'), _) => (ConversionForm::Escaped, 2),
                (Some('p'), _) => (ConversionForm::Printable, 2),
                (Some('u'), _) => (ConversionForm::Named, 2),
                (other, _) => return unknown(format!("_{}", other.map(String::from).unwrap_or_default())),
            },
            other => return unknown(if other == '\0' { String::new() } else { other.to_string() }),
        };
        let bytes = conversion_bytes(form, unit_bytes, &directive).ok_or_else(|| match form {
            ConversionForm::String => "%s requires a precision or a byte count".to_owned(),
            _ => format!("bad byte count for conversion character {first}"),
        })?;
        Ok((Self { directive, form, bytes }, &rest[name_length..]))
    }
}

/// Returns the number of bytes that a conversion takes, or nothing if the unit's byte count is not possible.
fn conversion_bytes(form: ConversionForm, unit_bytes: usize, directive: &str) -> Option<usize> {
    let (usual, possible): (usize, &[usize]) = match form {
        ConversionForm::Address(_) | ConversionForm::LastAddress(_) => return Some(0),
        ConversionForm::String if unit_bytes > 0 => return Some(unit_bytes),
        ConversionForm::String => {
            let (_, precision) = directive.split_once('.')?;
            return precision.parse().ok();
        }
        ConversionForm::Signed | ConversionForm::Unsigned(_) => (4, &[1, 2, 4, 8]),
        ConversionForm::Float(_) => (8, &[4, 8]),
        _ => (1, &[1]),
    };
    match unit_bytes {
        0 => Some(usual),
        given => possible.contains(&given).then_some(given),
    }
}
