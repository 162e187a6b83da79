//! The index of grants by method: finds the grant that allows a call, or the reason why none does.
//!
//! Grants are bound to a method when it is first called, so that judging a call needs no lookups, and no allocation if
//! it is allowed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::Value;

use super::budget_accounts::behind;
use super::grant_binding::{self, BindError, BoundGrant, BoundSpend};
use super::optional_parameters::{self, Optional};
use super::spelling;
use tollhouse_methods::host_method::{respelled, takes_undeclared};
use tollhouse_methods::types::Function;
use tollhouse_methods::{Catalog, HostMethod, MethodDeclaration, nearest};
use tollhouse_policy::capability::{Amount, Approve, Clause, Grant, ParamPath, Pattern, PolicyError, Step};
use tollhouse_policy::ledger::{AccountId, Ledger, Refused, Terms};
use tollhouse_types::excerpt;
use tollhouse_types::remedy::Remedy;

/// The grants of a session, indexed by method.
pub(super) struct GrantIndex {
    grants: Vec<ActiveGrant>,
    /// Grants that cover each mounted method, in the order of the policy.
    methods: HashMap<String, OnceLock<Vec<MethodGrant>>>,
}

/// A grant and the accounts that it debits: its own first, then those of the grants it narrows.
#[derive(Clone)]
pub(super) struct ActiveGrant {
    pub(super) grant: Arc<Grant>,
    pub(super) accounts: Arc<[GrantAccount]>,
}

/// Naming of the accounts of grants.
#[derive(Clone, Copy)]
pub(super) enum AccountNaming<'n> {
    /// Named like the grants.
    Own,
    /// Prefixed with this name.
    Behind(&'n str),
    /// No names.
    None,
}

/// The account of a grant.
#[derive(Clone, Debug)]
pub(super) struct GrantAccount {
    pub(super) id: AccountId,
    pub(super) grant: Arc<Grant>,
    /// Name of the account, the same whenever the same policy is opened for the same tools: the grant's own name; for a
    /// grant above it, prefixed with the name of the first grant that narrows it; in a tool's own gate, prefixed with
    /// the tool's alias. The separator is a character that no name contains. `None` in a session that was derived from
    /// another one: its spending is in the other's accounts.
    pub(super) name: Option<Arc<str>>,
}

/// A grant bound to one method.
pub(super) struct MethodGrant {
    grant: usize,
    bound: Result<BoundGrant, BindError>,
    sums: Vec<(AccountId, BoundSpend)>,
}

/// The reason why a call is denied, with the grant that came closest to allowing it.
pub(super) struct GrantDenial<'g> {
    pub(super) grant: Option<&'g Grant>,
    pub(super) reason: DenialReason,
}

/// The condition that a denied call does not meet.
pub(super) enum DenialReason {
    /// No grant covers the method.
    NotGranted,
    /// A grant covers the method, but its conditions on the arguments cannot apply to this method.
    Unfit(String),
    /// A clause does not hold: its text, and the actual value in the call.
    Clause(String, Option<Value>),
    /// The ledger refused, for this grant or one above it.
    Budget(String, Refused),
    /// This grant, or one above it, has ended, and no other grant may replace it.
    Ended(String, Refused),
}

/// The decision of one grant about a call, for `policy explain`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Opinion {
    /// Name of the grant.
    pub grant: String,
    /// Method pattern of the grant.
    pub method: String,
    /// True if the grant would allow the call.
    pub allows: bool,
    /// Reasons of a refusal; or the accounts that would be debited, and whether a human would be asked.
    pub why: Vec<String>,
}

/// The methods that a grant covers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Coverage {
    /// Name of the grant.
    pub grant: String,
    /// Method pattern of the grant.
    pub pattern: String,
    /// Mounted methods that the pattern matches.
    pub methods: Vec<Covered>,
}

/// A method that a grant covers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Covered {
    /// The canonical method.
    pub method: String,
    /// Reason why the grant can never allow a call of the method, if there is one.
    pub problem: Option<String>,
    /// Parameters that the grant's clauses read and a call may omit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<Optional>,
    /// True if calls may have arguments that the method does not declare, which no clause judges unless it names them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub takes_undeclared: bool,
}

