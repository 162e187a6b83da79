//! npm packages: one for each platform, with the binary, and `tollhouse`, whose program starts the binary of the right
//! platform.

use anyhow::Result;
use serde_json::{Value, json};

use super::Release;
use super::archive::{FileTree, gzip};
use super::program::Program;

/// Program of the package `tollhouse`.
const SHIM: &str = include_str!("../../release/npm/tollhouse.js");

/// Readme that npm shows on the page of the package.
const README: &str = include_str!("../../release/npm/README.md");

/// Suffixes of the platform packages: values of `os` and `cpu` in Node.
const PLATFORMS: [(&str, &str); 1] = [("linux", "x64")];

/// Makes the packages, and returns their names and bytes.
pub(super) fn packages(release: &Release, program: &Program) -> Result<Vec<(String, Vec<u8>)>> {
    let mut made = Vec::new();
    for (os, cpu) in PLATFORMS {
        let name = format!("tollhouse-{os}-{cpu}-{}.tgz", release.version);
        made.push((name, pack(release, &platform(&release.version, os, cpu, program)?)?));
    }
    made.push((format!("tollhouse-{}.tgz", release.version), pack(release, &shim(&release.version, program)?)?));
    Ok(made)
}

/// Makes the package of a platform.
fn platform(version: &str, os: &str, cpu: &str, program: &Program) -> Result<FileTree> {
    let mut manifest = common(version);
    manifest["name"] = json!(format!("@tollhouse/{os}-{cpu}"));
    manifest["description"] = json!(format!("The binary of Tollhouse for {os} {cpu}: install `tollhouse`"));
    manifest["os"] = json!([os]);
    manifest["cpu"] = json!([cpu]);
    let mut tree = FileTree::default();
    for (path, content) in program.tree().files() {
        if path.starts_with("bin/") {
            tree.file(path, 0o755, content);
        } else if let Some((_, name)) = path.rsplit_once('/').filter(|(_, name)| name.starts_with("LICENSE")) {
            tree.file(name, 0o644, content);
        }
    }
    tree.file("package.json", 0o644, serde_json::to_string_pretty(&manifest)?);
    tree.file("README.md", 0o644, README);
    Ok(tree)
}

/// Makes the package that users install, which depends on the platform packages.
fn shim(version: &str, program: &Program) -> Result<FileTree> {
    let mut manifest = common(version);
    manifest["name"] = json!("tollhouse");
    manifest["description"] =
        json!("Runs the code that AI agents write, with tools behind one capability-checking gate");
    manifest["bin"] = json!({"tollhouse": "bin/tollhouse.js"});
    manifest["engines"] = json!({"node": ">=18"});
    let platforms = PLATFORMS.map(|(os, cpu)| (format!("@tollhouse/{os}-{cpu}"), json!(version)));
    manifest["optionalDependencies"] = Value::Object(platforms.into_iter().collect());
    let mut tree = FileTree::default();
    for (path, content) in program.tree().files() {
        if let Some((_, name)) = path.rsplit_once('/').filter(|(_, name)| OWN_LICENCES.contains(name)) {
            tree.file(name, 0o644, content);
        }
    }
    tree.file("bin/tollhouse.js", 0o755, SHIM);
    tree.file("package.json", 0o644, serde_json::to_string_pretty(&manifest)?);
    tree.file("README.md", 0o644, README);
    Ok(tree)
}

/// Licence files of packages without a binary.
const OWN_LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

fn common(version: &str) -> Value {
    json!({
        "name": null,
        "version": version,
        "description": null,
        "license": "(MIT OR Apache-2.0)",
        "repository": {"type": "git", "url": format!("git+{}.git", super::REPOSITORY)},
    })
}

fn pack(release: &Release, tree: &FileTree) -> Result<Vec<u8>> {
    gzip(&tree.tar("package/", release.epoch)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Command, Output};

    use super::*;

    /// Installs the packages as npm does. `binary` is a script in place of the binary; with `None`, no platform package
    /// is installed.
    fn installed(directory: &Path, binary: Option<&str>) {
        let version = "1.2.3";
        let program = Program::for_tests();
        let modules = directory.join("node_modules");
        let mut trees = vec![("tollhouse", shim(version, &program).expect("it is made"))];
        if let Some(binary) = binary {
            let mut tree = platform(version, "linux", "x64", &program).expect("it is made");
            tree.file("bin/tollhouse", 0o755, binary);
            trees.push(("@tollhouse/linux-x64", tree));
        }
        for (name, tree) in trees {
            for (path, content) in tree.files() {
                let to = modules.join(name).join(path);
                fs::create_dir_all(to.parent().expect("it is below")).expect("a directory");
                fs::write(&to, content).expect("a file");
                let mode = if path.starts_with("bin/") { 0o755 } else { 0o644 };
                fs::set_permissions(&to, fs::Permissions::from_mode(mode)).expect("it is ours");
            }
        }
    }

    fn tollhouse(directory: &Path, arguments: &[&str]) -> Output {
        let shim = directory.join("node_modules/tollhouse/bin/tollhouse.js");
        Command::new("node").arg(shim).args(arguments).output().expect("Node.js runs: `apt-get install nodejs`")
    }

    #[test]
    fn npm_program_hands_on_arguments_output_and_exit_status() {
        let home = tempfile::tempdir().expect("a directory");
        installed(home.path(), Some("#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 5\n"));
        let ran = tollhouse(home.path(), &["run", "-e", "a b"]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "<run><-e><a b>");
        assert_eq!(ran.status.code(), Some(5));
    }

    #[test]
    fn npm_program_ends_by_the_signal_that_ended_the_binary() {
        use std::os::unix::process::ExitStatusExt as _;
        let home = tempfile::tempdir().expect("a directory");
        installed(home.path(), Some("#!/bin/sh\nkill -TERM $$\n"));
        assert_eq!(tollhouse(home.path(), &[]).status.signal(), Some(15));
    }

    #[test]
    fn npm_program_without_a_binary_says_what_to_do() {
        let home = tempfile::tempdir().expect("a directory");
        installed(home.path(), None);
        let ran = tollhouse(home.path(), &[]);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1));
        assert!(told.contains("@tollhouse/linux-x64") && told.contains("--omit=optional"), "{told}");
    }

    #[test]
    fn npm_packages_have_one_version() {
        let package: Value = shim("1.2.3", &Program::for_tests())
            .expect("it is made")
            .files()
            .find_map(|(path, content)| (path == "package.json").then(|| serde_json::from_slice(content)))
            .expect("it has one")
            .expect("it is JSON");
        assert_eq!(package["version"], "1.2.3");
        assert_eq!(package["optionalDependencies"], json!({"@tollhouse/linux-x64": "1.2.3"}));
    }
}
