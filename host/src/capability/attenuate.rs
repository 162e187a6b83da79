//! Narrowing a policy as a whole: grants are tried in order, so it takes more than narrowing each.

use std::sync::Arc;

use super::grant::{Approve, AttenuateError, Grant};
use super::imply::implies;
use super::permission;
use super::policy::Policy;

impl Policy {
    /// Narrows this policy by another: each grant of `narrower` narrows the first grant here that covers it, mounts are
    /// those of this policy, who must have signed them all that either demands, limits the smaller ones; what tools may touch stays, or becomes what `narrower` says of it. Calls under the result debit the budgets of this policy too.
    ///
    /// # Errors
    /// If a grant of `narrower` covers more than every grant here, or has a greater budget than the one that it narrows, or
    /// passes by a grant that asks a human.
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
        let narrowed =
            Self { tools: self.tools.clone(), signed: self.signed.and(narrower.signed), grants, permissions, limits };
        still_asks(&parents, &narrowed)?;
        Ok(narrowed)
    }
}

/// Refuses a narrower policy under which no human is asked of a call of which one is asked under the wider: the grant
/// that asks stands before those behind it, and a narrower policy may leave it out.
fn still_asks(above: &[Arc<Grant>], narrowed: &Policy) -> Result<(), AttenuateError> {
    for (at, grant) in narrowed.grants.iter().enumerate() {
        let Some(parent) = &grant.parent else { continue };
        let passed = above.iter().take_while(|other| !Arc::ptr_eq(other, parent)).map(|other| &**other);
        if let Some(asker) = unasked(grant, &narrowed.grants[..at], passed) {
            return Err(AttenuateError::Unasked { grant: grant.name.clone(), asker: asker.name.clone() });
        }
    }
    Ok(())
}

/// The first grant among those that `grant` passes by of which a human could be rid: it asks about calls that `grant`
/// allows, `grant` does not ask about all of them, and none of the grants before `grant` takes all that the asker takes.
pub(super) fn unasked<'g>(
    grant: &Grant,
    earlier: &[Grant],
    passed: impl IntoIterator<Item = &'g Grant>,
) -> Option<&'g Grant> {
    let mut askers = passed.into_iter().filter(|other| other.approve != Approve::Never);
    askers.find(|asker| {
        // An asker that has ended denies what it covers, so what asks in its place ends no later.
        let asks = grant.approve.asks_whenever(&asker.approve) && grant.ends_within(asker);
        !asks && grant.method.overlaps(&asker.method) && !earlier.iter().any(|other| other.stands_for(asker, grant))
    })
}

impl Grant {
    /// Returns true if this grant has ended whenever `other` has.
    fn ends_within(&self, other: &Self) -> bool {
        other.expires.is_none_or(|other| self.expires.is_some_and(|own| own <= other))
    }

    /// Returns true if this grant takes every call that `asker` takes and asks whenever `asker` does, as long as `asker`
    /// does or `behind`, which comes after it, lasts.
    fn stands_for(&self, asker: &Self, behind: &Self) -> bool {
        let takes_all = asker.method.is_subset_of(&self.method)
            && self.clauses.iter().all(|clause| implies(&asker.clauses, clause))
            && self.approve.asks_whenever(&asker.approve);
        let same_budgets = self.calls == asker.calls && self.spend == asker.spend;
        // With a budget, no other call may use it up.
        let takes_no_more = (self.calls.is_none() && self.spend.is_none())
            || (self.method.is_subset_of(&asker.method)
                && asker.clauses.iter().all(|clause| implies(&self.clauses, clause)));
        // It ends when the asker does; sooner only if nothing behind it goes on.
        let ends = self.ends_within(asker) && (self.expires == asker.expires || behind.ends_within(self));
        takes_all && same_budgets && takes_no_more && ends
    }
}
