//! The gate of a session: it asks the gate that decides, logs what that returns, asks humans, and finds the tools.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_audit::{Audit, AuditError, CallAudit, Nowhere};
use tollhouse_gate::{
    Admission, Budget, CallOutcome, CallRequest, Calls, Coverage, Decision, DeferredCall, Gate, Judgement, NarrowError,
    Opinion, Reach, Refusal, SessionGates, UnapprovedCall,
};

use super::approval::{
    Answering, ApprovalError, Approver, Consent, EarlierQuestion, PendingApproval, SignedApprovals, refused_by_human,
    unapproved_in_time,
};
use super::run_record::RunRecord;
use super::signed_approval::SignatureCheck;
use crate::capability::{Limits, Policy, PolicyError};
use crate::code::{Interrupt, MemoryAccount};
use crate::error::{Failure, Location, error_chain};
use crate::ledger::Used;
use crate::remedy::Remedy;
use crate::tool::{Authority, MountedTools, Secrets, Tool};

/// The gate of a session, or of one of its tools that calls others. Cheap to clone.
#[derive(Clone)]
pub struct SessionGate {
    /// Judges the calls: the session's own gate, or that of a tool.
    pub(super) rules: Arc<Gate>,
    pub(super) services: Arc<GateServices>,
}

/// What the gates of a session share.
pub(super) struct GateServices {
    pub(super) tools: Arc<MountedTools>,
    pub(super) gates: SessionGates,
    /// What the tools of each alias may touch.
    authorities: HashMap<String, Arc<Authority>>,
    audit: Arc<dyn Audit>,
    approver: Option<Arc<dyn Approver>>,
    signatures: Option<SignatureCheck>,
    /// Secrets whose values a human who is asked later does not see.
    secrets: Secrets,
    /// Digest of what the session may do, once it is known.
    rules_digest: OnceLock<String>,
}

/// The audit log and the approver of a gate.
#[derive(Clone, Default)]
pub struct GateOptions {
    /// Audit log for every decision; `None` discards them.
    pub audit: Option<Arc<dyn Audit>>,
    /// Approver for grants that require approval; if `None`, such calls are denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// Check of approvals that have to be signed; if `None`, none of them counts.
    pub(crate) signatures: Option<SignatureCheck>,
    /// Secrets whose values are replaced where calls are shown that wait.
    pub(crate) secrets: Secrets,
}

/// A call as it is requested.
#[derive(Clone, Copy)]
pub(crate) struct RequestedCall<'a> {
    /// The method.
    pub(crate) method: &'a str,
    /// The arguments, as JSON text.
    pub(crate) arguments: &'a str,
    /// Place in the script, as its guest tells it.
    pub(crate) location: Option<&'a Location>,
}

impl<'a> RequestedCall<'a> {
    /// Creates a call that no place in a script makes.
    pub(crate) fn new(method: &'a str, arguments: &'a str) -> Self {
        Self { method, arguments, location: None }
    }
}

/// The reason why a call is not admitted.
pub(crate) enum NotAdmitted {
    /// An error for the script.
    Refused(Failure),
    /// The call waits for a decision beyond this process.
    Deferred(Box<DeferredCall>),
}

impl From<Failure> for NotAdmitted {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<NotAdmitted> for Failure {
    fn from(reason: NotAdmitted) -> Self {
        match reason {
            NotAdmitted::Refused(failure) => failure,
            NotAdmitted::Deferred(call) => {
                Self::approval(format!("`{}`: grant `{}` needs approval", call.method, call.grant))
            }
        }
    }
}

/// Maximum number of times that a call is judged again because other sessions spent its budget. Each time one more
/// budget is known to be exhausted, unless a call is released meanwhile.
const MAX_ROUNDS: u32 = 100;

impl SessionGate {
    /// Creates a gate for these tools, with the grants and limits of a policy.
    ///
    /// # Errors
    /// If a grant is invalid for the mounted tools: a method or parameter that does not exist, a test that no value of
    /// the type can pass; if a tool is granted what its manifest does not request.
    pub fn new(tools: Arc<MountedTools>, policy: Policy, options: GateOptions) -> Result<Self, PolicyError> {
        let rules = Gate::new(Arc::clone(tools.catalog()), policy)?;
        Self::with(rules, tools, options)
    }

