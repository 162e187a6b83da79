//! Tests of what a log with a key proves, against an attacker who can write the file, and one who takes over the
//! writing process.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::key::LineKey;
use super::*;

struct TestLog {
    _directory: tempfile::TempDir,
    path: PathBuf,
    key: AuditKey,
}

impl TestLog {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit.jsonl");
        Self { _directory: directory, path, key: AuditKey::generate().expect("random numbers") }
    }

    fn of(lines: u64) -> Self {
        let log = Self::new();
        log.add(lines);
        log
    }

    /// Adds lines as one process does.
    fn add(&self, lines: u64) {
        write(&AuditFile::open_keyed(&self.path, self.key.clone()).expect("it opens"), lines);
    }

    fn check(&self) -> Result<CheckedLog, AuditError> {
        let options = CheckOptions { key: Some(self.key.clone()), ..CheckOptions::default() };
        AuditFile::check(&self.path, options)
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(&self.path).expect("it is there").lines().map(str::to_owned).collect()
    }

    /// Replaces the lines, but not the head.
    fn set(&self, lines: &[String]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.path, text).expect("it is written");
    }

    fn head(&self) -> PathBuf {
        AuditFile::head_path(&self.path)
    }

    fn is_refused(&self) -> bool {
        self.check().is_err() && AuditFile::open_keyed(&self.path, self.key.clone()).is_err()
    }
}

fn write(log: &AuditFile, lines: u64) {
    for run in 0..lines {
        log.write(&Event::Changed { run, what: "a test" }).expect("it is written");
    }
    log.sync().expect("it is durable");
}

/// Rewrites the chain after a change, as anybody can; the MACs stay unchanged.
fn rechained(lines: &[String]) -> Vec<String> {
    let mut previous = "0".repeat(64);
    let renew = |line: &String| {
        let at = line.find("\"prev\":\"").expect("every line has one") + 8;
        let line = format!("{}{previous}{}", &line[..at], &line[at + 64..]);
        previous = blake3::hash(line.as_bytes()).to_string();
        line
    };
    lines.iter().map(renew).collect()
}

fn without_macs(lines: &[String]) -> Vec<String> {
    let strip = |line: &String| line.split(",\"mac\":").next().map(|line| format!("{line}}}")).expect("a line");
    rechained(&lines.iter().map(strip).collect::<Vec<_>>())
}

#[test]
fn log_with_a_key_goes_on_and_is_proven_from_its_first_line() {
    let log = TestLog::of(3);
    log.add(2);
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.keyed_from, checked.proven_from), (5, Some(1), Some(1)));
    assert_eq!(checked.proven_lines, Some(5));
    // Without the key, only the chain and the presence of MACs are visible.
    let seen = AuditFile::check(&log.path, CheckOptions::default()).expect("it is whole");
    assert_eq!((seen.lines, seen.keyed_from, seen.proven_from, seen.proven_lines), (5, Some(1), None, None));
    assert_eq!(AuditFile::verify(&log.path).expect("it is whole"), (5, checked.head));
}

#[test]
fn log_without_a_key_is_proven_from_where_it_got_one() {
    let log = TestLog::new();
    write(&AuditFile::open(&log.path).expect("it opens"), 4);
    log.add(2);
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.proven_from), (6, Some(5)));
    // The earlier lines are bound too: the first line with a MAC contains their hash.
    let mut lines = log.lines();
    lines[1] = lines[1].replace("a test", "other!");
    log.set(&rechained(&lines));
    assert!(matches!(log.check(), Err(AuditError::Altered { line: 5, .. })), "{:?}", log.check());
}

#[test]
fn log_with_a_key_is_not_written_without_it_or_with_another() {
    let log = TestLog::of(2);
    assert!(matches!(AuditFile::open(&log.path), Err(AuditError::Keyed { .. })));
    let other = AuditKey::generate().expect("random numbers");
    assert!(AuditFile::open_keyed(&log.path, other).is_err());
    assert_eq!(log.check().expect("it is as it was").lines, 2);
}

#[test]
fn head_that_is_missing_damaged_or_of_another_log_is_refused() {
    let (log, other) = (TestLog::of(3), TestLog::of(3));
    let own = std::fs::read(log.head()).expect("it is there");
    for wrong in [std::fs::read(other.head()).expect("it is there"), Vec::new(), own[..90].to_vec(), b"{}".to_vec()] {
        std::fs::write(log.head(), wrong).expect("it is written");
        assert!(log.is_refused());
    }
    std::fs::remove_file(log.head()).expect("it is there");
    assert!(log.is_refused());
    std::fs::write(log.head(), own).expect("it is written");
    assert_eq!(log.check().expect("it is whole").lines, 3);
}

/// The process dies between two writes: the log can be continued, and acknowledged lines are proven.
#[test]
fn log_of_a_process_that_died_goes_on() {
    let log = TestLog::of(3);
    let head = std::fs::read(log.head()).expect("it is there");
    log.add(2);
    // Lines that were not synced.
    std::fs::write(log.head(), head).expect("it is written");
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.proven_lines), (5, Some(3)));
    // An incomplete line.
    let mut bytes = std::fs::read(&log.path).expect("it is there");
    bytes.truncate(bytes.len() - 20);
    std::fs::write(&log.path, bytes).expect("it is written");
    assert!(log.check().is_err());
    log.add(1);
    let checked = log.check().expect("it goes on");
    // One line was lost, one says so, one is new.
    assert_eq!((checked.lines, checked.proven_lines), (6, Some(6)));
}

