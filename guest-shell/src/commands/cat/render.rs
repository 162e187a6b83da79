//! Line numbers and marks that `cat` shows.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Form of the output of `cat`, as its options ask for it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rendering {
    /// True if lines end with `$` (`-E`).
    pub(super) ends: bool,
    /// True if tabs are shown as `^I` (`-T`).
    pub(super) tabs: bool,
    /// True if control characters and bytes above 127 are shown with `^` and `M-` (`-v`).
    pub(super) nonprinting: bool,
    /// True if lines are numbered (`-n`).
    pub(super) numbers: bool,
    /// True if lines that are not empty are numbered (`-b`).
    pub(super) nonblank_numbers: bool,
    /// True if several empty lines in a row become one, which is numbered once (`-s`).
    pub(super) squeezes: bool,
}

impl Rendering {
    /// Returns bytes as they are shown.
    pub(super) fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        let mut number: u64 = 0;
        let mut previous_is_blank = false;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = line.strip_suffix(b"\n").map_or((line, false), |text| (text, true));
            let is_blank = text.is_empty();
            if self.squeezes && is_blank && previous_is_blank {
                continue;
            }
            previous_is_blank = is_blank;
            if self.numbers || (self.nonblank_numbers && !is_blank) {
                number += 1;
                shown.extend_from_slice(format!("{number:>6}\t").as_bytes());
            }
            self.push_text(&mut shown, text, ends);
            if ends {
                shown.extend_from_slice(if self.ends { b"$\n" } else { b"\n" });
            }
        }
        shown
    }

    fn push_text(self, shown: &mut Vec<u8>, text: &[u8], ends: bool) {
        // `-E` shows a carriage return at the end of a line as `^M`.
        let (text, return_at_end) = match text.strip_suffix(b"\r") {
            Some(text) if self.ends && ends && !self.nonprinting => (text, true),
            _ => (text, false),
        };
        if self.nonprinting || self.tabs {
            for byte in text {
                self.push_byte(shown, *byte);
            }
        } else {
            shown.extend_from_slice(text);
        }
        if return_at_end {
            shown.extend_from_slice(b"^M");
        }
    }

    fn push_byte(self, shown: &mut Vec<u8>, byte: u8) {
        match byte {
            b'\t' if self.tabs => shown.extend_from_slice(b"^I"),
            b'\t' => shown.push(byte),
            _ if !self.nonprinting => shown.push(byte),
            128..=255 => {
                shown.extend_from_slice(b"M-");
                push_control(shown, byte & 0x7f);
            }
            _ => push_control(shown, byte),
        }
    }
}

/// Adds a byte of ASCII, with `^` if it is a control character.
fn push_control(shown: &mut Vec<u8>, byte: u8) {
    match byte {
        0..=31 => shown.extend_from_slice(&[b'^', byte + 64]),
        0x7f => shown.extend_from_slice(b"^?"),
        _ => shown.push(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::Rendering;

    #[test]
    fn lines_are_numbered_and_squeezed() {
        let numbers = Rendering { numbers: true, ..Rendering::default() };
        assert_eq!(numbers.apply(b"a\n\nb"), b"     1\ta\n     2\t\n     3\tb");
        let nonblank = Rendering { nonblank_numbers: true, ..Rendering::default() };
        assert_eq!(nonblank.apply(b"a\n\nb\n"), b"     1\ta\n\n     2\tb\n");
        let squeezed = Rendering { squeezes: true, ..numbers };
        assert_eq!(squeezed.apply(b"a\n\n\n\nb\n"), b"     1\ta\n     2\t\n     3\tb\n");
    }

    #[test]
    fn ends_and_tabs_are_marked() {
        let ends = Rendering { ends: true, ..Rendering::default() };
        assert_eq!(ends.apply(b"a\tb\r\n\nc\r"), b"a\tb^M$\n$\nc\r");
        let tabs = Rendering { tabs: true, ..Rendering::default() };
        assert_eq!(tabs.apply(b"a\tb\x01\n"), b"a^Ib\x01\n");
    }

    #[test]
    fn bytes_that_are_not_printable_are_shown() {
        let shown = Rendering { nonprinting: true, ..Rendering::default() };
        assert_eq!(shown.apply(b"\x00\x1f\x7f\t\x80\xff\xc3\xa9\n"), b"^@^_^?\tM-^@M-^?M-CM-)\n");
        let all = Rendering { ends: true, tabs: true, ..shown };
        assert_eq!(all.apply(b"\ta\r\n"), b"^Ia^M$\n");
    }
}
