//! What a session sees: packages under aliases, and every method by its faces.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;

use tollhouse_registry::{
    Error as RegistryError, PackageName, Registry, Release, ReleaseName, Requirement, RequirementError, SignatureError,
};

use super::lock::{Lock, Locked};
use super::lost::LostFace;
use super::names::{Methods, NameError, Spelling};
use super::package::{Package, PackageError, Packages};
use super::{Exported, HostTool, Source, Tool, help, nearest, python, types, typescript};
use crate::capability::{Policy, Signed, Signer};

/// The tools of a session by canonical method.
#[derive(Default)]
pub struct MountedTools {
    tools: BTreeMap<String, Arc<Tool>>,
    names: Methods,
    packages: Vec<(String, Arc<Package>)>,
    host: Vec<Arc<HostTool>>,
    clashes: Arc<[Clash]>,
}

/// Packages of a registry that are not mounted by their short name: several have it, or they cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// The short name.
    pub name: String,
    /// What is wrong with the one package of the name, with the digest of what was damaged.
    pub unusable: Option<String>,
    /// The packages, each with the alias that it is mounted as, if it is.
    pub packages: Vec<(PackageName, Option<String>)>,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packages = self.packages.iter().map(|(package, alias)| match alias {
            Some(alias) => format!("`{package}` (mounted as `{alias}`)"),
            None => format!("`{package}`"),
        });
        let packages = packages.collect::<Vec<_>>().join(" or ");
        if let Some(problem) = &self.unusable {
            return write!(f, "`{}` is {packages}, which cannot be used: {problem}", self.name);
        }
        write!(f, "`{}` could be {packages}", self.name)
    }
}

impl Clash {
    /// Says how one of the packages gets the short name.
    #[must_use]
    pub fn hint(&self) -> String {
        let Some((first, _)) = self.packages.first().filter(|_| self.unusable.is_none()) else {
            return format!("{self}; `tollhouse registry verify` tells all that is damaged");
        };
        let name = &self.name;
        format!("{self}: use that name, or give the short one to a package with `--tool {name}={first}`")
    }
}

/// Why packages cannot be mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// What is asked for is no requirement.
    #[error("cannot mount `{alias}`")]
    Requirement {
        /// The alias.
        alias: String,
        /// What is wrong with it.
        #[source]
        source: RequirementError,
    },
    /// The package cannot be had.
    #[error("cannot mount `{alias}`")]
    Package {
        /// The alias.
        alias: String,
        /// Why.
        #[source]
        source: PackageError,
    },
    /// A host function under the alias of a package.
    #[error("the host function `{name}` and the package `{alias}` would have one name")]
    Hidden {
        /// The function.
        name: String,
        /// The package's alias.
        alias: String,
    },
    /// One alias for two packages.
    #[error("`{0}` is mounted twice: once by the policy, once by `--tool`")]
    Twice(String),
    /// Names that scripts could not tell apart.
    #[error(transparent)]
    Names(#[from] NameError),
    /// Nobody of those has signed it of whom one must.
    #[error("cannot mount `{alias}`: `{release}` is not signed by {wanted}")]
    Unsigned {
        /// The alias.
        alias: String,
        /// The release.
        release: ReleaseName,
        /// Who should have, in words.
        wanted: String,
    },
    /// It is signed by one who must, and the signature does not hold.
    #[error("cannot mount `{alias}`")]
    Signature {
        /// The alias.
        alias: String,
        /// Why not.
        #[source]
        source: SignatureError,
    },
    /// The policy names a signer, and nobody said which key that is.
    #[error("the policy requires a signature of `{0}`, and no trusted key has that name")]
    UnknownSigner(String),
    /// What is pinned is not what the policy asks for.
    #[error("`{alias}`: {problem}")]
    Pins {
        /// The alias.
        alias: String,
        /// In what they differ.
        problem: String,
    },
    /// The registry no longer has what is pinned.
    #[error("`{alias}`: the registry has no {locked}, which is pinned")]
    Gone {
        /// The alias.
        alias: String,
        /// The release.
        locked: Locked,
    },
    /// A tool may call what it imports, the registry has it, and the policy does not name it.
    #[error("`{alias}` imports `{import}` and may call it, and `[tools]` names no package that has it")]
    Unnamed {
        /// The tool that imports.
        alias: String,
        /// What it imports.
        import: String,
        /// The package of the registry that has it.
        package: Requirement,
    },
    /// The registry has something else under that name.
    #[error("`{alias}`: the {what} of {locked} is not the one that is pinned")]
    Changed {
        /// The alias.
        alias: String,
        /// The release.
        locked: Locked,
        /// What is another.
        what: &'static str,
        /// What was pinned, and what is there: lines as of a unified diff.
        diff: String,
    },
}

