//! Imported resources: resources of tools, as components hold them that call tools. A `counter` of an agent is a
//! resource of the host, which keeps the token of the tool's resource.

use wasmtime::StoreContextMut;
use wasmtime::component::{Resource, ResourceAny, ResourceType};

use super::tool_state::ToolState;
use super::types;
use super::value::{HandleError, Handles, Passing};

/// Entry of the caller's table for a resource of a tool.
pub(crate) struct ImportedResource {
    /// Token of the resource in the run.
    pub(crate) token: String,
    /// Resource type, as the tool exports it.
    pub(crate) resource: types::Resource,
}

/// Returns the single host resource type behind all imported resources. The concrete type is checked on use.
pub(crate) fn resource_type() -> ResourceType {
    ResourceType::host::<ImportedResource>()
}

/// Removes and returns the entry of a resource whose last handle the caller dropped.
pub(crate) fn dropped(store: &mut StoreContextMut<'_, ToolState>, rep: u32) -> Option<ImportedResource> {
    store.data_mut().handles.with_room().delete(Resource::<ImportedResource>::new_own(rep)).ok()
}

/// Conversion of a caller's handles between its table and the tokens of the run.
pub(crate) struct CallerHandles<'a> {
    store: StoreContextMut<'a, ToolState>,
}

impl<'a> CallerHandles<'a> {
    pub(crate) fn new(store: StoreContextMut<'a, ToolState>) -> Self {
        Self { store }
    }
}

impl Handles for CallerHandles<'_> {
    /// Returns the token of a resource that the caller passes. An owned one leaves the caller's table.
    fn issue(&mut self, resource: &types::Resource, value: ResourceAny) -> Result<String, HandleError> {
        let lost = || HandleError::Lost { resource: resource.name.clone() };
        let own = value.try_into_resource::<ImportedResource>(&mut self.store).map_err(|_| lost())?;
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

    /// Makes an entry of the caller's table for a resource that the caller receives.
    fn resolve(&mut self, resource: &types::Resource, token: &str, _: Passing) -> Result<ResourceAny, HandleError> {
        let held = ImportedResource { token: token.to_owned(), resource: resource.clone() };
        let limit = super::handles::MAX_HANDLES;
        let entry = self.store.data_mut().handles.with_room().push(held).map_err(|_| HandleError::TooMany { limit })?;
        ResourceAny::try_from_resource(entry, &mut self.store)
            .map_err(|_| HandleError::Lost { resource: resource.name.clone() })
    }
}
