//! Heap of a suspended run: the memory of its guest, and what the host knew of it, so that resuming the run costs what
//! changed and not what happened.
//!
//! The journal is the truth. A heap says what a replay of the first part of the journal leaves, which it names by its chunks
//! and their digest; whatever of it does not fit the run, the guest or the engine makes it useless, and the run is replayed
//! (`docs/decisions/0062-suspended-heaps.md`). It also names the position from which journal and log have to be read.
//! `docs/formats/heap.md` describes the bytes.
//!
//! **Invariant:** a heap is read as hostile input, and gives a run nothing that its script could not do: it has no result of
//! a call, no decision and no budget.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::guest_process::{self, MAIN, Pid};
use super::journal::JournalMark;
use crate::capability::{Limits, Policy};
use crate::error::Location;
use crate::gate::EarlierCalls;
use crate::guest::{ChangedMemory, GuestProgress, Guests, Language, OperationId, PAGE};

/// Version of the format.
const VERSION: u32 = 2;

/// Earlier version that can be read too: it names the whole journal, and no position.
const OF_WHOLE_JOURNAL: u32 = 1;

/// First bytes of a heap.
const MAGIC: &[u8; 4] = b"THH2";

/// First bytes of a heap of the earlier version.
const EARLIER_MAGIC: &[u8; 4] = b"THH1";

/// Most bytes of the description of a heap: some thousand numbers of pages, and the arguments of calls that wait.
const MAX_DESCRIPTION: usize = 16 << 20;

/// Level of compression: the fastest. Higher levels take several times as long, for a tenth fewer bytes.
const COMPRESSION: i32 = 1;

/// Part of a run's records that a heap stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeapScope {
    /// The beginning of the journal, which has to be read whole.
    Whole(JournalPrefix),
    /// The journal and the log up to a position, from which they have to be read.
    Position(Box<HeapPosition>),
}

/// Beginning of a journal, as heaps of version 1 name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalPrefix {
    /// Number of bytes.
    pub(super) bytes: u64,
    /// BLAKE3 of them, in hexadecimal.
    pub(super) hash: String,
}

/// Position in the records of a run, with what is needed of those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeapPosition {
    /// Chunks of the journal that the heap stands for.
    pub(super) chunks: JournalMark,
    /// Chunks of the journal that need not be read: the questions that are open lie behind them.
    pub(super) unread: JournalMark,
    /// BLAKE3 of the first chunk, in hexadecimal.
    pub(super) first: String,
    /// Number of lines of the session's log.
    pub(super) lines: u64,
    /// BLAKE3 of the last of these lines, in hexadecimal, to which the next one refers.
    pub(super) line_hash: String,
    /// Number of entries into guests.
    pub(super) entries: u64,
    /// Time that was given to the guest that entered last, in nanoseconds since the Unix epoch.
    pub(super) now: u64,
    /// Calls of the run that had ended.
    pub(super) calls: EarlierCalls,
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

