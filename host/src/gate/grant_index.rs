//! Which grant a call is judged by, and why another is not.
//!
//! Grants are bound to a method when it is first asked for, so that judging a call looks nothing up and allocates nothing
//! when it is allowed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::Value;

use super::accounts::behind;
use super::bind::{self, BindError, Bound, BoundSpend};
use super::optional::{self, Optional};
use crate::capability::{Amount, Approve, Grant, PolicyError};
use crate::ledger::{AccountId, Ledger, Refused, Terms};
use crate::tool::types::Function;
use crate::tool::{MountedTools, Tool, nearest};

/// The grants of a session, ready to judge.
pub(super) struct Judges {
    held: Vec<Held>,
    /// What each mounted method is judged by, in the order of the policy.
    methods: HashMap<String, OnceLock<Vec<Judge>>>,
}

/// A grant and the accounts that it debits: its own first, then those above it.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) grant: Arc<Grant>,
    pub(super) accounts: Vec<HeldAccount>,
}

/// How accounts are named.
#[derive(Clone, Copy)]
pub(super) enum Naming<'n> {
    /// As their grants.
    Own,
    /// Behind this name.
    Behind(&'n str),
    /// Not at all.
    None,
}

/// The account of a grant.
#[derive(Clone, Debug)]
pub(super) struct HeldAccount {
    pub(super) id: AccountId,
    pub(super) grant: Arc<Grant>,
    /// The same whenever the same policy is opened for the same tools: the grant's own name; of one above it, behind the
    /// name of the first that narrows it; of one of a tool's own gate, behind the tool's alias. Between them stands a
    /// character that no name has. None of a session that was made from another: what it spends is in the other's.
    pub(super) name: Option<Arc<str>>,
}

/// A grant before one method.
pub(super) struct Judge {
    held: usize,
    bound: Result<Bound, BindError>,
    sums: Vec<(AccountId, BoundSpend)>,
}

/// Why a call is denied: the grant that came nearest, and what was missing.
pub(super) struct Denial<'g> {
    pub(super) grant: Option<&'g Grant>,
    pub(super) reason: Reason,
}

/// What was missing.
pub(super) enum Reason {
    /// No grant covers the method.
    NotGranted,
    /// A grant covers it, and what it asks of the arguments cannot be asked of this method.
    Unfit(String),
    /// A clause does not hold: what it says, and what the call has there.
    Clause(String, Option<Value>),
    /// The ledger refused, for this grant or one above it.
    Budget(String, Refused),
    /// This grant, or one above it, is over, and no other may take its place.
    Ended(String, Refused),
}

/// What one grant says of a call, for `policy explain`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Opinion {
    /// The grant.
    pub grant: String,
    /// Its method pattern.
    pub method: String,
    /// Whether it would allow the call.
    pub allows: bool,
    /// Why not; or what would be debited, and whether a human would be asked.
    pub why: Vec<String>,
}

/// What a grant covers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Coverage {
    /// The grant.
    pub grant: String,
    /// Its method pattern.
    pub pattern: String,
    /// The mounted methods that it covers.
    pub methods: Vec<Covered>,
}

/// A method that a grant covers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Covered {
    /// The canonical method.
    pub method: String,
    /// Why the grant can never allow a call of it, if so.
    pub problem: Option<String>,
    /// What the grant's clauses read and a call may leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<Optional>,
}

impl Judges {
    /// Opens an account for each grant and checks the grants against what is mounted. `above` are the grants of the
    /// session that this one is made from: a grant that narrows one of them debits its account.
    pub(super) fn new(
        grants: Vec<Grant>,
        tools: &MountedTools,
        ledger: &Ledger,
        above: &[Held],
        naming: Naming<'_>,
    ) -> Result<Self, PolicyError> {
        let mut names = HashSet::new();
        for grant in &grants {
            // Budgets, revocation and the log go by name.
            if !names.insert(grant.name.as_str()) {
                return Err(PolicyError::twice(grant));
            }
            check(grant, tools)?;
        }
        let mut opened = HashMap::new();
        let held = grants.into_iter().map(|grant| Held {
            accounts: accounts(&grant, ledger, above, naming, &mut opened),
            grant: Arc::new(grant),
        });
        let held = held.collect();
        let methods = tools.iter().map(|tool| (tool.method().to_owned(), OnceLock::new()));
        Ok(Self { held, methods: methods.collect() })
    }

