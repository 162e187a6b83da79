//! `git`: built from its published sources with clang for WASI 0.1 (`xtask/git`).
//!
//! git is licensed under the GPL, version 2. It is fetched and built only on request, on the user's machine; this
//! repository contains no part of it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

use super::source;
use crate::patched;
use crate::run::{command, output, root, run, say, succeeds};
use crate::setup::{may_install, setup};

pub(super) const NAME: &str = "git";
pub(super) const VERSION: &str = "2.47.3";

pub(super) const DESCRIPTION: &str =
    "git: `git init`, `git commit`, `git diff`, `git log` and most others, on the files that the policy grants.";
pub(super) const LICENSE: &str = "GPL-2.0-only";

/// SHA-256 of the archive that kernel.org publishes. Debian has the same archive.
const SHA256: &str = "9c2eb1250781b3e5bfef098572d07fdf132d67e6c065e4307332ade9819a1501";

/// Release of Debian with this version of git.
const DEBIAN: &str = "trixie";

/// Crate that contains the sources of zlib.
const ZLIB: (&str, &str, &str) =
    ("libz-sys", "1.1.33", "fee3f59f4321dab0c78d828942e7aa09d0bd8ad6e78a501977e6bf3d02938045");

/// Directory of our own files: settings, a layer of system calls below git, and patches.
const OURS: &str = "xtask/git";

/// Builds the module in a directory of its own.
pub(super) fn make(place: &Path, module: &Path) -> Result<()> {
    for program in ["make", "tar", "xz"] {
        if !succeeds(command(program).arg("--version")) {
            bail!("`{program}` is needed to build git. Type:\n\n    sudo apt-get install make tar xz-utils\n");
        }
    }
    let c = setup()?;
    let work = place.join("work");
    fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let sources = work.join(format!("{NAME}-{VERSION}"));
    unpack(&archive(&work)?, &work)?;
    patched::apply_to(&sources, OURS)?;
    let (name, version, sha256) = ZLIB;
    let zlib = work.join(name);
    source(name, version, sha256, &work, &zlib)?;
    say(&format!("building {NAME} {VERSION} (wasm32-wasip1)"));
    let ours = root().join(OURS);
    fs::copy(ours.join("config.mak"), sources.join("config.mak"))?;
    let mut make = command("make");
    make.arg("--silent").arg("-C").arg(&sources).arg("-f").arg(ours.join("Makefile"));
    make.arg(format!("--jobs={}", std::thread::available_parallelism().map_or(1, usize::from)));
    // Names of a system that git's Makefile does not know, so that it chooses nothing by itself.
    make.args(["uname_S=WASI", "uname_M=wasm32", "uname_O=WASI", "uname_R=1", "uname_V=1"]);
    make.arg(format!("OURS={}", ours.display())).arg(format!("ZLIB={}", zlib.join("src/zlib").display()));
    make.arg(format!("CLANG={}", c.compiler)).arg(format!("HEADERS={}", c.headers)).args(linker()?);
    run(make.arg("git.wasm"))?;
    fs::create_dir_all(module.parent().expect("it is in a directory"))?;
    fs::rename(sources.join("git.wasm"), module)?;
    // The objects take some hundred megabytes, and nothing else uses them.
    let _ = fs::remove_dir_all(work);
    Ok(())
}

/// Returns variables for `make`: Rust's own linker, and the C library that comes with Rust's target.
fn linker() -> Result<[String; 2]> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = output(command(&rustc).args(["--print", "sysroot"]))?;
    let about = output(command(&rustc).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    let targets = Path::new(sysroot.trim()).join("lib/rustlib");
    let library = targets.join("wasm32-wasip1/lib");
    let builtins = fs::read_dir(&library)
        .with_context(|| format!("cannot read {}", library.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcompiler_builtins-")));
    let builtins = builtins.with_context(|| format!("no compiler_builtins in {}", library.display()))?;
    let linker = targets.join(host).join("bin/rust-lld");
    let libc = library.join("self-contained/libc.a");
    Ok([format!("LD={}", linker.display()), format!("LIBS={} {}", libc.display(), builtins.display())])
}

/// Returns the path of the archive: an existing one, or one from kernel.org, or from the Debian mirror of this machine.
fn archive(work: &Path) -> Result<PathBuf> {
    let file = format!("{NAME}-{VERSION}.tar.xz");
    let path = work.join(&file);
    if !path.exists() {
        fetch(&file, &path, work)?;
    }
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let found = format!("{:x}", Sha256::digest(&bytes));
    if found != SHA256 {
        bail!(
            "{} is not what was published: its SHA-256 is {found}, and not {SHA256}; remove it and try again",
            path.display()
        );
    }
    Ok(path)
}

fn fetch(file: &str, path: &Path, work: &Path) -> Result<()> {
    say(&format!("fetching {file}"));
    let url = format!("https://www.kernel.org/pub/software/scm/git/{file}");
    let part = path.with_extension("part");
    let mut curl = command("curl");
    curl.args(["--fail", "--silent", "--location", "--connect-timeout", "20", "--output"]).arg(&part).arg(&url);
    if succeeds(&mut curl) {
        return Ok(fs::rename(part, path)?);
    }
    say("it cannot be had from kernel.org: asking Debian");
    let failed = || format!("git's sources cannot be had: put {url} at {} and try again", path.display());
    Ok(fs::rename(debian(work).with_context(failed)?, path)?)
}

/// Fetches the archive as a Debian source package. Package lists of its own leave those of the machine untouched.
fn debian(work: &Path) -> Result<PathBuf> {
    let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let mirror =
        output(command("apt-get").args(["indextargets", "--format", "$(ORIGIN) $(SITE)", "Created-By: Packages"]))?;
    let mirror = mirror.lines().find_map(|line| line.strip_prefix("Debian ")).context("this is not Debian")?;
    let apt = work.join("apt");
    for directory in ["lists/partial", "cache/archives/partial", "none"] {
        fs::create_dir_all(apt.join(directory))?;
    }
    fs::write(apt.join("sources.list"), format!("deb-src [signed-by={keyring}] {mirror} {DEBIAN} main\n"))?;
    let get = |arguments: &[&str]| {
        let mut get = command("apt-get");
        let option = |name: &str, path: &str| format!("{name}={}", apt.join(path).display());
        get.current_dir(&apt).args(["-q", "-q"]);
        get.args(["-o", &option("Dir::Etc::sourcelist", "sources.list")]);
        get.args(["-o", &option("Dir::Etc::sourceparts", "none")]);
        get.args(["-o", &option("Dir::State::lists", "lists")]);
        get.args(["-o", &option("Dir::Cache", "cache")]);
        if may_install() {
            get.args(["-o", "APT::Sandbox::User=root"]);
        }
        run(get.args(arguments))
    };
    get(&["update"])?;
    get(&["source", "--download-only", "--only-source", "-t", DEBIAN, NAME])?;
    Ok(apt.join(format!("{NAME}_{VERSION}.orig.tar.xz")))
}

/// Removes what was unpacked before, and unpacks the archive.
fn unpack(archive: &Path, work: &Path) -> Result<()> {
    let sources = work.join(format!("{NAME}-{VERSION}"));
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    run(command("tar").arg("-xf").arg(archive).arg("-C").arg(work))
}
