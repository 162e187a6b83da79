//! Options among words, as the C library's `getopt_long` finds them.

/// Argument of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Takes {
    /// No argument at all.
    Nothing,
    /// Argument that is required.
    Required,
    /// Argument that is optional, and must be in the same word.
    Optional,
}

/// Options to recognize.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Known {
    /// Short options in the form of `getopt`: `ab:c::`.
    pub(in crate::commands) short: String,
    /// Long options by name.
    pub(in crate::commands) long: Vec<(String, Takes)>,
    /// True if long options may begin with one dash.
    pub(in crate::commands) single_dash: bool,
}

/// Treatment of words that are not options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Order {
    /// Such words are moved after the options.
    Permute,
    /// The first such word ends the options.
    Require,
    /// Such words stay in place.
    Keep,
}

/// Item found among the words.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) enum Found {
    /// A short option, with its argument if it takes one.
    Short(char, Option<String>),
    /// A long option, with its argument if it has one.
    Long(String, Option<String>),
    /// Word that is not an option, in its place.
    Word(String),
    /// Message about an error.
    Mistake(String),
}

/// Returns all options, and the other words.
pub(in crate::commands) fn scan(known: &Known, order: Order, words: &[String]) -> (Vec<Found>, Vec<String>) {
    let mut scanner = Scanner { known, words, at: 0, found: Vec::new() };
    let mut rest = Vec::new();
    while let Some(word) = words.get(scanner.at) {
        scanner.at += 1;
        if word == "--" {
            break;
        }
        if word.len() > 1 && word.starts_with('-') {
            scanner.option(word);
            continue;
        }
        match order {
            Order::Permute => rest.push(word.clone()),
            Order::Keep => scanner.found.push(Found::Word(word.clone())),
            Order::Require => {
                scanner.at -= 1;
                break;
            }
        }
    }
    rest.extend_from_slice(&words[scanner.at..]);
    (scanner.found, rest)
}

struct Scanner<'a> {
    known: &'a Known,
    words: &'a [String],
    at: usize,
    found: Vec<Found>,
}

impl Scanner<'_> {
    fn option(&mut self, word: &str) {
        if let Some(long) = word.strip_prefix("--") {
            let end = self.long(long, "--", false);
            self.found.extend(end);
            return;
        }
        let letters = &word[1..];
        let first = letters.chars().next().unwrap_or('-');
        let is_short = self.takes(first).is_some();
        if self.known.single_dash && (letters.chars().count() > 1 || !is_short) {
            let end = self.long(letters, "-", is_short);
            if end.is_some() {
                self.found.extend(end);
                return;
            }
        }
        self.short(letters);
    }

    /// Parses a long option. Returns `None` if it is unknown and the word may be short options.
    fn long(&mut self, text: &str, dashes: &str, or_short: bool) -> Option<Found> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let starting: Vec<&(String, Takes)> =
            self.known.long.iter().filter(|(long, _)| long.starts_with(name)).collect();
        let exact = starting.iter().find(|(long, _)| long == name);
        let found = match (exact, &starting[..]) {
            (Some(found), _) => *found,
            (None, [found]) => *found,
            (None, []) if or_short => return None,
            (None, []) => return Some(Found::Mistake(format!("unrecognized option '{dashes}{text}'"))),
            (None, several) => {
                let names: Vec<String> = several.iter().map(|(long, _)| format!("'{dashes}{long}'")).collect();
                let names = names.join(" ");
                return Some(Found::Mistake(format!("option '{dashes}{text}' is ambiguous; possibilities: {names}")));
            }
        };
        let (long, takes) = (found.0.clone(), found.1);
        Some(match (takes, value) {
            (Takes::Nothing, Some(_)) => Found::Mistake(format!("option '{dashes}{long}' doesn't allow an argument")),
            (Takes::Nothing | Takes::Optional, None) => Found::Long(long, None),
            (Takes::Optional, Some(value)) => Found::Long(long, Some(value.to_owned())),
            (Takes::Required, Some(value)) => Found::Long(long, Some(value.to_owned())),
            (Takes::Required, None) => match self.next_word() {
                Some(value) => Found::Long(long, Some(value)),
                None => Found::Mistake(format!("option '{dashes}{long}' requires an argument")),
            },
        })
    }

    fn next_word(&mut self) -> Option<String> {
        let word = self.words.get(self.at).cloned();
        self.at += usize::from(word.is_some());
        word
    }

    /// Returns what argument a short option takes, or `None` if it is unknown.
    fn takes(&self, letter: char) -> Option<Takes> {
        if matches!(letter, ':' | ';') {
            return None;
        }
        let rest = &self.known.short[self.known.short.find(letter)? + letter.len_utf8()..];
        Some(match rest {
            rest if rest.starts_with("::") => Takes::Optional,
            rest if rest.starts_with(':') => Takes::Required,
            _ => Takes::Nothing,
        })
    }

    fn short(&mut self, letters: &str) {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            let found = match self.takes(letter) {
                None => Found::Mistake(format!("invalid option -- '{letter}'")),
                Some(Takes::Nothing) => Found::Short(letter, None),
                Some(Takes::Optional) => Found::Short(letter, Some(rest.to_owned())),
                Some(Takes::Required) if !rest.is_empty() => Found::Short(letter, Some(rest.to_owned())),
                Some(Takes::Required) => match self.next_word() {
                    Some(value) => Found::Short(letter, Some(value)),
                    None => Found::Mistake(format!("option requires an argument -- '{letter}'")),
                },
            };
            let ends = matches!(found, Found::Short(_, Some(_)));
            self.found.push(found);
            if ends {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Known, Order, scan};

    #[test]
    fn unknown_long_option_is_named_with_its_argument() {
        let (found, _) = scan(&Known::default(), Order::Permute, &["--foo=bar".to_owned()]);
        assert_eq!(found, [Found::Mistake("unrecognized option '--foo=bar'".to_owned())]);
    }
}
