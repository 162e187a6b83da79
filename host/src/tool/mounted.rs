//! Mounted tools of a session: packages under aliases, and every method by its faces.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::str::FromStr as _;
use std::sync::Arc;

use tollhouse_methods::{Catalog, CatalogError, Clash, MethodDeclaration};
use tollhouse_registry::{
    Error as RegistryError, Registry, Release, ReleaseName, Requirement, RequirementError, SignatureError,
};

use super::lock_file::{Lock, Locked};
use super::mcp_server::{McpCalls, PinnedServer};
use super::names::{NameError, Spelling};
use super::package::{Package, PackageError, Packages};
use super::{HostTool, PackageFunction, Tool, ToolSource};
use crate::capability::{Policy, Signed, Signer};
use crate::remedy::Remedy;

/// Tools of a session: its catalog of methods, and what answers their calls.
#[derive(Default)]
pub struct MountedTools {
    catalog: Arc<Catalog>,
    tools: BTreeMap<String, Arc<Tool>>,
    packages: Vec<(String, Arc<Package>)>,
    host: Vec<HostTool>,
    /// Pinned MCP servers, whose tools are among the host functions.
    servers: BTreeMap<String, PinnedServer>,
}

/// Reason why packages cannot be mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The text is not a requirement.
    #[error("cannot mount `{alias}`")]
    Requirement {
        /// Alias of the requirement.
        alias: String,
        /// Error of the requirement.
        #[source]
        source: RequirementError,
    },
    /// The package is not available.
    #[error("cannot mount `{alias}`")]
    Package {
        /// Alias of the package.
        alias: String,
        /// Cause of the failure.
        #[source]
        source: PackageError,
    },
    /// A host function has the alias of a package or of an MCP server.
    #[error("`{name}` and the package or MCP server `{alias}` would have the same name")]
    Hidden {
        /// Name of the function.
        name: String,
        /// Alias of the package.
        alias: String,
    },
    /// Two packages have the same alias.
    #[error("`{0}` is mounted twice: once by the policy, once beside it")]
    Twice(String),
    /// Scripts could not distinguish two names.
    #[error(transparent)]
    Names(#[from] NameError),
    /// The methods cannot be in one catalog.
    #[error(transparent)]
    Catalog(CatalogError),
    /// No required key has signed this release.
    #[error("cannot mount `{alias}`: `{release}` is not signed by {wanted}")]
    Unsigned {
        /// Alias of the tool.
        alias: String,
        /// Name of the release.
        release: ReleaseName,
        /// Required signers, in words.
        wanted: String,
    },
    /// A required signature is not valid.
    #[error("cannot mount `{alias}`")]
    Signature {
        /// Alias of the tool.
        alias: String,
        /// Cause of the failure.
        #[source]
        source: SignatureError,
    },
    /// The policy names a signer whose key is unknown.
    #[error("the policy requires a signature of `{0}`, but no trusted key has that name")]
    UnknownSigner(String),
    /// The pinned releases do not match the policy.
    #[error("`{alias}`: {problem}")]
    Pins {
        /// Alias of the tool.
        alias: String,
        /// Description of the difference.
        problem: String,
    },
    /// The policy names an MCP server whose tools are not pinned.
    #[error("the MCP server `{0}` is not pinned, so its tools are not known")]
    UnpinnedServer(String),
    /// The registry no longer has a pinned release.
    #[error("`{alias}`: the registry no longer has the pinned {locked}")]
    Gone {
        /// Alias of the tool.
        alias: String,
        /// Release that is pinned.
        locked: Locked,
    },
    /// A tool may call an import that the registry has but the policy does not name.
    #[error("`{alias}` imports `{import}` and may call it, but `[tools]` names no package that exports it")]
    Unnamed {
        /// Alias of the importing tool.
        alias: String,
        /// Name of the import.
        import: String,
        /// Package of the registry that exports it.
        package: Requirement,
    },
    /// The registry has other content under the name of a pinned release.
    #[error("`{alias}`: the {what} of {locked} differs from the pinned one")]
    Changed {
        /// Alias of the tool.
        alias: String,
        /// Release that is pinned.
        locked: Locked,
        /// Part of the release that differs.
        what: &'static str,
        /// Difference of the pinned and the present content, in lines of a unified diff.
        diff: String,
    },
}

