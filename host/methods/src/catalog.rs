//! Catalog of a session's methods: each by its canonical name and by its faces.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tollhouse_types::name::PackageName;
use tollhouse_types::remedy::Remedy;

use super::declaration::{MethodDeclaration, MethodSource, PackageDeclaration};
use super::names::{self, Methods, NameError};
use super::{HostMethod, LostFace, help, nearest, python, types, typescript};

/// Methods of a session, by canonical name. It knows what can be called, and not what answers a call.
#[derive(Debug, Default)]
pub struct Catalog {
    methods: BTreeMap<String, Arc<MethodDeclaration>>,
    names: Methods,
    packages: Vec<(String, Arc<PackageDeclaration>)>,
    host: Vec<Arc<HostMethod>>,
    clashes: Arc<[Clash]>,
}

/// Packages of a registry that are not mounted by their short name, since several have it, or they cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// Short name of the packages.
    pub name: String,
    /// Problem of the only package with the name, with the digest of the damaged part.
    pub unusable: Option<String>,
    /// Packages, each with its alias if it is mounted.
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
    /// Creates the clash of the packages of this short name.
    #[must_use]
    pub fn new(name: String, unusable: Option<String>, packages: Vec<(PackageName, Option<String>)>) -> Self {
        Self { name, unusable, packages }
    }

    /// Returns a hint on how one of the packages gets the short name.
    #[must_use]
    pub fn hint(&self) -> String {
        let Some((first, _)) = self.packages.first().filter(|_| self.unusable.is_none()) else {
            return format!("{self}; {}", Remedy::VerifyRegistry);
        };
        let name = &self.name;
        format!("{self}: use that name, or give the short one to a package with `--tool {name}={first}`")
    }
}

/// Reason why methods cannot be in one catalog.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A host function has the alias of a package.
    #[error("the host function `{name}` and the package `{alias}` would have the same name")]
    Hidden {
        /// Name of the function.
        name: String,
        /// Alias of the package.
        alias: String,
    },
    /// Scripts could not distinguish two names.
    #[error(transparent)]
    Names(#[from] NameError),
}

impl Catalog {
    /// Creates the catalog of these packages, by alias, and of these host functions.
    ///
    /// # Errors
    /// If names collide.
    pub fn new(
        packages: Vec<(String, Arc<PackageDeclaration>)>,
        host: Vec<Arc<HostMethod>>,
        clashes: Arc<[Clash]>,
    ) -> Result<Self, CatalogError> {
        let mut listed = Vec::new();
        for (alias, package) in &packages {
            let alias: Arc<str> = alias.as_str().into();
            for (index, function) in package.types.functions.iter().enumerate() {
                let source = MethodSource::Package(Arc::clone(package), index);
                listed.push((function.method(&alias), Arc::clone(&alias), source));
            }
        }
        for declared in &host {
            let alias = declared.method().split('/').next().unwrap_or_default();
            if packages.iter().any(|(other, _)| other == alias) {
                return Err(CatalogError::Hidden { name: declared.method().to_owned(), alias: alias.to_owned() });
            }
            listed.push((declared.method().to_owned(), alias.into(), MethodSource::Host(Arc::clone(declared))));
        }
        let names = Methods::new(listed.iter().map(|(method, _, source)| (method.as_str(), source.spelling())))?;
        let methods = listed.into_iter().map(|(method, alias, source)| {
            let known = names.faces(&method).cloned();
            let faces = known.unwrap_or_else(|| names::faces(&method, source.spelling()));
            (method.clone(), Arc::new(MethodDeclaration::new(method, faces, alias, source)))
        });
        let methods = methods.collect();
        Ok(Self { methods, names, packages, host, clashes })
    }

    /// Returns the declaration of a canonical method.
    #[must_use]
    pub fn get(&self, method: &str) -> Option<Arc<MethodDeclaration>> {
        if let Some(declared) = self.methods.get(method) {
            return Some(Arc::clone(declared));
        }
        let namespace = self.host.iter().find(|declared| declared.holds(method))?;
        self.methods.get(namespace.method())?.below(method).map(Arc::new)
    }

