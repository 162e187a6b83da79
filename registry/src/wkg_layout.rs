//! Directories in the layout of `wkg`: its local backend keeps each release as `ROOT/NAMESPACE/PACKAGE/VERSION.wasm`.
//! Must not publish anything.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use semver::Version;

use crate::{
    component::MAX_COMPONENT,
    name::{PackageName, Requirement},
    package::{PackageError, read},
    publish::PublishRequest,
};

/// Release in a directory of `wkg`. Its file was not read yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Foreign {
    /// Path of the component's file.
    pub path: PathBuf,
    /// Name according to the directories.
    pub name: PackageName,
    /// Version according to the file name.
    pub version: Version,
}

/// Error of a directory that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot list `{}`", path.display())]
pub struct LayoutError {
    path: PathBuf,
    source: io::Error,
}

impl LayoutError {
    /// Path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Foreign {
    /// Reads the component and returns a request to publish it.
    ///
    /// # Errors
    /// If the file cannot be read, or is larger than a component may be.
    pub fn request(&self) -> Result<PublishRequest, PackageError> {
        // Reading a pipe or a device might never end.
        let missing = || PackageError::NoComponent { path: self.path.clone() };
        if !self.path.is_file() {
            return Err(missing());
        }
        let mut request = PublishRequest::new(read(&self.path, MAX_COMPONENT)?.ok_or_else(missing)?);
        (request.name, request.version) = (Some(self.name.clone()), Some(self.version.clone()));
        Ok(request)
    }
}

/// Contents of a directory of `wkg`.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct WkgLayout {
    /// The fitting releases by name, oldest version first, so that each is compared with its predecessors.
    pub releases: Vec<Foreign>,
    /// Directories of namespaces and packages that could not be listed.
    pub unlisted: Vec<LayoutError>,
}

/// Lists the fitting releases below `root`. Files whose path does not name a release are skipped.
///
/// # Errors
/// If `root` itself cannot be listed.
pub fn wkg_layout(root: &Path, wanted: Option<&Requirement>) -> Result<WkgLayout, LayoutError> {
    let (mut found, mut unlisted) = (Vec::new(), Vec::new());
    let mut listed = |entries: Result<Vec<PathBuf>, LayoutError>| {
        entries.unwrap_or_else(|error| {
            unlisted.push(error);
            Vec::new()
        })
    };
    let part = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    for namespace in directories(root)? {
        let prefix = format!("{}:", part(&namespace));
        if wanted.is_some_and(|wanted| !wanted.name.to_string().starts_with(&prefix)) {
            continue;
        }
        for package in listed(directories(&namespace)) {
            let Ok(name) = format!("{prefix}{}", part(&package)).parse::<PackageName>() else { continue };
            if wanted.is_some_and(|wanted| wanted.name != name) {
                continue;
            }
            for path in listed(list(&package)) {
                let version = path.file_name().and_then(|file| file.to_str()?.strip_suffix(".wasm")?.parse().ok());
                let Some(version) = version else { continue };
                if wanted.is_none_or(|wanted| wanted.versions.matches(&version)) {
                    found.push(Foreign { path, name: name.clone(), version });
                }
            }
        }
    }
    found.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(WkgLayout { releases: found, unlisted })
}

fn directories(path: &Path) -> Result<Vec<PathBuf>, LayoutError> {
    Ok(list(path)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn list(path: &Path) -> Result<Vec<PathBuf>, LayoutError> {
    let failed = |source| LayoutError { path: path.to_owned(), source };
    let entries = fs::read_dir(path).map_err(failed)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wkg_layout_lists_files_named_as_releases_only() {
        let root = tempfile::tempdir().expect("a directory");
        for path in
            ["a/b/1.10.0.wasm", "a/b/1.9.0.wasm", "a/b/latest.wasm", "a/b/1.0.0", "A/b/1.0.0.wasm", "a/c/2.0.0.wasm"]
        {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is below")).expect("made");
            fs::write(path, b"x").expect("written");
        }
        fs::write(root.path().join("a/file"), b"x").expect("written");
        let names = |wanted: Option<&str>| {
            let wanted = wanted.map(|text| text.parse::<Requirement>().expect("a requirement"));
            let found = wkg_layout(root.path(), wanted.as_ref()).expect("it lists");
            assert!(found.unlisted.is_empty());
            found.releases.iter().map(|it| format!("{}@{}", it.name, it.version)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(None), "a:b@1.9.0 a:b@1.10.0 a:c@2.0.0");
        assert_eq!(names(Some("a:b@^1.10")), "a:b@1.10.0");
        assert!(wkg_layout(&root.path().join("nothing"), None).is_err());
    }
}
