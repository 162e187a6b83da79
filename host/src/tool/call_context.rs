//! `tollhouse:tool/context`: what a component may learn about the call that it answers.

use wasmtime::component::{HasData, Linker};

use super::tool_state::ToolState;

mod bindings {
    wasmtime::component::bindgen!({
        path: "wit/tool",
        inline: "package tollhouse:host; world called { import tollhouse:tool/context@0.1.0; }",
        imports: { default: trappable },
    });
}

use self::bindings::tollhouse::tool::context;

/// Import name of the interface.
pub(super) const NAME: &str = "tollhouse:tool/context@0.1.0";

/// Adds the interface to a linker.
pub(super) fn add_to_linker(linker: &mut Linker<ToolState>) -> wasmtime::Result<()> {
    context::add_to_linker::<ToolState, HasCallContext>(linker, |state| state)
}

struct HasCallContext;

impl HasData for HasCallContext {
    type Data<'a> = &'a mut ToolState;
}

impl context::Host for ToolState {
    fn idempotency_key(&mut self) -> wasmtime::Result<String> {
        Ok(super::idempotency_key(self.seed()))
    }
}