#[test]
fn heads_that_were_kept_elsewhere_are_found() {
    let log = TestLog::of(2);
    let early = log.check().expect("it is whole").head;
    log.add(3);
    let late = log.check().expect("it is whole").head;
    let expecting = |expect: &[&String]| {
        let expect = expect.iter().map(|head| (*head).clone()).collect();
        AuditFile::check(&log.path, CheckOptions { key: None, expect })
    };
    assert_eq!(expecting(&[&late, &early]).expect("both are there").expected, [5, 2]);
    assert!(matches!(expecting(&[&early, &"0".repeat(64)]), Err(AuditError::Unexpected { .. })));
    // The whole log rewritten, including the head, without a key.
    let lines = without_macs(&log.lines());
    std::fs::remove_file(log.head()).expect("it is there");
    log.set(&lines);
    assert_eq!(AuditFile::verify(&log.path).expect("the chain is whole").0, 5);
    assert!(matches!(expecting(&[&early]), Err(AuditError::Unexpected { .. })));
}

/// An attacker who takes over the process has the key of the next line.
#[test]
fn keyed_log_with_current_key_stolen_cannot_be_rewritten() {
    let log = TestLog::of(6);
    let mut key = LineKey::first(log.key.clone());
    (0..6).for_each(|_| key.advance());
    let lines = log.lines();
    let forge = |line: &String| {
        let text = line.replace("a test", "forged").split(",\"mac\":").next().map(|line| format!("{line}}}"));
        let text = text.expect("a line");
        format!("{},\"mac\":\"{}\"}}", &text[..text.len() - 1], key.line(text.as_bytes()))
    };
    for at in 0..6 {
        let mut forged = lines.clone();
        forged[at] = forge(&lines[at]);
        log.set(&rechained(&forged));
        assert!(log.is_refused(), "line {}", at + 1);
        // Truncated there: the head of a shorter log cannot be computed.
        log.set(&lines[..at]);
        let last = blake3::hash(lines.get(at.wrapping_sub(1)).map_or(&[][..], |line| line.as_bytes()));
        let mac = key.head(at as u64, &last);
        let head = format!("{{\"lines\":{at},\"last\":\"{last}\",\"mac\":\"{mac}\"}}");
        std::fs::write(log.head(), head).expect("it is written");
        assert!(at == 0 || log.check().is_err(), "cut off behind line {at}");
        assert!(AuditFile::open_keyed(&log.path, log.key.clone()).is_err(), "cut off behind line {at}");
        log.set(&lines);
        let head = format!("{{\"lines\":6,\"last\":\"{}\",\"mac\":\"{}\"}}", blake3::hash(lines[5].as_bytes()), {
            let last = blake3::hash(lines[5].as_bytes());
            key.head(6, &last)
        });
        std::fs::write(log.head(), head).expect("it is written");
        assert_eq!(log.check().expect("it is as it was").lines, 6);
    }
}

/// A change to a log by an attacker without the key.
#[derive(Clone, Debug)]
enum LogTampering {
    Byte(usize, u8),
    Remove(usize),
    Exchange(usize, usize),
    Double(usize),
    Cut(usize),
    NoMacs(usize),
    Insert(usize),
}

fn change() -> impl Strategy<Value = LogTampering> {
    prop_oneof![
        (any::<usize>(), 1_u8..=255).prop_map(|(at, by)| LogTampering::Byte(at, by)),
        any::<usize>().prop_map(LogTampering::Remove),
        (any::<usize>(), any::<usize>()).prop_map(|(one, other)| LogTampering::Exchange(one, other)),
        any::<usize>().prop_map(LogTampering::Double),
        any::<usize>().prop_map(LogTampering::Cut),
        any::<usize>().prop_map(LogTampering::NoMacs),
        any::<usize>().prop_map(LogTampering::Insert),
    ]
}

fn changed(lines: &[String], change: &LogTampering) -> Vec<u8> {
    let mut lines = lines.to_vec();
    let count = lines.len();
    match *change {
        LogTampering::Byte(at, by) => {
            let mut bytes = lines.join("\n").into_bytes();
            bytes.push(b'\n');
            let at = at % bytes.len();
            bytes[at] ^= by;
            return bytes;
        }
        LogTampering::Remove(at) => drop(lines.remove(at % count)),
        LogTampering::Exchange(one, other) => lines.swap(one % count, other % count),
        LogTampering::Double(at) => lines.insert(at % count, lines[at % count].clone()),
        LogTampering::Cut(at) => lines.truncate(at % count),
        LogTampering::NoMacs(at) => {
            let bare = without_macs(&lines);
            lines[at % count..].clone_from_slice(&bare[at % count..]);
        }
        LogTampering::Insert(at) => lines.insert(at % count, without_macs(&lines)[0].clone()),
    }
    let renumbered = |(n, line): (usize, &String)| {
        let rest = line.split_once(',').map_or("", |(_, rest)| rest);
        format!("{{\"n\":{},{rest}", n + 1)
    };
    let lines: Vec<String> = lines.iter().enumerate().map(renumbered).collect();
    rechained(&lines).iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn keyed_log_changed_without_key_is_refused(lines in 1_u64..8, change in change()) {
        let log = TestLog::of(lines);
        let before = std::fs::read(&log.path).expect("it is there");
        let after = changed(&log.lines(), &change);
        if after != before {
            std::fs::write(&log.path, after).expect("it is written");
            prop_assert!(log.check().is_err(), "{change:?}");
            prop_assert!(AuditFile::open_keyed(&log.path, log.key.clone()).is_err(), "{change:?}");
        }
    }
}

#[test]
fn path_of_a_head_is_beside_its_log() {
    assert_eq!(AuditFile::head_path(Path::new("a/b.jsonl")), Path::new("a/b.jsonl.head"));
}
