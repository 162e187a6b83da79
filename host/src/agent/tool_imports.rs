//! Tools that a component calls. The imports of a tool are found and checked only when they are called: they are known
//! only after compiling it, and most go unused.

use serde_json::{Value, json};
use wasmtime::component::Val;
use wasmtime::component::types::ComponentFunc;

use super::{ToolCaller, import, type_check};
use crate::error::{Failure, Payload};
use crate::tool::types::FunctionKind;
use crate::tool::value::Handles;
use crate::tool::{ImportedResource, PeerTools};

impl PeerTools for ToolCaller {
    fn call(
        &self,
        name: &str,
        function: &str,
        ty: &ComponentFunc,
        params: &[Val],
        handles: &mut dyn Handles,
    ) -> wasmtime::Result<Option<Val>> {
        if let Some(stopped) = self.interrupt.stopped() {
            return Err(stopped.into());
        }
        let (alias, export) = import::find(&self.gate, name)?;
        let tool = import::tool(self.gate.tools(), &alias, &export, name, function)?;
        type_check::check(ty, tool.function())
            .map_err(|problem| import::unusable(&format!("{name}#{function}"), &problem))?;
        import::answer(&tool, self, params, handles)
    }

    fn ask(&self, method: &str, arguments: &str) -> Result<Payload, Failure> {
        import::ask(method, arguments, self)
    }

    fn catalog(&self) -> Vec<Value> {
        let granted = self.gate.tools().iter().filter(|tool| self.gate.grants(tool.method()));
        granted.map(|tool| tool.describe(true)).collect()
    }

    fn release(&self, held: ImportedResource) {
        let drops = |kind: &FunctionKind| matches!(kind, FunctionKind::Drop(resource) if *resource == held.resource);
        let granted = |method: &str| self.gate.grants(method);
        let mut tools = self.gate.tools().iter().filter(|tool| drops(&tool.function().kind));
        if let Some(tool) = tools.find(|tool| granted(tool.method())) {
            // A resource that cannot be dropped, or may not be, ends with the run.
            let _ = import::ask(tool.method(), &json!({ "self": held.token }).to_string(), self);
        }
    }
}
