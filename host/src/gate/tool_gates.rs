//! What stands behind each alias of a session: what its tools may touch, and the gate through which they call others.
//!
//! A tool's own gate narrows the session's: nothing that happens in a session, whoever does it, goes beyond the session's
//! grants.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use serde_json::Value;

use super::Gate;
use crate::capability::{Permissions, Policy, PolicyError};
use crate::tool::{Authority, nearest};

/// What one mounted tool may touch besides its arguments, for a reader.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Reach {
    /// What its package is mounted as.
    pub tool: String,
    /// What its manifest asks for.
    pub asks: tollhouse_registry::Permissions,
    /// What the policy grants of that, as the policy has it; null for nothing.
    pub granted: Value,
}

/// What each tool asks for or is granted; those that do neither are left out.
pub(super) fn reach(gate: &Gate) -> Vec<Reach> {
    let written = gate.policy.to_json();
    let nothing = tollhouse_registry::Permissions::default();
    let reach = gate.tools.packages().iter().map(|(alias, package)| Reach {
        tool: alias.clone(),
        asks: package.permissions().clone(),
        granted: written["tool"][alias].clone(),
    });
    reach.filter(|reach| reach.asks != nothing || !reach.granted.is_null()).collect()
}

/// What stands behind one alias.
pub(super) struct Power {
    authority: Arc<Authority>,
    gate: Option<Arc<Gate>>,
}

pub(super) type Table = OnceLock<HashMap<String, Power>>;

/// What stands behind the aliases. The tools' own gates share the session's, and do not keep it alive.
pub(super) enum Powers {
    /// A session's.
    Own(Arc<Table>),
    /// Those of the session above the gate of a tool: which, and what.
    Above(Arc<str>, Weak<Table>),
}

impl Default for Powers {
    fn default() -> Self {
        Self::Own(Arc::default())
    }
}

impl Powers {
    /// The tool whose own gate it is.
    pub(super) fn owner(&self) -> Option<&str> {
        match self {
            Self::Own(_) => None,
            Self::Above(alias, _) => Some(alias),
        }
    }

    /// The tools' own gates.
    pub(super) fn gates(&self) -> Vec<Arc<Gate>> {
        let Self::Own(table) = self else { return Vec::new() };
        table.get().into_iter().flat_map(HashMap::values).filter_map(|power| power.gate.clone()).collect()
    }

    /// The authority of an alias, and its gate. Without an entry in the policy: none.
    pub(super) fn of(&self, alias: &Arc<str>) -> (Arc<Authority>, Option<Arc<Gate>>) {
        let above;
        let table = match self {
            Self::Own(table) => Some(table),
            Self::Above(_, table) => {
                above = table.upgrade();
                above.as_ref()
            }
        };
        match table.and_then(|table| table.get()?.get(&**alias)) {
            Some(power) => (Arc::clone(&power.authority), power.gate.clone()),
            None => (Arc::new(Authority::none(Arc::clone(alias))), None),
        }
    }
}

/// Works out what stands behind each alias that the policy names.
pub(super) fn fill(gate: &Gate) -> Result<(), PolicyError> {
    let Powers::Own(table) = &gate.powers else { return Ok(()) };
    let mut powers = HashMap::new();
    for (alias, granted) in &gate.policy.permissions {
        powers.insert(alias.clone(), power(gate, alias, granted, table)?);
    }
    // Filled once, right after the gate was made.
    let _ = table.set(powers);
    Ok(())
}

fn power(gate: &Gate, alias: &str, granted: &Permissions, table: &Arc<Table>) -> Result<Power, PolicyError> {
    let packages = gate.tools.packages();
    let Some((_, package)) = packages.iter().find(|(mounted, _)| mounted == alias) else {
        let error = PolicyError::new(format!("`tool.{alias}` names nothing that is mounted"), granted.span.0.clone());
        return Err(match nearest(alias, packages.iter().map(|(alias, _)| alias.as_str())) {
            Some(near) => error.hint(format!("did you mean `tool.{near}`?")),
            None => error.hint("`tollhouse tools` lists what is mounted"),
        });
    };
    let authority = Arc::new(Authority::new(alias, package.permissions(), granted)?);
    if granted.tools.is_empty() {
        return Ok(Power { authority, gate: None });
    }
    let own = Policy { limits: gate.policy.limits.clone(), ..Policy::default() };
    let own = granted.tools.iter().cloned().fold(own, Policy::with);
    let narrowed = gate.policy.attenuate(own).map_err(|error| {
        let message = format!("`tool.{alias}` cannot call that: {error}");
        PolicyError::new(message, granted.span.0.clone())
            .hint("a tool calls others within the policy's own grants: add one that covers it")
    })?;
    let below = gate.below(narrowed, Powers::Above(alias.into(), Arc::downgrade(table)), gate.named)?;
    Ok(Power { authority, gate: Some(Arc::new(below)) })
}
