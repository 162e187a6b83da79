//! Bracket expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::translator::push_class_literal;

const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";
const BAD_RANGE: &str = "Invalid range end";
const BAD_COLLATION: &str = "Invalid collation character";

/// Bracket expression in the syntax of the crate `regex`.
pub(super) struct Bracket {
    pub(super) class: String,
    /// Position behind the expression.
    pub(super) end: usize,
    /// True for `[:space:]`, which is almost certainly a mistake for `[[:space:]]`.
    pub(super) is_mistaken_class: bool,
}

/// Translates the bracket expression whose `[` is at a position.
pub(super) fn bracket(characters: &[char], start: usize, icase: bool) -> Result<Bracket, String> {
    let mut reader = BracketReader { characters, position: start + 1, icase };
    let mut class = String::from("[");
    if reader.peek() == Some('^') {
        class.push('^');
        reader.position += 1;
    }
    if reader.peek().is_none() {
        return Err("Invalid regular expression".to_string());
    }
    let first = reader.position;
    while reader.peek() != Some(']') || reader.position == first {
        reader.member(&mut class)?;
    }
    class.push(']');
    let is_mistaken_class = match &characters[first..reader.position] {
        [':', name @ .., ':'] => name.iter().all(char::is_ascii_alphabetic),
        _ => false,
    };
    Ok(Bracket { class, end: reader.position + 1, is_mistaken_class })
}

/// Member of a bracket expression.
enum Element {
    Character(char),
    Class(&'static str),
}

/// Reader of a bracket expression.
struct BracketReader<'a> {
    characters: &'a [char],
    position: usize,
    icase: bool,
}

impl BracketReader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    /// Returns true in front of the `-` of a range.
    fn is_range(&self) -> bool {
        self.peek() == Some('-') && self.characters.get(self.position + 1).is_some_and(|next| *next != ']')
    }

    /// Translates a character, a range or a class.
    fn member(&mut self, class: &mut String) -> Result<(), String> {
        let low = match self.element()? {
            Element::Class(members) => {
                class.push_str(members);
                return Ok(());
            }
            Element::Character(low) => low,
        };
        push_class_literal(class, low);
        if !self.is_range() {
            return Ok(());
        }
        self.position += 1;
        let Element::Character(high) = self.element()? else {
            return Err(BAD_RANGE.to_string());
        };
        if !low.is_ascii() || !high.is_ascii() {
            return Err(BAD_COLLATION.to_string());
        }
        if low > high {
            return Err(BAD_RANGE.to_string());
        }
        class.push('-');
        push_class_literal(class, high);
        if self.is_range() { Err(BAD_RANGE.to_string()) } else { Ok(()) }
    }

    /// Reads a character or a class. A backslash is a character like others.
    fn element(&mut self) -> Result<Element, String> {
        let character = self.peek().ok_or(UNMATCHED)?;
        match (character, self.characters.get(self.position + 1)) {
            ('[', Some(&kind @ (':' | '.' | '='))) => self.named_element(kind),
            _ => {
                self.position += 1;
                Ok(Element::Character(character))
            }
        }
    }

    /// Reads `[:class:]`, `[.c.]` or `[=c=]`.
    fn named_element(&mut self, kind: char) -> Result<Element, String> {
        let rest = &self.characters[self.position + 2..];
        let length = rest.windows(2).position(|end| end == [kind, ']']).ok_or(UNMATCHED)?;
        self.position += length + 4;
        match (kind, &rest[..length]) {
            (':', name) => {
                let name: String = name.iter().collect();
                let members = class_members(&name, self.icase).ok_or("Invalid character class name")?;
                Ok(Element::Class(members))
            }
            (_, [character]) => Ok(Element::Character(*character)),
            _ => Err(BAD_COLLATION.to_string()),
        }
    }
}

/// Returns the members of a character class, which is Unicode's. Without regard to case, both cases are all letters.
fn class_members(name: &str, icase: bool) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "upper" | "lower" if icase => r"\p{Alphabetic}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "digit" => "0-9",
        "alnum" => r"\p{Alphabetic}0-9",
        "xdigit" => "0-9A-Fa-f",
        "space" => r"\s",
        "blank" => r" \t",
        "punct" => r"\p{P}\p{S}",
        "cntrl" => r"\p{Cc}",
        "print" => r"\P{C}",
        "graph" => r"[\P{C}&&\S]",
        _ => return None,
    })
}
