//! The Python package: assembles it from its sources and the native module that cargo built, and tests it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::build::Profile;
use crate::run::{command, output, root, run, say, succeeds, target};

/// Requirements file of the tests.
const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// Requirements file of the libraries that the package integrates with.
const INTEGRATIONS: &str = "python/tests/integrations/requirements.txt";

/// Requirements file of CrewAI, which needs earlier releases than the other libraries do.
const CREWAI: &str = "python/tests/integrations/requirements-crewai.txt";

/// Tests the package with the native module of a build.
pub(crate) fn test(profile: Profile) -> Result<()> {
    say("testing the Python package");
    let package = assemble(profile)?;
    run(&mut pytest(&environment()?, &package, profile))
}

/// Tests the package at length, and with the libraries that it integrates with. `programs` is a registry with
/// `python3`.
pub(crate) fn test_full(profile: Profile, programs: &Path) -> Result<()> {
    say("testing the Python package at length");
    let package = assemble(profile)?;
    let long = ["tests/test_leaks.py", "tests/test_service.py"];
    run(pytest(&environment()?, &package, profile).args(long).env("TOLLHOUSE_FULL", "1"))?;
    say("testing the integrations of the Python package");
    let python = environment_of("python/integrations", INTEGRATIONS)?;
    run(pyright(&python).args(["--project", "tests/integrations/pyrightconfig.json"]))?;
    reference(&python, &package, &target().join("python/reference"))?;
    run(pytest(&python, &package, profile).arg("tests/integrations").env("TOLLHOUSE_TEST_REGISTRY", programs))?;
    let others = ["tests/test_examples.py", "tests/test_docstrings.py"];
    run(pytest(&python, &package, profile).args(["-p", "no:asyncio"]).args(others))?;
    say("testing the integration with CrewAI");
    let python = environment_of("python/crewai", CREWAI)?;
    let crewai = |tests: &[&str]| run(pytest(&python, &package, profile).args(["-k", "crewai"]).args(tests));
    crewai(&["tests/integrations/test_crewai.py", "tests/integrations/test_documented.py"])?;
    crewai(&["-p", "no:asyncio", "tests/test_examples.py"])
}

fn pytest(python: &Path, package: &Path, profile: Profile) -> Command {
    let mut pytest = command(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).current_dir(root().join("python"));
    pytest.env("PYTHONPATH", package).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONSAFEPATH", "1");
    pytest.env("TOLLHOUSE_BIN", target().join(profile.directory()).join("tollhouse"));
    pytest
}

/// Measures the package of a release build, and the seed system if it is installed, with the same script.
pub(crate) fn bench(seed_python: Option<PathBuf>) -> Result<()> {
    let package = assemble(Profile::Release)?;
    let measure = |python: &Path, module: &str| {
        let mut measured = command(python);
        measured.args(["python/bench/measure.py", module]).env("PYTHONPATH", &package);
        let text = output(&mut measured)?;
        let figures: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text)?;
        Ok::<_, anyhow::Error>(figures)
    };
    let own = measure(&environment()?, "tollhouse")?;
    let seed = match &seed_python {
        Some(python) => measure(python, "amla_sandbox")?,
        None => serde_json::Map::new(),
    };
    println!("{:<50} {:>12} {:>12} {:>8}", "Python", "tollhouse", "seed", "times");
    for (name, figure) in &own {
        let other = seed.get(name).and_then(serde_json::Value::as_f64);
        let figure = figure.as_f64().unwrap_or_default();
        let shown = |figure: f64| if name.starts_with("memory") { bytes(figure) } else { time(figure) };
        let times = other.map(|other| format!("{:.0}", other / figure)).unwrap_or_default();
        println!("{name:<50} {:>12} {:>12} {times:>8}", shown(figure), other.map(shown).unwrap_or_default());
    }
    say("how threads scale");
    run(command(environment()?).arg("python/bench/threads.py").args(seed_python).env("PYTHONPATH", &package))
}

/// PyPI packages that build wheels. zig links against an older glibc than this machine's.
const MATURIN: [&str; 2] = ["maturin==1.16.0", "ziglang==0.17.1"];

/// Script that a wheel must run in an environment without other packages.
const TRIED: &str = r#"
from tollhouse import create_sandbox_tool, Session
def add(a: int, b: int) -> int:
    return a + b
