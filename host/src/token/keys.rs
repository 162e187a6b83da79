//! Keys: Ed25519, as biscuit's tools write them (`ed25519-private/…` and `ed25519/…`, 64 hex digits). Keys as the registry
//! writes them (`ed25519:…`, base64) are read too.
//!
//! Nothing here stores a key. Biscuit also knows P-256; its signatures can be rewritten into other valid ones, which a
//! revocation list would not know, so it is refused everywhere.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use biscuit_auth::Algorithm;

use super::TokenError;

const PRIVATE: &str = "ed25519-private/";
const PUBLIC: &str = "ed25519/";

/// What signs tokens. Overwritten in memory when it is dropped.
#[derive(Clone)]
pub struct PrivateKey(biscuit_auth::PrivateKey);

/// What tokens are verified with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(biscuit_auth::PublicKey);

/// A private key and its public key.
#[derive(Clone, Debug)]
pub struct Keypair {
    private: PrivateKey,
    public: PublicKey,
}

impl Keypair {
    /// A new one, of the operating system's random numbers.
    #[must_use]
    pub fn generate() -> Self {
        PrivateKey(biscuit_auth::KeyPair::new().private()).into()
    }

    /// What others verify with.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// What to keep.
    #[must_use]
    pub fn private(&self) -> &PrivateKey {
        &self.private
    }

    pub(super) fn to_biscuit(&self) -> biscuit_auth::KeyPair {
        biscuit_auth::KeyPair::from(&self.private.0)
    }
}

impl From<PrivateKey> for Keypair {
    fn from(private: PrivateKey) -> Self {
        let public = PublicKey(private.0.public());
        Self { private, public }
    }
}

impl PublicKey {
    pub(super) fn to_biscuit(self) -> biscuit_auth::PublicKey {
        self.0
    }
}

/// The hex digits after a prefix. White space around a key does not count: it comes from a file.
fn digits<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let digits = text.trim_ascii().strip_prefix(prefix)?;
    (digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

/// The bytes of a key as the registry writes it.
fn base64(text: &str, prefix: &str) -> Option<Vec<u8>> {
    let text = text.trim_ascii().strip_prefix(prefix)?.strip_prefix(':')?;
    STANDARD.decode(text).ok().filter(|bytes| bytes.len() == 32)
}

impl FromStr for PrivateKey {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        if let Some(bytes) = base64(text, "ed25519-private") {
            let key = biscuit_auth::PrivateKey::from_bytes(&bytes, Algorithm::Ed25519);
            return key.map(Self).map_err(|_| TokenError::NoKey("these 32 bytes are not a private key"));
        }
        let error = TokenError::NoKey("a private key is `ed25519-private/` and 64 hex digits");
        let Some(digits) = digits(text, PRIVATE) else { return Err(error) };
        biscuit_auth::PrivateKey::from_bytes_hex(digits, Algorithm::Ed25519).map(Self).map_err(|_| error)
    }
}

impl FromStr for PublicKey {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        if let Some(bytes) = base64(text, "ed25519") {
            let key = biscuit_auth::PublicKey::from_bytes(&bytes, Algorithm::Ed25519);
            return key.map(Self).map_err(|_| TokenError::NoKey("these 32 bytes are no point of the curve"));
        }
        let Some(digits) = digits(text, PUBLIC) else {
            return Err(TokenError::NoKey("a public key is `ed25519/` and 64 hex digits"));
        };
        let key = biscuit_auth::PublicKey::from_bytes_hex(digits, Algorithm::Ed25519);
        key.map(Self).map_err(|_| TokenError::NoKey("these 32 bytes are no point of the curve"))
    }
}

/// The secret itself, for the file that keeps it.
impl fmt::Display for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PRIVATE}{}", self.0.to_bytes_hex())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", self.0.to_bytes_hex())
    }
}

/// Not the secret: what is printed for debugging ends in logs.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(…)")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}
