//! Requests, as created from the arguments of a script.

use crate::address::Address;
use crate::error::{Error, Kind};
use crate::headers::{self, Headers, is_token};

/// Methods that change nothing at the server (RFC 9110 section 9.2.1), of those that can be sent.
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Request that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method in upper case.
    pub method: String,
    /// Address of the request.
    pub address: Address,
    /// Checked headers, with names in lower case.
    pub headers: Headers,
    /// Body that is sent. `None` means no body, which differs from an empty one.
    pub body: Option<Vec<u8>>,
}

/// Body as a script gives it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Given {
    /// Body as text.
    pub body: Option<String>,
    /// Body as bytes, instead of text.
    pub bytes: Option<Vec<u8>>,
}

impl Request {
    /// Creates a request without a body.
    ///
    /// # Errors
    ///
    /// `Url`, `Header`.
    pub fn get(url: &str, given: Option<Vec<(String, String)>>, accept: &str) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let mut headers = headers::check(given.unwrap_or_default())?;
        headers::complete(&mut headers, accept, None);
        Ok(Self { method: "GET".to_owned(), address, headers, body: None })
    }

    /// Creates a request with any method.
    ///
    /// # Errors
    ///
    /// `Url`, `Header`, `Parameter`.
    pub fn new(
        url: &str,
        method: Option<&str>,
        given: Option<Vec<(String, String)>>,
        body: Given,
    ) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let mut headers = headers::check(given.unwrap_or_default())?;
        let (body, content_type) = match body {
            Given { body: Some(_), bytes: Some(_) } => {
                return Err(parameter("`body` and `bytes` cannot be given both"));
            }
            Given { body: Some(text), bytes: None } => (Some(text.into_bytes()), Some("text/plain;charset=UTF-8")),
            Given { body: None, bytes } => (bytes, None),
        };
        let method = match method {
            Some(method) => check_method(method)?,
            None => if body.is_some() { "POST" } else { "GET" }.to_owned(),
        };
        if body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
            return Err(parameter(&format!("a `{method}` has no body")));
        }
        headers::complete(&mut headers, "*/*", content_type);
        Ok(Self { method, address, headers, body })
    }

    /// Adds the idempotency key of the call, unless the script gave one, or the method is safe: then a request changes nothing.
    #[must_use]
    pub fn with_key(mut self, key: impl FnOnce() -> String) -> Self {
        let is_safe = SAFE.contains(&self.method.as_str());
        if !is_safe && headers::find(&self.headers, headers::IDEMPOTENCY_KEY).is_none() {
            self.headers.push((headers::IDEMPOTENCY_KEY.to_owned(), key()));
        }
        self
    }
}

/// Converts a method to upper case, the form in which policies name it. No method in use is spelled otherwise.
fn check_method(method: &str) -> Result<String, Error> {
    let upper = method.to_ascii_uppercase();
    if !is_token(&upper) {
        return Err(parameter(&format!("`{}` is no method such as `GET`", method.escape_debug())));
    }
    // These methods address proxies on the way to the server; browsers refuse them too.
    if matches!(upper.as_str(), "CONNECT" | "TRACE" | "TRACK") {
        return Err(parameter(&format!("the method `{upper}` cannot be sent")));
    }
    Ok(upper)
}

fn parameter(message: &str) -> Error {
    Error::new(Kind::Parameter, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::find;

    const URL: &str = "https://a.example/";

    fn text(text: &str) -> Given {
        Given { body: Some(text.to_owned()), bytes: None }
    }

    fn refusal(method: Option<&str>, body: Given) -> String {
        let error = Request::new(URL, method, None, body).expect_err("a bad request");
        assert_eq!(error.kind, Kind::Parameter);
        error.message
    }

    #[test]
    fn request_method_defaults_by_its_body() {
        let get = Request::new(URL, None, None, Given::default()).expect("a request");
        assert_eq!((get.method.as_str(), &get.body), ("GET", &None));
        assert_eq!(find(&get.headers, "content-type"), None);
        let post = Request::new(URL, None, None, text("")).expect("a request");
        assert_eq!((post.method.as_str(), post.body.as_deref()), ("POST", Some(&b""[..])));
        assert_eq!(find(&post.headers, "content-type"), Some("text/plain;charset=UTF-8"));
        let bytes = Given { body: None, bytes: Some(vec![0xff]) };
        let put = Request::new(URL, Some("put"), None, bytes).expect("a request");
        assert_eq!((put.method.as_str(), find(&put.headers, "content-type")), ("PUT", None));
    }

    #[test]
    fn request_headers_given_are_kept() {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        let request = Request::new(URL, Some("PATCH"), Some(headers), text("{}")).expect("a request");
        assert_eq!(request.headers[0], ("content-type".to_owned(), "application/json".to_owned()));
        assert_eq!(request.headers.iter().filter(|(name, _)| name == "content-type").count(), 1);
        let accept = vec![("accept".to_owned(), "text/css".to_owned())];
        let request = Request::get(URL, Some(accept), "application/json").expect("a request");
        assert_eq!(find(&request.headers, "accept"), Some("text/css"));
    }

    #[test]
    fn request_gets_the_key_of_its_call_only_if_it_may_change_something_and_has_none() {
        let keyed = |method: &str, headers: &[(&str, &str)]| {
            let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            let request = Request::new(URL, Some(method), Some(headers), Given::default()).expect("a request");
            let request = request.with_key(|| "k1".to_owned());
            find(&request.headers, "idempotency-key").map(str::to_owned)
        };
        for method in ["POST", "put", "PATCH", "DELETE", "REPORT"] {
            assert_eq!(keyed(method, &[]).as_deref(), Some("k1"), "{method}");
            assert_eq!(keyed(method, &[("Idempotency-Key", "mine")]).as_deref(), Some("mine"), "{method}");
        }
        for method in ["GET", "head", "OPTIONS"] {
            assert_eq!(keyed(method, &[]), None, "{method}");
        }
        assert_eq!(keyed("GET", &[("idempotency-key", "mine")]).as_deref(), Some("mine"));
    }

    #[test]
    fn request_that_is_contradictory_is_refused() {
        let both = Given { body: Some(String::new()), bytes: Some(Vec::new()) };
        assert!(refusal(None, both).contains("both"));
        assert!(refusal(Some("get"), text("x")).contains("`GET` has no body"));
        assert!(refusal(Some("HEAD"), text("x")).contains("`HEAD` has no body"));
        assert!(refusal(Some("CONNECT"), Given::default()).contains("cannot be sent"));
        assert!(refusal(Some("G T"), Given::default()).contains("no method"));
        assert!(refusal(Some(""), Given::default()).contains("no method"));
    }
}
