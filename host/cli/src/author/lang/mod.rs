//! Toolchains: which one a package wants, how it is run, and where it leaves what it made.

mod c;
mod crates;
mod js;
mod python;
mod rust;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use tollhouse_registry::untrusted_file::{self, ReadError};
use tollhouse_registry::{Dependency, Language, Manifest};
use wit_parser::{Resolve, WorldId};

use super::super::error::USAGE;
use super::build::write;
use super::{CliError, Result, Stop};

/// Where the toolchains that can be told leave what they made, in the package's directory.
const LEFT: &str = "build/componentized.wasm";

/// Largest text file of a package that is looked into, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// A package that is to be built.
pub(super) struct Job<'a> {
    /// Its directory, absolute.
    pub(super) directory: &'a Path,
    pub(super) manifest: &'a Manifest,
    /// The text of `wit/`, which stands alone. None if there is no such directory.
    pub(super) wit: Option<&'a str>,
    /// Whether it is to be quick to build instead of small and fast.
    pub(super) debug: bool,
    pub(super) stop: &'a Stop,
}

/// What a toolchain made.
pub(super) struct Made {
    /// What the toolchain is called.
    pub(super) lang: &'static str,
    /// Where it left a component or a core module.
    pub(super) left: PathBuf,
    /// The crates that cargo built it of. Of other toolchains, none.
    pub(super) built_of: Vec<Dependency>,
}

/// Runs the toolchain.
pub(super) fn build(job: &Job<'_>) -> Result<Made> {
    let own = job.manifest.build.as_ref();
    let command = own.map(|build| build.command.as_slice()).unwrap_or_default();
    let language = match own.and_then(|build| build.lang) {
        None if !command.is_empty() => None,
        None => Some(detect(job)?),
        named => named,
    };
    fs::create_dir_all(job.directory.join("build"))
        .map_err(|error| CliError::because(format!("cannot make `{}/build`", job.directory.display()), &error))?;
    let output = own.and_then(|build| build.output.as_ref()).map(|output| job.directory.join(output));
    let mut built_of = Vec::new();
    let left = match language {
        Some(Language::Js) => js::build(job, command)?,
        Some(Language::Python) => python::build(job, command)?,
        _ if !command.is_empty() => {
            job.run(job.words(command), "it is `command` under `[build]` in `tool.toml`")?;
            job.directory.join(job.manifest.built())
        }
        Some(Language::C) => c::build(job)?,
        Some(Language::RustCargoComponent) => {
            let left = rust::build_with_cargo_component(job)?;
            built_of = crates::list(job, "wasm32-wasip1")?;
            left
        }
        _ => {
            let left = rust::build(job)?;
            built_of = crates::list(job, "wasm32-wasip2")?;
            left
        }
    };
    Ok(Made { lang: language.map_or("command", Language::name), left: output.unwrap_or(left), built_of })
}

/// What lies in a directory tells how it is built.
fn detect(job: &Job<'_>) -> Result<Language> {
    let is_there = |name: &str| job.directory.join(name).is_file();
    if let Some(cargo) = job.text("Cargo.toml")? {
        let table = toml::from_str::<toml::Table>(&cargo).ok();
        let found = table.as_ref().and_then(|table| table.get("package")?.get("metadata")?.get("component"));
        return Ok(if found.is_some() { Language::RustCargoComponent } else { Language::Rust });
    }
    if is_there("package.json") {
        return Ok(Language::Js);
    }
    if is_there("requirements.txt") || is_there("pyproject.toml") {
        return Ok(Language::Python);
    }
    if !c::sources(job)?.is_empty() {
        return Ok(Language::C);
    }
    let unknown = CliError::usage(format!("nothing in `{}` says how it is built", job.directory.display()));
    Err(unknown.hint(
        "say it in `tool.toml`: `[build]` with `lang` (rust, rust-cargo-component, js, python, c), or with `command`, a \
         list of words, and `output`, the file that it makes",
    ))
}

impl Job<'_> {
    /// A program, to be run in the package's directory.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory);
        command
    }

    /// A command that the manifest gives. A program that is named by its path lies in the package.
    fn words(&self, words: &[String]) -> Command {
        let (program, arguments) = words.split_first().expect("who asks has looked");
        let mut command = match program.contains('/') {
            true => self.command(self.directory.join(program)),
            false => self.command(program),
        };
        command.args(arguments);
        command
    }

    /// Runs a program that must succeed, and says so. What it prints goes to standard error. `missing` says what to do
    /// where it is not found.
    fn run(&self, mut command: Command, missing: &str) -> Result<()> {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let shown = words.join(" ").replace(&format!("{}/", self.directory.display()), "");
        note!("running `{shown}`");
        command.stdin(Stdio::null()).stdout(std::io::stderr());
        let status = spawn(command, self.stop).map_err(|error| {
            let failed = CliError::because(format!("cannot run `{shown}`"), &error);
            if error.kind() == std::io::ErrorKind::NotFound { failed.hint(missing) } else { failed }
        })?;
        self.stop.check()?;
        if status.success() {
            return Ok(());
        }
        Err(CliError::usage(format!("`{shown}` failed: {status}")).status(1))
    }

    /// Asks a program something that takes no time: what it prints. None if it is not there, or fails.
    fn ask(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Option<String> {
        let mut command = self.command(program);
        command.args(arguments);
        let output = capture(command, self.stop).ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Whether what was installed is what this text asks for: [`Job::installed`] has written it down.
    fn is_installed(&self, stamp: &str, wanted: &str) -> bool {
        self.text(stamp).is_ok_and(|text| text.as_deref() == Some(wanted))
    }

    fn installed(&self, stamp: &str, wanted: &str) {
        // Without it, it is installed again the next time.
        let _ = write(&self.directory.join(stamp), wanted.as_bytes());
    }

    /// Where a toolchain is told to leave what it makes. What an earlier build left is taken away, so that it is not
    /// taken for what this one makes.
    fn left(&self) -> PathBuf {
        let left = self.directory.join(LEFT);
        // If it is there and stays, the toolchain cannot write it either, and says so.
        let _ = fs::remove_file(&left);
        left
    }

    /// Reads a text file of the package. None if there is none.
    fn text(&self, name: &str) -> Result<Option<String>> {
        let path = self.directory.join(name);
        match untrusted_file::read_regular_text(&path, MAX_TEXT) {
            Ok(text) => Ok(Some(text)),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let what = format!("cannot read `{}`", path.display());
                Err(CliError::because(what, &io::Error::from(error)).status(USAGE))
            }
        }
    }

    /// Resolves the one world of `wit/`.
    fn world(&self) -> Result<(Resolve, WorldId)> {
        let path = self.directory.join("wit");
        let failed = |problem: String| CliError::usage(format!("`{}` cannot be read: {problem}", path.display()));
        let text = self.wit.ok_or_else(|| failed("there is no such directory".to_owned()))?;
        let mut resolve = Resolve::default();
        let package = match resolve.push_str(&path, text) {
            Ok(package) => package,
            Err(error) => return Err(failed(resolve.render_error(&error))),
        };
        let world = resolve.select_world(&[package], None).map_err(|error| failed(format!("{error:#}")))?;
        Ok((resolve, world))
    }
}

/// Runs a program to its end; Ctrl-C ends it, and all that it started.
pub(super) fn spawn(command: Command, stop: &Stop) -> io::Result<ExitStatus> {
    stop.run(command, |mut child| child.wait())
}

/// The same, of a program whose output is wanted.
fn capture(command: Command, stop: &Stop) -> io::Result<Output> {
    stop.capture(command)
}
