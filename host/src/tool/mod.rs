//! Tools: packages of a registry, reflected, typed and called.
//!
//! The typed half ([`types`], [`reflect`], [`canonical`], [`value`], [`words`], [`schema`], [`typescript`], [`python`],
//! [`help`], [`names`]) is pure: it knows what a package exports and how JSON becomes its values. The other half loads packages
//! ([`Packages`]), gathers what a session sees ([`MountedTools`]) and calls one function of a fresh instance.
//!
//! **Invariant:** calling a tool takes a [`gate::Admission`](crate::gate::Admission), which only the gate makes.
//!
//! **Invariant:** a tool finds every WASI import it asks for, and none has authority but what its manifest asks for and
//! the policy grants (`authority`).

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
mod clock;
mod declared;
mod files;
mod handle_table;
mod handles;
mod held;
mod hosted;
mod http;
mod imports;
mod instance;
mod keyvalue;
mod lock;
mod lost;
mod mounted;
mod named;
mod package;
mod pipe;
mod program;
mod secret;
mod state;
mod stdio;
mod warm;
mod wasi;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use wasmtime::component::Val;
use wasmtime::component::types::ComponentFunc;

pub(crate) use authority::Authority;
pub(crate) use clock::RESOLUTION as CLOCK_RESOLUTION;
pub(crate) use files::Working;
pub use handles::Handles;
pub(crate) use held::{Held, HeldHandles, dropped, resource_type};
pub use hosted::{HostCall, HostFunction, HostTool, HostToolError};
use http::Lookups;
pub use http::{CertificateError, Network, Resolver};
pub(crate) use imports::serves;
pub(crate) use keyvalue::{Backing, Changed, Key, KeyValue, keyvalue_size};
pub use lock::{Lock, LockError, LockFile, Locked, MAX_LOCK};
pub use lost::LostFace;
pub use mounted::{Clash, MountError, MountedTools};
pub use names::nearest;
pub use package::{Package, PackageError, Packages};
pub(crate) use pipe::{Pipe, Told, WriteError};
pub(crate) use program::Started;
pub(crate) use reflect::program::{ARGUMENTS, DIRECTORY, STDIN};
pub use secret::{SecretError, Secrets};
pub(crate) use state::ToolState;
pub use warm::Warm;
pub(crate) use wasi::agent_linker;

use crate::capability::Pattern;
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::error::{Failure, Payload, how_to_raise};
use crate::gate::{Admission, CallAudit};
use crate::vfs::{ApplyError, Edit, Errno, Tree};

/// What tools are served by, in one session.
#[derive(Clone, Default)]
pub(crate) struct Services {
    /// The way to the network.
    pub(crate) network: Network,
    /// The names that its tools look up.
    pub(crate) lookups: Lookups,
    /// The values of secrets.
    pub(crate) secrets: Secrets,
    /// The session's key-value store.
    pub(crate) store: KeyValue,
}

/// Other tools, as a component that imports them calls them.
pub(crate) trait Peers: Send + Sync {
    /// Calls a function of an imported interface, whose type in the component is `ty`.
    ///
    /// # Errors
    /// A [`Failure`], if the function has no word for what went wrong.
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
    /// What a script would be told.
    fn ask(&self, method: &str, arguments: &str) -> Result<Payload, Failure>;

    /// What may be called: what scripts learn about each method.
    fn catalog(&self) -> Vec<Value>;

    /// Lets go of a resource of a tool, which the component dropped.
    fn release(&self, held: Held);
}

/// What a call brings along besides its arguments.
pub struct CallContext {
    /// Stops it.
    pub interrupt: Interrupt,
    /// Its time: nanoseconds since the Unix epoch, in whole milliseconds. The tool's clocks stand still there.
    pub now: u64,
    /// What its random numbers are drawn from.
    pub seed: [u8; 32],
    /// The session's memory, of which the tool takes its own.
    pub memory: MemoryAccount,
    /// What the host holds for the call: values that cross, and the result.
    pub(crate) held: Mutex<MemoryCharge>,
    /// The time that it may take; [`Duration::MAX`] for that of its run.
    pub wall: Duration,
    /// The live resources of the run.
    pub handles: Arc<Handles>,
    /// The instances that the session keeps between calls.
    pub warm: Arc<Warm>,
    /// What the tool may touch.
    pub(crate) authority: Arc<Authority>,
    /// What it is served by.
    pub(crate) services: Arc<Services>,
    /// Other tools that it may call.
    pub(crate) peers: Option<Arc<dyn Peers>>,
    /// Writes down what it does.
    pub(crate) call_audit: CallAudit,
    /// The session's files when the call was made.
    pub(crate) files: Tree,
    /// The call's own view of them, for calls that it makes.
    pub(crate) working: Working,
    /// What it changed, once it has returned.
    pub(crate) edits: Mutex<Vec<Edit>>,
}

