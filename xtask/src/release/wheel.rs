//! The released Python package: a source distribution, and a wheel that is built from it and runs on every Linux on
//! x86-64 since glibc 2.17.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;

use super::{Release, dependencies};
use crate::guests;
use crate::python;
use crate::run::{cargo, output, root, run, say, target};
use crate::setup;

/// Target of the native module.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Oldest glibc that the wheel supports, as a platform tag of wheels.
const GLIBC: &str = "manylinux_2_17";

/// Largest size of the wheel, in bytes.
const MAX_SIZE: u64 = 26_000_000;

/// Makes the source distribution and the wheel in the directory of the release.
pub(super) fn build(release: &Release) -> Result<PathBuf> {
    let maturin = python::maturin()?;
    say("packing the sources of the Python package");
    let place = target().join("packaging/python");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    run(maturin.command("sdist").arg("--out").arg(&place))?;
    let sources = only(&place, "gz")?;
    fs::copy(&sources, release.out.join(sources.file_name().context("it has a name")?))?;
    tar::Archive::new(GzDecoder::new(File::open(&sources)?)).unpack(&place)?;
    let directory = sources.display().to_string();
    let directory = PathBuf::from(directory.strip_suffix(".tar.gz").context("it is a tar archive")?);
    // Licences that the wheel contains and the source distribution does not.
    let licences = dependencies::licences(&dependencies::of("tollhouse-python")?)?;
    fs::write(directory.join("LICENSES-THIRD-PARTY.txt"), licences)?;
    prune_lock(&directory)?;

    setup::targets(&[TARGET])?;
    say(&format!(
        "building the wheel from these sources (profile {}); the first time takes 20 minutes",
        release.profile
    ));
    let mut build = maturin.command("build");
    build.current_dir(&directory).args(["--locked", "--zig", "--target", TARGET, "--compatibility", GLIBC]);
    build.args(["--profile", &release.profile, "--out"]).arg(&place).arg("--target-dir").arg(target());
    build.env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    run(guests::portable(&mut build)?)?;
    let wheel = only(&place, "whl")?;
    let size = wheel.metadata()?.len();
    ensure!(size < MAX_SIZE, "{} is {size} bytes, and may have {MAX_SIZE}", wheel.display());
    let released = release.out.join(wheel.file_name().context("it has a name")?);
    fs::copy(&wheel, &released)?;
    Ok(released)
}

/// Removes entries from the lock file of the source distribution that only other packages of the workspace need, and
/// checks that nothing else changes.
fn prune_lock(directory: &Path) -> Result<()> {
    let packages = |path: PathBuf| -> Result<BTreeMap<(String, String), String>> {
        Ok(dependencies::checksums(&fs::read_to_string(path)?.parse()?))
    };
    let before = packages(root().join("Cargo.lock"))?;
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--offline"]);
    output(metadata.current_dir(directory))?;
    let after = packages(directory.join("Cargo.lock"))?;
    let other = after.iter().find(|(package, checksum)| before.get(*package) != Some(*checksum));
    ensure!(other.is_none(), "the sources would be built with {other:?}, which Cargo.lock does not have");
    Ok(())
}

/// Returns the only file in a directory with this extension.
fn only(directory: &Path, extension: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    ensure!(found.len() == 1, "maturin made {found:?}, and not one file `.{extension}`");
    found.pop().context("there is one")
}

/// Tries the wheel in a new environment without Rust.
pub(super) fn try_it(release: &Release) -> Result<()> {
    let wheel = only(&release.out, "whl")?;
    python::try_wheel(&wheel)
}
