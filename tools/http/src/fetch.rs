//! Fetching: sends requests until a response is not a redirect. The network is behind the trait [`Wire`].

use crate::address::{Address, excerpt};
use crate::answer::{self, Body, Form, Gathered};
use crate::error::{Error, Failure, Kind};
use crate::headers::find;
use crate::redirect::{self, Mode};
use crate::request::Request;

/// Largest number of redirects that a fetch follows, which is also the default: the limit of browsers.
pub const MAX_REDIRECTS: u32 = 20;

/// Default time limit of a fetch, in milliseconds: longer than healthy servers take.
pub const TIMEOUT_MS: u32 = 30_000;

/// Default limit on the body, in bytes. In base64, which takes a third more, it still fits the result of a call.
pub const MAX_BYTES: u32 = 32 << 20;

/// Transport for requests, each of which the host checks.
pub trait Wire {
    /// Unread body of a response.
    type Rest: Rest;

    /// Sends a request, and waits for the head of the response.
    ///
    /// # Errors
    ///
    /// Returns the failure of the exchange.
    fn send(&mut self, request: &Request) -> Result<Head<Self::Rest>, Failure>;
}

/// Body that arrives in chunks.
pub trait Rest {
    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns the failure of the exchange.
    fn next(&mut self) -> Result<Option<Vec<u8>>, Failure>;
}

/// Head of a response.
#[derive(Debug)]
pub struct Head<R> {
    /// Status of the response.
    pub status: u16,
    /// Headers in the order of the response, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Unread body of the response.
    pub rest: R,
}

/// Options for a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Handling of redirect responses.
    pub redirect: Mode,
    /// Largest number of redirects to follow.
    pub max_redirects: u32,
    /// Largest body, in bytes.
    pub max_bytes: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { redirect: Mode::Follow, max_redirects: MAX_REDIRECTS, max_bytes: MAX_BYTES }
    }
}

/// Response with its complete body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status of the response.
    pub status: u16,
    /// Address of the server that answered.
    pub address: Address,
    /// True if a redirect led to the address.
    pub redirected: bool,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body of the response.
    pub body: Vec<u8>,
}

/// Fetches the response to a request.
///
/// # Errors
///
/// All except for `Url`, `Header`, `Status`, `NotText`, `NotJson`.
pub fn fetch(wire: &mut impl Wire, mut request: Request, options: &Options) -> Result<Answer, Error> {
    if options.max_redirects > MAX_REDIRECTS {
        let message = format!("`maxRedirects` is {}: it must be from 0 to {MAX_REDIRECTS}", options.max_redirects);
        return Err(Error::new(Kind::Parameter, message));
    }
    let mut hops = 0;
    loop {
        let head = wire.send(&request).map_err(|failure| failure.into_error(&request.method, &request.address))?;
        let location = match options.redirect {
            Mode::Manual => None,
            Mode::Follow | Mode::Error => redirect::location(head.status, &head.headers),
        };
        let Some(location) = location else { return finish(head, request, hops > 0, options) };
        if options.redirect == Mode::Error {
            let message = format!("the server redirects to `{}`", excerpt(location));
            return Err(Error::at(&request.address, Kind::Redirect, message).with_status(head.status));
        }
        if hops == options.max_redirects {
            let message = format!("there are more redirects than {hops}; the last leads to `{}`", excerpt(location));
            return Err(Error::at(&request.address, Kind::Redirect, message).with_status(head.status));
        }
        hops += 1;
        redirect::follow(&mut request, head.status, location)?;
    }
}

fn finish<R: Rest>(mut head: Head<R>, request: Request, redirected: bool, options: &Options) -> Result<Answer, Error> {
    let Request { method, address, .. } = request;
    let status = head.status;
    let too_large = |message| Error::at(&address, Kind::TooLarge, message).with_status(status);
    // The response to HEAD announces the length of a body that it does not have.
    let announced = find(&head.headers, "content-length").filter(|_| method != "HEAD");
    let mut body = Gathered::new(options.max_bytes, announced).map_err(too_large)?;
    loop {
        match head.rest.next() {
            Ok(Some(chunk)) => body.add(&chunk).map_err(too_large)?,
            Ok(None) => break,
            Err(failure) => return Err(failure.into_error(&method, &address).with_status(status)),
        }
    }
    Ok(Answer { status, redirected, headers: head.headers, body: body.into_bytes(), address })
}

