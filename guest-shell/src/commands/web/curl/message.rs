//! Construction of the request from the options, and its changes by redirects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::codes::{Problem, USAGE};
use super::options::{Data, Options};
use super::{data, form};
use crate::commands::web::exchange::{Headers, holds_secret};
use crate::commands::web::files::Files;

/// User agent of curl.
pub(super) const AGENT: &str = "curl/7.88.1";

/// Kind of a request, which determines its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Head,
    Post,
    Put,
}

/// A header of `-H`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Custom {
    name: String,
    /// Value of the header; `None` suppresses a default header of that name.
    value: Option<String>,
}

/// Request without its address.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) verb: Verb,
    method: Option<String>,
    custom: Vec<Custom>,
    pub(super) body: Option<Vec<u8>>,
    content_type: Option<String>,
    authorization: Option<String>,
    pub(super) referer: Option<String>,
    /// True if the referer is the redirecting address.
    auto_referer: bool,
    json: bool,
    agent: String,
    range: Option<String>,
    compressed: bool,
}

impl Message {
    /// Builds the request for these options. `boundary` separates the parts of a form. `credentials` come from the
    /// address.
    pub(super) async fn build(
        options: &Options,
        upload: Option<&str>,
        credentials: Option<&str>,
        boundary: &str,
        files: &Files<'_, '_>,
    ) -> bashkit::Result<Result<Self, Problem>> {
        let (verb, content_type, body) = match body(options, upload, boundary, files).await? {
            Ok(body) => body,
            Err(problem) => return Ok(Err(problem)),
        };
        let custom = match custom(&options.headers, files).await? {
            Ok(custom) => custom,
            Err(problem) => return Ok(Err(problem)),
        };
        let basic = options.user.as_deref().or(credentials).map(|user| {
            let pair = if user.contains(':') { user.to_owned() } else { format!("{user}:") };
            format!("Basic {}", STANDARD.encode(bashkit::bytes_of(&pair)))
        });
        let referer = options.referer.as_deref();
        let plain = referer.map(|referer| referer.strip_suffix(";auto").unwrap_or(referer));
        Ok(Ok(Self {
            verb,
            method: options.method.clone(),
            custom,
            body,
            content_type,
            authorization: options.bearer.as_ref().map(|token| format!("Bearer {token}")).or(basic),
            referer: plain.filter(|referer| !referer.is_empty()).map(str::to_owned),
            auto_referer: plain != referer,
            json: options.json,
            agent: options.agent.clone().unwrap_or_else(|| AGENT.to_owned()),
            range: options.range.as_ref().map(|range| format!("bytes={range}")),
            compressed: options.compressed,
        }))
    }

    /// Returns the method of the request.
    pub(super) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or(match self.verb {
            Verb::Get => "GET",
            Verb::Head => "HEAD",
            Verb::Post => "POST",
            Verb::Put => "PUT",
        })
    }

    /// Returns the headers of the request. Confidential headers are omitted for another origin than the first.
    pub(super) fn headers(&self, cookie: Option<String>, same_origin: bool) -> Headers {
        let mut headers = Headers::new();
        let of_body = |value: Option<&str>| self.body.is_some().then_some(value).flatten().map(str::to_owned);
        let defaults = [
            ("Authorization", self.authorization.clone().filter(|_| same_origin)),
            ("User-Agent", Some(self.agent.clone()).filter(|agent| !agent.is_empty())),
            ("Accept", Some(if self.json { "application/json" } else { "*/*" }.to_owned())),
            ("Accept-Encoding", self.compressed.then(|| "deflate, gzip".to_owned())),
            ("Referer", self.referer.clone()),
            ("Range", self.range.clone()),
            ("Cookie", cookie),
            ("Content-Type", of_body(self.content_type.as_deref())),
        ];
        for (name, value) in defaults {
            let may_go = |value: &String| same_origin || !holds_secret(value);
            if let Some(value) =
                value.filter(may_go).filter(|_| !self.custom.iter().any(|own| own.name.eq_ignore_ascii_case(name)))
            {
                headers.push((name.to_owned(), value));
            }
        }
        for own in &self.custom {
            let Some(value) = &own.value else { continue };
            let secret =
                holds_secret(value) || ["authorization", "cookie"].contains(&own.name.to_ascii_lowercase().as_str());
            if same_origin || !secret {
                headers.push((own.name.clone(), value.clone()));
            }
        }
        headers
    }

    /// Applies a redirect with this status, from `here`.
    pub(super) fn redirect(&mut self, status: u16, here: &str, keep_post: &[u16]) {
        let to_get = match status {
            301 | 302 => self.verb == Verb::Post && !keep_post.contains(&status),
            303 => self.verb == Verb::Put || self.verb == Verb::Post && !keep_post.contains(&status),
            _ => false,
        };
        if to_get {
            self.verb = Verb::Get;
            self.body = None;
        }
        if self.auto_referer {
            self.referer = Some(here.to_owned());
        }
    }
}

