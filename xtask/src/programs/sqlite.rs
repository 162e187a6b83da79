//! `sqlite3`: the command-line shell of SQLite itself, which is C, built for WASI 0.1.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::run::{command, root, run, say};
use crate::setup::setup;

pub(super) const NAME: &str = "sqlite3";
/// Version of SQLite, and so of the package.
pub(super) const VERSION: &str = "3.49.1";
pub(super) const DESCRIPTION: &str = "The command-line shell of SQLite: `sqlite3 FILE 'select 1'`.";
/// SPDX identifier of the blessing that SQLite has in place of a licence.
pub(super) const LICENSE: &str = "blessing";

/// Crate that contains this version of SQLite and of its shell as their authors publish them, and the SHA-256 of the
/// crate's archive.
const CRATE: (&str, &str, &str) =
    ("sqlite3-src", "0.7.1", "2739bac4e1ca6527391698167b1392332d00123c9fc11eca16311291db6829f3");

/// Compile-time options: the extensions that distributions enable, and no processes, threads or loadable libraries.
const DEFINED: [&str; 17] = [
    "SQLITE_THREADSAFE=0",
    "SQLITE_OMIT_LOAD_EXTENSION",
    "SQLITE_OMIT_POPEN",
    "SQLITE_NOHAVE_SYSTEM",
    "SQLITE_TEMP_STORE=3",
    "SQLITE_MAX_VARIABLE_NUMBER=250000",
    "SQLITE_ENABLE_FTS4",
    "SQLITE_ENABLE_FTS5",
    "SQLITE_ENABLE_RTREE",
    "SQLITE_ENABLE_MATH_FUNCTIONS",
    "SQLITE_ENABLE_DBSTAT_VTAB",
    "SQLITE_ENABLE_EXPLAIN_COMMENTS",
    "SQLITE_ENABLE_COLUMN_METADATA",
    // `writefile` may be given a mode, but WASI cannot set one.
    "chmod(path,mode)=0",
    "_WASI_EMULATED_GETPID",
    "_WASI_EMULATED_PROCESS_CLOCKS",
    "_WASI_EMULATED_SIGNAL",
];

/// Libraries of wasi-libc that emulate features which WASI does not have.
const EMULATED: [&str; 3] = ["getpid", "process-clocks", "signal"];

/// C file with the program's entry point, compiled together with the sources of SQLite.
const MAIN: &str = "xtask/sqlite/main.c";

/// Builds the module in `place` from the sources in `sources`.
pub(super) fn make(place: &Path, sources: &Path, module: &Path) -> Result<()> {
    let c = setup()?;
    say(&format!("building {NAME} {VERSION} (wasm32-wasip1)"));
    let (package, version, sha256) = CRATE;
    super::source(package, version, sha256, place, sources)?;
    let files = [
        (root().join(MAIN), "main.o", None),
        (sources.join("source/shell.c"), "shell.o", Some("-Dmain=sqlite3_shell_main")),
        (sources.join("source/sqlite3.c"), "sqlite3.o", None),
    ];
    let mut objects = Vec::new();
    for (file, object, more) in files {
        let object = sources.join(object);
        let mut clang = command(&c.compiler);
        clang.arg("--target=wasm32-wasi").arg("-isystem").arg(c.headers());
        clang.args(DEFINED.map(|name| format!("-D{name}"))).args(more);
        run(clang.args(["-Os", "-w", "-c"]).arg(file).arg("-o").arg(&object))?;
        objects.push(object);
    }
    // Start code and libraries are those of Rust's target, so Rust's compiler links the program.
    let main = sources.join("main.rs");
    fs::write(&main, "#![no_main]\n").with_context(|| format!("cannot write {}", main.display()))?;
    fs::create_dir_all(module.parent().expect("it is in a directory"))?;
    let mut rustc = command("rustc");
    rustc.args(["--target", "wasm32-wasip1", "--edition", "2024", "-C", "opt-level=s", "-C", "strip=symbols"]);
    for object in &objects {
        rustc.arg("-C").arg(format!("link-arg={}", object.display()));
    }
    rustc.arg("-C").arg(format!("link-arg=-L{}", c.libraries()));
    for library in EMULATED {
        rustc.arg("-C").arg(format!("link-arg=-lwasi-emulated-{library}"));
    }
    run(rustc.arg(&main).arg("-o").arg(module))
}
