//! Commands that fetch over HTTP: `curl` and `wget`. A script has no network of its own: each request is a call of the tool
//! `http`, which the host's gate judges like any other.
//!
//! | module | contents |
//! | --- | --- |
//! | [`address`] | addresses as command lines write them, in the form that the tool takes |
//! | [`cookies`] | cookies that are sent and kept |
//! | [`date`] | dates as HTTP writes them |
//! | [`exchange`] | one request to the tool, and its answer or the reason why there is none |
//! | [`files`] | files that are sent, and files that are written |
//! | [`reason`] | words of statuses |
//! | [`curl`], [`wget`] | the commands |
//!
//! Redirects are followed here and not by the tool, as the programs follow them: each is a call of its own.

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
