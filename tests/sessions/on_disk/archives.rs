//! Archives whose hashes are right and whose records are not: refused, and nothing of them stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::error::ErrorKind;
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, ImportOptions, OpenOptions, RunOptions, SessionId, Sessions, Status};
use tollhouse::store::{
    ArchiveError, ArchiveWriter, BlobId, BlobSink, MemoryBlobs, MemoryStore, Part, Store, read_archive,
};
use tollhouse_tests::Home;

/// A session as it is in an archive.
#[derive(Clone)]
pub(crate) struct Archive {
    manifest: Vec<u8>,
    /// Kind, what follows the session's name in the key, and value.
    records: Vec<(u8, Vec<u8>, Vec<u8>)>,
    blobs: BTreeMap<BlobId, Vec<u8>>,
}

impl Archive {
    pub(crate) fn read(file: &[u8]) -> Self {
        let mut archive = Self { manifest: Vec::new(), records: Vec::new(), blobs: BTreeMap::new() };
        read_archive(file, u64::MAX, |part| {
            match part {
                Part::Manifest(bytes) => archive.manifest = bytes,
                Part::Record(_, bytes) => archive.take(&bytes),
                Part::Blob(id, bytes) => drop(archive.blobs.insert(id, bytes)),
            }
            Ok::<_, ArchiveError>(())
        })
        .expect("it was just written");
        archive
    }

