//! Resources of tools, as components hold them that call tools: an agent's `counter` is a resource of the host's, which
//! keeps the token of the tool's.

use wasmtime::StoreContextMut;
use wasmtime::component::{Resource, ResourceAny, ResourceType};

use super::state::ToolState;
use super::types;
use super::value::{HandleError, Handles, Passing};

/// What stands in the caller's table for a resource of a tool.
pub(crate) struct Held {
    /// Names it in the run.
    pub(crate) token: String,
    /// Which resource of which interface it is, as the tool exports it.
    pub(crate) resource: types::Resource,
}

/// What every imported resource is to a caller. Which one it is, is checked when it is used.
pub(crate) fn resource_type() -> ResourceType {
    ResourceType::host::<Held>()
}

/// What a resource was whose last handle the caller dropped.
pub(crate) fn dropped(store: &mut StoreContextMut<'_, ToolState>, rep: u32) -> Option<Held> {
    store.data_mut().handles.with_room().delete(Resource::<Held>::new_own(rep)).ok()
}

/// The handles of a caller, between its table and the tokens of the run.
pub(crate) struct HeldHandles<'a> {
    store: StoreContextMut<'a, ToolState>,
}

impl<'a> HeldHandles<'a> {
    pub(crate) fn new(store: StoreContextMut<'a, ToolState>) -> Self {
        Self { store }
    }
}

impl Handles for HeldHandles<'_> {
    /// The caller passes a resource: its token. One that is passed for good leaves its table.
    fn issue(&mut self, resource: &types::Resource, value: ResourceAny) -> Result<String, HandleError> {
        let lost = || HandleError::Lost { resource: resource.name.clone() };
        let own = value.try_into_resource::<Held>(&mut self.store).map_err(|_| lost())?;
        let table = self.store.data_mut().handles.with_room();
        let got = table.get(&own).map_err(|_| lost())?;
        if got.resource != *resource {
            return Err(HandleError::WrongResource { expected: resource.name.clone(), got: got.resource.name.clone() });
        }
        let token = got.token.clone();
        if own.owned() {
            table.delete(own).map_err(|_| lost())?;
        }
        Ok(token)
    }

    /// The caller is given a resource: an entry of its table.
    fn resolve(&mut self, resource: &types::Resource, token: &str, _: Passing) -> Result<ResourceAny, HandleError> {
        let held = Held { token: token.to_owned(), resource: resource.clone() };
        let limit = super::handles::MAX_HANDLES;
        let entry = self.store.data_mut().handles.with_room().push(held).map_err(|_| HandleError::TooMany { limit })?;
        ResourceAny::try_from_resource(entry, &mut self.store)
            .map_err(|_| HandleError::Lost { resource: resource.name.clone() })
    }
}