impl GrantIndex {
    /// Opens an account for each grant, and checks the grants against the mounted tools. `above` are the grants of the
    /// session that this one is derived from: a grant that narrows one of them debits its account.
    pub(super) fn new(
        grants: Vec<Grant>,
        catalog: &Catalog,
        ledger: &Ledger,
        above: &[ActiveGrant],
        naming: AccountNaming<'_>,
    ) -> Result<Self, PolicyError> {
        let mut names = HashSet::new();
        for grant in &grants {
            // Budgets, revocation and the log identify grants by name.
            if !names.insert(grant.name.as_str()) {
                return Err(PolicyError::twice(grant));
            }
            check(grant, catalog)?;
            check_spellings(grant, catalog)?;
        }
        let mut opened = HashMap::new();
        let active = grants.into_iter().map(|grant| ActiveGrant {
            accounts: accounts(&grant, ledger, above, naming, &mut opened).into(),
            grant: Arc::new(grant),
        });
        let active = active.collect();
        let methods = catalog.iter().map(|tool| (tool.method().to_owned(), OnceLock::new()));
        Ok(Self { grants: active, methods: methods.collect() })
    }

    /// The grants and their accounts, in order.
    pub(super) fn active_grants(&self) -> &[ActiveGrant] {
        &self.grants
    }

    /// Returns true if a grant could allow a call of the tool, for some arguments and with some budget.
    pub(super) fn grants(&self, tool: &MethodDeclaration) -> bool {
        let is_ok = |judge: &MethodGrant| judge.bound.is_ok();
        // For an open namespace itself: any method in it.
        if tool.bound_as() == tool.method() { self.all(tool).iter().any(is_ok) } else { self.of(tool).any(is_ok) }
    }

    /// The bound grants that cover a tool.
    fn of(&self, tool: &MethodDeclaration) -> impl Iterator<Item = &MethodGrant> {
        // The grants of an open namespace may cover only some of its methods.
        let covers =
            |judge: &&MethodGrant| !tool.is_open() || self.grants[judge.grant].grant.method.matches(tool.method());
        self.all(tool).iter().filter(covers)
    }

    /// The bound grants that cover a method; for an open namespace, any method in it.
    fn all(&self, tool: &MethodDeclaration) -> &[MethodGrant] {
        let Some(grant_index) = self.methods.get(tool.bound_as()) else { return &[] };
        grant_index.get_or_init(|| {
            let covers = |active: &ActiveGrant| match tool.namespace() {
                Some(namespace) => may_cover_below(&active.grant.method, namespace),
                None => active.grant.method.matches(tool.method()),
            };
            let covering = self.grants.iter().enumerate().filter(|(_, active)| covers(active));
            covering.map(|(index, active)| MethodGrant::new(index, active, tool.function())).collect()
        })
    }

