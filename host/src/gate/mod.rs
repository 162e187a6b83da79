//! The gate: the only place where a guest's call becomes a call of a tool.
//!
//! **Invariant:** [`Admission`] is created only here, and a tool can be called only with one. An admission contains
//! exactly what was judged: the canonical arguments, not the text that the guest sent.
//!
//! **Invariant:** every decision is in the run's record and in the audit log before it takes effect.

mod admission;
mod approval;
mod audit;
mod budget_accounts;
mod call_record;
mod grant_binding;
mod grant_index;
mod judgement;
mod optional_parameters;
mod refusal;
mod spelling;
mod suggest_policy;
mod tool_gates;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

pub use admission::Admission;
pub use approval::{Answer, ApprovalError, ApprovalRequest, Approver, Caller, Cost, Decision, DeferredCall, Question};
pub(crate) use approval::{Consent, EarlierQuestion};
pub use audit::{
    Audit, AuditError, AuditFile, AuditKey, Both, Chain, CheckOptions, CheckedLog, Debits, Event, NoAuditKey, Nowhere,
};
pub(crate) use audit::{CallAudit, RunLog, incomplete, redacted};
pub(crate) use budget_accounts::limited_accounts;
pub use call_record::{Budget, BudgetKind, Call, CallOutcome, Calls, Record};
pub use grant_index::{Coverage, Covered, Opinion};
pub(crate) use judgement::NotAdmitted;
pub use optional_parameters::Optional;
pub(crate) use refusal::limit_hint;
pub use suggest_policy::{Suggestion, suggest};
pub use tool_gates::Reach;

use self::grant_index::{AccountNaming, ActiveGrant, GrantIndex};
use self::tool_gates::ToolGates;
use crate::capability::{Amount, AttenuateError, Grant, Limits, Policy, PolicyError};
use crate::error::Failure;
use crate::ledger::{Ledger, Used};
use crate::tool::{MountedTools, Tool};

/// The gate of a session, which judges its calls.
pub struct Gate {
    tools: Arc<MountedTools>,
    policy: Policy,
    grant_index: GrantIndex,
    ledger: Arc<Ledger>,
    audit: Arc<dyn Audit>,
    approver: Option<Arc<dyn Approver>>,
    tool_gates: ToolGates,
    /// Set if its accounts have names: those of a session that was derived from another one do not.
    named: bool,
}

/// The audit log and the approver of a gate.
#[derive(Clone, Default)]
pub struct GateOptions {
    /// Audit log for every decision; `None` discards them.
    pub audit: Option<Arc<dyn Audit>>,
    /// Approver for grants that require approval; if `None`, such calls are denied.
    pub approver: Option<Arc<dyn Approver>>,
}

