//! File of a receipt: an archive with the statement that is signed, and the records and files that it names by their
//! digests. `docs/formats/receipt.md` describes it.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tollhouse_types::json::{self, JsonError};
use tollhouse_types::key::{PrivateKey, PublicKey};

use super::{ReceiptError, VerifyOptions};
use crate::capability::Policy;
use crate::gate::SignedSession;
use crate::session::SessionId;
use crate::session::host::file_limits;
use crate::session::journal;
use crate::session::persistence::{Balance, LogPosition, RecordedRun, RunRecord};
use crate::session::saved_session::{check_files, referenced_blobs};
use crate::store::{ArchiveWriter, BlobSource, Blobs as _, MemoryBlobs, Part, read_archive};
use crate::tool::Lock;
use crate::vfs::{SnapshotId, Tree};

/// Format of a receipt.
const FORMAT: &str = "tollhouse receipt 1";

/// Purpose of the signature.
const PURPOSE: &str = "tollhouse receipt, version 1";

/// Most bytes of a record: longer ones are in several.
const MAX_RECORD: usize = 8 << 20;

/// Most bytes of a journal, or of the lines of a log: as values they take many times the memory.
const MAX_JOURNAL: usize = 64 << 20;

/// Most bytes of the record that has the signature.
const MAX_SIGNATURE: usize = 4 << 10;

/// Names of the records, each in numbered parts.
const RECORDS: [&str; 3] = ["journal", "log", "state"];

/// Name of the record that has the signature.
const SIGNATURE: &str = "signature";

/// What a receipt states about a run. The signature is of its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Statement {
    format: String,
    /// Version of Tollhouse that wrote it.
    tollhouse: String,
    /// Name of the session, and digest of its origin.
    pub(super) session: String,
    origin: String,
    /// Number of the run.
    pub(super) run: u64,
    /// Record of the run: times, status, snapshots of the files.
    pub(super) record: RunRecord,
    /// What the script returned.
    pub(super) outcome: Outcome,
    policy: Json,
    lock: Lock,
    /// Amounts that had been spent before the run.
    spent: Vec<Balance>,
    /// Seeds of the random numbers of calls that may be repeated, in hexadecimal.
    seeds: BTreeMap<u64, String>,
    before: LogPosition,
    /// blake3 of each record of the archive, in hexadecimal.
    records: BTreeMap<String, String>,
}

/// What a script returned and wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) value: Option<Json>,
    pub(super) exit_code: u8,
    /// Error with which the script ended: kind, name and message.
    pub(super) error: Option<(String, String, String)>,
    /// blake3 of standard output and of standard error, in hexadecimal.
    pub(super) output: [String; 2],
}

/// Signature of a receipt.
#[derive(Serialize, Deserialize)]
struct Signature {
    key: PublicKey,
    /// Ed25519 signature of the statement, in base64.
    signature: String,
}