    fn take(&mut self, mut entry: &[u8]) {
        while let [kind, a, b, c, d, e, f, g, h, rest @ ..] = entry {
            let length = |bytes| usize::try_from(u32::from_be_bytes(bytes)).expect("it is small");
            let (name, rest) = rest.split_at(length([*a, *b, *c, *d]));
            let (value, rest) = rest.split_at(length([*e, *f, *g, *h]));
            self.records.push((*kind, name.to_vec(), value.to_vec()));
            entry = rest;
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut entry = Vec::new();
        for (kind, name, value) in &self.records {
            entry.push(*kind);
            for length in [name.len(), value.len()] {
                entry.extend(u32::try_from(length).expect("it is small").to_be_bytes());
            }
            entry.extend(name);
            entry.extend(value);
        }
        self.write_entry(&entry)
    }

    fn write_entry(&self, entry: &[u8]) -> Vec<u8> {
        let source = MemoryBlobs::default();
        for bytes in self.blobs.values() {
            (&source).put(bytes.clone()).expect("it is in memory");
        }
        let mut writer = ArchiveWriter::new(Vec::new(), &self.manifest).expect("it is in memory");
        writer.record("00000000", entry).expect("it is in memory");
        writer.blobs(self.blobs.keys().copied(), &source).expect("they are there");
        writer.finish().expect("it is in memory")
    }

    /// The records of a kind.
    fn of(&mut self, kind: u8) -> Vec<&mut (u8, Vec<u8>, Vec<u8>)> {
        self.records.iter_mut().filter(|record| record.0 == kind).collect()
    }

    /// Replaces the only occurrence of a text in the records of a kind, which are not in blobs.
    pub(crate) fn replace_text(&mut self, kind: u8, old: &str, new: &str) {
        let mut found = 0;
        for (_, _, value) in self.of(kind) {
            let text = String::from_utf8(std::mem::take(value)).expect("it is text");
            found += text.matches(old).count();
            *value = text.replace(old, new).into_bytes();
        }
        assert_eq!(found, 1, "`{old}`");
    }

    /// Changes the JSON of the last record of a kind; of one that may be in a blob, behind the byte that says so.
    fn json(&mut self, kind: u8, change: impl FnOnce(&mut Value)) {
        let skip = usize::from(b"PMLCEAK".contains(&kind));
        let record = self.of(kind).pop().expect("there is one");
        let mut value = serde_json::from_slice(&record.2[skip..]).expect("it is JSON");
        change(&mut value);
        record.2.truncate(skip);
        record.2.extend(serde_json::to_vec(&value).expect("it is JSON"));
    }

    /// Gives the last record of a kind a state.
    fn state(&mut self, kind: u8, language: &str, state: &[u8]) {
        let blob = BlobId::of(state);
        self.blobs.insert(blob, state.to_vec());
        self.json(kind, |record| record["states"][language] = json!(blob));
    }

    /// Gives a blob other bytes, and all that name it its new name.
    fn replace(&mut self, old: BlobId, bytes: Vec<u8>) {
        let new = BlobId::of(&bytes);
        self.blobs.remove(&old);
        self.blobs.insert(new, bytes);
        let names = |bytes: &[u8]| bytes.windows(32).any(|window| window == old.as_bytes());
        while let Some((id, bytes)) = self.blobs.iter().find(|(id, bytes)| **id != new && names(bytes)) {
            let at = bytes.windows(32).position(|window| window == old.as_bytes()).expect("it was just seen");
            let (id, mut bytes) = (*id, bytes.clone());
            bytes[at..at + 32].copy_from_slice(new.as_bytes());
            self.replace(id, bytes);
        }
        for (_, _, value) in &mut self.records {
            if let Ok(text) = std::str::from_utf8(value) {
                *value = text.replace(&old.to_string(), &new.to_string()).into_bytes();
            }
        }
    }

    /// Makes the files of each run a directory in which the same directory is twice, and so on, so deep.
    fn multiply(&mut self, depth: u32) {
        let directory = [b"D", &number(0o755)[..], &[0; 8]].concat();
        let mut page = [b"TH\x01P\x01\x01fL", &number(0o644)[..], &[0; 8], b"\x01x"].concat();
        let (mut entries, mut all, mut reach) = (1, 1, (1, 2));
        let mut claimed = |page: Vec<u8>, (entries, all, bytes, levels, longest)| {
            let id = BlobId::of(&page);
            self.blobs.insert(id, page);
            let sums: Vec<u8> = [entries, all, bytes, levels, longest].into_iter().flat_map(number).collect();
            [&sums, &id.as_bytes()[..]].concat()
        };
        let mut bytes = 1;
        for _ in 0..depth {
            let below = claimed(page, (entries, all, bytes, reach.0, reach.1));
            page = [b"TH\x01P\x02\x01a", &directory[..], &below, b"\x01b", &directory, &below].concat();
            (entries, all, bytes, reach) = (2, 2 * all + 2, 2 * bytes, (reach.0 + 1, reach.1 + 2));
        }
        let root = claimed(page, (entries, all, bytes, reach.0, reach.1));
        let snapshot = [b"TH\x01S\0", &number(0o755)[..], &[0; 8], &root].concat();
        let id = BlobId::of(&snapshot);
        self.blobs.insert(id, snapshot);
        for (kind, _, value) in &mut self.records {
            let mut record: Value = match kind {
                b'R' | b'H' => serde_json::from_slice(value).expect("it is JSON"),
                _ => continue,
            };
            if *kind == b'H' {
                (record["bytes"], record["entries"]) = (json!(bytes), json!(all));
            } else {
                record["base"] = json!(id);
            }
            record["snapshot"] = json!(id);
            *value = serde_json::to_vec(&record).expect("it is JSON");
        }
    }

    fn label(&mut self, name: &[u8], run: u64) {
        self.records.push((b'T', [&[0], name].concat(), run.to_be_bytes().to_vec()));
    }
}

/// A number as it stands in a node blob: LEB128.
fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A session with files, calls, budgets, labels and what a tool has stored.
fn exported() -> Archive {
    let home = Home::with_tools(&["stats", "kv"]);
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let host = Host::new(&options).expect("the engines start");
    let sessions = Sessions::in_memory();
    let id: SessionId = "s".parse().expect("a name");
    let policy = "[[grant]]\nname = 'sums'\nmethod = 'stats/*'\nspend = { param = 'values/0', limit = 100 }\n\
        [[grant]]\nmethod = 'kv/**'\n[tool.kv]\nkeyvalue = ['default']";
    let policy = Policy::parse(policy).expect("it is one");
    for n in 1..=2 {
        let session = host.open(&sessions, &id, OpenOptions { policy: Some(policy.clone()), ..OpenOptions::default() });
        let source = format!(
            "await fs.writeFile('/workspace/a', '{n}'.repeat(300000)); await stats.describe({{values: [{n}]}});
             await kv.set({{key: 'k', value: 'v'}})"
        );
        let script = Script { source, ..Script::default() };
        let run = session.expect("it opens").start(Language::JavaScript, script, RunOptions::default());
        let result = run.expect("it starts").finish();
        assert_eq!(result.status, Status::Completed, "{result:?}");
    }
    sessions.label(&id, "good", Some(1)).expect("there is run 1");
    Archive::read(&sessions.transfer().export(&id, Vec::new()).expect("it is written").0)
}

/// Returns the error of an import, with its causes; checks that nothing of a refused import stays.
fn refused(file: &[u8]) -> Result<(), String> {
    let (records, directory) = (Arc::<MemoryStore>::default(), tempfile::tempdir().expect("a directory"));
    let blobs = Arc::<MemoryBlobs>::default();
    let sessions = Sessions::new(Arc::clone(&records) as Arc<dyn Store>, blobs, directory.path());
    let Err(error) = sessions.transfer().import(file, &ImportOptions::default()) else {
        assert_eq!(sessions.list().expect("it is read").len(), 1);
        return Ok(());
    };
    assert_eq!(records.scan(b"", None, usize::MAX).expect("it is read"), [], "nothing stays: {error}");
    let error: &dyn std::error::Error = &error;
    let causes = std::iter::successors(Some(error), |error| error.source());
    Err(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
}

#[test]
fn export_does_not_tell_random_numbers() {
    let (host, sessions) = (Host::new(&HostOptions::default()).expect("the engines start"), Sessions::in_memory());
    let drawn = |name: &str| {
        let id: SessionId = name.parse().expect("a name");
        let session = host.open(&sessions, &id, OpenOptions::default()).expect("it opens");
        let script = Script { source: "return Math.random()".to_owned(), ..Script::default() };
        let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
        run.finish().value.expect("a number")
    };
    drawn("origin");
    let id: SessionId = "origin".parse().expect("a name");
    let file = sessions.transfer().export(&id, Vec::new()).expect("it is written").0;
    let mut next = vec![drawn("origin")];
    for name in ["one", "two"] {
        let options = ImportOptions { name: Some(name.parse().expect("a name")), ..ImportOptions::default() };
        sessions.transfer().import(&file[..], &options).expect("it is read");
        next.push(drawn(name));
    }
    assert!(next[0] != next[1] && next[0] != next[2] && next[1] != next[2], "{next:?}");
    // What the file has is not drawn from either: of two exports, none has the other's.
    let seed = |file: &[u8]| {
        let archive = Archive::read(file);
        archive.records.iter().find(|record| record.0 == b'S').map(|record| record.2.clone()).expect("it is there")
    };
    let again = sessions.transfer().export(&id, Vec::new()).expect("it is written").0;
    assert_ne!(seed(&file), seed(&again));
}

/// Changed archive: its name, the change, and a part of the error.
type Crafted = (&'static str, fn(&mut Archive), &'static str);

const HEADS: &[Crafted] = &[
    (
        "files that another run left",
        |archive| archive.json(b'H', |head| head["left_by"] = json!(1)),
        "differ from those that run 1 left",
    ),
    (
        "a run that there was not",
        |archive| archive.json(b'H', |head| head["left_by"] = json!(7)),
        "run 7 has no record",
    ),
    ("one run more", |archive| archive.json(b'H', |head| head["runs"] = json!(3)), "the number of its runs is wrong"),
    ("one run less", |archive| archive.json(b'H', |head| head["runs"] = json!(1)), "the number of its runs is wrong"),
    ("fewer than none", |archive| archive.json(b'H', |head| head["runs"] = json!(-1)), "its head: invalid value"),
    (
        "more than there can be",
        |archive| archive.json(b'H', |head| head["runs"] = json!(1e30)),
        "its head: invalid type",
    ),
    (
        "all that there can be",
        |archive| archive.json(b'H', |head| head["runs"] = json!(u64::MAX)),
        "the number of its runs is wrong",
    ),
    (
        "commits",
        |archive| archive.json(b'H', |head| head["commits"] = json!(u64::MAX)),
        "the number of its commits is too large",
    ),
    (
        "one line less",
        |archive| archive.json(b'H', |head| head["lines"] = json!(1)),
        "the number of lines in its log is wrong",
    ),
    ("another line", |archive| archive.json(b'H', |head| head["hash"] = json!("00".repeat(32))), "its log was altered"),
    (
        "bytes",
        |archive| archive.json(b'H', |head| head["bytes"] = json!(1)),
        "the number or the size of its files is wrong",
    ),
    (
        "entries",
        |archive| archive.json(b'H', |head| head["entries"] = json!(u64::MAX)),
        "the number or the size of its files is wrong",
    ),
    (
        "a run of another",
        |archive| archive.json(b'H', |head| head["running"] = json!([9])),
        "its list of active runs names other runs",
    ),
    (
        "a run twice",
        |archive| archive.json(b'H', |head| head["running"] = json!([2, 2])),
        "its list of active runs names other runs",
    ),
    (
        "a run that waits, and has no journal",
        |archive| archive.json(b'H', |head| head["unfinished"] = json!(1)),
        "has no journal",
    ),
    ("a snapshot that is none", |archive| archive.json(b'H', |head| head["snapshot"] = json!("x")), "its head"),
];

const RUNS: &[Crafted] = &[
    ("a status", |archive| archive.json(b'R', |run| run["status"] = json!("\u{1b}[2J")), "a run: invalid status"),
    (
        "another beginning",
        |archive| archive.json(b'R', |run| run["status"] = json!("created")),
        "run 2 has an invalid status",
    ),
    ("a script", |archive| archive.json(b'R', |run| run["script"] = json!("\u{1b}[31m")), "run 2 has an invalid text"),
    (
        "an error",
        |archive| archive.json(b'R', |run| run["error"] = json!("x".repeat(3000))),
        "run 2 has an invalid text",
    ),
    ("a hash", |archive| archive.json(b'R', |run| run["hash"] = json!("../x")), "run 2 has an invalid hash"),
    ("a time", |archive| archive.json(b'R', |run| run["started"] = json!(-5)), "a run: invalid value"),
    (
        "a gap",
        |archive| archive.records.retain(|(kind, name, _)| *kind != b'R' || !name.ends_with(&[1])),
        "run 1 has no record",
    ),
    ("a longer key", |archive| archive.of(b'R')[2].1.insert(1, 0), "run 2 has no record"),
    ("a label", |archive| archive.label(b"good\x1b[31m", 1), "is not a label"),
    ("no label", |archive| archive.label(b"", 1), "is not a label"),
    ("a number", |archive| archive.label(b"12", 1), "is not a label"),
    ("a long label", |archive| archive.label(&[b'x'; 65], 1), "is not a label"),
    ("a longer one", |archive| archive.label(&[b'x'; 3000], 1), "is too large"),
    ("a label of no run", |archive| archive.label(b"far", 9), "run 9 has no record"),
    ("a label of no number", |archive| archive.of(b'T')[0].2 = vec![1], "names no files"),
];

const LEDGER: &[Crafted] = &[
    ("a call more", |archive| archive.json(b'L', |balance| balance["calls"] = json!(7)), "not the sums"),
    ("less than nothing", |archive| archive.json(b'L', |balance| balance["spend"] = json!("-1")), "a balance"),
    ("another account", |archive| archive.json(b'L', |balance| balance["account"] = json!("x")), "a balance"),
    ("a short key", |archive| archive.of(b'L')[0].1.truncate(9), "a balance"),
    (
        "an entry less",
        |archive| archive.records.retain(|(kind, name, _)| *kind != b'E' || name[8] != 1),
        "not the sums",
    ),
    (
        "an amount",
        |archive| {
            let entries = archive.records.iter().position(|(kind, _, _)| *kind == b'E').expect("there is one");
            let text = String::from_utf8_lossy(&archive.records[entries].2).replace("\"1000000\"", "\"-1000000\"");
            archive.records[entries].2 = text.into_bytes();
        },
        "an amount in its ledger",
    ),
    ("an outcome", |archive| archive.json(b'E', |entry| entry["outcome"] = json!("free")), "an entry of its ledger"),
    ("a key of a call", |archive| archive.of(b'E')[0].1.truncate(9), "the key of an entry"),
    ("a call of no run", |archive| archive.of(b'E').pop().expect("one").1[8] = 99, "a run that does not exist"),
    (
        "a log",
        |archive| {
            let line = archive.of(b'A').remove(1);
            line.2 = String::from_utf8_lossy(&line.2).replace("stats/describe", "stats/quantiles").into_bytes();
        },
        "its log was altered",
    ),
    (
        "a line twice",
        |archive| {
            let line = archive.of(b'A').pop().expect("one").clone();
            archive.records.push((line.0, [&line.1[..8], &[line.1[8] + 1]].concat(), line.2))
        },
        "is wrong",
    ),
    ("an entry of no key", |archive| archive.of(b'K')[0].1.truncate(1), "an entry of `wasi:keyvalue`"),
];

const REST: &[Crafted] = &[
    ("a seed", |archive| archive.json(b'S', |first| first["seed"] = json!("x")), "its seed"),
    (
        "an origin",
        |archive| archive.json(b'S', |first| first["from"] = json!({ "session": "../x", "run": 1 })),
        "is not a session name",
    ),
    ("a policy", |archive| archive.json(b'P', |policy| policy["grants"] = json!(true)), "the policy"),
    ("a lock", |archive| archive.json(b'M', |lock| *lock = json!([])), "the lock"),
    ("no head", |archive| archive.records.retain(|record| record.0 != b'H'), "it has no head"),
    ("no first record", |archive| archive.records.retain(|record| record.0 != b'S'), "there is no session"),
    ("an epoch", |archive| archive.records.push((b'O', Vec::new(), vec![0; 8])), "its records in the archive"),
    ("a mark", |archive| archive.records.push((b'X', Vec::new(), Vec::new())), "its records in the archive"),
    ("another kind", |archive| archive.records.push((b'Z', Vec::new(), Vec::new())), "its records in the archive"),
    (
        "another session",
        |archive| archive.records.push((b'S', b"2".to_vec(), Vec::new())),
        "its records in the archive",
    ),
    ("a record of another session", |archive| archive.of(b'R')[0].1.insert(0, b'2'), "its records in the archive"),
    ("a long value", |archive| archive.of(b'K')[0].2 = vec![0; 5000], "is too large"),
    ("a value that is neither here nor there", |archive| archive.of(b'K')[0].2 = vec![2], "a record"),
    (
        "a file for a directory",
        |archive| {
            let file =
                archive.blobs.iter().find(|(_, bytes)| bytes.starts_with(b"111")).expect("a chunk").0.to_string();
            archive.json(b'R', |run| run["base"] = json!(file));
        },
        "is not part of a snapshot",
    ),
    (
        "a part of a file that is longer",
        |archive| {
            let (id, bytes) = archive.blobs.iter().find(|(_, bytes)| bytes.starts_with(b"111")).expect("a chunk");
            let (id, bytes) = (*id, [&bytes[..], b"1"].concat());
            archive.replace(id, bytes);
        },
        "not what is claimed where it is named",
    ),
    ("more files than any session has", |archive| archive.multiply(20), "a session has at most 250000"),
    (
        "more files, before they are gone through",
        |archive| {
            archive.multiply(20);
            archive.blobs.retain(|_, bytes| !bytes.starts_with(b"TH\x01P\x01\x01fL"));
        },
        "a session has at most 250000",
    ),
    ("more bytes than are taken", |archive| archive.multiply(40), "holds more than"),
    ("a state that no run left", |archive| archive.state(b'H', "js", b"{}"), "its state differs from that of run 2"),
    (
        "a state of an unknown language",
        |archive| {
            archive.state(b'R', "cobol", b"");
            archive.state(b'H', "cobol", b"");
        },
        "a state of an unknown language",
    ),
    ("a blob that is missing", |archive| drop(archive.blobs.pop_first()), "is missing"),
];

#[test]
fn session_archive_that_is_inconsistent_is_refused() {
    let archive = exported();
    assert_eq!(refused(&archive.write()), Ok(()), "as it was written it is whole");
    let mut wrong = Vec::new();
    for (what, change, expected) in [HEADS, RUNS, LEDGER, REST].concat() {
        let mut crafted = archive.clone();
        change(&mut crafted);
        let told = refused(&crafted.write()).expect_err(what);
        if !told.contains(expected) {
            wrong.push(format!("{what}: {told}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The twin of what is refused: the same directory many times over is files as any others.
#[test]
fn directory_found_many_times_is_read_within_the_limits_of_a_session() {
    let mut archive = exported();
    archive.multiply(10);
    assert_eq!(refused(&archive.write()), Ok(()));
}

#[test]
fn session_state_that_is_malformed_harms_only_runs_that_use_it() {
    let host = Host::new(&HostOptions::default()).expect("the engines start");
    let (sessions, id) = (Sessions::in_memory(), "s".parse::<SessionId>().expect("a name"));
    host.open(&sessions, &id, OpenOptions::default()).expect("it is made");
    let archive = Archive::read(&sessions.transfer().export(&id, Vec::new()).expect("it is written").0);
    let mut unreadable = 0;
    let deep = "[".repeat(1 << 20);
    let states: [&[u8]; 11] = [
        b"x",
        b"\xff",
        b"[2,1,[]]",
        b"null",
        br#"[1,["r",0],[["Object","a",["r",9]]]"#,
        br#"[1,["r",0],[["Proxy"]]]"#,
        br#"[1,["r",0],[["Array",1e9,"0",1]]"#,
        br#"[1,["r",0],[["TypedArray","Int32Array","AAA="]]]"#,
        br#"[1,["b","x"],[]]"#,
        br#"{"env":{},"variables":{},"functions":{"f":{"source":"f() { "}}}"#,
        deep.as_bytes(),
    ];
    for state in states {
        let mut crafted = archive.clone();
        for language in ["js", "sh"] {
            crafted.state(b'R', language, state);
            crafted.state(b'H', language, state);
        }
        let sessions = Sessions::in_memory();
        sessions
            .transfer()
            .import(crafted.write().as_slice(), &ImportOptions::default())
            .expect("its hashes are right");
        for (language, source) in [(Language::JavaScript, "return 1"), (Language::Shell, "echo 1")] {
            let run = |keep_state| {
                let session = host.open(&sessions, &id, OpenOptions::default()).expect("it opens");
                let script = Script { source: source.to_owned(), ..Script::default() };
                let options = RunOptions { keep_state, ..RunOptions::default() };
                session.start(language, script, options).expect("it starts").finish()
            };
            let found = run(true);
            if let Some(error) = found.error {
                let told = error.message.contains("earlier script left cannot be read");
                assert!(told || error.kind == ErrorKind::Limit, "{error:?}");
                unreadable += 1;
            }
            assert_eq!(run(false).status, Status::Completed);
        }
    }
    assert!(unreadable > states.len(), "some make sense: {unreadable}");
}

#[test]
fn archive_with_false_record_lengths_is_refused() {
    let archive = exported();
    for entry in
        [&b"S"[..], b"S\0\0\0\0", b"S\0\0\0\0\xff\xff\xff\xff{}", b"S\xff\xff\xff\xff\xff\xff\xff\xff", &[0; 9]]
    {
        let told = refused(&archive.write_entry(entry)).expect_err("it is cut short");
        assert!(told.contains("its records in the archive"), "{told}");
    }
}
