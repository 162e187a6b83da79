//! Texts of a width. The macro `format!` takes no width above 65,535.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Largest width that a command accepts in a format, so that a few bytes of a script do not fill the memory.
pub(super) const MAX_FORMAT_WIDTH: usize = 10_000;

/// Returns characters that bring a text to a width.
fn padding(text: &str, width: usize, fill: char) -> impl Iterator<Item = char> {
    std::iter::repeat_n(fill, width.saturating_sub(text.chars().count()))
}

/// Returns a text with characters before it, so that it has at least this width.
pub(super) fn filled(text: &str, width: usize, fill: char) -> String {
    padding(text, width, fill).chain(text.chars()).collect()
}

/// Returns a text with characters behind it, so that it has at least this width.
pub(super) fn filled_behind(text: &str, width: usize, fill: char) -> String {
    text.chars().chain(padding(text, width, fill)).collect()
}

#[cfg(test)]
mod tests {
    use super::{filled, filled_behind};

    #[test]
    fn texts_are_filled_to_a_width_in_characters() {
        assert_eq!(filled("é1", 4, '0'), "00é1");
        assert_eq!(filled_behind("é1", 4, ' '), "é1  ");
        assert_eq!(filled("long", 2, ' '), "long");
        assert_eq!(filled("", 70_000, 'x').len(), 70_000);
    }
}
