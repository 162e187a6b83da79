//! Call of one function, in a fresh instance, or in the instance that a handle names.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_engine::WASM_STACK;
use wasmtime::component::{Func, Instance, ResourceAny, ResourceTableError, Val};
use wasmtime::{Store, Trap};

use super::captured_output::KEPT;
use super::handles::{Handles, KeptInstance, KeptPermits, MAX_HANDLES, ResourceHandle, SharedInstance};
use super::package::{LoadedPackage, Package};
use super::tool_state::{MemoryRefusal, ToolState};
use super::types::{Function, FunctionKind, Resource};
use super::value::{self, HandleError, Passing, Returned, VAL_BYTES, ValueError};
use super::{CallContext, PackageFunction, Tool, cannot_read_changes, no_memory_for, no_memory_for_result};
use crate::code::{self, MemoryShare, NoRoom, Stopped, with_stack};
use crate::error::{Failure, Payload, error_chain};
use crate::remedy::{Remedy, limit_hint};

/// Calls a function with canonical arguments.
pub(super) fn call(
    tool: &Tool,
    exported: &PackageFunction,
    arguments: Value,
    context: &CallContext,
) -> Result<Payload, Failure> {
    let (function, method) = (tool.function(), tool.method());
    let mut handles = CallHandles::new(tool, context);
    let lowered = value::lower_arguments(function, arguments, &mut handles).map_err(|error| match error {
        ValueError::TooLarge => no_memory_for(&format!("`{method}`: the arguments"), &context.memory),
        error => Failure::argument(format!("`{method}`: {error}")),
    })?;
    let call = FunctionCall::new(tool, exported, context);
    match handles.shared.clone() {
        Some(shared) => {
            // After a trap the instance refuses further calls, which wasmtime itself enforces.
            let mut kept = enter_kept(&shared, method, context)?;
            handles.spend();
            if let FunctionKind::Drop(_) = function.kind {
                return call.drop_resource(lowered, &mut kept.store);
            }
            call.begin(&mut kept.store)?;
            let result = call.enter(&mut kept, &lowered, &mut handles);
            handles.keep(|| Arc::clone(&shared));
            result
        }
        None => {
            let mut kept = call.instance()?;
            let result = call.enter(&mut kept, &lowered, &mut handles);
            if handles.issued.is_empty() {
                context.warm.put(exported, tool.alias(), kept, &context.memory);
                return result;
            }
            kept.place = Some(call.place()?);
            handles.keep(|| Arc::new(Mutex::new(kept)));
            result
        }
    }
}