    /// The grants and their accounts, in order.
    pub(super) fn held(&self) -> &[Held] {
        &self.held
    }

    /// Whether a grant could allow a call of a method, for some arguments and with some budget.
    pub(super) fn grants(&self, tool: &Tool) -> bool {
        let is_ok = |judge: &Judge| judge.bound.is_ok();
        // Of a namespace itself: of anything in it.
        if tool.bound_as() == tool.method() { self.all(tool).iter().any(is_ok) } else { self.of(tool).any(is_ok) }
    }

    /// What judges a call.
    fn of(&self, tool: &Tool) -> impl Iterator<Item = &Judge> {
        // Those of a namespace cover some of its methods.
        let covers = |judge: &&Judge| !tool.is_open() || self.held[judge.held].grant.method.matches(tool.method());
        self.all(tool).iter().filter(covers)
    }

    /// What judges calls of a method; of an open namespace, of any method in it.
    fn all(&self, tool: &Tool) -> &[Judge] {
        let Some(judges) = self.methods.get(tool.bound_as()) else { return &[] };
        judges.get_or_init(|| {
            let covers = |held: &Held| match tool.namespace() {
                Some(namespace) => namespace.may_be_covered_by(&held.grant.method),
                None => held.grant.method.matches(tool.method()),
            };
            let covering = self.held.iter().enumerate().filter(|(_, held)| covers(held));
            covering.map(|(index, held)| Judge::new(index, held, tool.function())).collect()
        })
    }

    /// Debits the first grant that covers a method, whose clauses hold and whose budgets last. One that may ask a human and
    /// has ended, or was revoked, denies what it covers: were the next one tried, nobody would be asked any more.
    pub(super) fn debit(
        &self,
        tool: &Tool,
        arguments: &Value,
        ledger: &Ledger,
        now: SystemTime,
    ) -> Result<(&Held, &Judge), Denial<'_>> {
        let mut nearest: Option<(u8, &Judge, Option<Refused>, AccountId)> = None;
        for judge in self.of(tool) {
            let held = &self.held[judge.held];
            let account = held.accounts[0].id;
            let (rank, refused, at) = match &judge.bound {
                Err(_) => (0, None, account),
                Ok(bound) if !bound.holds(arguments) => (1, None, account),
                Ok(_) => match ledger.reserve(account, &|id| judge.amount(id, arguments), now) {
                    Ok(()) => return Ok((held, judge)),
                    Err((at, refused)) => {
                        if let Some(reason) = held.bars(ledger, now) {
                            return Err(Denial { grant: Some(&held.grant), reason });
                        }
                        (2, Some(refused), at)
                    }
                },
            };
            if nearest.as_ref().is_none_or(|(other, ..)| rank > *other) {
                nearest = Some((rank, judge, refused, at));
            }
        }
        let Some((_, judge, refused, at)) = nearest else {
            return Err(Denial { grant: None, reason: Reason::NotGranted });
        };
        let held = &self.held[judge.held];
        let reason = match refused {
            Some(refused) => Reason::Budget(held.name_of(at).to_owned(), refused),
            None => judge.objection(arguments),
        };
        Err(Denial { grant: Some(&held.grant), reason })
    }

    /// What each grant covers.
    pub(super) fn coverage(&self, tools: &MountedTools) -> Vec<Coverage> {
        let covered = |held: &Held, index: usize| {
            let methods = tools.iter().filter(|tool| tool.is_covered_by(&held.grant.method)).map(|tool| {
                let judge = self.all(tool).iter().find(|judge| judge.held == index);
                let problem = judge.and_then(|judge| judge.bound.as_ref().err()).map(|error| error.message.clone());
                let optional = optional::read_by(&held.grant, tool.function());
                Covered { method: tool.method().to_owned(), problem, optional }
            });
            methods.collect()
        };
        let one = |(index, held): (usize, &Held)| Coverage {
            grant: held.grant.name.clone(),
            pattern: held.grant.method.to_string(),
            methods: covered(held, index),
        };
        self.held.iter().enumerate().map(one).collect()
    }

    /// What each grant that covers a method says of a call.
    pub(super) fn opinions(&self, tool: &Tool, arguments: &Value, ledger: &Ledger, now: SystemTime) -> Vec<Opinion> {
        // The grant behind which none is tried any more.
        let mut last: Option<&str> = None;
        let opinion = |judge: &Judge| {
            let held = &self.held[judge.held];
            let (allows, why) = match (last, judge.try_out(held, arguments, ledger, now)) {
                (Some(last), _) => (false, vec![format!("it is not tried: grant `{last}` denies the call for good")]),
                (None, Ok(why)) => (true, why),
                (None, Err(reason)) => {
                    if matches!(reason, Reason::Ended(..)) {
                        last = Some(&held.grant.name);
                    }
                    (false, vec![reason.to_string()])
                }
            };
            Opinion { grant: held.grant.name.clone(), method: held.grant.method.to_string(), allows, why }
        };
        self.of(tool).map(opinion).collect()
    }
}

