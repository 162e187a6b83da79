//! Public keys of an authorization server (JSON Web Key Set, RFC 7517), and the signatures that they verify.
//!
//! **Invariant:** the algorithm belongs to the key, and not to the token: a key of one type verifies signatures of one
//! algorithm. Secret keys (`oct`) are never read, so no text that is public can be the key of an HMAC.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// Most bytes of a set of keys.
pub(crate) const MAX_BYTES: usize = 256 << 10;

/// Most keys of a set. Servers have a few: the present one, the next one and the last one.
const MAX_KEYS: usize = 64;

/// Sizes of an RSA modulus in bytes that a signature is verified with: 2,048 to 8,192 bits.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

/// Most bytes of an RSA exponent. All servers have 65,537.
const MAX_EXPONENT: usize = 8;

/// Signature algorithm that a server can accept. There is none without a signature, and none with a shared secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA on the curve P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// RSA (PKCS #1 v1.5) with SHA-256, with keys of 2,048 bits or more.
    Rs256,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::Es256, Self::EdDsa, Self::Rs256];

    /// Returns the name in tokens and keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }

    /// Returns the algorithm with this name, which is exactly one of theirs.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reason why a text is no set of keys that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// The text is too long.
    #[error("the key set has more than {MAX_BYTES} bytes")]
    TooLarge,
    /// The text is no key set.
    #[error("it is not a JSON Web Key Set: {0}")]
    Malformed(String),
    /// There are too many keys.
    #[error("the key set has {0} keys, which is more than {MAX_KEYS}")]
    TooMany(usize),
    /// No key is of a type that signs tokens.
    #[error("the key set has no public key of EC P-256, Ed25519, or RSA of 2048 to 8192 bits that verifies signatures")]
    Empty,
}

/// Set of public keys.
#[derive(Debug)]
pub(crate) struct KeySet(Vec<PublicKey>);

#[derive(Debug)]
struct PublicKey {
    id: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug)]
enum KeyMaterial {
    /// Point on P-256, uncompressed.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Jwk>,
}

/// Key as it is written, as far as it matters. Members of secret keys are not read.
#[derive(Deserialize)]
struct Jwk {
    kty: Option<String>,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl KeySet {
    /// Parses a set of keys. Keys that verify no signatures, or of other types, are left out, as RFC 7517 asks.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, KeySetError> {
        if text.len() > MAX_BYTES {
            return Err(KeySetError::TooLarge);
        }
        let set: JwkSet = serde_json::from_slice(text).map_err(|error| KeySetError::Malformed(error.to_string()))?;
        if set.keys.len() > MAX_KEYS {
            return Err(KeySetError::TooMany(set.keys.len()));
        }
        let keys: Vec<PublicKey> = set.keys.into_iter().filter_map(Jwk::public_key).collect();
        if keys.is_empty() { Err(KeySetError::Empty) } else { Ok(Self(keys)) }
    }

    /// Returns true if the set has a key for tokens with this key id and algorithm. Tokens without a key id are those of
    /// the only key.
    pub(crate) fn has(&self, id: Option<&str>, algorithm: Algorithm) -> bool {
        self.of(id, algorithm).next().is_some()
    }

    /// Returns true if a key with this id, of this algorithm, has made the signature.
    pub(crate) fn verify(&self, id: Option<&str>, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        self.of(id, algorithm).any(|key| key.material.verify(message, signature))
    }

    fn of(&self, id: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &PublicKey> {
        let is_only = self.0.len() == 1;
        self.0.iter().filter(move |key| {
            let is_named = match id {
                Some(id) => key.id.as_deref() == Some(id),
                None => is_only,
            };
            is_named && key.material.algorithm() == algorithm
        })
    }
}

impl Jwk {
    /// Returns the key, if it is one that verifies signatures of an algorithm that is known.
    fn public_key(self) -> Option<PublicKey> {
        let verifies = self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|one| one == "verify"));
        let material = match (self.kty.as_deref()?, self.crv.as_deref()) {
            ("EC", Some("P-256")) => {
                let (x, y) = (decoded(self.x.as_deref()?)?, decoded(self.y.as_deref()?)?);
                (x.len() == 32 && y.len() == 32).then(|| KeyMaterial::P256([&[4][..], &x, &y].concat()))?
            }
            ("OKP", Some("Ed25519")) => {
                let point = decoded(self.x.as_deref()?)?;
                (point.len() == 32).then_some(KeyMaterial::Ed25519(point))?
            }
            ("RSA", _) => {
                let (modulus, exponent) = (number(self.n.as_deref()?)?, number(self.e.as_deref()?)?);
                let is_usable = MODULUS.contains(&modulus.len()) && (1..=MAX_EXPONENT).contains(&exponent.len());
                is_usable.then_some(KeyMaterial::Rsa { modulus, exponent })?
            }
            _ => return None,
        };
        let is_of = self.alg.as_deref().is_none_or(|name| name == material.algorithm().name());
        (verifies && is_of).then_some(PublicKey { id: self.kid, material })
    }
}