impl MountError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Package { source: PackageError::Resolve(error), .. } => error.hint().map(str::to_owned),
            Self::Package { source: PackageError::Registry(error), .. } => error.hint().map(str::to_owned),
            Self::Requirement { .. } => {
                Some("write `namespace:package@version`, for example `acme:payments@^1`".into())
            }
            Self::Unsigned { release, .. } => Some(format!(
                "nothing of it was used; who has the key signs it: `tollhouse registry sign {release} --key FILE`"
            )),
            Self::Signature { source, .. } => source.hint().map(str::to_owned),
            Self::UnknownSigner(name) => Some(format!(
                "say whose key it is: `tollhouse registry trust add {name} ed25519:…`, or write the key into the policy"
            )),
            Self::Pins { .. } => Some("`tollhouse lock` pins what the policy asks for".into()),
            Self::Unnamed { alias, package, .. } => {
                let name = package.name.package();
                Some(format!(
                    "what a tool imports is not mounted unless it is named: add `{name} = \"{package}\"` to `[tools]`, or \
                     take it out of `[tool.{alias}]`"
                ))
            }
            Self::Gone { .. } => Some("take it from a backup of the registry, or publish the same bytes again".into()),
            Self::Changed { diff, .. } => {
                Some(format!("nothing of it was used; what is pinned (-) and what is there (+):\n{diff}"))
            }
            Self::Hidden { .. } => Some("mount the package under another alias, or name the function otherwise".into()),
            Self::Names(_) => Some("mount the package under another alias: `--tool ALIAS=NS:NAME`".into()),
            _ => None,
        }
    }
}

/// Releases by alias of a session that names none, and the short names that are none of theirs.
type Unnamed = (BTreeMap<String, Release>, Vec<Clash>);

impl Packages {
    /// Mounts what a policy names, or else each package of the registry under its own name; and `more`. With a lock, exactly
    /// the releases that it pins, if they are what is asked for.
    ///
    /// # Errors
    /// If a package cannot be had or is not signed as the policy says, names collide, or the lock pins something else; if a
    /// policy lets a tool call what it imports and does not name it.
    pub fn mount(
        &self,
        policy: &Policy,
        more: &[(String, String)],
        lock: Option<&Lock>,
    ) -> Result<Arc<MountedTools>, MountError> {
        if let Some(lock) = lock {
            let extra = lock.check(policy.tools.as_ref(), more)?;
            let mounted = self.mount_locked(lock, &policy.signed)?;
            let asked: Vec<_> =
                mounted.packages().iter().filter(|(alias, _)| !extra.contains(alias)).cloned().collect();
            self.check_imports(&asked, policy)?;
            return extra.into_iter().next().map_or(Ok(mounted), |alias| {
                Err(MountError::Pins { alias, problem: "the lock pins it, and nothing mounts it".to_owned() })
            });
        }
        self.mount_unpinned(policy, more, &Lock::default())
    }

    /// What pins what [`mount`](Self::mount) would mount now: of what `pinned` has and still fits, that release.
    ///
    /// # Errors
    /// As [`mount`](Self::mount); if the registry has something else under a pinned version.
    pub fn pin(&self, policy: &Policy, more: &[(String, String)], pinned: &Lock) -> Result<Lock, MountError> {
        Ok(self.mount_unpinned(policy, more, pinned)?.lock())
    }

    /// Mounts exactly these releases, also if newer ones fit, or they were yanked since.
    ///
    /// # Errors
    /// If a release is gone, its component, WIT or manifest is another, or it is not signed as it must be.
    pub fn mount_locked(&self, lock: &Lock, signed: &Signed) -> Result<Arc<MountedTools>, MountError> {
        let mounted = lock.0.iter().map(|(alias, locked)| {
            let release = self.locked(alias, locked)?;
            Ok((alias.clone(), self.accepted(alias, release, signed)?))
        });
        self.mounted(mounted.collect::<Result<_, MountError>>()?, Vec::new())
    }

