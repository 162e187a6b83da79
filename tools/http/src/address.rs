//! Addresses that can be fetched: absolute, with `https` or `http`, without user and password.

use std::fmt;

use url::{Origin, Position, Url};

use crate::error::{Error, Kind};

/// Prefix of a placeholder for a secret.
pub const SECRET: &str = "{{secret:";

/// Address that can be fetched. Its text omits the fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

/// Scheme of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Unencrypted HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Address {
    /// Parses the address that a script wrote, which must be in normal form: the gate judged this text, and the request
    /// must be the one that it judged. Only the `/` after the host may be omitted.
    ///
    /// # Errors
    ///
    /// `Url`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // In encoded form, a placeholder would not be replaced, and would be sent literally.
        if text.contains(SECRET) {
            let message = "a secret has no place in an address, which many may read: put it into a header";
            return Err(Error::new(Kind::Url, message));
        }
        match Url::parse(text) {
            Ok(url) => {
                let address = Self::checked(url).map_err(|reason| refused(text, &reason))?;
                address.is_written(text).map_err(|reason| refused(text, &reason))?;
                Ok(address)
            }
            Err(url::ParseError::RelativeUrlWithoutBase) => Err(refused(text, "it must begin with `https://`")),
            Err(error) => Err(refused(text, &error.to_string())),
        }
    }

    /// Resolves a `location` against this address. As in browsers, a fragment is kept, but it is never shown.
    ///
    /// # Errors
    ///
    /// Describes the problem of the target.
    pub fn join(&self, location: &str) -> Result<Self, String> {
        self.0.join(location).map_err(|error| error.to_string()).and_then(Self::checked)
    }

    /// Checks that the text is the normal form. The error contains the right spelling of another one.
    fn is_written(&self, text: &str) -> Result<(), String> {
        if self.0.fragment().is_some() {
            return Err("what stands behind `#` is not sent: leave it out".to_owned());
        }
        let normal = self.0.as_str();
        if text == normal
            || (self.0.path() == "/" && self.0.query().is_none() && normal.strip_suffix('/') == Some(text))
        {
            return Ok(());
        }
        Err(format!("it is not in normal form: write `{}`", excerpt(normal)))
    }

    fn checked(url: Url) -> Result<Self, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is neither `https` nor `http`", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it holds a user name or password: send them in the header `authorization`".to_owned());
        }
        Ok(Self(url))
    }

    /// Returns the scheme of the address.
    pub fn scheme(&self) -> Scheme {
        if self.0.scheme() == "http" { Scheme::Http } else { Scheme::Https }
    }

    /// Returns the name or the IP address of the host.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the host, with the port unless it is the default of the scheme.
    pub fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns the target of a request: path and query.
    pub fn path(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// Returns true if both addresses have the same origin: scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        let origin: Origin = self.0.origin();
        origin == other.0.origin()
    }

    /// Returns the rule of a policy that allows this address, and all others of its host.
    pub fn rule(&self) -> String {
        match self.scheme() {
            Scheme::Http => format!("http://{}", self.authority()),
            Scheme::Https => self.authority().to_owned(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0[..Position::AfterQuery])
    }
}

fn refused(text: &str, reason: &str) -> Error {
    Error::new(Kind::Url, format!("`{}` cannot be fetched: {reason}", excerpt(text)))
}

