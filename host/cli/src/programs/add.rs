//! `tollhouse programs add`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use semver::Version;
use serde_json::json;
use tollhouse::tool::names::{Face, Spelling, taken_by};
use tollhouse_registry::{
    Anatomy, ComponentError, Digest, MAX_COMPONENT, Manifest, PackageName, PublishError, PublishRequest, Registry,
    Release, ReleaseName, anatomy, finish, package_dir, untrusted_file,
};

use super::super::author::CtrlCHandler;
use super::super::confine::{ConfineArgs, Confinement};
use super::super::error::USAGE;
use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::registry::{failed, open, unreadable};
use super::super::{CliError, Result, format, publish, show};
use super::python::PythonBuilder;
use super::{COMPILED, MADE, fetch, is_program, package_of};
use crate::Exit;

/// Magic number of every WebAssembly binary.
const WASM: &[u8] = b"\0asm";
/// Magic number of every ZIP archive, such as a Python wheel.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// Add a program that scripts can run as a command
///
/// `python3` is CPython with its standard library. It is built and compiled once, in a minute or more, by `python3 -m
/// pip` and PyPI's componentize-py, whose SHA-256 this version of Tollhouse knows. An existing release stays as it is.
/// If the command is interrupted, the registry is unchanged.
///
/// Other programs are taken from a file, a package directory or a URL, and published as `local:NAME`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse programs add python3
  tollhouse run --allow python3/run --lang sh -e 'python3 -c \"print(6 * 7)\"'
  tollhouse programs add python3 --from componentize_py-0.25.1-cp37-abi3-manylinux_2_28_x86_64.whl
  tollhouse programs add wordcount --from target/wasm32-wasip1/release/wordcount.wasm
  tollhouse programs add wordcount --from https://example.com/wordcount.wasm --sha256 6b86…")]
pub(crate) struct AddProgramCommand {
    /// `python3`, or the name for the program that `--from` names
    #[arg(value_name = "NAME")]
    name: String,
    /// Take it from here: a component or a core module for WASI 0.1, the directory of a package, or the URL of a file;
    /// for `python3` also the file (wheel) of componentize-py
    #[arg(long, value_name = "FILE|DIR|URL")]
    from: Option<String>,
    /// The SHA-256 that the file must have
    #[arg(long, value_name = "HEX", requires = "from", value_parser = digest)]
    sha256: Option<Digest>,
    /// The version to publish a file as, if it is not `python3` [default: 0.1.0]
    #[arg(long, value_name = "VERSION", requires = "from")]
    version: Option<Version>,
    /// Write the package to this directory instead of publishing it: `--from DIR` adds it on another machine
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: name, program, version, digest, already; with `--output`: directory
    #[arg(long)]
    json: bool,
}

/// Parses a SHA-256, with or without `sha256:`.
fn digest(text: &str) -> std::result::Result<Digest, String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text).to_lowercase();
    format!("sha256:{hex}").parse().map_err(|_| "it must be 64 hexadecimal digits".to_owned())
}

