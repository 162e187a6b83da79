//! Keys: Ed25519, in the format of biscuit's tools (`ed25519-private/…` and `ed25519/…`, 64 hex digits). The format of
//! the registry (`ed25519:…`, base64) is read too.
//!
//! Nothing here stores a key. Biscuit also supports P-256, whose signatures can be converted into other valid ones that
//! a revocation list would not contain, so it is rejected everywhere.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use biscuit_auth::Algorithm;

use super::TokenError;

const PRIVATE: &str = "ed25519-private/";
const PUBLIC: &str = "ed25519/";

/// A private key, which signs tokens. Overwritten in memory when it is dropped.
#[derive(Clone)]
pub struct PrivateKey(biscuit_auth::PrivateKey);

/// A public key, which verifies tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(biscuit_auth::PublicKey);

/// A private key and its public key.
#[derive(Clone, Debug)]
pub struct Keypair {
    private: PrivateKey,
    public: PublicKey,
}

impl Keypair {
    /// Generates a key pair from the random numbers of the operating system.
    #[must_use]
    pub fn generate() -> Self {
        PrivateKey(biscuit_auth::KeyPair::new().private()).into()
    }

    /// The public key, for those who verify.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The private key, to be kept secret.
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

/// Returns the hex digits after a prefix, ignoring white space around the key, since it comes from a file.
fn digits<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let digits = text.trim_ascii().strip_prefix(prefix)?;
    (digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

/// Returns the bytes of a key in the format of the registry.
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
            return key.map(Self).map_err(|_| TokenError::NoKey("these 32 bytes are not a point on the curve"));
        }
        let Some(digits) = digits(text, PUBLIC) else {
            return Err(TokenError::NoKey("a public key is `ed25519/` and 64 hex digits"));
        };
        let key = biscuit_auth::PublicKey::from_bytes_hex(digits, Algorithm::Ed25519);
        key.map(Self).map_err(|_| TokenError::NoKey("these 32 bytes are not a point on the curve"))
    }
}

/// Writes the secret itself, for the file that keeps it.
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

/// Omits the secret, since debug output ends up in logs.
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
