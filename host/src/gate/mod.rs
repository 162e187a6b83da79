//! The gate: the one place where a guest's call becomes a tool's call.
//!
//! **Invariant:** [`Admission`] is made here and nowhere else, and a tool can be called only with one. What an
//! admission carries is exactly what was judged: the canonical arguments, not the text that the guest sent.
//!
//! **Invariant:** whatever the answer, it is in the run's record and in the audit log before anything happens.

mod accounts;
mod admission;
mod approval;
mod audit;
mod bind;
mod calls;
mod judge;
mod optional;
mod power;
mod suggest;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

pub(crate) use accounts::limited_accounts;
pub use admission::Admission;
pub use approval::{Answer, ApprovalError, ApprovalRequest, Approver, Caller, Cost, Question};
pub use audit::{
    Audit, AuditError, AuditFile, AuditKey, Both, Chain, CheckOptions, CheckedLog, Debits, Event, NoAuditKey, Nowhere,
};
pub(crate) use audit::{RunLog, Witness, incomplete, redacted};
pub use calls::{Budget, BudgetKind, Call, CallOutcome, Calls, Record};
pub use judge::{Coverage, Covered, Opinion};
pub use optional::Optional;
pub use power::Reach;
pub use suggest::{Suggestion, suggest};

use self::admission::Debit;
use self::approval::Asking;
use self::judge::{Denial, Held, HeldAccount, Judges, Naming, Reason};
use self::power::Powers;
use crate::capability::{Amount, AttenuateError, Grant, Limits, Policy, PolicyError};
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, error_chain, how_to_grant, how_to_raise};
use crate::json::{self, JsonError};
use crate::ledger::{Ledger, Used};
use crate::tool::{MountedTools, Tool, no_memory_for};

/// Judges the calls of a session.
pub struct Gate {
    tools: Arc<MountedTools>,
    policy: Policy,
    judges: Judges,
    ledger: Arc<Ledger>,
    audit: Arc<dyn Audit>,
    approver: Option<Arc<dyn Approver>>,
    powers: Powers,
    /// Whether its accounts have names: those of a session that was made from another do not.
    named: bool,
}

/// What a gate stands before and asks.
#[derive(Clone, Default)]
pub struct GateOptions {
    /// Where every decision is written. None: nowhere.
    pub audit: Option<Arc<dyn Audit>>,
    /// Who is asked where a grant says so. None: nobody, and such a call is denied.
    pub approver: Option<Arc<dyn Approver>>,
}

