//! Wraps text into lines.

use textwrap::{Options, fill};
use unicode_width::UnicodeWidthStr;

use crate::error::Error;

/// Largest width: no display is wider, and indents remain bounded.
pub const MAX_WIDTH: u32 = 10_000;

/// Wraps the lines of `text` so that none, including `indent`, is wider than `width` columns.
///
/// # Errors
///
/// If the width is out of range, or if the indent leaves no room or contains a line end.
pub fn wrap(text: &str, width: u32, indent: &str) -> Result<String, Error> {
    if !(1..=MAX_WIDTH).contains(&width) {
        return Err(Error::new("width", format!("is {width}: it must be from 1 to {MAX_WIDTH}")));
    }
    if indent.contains(['\n', '\r']) {
        return Err(Error::new("indent", "holds a line end"));
    }
    let width = usize::try_from(width).expect("at most `MAX_WIDTH`");
    if indent.width() >= width {
        return Err(Error::new(
            "indent",
            format!("is {} columns wide, which leaves no room in {width}", indent.width()),
        ));
    }
    let options = Options::new(width).initial_indent(indent).subsequent_indent(indent);
    let text = text.replace("\r\n", "\n");
    Ok(text.split_inclusive('\n').map(|line| wrap_line(line, &options)).collect())
}

fn wrap_line(line: &str, options: &Options<'_>) -> String {
    match line.strip_suffix('\n') {
        Some(line) => fill(line, options) + "\n",
        None => fill(line, options),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrap_breaks_between_words_and_keeps_line_ends() {
        assert_eq!(wrap("aa bb cc\r\n\ndd\n", 5, "").expect("good"), "aa bb\ncc\n\ndd\n");
        assert_eq!(wrap("abcdefg hi", 4, "").expect("good"), "abcd\nefg\nhi");
        assert_eq!(wrap("", 4, "").expect("good"), "");
        assert_eq!(wrap("漢字漢字", 4, "").expect("good"), "漢字\n漢字");
    }

    #[test]
    fn wrap_counts_the_indent() {
        assert_eq!(wrap("aa bb cc\n", 7, "> ").expect("good"), "> aa bb\n> cc\n");
    }

    #[test]
    fn wrap_without_room_is_refused() {
        assert_eq!(wrap("a", 0, "").expect_err("no width").parameter, "width");
        assert_eq!(wrap("a", MAX_WIDTH + 1, "").expect_err("too wide").parameter, "width");
        assert_eq!(wrap("a", 2, "> ").expect_err("no room").parameter, "indent");
        assert_eq!(wrap("a", 9, "\n").expect_err("a line end").parameter, "indent");
    }

    proptest! {
        #[test]
        fn wrap_makes_no_line_wider_than_its_width(text in "[a-c \n漢é-]{0,60}", width in 4u32..12) {
            let wrapped = wrap(&text, width, "> ").expect("good");
            for line in wrapped.lines() {
                prop_assert!(line.trim_end().width() <= width as usize, "{:?}", line);
            }
        }
    }
}