    fn with(rules: Gate, tools: Arc<MountedTools>, options: GateOptions) -> Result<Self, PolicyError> {
        let authorities = authorities(&tools, rules.policy())?;
        let gates = SessionGates::new(rules)?;
        let audit = options.audit.unwrap_or_else(|| Arc::new(Nowhere));
        let rules = Arc::clone(gates.own());
        let GateOptions { approver, signatures, secrets, .. } = options;
        let rules_digest = OnceLock::new();
        let services = GateServices { tools, gates, authorities, audit, approver, signatures, secrets, rules_digest };
        Ok(Self { rules, services: Arc::new(services) })
    }

    /// Creates a gate for the same tools that allows less: for a sub-agent, or a session that is forked with a narrower
    /// policy. Its spending counts here too, and revoking a grant here revokes the grants that narrow it.
    ///
    /// # Errors
    /// If it would allow more, or is invalid for the mounted tools.
    pub fn attenuate(&self, narrower: Policy) -> Result<Self, NarrowError> {
        self.with_rules(self.rules.attenuate(narrower)?)
    }

    /// Creates a gate like [`Self::attenuate`] that keeps the grants with these names ([`Policy::subset`]).
    ///
    /// # Errors
    /// If it would allow more.
    pub fn subset(&self, keeps: impl Fn(&str) -> bool) -> Result<Self, NarrowError> {
        self.with_rules(self.rules.subset(keeps)?)
    }

    /// Creates a gate for the same tools with other rules.
    fn with_rules(&self, rules: tollhouse_gate::Gate) -> Result<Self, NarrowError> {
        let GateServices { tools, audit, approver, signatures, secrets, .. } = &*self.services;
        let (audit, signatures, secrets) = (Some(Arc::clone(audit)), signatures.clone(), secrets.clone());
        let options = GateOptions { audit, approver: approver.clone(), signatures, secrets };
        Ok(Self::with(rules, Arc::clone(tools), options)?)
    }

    /// Returns the gate for calls that a tool makes to other tools; `None` if it may call none.
    pub(crate) fn of_tool(&self, alias: &str) -> Option<Self> {
        let rules = Arc::clone(self.services.gates.of_tool(alias)?);
        Some(Self { rules, services: Arc::clone(&self.services) })
    }

    /// Returns what the tools of an alias may touch. Without an entry in the policy that is nothing.
    pub(crate) fn authority(&self, alias: &Arc<str>) -> Arc<Authority> {
        let found = self.services.authorities.get(&**alias).cloned();
        found.unwrap_or_else(|| Arc::new(Authority::none(Arc::clone(alias))))
    }

    /// Returns the tool of an admitted call.
    pub(super) fn tool(&self, admission: &Admission) -> Arc<Tool> {
        self.services.tools.get(admission.method()).expect("the gate judges calls of these tools alone")
    }

    /// Judges a call: [`Gate::judge`]. Every decision is recorded. The clock of `interrupt` is stopped while a human is
    /// asked, and at no other time.
    ///
    /// # Errors
    /// The error for the script: no such method, invalid arguments, no grant, no budget, no approval.
    pub(crate) fn admit(
        &self,
        record: &RunRecord,
        call: RequestedCall<'_>,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        self.count(record, call.method)?;
        self.admit_numbered(record, None, call, memory, interrupt, Consent::Now).map_err(Failure::from)
    }

    /// Judges a call like [`SessionGate::admit`], for a run that can wait for consent beyond this process.
    pub(crate) fn admit_or_defer(
        &self,
        record: &RunRecord,
        call: RequestedCall<'_>,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
    ) -> Result<Admission, NotAdmitted> {
        self.count(record, call.method)?;
        let consent = Consent::Deferrable(EarlierQuestion::default());
        self.admit_numbered(record, None, call, memory, interrupt, consent)
    }

    /// Judges a call whose number is `seq` if it has one already, because its run was resumed.
    pub(crate) fn admit_numbered(
        &self,
        record: &RunRecord,
        seq: Option<u64>,
        call: RequestedCall<'_>,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        if let Consent::Deferrable(earlier) = consent
            && let Some((asked, failure)) = earlier.final_refusal(record.run(), crate::vfs::now())
        {
            return Err(refused(record, Gate::refuse_question(record, asked.clone(), failure)).into());
        }
        let RequestedCall { method, arguments, location } = call;
        let request = CallRequest { seq, method, arguments, location, now: SystemTime::now() };
        self.carry_out(record, self.rules.judge(record, &request, memory), interrupt, consent)
    }