impl From<CatalogError> for MountError {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Hidden { name, alias } => Self::Hidden { name, alias },
            CatalogError::Names(error) => Self::Names(error),
            error => Self::Catalog(error),
        }
    }
}

impl MountError {
    /// Returns a hint on how to fix the problem.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Package { source: PackageError::Resolve(error), .. } => error.hint().map(str::to_owned),
            Self::Package { source: PackageError::Registry(error), .. } => error.hint().map(str::to_owned),
            Self::Requirement { .. } => {
                Some("write `namespace:package@version`, for example `acme:payments@^1`".into())
            }
            Self::Unsigned { release, .. } => {
                let release = release.to_string();
                Some(format!("nothing of it was used; {}", Remedy::SignRelease(&release)))
            }
            Self::Signature { source, .. } => source.hint().map(str::to_owned),
            Self::UnknownSigner(name) => Some(Remedy::TrustKey(name).to_string()),
            Self::UnpinnedServer(server) => Some(Remedy::PinServer(server).to_string()),
            Self::Pins { .. } => Some(Remedy::PinReleases.to_string()),
            Self::Unnamed { alias, package, .. } => {
                let name = package.name.package();
                Some(format!(
                    "a tool's imports are not mounted unless they are named: add `{name} = \"{package}\"` to `[tools]`, or \
                     remove it from `[tool.{alias}]`"
                ))
            }
            Self::Gone { .. } => Some("take it from a backup of the registry, or publish the same bytes again".into()),
            Self::Changed { diff, .. } => {
                Some(format!("nothing of it was used; the pinned (-) and the present content (+):\n{diff}"))
            }
            Self::Hidden { .. } => Some("give one of them another name".into()),
            Self::Names(_) => Some(Remedy::MountPackage.to_string()),
            _ => None,
        }
    }
}

/// Releases by alias of a session that names no tools, and the short names that none of them gets.
type Unnamed = (BTreeMap<String, Release>, Vec<Clash>);

impl Packages {
    /// Mounts the tools that a policy names, or else each package of the registry under its own name; and `more`. With
    /// a lock, mounts exactly the releases that it pins, if they match the policy.
    ///
    /// # Errors
    /// If a package is not available or lacks a required signature, names collide, or the lock pins other releases; if
    /// a policy lets a tool call an import that it does not name.
    pub fn mount(
        &self,
        policy: &Policy,
        more: &[(String, String)],
        lock: Option<&Lock>,
    ) -> Result<Arc<MountedTools>, MountError> {
        if let Some(lock) = lock {
            lock.check_servers(policy.mcp.keys())?;
            let extra = lock.check(policy.tools.as_ref(), more)?;
            let mounted = self.mount_locked(lock, &policy.signed)?;
            let asked: Vec<_> =
                mounted.packages().iter().filter(|(alias, _)| !extra.contains(alias)).cloned().collect();
            self.check_imports(&asked, policy)?;
            return extra.into_iter().next().map_or(Ok(mounted), |alias| {
                Err(MountError::Pins { alias, problem: "the lock pins it, but nothing mounts it".to_owned() })
            });
        }
        if let Some(server) = policy.mcp.keys().next() {
            return Err(MountError::UnpinnedServer(server.clone()));
        }
        self.mount_unpinned(policy, more, &Lock::default())
    }

    /// Pins the releases that [`mount`](Self::mount) would mount now, keeping those of `pinned` that still fit. Servers
    /// stay pinned as they are, if the policy still names them.
    ///
    /// # Errors
    /// As [`mount`](Self::mount); if the registry has other content under a pinned version.
    pub fn pin(&self, policy: &Policy, more: &[(String, String)], pinned: &Lock) -> Result<Lock, MountError> {
        let packages = self.mount_unpinned(policy, more, pinned)?.lock().packages;
        let servers = pinned.servers.iter().filter(|(name, _)| policy.mcp.contains_key(*name));
        Ok(Lock { packages, servers: servers.map(|(name, server)| (name.clone(), server.clone())).collect() })
    }

