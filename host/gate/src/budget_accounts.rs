//! The budget accounts of a policy, by name, before any tool is mounted.

use tollhouse_policy::capability::{Grant, Policy};
use tollhouse_policy::ledger::Allowance;

/// Returns the limits on a grant's own account.
pub(super) fn allowance(grant: &Grant) -> Allowance {
    Allowance { calls: grant.calls, spend: grant.spend.as_ref().map(|spend| spend.limit) }
}

/// Name of the account of a grant in a tool's own gate.
pub(super) fn behind(owner: &str, name: &str) -> String {
    format!("{owner}\t{name}")
}

/// Lists the accounts that have a limit, under the names that the gate of this policy gives them: those of its grants,
/// and of the grants of its tools. A tool's grant without a limit of its own has that of the grant it narrows, and
/// debits both.
#[must_use]
pub fn limited_accounts(policy: &Policy) -> Vec<(String, Allowance)> {
    let own = policy.grants.iter().map(|grant| (grant.name.clone(), allowance(grant)));
    let tools = policy.permissions.iter().flat_map(|(alias, granted)| {
        // Unnamed grants are numbered in the same way as by a gate.
        let numbered = granted.tools.iter().cloned().fold(Policy::default(), Policy::with);
        numbered.grants.into_iter().map(|grant| (behind(alias, &grant.name), allowance(&grant))).collect::<Vec<_>>()
    });
    own.chain(tools).filter(|(_, allowance)| allowance.is_limited()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_named_as_the_gate_names_them() {
        let policy = "[[grant]]\nname = 'few'\nmethod = 'stats/*'\ncalls = 2\n\
            [[grant]]\nmethod = 'text/*'\n\
            [tool.report]\ntools = [{ method = 'stats/describe', calls = 1 }, { method = 'text/*' }]";
        let policy = Policy::parse(policy).expect("it is a policy");
        let accounts = limited_accounts(&policy);
        let names: Vec<(&str, Option<u64>)> = accounts.iter().map(|(name, one)| (name.as_str(), one.calls)).collect();
        assert_eq!(names, [("few", Some(2)), ("report\tstats/describe#0", Some(1))]);
    }
}