    /// Checks that what is mounted is signed by who must have, as the registry is now.
    ///
    /// # Errors
    /// If something is not.
    pub fn check_signed(&self, tools: &MountedTools, signed: &Signed) -> Result<(), MountError> {
        let pinned = tools.lock();
        tools.packages().iter().filter(|(alias, _)| signed.of(alias).next().is_some()).try_for_each(|(alias, _)| {
            let release = self.locked(alias, &pinned.0[alias])?;
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
                // One that cannot be used is left out: it was not asked for. Who misses it is told.
                Err(MountError::Package { source, .. }) if !asked_for => {
                    let unusable = Some(source.brief());
                    clashes.push(Clash { name: alias, unusable, packages: vec![(name, None)] });
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
        // One session after another mounts the same: their names are worked out once.
        let mut last = self.last_mounted();
        if let Some(mounted) = last.as_ref().filter(|mounted| mounted.is_of(&packages) && *mounted.clashes == clashes) {
            return Ok(Arc::clone(mounted));
        }
        let mounted = Arc::new(MountedTools { clashes: clashes.into(), ..MountedTools::new(packages, &[])? });
        *last = Some(Arc::clone(&mounted));
        Ok(mounted)
    }

    /// A release, once it is known that who must have signed it has.
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

    /// The release that is pinned.
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

    /// The release that is pinned for an alias if it fits, else the highest that does.
    pub(super) fn wanted(&self, alias: &str, requirement: &str, pinned: &Lock) -> Result<Release, MountError> {
        let wanted = Requirement::from_str(requirement)
            .map_err(|source| MountError::Requirement { alias: alias.to_owned(), source })?;
        if let Some(locked) = pinned.0.get(alias).filter(|locked| locked.fits(&wanted)) {
            return self.locked(alias, locked);
        }
        let resolved = self.some_registry(alias)?.resolve(&wanted.name, &wanted.versions);
        resolved.map_err(|error| MountError::Package { alias: alias.to_owned(), source: error.into() })
    }

    /// Lists every package of the registry under its own name; under namespace and name (`acme-stats`) those that have one name.
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
            let locked = pinned.0.get(alias).filter(|locked| locked.name == release.name);
            let release = locked.map_or(Ok(release), |locked| self.locked(alias, locked))?;
            all.insert(alias.to_owned(), release);
            Ok(true)
        };
        for (name, releases) in &names {
            if let [release] = releases.as_slice() {
                add(name, release.clone())?;
                continue;
            }
            let mut clash = Clash { name: name.clone(), unusable: None, packages: Vec::new() };
            for release in releases {
                let alias = format!("{}-{name}", release.name.namespace());
                let free = !names.contains_key(&alias) && !explicit(release);
                let mounted = free && add(&alias, release.clone())?;
                clash.packages.push((release.name.clone(), mounted.then_some(alias)));
            }
            // Whoever asked for the short name has said what it means.
            if !taken(name) {
                clashes.push(clash);
            }
        }
        Ok((all, clashes))
    }
}

impl MountedTools {
    fn new(packages: Vec<(String, Arc<Package>)>, host: &[HostTool]) -> Result<Self, MountError> {
        let mut listed = Vec::new();
        for (alias, package) in &packages {
            let alias: Arc<str> = alias.as_str().into();
            for (index, function) in package.types().functions.iter().enumerate() {
                let source = Source::Package(Exported { package: Arc::clone(package), index });
                listed.push((function.method(&alias), Arc::clone(&alias), source));
            }
        }
        let host: Vec<Arc<HostTool>> = host.iter().cloned().map(Arc::new).collect();
        for tool in &host {
            let alias = tool.method().split('/').next().unwrap_or_default();
            if packages.iter().any(|(other, _)| other == alias) {
                return Err(MountError::Hidden { name: tool.method().to_owned(), alias: alias.to_owned() });
            }
            listed.push((tool.method().to_owned(), alias.into(), Source::Host(Arc::clone(tool))));
        }
        let names = Methods::new(listed.iter().map(|(method, _, source)| (method.as_str(), source.spelling())))?;
        let tools = listed.into_iter().map(|(method, alias, source)| {
            let known = names.faces(&method).cloned();
            let faces = known.unwrap_or_else(|| super::names::faces(&method, source.spelling()));
            (method.clone(), Arc::new(Tool { method, faces, alias, source }))
        });
        let tools = tools.collect();
        Ok(Self { tools, names, packages, host, clashes: Arc::default() })
    }

    /// The same with these host functions besides.
    ///
    /// # Errors
    /// If names collide.
    pub fn with_host_tools(&self, host: &[HostTool]) -> Result<Self, MountError> {
        Ok(Self { clashes: Arc::clone(&self.clashes), ..Self::new(self.packages.clone(), host)? })
    }

