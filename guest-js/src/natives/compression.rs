//! Compression: DEFLATE in its three formats by zlib-rs, and decompression of Brotli.
//!
//! One call of a codec returns at most [`CHUNK`] bytes, in memory of QuickJS, so that unbounded output reaches the
//! script's memory limit. The memory of the codec itself is charged to the script as long as the codec exists.
#![expect(unsafe_code, reason = "a class of QuickJS's whose values hold no values")]

use brotli_decompressor::BrotliResult;
use rquickjs::class::{Class, Writable};
use rquickjs::convert::List;
use rquickjs::{Ctx, Object, Result, Value};
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Inflate, InflateError, InflateFlush, Status, Strategy};

use super::brotli::Brotli;
use super::{add_all, class_without_values, number};
use crate::limits::MemoryCharge;
use crate::text::{self, Bytes, Text};
use crate::{convert, errors};

/// Largest output of one call, in bytes.
const CHUNK: usize = 64 << 10;

/// Results of a codec, with the numbers of zlib.
const OK: i32 = 0;
const STREAM_END: i32 = 1;
const NEED_DICT: i32 = 2;
const STREAM_ERROR: i32 = -2;
const DATA_ERROR: i32 = -3;
const BUF_ERROR: i32 = -5;

/// Flags that zlib adds to the size in window bits: a gzip header, or detection of either header.
const GZIP: i32 = 16;
const EITHER: u8 = 32;

/// Memory of a codec besides its tables, in bytes.
const BASE: usize = 32 << 10;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "openCodec" => open, "runCodec" => run, "crc32" => crc32)
}

/// Compressor or decompressor with its state.
struct Codec {
    kind: CodecKind,
    /// Charge of the codec's tables to the script's memory.
    _charge: MemoryCharge,
}

enum CodecKind {
    Deflate(Deflate),
    Inflate(InflateStream),
    Brotli(Brotli),
}

/// Decompressor of DEFLATE.
struct InflateStream {
    inner: Inflate,
    /// Dictionary for streams that name one; empty if there is none.
    dictionary: Vec<u8>,
    /// True if the input may be several gzip members in sequence.
    members: bool,
}

class_without_values!(Codec, Writable);

/// Outcome of one call of a codec.
struct CodecProgress {
    taken: usize,
    given: usize,
    status: i32,
    message: Option<&'static str>,
}

impl CodecProgress {
    fn new(taken: usize, given: usize, status: i32) -> Self {
        Self { taken, given, status, message: None }
    }
}

/// Opens a codec by its name in Node, with settings for compression and a dictionary, which may be empty.
fn open<'js>(
    ctx: Ctx<'js>,
    name: Text,
    level: i32,
    window: i32,
    memory: i32,
    strategy: i32,
    dictionary: Bytes,
) -> Result<Class<'js, Codec>> {
    let [window, memory] = [window.clamp(9, 15), memory.clamp(1, 9)];
    let bits = usize::try_from(window).expect("at most 15");
    let tables = match name.0.as_str() {
        "Deflate" | "Gzip" | "DeflateRaw" => {
            // Window and chains, symbol buffers, and heads of chains, whose size does not depend on the window.
            (1 << (bits + 2)) + (7 << (usize::try_from(memory).expect("at most 9") + 6)) + (128 << 10)
        }
        // The largest window that a stream may request, since its header has not been read.
        "BrotliDecompress" => 16 << 20,
        _ => 32 << 10,
    };
    let Some(charge) = MemoryCharge::new(&ctx, tables + BASE + dictionary.0.len()) else {
        return Err(errors::uncatchable(&ctx, "out of memory"));
    };
    let window_bits = match name.0.as_str() {
        "Gzip" => window + GZIP,
        "DeflateRaw" => -window,
        _ => window,
    };
    let kind = match name.0.as_str() {
        "Deflate" | "Gzip" | "DeflateRaw" => {
            let strategy = Strategy::try_from(strategy).unwrap_or_default();
            let level = level.clamp(-1, 9);
            let config = DeflateConfig { level, window_bits, mem_level: memory, strategy, ..DeflateConfig::default() };
            let mut inner = Deflate::new_with_config(config);
            if !dictionary.0.is_empty() && name.0 != "Gzip" && inner.set_dictionary(&dictionary.0).is_err() {
                return Err(errors::type_error(&ctx, "the dictionary was not taken"));
            }
            CodecKind::Deflate(inner)
        }
        "BrotliDecompress" => CodecKind::Brotli(Brotli::new()),
        name => CodecKind::Inflate(InflateStream::new(name, u8::try_from(window).expect("at most 15"), dictionary.0)),
    };
    Class::instance(ctx, Codec { kind, _charge: charge })
}

