//! The released command line: a static binary, and the files that are installed with it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Release;
use super::archive::{FileTree, gzip};
use super::dependencies::Dependency;
use crate::guests;
use crate::run::{cargo, command, output, root, run, say, target};
use crate::setup;

/// Target of the binary: with musl it is static, and runs on every distribution of Linux.
pub(super) const TARGET: &str = "x86_64-unknown-linux-musl";

/// Paths of shell completions below an installation prefix, by shell.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/tollhouse"),
    ("fish", "share/fish/vendor_completions.d/tollhouse.fish"),
    ("zsh", "share/zsh/site-functions/_tollhouse"),
];

/// Files of the workspace that are installed with the binary.
const DOCUMENTS: [&str; 4] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Binary with completions, manual pages and licences, at their paths below a prefix such as `/usr`.
pub(super) struct Program(FileTree);

impl Program {
    /// Builds the binary, and collects the files that are installed with it.
    pub(super) fn build(release: &Release, dependencies: &[Dependency]) -> Result<Self> {
        let binary = build_binary(&release.profile)?;
        let mut tree = FileTree::default();
        tree.file("bin/tollhouse", 0o755, read(&binary)?);
        for (shell, path) in COMPLETIONS {
            tree.file(path, 0o644, output(command(&binary).args(["completions", shell]))?);
        }
        let pages = tempfile::tempdir()?;
        run(command(&binary).arg("man").arg(pages.path()))?;
        for page in fs::read_dir(pages.path())? {
            let page = page?;
            let name = page.file_name().into_string().ok().context("a manual page has a name of text")?;
            tree.file(format!("share/man/man1/{name}"), 0o644, read(&page.path())?);
        }
        for name in DOCUMENTS {
            tree.file(format!("share/doc/tollhouse/{name}"), 0o644, read(&root().join(name))?);
        }
        let licences = super::dependencies::licences(dependencies)?;
        tree.file("share/doc/tollhouse/LICENSES-THIRD-PARTY.txt", 0o644, licences);
        Ok(Self(tree))
    }

    /// Returns the files that are installed.
    pub(super) fn tree(&self) -> &FileTree {
        &self.0
    }

    /// Makes the archive that is unpacked into a prefix. Returns its file name and bytes.
    pub(super) fn tarball(&self, release: &Release) -> Result<(String, Vec<u8>)> {
        let directory = format!("tollhouse-{}-x86_64-linux", release.version);
        let mut tree = FileTree::default();
        tree.graft(&directory, &self.0);
        Ok((format!("{directory}.tar.gz"), gzip(&tree.tar("", release.epoch)?)?))
    }

    /// Returns a program whose binary is a shell script.
    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        let mut tree = FileTree::default();
        tree.file("bin/tollhouse", 0o755, "#!/bin/sh\necho \"tollhouse 1.2.3 $*\"\n");
        tree.file("share/man/man1/tollhouse.1", 0o644, ".TH tollhouse 1\n");
        tree.file("share/zsh/site-functions/_tollhouse", 0o644, "#compdef tollhouse\n");
        tree.file("share/doc/tollhouse/LICENSE-MIT", 0o644, "MIT\n");
        tree.file("share/doc/tollhouse/LICENSES-THIRD-PARTY.txt", 0o644, "ISC\n");
        Self(tree)
    }
}

/// Builds the static binary, and returns its path.
fn build_binary(profile: &str) -> Result<std::path::PathBuf> {
    setup::targets(&[TARGET])?;
    setup::reference_program("musl-tools", "musl-gcc")?;
    say(&format!("building the static binary ({TARGET}, profile {profile}); the first time takes 15 minutes or more"));
    let mut build = cargo(&["build", "--locked", "--package", "tollhouse-cli", "--bin", "tollhouse"]);
    build.args(["--profile", profile, "--target", TARGET]).arg("--target-dir").arg(target());
    run(guests::generic(&mut build)?)?;
    let directory = if profile == "dev" { "debug" } else { profile };
    Ok(target().join(TARGET).join(directory).join("tollhouse"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