/// Why there is no narrower gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NarrowError {
    /// It would be wider.
    #[error(transparent)]
    Attenuate(#[from] AttenuateError),
    /// Its grants make no sense for what is mounted.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

impl Gate {
    /// A gate before these tools, with the grants and limits of a policy.
    ///
    /// # Errors
    /// If a grant makes no sense for what is mounted: a method or parameter that does not exist, a test that no value
    /// of the type can pass.
    pub fn new(tools: Arc<MountedTools>, policy: Policy, options: GateOptions) -> Result<Self, PolicyError> {
        let gate = Self::with_ledger(tools, policy, options, Arc::default(), &[], Powers::default(), true)?;
        power::fill(&gate)?;
        Ok(gate)
    }

    fn with_ledger(
        tools: Arc<MountedTools>,
        policy: Policy,
        options: GateOptions,
        ledger: Arc<Ledger>,
        above: &[Held],
        powers: Powers,
        named: bool,
    ) -> Result<Self, PolicyError> {
        let naming = match powers.owner() {
            _ if !named => Naming::None,
            Some(alias) => Naming::Behind(alias),
            None => Naming::Own,
        };
        let judges = Judges::new(policy.grants.clone(), &tools, &ledger, above, naming)?;
        let audit = options.audit.unwrap_or_else(|| Arc::new(Nowhere));
        Ok(Self { tools, policy, judges, ledger, audit, approver: options.approver, powers, named })
    }

    /// A gate that allows less, before the same tools: for a sub-agent, a tool that calls tools, a session that is
    /// forked with less. What is spent there is spent here too, and revoking a grant here revokes what narrows it.
    ///
    /// # Errors
    /// If it would be wider, or makes no sense for what is mounted.
    pub fn attenuate(&self, narrower: Policy) -> Result<Self, NarrowError> {
        let gate = self.below(self.policy.attenuate(narrower)?, Powers::default(), false)?;
        power::fill(&gate)?;
        Ok(gate)
    }

    /// A gate whose grants narrow those of this one.
    fn below(&self, policy: Policy, powers: Powers, named: bool) -> Result<Self, PolicyError> {
        let options = GateOptions { audit: Some(Arc::clone(&self.audit)), approver: self.approver.clone() };
        let (tools, ledger) = (Arc::clone(&self.tools), Arc::clone(&self.ledger));
        Self::with_ledger(tools, policy, options, ledger, self.judges.held(), powers, named)
    }

    /// Takes a grant back, and with it every grant that narrows it, in whatever session. Calls that run go on.
    /// False if there is no grant of this name.
    pub fn revoke(&self, grant: &str) -> bool {
        let found = self.judges.held().iter().find(|held| held.grant.name == grant);
        if let Some(held) = found {
            self.ledger.revoke(held.accounts[0].id);
        }
        found.is_some()
    }

    /// What is mounted behind the gate.
    #[must_use]
    pub fn tools(&self) -> &Arc<MountedTools> {
        &self.tools
    }

    /// What it allows and limits.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What a run may use.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.policy.limits
    }

    /// Where every decision is written.
    #[must_use]
    pub fn audit(&self) -> &Arc<dyn Audit> {
        &self.audit
    }

    /// Where what happens in a run is written.
    pub(crate) fn log(&self, record: &Record) -> Arc<dyn Audit> {
        match record.log() {
            Some(log) => Arc::clone(log) as Arc<dyn Audit>,
            None => Arc::clone(&self.audit),
        }
    }

    /// Whether a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        self.tools.get(method).is_some_and(|tool| tool.withdrawal().is_none() && self.judges.grants(&tool))
    }

    /// Judges a call, in the order that the contract fixes: shape and types of the arguments, grant, budget, human,
    /// record. Whatever the answer, it is in the record. What the arguments take of the host's memory, about, is taken of
    /// `memory` until the admission is gone. The clock of `interrupt` stands still while a human is asked, and at no other time.
    ///
    /// # Errors
    /// What the script is told: no such method, arguments that do not fit, no grant, no budget, no consent.
    pub fn admit(
        &self,
        record: &Record,
        method: &str,
        arguments: &str,
        memory: &MemoryAccount,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        self.count(record, method)?;
        let (tool, arguments) = match self.check(method, arguments, memory.left() / COPIES) {
            Ok(checked) => checked,
            Err((arguments, failure)) => return Err(self.refuse(record, None, method, arguments, None, failure)),
        };
        let Some(charge) = memory.charge(json::weight(&arguments).saturating_mul(COPIES)) else {
            let failure = no_memory_for(&format!("`{method}`: the arguments"), memory);
            return Err(self.refuse(record, None, method, arguments, None, failure));
        };
        if let Some(failure) = may_nest(record, &tool, self.limits().depth) {
            return Err(self.refuse(record, None, method, arguments, None, failure));
        }
        self.judge_until_settled(record, None, &tool, ChargedArguments { value: arguments, charge }, interrupt)
    }

    /// Judges a call again that was admitted, has not started, and was given back: another session has spent meanwhile what it
    /// was to be paid from. It keeps its number.
    ///
    /// # Errors
    /// As [`Gate::admit`].
    pub(crate) fn admit_again(
        &self,
        record: &Record,
        admission: Admission,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        let Admission { seq, arguments, charge, tool, .. } = admission;
        self.judge_until_settled(record, Some(seq), &tool, ChargedArguments { value: arguments, charge }, interrupt)
    }

    /// Judges a call whose arguments are canonical, again as often as other sessions spend what it was to be paid from.
    fn judge_until_settled(
        &self,
        record: &Record,
        mut seq: Option<u64>,
        tool: &Arc<Tool>,
        mut arguments: ChargedArguments,
        interrupt: &Interrupt,
    ) -> Result<Admission, Failure> {
        for _ in 0..MAX_ROUNDS {
            match self.judge(record, seq, tool, arguments, interrupt) {
                Ok(admission) => return Ok(admission),
                Err(NotBegun::Failed(failure)) => return Err(failure),
                // The ledger knows by now what the others have spent.
                Err(NotBegun::Spent(number, given)) => (seq, arguments) = (Some(number), given),
            }
        }
        let method = tool.method();
        let message = format!("`{method}`: its budget is used up by sessions that share it");
        Err(self.refuse(record, seq, method, arguments.value, None, Failure::capability(message)))
    }

    /// Judges a call whose arguments are canonical, and puts the answer on record. `seq` is its number if it was judged
    /// before, and another session spent what it was to be paid from.
    fn judge(
        &self,
        record: &Record,
        seq: Option<u64>,
        tool: &Arc<Tool>,
        arguments: ChargedArguments,
        interrupt: &Interrupt,
    ) -> Result<Admission, NotBegun> {
        let method = tool.method();
        let (held, judge) = match self.judges.debit(tool, &arguments.value, &self.ledger, SystemTime::now()) {
            Ok(debited) => debited,
            Err(denial) => {
                let grant = denial.grant.map(|grant| grant.name.clone());
                let failure = self.denied(method, &denial);
                return Err(self.refuse(record, seq, method, arguments.value, grant.as_deref(), failure).into());
            }
        };
        let amounts = held.accounts.iter().filter_map(|held| Some((held.id, judge.amount(held.id, &arguments.value)?)));
        let debit = Debit::new(&self.ledger, held.accounts[0].id, amounts.collect());
        let seq = match judge.asks(&arguments.value) {
            Some(reason) => {
                let _paused = interrupt.pause();
                Some(self.ask(record, seq, method, &arguments.value, held, &debit, &reason)?)
            }
            None => seq,
        };
        self.begin(record, seq, tool, arguments, held, debit)
    }

    /// Counts a call, whatever comes of it. Of those that are too many only the first is on record: a script that asks on
    /// would fill it.
    fn count(&self, record: &Record, method: &str) -> Result<(), Failure> {
        let limit = self.limits().calls;
        let asked = record.ask();
        if let Some(failure) = record.log_failure() {
            return Err(failure);
        }
        if asked <= limit {
            return Ok(());
        }
        let message = format!("`{method}`: the limit of {limit} calls of a run is reached");
        let failure = Failure::limit(message, how_to_raise("calls"));
        if asked == limit.saturating_add(1) {
            return Err(self.refuse(record, None, method, Value::Null, None, failure));
        }
        Err(failure)
    }

    /// Puts an admission on record. From here on, the call may start. `seq` is its number if it has one already.
    fn begin(
        &self,
        record: &Record,
        seq: Option<u64>,
        tool: &Arc<Tool>,
        arguments: ChargedArguments,
        held: &Held,
        debit: Debit,
    ) -> Result<Admission, NotBegun> {
        let (method, grant) = (tool.method(), held.grant.name.as_str());
        let Some(seq) = number(record, seq, method, &arguments.value, grant) else {
            // The run ended while this was judged.
            debit.release();
            return Err(Failure::cancelled().into());
        };
        let (run, caller) = (record.run(), record.caller());
        let debits = Debits { accounts: &held.accounts, amounts: debit.amounts() };
        let event = Event::Admitted { run, seq, caller, method, arguments: &arguments.value, grant, debits };
        let log = self.log(record);
        if let Err(error) = log.write(&event) {
            debit.release();
            if let AuditError::Spent { .. } = error {
                return Err(NotBegun::Spent(seq, arguments));
            }
            record.settle(seq, CallOutcome::Denied);
            if let Some(failure) = record.log_failure() {
                return Err(failure.into());
            }
            // Of two logs, one may have it.
            let _ = log.write(&Event::Released { run, seq });
            let why = error_chain(&error);
            return Err(Failure::host(format!("`{method}` is not called, since that cannot be logged: {why}")).into());
        }
        let witness = Witness::new(log, run, seq);
        let (authority, gate) = self.powers.of(tool.alias());
        let (method, result_limit) = (method.to_owned(), tool.result_limit(self.limits().result));
        let tool = Arc::clone(tool);
        let ChargedArguments { value: arguments, charge } = arguments;
        Ok(Admission { seq, method, arguments, charge, tool, result_limit, debit, witness, authority, gate })
    }

    /// Puts a refusal on record, under the number that the call has already, if it has one.
    fn refuse(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: Value,
        grant: Option<&str>,
        failure: Failure,
    ) -> Failure {
        let arguments = kept(arguments);
        let seq = match seq {
            Some(seq) if record.deny(seq, grant) => seq,
            // The run ended while this was judged.
            Some(_) => return Failure::cancelled(),
            None => record.refuse(method, &arguments, grant),
        };
        self.log_refusal(record, seq, method, &arguments, grant, &failure);
        failure
    }

    fn log_refusal(
        &self,
        record: &Record,
        seq: u64,
        method: &str,
        arguments: &Value,
        grant: Option<&str>,
        failure: &Failure,
    ) {
        let (run, caller, kind, reason) = (record.run(), record.caller(), failure.kind, failure.message.as_str());
        let event = Event::Denied { run, seq, caller, method, arguments, grant, kind, reason };
        // A refusal needs no log to be safe, so one that cannot be written changes nothing.
        let _ = self.log(record).write(&event);
    }

    /// Puts on record how an admitted call ended. The first ending counts.
    pub fn settle(&self, record: &Record, seq: u64, outcome: CallOutcome, error: Option<&Failure>) {
        if let Some(micros) = record.settle(seq, outcome) {
            let error = error.map(|failure| failure.message.as_str());
            // The call is over; what the log lacks cannot be undone by not saying so to the script.
            let _ = self.log(record).write(&Event::Settled { run: record.run(), seq, outcome, micros, error });
        }
    }

    /// Ends a run's record and takes it: nothing begins any more, and nobody waits for what is pending.
    pub fn close(&self, record: &Record) -> Calls {
        for seq in record.seal() {
            self.settle(record, seq, CallOutcome::Cancelled, None);
        }
        record.take()
    }

    /// Makes durable what is on record. Nothing that was admitted may start before.
    ///
    /// # Errors
    /// If it is not durable.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    /// Goes on where a session had ended: what was spent of each account, by its name.
    pub fn restore(&self, spent: &HashMap<String, Used>) {
        let own = self.judges.held().iter();
        let gates = self.powers.gates();
        let below = gates.iter().flat_map(|gate| gate.judges.held());
        for account in own.chain(below).flat_map(|held| &held.accounts) {
            if let Some(name) = &account.name {
                self.ledger.restore(account.id, spent.get(&**name).copied().unwrap_or_default());
            }
        }
    }

    /// What is spent of each account, by its name: what [`Gate::restore`] takes.
    #[must_use]
    pub fn spent(&self) -> HashMap<String, Used> {
        let own = self.judges.held().iter();
        let gates = self.powers.gates();
        let below = gates.iter().flat_map(|gate| gate.judges.held());
        let accounts = own.chain(below).flat_map(|held| &held.accounts);
        let named = accounts.filter_map(|account| Some((account.name.as_deref()?.to_owned(), account.id)));
        named.map(|(name, id)| (name, self.ledger.used(id))).collect()
    }

    /// Takes note of what other sessions that share an account have spent of it: `before` is what was known to be spent, and
    /// `after` what is.
    pub fn shift(&self, account: &str, before: Used, after: Used) {
        let own = self.judges.held().iter();
        let gates = self.powers.gates();
        let below = gates.iter().flat_map(|gate| gate.judges.held());
        let mut known = HashSet::new();
        for held in own.chain(below).flat_map(|held| &held.accounts) {
            // Several grants may debit one account.
            if held.name.as_deref() == Some(account) && known.insert(held.id) {
                self.ledger.shift(held.id, before, after);
            }
        }
    }

    /// The names of the secrets that tools are granted.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let granted = self.policy.permissions.values().flat_map(|permissions| &permissions.secrets);
        let mut names: Vec<String> = granted.map(|secret| secret.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Asks a human about a call that is reserved; its number in the record, which `seq` is if it has one already. Without
    /// consent what was reserved is given back, and the refusal is on record.
    #[expect(clippy::too_many_arguments, reason = "each is a part of one question")]
    fn ask(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: &Value,
        held: &Held,
        debit: &Debit,
        reason: &str,
    ) -> Result<u64, Failure> {
        let grant = held.grant.name.as_str();
        let Some(approver) = self.approver.as_ref().filter(|approver| approver.is_present()) else {
            debit.release();
            let message = format!("`{method}`: grant `{grant}` needs approval, but there is no terminal to ask on");
            let failure =
                Failure::approval(message).with_hint("run it on a terminal, or with arguments that need no approval");
            return Err(self.refuse(record, seq, method, arguments.clone(), Some(grant), failure));
        };
        let Some(seq) = number(record, seq, method, arguments, grant) else {
            debit.release();
            return Err(Failure::cancelled());
        };
        let (callers, costs) = (record.callers(), self.costs(held, debit));
        let (run, audit) = (record.run(), &*self.log(record));
        let asking = Asking { audit, run, seq, callers: &callers, method, arguments, grant, reason, costs: &costs };
        let failure = match asking.ask(&**approver) {
            Ok(true) => match held.over(&self.ledger, SystemTime::now()) {
                None => return Ok(seq),
                // It ended while the human thought.
                Some(reason) => self.denied(method, &Denial { grant: Some(&held.grant), reason }),
            },
            Ok(false) => Failure::approval(format!("`{method}`: a human refused the call (grant `{grant}`)")),
            Err(error) => {
                Failure::approval(format!("`{method}`: grant `{grant}` needs approval: {}", error_chain(&error)))
            }
        };
        debit.release();
        if !record.deny(seq, Some(grant)) {
            return Err(Failure::cancelled());
        }
        self.log_refusal(record, seq, method, &kept(arguments.clone()), Some(grant), &failure);
        Err(failure)
    }

    /// What a call that is reserved takes from which budget.
    fn costs(&self, held: &Held, debit: &Debit) -> Vec<Cost> {
        let mut costs = Vec::new();
        for HeldAccount { id, grant, .. } in &held.accounts {
            let used = self.ledger.used(*id);
            let spent = debit.amounts().iter().find(|(account, _)| account == id).map(|(_, amount)| *amount);
            let whole = Amount::whole;
            let calls = grant.calls.map(|limit| (BudgetKind::Calls, whole(1), whole(limit), whole(used.calls)));
            let spend = grant.spend.as_ref().zip(spent);
            let spend = spend.map(|(spend, amount)| (BudgetKind::Spend, amount, spend.limit, used.spend));
            costs.extend([calls, spend].into_iter().flatten().map(|(kind, amount, limit, used)| Cost {
                grant: grant.name.clone(),
                kind,
                amount,
                limit,
                remaining: limit.saturating_sub(used),
            }));
        }
        costs
    }

    /// Finds the tool and brings the arguments to their canonical form. The error carries what there is to record.
    fn check(&self, method: &str, text: &str, memory: u64) -> Result<(Arc<Tool>, Value), (Value, Failure)> {
        let sessions = self.limits().argument;
        let Some(tool) = self.tools.get(method) else {
            return Err((recorded(text), self.unknown(method)));
        };
        if let Some(reason) = tool.withdrawal() {
            return Err((recorded(text), Failure::capability(format!("`{method}`: {reason}"))));
        }
        let limit = tool.argument_limit(sessions);
        if text.len() as u64 > limit {
            let message = format!("`{method}`: arguments of {} bytes pass the limit of {limit}", text.len());
            return Err((recorded(text), Failure::limit(message, raise("argument", limit < sessions))));
        }
        let given = json::parse(text, memory).map_err(|error| {
            let failure = match error {
                JsonError::Malformed(error) => {
                    Failure::argument(format!("`{method}`: the arguments are no JSON: {error}"))
                }
                JsonError::TooLarge(memory) => Failure::limit(
                    format!(
                        "`{method}`: the arguments take more than the {memory} bytes of memory that are left for them"
                    ),
                    format!("pass less at once, or {}", how_to_raise("memory")),
                ),
            };
            (recorded(text), failure)
        })?;
        match tool.canonicalize(given, memory) {
            Ok(arguments) => Ok((tool, arguments)),
            Err(failure) => Err((recorded(text), failure)),
        }
    }

    /// What the script is told of a denial: the nearest grant, and what was missing.
    fn denied(&self, method: &str, denial: &Denial<'_>) -> Failure {
        let Some(grant) = denial.grant else { return self.not_granted(method) };
        let failure = Failure::capability(match &denial.reason {
            Reason::Budget(..) | Reason::Ended(..) => format!("`{method}`: {}", denial.reason),
            reason => format!("`{method}`: grant `{}`: {reason}", grant.name),
        });
        failure.with_hint(match &denial.reason {
            Reason::Budget(name, _) => {
                format!("raise the budget of grant `{name}`: in the policy, or `max_calls` in Python")
            }
            Reason::Ended(name, _) => format!("grant `{name}` must be given anew before such calls are allowed"),
            _ => format!("call it with arguments that grant `{}` allows, or widen the grant in the policy", grant.name),
        })
    }

    fn not_granted(&self, method: &str) -> Failure {
        let given = match self.policy.grants.as_slice() {
            [] => "nothing is granted".to_owned(),
            grants => {
                let patterns: Vec<String> = grants.iter().take(5).map(|grant| format!("`{}`", grant.method)).collect();
                let more = if grants.len() > 5 { ", …" } else { "" };
                format!("granted are {}{more}", patterns.join(", "))
            }
        };
        if let Some(alias) = self.powers.owner() {
            return Failure::capability(format!("the tool `{alias}` may not call `{method}`: {given}"))
                .with_hint(format!("add it to `tools` under `[tool.{alias}]` in the policy"));
        }
        Failure::capability(format!("no grant allows `{method}`: {given}")).with_hint(how_to_grant(method))
    }

    fn unknown(&self, method: &str) -> Failure {
        let failure = Failure::argument(format!("there is no tool `{method}`"));
        if let Some(clash) = self.tools.clash_of(method) {
            return failure.with_hint(clash.hint());
        }
        match self.tools.nearest(method) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None if self.tools.is_empty() => failure.with_hint(
                "no tool is mounted: publish one, or mount it with `--tool`; from Python, give it in `tools`",
            ),
            None => failure.with_hint("`listTools()` and `tool --list` name what is mounted"),
        }
    }

    /// What each grant that covers a method says of a call. Nothing is called, debited or recorded.
    ///
    /// # Errors
    /// If there is no such method, or the arguments do not fit.
    pub fn explain(&self, method: &str, arguments: &str) -> Result<Vec<Opinion>, Failure> {
        let (tool, arguments) = self.check(method, arguments, self.limits().memory).map_err(|(_, failure)| failure)?;
        Ok(self.judges.opinions(&tool, &arguments, &self.ledger, SystemTime::now()))
    }

    /// Which mounted methods each grant covers, and why it can never allow a call of one.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage> {
        self.judges.coverage(&self.tools)
    }

    /// What each mounted tool may touch besides its arguments.
    #[must_use]
    pub fn reach(&self) -> Vec<Reach> {
        power::reach(self)
    }

    /// Whether the policy lets any tool make requests.
    #[must_use]
    pub fn reaches_network(&self) -> bool {
        self.policy.permissions.values().any(|granted| !granted.http.is_empty())
    }

    /// Checks and debits a call whose arguments are canonical, and takes the debit back: what a call costs at the gate.
    /// For benchmarks and tests.
    #[doc(hidden)]
    #[must_use]
    pub fn would_allow(&self, tool: &Tool, arguments: &Value, now: SystemTime) -> bool {
        match self.judges.debit(tool, arguments, &self.ledger, now) {
            Ok((held, judge)) => {
                self.ledger.release(held.accounts[0].id, &|id| judge.amount(id, arguments));
                true
            }
            Err(_) => false,
        }
    }

    /// How many calls each grant has allowed, by its name, in order.
    #[must_use]
    pub fn counts(&self) -> Vec<(String, u64)> {
        let held = self.judges.held().iter();
        held.map(|held| (held.grant.name.clone(), self.ledger.used(held.accounts[0].id).calls)).collect()
    }

    /// What is left of every budget.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for held in self.judges.held() {
            let used = self.ledger.used(held.accounts[0].id);
            let grant: &Grant = &held.grant;
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

