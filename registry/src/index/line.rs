//! A line of the index: its bytes, and what it says. Must not know the lines before it.

use std::time::SystemTime;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    name::{PackageName, Requirement},
    oci::Origin,
    signature::PublicKey,
    store::Blob,
};

/// The only form of lines there is so far.
const FORM: u32 = 1;

/// Longest message of a deprecation, in bytes: a sentence or two.
pub(crate) const MAX_MESSAGE: usize = 1_000;

/// What stands between what is hashed and the hash.
pub(super) const SUM: &str = ",\"sum\":\"";

/// A line, less its sum.
#[derive(Serialize, Deserialize)]
pub(super) struct Line {
    v: u32,
    pub(super) seq: u64,
    pub(super) prev: Digest,
    /// Milliseconds since the Unix epoch.
    pub(super) time: u64,
    #[serde(flatten)]
    pub(super) change: Change,
}

/// What a line does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Change {
    Publish {
        name: PackageName,
        version: Version,
        component: Blob,
        wit: Blob,
        manifest: Blob,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        readme: Option<Blob>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        breaking: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    Yank {
        name: PackageName,
        version: Version,
    },
    Unyank {
        name: PackageName,
        version: Version,
    },
    Deprecate {
        name: PackageName,
        version: Version,
        /// None: it is deprecated no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replacement: Option<Requirement>,
    },
    Sign {
        name: PackageName,
        version: Version,
        key: PublicKey,
        signature: Blob,
    },
}

/// Every operation, as it is written.
const OPERATIONS: [&str; 5] = ["publish", "yank", "unyank", "deprecate", "sign"];

/// What of a line must be readable to say that a newer program wrote it.
#[derive(Deserialize)]
struct Header {
    v: u32,
    op: String,
}

/// What is wrong with a line. `line` counts from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    Altered { line: u64, problem: String },
    Newer { line: u64, what: String },
}

impl Line {
    /// A line that follows one whose sum is `prev`.
    pub(super) fn new(seq: u64, prev: Digest, now: SystemTime, change: Change) -> Self {
        // A clock before 1970 or past the range is a wrong clock: the order of releases does not hang on it.
        let time = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(time.as_millis()).unwrap_or(0);
        Self { v: FORM, seq, prev, time, change }
    }

    /// Reads a line without its line feed, and its sum. `number` counts from 1.
    pub(super) fn read(line: &[u8], number: u64) -> Result<(Self, Digest), Damage> {
        let altered = |problem: &str| Damage::Altered { line: number, problem: problem.into() };
        let (body, sum) = split_sum(line).ok_or_else(|| altered("it does not end in a sum"))?;
        let digest = Digest::of(body);
        if sum.parse() != Ok(digest) {
            return Err(altered("it does not hash to its sum"));
        }
        let line: Self = serde_json::from_slice(line).map_err(|error| unknown(line, number, &error))?;
        if line.v != FORM {
            return Err(Damage::Newer { line: number, what: format!("the form {}", line.v) });
        }
        Ok((line, digest))
    }

    /// Its bytes, with its sum and its line feed.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut text = serde_json::to_string(self).expect("a line has string keys only and no failing value");
        let brace = text.pop();
        debug_assert_eq!(brace, Some('}'), "a struct is an object");
        let sum = Digest::of(text.as_bytes());
        format!("{text}{SUM}{sum}\"}}\n").into_bytes()
    }
}

/// The sum of the last line of an index that ends so. Nothing is checked of it. None if it ends in no whole line.
pub(crate) fn last_sum(end: &[u8]) -> Option<Digest> {
    split_sum(end.strip_suffix(b"\n")?)?.1.parse().ok()
}

/// Whether a text can be the message of a deprecation. It is one line of a terminal.
pub(crate) fn check_message(message: &str) -> Result<(), String> {
    if message.trim().is_empty() || message.len() > MAX_MESSAGE || message.chars().any(char::is_control) {
        return Err(format!("a message has 1 to {MAX_MESSAGE} bytes and no control characters"));
    }
    Ok(())
}

/// Takes `,"sum":"…"}` off the end of a line: what is hashed, and the digest as text.
fn split_sum(line: &[u8]) -> Option<(&[u8], &str)> {
    const DIGEST: usize = "sha256:".len() + 64;
    let line = line.strip_suffix(b"\"}")?;
    let (rest, sum) = line.split_at_checked(line.len().checked_sub(DIGEST)?)?;
    Some((rest.strip_suffix(SUM.as_bytes())?, std::str::from_utf8(sum).ok()?))
}

/// Why a line that hashes to its sum cannot be read.
fn unknown(line: &[u8], number: u64, error: &serde_json::Error) -> Damage {
    match serde_json::from_slice::<Header>(line) {
        Ok(Header { v, .. }) if v != FORM => Damage::Newer { line: number, what: format!("the form {v}") },
        Ok(Header { op, .. }) if !OPERATIONS.contains(&op.as_str()) => {
            Damage::Newer { line: number, what: format!("the operation `{}`", crate::error::excerpt(&op)) }
        }
        _ => Damage::Altered { line: number, problem: format!("it is no line of an index: {error}") },
    }
}