impl AddProgramCommand {
    /// Adds the program, and reports it.
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let package = package_of(&self.name)?;
        if let Some(what) = taken_by(&self.name, Spelling::Wit, Face::Command) {
            return Err(CliError::usage(format!("`{}` is {what}, which cannot be replaced", self.name))
                .hint("choose another name"));
        }
        if self.version.is_some() && self.is_made() {
            return Err(CliError::usage(format!(
                "`{}` is always {}: `--version` is for others",
                MADE.name, MADE.version
            )));
        }
        if self.from.is_none() && self.output.is_none() {
            let registry = open(locations)?;
            if let Some(release) = self.find(&registry)? {
                return self.take_again(&registry, &release);
            }
        }
        let stop = CtrlCHandler::listen();
        let progress = Progress::new(format!("adding {}", self.name));
        let request = self.request(&package, locations, &stop, &progress);
        drop(progress);
        let request = request?;
        // Everything written from here on is complete or absent.
        stop.end_at_once()?;
        if let Some(output) = &self.output {
            return self.write(output, &request);
        }
        // Everything is here. Fetching it took the network, and programs of the system.
        let wall = || self.confine.seal(|| Confinement::of(locations, false).writing_in(Some(&locations.registry)));
        stop.behind(wall)?;
        let published = open(locations)?.publish(request).map_err(|error| self.refused(&error))?;
        if published.release.yanked {
            return self.take_again(&open(locations)?, &published.release);
        }
        self.print_report(&published.release, published.already);
        if !published.already {
            publish::compile(locations, published.release);
        }
        Ok(Exit::SUCCESS)
    }

    /// Returns true if the program is built by this command.
    fn is_made(&self) -> bool {
        self.name == MADE.name
    }

    /// Returns the existing release; for a program that is compiled elsewhere, the newest.
    fn find(&self, registry: &Registry) -> Result<Option<Release>> {
        if self.is_made() {
            let ReleaseName { name, version } = MADE.release();
            return registry.release(&name, &version).map_err(|error| unreadable(&error));
        }
        let all = registry.list().map_err(|error| unreadable(&error))?;
        let is_it = |release: &Release| release.name.namespace() == "tollhouse" && release.name.package() == self.name;
        let found = all.into_iter().filter(|release| COMPILED.contains(&self.name.as_str()) && is_it(release));
        Ok(found.max_by(|one, other| one.version.cmp(&other.version)))
    }

    /// Unyanks an existing release.
    fn take_again(&self, registry: &Registry, release: &Release) -> Result {
        if release.yanked {
            registry
                .yank(&release.full_name(), false)
                .map_err(|error| failed(&format!("cannot add `{}` again", self.name), &error, error.hint()))?;
        }
        self.print_report(release, !release.yanked);
        Ok(Exit::SUCCESS)
    }

    /// Builds the request to publish.
    fn request(
        &self,
        package: &PackageName,
        locations: &Locations,
        stop: &CtrlCHandler,
        progress: &Progress,
    ) -> Result<PublishRequest> {
        let bytes = match self.from.as_deref() {
            None if self.is_made() => None,
            None => return Err(self.nowhere()),
            Some(from) if fetch::is_address(from) => Some(fetch::fetch(from, stop, progress)?),
            Some(from) if Path::new(from).is_dir() => return self.directory(Path::new(from)),
            Some(from) => Some(self.read(Path::new(from))?),
        };
        if let (Some(bytes), Some(wanted)) = (&bytes, self.sha256)
            && Digest::of(bytes) != wanted
        {
            let what = format!("`{}` is not what `--sha256` says: it has {}", self.shown(), Digest::of(bytes));
            return Err(CliError::usage(what).status(1).hint("nothing of it was used"));
        }
        let component = match bytes {
            Some(bytes) if bytes.starts_with(WASM) => {
                self.check_pinned()?;
                bytes
            }
            Some(bytes) if !(bytes.starts_with(ARCHIVE) && self.is_made()) => {
                return Err(self.no_program("it does not begin like WebAssembly"));
            }
            wheel => make_python(wheel, locations, stop, progress)?,
        };
        let uses_files = self.uses_files(&component, package)?;
        let mut request = PublishRequest::new(component);
        request.manifest = Some(self.manifest(package, uses_files));
        request.check().map_err(|error| self.refused(&error))?;
        Ok(request)
    }

    /// Checks that a file from the network has a known digest; without one it is not used.
    fn check_pinned(&self) -> Result<()> {
        if self.sha256.is_none() && self.from.as_deref().is_some_and(fetch::is_address) {
            return Err(CliError::usage(format!("the content of `{}` must be known", self.shown()))
                .hint("say its SHA-256, as its publisher does: `--sha256 HEX`"));
        }
        Ok(())
    }

    /// Returns the error for a program that cannot be fetched.
    fn nowhere(&self) -> CliError {
        let name = &self.name;
        if COMPILED.contains(&name.as_str()) {
            let what = format!("`{name}` is not fetched: its project publishes no WebAssembly");
            return CliError::usage(what).hint(format!(
                "in a checkout of Tollhouse, with its toolchains, `cargo xtask programs {name}` makes and publishes \
                 it; `--from DIR` takes what that leaves in `target/programs/{name}-…`"
            ));
        }
        CliError::usage(format!("`{name}` is not a known program: {}, {}", MADE.name, COMPILED.join(", ")))
            .hint("`--from FILE` adds any WebAssembly program under that name")
    }

    /// Reads a package from a directory, as `--output` wrote it.
    fn directory(&self, from: &Path) -> Result<PublishRequest> {
        if self.sha256.is_some() {
            return Err(CliError::usage("`--sha256` is for a file, and `--from` names a directory"));
        }
        let what = format!("cannot add `{}`", from.display());
        let request = package_dir(from).map_err(|error| publish::package_error(&what, &error))?;
        let manifest = request.manifest.as_deref().map(Manifest::parse).transpose();
        let manifest = manifest.map_err(|error| CliError::because(what.clone(), &error))?;
        match manifest {
            Some(manifest) if manifest.name.package() == self.name => {}
            Some(manifest) => {
                let (shown, name) = (from.display(), &manifest.name);
                return Err(CliError::usage(format!("`{shown}` is the package `{name}`, and not `{}`", self.name))
                    .hint(format!("`tollhouse programs add {} --from {shown}`", name.package())));
            }
            None => {
                return Err(CliError::usage(format!("`{}` is not a package: it has no `tool.toml`", from.display()))
                    .hint("name the component in it"));
            }
        }
        self.uses_files(&request.component, &package_of(&self.name)?)?;
        Ok(request)
    }

    fn read(&self, from: &Path) -> Result<Vec<u8>> {
        untrusted_file::read_named(from, MAX_COMPONENT as u64).map_err(|error| {
            CliError::because(format!("cannot read `{}`", from.display()), &io::Error::from(error)).status(USAGE)
        })
    }

    /// Checks that a component, or a core module, is a program. Returns true if it can use files.
    fn uses_files(&self, component: &[u8], package: &PackageName) -> Result<bool> {
        let unfit = |error: &ComponentError| failed(&format!("cannot add `{}`", self.name), error, error.hint());
        let about = Manifest::parse(&self.manifest(package, false)).expect("the manifest is made here");
        // A core module is converted to a component to be inspected. The published component is made of the original
        // bytes.
        let finished = finish(component.to_vec(), &about, None, &[]).map_err(|error| unfit(&error))?;
        let Anatomy { imports, exports, .. } = anatomy(&finished).map_err(|error| unfit(&error))?;
        if !is_program(&exports) {
            return Err(self.no_program("it exports no `wasi:cli/run`"));
        }
        Ok(imports.iter().any(|import| import.starts_with("wasi:filesystem/")))
    }

    fn no_program(&self, why: &str) -> CliError {
        let mut hint =
            "a program is what a toolchain makes of a `main` for `wasm32-wasip1` or `wasm32-wasip2`".to_owned();
        if self.is_made() {
            hint += "; `python3` is also made of the file (wheel) of componentize-py";
        }
        CliError::usage(format!("`{}` is not a program: {why}", self.shown())).status(1).hint(hint)
    }

    fn refused(&self, error: &PublishError) -> CliError {
        let told = failed(&format!("cannot add `{}`", self.name), error, error.hint());
        match self.version {
            None if !self.is_made() => told.also("`--version VERSION` adds it as another one"),
            _ => told,
        }
    }

    /// Returns the source that `--from` names, for messages.
    fn shown(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.name)
    }

    /// Writes a package directory, the component last: a component that exists is complete.
    fn write(&self, output: &Path, request: &PublishRequest) -> Result {
        let unwritten = |error: &io::Error| CliError::because(format!("cannot write `{}`", output.display()), error);
        let bin = output.join("bin");
        fs::create_dir_all(&bin).map_err(|error| unwritten(&error))?;
        let component = format!("bin/{}.wasm", self.name);
        let manifest = request.manifest.as_deref().unwrap_or_default();
        let manifest = manifest.replacen("\nversion", &format!("\ncomponent = \"{component}\"\nversion"), 1);
        let write = |path: PathBuf, bytes: &[u8]| -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(output))?;
            io::Write::write_all(&mut file, bytes)?;
            file.persist(path)?;
            Ok(())
        };
        write(output.join("tool.toml"), manifest.as_bytes()).map_err(|error| unwritten(&error))?;
        write(output.join(&component), &request.component).map_err(|error| unwritten(&error))?;
        if self.json {
            show::json(&json!({ "program": self.name, "directory": output.display().to_string() }));
        } else {
            let size = format::size(request.component.len() as u64);
            show::line(format_args!("wrote {} ({size}) to {}", self.name, output.display()));
        }
        Ok(Exit::SUCCESS)
    }

    /// Returns the manifest of a program. Policies decide what it may access: it asks for whatever files they grant.
    fn manifest(&self, package: &PackageName, uses_files: bool) -> String {
        let (version, more, asks) = if self.is_made() {
            let more = format!("description = \"{}\"\nlicense = \"{}\"\n", MADE.description, MADE.license);
            (MADE.version.to_owned(), more, MADE.asks)
        } else {
            let version = self.version.clone().unwrap_or(Version::new(0, 1, 0));
            (version.to_string(), format!("description = \"The program `{}`.\"\n", self.name), "")
        };
        let files = if uses_files { "files = [\"/\"]\n" } else { "" };
        format!("name = \"{package}\"\nversion = \"{version}\"\n{more}\n[permissions]\n{files}{asks}")
    }

    fn print_report(&self, release: &Release, already: bool) {
        let ReleaseName { name, version } = release.full_name();
        if self.json {
            show::json(&json!({
                "program": self.name, "name": name.to_string(), "version": version.to_string(),
                "digest": release.digest().to_string(), "already": already,
            }));
            return;
        }
        let words = if already { "already added" } else { "added" };
        show::line(format_args!("{words} {name}@{version} {}", release.digest()));
        show::line(format_args!("`--allow {0}/run` lets a script run `{0}`, on the session's files", self.name));
    }
}

/// Builds `python3` from a file of componentize-py, which is fetched if it is not given.
fn make_python(
    wheel: Option<Vec<u8>>,
    locations: &Locations,
    stop: &CtrlCHandler,
    progress: &Progress,
) -> Result<Vec<u8>> {
    let directory = tempfile::Builder::new().prefix("tollhouse-python3-").tempdir();
    let directory = directory.map_err(|error| CliError::because("cannot make a directory to work in", &error))?;
    let maker = PythonBuilder::new(&locations.program, directory.path(), stop, progress);
    let wheel = wheel.map_or_else(|| maker.fetch(), Ok)?;
    maker.make(&wheel)
}