/// Description of a heap, in front of the contents of its pages. `J` is how the version names the journal.
#[derive(Serialize, Deserialize)]
struct HeapDescription<J> {
    conditions: HeapConditions,
    journal: J,
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

impl HeapPosition {
    /// Returns true if this can be a position in the records of a run.
    fn is_valid(&self) -> bool {
        let is_before = self.unread.chunks < self.chunks.chunks && self.chunks.chunks < u64::MAX;
        is_before && self.calls.is_valid() && self.lines < u64::MAX && self.entries < u64::MAX
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
    /// Encodes the heap, which stands for the run's records up to this position.
    ///
    /// # Errors
    /// If the pages cannot be compressed, or the description is too long.
    pub(super) fn encode(&self, position: &HeapPosition) -> Result<Vec<u8>, HeapError> {
        self.encode_as(MAGIC, position)
    }

    fn encode_as<J: Serialize>(&self, magic: &[u8; 4], journal: &J) -> Result<Vec<u8>, HeapError> {
        let description = HeapDescription {
            conditions: self.conditions.clone(),
            journal,
            state: self.state.clone(),
            memory: self.memory.size,
            pages: self.memory.pages.clone(),
        };
        let description = serde_json::to_vec(&description).expect("it is plain data");
        let length = u32::try_from(description.len()).ok().filter(|length| *length as usize <= MAX_DESCRIPTION);
        let length = length.ok_or(HeapError::Damaged("its description is too long"))?;
        let contents = zstd::bulk::compress(&self.memory.contents, COMPRESSION)?;
        Ok([magic, &length.to_be_bytes()[..], &description, &contents].concat())
    }

    /// Decodes a heap that whoever can write to the store may have written, and returns it with the part of the run's
    /// records that it stands for, which is not compared with them yet.
    ///
    /// # Errors
    /// The reason why it is of no use for a run under these conditions and limits.
    pub(super) fn decode(
        bytes: &[u8],
        conditions: &HeapConditions,
        limits: &Limits,
    ) -> Result<(Self, HeapScope), HeapError> {
        let (magic, rest) = bytes.split_first_chunk().ok_or(HeapError::Damaged("it is too short"))?;
        let (length, rest) = rest.split_first_chunk().ok_or(HeapError::Damaged("it is too short"))?;
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let parts = rest.split_at_checked(length).filter(|_| length <= MAX_DESCRIPTION);
        let (description, contents) = parts.ok_or(HeapError::Damaged("it is too short"))?;
        match magic {
            MAGIC => {
                let (heap, position) = Self::described::<HeapPosition>(description, contents, conditions, limits)?;
                match position.is_valid() {
                    true => Ok((heap, HeapScope::Position(Box::new(position)))),
                    false => Err(HeapError::Damaged("its position")),
                }
            }
            EARLIER_MAGIC => {
                let conditions = HeapConditions { version: OF_WHOLE_JOURNAL, ..conditions.clone() };
                let (heap, prefix) = Self::described(description, contents, &conditions, limits)?;
                Ok((heap, HeapScope::Whole(prefix)))
            }
            _ => Err(HeapError::Damaged("it does not begin as a heap")),
        }
    }

    /// Decodes the description and the pages of a heap.
    fn described<J: DeserializeOwned>(
        description: &[u8],
        contents: &[u8],
        expected: &HeapConditions,
        limits: &Limits,
    ) -> Result<(Self, J), HeapError> {
        let description: HeapDescription<J> =
            serde_json::from_slice(description).map_err(|_| HeapError::Damaged("its description"))?;
        let HeapDescription { conditions, journal, state, memory: size, pages } = description;
        if conditions != *expected {
            return Err(HeapError::OtherConditions);
        }
        if size > crate::guest::MAX_MEMORY || pages.len() > size / PAGE || !state.is_valid(limits) {
            return Err(HeapError::Damaged("its numbers"));
        }
        let contents = zstd::bulk::decompress(contents, pages.len() * PAGE)?;
        let memory = ChangedMemory { size, pages, contents };
        match memory.is_valid() {
            true => Ok((Self { conditions, state, memory }, journal)),
            false => Err(HeapError::Damaged("its pages")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position() -> HeapPosition {
        let chunks = JournalMark { chunks: 2, digest: [2; 32].into() };
        let unread = JournalMark { chunks: 1, digest: [1; 32].into() };
        let calls = EarlierCalls { admitted: 3, ..EarlierCalls::default() };
        let (first, line_hash) = ("f".to_owned(), "l".to_owned());
        HeapPosition { chunks, unread, first, lines: 5, line_hash, entries: 6, now: 7, calls }
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

    fn decode(bytes: &[u8]) -> Result<(Heap, HeapScope), HeapError> {
        Heap::decode(bytes, &heap().conditions, &Limits::default())
    }

    #[test]
    fn heap_decoded_is_the_heap_encoded() {
        let bytes = heap().encode(&position()).expect("it is encoded");
        let (read, scope) = decode(&bytes).expect("it is read");
        assert_eq!((read.state, read.memory), (heap().state, heap().memory));
        assert_eq!(scope, HeapScope::Position(Box::new(position())));
    }

    /// The description of a heap as version 1 writes it. It stays readable.
    const VERSION_1: &str = r#"{"conditions":{"version":1,"guest":"g","engine":"e","run":3,"limits":null},"journal":{"bytes":8,"hash":"aa"},"state":{"calls":[{"id":7,"method":"m","arguments":"{}"}],"last_operation":9,"last_process":1,"progress":PROGRESS,"fuel":6,"peak":7},"memory":65536,"pages":[2,5]}"#;

    #[test]
    fn heap_of_version_1_is_read_and_names_the_whole_journal() {
        let progress = serde_json::to_string(&heap().state.progress).expect("it is plain data");
        let description = VERSION_1.replace("PROGRESS", &progress);
        let length = u32::try_from(description.len()).expect("it is short").to_be_bytes();
        let contents = zstd::bulk::compress(&heap().memory.contents, COMPRESSION).expect("it is compressed");
        let bytes = [&b"THH1"[..], &length, description.as_bytes(), &contents].concat();
        let (read, scope) = decode(&bytes).expect("it is read");
        assert_eq!((read.state, read.memory), (heap().state, heap().memory));
        assert_eq!(scope, HeapScope::Whole(JournalPrefix { bytes: 8, hash: "aa".to_owned() }));
        let later = [&b"THH3"[..], &bytes[4..]].concat();
        assert!(matches!(decode(&later), Err(HeapError::Damaged(_))), "a later version");
    }

    #[test]
    fn heap_with_a_position_that_no_run_has_is_refused() {
        let many = EarlierCalls { denied: u64::MAX, ..EarlierCalls::default() };
        let positions = [
            HeapPosition { unread: position().chunks, ..position() },
            HeapPosition { calls: many, ..position() },
            HeapPosition { lines: u64::MAX, ..position() },
            HeapPosition { entries: u64::MAX, ..position() },
        ];
        for position in positions {
            let bytes = heap().encode(&position).expect("it is encoded");
            assert!(matches!(decode(&bytes), Err(HeapError::Damaged(_))), "{position:?}");
        }
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
            let bytes = Heap { conditions, ..heap() }.encode(&position()).expect("it is encoded");
            assert!(matches!(decode(&bytes), Err(HeapError::OtherConditions)));
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
            let bytes = Heap { state: state.clone(), ..heap() }.encode(&position()).expect("it is encoded");
            assert!(matches!(decode(&bytes), Err(HeapError::Damaged(_))), "{state:?}");
        }
    }

    #[test]
    fn heap_with_damaged_bytes_is_refused_and_never_a_panic() {
        let bytes = heap().encode(&position()).expect("it is encoded");
        for at in 0..bytes.len() {
            assert!(decode(&bytes[..at]).is_err(), "cut at {at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            // What is changed in the numbers of a state can be a state, too; its blob has another name then.
            let _ = decode(&other);
        }
        let bomb = ChangedMemory { size: 1 << 16, pages: vec![0], contents: vec![0; 1 << 20] };
        let bytes = Heap { memory: bomb, ..heap() }.encode(&position()).expect("it is encoded");
        assert!(decode(&bytes).is_err(), "no more is unpacked than its pages have");
    }
}
