//! Fetching of files by address, before the process is confined. A file is used only if its SHA-256 is known.

use std::io::Read as _;
use std::time::Duration;

use tollhouse_registry::MAX_COMPONENT;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::super::author::CtrlCHandler;
use super::super::progress::Progress;
use super::super::{CliError, Result, locations};

/// Time limit for resolving a host, connecting to it, and receiving the start of its answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Time limit for the file: the largest component over a slow line.
const BODY: Duration = Duration::from_secs(3600);
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
    let response = agent()?.get(address).call().map_err(|error| failed(&error))?;
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

/// Creates an HTTP client that uses the proxy of the environment and trusts the certificates that `SSL_CERT_FILE`
/// names.
fn agent() -> Result<Agent> {
    let mut tls = TlsConfig::builder();
    if let Some(pem) = locations::certificates()? {
        let certificates: std::result::Result<Vec<Certificate<'static>>, _> = parse_pem(&pem)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            })
            .collect();
        let certificates = certificates
            .map_err(|error| CliError::because("cannot read the certificates that SSL_CERT_FILE names", &error))?;
        tls = tls.root_certs(RootCerts::from(certificates));
    }
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .proxy(Proxy::try_from_env())
        .user_agent(concat!("tollhouse/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(ANSWER))
        .timeout_connect(Some(ANSWER))
        .timeout_recv_response(Some(ANSWER))
        .timeout_recv_body(Some(BODY))
        .build();
    Ok(config.into())
}
