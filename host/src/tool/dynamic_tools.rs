//! `tollhouse:program/tools`: other tools, for a component that learns their names only when it runs, such as an
//! interpreter. Permissions and outcomes are the same as for imports of the tools' own interfaces.

use serde_json::Value;
use wasmtime::component::{HasData, Linker};

use super::tool_state::ToolState;
use crate::error::{Failure, Payload, SpecialKind};

mod bindings {
    wasmtime::component::bindgen!({
        path: "wit/program",
        inline: "package tollhouse:host; world program { import tollhouse:program/tools@0.1.0; }",
        imports: { default: trappable },
    });
}

use self::bindings::tollhouse::program::tools;

/// Import name of the interface.
pub(super) const NAME: &str = "tollhouse:program/tools@0.1.0";

/// Adds the interface to a linker.
pub(super) fn add_to_linker(linker: &mut Linker<ToolState>) -> wasmtime::Result<()> {
    tools::add_to_linker::<ToolState, HasDynamicTools>(linker, |state| state)
}

struct HasDynamicTools;

impl HasData for HasDynamicTools {
    type Data<'a> = &'a mut ToolState;
}

impl tools::Host for ToolState {
    fn call(&mut self, method: String, arguments: String) -> wasmtime::Result<Result<tools::Value, tools::Failure>> {
        if let Some(stopped) = self.interrupt.stopped() {
            return Err(stopped.into());
        }
        let called = match self.peers.clone() {
            Some(peers) => peers.ask(&method, &arguments),
            None => Err(Failure::capability(format!("`{method}` is not called: this program may not call any tool"))
                .with_hint("list the methods that it may call under `[tool.ALIAS]` in the policy: `tools = [\"…\"]`")),
        };
        Ok(called.map(Into::into).map_err(Into::into))
    }

    fn catalog(&mut self) -> wasmtime::Result<String> {
        let catalog = self.peers.as_ref().map(|peers| peers.catalog());
        Ok(Value::Array(catalog.unwrap_or_default()).to_string())
    }
}

impl From<Payload> for tools::Value {
    fn from(payload: Payload) -> Self {
        let special = |special: crate::error::Special| tools::Special {
            pointer: special.pointer,
            kind: match special.kind {
                SpecialKind::Bytes => tools::SpecialKind::Bytes,
                SpecialKind::Integer => tools::SpecialKind::Integer,
                SpecialKind::Float => tools::SpecialKind::Float,
            },
        };
        Self { json: payload.value.to_string(), specials: payload.specials.into_iter().map(special).collect() }
    }
}

impl From<Failure> for tools::Failure {
    fn from(failure: Failure) -> Self {
        Self {
            kind: failure.kind.word().to_owned(),
            name: failure.name,
            message: failure.message,
            hint: failure.hint,
            payload: failure.payload.map(Into::into),
        }
    }
}
