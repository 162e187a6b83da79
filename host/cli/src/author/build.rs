//! `tollhouse build`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tollhouse_registry::{
    Anatomy, ComponentError, MAX_COMPONENT, Manifest, ReleaseName, Requirement, anatomy, compose, finish,
    package_manifest, package_wit, untrusted_file,
};

use super::super::confine::{ConfineArgs, Confinement};
use super::super::locations::Locations;
use super::super::publish::package_error;
use super::super::registry::failed;
use super::super::{format, show};
use super::lang::{self, BuildJob, ToolchainOutput};
use super::{CliError, CtrlCHandler, Result, directory};
use crate::Exit;

/// Build a tool: one component that carries its name, version, description, licence, authors and WIT text
///
/// PATH is a package directory. `[build]` in its `tool.toml` determines how it is built, with `lang` (rust,
/// rust-cargo-component, js, python, c) or with `command` and `output`; without it, the files of the package do. The
/// component goes to build/NAME.wasm, or to the path of `component` in `tool.toml`; `tollhouse publish` takes it from
/// there. A component built by cargo also carries the list of its crates.
///
/// The releases that `compose` under `[build]` names become parts of the component: their exports serve its imports
/// from within, and calls of them do not go through the gate.
///
/// The toolchain is yours: it runs on this machine, as you, with your network, and is not sandboxed. Build what you trust.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse build
  tollhouse build tools/prices --json")]
pub(crate) struct BuildCommand {
    /// A package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Small and fast, and slow to build [default]
    #[arg(long, conflicts_with = "debug")]
    release: bool,
    /// Quick to build, with debug information where the language has any
    #[arg(long)]
    debug: bool,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: name, version, lang, component, size, code, data, notes, composed, imports, exports,
    /// millis
    #[arg(long)]
    json: bool,
}

/// Result of a build.
pub(super) struct BuildResult {
    manifest: Manifest,
    lang: &'static str,
    component: PathBuf,
    anatomy: Anatomy,
    /// Releases that were composed into it.
    composed: Vec<ReleaseName>,
    took: Duration,
}

impl BuildCommand {
    /// Builds the component, and reports the result.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let directory = directory(&self.path)?;
        let wall = |component: &Path| {
            self.confine.seal(|| Confinement::of(locations, false).reading([&directory]).writing_in(component.parent()))
        };
        let built = build(locations, &directory, self.debug, &CtrlCHandler::listen(), &wall)?;
        if self.json {
            built.print_json_report()
        } else {
            built.print_report()
        }
        Ok(Exit::SUCCESS)
    }
}

/// Builds a package. When the toolchain, which is not confined, has ended, `wall` is called with the component's path.
pub(super) fn build(
    locations: &Locations,
    directory: &Path,
    debug: bool,
    stop: &Arc<CtrlCHandler>,
    wall: &dyn Fn(&Path) -> Result<()>,
) -> Result<BuildResult> {
    let begun = Instant::now();
    let shown = directory.display();
    let unbuilt = |error| package_error(&format!("cannot build `{shown}`"), &error);
    let manifest = package_manifest(directory).map_err(unbuilt)?;
    let wit = package_wit(directory).map_err(unbuilt)?;
    let job = BuildJob { directory, manifest: &manifest, wit: wit.as_deref(), debug, stop };
    let ToolchainOutput { lang, left, built_of } = lang::build(&job)?;
    let made = untrusted_file::read_regular(&left, MAX_COMPONENT as u64).map_err(|error| {
        let what = format!("the build left no readable file at `{}`", left.display());
        CliError::because(what, &std::io::Error::from(error))
            .hint("`output` under `[build]` in `tool.toml` names the path of its output")
    })?;
    let component = directory.join(manifest.built());
    stop.behind(|| wall(&component))?;
    let unfit = |error: ComponentError| {
        failed(&format!("the build output `{}` is not a component", left.display()), &error, error.hint())
    };
    let mut finished = finish(made, &manifest, wit.as_deref(), &built_of).map_err(unfit)?;
    let parts = parts(locations, &manifest)?;
    let composed: Vec<ReleaseName> = parts.iter().map(|(release, _)| release.clone()).collect();
    if !parts.is_empty() {
        let composition = composition(&manifest, finished, parts)?;
        finished = finish(composition, &manifest, wit.as_deref(), &built_of).map_err(unfit)?;
    }
    let anatomy = anatomy(&finished).map_err(unfit)?;
    write(&component, &finished)
        .map_err(|error| CliError::because(format!("cannot write `{}`", component.display()), &error))?;
    Ok(BuildResult { manifest, lang, component, anatomy, composed, took: begun.elapsed() })
}