impl KeyMaterial {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
            Self::Rsa { .. } => Algorithm::Rs256,
        }
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature),
            Self::Ed25519(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
            Self::Rsa { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
        };
        verified.is_ok()
    }
}

/// Decodes base64url without padding, strictly: one text has one spelling.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes a number, without the zeros that some servers write before it.
fn number(text: &str) -> Option<Vec<u8>> {
    let bytes = decoded(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes[zeros..].to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Key and signature of RFC 7515, appendix A.2.
    const RS256_KEY: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR\
        T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg6\
        65xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    const PAYLOAD: &str =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const RS256_SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbd\
        s9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j\
        zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

    fn set(keys: serde_json::Value) -> Result<KeySet, KeySetError> {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
    }

    #[test]
    fn signatures_of_the_standards_are_verified_and_changed_ones_are_not() {
        let keys = set(json!([
            { "kty": "RSA", "kid": "rsa", "n": RS256_KEY, "e": "AQAB" },
            // RFC 7515, appendix A.3.
            { "kty": "EC", "crv": "P-256", "kid": "ec", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
              "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" },
            // RFC 8037, appendix A.
            { "kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
        ]))
        .expect("keys");
        let cases = [
            ("rsa", Algorithm::Rs256, format!("eyJhbGciOiJSUzI1NiJ9.{PAYLOAD}"), RS256_SIGNATURE),
            (
                "ec",
                Algorithm::Es256,
                format!("eyJhbGciOiJFUzI1NiJ9.{PAYLOAD}"),
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
            ),
            (
                "ed",
                Algorithm::EdDsa,
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".to_owned(),
                "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
            ),
        ];
        for (id, algorithm, message, signature) in cases {
            let signature = decoded(signature).expect("base64url");
            assert!(keys.verify(Some(id), algorithm, message.as_bytes(), &signature), "{id}");
            assert!(!keys.verify(Some(id), algorithm, format!("{message}x").as_bytes(), &signature), "{id}");
            assert!(!keys.verify(Some("other"), algorithm, message.as_bytes(), &signature), "{id}");
            assert!(!keys.verify(None, algorithm, message.as_bytes(), &signature), "{id}: there are several keys");
            for other in Algorithm::ALL.into_iter().filter(|other| *other != algorithm) {
                assert!(!keys.has(Some(id), other) && !keys.verify(Some(id), other, message.as_bytes(), &signature));
            }
            let mut changed = signature.clone();
            changed[7] ^= 1;
            assert!(!keys.verify(Some(id), algorithm, message.as_bytes(), &changed), "{id}");
            assert!(!keys.verify(Some(id), algorithm, message.as_bytes(), &[]), "{id}");
        }
    }

    #[test]
    fn key_set_leaves_out_keys_that_cannot_verify_signatures() {
        let point = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let usable = json!({ "kty": "OKP", "crv": "Ed25519", "x": point });
        assert!(set(json!([usable.clone()])).is_ok_and(|keys| keys.has(None, Algorithm::EdDsa)));
        for (member, value) in [
            ("use", json!("enc")),
            ("key_ops", json!(["encrypt"])),
            ("alg", json!("ES256")),
            ("alg", json!("HS256")),
            ("crv", json!("X25519")),
            ("kty", json!("oct")),
            ("x", json!("AAAA")),
            ("x", json!(format!("{point}="))),
        ] {
            let mut key = usable.clone();
            key[member] = value;
            assert_eq!(set(json!([key.clone()])).err(), Some(KeySetError::Empty), "{key}");
        }
        let short = json!({ "kty": "RSA", "n": "ofgWCuLjybRlzo0tZWJjNg", "e": "AQAB" });
        assert_eq!(set(json!([short, { "kty": "oct", "k": "c2VjcmV0" }])).err(), Some(KeySetError::Empty));
    }

    #[test]
    fn set_beyond_its_bounds_is_refused() {
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": "x" });
        assert_eq!(set(json!(vec![key.clone(); MAX_KEYS + 1])).err(), Some(KeySetError::TooMany(MAX_KEYS + 1)));
        assert_eq!(set(json!(vec![key; 10_000])).err(), Some(KeySetError::TooLarge));
        for text in ["", "[]", "{}", "{\"keys\": 1}", "{\"keys\": [1]}", "{\"keys\": [], \"keys\": []}"] {
            let refused = KeySet::parse(text.as_bytes());
            assert!(matches!(refused, Err(KeySetError::Malformed(_))), "{text}: {refused:?}");
        }
        assert_eq!(set(json!([])).err(), Some(KeySetError::Empty));
    }
}
