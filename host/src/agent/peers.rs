//! Tools that a tool calls: found and checked when they are called, since what a tool imports is known only when it is
//! compiled, and nearly every import may go unused.

use wasmtime::component::Val;
use wasmtime::component::types::ComponentFunc;

use super::{Caller, import, same};
use crate::tool::Peers;

impl Peers for Caller {
    fn call(&self, name: &str, function: &str, ty: &ComponentFunc, params: &[Val]) -> wasmtime::Result<Option<Val>> {
        if let Some(stopped) = self.interrupt.stopped() {
            return Err(stopped.into());
        }
        let (alias, export) = import::find(&self.gate, name)?;
        let tool = import::tool(self.gate.tools(), &alias, &export, name, function)?;
        same::check(ty, tool.function())
            .map_err(|problem| import::unusable(&format!("{name}#{function}"), &problem))?;
        import::answer(tool, self, params)
    }
}
