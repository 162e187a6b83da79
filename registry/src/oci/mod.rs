//! Releases in shared registries: any that speaks the distribution specification of OCI.
//!
//! **Invariant:** nothing of what a registry gives is believed. The digest of the manifest is computed, each blob is what the
//! manifest names, sizes are bounded before and while bytes come, and what comes of it goes through the checks of a publish.

mod artifact;
mod challenge;
mod error;
mod pull;
mod push;
mod reference;
mod wire;

pub use self::{
    error::OciError,
    pull::Wanted,
    push::Pushed,
    reference::{Origin, Reference, ReferenceError, Repository},
};

/// Who asks.
pub struct Credentials {
    /// The name.
    pub name: String,
    /// The password, or a token that stands for one.
    pub password: String,
}

/// Finds the credentials for a host, if there are any. It is asked only when the registry asks; the error is a text for people.
pub type FindCredentials<'a> = &'a dyn Fn(&str) -> Result<Option<Credentials>, String>;

/// Is told what is moved, how many bytes of it were, and how many there are at most.
pub type Watch<'a> = &'a dyn Fn(&str, u64, u64);

/// How registries are reached.
#[non_exhaustive]
pub struct Remote<'a> {
    /// Without TLS, whatever the host. A registry on this machine is always reached so.
    pub plain_http: bool,
    /// PEM certificates to trust instead of those that browsers trust.
    pub certificates: Option<Vec<u8>>,
    /// Through the proxy that the environment names.
    pub proxy: bool,
    /// Who asks.
    pub credentials: FindCredentials<'a>,
    /// Who looks on.
    pub watch: Watch<'a>,
}

impl<'a> Remote<'a> {
    /// By TLS, with the certificates that browsers trust, without a proxy.
    #[must_use]
    pub fn new(credentials: FindCredentials<'a>) -> Self {
        Self { plain_http: false, certificates: None, proxy: false, credentials, watch: &|_, _, _| {} }
    }
}
