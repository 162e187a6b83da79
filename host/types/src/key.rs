//! Ed25519 keys and their text forms. Must not know what is signed.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Greatest length of the name of a key in characters.
pub const MAX_KEY_NAME: usize = 64;

const PUBLIC: &str = "ed25519:";
const PRIVATE: &str = "ed25519-private:";

/// Public key that verifies signatures. Written `ed25519:` and the key's 32 bytes in base64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// Private key that signs messages. Overwritten in memory when it is dropped.
pub struct PrivateKey(SigningKey);

/// Error of a text that is not a key. It does not contain the text, which may be half of a private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not in the form of a public key.
    #[error("a public key must be `ed25519:` and 32 bytes in base64, which is 44 characters")]
    Public,
    /// The text is not in the form of a private key.
    #[error("a private key must be `ed25519-private:` and 32 bytes in base64, which is 44 characters")]
    Private,
    /// The text is in the form of a key that cannot verify anything.
    #[error("these 32 bytes are not a usable public key: no point of the curve, or a weak one")]
    Point,
}

/// Returns true if a text is a valid name of a key.
#[must_use]
pub fn is_key_name(text: &str) -> bool {
    let character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_KEY_NAME).contains(&text.len()) && text.chars().all(character)
}

impl PublicKey {
    /// Returns true if `signature` is this key's signature of a text for a purpose, as [`PrivateKey::sign`] makes it. Keys
    /// and signatures that could be valid for several messages are rejected.
    #[must_use]
    pub fn has_signed(&self, purpose: &str, text: &str, signature: &[u8]) -> bool {
        let (Ok(key), Ok(signature)) =
            (VerifyingKey::from_bytes(&self.0), ed25519_dalek::Signature::from_slice(signature))
        else {
            return false;
        };
        key.verify_strict(&message(purpose, text), &signature).is_ok()
    }
}

impl PrivateKey {
    /// Generates a key from the operating system's random numbers.
    ///
    /// # Errors
    /// If the system has none.
    pub fn generate() -> std::io::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let key = SigningKey::from_bytes(&seed);
        seed.fill(0);
        Ok(Self(key))
    }

    /// Returns the public key that verifies this key's signatures.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Returns the text form of the key, as a file stores it.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{PRIVATE}{}", STANDARD.encode(self.0.to_bytes()))
    }

    /// Signs a text for a purpose, such as `tollhouse release signature, version 1`. The purpose is the first line of the
    /// signed message, so that a signature for one purpose is never valid for another.
    #[must_use]
    pub fn sign(&self, purpose: &str, text: &str) -> [u8; 64] {
        self.0.sign(&message(purpose, text)).to_bytes()
    }
}

fn message(purpose: &str, text: &str) -> Vec<u8> {
    debug_assert!(!purpose.contains('\n'), "a purpose is one line");
    format!("{purpose}\n{text}").into_bytes()
}

/// Decodes the 32 bytes after a prefix: in base64 behind `ed25519:`, or in hexadecimal behind `ed25519/`, as `policy
/// keygen` writes keys.
fn bytes(text: &str, prefix: &str) -> Option<[u8; 32]> {
    if let Some(base64) = text.strip_prefix(prefix) {
        return STANDARD.decode(base64).ok()?.try_into().ok();
    }
    let digits = text.strip_prefix(prefix.strip_suffix(':')?)?.strip_prefix('/')?;
    hex::decode(digits).ok()?.try_into().ok()
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = bytes(text, PUBLIC).ok_or(KeyError::Public)?;
        match VerifyingKey::from_bytes(&bytes) {
            Ok(key) if !key.is_weak() && key.to_bytes() == bytes => Ok(Self(bytes)),
            _ => Err(KeyError::Point),
        }
    }
}

/// Ignores white space around the key, since it comes from a file.
impl FromStr for PrivateKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = bytes(text.trim_ascii(), PRIVATE).ok_or(KeyError::Private)?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PUBLIC}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Omits the secret, since debug output ends up in logs.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PrivateKey(…)")
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::name::deserialize_from_str(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First key of RFC 8032's test vectors.
    const SECRET: &str = "ed25519-private:nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
    const KEY: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

    #[test]
    fn keys_are_written_and_read() {
        let key: PrivateKey = format!("{SECRET}\n").parse().expect("a key");
        assert_eq!(key.to_text(), SECRET);
        assert_eq!(key.public().to_string(), KEY);
        assert_eq!(KEY.parse(), Ok(key.public()));
        assert!(!format!("{key:?}").contains("nWGx"));
        let (one, two) = (PrivateKey::generate().expect("random"), PrivateKey::generate().expect("random"));
        assert_ne!(one.public(), two.public());
    }

    #[test]
    fn key_in_another_spelling_is_refused() {
        for text in [
            "",
            "acme",
            "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
            "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURp=",
            "ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
            "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcH",
            SECRET,
        ] {
            assert_eq!(text.parse::<PublicKey>(), Err(KeyError::Public), "{text}");
        }
        // The neutral element: some signatures would be valid for every message.
        let weak = format!("{PUBLIC}{}", STANDARD.encode([&[1][..], &[0; 31]].concat()));
        assert_eq!(weak.parse::<PublicKey>(), Err(KeyError::Point));
        assert!(KEY.parse::<PrivateKey>().is_err());
    }

    #[test]
    fn keys_of_policies_are_read() {
        let key: PrivateKey = SECRET.parse().expect("a key");
        let hex = |prefix: &str, bytes: &[u8]| format!("{prefix}/{}", hex::encode(bytes));
        let public = hex("ed25519", &key.public().0);
        assert_eq!(public.parse(), Ok(key.public()));
        let private: PrivateKey = hex("ed25519-private", &key.0.to_bytes()).parse().expect("a key");
        assert_eq!(private.public(), key.public());
        assert!(public[..public.len() - 1].parse::<PublicKey>().is_err());
    }
}
