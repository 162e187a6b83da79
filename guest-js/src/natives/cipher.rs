//! AES in the modes of Node's `crypto`, by RustCrypto: sequences of whole blocks, streams from any offset, and the tag
//! of GCM (NIST SP 800-38A and 800-38D). `node/src/cipher.js` handles padding, states and errors.

use aes::cipher::common::BlockSizeUser;
use aes::cipher::consts::U16;
use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit,
    StreamCipher, StreamCipherSeek,
};
use aes::{Aes128, Aes192, Aes256};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use rquickjs::{Ctx, Object, Result, Value};

use super::{add_all, count};
use crate::text::{Bytes, Text};
use crate::{convert, errors};

/// Size of a block of AES, in bytes.
const BLOCK: usize = 16;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "aesBlocks" => blocks, "aesStream" => stream, "aesGcmCounter" => gcm_counter, "aesGcmTag" => gcm_tag)
}

/// Evaluates an expression with the AES type for a key of this length, or `None` for an invalid length.
macro_rules! with_aes {
    ($key:expr, $aes:ident => $work:expr) => {
        match $key.len() {
            16 => {
                type $aes = Aes128;
                $work
            }
            24 => {
                type $aes = Aes192;
                $work
            }
            32 => {
                type $aes = Aes256;
                $work
            }
            _ => None,
        }
    };
}

/// Encrypts or decrypts whole blocks, in mode `ecb` or `cbc`. The initialization vector of `ecb` is empty.
fn blocks<'js>(
    ctx: Ctx<'js>,
    mode: Text,
    encrypt: bool,
    key: Bytes,
    vector: Bytes,
    bytes: Bytes,
) -> Result<Value<'js>> {
    let mut bytes = bytes.0;
    let (chunks, []) = Array::slice_as_chunks_mut(&mut bytes) else { return Err(refused(&ctx)) };
    let done = match (mode.0.as_str(), encrypt) {
        ("ecb", true) => {
            with_aes!(key.0, Aes => Aes::new_from_slice(&key.0).ok().map(|aes| aes.encrypt_blocks(chunks)))
        }
        ("ecb", false) => {
            with_aes!(key.0, Aes => Aes::new_from_slice(&key.0).ok().map(|aes| aes.decrypt_blocks(chunks)))
        }
        (_, true) => with_aes!(key.0, Aes => {
            cbc::Encryptor::<Aes>::new_from_slices(&key.0, &vector.0).ok().map(|mut cbc| cbc.encrypt_blocks(chunks))
        }),
        (_, false) => with_aes!(key.0, Aes => {
            cbc::Decryptor::<Aes>::new_from_slices(&key.0, &vector.0).ok().map(|mut cbc| cbc.decrypt_blocks(chunks))
        }),
    };
    done.ok_or_else(|| refused(&ctx))?;
    convert::bytes_value(&ctx, bytes)
}

/// Encrypts or decrypts bytes at an offset of a stream whose first counter block is given. In GCM (`is_gcm`), 32 bits of the
/// block count; else all of them do.
fn stream<'js>(
    ctx: Ctx<'js>,
    is_gcm: bool,
    key: Bytes,
    counter: Bytes,
    offset: f64,
    bytes: Bytes,
) -> Result<Value<'js>> {
    let mut bytes = bytes.0;
    let done = if is_gcm {
        with_aes!(key.0, Aes => apply::<ctr::Ctr32BE<Aes>>(&key.0, &counter.0, count(offset), &mut bytes))
    } else {
        with_aes!(key.0, Aes => apply::<ctr::Ctr128BE<Aes>>(&key.0, &counter.0, count(offset), &mut bytes))
    };
    done.ok_or_else(|| refused(&ctx))?;
    convert::bytes_value(&ctx, bytes)
}

fn apply<S: KeyIvInit + StreamCipher + StreamCipherSeek>(
    key: &[u8],
    counter: &[u8],
    offset: u64,
    bytes: &mut [u8],
) -> Option<()> {
    let mut stream = S::new_from_slices(key, counter).ok()?;
    stream.try_seek(offset).ok()?;
    stream.try_apply_keystream(bytes).ok()
}

/// Returns the counter block before the first one of a stream in GCM: J0 of SP 800-38D, 7.1.
fn gcm_counter<'js>(ctx: Ctx<'js>, key: Bytes, vector: Bytes) -> Result<Value<'js>> {
    let block = match vector.0.len() {
        12 => Some([vector.0.as_slice(), &[0, 0, 0, 1]].concat()),
        length => with_aes!(key.0, Aes => hash_key::<Aes>(&key.0)).map(|mut hash| {
            hash.update_padded(&vector.0);
            hash.update(&[lengths(0, length)]);
            hash.finalize().to_vec()
        }),
    };
    convert::bytes_value(&ctx, block.ok_or_else(|| refused(&ctx))?)
}

/// Returns the tag of a message in GCM, by the counter block that `gcm_counter` gave: 16 bytes.
fn gcm_tag<'js>(ctx: Ctx<'js>, key: Bytes, counter: Bytes, associated: Bytes, encrypted: Bytes) -> Result<Value<'js>> {
    let tag = with_aes!(key.0, Aes => hash_key::<Aes>(&key.0)).and_then(|mut hash| {
        hash.update_padded(&associated.0);
        hash.update_padded(&encrypted.0);
        hash.update(&[lengths(associated.0.len(), encrypted.0.len())]);
        let mut tag = hash.finalize().to_vec();
        with_aes!(key.0, Aes => apply::<ctr::Ctr32BE<Aes>>(&key.0, &counter.0, 0, &mut tag))?;
        Some(tag)
    });
    convert::bytes_value(&ctx, tag.ok_or_else(|| refused(&ctx))?)
}

/// Returns the hash of GCM under a key, which is that of a block of zeros.
fn hash_key<C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>>(key: &[u8]) -> Option<GHash> {
    let mut zeros = Array::default();
    C::new_from_slice(key).ok()?.encrypt_block(&mut zeros);
    Some(GHash::new(&zeros))
}

/// Returns the last block that GCM hashes: two lengths, in bits.
fn lengths(first: usize, second: usize) -> ghash::Block {
    let mut block = ghash::Block::default();
    for (place, length) in block.chunks_exact_mut(BLOCK / 2).zip([first, second]) {
        place.copy_from_slice(&(length as u64 * 8).to_be_bytes());
    }
    block
}

/// Returns the error for a key, a vector or data of an invalid length, which `cipher.js` does not let through.
fn refused(ctx: &Ctx<'_>) -> rquickjs::Error {
    errors::type_error(ctx, "AES takes keys of 16, 24 or 32 bytes, and blocks and vectors of 16")
}
