//! Consent of a human to a call, as data: what is asked, and what was decided. How the human is asked is not known here.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollhouse_methods::types::Named;
use tollhouse_policy::capability::{Amount, Approve, Clause, Step};
use tollhouse_types::error::Location;

use super::admission::ReservedCall;
use super::call_record::BudgetKind;
use super::event::Event;
use super::event_texts::TextFilter;

/// A call of a tool that itself makes calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Number of the call in its run.
    pub seq: u64,
    /// Method of the call.
    pub method: String,
}

/// The amount that a call takes from a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Name of the grant that sets the budget.
    pub grant: String,
    /// Unit that the budget counts.
    pub kind: BudgetKind,
    /// Amount that the call takes.
    pub amount: Amount,
    /// Initial amount of the budget.
    pub limit: Amount,
    /// Amount that remains after the call.
    pub remaining: Amount,
}

/// A call that waits for the decision of a human beyond the life of this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeferredCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, exactly as the tool would receive them.
    pub arguments: Value,
    /// Name of the grant that requires approval.
    pub grant: String,
    /// Reason in words: the clause, and the actual value in the call.
    pub reason: String,
    /// Amounts that the call would take from each budget: a list of [`Cost`].
    pub cost: Value,
    /// Time of the question, in nanoseconds since the Unix epoch.
    pub asked: u64,
    /// Time until which it can be decided about, in nanoseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// Names of those who can approve it, by a signature; `None` if anyone can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<BTreeSet<String>>,
    /// Reason why an earlier approval did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// Name of the script or file that makes the call, at most 256 bytes, as the script's guest tells it: a hint for the
    /// reader, and no part of what is decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in that file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The call without values of secrets, for whoever reads about it; `None` if there are none in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<RedactedCall>,
    /// blake3 of what is decided about, in hexadecimal: run, number, method, arguments, grant and reason.
    pub digest: String,
}

/// Arguments and reason of a call in which values of secrets are replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedactedCall {
    /// The arguments.
    pub arguments: Value,
    /// The reason, which quotes them.
    pub reason: String,
}

/// The decision of a human about a deferred call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// True if the call may be made.
    pub allowed: bool,
    /// Person or system that decided.
    pub by: String,
    /// Reason of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of the decision, in nanoseconds since the Unix epoch.
    pub at: u64,
    /// Digest of the call that was decided about.
    pub digest: String,
    /// Arguments with which the call is approved in place of the script's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Signature of an approver, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl DeferredCall {
    /// Sets what a reader is shown in place of arguments and reason, if the filter replaces something in them.
    pub fn redact(&mut self, filter: &dyn TextFilter) {
        let (arguments, reason) = (filter.json(&self.arguments), filter.text(&self.reason));
        let is_same = matches!((&arguments, &reason), (Cow::Borrowed(_), Cow::Borrowed(_)));
        self.redacted =
            (!is_same).then(|| RedactedCall { arguments: arguments.into_owned(), reason: reason.into_owned() });
    }

    /// Returns arguments and reason for a reader who does not sign them: without values of secrets.
    #[must_use]
    pub fn shown(&self) -> (&Value, &str) {
        match &self.redacted {
            Some(RedactedCall { arguments, reason }) => (arguments, reason),
            None => (&self.arguments, &self.reason),
        }
    }

    /// Returns true if nobody can decide about the call any more.
    #[must_use]
    pub fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires < now)
    }

    /// Returns true if the digest is that of this call: number, method, arguments, grant and reason are what is decided
    /// about.
    #[must_use]
    pub fn has_own_digest(&self, run: u64) -> bool {
        self.digest == digest(run, self.seq, &self.method, &self.arguments, &self.grant, &self.reason)
    }

    /// Returns the digest of a decision that approves this call of a run with other arguments.
    #[must_use]
    pub fn edited_digest(&self, run: u64, arguments: &Value) -> String {
        edited_digest(run, self.seq, &self.method, arguments, &self.grant)
    }
}

