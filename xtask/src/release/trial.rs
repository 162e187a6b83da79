//! Tries the files of a release as users install them: in new directories without Rust and the repository, with a home
//! of their own. The time from the file to the first result is printed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;

use super::{Release, image, wheel};
use crate::run::{command, output, run, say};

/// Search path with the programs of the system. Rust is installed elsewhere.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Trial of one file of a release, in a directory of its own.
type Trial = fn(&Release, &Path) -> Result<()>;

/// Installs and tries each file of the release.
pub(super) fn all(release: &Release) -> Result<()> {
    let trials: [(&str, Trial); 6] = [
        ("the archive", tarball),
        ("the install script", script),
        ("the package for Debian", debian),
        ("the container image, as its user, with nothing else", container),
        ("the packages for npm", npm),
        ("the checksums", checksums),
    ];
    for (what, trial) in trials {
        say(&format!("trying {what}"));
        let place = tempfile::tempdir()?;
        let started = Instant::now();
        trial(release, place.path()).with_context(|| format!("{what} failed"))?;
        println!("{what}: {:.1?}", started.elapsed());
    }
    wheel::try_it(release)
}

/// Returns the one file of the release whose name has this start and end.
fn file(release: &Release, start: &str, end: &str) -> Result<PathBuf> {
    let mut files = super::files(release)?;
    files.retain(|(name, _)| name.starts_with(start) && name.ends_with(end));
    ensure!(files.len() == 1, "{} files are `{start}…{end}`: {files:?}", files.len());
    files.pop().map(|(_, path)| path).context("there is one")
}

/// Returns a command with an empty environment, except for the search path and a home.
fn stranger(program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
    let mut stranger = command(program);
    stranger.env_clear().env("PATH", PATH).env("HOME", home).current_dir(home);
    stranger
}

/// Runs a script of each language with a binary, and checks the results.
fn answers(binary: &Path, home: &Path) -> Result<()> {
    for (arguments, expected) in [
        (&["run", "-e", "return 6 * 7"][..], "42\n"),
        (&["run", "--lang", "sh", "-e", "echo $((6 * 7)) | rev"], "24\n"),
        (&["run", "--session", "s", "-e", "await fs.writeFile('a', 'kept')"], ""),
        (&["run", "--session", "s", "--lang", "sh", "-e", "cat a"], "kept"),
    ] {
        let printed = output(stranger(binary, home).args(arguments))?;
        ensure!(printed == expected, "`{arguments:?}` printed {printed:?}, and not {expected:?}");
    }
    Ok(())
}

fn tarball(release: &Release, place: &Path) -> Result<()> {
    let mut tar = stranger("tar", place);
    run(tar.arg("-xzf").arg(file(release, "tollhouse-", "-x86_64-linux.tar.gz")?).args(["--strip-components", "1"]))?;
    for page in ["share/man/man1/tollhouse-run.1", "share/doc/tollhouse/LICENSES-THIRD-PARTY.txt"] {
        ensure!(place.join(page).exists(), "{page} is not there");
    }
    let binary = place.join("bin/tollhouse");
    let said = output(stranger(&binary, place).arg("--version"))?;
    ensure!(said.trim().ends_with(&format!(" {}", release.version)), "the binary says that it is {said:?}");
    answers(&binary, place)
}

fn script(release: &Release, place: &Path) -> Result<()> {
    let mut sh = stranger("sh", place);
    sh.arg(release.out.join("install.sh")).args(["--from", &format!("file://{}", release.out.display())]);
    run(&mut sh)?;
    answers(&place.join(".local/bin/tollhouse"), place)
}

fn debian(release: &Release, place: &Path) -> Result<()> {
    let package = file(release, "tollhouse_", "_amd64.deb")?;
    let described = output(command("dpkg-deb").arg("--info").arg(&package))?;
    ensure!(described.contains("Package: tollhouse"), "dpkg-deb says {described}");
    run(command("dpkg-deb").arg("--extract").arg(&package).arg(place))?;
    answers(&place.join("usr/bin/tollhouse"), place)
}

/// Unpacks the layer of the image that the index names, and runs the image's entry point as its user, in a root
/// directory of its own.
fn container(release: &Release, place: &Path) -> Result<()> {
    let layout = place.join("layout");
    tar::Archive::new(File::open(file(release, "tollhouse-", "-oci-amd64.tar")?)?).unpack(&layout)?;
    let json = |path: &str| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(layout.join(path))?)?) };
    let blob = |blob: &Value| format!("blobs/{}", blob["digest"].as_str().unwrap_or_default().replace(':', "/"));
    let manifest = json(&blob(&json("index.json")?["manifests"][0]))?;
    let config = json(&blob(&manifest["config"]))?;
    let user = config["config"]["User"].as_str().and_then(|user| user.split(':').next()).context("it has a user")?;
    let entry = config["config"]["Entrypoint"][0].as_str().context("it has an entry point")?;
    let root = place.join("root");
    fs::create_dir(&root)?;
    let layer = File::open(layout.join(blob(&manifest["layers"][0])))?;
    let mut layer = tar::Archive::new(GzDecoder::new(layer));
    layer.set_preserve_permissions(true);
    layer.set_preserve_ownerships(is_root());
    layer.unpack(&root)?;
    fs::create_dir(root.join("proc"))?;
    for (language, script, expected) in [("js", "return 1", "1\n"), ("sh", "id -u; echo hi", "hi\n")] {
        let mut contained = command("unshare");
        contained.args(CONTAINED).arg("--root").arg(&root).args(["--wd", image::HOME]);
        if is_root() {
            contained.args(["--setuid", user, "--setgid", user]);
        } else {
            contained.args(["--user", "--map-user", user, "--map-group", user]);
        }
        contained.arg(entry).args(["run", "--lang", language, "-e", script]);
        let printed = output(contained.env_clear().env("HOME", image::HOME))?;
        ensure!(printed.ends_with(expected), "the image printed {printed:?}, and not {expected:?}");
    }
    Ok(())
}

/// Arguments of `unshare`: namespaces and a `/proc` as containers have them.
const CONTAINED: [&str; 7] = ["--mount", "--mount-proc", "--pid", "--fork", "--ipc", "--uts", "--net"];

/// Returns true if this process runs as root.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn npm(release: &Release, place: &Path) -> Result<()> {
    let mut npm = command("npm");
    npm.current_dir(place).args(["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    npm.arg(place).arg(file(release, "tollhouse-linux-x64-", ".tgz")?);
    run(npm.arg(file(release, &format!("tollhouse-{}", release.version), ".tgz")?))?;
    answers(&place.join("node_modules/.bin/tollhouse"), place)
}

fn checksums(release: &Release, _: &Path) -> Result<()> {
    run(command("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&release.out))
}
