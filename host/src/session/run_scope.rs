//! Context of a run's calls: the parts that they share, and the parts of each.

use std::sync::{Arc, Mutex};

use super::host::guest_now;
use super::session_state::SessionState;
use crate::agent::ToolCaller;
use crate::code::Interrupt;
use crate::gate::{Admission, AdmittedCall, Audit, CallAudit, RunLog, RunRecord, SessionGate};
use crate::tool::{Authority, CallContext, Handles, PeerTools, WorkingFiles, idempotency_key};
use crate::vfs::Tree;

/// Context that the calls of one run share. Cheap to clone.
#[derive(Clone)]
pub(super) struct RunScope {
    session: Arc<SessionState>,
    pub(super) record: RunRecord,
    handles: Arc<Handles>,
}

impl RunScope {
    /// Creates the context of a run that starts.
    pub(super) fn new(session: &Arc<SessionState>, run: u64) -> Self {
        let log = RunLog::new(session.gate.audit(), run, session.limits().log);
        Self::with_record(session, RunRecord::new(run, log))
    }

    /// Creates the context of a run that already has a call record.
    pub(super) fn with_record(session: &Arc<SessionState>, record: RunRecord) -> Self {
        let handles = Arc::new(Handles::new(session.storage.seed("handles", &[record.run()])));
        Self { session: Arc::clone(session), record, handles }
    }

    /// Returns the audit log of the run.
    pub(super) fn log(&self) -> Arc<dyn Audit> {
        Arc::clone(self.record.log()) as Arc<dyn Audit>
    }

    /// Returns the idempotency key of a call of the run.
    pub(super) fn idempotency_key(&self, seq: u64) -> String {
        idempotency_key(&self.tool_seed(seq))
    }

    /// Returns the seed of the random numbers of a call.
    fn tool_seed(&self, seq: u64) -> [u8; 32] {
        self.session.storage.seed("tool", &[self.record.run(), seq])
    }

    /// Prepares an admitted call; `files` are the caller's.
    pub(super) fn call(&self, admission: Admission, interrupt: Interrupt, files: Tree) -> AdmittedCall {
        self.call_at(admission, interrupt, files, guest_now())
    }

    /// Prepares an admitted call that starts at this time.
    pub(super) fn call_at(&self, admission: Admission, interrupt: Interrupt, files: Tree, now: u64) -> AdmittedCall {
        let (gate, working) = (&self.session.gate, WorkingFiles::default());
        let (seq, alias) = (admission.seq(), admission.declaration().alias());
        let peers = gate.of_tool(alias).map(|gate| {
            let inner = Self { record: self.record.within(alias, seq), ..self.clone() };
            let gate = Arc::new(gate);
            Arc::new(inner.caller(&gate, interrupt.clone(), working.clone(), files.clone())) as Arc<dyn PeerTools>
        });
        let call_audit = gate.call_audit(&self.record, seq);
        let context = self.base_context(seq, interrupt, call_audit, &gate.authority(alias), files);
        AdmittedCall::new(gate, admission, CallContext { now, peers, working, ..context })
    }

    /// Creates a component caller that calls tools through a gate and lends them its own files: those that it works on,
    /// or `files` before it works.
    pub(super) fn caller(
        self,
        gate: &Arc<SessionGate>,
        interrupt: Interrupt,
        working: WorkingFiles,
        files: Tree,
    ) -> ToolCaller {
        let (record, call, own) = (self.record.clone(), interrupt.clone(), working.clone());
        let memory = self.session.memory.clone();
        let prepare = move |admission: Admission| {
            let files = own.snapshot().unwrap_or_else(|| files.clone());
            self.call(admission, call.child(), files)
        };
        ToolCaller { gate: Arc::clone(gate), record, prepare: Box::new(prepare), interrupt, working, memory }
    }

    /// Creates the context of an agent itself, which is not a tool: it has its session's files, and its imports.
    pub(super) fn agent_context(&self, interrupt: Interrupt, working: WorkingFiles) -> CallContext {
        let call_audit = CallAudit::new(self.log(), self.record.run(), 0);
        let authority = Arc::new(Authority::agent());
        CallContext { working, ..self.base_context(0, interrupt, call_audit, &authority, self.session.head()) }
    }

    fn base_context(
        &self,
        seq: u64,
        interrupt: Interrupt,
        call_audit: CallAudit,
        authority: &Arc<Authority>,
        files: Tree,
    ) -> CallContext {
        let session = &self.session;
        CallContext {
            session: session.number,
            interrupt,
            now: guest_now(),
            seed: self.tool_seed(seq),
            memory: session.memory.clone(),
            held: Mutex::new(session.memory.open()),
            wall: session.limits().tool_wall,
            handles: Arc::clone(&self.handles),
            warm: Arc::clone(&session.warm),
            authority: Arc::clone(authority),
            services: Arc::clone(&session.services),
            peers: None,
            call_audit,
            files,
            working: WorkingFiles::default(),
            edits: Mutex::default(),
        }
    }
}