impl Decision {
    /// Creates the decision about the call with this digest. `at` is its time, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn new(allowed: bool, by: String, reason: Option<String>, at: u64, digest: String) -> Self {
        Self { allowed, by, reason, at, digest, arguments: None, signature: None }
    }

    /// Creates the decision of approving a call of this run with other arguments.
    #[must_use]
    pub fn edited(call: &DeferredCall, run: u64, arguments: Value, by: String, at: u64) -> Self {
        let digest = call.edited_digest(run, &arguments);
        Self { allowed: true, by, reason: None, at, digest, arguments: Some(arguments), signature: None }
    }

    /// Returns true if the decision was made about exactly this call of a run. One that changes the arguments was made about
    /// the call that has them as they were given.
    #[must_use]
    pub fn is_about(&self, (run, seq): (u64, u64), method: &str, arguments: &Value, grant: &str, reason: &str) -> bool {
        self.digest
            == match &self.arguments {
                None => digest(run, seq, method, arguments, grant, reason),
                Some(given) => edited_digest(run, seq, method, given, grant),
            }
    }

    /// Adds the signature of an approver, in base64.
    #[must_use]
    pub fn signed(self, signature: Option<String>) -> Self {
        Self { signature, ..self }
    }
}

/// A call that is reserved, and needs the consent of a human.
pub struct UnapprovedCall {
    /// Number of the call in its run, if it has one already.
    pub(super) seq: Option<u64>,
    pub(super) call: ReservedCall,
    pub(super) reason: String,
}

impl UnapprovedCall {
    /// Names of those who can approve it, by a signature; `None` if anyone can.
    #[must_use]
    pub fn approved_by(&self) -> Option<&BTreeSet<String>> {
        self.call.reservation.active.grant.approved_by.as_ref()
    }

    /// Reason in words: the clause, and the actual value in the call.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// An argument of a call, for a human who decides about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedArgument<'a> {
    /// Name of the argument.
    pub name: &'a str,
    /// Value of the argument.
    pub value: &'a Value,
    /// True if the method declares it, or declares none at all.
    pub is_declared: bool,
}

/// A numbered call that a human is asked about. Whoever asks must log [`ConsentRequest::event`] before anything is shown,
/// and the answer before the call is approved.
pub struct ConsentRequest {
    pub(super) run: u64,
    pub(super) seq: u64,
    pub(super) callers: Vec<Caller>,
    pub(super) call: ReservedCall,
    pub(super) reason: String,
    pub(super) costs: Vec<Cost>,
}

