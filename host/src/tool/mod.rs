//! Tools: packages of a registry, reflected, typed and called.
//!
//! The typed half ([`types`], [`reflect`], [`canonical`], [`value`], [`words`], [`schema`], [`typescript`], [`python`],
//! [`help`], [`names`]) is pure: it models the exports of a package and converts JSON to its values. The other half
//! loads packages ([`Packages`]), mounts the tools of a session ([`MountedTools`]) and calls functions of instances.
//!
//! **Invariant:** calling a tool takes a [`gate::Admission`](crate::gate::Admission), which only the gate makes.
//!
//! **Invariant:** every WASI import of a tool exists, and has no authority beyond its manifest's requests that the
//! policy grants (`authority`).

pub mod canonical;
pub mod help;
pub mod names;
pub mod python;
pub mod reflect;
pub mod schema;
pub mod types;
pub mod typescript;
pub mod value;
pub mod words;

mod authority;
mod captured_output;
mod clock;
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
mod missing_faces;
mod mounted;
mod package;
mod pipe;
mod program;
mod secret;
mod tool_state;
mod type_names;
mod wasi;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use wasmtime::component::Val;
use wasmtime::component::types::ComponentFunc;

pub(crate) use authority::Authority;
pub(crate) use clock::RESOLUTION as CLOCK_RESOLUTION;
pub(crate) use files::WorkingFiles;
pub use handles::Handles;
pub use host_function::{HostCall, HostFunction, HostTool, HostToolError};
use http::NameLookups;
pub use http::{CertificateError, Network, Resolver};
pub(crate) use imported_resources::{CallerHandles, ImportedResource, dropped, resource_type};
pub(crate) use imports::serves;
pub use instance_cache::Warm;
pub(crate) use keyvalue::{EntryChange, EntryKey, KeyValue, KeyValueBacking, keyvalue_size};
pub use lock_file::{Lock, LockError, LockFile, Locked, MAX_LOCK};
pub use mcp_server::{DefinitionError, MAX_SERVER_TOOLS, McpCalls, PinnedServer, RefusedTool, not_started};
pub use missing_faces::LostFace;
pub use mounted::{Clash, MountError, MountedTools};
pub use names::nearest;
pub use package::{Package, PackageError, Packages};
pub(crate) use pipe::{OnComplete, Pipe, WriteError};
pub(crate) use program::ProgramStart;
pub(crate) use reflect::program::{ARGUMENTS, DIRECTORY, STDIN};
pub use secret::{SecretError, Secrets};
pub(crate) use tool_state::ToolState;
pub(crate) use wasi::agent_linker;

use crate::capability::Pattern;
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, Payload, how_to_raise};
use crate::gate::{Admission, CallAudit};
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

/// Effects of a call besides its result, until its caller has received it.
#[derive(Default)]
pub(crate) struct CallEffects {
    /// Changes of files by the call.
    pub(crate) edits: Vec<Edit>,
    /// Memory of the result. `None` if the call was not made.
    pub(crate) held: Option<MemoryCharge>,
}

/// Creates the failure of a call whose values exceed the memory that its session has left.
pub(crate) fn no_memory_for(what: &str, memory: &MemoryAccount) -> Failure {
    let (left, limit) = (memory.left(), memory.limit());
    let message = format!("{what} take more than the {left} bytes that are left of the memory limit of {limit} bytes");
    Failure::limit(
        message,
        format!("pass less at once, wait for some calls before more begin, or {}", how_to_raise("memory")),
    )
}

/// Creates the failure of a call whose result exceeds the memory that its session has left.
pub(crate) fn no_memory_for_result(method: &str, memory: &MemoryAccount) -> Failure {
    no_memory_for(&format!("`{method}`: the values that it returned"), memory)
}

