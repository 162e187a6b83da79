//! Names of protocol sessions, as clients see them: those of a worker, signed for the token or subject whose session it is.
//! So no worker can name a session of another client, and no table says which client has which session.

use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use ring::rand::SystemRandom;

/// Longest name of a protocol session that is accepted from a worker.
const MAX_NAME: usize = 128;

/// Signer of names, whose key is in this process alone.
pub(super) struct SessionNames(Key);

impl SessionNames {
    /// Creates a signer with a new key; `None` if the system has no random numbers.
    pub(super) fn new() -> Option<Self> {
        Key::generate(HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// Returns the name that a client sees; `None` if a worker may not name a session so.
    pub(super) fn signed(&self, name: &str, client: &str) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            return None;
        }
        let tag = sign(&self.0, &signed_text(name, client));
        let tag = tag.as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        Some(format!("{name}.{tag}"))
    }

    /// Returns the worker's name of a session; `None` if this client has no such session.
    pub(super) fn verified(&self, shown: &str, client: &str) -> Option<String> {
        let (name, tag) = shown.split_once('.')?;
        let digits = tag.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        let tag: Vec<u8> = digits.collect::<Option<_>>()?;
        verify(&self.0, &signed_text(name, client), &tag).ok()?;
        Some(name.to_owned())
    }
}

/// Returns what is signed. No name of a client has a zero byte.
fn signed_text(name: &str, client: &str) -> Vec<u8> {
    [client.as_bytes(), &[0], name.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_is_known_by_its_client_alone() {
        let names = SessionNames::new().expect("there are random numbers");
        let shown = names.signed("a-1", "token").expect("it is a name");
        assert_eq!(names.verified(&shown, "token").as_deref(), Some("a-1"));
        assert_eq!(names.verified(&shown, "token2"), None);
        assert_eq!(SessionNames::new().expect("as before").verified(&shown, "token"), None);
        for other in
            [shown.replace("a-1", "a-2"), shown[..shown.len() - 2].to_owned(), "a-1".to_owned(), "a-1.é".into()]
        {
            assert_eq!(names.verified(&other, "token"), None, "{other}");
        }
    }

    #[test]
    fn names_that_a_worker_may_not_give_are_refused() {
        let names = SessionNames::new().expect("there are random numbers");
        for name in ["", "a.b", "a b", "a\r\nx: y", &"a".repeat(129)] {
            assert_eq!(names.signed(name, "token"), None, "{name}");
        }
    }
}
