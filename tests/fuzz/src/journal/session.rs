//! Import of an exported session that was changed in between.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use arbitrary::{Arbitrary as _, Unstructured};
use tollhouse::session::{At, ImportBudget, ImportOptions, ImportedBudget, Point, SessionId, Sessions};
use tollhouse::store::{ArchiveWriter, BlobId, BlobSink as _, MemoryBlobs, Part, read_archive};

/// Archive of a session with two runs, calls, a denied call, budgets of both kinds, files and a label, as `session
/// export` wrote it.
const GENUINE: &[u8] = include_bytes!("session.tlh");

/// Largest archive that is read, in bytes.
const MOST: u64 = 1 << 20;

/// Largest number of changes to one session.
const CHANGES: usize = 8;

/// Record without the name of its session: kind, rest of the key, and value.
type Record = (u8, Vec<u8>, Vec<u8>);

/// Contents of an archive.
#[derive(Clone, PartialEq)]
struct Session {
    manifest: Vec<u8>,
    records: Vec<Record>,
    blobs: BTreeMap<BlobId, Vec<u8>>,
}

static KNOWN: LazyLock<Session> = LazyLock::new(|| Session::read(GENUINE));

/// Changes the records of a session as the data says, and imports the result. The session must be refused, or be
/// complete, readable in every view, and exported as it was imported. A changed log and a ledger whose sums are wrong
/// must be refused.
pub(super) fn session(data: &[u8]) {
    let mut session = KNOWN.clone();
    let mut choices = Unstructured::new(data);
    let mut mend = false;
    for _ in 0..CHANGES {
        if choices.is_empty() || change(&mut session, &mut choices, &mut mend).is_err() {
            break;
        }
    }
    if mend {
        session.mend();
    }
    let sessions = Sessions::in_memory();
    let options = ImportOptions { most: MOST, budget: Some(ImportBudget::Keep), ..ImportOptions::default() };
    let imported = match sessions.transfer().import(&session.write()[..], &options) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says something");
            assert!(session != *KNOWN, "nothing was changed: {error}");
            assert!(sessions.list().is_ok_and(|all| all.is_empty()), "what was refused is no session");
            return;
        }
    };
    let id = imported.session;
    sessions.verifier().verify_session(&id).expect("it was verified when it was imported");
    look(&sessions, &id);
    let (archive, _) = sessions.transfer().export(&id, Vec::new()).expect("it is whole");
    let mut again = Session::read(&archive);
    let mut session = session.clone();
    again.forget_names();
    session.forget_names();
    if imported.budget != ImportedBudget::None {
        again.forget_import(&session);
    }
    assert_eq!(again.sorted(), session.sorted(), "it is exported as it was imported");
    if again.of(b'H') == KNOWN.of(b'H') {
        assert_eq!(again.of(b'A'), KNOWN.of(b'A'), "its head names another log");
    }
}

/// Changes one part of the session.
fn change(session: &mut Session, choices: &mut Unstructured<'_>, mend: &mut bool) -> arbitrary::Result<()> {
    let at = choices.int_in_range(0..=session.records.len().saturating_sub(1))?;
    let Some((kind, key, value)) = session.records.get_mut(at) else { return Ok(()) };
    match choices.int_in_range(0..=8)? {
        0 => *mend = true,
        1 => drop(session.records.remove(at)),
        2 => {
            let other = choices.int_in_range(0..=session.records.len() - 1)?;
            session.records.swap(at, other);
        }
        3 => *kind = *choices.choose(b"SPMHRTLCEAKOX")?,
        4 => flip(key, choices)?,
        5 => flip(value, choices)?,
        6 => *value = Vec::arbitrary(choices)?,
        // A digit replaces a digit, so that numbers change and JSON stays valid.
        7 => {
            let digits: Vec<usize> = (0..value.len()).filter(|at| value[*at].is_ascii_digit()).collect();
            if !digits.is_empty() {
                value[*choices.choose(&digits)?] = choices.int_in_range(b'0'..=b'9')?;
            }
        }
        _ => {
            let again = session.records[at].clone();
            session.records.push(again);
        }
    }
    Ok(())
}

fn flip(bytes: &mut [u8], choices: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    if !bytes.is_empty() {
        let at = choices.choose_index(bytes.len())?;
        bytes[at] ^= u8::arbitrary(choices)?;
    }
    Ok(())
}