/// Creates the failure of a call whose changes of files cannot be applied.
pub(crate) fn cannot_apply_changes(method: &str, error: &ApplyError) -> Failure {
    let message = format!("`{method}` returned, and its changes of the files do not fit: {error}: {}", error.source);
    Failure::limit(message, format!("none of them were made; if it is the quota, {}", how_to_raise("files")))
}

/// Creates the failure of a call whose changes of files cannot be determined.
pub(crate) fn cannot_read_changes(method: &str, errno: Errno) -> Failure {
    let message = format!("`{method}` returned, and what it changed of the files cannot be read: {errno}");
    Failure::host(message).with_hint("`tollhouse store verify` says what is missing or damaged")
}

/// Tool that a guest can call through the gate: a function of a mounted package, or of the embedding program.
pub struct Tool {
    method: String,
    faces: names::Faces,
    /// Alias of the package, which instances, handles and authority belong to.
    alias: Arc<str>,
    source: ToolSource,
}

/// Origin of a tool's function.
enum ToolSource {
    Package(PackageFunction),
    Host(Arc<HostTool>),
}

impl ToolSource {
    fn spelling(&self) -> names::Spelling {
        match self {
            Self::Package(_) => names::Spelling::Wit,
            Self::Host(_) => names::Spelling::Own,
        }
    }
}

/// Function of a package.
pub(crate) struct PackageFunction {
    package: Arc<Package>,
    /// Index of the function in its package.
    index: usize,
}

impl Tool {
    /// Returns the canonical method: segments joined by `/`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the release that the function comes from: `acme:payments@1.2.0`; `None` for a host function.
    #[must_use]
    pub fn release(&self) -> Option<String> {
        let release = self.package()?.release();
        Some(format!("{}@{}", release.name, release.version))
    }

