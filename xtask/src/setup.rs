//! What a fresh machine lacks: the wasm targets, and a C compiler that knows wasm.

use std::path::Path;

use anyhow::{Result, bail};

use crate::run::{command, output, run, say, succeeds};

/// The guests' target, and the tools'.
const TARGETS: [&str; 3] = ["wasm32-unknown-unknown", "wasm32-wasip1", "wasm32-wasip2"];

/// Compilers that can build QuickJS, best first. Any clang since 14 has the wasm back end.
const COMPILERS: [&str; 5] = ["clang-19", "clang", "clang-18", "clang-17", "clang-16"];

/// Installs what is missing, or says exactly what to type. Returns the compiler for `wasm32-unknown-unknown`.
pub(crate) fn setup() -> Result<String> {
    targets()?;
    if let Some(compiler) = compiler() {
        return Ok(compiler);
    }
    if !installs() {
        bail!(
            "QuickJS is C, and building it for wasm takes clang; none was found. Type:\n\n    \
             sudo apt-get install clang-19      (Debian, Ubuntu)\n    sudo dnf install clang             (Fedora)\n    \
             brew install llvm                  (macOS; then put $(brew --prefix llvm)/bin first in PATH)\n"
        );
    }
    install("clang-19")?;
    compiler().ok_or_else(|| anyhow::anyhow!("clang-19 was installed, but it cannot compile for wasm32"))
}

/// Installs a registry of containers, which some tests push to, if there is none.
pub(crate) fn registry_server() -> Result<()> {
    if succeeds(command("docker-registry").arg("--version")) {
        return Ok(());
    }
    if !installs() {
        bail!("a registry of containers is missing. Type:\n\n    sudo apt-get install docker-registry\n");
    }
    install("docker-registry")
}

/// Whether this user may install packages of Debian.
fn installs() -> bool {
    let root = output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    root && Path::new("/usr/bin/apt-get").exists()
}

fn install(package: &str) -> Result<()> {
    say(&format!("installing {package} with apt-get"));
    let apt = |arguments: &[&str]| run(command("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments));
    apt(&["update", "-q"])?;
    apt(&["install", "-q", "-y", "--no-install-recommends", package])
}

fn targets() -> Result<()> {
    let Ok(installed) = output(command("rustup").args(["target", "list", "--installed"])) else {
        bail!("rustup is not here: get it from https://rustup.rs, or install the targets {TARGETS:?} your own way");
    };
    for target in TARGETS {
        if !installed.lines().any(|line| line.trim() == target) {
            say(&format!("installing the target {target} with rustup"));
            run(command("rustup").args(["target", "add", target]))?;
        }
    }
    Ok(())
}

/// The first compiler that really compiles for wasm.
fn compiler() -> Option<String> {
    let named = std::env::var("CC_wasm32_unknown_unknown").ok();
    let mut candidates = named.iter().map(String::as_str).chain(COMPILERS);
    let works = |compiler: &&str| {
        succeeds(command(compiler).args([
            "--target=wasm32-unknown-unknown",
            "-x",
            "c",
            "-c",
            "/dev/null",
            "-o",
            "/dev/null",
        ]))
    };
    candidates.find(works).map(str::to_owned)
}
