//! The gate: policy, grants bound to the methods of a session, and the ledger of their budgets.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_methods::{Catalog, MethodDeclaration, nearest};
use tollhouse_policy::capability::{Amount, AttenuateError, Grant, Limits, Permissions, Policy, PolicyError};
use tollhouse_policy::ledger::Ledger;
use tollhouse_types::error::Failure;
use tollhouse_types::remedy::Remedy;

use super::grant_index::{AccountNaming, ActiveGrant, Coverage, GrantAccount, GrantIndex, Opinion};
use super::{Budget, BudgetKind, Reach};

/// The gate of a session, or of a tool that calls other tools: it judges calls.
pub struct Gate {
    pub(super) catalog: Arc<Catalog>,
    pub(super) policy: Policy,
    pub(super) grant_index: GrantIndex,
    pub(super) ledger: Arc<Ledger>,
    /// Alias of the tool that calls through this gate; `None` for a session's own.
    pub(super) owner: Option<Arc<str>>,
    /// Set if its accounts have names: those of a session that was derived from another one do not.
    named: bool,
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
    /// Creates a gate for these methods, with the grants and limits of a policy.
    ///
    /// # Errors
    /// If a grant is invalid for the methods: a method or parameter that does not exist, a test that no value of the
    /// type can pass; if the policy has permissions for an alias that is not mounted.
    pub fn new(catalog: Arc<Catalog>, policy: Policy) -> Result<Self, PolicyError> {
        Self::with_ledger(catalog, policy, Arc::default(), &[], None, true)
    }

    fn with_ledger(
        catalog: Arc<Catalog>,
        policy: Policy,
        ledger: Arc<Ledger>,
        above: &[ActiveGrant],
        owner: Option<Arc<str>>,
        named: bool,
    ) -> Result<Self, PolicyError> {
        let naming = match owner.as_deref() {
            _ if !named => AccountNaming::None,
            Some(alias) => AccountNaming::Behind(alias),
            None => AccountNaming::Own,
        };
        let grant_index = GrantIndex::new(policy.grants.clone(), &catalog, &ledger, above, naming)?;
        policy.permissions.iter().try_for_each(|(alias, granted)| check_mounted(&catalog, alias, granted))?;
        Ok(Self { catalog, policy, grant_index, ledger, owner, named })
    }

    /// Creates a gate for the same methods that allows less: for a sub-agent, or a session that is forked with a
    /// narrower policy. Its spending counts here too, and revoking a grant here revokes the grants that narrow it.
    ///
    /// # Errors
    /// If it would allow more, or is invalid for the methods.
    pub fn attenuate(&self, narrower: Policy) -> Result<Self, NarrowError> {
        Ok(self.derive(self.policy.attenuate(narrower)?, None, false)?)
    }

    /// Creates a gate like [`Self::attenuate`] that keeps the grants with these names ([`Policy::subset`]).
    ///
    /// # Errors
    /// If it would allow more.
    pub fn subset(&self, keeps: impl Fn(&str) -> bool) -> Result<Self, NarrowError> {
        Ok(self.derive(self.policy.subset(keeps)?, None, false)?)
    }

    /// Creates a gate whose grants narrow those of this one.
    fn derive(&self, policy: Policy, owner: Option<Arc<str>>, named: bool) -> Result<Self, PolicyError> {
        let (catalog, ledger) = (Arc::clone(&self.catalog), Arc::clone(&self.ledger));
        Self::with_ledger(catalog, policy, ledger, self.grant_index.active_grants(), owner, named)
    }

    /// Creates the gate through which a tool calls other tools; `None` if it may call none.
    pub(super) fn of_tool(&self, alias: &str, granted: &Permissions) -> Result<Option<Self>, PolicyError> {
        if granted.tools.is_empty() {
            return Ok(None);
        }
        let own = Policy { limits: self.policy.limits.clone(), ..Policy::default() };
        let own = granted.tools.iter().cloned().fold(own, Policy::with);
        let narrowed = self.policy.attenuate(own).map_err(|error| {
            let message = format!("`tool.{alias}` cannot call that: {error}");
            PolicyError::new(message, granted.span.0.clone())
                .hint("a tool calls others within the policy's own grants: add one that covers it")
        })?;
        self.derive(narrowed, Some(alias.into()), self.named).map(Some)
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

    /// The methods behind the gate.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
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

    /// Returns true if a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        let declared = self.catalog.get(method);
        declared.is_some_and(|declared| declared.withdrawal().is_none() && self.grant_index.grants(&declared))
    }

    /// Iterates over the accounts of the grants.
    pub(super) fn accounts(&self) -> impl Iterator<Item = &GrantAccount> {
        self.grant_index.active_grants().iter().flat_map(|active| &*active.accounts)
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
    pub fn explain(&self, method: &str, arguments: &str, now: SystemTime) -> Result<Vec<Opinion>, Failure> {
        let checked = self.check(method, arguments, self.limits().memory);
        let (declared, arguments) = checked.map_err(|(_, failure)| failure)?;
        Ok(self.grant_index.opinions(&declared, &arguments, &self.ledger, now))
    }

    /// Lists the methods that each grant covers, and the reasons why it can never allow a call of one.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage> {
        self.grant_index.coverage(&self.catalog)
    }

    /// Lists the permissions of each mounted package; packages without any are omitted.
    #[must_use]
    pub fn reach(&self) -> Vec<Reach> {
        Reach::of_all(&self.catalog, &self.policy)
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
    pub fn would_allow(&self, declared: &MethodDeclaration, arguments: &Value, now: SystemTime) -> bool {
        match self.grant_index.debit(declared, arguments, &self.ledger, now) {
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

/// Checks that a policy's permissions are for an alias that is mounted.
fn check_mounted(catalog: &Catalog, alias: &str, granted: &Permissions) -> Result<(), PolicyError> {
    let packages = catalog.packages();
    if packages.iter().any(|(mounted, _)| mounted == alias) {
        return Ok(());
    }
    let error = PolicyError::new(format!("`tool.{alias}` names nothing that is mounted"), granted.span.0.clone());
    Err(match nearest(alias, packages.iter().map(|(alias, _)| alias.as_str())) {
        Some(near) => error.hint(format!("did you mean `tool.{near}`?")),
        None => error.hint(Remedy::ListTools),
    })
}
