//! Keys of a session's records. All begin with a letter and the session's name, so that a session is a few ranges of
//! the store; numbers are big-endian, so that records sort in their order.
//!
//! | key | value |
//! | --- | --- |
//! | `S` id | [`Created`](super::record::Created): what does not change |
//! | `P` id | the policy (JSON), perhaps in a blob |
//! | `M` id | the lock of what is mounted (JSON), perhaps in a blob |
//! | `X` id | nothing: what there is of the session is being made or removed, and is none yet or any more |
//! | `O` id | the epoch: eight bytes |
//! | `H` id | [`Head`](super::record::Head): what each commit changes |
//! | `R` id 0 run | [`RunRecord`](super::record::RunRecord) |
//! | `T` id 0 label | the number of a run: eight bytes |
//! | `L` id 0 hash of the account | [`Balance`](super::record::Balance), perhaps in a blob |
//! | `C` id 0 hash of the account | what of a balance was spent before the session was forked |
//! | `E` id 0 run call | [`LedgerEntry`](super::record::LedgerEntry) of the ledger, perhaps in a blob |
//! | `J` id 0 run chunk | a chunk of the journal of a run that has not ended, perhaps in a blob |
//! | `I` id 0 run | names of the blobs of a suspended run's heap and of the snapshot of its files: 64 bytes |
//! | `A` id 0 line | a line of the log (JSON), perhaps in a blob |
//! | `K` id 0 alias bucket key | an entry of `wasi:keyvalue`, perhaps in a blob |
//! | `G` family | [`FamilyRecord`](super::shared_budgets::FamilyRecord): of sessions that share their budgets |
//! | `F` family hash of the account | what all sessions of a family have spent |
//! | `D` hand-over | the name of the session that was imported from it |
//!
//! A family is 32 bytes, a hand-over is the hash of its identifier. The last three kinds belong to no session, and are in no export.
//!
//! `docs/formats/store.md` describes the values.
//!
//! A value that may be in a blob starts with 0 and is the rest, or starts with 1 and is in the blob whose hash follows.

use super::SessionId;
use crate::store::{BlobId, MAX_VALUE_BYTES};
use crate::tool::EntryKey;

/// Kinds of records that a session has.
pub(super) const KINDS: &[u8] = b"SPMOHRTLCEJIAK";

/// Kinds of which a session has several records.
pub(super) const MULTIPLE: &[u8] = b"RTLCEJIAK";

/// Kinds whose values may be in a blob.
pub(super) const MAY_BE_LONG: &[u8] = b"PMLCEJAK";

/// Key of the single record of a kind.
pub(super) fn single(kind: u8, id: &SessionId) -> Vec<u8> {
    [&[kind], id.as_str().as_bytes()].concat()
}

/// Prefix of the keys of a kind with several records.
pub(super) fn prefix(kind: u8, id: &SessionId) -> Vec<u8> {
    [&[kind], id.as_str().as_bytes(), &[0]].concat()
}

/// Key of a numbered record.
pub(super) fn numbered(kind: u8, id: &SessionId, number: u64) -> Vec<u8> {
    [prefix(kind, id).as_slice(), &number.to_be_bytes()].concat()
}

/// Key of a named record.
pub(super) fn named(kind: u8, id: &SessionId, name: &str) -> Vec<u8> {
    [prefix(kind, id).as_slice(), name.as_bytes()].concat()
}

/// Key of the balance of an account, whose name may be long.
pub(super) fn account(id: &SessionId, name: &str) -> Vec<u8> {
    [prefix(b'L', id).as_slice(), blake3::hash(name.as_bytes()).as_bytes()].concat()
}

/// Key of an entry of the ledger.
pub(super) fn entry(id: &SessionId, run: u64, seq: u64) -> Vec<u8> {
    [numbered(b'E', id, run).as_slice(), &seq.to_be_bytes()].concat()
}

/// Kinds of records that are in no archive: the epoch of a process, and heaps, which a replay makes anew.
pub(super) const OF_STORE: &[u8] = b"OI";

/// Key of a chunk of a run's journal.
pub(super) fn journal(id: &SessionId, run: u64, chunk: u64) -> Vec<u8> {
    [numbered(b'J', id, run).as_slice(), &chunk.to_be_bytes()].concat()
}

/// Parses the key of such a chunk: returns the session and the run.
pub(super) fn read_journal(key: &[u8]) -> Option<(SessionId, u64)> {
    let rest = key.strip_prefix(b"J")?;
    let (id, numbers) = rest.split_at_checked(rest.iter().position(|byte| *byte == 0)?)?;
    let (run, _) = numbers[1..].split_first_chunk()?;
    Some((std::str::from_utf8(id).ok()?.parse().ok()?, u64::from_be_bytes(*run)))
}

