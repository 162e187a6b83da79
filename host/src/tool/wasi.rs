//! WASI as tools see it: every import exists, and none has authority of its own.
//!
//! Files: the granted paths of the session's. Arguments: none; environment: the names of granted secrets. Network:
//! `wasi:http` as far as it is granted, sockets refused. Key-value store: the granted buckets. Clocks: fixed at the
//! time of the call. Randomness: seeded by session, run and call, so that a replay draws the same. Standard output and
//! error: kept for the error message of a tool that fails, up to a limit.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasData, Linker, LinkerInstance, Resource, ResourceType};
use wasmtime::{Engine, Result, StoreContextMut};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable};
use wasmtime_wasi_http::WasiHttpView as _;
use wasmtime_wasi_http::p2::bindings::http::types::{HostOutgoingRequest as _, Method, Scheme};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest as OutgoingRequest;

use super::imported_resources::CallerHandles;
use super::tool_state::ToolState;
use super::{call_context, clock, dynamic_tools, files, imported_resources, keyvalue};
use crate::error::Failure;

/// Packages of WASI 0.2 that [`linker`] provides as a whole. A component that was built against an older 0.2 gets the
/// present version, which is compatible.
const OFFERED: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// Interfaces that are provided one by one, since their packages also have others.
const OFFERED_ALONE: [&str; 5] = [
    "wasi:http/types@0.2.",
    "wasi:http/outgoing-handler@0.2.",
    "wasi:keyvalue/store@0.2.0-draft2",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/batch@0.2.0-draft2",
];

fn is_offered(name: &str) -> bool {
    OFFERED.iter().chain(&OFFERED_ALONE).any(|offered| name.starts_with(offered))
}

/// Creates the linker of an agent's imports of WASI. Its other imports are tools, which the caller defines.
pub(crate) fn agent_linker(engine: &Engine, component: &Component) -> Result<Linker<ToolState>> {
    let mut linker = linker(engine)?;
    define_unoffered(&mut linker, component)?;
    Ok(linker)
}

/// Defines a component's WASI imports that no host here provides: they can be linked, and trap with their name when
/// they are called. Nearly every component imports more than it uses.
pub(super) fn define_unoffered(linker: &mut Linker<ToolState>, component: &Component) -> Result<()> {
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        if name.starts_with("wasi:") && !is_offered(name) {
            trap(&mut linker.root(), &engine, name, name, &item.ty)?;
        }
    }
    Ok(())
}

/// Defines a tool's imports of other tools: each call goes through the tool's `PeerTools`.
pub(super) fn define_peers(linker: &mut Linker<ToolState>, component: &Component) -> Result<()> {
    let engine = linker.engine().clone();
    for (import, item) in component.component_type().imports(&engine) {
        if import.starts_with("wasi:") {
            continue;
        }
        if import == dynamic_tools::NAME {
            dynamic_tools::add_to_linker(linker)?;
            continue;
        }
        if import == call_context::NAME {
            call_context::add_to_linker(linker)?;
            continue;
        }
        let ComponentItem::ComponentInstance(instance) = &item.ty else {
            trap(&mut linker.root(), &engine, import, import, &item.ty)?;
            continue;
        };
        let mut inner = linker.instance(import)?;
        for (name, item) in instance.exports(&engine) {
            match &item.ty {
                ComponentItem::ComponentFunc(_) => peer(&mut inner, import, name)?,
                ComponentItem::Resource(_) => {
                    inner.resource(name, imported_resources::resource_type(), |mut store, rep| {
                        if let (Some(held), Some(peers)) =
                            (imported_resources::dropped(&mut store, rep), store.data().peers.clone())
                        {
                            peers.release(held);
                        }
                        Ok(())
                    })?
                }
                other => trap(&mut inner, &engine, &format!("{import}#{name}"), name, other)?,
            }
        }
    }
    Ok(())
}

fn peer(inner: &mut LinkerInstance<'_, ToolState>, import: &str, name: &str) -> Result<()> {
    let (import, function) = (import.to_owned(), name.to_owned());
    inner.func_new(name, move |store, ty, params, results| {
        let Some(peers) = store.data().peers.clone() else {
            return Err(Failure::capability(format!(
                "it called `{import}#{function}`, but may not call any other tool"
            ))
            .with_hint("list the methods that it may call under `[tool.ALIAS]` in the policy: `tools = [\"…\"]`")
            .into());
        };
        let returned = peers.call(&import, &function, &ty, params, &mut CallerHandles::new(store))?;
        if let (Some(slot), Some(value)) = (results.first_mut(), returned) {
            *slot = value;
        }
        Ok(())
    })
}

