//! What a tool finds where it looks for an operating system: everything is there, and nothing has authority.
//!
//! Files: no preopened directory. Environment and arguments: empty. Network: refused. Clocks: fixed at the time of the
//! call. Randomness: seeded by session, run and call, so that a replay draws the same. Standard output and error: kept
//! for the error message of a tool that fails, up to a limit.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasData, Linker, LinkerInstance, ResourceType};
use wasmtime::{Engine, Result};

use super::clock;
use super::state::ToolState;

/// The packages of WASI 0.2 that [`linker`] offers in whole. A component that was built against an older 0.2 gets the
/// one that is here: they are compatible.
const OFFERED: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// What an agent may import of WASI. Its other imports are tools, and whoever links them defines them.
pub(crate) fn agent_linker(engine: &Engine, component: &Component) -> Result<Linker<ToolState>> {
    let mut linker = linker(engine)?;
    define_unoffered(&mut linker, component, |name| name.starts_with("wasi:"))?;
    Ok(linker)
}

/// Defines what a component imports and no host here offers, if `others` says so: it can be imported, and traps with its name when it is
/// called. Nearly every component imports more than it uses.
pub(super) fn define_unoffered(
    linker: &mut Linker<ToolState>,
    component: &Component,
    others: impl Fn(&str) -> bool,
) -> Result<()> {
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        if !OFFERED.iter().any(|offered| name.starts_with(offered)) && others(name) {
            trap(&mut linker.root(), &engine, name, name, &item.ty)?;
        }
    }
    Ok(())
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
            at.func_new(name, move |_, _, _, _| Err(wasmtime::format_err!("it called `{path}`, which no host offers")))
        }
        ComponentItem::ComponentInstance(instance) => {
            let mut inner = at.instance(name)?;
            for (export, item) in instance.exports(engine) {
                trap(&mut inner, engine, &format!("{path}#{export}"), export, &item.ty)?;
            }
            Ok(())
        }
        ComponentItem::Resource(_) => at.resource(name, ResourceType::host::<Unoffered>(), |_, _| Ok(())),
        // Types need no definition; what else there is makes linking fail, with its name.
        _ => Ok(()),
    }
}

/// A resource of an interface that no host offers. None is ever made.
struct Unoffered;

/// Everything that a tool may import, made once a process.
pub(super) fn linker(engine: &Engine) -> Result<Linker<ToolState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    // WASI's own waits cannot be interrupted.
    linker.allow_shadowing(true);
    clock::add_to_linker::<ToolState, Whole>(&mut linker, |state| state)?;
    linker.allow_shadowing(false);
    Ok(linker)
}

/// An interface that is implemented by all of a tool's state.
struct Whole;

impl HasData for Whole {
    type Data<'a> = &'a mut ToolState;
}
