//! Line of the index: its bytes and their meaning. Must not know the lines before it.

use std::time::SystemTime;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    key::PublicKey,
    name::{PackageName, Requirement},
    oci::Origin,
    store::Blob,
};

/// Version of the line format; there is no other yet.
const FORM: u32 = 1;

/// Longest message of a deprecation, in bytes: a sentence or two.
pub(crate) const MAX_MESSAGE: usize = 1_000;

/// Separator between the hashed part of a line and the hash.
pub(super) const SUM: &str = ",\"sum\":\"";

/// Line of the index, without its sum.
#[derive(Serialize, Deserialize)]
pub(super) struct IndexLine {
    v: u32,
    pub(super) seq: u64,
    pub(super) prev: Digest,
    /// Milliseconds since the Unix epoch.
    pub(super) time: u64,
    #[serde(flatten)]
    pub(super) change: ReleaseChange,
}

/// Change of a release that a line makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum ReleaseChange {
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
        /// `None` undoes the deprecation.
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

/// Names of all operations, as lines spell them.
const OPERATIONS: [&str; 5] = ["publish", "yank", "unyank", "deprecate", "sign"];

/// Part of a line that must be readable to recognise the line of a newer program.
#[derive(Deserialize)]
struct LineHeader {
    v: u32,
    op: String,
}

/// Error of a line. `line` counts from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IndexDamage {
    Altered { line: u64, problem: String },
    Newer { line: u64, what: String },
}

impl IndexLine {
    /// Creates a line that follows the line whose sum is `prev`.
    pub(super) fn new(seq: u64, prev: Digest, now: SystemTime, change: ReleaseChange) -> Self {
        // A clock before 1970 or past the range is wrong, which is harmless: the order of releases does not depend on
        // it.
        let time = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(time.as_millis()).unwrap_or(0);
        Self { v: FORM, seq, prev, time, change }
    }

    /// Parses a line without its line feed, and returns its sum too. `number` counts from 1.
    pub(super) fn read(line: &[u8], number: u64) -> Result<(Self, Digest), IndexDamage> {
        let altered = |problem: &str| IndexDamage::Altered { line: number, problem: problem.into() };
        let (body, sum) = split_sum(line).ok_or_else(|| altered("it does not end in a sum"))?;
        let digest = Digest::of(body);
        if sum.parse() != Ok(digest) {
            return Err(altered("its content does not match its sum"));
        }
        let line: Self = serde_json::from_slice(line).map_err(|error| unknown(line, number, &error))?;
        if line.v != FORM {
            return Err(IndexDamage::Newer { line: number, what: format!("the format version {}", line.v) });
        }
        Ok((line, digest))
    }

    /// Encodes the line, with its sum and its line feed.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut text = serde_json::to_string(self).expect("a line has string keys only and no failing value");
        let brace = text.pop();
        debug_assert_eq!(brace, Some('}'), "a struct is an object");
        let sum = Digest::of(text.as_bytes());
        format!("{text}{SUM}{sum}\"}}\n").into_bytes()
    }
}

/// Returns the sum of the last line of an index with this end, without checking it. Returns `None` if the index does
/// not end in a whole line.
pub(crate) fn last_sum(end: &[u8]) -> Option<Digest> {
    split_sum(end.strip_suffix(b"\n")?)?.1.parse().ok()
}

/// Checks that a text is a valid message of a deprecation, which is printed as one line.
pub(crate) fn check_message(message: &str) -> Result<(), String> {
    if message.trim().is_empty() || message.len() > MAX_MESSAGE || message.chars().any(char::is_control) {
        return Err(format!("a message must have 1 to {MAX_MESSAGE} bytes and no control characters"));
    }
    Ok(())
}

/// Splits `,"sum":"…"}` off the end of a line: returns the hashed part, and the digest as text.
fn split_sum(line: &[u8]) -> Option<(&[u8], &str)> {
    const DIGEST: usize = "sha256:".len() + 64;
    let line = line.strip_suffix(b"\"}")?;
    let (rest, sum) = line.split_at_checked(line.len().checked_sub(DIGEST)?)?;
    Some((rest.strip_suffix(SUM.as_bytes())?, std::str::from_utf8(sum).ok()?))
}

/// Returns the reason why a line with a correct sum cannot be read.
fn unknown(line: &[u8], number: u64, error: &serde_json::Error) -> IndexDamage {
    match serde_json::from_slice::<LineHeader>(line) {
        Ok(LineHeader { v, .. }) if v != FORM => {
            IndexDamage::Newer { line: number, what: format!("the format version {v}") }
        }
        Ok(LineHeader { op, .. }) if !OPERATIONS.contains(&op.as_str()) => {
            IndexDamage::Newer { line: number, what: format!("the operation `{}`", crate::error::excerpt(&op)) }
        }
        _ => IndexDamage::Altered { line: number, problem: format!("it is not a line of an index: {error}") },
    }
}
