//! Effects that calls of a method may have, as far as a policy says.

use tollhouse_registry::Effect;

use super::session_gate::SessionGate;
use crate::vfs::{Edit, Tree};

/// Effects that calls of a method may have. What is not known counts as an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodEffects {
    /// True if something outside the session may change.
    pub outside: bool,
    /// True if the network may be reached, be it to read.
    pub network: bool,
    /// True if files of the session may change.
    pub files: bool,
}

impl MethodEffects {
    /// Effects of a method of which nothing is known: a function of the host, or a tool of an MCP server, whatever that
    /// says of itself.
    pub const UNKNOWN: Self = Self { outside: true, network: true, files: true };

    /// Returns true if a call changes nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        !self.outside && !self.files
    }
}

impl SessionGate {
    /// Returns true if calls of a method have no effect besides their result and the files that they may write: it is of
    /// a component that was granted nothing by which it could have one.
    #[must_use]
    pub fn is_pure(&self, method: &str) -> bool {
        !self.effects(method).outside
    }

    /// Returns the effects that calls of a method may have: those of a component by what it was granted.
    #[must_use]
    pub fn effects(&self, method: &str) -> MethodEffects {
        let Some(tool) = self.services.tools.get(method).filter(|tool| tool.package().is_some()) else {
            return MethodEffects::UNKNOWN;
        };
        let authority = self.authority(tool.alias());
        // Whatever the other tools may do.
        let calls_others = self.services.gates.of_tool(tool.alias()).is_some();
        MethodEffects {
            outside: calls_others || !authority.has_no_effects(),
            network: calls_others || authority.reaches_network(),
            files: calls_others || authority.writes_files(),
        }
    }

    /// Returns the effect of repeating a call of a method. Whether it is pure follows from what its tool was granted,
    /// whatever the manifest says; whether it is idempotent, from what is declared. Two kinds of tools are not idempotent
    /// whatever they declare: one that may call other tools, which would call them under other keys when it is repeated; and
    /// a program, whose output the script may have read in part.
    #[must_use]
    pub fn effect(&self, method: &str) -> Effect {
        if self.is_pure(method) {
            return Effect::Pure;
        }
        let declared = self.services.tools.get(method).filter(|tool| {
            tool.declared_effect() == Some(Effect::Idempotent)
                && !tool.function().is_program()
                && self.services.gates.of_tool(tool.alias()).is_none()
        });
        declared.map_or(Effect::Once, |_| Effect::Idempotent)
    }

    /// Returns why calls of a method cannot be made again to compare their results; `None` if they can.
    pub(crate) fn unrepeatable(&self, method: &str) -> Option<&'static str> {
        let Some(tool) = self.services.tools.get(method) else { return Some("there is no such method") };
        match () {
            () if !self.is_pure(method) => Some("it may have effects"),
            () if tool.keeps_state() => Some("its tool keeps state between calls"),
            () => None,
        }
    }

    /// Returns the path of a change that no call of a method can have made in these files, if there is one among these. The
    /// files of tools that call others may have been changed by those.
    pub(crate) fn impossible_change<'e>(&self, method: &str, files: &Tree, edits: &'e [Edit]) -> Option<&'e str> {
        let tool = self.services.tools.get(method).filter(|tool| tool.package().is_some());
        let is_possible = |edit: &Edit| {
            let Some(tool) = &tool else { return false };
            let calls_others = self.services.gates.of_tool(tool.alias()).is_some();
            files.is_writable(&edit.path) && (calls_others || self.authority(tool.alias()).may_have_made(edit))
        };
        edits.iter().find(|edit| !is_possible(edit)).map(|edit| edit.path.as_str())
    }
}
