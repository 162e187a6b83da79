//! Directories `wit/` with `deps/`, in wit-parser's layout. Files are read here, within bounds, and parsed as texts.
//! Must not print them, nor look into directories that WIT does not define.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wasmparser::Parser;
use wit_parser::{PackageId, Resolve, SourceMap, UnresolvedPackageGroup};

use super::WitError;
use crate::{
    component,
    package::{PackageError, check_inside},
    untrusted_file::{self, ReadError},
};

/// Most entries of `wit/`, `deps/`, and the directories in it.
pub(crate) const MAX_FILES: usize = 10_000;

/// Most bytes of all files together.
const MAX_BYTES: u64 = 64 << 20;

/// Resolves the package in `path`, with those in its `deps/`. No link leads out of the directory `inside`: what is read is
/// published, comments and all, and is quoted in errors.
pub(super) fn resolve(inside: &Path, path: &Path) -> Result<(Resolve, PackageId), PackageError> {
    let mut files = BoundedFiles { inside, root: path, entries: 0, bytes: 0 };
    let mut resolve = Resolve::default();
    let main = files.package(path)?;
    let mut others = Vec::new();
    let deps = path.join("deps");
    for dependency in if deps.exists() { files.list(&deps)? } else { Vec::new() } {
        if dependency.is_dir() {
            others.push(files.package(&dependency)?);
        } else if dependency.extension().is_some_and(|extension| extension == "wit" || extension == "wasm") {
            others.extend(files.dependency(&dependency, &mut resolve)?);
        }
    }
    match resolve.push_groups(main, others) {
        Ok(main) => Ok((resolve, main)),
        Err(error) => Err(WitError::Syntax { problem: error.render(&resolve.source_map) }.into()),
    }
}

/// Bounded reader of files below a directory.
struct BoundedFiles<'a> {
    inside: &'a Path,
    root: &'a Path,
    entries: usize,
    bytes: u64,
}