box = create_sandbox_tool(tools=[add])
assert box.run("return await add({a: 1, b: 2})", "javascript") == "3"
assert box.run("seq 3 | paste -sd+ | tee sum.txt", "shell") == "1+2+3"
with Session.open("s", store="store") as session:
    session.files["a"] = b"1"
with Session.open("s", store="store") as session:
    print(session.shell("cat a"), __import__("tollhouse").__file__)
"#;

/// Python environment with maturin.
pub(crate) struct Maturin(PathBuf);

impl Maturin {
    /// Returns a maturin command that runs in `python/`.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut maturin = command(self.0.join("bin/maturin"));
        maturin.arg(name).current_dir(root().join("python"));
        // maturin looks for zig on `PATH`.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.0.join("bin")).chain(std::env::split_paths(&path));
        maturin.env("PATH", std::env::join_paths(path).expect("no directory of PATH has a separator in its name"));
        maturin
    }
}

/// Installs maturin if it is missing.
pub(crate) fn maturin() -> Result<Maturin> {
    let tools = target().join("python/maturin");
    let installed = |program: &str| succeeds(command(tools.join("bin").join(program)).arg("--help"));
    if !installed("maturin") || !installed("python-zig") {
        say("installing maturin and zig, from PyPI");
        make(&tools)?;
        run(command(tools.join("bin/python")).args(["-m", "pip", "install", "--quiet"]).args(MATURIN))?;
    }
    Ok(Maturin(tools))
}

/// Builds a wheel for this machine, and tries it in a new environment without Rust.
pub(crate) fn wheel() -> Result<()> {
    let maturin = maturin()?;
    say("building the wheel; the first time takes 20 minutes");
    let wheels = target().join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut build = maturin.command("build");
    build.args(["--profile", "wheel", "--out"]).arg(&wheels).arg("--target-dir").arg(target());
    // The stored guests, which the package compiles when it first starts: compiled ones take twice the bytes.
    run(build.env("TOLLHOUSE_GUESTS_DIR", ""))?;
    let wheel = fs::read_dir(&wheels)?.next().context("maturin made no wheel")??.path();
    try_wheel(&wheel)
}

/// Tries a wheel in a new environment without Rust, and prints how long that takes.
pub(crate) fn try_wheel(wheel: &Path) -> Result<()> {
    say("trying the wheel where there is no Rust");
    let fresh = target().join("python/fresh");
    make(&fresh)?;
    let started = Instant::now();
    run(command(fresh.join("bin/python")).args(["-m", "pip", "install", "--quiet", "--no-index"]).arg(wheel))?;
    let installed = started.elapsed();
    let place = fresh.join("home");
    fs::create_dir_all(&place)?;
    let mut tried = command(fresh.join("bin/python"));
    tried.args(["-I", "-c", TRIED]).current_dir(&place).env_clear().env("HOME", &place).env("PATH", "/usr/bin:/bin");
    run(&mut tried)?;
    let mut line = command(fresh.join("bin/tollhouse"));
    line.args(["run", "-e", "return 'from the command line'"]).current_dir(&place).env_clear().env("HOME", &place);
    run(&mut line)?;
    let (size, all) = (fs::metadata(wheel)?.len() as f64 / 1e6, started.elapsed());
    println!("{} ({size:.1} MB): installed in {installed:.1?}, three results after {all:.1?}", wheel.display());
    Ok(())
}

fn time(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.0} us", seconds * 1e6) } else { format!("{:.1} ms", seconds * 1e3) }
}

fn bytes(bytes: f64) -> String {
    format!("{:.0} KB", bytes / 1024.0)
}

/// Checks format, lints and types of the package and its examples.
pub(crate) fn check() -> Result<()> {
    say("checking the Python package");
    let python = environment()?;
    run(module(&python, "ruff").args(["check", "--no-cache"]))?;
    run(module(&python, "ruff").args(["format", "--check", "--no-cache"]))?;
    run(&mut pyright(&python))?;
    // A run takes two seconds with a cache, half a minute without.
    run(module(&python, "mypy").arg("--cache-dir").arg(target().join("python/mypy")))
}

/// Returns a Pyright command that sees the libraries of an environment.
fn pyright(python: &Path) -> Command {
    let mut pyright = module(python, "pyright");
    pyright.arg("--pythonpath").arg(python);
    pyright
}