/// Locks a kept instance, waiting until the call is to stop. Two tools that call each other may each hold the instance
/// that the other waits for, and nothing else would end such a deadlock.
fn enter_kept<'k>(
    shared: &'k SharedInstance,
    method: &str,
    context: &CallContext,
) -> Result<MutexGuard<'k, KeptInstance>, Failure> {
    loop {
        match shared.try_lock() {
            Ok(kept) => return Ok(kept),
            Err(TryLockError::Poisoned(kept)) => return Ok(kept.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        match context.interrupt.stopped() {
            None => std::thread::sleep(WAIT),
            Some(Stopped::Cancelled) => return Err(Failure::cancelled()),
            Some(_) => {
                let message = format!("`{method}` ran out of time: the instance of its resource was busy");
                return Err(Failure::limit(message, Remedy::RaiseLimit("wall")));
            }
        }
    }
}

/// Bytes that a tool may always pass to its host at once, however little memory is left: enough for a request or a
/// write of its own.
const MIN_CROSSING: usize = 1 << 20;

/// Returns the number of bytes that a tool may pass to its host at once, in a call of the host or as its result.
fn crossing(share: &MemoryShare) -> usize {
    usize::try_from(share.bytes()).unwrap_or(usize::MAX).max(MIN_CROSSING)
}

/// Interval at which a call checks whether a kept instance is free: concurrent calls on one resource are rare.
const WAIT: Duration = Duration::from_millis(1);

/// Call of a function: its tool, arguments and context.
pub(super) struct FunctionCall<'a> {
    pub(super) tool: &'a Tool,
    exported: &'a PackageFunction,
    package: &'a Package,
    pub(super) method: &'a str,
    function: &'a Function,
    pub(super) context: &'a CallContext,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn new(tool: &'a Tool, exported: &'a PackageFunction, context: &'a CallContext) -> Self {
        Self { tool, exported, package: &exported.package, method: tool.method(), function: tool.function(), context }
    }

    /// Returns an instance for this call: an idle one of the session, or a fresh one.
    fn instance(&self) -> Result<KeptInstance, Failure> {
        if let Some(mut kept) = self.context.warm.take(self.exported, self.tool.alias()) {
            self.begin(&mut kept.store)?;
            return Ok(kept);
        }
        let loaded = self.loaded()?;
        let state = ToolState::new(self.context, self.memory());
        state.keep_printed(self.package.output(KEPT));
        let mut store = Store::new(loaded.pre.engine(), state);
        store.limiter(|state| &mut state.memory);
        self.watch(&mut store)?;
        let made = with_stack(WASM_STACK, || {
            code::instantiate(&self.context.interrupt, Duration::MAX, || loaded.pre.instantiate(&mut store))
        });
        match made {
            Ok(instance) => Ok(KeptInstance { store, instance, place: None }),
            Err(error) => Err(self.failed(&error, &mut store)),
        }
    }

    /// Reserves a slot for an instance that handles keep. Without one, resources that the call creates are lost with
    /// the instance.
    fn place(&self) -> Result<KeptPermits, Failure> {
        let method = self.method;
        let tools =
            self.package.engine().map_err(|error| Failure::host(format!("`{method}`: {}", error_chain(&error))))?;
        self.context.handles.place(&tools.kept).map_err(|most| {
            let message = format!("`{method}`: {most} instances of tools for handles");
            Failure::limit(message, "drop handles that are no longer needed, or make several by one call")
        })
    }

    /// Returns the package's code. Compiling it takes none of the run's time.
    pub(super) fn loaded(&self) -> Result<&'a LoadedPackage, Failure> {
        let _paused = (!self.package.is_loaded()).then(|| self.context.interrupt.pause());
        self.package.loaded().map_err(Failure::clone)
    }

    /// Prepares a kept instance for this call.
    fn begin(&self, store: &mut Store<ToolState>) -> Result<(), Failure> {
        store.data_mut().begin(self.context);
        self.watch(store)
    }

    /// Sets the limits of the call: it ends when the run does, and at the manifest's limits.
    pub(super) fn watch(&self, store: &mut Store<ToolState>) -> Result<(), Failure> {
        if let Some(fuel) = self.package.fuel() {
            let filled = store.set_fuel(fuel);
            filled.map_err(|error| Failure::host(format!("`{}`: its fuel is not limited: {error}", self.method)))?;
        }
        if let Some(deadline) = Instant::now().checked_add(self.wall()) {
            self.context.interrupt.set_deadline(deadline);
        }
        self.context.interrupt.watch(store);
        Ok(())
    }

    /// Returns the time limit of the call.
    fn wall(&self) -> Duration {
        self.package.wall(self.context.wall)
    }

    pub(super) fn memory(&self) -> u64 {
        self.package.memory(self.context.memory.limit())
    }

    fn drop_resource(&self, lowered: Vec<Val>, store: &mut Store<ToolState>) -> Result<Payload, Failure> {
        let Some(Val::Resource(resource)) = lowered.into_iter().next() else {
            return Err(Failure::host(format!("`{}`: there is nothing to drop", self.method)));
        };
        store.data_mut().interrupt = self.context.interrupt.clone();
        self.watch(store)?;
        resource.resource_drop(&mut *store).map_err(|error| self.failed(&error, store))?;
        Ok(Payload::default())
    }

    fn enter(
        &self,
        kept: &mut KeptInstance,
        arguments: &[Val],
        handles: &mut CallHandles<'_>,
    ) -> Result<Payload, Failure> {
        let KeptInstance { store, instance, .. } = kept;
        let function = self.export(store, *instance)?;
        // Held until the passed values are charged.
        let share = self.context.memory.share();
        store.set_hostcall_fuel(crossing(&share));
        let mut results = vec![Val::Bool(false); usize::from(self.function.result.is_some())];
        let called = with_stack(WASM_STACK, || function.call(&mut *store, arguments, &mut results));
        let edits = store.data_mut().end();
        for (stream, text) in store.data().said() {
            self.context.call_audit.said(stream, &self.redacted(text));
        }
        called.map_err(|error| self.failed(&error, store))?;
        // A call that returned keeps its writes, as a program does whose exit status is not 0; one that trapped does
        // not.
        self.context.changed(edits.map_err(|errno| cannot_read_changes(self.method, errno))?);
        if !self.context.held().grow(value::weight(&results)) {
            return Err(self.too_much_returned());
        }
        drop(share);
        match value::lift_result(self.function, results, handles) {
            Ok(Returned::Value(payload)) => Ok(payload),
            Ok(Returned::Error(payload)) => {
                Err(Failure { hint: store.data().refused(), ..tool_error(self.method, payload) })
            }
            Err(error @ ValueError::Handle(HandleError::TooMany { .. })) => {
                Err(Failure::limit(format!("`{}`: {error}", self.method), "drop handles that are no longer needed"))
            }
            Err(ValueError::TooLarge) => Err(self.too_much_returned()),
            Err(error) => Err(Failure::tool(format!("`{}`: the tool returned {error}", self.method))),
        }
    }

    /// Creates the failure of a tool that passed larger values to its host at once than there is memory for.
    fn too_much_at_once(&self, most: usize) -> Failure {
        let message = format!(
            "`{}` passed values of more than {most} bytes to its host at once, the memory that was left: each item of a \
             list takes {VAL_BYTES}",
            self.method
        );
        let hint = "request less at once, run fewer calls at once, or";
        Failure::limit(message, format!("{hint} {}", Remedy::RaiseLimit("memory")))
    }

    fn too_much_returned(&self) -> Failure {
        no_memory_for_result(self.method, &self.context.memory)
    }

    /// Creates the failure of a tool that ran out of memory.
    fn out_of_memory(&self, refused: MemoryRefusal) -> Failure {
        let (method, session) = (self.method, self.context.memory.limit());
        match refused {
            MemoryRefusal::OfCall => {
                let message = format!("`{method}` reached the memory limit of {} bytes", self.memory());
                Failure::limit(message, limit_hint("memory", self.memory() < session))
            }
            MemoryRefusal::OfSession => {
                let message = format!(
                    "`{method}` reached the memory limit of {session} bytes, which scripts, calls and tools of a session \
                     share"
                );
                let hint = "run fewer calls at once, drop handles that are no longer needed, or";
                Failure::limit(message, format!("{hint} {}", Remedy::RaiseLimit("memory")))
            }
        }
    }

    pub(super) fn export(&self, store: &mut Store<ToolState>, instance: Instance) -> Result<Func, Failure> {
        let loaded = self.loaded()?;
        let export = loaded.exports.get(self.exported.index).and_then(Option::as_ref);
        export.and_then(|export| instance.get_func(store, export)).ok_or_else(|| {
            Failure::host(format!("`{}`: the component does not export what its types say", self.method))
        })
    }

    fn redacted(&self, mut text: String) -> String {
        self.context.services.secrets.redact(&mut text);
        text
    }

    fn timed_out(&self) -> Failure {
        let (method, wall) = (self.method, self.wall());
        if wall == Duration::MAX {
            return Failure::limit(format!("`{method}` ran out of time: that of its run"), Remedy::RaiseLimit("wall"));
        }
        let message = format!("`{method}` reached the time limit of {} ms, or that of its run", wall.as_millis());
        let is_the_tools = wall < self.context.wall;
        Failure::limit(message, limit_hint(if is_the_tools { "wall" } else { "tool_wall" }, is_the_tools))
    }

    fn out_of_fuel(&self) -> Failure {
        let (method, fuel) = (self.method, self.package.fuel().unwrap_or_default());
        Failure::limit(format!("`{method}` reached the limit of {fuel} units of fuel"), limit_hint("fuel", true))
    }

    /// Creates the failure of a trap, or of an interrupted call.
    pub(super) fn failed(&self, error: &wasmtime::Error, store: &mut Store<ToolState>) -> Failure {
        store.data_mut().trapped = true;
        let method = self.method;
        match error.downcast_ref::<Stopped>() {
            Some(Stopped::Cancelled) => return Failure::cancelled(),
            Some(Stopped::Deadline) => return self.timed_out(),
            None => {}
        }
        if let Some(full) = error.downcast_ref::<NoRoom>() {
            return full.failure(&format!("`{method}`"));
        }
        if let Some(refused) = store.data().memory.refused {
            return self.out_of_memory(refused);
        }
        if let Some(ResourceTableError::Full) = error.downcast_ref() {
            let handles = &store.data().handles;
            let most = handles.capacity();
            let message = format!("`{method}` has {most} handles of its host at once, as many as it may have");
            let more =
                if handles.is_largest() { String::new() } else { format!(", or {}", Remedy::RaiseLimit("memory")) };
            return Failure::limit(message, format!("drop data that is no longer needed{more}"));
        }
        if code::is_too_much_at_once(error) {
            return self.too_much_at_once(store.hostcall_fuel());
        }
        let cause = match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => return self.out_of_fuel(),
            Some(Trap::StackOverflow) => "it recursed too deeply".to_owned(),
            Some(trap) => trap.to_string(),
            None => error.root_cause().to_string(),
        };
        if let Some(failure) = error.downcast_ref::<Failure>() {
            // From a call that the tool made, with a failure that its types cannot express.
            let told = Failure::tool(format!("`{method}` failed: {}", failure.message));
            return Failure { hint: failure.hint.clone(), ..told };
        }
        let complaint = store.data().complaint();
        let failure = Failure::tool(format!("`{method}` trapped: {cause}"));
        if complaint.is_empty() { failure } else { failure.with_hint(format!("the tool said: {complaint}")) }
    }
}

