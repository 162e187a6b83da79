//! Narrowing a whole policy: grants are tried in order, so narrowing each of them is not enough.

use std::sync::Arc;

use super::entailment::implies;
use super::grant::{Approve, AttenuateError, Grant};
use super::permission;
use super::policy::Policy;

impl Policy {
    /// Narrows this policy by another one. Each grant of `narrower` narrows the first grant here that covers it. The
    /// mounts are those of this policy, and must be signed as both policies require; of each limit the smaller one
    /// applies; permissions of tools stay the same, or are narrowed as `narrower` says. Calls under the result debit
    /// the budgets of this policy too.
    ///
    /// # Errors
    /// If a grant of `narrower` covers more than every grant here, has a larger budget than the one that it narrows, or
    /// bypasses a grant that requires approval.
    pub fn attenuate(&self, narrower: Self) -> Result<Self, AttenuateError> {
        let parents: Vec<Arc<Grant>> = self.grants.iter().cloned().map(Arc::new).collect();
        let mut grants = Vec::with_capacity(narrower.grants.len());
        for grant in narrower.grants {
            let covers = |parent: &&Arc<Grant>| grant.method.is_subset_of(&parent.method);
            let Some(parent) = parents.iter().find(covers) else {
                let patterns: Vec<String> = self.grants.iter().map(|grant| grant.method.to_string()).collect();
                return Err(AttenuateError::Method { child: grant.method.to_string(), parent: patterns.join("`, `") });
            };
            grants.push(parent.attenuate(grant)?);
        }
        let limits = self.limits.at_most(&narrower.limits);
        let permissions = permission::attenuate(&self.permissions, narrower.permissions)?;
        let (tools, mcp, journal) = (self.tools.clone(), self.mcp.clone(), self.journal);
        let signed = self.signed.and(narrower.signed);
        let narrowed = Self { tools, signed, grants, mcp, permissions, limits, journal };
        check_approvals(&parents, &narrowed)?;
        Ok(narrowed)
    }

    /// Narrows this policy to the grants whose names are kept, in the same order. Each of them narrows itself, so calls
    /// under the result debit the budgets of this policy too.
    ///
    /// # Errors
    /// If a kept grant allows, without approval, calls that a dropped one before it asks about.
    pub fn subset(&self, keeps: impl Fn(&str) -> bool) -> Result<Self, AttenuateError> {
        let parents: Vec<Arc<Grant>> = self.grants.iter().cloned().map(Arc::new).collect();
        let kept = parents.iter().filter(|parent| keeps(&parent.name));
        let grants: Result<Vec<Grant>, AttenuateError> = kept.map(|own| own.attenuate(Grant::clone(own))).collect();
        let narrowed = Self { grants: grants?, ..self.clone() };
        check_approvals(&parents, &narrowed)?;
        Ok(narrowed)
    }
}

/// Rejects a narrower policy that would drop an approval that the wider policy requires: the grant that requires it
/// precedes others, and a narrower policy may omit it.
fn check_approvals(above: &[Arc<Grant>], narrowed: &Policy) -> Result<(), AttenuateError> {
    for (at, grant) in narrowed.grants.iter().enumerate() {
        let Some(parent) = &grant.parent else { continue };
        let passed = above.iter().take_while(|other| !Arc::ptr_eq(other, parent)).map(|other| &**other);
        if let Some(asker) = bypassed_approval(grant, &narrowed.grants[..at], passed) {
            return Err(AttenuateError::Unasked { grant: grant.name.clone(), asker: asker.name.clone() });
        }
    }
    Ok(())
}

/// Finds the first of the grants `passed`, which `grant` bypasses, whose approval could be avoided: it requires approval
/// of calls that `grant` allows, `grant` does not require it for all of them, and none of the grants `earlier` replaces
/// the bypassed one.
pub(super) fn bypassed_approval<'g>(
    grant: &Grant,
    earlier: &[Grant],
    passed: impl IntoIterator<Item = &'g Grant>,
) -> Option<&'g Grant> {
    let mut askers = passed.into_iter().filter(|other| other.approve != Approve::Never);
    askers.find(|asker| {
        // A grant with approval that has ended denies the calls that it covers, so its replacement must not end later.
        let asks = grant.approve.asks_whenever(&asker.approve)
            && grant.has_no_other_approvers(asker)
            && grant.ends_within(asker);
        !asks && grant.method.overlaps(&asker.method) && !earlier.iter().any(|other| other.replaces(asker, grant))
    })
}

impl Grant {
    /// Returns true if this grant has ended whenever `other` has.
    fn ends_within(&self, other: &Self) -> bool {
        other.expires.is_none_or(|other| self.expires.is_some_and(|own| own <= other))
    }

    /// Returns true if this grant covers every call that `asker` covers and requires approval whenever `asker` does,
    /// for as long as `asker`, or the later grant `behind`, lasts.
    fn replaces(&self, asker: &Self, behind: &Self) -> bool {
        let takes_all = asker.method.is_subset_of(&self.method)
            && self.clauses.iter().all(|clause| implies(&asker.clauses, clause))
            && self.approve.asks_whenever(&asker.approve)
            && self.waits_no_longer(asker)
            && self.has_no_other_approvers(asker);
        let same_budgets = self.calls == asker.calls && self.spend == asker.spend;
        // With a budget, no other call may use it up.
        let takes_no_more = (self.calls.is_none() && self.spend.is_none())
            || (self.method.is_subset_of(&asker.method)
                && asker.clauses.iter().all(|clause| implies(&self.clauses, clause)));
        // It must end when the other does; it may end earlier only if the grant behind it ends no later than it.
        let ends = self.ends_within(asker) && (self.expires == asker.expires || behind.ends_within(self));
        takes_all && same_budgets && takes_no_more && ends
    }
}