    fn is_of(&self, packages: &[(String, Arc<Package>)]) -> bool {
        self.packages.len() == packages.len()
            && self
                .packages
                .iter()
                .zip(packages)
                .all(|((alias, package), (other, others))| alias == other && Arc::ptr_eq(package, others))
    }

    /// The tool of a canonical method.
    #[must_use]
    pub fn get(&self, method: &str) -> Option<Arc<Tool>> {
        if let Some(tool) = self.tools.get(method) {
            return Some(Arc::clone(tool));
        }
        let namespace = self.host.iter().find(|tool| tool.holds(method))?;
        let root = self.tools.get(namespace.method())?;
        let faces = root.faces.below(method.strip_prefix(namespace.method())?.trim_start_matches('/'));
        let source = Source::Host(Arc::clone(namespace));
        Some(Arc::new(Tool { method: method.to_owned(), faces, alias: Arc::clone(&root.alias), source }))
    }

    /// The tool of a name in any of its faces: `stats/describe`, `stats.describe`, `stats describe`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<Tool>> {
        match self.names.resolve(name) {
            Some(method) => self.get(method),
            None => self.get(&name.replace([' ', '.'], "/")),
        }
    }

    /// The canonical method nearest to a name, if one is near enough to be meant.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.tools.keys().map(String::as_str))
    }

    /// All tools, sorted by method.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// Packages of the registry that are not mounted by their short name.
    #[must_use]
    pub fn clashes(&self) -> &[Clash] {
        &self.clashes
    }

    /// The clash that a method or a pattern runs into with its first segment.
    #[must_use]
    pub fn clash_of(&self, name: &str) -> Option<&Clash> {
        let alias = name.split(['/', '.', ' ']).next().unwrap_or(name);
        self.clashes.iter().find(|clash| clash.name == alias)
    }

    /// Faces that mounted tools lack, because their alias means something else in JavaScript or in the shell.
    #[must_use]
    pub fn lost_faces(&self) -> Vec<LostFace> {
        LostFace::of_all(self.iter().map(Arc::as_ref))
    }

    /// Whether nothing is mounted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The packages by alias, sorted.
    #[must_use]
    pub fn packages(&self) -> &[(String, Arc<Package>)] {
        &self.packages
    }

    /// What pins what is mounted.
    #[must_use]
    pub fn lock(&self) -> Lock {
        Lock(self.packages.iter().map(|(alias, package)| (alias.clone(), Locked::of(package))).collect())
    }

    /// The help text of a method, or a list of those that begin with a prefix (segments joined by `/`).
    #[must_use]
    pub fn help(&self, prefix: &str) -> Option<String> {
        if let Some(tool) = self.find(prefix) {
            return Some(tool.help());
        }
        let below =
            |method: &str| prefix.is_empty() || method.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
        let entries: Vec<help::Entry<'_>> = self
            .iter()
            .filter(|tool| below(tool.method()))
            .map(|tool| help::Entry {
                method: tool.method(),
                command: tool.command(),
                docs: tool.function().docs.as_deref(),
            })
            .collect();
        help::listing(prefix, &entries)
    }

    /// TypeScript declarations of all that is mounted.
    #[must_use]
    pub fn typescript(&self, granted: &dyn Fn(&str) -> bool) -> String {
        let own = self.host_packages();
        let packages = self.declared();
        let own = own.iter().map(|(alias, package)| typescript::Mounted { alias, package, docs: None });
        typescript::declarations(&packages.chain(own).collect::<Vec<_>>(), granted)
    }

    /// A module of Python that declares what the packages take, return and fail with.
    #[must_use]
    pub fn python(&self) -> String {
        python::module(&self.declared().collect::<Vec<_>>())
    }

    fn declared(&self) -> impl Iterator<Item = typescript::Mounted<'_>> {
        self.packages.iter().map(|(alias, package)| typescript::Mounted {
            alias,
            package: package.types(),
            docs: package.description(),
        })
    }

    /// The host functions by the first segment of their methods, as if each were a package.
    fn host_packages(&self) -> BTreeMap<&str, types::Package> {
        let mut packages: BTreeMap<&str, types::Package> = BTreeMap::new();
        for tool in &self.host {
            let alias = tool.method().split('/').next().unwrap_or_default();
            packages.entry(alias).or_default().functions.push(tool.function.clone());
        }
        packages
    }
}
