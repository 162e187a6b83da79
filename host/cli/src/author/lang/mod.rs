//! Toolchains: which one a package uses, how it is run, and where it writes its output.

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
use super::{CliError, CtrlCHandler, Result};

/// Output path of toolchains that accept one, in the package's directory.
const LEFT: &str = "build/componentized.wasm";

/// Size of the largest text file of a package that is read, in bytes.
const MAX_TEXT: u64 = 4 << 20;

/// Package that is being built.
pub(super) struct BuildJob<'a> {
    /// Absolute path of the package's directory.
    pub(super) directory: &'a Path,
    pub(super) manifest: &'a Manifest,
    /// Text of `wit/`, without references to other files. `None` if the directory does not exist.
    pub(super) wit: Option<&'a str>,
    /// True for a quick build instead of small and fast output.
    pub(super) debug: bool,
    pub(super) stop: &'a CtrlCHandler,
}

/// Output of a toolchain.
pub(super) struct ToolchainOutput {
    /// Name of the toolchain.
    pub(super) lang: &'static str,
    /// Path of the component or core module.
    pub(super) left: PathBuf,
    /// Crates that cargo built it from; empty for other toolchains.
    pub(super) built_of: Vec<Dependency>,
}

/// Runs the toolchain.
pub(super) fn build(job: &BuildJob<'_>) -> Result<ToolchainOutput> {
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
    Ok(ToolchainOutput { lang: language.map_or("command", Language::name), left: output.unwrap_or(left), built_of })
}

/// Detects the language from the files in the directory.
fn detect(job: &BuildJob<'_>) -> Result<Language> {
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
    let unknown = CliError::usage(format!("nothing in `{}` determines how it is built", job.directory.display()));
    Err(unknown.hint(
        "say it in `tool.toml`: `[build]` with `lang` (rust, rust-cargo-component, js, python, c), or with `command`, a \
         list of words, and `output`, the file that it makes",
    ))
}

impl BuildJob<'_> {
    /// Returns a command that runs in the package's directory.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory);
        command
    }

    /// Returns a command that the manifest gives. A program named by its path is in the package.
    fn words(&self, words: &[String]) -> Command {
        let (program, arguments) = words.split_first().expect("who asks has looked");
        let mut command = match program.contains('/') {
            true => self.command(self.directory.join(program)),
            false => self.command(program),
        };
        command.args(arguments);
        command
    }

    /// Runs a program that must succeed, and prints its command line. Its output goes to standard error. `missing` is
    /// the hint if the program is not found.
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

    /// Runs a program that ends quickly, and returns its output. Returns `None` if it does not exist, or fails.
    fn ask(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Option<String> {
        let mut command = self.command(program);
        command.args(arguments);
        let output = capture(command, self.stop).ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Returns true if the installed dependencies are those that this text asks for: [`BuildJob::installed`] recorded
    /// them.
    fn is_installed(&self, stamp: &str, wanted: &str) -> bool {
        self.text(stamp).is_ok_and(|text| text.as_deref() == Some(wanted))
    }

    fn installed(&self, stamp: &str, wanted: &str) {
        // Without the marker, they are installed again the next time.
        let _ = write(&self.directory.join(stamp), wanted.as_bytes());
    }

    /// Returns the path where a toolchain is told to write its output. The output of an earlier build is removed, so
    /// that it is not mistaken for that of this build.
    fn left(&self) -> PathBuf {
        let left = self.directory.join(LEFT);
        // If the file stays, the toolchain cannot write it either, and reports that.
        let _ = fs::remove_file(&left);
        left
    }

    /// Reads a text file of the package. Returns `None` if it does not exist.
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

/// Runs a program to its end; Ctrl-C ends it, and all processes that it started.
pub(super) fn spawn(command: Command, stop: &CtrlCHandler) -> io::Result<ExitStatus> {
    stop.run(command, |mut child| child.wait())
}

/// Runs a program like [`spawn`], and captures its output.
fn capture(command: Command, stop: &CtrlCHandler) -> io::Result<Output> {
    stop.capture(command)
}