impl Held {
    /// The name of the grant whose account this is.
    pub(super) fn name_of(&self, account: AccountId) -> &str {
        let found = self.accounts.iter().find(|held| held.id == account);
        found.map_or(self.grant.name.as_str(), |held| held.grant.name.as_str())
    }

    /// Why no later grant may take this one's place: it asks a human, and it or one above it is over.
    fn bars(&self, ledger: &Ledger, now: SystemTime) -> Option<Reason> {
        if self.grant.approve == Approve::Never { None } else { self.over(ledger, now) }
    }

    /// Why this grant allows nothing any more: it, or one above it, has ended or was revoked.
    pub(super) fn over(&self, ledger: &Ledger, now: SystemTime) -> Option<Reason> {
        let (at, refused) = ledger.over(self.accounts[0].id, now)?;
        Some(Reason::Ended(self.name_of(at).to_owned(), refused))
    }
}

impl Judge {
    fn new(index: usize, held: &Held, function: &Function) -> Self {
        let mut bound = bind::bind(&held.grant, function);
        let mut sums = Vec::new();
        for account in &held.accounts {
            match bind::bind_spend(&account.grant, function) {
                Ok(Some(spend)) => sums.push((account.id, spend)),
                Ok(None) => {}
                Err(error) => bound = bound.and(Err(error)),
            }
        }
        Self { held: index, bound, sums }
    }

    /// What a call asks of an account that sums something.
    pub(super) fn amount(&self, account: AccountId, arguments: &Value) -> Option<Amount> {
        let (_, spend) = self.sums.iter().find(|(id, _)| *id == account)?;
        let mut amount = None;
        spend.path.every(arguments, |value| {
            let number = value.and_then(|value| crate::capability::Number::from_json(value, spend.wide));
            amount = number.and_then(Amount::new);
            true
        });
        amount
    }

    /// Why a human is asked first, in words; none if nobody is.
    pub(super) fn asks(&self, arguments: &Value) -> Option<String> {
        let approve = &self.bound.as_ref().ok()?.approve;
        if !approve.asks(arguments) {
            return None;
        }
        let Approve::When(clause) = approve else { return Some("it asks about every call".to_owned()) };
        Some(match clause.reason(arguments) {
            None => "nobody can say that it need not".to_owned(),
            Some(param) => {
                let actual = param.suspect(arguments).map_or_else(|| "missing".to_owned(), shown);
                format!("it asks where {}; here it is {actual}", param.possibility())
            }
        })
    }

    /// What is wrong with the arguments, or with the grant.
    fn objection(&self, arguments: &Value) -> Reason {
        match &self.bound {
            Err(error) => Reason::Unfit(error.message.clone()),
            Ok(bound) => {
                let failed = bound.clauses.iter().find_map(|clause| clause.failed(arguments));
                let told = failed.map(ToString::to_string).unwrap_or_default();
                Reason::Clause(told, failed.and_then(|clause| clause.actual(arguments)).cloned())
            }
        }
    }

