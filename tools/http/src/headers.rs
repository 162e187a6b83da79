//! Headers of a request: which ones a script may set, which are added, and which are dropped on redirects.

use crate::address::SECRET;
use crate::error::{Error, Kind};

/// Names in lower case, with values, in the order of sending.
pub type Headers = Vec<(String, String)>;

/// Value of `user-agent`. Some servers refuse requests without one.
const USER_AGENT: &str = concat!("tollhouse-http/", env!("CARGO_PKG_VERSION"));

/// Headers that concern the connection or follow from the rest of the request. The host sets them.
const RESERVED: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that identify the caller, and are sent to one origin only.
const CREDENTIALS: [&str; 2] = ["authorization", "cookie"];

/// Header by which a server recognizes a request that is made again.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Headers that describe a body or what it changes, and go where the body goes.
const OF_BODY: [&str; 5] =
    ["content-encoding", "content-language", "content-location", "content-type", IDEMPOTENCY_KEY];

/// Checks the headers of a script, and converts names to lower case.
///
/// # Errors
///
/// `Header`.
pub fn check(given: Vec<(String, String)>) -> Result<Headers, Error> {
    given.into_iter().map(|(name, value)| Ok((check_name(&name)?, check_value(&name, &value)?))).collect()
}

fn check_name(name: &str) -> Result<String, Error> {
    let lower = name.to_ascii_lowercase();
    if !is_token(&lower) {
        let message = format!("`{}` is no name of a header", name.escape_debug());
        return Err(Error::new(Kind::Header, message));
    }
    if RESERVED.contains(&lower.as_str()) {
        return Err(Error::new(Kind::Header, format!("the header `{lower}` is not for the caller: leave it out")));
    }
    Ok(lower)
}

fn check_value(name: &str, value: &str) -> Result<String, Error> {
    let value = value.trim_matches([' ', '\t', '\r', '\n']);
    match value.chars().find(|&character| !matches!(character, '\t' | ' '..='~')) {
        None => Ok(value.to_owned()),
        Some(character) => {
            let character = character.escape_unicode();
            let message = format!("the value of the header `{name}` holds `{character}`: only ASCII can be sent");
            Err(Error::new(Kind::Header, message))
        }
    }
}

/// Returns true if the text is a token in the sense of HTTP: the form of methods and header names.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Adds missing headers: the user agent, and the accepted and sent media types.
pub fn complete(headers: &mut Headers, accept: &str, content_type: Option<&str>) {
    let defaults = [("user-agent", Some(USER_AGENT)), ("accept", Some(accept)), ("content-type", content_type)];
    for (name, value) in defaults {
        if let Some(value) = value.filter(|_| find(headers, name).is_none()) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// Returns the first value of a header. The name is in lower case.
pub fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
}

/// Removes the headers of a body that is not sent again.
pub fn drop_of_body(headers: &mut Headers) {
    headers.retain(|(name, _)| !OF_BODY.contains(&name.as_str()));
}

/// Removes what another origin must not learn: the caller's credentials and all secrets.
pub fn drop_of_origin(headers: &mut Headers) {
    headers.retain(|(name, value)| !CREDENTIALS.contains(&name.as_str()) && !value.contains(SECRET));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(given: &[(&str, &str)]) -> Headers {
        given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn refusal(name: &str, value: &str) -> String {
        let error = check(pairs(&[(name, value)])).expect_err(name);
        assert_eq!(error.kind, Kind::Header);
        error.message
    }

    #[test]
    fn header_that_is_valid_is_normalized() {
        let given = pairs(&[("Accept", " text/html\t"), ("X-A", ""), ("x-a", "{{secret:K}}"), ("X_b", "1\t2")]);
        let expected = pairs(&[("accept", "text/html"), ("x-a", ""), ("x-a", "{{secret:K}}"), ("x_b", "1\t2")]);
        assert_eq!(check(given).expect("good headers"), expected);
    }

    #[test]
    fn header_that_is_invalid_is_refused() {
        for name in ["", "a b", "a:", "ä", "a\r\nb"] {
            assert!(refusal(name, "v").contains("no name of a header"), "{name:?}");
        }
        for name in ["Host", "content-length", "Connection", "Transfer-Encoding", "proxy-authorization"] {
            assert!(refusal(name, "v").contains("leave it out"), "{name}");
        }
        for value in ["a\r\nEvil: 1", "a\nb", "a\0b", "ä", "\u{7f}"] {
            assert!(refusal("x", value).contains("only ASCII"), "{value:?}");
        }
    }

    #[test]
    fn default_headers_do_not_replace_given_ones() {
        let mut headers = pairs(&[("accept", "text/css")]);
        complete(&mut headers, "*/*", Some("text/plain"));
        assert_eq!(headers[0].1, "text/css");
        assert_eq!(find(&headers, "user-agent"), Some("tollhouse-http/0.1.0"));
        assert_eq!(find(&headers, "content-type"), Some("text/plain"));
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn header_bound_to_origin_or_body_is_dropped_on_redirect() {
        let all = pairs(&[
            ("authorization", "Basic x"),
            ("cookie", "a=b"),
            ("x-api-key", "key {{secret:K}}"),
            ("content-type", "text/css"),
            ("idempotency-key", "k"),
            ("accept", "*/*"),
        ]);
        let mut elsewhere = all.clone();
        drop_of_origin(&mut elsewhere);
        assert_eq!(elsewhere, all[3..]);
        let mut bodyless = all.clone();
        drop_of_body(&mut bodyless);
        assert_eq!(bodyless.len(), 4);
        assert!(find(&bodyless, "content-type").is_none() && find(&bodyless, IDEMPOTENCY_KEY).is_none());
    }

    proptest! {
        #[test]
        fn header_that_passes_the_check_cannot_break_a_line(name in any::<String>(), value in any::<String>()) {
            if let Ok(headers) = check(vec![(name, value)]) {
                prop_assert!(headers.iter().all(|(name, value)| is_token(name) && !value.contains(['\r', '\n', '\0'])));
            }
        }
    }
}
