//! Fetching of files by address, before the process is confined. A file is used only if its SHA-256 is known.

use std::io::Read as _;
use std::time::Duration;

use tollhouse_registry::MAX_COMPONENT;

use super::super::author::CtrlCHandler;
use super::super::http_client::{ClientLimits, agent};
use super::super::progress::Progress;
use super::super::{CliError, Result};

/// Time limit for resolving a host, connecting to it, and receiving the start of its answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Time limit for the file: the largest component over a slow line.
const BODY: Duration = Duration::from_secs(3600);
/// Redirects that are followed.
const REDIRECTS: u32 = 10;
/// Number of bytes between checks for Ctrl-C.
const CHUNK: usize = 64 << 10;

/// Hint for an address that does not answer.
const OFFLINE: &str = "fetch it where there is a network, and name the file: `--from FILE`";

/// Returns true if `--from` names an address.
pub(super) fn is_address(from: &str) -> bool {
    from.starts_with("https://") || from.starts_with("http://")
}

/// Fetches a file.
pub(super) fn fetch(address: &str, stop: &CtrlCHandler, progress: &Progress) -> Result<Vec<u8>> {
    progress.now(format!("fetching {address}"));
    let failed = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot fetch `{address}`"), error).hint(OFFLINE)
    };
    let limits = ClientLimits { answer: ANSWER, body: BODY, whole: None, redirects: REDIRECTS };
    let response = agent(&limits)?.get(address).call().map_err(|error| failed(&error))?;
    let all = response.body().content_length().unwrap_or(0);
    let mut body = response.into_body().into_reader();
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        stop.check()?;
        match body.read(&mut chunk).map_err(|error| failed(&error))? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(&chunk[..count]),
        }
        if bytes.len() > MAX_COMPONENT {
            let what = format!("`{address}` has more than the {MAX_COMPONENT} bytes that a component may have");
            return Err(CliError::usage(what).status(1));
        }
        progress.at(bytes.len() as u64, all);
    }
}
