//! Retrieval of one address: requests until there is a final response.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::options::Options;
use crate::catalog::Methods;
use crate::commands::web::address::Address;
use crate::commands::web::cookies::Jar;
use crate::commands::web::exchange::{self, Failure, Headers, Kind, Reply, Request, holds_secret};
use crate::{clock, operations};

/// User agent of wget.
const AGENT: &str = "Wget/1.21.3";

/// Longest pause between two tries, in seconds.
const LONGEST_PAUSE: u32 = 10;

/// Headers with credentials, which are only for one origin.
const CREDENTIALS: [&str; 2] = ["authorization", "cookie"];

/// Exit status of a general failure.
const FAILED: i32 = 1;
const NETWORK: i32 = 4;
const TLS: i32 = 5;
const AUTHENTICATION: i32 = 6;
const PROTOCOL: i32 = 7;
pub(super) const SERVER: i32 = 8;

/// Reason why a retrieval failed.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: i32,
    /// Lines of the message.
    pub(super) text: String,
    /// True if `-q` does not suppress the message: the script cannot avoid the problem.
    pub(super) always: bool,
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let status = match failure.kind {
            Kind::Tls => TLS,
            Kind::Protocol => PROTOCOL,
            Kind::Request | Kind::TooLarge | Kind::Other => FAILED,
            Kind::Cancelled => 130,
            Kind::Denied | Kind::Dns | Kind::Connection | Kind::Interrupted | Kind::Timeout => NETWORK,
        };
        Self { status, text: format!("wget: {}", failure.text()), always: failure.kind == Kind::Denied }
    }
}

/// Response, its origin, and the headers of all responses.
pub(super) struct Retrieved {
    pub(super) reply: Reply,
    pub(super) address: Address,
    /// Headers of the last response.
    pub(super) head: String,
    /// Headers of all responses, in the form of `-S`.
    pub(super) shown: String,
}

/// Retrieval of a document, with the data for its requests.
pub(super) struct Retrieval<'a> {
    pub(super) methods: &'a Methods,
    pub(super) options: &'a Options,
    pub(super) jar: &'a mut Jar,
    /// Credentials in the form `user:password`.
    pub(super) credentials: Option<String>,
    pub(super) body: Option<Vec<u8>>,
}