/// Returns a command that runs a module of an environment in `python/`.
fn module(python: &Path, name: &str) -> Command {
    let mut module = command(python);
    module.args(["-m", name]).current_dir(root().join("python"));
    module
}

/// Modules that the reference of the package documents.
const REFERENCE: [&str; 12] = [
    "tollhouse",
    "tollhouse.auth",
    "tollhouse.prompts",
    "tollhouse.runs",
    "tollhouse.gate_queries",
    "tollhouse.durable_runs",
    "tollhouse.integrations.deepagents",
    "tollhouse.integrations.langgraph",
    "tollhouse.integrations.openai_agents",
    "tollhouse.integrations.openai_sandbox",
    "tollhouse.integrations.pydantic_ai",
    "tollhouse.integrations.smolagents",
];

/// Builds the reference of a debug build's package in a directory.
pub(crate) fn reference_to(directory: &Path) -> Result<()> {
    reference(&environment_of("python/integrations", INTEGRATIONS)?, &assemble(Profile::Debug)?, directory)
}

/// Builds the reference of the package from its docstrings, in an environment with all libraries that it integrates
/// with.
fn reference(python: &Path, package: &Path, directory: &Path) -> Result<()> {
    say("building the reference of the Python package");
    let mut pdoc = module(python, "pdoc");
    // Warnings are errors: an annotation with an unknown name, a docstring that cannot be parsed.
    pdoc.env("PYTHONPATH", package)
        .env("PYTHONSAFEPATH", "1")
        .env("PYTHONWARNINGS", "error")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    // In a directory without an entry called `tollhouse`: otherwise pdoc would not know which of the two is meant.
    pdoc.current_dir(target().join("python"));
    pdoc.args(["--docformat", "google", "--output-directory"]).arg(directory);
    run(pdoc.args(REFERENCE))
}

/// Assembles the package as it would be installed, and returns the directory for `PYTHONPATH`. The directory must
/// contain nothing else: Python would take an environment in it that is called `crewai` for the package CrewAI.
pub(crate) fn assemble(profile: Profile) -> Result<PathBuf> {
    let (from, parent) = (root().join("python/tollhouse"), target().join("python/package"));
    let to = parent.join("tollhouse");
    if to.exists() {
        fs::remove_dir_all(&to).with_context(|| format!("cannot clear {}", to.display()))?;
    }
    copy_sources(&from, &to)?;
    let library = format!("{}tollhouse_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = target().join(profile.directory()).join(library);
    fs::copy(&library, to.join("_native.abi3.so")).with_context(|| format!("{} is not built", library.display()))?;
    Ok(parent)
}

fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().expect("an entry has a name");
        // `maturin develop` leaves a native module next to the sources, which is not copied.
        let is_source = path.extension().is_some_and(|extension| extension == "py" || extension == "pyi");
        if path.is_dir() && name != "__pycache__" {
            copy_sources(&path, &to.join(name))?;
        } else if is_source || name == "py.typed" {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Returns the interpreter of an environment with the requirements of the tests.
fn environment() -> Result<PathBuf> {
    environment_of("python/environment", REQUIREMENTS)
}

/// Returns the interpreter of an environment with the packages of a requirements file, which is created if it is
/// missing or out of date.
pub(crate) fn environment_of(place: &str, requirements: &str) -> Result<PathBuf> {
    let place = target().join(place);
    let python = place.join("bin/python");
    let wanted = fs::read_to_string(root().join(requirements))?;
    let marker = place.join("requirements.txt");
    if succeeds(command(&python).arg("--version")) && fs::read_to_string(&marker).is_ok_and(|had| had == wanted) {
        return Ok(python);
    }
    say(&format!("installing what {requirements} names, from PyPI"));
    make(&place)?;
    run(command(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]))?;
    fs::write(&marker, wanted)?;
    Ok(python)
}

fn make(place: &Path) -> Result<()> {
    let new_enough = "import sys; print(sys.version_info >= (3, 11))";
    if output(command("python3").args(["-c", new_enough])).is_ok_and(|text| text.trim() == "True")
        && succeeds(command("python3").args(["-m", "venv", "--clear"]).arg(place))
    {
        return Ok(());
    }
    bail!(
        "the Python package is tested with Python 3.11 or later and its `venv`; `python3` is not that. Type:\n\n    \
         sudo apt-get install python3 python3-venv     (Debian 12, Ubuntu 24.04 or later)\n"
    )
}
