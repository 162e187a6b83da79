//! The part of an audit log that is about one call.

use std::sync::Arc;

use super::{Audit, AuditError, Event};

/// Records the events of one call.
#[derive(Clone)]
pub struct CallAudit {
    audit: Arc<dyn Audit>,
    run: u64,
    seq: u64,
}

impl CallAudit {
    /// Creates the recorder of a call in a run, by its number there; 0 for a component that is not called.
    #[must_use]
    pub fn new(audit: Arc<dyn Audit>, run: u64, seq: u64) -> Self {
        Self { audit, run, seq }
    }

    /// Makes the events written so far durable.
    ///
    /// # Errors
    /// If they are not durable.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    /// Records that the call never started, and that its reservation is released.
    pub fn released(&self) {
        let _ = self.audit.write(&Event::Released { run: self.run, seq: self.seq });
    }

    /// Records output of the tool. A failure to log it does not fail the call.
    pub fn said(&self, stream: &str, text: &str) {
        let _ = self.audit.write(&Event::Said { run: self.run, seq: self.seq, stream, text });
    }

    /// Records a request of the tool. Returns false if it cannot be logged: then it must not be sent.
    pub fn requested(&self, method: &str, url: &str, refused: Option<&str>) -> bool {
        self.audit.write(&Event::Requested { run: self.run, seq: self.seq, method, url, refused }).is_ok()
    }

    /// Records the use of a secret's value. If this fails, the value must not be used.
    ///
    /// # Errors
    /// If it was not written.
    pub fn secret_used(&self, secret: &str, tool: &str, to: Option<&str>) -> Result<(), AuditError> {
        self.audit.write(&Event::SecretUsed { run: self.run, seq: self.seq, secret, tool, to })
    }
}
