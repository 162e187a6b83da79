//! Addresses on command lines, in the form for the tool.

use std::fmt;

use url::{Position, Url};

/// Absolute address of a resource, without user name, password and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address(Url);

/// Target that a word of the command line names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) address: Address,
    /// `user:password`, if the word includes it.
    pub(super) credentials: Option<String>,
}

/// Reason why a word is not an address that can be fetched.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// The word is not an address.
    Malformed,
    /// The protocol is not HTTP.
    Protocol(String),
}

impl Target {
    /// Parses a word of the command line as a target. Without a protocol, it means `http://…`, as for curl and wget.
    pub(super) fn parse(word: &str) -> Result<Self, Mistake> {
        if word.is_empty() || word.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(Mistake::Malformed);
        }
        let whole = match word.split_once("://") {
            Some((protocol, _)) if is_protocol(protocol) => {
                let protocol = protocol.to_ascii_lowercase();
                if !matches!(protocol.as_str(), "http" | "https") {
                    return Err(Mistake::Protocol(protocol));
                }
                word.to_owned()
            }
            _ => format!("http://{word}"),
        };
        let mut url = Url::parse(&whole).map_err(|_| Mistake::Malformed)?;
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default())));
        strip(&mut url);
        Ok(Self { address: Address(url), credentials })
    }
}

fn is_protocol(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Removes parts that are not sent in the address. Neither setter fails for an HTTP address.
fn strip(url: &mut Url) {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
}

/// Returns the decoded form of a percent-encoded text.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| std::str::from_utf8(after.get(..2)?).ok()).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Address {
    /// Returns the address that `location` refers to, relative to this one; `None` if that is not an HTTP address.
    pub(super) fn join(&self, location: &str) -> Option<Self> {
        let mut url = self.0.join(location).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        strip(&mut url);
        Some(Self(url))
    }

    /// Returns this address with an extended query.
    pub(super) fn with_query(&self, more: &str) -> Self {
        let mut url = self.0.clone();
        let query = match url.query() {
            Some(query) if !query.is_empty() => format!("{query}&{more}"),
            _ => more.to_owned(),
        };
        url.set_query(Some(&query));
        Self(url)
    }

    /// Returns this address with a name appended to its path, if the path ends with `/`.
    pub(super) fn with_file_name(&self, name: &str) -> Self {
        let mut url = self.0.clone();
        if url.path().ends_with('/') {
            let path = format!("{}{name}", url.path());
            url.set_path(&path);
        }
        Self(url)
    }

    /// Returns the protocol, which is `http` or `https`.
    pub(super) fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Returns the name of the server, without its port.
    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the name of the server, with the port unless it is the default of the protocol.
    pub(super) fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns the request target: path and query.
    pub(super) fn path_and_query(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    pub(super) fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns the last segment of the path, which is the name of the file.
    pub(super) fn file_name(&self) -> &str {
        self.path().rsplit('/').next().unwrap_or_default()
    }

    /// Returns true if both have the same origin: protocol, server and port.
    pub(super) fn same_origin(&self, other: &Self) -> bool {
        self.0.origin() == other.0.origin()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(word: &str) -> (String, Option<String>) {
        let target = Target::parse(word).expect(word);
        (target.address.to_string(), target.credentials)
    }

    #[test]
    fn words_become_addresses_in_normal_form() {
        for (word, address) in [
            ("example.com", "http://example.com/"),
            ("example.com:8080/a?b", "http://example.com:8080/a?b"),
            ("localhost:80", "http://localhost/"),
            ("https://Example.com:443/a/../b#c", "https://example.com/b"),
            ("http://a/é", "http://a/%C3%A9"),
            ("http://a/x?u=http://b/", "http://a/x?u=http://b/"),
            ("a/x?u=http://b/", "http://a/x?u=http://b/"),
        ] {
            assert_eq!(parsed(word), (address.to_owned(), None), "{word}");
        }
        assert_eq!(parsed("https://me:p%40w@a/"), ("https://a/".to_owned(), Some("me:p@w".to_owned())));
        assert_eq!(parsed("me@a"), ("http://a/".to_owned(), Some("me:".to_owned())));
    }

    #[test]
    fn words_that_are_no_addresses() {
        for word in ["", "a b", "http://a/b c", "http://[/", "http://", "http://a/\n"] {
            assert_eq!(Target::parse(word), Err(Mistake::Malformed), "{word}");
        }
        assert_eq!(Target::parse("ftp://a/"), Err(Mistake::Protocol("ftp".to_owned())));
    }

    #[test]
    fn addresses_grow() {
        let address = Target::parse("a/b/?c").expect("an address").address;
        assert_eq!(address.with_query("d=e f").to_string(), "http://a/b/?c&d=e%20f");
        assert_eq!(address.with_file_name("x.txt").to_string(), "http://a/b/x.txt?c");
        assert_eq!(address.join("../d?e#f").map(|joined| joined.to_string()), Some("http://a/d?e".to_owned()));
        assert_eq!(address.join("mailto:x@y"), None);
        assert_eq!((address.file_name(), address.path_and_query()), ("", "/b/?c"));
    }
}
