//! Permissions of packages, for display: what they ask for, and what the policy grants.

use serde_json::Value;
use tollhouse_methods::Catalog;
use tollhouse_policy::capability::Policy;
use tollhouse_types::permission::Permissions;

/// The permissions of one mounted tool, for display.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Reach {
    /// Alias that its package is mounted as.
    pub tool: String,
    /// Permissions that its manifest requests.
    pub asks: Permissions,
    /// Permissions that the policy grants, in the form of the policy; null if there are none.
    pub granted: Value,
}

impl Reach {
    pub(super) fn of_all(catalog: &Catalog, policy: &Policy) -> Vec<Self> {
        let written = policy.to_json();
        let nothing = Permissions::default();
        let reach = catalog.packages().iter().map(|(alias, package)| Self {
            tool: alias.clone(),
            asks: package.permissions.clone(),
            granted: written["tool"][alias].clone(),
        });
        reach.filter(|reach| reach.asks != nothing || !reach.granted.is_null()).collect()
    }
}
