//! Excerpts of hostile texts for messages.

/// Formats the beginning of a hostile text for a message, with control characters escaped.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = text.chars().take(LONGEST).flat_map(printable).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// Returns the character, or its escape if a terminal would interpret or hide it.
fn printable(c: char) -> impl Iterator<Item = char> {
    let escape = c.escape_debug();
    let plain = escape.len() == 1 || matches!(c, '\'' | '"' | '\\');
    plain.then_some(c).into_iter().chain((!plain).then_some(escape).into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_harmless() {
        assert_eq!(excerpt("plain \"text\" é"), "plain \"text\" é");
        assert_eq!(excerpt("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(excerpt(&"x".repeat(500)).chars().count(), 81);
    }
}