    fn try_out(&self, held: &Held, arguments: &Value, ledger: &Ledger, now: SystemTime) -> Result<Vec<String>, Reason> {
        if self.bound.as_ref().map_or(true, |bound| !bound.holds(arguments)) {
            return Err(self.objection(arguments));
        }
        let account = held.accounts[0].id;
        let amount = |id| self.amount(id, arguments);
        ledger.check(account, &amount, now).map_err(|(at, refused)| {
            held.bars(ledger, now).unwrap_or_else(|| Reason::Budget(held.name_of(at).to_owned(), refused))
        })?;
        let mut why = vec![];
        for HeldAccount { id, grant, .. } in &held.accounts {
            if grant.calls.is_some() {
                why.push(format!("debits one call of `{}`", grant.name));
            }
            if let (Some(spend), Some(amount)) = (&grant.spend, amount(*id)) {
                why.push(format!("debits {amount} of the {} of `{}`", spend.limit, grant.name));
            }
        }
        if let Some(reason) = self.asks(arguments) {
            why.extend(["asks a human first".to_owned(), reason]);
        }
        Ok(why)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotGranted => f.write_str("no grant covers the method"),
            Self::Unfit(message) => write!(f, "it does not fit the method: {message}"),
            Self::Clause(clause, None) => write!(f, "{clause}; it is missing"),
            Self::Clause(clause, Some(actual)) => write!(f, "{clause}; it is {}", shown(actual)),
            Self::Budget(grant, refused) => write!(f, "grant `{grant}`: {refused}"),
            Self::Ended(grant, refused) => {
                write!(f, "grant `{grant}`: {refused}; since it asks a human, no other grant is tried")
            }
        }
    }
}

/// As much of a value as a message shows.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    let shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() { shown + "…" } else { shown }
}

/// Opens the account of a grant, and of those that it narrows: one for each, however many narrow it.
fn accounts(
    grant: &Grant,
    ledger: &Ledger,
    above: &[Held],
    naming: Naming<'_>,
    opened: &mut HashMap<*const Grant, Vec<HeldAccount>>,
) -> Vec<HeldAccount> {
    let name = match naming {
        Naming::Own => Some(grant.name.clone()),
        Naming::Behind(owner) => Some(behind(owner, &grant.name)),
        Naming::None => None,
    };
    let mut chain = match &grant.parent {
        None => Vec::new(),
        Some(parent) => {
            let held = above.iter().find(|held| *held.grant == **parent);
            match (held, opened.get(&Arc::as_ptr(parent)).cloned()) {
                (Some(held), _) => held.accounts.clone(),
                (None, Some(chain)) => chain,
                (None, None) => {
                    let below = name.as_deref().map_or(Naming::None, Naming::Behind);
                    let chain = accounts(parent, ledger, above, below, opened);
                    opened.insert(Arc::as_ptr(parent), chain.clone());
                    chain
                }
            }
        }
    };
    let terms = Terms {
        calls: grant.calls,
        spend: grant.spend.as_ref().map(|spend| spend.limit),
        expires: grant.expires,
        parent: chain.first().map(|account| account.id),
    };
    let (id, grant) = (ledger.open(terms), Arc::new(grant.clone()));
    chain.insert(0, HeldAccount { id, grant, name: name.map(Arc::from) });
    chain
}

/// A grant must cover something that is mounted, and what it asks of the arguments must make sense for at least one
/// method that it covers. A pattern of stars alone may cover nothing.
fn check(grant: &Grant, tools: &MountedTools) -> Result<(), PolicyError> {
    let span = grant.span.0.clone();
    let mut problem = None;
    let mut covers = false;
    for tool in tools.iter().filter(|tool| tool.is_covered_by(&grant.method)) {
        covers = true;
        let bound = bind::bind(grant, tool.function()).and_then(|_| bind::bind_spend(grant, tool.function()));
        match bound {
            Ok(_) => return Ok(()),
            Err(error) => problem = problem.or(Some((tool.method(), error))),
        }
    }
    if let Some((method, error)) = problem {
        let message = format!("grant `{}` can allow nothing: in `{method}`, {}", grant.name, error.message);
        let mut told = PolicyError::new(message, error.span.0.or(span));
        told.hint = error.hint;
        return Err(told);
    }
    let pattern = grant.method.to_string();
    if covers || pattern.chars().all(|c| matches!(c, '*' | '/')) {
        return Ok(());
    }
    let told = PolicyError::new(format!("`{pattern}` covers nothing that is mounted"), span);
    let below = format!("{pattern}/");
    if tools.iter().any(|tool| tool.method().starts_with(&below)) {
        return Err(told.hint(format!("all that `{pattern}` has is `{pattern}/*`")));
    }
    if let Some(clash) = tools.clash_of(&pattern) {
        return Err(told.hint(clash.hint()));
    }
    Err(match nearest(&pattern, tools.iter().map(|tool| tool.method())) {
        Some(near) => told.hint(format!("did you mean `{near}`?")),
        None => told.hint("`tollhouse tools` lists what is mounted"),
    })
}