    /// Judges a call again that was admitted, has not started, and was released, because another session has meanwhile
    /// spent the budget that it was reserved in. It keeps its number.
    ///
    /// # Errors
    /// Those of [`SessionGate::admit`].
    pub(crate) fn admit_again(
        &self,
        record: &RunRecord,
        admission: Admission,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        let judgement = self.rules.judge_again(record, admission, SystemTime::now());
        self.carry_out(record, judgement, interrupt, consent)
    }

    /// Counts a call, unless the run has reached its limit on log lines.
    fn count(&self, record: &RunRecord, method: &str) -> Result<(), Failure> {
        let counted = self.rules.count(record, method);
        if let Some(failure) = record.log_failure() {
            return Err(failure);
        }
        counted.map_err(|refusal| refused(record, refusal))
    }

    /// Carries out a judgement: logs it, or asks a human; and judges again as long as other sessions spend the budget
    /// that the call is reserved in.
    fn carry_out(
        &self,
        record: &RunRecord,
        mut judgement: Judgement,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Admission, NotAdmitted> {
        let mut rounds = 0;
        loop {
            judgement = match judgement {
                Judgement::Refused(refusal) => return Err(refused(record, refusal).into()),
                Judgement::NeedsConsent(unapproved) => {
                    let _paused = interrupt.pause();
                    self.ask(record, *unapproved, interrupt, consent)?
                }
                Judgement::Admitted(admission) => match record.log().write(&admission.event()) {
                    Ok(()) => return Ok(*admission),
                    Err(AuditError::Spent { .. }) if rounds < MAX_ROUNDS => {
                        rounds += 1;
                        // The ledger now includes the spending of the other sessions.
                        self.rules.judge_again(record, *admission, SystemTime::now())
                    }
                    Err(AuditError::Spent { .. }) => Judgement::Refused(Gate::refuse_exhausted(record, *admission)),
                    Err(error) => return Err(unlogged(record, &admission, &error).into()),
                },
            }
        }
    }

    /// Asks a human about a reserved call, or takes the decision that was made about it.
    fn ask(
        &self,
        record: &RunRecord,
        unapproved: UnapprovedCall,
        interrupt: &Interrupt,
        consent: Consent<'_>,
    ) -> Result<Judgement, NotAdmitted> {
        // Whoever is present answers without a signature.
        let is_open = unapproved.approved_by().is_none();
        let approver = self.services.approver.as_ref().filter(|approver| is_open && approver.is_present());
        let waits = self.services.approver.as_ref().is_none_or(|approver| is_open || approver.waits_for_signatures());
        if approver.is_none() && (matches!(consent, Consent::Now) || !waits) {
            return Ok(Judgement::Refused(Gate::refuse_unasked(record, unapproved)));
        }
        let request = match self.rules.ask(record, unapproved) {
            Ok(request) => request,
            Err(refusal) => return Ok(Judgement::Refused(refusal)),
        };
        let signatures = SignedApprovals { check: self.services.signatures.as_ref(), rules: self.rules_digest() };
        let secrets = &self.services.secrets;
        let asking = PendingApproval { audit: &**record.log(), request: &request, signatures, secrets, interrupt };
        let answered = asking.consent(approver.map(|approver| &**approver), consent);
        let (method, grant) = (request.method(), request.grant());
        let failure = match answered {
            Ok(Answering::Allowed) => return Ok(self.rules.approve(record, request, SystemTime::now())),
            Ok(Answering::Refused(why)) => refused_by_human(method, grant, why.as_deref()),
            Ok(Answering::Expired) => unapproved_in_time(method, grant),
            Ok(Answering::Deferred(call)) => {
                request.release();
                return Err(NotAdmitted::Deferred(call));
            }
            Err(error) => {
                let message = format!("`{method}`: grant `{grant}` needs approval: {}", error_chain(&error));
                match error {
                    ApprovalError::Unavailable(_) => Failure::approval(message).with_hint(Remedy::Ask),
                    _ => Failure::approval(message),
                }
            }
        };
        Ok(Judgement::Refused(Gate::refuse_asked(record, request, failure)))
    }

    /// Returns the digest of the session's policy and of the mounted releases, in hexadecimal.
    pub(crate) fn rules_digest(&self) -> &str {
        self.services.rules_digest.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            // Limits are those of each run.
            let policy = Policy { limits: Limits::default(), ..self.services.gates.own().policy().clone() };
            hasher.update(policy.to_json().to_string().as_bytes());
            for (alias, package) in self.services.tools.packages() {
                hasher.update(format!("\0{alias}\0{}", package.release().digest()).as_bytes());
            }
            hasher.finalize().to_hex().to_string()
        })
    }