/// Writes the receipt of a run.
pub(super) fn write<W: Write>(
    run: &RecordedRun,
    outcome: Outcome,
    source: &dyn BlobSource,
    key: &PrivateKey,
    to: W,
) -> Result<W, ReceiptError> {
    let mut records = BTreeMap::new();
    let journal: Vec<u8> = run.journal.iter().flat_map(journal::encode).collect();
    let log: Vec<u8> = run.log.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
    if journal.len().max(log.len()) > MAX_JOURNAL {
        return Err(ReceiptError::TooLong);
    }
    for (name, bytes) in RECORDS.into_iter().zip([&journal, &log, &run.state]) {
        for (index, chunk) in bytes.chunks(MAX_RECORD).enumerate() {
            records.insert(format!("{name}/{index:04}"), chunk);
        }
    }
    let digest = |bytes: &[u8]| blake3::hash(bytes).to_string();
    let mut spent: Vec<Balance> = run.spent.iter().map(|(account, used)| Balance::of(account, *used)).collect();
    spent.sort_by(|one, other| one.account.cmp(&other.account));
    let statement = Statement {
        format: FORMAT.to_owned(),
        tollhouse: env!("CARGO_PKG_VERSION").to_owned(),
        session: run.session.name.clone(),
        origin: run.session.origin.clone(),
        run: run.number,
        record: run.record.clone(),
        outcome,
        policy: run.policy.to_json(),
        lock: run.lock.clone(),
        spent,
        seeds: run.seeds.iter().map(|(seq, seed)| (*seq, blake3::Hash::from(*seed).to_string())).collect(),
        before: run.before.clone(),
        records: records.iter().map(|(name, bytes)| (name.clone(), digest(bytes))).collect(),
    };
    let text = serde_json::to_string(&statement).expect("it is plain data");
    let signature = Signature { key: key.public(), signature: STANDARD.encode(key.sign(PURPOSE, &text)) };
    let signature = serde_json::to_vec(&signature).expect("it is plain data");
    records.insert(SIGNATURE.to_owned(), &signature);
    let mut archive = ArchiveWriter::new(to, text.as_bytes())?;
    for (name, bytes) in records {
        archive.record(&name, bytes)?;
    }
    archive.blobs(referenced_blobs(run.record.base, source)?, source)?;
    Ok(archive.finish()?)
}

/// Receipt as its file has it.
pub(super) struct ReadReceipt {
    pub(super) statement: Statement,
    pub(super) run: RecordedRun,
    /// Key that has signed the statement.
    pub(super) key: PublicKey,
}

/// Reads a receipt, and checks its signature, digests and form. Before the signature is checked, nothing is parsed but it.
pub(super) fn read<R: Read>(from: R, options: &VerifyOptions) -> Result<ReadReceipt, ReceiptError> {
    let blobs = Arc::new(MemoryBlobs::default());
    let (mut text, mut records) = (None, BTreeMap::new());
    let mut upload = blobs.begin()?;
    read_archive(from, options.size, |part| -> Result<(), ReceiptError> {
        match part {
            Part::Manifest(bytes) => text = String::from_utf8(bytes).ok(),
            Part::Record(name, bytes) => drop(records.insert(name, bytes)),
            Part::Blob(_, bytes) => drop(upload.put(bytes)?),
        }
        Ok(())
    })?;
    drop(upload);
    let text = text.ok_or(ReceiptError::NoReceipt)?;
    let key = signer(&text, &records.remove(SIGNATURE).ok_or(ReceiptError::Signature)?)?;
    if options.signers.as_ref().is_some_and(|signers| !signers.contains(&key)) {
        return Err(ReceiptError::Signer(key));
    }
    let mut memory = ParsedMemory { left: options.memory, most: options.memory };
    let statement = memory.parse(text.as_bytes()).map_err(|error| error.unwrap_or(ReceiptError::NoReceipt))?;
    let statement: Statement = serde_json::from_value(statement).map_err(|_| ReceiptError::NoReceipt)?;
    if statement.format != FORMAT || statement.session.parse::<SessionId>().is_err() {
        return Err(ReceiptError::NoReceipt);
    }
    if !statement.record.status.is_final() {
        return Err(ReceiptError::Altered("its run has not ended"));
    }
    if !records.keys().all(|name| RECORDS.contains(&name.split('/').next().unwrap_or_default())) {
        return Err(ReceiptError::Altered("it has records that receipts do not have"));
    }
    let digests = records.iter().map(|(name, bytes)| (name.clone(), blake3::hash(bytes).to_string()));
    if digests.collect::<BTreeMap<_, _>>() != statement.records {
        return Err(ReceiptError::Altered("its records are not those that were signed"));
    }
    let run = run_of(&statement, &records, blobs, options.size, &mut memory)?;
    Ok(ReadReceipt { statement, run, key })
}

