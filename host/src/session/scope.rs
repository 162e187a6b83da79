//! What the calls of one run share, and what each brings along.

use std::sync::Arc;

use super::host::{SessionState, now};
use crate::agent::Caller;
use crate::code::Interrupt;
use crate::gate::{Admission, Record, Witness};
use crate::tool::{Authority, CallContext, Handles, Peers};

/// What the calls of one run share. Cheap to clone.
#[derive(Clone)]
pub(super) struct Scope {
    session: Arc<SessionState>,
    pub(super) record: Record,
    handles: Arc<Handles>,
}

impl Scope {
    /// Of a run that begins.
    pub(super) fn new(session: &Arc<SessionState>, run: u64) -> Self {
        let handles = Arc::new(Handles::new(session.seed("handles", &[run])));
        Self { session: Arc::clone(session), record: Record::of_run(run), handles }
    }

    /// What an admitted call brings along.
    pub(super) fn context(&self, admission: &Admission, interrupt: Interrupt) -> CallContext {
        let peers = admission.gate().map(|gate| {
            let inner =
                Self { record: self.record.within(admission.authority().alias(), admission.seq), ..self.clone() };
            let (record, call) = (inner.record.clone(), interrupt.clone());
            let context = move |admission: &Admission| inner.context(admission, call.child());
            let (gate, interrupt) = (Arc::clone(gate), interrupt.clone());
            Arc::new(Caller { gate, record, context: Box::new(context), interrupt }) as Arc<dyn Peers>
        });
        let context = self.bare(admission.seq, interrupt, admission.witness().clone(), admission.authority());
        CallContext { peers, ..context }
    }

    /// What an agent itself brings along, which is no tool: it has no authority but its imports.
    pub(super) fn own(&self, interrupt: Interrupt) -> CallContext {
        let witness = Witness::new(self.session.gate.audit(), self.record.run(), 0);
        self.bare(0, interrupt, witness, &Arc::new(Authority::none("".into())))
    }

    fn bare(&self, seq: u64, interrupt: Interrupt, witness: Witness, authority: &Arc<Authority>) -> CallContext {
        let session = &self.session;
        CallContext {
            interrupt,
            now: now(),
            seed: session.seed("tool", &[self.record.run(), seq]),
            memory: session.limits().memory,
            handles: Arc::clone(&self.handles),
            warm: Arc::clone(&session.warm),
            authority: Arc::clone(authority),
            services: Arc::clone(&session.services),
            peers: None,
            witness,
        }
    }
}
