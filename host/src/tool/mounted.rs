//! What a session sees: packages under aliases, and every method by its faces.

use std::collections::BTreeMap;
use std::str::FromStr as _;
use std::sync::Arc;

use tollhouse_registry::{Release, Requirement, RequirementError};

use super::lock::{Lock, Locked};
use super::names::{Methods, NameError, Spelling};
use super::package::{Package, PackageError, Packages};
use super::{Tool, help, nearest, typescript};

/// The tools of a session by canonical method.
#[derive(Default)]
pub struct MountedTools {
    tools: BTreeMap<String, Arc<Tool>>,
    names: Methods,
    packages: Vec<(String, Arc<Package>)>,
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
    /// One alias for two packages.
    #[error("`{0}` is mounted twice: once by the policy, once by `--tool`")]
    Twice(String),
    /// Names that scripts could not tell apart.
    #[error(transparent)]
    Names(#[from] NameError),
    /// The registry no longer has what a session was made with.
    #[error("`{alias}`: the registry has no {locked}, which the session was made with")]
    Gone {
        /// The alias.
        alias: String,
        /// The release.
        locked: Locked,
    },
    /// The registry has something else under that name.
    #[error("`{alias}`: the {what} of {locked} is not the one that the session was made with")]
    Changed {
        /// The alias.
        alias: String,
        /// The release.
        locked: Locked,
        /// What is another.
        what: &'static str,
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
            Self::Names(_) => Some("mount the package under another alias: `--tool ALIAS=NS:NAME`".into()),
            _ => None,
        }
    }
}

impl Packages {
    /// Mounts what a policy names, or else each package of the registry under its own name; and `more`.
    ///
    /// # Errors
    /// If a package cannot be had, or names collide.
    pub fn mount(
        &self,
        named: Option<&BTreeMap<String, String>>,
        more: &[(String, String)],
    ) -> Result<Arc<MountedTools>, MountError> {
        let mut packages: BTreeMap<String, Arc<Package>> = BTreeMap::new();
        match named {
            Some(named) => {
                for (alias, requirement) in named {
                    packages.insert(alias.clone(), self.mount_one(alias, requirement)?);
                }
            }
            None => packages = self.mount_all(more)?,
        }
        for (alias, requirement) in more {
            if packages.insert(alias.clone(), self.mount_one(alias, requirement)?).is_some() {
                return Err(MountError::Twice(alias.clone()));
            }
        }
        self.mounted(packages)
    }

    /// Mounts exactly these releases, also if newer ones fit, or they were yanked since.
    ///
    /// # Errors
    /// If a release is gone, or its component, WIT or manifest is another.
    pub fn mount_locked(&self, lock: &Lock) -> Result<Arc<MountedTools>, MountError> {
        let mut packages = BTreeMap::new();
        for (alias, locked) in &lock.0 {
            let failed = |source| MountError::Package { alias: alias.clone(), source };
            let registry = self.registry().ok_or_else(|| failed(PackageError::NoRegistry))?;
            let release = registry.release(&locked.name, &locked.version).map_err(|error| failed(error.into()))?;
            let release = release.ok_or_else(|| MountError::Gone { alias: alias.clone(), locked: locked.clone() })?;
            if let Some(what) = locked.differs(&release) {
                return Err(MountError::Changed { alias: alias.clone(), locked: locked.clone(), what });
            }
            packages.insert(alias.clone(), self.package(release).map_err(failed)?);
        }
        self.mounted(packages)
    }

    fn mounted(&self, packages: BTreeMap<String, Arc<Package>>) -> Result<Arc<MountedTools>, MountError> {
        let packages: Vec<(String, Arc<Package>)> = packages.into_iter().collect();
        // One session after another mounts the same: their names are worked out once.
        let mut last = self.last_mounted();
        if let Some(mounted) = last.as_ref().filter(|mounted| mounted.is_of(&packages)) {
            return Ok(Arc::clone(mounted));
        }
        let mounted = Arc::new(MountedTools::new(packages)?);
        *last = Some(Arc::clone(&mounted));
        Ok(mounted)
    }