impl BoundedFiles<'_> {
    /// Lists a directory, sorted by name.
    fn list(&mut self, directory: &Path) -> Result<Vec<PathBuf>, PackageError> {
        let failed = |source| PackageError::Io { path: directory.to_owned(), source };
        check_inside(self.inside, directory)?;
        let mut paths = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            paths.push(entry.map_err(failed)?.path());
            self.entries += 1;
            if self.entries > MAX_FILES {
                return Err(PackageError::TooMany { path: self.root.to_owned() });
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Parses the WIT files in a directory, which form one package.
    fn package(&mut self, directory: &Path) -> Result<UnresolvedPackageGroup, PackageError> {
        let mut sources = SourceMap::new();
        for path in self.list(directory)? {
            let is_wit = path.extension().is_some_and(|extension| extension == "wit");
            if is_wit && !path.is_dir() {
                let text = self.read(&path).and_then(|bytes| text(&path, bytes))?;
                sources.push(&path, text);
            }
        }
        parsed(directory, sources)
    }

    /// Parses a package that is one file. One in binary form is resolved by itself, and merged into `resolve`.
    fn dependency(
        &mut self,
        path: &Path,
        resolve: &mut Resolve,
    ) -> Result<Option<UnresolvedPackageGroup>, PackageError> {
        let bytes = self.read(path)?;
        if !Parser::is_component(&bytes) {
            let mut sources = SourceMap::new();
            sources.push(path, text(path, bytes)?);
            return parsed(path, sources).map(Some);
        }
        let package = component::wit_package(&bytes).map_err(|error| wrong(path, &error.to_string()))?;
        resolve.merge(package).map_err(|error| wrong(path, &format!("{error:#}")))?;
        Ok(None)
    }

    fn read(&mut self, path: &Path) -> Result<Vec<u8>, PackageError> {
        check_inside(self.inside, path)?;
        let bytes = untrusted_file::read_regular(path, MAX_BYTES - self.bytes).map_err(|error| match error {
            // The remaining limit would tell a reader nothing: the limit is of all files together.
            ReadError::TooLarge { .. } => PackageError::TooLarge { path: self.root.to_owned(), limit: MAX_BYTES },
            error => PackageError::unread(path)(error),
        })?;
        self.bytes += bytes.len() as u64;
        Ok(bytes)
    }
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, PackageError> {
    untrusted_file::text(bytes).map_err(PackageError::unread(path))
}

fn parsed(path: &Path, sources: SourceMap) -> Result<UnresolvedPackageGroup, PackageError> {
    sources.parse().map_err(|(sources, error)| wrong(path, &error.render(&sources)))
}

fn wrong(path: &Path, problem: &str) -> PackageError {
    WitError::Syntax { problem: format!("in `{}`: {problem}", path.display()) }.into()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::testing::{CHARGES, component};

    const MAIN: &str =
        "package t:t; world w { import a:files/x; import b:file/x; import c:binary/x; export f: func(); }";

    /// Creates a directory `wit/` with these files.
    fn wit(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a directory");
        for (name, content) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().expect("it is below")).expect("it is made");
            fs::write(path, content).expect("it is written");
        }
        home
    }

    fn interface(package: &str) -> String {
        format!("package {package}; interface x {{ /// Of {package}.\n f: func(); }}")
    }

    /// Encodes a package in binary form.
    fn binary(package: &str) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let id = resolve.push_str("package.wit", &interface(package)).expect("it parses");
        wit_component::encode(&resolve, id).expect("it has a binary form")
    }

    #[test]
    fn dependencies_in_every_form_are_found() {
        let home = wit(&[
            ("world.wit", MAIN.as_bytes()),
            ("notes.md", b"no WIT"),
            ("more/nothing.wit", b"of which WIT knows nothing"),
            ("deps/files/x.wit", interface("a:files").as_bytes()),
            ("deps/files/notes.md", b"no WIT"),
            ("deps/file.wit", interface("b:file").as_bytes()),
            ("deps/binary.wasm", &binary("c:binary")),
        ]);
        let (resolve, main) = resolve(home.path(), home.path()).expect("it resolves");
        let text = crate::wit::print(&resolve, main).expect("it prints");
        for package in ["a:files", "b:file", "c:binary"] {
            assert!(
                text.contains(&format!("package {package} {{")) && text.contains(&format!("/// Of {package}.")),
                "{text}"
            );
        }
    }

    #[test]
    fn wit_directory_with_wrong_files_names_them() {
        let told = |files: &[(&str, &[u8])]| {
            let home = wit(files);
            resolve(home.path(), home.path()).expect_err("it is wrong").to_string()
        };
        let main: (&str, &[u8]) = ("world.wit", b"package t:t; world w {}");
        assert!(told(&[]).contains("no `package` header"));
        assert!(told(&[("world.wit", b"package t:t; worlt w {}")]).contains("world.wit:1:14"));
        assert!(told(&[("world.wit", b"package t:t; world w { import a:b/c; }")]).contains("world.wit:1:31"));
        assert!(told(&[main, ("deps/a.wit", b"package")]).contains("deps/a.wit"));
        assert!(told(&[("world.wit", &[0xff])]).contains("cannot read"));
        let code = told(&[main, ("deps/a.wasm", &component(CHARGES))]);
        assert!(code.contains("deps/a.wasm") && code.contains("not a WIT package in binary form"), "{code}");
    }

    #[test]
    fn wit_directory_with_special_or_too_many_files_is_refused() {
        let home = wit(&[("world.wit", b"package t:t; world w {}"), ("deps/a.wit", b"package a:a; world w {}")]);
        let at = |name: &str| home.path().join(name);
        let error = || resolve(home.path(), home.path()).expect_err("it is refused");
        for name in ["b.wit", "deps/b.wit", "deps/b.wasm"] {
            assert!(Command::new("mkfifo").arg(at(name)).status().expect("it starts").success());
            assert!(matches!(error(), PackageError::NotRegular { kind: "a pipe", .. }), "{name}");
            fs::remove_file(at(name)).expect("it is there");
        }
        // Each of the two files is within the limit.
        for name in ["deps/b.wit", "deps/c.wit"] {
            let text = format!("package b:b; world w {{}} //{}", " ".repeat(33 << 20));
            fs::write(at(name), text).expect("it is written");
        }
        assert!(matches!(error(), PackageError::TooLarge { limit: MAX_BYTES, .. }));
        fs::remove_file(at("deps/b.wit")).expect("it is there");
        fs::remove_file(at("deps/c.wit")).expect("it is there");
        resolve(home.path(), home.path()).expect("it is fine again");
        for number in 0..=MAX_FILES {
            fs::File::create(at(&format!("deps/{number}"))).expect("it is made");
        }
        assert!(matches!(error(), PackageError::TooMany { .. }));
    }
}
