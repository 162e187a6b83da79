//! The authority of each mounted tool, and the gate through which it calls other tools.
//!
//! A tool's own gate narrows the session's: nothing in a session, whoever does it, exceeds the session's grants.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use serde_json::Value;

use super::Gate;
use crate::capability::{Permissions, Policy, PolicyError};
use crate::tool::{Authority, nearest};

/// The permissions of one mounted tool, for display.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Reach {
    /// Alias that its package is mounted as.
    pub tool: String,
    /// Permissions that its manifest requests.
    pub asks: tollhouse_registry::Permissions,
    /// Permissions that the policy grants, in the form of the policy; null if there are none.
    pub granted: Value,
}

/// Lists the requested and granted permissions of each tool; tools without any are omitted.
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

/// Authority of one alias, and its own gate.
pub(super) struct ToolAuthority {
    authority: Arc<Authority>,
    gate: Option<Arc<Gate>>,
}

pub(super) type ToolTable = OnceLock<HashMap<String, ToolAuthority>>;

/// The authorities and own gates of the mounted tools, by alias. The tools' gates share the session's table, and do not
/// keep it alive.
pub(super) enum ToolGates {
    /// The table of a session.
    Own(Arc<ToolTable>),
    /// The table of the session, for the gate of this tool.
    Above(Arc<str>, Weak<ToolTable>),
}

impl Default for ToolGates {
    fn default() -> Self {
        Self::Own(Arc::default())
    }
}

impl ToolGates {
    /// The tool that owns the gate.
    pub(super) fn owner(&self) -> Option<&str> {
        match self {
            Self::Own(_) => None,
            Self::Above(alias, _) => Some(alias),
        }
    }

    /// The tools' own gates.
    pub(super) fn gates(&self) -> Vec<Arc<Gate>> {
        let Self::Own(table) = self else { return Vec::new() };
        table
            .get()
            .into_iter()
            .flat_map(HashMap::values)
            .filter_map(|tool_authority| tool_authority.gate.clone())
            .collect()
    }

    /// Returns the authority of an alias, and its gate. Without an entry in the policy there is no authority.
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
            Some(tool_authority) => (Arc::clone(&tool_authority.authority), tool_authority.gate.clone()),
            None => (Arc::new(Authority::none(Arc::clone(alias))), None),
        }
    }
}

/// Determines the authority and gate of each alias in the policy.
pub(super) fn fill(gate: &Gate) -> Result<(), PolicyError> {
    let ToolGates::Own(table) = &gate.tool_gates else { return Ok(()) };
    let mut tool_gates = HashMap::new();
    for (alias, granted) in &gate.policy.permissions {
        tool_gates.insert(alias.clone(), tool_authority(gate, alias, granted, table)?);
    }
    // Set only here, right after the gate was created.
    let _ = table.set(tool_gates);
    Ok(())
}

fn tool_authority(
    gate: &Gate,
    alias: &str,
    granted: &Permissions,
    table: &Arc<ToolTable>,
) -> Result<ToolAuthority, PolicyError> {
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
        return Ok(ToolAuthority { authority, gate: None });
    }
    let own = Policy { limits: gate.policy.limits.clone(), ..Policy::default() };
    let own = granted.tools.iter().cloned().fold(own, Policy::with);
    let narrowed = gate.policy.attenuate(own).map_err(|error| {
        let message = format!("`tool.{alias}` cannot call that: {error}");
        PolicyError::new(message, granted.span.0.clone())
            .hint("a tool calls others within the policy's own grants: add one that covers it")
    })?;
    let derived = gate.derive(narrowed, ToolGates::Above(alias.into(), Arc::downgrade(table)), gate.named)?;
    Ok(ToolAuthority { authority, gate: Some(Arc::new(derived)) })
}