impl CallContext {
    /// Takes out what the call changed of the files.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        std::mem::take(&mut *self.edits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes out what the call leaves besides its result.
    pub(crate) fn effects(&self) -> CallEffects {
        let held = std::mem::replace(&mut *self.held(), self.memory.open());
        CallEffects { edits: self.edits(), held: Some(held) }
    }

    /// What the host holds for the call. Each change is whole, so a poisoned lock is still good.
    pub(crate) fn held(&self) -> MutexGuard<'_, MemoryCharge> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what the call changed of the files.
    pub(crate) fn changed(&self, edits: Vec<Edit>) {
        *self.edits.lock().unwrap_or_else(PoisonError::into_inner) = edits;
    }
}

/// What a call leaves besides its result, until its caller has been told.
#[derive(Default)]
pub(crate) struct CallEffects {
    /// What it changed of the files.
    pub(crate) edits: Vec<Edit>,
    /// The memory that its result takes; none of a call that was not made.
    pub(crate) held: Option<MemoryCharge>,
}

/// What is told of a call whose values do not fit into what is left of its session's memory.
pub(crate) fn no_memory_for(what: &str, memory: &MemoryAccount) -> Failure {
    let (left, limit) = (memory.left(), memory.limit());
    let message = format!("{what} take more than the {left} bytes that are left of the memory limit of {limit} bytes");
    Failure::limit(
        message,
        format!("pass less at once, wait for some calls before more begin, or {}", how_to_raise("memory")),
    )
}

/// What is told of a call whose result does not fit into what is left of its session's memory.
pub(crate) fn no_memory_for_result(method: &str, memory: &MemoryAccount) -> Failure {
    no_memory_for(&format!("`{method}`: the values that it returned"), memory)
}

/// What is told of a call whose changes of the files do not fit.
pub(crate) fn unfit(method: &str, error: &ApplyError) -> Failure {
    let message = format!("`{method}` returned, and its changes of the files do not fit: {error}: {}", error.source);
    Failure::limit(message, format!("none of them were made; if it is the quota, {}", how_to_raise("files")))
}

/// What is told of a call whose changes of the files cannot be found out.
pub(crate) fn unread(method: &str, errno: Errno) -> Failure {
    let message = format!("`{method}` returned, and what it changed of the files cannot be read: {errno}");
    Failure::host(message).with_hint("`tollhouse store verify` says what is missing or damaged")
}

/// Something that a guest can call through the gate: a function of a mounted package, or of the embedding program.
pub struct Tool {
    method: String,
    faces: names::Faces,
    /// What the package is mounted as. Instances, handles and authority belong to it.
    alias: Arc<str>,
    source: Source,
}

/// Whose function it is.
enum Source {
    Package(Exported),
    Host(Arc<HostTool>),
}

impl Source {
    fn spelling(&self) -> names::Spelling {
        match self {
            Self::Package(_) => names::Spelling::Wit,
            Self::Host(_) => names::Spelling::Own,
        }
    }
}

/// A function of a package.
pub(crate) struct Exported {
    package: Arc<Package>,
    /// Which of the package's functions.
    index: usize,
}

impl Tool {
    /// Its canonical method: segments joined by `/`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The package whose function it is, with its version: `acme:payments@1.2.0`. None for a function of the host.
    #[must_use]
    pub fn release(&self) -> Option<String> {
        let release = self.package()?.release();
        Some(format!("{}@{}", release.name, release.version))
    }