impl Answer {
    /// Returns true if the status is a success.
    pub fn ok(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Takes the body in the requested form.
    pub fn take_body(&mut self, form: Form) -> Body {
        answer::form(std::mem::take(&mut self.body), &self.headers, form)
    }

    /// Returns the body as text. The status must be a success.
    ///
    /// # Errors
    ///
    /// `Status`, `NotText`.
    pub fn into_text(self) -> Result<String, Error> {
        if !self.ok() {
            let Self { status, address, body, .. } = self;
            let mut message = format!("`{}` answered with status {status}", address.host());
            if let Some(start) = std::str::from_utf8(&body).ok().map(str::trim).filter(|text| !text.is_empty()) {
                message += &format!(": `{}`", excerpt(start).escape_debug());
            }
            return Err(Error::at(&address, Kind::Status, message).with_status(status));
        }
        answer::text(self.body, &self.headers, &self.address).map_err(|error| error.with_status(self.status))
    }

    /// Returns the body as text that is valid JSON. The status must be a success.
    ///
    /// # Errors
    ///
    /// `Status`, `NotText`, `NotJson`.
    pub fn into_json(self) -> Result<String, Error> {
        let (address, status) = (self.address.clone(), self.status);
        let text = self.into_text()?;
        answer::check_json(&text, &address).map_err(|error| error.with_status(status))?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Given;

    type Pairs = Vec<(&'static str, &'static str)>;

    /// Fake network, which answers by address, in chunks, and records the requests.
    #[derive(Default)]
    struct Pretended {
        answers: Vec<(&'static str, u16, Pairs, &'static [u8])>,
        asked: Vec<String>,
    }

    impl Pretended {
        fn answer(
            mut self,
            url: &'static str,
            status: u16,
            headers: &[(&'static str, &'static str)],
            body: &'static [u8],
        ) -> Self {
            self.answers.push((url, status, headers.to_vec(), body));
            self
        }

        fn redirect(self, url: &'static str, status: u16, location: &'static str) -> Self {
            self.answer(url, status, &[("location", location)], b"moved")
        }
    }

    impl Wire for Pretended {
        type Rest = std::slice::Chunks<'static, u8>;

        fn send(&mut self, request: &Request) -> Result<Head<Self::Rest>, Failure> {
            self.asked.push(format!("{} {}", request.method, request.address));
            let url = request.address.to_string();
            let (_, status, headers, body) =
                self.answers.iter().find(|answer| answer.0 == url).ok_or(Failure::Denied)?;
            let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            Ok(Head { status: *status, headers, rest: body.chunks(3) })
        }
    }

    impl Rest for std::slice::Chunks<'static, u8> {
        fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
            match Iterator::next(self) {
                Some(b"cut") => Err(Failure::Interrupted),
                chunk => Ok(chunk.map(<[u8]>::to_vec)),
            }
        }
    }

    fn request(method: &str, url: &str) -> Request {
        Request::new(url, Some(method), None, Given::default()).expect("a request")
    }

    fn get(wire: &mut Pretended, url: &str, options: Options) -> Result<Answer, Error> {
        fetch(wire, request("GET", url), &options)
    }

    const A: &str = "https://a.example/";
    const B: &str = "https://b.example/b";

    #[test]
    fn response_is_gathered() {
        let mut wire = Pretended::default().answer(A, 404, &[("x", "1")], b"not found");
        let mut answer = get(&mut wire, "https://a.example", Options::default()).expect("an answer");
        assert_eq!((answer.status, answer.ok(), answer.redirected), (404, false, false));
        assert_eq!((answer.address.to_string().as_str(), find(&answer.headers, "x")), (A, Some("1")));
        assert_eq!(answer.take_body(Form::Auto), Body::Text("not found".into()));
    }

