//! Heap of a suspended run: the memory of its guest, and what the host knew of it, so that resuming the run costs what
//! changed and not what happened.
//!
//! The journal is the truth. A heap says what a replay of the first part of the journal leaves, which it names by length and
//! hash; whatever of it does not fit the run, the guest or the engine makes it useless, and the run is replayed
//! (`docs/decisions/0062-suspended-heaps.md`). `docs/formats/heap.md` describes the bytes.
//!
//! **Invariant:** a heap is read as hostile input, and gives a run nothing that its script could not do: it has no result of
//! a call, no decision and no budget.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::guest_process::{self, MAIN, Pid};
use crate::capability::{Limits, Policy};
use crate::error::Location;
use crate::guest::{ChangedMemory, GuestProgress, Guests, Language, OperationId, PAGE};

/// Version of the format.
const VERSION: u32 = 1;

/// First bytes of a heap.
const MAGIC: &[u8; 4] = b"THH1";

/// Most bytes of the description of a heap: some thousand numbers of pages, and the arguments of calls that wait.
const MAX_DESCRIPTION: usize = 16 << 20;

/// Level of compression: the fastest. Higher levels take several times as long, for a tenth fewer bytes.
const COMPRESSION: i32 = 1;

/// Beginning of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalPrefix {
    /// Number of bytes.
    pub(super) bytes: u64,
    /// BLAKE3 of them, in hexadecimal.
    pub(super) hash: String,
}

/// Conditions under which a heap means the same as a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeapConditions {
    version: u32,
    /// Digest of the guest's component, in hexadecimal.
    guest: String,
    /// Fingerprint of the engine and its settings, in hexadecimal.
    engine: String,
    /// Number of the run in its session.
    run: u64,
    /// Limits of the run, as a policy writes them; null if they are the default ones.
    limits: Json,
}

/// Call that a script waits for, as the script made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WaitingCall {
    /// Operation of the guest.
    pub(super) id: OperationId,
    pub(super) method: String,
    /// Arguments, as JSON text.
    pub(super) arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) location: Option<Location>,
}

/// Host's knowledge of a run that waits, apart from its journal, its log and its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeapState {
    /// Calls that the script waits for, in the order of their operations.
    pub(super) calls: Vec<WaitingCall>,
    /// Number of the last operation of the guest.
    pub(super) last_operation: OperationId,
    /// Number of the last process of the run.
    pub(super) last_process: Pid,
    /// What the guest had done.
    pub(super) progress: GuestProgress,
    /// Fuel that all guests of the run used.
    pub(super) fuel: u64,
    /// Peak of the memory of all guests of the run, in bytes.
    pub(super) peak: u64,
}

/// Description of a heap, in front of the contents of its pages.
#[derive(Serialize, Deserialize)]
struct HeapDescription {
    conditions: HeapConditions,
    journal: JournalPrefix,
    state: HeapState,
    /// Size of the memory, in bytes.
    memory: usize,
    pages: Vec<u32>,
}

/// Heap of a run that waits.
pub(super) struct Heap {
    pub(super) conditions: HeapConditions,
    pub(super) state: HeapState,
    pub(super) memory: ChangedMemory,
}

/// Reason why a heap is of no use. The run is replayed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HeapError {
    /// The bytes are not a heap, or are damaged.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    /// The heap is of another run, another guest or another engine, or the limits of the run were changed.
    #[error("the guest, the engine or the limits of the run are not those that it is for")]
    OtherConditions,
    /// The journal does not begin with what the heap stands for.
    #[error("it is for another journal")]
    OtherJournal,
    /// The bytes are not compressed as they should be.
    #[error("it is damaged")]
    Compression(#[from] std::io::Error),
}

impl HeapConditions {
    /// Returns the conditions of a run on this host; `None` if the engine does not start.
    pub(super) fn new(guests: &Guests, language: Language, run: u64, limits: &Limits) -> Option<Self> {
        let limits = Policy { limits: limits.clone(), ..Policy::default() }.to_json().get("limits").cloned();
        Some(Self {
            version: VERSION,
            guest: crate::code::embedded(language.word()).digest.to_owned(),
            engine: guests.engine(language).ok()?,
            run,
            limits: limits.unwrap_or_default(),
        })
    }
}

impl JournalPrefix {
    /// Names the whole of a journal.
    pub(super) fn of(bytes: u64, hash: &blake3::Hasher) -> Self {
        Self { bytes, hash: hash.finalize().to_hex().to_string() }
    }

