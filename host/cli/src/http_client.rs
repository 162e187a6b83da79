//! HTTP client of the program itself: for what is fetched, and for whom it tells something, by the operator's word.

use std::time::Duration;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::{CliError, Result, locations};

/// Limits of a client.
pub(crate) struct ClientLimits {
    /// Time for each of: resolving a host, connecting to it, and receiving the start of its answer.
    pub(crate) answer: Duration,
    /// Time for the body of the answer.
    pub(crate) body: Duration,
    /// Time for all of it.
    pub(crate) whole: Option<Duration>,
    /// Redirects that are followed.
    pub(crate) redirects: u32,
}

/// Creates an HTTP client that uses the proxy of the environment and trusts the certificates that `SSL_CERT_FILE`
/// names.
pub(crate) fn agent(limits: &ClientLimits) -> Result<Agent> {
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
        .max_redirects(limits.redirects)
        .timeout_global(limits.whole)
        .timeout_resolve(Some(limits.answer))
        .timeout_connect(Some(limits.answer))
        .timeout_recv_response(Some(limits.answer))
        .timeout_recv_body(Some(limits.body))
        .build();
    Ok(config.into())
}