    /// Returns the names of those who have to sign the approvals of calls under a grant of the session's policy.
    pub(crate) fn approvers_of(&self, grant: &str) -> Option<&BTreeSet<String>> {
        let mut grants = self.services.gates.own().policy().grants.iter();
        grants.find(|known| known.name == grant)?.approved_by.as_ref()
    }

    /// Returns the reason why the arguments that a human wrote in place of the script's do not count; `None` if they do. Those
    /// of a call whose approval has to be signed are signed too, also if the call needs no approval with them.
    pub(crate) fn unsigned_edit(&self, run: u64, asked: &DeferredCall, decision: &Decision) -> Option<String> {
        let approvers = self.approvers_of(&asked.grant)?;
        let DeferredCall { seq, method, arguments, grant, reason, .. } = asked;
        let is_about_it = decision.is_about((run, *seq), method, arguments, grant, reason);
        let signed = match self.services.signatures.as_ref().filter(|_| is_about_it) {
            Some(check) => check.verify(approvers, self.rules_digest(), decision, asked.expires),
            None => Err("its signature cannot be checked here, or it is about another call".to_owned()),
        };
        signed.err().map(|why| format!("the approval by {} does not count: {why}", decision.by))
    }

    /// Returns true if approvals have to be signed, and their signatures cannot be checked here.
    pub(crate) fn lacks_signature_check(&self) -> bool {
        let policy = self.services.gates.own().policy();
        self.services.signatures.is_none() && policy.grants.iter().any(|grant| grant.approved_by.is_some())
    }

    /// Refuses a call that waited for consent, because its run can no longer wait.
    pub(crate) fn refuse_deferred(&self, record: &RunRecord, call: DeferredCall, why: &str) -> Failure {
        refused(record, Gate::refuse_deferred(record, call, why))
    }

    /// Releases the reservation of an admitted call that was never started.
    pub(crate) fn release(&self, record: &RunRecord, admission: &Admission) {
        admission.release();
        let _ = record.log().write(&admission.released());
    }

    /// Records the outcome of an admitted call. The first outcome counts.
    pub(crate) fn settle(&self, record: &RunRecord, seq: u64, outcome: CallOutcome, error: Option<&Failure>) {
        if let Some(settlement) = record.settle(seq, outcome) {
            let error = error.map(|failure| failure.message.as_str());
            // The call is over; hiding its result from the script would not repair the log.
            let _ = record.log().write(&settlement.event(error));
        }
    }

    /// Takes the calls of a run that is suspended: those that have not ended stay pending.
    pub(crate) fn suspend(&self, record: &RunRecord) -> Calls {
        record.take()
    }

    /// Closes a run's record and takes its calls: no further call may begin, and nobody waits for pending ones.
    pub(crate) fn close(&self, record: &RunRecord) -> Calls {
        for settlement in record.close() {
            let _ = record.log().write(&settlement.event(None));
        }
        record.take()
    }

    /// Returns the recorder of an admitted call's actions.
    pub(crate) fn call_audit(&self, record: &RunRecord, seq: u64) -> CallAudit {
        CallAudit::new(Arc::clone(record.log()) as Arc<dyn Audit>, record.run(), seq)
    }

    /// Makes all recorded events durable. No admitted call may start before.
    ///
    /// # Errors
    /// If they are not durable.
    pub(crate) fn sync(&self) -> Result<(), AuditError> {
        self.services.audit.sync()
    }

