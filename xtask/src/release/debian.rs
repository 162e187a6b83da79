//! The package for Debian and Ubuntu, written without their tools: an `ar` archive of two tar archives.

use std::fmt::Write as _;

use anyhow::Result;
use md5::{Digest as _, Md5};

use super::Release;
use super::archive::{FileTree, gzip};
use super::program::Program;

/// Description of the package. Continuation lines begin with a space.
const DESCRIPTION: &str = "runs the code that AI agents write, with tools behind one gate
 Tollhouse runs scripts, JavaScript or bash, in WebAssembly. Each call of a
 tool is checked against its types and a policy, debited and recorded.";

/// Makes the package, and returns its name and bytes.
pub(super) fn package(release: &Release, program: &Program) -> Result<(String, Vec<u8>)> {
    let tree = files(program)?;
    let data = gzip(&tree.tar("./", release.epoch)?)?;
    let control = gzip(&control(&release.version, &tree).tar("./", release.epoch)?)?;
    let parts: [(&str, &[u8]); 3] = [("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok((format!("tollhouse_{}_amd64.deb", version(&release.version)), ar(&parts, release.epoch)))
}

/// Returns the files of a program in Debian's directories.
fn files(program: &Program) -> Result<FileTree> {
    let mut tree = FileTree::default();
    for (path, content) in program.tree().files() {
        let (mode, path) = if path.starts_with("bin/") { (0o755, path) } else { (0o644, path) };
        let path = path.replace("zsh/site-functions", "zsh/vendor-completions");
        if path.starts_with("share/man/") {
            tree.file(format!("usr/{path}.gz"), mode, gzip(content)?);
        } else {
            tree.file(format!("usr/{path}"), mode, content);
        }
    }
    let copyright = "Tollhouse is under the licences MIT or Apache-2.0, as you like: LICENSE-MIT, LICENSE-APACHE.\n\
                     LICENSES-THIRD-PARTY.txt has those of the software that it contains.\n";
    tree.file("usr/share/doc/tollhouse/copyright", 0o644, copyright);
    Ok(tree)
}

/// Returns the control files of the package.
fn control(number: &str, tree: &FileTree) -> FileTree {
    let kilobytes: usize = tree.files().map(|(_, content)| content.len().div_ceil(1024)).sum();
    let number = version(number);
    let fields = format!(
        "Package: tollhouse\nVersion: {number}\nArchitecture: amd64\nMaintainer: Tollhouse <{REPOSITORY}>\n\
         Installed-Size: {kilobytes}\nSection: devel\nPriority: optional\nHomepage: {REPOSITORY}\n\
         Description: {DESCRIPTION}\n",
        REPOSITORY = super::REPOSITORY,
    );
    let mut sums = String::new();
    for (path, content) in tree.files() {
        writeln!(sums, "{:x}  {path}", Md5::digest(content)).expect("writing to a string does not fail");
    }
    let mut control = FileTree::default();
    control.file("control", 0o644, fields);
    control.file("md5sums", 0o644, sums);
    control
}

/// Formats a version so that Debian sorts a pre-release before its release.
fn version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

/// Writes an archive in the common format of `ar`.
fn ar(parts: &[(&str, &[u8])], epoch: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in parts {
        let header = format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, content.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        // Each part begins at an even offset.
        if content.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pre_release_is_sorted_before_its_release() {
        assert_eq!(version("0.2.0-rc.1"), "0.2.0~rc.1");
        assert_eq!(version("0.2.0"), "0.2.0");
    }

    #[test]
    fn archive_has_headers_of_sixty_bytes_at_even_offsets() {
        let archive = ar(&[("debian-binary", b"2.0"), ("b", b"x")], 1_795_941_634);
        assert_eq!(&archive[8..68], b"debian-binary   1795941634  0     0     100644  3         `\n");
        assert_eq!(&archive[68..73], b"2.0\nb");
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 2);
    }
}
