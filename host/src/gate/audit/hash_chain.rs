//! How the lines of a log hang together. Knows nothing of where they are kept.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use super::Event;
use super::key::LineKey;

/// Where a log ends: what the next line must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    lines: u64,
    hash: blake3::Hash,
}

impl Default for Chain {
    /// Before the first line, which names zeros as the one before.
    fn default() -> Self {
        Self { lines: 0, hash: [0; 32].into() }
    }
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    time: String,
    #[serde(flatten)]
    event: &'a Event<'a>,
    prev: &'a str,
}

impl Chain {
    /// A chain that ends so: how many lines, and the hash of the last.
    #[must_use]
    pub fn resume(lines: u64, hash: [u8; 32]) -> Self {
        Self { lines, hash: hash.into() }
    }

    /// How many lines there are.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The hash of the last line (blake3).
    #[must_use]
    pub fn hash(&self) -> &blake3::Hash {
        &self.hash
    }

    /// The line that says this, without an end of line, and the chain behind it.
    #[must_use]
    pub fn follow(&self, event: &Event<'_>, now: SystemTime) -> (Vec<u8>, Self) {
        let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string();
        let prev = self.hash.to_hex();
        let line = Line { n: self.lines + 1, time, event, prev: prev.as_str() };
        let text = serde_json::to_vec(&line).expect("an event is plain data");
        let hash = blake3::hash(&text);
        (text, Self { lines: self.lines + 1, hash })
    }

    /// As [`follow`](Self::follow), with the MAC that the line's key gives. The key is the caller's to advance, when the
    /// line is written.
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

    /// Takes a line that was read, and says what it says.
    ///
    /// # Errors
    /// Why it cannot be the next one.
    pub fn check(&mut self, line: &[u8]) -> Result<Value, &'static str> {
        let value: Value = serde_json::from_slice(line).map_err(|_| "is no JSON")?;
        let follows = value["prev"].as_str() == Some(self.hash.to_hex().as_str());
        #[cfg(fuzzing)]
        let follows = follows || tollhouse_seeded::bug("journal");
        if !follows {
            return Err("does not name the line before it");
        }
        if value["n"].as_u64() != Some(self.lines + 1) {
            return Err("has another number");
        }
        *self = Self { lines: self.lines + 1, hash: blake3::hash(line) };
        Ok(value)
    }
}

/// How a line ends, and how one with a MAC does: the MAC stands last, in hexadecimal.
const CLOSE: &[u8] = b"}";
const MAC: &[u8] = b",\"mac\":\"";
const MAC_CLOSE: &[u8] = b"\"}";

/// Splits a line into what its MAC is of, and the MAC; none if it has none.
pub(super) fn mac_of(line: &[u8]) -> Option<(Vec<u8>, blake3::Hash)> {
    let line = line.strip_suffix(MAC_CLOSE)?;
    let (line, digits) = line.split_at_checked(line.len().checked_sub(2 * blake3::OUT_LEN)?)?;
    let mac = blake3::Hash::from_hex(digits).ok()?;
    let text = [line.strip_suffix(MAC)?, CLOSE].concat();
    Some((text, mac))
}
