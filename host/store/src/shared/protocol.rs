//! The protocol between a follower and its leader: a greeting from each side, then frames.
//!
//! ```text
//! greeting of the follower   magic (8), client (16)
//! greeting of the leader     magic (8), process id (u32)
//! frame                      length of the rest (u32), request id (u64), kind (u8), fields
//! bytes                      length (u32), bytes
//! option                     0, or 1 and the value
//! ```
//!
//! Numbers are big-endian. An answer carries the id of its request; answers come in any order. Nothing that is read
//! here is trusted: lengths are bounded before memory is allocated, and input that does not parse closes the
//! connection.

use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::group_commit::Compacted;
use crate::record::{Batch, Change, Expectation, MAX_BATCH_BYTES, Owner, Record, StoreError};

/// Magic number of the protocol, with its version.
const MAGIC: [u8; 8] = *b"tollst\0\x01";

/// Maximum size of a frame: the largest batch plus the lengths of its parts (the overhead of 16 bytes an entry covers
/// its own).
const MAX_FRAME: usize = MAX_BATCH_BYTES + (64 << 10);

/// Approximate size of one page of a scan.
pub(super) const PAGE_BYTES: usize = 256 << 10;

/// Id of a follower, fixed for as long as its store is open.
pub(super) type ClientId = [u8; 16];

/// A request of a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoreRequest {
    Get {
        key: Vec<u8>,
    },
    Scan {
        prefix: Vec<u8>,
        after: Option<Vec<u8>>,
        limit: u64,
    },
    /// The commit numbered `sequence` of a slot; see `commit_dedup`.
    Commit {
        slot: u32,
        sequence: u64,
        batch: Batch,
    },
    Compact,
    /// The follower closes the store, and will not repeat any request.
    Bye,
}

/// An answer of the leader.
#[derive(Clone, Debug)]
pub(super) enum StoreAnswer {
    Value(Option<Vec<u8>>),
    /// Some records, and whether there may be more.
    Page(Vec<Record>, bool),
    Done,
    Compacted(Compacted),
    Failed(StoreError),
}

pub(super) fn send_follower_greeting(mut stream: impl Write, client: &ClientId) -> io::Result<()> {
    stream.write_all(&[&MAGIC[..], client].concat())
}

pub(super) fn send_leader_greeting(mut stream: impl Write) -> io::Result<()> {
    stream.write_all(&[&MAGIC[..], &std::process::id().to_be_bytes()].concat())
}

/// Reads the greeting of a follower.
pub(super) fn read_follower_greeting(mut stream: impl Read) -> io::Result<ClientId> {
    check_magic(&mut stream)?;
    let mut client = ClientId::default();
    stream.read_exact(&mut client)?;
    Ok(client)
}

/// Reads the leader's greeting, and returns its process id.
pub(super) fn read_leader_greeting(mut stream: impl Read) -> io::Result<u32> {
    check_magic(&mut stream)?;
    let mut pid = [0; 4];
    stream.read_exact(&mut pid)?;
    Ok(u32::from_be_bytes(pid))
}

fn check_magic(stream: &mut impl Read) -> io::Result<()> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if magic == MAGIC { Ok(()) } else { Err(io::Error::new(io::ErrorKind::Unsupported, "another protocol or version")) }
}

