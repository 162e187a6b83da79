//! Addresses of lines, in front of commands.

use super::editor::Editor;
use super::scanner::Scanner;

/// Message about an address that no line has.
pub(super) const INVALID_ADDRESS: &str = "Invalid address";

/// Addresses in front of a command: how many were given (at most two), and the last two.
#[derive(Clone, Copy, Default)]
pub(super) struct Addresses {
    pub(super) count: usize,
    first: usize,
    pub(super) last: usize,
}

impl Addresses {
    /// Returns the given range, or the default one if no address was given.
    pub(super) fn range(self, first: usize, last: usize, buffer_end: usize) -> Result<(usize, usize), &'static str> {
        let (first, last) = if self.count == 0 { (first, last) } else { (self.first, self.last) };
        if first < 1 || first > last || last > buffer_end { Err(INVALID_ADDRESS) } else { Ok((first, last)) }
    }

    /// Returns the last address, or the default one.
    pub(super) fn last_or(self, default: usize) -> usize {
        if self.count == 0 { default } else { self.last }
    }
}

impl Editor {
    /// Reads the addresses of a command. A `;` behind one makes it the current line.
    pub(super) fn addresses(&mut self, line: &mut Scanner) -> Result<Addresses, &'static str> {
        let mut given: Vec<usize> = Vec::new();
        let mut is_implied = false;
        loop {
            let address = self.address(line)?;
            let separator = line.peek().filter(|next| matches!(next, ',' | ';' | '%'));
            let Some(separator) = separator else {
                match (address, given.last()) {
                    (Some(address), _) => given.push(address),
                    (None, Some(_)) if is_implied => given.push(self.buffer.last()),
                    (None, Some(&before)) => given.push(before),
                    (None, None) => {}
                }
                break;
            };
            line.next();
            is_implied = address.is_none();
            let implied = match separator {
                ';' => self.buffer.current(),
                _ => 1.min(self.buffer.last()),
            };
            let address = address.or_else(|| given.last().copied()).unwrap_or(implied);
            if separator == ';' {
                self.buffer.set_current(address);
            }
            given.push(address);
        }
        let last = given.last().copied().unwrap_or(self.buffer.current());
        let first = given.len().checked_sub(2).map_or(last, |index| given[index]);
        Ok(Addresses { count: given.len().min(2), first, last })
    }

    /// Reads one address, with its offsets; none if there is none.
    pub(super) fn address(&mut self, line: &mut Scanner) -> Result<Option<usize>, &'static str> {
        line.skip_blanks();
        let mut address = i64::try_from(self.buffer.current()).unwrap_or(i64::MAX);
        let mut is_given = false;
        while let Some(next) = line.peek() {
            match next {
                '0'..='9' => {
                    let number = line.number()?.unwrap_or_default();
                    address = if is_given { address + number } else { number };
                }
                ' ' | '\t' => {
                    line.skip_blanks();
                    continue;
                }
                '+' | '-' => {
                    line.next();
                    let offset = line.number()?.unwrap_or(1);
                    address += if next == '+' { offset } else { -offset };
                }
                '.' | '$' | '/' | '?' | '\'' if is_given => return Err(INVALID_ADDRESS),
                '.' => {
                    line.next();
                }
                '$' => {
                    line.next();
                    address = i64::try_from(self.buffer.last()).unwrap_or(i64::MAX);
                }
                '/' | '?' => address = i64::try_from(self.searched_address(line)?).unwrap_or(i64::MAX),
                '\'' => {
                    line.next();
                    address = i64::try_from(self.marked_address(line)?).unwrap_or(i64::MAX);
                }
                _ => break,
            }
            is_given = true;
        }
        if !is_given {
            return Ok(None);
        }
        match usize::try_from(address) {
            Ok(address) if address <= self.buffer.last() => Ok(Some(address)),
            _ => Err(INVALID_ADDRESS),
        }
    }

    fn marked_address(&self, line: &mut Scanner) -> Result<usize, &'static str> {
        let letter = line.next().filter(char::is_ascii_lowercase).ok_or("Invalid mark character")?;
        self.buffer.marked(letter).ok_or(INVALID_ADDRESS)
    }

    /// Returns the next line, or behind `?` the previous one, that an expression matches, round the ends of the buffer.
    fn searched_address(&mut self, line: &mut Scanner) -> Result<usize, &'static str> {
        let delimiter = line.next().unwrap_or('/');
        let pattern = self.pattern(line, delimiter)?;
        line.take(delimiter);
        let (last, current) = (self.buffer.last(), self.buffer.current());
        let round = last + 1;
        for step in 1..=round {
            let address = match delimiter {
                '/' => (current + step) % round,
                _ => (current + round - step) % round,
            };
            if address > 0 && self.matches(&pattern, address)? {
                return Ok(address);
            }
        }
        Err("No match")
    }
}