/// Why a call that is granted does not begin.
enum NotBegun {
    /// What the script is told.
    Failed(Failure),
    /// Another session spent meanwhile what the call was to be paid from: its number in the record, and its arguments.
    Spent(u64, ChargedArguments),
}

/// Canonical arguments of a call, with what they take of the session's memory.
struct ChargedArguments {
    value: Value,
    charge: MemoryCharge,
}

impl From<Failure> for NotBegun {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// How often a call is judged again when other sessions spend what it was to be paid from. Each time one more budget is known
/// to be used up, unless a call is given back meanwhile.
const MAX_ROUNDS: u32 = 100;

/// The number of a call that is about to start: the one that it has already, or the next. None once the run has ended.
fn number(record: &Record, seq: Option<u64>, method: &str, arguments: &Value, grant: &str) -> Option<u64> {
    match seq {
        Some(seq) => record.take_up(seq, grant).then_some(seq),
        None => record.begin(method, arguments, grant),
    }
}

/// Why a call that a tool makes is one too many: it is inside itself, or too deep.
fn may_nest(record: &Record, tool: &Tool, limit: u32) -> Option<Failure> {
    let method = tool.method();
    if record.is_inside(tool.alias()) {
        return Some(Failure::capability(format!(
            "`{method}`: a tool may not call itself, through others or directly"
        )));
    }
    (record.depth() >= limit).then(|| {
        let message = format!("`{method}`: tools call tools at most {limit} deep");
        Failure::limit(message, format!("let the script make some of the calls, or {}", how_to_raise("depth")))
    })
}

/// How to raise a limit on one call: the tool's own, or the session's.
pub(crate) fn raise(limit: &str, is_the_tools: bool) -> String {
    if is_the_tools {
        format!("it is the tool's own: `{limit}` under `[limits]` in its `tool.toml`")
    } else {
        how_to_raise(limit)
    }
}

/// Copies of a call's arguments that the host holds as long as it lasts: what was judged, and the component's values.
const COPIES: u64 = 2;

/// Most bytes of the text of refused arguments that a record keeps whole. Nothing bounds what a script without any grant
/// may ask for.
const REFUSED_BYTES: usize = 16 << 10;

/// Returns what a record keeps of the text of arguments that were refused: the JSON, or the text if it is none; of a long
/// one its beginning, length and hash.
fn recorded(text: &str) -> Value {
    if text.len() > REFUSED_BYTES {
        let beginning = &text[..text.floor_char_boundary(REFUSED_BYTES / 16)];
        let hash = blake3::hash(text.as_bytes()).to_hex();
        return json!({ "beginning": beginning, "bytes": text.len(), "blake3": hash.as_str() });
    }
    json::parse(text, u64::MAX).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Returns what a record keeps of canonical arguments that were refused.
fn kept(arguments: Value) -> Value {
    if json::weight(&arguments) > REFUSED_BYTES as u64 { recorded(&arguments.to_string()) } else { arguments }
}
