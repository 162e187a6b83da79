//! The hash chain of a log's lines. Independent of where the lines are stored.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use super::Event;
use super::key::LineKey;

/// End of a log, which the next line must refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    lines: u64,
    hash: blake3::Hash,
}

impl Default for Chain {
    /// Returns the chain of an empty log: the first line contains a hash of zeros.
    fn default() -> Self {
        Self { lines: 0, hash: [0; 32].into() }
    }
}

/// A line in the form in which it is written.
#[derive(Serialize)]
struct LogLine<'a> {
    n: u64,
    time: String,
    #[serde(flatten)]
    event: &'a Event<'a>,
    prev: &'a str,
}

impl Chain {
    /// Creates a chain that ends after this number of lines, with the hash of the last one.
    #[must_use]
    pub fn resume(lines: u64, hash: [u8; 32]) -> Self {
        Self { lines, hash: hash.into() }
    }

    /// Number of lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The hash of the last line (blake3).
    #[must_use]
    pub fn hash(&self) -> &blake3::Hash {
        &self.hash
    }

    /// Encodes an event as the next line, without a line terminator, and returns it with the chain after it.
    #[must_use]
    pub fn follow(&self, event: &Event<'_>, now: SystemTime) -> (Vec<u8>, Self) {
        let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string();
        let prev = self.hash.to_hex();
        let line = LogLine { n: self.lines + 1, time, event, prev: prev.as_str() };
        let text = serde_json::to_vec(&line).expect("an event is plain data");
        let hash = blake3::hash(&text);
        (text, Self { lines: self.lines + 1, hash })
    }

    /// Encodes an event like [`follow`](Self::follow), with a MAC by the line's key. The caller must advance the key
    /// when the line is written.
    pub(super) fn follow_with(&self, event: &Event<'_>, now: SystemTime, key: &LineKey) -> (Vec<u8>, Self) {
        let (mut text, _) = self.follow(event, now);
        let mac = key.line(&text).to_hex();
        text.truncate(text.len() - CLOSE.len());
        for part in [MAC, mac.as_bytes(), MAC_CLOSE] {
            text.extend_from_slice(part);
        }
        let hash = blake3::hash(&text);
        (text, Self { lines: self.lines + 1, hash })
    }

    /// Adds a line that was read, and returns its contents.
    ///
    /// # Errors
    /// A description of why it cannot be the next line.
    pub fn check(&mut self, line: &[u8]) -> Result<Value, &'static str> {
        let value: Value = serde_json::from_slice(line).map_err(|_| "is not valid JSON")?;
        let follows = value["prev"].as_str() == Some(self.hash.to_hex().as_str());
        if !follows {
            return Err("does not contain the hash of the previous line");
        }
        let number = self.lines.checked_add(1);
        let Some(number) = number.filter(|number| value["n"].as_u64() == Some(*number)) else {
            return Err("has a wrong number");
        };
        *self = Self { lines: number, hash: blake3::hash(line) };
        Ok(value)
    }
}

/// End of a line, without and with a MAC: the MAC is the last field, in hexadecimal.
const CLOSE: &[u8] = b"}";
const MAC: &[u8] = b",\"mac\":\"";
const MAC_CLOSE: &[u8] = b"\"}";

/// Splits a line into the authenticated text and the MAC; returns `None` if it has no MAC.
pub(super) fn mac_of(line: &[u8]) -> Option<(Vec<u8>, blake3::Hash)> {
    let line = line.strip_suffix(MAC_CLOSE)?;
    let (line, digits) = line.split_at_checked(line.len().checked_sub(2 * blake3::OUT_LEN)?)?;
    let mac = blake3::Hash::from_hex(digits).ok()?;
    let text = [line.strip_suffix(MAC)?, CLOSE].concat();
    Some((text, mac))
}
/// Returns the time of an event that was read from a log.
#[must_use]
pub fn event_time(event: &Value) -> Option<SystemTime> {
    Some(event["time"].as_str()?.parse::<jiff::Timestamp>().ok()?.into())
}
