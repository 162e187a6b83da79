//! What a log with a key proves: against who can write the file, and against who takes over the process that writes it.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::key::LineKey;
use super::*;

struct Log {
    _directory: tempfile::TempDir,
    path: PathBuf,
    key: AuditKey,
}

impl Log {
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

    /// Replaces the lines; the head stays.
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

/// Makes the chain anew behind a change, as anybody can; MACs stay as they are.
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
    let log = Log::of(3);
    log.add(2);
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.keyed_from, checked.proven_from), (5, Some(1), Some(1)));
    assert_eq!(checked.proven_lines, Some(5));
    // Who has no key sees the chain, and that there are MACs.
    let seen = AuditFile::check(&log.path, CheckOptions::default()).expect("it is whole");
    assert_eq!((seen.lines, seen.keyed_from, seen.proven_from, seen.proven_lines), (5, Some(1), None, None));
    assert_eq!(AuditFile::verify(&log.path).expect("it is whole"), (5, checked.head));
}

#[test]
fn log_without_a_key_is_proven_from_where_it_got_one() {
    let log = Log::new();
    write(&AuditFile::open(&log.path).expect("it opens"), 4);
    log.add(2);
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.proven_from), (6, Some(5)));
    // The lines before are bound too: the first with a MAC names them.
    let mut lines = log.lines();
    lines[1] = lines[1].replace("a test", "other!");
    log.set(&rechained(&lines));
    assert!(matches!(log.check(), Err(AuditError::Altered { line: 5, .. })), "{:?}", log.check());
}

#[test]
fn log_with_a_key_is_not_written_without_it_or_with_another() {
    let log = Log::of(2);
    assert!(matches!(AuditFile::open(&log.path), Err(AuditError::Keyed { .. })));
    let other = AuditKey::generate().expect("random numbers");
    assert!(AuditFile::open_keyed(&log.path, other).is_err());
    assert_eq!(log.check().expect("it is as it was").lines, 2);
}

#[test]
fn head_that_is_missing_damaged_or_of_another_log_is_refused() {
    let (log, other) = (Log::of(3), Log::of(3));
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

/// The process dies between two writes: what is there goes on, and what was acknowledged is proven.
#[test]
fn log_of_a_process_that_died_goes_on() {
    let log = Log::of(3);
    let head = std::fs::read(log.head()).expect("it is there");
    log.add(2);
    // Lines that nobody had synced.
    std::fs::write(log.head(), head).expect("it is written");
    let checked = log.check().expect("it is whole");
    assert_eq!((checked.lines, checked.proven_lines), (5, Some(3)));
    // A line that was not finished.
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
    let log = Log::of(2);
    let early = log.check().expect("it is whole").head;
    log.add(3);
    let late = log.check().expect("it is whole").head;
    let expecting = |expect: &[&String]| {
        let expect = expect.iter().map(|head| (*head).clone()).collect();
        AuditFile::check(&log.path, CheckOptions { key: None, expect })
    };
    assert_eq!(expecting(&[&late, &early]).expect("both are there").expected, [5, 2]);
    assert!(matches!(expecting(&[&early, &"0".repeat(64)]), Err(AuditError::Unexpected { .. })));
    // All of it written anew, head and all, without a key.
    let lines = without_macs(&log.lines());
    std::fs::remove_file(log.head()).expect("it is there");
    log.set(&lines);
    assert_eq!(AuditFile::verify(&log.path).expect("the chain is whole").0, 5);
    assert!(matches!(expecting(&[&early]), Err(AuditError::Unexpected { .. })));
}

/// Who takes over the process has the key of the next line.
#[test]
fn who_takes_over_the_process_cannot_rewrite_what_is_written() {
    let log = Log::of(6);
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
        // And cut off there: of a shorter log the head cannot be made.
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

/// What is done to a log by somebody without the key.
#[derive(Clone, Debug)]
enum Change {
    Byte(usize, u8),
    Remove(usize),
    Exchange(usize, usize),
    Double(usize),
    Cut(usize),
    NoMacs(usize),
    Insert(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), 1_u8..=255).prop_map(|(at, by)| Change::Byte(at, by)),
        any::<usize>().prop_map(Change::Remove),
        (any::<usize>(), any::<usize>()).prop_map(|(one, other)| Change::Exchange(one, other)),
        any::<usize>().prop_map(Change::Double),
        any::<usize>().prop_map(Change::Cut),
        any::<usize>().prop_map(Change::NoMacs),
        any::<usize>().prop_map(Change::Insert),
    ]
}

fn changed(lines: &[String], change: &Change) -> Vec<u8> {
    let mut lines = lines.to_vec();
    let count = lines.len();
    match *change {
        Change::Byte(at, by) => {
            let mut bytes = lines.join("\n").into_bytes();
            bytes.push(b'\n');
            let at = at % bytes.len();
            bytes[at] ^= by;
            return bytes;
        }
        Change::Remove(at) => drop(lines.remove(at % count)),
        Change::Exchange(one, other) => lines.swap(one % count, other % count),
        Change::Double(at) => lines.insert(at % count, lines[at % count].clone()),
        Change::Cut(at) => lines.truncate(at % count),
        Change::NoMacs(at) => {
            let bare = without_macs(&lines);
            lines[at % count..].clone_from_slice(&bare[at % count..]);
        }
        Change::Insert(at) => lines.insert(at % count, without_macs(&lines)[0].clone()),
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
    fn every_change_without_the_key_shows(lines in 1_u64..8, change in change()) {
        let log = Log::of(lines);
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