    #[test]
    fn redirects_are_followed_one_by_one() {
        let wire = Pretended::default().redirect(A, 302, "//b.example/x").redirect("https://b.example/x", 308, "b");
        let mut wire = wire.answer(B, 200, &[], b"here");
        let answer = get(&mut wire, A, Options::default()).expect("an answer");
        assert_eq!((answer.address.to_string().as_str(), answer.redirected, &answer.body[..]), (B, true, &b"here"[..]));
        assert_eq!(wire.asked, ["GET https://a.example/", "GET https://b.example/x", "GET https://b.example/b"]);
    }

    #[test]
    fn redirect_is_not_followed_if_manual_or_refused() {
        let mut wire = Pretended::default().redirect(A, 302, B);
        let manual = Options { redirect: Mode::Manual, ..Options::default() };
        let answer = get(&mut wire, A, manual).expect("an answer");
        assert_eq!((answer.status, find(&answer.headers, "location"), &answer.body[..]), (302, Some(B), &b"moved"[..]));
        let never = Options { redirect: Mode::Error, ..Options::default() };
        let error = get(&mut wire, A, never).expect_err("no redirects");
        assert_eq!((error.kind, error.status), (Kind::Redirect, Some(302)));
        assert!(error.message.contains(B), "{error}");
        assert_eq!(wire.asked.len(), 2);
    }

    #[test]
    fn redirect_loop_is_an_error() {
        let mut wire = Pretended::default().redirect(A, 301, A);
        for max_redirects in [0, 1, MAX_REDIRECTS] {
            wire.asked.clear();
            let error = get(&mut wire, A, Options { max_redirects, ..Options::default() }).expect_err("a circle");
            assert_eq!((error.kind, error.url.as_deref()), (Kind::Redirect, Some(A)));
            assert_eq!(wire.asked.len(), usize::try_from(max_redirects).expect("small") + 1);
        }
        let error = get(&mut wire, A, Options { max_redirects: 21, ..Options::default() }).expect_err("too many");
        assert_eq!(error.kind, Kind::Parameter);
    }

    #[test]
    fn redirect_denied_names_its_target() {
        let mut wire = Pretended::default().redirect(A, 307, "http://intra.example:8080/x");
        let error = get(&mut wire, A, Options::default()).expect_err("denied");
        assert_eq!((error.kind, error.url.as_deref()), (Kind::Denied, Some("http://intra.example:8080/x")));
        assert!(error.message.contains("\"http://intra.example:8080\""), "{error}");
    }

    #[test]
    fn body_beyond_max_bytes_is_refused() {
        let wire = Pretended::default().answer(A, 200, &[], b"seven !");
        let mut wire = wire.answer(B, 200, &[("content-length", "7")], b"");
        for (max_bytes, fits) in [(7, true), (6, false)] {
            let options = Options { max_bytes, ..Options::default() };
            for url in [A, B] {
                let kind = get(&mut wire, url, options).err().map(|error| error.kind);
                assert_eq!(kind, (!fits).then_some(Kind::TooLarge), "{url}");
            }
            let head = fetch(&mut wire, request("HEAD", B), &options).expect("no body comes");
            assert_eq!(head.body, b"");
        }
    }

    #[test]
    fn response_interrupted_is_a_connection_error() {
        let mut wire = Pretended::default().answer(A, 200, &[], b"abccut");
        let error = get(&mut wire, A, Options::default()).expect_err("interrupted");
        assert_eq!((error.kind, error.status), (Kind::Connection, Some(200)));
    }

    #[test]
    fn body_is_returned_as_text_or_json() {
        let wire = Pretended::default().answer(A, 200, &[], b"{\"a\": 1}").answer(B, 500, &[], b"\n<p>oops</p>");
        let mut wire = wire.answer("https://c.example/", 204, &[("content-type", "image/png")], b"\x89PNG");
        let mut get = |url| get(&mut wire, url, Options::default()).expect("an answer");
        assert_eq!(get(A).into_json().expect("JSON"), "{\"a\": 1}");
        let error = get(B).into_text().expect_err("no success");
        assert_eq!((error.kind, error.status), (Kind::Status, Some(500)));
        assert!(error.message.contains("status 500: `<p>oops</p>`"), "{error}");
        let error = get("https://c.example/").into_text().expect_err("no text");
        assert_eq!((error.kind, error.status), (Kind::NotText, Some(204)));
    }
}
