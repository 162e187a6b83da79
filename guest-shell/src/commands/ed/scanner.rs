//! Position in a command line.

/// Characters of a command line, of which some are read.
#[derive(Clone, Default)]
pub(super) struct Scanner {
    characters: Vec<char>,
    at: usize,
}

impl Scanner {
    pub(super) fn new(line: &str) -> Self {
        Self { characters: line.chars().collect(), at: 0 }
    }

    /// Returns the next character; none at the end of the line.
    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    /// Returns the character behind the next one.
    pub(super) fn peek_second(&self) -> Option<char> {
        self.characters.get(self.at + 1).copied()
    }

    /// Reads a character.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Reads this character if it is the next one.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|next| next.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Reads the digits of a number. The error is a number that is too large.
    pub(super) fn number(&mut self) -> Result<Option<i64>, &'static str> {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse::<i32>().map_err(|_| "Numerical result out of range")?;
        Ok(Some(i64::from(number)))
    }

    /// Reads the rest of the line.
    pub(super) fn rest(&mut self) -> String {
        let rest = self.characters[self.at..].iter().collect();
        self.at = self.characters.len();
        rest
    }

    /// Returns true if nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.characters.len()
    }
}
