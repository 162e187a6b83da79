//! Tools: packages of a registry, reflected, typed and called.
//!
//! The typed half ([`types`], [`reflect`], [`canonical`], [`value`], [`words`], [`schema`], [`typescript`], [`help`],
//! [`names`]) is pure: it knows what a package exports and how JSON becomes its values. The other half loads packages
//! ([`Packages`]), gathers what a session sees ([`MountedTools`]) and calls one function of a fresh instance.
//!
//! **Invariant:** calling a tool takes a [`gate::Admission`](crate::gate::Admission), which only the gate makes.
//!
//! **Invariant:** a tool finds every WASI import it asks for, and none has authority.

pub mod canonical;
pub mod help;
pub mod names;
pub mod reflect;
pub mod schema;
pub mod types;
pub mod typescript;
pub mod value;
pub mod words;

mod clock;
#[cfg_attr(not(test), expect(dead_code, reason = "not linked yet"))]
mod files;
mod handles;
mod instance;
mod mounted;
mod package;
mod state;
mod stdio;
mod warm;
mod wasi;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub use handles::Handles;
pub use mounted::{MountError, MountedTools};
pub use names::nearest;
pub use package::{Package, PackageError, Packages};
pub(crate) use state::ToolState;
pub use warm::Warm;
pub(crate) use wasi::agent_linker;

use crate::code::Interrupt;
use crate::error::{Failure, Payload};
use crate::gate::Admission;

/// What a call brings along besides its arguments.
pub struct CallContext {
    /// Stops it.
    pub interrupt: Interrupt,
    /// Its time: nanoseconds since the Unix epoch. The tool's clocks stand still there.
    pub now: u64,
    /// What its random numbers are drawn from.
    pub seed: [u8; 32],
    /// Bytes of memory that the tool may use.
    pub memory: u64,
    /// The live resources of the run.
    pub handles: Arc<Handles>,
    /// The instances that the session keeps between calls.
    pub warm: Arc<Warm>,
    /// What the tool wrote, once it has ended.
    pub(crate) said: Mutex<Vec<(&'static str, String)>>,
}

impl CallContext {
    /// Takes out what the tool wrote to its standard output and error.
    pub(crate) fn said(&self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Something that a guest can call through the gate: a function of a mounted package.
pub struct Tool {
    method: String,
    path: String,
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

    /// Its name in JavaScript: `payments.charges.create`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The package that it belongs to.
    #[must_use]
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// What it takes and returns.
    #[must_use]
    pub fn function(&self) -> &types::Function {
        &self.package.types().functions[self.index]
    }

    /// Brings arguments to their canonical form and checks them against the types.
    ///
    /// # Errors
    /// Where they do not fit.
    pub fn canonicalize(&self, arguments: Value) -> Result<Value, Failure> {
        canonical::canonicalize(self.function(), arguments).map_err(|error| {
            let form = canonical::form(&self.function().params);
            let failure = Failure::argument(format!("`{}`: {error}", self.method));
            failure
                .with_hint(format!("it takes {form}; `getToolInfo('{0}')` and `tool --help {0}` say more", self.path))
        })
    }

    /// Turns command-line words into canonical arguments.
    ///
    /// # Errors
    /// One line for standard error.
    pub fn parse_words(&self, words: &[String]) -> Result<Value, String> {
        words::parse_words(self.function(), words).map_err(|error| error.to_string())
    }

    /// Describes it: method, description, JSON Schemas of parameters and result.
    #[must_use]
    pub fn describe(&self, granted: bool) -> Value {
        schema::describe(&self.method, self.function(), granted)
    }

    /// Its help text for a command line.
    #[must_use]
    pub fn help(&self) -> String {
        help::method(&self.method, self.function())
    }

    /// Calls it, as admitted, on this thread.
    pub(crate) fn call(&self, admission: &Admission, context: &CallContext) -> Result<Payload, Failure> {
        instance::call(&self.package, self.index, &admission.method, admission.arguments.clone(), context)
    }
}
