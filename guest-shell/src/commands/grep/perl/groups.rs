//! Groups, lookarounds and conditions in the patterns of `grep -P`.

use super::class::is_number;
use super::{Branch, Flags, Kind, Parsed, Parser, Piece, is_name, joined, unsupported};

impl Parser {
    pub(super) fn group(&mut self) -> Parsed<Piece> {
        if self.peek(0) == Some('*') {
            return self.verb();
        }
        if !self.eat("?") {
            if self.flags.n {
                return self.enclosed("(?:");
            }
            self.groups += 1;
            return self.enclosed("(");
        }
        for (sign, behind, positive) in
            [("=", false, true), ("!", false, false), ("<=", true, true), ("<!", true, false)]
        {
            if self.eat(sign) {
                return self.lookaround(behind, positive).map(|(piece, _)| piece);
            }
        }
        if self.eat(":") {
            return self.enclosed("(?:");
        }
        if self.eat(">") {
            self.fancy = true;
            return self.enclosed("(?>");
        }
        if self.eat("(") {
            return self.conditional();
        }
        self.special()
    }

    /// Reads named groups, references and settings, and refuses what has no counterpart.
    fn special(&mut self) -> Parsed<Piece> {
        if self.eat("P=") {
            let name = self.until(')')?;
            return self.reference(&name);
        }
        let refused = match (self.peek(0), self.peek(1)) {
            (Some('|'), _) => "(?| (groups that share a number)",
            (Some('R' | '&' | '0'..='9' | '+'), _) | (Some('P'), Some('>')) => "recursion ((?R), (?1), (?&name))",
            (Some('-'), Some('0'..='9')) => "recursion ((?R), (?1), (?&name))",
            (Some('C'), _) => "a callout ((?C))",
            (Some('*'), _) | (Some('<'), Some('*')) => "a lookaround that is not atomic",
            _ => "",
        };
        if !refused.is_empty() {
            return unsupported(refused);
        }
        let close = match self.peek(0) {
            Some('\'') => '\'',
            Some('<') => '>',
            Some('P') if self.peek(1) == Some('<') => {
                self.position += 1;
                '>'
            }
            _ => return self.settings(),
        };
        self.position += 1;
        let name = self.until(close)?;
        if !is_name(&name) {
            return Err(if name.starts_with(|c: char| c.is_ascii_digit()) {
                "subpattern name must start with a non-digit".into()
            } else {
                "syntax error in subpattern name (missing terminator?)".to_string()
            });
        }
        self.groups += 1;
        if self.names.insert(name, self.groups).is_some() {
            return Err("two named subpatterns have the same name (PCRE2_DUPNAMES not set)".into());
        }
        self.enclosed("(")
    }

    /// Reads `(?i-x)` and `(?i:…)`.
    fn settings(&mut self) -> Parsed<Piece> {
        let (outer, mut on) = (self.flags, true);
        let mut flags = outer;
        if self.eat("^") {
            flags = Flags { lazy: outer.lazy, ..Flags::default() };
        }
        loop {
            let c = self.peek(0).ok_or("missing closing parenthesis")?;
            self.position += 1;
            match c {
                'i' => flags.i = on,
                'm' => flags.m = on,
                's' => flags.s = on,
                'n' => flags.n = on,
                'U' => flags.lazy = on,
                'x' => {
                    flags.xx = on && self.eat("x");
                    flags.x = on;
                }
                '-' if on => on = false,
                'J' => return unsupported("(?J) (names used twice)"),
                ')' => {
                    self.flags = flags;
                    return Ok(Piece::new("", 0, Kind::Fixed));
                }
                ':' => {
                    self.flags = flags;
                    let piece = self.enclosed("(?:");
                    self.flags = outer;
                    return piece;
                }
                _ => return Err("unrecognized character after (? or (?-".into()),
            }
        }
    }

    fn verb(&mut self) -> Parsed<Piece> {
        let text = self.until(')')?;
        match text.as_str() {
            "*F" | "*FAIL" => Ok(self.assertion("(?!)")),
            _ => unsupported(&format!("({text})")),
        }
    }

    /// Reads a lookaround, and returns it and its contrary.
    fn lookaround(&mut self, behind: bool, positive: bool) -> Parsed<(Piece, String)> {
        self.lookarounds += 1;
        let branches = self.inside()?;
        self.lookarounds -= 1;
        self.fancy = true;
        let alike = branches.iter().all(|b| b.len == branches[0].len);
        let whole = joined(&branches);
        let parts = match behind {
            true if branches.iter().any(|b| b.len.is_none()) => {
                return Err("lookbehind assertion is not fixed length".into());
            }
            true if !alike => branches,
            _ => vec![whole],
        };
        let sign = if behind { "?<" } else { "?" };
        let all = |mark: &str, between: &str| {
            let each = parts.iter().map(|part| format!("({sign}{mark}{})", part.text));
            format!("(?:{})", each.collect::<Vec<_>>().join(between))
        };
        let (yes, no) = (all("=", "|"), all("!", ""));
        let (text, contrary) = if positive { (yes, no) } else { (no, yes) };
        Ok((Piece::new(text, 0, Kind::Atom), contrary))
    }

    /// Reads a condition behind `(?(`.
    fn conditional(&mut self) -> Parsed<Piece> {
        self.fancy = true;
        let before = self.groups;
        for (sign, behind, positive) in
            [("?=", false, true), ("?!", false, false), ("?<=", true, true), ("?<!", true, false)]
        {
            if self.eat(sign) {
                let (condition, contrary) = self.lookaround(behind, positive)?;
                if self.groups > before {
                    return unsupported("a condition that captures");
                }
                let (yes, no, len) = self.two()?;
                let text = format!("(?:{}(?:{yes})|{contrary}(?:{no}))", condition.text);
                return Ok(Piece { text, len, kind: Kind::Atom });
            }
        }
        let text = self.until(')')?;
        let name = text.trim_start_matches(['<', '\'']).trim_end_matches(['>', '\'']);
        if name.len() == text.len() && !is_number(name.trim_start_matches(['-', '+'])) {
            return unsupported(&format!("the condition (?({text})"));
        }
        let number = self.number_of(name)?;
        let (yes, no, len) = self.two()?;
        let text = format!("(?({number})(?:{yes})|(?:{no}))");
        Ok(Piece { text, len, kind: Kind::Atom })
    }

    /// Reads the two alternatives of a condition.
    fn two(&mut self) -> Parsed<(String, String, Option<usize>)> {
        let mut branches = self.inside()?.into_iter();
        let empty = || Branch { text: String::new(), len: Some(0) };
        let (yes, no) = (branches.next().unwrap_or_else(empty), branches.next().unwrap_or_else(empty));
        if branches.next().is_some() {
            return Err("conditional subpattern contains more than two branches".into());
        }
        Ok((yes.text, no.text, yes.len.filter(|_| yes.len == no.len)))
    }
}
