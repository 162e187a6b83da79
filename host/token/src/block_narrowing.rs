//! Conversion of a token's blocks to a policy: that of the first block, narrowed by each of the others.
//!
//! Each block may be hostile to those above it. What [`Policy::attenuate`] leaves to its caller is checked here: keys
//! that are not allowed in a token, limits, ends, and total sizes.

use serde_json::{Map, Value};

use tollhouse_policy::capability::{Limits, Policy};

use super::TokenError;
use super::block::BlockContents;

/// Maximum number of grants of one block: larger policies belong in files.
pub(super) const MAX_GRANTS: usize = 64;

/// Maximum number of segments of a method pattern in a token. Methods have five at most, and the time to decide
/// inclusion doubles with each: a tenth of a millisecond with six, at worst.
pub(super) const MAX_SEGMENTS: usize = 6;

/// Maximum number of pairs of grants that are compared, each of a block with each of the block above it: half a second
/// at worst.
const MAX_COMPARED: usize = MAX_GRANTS * MAX_GRANTS;

/// Maximum total size in bytes of the grants of all blocks, each with the clauses that it inherits. Numbers in a list
/// take the most memory, about twenty-five times their text.
const MAX_INHERITED: usize = 1 << 20;

/// Keys of a policy, and of a grant, that are allowed in a token. A new key of policies must not be added before its
/// meaning in a token has been considered.
const POLICY_KEYS: [&str; 4] = ["tools", "require_signature", "grant", "limits"];
const GRANT_KEYS: [&str; 6] = ["name", "method", "where", "calls", "spend", "approve"];

/// The policy of one block.
struct BlockPolicy {
    policy: Policy,
    /// Limits that the block sets.
    limits: Map<String, Value>,
    /// Size of its largest grant in bytes.
    largest: usize,
}

/// Combines the blocks into a policy.
pub(super) fn fold(blocks: &[BlockContents]) -> Result<Policy, TokenError> {
    Ok(narrow(blocks)?.0)
}

/// Returns the policy of the first block, and of each further one the policy that narrows the one above.
pub(super) fn parts(blocks: &[BlockContents]) -> Result<Vec<Policy>, TokenError> {
    Ok(narrow(blocks)?.1)
}

/// Combines the blocks into a policy. Returns it, and the policies that were combined.
fn narrow(blocks: &[BlockContents]) -> Result<(Policy, Vec<Policy>), TokenError> {
    let Some((first, rest)) = blocks.split_first() else { return Err(TokenError::Form("it has no blocks")) };
    let first_part = BlockPolicy::read(0, first)?;
    let (mut policy, mut largest, mut end) = (first_part.policy, first_part.largest, first.expires);
    let mut parts = vec![policy.clone()];
    let (mut compared, mut inherited) = (0_usize, 0_usize);
    for (block, contents) in (1..).zip(rest) {
        let mut part = BlockPolicy::read(block, contents)?;
        if part.policy.tools.is_some() {
            return Err(TokenError::Tools { block });
        }
        if let (Some(own), Some(above)) = (contents.expires, end)
            && own > above
        {
            return Err(TokenError::Later { block });
        }
        let grants = part.policy.grants.len();
        compared = compared.saturating_add(grants.saturating_mul(policy.grants.len()));
        inherited = inherited.saturating_add(grants.saturating_mul(largest));
        if compared > MAX_COMPARED || inherited > MAX_INHERITED {
            return Err(TokenError::TooMuch { block });
        }
        part.policy.limits = part.limits_below(&policy.limits).map_err(|limit| TokenError::Limit { block, limit })?;
        parts.push(part.policy.clone());
        policy = policy.attenuate(part.policy).map_err(|source| TokenError::Wider { block, source })?;
        largest = largest.saturating_add(part.largest);
        end = contents.expires.or(end);
    }
    Ok((policy, parts))
}

impl BlockPolicy {
    fn read(block: usize, contents: &BlockContents) -> Result<Self, TokenError> {
        let mut policy = Policy::parse_json(&contents.policy).map_err(|source| TokenError::Policy { block, source })?;
        let grants = policy.grants.len();
        if grants > MAX_GRANTS {
            return Err(TokenError::TooManyGrants { block, grants });
        }
        if policy.signed.unresolved().is_some() {
            // A name on one machine may belong to another key on the next.
            return Err(TokenError::Foreign { block, what: "a signer's name instead of a key" });
        }
        for grant in &mut policy.grants {
            let pattern = grant.method.to_string();
            if pattern.split('/').count() > MAX_SEGMENTS {
                return Err(TokenError::TooManySegments { block, pattern });
            }
            grant.expires = contents.end();
        }
        // The text is parsed again to see which keys are present, which the policy does not tell.
        let Ok(Value::Object(mut keys)) = serde_json::from_str(&contents.policy) else {
            return Err(TokenError::Foreign { block, what: "a text that is not a JSON object" });
        };
        let largest = check_keys(&keys).map_err(|key| TokenError::Key { block, key })?;
        let limits = match keys.remove("limits") {
            Some(Value::Object(limits)) => limits,
            _ => Map::new(),
        };
        Ok(Self { policy, limits, largest })
    }

    /// Returns the limits of the block: those that it sets, which must not exceed those above, and otherwise those
    /// above.
    fn limits_below(&self, above: &Limits) -> Result<Limits, &'static str> {
        self.policy.limits.within(above, |key| self.limits.contains_key(key))
    }
}

/// Rejects keys that are not allowed in a token. Returns the size of the largest grant in bytes.
fn check_keys(policy: &Map<String, Value>) -> Result<usize, String> {
    let foreign = |table: &Map<String, Value>, known: &[&str]| {
        let foreign = table.keys().find(|key| !known.contains(&key.as_str()));
        foreign.map_or(Ok(()), |key| Err(key.clone()))
    };
    foreign(policy, &POLICY_KEYS)?;
    let mut largest = 0;
    for grant in policy.get("grant").and_then(Value::as_array).into_iter().flatten() {
        if let Value::Object(grant) = grant {
            foreign(grant, &GRANT_KEYS)?;
        }
        largest = largest.max(grant.to_string().len());
    }
    Ok(largest)
}