/// Returns the key that has signed a statement.
///
/// # Errors
/// If none has.
fn signer(text: &str, signature: &[u8]) -> Result<PublicKey, ReceiptError> {
    if signature.len() > MAX_SIGNATURE {
        return Err(ReceiptError::Signature);
    }
    let signature: Signature = serde_json::from_slice(signature).map_err(|_| ReceiptError::Signature)?;
    let signed = STANDARD.decode(&signature.signature).unwrap_or_default();
    let is_signed = signature.key.has_signed(PURPOSE, text, &signed);
    is_signed.then_some(signature.key).ok_or(ReceiptError::Signature)
}

/// Memory that values of a receipt may take: short texts can be large values.
struct ParsedMemory {
    left: u64,
    most: u64,
}

impl ParsedMemory {
    /// Parses a text, and counts what its value takes.
    ///
    /// # Errors
    /// If it takes too much; `None` if it is not JSON.
    fn parse(&mut self, text: &[u8]) -> Result<Json, Option<ReceiptError>> {
        let text = std::str::from_utf8(text).map_err(|_| None)?;
        let value = json::parse(text, self.left).map_err(|error| match error {
            JsonError::TooLarge(_) => Some(ReceiptError::TooLarge(self.most)),
            JsonError::Malformed(_) => None,
        })?;
        self.left = self.left.saturating_sub(json::weight(&value));
        Ok(value)
    }

    /// Checks that the values of lines take no more than is left.
    fn check_lines(&mut self, lines: &[u8]) -> Result<(), ReceiptError> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // What is refused here, for a reason that other readers do not have, would be read by them without a bound.
            let unreadable = ReceiptError::Altered("a line of its journal or its log is not JSON");
            self.parse(line).map_err(|error| error.unwrap_or(unreadable))?;
        }
        Ok(())
    }
}

/// Returns the run that a statement is about.
fn run_of(
    statement: &Statement,
    records: &BTreeMap<String, Vec<u8>>,
    blobs: Arc<MemoryBlobs>,
    most: u64,
    memory: &mut ParsedMemory,
) -> Result<RecordedRun, ReceiptError> {
    let joined = |name: &str| -> Vec<u8> {
        let of_name = records.iter().filter(|(record, _)| record.split('/').next() == Some(name));
        of_name.flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    };
    let policy = Policy::parse_json(&statement.policy.to_string());
    let policy = policy.map_err(|_| ReceiptError::Altered("its policy cannot be read"))?;
    let base: SnapshotId = statement.record.base;
    if referenced_blobs(base, &*blobs)?.len() != blobs.len() {
        return Err(ReceiptError::Altered("it has files that the run did not start with"));
    }
    // A directory can be named many times: no more is read than the receipt may have.
    let mut limits = file_limits(&policy.limits);
    limits.bytes = limits.bytes.min(most);
    let files = Tree::open(base, blobs, limits)?;
    check_files(&files, limits)?;
    let spent = statement.spent.iter().map(|balance| Some((balance.account.clone(), balance.used()?)));
    let spent = spent.collect::<Option<HashMap<_, _>>>();
    let seed = |(seq, seed): (&u64, &String)| Some((*seq, *blake3::Hash::from_hex(seed).ok()?.as_bytes()));
    let seeds = statement.seeds.iter().map(seed).collect::<Option<HashMap<_, _>>>();
    let (Some(spent), Some(seeds)) = (spent, seeds) else {
        return Err(ReceiptError::Altered("its amounts or seeds cannot be read"));
    };
    let (entries, log) = (joined("journal"), joined("log"));
    if entries.len().max(log.len()) > MAX_JOURNAL {
        return Err(ReceiptError::TooLong);
    }
    memory.check_lines(&entries)?;
    memory.check_lines(&log)?;
    Ok(RecordedRun {
        session: SignedSession { name: statement.session.clone(), origin: statement.origin.clone() },
        number: statement.run,
        record: statement.record.clone(),
        policy,
        lock: statement.lock.clone(),
        journal: journal::decode(&entries.into())?,
        before: statement.before.clone(),
        log: log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect(),
        spent,
        files,
        state: joined("state"),
        seeds,
    })
}