/// An error of creating a narrower gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NarrowError {
    /// The policy would allow more.
    #[error(transparent)]
    Attenuate(#[from] AttenuateError),
    /// Its grants are invalid for the mounted tools.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl Gate {
    /// Creates a gate for these tools, with the grants and limits of a policy.
    ///
    /// # Errors
    /// If a grant is invalid for the mounted tools: a method or parameter that does not exist, a test that no value of
    /// the type can pass.
    pub fn new(tools: Arc<MountedTools>, policy: Policy, options: GateOptions) -> Result<Self, PolicyError> {
        let gate = Self::with_ledger(tools, policy, options, Arc::default(), &[], ToolGates::default(), true)?;
        tool_gates::fill(&gate)?;
        Ok(gate)
    }

    fn with_ledger(
        tools: Arc<MountedTools>,
        policy: Policy,
        options: GateOptions,
        ledger: Arc<Ledger>,
        above: &[ActiveGrant],
        tool_gates: ToolGates,
        named: bool,
    ) -> Result<Self, PolicyError> {
        let naming = match tool_gates.owner() {
            _ if !named => AccountNaming::None,
            Some(alias) => AccountNaming::Behind(alias),
            None => AccountNaming::Own,
        };
        let grant_index = GrantIndex::new(policy.grants.clone(), &tools, &ledger, above, naming)?;
        let audit = options.audit.unwrap_or_else(|| Arc::new(Nowhere));
        Ok(Self { tools, policy, grant_index, ledger, audit, approver: options.approver, tool_gates, named })
    }

    /// Creates a gate for the same tools that allows less: for a sub-agent, a tool that calls tools, a session that is
    /// forked with a narrower policy. Its spending counts here too, and revoking a grant here revokes the grants that
    /// narrow it.
    ///
    /// # Errors
    /// If it would allow more, or is invalid for the mounted tools.
    pub fn attenuate(&self, narrower: Policy) -> Result<Self, NarrowError> {
        let gate = self.derive(self.policy.attenuate(narrower)?, ToolGates::default(), false)?;
        tool_gates::fill(&gate)?;
        Ok(gate)
    }

    /// Creates a gate whose grants narrow those of this one.
    fn derive(&self, policy: Policy, tool_gates: ToolGates, named: bool) -> Result<Self, PolicyError> {
        let options = GateOptions { audit: Some(Arc::clone(&self.audit)), approver: self.approver.clone() };
        let (tools, ledger) = (Arc::clone(&self.tools), Arc::clone(&self.ledger));
        Self::with_ledger(tools, policy, options, ledger, self.grant_index.active_grants(), tool_gates, named)
    }

    /// Revokes a grant, and every grant that narrows it, in any session. Running calls continue. Returns false if there
    /// is no grant of this name.
    pub fn revoke(&self, grant: &str) -> bool {
        let found = self.grant_index.active_grants().iter().find(|active| active.grant.name == grant);
        if let Some(active) = found {
            self.ledger.revoke(active.accounts[0].id);
        }
        found.is_some()
    }

    /// The tools behind the gate.
    #[must_use]
    pub fn tools(&self) -> &Arc<MountedTools> {
        &self.tools
    }

    /// The policy of the gate.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The limits on a run.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// The audit log of every decision.
    #[must_use]
    pub fn audit(&self) -> &Arc<dyn Audit> {
        &self.audit
    }

    /// The audit log of a run.
    pub(crate) fn log(&self, record: &Record) -> Arc<dyn Audit> {
        match record.log() {
            Some(log) => Arc::clone(log) as Arc<dyn Audit>,
            None => Arc::clone(&self.audit),
        }
    }

    /// Returns true if a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        self.tools.get(method).is_some_and(|tool| tool.withdrawal().is_none() && self.grant_index.grants(&tool))
    }

    /// Records the outcome of an admitted call. The first outcome counts.
    pub fn settle(&self, record: &Record, seq: u64, outcome: CallOutcome, error: Option<&Failure>) {
        if let Some(micros) = record.settle(seq, outcome) {
            let error = error.map(|failure| failure.message.as_str());
            // The call is over; hiding its result from the script would not repair the log.
            let _ = self.log(record).write(&Event::Settled { run: record.run(), seq, outcome, micros, error });
        }
    }

    /// Takes the calls of a run that is suspended: those that have not ended stay pending.
    pub(crate) fn suspend(&self, record: &Record) -> Calls {
        record.take()
    }

    /// Closes a run's record and takes its calls: no further call may begin, and nobody waits for pending ones.
    pub fn close(&self, record: &Record) -> Calls {
        for seq in record.seal() {
            self.settle(record, seq, CallOutcome::Cancelled, None);
        }
        record.take()
    }

    /// Makes all recorded events durable. No admitted call may start before.
    ///
    /// # Errors
    /// If they are not durable.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    /// Restores account balances, keyed by account name, when a session is reopened.
    pub fn restore(&self, spent: &HashMap<String, Used>) {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        for account in own.chain(below).flat_map(|active| &active.accounts) {
            if let Some(name) = &account.name {
                self.ledger.restore(account.id, spent.get(&**name).copied().unwrap_or_default());
            }
        }
    }

    /// The spending of each account, keyed by account name, for [`Gate::restore`].
    #[must_use]
    pub fn spent(&self) -> HashMap<String, Used> {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        let accounts = own.chain(below).flat_map(|active| &active.accounts);
        let named = accounts.filter_map(|account| Some((account.name.as_deref()?.to_owned(), account.id)));
        named.map(|(name, id)| (name, self.ledger.used(id))).collect()
    }

    /// Updates an account with the spending of other sessions that share it: `before` is the spending known so far, and
    /// `after` the actual one.
    pub fn shift(&self, account: &str, before: Used, after: Used) {
        let own = self.grant_index.active_grants().iter();
        let gates = self.tool_gates.gates();
        let below = gates.iter().flat_map(|gate| gate.grant_index.active_grants());
        let mut known = HashSet::new();
        for entry in own.chain(below).flat_map(|active| &active.accounts) {
            // Several grants may debit the same account.
            if entry.name.as_deref() == Some(account) && known.insert(entry.id) {
                self.ledger.shift(entry.id, before, after);
            }
        }
    }

    /// Names of the secrets that tools are granted.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let granted = self.policy.permissions.values().flat_map(|permissions| &permissions.secrets);
        let mut names: Vec<String> = granted.map(|secret| secret.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Explains the decision of each grant that covers a method about a call. Nothing is called, debited or recorded.
    ///
    /// # Errors
    /// If there is no such method, or the arguments are invalid.
    pub fn explain(&self, method: &str, arguments: &str) -> Result<Vec<Opinion>, Failure> {
        let (tool, arguments) = self.check(method, arguments, self.limits().memory).map_err(|(_, failure)| failure)?;
        Ok(self.grant_index.opinions(&tool, &arguments, &self.ledger, SystemTime::now()))
    }

    /// Lists the mounted methods that each grant covers, and the reasons why it can never allow a call of one.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage> {
        self.grant_index.coverage(&self.tools)
    }

    /// Lists the permissions of each mounted tool.
    #[must_use]
    pub fn reach(&self) -> Vec<Reach> {
        tool_gates::reach(self)
    }

    /// Returns true if the policy lets any tool make network requests.
    #[must_use]
    pub fn reaches_network(&self) -> bool {
        self.policy.permissions.values().any(|granted| !granted.http.is_empty())
    }

    /// Checks and debits a call with canonical arguments, and releases the debit: measures the cost of a call at the
    /// gate. For benchmarks and tests.
    #[doc(hidden)]
    #[must_use]
    pub fn would_allow(&self, tool: &Tool, arguments: &Value, now: SystemTime) -> bool {
        match self.grant_index.debit(tool, arguments, &self.ledger, now) {
            Ok((active, judge)) => {
                self.ledger.release(active.accounts[0].id, &|id| judge.amount(id, arguments));
                true
            }
            Err(_) => false,
        }
    }

    /// Number of calls that each grant has allowed, with its name, in order.
    #[must_use]
    pub fn counts(&self) -> Vec<(String, u64)> {
        let active = self.grant_index.active_grants().iter();
        active.map(|active| (active.grant.name.clone(), self.ledger.used(active.accounts[0].id).calls)).collect()
    }

    /// The state of every budget.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for active in self.grant_index.active_grants() {
            let used = self.ledger.used(active.accounts[0].id);
            let grant: &Grant = &active.grant;
            if let Some(limit) = grant.calls {
                budgets.push(Budget::new(
                    &grant.name,
                    BudgetKind::Calls,
                    Amount::whole(limit),
                    Amount::whole(used.calls),
                ));
            }
            if let Some(spend) = &grant.spend {
                budgets.push(Budget::new(&grant.name, BudgetKind::Spend, spend.limit, used.spend));
            }
        }
        budgets
    }
}
