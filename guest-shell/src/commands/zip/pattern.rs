//! Patterns of names with `*`, `?` and `[…]`, in which `*` matches `/`.

/// Returns true if the pattern matches the whole text.
pub(super) fn matches(pattern: &str, text: &str, fold: bool) -> bool {
    let letters =
        |text: &str| -> Vec<char> { if fold { text.to_lowercase().chars().collect() } else { text.chars().collect() } };
    here(&letters(pattern), &letters(text))
}

/// Matches a pattern. Backtracks only to the last `*`, so that the time is at most proportional to the product of both
/// lengths.
fn here(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match step(&pattern[at..], text[place]) {
            Some(Step::Star) => {
                star = Some((at + 1, place));
                at += 1;
            }
            Some(Step::One(length)) => {
                at += length;
                place += 1;
            }
            None => {
                let Some((behind, begin)) = star else { return false };
                star = Some((behind, begin + 1));
                (at, place) = (behind, begin + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

enum Step {
    Star,
    /// One character is matched, by this length of the pattern.
    One(usize),
}

fn step(pattern: &[char], letter: char) -> Option<Step> {
    match pattern {
        ['*', ..] => Some(Step::Star),
        ['?', ..] => Some(Step::One(1)),
        ['\\', escaped, ..] => (*escaped == letter).then_some(Step::One(2)),
        ['[', rest @ ..] => match rest.iter().skip(1).position(|letter| *letter == ']') {
            Some(end) => in_set(&rest[..=end], letter).then_some(Step::One(end + 3)),
            None => (letter == '[').then_some(Step::One(1)),
        },
        [first, ..] => (*first == letter).then_some(Step::One(1)),
        [] => None,
    }
}

fn in_set(set: &[char], letter: char) -> bool {
    let (negated, mut set) = match set {
        ['!' | '^', rest @ ..] if !rest.is_empty() => (true, rest),
        set => (false, set),
    };
    let mut found = false;
    while let [first, rest @ ..] = set {
        if let ['-', last, after @ ..] = rest {
            found |= (*first..=*last).contains(&letter);
            set = after;
        } else {
            found |= *first == letter;
            set = rest;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_whole_texts() {
        for (pattern, text, expected) in [
            ("*.txt", "a/b.txt", true),
            ("*.txt", "a.txt~", false),
            ("d/*", "d/a/b", true),
            ("?[a-c]*", "xbz", true),
            ("[!a]", "a", false),
            ("[!a]", "b", true),
            ("[]]", "]", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("**a**", "bab", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text, false), expected, "{pattern} {text}");
        }
        assert!(matches("*.TXT", "a.txt", true));
        // This must be quick, although each star could match at any position.
        assert!(!matches(&"*a".repeat(40), &"a".repeat(39), false));
    }
}
