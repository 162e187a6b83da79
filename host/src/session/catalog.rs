//! Catalog of a session's tools, as its guests see it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::gate::Gate;
use crate::guest::{Catalog, MountedTool};
use crate::tool::Tool;
use crate::tool::names::Face;

/// The gate and the tools behind it, as guests see them.
pub(super) struct GateCatalog {
    gate: Arc<Gate>,
    /// Canonical methods that some grant covers: determined once a session, not once a run.
    granted: HashSet<String>,
}

impl GateCatalog {
    pub(super) fn new(gate: &Arc<Gate>) -> Self {
        let granted = gate.tools().iter().map(|tool| tool.method()).filter(|method| gate.grants(method));
        Self { granted: granted.map(str::to_owned).collect(), gate: Arc::clone(gate) }
    }
}

impl Catalog for GateCatalog {
    fn tools(&self) -> Vec<MountedTool> {
        let listed = self.gate.tools().iter().map(|tool| MountedTool {
            method: tool.method().to_owned(),
            path: tool.path().to_owned(),
            granted: self.granted.contains(tool.method()),
            program: tool.function().is_program(),
            open: tool.is_open(),
            command: tool.has(Face::Command),
        });
        listed.collect()
    }

    fn describe(&self, method: &str) -> Option<String> {
        let tool = self.gate.tools().get(method)?;
        // Methods of a namespace are not listed.
        let granted = self.granted.contains(method) || (tool.is_open() && self.gate.grants(method));
        Some(tool.describe(granted).to_string())
    }

    fn parse_words(&self, method: &str, words: &[String]) -> Result<String, String> {
        let tool: Arc<Tool> = self.gate.tools().get(method).ok_or_else(|| format!("there is no tool `{method}`"))?;
        tool.parse_words(words, self.gate.limits().memory).map(|arguments| arguments.to_string())
    }

    fn help(&self, prefix: &str) -> Option<String> {
        self.gate.tools().help(prefix)
    }

    fn budgets(&self) -> String {
        serde_json::to_string(&self.gate.budgets()).expect("budgets are plain data")
    }
}