impl Retrieval<'_> {
    /// Retrieves a document, with retries as far as they are necessary and allowed.
    pub(super) async fn retrieve(&mut self, address: &Address) -> Result<Retrieved, Problem> {
        let mut tries = 1;
        loop {
            let result = self.follow(address).await;
            let again = match &result {
                Ok(retrieved) => self.options.retry_statuses.contains(&retrieved.reply.status),
                Err(Stop::Failure(failure)) => match failure.kind {
                    Kind::Timeout | Kind::Interrupted => true,
                    Kind::Connection => self.options.retry_refused,
                    _ => false,
                },
                Err(Stop::Problem(_)) => false,
            };
            if !again || tries >= self.options.tries {
                return result.map_err(|stop| match stop {
                    Stop::Failure(failure) => failure.into(),
                    Stop::Problem(problem) => problem,
                });
            }
            let _ = operations::sleep(Duration::from_secs(u64::from(tries.min(LONGEST_PAUSE)))).await;
            tries += 1;
        }
    }

    async fn follow(&mut self, first: &Address) -> Result<Retrieved, Stop> {
        let own = if self.options.spider { "HEAD" } else { "GET" };
        let mut method = self.options.method.clone().unwrap_or_else(|| own.to_owned());
        let (mut body, mut address) = (self.body.clone(), first.clone());
        let (mut shown, mut hops) = (String::new(), 0);
        let mut asked = self.options.unasked;
        loop {
            let same_origin = address.same_origin(first);
            let request = Request {
                method: method.clone(),
                url: address.to_string(),
                headers: self.headers(&address, same_origin, body.is_some(), asked),
                body: body.clone(),
                timeout_ms: self.options.timeout.map(millis),
                max_bytes: None,
            };
            let reply = exchange::send(self.methods, &request).await?;
            let now = clock::now_micros() / 1_000_000;
            if self.options.cookies {
                let set = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
                set.for_each(|(_, value)| self.jar.keep(&address, value, now));
            }
            let head = reply.head();
            shown +=
                &head.lines().filter(|line| !line.is_empty()).map(|line| format!("  {line}\n")).collect::<String>();
            if reply.status == 401 && !asked && same_origin && self.credentials.is_some() && is_basic(&reply) {
                asked = true;
                continue;
            }
            let Some(location) = reply.location() else { return Ok(Retrieved { reply, address, head, shown }) };
            if hops == self.options.max_redirects {
                let text = format!("{hops} redirections exceeded.\n");
                return Err(Stop::Problem(Problem { status: SERVER, text, always: false }));
            }
            hops += 1;
            address = address.join(location).ok_or_else(|| {
                let text = format!("wget: `{location}`: this redirect leads to nothing that can be fetched\n");
                Stop::Problem(Problem { status: FAILED, text, always: false })
            })?;
            if matches!(reply.status, 301..=303) && body.is_some() {
                own.clone_into(&mut method);
                body = None;
            }
        }
    }

    /// Returns the headers of a request. Confidential headers are omitted for another origin than the first.
    fn headers(&self, address: &Address, same_origin: bool, has_body: bool, asked: bool) -> Headers {
        let options = self.options;
        let basic = self.credentials.as_ref().filter(|_| asked && same_origin);
        let basic = basic.map(|pair| format!("Basic {}", STANDARD.encode(bashkit::bytes_of(pair))));
        let cookie = self.jar.header(address, clock::now_micros() / 1_000_000).filter(|_| options.cookies);
        let agent = options.agent.clone().unwrap_or_else(|| AGENT.to_owned());
        let no_cache = || options.no_cache.then(|| "no-cache".to_owned());
        let defaults = [
            ("User-Agent", Some(agent).filter(|agent| !agent.is_empty())),
            ("Accept", Some("*/*".to_owned())),
            ("Accept-Encoding", Some("identity".to_owned())),
            ("Authorization", basic),
            ("Referer", options.referer.clone()),
            ("Cache-Control", no_cache()),
            ("Pragma", no_cache()),
            ("Cookie", cookie),
            ("Content-Type", has_body.then(|| "application/x-www-form-urlencoded".to_owned())),
        ];
        let own: Headers = options
            .headers
            .iter()
            .filter_map(|text| text.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let mut headers = Headers::new();
        for (name, value) in defaults {
            let may_go = |value: &String| same_origin || !holds_secret(value);
            if let Some(value) =
                value.filter(may_go).filter(|_| !own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)))
            {
                headers.push((name.to_owned(), value));
            }
        }
        let public = |(name, value): &(String, String)| {
            same_origin || !holds_secret(value) && !CREDENTIALS.contains(&name.to_ascii_lowercase().as_str())
        };
        headers.extend(own.into_iter().filter(public));
        headers
    }
}

/// Reason for the end of one try.
enum Stop {
    Failure(Failure),
    Problem(Problem),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Returns true if the server requests a password by the only supported method.
fn is_basic(reply: &Reply) -> bool {
    let asked = reply.headers.iter().filter(|(name, _)| name == "www-authenticate");
    asked.map(|(_, value)| value.to_ascii_lowercase()).any(|value| value.starts_with("basic"))
}

/// Converts seconds to milliseconds, clamped: the exact value does not matter for limits of weeks.
fn millis(seconds: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds just set")]
    let millis = (seconds * 1_000.0).clamp(1.0, f64::from(u32::MAX)) as u32;
    millis
}

/// Returns the exit status for a failure status.
pub(super) fn refusal(reply: &Reply) -> Option<i32> {
    match reply.status {
        200..=299 => None,
        401 | 407 => Some(AUTHENTICATION),
        _ => Some(SERVER),
    }
}
