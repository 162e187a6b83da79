//! Narrowing a policy as a whole: grants are tried in order, so it takes more than narrowing each.

use std::sync::Arc;

use super::grant::{Approve, AttenuateError, Grant};
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
        let passed = above.iter().take_while(|other| !Arc::ptr_eq(other, parent));
        for asker in passed.filter(|other| other.approve != Approve::Never) {
            let asks = grant.approve == Approve::Always || grant.approve == asker.approve;
            let earlier = || narrowed.grants[..at].iter().any(|earlier| stands_for(earlier, asker));
            if !asks && grant.method.overlaps(&asker.method) && !earlier() {
                return Err(AttenuateError::Unasked { grant: grant.name.clone(), asker: asker.name.clone() });
            }
        }
    }
    Ok(())
}

/// Whether a grant that narrows `asker` takes every call that `asker` takes, as long as `asker` does.
fn stands_for(grant: &Grant, asker: &Arc<Grant>) -> bool {
    grant.parent.as_ref().is_some_and(|parent| Arc::ptr_eq(parent, asker))
        && asker.method.is_subset_of(&grant.method)
        // It has all of the asker's clauses; so many are no others.
        && grant.clauses.len() == asker.clauses.len()
        && grant.calls == asker.calls
        && grant.spend == asker.spend
}
