//! Declaration of a method: what the gate needs to know of it to judge a call.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollhouse_types::effect::Effect;
use tollhouse_types::error::Failure;
use tollhouse_types::permission::Permissions;
use tollhouse_types::remedy::Remedy;

use super::names::{Face, Faces, Spelling};
use super::types::{self, Function};
use super::{HostMethod, canonical, help, schema, words};

/// What a release offers, and what its manifest asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackageDeclaration {
    /// Name and version of the release: `acme:payments@1.2.0`.
    #[serde(skip)]
    pub release: String,
    /// Description in the manifest.
    pub description: Option<String>,
    /// Exported functions and types.
    pub types: types::Package,
    /// True if instances may outlive their call.
    pub keeps_instances: bool,
    /// Permissions that the manifest requests.
    pub permissions: Permissions,
    /// Effects of repeating calls that the manifest declares, by the index of the function; empty if it declares none.
    #[serde(default)]
    pub effects: Vec<Option<Effect>>,
    /// Limits of the manifest on one call.
    #[serde(flatten)]
    pub limits: CallLimits,
}

/// Limits of a manifest on one call; `None` for that of the session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CallLimits {
    /// Time of the call.
    pub wall: Option<Duration>,
    /// Units of fuel.
    pub fuel: Option<u64>,
    /// Bytes of memory of an instance.
    pub memory: Option<u64>,
    /// Bytes of the arguments as JSON text.
    pub argument: Option<u64>,
    /// Bytes of the result as JSON text.
    pub result: Option<u64>,
    /// Bytes of printed output that are kept.
    pub output: Option<u64>,
}

/// A method that scripts can call through the gate: a function of a mounted package, or of the embedding program.
#[derive(Clone, Debug)]
pub struct MethodDeclaration {
    method: String,
    faces: Faces,
    /// Alias of the package, which instances, handles and authority belong to.
    alias: Arc<str>,
    source: MethodSource,
}

/// Origin of a method.
#[derive(Clone, Debug)]
pub(crate) enum MethodSource {
    /// Function of a package, by its index there.
    Package(Arc<PackageDeclaration>, usize),
    /// Function of the embedding program.
    Host(Arc<HostMethod>),
}

impl MethodSource {
    pub(crate) fn spelling(&self) -> Spelling {
        match self {
            Self::Package(..) => Spelling::Wit,
            Self::Host(_) => Spelling::Own,
        }
    }
}

impl MethodDeclaration {
    pub(crate) fn new(method: String, faces: Faces, alias: Arc<str>, source: MethodSource) -> Self {
        Self { method, faces, alias, source }
    }

    /// Declares a method of an open namespace, which this method stands for.
    pub(crate) fn below(&self, method: &str) -> Option<Self> {
        let namespace = self.namespace()?;
        let faces = self.faces.below(method.strip_prefix(namespace.method())?.trim_start_matches('/'));
        Some(Self { method: method.to_owned(), faces, ..self.clone() })
    }

