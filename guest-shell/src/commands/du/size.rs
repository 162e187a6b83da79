//! Sizes as `du` and `df` print them.

/// Unit of printed sizes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::commands) enum SizeScale {
    /// Number of bytes, and the letters that are printed behind a size.
    Unit(u64, String),
    /// Powers of 1024 or of 1000.
    Human(u64),
}

impl SizeScale {
    /// Reads a size of `-B`; nothing if it is none. A unit without a number is printed behind each size.
    pub(in crate::commands) fn parse(text: &str) -> Option<Self> {
        match text {
            "human-readable" => return Some(Self::Human(1024)),
            "si" => return Some(Self::Human(1000)),
            _ => {}
        }
        let unit = parse_block_size(text)?;
        let has_number = text.starts_with(|first: char| first.is_ascii_digit());
        let letters = if has_number { String::new() } else { text.replacen('k', "K", 1) };
        Some(Self::Unit(unit, letters))
    }

    /// Returns a number of bytes as it is printed, rounded up.
    pub(in crate::commands) fn format(&self, bytes: u64) -> String {
        match self {
            Self::Unit(unit, letters) => format!("{}{letters}", bytes.div_ceil(*unit)),
            Self::Human(base) => human_size(bytes, *base),
        }
    }
}

/// Reads a number with a unit, which may stand for one alone.
pub(in crate::commands) fn parse_block_size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = if digits == 0 { 1 } else { text[..digits].parse().ok()? };
    let unit = match &text[digits..] {
        "" if digits == 0 => return None,
        "" => 1,
        unit => {
            let (letter, rest) = unit.split_at_checked(1)?;
            let power = u32::try_from("KMGTPEZY".find(&letter.to_ascii_uppercase())?).ok()? + 1;
            let base: u64 = match rest {
                "" | "iB" => 1024,
                "B" => 1000,
                _ => return None,
            };
            base.checked_pow(power)?
        }
    };
    number.checked_mul(unit).filter(|size| *size > 0)
}

/// Size with a letter, rounded up: one decimal below 10, whole units otherwise, plain bytes below one unit.
pub(in crate::commands) fn human_size(size: u64, base: u64) -> String {
    const LETTERS: &[u8] = b"KMGTPEZY";
    let base = u128::from(base);
    let size = u128::from(size);
    if size < base {
        return size.to_string();
    }
    let mut power = 0usize;
    let mut unit = 1u128;
    while power < LETTERS.len() && size >= unit * base {
        unit *= base;
        power += 1;
    }
    let letter = |power: usize| {
        let letter = char::from(LETTERS[power - 1]);
        if base == 1000 && letter == 'K' { 'k' } else { letter }
    };
    let tenths = (size * 10).div_ceil(unit);
    if tenths < 100 {
        return format!("{}.{}{}", tenths / 10, tenths % 10, letter(power));
    }
    let whole = size.div_ceil(unit);
    if whole >= base && power < LETTERS.len() {
        return format!("1.0{}", letter(power + 1));
    }
    format!("{whole}{}", letter(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_size_rounds_up() {
        for (bytes, base, text) in [
            (0, 1024, "0"),
            (1023, 1024, "1023"),
            (1025, 1024, "1.1K"),
            (10 << 10, 1024, "10K"),
            ((1 << 20) - 1, 1024, "1.0M"),
            (49_152, 1000, "50k"),
        ] {
            assert_eq!(human_size(bytes, base), text, "{bytes}");
        }
    }

    #[test]
    fn size_scale_prints_a_unit_that_has_no_number() {
        for (scale, text) in [("1K", "2"), ("K", "2K"), ("k", "2K"), ("KB", "2KB"), ("512", "3"), ("si", "1.5k")] {
            assert_eq!(SizeScale::parse(scale).expect("a scale").format(1500), text, "{scale}");
        }
        for scale in ["", "0", "x", "1x", "K1", "é"] {
            assert_eq!(SizeScale::parse(scale), None, "{scale}");
        }
    }
}
