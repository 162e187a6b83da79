//! Export of a session to one file, from which another store can import it.
//!
//! The archive's records are entries of pairs, each a key without the session's name and a value: the kind (one byte),
//! the lengths of the rest of the key and of the value (four bytes each, big-endian), and both.

use std::collections::BTreeSet;
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::gc_roots::{ReachedBlobs, roots_of};
use super::hand_over::HandOver;
use super::record::Balance;
use super::record::Head;
use super::record_reader::parse_record;
use super::session_log::json;
use super::shared_budgets::FamilyId;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::store::{ArchiveWriter, BlobId, Record};

/// Format name in the first entry.
const FORMAT: &str = "tollhouse session 1";

/// Approximate number of bytes of records in one entry.
const ENTRY: usize = 1 << 20;

/// The first entry of an archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exported {
    format: String,
    /// Name of the session in the exporting store.
    pub session: SessionId,
    /// Number of blobs in the archive.
    pub blobs: u64,
    /// Spent amounts of the budgets that the session shares with others. If empty, its own balances have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) spent: Vec<Balance>,
    /// Hand-over, if the archive moves the session: then it has the journal of the unfinished run, and the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand_over: Option<HandOver>,
}

impl Exported {
    /// Parses the first entry of an archive.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, SessionsError> {
        let read = serde_json::from_slice(bytes).ok();
        let is_id = |hand_over: &HandOver| blake3::Hash::from_hex(&hand_over.id).is_ok();
        read.filter(|exported: &Self| exported.format == FORMAT && exported.hand_over.as_ref().is_none_or(is_id))
            .ok_or(SessionsError::NoArchive)
    }
}

/// Writes the export of a session whose lock is held.
pub(super) fn write_export<W: Write>(
    sessions: &Sessions,
    id: &SessionId,
    to: W,
    hand_over: Option<HandOver>,
) -> Result<(W, Exported), SessionsError> {
    // Before the lock, another process could remove the session and create one of the same name.
    let created = sessions.record_reader().created(id)?;
    let is_moved = hand_over.is_some();
    // A copy cannot continue a run: a run is resumed only once.
    let is_part = |kind: u8| !record_key::OF_STORE.contains(&kind) && (is_moved || kind != b'J');
    let mut reached = ReachedBlobs::default();
    sessions.record_reader().records_of(id, |record| {
        let is_part = record.0.first().copied().is_some_and(is_part);
        if is_part { sessions.blob_references().reach(roots_of(id, &record)?, &mut reached) } else { Ok(()) }
    })?;
    let spent = shared_spent(sessions, id)?;
    let (format, blobs) = (FORMAT.to_owned(), reached.blobs.len() as u64);
    let exported = Exported { format, session: id.clone(), blobs, spent, hand_over };
    let manifest = serde_json::to_vec_pretty(&exported).expect("it is plain data");
    let mut archive = ArchiveWriter::new(to, &manifest)?;
    let (mut entry, mut number) = (Vec::new(), 0_u32);
    let mut write = |entry: &mut Vec<u8>| {
        archive.record(&format!("{number:08}"), entry)?;
        entry.clear();
        number += 1;
        Ok::<_, SessionsError>(())
    };
    let family = FamilyId::of(id, &created)?;
    // Whoever has a copy must not be able to predict the session's random numbers. A replay needs the same.
    let created = json(&if is_moved { created.in_family(family) } else { created.reseeded(family)? });
    sessions.record_reader().records_of(id, |record| {
        match record.0.first().copied().unwrap_or_default() {
            kind if !is_part(kind) => {}
            b'H' => {
                let mut head: Head = parse_record(id, "its head", &record.1)?;
                head.handed_over = None;
                head.unfinished = head.unfinished.filter(|_| is_moved);
                append_record(id, &record.0, &json(&head), &mut entry);
            }
            b'S' => append_record(id, &record.0, &created, &mut entry),
            _ => append_record(id, &record.0, &record.1, &mut entry),
        }
        if entry.len() >= ENTRY { write(&mut entry) } else { Ok(()) }
    })?;
    write(&mut entry)?;
    let ordered: BTreeSet<BlobId> = reached.blobs.into_iter().collect();
    archive.blobs(ordered, &*sessions.record_reader().source())?;
    Ok((archive.finish()?, exported))
}

/// Returns the spent amount of each account, if other sessions share them.
fn shared_spent(sessions: &Sessions, id: &SessionId) -> Result<Vec<Balance>, SessionsError> {
    let family = FamilyId::of(id, &sessions.record_reader().created(id)?)?;
    if sessions.families().record(id, family)?.is_none() {
        return Ok(Vec::new());
    }
    Ok(sessions.reader().spent(id)?.iter().map(|(account, used)| Balance::of(account, *used)).collect())
}

/// Appends a record to an entry.
fn append_record(id: &SessionId, name: &[u8], value: &[u8], entry: &mut Vec<u8>) {
    let rest = &name[1 + id.as_str().len()..];
    // Keys and values are at most some kilobytes.
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    entry.push(name[0]);
    entry.extend(length(rest));
    entry.extend(length(value));
    entry.extend(rest);
    entry.extend(value);
}

/// Removes a record that [`append_record`] wrote from the beginning of an entry. A journal is in archives alone that move
/// their session.
pub(super) fn take_record(id: &SessionId, is_moved: bool, entry: &mut &[u8]) -> Option<Record> {
    fn length<'e>(bytes: &mut &'e [u8]) -> Option<usize> {
        let (length, rest): (&'e [u8; 4], _) = bytes.split_first_chunk()?;
        *bytes = rest;
        usize::try_from(u32::from_be_bytes(*length)).ok()
    }
    let (kind, mut rest) = entry.split_first()?;
    let known = record_key::KINDS.contains(kind) && !record_key::OF_STORE.contains(kind) && (is_moved || *kind != b'J');
    let (name, value) = (length(&mut rest)?, length(&mut rest)?);
    let (name, rest) = rest.split_at_checked(name)?;
    let (value, rest) = rest.split_at_checked(value)?;
    *entry = rest;
    // The part behind the session's name: empty, or what distinguishes several records of a kind.
    let fits = if record_key::MULTIPLE.contains(kind) { name.first() == Some(&0) } else { name.is_empty() };
    (known && fits).then(|| ([&[*kind], id.as_str().as_bytes(), name].concat(), value.to_vec()))
}