/// Creates the failure of the error case of a tool's `result`. Its message is the payload's own, if it has one.
pub(super) fn tool_error(method: &str, payload: Payload) -> Failure {
    let told = match &payload.value {
        Value::Null => "it gave no reason".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(object) => match object.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => payload.value.to_string(),
        },
        value => value.to_string(),
    };
    Failure::tool(format!("`{method}` failed: {told}")).with_payload(payload)
}

/// Handles of one call: resolved from those of the run, issued for the instance that the call uses.
struct CallHandles<'a> {
    context: &'a CallContext,
    run: &'a Handles,
    alias: Arc<str>,
    /// Instance that the call's handles live in.
    shared: Option<SharedInstance>,
    spent: Vec<String>,
    issued: Vec<(String, Resource, ResourceAny)>,
}

impl<'a> CallHandles<'a> {
    fn new(tool: &Tool, context: &'a CallContext) -> Self {
        let (run, alias) = (&*context.handles, Arc::clone(tool.alias()));
        Self { context, run, alias, shared: None, spent: Vec::new(), issued: Vec::new() }
    }

    /// Removes the handles that the call takes ownership of, when the call begins.
    fn spend(&mut self) {
        for token in self.spent.drain(..) {
            self.run.remove(&token);
        }
    }

    /// Keeps the instance if the call issued a handle of a resource in it.
    fn keep(self, instance: impl FnOnce() -> SharedInstance) {
        if self.issued.is_empty() {
            return;
        }
        let shared = instance();
        for (token, ty, resource) in self.issued {
            let handle = ResourceHandle { resource, alias: Arc::clone(&self.alias), ty, shared: Arc::clone(&shared) };
            self.run.keep(token, handle);
        }
    }
}

