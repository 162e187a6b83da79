//! Authentication challenges: parses `WWW-Authenticate` (RFC 9110, section 11.6.1). The input is untrusted.

/// Authentication that a registry requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AuthChallenge {
    /// Name and password, with each request.
    Basic,
    /// A token of an issuer.
    Bearer {
        /// Address of the issuer.
        realm: String,
        /// Name of the registry as the issuer knows it.
        service: Option<String>,
    },
}

impl AuthChallenge {
    /// Parses one header. Returns `None` if the scheme is not supported.
    pub(super) fn read(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        let mut rest = rest.trim_start();
        while !rest.is_empty() {
            let (key, value, after) = parameter(rest)?;
            match key.to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                // The scope is chosen by this client, not by the registry.
                _ => {}
            }
            rest = after.trim_start().trim_start_matches(',').trim_start();
        }
        Some(Self::Bearer { realm: realm?, service })
    }
}

/// Parses the first `key=value`, or `key="value"` with escapes, and returns the rest too.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let (key, rest) = text.split_once('=')?;
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        return Some((key.trim(), rest[..end].to_owned(), &rest[end..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((key.trim(), value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenge_header_is_parsed() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(AuthChallenge::Bearer { realm: realm.into(), service: service.map(str::to_owned) })
        };
        for (header, expected) in [
            ("Basic realm=\"x\"", Some(AuthChallenge::Basic)),
            ("basic", Some(AuthChallenge::Basic)),
            ("Bearer realm=\"https://a/t\",service=\"s\",scope=\"x,y\"", bearer("https://a/t", Some("s"))),
            ("bearer Realm=https://a/t, service=\"a\\\"b\"", bearer("https://a/t", Some("a\"b"))),
            ("Bearer realm=\"https://a/t\"", bearer("https://a/t", None)),
            ("Bearer service=\"s\"", None),
            ("Bearer realm=\"open", None),
            ("Negotiate", None),
            ("", None),
        ] {
            assert_eq!(AuthChallenge::read(header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn challenge_reader_with_arbitrary_text_does_not_panic(text in "[bB]earer [a-c=\",\\\\é ]{0,24}") {
            let _ = AuthChallenge::read(&text);
        }
    }
}