/// Returns the start of a text for a message, long enough to be recognized.
pub fn excerpt(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).expect(text)
    }

    fn refusal(text: &str) -> String {
        let error = Address::parse(text).expect_err(text);
        assert_eq!((error.kind, &error.url), (Kind::Url, &None));
        error.message
    }

    #[test]
    fn address_is_split_into_its_parts() {
        let full = address("https://api.example.com:8443/c?q=%C3%A4&r");
        assert_eq!((full.scheme(), full.host()), (Scheme::Https, "api.example.com"));
        assert_eq!((full.authority(), full.path()), ("api.example.com:8443", "/c?q=%C3%A4&r"));
        assert_eq!(full.to_string(), "https://api.example.com:8443/c?q=%C3%A4&r");
        let bare = address("http://[::1]");
        assert_eq!((bare.authority(), bare.path(), bare.scheme()), ("[::1]", "/", Scheme::Http));
        assert_eq!(address("https://xn--bcher-kva.example").host(), "xn--bcher-kva.example");
    }

    #[test]
    fn address_not_in_normal_form_is_normalized() {
        for (text, normal) in [
            ("http://127.0.0.1:8765/api/../admin", "http://127.0.0.1:8765/admin"),
            ("https://a.example/api/%2e%2E/admin", "https://a.example/admin"),
            ("https://a.example/api/./x", "https://a.example/api/x"),
            ("https://a.example\\admin", "https://a.example/admin"),
            ("https:a.example/x", "https://a.example/x"),
            ("https:///a.example/x", "https://a.example/x"),
            (" https://a.example/x", "https://a.example/x"),
            ("https://a.example/x\n", "https://a.example/x"),
            ("https://a.exa\tmple/x", "https://a.example/x"),
            ("HTTPS://a.example/x", "https://a.example/x"),
            ("https://A.example/x", "https://a.example/x"),
            ("https://a.example:443/x", "https://a.example/x"),
            ("https://0x7f.1/", "https://127.0.0.1/"),
            ("https://2130706433", "https://127.0.0.1/"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://a.example/a b?ä", "https://a.example/a%20b?%C3%A4"),
            ("https://a.example?q", "https://a.example/?q"),
            ("https://@a.example/", "https://a.example/"),
        ] {
            assert!(refusal(text).contains(&format!("write `{normal}`")), "{text}: {}", refusal(text));
            assert_eq!(address(normal).to_string(), normal);
        }
        assert!(refusal("https://a.example/x#.json").contains("`#`"));
        assert_eq!(address("https://a.example").to_string(), "https://a.example/");
        assert_eq!(
            address("https://a.example/a%2e%2fb//c;d?x=../y").to_string(),
            "https://a.example/a%2e%2fb//c;d?x=../y"
        );
    }

    #[test]
    fn address_that_cannot_be_fetched_is_refused_with_reason() {
        assert!(refusal("/relative").contains("begin with `https://`"));
        assert!(refusal("ftp://a.example/").contains("`ftp` is neither"));
        assert!(refusal("file:///etc/passwd").contains("`file` is neither"));
        assert!(refusal("data:,x").contains("`data` is neither"));
        assert!(refusal("https://user:pw@a.example/").contains("`authorization`"));
        assert!(refusal("https://").contains("empty host"));
        assert!(refusal("https://a.example/?key={{secret:KEY}}").contains("header"));
        assert!(refusal(&"x".repeat(1000)).len() < 400);
    }

    #[test]
    fn origin_is_scheme_host_and_port() {
        let base = address("https://a.example/x");
        for same in ["https://a.example/y", "https://a.example/?z"] {
            assert!(base.same_origin(&address(same)), "{same}");
        }
        for other in ["http://a.example/x", "https://a.example:444/x", "https://b.a.example/x", "https://example/x"] {
            assert!(!base.same_origin(&address(other)), "{other}");
        }
    }

    #[test]
    fn location_is_resolved_against_the_address() {
        let base = address("https://a.example/x/y?z");
        for (location, expected) in [
            ("w", "https://a.example/x/w"),
            ("../w?v", "https://a.example/w?v"),
            ("/w#f", "https://a.example/w"),
            ("//b.example", "https://b.example/"),
            ("?q", "https://a.example/x/y?q"),
            ("http://b.example/", "http://b.example/"),
        ] {
            assert_eq!(base.join(location).expect(location).to_string(), expected);
        }
        assert!(base.join("mailto:a@b.example").is_err());
        assert!(base.join("https://u:p@b.example/").is_err());
    }

    proptest! {
        #[test]
        fn address_parser_with_arbitrary_text_does_not_panic(text in "(https?|ftp)?:?/{0,3}[a-z:@%.\\[\\]?#ä{} ]{0,30}") {
            if let Ok(address) = Address::parse(&text) {
                prop_assert!(!address.host().is_empty() && address.path().starts_with('/'));
                prop_assert!(address.path().is_ascii() && address.authority().is_ascii());
                // The text that the gate compares begins like the text that is sent.
                let shown = address.to_string();
                prop_assert!(shown == text || shown.strip_suffix('/') == Some(&text), "{} {}", shown, text);
            }
        }
    }
}
