//! Reader of commands.

use super::super::decimal::Digits;
use super::source::{Cursor, Short};

/// Parsed command.
pub(super) enum Command {
    /// Number to be pushed.
    Number(Digits, bool),
    /// String to be pushed.
    Text(Vec<u8>),
    /// Command of one byte.
    Plain(u8),
    /// Command on a register.
    Register(u8, u8),
    /// Comparison, whether it is negated, and the register to execute.
    Comparison(u8, bool, u8),
    /// System command, which is refused.
    System,
    /// Command without its register.
    Incomplete,
}

/// Returns the value of a hexadecimal digit, which is accepted in every base.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Reads one command, or returns `None` at the end of the text.
pub(super) fn read_command(cursor: &mut Cursor<'_>) -> Result<Option<Command>, Short> {
    loop {
        let Some(byte) = cursor.next()? else { return Ok(None) };
        return Ok(Some(match byte {
            b' ' | b'\t' | b'\n' => continue,
            b'#' => {
                skip_line(cursor)?;
                continue;
            }
            b'0'..=b'9' | b'A'..=b'F' | b'.' | b'_' => read_number(byte, cursor)?,
            b'[' => Command::Text(read_string(cursor)?),
            b's' | b'S' | b'l' | b'L' | b':' | b';' => match cursor.next()? {
                Some(register) => Command::Register(byte, register),
                None => Command::Incomplete,
            },
            b'<' | b'>' | b'=' => match cursor.next()? {
                Some(register) => Command::Comparison(byte, false, register),
                None => Command::Incomplete,
            },
            b'!' => match cursor.peek()? {
                Some(operator @ (b'<' | b'>' | b'=')) => {
                    cursor.next()?;
                    match cursor.next()? {
                        Some(register) => Command::Comparison(operator, true, register),
                        None => Command::Incomplete,
                    }
                }
                _ => {
                    skip_line(cursor)?;
                    Command::System
                }
            },
            other => Command::Plain(other),
        }));
    }
}

fn skip_line(cursor: &mut Cursor<'_>) -> Result<(), Short> {
    while cursor.next()?.is_some_and(|byte| byte != b'\n') {}
    Ok(())
}

/// Reads the rest of a number.
fn read_number(first: u8, cursor: &mut Cursor<'_>) -> Result<Command, Short> {
    let mut digits = Digits::default();
    let mut point = first == b'.';
    if let Some(digit) = digit(first) {
        digits.push(digit, false);
    }
    // White space may follow the sign.
    while first == b'_' && cursor.peek()?.is_some_and(|byte| byte.is_ascii_whitespace()) {
        cursor.next()?;
    }
    loop {
        match cursor.peek()? {
            Some(b'.') if !point => point = true,
            other => match other.and_then(digit) {
                Some(digit) => digits.push(digit, point),
                None => return Ok(Command::Number(digits, first == b'_')),
            },
        }
        cursor.next()?;
    }
}

/// Reads the rest of a string, with nested brackets. An unterminated string extends to the end of the text.
fn read_string(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Short> {
    let mut text = Vec::new();
    let mut depth = 1_usize;
    while let Some(byte) = cursor.next()? {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        text.push(byte);
    }
    Ok(text)
}