    /// Debits the first grant that covers a method, whose clauses hold and whose budgets suffice. A grant that may
    /// require approval and has ended or was revoked denies the calls that it covers: if the next grant were tried,
    /// nobody would be asked any more.
    pub(super) fn debit(
        &self,
        tool: &MethodDeclaration,
        arguments: &Value,
        ledger: &Ledger,
        now: SystemTime,
    ) -> Result<(&ActiveGrant, &MethodGrant), GrantDenial<'_>> {
        let mut nearest: Option<(u8, &MethodGrant, Option<Refused>, AccountId)> = None;
        for judge in self.of(tool) {
            let active = &self.grants[judge.grant];
            let account = active.accounts[0].id;
            let (rank, refused, at) = match &judge.bound {
                Err(_) => (0, None, account),
                Ok(bound) if !bound.holds(arguments) => (1, None, account),
                Ok(_) => match ledger.reserve(account, &|id| judge.amount(id, arguments), now) {
                    Ok(()) => return Ok((active, judge)),
                    Err((at, refused)) => {
                        if let Some(reason) = active.bars(ledger, now) {
                            return Err(GrantDenial { grant: Some(&active.grant), reason });
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
            return Err(GrantDenial { grant: None, reason: DenialReason::NotGranted });
        };
        let active = &self.grants[judge.grant];
        let reason = match refused {
            Some(refused) => DenialReason::Budget(active.name_of(at).to_owned(), refused),
            None => judge.objection(arguments),
        };
        Err(GrantDenial { grant: Some(&active.grant), reason })
    }

    /// Returns a name among the arguments that a tool could take for one that a grant of it reads, and the path of that:
    /// in a place where the schema takes any names, a clause would not find the value under another spelling.
    pub(super) fn respelled(&self, tool: &MethodDeclaration, arguments: &Value) -> Option<(String, String)> {
        tool.function().schemas.as_ref()?;
        self.of(tool).flat_map(MethodGrant::paths).find_map(|path| {
            let name = respelled_at(path.steps(), arguments)?;
            Some((excerpt(name), path.to_string()))
        })
    }

    /// Lists the methods that each grant covers.
    pub(super) fn coverage(&self, catalog: &Catalog) -> Vec<Coverage> {
        let covered = |active: &ActiveGrant, index: usize| {
            let methods = catalog.iter().filter(|tool| covers(&active.grant.method, tool)).map(|tool| {
                // They are in the order of the grants, which may be many.
                let judges = self.all(tool);
                let at = judges.binary_search_by_key(&index, |judge| judge.grant);
                let judge = at.ok().and_then(|at| judges.get(at));
                let problem = judge.and_then(|judge| judge.bound.as_ref().err()).map(|error| error.message.clone());
                let optional = optional_parameters::read_by(&active.grant, tool.function());
                let schemas = tool.function().schemas.as_ref();
                let takes_undeclared = schemas.is_some_and(|schemas| takes_undeclared(&schemas.parameters));
                Covered { method: tool.method().to_owned(), problem, optional, takes_undeclared }
            });
            methods.collect()
        };
        let one = |(index, active): (usize, &ActiveGrant)| Coverage {
            grant: active.grant.name.clone(),
            pattern: active.grant.method.to_string(),
            methods: covered(active, index),
        };
        self.grants.iter().enumerate().map(one).collect()
    }

    /// Lists the decision of each grant that covers a method about a call.
    pub(super) fn opinions(
        &self,
        tool: &MethodDeclaration,
        arguments: &Value,
        ledger: &Ledger,
        now: SystemTime,
    ) -> Vec<Opinion> {
        // Name of the grant after which no other is tried.
        let mut last: Option<&str> = None;
        let opinion = |judge: &MethodGrant| {
            let active = &self.grants[judge.grant];
            let (allows, why) = match (last, judge.try_out(active, arguments, ledger, now)) {
                (Some(last), _) => {
                    (false, vec![format!("it is not tried: grant `{last}` denies the call, and that is final")])
                }
                (None, Ok(why)) => (true, why),
                (None, Err(reason)) => {
                    if matches!(reason, DenialReason::Ended(..)) {
                        last = Some(&active.grant.name);
                    }
                    (false, vec![reason.to_string()])
                }
            };
            Opinion { grant: active.grant.name.clone(), method: active.grant.method.to_string(), allows, why }
        };
        self.of(tool).map(opinion).collect()
    }
}

impl ActiveGrant {
    /// Name of the grant that owns the account.
    pub(super) fn name_of(&self, account: AccountId) -> &str {
        let found = self.accounts.iter().find(|entry| entry.id == account);
        found.map_or(self.grant.name.as_str(), |entry| entry.grant.name.as_str())
    }

    /// Returns the reason why no later grant may replace this one: it may require approval, and it or one above it has
    /// ended.
    fn bars(&self, ledger: &Ledger, now: SystemTime) -> Option<DenialReason> {
        if self.grant.approve == Approve::Never { None } else { self.over(ledger, now) }
    }

    /// Returns the reason why this grant allows nothing any more: it, or one above it, has ended or was revoked.
    pub(super) fn over(&self, ledger: &Ledger, now: SystemTime) -> Option<DenialReason> {
        let (at, refused) = ledger.over(self.accounts[0].id, now)?;
        Some(DenialReason::Ended(self.name_of(at).to_owned(), refused))
    }
}

impl MethodGrant {
    fn new(index: usize, active: &ActiveGrant, function: &Function) -> Self {
        let mut bound = grant_binding::bind(&active.grant, function);
        let mut sums = Vec::new();
        for account in &*active.accounts {
            match grant_binding::bind_spend(&account.grant, function) {
                Ok(Some(spend)) => sums.push((account.id, spend)),
                Ok(None) => {}
                Err(error) => bound = bound.and(Err(error)),
            }
        }
        Self { grant: index, bound, sums }
    }

    /// Iterates over the paths that the grant reads in calls of the method.
    fn paths(&self) -> impl Iterator<Item = &ParamPath> {
        let clauses = self.bound.iter().flat_map(|bound| {
            let asks = if let Approve::When(clause) = &bound.approve { Some(clause) } else { None };
            bound.clauses.iter().chain(asks)
        });
        let sums = self.sums.iter().map(|(_, spend)| &spend.path);
        clauses.flat_map(Clause::params).map(|param| &param.path).chain(sums)
    }

    /// Returns the amount that a call takes from an account that sums up an argument.
    pub(super) fn amount(&self, account: AccountId, arguments: &Value) -> Option<Amount> {
        let (_, spend) = self.sums.iter().find(|(id, _)| *id == account)?;
        let mut amount = None;
        spend.path.every(arguments, |value| {
            let number = value.and_then(|value| tollhouse_policy::capability::Number::from_json(value, spend.wide));
            amount = number.and_then(Amount::new);
            true
        });
        amount
    }

    /// Returns the reason for asking a human first, in words; `None` if no approval is needed.
    pub(super) fn asks(&self, arguments: &Value) -> Option<String> {
        let approve = &self.bound.as_ref().ok()?.approve;
        if !approve.asks(arguments) {
            return None;
        }
        let Approve::When(clause) = approve else { return Some("it asks about every call".to_owned()) };
        Some(match clause.reason(arguments) {
            None => "its condition cannot be evaluated".to_owned(),
            Some(param) => {
                let actual = param.suspect(arguments).map_or_else(|| "missing".to_owned(), shown);
                format!("it asks where {}; here it is {actual}", param.possibility())
            }
        })
    }

    /// Returns the problem with the arguments, or with the grant.
    fn objection(&self, arguments: &Value) -> DenialReason {
        match &self.bound {
            Err(error) => DenialReason::Unfit(error.message.clone()),
            Ok(bound) => {
                let failed = bound.clauses.iter().find_map(|clause| clause.failed(arguments));
                let told = failed.map(ToString::to_string).unwrap_or_default();
                DenialReason::Clause(told, failed.and_then(|clause| clause.actual(arguments)).cloned())
            }
        }
    }

    fn try_out(
        &self,
        active: &ActiveGrant,
        arguments: &Value,
        ledger: &Ledger,
        now: SystemTime,
    ) -> Result<Vec<String>, DenialReason> {
        if self.bound.as_ref().map_or(true, |bound| !bound.holds(arguments)) {
            return Err(self.objection(arguments));
        }
        let account = active.accounts[0].id;
        let amount = |id| self.amount(id, arguments);
        ledger.check(account, &amount, now).map_err(|(at, refused)| {
            active.bars(ledger, now).unwrap_or_else(|| DenialReason::Budget(active.name_of(at).to_owned(), refused))
        })?;
        let mut why = vec![];
        for GrantAccount { id, grant, .. } in &*active.accounts {
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

impl std::fmt::Display for DenialReason {
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

/// Returns true if a pattern covers a method; for an open namespace, if it covers any method in it.
fn covers(pattern: &Pattern, tool: &MethodDeclaration) -> bool {
    match tool.namespace() {
        Some(namespace) if tool.method() == namespace.method() => may_cover_below(pattern, namespace),
        _ => pattern.matches(tool.method()),
    }
}

/// Returns true if a pattern may cover a method of a namespace.
fn may_cover_below(pattern: &Pattern, namespace: &HostMethod) -> bool {
    let below = format!("{}/**", namespace.method()).parse::<Pattern>();
    below.is_ok_and(|below| below.overlaps(pattern))
}

/// Returns a name on the way of a path that could be taken for the path's own. The parameter of a field is declared, and
/// the schema's check knows its spellings.
fn respelled_at<'v>(path: &[Step], value: &'v Value) -> Option<&'v str> {
    let (step, rest) = path.split_first()?;
    match (step, value) {
        (Step::Field { name, .. }, Value::Object(fields)) => respelled_at(rest, fields.get(name)?),
        (Step::Name(name), Value::Object(fields)) => {
            respelled(fields, name).or_else(|| respelled_at(rest, fields.get(name)?))
        }
        (Step::Each, Value::Array(items)) => items.iter().find_map(|item| respelled_at(rest, item)),
        (Step::Index(index), Value::Array(items)) => respelled_at(rest, items.get(*index)?),
        (Step::Name(name), Value::Array(items)) => respelled_at(rest, items.get(ParamPath::index(name)?)?),
        _ => None,
    }
}

/// Returns the part of a value that a message shows.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    let shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() { shown + "…" } else { shown }
}

/// Opens the accounts of a grant and of those that it narrows: one for each grant, however many narrow it.
fn accounts(
    grant: &Grant,
    ledger: &Ledger,
    above: &[ActiveGrant],
    naming: AccountNaming<'_>,
    opened: &mut HashMap<*const Grant, Vec<GrantAccount>>,
) -> Vec<GrantAccount> {
    let name = match naming {
        AccountNaming::Own => Some(grant.name.clone()),
        AccountNaming::Behind(owner) => Some(behind(owner, &grant.name)),
        AccountNaming::None => None,
    };
    let mut chain = match &grant.parent {
        None => Vec::new(),
        Some(parent) => {
            let active = above.iter().find(|active| *active.grant == **parent);
            match (active, opened.get(&Arc::as_ptr(parent)).cloned()) {
                (Some(active), _) => active.accounts.to_vec(),
                (None, Some(chain)) => chain,
                (None, None) => {
                    let below = name.as_deref().map_or(AccountNaming::None, AccountNaming::Behind);
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
    chain.insert(0, GrantAccount { id, grant, name: name.map(Arc::from) });
    chain
}

/// Checks that no constraint of a grant can be evaded by another spelling of a value, in any method that it covers.
fn check_spellings(grant: &Grant, catalog: &Catalog) -> Result<(), PolicyError> {
    catalog.iter().filter(|tool| covers(&grant.method, tool)).try_for_each(|tool| {
        spelling::check(grant, tool.function()).map_err(|error| {
            let message = format!("grant `{}` can be got round: in `{}`, {}", grant.name, tool.method(), error.message);
            let mut told = PolicyError::new(message, error.span.0.or(grant.span.0.clone()));
            told.hint = error.hint;
            told
        })
    })
}

/// Checks that a grant matches a mounted method, and that its conditions on the arguments are meaningful for at least
/// one of them. A pattern that consists of stars may match nothing.
fn check(grant: &Grant, catalog: &Catalog) -> Result<(), PolicyError> {
    let span = grant.span.0.clone();
    let mut problem = None;
    let mut is_mounted = false;
    for tool in catalog.iter().filter(|tool| covers(&grant.method, tool)) {
        is_mounted = true;
        let bound =
            grant_binding::bind(grant, tool.function()).and_then(|_| grant_binding::bind_spend(grant, tool.function()));
        match bound {
            Ok(_) => return Ok(()),
            Err(error) => problem = problem.or(Some((tool.method(), error))),
        }
    }
    if let Some((method, error)) = problem {
        let message = format!("grant `{}` can never allow a call: in `{method}`, {}", grant.name, error.message);
        let mut told = PolicyError::new(message, error.span.0.or(span));
        told.hint = error.hint;
        return Err(told);
    }
    let pattern = grant.method.to_string();
    if is_mounted || pattern.chars().all(|c| matches!(c, '*' | '/')) {
        return Ok(());
    }
    let told = PolicyError::new(format!("`{pattern}` covers nothing that is mounted"), span);
    let below = format!("{pattern}/");
    if catalog.iter().any(|tool| tool.method().starts_with(&below)) {
        return Err(told.hint(format!("all that `{pattern}` has is `{pattern}/*`")));
    }
    if let Some(clash) = catalog.clash_of(&pattern) {
        return Err(told.hint(clash.hint()));
    }
    Err(match nearest(&pattern, catalog.iter().map(|tool| tool.method())) {
        Some(near) => told.hint(format!("did you mean `{near}`?")),
        None => told.hint(Remedy::ListTools),
    })
}