/// Reads a frame. Memory grows with the bytes that arrive, not with the announced length.
pub(super) fn read_frame(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if usize::try_from(length).map_or(true, |length| length > MAX_FRAME) {
        return Err(broken());
    }
    let mut frame = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut frame)?;
    if u32::try_from(frame.len()) == Ok(length) { Ok(frame) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Reads a follower's next request and encodes it again, for fuzzing.
///
/// # Errors
/// If the input is not a complete request.
#[doc(hidden)]
pub fn rewrite_request(stream: &mut &[u8]) -> io::Result<Vec<u8>> {
    let (id, request) = StoreRequest::read(&read_frame(stream)?)?;
    Ok(request.frame(id))
}

/// Reads a leader's next answer and encodes it again, for fuzzing.
///
/// # Errors
/// If the input is not a complete answer.
#[doc(hidden)]
pub fn rewrite_answer(stream: &mut &[u8]) -> io::Result<Vec<u8>> {
    let (id, answer) = StoreAnswer::read(&read_frame(stream)?)?;
    Ok(answer.frame(id))
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed frame of the store protocol")
}

/// Encoder of a frame.
struct FrameEncoder(Vec<u8>);

impl FrameEncoder {
    fn new(id: u64, kind: u8) -> Self {
        let mut frame = Self(vec![0; 4]);
        frame.number(id);
        frame.0.push(kind);
        frame
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    /// Appends a length, which the limits of batches and pages keep small.
    fn length(&mut self, length: usize) {
        let length = u32::try_from(length).expect("batches and pages are smaller than 4 GiB");
        self.0.extend_from_slice(&length.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.0.push(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn record(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.bytes(key);
        self.option(value, Self::bytes);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).expect("batches and pages are smaller than 4 GiB");
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        self.0
    }
}

impl StoreRequest {
    pub(super) fn frame(&self, id: u64) -> Vec<u8> {
        let frame = |kind| FrameEncoder::new(id, kind);
        let frame = match self {
            Self::Get { key } => {
                let mut frame = frame(0);
                frame.bytes(key);
                frame
            }
            Self::Scan { prefix, after, limit } => {
                let mut frame = frame(1);
                frame.bytes(prefix);
                frame.option(after.as_deref(), FrameEncoder::bytes);
                frame.number(*limit);
                frame
            }
            Self::Commit { slot, sequence, batch } => {
                let mut frame = frame(2);
                frame.number(u64::from(*slot));
                frame.number(*sequence);
                write_batch(&mut frame, batch);
                frame
            }
            Self::Compact => frame(3),
            Self::Bye => frame(4),
        };
        frame.finish()
    }

    /// Decodes a request frame into the request's id and the request.
    pub(super) fn read(frame: &[u8]) -> io::Result<(u64, Self)> {
        let mut fields = FrameDecoder(frame);
        let (id, kind) = (fields.number()?, fields.byte()?);
        let request = match kind {
            0 => Self::Get { key: fields.bytes()? },
            1 => Self::Scan {
                prefix: fields.bytes()?,
                after: fields.option(FrameDecoder::bytes)?,
                limit: fields.number()?,
            },
            2 => Self::Commit {
                slot: u32::try_from(fields.number()?).map_err(|_| broken())?,
                sequence: fields.number()?,
                batch: read_batch(&mut fields)?,
            },
            3 => Self::Compact,
            4 => Self::Bye,
            _ => return Err(broken()),
        };
        fields.end()?;
        Ok((id, request))
    }
}

fn write_batch(frame: &mut FrameEncoder, batch: &Batch) {
    frame.option(batch.owner.as_ref(), |frame, owner| {
        frame.bytes(&owner.key);
        frame.number(owner.epoch);
    });
    frame.length(batch.expect.len());
    for Expectation { key, value } in &batch.expect {
        frame.record(key, value.as_deref());
    }
    frame.length(batch.changes.len());
    for Change { key, value } in &batch.changes {
        frame.record(key, value.as_deref());
    }
}

/// Decodes a batch. It is never one of the store's own batches, whoever sent it: its changes are checked like those of
/// any other.
fn read_batch(fields: &mut FrameDecoder<'_>) -> io::Result<Batch> {
    let owner = fields.option(|fields| Ok(Owner { key: fields.bytes()?, epoch: fields.number()? }))?;
    let mut batch = Batch { owner, ..Batch::default() };
    for _ in 0..fields.length()? {
        let (key, value) = fields.record()?;
        batch.expect.push(Expectation { key, value });
    }
    for _ in 0..fields.length()? {
        let (key, value) = fields.record()?;
        batch.changes.push(Change { key, value });
    }
    Ok(batch)
}

impl StoreAnswer {
    pub(super) fn frame(&self, id: u64) -> Vec<u8> {
        let frame = |kind| FrameEncoder::new(id, kind);
        let frame = match self {
            Self::Value(value) => {
                let mut frame = frame(0);
                frame.option(value.as_deref(), FrameEncoder::bytes);
                frame
            }
            Self::Page(records, more) => {
                let mut frame = frame(1);
                frame.length(records.len());
                for (key, value) in records {
                    frame.bytes(key);
                    frame.bytes(value);
                }
                frame.0.push((*more).into());
                frame
            }
            Self::Done => frame(2),
            Self::Compacted(Compacted { before, after }) => {
                let mut frame = frame(3);
                frame.number(*before);
                frame.number(*after);
                frame
            }
            Self::Failed(error) => {
                let mut frame = frame(4);
                write_error(&mut frame, error);
                frame
            }
        };
        frame.finish()
    }

    /// Decodes an answer frame into the id of the request and the answer.
    pub(super) fn read(frame: &[u8]) -> io::Result<(u64, Self)> {
        let mut fields = FrameDecoder(frame);
        let (id, kind) = (fields.number()?, fields.byte()?);
        let answer = match kind {
            0 => Self::Value(fields.option(FrameDecoder::bytes)?),
            1 => {
                let mut records = Vec::new();
                for _ in 0..fields.length()? {
                    records.push((fields.bytes()?, fields.bytes()?));
                }
                Self::Page(records, fields.bool()?)
            }
            2 => Self::Done,
            3 => Self::Compacted(Compacted { before: fields.number()?, after: fields.number()? }),
            4 => Self::Failed(read_error(&mut fields)?),
            _ => return Err(broken()),
        };
        fields.end()?;
        Ok((id, answer))
    }
}

fn write_error(frame: &mut FrameEncoder, error: &StoreError) {
    let text = |frame: &mut FrameEncoder, kind, text: &str| {
        frame.0.push(kind);
        frame.bytes(text.as_bytes());
    };
    let size = |frame: &mut FrameEncoder, bytes: usize| frame.number(u64::try_from(bytes).unwrap_or(u64::MAX));
    match error {
        StoreError::Stale { held, found } => {
            frame.0.push(0);
            frame.number(*held);
            frame.option(*found, FrameEncoder::number);
        }
        StoreError::Conflict { key } => {
            frame.0.push(1);
            frame.bytes(key);
        }
        StoreError::TooLarge { key, value } => {
            frame.0.push(2);
            size(frame, *key);
            size(frame, *value);
        }
        StoreError::TooMuch { bytes } => {
            frame.0.push(3);
            size(frame, *bytes);
        }
        StoreError::Reserved => frame.0.push(4),
        StoreError::Full(error) => text(frame, 5, &error.to_string()),
        StoreError::Io(error) => text(frame, 6, &error.to_string()),
        StoreError::Damaged(what) => text(frame, 7, what),
        // The other errors occur when a store is opened, not in an open one.
        other => text(frame, 6, &other.to_string()),
    }
}

fn read_error(fields: &mut FrameDecoder<'_>) -> io::Result<StoreError> {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(match fields.byte()? {
        0 => StoreError::Stale { held: fields.number()?, found: fields.option(FrameDecoder::number)? },
        1 => StoreError::Conflict { key: fields.bytes()? },
        2 => StoreError::TooLarge { key: size(fields.number()?), value: size(fields.number()?) },
        3 => StoreError::TooMuch { bytes: size(fields.number()?) },
        4 => StoreError::Reserved,
        5 => StoreError::Full(Arc::new(io::Error::new(io::ErrorKind::StorageFull, fields.text()?))),
        6 => StoreError::Io(Arc::new(io::Error::other(fields.text()?))),
        7 => StoreError::Damaged(fields.text()?),
        _ => return Err(broken()),
    })
}

/// Decoder of a frame: the bytes not yet read.
struct FrameDecoder<'f>(&'f [u8]);

impl FrameDecoder<'_> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> io::Result<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn length(&mut self) -> io::Result<usize> {
        usize::try_from(u32::from_be_bytes(self.take()?)).map_err(|_| broken())
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = self.length()?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken.to_vec())
    }

    fn text(&mut self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    fn bool(&mut self) -> io::Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(broken()),
        }
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<Option<T>> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    fn record(&mut self) -> io::Result<(Vec<u8>, Option<Vec<u8>>)> {
        Ok((self.bytes()?, self.option(Self::bytes)?))
    }

    fn end(&self) -> io::Result<()> {
        let ends = self.0.is_empty();
        if ends { Ok(()) } else { Err(broken()) }
    }
}
