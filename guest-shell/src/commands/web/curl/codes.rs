//! Exit statuses of curl.

use crate::commands::web::address::Mistake;
use crate::commands::web::exchange::{Failure, Kind};

pub(super) const UNSUPPORTED_PROTOCOL: i32 = 1;
pub(super) const USAGE: i32 = 2;
pub(super) const MALFORMED: i32 = 3;
pub(super) const STATUS: i32 = 22;
pub(super) const WRITE: i32 = 23;
pub(super) const READ: i32 = 26;
pub(super) const TIMEOUT: i32 = 28;
pub(super) const READ_FILE: i32 = 37;
pub(super) const REDIRECTS: i32 = 47;
pub(super) const ENCODING: i32 = 61;

/// Reason why a transfer failed.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) status: i32,
    /// Message, with the hint, if any, on a separate line.
    pub(super) text: String,
    /// True if `-s` does not suppress the message: the command line is invalid, or a repetition cannot succeed.
    pub(super) always: bool,
}

impl Problem {
    pub(super) fn new(status: i32, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), always: false }
    }

    /// Returns a problem of the command line, which `-s` does not hide.
    pub(super) fn told(status: i32, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), always: true }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let status = match failure.kind {
            // There was nothing to connect to.
            Kind::Denied | Kind::Connection => 7,
            Kind::Request => 43,
            Kind::Dns => 6,
            Kind::Interrupted => 18,
            Kind::Tls => 60,
            Kind::Timeout => TIMEOUT,
            Kind::TooLarge => 63,
            Kind::Protocol => 8,
            // As for an interrupt.
            Kind::Cancelled => 130,
            Kind::Other => 56,
        };
        Self { status, text: failure.text().trim_end().to_owned(), always: failure.kind == Kind::Denied }
    }
}

impl From<Mistake> for Problem {
    fn from(mistake: Mistake) -> Self {
        match mistake {
            Mistake::Malformed => Self::new(MALFORMED, "URL using bad/illegal format or missing URL"),
            Mistake::Protocol(name) => {
                let text = format!("Protocol \"{name}\" not supported or disabled in libcurl");
                Self::new(UNSUPPORTED_PROTOCOL, text)
            }
        }
    }
}