    /// Returns the canonical method: segments joined by `/`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the release that the function comes from: `acme:payments@1.2.0`; `None` for a host function.
    #[must_use]
    pub fn release(&self) -> Option<&str> {
        Some(&self.package_declaration()?.release)
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

    /// Returns true if the method has a face under its alias.
    #[must_use]
    pub fn has(&self, face: Face) -> bool {
        self.faces.has(face)
    }

    pub(crate) fn faces(&self) -> &Faces {
        &self.faces
    }

    pub(crate) fn spelling(&self) -> Spelling {
        self.source.spelling()
    }

    /// Returns the alias of the method.
    #[must_use]
    pub fn alias(&self) -> &Arc<str> {
        &self.alias
    }

    /// Returns the declaration of the package. `None` for a host function.
    #[must_use]
    pub fn package_declaration(&self) -> Option<&PackageDeclaration> {
        match &self.source {
            MethodSource::Package(package, _) => Some(package),
            MethodSource::Host(_) => None,
        }
    }

    /// Returns the function, with its parameters and result.
    #[must_use]
    pub fn function(&self) -> &Function {
        match &self.source {
            MethodSource::Package(package, index) => &package.types.functions[*index],
            MethodSource::Host(declared) => declared.function(),
        }
    }

    /// Returns the index of the function in its package. `None` for a host function.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match &self.source {
            MethodSource::Package(_, index) => Some(*index),
            MethodSource::Host(_) => None,
        }
    }

    /// Returns the reason why every call is denied, if the method replaces a withdrawn host function.
    #[must_use]
    pub fn withdrawal(&self) -> Option<&str> {
        match &self.source {
            MethodSource::Package(..) => None,
            MethodSource::Host(declared) => declared.withdrawal(),
        }
    }

    /// Returns the failure of a call that cannot be made at present.
    #[must_use]
    pub fn unavailability(&self) -> Option<Failure> {
        match &self.source {
            MethodSource::Package(..) => None,
            MethodSource::Host(declared) => declared.unavailability(),
        }
    }

    /// Returns the effect of repeating a call that the manifest or the embedding program declares. What a call may touch
    /// is not known here.
    #[must_use]
    pub fn declared_effect(&self) -> Option<Effect> {
        match &self.source {
            MethodSource::Package(package, index) => package.effects.get(*index).copied().flatten(),
            MethodSource::Host(declared) => declared.is_idempotent().then_some(Effect::Idempotent),
        }
    }

    /// Returns true if the method is an open namespace, or a method of one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.namespace().is_some()
    }

    /// Returns the open namespace that the method is, or is a method of.
    #[must_use]
    pub fn namespace(&self) -> Option<&HostMethod> {
        match &self.source {
            MethodSource::Host(declared) if declared.is_namespace() => Some(declared),
            _ => None,
        }
    }

    /// Returns the method that grants are bound to; for a method of an open namespace, that of the namespace.
    #[must_use]
    pub fn bound_as(&self) -> &str {
        self.namespace().map_or(&self.method, HostMethod::method)
    }

    /// Returns the size limit of the arguments as JSON text in bytes, given the session's limit.
    #[must_use]
    pub fn argument_limit(&self, sessions: u64) -> u64 {
        let own = self.package_declaration().and_then(|package| package.limits.argument);
        own.map_or(sessions, |own| own.min(sessions))
    }

    /// Returns the size limit of the result as JSON text in bytes, given the session's limit.
    #[must_use]
    pub fn result_limit(&self, sessions: u64) -> u64 {
        let own = self.package_declaration().and_then(|package| package.limits.result);
        own.map_or(sessions, |own| own.min(sessions))
    }

    /// Returns true if a limit of the result is the tool's own, not the session's.
    #[must_use]
    pub fn has_own_result(&self, limit: u64) -> bool {
        self.package_declaration().is_some_and(|package| package.limits.result == Some(limit))
    }

    /// Canonicalizes arguments and checks them against the types. Omitted values may take at most `memory` bytes.
    ///
    /// # Errors
    /// The first argument that does not fit.
    pub fn canonicalize(&self, arguments: Value, memory: u64) -> Result<Value, Failure> {
        let checked = match &self.source {
            MethodSource::Package(..) => match canonical::canonicalize(self.function(), arguments, memory) {
                Err(error @ canonical::ArgumentError::TooLarge { .. }) => {
                    let hint = format!("pass less at once, or {}", Remedy::RaiseLimit("memory"));
                    return Err(Failure::limit(format!("`{}`: {error}", self.method), hint));
                }
                checked => checked.map_err(|error| error.to_string()),
            },
            MethodSource::Host(tool) => tool.canonicalize(arguments).map_err(|error| error.to_string()),
        };
        checked.map_err(|problem| {
            let form = canonical::form(&self.function().params);
            let failure = Failure::argument(format!("`{}`: {problem}", self.method));
            // A tool without a path has a command of its own in the shell.
            let word = if self.faces.is_global { self.path() } else { self.method() };
            let told = Remedy::ReadDescription { method: self.method(), path: self.path(), word };
            failure.with_hint(format!("it takes {form}; {told}"))
        })
    }

    /// Converts command-line words to canonical arguments. Omitted values may take at most `memory` bytes.
    ///
    /// # Errors
    /// One line for standard error.
    pub fn parse_words(&self, words: &[String], memory: u64) -> Result<Value, String> {
        let parsed = match &self.source {
            MethodSource::Package(..) => words::parse_words(self.function(), words, memory),
            // The schema decides whether they fit.
            MethodSource::Host(_) => words::object(self.function(), words).map(Value::Object),
        };
        parsed.map_err(|error| error.to_string())
    }

    /// Describes the tool: method, description, JSON Schemas of parameters and result.
    #[must_use]
    pub fn describe(&self, granted: bool) -> Value {
        let mut about = schema::describe(&self.method, self.function(), granted);
        if let MethodSource::Host(tool) = &self.source {
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
}
