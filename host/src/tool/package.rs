//! Packages: releases of the registry, reflected when they are mounted and compiled when they are first called.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tollhouse_methods::{CallLimits, PackageDeclaration};
use tollhouse_registry::{Effect, Example, InstancePolicy, Manifest, Permissions, Registry, Release};
use wasmtime::Engine;
use wasmtime::component::{ComponentExportIndex, InstancePre, Linker};

use super::mounted::MountedTools;
use super::reflect::{self, DefaultInterface};
use super::tool_state::ToolState;
use super::types;
use super::wasi;
use crate::code::{Code, CodeError, ToolEngine};
use crate::error::{Failure, error_chain};

/// Reason why a package cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The session has no registry.
    #[error("there is no registry")]
    NoRegistry,
    /// The registry does not have the package.
    #[error(transparent)]
    Resolve(#[from] tollhouse_registry::ResolveError),
    /// The registry's content was altered, or cannot be read.
    #[error(transparent)]
    Registry(#[from] tollhouse_registry::Error),
    /// The exports cannot be offered as tools.
    #[error("`{release}` cannot be used as a tool")]
    Reflect {
        /// Name and version of the release.
        release: String,
        /// Cause of the failure.
        #[source]
        source: reflect::ReflectError,
    },
    /// The manifest has settings of a method that the component does not have.
    #[error("the manifest of `{release}` has settings of the method `{method}`, which the component does not have")]
    Method {
        /// Name and version of the release.
        release: String,
        /// Name of the method, as the manifest has it.
        method: String,
    },
    /// The component does not compile or link.
    #[error(transparent)]
    Code(#[from] CodeError),
}

impl PackageError {
    /// Describes the problem so that scripts may see it: with digests, and without paths of the host.
    pub(super) fn brief(&self) -> String {
        match self {
            Self::Registry(error) => error.brief(),
            error => error_chain(error),
        }
    }
}

/// Packages of a process: one registry, one linker, and all packages that were reflected so far.
pub struct Packages {
    shared: Arc<PackagesState>,
    known: Mutex<HashMap<String, Arc<Package>>>,
    mounted: Mutex<Option<Arc<MountedTools>>>,
}

struct PackagesState {
    code: Code,
    registry: Option<Registry>,
    /// Linkers with everything that tools may import: for tools without a limit on fuel, and for those with one.
    linkers: [OnceLock<Linker<ToolState>>; 2],
}

/// Release that is ready to be mounted.
pub struct Package {
    release: Release,
    declaration: Arc<PackageDeclaration>,
    shared: Arc<PackagesState>,
    loaded: OnceLock<Result<LoadedPackage, Failure>>,
    /// Examples of the manifest, once they were asked for.
    examples: OnceLock<Result<Vec<Example>, Failure>>,
}

/// Release that is ready to be called.
pub(super) struct LoadedPackage {
    pub(super) pre: InstancePre<ToolState>,
    /// Export of each function of `types`. `None` for `drop`, which the host does itself.
    pub(super) exports: Vec<Option<ComponentExportIndex>>,
}

/// Version of the cache entries. Raise it when [`PackageDeclaration`] or the results of reflection change: older entries
/// are then ignored.
const REFLECTED_VERSION: u32 = 9;

impl Packages {
    /// Creates the packages of a registry.
    #[must_use]
    pub fn new(code: Code, registry: Option<Registry>) -> Self {
        let shared = PackagesState { code, registry, linkers: Default::default() };
        Self { shared: Arc::new(shared), known: Mutex::default(), mounted: Mutex::default() }
    }

    /// Returns the registry, if there is one.
    #[must_use]
    pub fn registry(&self) -> Option<&Registry> {
        self.shared.registry.as_ref()
    }

    /// Returns a release that is ready to be mounted. It is reflected once a process, or read from the cache on disk.
    ///
    /// # Errors
    /// If its blobs were altered, or it cannot be offered as tools.
    pub fn package(&self, release: Release) -> Result<Arc<Package>, PackageError> {
        // The registry may have been replaced by one with other bytes under the same name.
        let key = digests(&release);
        if let Some(package) = self.lock().get(&key) {
            return Ok(Arc::clone(package));
        }
        let declaration = Arc::new(self.declaration(&release)?);
        let shared = Arc::clone(&self.shared);
        let package =
            Arc::new(Package { release, declaration, shared, loaded: OnceLock::new(), examples: OnceLock::new() });
        self.lock().insert(key, Arc::clone(&package));
        Ok(package)
    }

    /// Returns the tools that were mounted last. They are replaced as a whole, so a poisoned lock is still good.
    pub(super) fn last_mounted(&self) -> MutexGuard<'_, Option<Arc<MountedTools>>> {
        self.mounted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn declaration(&self, release: &Release) -> Result<PackageDeclaration, PackageError> {
        let registry = self.registry().ok_or(PackageError::NoRegistry)?;
        let key = format!("types-{REFLECTED_VERSION}-{}.json", blake3::hash(digests(release).as_bytes()).to_hex());
        let cached = self.shared.code.cache().and_then(|cache| cache.get(&key));
        let name = format!("{}@{}", release.name, release.version);
        let cached = cached.and_then(|bytes| serde_json::from_slice::<PackageDeclaration>(&bytes).ok());
        if let Some(declaration) = cached {
            return Ok(PackageDeclaration { release: name, ..declaration });
        }
        let manifest = registry.load_manifest(release)?;
        let default = match &manifest.default {
            Some(tollhouse_registry::DefaultInterface::Interface(name)) => DefaultInterface::Named(name.clone()),
            Some(tollhouse_registry::DefaultInterface::None) => DefaultInterface::None,
            // An unknown kind of default selects no functions.
            Some(_) => DefaultInterface::None,
            None => DefaultInterface::Only,
        };
        let (component, wit) = (registry.load_component(release)?, registry.load_wit(release)?);
        let types = reflect::reflect(&component, Some(&wit), &default)
            .map_err(|source| PackageError::Reflect { release: name.clone(), source })?;
        let effects = effects_of(&manifest, &types)
            .map_err(|method| PackageError::Method { release: name.clone(), method: method.to_owned() })?;
        let declaration = PackageDeclaration {
            release: name,
            description: manifest.description,
            effects,
            types,
            keeps_instances: manifest.instance == Some(InstancePolicy::Session),
            permissions: manifest.permissions,
            limits: CallLimits {
                wall: manifest.limits.wall,
                fuel: manifest.limits.fuel,
                memory: manifest.limits.memory,
                argument: manifest.limits.argument,
                result: manifest.limits.result,
                output: manifest.limits.output,
            },
        };
        if let (Some(cache), Ok(bytes)) = (self.shared.code.cache(), serde_json::to_vec(&declaration)) {
            // A cache that cannot be written only costs time.
            let _ = cache.put(&key, &bytes);
        }
        Ok(declaration)
    }

    /// Locks the map. It holds whole packages only, so a poisoned lock is still good.
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Package>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the effects that a manifest declares, by the index of the function.
///
/// # Errors
/// The name of a method that the component does not have.
fn effects_of<'m>(manifest: &'m Manifest, types: &types::Package) -> Result<Vec<Option<Effect>>, &'m str> {
    let mut effects = vec![manifest.effect; types.functions.len()];
    for (method, settings) in &manifest.methods {
        let index = types.functions.iter().position(|function| function.is_spelled(method));
        let index = index.ok_or(method.as_str())?;
        effects[index] = Some(settings.effect);
    }
    Ok(effects)
}

/// Returns a key of all parts of a release, without its name, which is part of the manifest.
fn digests(release: &Release) -> String {
    [release.component.digest, release.wit.digest, release.manifest.digest].map(|digest| digest.hex()).concat()
}

impl Package {
    /// Returns the release of the package.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Returns the declaration of the package.
    pub(crate) fn declaration(&self) -> &Arc<PackageDeclaration> {
        &self.declaration
    }

    /// Returns the manifest's description.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.declaration.description.as_deref()
    }

    /// Returns the exported functions and types.
    #[must_use]
    pub fn types(&self) -> &types::Package {
        &self.declaration.types
    }

    /// Returns the permissions that the manifest requests.
    pub(crate) fn permissions(&self) -> &Permissions {
        &self.declaration.permissions
    }

    /// Returns true if the manifest lets instances outlive their call.
    pub(super) fn keeps_instances(&self) -> bool {
        self.declaration.keeps_instances
    }

    /// Returns the time limit of one call, given the session's.
    pub(super) fn wall(&self, session: Duration) -> Duration {
        self.declaration.limits.wall.map_or(session, |own| own.min(session))
    }

    /// Returns the fuel limit of one call in wasmtime's count, if the manifest has one.
    pub(super) fn fuel(&self) -> Option<u64> {
        self.declaration.limits.fuel
    }

    /// Returns the number of bytes of printed output that are kept, given the host's limit.
    pub(super) fn output(&self, host: usize) -> usize {
        self.declaration.limits.output.map_or(host, |own| usize::try_from(own).unwrap_or(usize::MAX).min(host))
    }

    /// Returns the memory limit of one instance in bytes, given the session's.
    pub(super) fn memory(&self, session: u64) -> u64 {
        self.declaration.limits.memory.map_or(session, |own| own.min(session))
    }

    /// Returns true if a call would find the package compiled.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.get().is_some()
    }

    /// Returns the examples of the manifest, in its order. They are read from the registry once a process.
    pub(super) fn examples(&self) -> Result<&[Example], Failure> {
        let examples = self.examples.get_or_init(|| {
            let registry = self.shared.registry.as_ref().ok_or(PackageError::NoRegistry);
            let manifest = registry.and_then(|registry| Ok(registry.load_manifest(&self.release)?));
            let manifest = manifest.map_err(|error| {
                Failure::host(format!("cannot read the examples of `{}`: {}", self.declaration.release, error.brief()))
            })?;
            Ok(manifest.examples)
        });
        examples.as_deref().map_err(Failure::clone)
    }

    /// Compiles the package now, so that no call has to; the cache keeps the code for later processes.
    ///
    /// # Errors
    /// If it cannot be loaded.
    pub fn compile(&self) -> Result<(), Failure> {
        self.loaded().map(drop).map_err(Failure::clone)
    }

    /// Returns the machine code, compiled and linked once a process. The error is meant for the caller of the tool.
    pub(super) fn loaded(&self) -> Result<&LoadedPackage, &Failure> {
        let loaded = self.loaded.get_or_init(|| self.load().map_err(|error| self.not_loaded(&error)));
        loaded.as_ref()
    }

    fn not_loaded(&self, error: &PackageError) -> Failure {
        let message = format!("cannot load `{}@{}`: {}", self.release.name, self.release.version, error_chain(error));
        match error {
            // The component's own fault: it needs more memories or tables than an instance may have, for example.
            PackageError::Code(CodeError::Compile(_)) => Failure::tool(message),
            _ => Failure::host(message),
        }
    }

    fn load(&self) -> Result<LoadedPackage, PackageError> {
        let shared = &self.shared;
        let registry = shared.registry.as_ref().ok_or(PackageError::NoRegistry)?;
        let link = |error: wasmtime::Error| PackageError::Code(CodeError::Compile(error.into()));
        let component =
            shared.code.tool(self.engine()?, &self.release.digest().hex(), || -> Result<_, PackageError> {
                Ok(registry.load_component(&self.release)?)
            })?;
        let exports = self.declaration.types.functions.iter().map(|function| {
            let export = &function.export;
            let within = match &export.instance {
                Some(instance) => Some(component.get_export_index(None, instance)?),
                None => None,
            };
            component.get_export_index(within.as_ref(), &export.function)
        });
        let exports = exports.collect();
        let mut linker = self.linker(component.engine()).map_err(link)?.clone();
        wasi::define_peers(&mut linker, &component).map_err(link)?;
        wasi::define_unoffered(&mut linker, &component).map_err(link)?;
        Ok(LoadedPackage { pre: linker.instantiate_pre(&component).map_err(link)?, exports })
    }

    /// Returns the engine that the package runs in.
    pub(super) fn engine(&self) -> Result<&ToolEngine, CodeError> {
        self.shared.code.tools(self.fuel().is_some())
    }

    fn linker(&self, engine: &Engine) -> wasmtime::Result<&Linker<ToolState>> {
        let slot = &self.shared.linkers[usize::from(self.fuel().is_some())];
        if let Some(linker) = slot.get() {
            return Ok(linker);
        }
        let linker = wasi::linker(engine)?;
        Ok(slot.get_or_init(|| linker))
    }
}
