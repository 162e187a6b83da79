//! Bracket expressions.
//!
//! They have a scanner of their own: inside `[...]` POSIX gives `\` no special meaning, while the engine treats `\`, `[`,
//! `&&`, `~~` and `--` as syntax.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::escape::{numeric_escape, simple_escape};
use super::translator::BAD_RANGE;
use super::{CLASS_SYNTAX, Mistake, Syntax};

const BAD_COLLATION: &str = "Invalid collation character";
const OPEN_BRACKET: &str = "Unmatched [, [^, [:, [., or [=";

/// Translates the bracket expression whose `[` stands before a position. Returns it and where it ends.
pub(super) fn bracket(chars: &[char], at: usize, syntax: Syntax) -> Result<(String, usize), Mistake> {
    BracketReader { chars, at, syntax }.read()
}

/// Reader of a bracket expression.
struct BracketReader<'a> {
    chars: &'a [char],
    at: usize,
    syntax: Syntax,
}

impl BracketReader<'_> {
    /// Reads the whole expression. Returns its translation and where it ends.
    fn read(mut self) -> Result<(String, usize), Mistake> {
        let negated = self.chars.get(self.at) == Some(&'^');
        self.at += usize::from(negated);
        let start = self.at;
        let mut class = String::from(if negated { "[^" } else { "[" });
        while self.chars.get(self.at) != Some(&']') || self.at == start {
            self.member(&mut class)?;
        }
        if let [':', .., ':'] = self.chars[start..self.at]
            && !negated
        {
            return Err(CLASS_SYNTAX);
        }
        if negated && self.syntax.multi_line {
            class.push_str("\\n");
        }
        if negated && self.syntax.null_lines() {
            class.push_str("\\x00");
        }
        class.push(']');
        Ok((class, self.at + 1))
    }

    /// Translates a member of the expression: a character, a range or a class.
    fn member(&mut self, class: &mut String) -> Result<(), Mistake> {
        let first = self.element()?;
        let range =
            self.chars.get(self.at) == Some(&'-') && self.chars.get(self.at + 1).is_some_and(|next| *next != ']');
        match first {
            Element::Class(_) if range => return Err(Mistake(BAD_RANGE)),
            Element::Class(members) => class.push_str(members),
            Element::Char(low) if range => {
                self.at += 1;
                let Element::Char(high) = self.element()? else {
                    return Err(Mistake(BAD_RANGE));
                };
                push_range(class, low, high)?;
            }
            Element::Char(c) => push_member(class, c),
        }
        Ok(())
    }

    /// Reads a character or a class.
    fn element(&mut self) -> Result<Element, Mistake> {
        let Some(&c) = self.chars.get(self.at) else {
            return Err(Mistake(OPEN_BRACKET));
        };
        let next = self.chars.get(self.at + 1).copied();
        self.at += 1;
        match (c, next) {
            ('[', Some(kind @ (':' | '.' | '='))) => self.named_element(kind),
            // GNU sed converts `\t`, `\n`, `\xHH`... before it compiles, so they
            // work inside brackets too (`[ \t]`); any other `\` is a member.
            ('\\', Some(next)) => {
                if let Some(c) = simple_escape(next) {
                    self.at += 1;
                    return Ok(Element::Char(c));
                }
                let Some((c, used)) = numeric_escape(self.chars, self.at) else {
                    return Ok(Element::Char('\\'));
                };
                self.at += 1 + used;
                Ok(Element::Char(c))
            }
            _ => Ok(Element::Char(c)),
        }
    }

    /// Reads `[:class:]`, `[.c.]` or `[=c=]`, behind its `[`.
    fn named_element(&mut self, kind: char) -> Result<Element, Mistake> {
        let from = self.at + 1;
        let name = &self.chars[from..];
        let Some(length) = name.windows(2).position(|end| end == [kind, ']']) else {
            return Err(Mistake(OPEN_BRACKET));
        };
        self.at = from + length + 2;
        match (kind, &name[..length]) {
            (':', name) => class_members(&name.iter().collect::<String>())
                .map(Element::Class)
                .ok_or(Mistake("Invalid character class name")),
            (_, [c]) => Ok(Element::Char(*c)),
            _ => Err(Mistake(BAD_COLLATION)),
        }
    }
}

/// Member of a bracket expression.
enum Element {
    Char(char),
    Class(&'static str),
}

/// Returns the members of a character class, which is Unicode's as in a UTF-8 locale.
fn class_members(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
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

fn push_range(class: &mut String, low: char, high: char) -> Result<(), Mistake> {
    // In the C.UTF-8 locale only ASCII has an order that ranges can use.
    if !low.is_ascii() || !high.is_ascii() {
        return Err(Mistake(BAD_COLLATION));
    }
    if low > high {
        return Err(Mistake(BAD_RANGE));
    }
    push_member(class, low);
    class.push('-');
    push_member(class, high);
    Ok(())
}

/// Adds a character, escaped if it has a meaning in the engine's classes but none in POSIX's.
fn push_member(class: &mut String, c: char) {
    if matches!(c, '\\' | '[' | ']' | '^' | '-' | '&' | '~') {
        class.push('\\');
    }
    class.push(c);
}
