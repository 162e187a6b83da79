//! Events of the audit log as diagnostics of `tracing`.
//!
//! A diagnostic names methods, grants and numbers only: arguments, results, reasons and texts may hold secrets, and belong
//! to the audit log, which takes these out.

use tracing::debug;

use super::Event;

impl Event<'_> {
    /// Emits the diagnostic of this event, at level `DEBUG`.
    pub(super) fn emit_diagnostic(&self) {
        match *self {
            Self::Started { run, script, hash } => debug!(target: "tollhouse::run", run, script, hash, "started"),
            Self::Resumed { run } => debug!(target: "tollhouse::run", run, "resumed"),
            Self::Changed { run, .. } => debug!(target: "tollhouse::run", run, "files changed from outside"),
            // Emitted where the result is made, with the time that the run took.
            Self::Ended { .. } => {}
            Self::Full { run, limit } => debug!(target: "tollhouse::run", run, limit, "audit log is full"),
            Self::Mended { bytes } => {
                debug!(target: "tollhouse::run", bytes, "incomplete line removed from the audit log")
            }
            _ => self.emit_diagnostic_of_call(),
        }
    }

    fn emit_diagnostic_of_call(&self) {
        match *self {
            Self::Asked { run, seq, method, grant, .. } => {
                debug!(target: "tollhouse::call", run, seq, method, grant, "approval asked for");
            }
            Self::Answered { run, seq, allowed, by, .. } => {
                debug!(target: "tollhouse::call", run, seq, allowed, by, "approval decided");
            }
            Self::Resolved { run, seq, by, .. } => debug!(target: "tollhouse::call", run, seq, by, "resolved"),
            Self::Admitted { run, seq, caller, method, package, grant, .. } => {
                debug!(target: "tollhouse::call", run, seq, caller, method, package, grant, "admitted");
            }
            Self::Released { run, seq } => debug!(target: "tollhouse::call", run, seq, "reservation released"),
            Self::Denied { run, seq, caller, method, grant, kind, .. } => {
                debug!(target: "tollhouse::call", run, seq, caller, method, grant, ?kind, "denied");
            }
            Self::Said { run, seq, stream, text } => {
                debug!(target: "tollhouse::call", run, seq, stream, bytes = text.len(), "tool wrote");
            }
            Self::Requested { run, seq, method, refused, .. } => {
                debug!(target: "tollhouse::call", run, seq, method, refused = refused.is_some(), "HTTP request");
            }
            Self::SecretUsed { run, seq, secret, to, .. } => {
                debug!(target: "tollhouse::call", run, seq, secret, to, "secret used");
            }
            Self::Settled { run, seq, outcome, micros, .. } => {
                debug!(target: "tollhouse::call", run, seq, ?outcome, micros, "settled");
            }
            _ => {}
        }
    }
}
