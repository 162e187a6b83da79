//! Commands that fetch over HTTP: `curl` and `wget`. A script has no direct network access: each request is a call of the
//! tool `http`, which the host's gate checks like any other call.
//!
//! | module | contents |
//! | --- | --- |
//! | [`address`] | addresses on command lines, in the form for the tool |
//! | [`cookies`] | cookies that are sent and stored |
//! | [`date`] | dates in the formats of HTTP |
//! | [`exchange`] | exchange of one request with the tool |
//! | [`files`] | input and output files |
//! | [`reason`] | reason phrases of statuses |
//! | [`curl`], [`wget`] | the commands |
//!
//! Redirects are followed here as by the original programs, and not by the tool: each is a separate call.

mod address;
mod cookies;
mod curl;
mod date;
mod exchange;
mod files;
mod reason;
mod wget;

use std::sync::Arc;

use bashkit::BuiltinRegistry;

use crate::catalog::Methods;

/// Adds the commands to the registry.
pub(crate) fn register(registry: &BuiltinRegistry, methods: &Arc<Methods>) {
    registry.insert_command("curl", curl::command::Curl::new(Arc::clone(methods)));
    registry.insert_command("wget", wget::command::Wget::new(Arc::clone(methods)));
}