    /// Mounts exactly these releases, even if newer ones fit, or they were yanked since.
    ///
    /// # Errors
    /// If a release no longer exists, its component, WIT or manifest differs, or it lacks a required signature.
    pub fn mount_locked(&self, lock: &Lock, signed: &Signed) -> Result<Arc<MountedTools>, MountError> {
        let mounted = lock.packages.iter().map(|(alias, locked)| {
            let release = self.locked(alias, locked)?;
            Ok((alias.clone(), self.accepted(alias, release, signed)?))
        });
        let mounted = self.mounted(mounted.collect::<Result<_, MountError>>()?, Vec::new())?;
        if lock.servers.is_empty() {
            return Ok(mounted);
        }
        mounted.with_servers(lock.servers.clone()).map(Arc::new)
    }

    /// Checks that the mounted tools have the required signatures in the current registry.
    ///
    /// # Errors
    /// If a signature is missing or invalid.
    pub fn check_signed(&self, tools: &MountedTools, signed: &Signed) -> Result<(), MountError> {
        let pinned = tools.lock();
        tools.packages().iter().filter(|(alias, _)| signed.of(alias).next().is_some()).try_for_each(|(alias, _)| {
            let release = self.locked(alias, &pinned.packages[alias])?;
            self.check_one(alias, &release, signed)
        })
    }

    fn mount_unpinned(
        &self,
        policy: &Policy,
        more: &[(String, String)],
        pinned: &Lock,
    ) -> Result<Arc<MountedTools>, MountError> {
        let mut releases: BTreeMap<String, Release> = BTreeMap::new();
        let mut clashes = Vec::new();
        match &policy.tools {
            Some(named) => {
                for (alias, requirement) in named {
                    releases.insert(alias.clone(), self.wanted(alias, requirement, pinned)?);
                }
            }
            None => (releases, clashes) = self.all(more, pinned)?,
        }
        for (alias, requirement) in more {
            if releases.insert(alias.clone(), self.wanted(alias, requirement, pinned)?).is_some() {
                return Err(MountError::Twice(alias.clone()));
            }
        }
        let mut packages = BTreeMap::new();
        for (alias, release) in releases {
            let name = release.name.clone();
            let asked_for = policy.tools.is_some() || more.iter().any(|(other, _)| *other == alias);
            match self.accepted(&alias, release, &policy.signed) {
                Ok(package) => drop(packages.insert(alias, package)),
                // An unusable package is left out, since nobody named it. A script that uses it gets an error that says
                // so.
                Err(MountError::Package { source, .. }) if !asked_for => {
                    let unusable = Some(source.brief());
                    clashes.push(Clash::new(alias, unusable, vec![(name, None)]));
                }
                Err(error) => return Err(error),
            }
        }
        let packages: Vec<(String, Arc<Package>)> = packages.into_iter().collect();
        self.check_imports(&packages, policy)?;
        self.mounted(packages, clashes)
    }

    fn mounted(
        &self,
        packages: Vec<(String, Arc<Package>)>,
        clashes: Vec<Clash>,
    ) -> Result<Arc<MountedTools>, MountError> {
        // Sessions usually mount the same tools: their names are computed once.
        let mut last = self.last_mounted();
        if let Some(mounted) = last.as_ref().filter(|mounted| mounted.is_of(&packages) && mounted.clashes() == clashes)
        {
            return Ok(Arc::clone(mounted));
        }
        let mounted = Arc::new(MountedTools::new(packages, &[], clashes.into())?);
        *last = Some(Arc::clone(&mounted));
        Ok(mounted)
    }

    /// Returns a release after checking its required signatures.
    pub(super) fn accepted(&self, alias: &str, release: Release, signed: &Signed) -> Result<Arc<Package>, MountError> {
        self.check_one(alias, &release, signed)?;
        self.package(release).map_err(|source| MountError::Package { alias: alias.to_owned(), source })
    }

    fn check_one(&self, alias: &str, release: &Release, signed: &Signed) -> Result<(), MountError> {
        signed.of(alias).try_for_each(|signers| self.check_signers(alias, release, signers))
    }

    fn check_signers(&self, alias: &str, release: &Release, signers: &[Signer]) -> Result<(), MountError> {
        let registry = self.some_registry(alias)?;
        let mut broken = None;
        for signer in signers {
            let key = match signer {
                Signer::Key(key) => key,
                Signer::Name(name) => return Err(MountError::UnknownSigner(name.clone())),
            };
            match registry.verify_signature(release, key) {
                Ok(()) => return Ok(()),
                Err(SignatureError::Unsigned { .. }) => {}
                Err(error) => broken = Some(error),
            }
        }
        let alias = alias.to_owned();
        Err(match broken {
            Some(source) => MountError::Signature { alias, source },
            None => {
                let wanted: Vec<String> = signers.iter().map(|signer| format!("`{signer}`")).collect();
                MountError::Unsigned { alias, release: release.full_name(), wanted: wanted.join(" or ") }
            }
        })
    }

