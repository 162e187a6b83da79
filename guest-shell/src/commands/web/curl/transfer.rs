//! Transfer of one address: requests until a response is neither a redirect nor retried, and a report about it.

use std::io::Read as _;
use std::time::Duration;

use super::codes::{ENCODING, Problem, REDIRECTS, STATUS, TIMEOUT};
use super::message::{Message, Verb};
use super::options::Options;
use super::write_out::Report;
use crate::catalog::Methods;
use crate::commands::web::address::Address;
use crate::commands::web::cookies::Jar;
use crate::commands::web::exchange::{self, Failure, Kind, Reply, Request};
use crate::{clock, operations};

/// Number of microseconds in a second.
const SECOND: f64 = 1_000_000.0;

/// Longest delay between two tries, in seconds.
const LONGEST_DELAY: f64 = 600.0;

/// Failure statuses that may be temporary.
const TRANSIENT: [u16; 6] = [408, 429, 500, 502, 503, 504];

/// Result of a transfer.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) report: Report,
    /// Headers of all responses, in the form of HTTP/1.1.
    pub(super) heads: String,
    pub(super) body: Vec<u8>,
    pub(super) problem: Option<Problem>,
    /// Lines about the exchange, for `-v`.
    pub(super) trace: String,
    /// Warnings about failed tries.
    pub(super) warnings: String,
}

/// Sender of a message, with the data for its requests.
pub(super) struct Sender<'a> {
    pub(super) methods: &'a Methods,
    pub(super) options: &'a Options,
    /// Stored cookies, if any.
    pub(super) jar: Option<&'a mut Jar>,
    /// Text of cookies that is sent with all requests.
    pub(super) cookies: Option<String>,
}

