//! Tools: packages of a registry, reflected, typed and called.
//!
//! What a tool is for its callers is data, and lives in the crate `tollhouse-methods`: types, names, canonical arguments,
//! declarations. This module decodes components ([`reflect`]), converts JSON to values of components ([`value`]), loads
//! packages ([`Packages`]), mounts the tools of a session ([`MountedTools`]) and calls functions of instances.
//!
//! **Invariant:** calling a tool takes an [`Admission`], which only the crate `tollhouse-gate` makes.
//!
//! **Invariant:** every WASI import of a tool exists, and has no authority beyond its manifest's requests that the
//! policy grants (`authority`).

pub mod reflect;
pub mod value;

mod authority;
mod call_context;
mod captured_output;
mod clock;
mod dry_run;
mod dynamic_tools;
mod files;
mod handle_table;
mod handles;
mod host_function;
mod http;
mod imported_resources;
mod imports;
mod instance;
mod instance_cache;
mod keyvalue;
mod lock_file;
mod mcp_server;
mod mounted;
mod package;
mod pipe;
mod program;
mod recorded_result;
mod secret;
mod tool_state;
mod wasi;

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use wasmtime::component::Val;
use wasmtime::component::types::ComponentFunc;

pub(crate) use authority::Authority;
pub(crate) use clock::RESOLUTION as CLOCK_RESOLUTION;
pub use dry_run::{DryRun, DryRunHandler, UnansweredCall, UnfitResult, UsedExample};
pub(crate) use files::WorkingFiles;
pub use handles::Handles;
pub use host_function::{HostCall, HostFunction, HostTool, HostToolError};
use http::NameLookups;
pub use http::{CertificateError, DialError, DialedStream, Network, Resolver};
pub(crate) use imported_resources::{CallerHandles, ImportedResource, dropped, resource_type};
pub(crate) use imports::serves;
pub use instance_cache::Warm;
pub(crate) use keyvalue::{EntryChange, EntryKey, KeyValue, KeyValueBacking, keyvalue_size};
pub use lock_file::{Lock, LockError, LockFile, Locked, MAX_LOCK};
pub use mcp_server::{DefinitionError, MAX_SERVER_TOOLS, McpCalls, PinnedServer, RefusedTool, SecretUse, not_started};
pub use mounted::{MountError, MountedTools};
pub use package::{Package, PackageError, Packages};
pub(crate) use pipe::{OnComplete, Pipe, WriteError};
pub(crate) use program::ProgramStart;
pub use secret::{SecretError, Secrets};
use tollhouse_audit::CallAudit;
use tollhouse_gate::Admission;
use tollhouse_methods::MethodDeclaration;
pub(crate) use tollhouse_methods::reflect::{ARGUMENTS, DIRECTORY, STDIN};
pub use tollhouse_methods::{
    Catalog, Clash, LostFace, canonical, help, names, nearest, python, schema, types, typescript, words,
};
pub(crate) use tollhouse_types::memory::no_memory_for;
pub(crate) use tool_state::ToolState;
pub(crate) use wasi::agent_linker;

use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, Payload};
use crate::remedy::Remedy;
use crate::vfs::{ApplyError, Edit, Errno, Tree};

/// Services of the host for the tools of one session.
#[derive(Clone, Default)]
pub(crate) struct ToolServices {
    /// Access to the network.
    pub(crate) network: Network,
    /// Name look-ups of the session's tools.
    pub(crate) lookups: NameLookups,
    /// Values of the session's secrets.
    pub(crate) secrets: Secrets,
    /// Key-value store of the session.
    pub(crate) store: KeyValue,
    /// Answers in place of the tools.
    pub(crate) dry_run: Option<DryRun>,
}

/// Other tools, as a component calls them that imports them.
pub(crate) trait PeerTools: Send + Sync {
    /// Calls a function of an imported interface, whose type in the component is `ty`.
    ///
    /// # Errors
    /// A [`Failure`], if the function's types cannot express the error.
    fn call(
        &self,
        import: &str,
        function: &str,
        ty: &ComponentFunc,
        params: &[Val],
        handles: &mut dyn value::Handles,
    ) -> wasmtime::Result<Option<Val>>;

    /// Calls a tool by its method, with arguments as JSON.
    ///
    /// # Errors
    /// The failure that a script would get.
    fn ask(&self, method: &str, arguments: &str) -> Result<Payload, Failure>;

    /// Describes the callable methods, as scripts see them.
    fn catalog(&self) -> Vec<Value>;

    /// Drops a resource of a tool, which the component has dropped.
    fn release(&self, held: ImportedResource);
}

/// Context of a call: everything besides its arguments.
pub struct CallContext {
    /// Number of the session that makes the call.
    pub session: u64,
    /// Switch that stops the call.
    pub interrupt: Interrupt,
    /// Time of the call: nanoseconds since the Unix epoch, in whole milliseconds. The tool's clocks stand still there.
    pub now: u64,
    /// Seed of the call's random numbers.
    pub seed: [u8; 32],
    /// Memory account of the session, which the tool's memory is charged to.
    pub memory: MemoryAccount,
    /// Memory that the host holds for the call: values that are passed, and the result.
    pub(crate) held: Mutex<MemoryCharge>,
    /// Time limit; [`Duration::MAX`] for that of the run.
    pub wall: Duration,
    /// Live resources of the run.
    pub handles: Arc<Handles>,
    /// Idle instances that the session keeps between calls.
    pub warm: Arc<Warm>,
    /// Authority of the tool.
    pub(crate) authority: Arc<Authority>,
    /// Services of the host.
    pub(crate) services: Arc<ToolServices>,
    /// Other tools that it may call.
    pub(crate) peers: Option<Arc<dyn PeerTools>>,
    /// Audit log of the call's side effects.
    pub(crate) call_audit: CallAudit,
    /// Files of the session when the call was made.
    pub(crate) files: Tree,
    /// Files as the call sees them, for calls that it makes itself.
    pub(crate) working: WorkingFiles,
    /// Changes of files, once the call has returned.
    pub(crate) edits: Mutex<Vec<Edit>>,
}

