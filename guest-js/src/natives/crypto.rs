//! Digests and HMAC, by RustCrypto.

use hmac::digest::Digest;
use hmac::{Hmac, Mac};
use md5::Md5;
use ripemd::Ripemd160;
use rquickjs::{Ctx, Object, Result, Value};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

use super::add_all;
use crate::convert;
use crate::text::{Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "digest" => digest, "hmac" => hmac, "hmacRounds" => hmac_rounds)
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
    let digest = with_digest!(algorithm.0.as_str(), Hash => Hash::digest(&bytes.0).to_vec());
    digest.map(|digest| convert::bytes_value(&ctx, digest)).transpose()
}

/// Returns the HMAC of some bytes, or null for an unknown algorithm.
fn hmac<'js>(ctx: Ctx<'js>, algorithm: Text, key: Bytes, bytes: Bytes) -> Result<Option<Value<'js>>> {
    let code = with_digest!(algorithm.0.as_str(), Hash => code::<Hmac<Hash>>(&key.0, &bytes.0));
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
    let codes = with_digest!(algorithm.0.as_str(), Hash => codes::<Hmac<Hash>>(&key.0, bytes.0, rounds));
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