/// Key of an entry of `wasi:keyvalue`. Its parts are at most some hundred bytes long.
pub(super) fn keyvalue(id: &SessionId, (alias, bucket, key): &EntryKey) -> Vec<u8> {
    let mut bytes = prefix(b'K', id);
    for name in [alias, bucket] {
        bytes.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend(name.as_bytes());
    }
    bytes.extend(key.as_bytes());
    bytes
}

/// Parses the key of such an entry.
pub(super) fn read_keyvalue(id: &SessionId, key: &[u8]) -> Option<EntryKey> {
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned).ok();
    let mut rest = key.strip_prefix(prefix(b'K', id).as_slice())?;
    let mut name = || {
        let (length, behind) = rest.split_first_chunk()?;
        let (name, behind) = behind.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        rest = behind;
        text(name)
    };
    let (alias, bucket) = (name()?, name()?);
    Some((alias.into(), bucket.into(), text(rest)?))
}

/// Prefix of the keys of all family accounts.
pub(super) const FAMILY_ACCOUNTS: &[u8] = b"F";

/// Prefix of the keys of all families.
pub(super) const FAMILIES: &[u8] = b"G";

/// Prefix of the keys of all hand-overs.
pub(super) const HAND_OVERS: &[u8] = b"D";

/// Key of a hand-over that was imported.
pub(super) fn hand_over(id: &str) -> Vec<u8> {
    [HAND_OVERS, blake3::hash(id.as_bytes()).as_bytes()].concat()
}

/// Key of a family.
pub(super) fn family(id: &[u8; 32]) -> Vec<u8> {
    [FAMILIES, id].concat()
}

/// Prefix of the keys of a family's accounts.
pub(super) fn family_prefix(family: &[u8; 32]) -> Vec<u8> {
    [FAMILY_ACCOUNTS, family].concat()
}

/// Key of a family's account.
pub(super) fn family_account(family: &[u8; 32], name: &str) -> Vec<u8> {
    [family_prefix(family).as_slice(), blake3::hash(name.as_bytes()).as_bytes()].concat()
}

/// Extracts the family from such a key.
pub(super) fn family_of(key: &[u8]) -> Option<[u8; 32]> {
    key.strip_prefix(FAMILY_ACCOUNTS)?.first_chunk().copied()
}

/// Extracts the number at the end of a key.
pub(super) fn number(key: &[u8]) -> Option<u64> {
    key.last_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// Encodes the names of the blobs of a heap and of its files.
pub(super) fn heap_value(heap: &BlobId, files: &BlobId) -> Vec<u8> {
    [heap.as_bytes().as_slice(), files.as_bytes().as_slice()].concat()
}

/// Decodes both names.
pub(super) fn decode_heap(value: &[u8]) -> Option<[BlobId; 2]> {
    let (heap, files) = value.split_first_chunk::<32>()?;
    Some([(*heap).into(), <[u8; 32]>::try_from(files).ok()?.into()])
}

/// Value that may be in a blob.
pub(super) enum StoredValue<'a> {
    /// Value in the record itself.
    Inline(&'a [u8]),
    /// Value in a blob.
    Blob(BlobId),
}

/// Encodes a value for its record, or returns `None` if it is too long and needs a blob.
pub(super) fn inline_value(value: &[u8]) -> Option<Vec<u8>> {
    (value.len() < MAX_VALUE_BYTES).then(|| [&[0], value].concat())
}

/// Encodes a reference to a value in a blob.
pub(super) fn blob_value(blob: &BlobId) -> Vec<u8> {
    [&[1], blob.as_bytes().as_slice()].concat()
}

/// Decodes either form.
pub(super) fn decode_value(value: &[u8]) -> Option<StoredValue<'_>> {
    match value.split_first()? {
        (0, rest) => Some(StoredValue::Inline(rest)),
        (1, rest) => Some(StoredValue::Blob(<[u8; 32]>::try_from(rest).ok()?.into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn record_keys_of_two_sessions_have_disjoint_ranges() {
        let [short, long]: [SessionId; 2] = ["a", "a.b"].map(|id| id.parse().expect("a name"));
        assert!(!numbered(b'R', &long, 1).starts_with(&prefix(b'R', &short)));
        assert!(numbered(b'R', &short, 255) < numbered(b'R', &short, 256));
        assert_eq!(number(&numbered(b'R', &long, 7)), Some(7));
        assert_eq!(read_journal(&journal(&long, 7, 1)), Some((long, 7)));
    }

    proptest! {
        #[test]
        fn keys_of_entries_are_read_as_they_were_written(alias in ".{0,9}", bucket in ".{0,9}", key in ".{0,9}") {
            let id: SessionId = "s".parse().expect("a name");
            let written: EntryKey = (alias.into(), bucket.into(), key);
            prop_assert_eq!(read_keyvalue(&id, &keyvalue(&id, &written)), Some(written));
        }
    }
}