    /// The tools behind the gate.
    #[must_use]
    pub fn tools(&self) -> &Arc<MountedTools> {
        &self.services.tools
    }

    /// The audit log of every decision.
    #[must_use]
    pub fn audit(&self) -> &Arc<dyn Audit> {
        &self.services.audit
    }

    /// The policy of the gate.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.rules.policy()
    }

    /// The limits on a run.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.rules.limits()
    }

    /// Revokes a grant, and every grant that narrows it, in any session. Running calls continue. Returns false if there
    /// is no grant of this name.
    pub fn revoke(&self, grant: &str) -> bool {
        self.rules.revoke(grant)
    }

    /// Returns true if a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        self.rules.grants(method)
    }

    /// Restores account balances, keyed by account name, when a session is reopened.
    pub(crate) fn restore(&self, spent: &HashMap<String, Used>) {
        self.services.gates.restore(spent);
    }

    /// The spending of each account, keyed by account name, for [`SessionGate::restore`].
    pub(crate) fn spent(&self) -> HashMap<String, Used> {
        self.services.gates.spent()
    }

    /// Updates an account with the spending of other sessions that share it: `before` is the spending known so far, and
    /// `after` the actual one.
    pub(crate) fn shift(&self, account: &str, before: Used, after: Used) {
        self.services.gates.shift(account, before, after);
    }

    /// Names of the secrets that tools are granted.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        self.rules.secrets()
    }

    /// Explains the decision of each grant that covers a method about a call. Nothing is called, debited or recorded.
    ///
    /// # Errors
    /// If there is no such method, or the arguments are invalid.
    pub fn explain(&self, method: &str, arguments: &str) -> Result<Vec<Opinion>, Failure> {
        self.rules.explain(method, arguments, SystemTime::now())
    }

    /// Lists the mounted methods that each grant covers, and the reasons why it can never allow a call of one.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage> {
        self.rules.coverage()
    }

    /// Lists the permissions of each mounted tool.
    #[must_use]
    pub fn reach(&self) -> Vec<Reach> {
        self.rules.reach()
    }

    /// Returns true if the policy lets any tool make network requests.
    #[must_use]
    pub fn reaches_network(&self) -> bool {
        self.rules.reaches_network()
    }

    /// Checks and debits a call with canonical arguments, and releases the debit: measures the cost of a call at the
    /// gate. For benchmarks and tests.
    #[doc(hidden)]
    #[must_use]
    pub fn would_allow(&self, tool: &Tool, arguments: &Value, now: SystemTime) -> bool {
        self.rules.would_allow(tool, arguments, now)
    }

    /// Number of calls that each grant has allowed, with its name, in order.
    #[must_use]
    pub fn counts(&self) -> Vec<(String, u64)> {
        self.rules.counts()
    }

    /// The state of every budget.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        self.rules.budgets()
    }
}

/// Determines what the tools of each alias in a policy may touch.
fn authorities(tools: &MountedTools, policy: &Policy) -> Result<HashMap<String, Arc<Authority>>, PolicyError> {
    let packages = tools.packages().iter();
    let granted = packages.filter_map(|(alias, package)| Some((alias, package, policy.permissions.get(alias)?)));
    let authority = granted.map(|(alias, package, granted)| {
        Ok((alias.clone(), Arc::new(Authority::new(alias, package.permissions(), granted)?)))
    });
    authority.collect()
}

/// Logs a refusal, and returns the failure for the script.
fn refused(record: &RunRecord, refusal: Refusal) -> Failure {
    if let Some(event) = refusal.event() {
        // A refusal is safe without a log, so a failure to write it changes nothing.
        let _ = record.log().write(&event);
    }
    refusal.into_failure()
}

/// Takes back an admission that could not be logged, and returns the failure for the script.
fn unlogged(record: &RunRecord, admission: &Admission, error: &AuditError) -> Failure {
    admission.release();
    record.settle(admission.seq(), CallOutcome::Denied);
    if let Some(failure) = record.log_failure() {
        return failure;
    }
    // If there are two logs, one of them may contain the admission.
    let _ = record.log().write(&admission.released());
    let (method, why) = (admission.method(), error_chain(error));
    Failure::host(format!("`{method}` was not called, because the call could not be logged: {why}"))
}
