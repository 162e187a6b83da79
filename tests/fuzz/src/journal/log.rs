//! The audit log: lines that form a hash chain.

use std::io::Write as _;

use tempfile::NamedTempFile;
use tollhouse::gate::{Audit as _, AuditError, AuditFile, Chain, Event, suggest};

/// Number of lines that are changed and removed in turn.
const LINES: usize = 16;

/// Checks two logs: the data itself, and a valid chain made from its lines. A log that verifies must stop verifying
/// when a line is changed, moved or removed, must accept further events at its end, and must suggest a policy that can
/// be written and parsed.
pub(super) fn log(data: &[u8]) {
    let _ = check(data.split(|byte| *byte == b'\n'));
    let lines = chain(data);
    let Ok(end) = check(lines.iter().map(Vec::as_slice)) else { return };
    assert_eq!(end.lines(), lines.len() as u64, "every line counts");
    altered(&lines, &end);
    kept(&lines, &end);
}

fn check<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Result<Chain, &'static str> {
    let mut chain = Chain::default();
    for line in lines {
        let event = chain.check(line)?;
        assert_eq!(event["n"].as_u64(), Some(chain.lines()));
    }
    Ok(chain)
}

/// Makes a valid chain from lines such as `"event":"released","run":1,"seq":2`, by adding numbers and hashes.
fn chain(data: &[u8]) -> Vec<Vec<u8>> {
    let mut previous = blake3_of(None);
    let bodies = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let make = |(at, body): (usize, &[u8])| {
        let head = format!("{{\"n\":{},\"time\":\"1970-01-01T00:00:00Z\",", at + 1);
        let line = [head.as_bytes(), body, format!(",\"prev\":\"{previous}\"}}").as_bytes()].concat();
        previous = blake3_of(Some(&line));
        line
    };
    bodies.enumerate().map(make).collect()
}

fn blake3_of(line: Option<&[u8]>) -> String {
    line.map_or_else(|| "0".repeat(64), |line| blake3::hash(line).to_hex().to_string())
}

/// Checks that changing, removing or moving a line is detected. A change of the last line gives another end of the
/// chain.
fn altered(lines: &[Vec<u8>], end: &Chain) {
    for at in 0..lines.len().min(LINES) {
        let without = lines.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, line)| line.as_slice());
        assert!(check(without).is_err() || at + 1 == lines.len(), "line {} was left out", at + 1);
        let mut changed = lines.to_vec();
        // A space leaves the JSON the same and changes the bytes.
        changed[at].push(b' ');
        let changed = check(changed.iter().map(Vec::as_slice));
        assert!(changed.is_err() || at + 1 == lines.len() && changed.as_ref() != Ok(end), "line {} changed", at + 1);
        if at > 0 {
            let mut moved: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            moved.swap(at - 1, at);
            assert!(check(moved.into_iter()).is_err(), "line {} stands before the one before", at + 1);
        }
    }
}

/// Checks a log as a file: it verifies, suggests a policy, and accepts a further event.
fn kept(lines: &[Vec<u8>], end: &Chain) {
    let mut file = NamedTempFile::new().expect("a file");
    for line in lines {
        file.write_all(line).and_then(|()| file.write_all(b"\n")).expect("it can be written");
    }
    let (count, hash) = AuditFile::verify(file.path()).expect("the chain is whole");
    assert_eq!((count, hash), (end.lines(), end.hash().to_string()));
    match suggest(file.path()) {
        Ok(policy) => {
            let toml = policy.to_toml();
            let parsed = tollhouse::capability::Policy::parse(&toml);
            parsed.unwrap_or_else(|error| panic!("{error}: it was suggested\n{toml}"));
        }
        // A line may be valid JSON and no known event.
        Err(AuditError::Unreadable { .. }) => {}
        Err(error) => panic!("the chain is whole: {error}"),
    }
    let open = AuditFile::open(file.path()).expect("the chain is whole");
    open.write(&Event::Released { run: 1, seq: 1 }).expect("it can be written");
    drop(open);
    assert_eq!(AuditFile::verify(file.path()).expect("it goes on").0, end.lines() + 1);
}
