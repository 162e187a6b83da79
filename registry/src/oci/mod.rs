//! Releases in shared registries: any that implements the distribution specification of OCI.
//!
//! **Invariant:** content from a registry is never trusted. The digest of the manifest is computed, each blob must
//! match the manifest, sizes are bounded before and while bytes arrive, and the result passes the checks of a publish.

mod artifact;
mod challenge;
mod client;
mod error;
mod pull;
mod push;
mod reference;

pub use self::{
    error::OciError,
    pull::Wanted,
    push::Pushed,
    reference::{Origin, Reference, ReferenceError, Repository},
};

/// Credentials of a user at a registry.
pub struct Credentials {
    /// Name of the user.
    pub name: String,
    /// Password, or a token in its place.
    pub password: String,
}

/// Callback that finds the credentials for a host, if there are any. It is called only when the registry requires them.
/// The error is a text for people.
pub type FindCredentials<'a> = &'a dyn Fn(&str) -> Result<Option<Credentials>, String>;

/// Progress callback: name of the transferred part, bytes so far, and bytes in all at most.
pub type Watch<'a> = &'a dyn Fn(&str, u64, u64);

/// Connection settings for registries.
#[non_exhaustive]
pub struct Remote<'a> {
    /// True to connect without TLS, whatever the host. A registry on this machine is always reached without TLS.
    pub plain_http: bool,
    /// PEM certificates to trust instead of those that browsers trust.
    pub certificates: Option<Vec<u8>>,
    /// True to use the proxy that the environment names.
    pub proxy: bool,
    /// Callback that finds credentials.
    pub credentials: FindCredentials<'a>,
    /// Callback that reports progress.
    pub watch: Watch<'a>,
}

impl<'a> Remote<'a> {
    /// Creates the default settings: TLS, the certificates that browsers trust, and no proxy.
    #[must_use]
    pub fn new(credentials: FindCredentials<'a>) -> Self {
        Self { plain_http: false, certificates: None, proxy: false, credentials, watch: &|_, _, _| {} }
    }
}
