//! Installs what a fresh machine lacks: the wasm targets of Rust, a C compiler for wasm, and the headers of a C
//! library.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run::{command, output, run, say, succeeds};

/// Rust targets of the guests, of programs and of tools.
const TARGETS: [&str; 3] = ["wasm32-unknown-unknown", "wasm32-wasip1", "wasm32-wasip2"];

/// Compilers that can build QuickJS, the best first. Any clang since 14 can generate wasm.
const COMPILERS: [&str; 5] = ["clang-19", "clang", "clang-18", "clang-17", "clang-16"];

/// Directories of the headers of wasi-libc in the packages of Debian, Fedora, Arch and Homebrew.
const HEADERS: [&str; 5] = [
    "/usr/include/wasm32-wasi",
    "/usr/wasm32-wasi/include",
    "/usr/share/wasi-sysroot/include/wasm32-wasi",
    "/opt/homebrew/opt/wasi-libc/share/wasi-sysroot/include/wasm32-wasi",
    "/usr/local/opt/wasi-libc/share/wasi-sysroot/include/wasm32-wasi",
];

/// Compiler and headers for C code in tools.
pub(crate) struct CToolchain {
    /// Path of clang.
    pub(crate) compiler: String,
    /// Directory with the headers of wasi-libc. The library itself comes with Rust's target.
    pub(crate) headers: &'static str,
}

impl CToolchain {
    /// Returns the directory of the headers of wasi-libc.
    pub(crate) fn headers(&self) -> &'static str {
        self.headers
    }

    /// Returns the directory of the wasi-libc libraries that do not come with Rust's target.
    pub(crate) fn libraries(&self) -> String {
        match self.headers.strip_suffix("/include") {
            Some(root) => format!("{root}/lib"),
            None => self.headers.replace("/include/", "/lib/"),
        }
    }

    /// Sets the environment in which cargo compiles the C code in tools. The headers are for the older name of the
    /// target, which links the same.
    pub(crate) fn for_tools<'c>(&self, cargo: &'c mut Command) -> &'c mut Command {
        let flags = format!("--target=wasm32-wasi -isystem {}", self.headers);
        cargo.env("CC_wasm32_wasip2", &self.compiler).env("CFLAGS_wasm32_wasip2", flags)
    }
}

/// Returns the directory where cargo keeps sources: `CARGO_HOME`, or else `.cargo` in the user's home.
pub(crate) fn cargo_home() -> Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    named.or_else(home).context("neither CARGO_HOME nor HOME is set")
}

/// Installs what the build of guests needs, and returns the path of a C compiler for wasm.
pub(crate) fn wasm_compiler() -> Result<String> {
    Ok(setup()?.compiler)
}

/// Installs what is missing, or fails with the commands to type.
pub(crate) fn setup() -> Result<CToolchain> {
    targets(&TARGETS)?;
    if let Some(found) = found() {
        return Ok(found);
    }
    if !may_install() {
        bail!(
            "QuickJS and SQLite are C, and building them for wasm takes clang and the headers of wasi-libc; not both were \
             found. Type:\n\n    \
             sudo apt-get install clang-19 wasi-libc       (Debian, Ubuntu)\n    \
             sudo dnf install clang wasi-libc-devel        (Fedora)\n    \
             brew install llvm wasi-libc                   (macOS; then put $(brew --prefix llvm)/bin first in PATH)\n"
        );
    }
    for package in ["clang-19", "wasi-libc"] {
        install(package)?;
    }
    found().ok_or_else(|| anyhow::anyhow!("clang-19 and wasi-libc were installed, but they cannot compile for wasm32"))
}

fn found() -> Option<CToolchain> {
    let headers = HEADERS.into_iter().find(|directory| Path::new(directory).join("stdio.h").exists())?;
    Some(CToolchain { compiler: compiler()?, headers })
}

/// Installs a container registry for the tests that push to one, if it is missing.
pub(crate) fn registry_server() -> Result<()> {
    if succeeds(command("docker-registry").arg("--version")) {
        return Ok(());
    }
    if !may_install() {
        bail!("a registry of containers is missing. Type:\n\n    sudo apt-get install docker-registry\n");
    }
    install("docker-registry")
}

/// Installs a program that the shell is compared with, if it is missing.
pub(crate) fn reference_program(package: &str, program: &str) -> Result<()> {
    if succeeds(command("sh").args(["-c", &format!("command -v {program}")])) {
        return Ok(());
    }
    if !may_install() {
        bail!(
            "`{program}`, which the shell is compared with, is missing. Type:\n\n    sudo apt-get install {package}\n"
        );
    }
    install(package)
}

/// Returns true if this user may install packages with apt-get.
pub(crate) fn may_install() -> bool {
    let root = output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    root && Path::new("/usr/bin/apt-get").exists()
}

fn install(package: &str) -> Result<()> {
    say(&format!("installing {package} with apt-get"));
    let apt = |arguments: &[&str]| run(command("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments));
    apt(&["update", "-q"])?;
    apt(&["install", "-q", "-y", "--no-install-recommends", package])
}

/// Installs missing targets of Rust.
pub(crate) fn targets(targets: &[&str]) -> Result<()> {
    let Ok(installed) = output(command("rustup").args(["target", "list", "--installed"])) else {
        bail!("rustup is not here: get it from https://rustup.rs, or install the targets {targets:?} your own way");
    };
    for &target in targets {
        if !installed.lines().any(|line| line.trim() == target) {
            say(&format!("installing the target {target} with rustup"));
            run(command("rustup").args(["target", "add", target]))?;
        }
    }
    Ok(())
}

/// Returns the first compiler that can really compile for wasm.
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