impl InflateStream {
    fn new(name: &str, window: u8, dictionary: Vec<u8>) -> Self {
        let (header, bits) = match name {
            "InflateRaw" => (false, window),
            "Gunzip" => (true, window + 16),
            "Unzip" => (true, window + EITHER),
            _ => (true, window),
        };
        let mut inner = Inflate::new(header, bits);
        if !header && !dictionary.is_empty() {
            // Refused only for streams with a header, which name their dictionary themselves.
            let _ = inner.set_dictionary(&dictionary);
        }
        Self { inner, dictionary, members: name == "Gunzip" || name == "Unzip" }
    }

    fn run(&mut self, input: &[u8], output: &mut [u8], flush: InflateFlush) -> CodecProgress {
        let (mut taken, mut given) = (0, 0);
        // Only gzip has members. Data after a zlib stream is not part of the stream.
        if self.inner.total_in() == 0 && input.first().is_some_and(|byte| *byte != 0x1f) {
            self.members = false;
        }
        loop {
            let before = (self.inner.total_in(), self.inner.total_out());
            let result = self.inner.decompress(&input[taken..], &mut output[given..], flush);
            taken += usize::try_from(self.inner.total_in() - before.0).expect("within the input");
            given += usize::try_from(self.inner.total_out() - before.1).expect("within the output");
            match result {
                Ok(Status::StreamEnd) if self.members && input.get(taken).is_some_and(|byte| *byte != 0) => {
                    self.inner = Inflate::new(true, 15 + 16);
                }
                // The next chunk may begin another member.
                Ok(Status::StreamEnd) if self.members && taken == input.len() && flush != InflateFlush::Finish => {
                    return CodecProgress::new(taken, given, OK);
                }
                Ok(Status::StreamEnd) => return CodecProgress::new(taken, given, STREAM_END),
                Ok(Status::BufError) => return CodecProgress::new(taken, given, BUF_ERROR),
                Ok(Status::Ok) => return CodecProgress::new(taken, given, OK),
                Err(InflateError::NeedDict { .. }) => {
                    let message = if self.dictionary.is_empty() { "Missing dictionary" } else { "Bad dictionary" };
                    if self.dictionary.is_empty() || self.inner.set_dictionary(&self.dictionary).is_err() {
                        return CodecProgress { message: Some(message), ..CodecProgress::new(taken, given, NEED_DICT) };
                    }
                }
                Err(InflateError::DataError) => {
                    let message = self.inner.error_message();
                    return CodecProgress { message, ..CodecProgress::new(taken, given, DATA_ERROR) };
                }
                Err(_) => return CodecProgress::new(taken, given, STREAM_ERROR),
            }
        }
    }
}

impl Codec {
    fn run(&mut self, input: &[u8], output: &mut [u8], flush: i32) -> CodecProgress {
        match &mut self.kind {
            CodecKind::Deflate(inner) => {
                let before = (inner.total_in(), inner.total_out());
                let flush = DeflateFlush::try_from(flush).unwrap_or_default();
                let status = match inner.compress(input, output, flush) {
                    Ok(Status::Ok) => OK,
                    Ok(Status::BufError) => BUF_ERROR,
                    Ok(Status::StreamEnd) => STREAM_END,
                    Err(_) => STREAM_ERROR,
                };
                let taken = usize::try_from(inner.total_in() - before.0).expect("within the input");
                let given = usize::try_from(inner.total_out() - before.1).expect("within the output");
                CodecProgress::new(taken, given, status)
            }
            // Flush modes that zlib defines for compression alone have no other effect here than writing the available
            // output.
            CodecKind::Inflate(inflating) => {
                inflating.run(input, output, InflateFlush::try_from(flush).unwrap_or(InflateFlush::SyncFlush))
            }
            CodecKind::Brotli(stream) => {
                let (result, taken, given) = stream.run(input, output);
                let status = match result {
                    BrotliResult::ResultSuccess => STREAM_END,
                    BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => OK,
                    BrotliResult::ResultFailure => stream.error_code(),
                };
                CodecProgress::new(taken, given, status)
            }
        }
    }
}

/// Outcome of one call for JavaScript: the output, the number of consumed input bytes, the status and a message.
type Told<'js> = List<(Value<'js>, f64, i32, Option<&'static str>)>;

/// Processes input from an offset on.
fn run<'js>(ctx: Ctx<'js>, codec: Class<'js, Codec>, input: Value<'js>, from: u32, flush: i32) -> Result<Told<'js>> {
    let mut output = vec![0; CHUNK];
    let mut codec = codec.borrow_mut();
    let progress = text::with_view(&input, |input| {
        let from = usize::try_from(from).expect("32 bits").min(input.len());
        codec.run(&input[from..], &mut output, flush)
    });
    let Some(CodecProgress { taken, given, status, message }) = progress else {
        return Err(errors::type_error(&ctx, "expected bytes"));
    };
    output.truncate(given);
    Ok(List((convert::bytes_value(&ctx, output)?, number(taken as u64), status, message)))
}

/// Continues a checksum with more bytes.
fn crc32(bytes: Bytes, start: u32) -> f64 {
    f64::from(zlib_rs::crc32::crc32(start, &bytes.0))
}