    fn some_registry(&self, alias: &str) -> Result<&Registry, MountError> {
        let none = || MountError::Package { alias: alias.to_owned(), source: PackageError::NoRegistry };
        self.registry().ok_or_else(none)
    }

    /// Returns the pinned release.
    fn locked(&self, alias: &str, locked: &Locked) -> Result<Release, MountError> {
        let registry = self.some_registry(alias)?;
        let failed = |error: RegistryError| MountError::Package { alias: alias.to_owned(), source: error.into() };
        let release = registry.release(&locked.name, &locked.version).map_err(failed)?;
        let release = release.ok_or_else(|| MountError::Gone { alias: alias.to_owned(), locked: locked.clone() })?;
        match locked.differs(registry, &release).map_err(failed)? {
            None => Ok(release),
            Some((what, diff)) => {
                Err(MountError::Changed { alias: alias.to_owned(), locked: locked.clone(), what, diff })
            }
        }
    }

    /// Returns the pinned release of an alias if it fits, else the highest that does.
    pub(super) fn wanted(&self, alias: &str, requirement: &str, pinned: &Lock) -> Result<Release, MountError> {
        let wanted = Requirement::from_str(requirement)
            .map_err(|source| MountError::Requirement { alias: alias.to_owned(), source })?;
        if let Some(locked) = pinned.packages.get(alias).filter(|locked| locked.fits(&wanted)) {
            return self.locked(alias, locked);
        }
        let resolved = self.some_registry(alias)?.resolve(&wanted.name, &wanted.versions);
        resolved.map_err(|error| MountError::Package { alias: alias.to_owned(), source: error.into() })
    }

    /// Lists every package of the registry under its own name; packages of the same name under namespace and name
    /// (`acme-stats`).
    fn all(&self, more: &[(String, String)], pinned: &Lock) -> Result<Unnamed, MountError> {
        let Some(registry) = self.registry() else { return Ok(Unnamed::default()) };
        let failed = |error: RegistryError| MountError::Package { alias: "*".to_owned(), source: error.into() };
        let mut names: BTreeMap<String, Vec<Release>> = BTreeMap::new();
        for release in registry.latest().map_err(failed)? {
            names.entry(release.name.package().to_owned()).or_default().push(release);
        }
        let taken = |alias: &str| more.iter().any(|(other, _)| other == alias);
        let explicit = |release: &Release| {
            more.iter().any(|(_, wanted)| Requirement::from_str(wanted).is_ok_and(|wanted| wanted.name == release.name))
        };
        let (mut all, mut clashes) = Unnamed::default();
        let mut add = |alias: &str, release: Release| -> Result<bool, MountError> {
            if taken(alias) || super::names::check_alias(alias, Spelling::Wit).is_err() {
                return Ok(false);
            }
            let locked = pinned.packages.get(alias).filter(|locked| locked.name == release.name);
            let release = locked.map_or(Ok(release), |locked| self.locked(alias, locked))?;
            all.insert(alias.to_owned(), release);
            Ok(true)
        };
        for (name, releases) in &names {
            if let [release] = releases.as_slice() {
                add(name, release.clone())?;
                continue;
            }
            let mut clash = Clash::new(name.clone(), None, Vec::new());
            for release in releases {
                let alias = format!("{}-{name}", release.name.namespace());
                let free = !names.contains_key(&alias) && !explicit(release);
                let mounted = free && add(&alias, release.clone())?;
                clash.packages.push((release.name.clone(), mounted.then_some(alias)));
            }
            // The short name is taken by an explicit alias.
            if !taken(name) {
                clashes.push(clash);
            }
        }
        Ok((all, clashes))
    }
}

impl Deref for MountedTools {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.catalog
    }
}

