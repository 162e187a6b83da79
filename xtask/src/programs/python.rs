//! `python3`: CPython as componentize-py has it, from PyPI, with a command line and the standard library in memory
//! (`xtask/python`). Its first start happens here: what runs later begins where that ended.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::run::{command, root, run, say};

pub(super) const NAME: &str = "python3";
/// Of CPython, and so of the package.
pub(super) const VERSION: &str = "3.14.0";
/// What has that CPython, as WebAssembly: its version, and the SHA-256 of its wheels.
const TOOLCHAIN: &str = "xtask/python/requirements.txt";

pub(super) const DESCRIPTION: &str = "CPython: `python3 script.py`, `python3 -c 'print(1)'`, with the standard library. \
     `import tollhouse_tools` calls the tools that the policy grants to it.";
pub(super) const LICENSE: &str = "PSF-2.0";

/// What lies here, and where it goes: the toolchain writes beside what it reads.
const SOURCES: [(&str, &str); 9] = [
    ("xtask/python/app.py", "app/app.py"),
    ("xtask/python/command.py", "app/command.py"),
    ("xtask/python/library.py", "app/library.py"),
    ("xtask/python/loop.py", "app/loop.py"),
    ("xtask/python/tollhouse_tools.py", "app/tollhouse_tools.py"),
    ("xtask/python/wit/world.wit", "wit/world.wit"),
    ("xtask/python/wit/deps/cli/cli.wit", "wit/deps/cli/cli.wit"),
    ("xtask/python/wit/deps/exit/exit.wit", "wit/deps/exit/exit.wit"),
    ("wit/program/tools.wit", "wit/deps/program/tools.wit"),
];

/// Makes the component, in a directory of its own.
pub(super) fn make(place: &Path, component: &Path) -> Result<()> {
    let work = place.join("work");
    let toolchain = work.join("toolchain");
    for (from, to) in SOURCES {
        let to = work.join(to);
        fs::create_dir_all(to.parent().expect("it is in a directory"))
            .with_context(|| format!("cannot make {}", work.display()))?;
        fs::copy(root().join(from), &to).with_context(|| format!("cannot copy {from}"))?;
    }
    say("fetching componentize-py from PyPI");
    let mut pip = command("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--upgrade",
    ]);
    run(pip.arg("--target").arg(&toolchain).arg("--requirement").arg(root().join(TOOLCHAIN)))
        .context("python3 with pip is needed: `apt-get install python3-pip`")?;
    say(&format!("making {NAME} {VERSION} (a minute)"));
    let mut componentize = command("python3");
    componentize
        .args(["-c", "from componentize_py import script; script()", "-w", "python", "-d"])
        .arg(work.join("wit"));
    componentize.args(["componentize", "app", "-p"]).arg(work.join("app")).arg("-o").arg(work.join("python3.wasm"));
    run(componentize.env("PYTHONPATH", &toolchain).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    fs::create_dir_all(component.parent().expect("it is in a directory"))?;
    fs::rename(work.join("python3.wasm"), component)?;
    // Some sixty megabytes that nothing else uses.
    let _ = fs::remove_dir_all(work);
    Ok(())
}
