//! Imports of an agent: each is found among the mounted tools, checked, and routed through the gate.

use std::sync::Arc;

use serde_json::{Map, Value};
use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Linker, LinkerInstance, Val};

use super::{ToolCaller, type_check};
use crate::error::{ErrorKind, Failure, Payload};
use crate::gate::{CallOutcome, Gate, RequestedCall};
use crate::remedy::Remedy;
use crate::tool::types::{Function, Shape, Type};
use crate::tool::value::{self, Handles};
use crate::tool::{
    CallerHandles, MountedTools, PeerTools as _, Tool, ToolState, cannot_apply_changes, dropped, no_memory_for,
    resource_type, serves,
};

/// Defines one import in a linker.
pub(super) fn define(
    linker: &mut Linker<ToolState>,
    engine: &Engine,
    name: &str,
    item: &ComponentItem,
    caller: &Arc<ToolCaller>,
) -> Result<(), Failure> {
    let ComponentItem::ComponentInstance(instance) = item else {
        return match item {
            // A type that functions of another import use.
            ComponentItem::Type(_) => Ok(()),
            _ => Err(unusable(name, "only whole interfaces can be imported, by the name of their package")),
        };
    };
    let (alias, export) = find(&caller.gate, name)?;
    let mut inner = linker.instance(name).map_err(|error| unusable(name, &error.to_string()))?;
    for (function, item) in instance.exports(engine) {
        match &item.ty {
            ComponentItem::ComponentFunc(ty) => {
                let tool = tool(caller.gate.tools(), &alias, &export, name, function)?;
                type_check::check(ty, tool.function())
                    .map_err(|problem| unusable(&format!("{name}#{function}"), &problem))?;
                if !caller.gate.grants(tool.method()) {
                    return Err(not_granted(name, tool.method()));
                }
                define_gated(&mut inner, function, tool, Arc::clone(caller))?;
            }
            ComponentItem::Resource(_) => {
                let caller = Arc::clone(caller);
                let defined = inner.resource(function, resource_type(), move |mut store, rep| {
                    if let Some(held) = dropped(&mut store, rep) {
                        caller.release(held);
                    }
                    Ok(())
                });
                defined.map_err(|error| unusable(name, &error.to_string()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn unusable(name: &str, problem: &str) -> Failure {
    Failure::policy(format!("the import `{name}` cannot be satisfied: {problem}"))
}

fn not_granted(name: &str, method: &str) -> Failure {
    Failure::capability(format!("the agent imports `{name}`, but no grant allows `{method}`"))
        .with_hint(Remedy::Grant { method, is_program: false })
}

/// Finds the alias and exported interface that serve an import: same name, compatible version. If several aliases
/// qualify, the one that the grants cover is taken.
pub(super) fn find(gate: &Gate, import: &str) -> Result<(String, String), Failure> {
    let mut found = Vec::new();
    for (alias, package) in gate.tools().packages() {
        let fits = package.types().interfaces.iter().find(|interface| serves(&interface.export, import));
        found.extend(fits.map(|interface| (alias.clone(), interface.export.clone())));
    }
    if found.len() > 1 {
        let granted: Vec<_> = found.iter().filter(|(alias, export)| is_granted(gate, alias, export)).cloned().collect();
        if !granted.is_empty() {
            found = granted;
        }
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(unusable(import, "no mounted package exports it")
            .with_hint(format!("publish the package, or {}", Remedy::MountPackage))),
        _ => {
            let aliases: Vec<String> = found.iter().map(|(alias, _)| format!("`{alias}`")).collect();
            Err(unusable(
                import,
                &format!("it is mounted as {}, and the grants cover all of these or none", aliases.join(" and ")),
            )
            .with_hint("grant methods of one alias only, or mount it once"))
        }
    }
}

/// Returns true if a grant covers a function of an interface.
fn is_granted(gate: &Gate, alias: &str, export: &str) -> bool {
    let packages = gate.tools().packages();
    let functions =
        packages.iter().filter(|(other, _)| other == alias).flat_map(|(_, package)| &package.types().functions);
    functions
        .filter(|function| function.export.instance.as_deref() == Some(export))
        .any(|function| gate.grants(&function.method(alias)))
}

pub(super) fn tool(
    tools: &MountedTools,
    alias: &str,
    export: &str,
    import: &str,
    function: &str,
) -> Result<Arc<Tool>, Failure> {
    let package = tools.packages().iter().find(|(other, _)| other == alias).map(|(_, package)| package);
    let found = package.and_then(|package| {
        let is_it =
            |known: &&Function| known.export.instance.as_deref() == Some(export) && known.export.function == function;
        package.types().functions.iter().find(is_it)
    });
    let tool = found.and_then(|function| tools.get(&function.method(alias)));
    tool.ok_or_else(|| unusable(import, &format!("`{alias}` has no function `{function}` that can be called")))
}

/// Defines a function that goes through the gate.
fn define_gated(
    inner: &mut LinkerInstance<'_, ToolState>,
    name: &str,
    tool: Arc<Tool>,
    caller: Arc<ToolCaller>,
) -> Result<(), Failure> {
    let defined = inner.func_new(name, move |store, _, params, results| {
        let returned = answer(&tool, &caller, params, &mut CallerHandles::new(store))?;
        if let (Some(slot), Some(value)) = (results.first_mut(), returned) {
            *slot = value;
        }
        Ok(())
    });
    defined.map_err(|error| Failure::host(format!("cannot link the agent: {error:#}")))
}

/// Calls a tool for an imported function, and returns the tool's result, or the failure in the form that the component
/// can receive.
pub(super) fn answer(
    tool: &Tool,
    caller: &ToolCaller,
    params: &[Val],
    handles: &mut dyn Handles,
) -> wasmtime::Result<Option<Val>> {
    let called = call(tool, caller, params, handles);
    let answered = called.and_then(|value| lower_result(tool.function(), value, handles));
    answered.or_else(|failure| lower_failure(tool.function(), failure, handles))
}

/// Copies that exist at once of the values that a component passes to a tool: as passed, copied, as JSON and as text.
const COPIES: u64 = 4;

/// Calls a tool through the gate with values of a component.
fn call(tool: &Tool, caller: &ToolCaller, params: &[Val], handles: &mut dyn Handles) -> Result<Value, Failure> {
    let _held = caller
        .memory
        .charge(value::weight(params).saturating_mul(COPIES))
        .ok_or_else(|| no_memory_for(&format!("`{}`: the arguments", tool.method()), &caller.memory))?;
    let mut arguments = Map::new();
    for (field, value) in tool.function().params.iter().zip(params) {
        let lifted = value::lift(value.clone(), &field.ty, handles)
            .map_err(|error| Failure::argument(format!("`{}`: {error}", tool.method())))?;
        arguments.insert(field.camel.clone(), lifted.value);
    }
    ask(tool.method(), &Value::Object(arguments).to_string(), caller).map(|payload| payload.value)
}

/// Asks the gate for a call, and makes it.
pub(super) fn ask(method: &str, arguments: &str, caller: &ToolCaller) -> Result<Payload, Failure> {
    let admission =
        caller.gate.admit(&caller.record, RequestedCall::new(method, arguments), &caller.memory, &caller.interrupt)?;
    let call = (caller.prepare)(admission);
    let result = call.invoke();
    let applied = caller.working.apply(&call.context().edits());
    let result =
        result.and_then(|payload| applied.map(|()| payload).map_err(|error| cannot_apply_changes(method, &error)));
    let outcome = if result.is_ok() { CallOutcome::Ok } else { CallOutcome::Failed };
    caller.gate.settle(&caller.record, call.admission().seq(), outcome, result.as_ref().err());
    result
}

/// Lowers a returned value to the import's result, wrapped in `ok` where the function can fail.
fn lower_result(function: &Function, value: Value, handles: &mut dyn Handles) -> Result<Option<Val>, Failure> {
    let mut lower =
        |value: Value, ty: &Type| value::lower(value, ty, handles).map_err(|error| Failure::host(error.to_string()));
    match function.result.as_ref().map(|ty| (&ty.shape, ty)) {
        None => Ok(None),
        Some((Shape::Result { ok, .. }, _)) => {
            let ok = ok.as_deref().map(|ty| lower(value, ty).map(Box::new)).transpose()?;
            Ok(Some(Val::Result(Ok(ok))))
        }
        Some((_, ty)) => lower(value, ty).map(Some),
    }
}

/// Converts a failure for the agent: the tool's own error unchanged; any other as text if the function's error type is
/// a string. Other functions have no value for it, and the agent ends with the failure.
fn lower_failure(function: &Function, failure: Failure, handles: &mut dyn Handles) -> wasmtime::Result<Option<Val>> {
    let Some(Shape::Result { err, .. }) = function.result.as_ref().map(|ty| &ty.shape) else {
        return Err(failure.into());
    };
    let lowered = match (&failure.payload, err.as_deref()) {
        (Some(payload), Some(ty)) => value::lower(payload.value.clone(), ty, handles).ok().map(Box::new),
        (_, Some(Type { shape: Shape::String, .. })) if can_be_lowered(failure.kind) => {
            Some(Box::new(Val::String(failure.to_string())))
        }
        (Some(_), None) => return Ok(Some(Val::Result(Err(None)))),
        _ => None,
    };
    match lowered {
        Some(lowered) => Ok(Some(Val::Result(Err(Some(lowered))))),
        None => Err(failure.into()),
    }
}

/// Returns true if the agent can continue after a failure of this kind.
fn can_be_lowered(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Capability | ErrorKind::Approval | ErrorKind::Argument | ErrorKind::Tool | ErrorKind::Limit
    )
}

#[cfg(test)]
mod tests {
    use super::serves;

    #[test]
    fn agent_import_is_served_by_compatible_version_only() {
        assert!(serves("a:b/c@1.3.0", "a:b/c@1.2.0"));
        assert!(serves("a:b/c", "a:b/c"));
        for (export, import) in [
            ("a:b/c@1.1.0", "a:b/c@1.2.0"),
            ("a:b/c@2.0.0", "a:b/c@1.2.0"),
            ("a:b/c@0.2.0", "a:b/c@0.1.0"),
            ("a:b/d@1.2.0", "a:b/c@1.2.0"),
            ("a:b/c@1.2.0", "a:b/c"),
            ("a:b/c@nonsense", "a:b/c@1.2.0"),
        ] {
            assert!(!serves(export, import), "{export} {import}");
        }
    }
}