impl Sender<'_> {
    /// Sends requests until there is a final response.
    pub(super) async fn send(&mut self, message: &Message, address: &Address) -> Ended {
        let begin = clock::now_micros();
        let retry = &self.options.retry;
        let (mut left, mut delay) = (retry.count, retry.delay.unwrap_or(1.0));
        let mut warnings = String::new();
        loop {
            let mut ended = self.follow(message.clone(), address.clone()).await;
            let time_is_left = retry.max_time.is_none_or(|limit| elapsed(begin) < limit);
            let Some(why) = self.transient(&ended).filter(|_| left > 0 && time_is_left) else {
                ended.warnings = warnings;
                return ended;
            };
            // The server may specify a delay.
            let header = ended.report.headers.iter().find(|(name, _)| name == "retry-after");
            let asked = header.and_then(|(_, value)| value.parse::<f64>().ok()).filter(|seconds| *seconds >= 0.0);
            let pause = asked.filter(|asked| *asked > delay).unwrap_or(delay).min(LONGEST_DELAY);
            warnings += &format!("Warning: Problem: {why}. Will retry in {pause} seconds. {left} retries left.\n");
            let _ = operations::sleep(Duration::from_secs_f64(pause)).await;
            left -= 1;
            if retry.delay.is_none() {
                delay = (delay * 2.0).min(LONGEST_DELAY);
            }
        }
    }

    /// Returns the reason why another try may succeed.
    fn transient(&self, ended: &Ended) -> Option<&'static str> {
        let retry = &self.options.retry;
        match &ended.problem {
            Some(problem) if problem.always => None,
            Some(problem) if problem.status == TIMEOUT => Some("timeout"),
            Some(problem) if problem.status == 7 && retry.refused => Some("connection refused"),
            _ if TRANSIENT.contains(&ended.report.status) => Some("HTTP error"),
            Some(_) if retry.all => Some("(retrying all errors)"),
            _ => None,
        }
    }

    /// Sends one request, and follows redirects.
    async fn follow(&mut self, mut message: Message, first: Address) -> Ended {
        let begin = clock::now_micros();
        let mut ended = Ended::default();
        let mut address = first.clone();
        loop {
            ended.report.method = message.method().to_owned();
            ended.report.effective = address.to_string();
            ended.report.scheme = address.scheme().to_owned();
            ended.report.referer.clone_from(&message.referer);
            let reply = self.hop(&message, &address, address.same_origin(&first), begin, &mut ended).await;
            ended.report.time = clock::now_micros().saturating_sub(begin);
            let reply = match reply {
                Ok(reply) => reply,
                Err(failure) => {
                    ended.problem = Some(failure.into());
                    return ended;
                }
            };
            let Some(location) = reply.location() else { return self.finish(reply, &message, ended) };
            let next = address.join(location);
            if !self.options.redirects.follow {
                ended.report.redirect_url = next.map(|next| next.to_string());
                return self.finish(reply, &message, ended);
            }
            if self.options.redirects.limit.is_some_and(|limit| ended.report.redirects >= limit) {
                let text = format!("Maximum ({}) redirects followed", ended.report.redirects);
                ended.report.redirect_url = next.map(|next| next.to_string());
                ended.problem = Some(Problem::new(REDIRECTS, text));
                return ended;
            }
            let Some(next) = next else {
                let text = format!("The redirect to `{location}` leads to nothing that can be fetched");
                ended.problem = Some(Problem::new(REDIRECTS, text));
                return ended;
            };
            message.redirect(reply.status, &address.to_string(), &self.options.redirects.keep_post);
            ended.report.redirects += 1;
            ended.report.time_redirect = ended.report.time;
            address = next;
        }
    }

    /// Sends one request of a transfer.
    async fn hop(
        &mut self,
        message: &Message,
        address: &Address,
        same_origin: bool,
        begin: u64,
        ended: &mut Ended,
    ) -> Result<Reply, Failure> {
        let now = clock::now_micros() / 1_000_000;
        let kept = self.jar.as_ref().and_then(|jar| jar.header(address, now));
        let given = self.cookies.clone().filter(|_| same_origin);
        let cookies: Vec<String> = kept.into_iter().chain(given).collect();
        let cookie = (!cookies.is_empty()).then(|| cookies.join("; "));
        let request = Request {
            method: message.method().to_owned(),
            url: address.to_string(),
            headers: message.headers(cookie, same_origin),
            body: message.body.clone(),
            timeout_ms: self.time_left(begin)?,
            max_bytes: self.options.max_size.map(|size| u32::try_from(size).unwrap_or(u32::MAX)),
        };
        let head = request_head(&request, address);
        ended.report.size_request += count(head.len());
        ended.trace += &traced('>', &head);
        let reply = exchange::send(self.methods, &request).await?;
        let head = reply.head();
        ended.report.size_header += count(head.len());
        ended.report.size_upload = request.body.as_ref().map_or(0, |body| count(body.len()));
        ended.report.status = reply.status;
        ended.report.headers.clone_from(&reply.headers);
        ended.trace += &traced('<', &head);
        ended.heads += &head;
        if let Some(jar) = &mut self.jar {
            let set = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
            set.for_each(|(_, value)| jar.keep(address, value, now));
        }
        Ok(reply)
    }

    /// Returns the milliseconds that are left for the transfer.
    fn time_left(&self, begin: u64) -> Result<Option<u32>, Failure> {
        let Some(limit) = self.options.max_time else { return Ok(None) };
        let left = (limit - elapsed(begin)) * 1_000.0;
        if left < 1.0 {
            let message = format!("Operation timed out after {:.0} milliseconds", limit * 1_000.0);
            return Err(Failure { kind: Kind::Timeout, message, hint: None });
        }
        // Clamped, since the exact value does not matter for limits of weeks.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds just set")]
        let left = left.min(f64::from(u32::MAX)) as u32;
        Ok(Some(left))
    }

    /// Takes the body of the last response, unless its status is a failure.
    fn finish(&self, reply: Reply, message: &Message, mut ended: Ended) -> Ended {
        let options = self.options;
        if options.fail.on_status && reply.status >= 400 {
            let text = format!("The requested URL returned error: {}", reply.status);
            ended.problem = Some(Problem::new(STATUS, text));
            if !options.fail.with_body {
                return ended;
            }
        }
        if message.verb == Verb::Head || reply.body.is_empty() {
            return ended;
        }
        ended.report.size_download = count(reply.body.len());
        let encoding = reply.header("content-encoding").unwrap_or("identity").to_owned();
        match options.compressed.then(|| decode(&encoding, &reply.body)) {
            None => ended.body = reply.body,
            Some(Ok(body)) => ended.body = body,
            Some(Err(text)) => ended.problem = Some(Problem::new(ENCODING, text)),
        }
        ended
    }
}

/// Decodes a body. The last encoding is removed first.
fn decode(encodings: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = body.to_vec();
    for encoding in encodings.split(',').rev().map(|encoding| encoding.trim().to_ascii_lowercase()) {
        let mut decoded = Vec::new();
        let read = match encoding.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(&body[..]).read_to_end(&mut decoded),
            "deflate" => flate2::read::ZlibDecoder::new(&body[..]).read_to_end(&mut decoded),
            other => {
                return Err(format!("Unrecognized content encoding type. curl understands deflate, gzip: {other}"));
            }
        };
        read.map_err(|error| format!("Error while processing content unencoding: {error}"))?;
        body = decoded;
    }
    Ok(body)
}

fn request_head(request: &Request, address: &Address) -> String {
    let mut head =
        format!("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, address.path_and_query(), address.authority());
    for (name, value) in &request.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if let Some(body) = &request.body {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    head + "\r\n"
}

fn traced(sign: char, head: &str) -> String {
    head.lines().map(|line| format!("{sign} {line}\n")).collect()
}

fn elapsed(begin: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a time of a run is far below 2^53 microseconds")]
    let micros = clock::now_micros().saturating_sub(begin) as f64;
    micros / SECOND
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("a length in memory fits into 64 bits")
}