impl value::Handles for CallHandles<'_> {
    fn room(&mut self, bytes: u64) -> bool {
        self.context.held().grow(bytes)
    }

    fn issue(&mut self, resource: &Resource, value: ResourceAny) -> Result<String, HandleError> {
        let token = self.run.token().ok_or(HandleError::TooMany { limit: MAX_HANDLES })?;
        self.issued.push((token.clone(), resource.clone(), value));
        Ok(token)
    }

    fn resolve(&mut self, resource: &Resource, token: &str, passing: Passing) -> Result<ResourceAny, HandleError> {
        let unknown =
            || HandleError::Unknown { resource: resource.name.clone(), token: token.chars().take(60).collect() };
        if self.spent.iter().any(|spent| spent == token) {
            return Err(unknown());
        }
        let handle = self.run.get(token).ok_or_else(unknown)?;
        if handle.alias != self.alias || handle.ty != *resource {
            return Err(HandleError::WrongResource { expected: resource.name.clone(), got: handle.ty.name });
        }
        match &self.shared {
            Some(shared) if !Arc::ptr_eq(shared, &handle.shared) => {
                return Err(HandleError::Lost { resource: resource.name.clone() });
            }
            _ => self.shared = Some(handle.shared),
        }
        if passing == Passing::Own {
            self.spent.push(token.to_owned());
        }
        Ok(handle.resource)
    }
}