    /// Finds the canonical method of a name in any of its faces: `stats/describe`, `stats.describe`, `stats describe`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<MethodDeclaration>> {
        match self.names.resolve(name) {
            Some(method) => self.get(method),
            None => self.get(&name.replace([' ', '.'], "/")),
        }
    }

    /// Returns the canonical method most similar to a name, if one is similar enough to be meant.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.methods.keys().map(String::as_str))
    }

    /// Iterates over all methods, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<MethodDeclaration>> {
        self.methods.values()
    }

    /// Returns the packages of the registry that are not mounted by their short name.
    #[must_use]
    pub fn clashes(&self) -> &[Clash] {
        &self.clashes
    }

    /// Returns the clash that concerns the first segment of a method or pattern.
    #[must_use]
    pub fn clash_of(&self, name: &str) -> Option<&Clash> {
        let alias = name.split(['/', '.', ' ']).next().unwrap_or(name);
        self.clashes.iter().find(|clash| clash.name == alias)
    }

    /// Lists the faces that methods lack, because their alias means something else in JavaScript or in the shell.
    #[must_use]
    pub fn lost_faces(&self) -> Vec<LostFace> {
        LostFace::of_all(self.iter().map(Arc::as_ref))
    }

    /// Returns true if there is no method.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// Returns the packages by alias, sorted.
    #[must_use]
    pub fn packages(&self) -> &[(String, Arc<PackageDeclaration>)] {
        &self.packages
    }

    /// Formats the help text of a method, or a list of the methods that begin with a prefix (segments joined by `/`).
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

    /// Generates TypeScript declarations of all mounted tools.
    #[must_use]
    pub fn typescript(&self, granted: &dyn Fn(&str) -> bool) -> String {
        let own = self.host_packages();
        let packages = self.declared();
        let own = own.iter().map(|(alias, package)| typescript::Mounted { alias, package, docs: None });
        typescript::declarations(&packages.chain(own).collect::<Vec<_>>(), granted)
    }

    /// Generates TypeScript declarations of the tools whose canonical methods are `chosen`.
    #[must_use]
    pub fn typescript_of(&self, chosen: &dyn Fn(&str) -> bool, granted: &dyn Fn(&str) -> bool) -> String {
        let own = self.host_packages();
        let own = own.iter().map(|(alias, package)| typescript::Mounted { alias, package, docs: None });
        let all: Vec<typescript::Mounted<'_>> = self.declared().chain(own).collect();
        let parts: Vec<types::Package> = all.iter().map(|mounted| part(mounted, chosen)).collect();
        let some = all.iter().zip(&parts).filter(|(_, part)| !part.functions.is_empty());
        let some = some.map(|(mounted, part)| typescript::Mounted { package: part, ..*mounted });
        typescript::declarations(&some.collect::<Vec<_>>(), granted)
    }

    /// Generates a Python module with the types of the packages' arguments, results and errors.
    #[must_use]
    pub fn python(&self) -> String {
        python::module(&self.declared().collect::<Vec<_>>())
    }

    fn declared(&self) -> impl Iterator<Item = typescript::Mounted<'_>> {
        self.packages.iter().map(|(alias, package)| typescript::Mounted {
            alias,
            package: &package.types,
            docs: package.description.as_deref(),
        })
    }

    /// Groups the host functions by the first segment of their methods, as if each group were a package.
    fn host_packages(&self) -> BTreeMap<&str, types::Package> {
        let mut packages: BTreeMap<&str, types::Package> = BTreeMap::new();
        for tool in &self.host {
            let alias = tool.method().split('/').next().unwrap_or_default();
            packages.entry(alias).or_default().functions.push(tool.function().clone());
        }
        packages
    }
}

/// Returns a package with only those of its functions whose methods are chosen.
fn part(mounted: &typescript::Mounted<'_>, chosen: &dyn Fn(&str) -> bool) -> types::Package {
    let mut package = mounted.package.clone();
    package.functions.retain(|function| chosen(&function.method(mounted.alias)));
    package
}