type Body = (Verb, Option<String>, Option<Vec<u8>>);

async fn body(
    options: &Options,
    upload: Option<&str>,
    boundary: &str,
    files: &Files<'_, '_>,
) -> bashkit::Result<Result<Body, Problem>> {
    if let Some(name) = upload {
        let read = data::opened(name, files.read(name).await?);
        return Ok(read.map(|bytes| (Verb::Put, None, Some(bytes))));
    }
    if options.head {
        return Ok(Ok((Verb::Head, None, None)));
    }
    if !options.form.is_empty() {
        let body = form::body(&options.form, boundary, files).await?;
        let kind = format!("multipart/form-data; boundary={boundary}");
        return Ok(body.map(|bytes| (Verb::Post, Some(kind), Some(bytes))));
    }
    if options.data.is_empty() || options.get {
        return Ok(Ok((Verb::Get, None, None)));
    }
    let kind = if options.json { "application/json" } else { "application/x-www-form-urlencoded" };
    let body = data::join(&options.data, files).await?;
    Ok(body.map(|bytes| (Verb::Post, Some(kind.to_owned()), Some(bytes))))
}

/// Returns the addition to the query: the data of `-G`, and `--url-query`.
pub(super) async fn query(
    options: &Options,
    files: &Files<'_, '_>,
) -> bashkit::Result<Result<Option<String>, Problem>> {
    let mut given: Vec<Data> = options
        .queries
        .iter()
        .map(|query| match query.strip_prefix('+') {
            Some(raw) => Data::Raw(raw.to_owned()),
            None => Data::Encoded(query.clone()),
        })
        .collect();
    if options.get {
        given.extend(options.data.iter().cloned());
    }
    if given.is_empty() {
        return Ok(Ok(None));
    }
    let joined = data::join(&given, files).await?;
    Ok(joined.map(|bytes| Some(String::from_utf8_lossy(&bytes).into_owned())))
}

async fn custom(given: &[String], files: &Files<'_, '_>) -> bashkit::Result<Result<Vec<Custom>, Problem>> {
    let mut custom = Vec::new();
    for text in given {
        match text.strip_prefix('@') {
            None => custom.extend(header(text)),
            Some(name) => match files.read_for_all(name).await? {
                Ok(bytes) => custom.extend(String::from_utf8_lossy(&bytes).lines().filter_map(header)),
                Err(_) => return Ok(Err(Problem::told(USAGE, format!("Can't open '{name}'!")))),
            },
        }
    }
    Ok(Ok(custom))
}

/// Parses a header: `Name: value`. `Name:` removes it, and `Name;` makes it empty.
fn header(text: &str) -> Option<Custom> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value.trim().to_owned()).filter(|value| !value.is_empty())),
        None => (text.strip_suffix(';')?, Some(String::new())),
    };
    let name = name.trim().to_owned();
    // Such a header requests a feature that does not exist here, so removing it has no effect.
    let idle = value.is_none() && name.eq_ignore_ascii_case("expect");
    (!name.is_empty() && !idle).then_some(Custom { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(verb: Verb, headers: &[&str]) -> Message {
        Message {
            verb,
            method: None,
            custom: headers.iter().filter_map(|text| header(text)).collect(),
            body: (verb == Verb::Post).then(|| b"x".to_vec()),
            content_type: Some("text/x".to_owned()),
            authorization: Some("Basic x".to_owned()),
            referer: None,
            auto_referer: true,
            json: false,
            agent: AGENT.to_owned(),
            range: None,
            compressed: false,
        }
    }

    fn names(message: &Message, same_origin: bool) -> String {
        let headers = message.headers(None, same_origin);
        headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn headers_of_the_caller_replace_defaults() {
        let message = message(Verb::Post, &["accept:", "X-Empty;", "X-None:", "content-type: b", "no colon"]);
        assert_eq!(names(&message, true), "Authorization User-Agent X-Empty content-type");
    }

    #[test]
    fn another_origin_learns_no_credentials() {
        let message = message(Verb::Get, &["Cookie: a=b", "authorization: x", "X-Key: a {{secret:K}}", "X: 1"]);
        assert_eq!(names(&message, true), "User-Agent Accept Cookie authorization X-Key X");
        assert_eq!(names(&message, false), "User-Agent Accept X");
    }

    #[test]
    fn redirects_make_a_get_of_a_post() {
        for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
            let mut message = message(Verb::Post, &[]);
            message.redirect(status, "http://a/", &[]);
            assert_eq!((message.method(), message.body.is_some()), (method, method == "POST"), "{status}");
            assert_eq!(message.referer.as_deref(), Some("http://a/"));
        }
        let mut kept = message(Verb::Post, &[]);
        kept.redirect(301, "", &[301]);
        assert_eq!(kept.method(), "POST");
    }
}