/// Reads everything that a session has.
fn look(sessions: &Sessions, id: &SessionId) {
    let shown = sessions.show(id).expect("it is whole");
    let runs = sessions.reader().runs(id).expect("it is whole");
    assert_eq!(runs.len() as u64, shown.head.runs + 1, "one record a run, and that of the beginning");
    sessions.reader().policy(id).expect("it is whole");
    sessions.reader().lock(id).expect("it is whole");
    sessions.reader().balances(id).expect("it is whole");
    let mut lines = 0;
    sessions.reader().log(id, &mut |_| lines += 1).expect("it is whole");
    assert_eq!(lines, shown.head.lines);
    let labels = sessions.reader().labels(id).expect("it is whole").into_iter().map(|(label, _)| At::Label(label));
    for at in labels.chain([At::Head]) {
        let files = sessions.reader().files(&Point { session: id.clone(), at }).expect("it is whole");
        for entry in files.read_directory("/workspace").unwrap_or_default() {
            let path = format!("/workspace/{}", entry.name);
            assert!(files.stat(&path, false).is_ok(), "{path} was listed");
        }
    }
}

impl Session {
    fn read(archive: &[u8]) -> Self {
        let mut session = Self { manifest: Vec::new(), records: Vec::new(), blobs: BTreeMap::new() };
        let read = read_archive(archive, MOST, |part| {
            match part {
                Part::Manifest(bytes) => session.manifest = bytes,
                Part::Record(_, bytes) => session.records.extend(records(&bytes)),
                Part::Blob(id, bytes) => drop(session.blobs.insert(id, bytes)),
            }
            Ok::<(), tollhouse::store::ArchiveError>(())
        });
        read.expect("it was exported");
        session
    }

    fn write(&self) -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Vec::new(), &self.manifest).expect("there is memory");
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("it is small").to_be_bytes();
        let pair = |(kind, key, value): &Record| [&[*kind][..], &length(key), &length(value), key, value].concat();
        let records: Vec<u8> = self.records.iter().flat_map(pair).collect();
        writer.record("00000000", &records).expect("there is memory");
        let memory = MemoryBlobs::default();
        for bytes in self.blobs.values() {
            (&memory).put(bytes.clone()).expect("there is memory");
        }
        writer.blobs(self.blobs.keys().copied(), &memory).expect("they are there");
        writer.finish().expect("there is memory")
    }

    /// Returns the records of a kind, in the order of their keys.
    fn of(&self, kind: u8) -> Vec<&Record> {
        self.sorted().0.into_iter().filter(|record| record.0 == kind).collect()
    }

    /// Returns the contents of a session in order. If two records have the same key, the later one counts.
    fn sorted(&self) -> (Vec<&Record>, &BTreeMap<BlobId, Vec<u8>>) {
        let ordered: BTreeMap<_, _> = self.records.iter().map(|record| ((record.0, &record.1), record)).collect();
        (ordered.into_values().collect(), &self.blobs)
    }

    /// Removes the values that an import creates: the random seed, and the name of the family.
    fn forget_names(&mut self) {
        for (_, _, value) in self.records.iter_mut().filter(|record| record.0 == b'S') {
            let Ok(mut created) = serde_json::from_slice::<serde_json::Value>(value) else { continue };
            for name in ["seed", "family"] {
                created.as_object_mut().and_then(|created| created.remove(name));
            }
            *value = created.to_string().into_bytes();
        }
    }

    /// Removes the records of an import: a line of the log, a record among the runs, and the head that names them.
    fn forget_import(&mut self, before: &Self) {
        for kind in [b'A', b'R'] {
            let last = self.of(kind).last().map(|record| (*record).clone());
            self.records.retain(|record| Some(record) != last.as_ref());
        }
        self.records.retain(|record| record.0 != b'H');
        self.records.extend(before.of(b'H').into_iter().cloned());
    }

    /// Repairs the chain of the log and the head, as an attacker would who knows the format.
    fn mend(&mut self) {
        let (mut lines, mut previous) = (0_u64, "0".repeat(64));
        for (_, _, value) in self.records.iter_mut().filter(|record| record.0 == b'A') {
            let Some(Ok(mut line)) = value.get(1..).map(serde_json::from_slice::<serde_json::Value>) else { continue };
            if !line.is_object() {
                continue;
            }
            lines += 1;
            line["n"] = lines.into();
            line["prev"] = previous.into();
            let text = line.to_string().into_bytes();
            previous = blake3::hash(&text).to_hex().to_string();
            *value = [&[0][..], &text].concat();
        }
        for (_, _, value) in self.records.iter_mut().filter(|record| record.0 == b'H') {
            let Ok(mut head) = serde_json::from_slice::<serde_json::Value>(value) else { continue };
            if head.is_object() {
                head["lines"] = lines.into();
                head["hash"] = previous.clone().into();
                *value = head.to_string().into_bytes();
            }
        }
    }
}

/// Parses the records in an entry of an archive.
fn records(mut entry: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some((kind, rest)) = entry.split_first() {
        let length = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().expect("four bytes"));
        let [key, value] = [length(0), length(4)].map(|length| usize::try_from(length).expect("it is small"));
        let (key, rest) = rest[8..].split_at(key);
        let (value, rest) = rest.split_at(value);
        records.push((*kind, key.to_vec(), value.to_vec()));
        entry = rest;
    }
    records
}
