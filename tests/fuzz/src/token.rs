//! Tokens from untrusted holders.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use tollhouse::capability::Policy;
use tollhouse::token::{Keypair, PrivateKey, RevocationList, Token, TokenError};

/// Private key of the issuer, which signs only these test tokens.
const ROOT: &str = "ed25519-private/5d1c0fb4d2b0f3f0a4f7b1f6c0c8a1e79d3f4c1b2a5968778695a4b3c2d1e0f1";

/// Time at which tokens are checked: a second in 2027.
const NOW: Duration = Duration::from_secs(1_800_000_000);

/// All tokens that were sealed with the key, or derived from such a token.
const GENUINE: [&str; 4] = [
    include_str!("../corpus/token/sealed"),
    include_str!("../corpus/token/narrowed"),
    include_str!("../corpus/token/closed"),
    include_str!("../corpus/token/expired"),
];

/// Genuine token, and the grants that it gives now.
struct Genuine {
    text: String,
    bytes: Vec<u8>,
    opened: Option<Policy>,
}

static KNOWN: LazyLock<Vec<Genuine>> = LazyLock::new(|| GENUINE.iter().map(|text| known(text)).collect());

fn known(text: &str) -> Genuine {
    let text = text.trim().to_owned();
    let token = Token::parse(&text).expect("it was sealed");
    let opened = match open(&token) {
        Ok(policy) => Some(policy),
        Err(TokenError::Expired { .. }) => None,
        Err(error) => panic!("it was sealed: {error}"),
    };
    Genuine { bytes: BASE64_URL_SAFE.decode(&text).expect("it parsed"), text, opened }
}

fn open(token: &Token) -> Result<Policy, TokenError> {
    let root: PrivateKey = ROOT.parse().expect("it is a key");
    token.open(&Keypair::from(root).public(), &RevocationList::default(), SystemTime::UNIX_EPOCH + NOW)
}

/// Reads data as the text of a token. If the first byte is below the length of [`GENUINE`], it selects a genuine token,
/// and the rest is changes to its bytes: two bytes for the position, one for the bits that change. Only genuine tokens
/// may open, with the grants that they were sealed with.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn token(data: &[u8]) {
    match data.split_first() {
        Some((at, changes)) if usize::from(*at) < KNOWN.len() => {
            let mut bytes = KNOWN[usize::from(*at)].bytes.clone();
            for change in changes.chunks_exact(3) {
                let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
                bytes[place] ^= change[2];
            }
            judge(&BASE64_URL_SAFE.encode(bytes));
        }
        _ => judge(&String::from_utf8_lossy(data)),
    }
}

fn judge(text: &str) {
    let token = match Token::parse(text) {
        Ok(token) => token,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says something");
            assert!(KNOWN.iter().all(|genuine| genuine.text != text.trim_ascii()), "a genuine token: {error}");
            return;
        }
    };
    assert_eq!(token.to_string(), text.trim_ascii(), "a token has one spelling");
    let inspected = token.inspect();
    assert!(inspected.size == token.to_string().len() && !inspected.blocks.is_empty(), "{inspected:?}");
    let genuine = KNOWN.iter().find(|genuine| genuine.text == token.to_string());
    match (open(&token), genuine) {
        (Ok(policy), Some(genuine)) => assert_eq!(Some(policy), genuine.opened),
        (Ok(policy), None) => panic!("nobody sealed this, and it grants {policy:?}"),
        (Err(error), Some(genuine)) => assert!(genuine.opened.is_none(), "a genuine token: {error}"),
        (Err(_), None) => {}
    }
}