/// Returns the releases to compose with, and their components.
fn parts(locations: &Locations, manifest: &Manifest) -> Result<Vec<(ReleaseName, Vec<u8>)>> {
    let wanted = manifest.build.as_ref().map(|build| build.compose.as_slice()).unwrap_or_default();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let registry =
        locations.registry().checked().map_err(|error| CliError::because("cannot open the registry", &error))?;
    let part = |wanted: &Requirement| {
        let unfound = format!("cannot compose with `{wanted}`");
        let release =
            registry.resolve(&wanted.name, &wanted.versions).map_err(|error| failed(&unfound, &error, error.hint()))?;
        let component = registry.load_component(&release).map_err(|error| failed(&unfound, &error, error.hint()))?;
        Ok((release.full_name(), component))
    };
    wanted.iter().map(part).collect()
}

fn composition(manifest: &Manifest, component: Vec<u8>, parts: Vec<(ReleaseName, Vec<u8>)>) -> Result<Vec<u8>> {
    let parts = parts.into_iter().map(|(release, part)| (release.to_string(), part)).collect();
    compose((manifest.name.as_str(), component), parts).map_err(|error| {
        CliError::because("the component cannot be composed", &error)
            .hint("`compose` under `[build]` in `tool.toml` names the releases; each must export what the tool imports")
    })
}

/// Writes a file as a whole, replacing an existing one: whoever publishes or mounts a component at the same time sees
/// the old one or the new one.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

impl BuildResult {
    /// Prints the report, for people.
    fn print_report(&self) {
        let Anatomy { size, code, data, notes, imports, exports, .. } = &self.anatomy;
        let Manifest { name, version, .. } = &self.manifest;
        show::line(format_args!("built {name}@{version} in {:.1} s", self.took.as_secs_f64()));
        show::line(format_args!("  component  {}, {}", self.component.display(), format::size(*size)));
        let parts = [("code", code), ("data", data), ("notes", notes)]
            .map(|(what, size)| format!("{what} {}", format::size(*size)));
        show::line(format_args!("  of that    {}", parts.join(", ")));
        for release in &self.composed {
            show::line(format_args!("  composed   {release}"));
        }
        for (what, names) in [("imports", imports), ("exports", exports)] {
            let names = if names.is_empty() { "nothing".to_owned() } else { by_package(names) };
            show::line(format_args!("  {what}    {}", names));
        }
    }

    fn print_json_report(&self) {
        let Anatomy { size, code, data, notes, imports, exports, .. } = &self.anatomy;
        show::json(&json!({
            "name": self.manifest.name.to_string(), "version": self.manifest.version.to_string(), "lang": self.lang,
            "component": self.component.display().to_string(), "size": size, "code": code, "data": data,
            "notes": notes, "composed": self.composed.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "imports": imports, "exports": exports,
            "millis": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        }));
    }
}

/// Formats names of interfaces, grouped by package: `wasi:cli/{exit,stdout}@0.2.6`.
fn by_package(names: &[String]) -> String {
    let mut packages: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for name in names {
        let (package, rest) = name.split_once('/').unwrap_or(("", name));
        let (interface, version) = rest.split_once('@').unwrap_or((rest, ""));
        match packages.iter_mut().find(|(known, at, _)| (*known, *at) == (package, version) && !package.is_empty()) {
            Some((.., interfaces)) => interfaces.push(interface),
            None => packages.push((package, version, vec![interface])),
        }
    }
    let shown = packages.into_iter().map(|(package, version, interfaces)| {
        let slash = if package.is_empty() { "" } else { "/" };
        let at = if version.is_empty() { "" } else { "@" };
        match &interfaces[..] {
            [one] => format!("{package}{slash}{one}{at}{version}"),
            several => format!("{package}/{{{}}}{at}{version}", several.join(",")),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::by_package;

    #[test]
    fn interfaces_of_a_package_are_told_together() {
        let names = ["wasi:cli/exit@0.2.6", "plain", "wasi:cli/stdout@0.2.6", "wasi:io/poll@0.2.6", "a:b/c"];
        let names = names.map(str::to_owned);
        assert_eq!(by_package(&names), "wasi:cli/{exit,stdout}@0.2.6 plain wasi:io/poll@0.2.6 a:b/c");
    }
}