impl CallContext {
    /// Returns the idempotency key of the call, which is the same when the call is made again after a crash.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.seed)
    }

    /// Takes the changes of files out of the context.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        std::mem::take(&mut *self.edits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the effects of the call out of the context.
    pub(crate) fn effects(&self) -> CallEffects {
        let held = std::mem::replace(&mut *self.held(), self.memory.open());
        CallEffects { edits: self.edits(), held: Some(held) }
    }

    /// Locks the memory that the host holds for the call. No change can be seen half done, so a poisoned lock is still
    /// good.
    pub(crate) fn held(&self) -> MutexGuard<'_, MemoryCharge> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the call's changes of files.
    pub(crate) fn changed(&self, edits: Vec<Edit>) {
        *self.edits.lock().unwrap_or_else(PoisonError::into_inner) = edits;
    }
}

/// Bytes of an idempotency key. As a text it has twice as many digits, which services with limits on its length take.
const KEY_BYTES: usize = 16;

/// Derives the idempotency key of a call from the seed of its random numbers, which follows from session, run and number.
/// The key does not reveal the seed.
pub(crate) fn idempotency_key(seed: &[u8; 32]) -> String {
    let derived = blake3::derive_key("tollhouse 2026-11-30 idempotency key of a call", seed);
    blake3::Hash::from(derived).to_hex()[..2 * KEY_BYTES].to_owned()
}

/// Effects of a call besides its result, until its caller has received it.
#[derive(Default)]
pub(crate) struct CallEffects {
    /// Changes of files by the call.
    pub(crate) edits: Vec<Edit>,
    /// Memory of the result. `None` if the call was not made.
    pub(crate) held: Option<MemoryCharge>,
}

/// Creates the failure of a call whose result exceeds the memory that its session has left.
pub(crate) fn no_memory_for_result(method: &str, memory: &MemoryAccount) -> Failure {
    no_memory_for(&format!("`{method}`: the values that it returned"), memory)
}

/// Creates the failure of a call whose changes of files cannot be applied.
pub(crate) fn cannot_apply_changes(method: &str, error: &ApplyError) -> Failure {
    let message = format!("`{method}` returned, and its changes of the files do not fit: {error}: {}", error.source);
    Failure::limit(message, format!("none of them were made; if it is the quota, {}", Remedy::RaiseLimit("files")))
}

/// Creates the failure of a call whose changes of files cannot be determined.
pub(crate) fn cannot_read_changes(method: &str, errno: Errno) -> Failure {
    let message = format!("`{method}` returned, and what it changed of the files cannot be read: {errno}");
    Failure::host(message).with_hint(Remedy::VerifyStore)
}

/// Tool that a guest can call through the gate: the declaration of a method, and what answers its calls.
pub struct Tool {
    declaration: Arc<MethodDeclaration>,
    source: ToolSource,
}

/// Origin of a tool's function.
enum ToolSource {
    Package(PackageFunction),
    Host(HostTool),
}

/// Function of a package.
pub(crate) struct PackageFunction {
    package: Arc<Package>,
    /// Index of the function in its package.
    index: usize,
}

impl Deref for Tool {
    type Target = MethodDeclaration;

    fn deref(&self) -> &MethodDeclaration {
        &self.declaration
    }
}

impl Tool {
    /// Returns the package. `None` for a host function.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        match &self.source {
            ToolSource::Package(exported) => Some(&exported.package),
            ToolSource::Host(_) => None,
        }
    }

    /// Returns the secrets whose values whoever answers the calls was given besides.
    pub(crate) fn secrets(&self) -> &[SecretUse] {
        match &self.source {
            ToolSource::Package(_) => &[],
            ToolSource::Host(function) => function.secrets(),
        }
    }

    /// Returns true if a call may depend on earlier ones of its run: the package keeps instances, or the function takes or
    /// returns resources.
    pub(crate) fn keeps_state(&self) -> bool {
        self.package().is_none_or(Package::keeps_instances) || self.function().uses_resources()
    }

    /// Returns true if a call could begin at once on any thread: the tool is compiled, and the host can stop it.
    pub(crate) fn is_ready(&self) -> bool {
        self.package().is_some_and(Package::is_loaded)
    }

    /// Calls the tool, as admitted, on this thread.
    pub(crate) fn call(&self, admission: &Admission, context: &CallContext) -> Result<Payload, Failure> {
        match &self.source {
            ToolSource::Package(exported) if self.function().is_program() => {
                program::call(self, exported, admission.arguments(), admission.result_limit(), context)
            }
            ToolSource::Package(exported) => instance::call(self, exported, admission.arguments().clone(), context),
            ToolSource::Host(tool) => tool.answer(&HostCall {
                method: self.method(),
                arguments: admission.arguments(),
                seq: admission.seq(),
                context,
            }),
        }
    }

    /// Runs the tool, as admitted, on this thread, if it is a program, and returns its exit status.
    pub(crate) fn run(
        &self,
        admission: &Admission,
        started: &ProgramStart,
        context: &CallContext,
    ) -> Result<u8, Failure> {
        match &self.source {
            ToolSource::Package(exported) => program::run(self, exported, admission.arguments(), started, context),
            ToolSource::Host(_) => Err(Failure::host(format!("`{}` is not a program", self.method()))),
        }
    }
}
