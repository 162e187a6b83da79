//! The gate of a session with those of its tools, and the balances of all their accounts.
//!
//! A tool's own gate narrows the session's: nothing in a session, whoever does it, exceeds the session's grants.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tollhouse_policy::capability::PolicyError;
use tollhouse_policy::ledger::Used;

use super::Gate;

/// The gate of a session, and the gates through which its tools call other tools.
pub struct SessionGates {
    own: Arc<Gate>,
    /// Gates of the tools that may call others, by alias.
    tools: HashMap<String, Arc<Gate>>,
}

impl SessionGates {
    /// Creates the gates of the tools that the session's policy lets call other tools.
    ///
    /// # Errors
    /// If a tool may call something that the session may not.
    pub fn new(own: Gate) -> Result<Self, PolicyError> {
        let mut tools = HashMap::new();
        for (alias, granted) in &own.policy().permissions {
            if let Some(gate) = own.of_tool(alias, granted)? {
                tools.insert(alias.clone(), Arc::new(gate));
            }
        }
        Ok(Self { own: Arc::new(own), tools })
    }

    /// The gate of the session's scripts.
    #[must_use]
    pub fn own(&self) -> &Arc<Gate> {
        &self.own
    }

    /// The gate for calls that a tool makes to other tools; `None` if it may call none.
    #[must_use]
    pub fn of_tool(&self, alias: &str) -> Option<&Arc<Gate>> {
        self.tools.get(alias)
    }

    fn all(&self) -> impl Iterator<Item = &Gate> {
        std::iter::once(&*self.own).chain(self.tools.values().map(Arc::as_ref))
    }

    /// Restores account balances, keyed by account name, when a session is reopened.
    pub fn restore(&self, spent: &HashMap<String, Used>) {
        for account in self.all().flat_map(Gate::accounts) {
            if let Some(name) = &account.name {
                self.own.ledger.restore(account.id, spent.get(&**name).copied().unwrap_or_default());
            }
        }
    }

    /// The spending of each account, keyed by account name, for [`SessionGates::restore`].
    #[must_use]
    pub fn spent(&self) -> HashMap<String, Used> {
        let accounts = self.all().flat_map(Gate::accounts);
        let named = accounts.filter_map(|account| Some((account.name.as_deref()?.to_owned(), account.id)));
        named.map(|(name, id)| (name, self.own.ledger.used(id))).collect()
    }

    /// Updates an account with the spending of other sessions that share it: `before` is the spending known so far, and
    /// `after` the actual one.
    pub fn shift(&self, account: &str, before: Used, after: Used) {
        let mut known = HashSet::new();
        for entry in self.all().flat_map(Gate::accounts) {
            // Several grants may debit the same account.
            if entry.name.as_deref() == Some(account) && known.insert(entry.id) {
                self.own.ledger.shift(entry.id, before, after);
            }
        }
    }
}
