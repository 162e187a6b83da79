//! Directives and escapes of the formats of `stat`, and formatting of their values.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Largest width or precision of a directive.
const WIDEST: usize = 4096;

/// Flags, width and precision of a directive.
#[derive(Default)]
pub(super) struct Spec {
    left: bool,
    zeros: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// Consumes the number at the beginning of `rest`.
fn take_number(rest: &mut &str) -> Option<usize> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, behind) = rest.split_at(length);
    *rest = behind;
    (length > 0).then(|| digits.parse().unwrap_or(WIDEST).min(WIDEST))
}

impl Spec {
    pub(super) fn take(rest: &mut &str) -> Self {
        let mut spec = Spec::default();
        while let Some(flag) = rest.chars().next().filter(|c| "-+ #0'I".contains(*c)) {
            match flag {
                '-' => spec.left = true,
                '0' => spec.zeros = true,
                '+' => spec.plus = true,
                '#' => spec.alternate = true,
                _ => {}
            }
            *rest = &rest[1..];
        }
        spec.width = take_number(rest).unwrap_or(0);
        if let Some(behind) = rest.strip_prefix('.') {
            *rest = behind;
            spec.precision = Some(take_number(rest).unwrap_or(0));
        }
        spec
    }
}

/// Pads `text` to the width. Numbers are padded with zeros after their sign or prefix.
fn pad(text: String, prefix: &str, spec: &Spec, zeros: bool) -> String {
    let width = prefix.len() + text.chars().count();
    let fill = spec.width.saturating_sub(width);
    if spec.left {
        format!("{prefix}{text}{}", " ".repeat(fill))
    } else if zeros {
        format!("{prefix}{}{text}", "0".repeat(fill))
    } else {
        format!("{}{prefix}{text}", " ".repeat(fill))
    }
}

pub(super) fn text(value: &str, spec: &Spec) -> String {
    let most = spec.precision.unwrap_or(usize::MAX);
    pad(value.chars().take(most).collect(), "", spec, false)
}

/// Formats a size as a signed number.
pub(super) fn signed(value: u64, spec: &Spec) -> String {
    number(value.to_string(), if spec.plus { "+" } else { "" }, spec)
}

fn number(digits: String, prefix: &str, spec: &Spec) -> String {
    let least = spec.precision.unwrap_or(0);
    let digits = format!("{digits:0>least$}");
    pad(digits, prefix, spec, spec.zeros && spec.precision.is_none())
}

pub(super) fn decimal(value: u64, spec: &Spec) -> String {
    number(value.to_string(), "", spec)
}

pub(super) fn hexadecimal(value: u64, spec: &Spec) -> String {
    let prefix = if spec.alternate && value != 0 { "0x" } else { "" };
    number(format!("{value:x}"), prefix, spec)
}

pub(super) fn octal(value: u32, spec: &Spec) -> String {
    let prefix = if spec.alternate && value != 0 { "0" } else { "" };
    number(format!("{prefix}{value:o}"), "", spec)
}

/// Formats seconds since the epoch. The precision is the number of digits of the fraction.
pub(super) fn seconds(nanos: i128, spec: &Spec) -> String {
    let whole = nanos.div_euclid(1_000_000_000);
    let mut digits = whole.unsigned_abs().to_string();
    if let Some(precision) = spec.precision.filter(|precision| *precision > 0) {
        let fraction = format!("{:09}", nanos.rem_euclid(1_000_000_000));
        let fraction: String = fraction.chars().take(precision).collect();
        digits.push_str(&format!(".{fraction:0<precision$}"));
    }
    let sign = match whole < 0 {
        true => "-",
        false if spec.plus => "+",
        false => "",
    };
    pad(digits, sign, spec, spec.zeros)
}

/// Parses an escape of `--printf`, after the backslash.
pub(super) fn take_escape(rest: &mut &str, out: &mut String) {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return;
    };
    let (start, most, radix) = match c {
        '0'..='7' => (0, 3, 8),
        'x' => (1, 2, 16),
        _ => (0, 0, 10),
    };
    let digits = rest[start..].chars().take(most);
    let count = digits.take_while(|c| c.is_digit(radix)).count();
    if count > 0 {
        let value = u32::from_str_radix(&rest[start..start + count], radix).unwrap_or(0);
        out.push(char::from_u32(value & 0xff).unwrap_or('?'));
        *rest = &rest[start + count..];
        return;
    }
    out.push(match c {
        'a' => '\x07',
        'b' => '\x08',
        'e' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        other => other,
    });
    *rest = &rest[c.len_utf8()..];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(mut text: &str) -> Spec {
        Spec::take(&mut text)
    }

    #[test]
    fn numbers_are_written_as_printf_does() {
        assert_eq!(decimal(7, &spec("5")), "    7");
        assert_eq!(decimal(7, &spec("-5")), "7    ");
        assert_eq!(decimal(7, &spec("05")), "00007");
        assert_eq!(decimal(7, &spec("05.3")), "  007");
        assert_eq!(hexadecimal(255, &spec("#06")), "0x00ff");
        assert_eq!(octal(0o644, &spec("#")), "0644");
        assert_eq!(text("abc", &spec("-4.2")), "ab  ");
        assert_eq!(text("abc", &spec("05")), "  abc");
    }

    #[test]
    fn fractions_are_cut_and_widths_bounded() {
        assert_eq!(seconds(1_987_654_321, &spec(".3")), "1.987");
        assert_eq!(seconds(1_987_654_321, &spec("06")), "000001");
        assert_eq!(seconds(-1_000_000_000, &spec("")), "-1");
        assert_eq!(decimal(7, &spec("99999999999999999999")).len(), WIDEST);
    }

    #[test]
    fn escapes_of_printf() {
        let escaped = |mut rest: &str| {
            let mut out = String::new();
            take_escape(&mut rest, &mut out);
            out + rest
        };
        assert_eq!(escaped("n|"), "\n|");
        assert_eq!(escaped("1012"), "A2");
        assert_eq!(escaped("x41g"), "Ag");
        assert_eq!(escaped("xg"), "xg");
        assert_eq!(escaped(""), "\\");
    }
}