    /// Returns the name in JavaScript: `payments.charges.create`; the flattened name if the alias is not a global.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.faces.path
    }

    /// Returns the command in the shell: `payments charges create`; `tool echo say` if the alias is not a command.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.faces.command
    }

    /// Returns true if the tool has a face under its alias.
    #[must_use]
    pub fn has(&self, face: names::Face) -> bool {
        self.faces.has(face)
    }

    /// Returns the alias of the tool.
    #[must_use]
    pub fn alias(&self) -> &Arc<str> {
        &self.alias
    }

    /// Returns the package. `None` for a host function.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        match &self.source {
            ToolSource::Package(exported) => Some(&exported.package),
            ToolSource::Host(_) => None,
        }
    }

    /// Returns the function, with its parameters and result.
    #[must_use]
    pub fn function(&self) -> &types::Function {
        match &self.source {
            ToolSource::Package(PackageFunction { package, index }) => &package.types().functions[*index],
            ToolSource::Host(tool) => &tool.function,
        }
    }

    /// Returns the reason why every call is denied, if the tool replaces a withdrawn host function.
    pub(crate) fn withdrawal(&self) -> Option<&str> {
        match &self.source {
            ToolSource::Package(_) => None,
            ToolSource::Host(tool) => tool.withdrawal(),
        }
    }

    /// Returns true if the tool is an open namespace, or a method of one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.namespace().is_some()
    }

    /// Returns the open namespace that the tool is, or is a method of.
    pub(crate) fn namespace(&self) -> Option<&HostTool> {
        match &self.source {
            ToolSource::Host(tool) if tool.is_namespace() => Some(tool),
            _ => None,
        }
    }

    /// Returns the method that grants are bound to; for a method of an open namespace, that of the namespace.
    pub(crate) fn bound_as(&self) -> &str {
        self.namespace().map_or(&self.method, HostTool::method)
    }

    /// Returns true if a pattern covers the tool; for an open namespace, if it covers any method in it.
    pub(crate) fn is_covered_by(&self, pattern: &Pattern) -> bool {
        match self.namespace() {
            Some(namespace) if self.method == namespace.method() => namespace.may_be_covered_by(pattern),
            _ => pattern.matches(&self.method),
        }
    }

    /// Returns the size limit of the arguments as JSON text in bytes, given the session's limit.
    pub(crate) fn argument_limit(&self, sessions: u64) -> u64 {
        self.package().map_or(sessions, |package| package.argument(sessions))
    }

    /// Returns the size limit of the result as JSON text in bytes, given the session's limit.
    pub(crate) fn result_limit(&self, sessions: u64) -> u64 {
        self.package().map_or(sessions, |package| package.result(sessions))
    }

    /// Returns true if a limit of the result is the tool's own, not the session's.
    pub(crate) fn has_own_result(&self, limit: u64) -> bool {
        self.package().is_some_and(|package| package.has_own_result(limit))
    }

    /// Returns true if a call could begin at once on any thread: the tool is compiled, and the host can stop it.
    pub(crate) fn is_ready(&self) -> bool {
        self.package().is_some_and(Package::is_loaded)
    }

    /// Canonicalizes arguments and checks them against the types. Omitted values may take at most `memory` bytes.
    ///
    /// # Errors
    /// The first argument that does not fit.
    pub fn canonicalize(&self, arguments: Value, memory: u64) -> Result<Value, Failure> {
        let checked = match &self.source {
            ToolSource::Package(_) => match canonical::canonicalize(self.function(), arguments, memory) {
                Err(error @ canonical::ArgumentError::TooLarge { .. }) => {
                    let hint = format!("pass less at once, or {}", how_to_raise("memory"));
                    return Err(Failure::limit(format!("`{}`: {error}", self.method), hint));
                }
                checked => checked.map_err(|error| error.to_string()),
            },
            ToolSource::Host(tool) => tool.check(&arguments).map(|()| arguments),
        };
        checked.map_err(|problem| {
            let form = canonical::form(&self.function().params);
            let failure = Failure::argument(format!("`{}`: {problem}", self.method));
            // A tool without a path has a command of its own in the shell.
            let word = if self.faces.is_global { self.path() } else { self.method() };
            let told = format!("`getToolInfo('{}')` and `tool --help {word}` say more", self.path());
            failure.with_hint(format!("it takes {form}; {told}"))
        })
    }

    /// Converts command-line words to canonical arguments. Omitted values may take at most `memory` bytes.
    ///
    /// # Errors
    /// One line for standard error.
    pub fn parse_words(&self, words: &[String], memory: u64) -> Result<Value, String> {
        let parsed = match &self.source {
            ToolSource::Package(_) => words::parse_words(self.function(), words, memory),
            // The schema decides whether they fit.
            ToolSource::Host(_) => words::object(self.function(), words).map(Value::Object),
        };
        parsed.map_err(|error| error.to_string())
    }

    /// Describes the tool: method, description, JSON Schemas of parameters and result.
    #[must_use]
    pub fn describe(&self, granted: bool) -> Value {
        let mut about = schema::describe(&self.method, self.function(), granted);
        if let ToolSource::Host(tool) = &self.source {
            about["parameters"] = tool.parameters().clone();
            if tool.result().is_object() {
                about["result"] = tool.result().clone();
            }
        }
        about
    }

    /// Formats the help text for a command line.
    #[must_use]
    pub fn help(&self) -> String {
        help::method(self.command(), self.function())
    }

    /// Calls the tool, as admitted, on this thread.
    pub(crate) fn call(&self, admission: &Admission, context: &CallContext) -> Result<Payload, Failure> {
        match &self.source {
            ToolSource::Package(exported) if self.function().is_program() => {
                program::call(self, exported, admission.arguments(), admission.result_limit(), context)
            }
            ToolSource::Package(exported) => instance::call(self, exported, admission.arguments().clone(), context),
            ToolSource::Host(tool) => tool.answer(&HostCall {
                method: &self.method,
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
            ToolSource::Host(_) => Err(Failure::host(format!("`{}` is not a program", self.method))),
        }
    }
}
