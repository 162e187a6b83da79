//! Digests and HMAC, by RustCrypto.

use blake2::{Blake2b512, Blake2s256};
use hmac::digest::{Digest, ExtendableOutput, Update, XofReader};
use hmac::{Hmac, Mac, SimpleHmac};
use md5::Md5;
use ripemd::Ripemd160;
use rquickjs::{Ctx, Object, Result, Value};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};

use super::add_all;
use crate::convert;
use crate::text::{Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "digest" => digest, "hmac" => hmac, "hmacRounds" => hmac_rounds, "shake" => shake)
}

/// Evaluates an expression with the digest type of a name, or `None` for an unknown name.
macro_rules! with_digest {
    ($name:expr, $digest:ident => $work:expr) => {{
        macro_rules! of {
            ($type:ty) => {{
                type $digest = $type;
                Some($work)
            }};
        }
        match $name {
            "md5" => of!(Md5),
            "ripemd160" => of!(Ripemd160),
            "sha1" => of!(Sha1),
            "sha224" => of!(Sha224),
            "sha256" => of!(Sha256),
            "sha384" => of!(Sha384),
            "sha512" => of!(Sha512),
            "sha512-224" => of!(Sha512_224),
            "sha512-256" => of!(Sha512_256),
            "sha3-224" => of!(Sha3_224),
            "sha3-256" => of!(Sha3_256),
            "sha3-384" => of!(Sha3_384),
            "sha3-512" => of!(Sha3_512),
            _ => None,
        }
    }};
}

/// Returns the digest of some bytes, or null for an unknown algorithm.
fn digest<'js>(ctx: Ctx<'js>, algorithm: Text, bytes: Bytes) -> Result<Option<Value<'js>>> {
    let digest = match algorithm.0.as_str() {
        "blake2b512" => Some(Blake2b512::digest(&bytes.0).to_vec()),
        "blake2s256" => Some(Blake2s256::digest(&bytes.0).to_vec()),
        other => with_digest!(other, Hash => Hash::digest(&bytes.0).to_vec()),
    };
    digest.map(|digest| convert::bytes_value(&ctx, digest)).transpose()
}

/// Returns `length` bytes of a SHAKE digest, or null for an unknown algorithm. The caller bounds the length.
fn shake<'js>(ctx: Ctx<'js>, algorithm: Text, bytes: Bytes, length: u32) -> Result<Option<Value<'js>>> {
    let length = usize::try_from(length).expect("a length in this memory");
    let digest = match algorithm.0.as_str() {
        "shake128" => Some(extended::<Shake128>(&bytes.0, length)),
        "shake256" => Some(extended::<Shake256>(&bytes.0, length)),
        _ => None,
    };
    digest.map(|digest| convert::bytes_value(&ctx, digest)).transpose()
}

fn extended<H: Default + Update + ExtendableOutput>(bytes: &[u8], length: usize) -> Vec<u8> {
    let mut digest = vec![0; length];
    H::default().chain(bytes).finalize_xof().read(&mut digest);
    digest
}

/// Returns the HMAC of some bytes, or null for an unknown algorithm.
fn hmac<'js>(ctx: Ctx<'js>, algorithm: Text, key: Bytes, bytes: Bytes) -> Result<Option<Value<'js>>> {
    let code = match algorithm.0.as_str() {
        "blake2b512" => Some(code::<SimpleHmac<Blake2b512>>(&key.0, &bytes.0)),
        "blake2s256" => Some(code::<SimpleHmac<Blake2s256>>(&key.0, &bytes.0)),
        other => with_digest!(other, Hash => code::<Hmac<Hash>>(&key.0, &bytes.0)),
    };
    code.map(|code| convert::bytes_value(&ctx, code)).transpose()
}

/// Applies HMAC repeatedly, `rounds` times. Returns the last HMAC, followed by the exclusive or of all of them, or null
/// for an unknown algorithm. The caller keeps `rounds` small, because a script cannot be stopped in between.
fn hmac_rounds<'js>(
    ctx: Ctx<'js>,
    algorithm: Text,
    key: Bytes,
    bytes: Bytes,
    rounds: u32,
) -> Result<Option<Value<'js>>> {
    let codes = match algorithm.0.as_str() {
        "blake2b512" => Some(codes::<SimpleHmac<Blake2b512>>(&key.0, bytes.0, rounds)),
        "blake2s256" => Some(codes::<SimpleHmac<Blake2s256>>(&key.0, bytes.0, rounds)),
        other => with_digest!(other, Hash => codes::<Hmac<Hash>>(&key.0, bytes.0, rounds)),
    };
    codes.map(|codes| convert::bytes_value(&ctx, codes)).transpose()
}

fn codes<M: Mac + hmac::digest::KeyInit + Clone>(key: &[u8], bytes: Vec<u8>, rounds: u32) -> Vec<u8> {
    let keyed = <M as Mac>::new_from_slice(key).expect("HMAC takes keys of any length");
    let mut code = bytes;
    let mut all = vec![0; code.len()];
    for _ in 0..rounds {
        let mut mac = keyed.clone();
        mac.update(&code);
        code = mac.finalize().into_bytes().to_vec();
        all.iter_mut().zip(&code).for_each(|(sum, byte)| *sum ^= byte);
    }
    code.extend(all);
    code
}

fn code<M: Mac + hmac::digest::KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut mac = <M as Mac>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
}