impl MountedTools {
    fn new(
        packages: Vec<(String, Arc<Package>)>,
        host: &[HostTool],
        clashes: Arc<[Clash]>,
    ) -> Result<Self, MountError> {
        let declared = packages.iter().map(|(alias, package)| (alias.clone(), Arc::clone(package.declaration())));
        let host = host.to_vec();
        let methods = host.iter().map(|tool| Arc::clone(tool.declaration()));
        let catalog = Arc::new(Catalog::new(declared.collect(), methods.collect(), clashes)?);
        let mut mounted = Self { catalog, tools: BTreeMap::new(), packages, host, servers: BTreeMap::new() };
        let tools = mounted.catalog.iter().filter_map(|declaration| mounted.tool(Arc::clone(declaration)));
        mounted.tools = tools.map(|tool| (tool.method().to_owned(), Arc::new(tool))).collect();
        Ok(mounted)
    }

    /// Returns the tool that answers calls of a declared method.
    fn tool(&self, declaration: Arc<MethodDeclaration>) -> Option<Tool> {
        let source = match declaration.index() {
            Some(index) => {
                let (_, package) = self.packages.iter().find(|(alias, _)| **alias == **declaration.alias())?;
                ToolSource::Package(PackageFunction { package: Arc::clone(package), index })
            }
            None => {
                let method = declaration.bound_as();
                ToolSource::Host(self.host.iter().find(|tool| tool.method() == method)?.clone())
            }
        };
        Some(Tool { declaration, source })
    }

    /// Returns these tools with host functions added.
    ///
    /// # Errors
    /// If names collide.
    pub fn with_host_tools(&self, host: &[HostTool]) -> Result<Self, MountError> {
        self.with_host(self.servers.clone(), host, None)
    }

    /// Returns these tools with host functions added, and with the tools of their MCP servers answered by `calls`.
    ///
    /// # Errors
    /// If names collide.
    pub fn with_answers(&self, host: &[HostTool], calls: Option<&Arc<dyn McpCalls>>) -> Result<Self, MountError> {
        self.with_host(self.servers.clone(), host, calls)
    }

    /// Returns these tools with those of pinned MCP servers, of which nobody answers any.
    fn with_servers(&self, servers: BTreeMap<String, PinnedServer>) -> Result<Self, MountError> {
        self.with_host(servers, &[], None)
    }

    fn with_host(
        &self,
        servers: BTreeMap<String, PinnedServer>,
        host: &[HostTool],
        calls: Option<&Arc<dyn McpCalls>>,
    ) -> Result<Self, MountError> {
        let alias = |tool: &HostTool| tool.method().split('/').next().unwrap_or_default().to_owned();
        if let Some(tool) = host.iter().find(|tool| servers.contains_key(&alias(tool))) {
            return Err(MountError::Hidden { name: tool.method().to_owned(), alias: alias(tool) });
        }
        let of_servers = servers.iter().flat_map(|(name, server)| server.host_tools(name, calls));
        let all: Vec<HostTool> = of_servers.chain(host.iter().cloned()).collect();
        Ok(Self { servers, ..Self::new(self.packages.clone(), &all, self.clashes().into())? })
    }

    /// Returns the catalog of the methods.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    fn is_of(&self, packages: &[(String, Arc<Package>)]) -> bool {
        self.packages.len() == packages.len()
            && self
                .packages
                .iter()
                .zip(packages)
                .all(|((alias, package), (other, others))| alias == other && Arc::ptr_eq(package, others))
    }

    /// Returns the tool of a canonical method.
    #[must_use]
    pub fn get(&self, method: &str) -> Option<Arc<Tool>> {
        match self.tools.get(method) {
            Some(tool) => Some(Arc::clone(tool)),
            None => self.tool(self.catalog.get(method)?).map(Arc::new),
        }
    }

    /// Finds a tool by a name in any of its faces: `stats/describe`, `stats.describe`, `stats describe`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<Tool>> {
        self.get(self.catalog.find(name)?.method())
    }

    /// Iterates over all tools, sorted by method.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// Returns the packages by alias, sorted.
    #[must_use]
    pub fn packages(&self) -> &[(String, Arc<Package>)] {
        &self.packages
    }

    /// Returns the lock that pins the mounted releases and MCP servers.
    #[must_use]
    pub fn lock(&self) -> Lock {
        let packages = self.packages.iter().map(|(alias, package)| (alias.clone(), Locked::of(package))).collect();
        Lock { packages, servers: self.servers.clone() }
    }

    /// Returns the pinned MCP servers by name.
    #[must_use]
    pub fn servers(&self) -> &BTreeMap<String, PinnedServer> {
        &self.servers
    }
}