    /// Its name in JavaScript: `payments.charges.create`; the flattened name if its alias is no global.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.faces.path
    }

    /// Its words in the shell: `payments charges create`; `tool echo say` if its alias is no command.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.faces.command
    }

    /// Returns true if it has a face of its alias's own name.
    #[must_use]
    pub fn has(&self, face: names::Face) -> bool {
        self.faces.has(face)
    }

    /// What its package is mounted as.
    #[must_use]
    pub fn alias(&self) -> &Arc<str> {
        &self.alias
    }

    /// The package that it belongs to; none of a host function.
    #[must_use]
    pub fn package(&self) -> Option<&Package> {
        match &self.source {
            Source::Package(exported) => Some(&exported.package),
            Source::Host(_) => None,
        }
    }

    /// What it takes and returns.
    #[must_use]
    pub fn function(&self) -> &types::Function {
        match &self.source {
            Source::Package(Exported { package, index }) => &package.types().functions[*index],
            Source::Host(tool) => &tool.function,
        }
    }

    /// Why every call of it is denied, if it stands where a host function was.
    pub(crate) fn withdrawal(&self) -> Option<&str> {
        match &self.source {
            Source::Package(_) => None,
            Source::Host(tool) => tool.withdrawal(),
        }
    }

    /// Whether it is an open namespace, or a method of one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.namespace().is_some()
    }

    /// The open namespace that it is, or is a method of.
    pub(crate) fn namespace(&self) -> Option<&HostTool> {
        match &self.source {
            Source::Host(tool) if tool.is_namespace() => Some(tool),
            _ => None,
        }
    }

    /// What grants are bound to: its method; of a method of an open namespace the namespace.
    pub(crate) fn bound_as(&self) -> &str {
        self.namespace().map_or(&self.method, HostTool::method)
    }

    /// Whether a pattern covers it; of an open namespace, whether it covers any method in it.
    pub(crate) fn is_covered_by(&self, pattern: &Pattern) -> bool {
        match self.namespace() {
            Some(namespace) if self.method == namespace.method() => namespace.may_be_covered_by(pattern),
            _ => pattern.matches(&self.method),
        }
    }

    /// Bytes that its arguments may have as JSON text, if those of the session are so many.
    pub(crate) fn argument_limit(&self, sessions: u64) -> u64 {
        self.package().map_or(sessions, |package| package.argument(sessions))
    }

    /// Bytes that its result may have as JSON text, if those of the session are so many.
    pub(crate) fn result_limit(&self, sessions: u64) -> u64 {
        self.package().map_or(sessions, |package| package.result(sessions))
    }

    /// Whether a limit of its result is its own, and not the session's.
    pub(crate) fn has_own_result(&self, limit: u64) -> bool {
        self.package().is_some_and(|package| package.has_own_result(limit))
    }

    /// Whether a call would begin at once, on whatever thread: it is compiled, and the host can stop it.
    pub(crate) fn is_ready(&self) -> bool {
        self.package().is_some_and(Package::is_loaded)
    }

    /// Brings arguments to their canonical form and checks them against the types. What is left out takes `memory` at most, in bytes.
    ///
    /// # Errors
    /// Where they do not fit.
    pub fn canonicalize(&self, arguments: Value, memory: u64) -> Result<Value, Failure> {
        let checked = match &self.source {
            Source::Package(_) => match canonical::canonicalize(self.function(), arguments, memory) {
                Err(error @ canonical::ArgumentError::TooLarge { .. }) => {
                    let hint = format!("pass less at once, or {}", how_to_raise("memory"));
                    return Err(Failure::limit(format!("`{}`: {error}", self.method), hint));
                }
                checked => checked.map_err(|error| error.to_string()),
            },
            Source::Host(tool) => tool.check(&arguments).map(|()| arguments),
        };
        checked.map_err(|problem| {
            let form = canonical::form(&self.function().params);
            let failure = Failure::argument(format!("`{}`: {problem}", self.method));
            // What is no path takes words of its own in the shell.
            let word = if self.faces.is_global { self.path() } else { self.method() };
            let told = format!("`getToolInfo('{}')` and `tool --help {word}` say more", self.path());
            failure.with_hint(format!("it takes {form}; {told}"))
        })
    }

    /// Turns command-line words into canonical arguments. What is left out takes `memory` at most, in bytes.
    ///
    /// # Errors
    /// One line for standard error.
    pub fn parse_words(&self, words: &[String], memory: u64) -> Result<Value, String> {
        let parsed = match &self.source {
            Source::Package(_) => words::parse_words(self.function(), words, memory),
            // Whether they fit, its schema says.
            Source::Host(_) => words::object(self.function(), words).map(Value::Object),
        };
        parsed.map_err(|error| error.to_string())
    }

    /// Describes it: method, description, JSON Schemas of parameters and result.
    #[must_use]
    pub fn describe(&self, granted: bool) -> Value {
        let mut about = schema::describe(&self.method, self.function(), granted);
        if let Source::Host(tool) = &self.source {
            about["parameters"] = tool.parameters().clone();
            if tool.result().is_object() {
                about["result"] = tool.result().clone();
            }
        }
        about
    }

    /// Its help text for a command line.
    #[must_use]
    pub fn help(&self) -> String {
        help::method(self.command(), self.function())
    }

    /// Calls it, as admitted, on this thread.
    pub(crate) fn call(&self, admission: &Admission, context: &CallContext) -> Result<Payload, Failure> {
        match &self.source {
            Source::Package(exported) if self.function().is_program() => {
                program::call(self, exported, admission.arguments(), admission.result_limit(), context)
            }
            Source::Package(exported) => instance::call(self, exported, admission.arguments().clone(), context),
            Source::Host(tool) => tool.answer(&HostCall {
                method: &self.method,
                arguments: admission.arguments(),
                seq: admission.seq(),
                context,
            }),
        }
    }

    /// Runs it, as admitted, on this thread, if it is a program: its exit status.
    pub(crate) fn run(&self, admission: &Admission, started: &Started, context: &CallContext) -> Result<u8, Failure> {
        match &self.source {
            Source::Package(exported) => program::run(self, exported, admission.arguments(), started, context),
            Source::Host(_) => Err(Failure::host(format!("`{}` is no program", self.method))),
        }
    }
}