fn trap(
    at: &mut LinkerInstance<'_, ToolState>,
    engine: &Engine,
    path: &str,
    name: &str,
    item: &ComponentItem,
) -> Result<()> {
    match item {
        ComponentItem::ComponentFunc(_) => {
            let path = path.to_owned();
            at.func_new(name, move |_, _, _, _| {
                Err(wasmtime::format_err!("it called `{path}`, which no Tollhouse host provides"))
            })
        }
        ComponentItem::ComponentInstance(instance) => {
            let mut inner = at.instance(name)?;
            for (export, item) in instance.exports(engine) {
                trap(&mut inner, engine, &format!("{path}#{export}"), export, &item.ty)?;
            }
            Ok(())
        }
        ComponentItem::Resource(_) => at.resource(name, resource(name), |_, _| Ok(())),
        // Types need no definition; any other kind makes linking fail, with its name.
        _ => Ok(()),
    }
}

/// Returns the type of a resource by its name: interfaces that no host provides may still pass resources of `wasi:io`,
/// which must be those that are provided.
fn resource(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "pollable" => ResourceType::host::<DynPollable>(),
        _ => ResourceType::host::<UnofferedResource>(),
    }
}

/// Resource of an interface that no host provides. None is ever created.
struct UnofferedResource;

/// Creates the linker of everything that a tool may import, once a process.
pub(super) fn linker(engine: &Engine) -> Result<Linker<ToolState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    // WASI's own waits cannot be interrupted.
    linker.allow_shadowing(true);
    clock::add_to_linker::<ToolState, HasToolState>(&mut linker, |state| state)?;
    // wasmtime's files are directories of this machine; here they are the session's.
    files::add_to_linker(&mut linker, ToolState::files)?;
    linker.allow_shadowing(false);
    wasmtime_wasi_http::p2::add_only_http_to_linker_sync(&mut linker)?;
    linker.allow_shadowing(true);
    // wasmtime's implementation accepts texts of any length.
    let mut types = linker.instance(HTTP_TYPES)?;
    types.func_wrap("[method]outgoing-request.set-method", set_method)?;
    types.func_wrap("[method]outgoing-request.set-scheme", set_scheme)?;
    types.func_wrap("[method]outgoing-request.set-authority", set_authority)?;
    types.func_wrap("[method]outgoing-request.set-path-with-query", set_path)?;
    linker.allow_shadowing(false);
    keyvalue::add_to_linker(&mut linker)?;
    Ok(linker)
}

/// `wasi:http/types`, in the version that wasmtime provides.
const HTTP_TYPES: &str = "wasi:http/types@0.2.12";

/// Longest method of a request, in bytes: registered ones have 17 at most.
const MAX_METHOD: usize = 64;

/// Longest scheme of a request, in bytes.
const MAX_SCHEME: usize = 64;

/// Longest authority of a request, in bytes: a name has 253 at most, and a port 6.
const MAX_AUTHORITY: usize = 1 << 10;

/// Longest path of a request with its query, in bytes. Servers accept 8 KiB, or less.
const MAX_PATH: usize = 16 << 10;

/// `outgoing-request.set-method`, with a limit on the length.
fn set_method(
    mut store: StoreContextMut<'_, ToolState>,
    (request, method): (Resource<OutgoingRequest>, Method),
) -> Result<(Result<(), ()>,)> {
    if matches!(&method, Method::Other(name) if name.len() > MAX_METHOD) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_method(request, method)?,))
}

/// `outgoing-request.set-scheme`, with a limit on the length.
fn set_scheme(
    mut store: StoreContextMut<'_, ToolState>,
    (request, scheme): (Resource<OutgoingRequest>, Option<Scheme>),
) -> Result<(Result<(), ()>,)> {
    if matches!(&scheme, Some(Scheme::Other(name)) if name.len() > MAX_SCHEME) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_scheme(request, scheme)?,))
}

/// `outgoing-request.set-authority`, with a limit on the length.
fn set_authority(
    mut store: StoreContextMut<'_, ToolState>,
    (request, authority): (Resource<OutgoingRequest>, Option<String>),
) -> Result<(Result<(), ()>,)> {
    if authority.as_ref().is_some_and(|authority| authority.len() > MAX_AUTHORITY) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_authority(request, authority)?,))
}

/// `outgoing-request.set-path-with-query`, with a limit on the length.
fn set_path(
    mut store: StoreContextMut<'_, ToolState>,
    (request, path): (Resource<OutgoingRequest>, Option<String>),
) -> Result<(Result<(), ()>,)> {
    if path.as_ref().is_some_and(|path| path.len() > MAX_PATH) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_path_with_query(request, path)?,))
}

/// Marker of interfaces that the whole state of a tool implements.
struct HasToolState;

impl HasData for HasToolState {
    type Data<'a> = &'a mut ToolState;
}