    /// Returns the number of entries of this part of a journal.
    ///
    /// # Errors
    /// If the journal does not begin with it.
    fn entries_of(&self, journal: &[u8]) -> Result<usize, HeapError> {
        let bytes = usize::try_from(self.bytes).ok().and_then(|bytes| journal.get(..bytes));
        let is_same = |bytes: &&[u8]| blake3::hash(bytes).to_hex().as_str() == self.hash && bytes.ends_with(b"\n");
        let bytes = bytes.filter(is_same).ok_or(HeapError::OtherJournal)?;
        Ok(bytes.iter().filter(|byte| **byte == b'\n').count())
    }
}

impl HeapState {
    /// Returns true if this can be the state of a run with these limits.
    fn is_valid(&self, limits: &Limits) -> bool {
        let ids: BTreeSet<OperationId> = self.calls.iter().map(|call| call.id).collect();
        let is_of_main = |id: &OperationId| *id <= self.last_operation && guest_process::owner(*id) == MAIN;
        ids.len() == self.calls.len()
            && !ids.is_empty()
            && ids.iter().all(is_of_main)
            && ids.len() as u64 <= u64::from(limits.pending)
            && guest_process::operation_id(MAIN, self.last_operation).is_some()
            && guest_process::operation_id(self.last_process, 0).is_some()
            && self.progress.output <= limits.output
            && self.progress.fuel <= self.fuel
    }
}

impl Heap {
    /// Encodes the heap, which stands for this part of the run's journal.
    ///
    /// # Errors
    /// If the pages cannot be compressed.
    pub(super) fn encode(&self, journal: &JournalPrefix) -> Result<Vec<u8>, HeapError> {
        let description = HeapDescription {
            conditions: self.conditions.clone(),
            journal: journal.clone(),
            state: self.state.clone(),
            memory: self.memory.size,
            pages: self.memory.pages.clone(),
        };
        let description = serde_json::to_vec(&description).expect("it is plain data");
        let length = u32::try_from(description.len()).ok().filter(|length| *length as usize <= MAX_DESCRIPTION);
        let length = length.ok_or(HeapError::Damaged("its description is too long"))?;
        let contents = zstd::bulk::compress(&self.memory.contents, COMPRESSION)?;
        Ok([MAGIC, &length.to_be_bytes()[..], &description, &contents].concat())
    }

