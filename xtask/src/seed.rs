//! Runs the published tests of amla-sandbox against its drop-in replacement `tollhouse.compat.amla_sandbox`.
//!
//! The tests are downloaded for each run. Only the tests are unpacked: the WebAssembly core of the release has another
//! licence.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use tar::Archive;

use crate::build::Profile;
use crate::python;
use crate::run::{command, root, run, say, target};

/// Release of amla-sandbox that is replaced.
const VERSION: &str = "0.2.8";

/// Runs the tests. At least 95 % must pass, and each of the others must be a known deviation.
pub(crate) fn test(profile: Profile) -> Result<()> {
    say("testing the drop-in for amla-sandbox by that package's own tests, from PyPI");
    let package = python::assemble(profile)?;
    let plugin = root().join("python/tests/seed_suite");
    let interpreter = python::environment_of("python/seed", "python/tests/seed_suite/requirements.txt")?;
    let suite = published(&interpreter)?;
    let mut tests = command(&interpreter);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "seed_suite", "--confcutdir"]).arg(&suite);
    tests.arg("-c").arg("/dev/null").arg("--rootdir").arg(&suite).arg(suite.join("tests")).current_dir(&suite);
    let modules = std::env::join_paths([&package, &plugin])?;
    run(tests.env("PYTHONPATH", modules).env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Downloads the release unless it is there, and unpacks its tests. Returns the directory that holds `tests`.
fn published(interpreter: &Path) -> Result<PathBuf> {
    let place = target().join("python/seed-suite").join(VERSION);
    if place.join("tests").is_dir() {
        return Ok(place);
    }
    let downloads = target().join("python/seed-download");
    let release = format!("amla-sandbox=={VERSION}");
    let download =
        ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"];
    run(command(interpreter).args(download).arg("--dest").arg(&downloads).arg(&release))?;
    let archive = downloads.join(format!("amla_sandbox-{VERSION}.tar.gz"));
    let unpacked = unpack_tests(&archive, &place).with_context(|| format!("cannot unpack {}", archive.display()))?;
    ensure!(unpacked > 0, "{} holds no tests", archive.display());
    Ok(place)
}

/// Writes the Python files of `*/tests/` to `place/tests`, and returns their number.
fn unpack_tests(archive: &Path, place: &Path) -> Result<usize> {
    let unfinished = place.with_extension("part");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(unfinished.join("tests"))?;
    let mut unpacked = 0;
    for entry in Archive::new(GzDecoder::new(File::open(archive)?)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        if let [_, "tests", name] = parts.as_slice()
            && name.ends_with(".py")
        {
            entry.unpack(unfinished.join("tests").join(name))?;
            unpacked += 1;
        }
    }
    fs::rename(&unfinished, place)?;
    Ok(unpacked)
}
