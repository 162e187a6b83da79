//! Types of cells and columns, independent of parsing.

/// Type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, and empty cells.
    Number,
    /// Booleans, and empty cells.
    Boolean,
    /// Texts, and empty cells.
    Text,
    /// Only empty cells.
    Empty,
}

/// Returns the type of a column with these non-empty cells.
pub fn kind<'a>(mut cells: impl Iterator<Item = &'a str>) -> Kind {
    let Some(first) = cells.next() else { return Kind::Empty };
    if number(first).is_some() {
        if cells.all(|cell| number(cell).is_some()) { Kind::Number } else { Kind::Text }
    } else if boolean(first).is_some() {
        if cells.all(|cell| boolean(cell).is_some()) { Kind::Boolean } else { Kind::Text }
    } else {
        Kind::Text
    }
}

/// Parses `true` or `false`, in upper or lower case.
pub fn boolean(cell: &str) -> Option<bool> {
    let cell = cell.trim();
    if cell.eq_ignore_ascii_case("true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Parses a decimal number that fits a 64-bit float without loss, except for decimals. Leading zeros are refused,
/// because only names and codes have them, and so are integers beyond 2^53 - 1.
pub fn number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits_only = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits_only.is_empty() && digits(digits_only)
    });
    let written_well = digits(whole)
        && digits(fraction)
        && exponent_fits
        && !(whole.is_empty() && fraction.is_empty())
        && !(whole.len() > 1 && whole.starts_with('0'));
    if !written_well {
        return None;
    }
    // 2^53 has 16 digits, so longer integers are beyond it.
    const EXACT: u64 = (1 << 53) - 1;
    if !whole.is_empty() && whole.parse::<u64>().map_or(true, |whole| whole > EXACT) {
        return None;
    }
    cell.parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_in_decimal_notation_is_inferred() {
        for (text, value) in [
            ("0", 0.0),
            ("-1.5", -1.5),
            ("+2", 2.0),
            (".5", 0.5),
            ("5.", 5.0),
            (" 7 ", 7.0),
            ("1e3", 1000.0),
            ("1.5E-3", 0.0015),
            ("0.10", 0.1),
            ("9007199254740991", 9_007_199_254_740_991.0),
        ] {
            assert_eq!(number(text), Some(value), "{text:?}");
        }
    }

    #[test]
    fn number_that_would_lose_information_stays_text() {
        for text in [
            "",
            ".",
            "-",
            "+",
            "e5",
            "1e",
            "1e+",
            "007",
            "-01",
            "00.5",
            "1,000",
            "$5",
            "1 2",
            "NaN",
            "inf",
            "infinity",
            "0x10",
            "1_000",
            "9007199254740993",
            "123456789012345678901234567890",
            "1e999",
            "1.2.3",
            "١",
            "--1",
            "1e5.5",
        ] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }

    #[test]
    fn column_kind_is_inferred_from_its_cells() {
        let of = |cells: &[&'static str]| kind(cells.iter().copied());
        assert_eq!(of(&[]), Kind::Empty);
        assert_eq!(of(&["1", "2.5"]), Kind::Number);
        assert_eq!(of(&["TRUE", "false"]), Kind::Boolean);
        assert_eq!(of(&["1", "true"]), Kind::Text);
        assert_eq!(of(&["10115", "01067"]), Kind::Text);
        assert_eq!(of(&["a"]), Kind::Text);
    }
}