    /// Decodes a heap that whoever can write to the store may have written, and returns it with the number of entries of
    /// the journal that it stands for.
    ///
    /// # Errors
    /// The reason why it is of no use for a run under these conditions and limits, with this journal.
    pub(super) fn decode(
        bytes: &[u8],
        conditions: &HeapConditions,
        limits: &Limits,
        journal: &[u8],
    ) -> Result<(Self, usize), HeapError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(HeapError::Damaged("it does not begin as a heap"))?;
        let (length, rest) = rest.split_first_chunk().ok_or(HeapError::Damaged("it is too short"))?;
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let parts = rest.split_at_checked(length).filter(|_| length <= MAX_DESCRIPTION);
        let (description, contents) = parts.ok_or(HeapError::Damaged("it is too short"))?;
        let description: HeapDescription =
            serde_json::from_slice(description).map_err(|_| HeapError::Damaged("its description"))?;
        if description.conditions != *conditions {
            return Err(HeapError::OtherConditions);
        }
        let entries = description.journal.entries_of(journal)?;
        let HeapDescription { conditions, state, memory: size, pages, .. } = description;
        if size > crate::guest::MAX_MEMORY || pages.len() > size / PAGE || !state.is_valid(limits) {
            return Err(HeapError::Damaged("its numbers"));
        }
        let contents = zstd::bulk::decompress(contents, pages.len() * PAGE)?;
        let memory = ChangedMemory { size, pages, contents };
        match memory.is_valid() {
            true => Ok((Self { conditions, state, memory }, entries)),
            false => Err(HeapError::Damaged("its pages")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOURNAL: &[u8] = b"one\ntwo\nthree\n";

    fn prefix(bytes: usize) -> JournalPrefix {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&JOURNAL[..bytes]);
        JournalPrefix::of(bytes as u64, &hasher)
    }

    fn heap() -> Heap {
        let text = |text: &str| text.to_owned();
        let conditions =
            HeapConditions { version: VERSION, guest: text("g"), engine: text("e"), run: 3, limits: Json::Null };
        let call = WaitingCall { id: 7, method: text("m"), arguments: text("{}"), location: None };
        let progress = GuestProgress { fuel: 5, output: 9, random: 1 << 70, scripts: 1 };
        let state = HeapState { calls: vec![call], last_operation: 9, last_process: 1, progress, fuel: 6, peak: 7 };
        let memory = ChangedMemory { size: 1 << 16, pages: vec![2, 5], contents: vec![1; 2 * PAGE] };
        Heap { conditions, state, memory }
    }

    fn decode(bytes: &[u8], journal: &[u8]) -> Result<(Heap, usize), HeapError> {
        Heap::decode(bytes, &heap().conditions, &Limits::default(), journal)
    }

    #[test]
    fn heap_decoded_with_its_journal_is_the_heap_encoded() {
        let bytes = heap().encode(&prefix(8)).expect("it is encoded");
        let (read, entries) = decode(&bytes, JOURNAL).expect("it is read");
        assert_eq!((read.state, read.memory, entries), (heap().state, heap().memory, 2));
        assert!(decode(&bytes, &JOURNAL[..8]).is_ok(), "the journal ends where the heap was taken");
    }

    #[test]
    fn heap_of_another_journal_is_refused() {
        let bytes = heap().encode(&prefix(8)).expect("it is encoded");
        for other in [&b"one\ntwo!\nthree\n"[..], b"one\n", b"", b"one\ntwx\nthree\n"] {
            assert!(matches!(decode(&bytes, other), Err(HeapError::OtherJournal)), "{other:?}");
        }
        let within_line = heap().encode(&prefix(6)).expect("it is encoded");
        assert!(matches!(decode(&within_line, JOURNAL), Err(HeapError::OtherJournal)));
    }

    #[test]
    fn heap_of_other_conditions_is_refused() {
        let own = heap().conditions;
        let others = [
            HeapConditions { guest: "h".to_owned(), ..own.clone() },
            HeapConditions { engine: "f".to_owned(), ..own.clone() },
            HeapConditions { run: 4, ..own.clone() },
            HeapConditions { limits: serde_json::json!({ "fuel": 1 }), ..own.clone() },
            HeapConditions { version: VERSION + 1, ..own },
        ];
        for conditions in others {
            let bytes = Heap { conditions, ..heap() }.encode(&prefix(8)).expect("it is encoded");
            assert!(matches!(decode(&bytes, JOURNAL), Err(HeapError::OtherConditions)));
        }
    }

    #[test]
    fn heap_with_state_that_no_run_has_is_refused() {
        let own = heap().state;
        let call = |id| WaitingCall { id, ..own.calls[0].clone() };
        let states = [
            HeapState { calls: Vec::new(), ..own.clone() },
            HeapState { calls: vec![call(7), call(7)], ..own.clone() },
            HeapState { calls: vec![call(10)], ..own.clone() },
            HeapState { calls: vec![call(1 << 40)], last_operation: 1 << 41, ..own.clone() },
            HeapState { last_process: Pid::MAX, ..own.clone() },
            HeapState { progress: GuestProgress { output: u64::MAX, ..own.progress }, ..own.clone() },
            HeapState { progress: GuestProgress { fuel: 7, ..own.progress }, ..own.clone() },
        ];
        for state in states {
            let bytes = Heap { state: state.clone(), ..heap() }.encode(&prefix(8)).expect("it is encoded");
            assert!(matches!(decode(&bytes, JOURNAL), Err(HeapError::Damaged(_))), "{state:?}");
        }
    }

    #[test]
    fn heap_with_damaged_bytes_is_refused_and_never_a_panic() {
        let bytes = heap().encode(&prefix(8)).expect("it is encoded");
        for at in 0..bytes.len() {
            assert!(decode(&bytes[..at], JOURNAL).is_err(), "cut at {at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            // What is changed in the numbers of a state can be a state, too; its blob has another name then.
            let _ = decode(&other, JOURNAL);
        }
        let bomb = ChangedMemory { size: 1 << 16, pages: vec![0], contents: vec![0; 1 << 20] };
        let bytes = Heap { memory: bomb, ..heap() }.encode(&prefix(8)).expect("it is encoded");
        assert!(decode(&bytes, JOURNAL).is_err(), "no more is unpacked than its pages have");
    }
}