    fn mount_one(&self, alias: &str, requirement: &str) -> Result<Arc<Package>, MountError> {
        let requirement = Requirement::from_str(requirement)
            .map_err(|source| MountError::Requirement { alias: alias.to_owned(), source })?;
        self.resolve(&requirement).map_err(|source| MountError::Package { alias: alias.to_owned(), source })
    }

    /// Every package of the registry whose own name is free and belongs to it alone. One that cannot be used, or whose
    /// name hides something, is left out: it was not asked for.
    fn mount_all(&self, more: &[(String, String)]) -> Result<BTreeMap<String, Arc<Package>>, MountError> {
        let Some(registry) = self.registry() else { return Ok(BTreeMap::new()) };
        let registry_error = |error: tollhouse_registry::Error| MountError::Package {
            alias: "*".to_owned(),
            source: PackageError::Registry(error),
        };
        let mut names: BTreeMap<String, Vec<Release>> = BTreeMap::new();
        for release in registry.latest().map_err(registry_error)? {
            names.entry(release.name.package().to_owned()).or_default().push(release);
        }
        let mut packages = BTreeMap::new();
        for (alias, mut releases) in names {
            let taken = more.iter().any(|(other, _)| *other == alias);
            let (Some(release), true, false) = (releases.pop(), releases.is_empty(), taken) else { continue };
            if super::names::check_alias(&alias, Spelling::Wit).is_ok()
                && let Ok(package) = self.package(release)
            {
                packages.insert(alias, package);
            }
        }
        Ok(packages)
    }
}

impl MountedTools {
    fn new(packages: Vec<(String, Arc<Package>)>) -> Result<Self, MountError> {
        let mut listed = Vec::new();
        for (alias, package) in &packages {
            let alias: Arc<str> = alias.as_str().into();
            for (index, function) in package.types().functions.iter().enumerate() {
                listed.push((function.method(&alias), Arc::clone(&alias), Arc::clone(package), index));
            }
        }
        let names = Methods::new(listed.iter().map(|(method, ..)| (method.as_str(), Spelling::Wit)))?;
        let tools = listed.into_iter().map(|(method, alias, package, index)| {
            let path = names.faces(&method).map_or_else(|| method.clone(), |faces| faces.path.clone());
            (method.clone(), Arc::new(Tool { method, path, alias, package, index }))
        });
        Ok(Self { tools: tools.collect(), names, packages })
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
    pub fn get(&self, method: &str) -> Option<&Arc<Tool>> {
        self.tools.get(method)
    }

    /// The tool of a name in any of its faces: `stats/describe`, `stats.describe`, `stats describe`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.get(self.names.resolve(name)?)
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
        Lock(self.packages.iter().map(|(alias, package)| (alias.clone(), Locked::of(package.release()))).collect())
    }

    /// The help text of a method, or a list of those that begin with a prefix (segments joined by `/`).
    #[must_use]
    pub fn help(&self, prefix: &str) -> Option<String> {
        if let Some(tool) = self.find(prefix) {
            return Some(tool.help());
        }
        let below =
            |method: &str| prefix.is_empty() || method.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
        let entries: Vec<(&str, Option<&str>)> = self
            .iter()
            .filter(|tool| below(tool.method()))
            .map(|tool| (tool.method(), tool.function().docs.as_deref()))
            .collect();
        help::listing(prefix, &entries)
    }

    /// TypeScript declarations of all that is mounted.
    #[must_use]
    pub fn typescript(&self, granted: &dyn Fn(&str) -> bool) -> String {
        let mounted: Vec<typescript::Mounted<'_>> = self
            .packages
            .iter()
            .map(|(alias, package)| typescript::Mounted {
                alias,
                package: package.types(),
                docs: package.description(),
            })
            .collect();
        typescript::declarations(&mounted, granted)
    }
}
