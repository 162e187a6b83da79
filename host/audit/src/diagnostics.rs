//! Events of the audit log as diagnostics of `tracing`.
//!
//! A diagnostic has names and numbers only: no arguments, results, reasons or texts. Whoever emits one takes the values of
//! secrets out first, as for the audit log: scripts choose some of the names.

use tracing::{Level, debug, enabled};

use tollhouse_gate::Event;

/// Returns true if somebody collects the diagnostics.
#[must_use]
pub fn is_enabled() -> bool {
    enabled!(target: "tollhouse::call", Level::DEBUG) || enabled!(target: "tollhouse::run", Level::DEBUG)
}

/// Emits the diagnostic of an event, at level `DEBUG`.
pub fn emit(event: &Event<'_>) {
    match *event {
        Event::Started { run, script, hash } => debug!(target: "tollhouse::run", run, script, hash, "started"),
        Event::Resumed { run } => debug!(target: "tollhouse::run", run, "resumed"),
        Event::Forked { run, from, of, before } => {
            debug!(target: "tollhouse::run", run, from, of, before, "forked");
        }
        Event::Notified { run, to, error } => debug!(target: "tollhouse::run", run, to, error, "suspension notified"),
        Event::Changed { run, .. } => debug!(target: "tollhouse::run", run, "files changed from outside"),
        // Emitted where the result is made, with the time that the run took.
        Event::Ended { .. } => {}
        Event::Full { run, limit } => debug!(target: "tollhouse::run", run, limit, "audit log is full"),
        Event::Mended { bytes } => {
            debug!(target: "tollhouse::run", bytes, "incomplete line removed from the audit log")
        }
        _ => emit_for_call(event),
    }
}

fn emit_for_call(event: &Event<'_>) {
    match *event {
        Event::Asked { run, seq, method, grant, .. } => {
            debug!(target: "tollhouse::call", run, seq, method, grant, "approval asked for");
        }
        Event::Answered { run, seq, allowed, by, .. } => {
            debug!(target: "tollhouse::call", run, seq, allowed, by, "approval decided");
        }
        Event::Resolved { run, seq, by, .. } => debug!(target: "tollhouse::call", run, seq, by, "resolved"),
        Event::Admitted { run, seq, caller, method, package, grant, .. } => {
            debug!(target: "tollhouse::call", run, seq, caller, method, package, grant, "admitted");
        }
        Event::Released { run, seq } => debug!(target: "tollhouse::call", run, seq, "reservation released"),
        Event::Denied { run, seq, caller, method, grant, kind, .. } => {
            debug!(target: "tollhouse::call", run, seq, caller, method, grant, ?kind, "denied");
        }
        Event::Said { run, seq, stream, text } => {
            debug!(target: "tollhouse::call", run, seq, stream, bytes = text.len(), "tool wrote");
        }
        Event::Requested { run, seq, method, refused, .. } => {
            debug!(target: "tollhouse::call", run, seq, method, refused = refused.is_some(), "HTTP request");
        }
        Event::SecretUsed { run, seq, secret, to, .. } => {
            debug!(target: "tollhouse::call", run, seq, secret, to, "secret used");
        }
        Event::Settled { run, seq, outcome, micros, .. } => {
            debug!(target: "tollhouse::call", run, seq, ?outcome, micros, "settled");
        }
        _ => {}
    }
}
