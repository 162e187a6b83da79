//! Digests and HMAC, by RustCrypto.

use hmac::digest::{Digest, DynDigest};
use hmac::{Hmac, Mac};
use md5::Md5;
use rquickjs::{Ctx, Object, Result, Value};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::add_all;
use crate::convert;
use crate::text::{Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "digest" => digest, "hmac" => hmac)
}

/// The digest of some bytes; null if there is no such algorithm.
fn digest<'js>(ctx: Ctx<'js>, algorithm: Text, bytes: Bytes) -> Result<Option<Value<'js>>> {
    let mut hasher: Box<dyn DynDigest> = match algorithm.0.as_str() {
        "md5" => Box::new(Md5::new()),
        "sha1" => Box::new(Sha1::new()),
        "sha224" => Box::new(Sha224::new()),
        "sha256" => Box::new(Sha256::new()),
        "sha384" => Box::new(Sha384::new()),
        "sha512" => Box::new(Sha512::new()),
        _ => return Ok(None),
    };
    hasher.update(&bytes.0);
    convert::bytes_value(&ctx, hasher.finalize().into_vec()).map(Some)
}

/// The HMAC of some bytes; null if there is no such algorithm.
fn hmac<'js>(ctx: Ctx<'js>, algorithm: Text, key: Bytes, bytes: Bytes) -> Result<Option<Value<'js>>> {
    let (key, bytes) = (&key.0, &bytes.0);
    let code = match algorithm.0.as_str() {
        "md5" => code::<Hmac<Md5>>(key, bytes),
        "sha1" => code::<Hmac<Sha1>>(key, bytes),
        "sha224" => code::<Hmac<Sha224>>(key, bytes),
        "sha256" => code::<Hmac<Sha256>>(key, bytes),
        "sha384" => code::<Hmac<Sha384>>(key, bytes),
        "sha512" => code::<Hmac<Sha512>>(key, bytes),
        _ => return Ok(None),
    };
    convert::bytes_value(&ctx, code).map(Some)
}

fn code<M: Mac + hmac::digest::KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut mac = <M as Mac>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
}
