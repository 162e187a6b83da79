//! `cargo xtask release`: makes every file of a published version from this tree, and tries each in an environment
//! without Rust.
//!
//! All files are for Linux on x86-64, the only platform on which they can be tried. Their bytes depend on the sources,
//! the tool chain and the time of the commit, as far as cargo and maturin allow.

mod archive;
mod checks;
mod debian;
mod dependencies;
mod image;
mod installers;
mod npm;
mod program;
mod trial;
mod wheel;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use self::archive::sha256;
use self::program::Program;
use crate::run::{command, output, root, say, target};

/// Address at which releases are published.
const REPOSITORY: &str = "https://github.com/tollhouse/tollhouse";

/// Cargo profile of the binaries that users install.
const PROFILE: &str = "wheel";

/// Cargo profile of binaries that are only tried, which takes a quarter of the time to build.
const QUICK_PROFILE: &str = "release";

/// Options of the command.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReleaseOptions<'a> {
    version: Option<&'a str>,
    out: Option<&'a str>,
    profile: Option<&'a str>,
    snapshot: bool,
    /// True to check whether the release can be made, without making it.
    check: bool,
}

impl<'a> ReleaseOptions<'a> {
    fn read(arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(&argument) = rest.next() {
            let mut value = || rest.next().copied().with_context(|| format!("`{argument}` needs a value"));
            match argument {
                "--version" => options.version = Some(value()?.trim_start_matches('v')),
                "--out" => options.out = Some(value()?),
                "--profile" => options.profile = Some(value()?),
                "--snapshot" => options.snapshot = true,
                "--check" => options.check = true,
                other => bail!(
                    "`{other}` is no argument of `cargo xtask release`: there are `--version X`, `--out DIR`, `--profile NAME`, \
                     `--snapshot` and `--check`"
                ),
            }
        }
        Ok(options)
    }
}

/// Release that is being made.
struct Release {
    version: String,
    /// Time stamp of the release's files, in seconds since 1970.
    epoch: u64,
    /// Directory that the release's files are written to.
    out: PathBuf,
    /// Cargo profile that the binaries are built with.
    profile: String,
}

impl Release {
    /// Returns the time stamp in the form of RFC 3339.
    fn time(&self) -> String {
        let seconds = i64::try_from(self.epoch).ok();
        seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok()).unwrap_or_default().to_string()
    }

    fn write(&self, (name, bytes): (String, Vec<u8>)) -> Result<()> {
        let path = self.out.join(name);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    #[cfg(test)]
    fn for_tests() -> Self {
        let profile = QUICK_PROFILE.to_owned();
        Self { version: "1.2.3".to_owned(), epoch: 1_795_936_834, out: PathBuf::new(), profile }
    }
}

/// Makes a release, or only checks that it can be made.
pub(crate) fn release(arguments: &[&str]) -> Result<()> {
    let options = ReleaseOptions::read(arguments)?;
    let version = checks::check(&checks::ReleaseKind { version: options.version, snapshot: options.snapshot })?;
    if options.check {
        say(&format!("version {version} can be released"));
        return Ok(());
    }
    let profile = options.profile.unwrap_or(PROFILE).to_owned();
    let release = Release { version, epoch: epoch()?, out: directory(options.out)?, profile };
    make(&release)?;
    trial::all(&release)?;
    summary(&release)
}

/// Checks that the current tree could be released once it is tagged.
pub(crate) fn check() -> Result<()> {
    release(&["--snapshot", "--check"])
}

/// Makes an unpublished release quickly, and tries it.
pub(crate) fn test() -> Result<()> {
    release(&["--snapshot", "--profile", QUICK_PROFILE])
}

/// Makes all files of the release.
fn make(release: &Release) -> Result<()> {
    let dependencies = dependencies::of("tollhouse-cli")?;
    let program = Program::build(release, &dependencies)?;
    say("packing the binary");
    let tarball = program.tarball(release)?;
    for installer in installers::installers(release, &sha256(&tarball.1)) {
        release.write(installer)?;
    }
    release.write(tarball)?;
    release.write(debian::package(release, &program)?)?;
    release.write(image::archive(release, &program)?)?;
    npm::packages(release, &program)?.into_iter().try_for_each(|package| release.write(package))?;
    release.write(dependencies::bill(release, "tollhouse-cli", &dependencies)?)?;
    wheel::build(release)?;
    sums(release)
}

/// Writes the checksums of all files, in the form that `sha256sum --check` reads.
fn sums(release: &Release) -> Result<()> {
    let mut sums = String::new();
    for (name, path) in files(release)? {
        writeln!(sums, "{}  {name}", sha256(&fs::read(path)?))?;
    }
    release.write(("SHA256SUMS".to_owned(), sums.into_bytes()))
}

/// Returns the files of a release by name.
fn files(release: &Release) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(&release.out)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a file of ours has a name of text")?;
        files.push((name.to_owned(), path.clone()));
    }
    files.sort();
    Ok(files)
}

fn summary(release: &Release) -> Result<()> {
    say(&format!("Tollhouse {} is in {}", release.version, release.out.display()));
    for (name, path) in files(release)? {
        println!("{:>12}  {name}", path.metadata()?.len());
    }
    Ok(())
}

/// Returns the time stamp for the files of a release: `SOURCE_DATE_EPOCH`, or else the time of the last commit.
fn epoch() -> Result<u64> {
    if let Some(epoch) = std::env::var_os("SOURCE_DATE_EPOCH") {
        let seconds = epoch.to_str().and_then(|epoch| epoch.parse().ok());
        return seconds
            .with_context(|| format!("SOURCE_DATE_EPOCH is {epoch:?}, and not a number of seconds since 1970"));
    }
    Ok(output(command("git").args(["log", "-1", "--format=%ct"]))?.trim().parse()?)
}

/// Creates the directory of a release: the named one, which must be empty, or else `target/dist`, which is emptied.
fn directory(named: Option<&str>) -> Result<PathBuf> {
    let out = named.map_or_else(|| target().join("dist"), |named| root().join(named));
    if named.is_none() && out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut entries = fs::read_dir(&out)?;
    ensure!(entries.next().is_none(), "{} is not empty: what is published has to be of one release", out.display());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let options =
            ReleaseOptions::read(&["--version", "v1.2.3", "--snapshot", "--out", "dist"]).expect("they are known");
        let expected =
            ReleaseOptions { version: Some("1.2.3"), out: Some("dist"), snapshot: true, ..ReleaseOptions::default() };
        assert_eq!(options, expected);
        for wrong in [&["--out"][..], &["--snapshots"], &["1.2.3"]] {
            assert!(ReleaseOptions::read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn time_of_a_release_is_that_of_its_commit() {
        assert_eq!(Release::for_tests().time(), "2026-11-29T07:20:34Z");
    }
}
