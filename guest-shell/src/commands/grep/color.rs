//! `grep --color`: what is marked, and how.
//!
//! `GREP_COLORS` changes the marks as in GNU grep: `ms`, `mc` and `mt` for
//! matches in selected lines, in context lines and in both, `sl` and `cx` for
//! the rest of those lines, `fn`, `ln`, `bn` and `se` for names, numbers,
//! offsets and what separates them, `ne` against clearing to the end of the
//! line, `rv` to exchange `sl` and `cx` under `-v`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Marks (SGR parameters); an empty one marks nothing.
pub(crate) struct Colors {
    pub(crate) selected_match: String,
    pub(crate) context_match: String,
    pub(crate) selected_line: String,
    pub(crate) context_line: String,
    pub(crate) name: String,
    pub(crate) line_number: String,
    pub(crate) byte_offset: String,
    pub(crate) separator: String,
    /// `ne`
    keep_rest: bool,
    /// `rv`
    pub(crate) reverse: bool,
}

impl Colors {
    /// GNU's marks, with the changes that `GREP_COLORS` asks for.
    pub(crate) fn new(changes: Option<&str>) -> Self {
        let mut colors = Colors {
            selected_match: "01;31".to_owned(),
            context_match: "01;31".to_owned(),
            selected_line: String::new(),
            context_line: String::new(),
            name: "35".to_owned(),
            line_number: "32".to_owned(),
            byte_offset: "32".to_owned(),
            separator: "36".to_owned(),
            keep_rest: false,
            reverse: false,
        };
        for change in changes.unwrap_or_default().split(':') {
            let (key, value) = change.split_once('=').unwrap_or((change, ""));
            if !value.bytes().all(|b| b.is_ascii_digit() || b == b';') {
                // GNU ignores what is behind a mistake.
                break;
            }
            let value = value.to_owned();
            match key {
                "mt" => {
                    colors.selected_match.clone_from(&value);
                    colors.context_match = value;
                }
                "ms" => colors.selected_match = value,
                "mc" => colors.context_match = value,
                "sl" => colors.selected_line = value,
                "cx" => colors.context_line = value,
                "fn" => colors.name = value,
                "ln" => colors.line_number = value,
                "bn" => colors.byte_offset = value,
                "se" => colors.separator = value,
                "ne" => colors.keep_rest = true,
                "rv" => colors.reverse = true,
                _ => {}
            }
        }
        colors
    }

    /// Writes text with a mark.
    pub(crate) fn mark(&self, color: &str, text: &[u8], out: &mut Vec<u8>) {
        if color.is_empty() {
            out.extend_from_slice(text);
            return;
        }
        self.begin(color, out);
        out.extend_from_slice(text);
        out.extend_from_slice(format!("\x1b[m{}", self.clear()).as_bytes());
    }

    /// Begins a mark, which the end of another one ends.
    pub(crate) fn begin(&self, color: &str, out: &mut Vec<u8>) {
        if !color.is_empty() {
            out.extend_from_slice(format!("\x1b[{color}m{}", self.clear()).as_bytes());
        }
    }

    fn clear(&self) -> &'static str {
        if self.keep_rest { "" } else { "\x1b[K" }
    }
}