impl ConsentRequest {
    /// Number of the run.
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Number of the call in its run.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The canonical method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.call.declaration.method()
    }

    /// The canonical arguments, exactly as the tool would receive them.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.call.arguments.value
    }

    /// Lists the arguments in the order of their weight for a decision: first those that a clause or budget of the grant
    /// reads, then the others that the method declares, in its order and null ones last, then those that it does not
    /// declare. The script chooses neither.
    #[must_use]
    pub fn ranked_arguments(&self) -> Vec<RankedArgument<'_>> {
        let params = &self.call.declaration.function().params;
        let declares_none = params.iter().next().is_none();
        let read: Vec<&str> = self.read_names().map(|name| params.find(name).map_or(name, Named::camel)).collect();
        let given = self.arguments().as_object().into_iter().flatten().map(|(name, value)| {
            let place = params.iter().position(|param| param.camel() == name);
            let rank = match (read.iter().position(|read| read == name), place) {
                (Some(at), _) => (0, at),
                (None, Some(at)) => (if value.is_null() { 2 } else { 1 }, at),
                (None, None) => (3, 0),
            };
            (rank, RankedArgument { name, value, is_declared: place.is_some() || declares_none })
        });
        let mut ranked: Vec<_> = given.collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, argument)| argument).collect()
    }

    /// Names of the parameters that the grant, and those that it narrows, read.
    fn read_names(&self) -> impl Iterator<Item = &str> {
        let grants = self.call.reservation.active.accounts.iter().map(|account| &account.grant);
        let paths = grants.flat_map(|grant| {
            let asks = if let Approve::When(clause) = &grant.approve { Some(clause) } else { None };
            let clauses = asks.into_iter().chain(&grant.clauses).flat_map(Clause::params);
            clauses.map(|param| &param.path).chain(grant.spend.as_ref().map(|spend| &spend.param))
        });
        paths.filter_map(|path| match path.steps().first()? {
            Step::Name(name) | Step::Field { name, .. } => Some(name.as_str()),
            Step::Index(_) | Step::Each => None,
        })
    }

    /// Name of the grant that requires approval.
    #[must_use]
    pub fn grant(&self) -> &str {
        self.call.reservation.grant()
    }

    /// Reason in words: the clause, and the actual value in the call.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Place in the script that makes the call, as its guest tells it: a hint for the reader.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        self.call.location.as_ref()
    }

    /// Names of those who can approve it, by a signature; `None` if anyone can.
    #[must_use]
    pub fn approved_by(&self) -> Option<&BTreeSet<String>> {
        self.call.reservation.active.grant.approved_by.as_ref()
    }

    /// Tools that make the call on the script's behalf, outermost first; empty if the script itself makes it.
    #[must_use]
    pub fn callers(&self) -> &[Caller] {
        &self.callers
    }

    /// Amounts that the call takes from each budget.
    #[must_use]
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// Returns the event that a human is asked. `shown` is the hash of the text that is shown, in hexadecimal, and `text`
    /// the text itself, unless it is too long.
    #[must_use]
    pub fn event<'a>(&'a self, shown: &'a str, text: Option<&'a str>) -> Event<'a> {
        Event::Asked {
            run: self.run,
            seq: self.seq,
            caller: self.callers.last().map(|caller| caller.seq),
            method: self.method(),
            arguments: self.arguments(),
            grant: self.grant(),
            reason: self.reason(),
            shown,
            text,
        }
    }

    /// Describes the call for a decision beyond the life of this process; `asked` is the time of the question, in
    /// nanoseconds since the Unix epoch.
    #[must_use]
    pub fn deferred(&self, asked: u64) -> DeferredCall {
        let within = self.call.reservation.active.grant.approve_within;
        let within = within.map(|within| u64::try_from(within.as_nanos()).unwrap_or(u64::MAX));
        DeferredCall {
            seq: self.seq,
            method: self.method().to_owned(),
            arguments: self.arguments().clone(),
            grant: self.grant().to_owned(),
            reason: self.reason().to_owned(),
            cost: serde_json::to_value(&self.costs).unwrap_or_default(),
            asked,
            expires: within.map(|within| asked.saturating_add(within)),
            approved_by: self.approved_by().cloned(),
            rejected: None,
            file: self.location().map(|location| location.file.clone()),
            line: self.location().map(|location| location.line),
            redacted: None,
            digest: self.digest(),
        }
    }

    /// Returns true if a decision was made about exactly this call. One that changes the arguments was made about the call
    /// that has them.
    #[must_use]
    pub fn is_decided_by(&self, decision: &Decision) -> bool {
        let Some(given) = &decision.arguments else { return self.digest() == decision.digest };
        let digest = edited_digest(self.run, self.seq, self.method(), given, self.grant());
        let canonical = self.call.declaration.canonicalize(given.clone(), u64::MAX);
        digest == decision.digest && canonical.is_ok_and(|canonical| canonical == *self.arguments())
    }

    /// Gives back what was reserved for the call, because it waits for a decision beyond this process.
    pub fn release(&self) {
        self.call.reservation.release();
    }

    fn digest(&self) -> String {
        digest(self.run, self.seq, self.method(), self.arguments(), self.grant(), self.reason())
    }
}

/// Returns the digest of what is decided about.
fn digest(run: u64, seq: u64, method: &str, arguments: &Value, grant: &str, reason: &str) -> String {
    let decided = serde_json::json!([run, seq, method, arguments, grant, reason]).to_string();
    blake3::hash(decided.as_bytes()).to_hex().to_string()
}

/// Returns the digest of a call that is approved with other arguments. The reason, which names the script's, is not in it.
fn edited_digest(run: u64, seq: u64, method: &str, arguments: &Value, grant: &str) -> String {
    let decided = serde_json::json!(["edited", run, seq, method, arguments, grant]).to_string();
    blake3::hash(decided.as_bytes()).to_hex().to_string()
}
