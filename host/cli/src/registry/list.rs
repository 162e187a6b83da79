//! `tollhouse registry ls|show`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use tollhouse_registry::{Dependency, DependencyKind, PublicKey, Registry, Release, Requirement, Shown, dependencies};

use super::super::confine::ConfineArgs;
use super::super::error::USAGE;
use super::super::locations::Locations;
use super::super::{CliError, Result, format, show};
use crate::Exit;

/// List the releases
#[derive(Args)]
pub(crate) struct ListReleasesCommand {
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {name, version, digest, size, published, published_at, origin, yanked, breaking, deprecated, signed}
    #[arg(long)]
    json: bool,
}

/// Show a package: its newest matching release, its exports and permissions, its signers, its dependents
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse registry show tollhouse:stats
  tollhouse registry show tollhouse:stats@=0.1.0 --json
  tollhouse registry show acme:prices --dependencies")]
pub(crate) struct ShowPackageCommand {
    /// The package: `tollhouse:stats`, with a requirement `tollhouse:stats@^0.1`, or `stats` where one package has that name
    #[arg(value_name = "[NS:]NAME[@REQ]")]
    package: String,
    /// List each crate that it was built from, according to its component
    #[arg(long, conflicts_with = "json")]
    dependencies: bool,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ListReleasesCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        super::read_only(locations, self.confine)?;
        let releases = super::existing(locations)?.list().map_err(|error| super::unreadable(&error))?;
        if self.json {
            let listed: Vec<Value> = releases.iter().map(described).collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        if releases.is_empty() {
            note!("there are no releases in `{}`: `tollhouse publish` adds one", locations.registry.display());
        } else {
            show::line(format_args!("{:<32} {:<12} DIGEST", "PACKAGE", "VERSION"));
        }
        for release in releases {
            let (digest, marks) = (release.digest().hex(), super::marks(&release));
            show::line(format_args!("{:<32} {:<12} sha256:{}{marks}", release.name, release.version, &digest[..16]));
        }
        Ok(Exit::SUCCESS)
    }
}

impl ShowPackageCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        super::searching(locations, self.confine)?;
        let registry = super::existing(locations)?;
        let package = named(&registry, &self.package)?;
        let shown = registry
            .show(&package.name, &package.versions)
            .map_err(|error| super::failed(&format!("cannot show `{}`", package.name), &error, error.hint()))?;
        let dependents = registry.dependents(&package.name).map_err(|error| super::unreadable(&error))?;
        let names = super::trust::names(locations)?;
        let built_of = built_of(&registry, &shown.release);
        if self.json {
            print_json(&registry, &shown, &built_of, &dependents, &names);
        } else if self.dependencies {
            print_dependencies(built_of)?;
        } else {
            print_text(&registry, &shown, &built_of, &dependents, &names);
        }
        Ok(Exit::SUCCESS)
    }
}

/// Parses a requirement whose namespace may be left out if only one package of the registry has the name.
fn named(registry: &Registry, text: &str) -> Result<Requirement> {
    let parse = |text: &str| {
        text.parse::<Requirement>()
            .map_err(|error| CliError::because(format!("cannot show `{text}`"), &error).status(USAGE))
    };
    if text.contains(':') {
        return parse(text);
    }
    let (short, versions) = text.split_once('@').map_or((text, None), |(short, versions)| (short, Some(versions)));
    let latest = registry.latest().map_err(|error| super::unreadable(&error))?;
    let names: Vec<String> = latest
        .iter()
        .filter(|release| release.name.package() == short)
        .map(|release| release.name.to_string())
        .collect();
    match names.as_slice() {
        [name] => parse(&versions.map_or_else(|| name.clone(), |versions| format!("{name}@{versions}"))),
        [] => Err(CliError::usage(format!("the registry has no package `{short}`"))
            .status(1)
            .hint("`tollhouse registry ls` lists the releases")),
        _ => Err(CliError::usage(format!("`{short}` could be {}", names.join(" or "))).hint("name one of them")),
    }
}

/// Returns a release as JSON.
pub(super) fn described(release: &Release) -> Value {
    let since = release.published.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let deprecated = release.deprecated.as_ref();
    json!({
        "name": release.name.to_string(),
        "version": release.version.to_string(),
        "digest": format!("sha256:{}", release.digest().hex()),
        "size": release.component.size,
        "published": since.as_secs(),
        "published_at": format::time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)),
        "origin": release.origin.as_ref().map(ToString::to_string),
        "yanked": release.yanked,
        "breaking": release.breaking,
        "deprecated": deprecated.map(|it| {
            json!({ "message": it.message, "replacement": it.replacement.as_ref().map(ToString::to_string) })
        }),
        "signed": release.signatures.iter().map(|signature| signature.key.to_string()).collect::<Vec<_>>(),
    })
}

/// Crates that a component lists; `None` if it lists none. The error is for people.
type BuiltOf = Result<Option<Vec<Dependency>>>;

fn built_of(registry: &Registry, release: &Release) -> BuiltOf {
    let unknown = format!("cannot determine what `{}` was built from", release.full_name());
    let component = registry.load_component(release).map_err(|error| super::failed(&unknown, &error, error.hint()))?;
    dependencies(&component).map_err(|error| super::failed(&unknown, &error, error.hint()))
}

fn print_dependencies(built_of: BuiltOf) -> Result {
    for Dependency { name, version, source, kind, .. } in built_of?.into_iter().flatten() {
        let kind = if kind == DependencyKind::Build { "  builds it" } else { "" };
        show::line(format_args!("{name:<32} {version:<12} {source}{kind}"));
    }
    Ok(Exit::SUCCESS)
}

/// Describes how many crates the component was built from.
fn count(dependencies: &[Dependency]) -> String {
    let builders = dependencies.iter().filter(|one| one.kind == DependencyKind::Build).count();
    let crates = |count: usize| format!("{count} crate{}", if count == 1 { "" } else { "s" });
    let within = crates(dependencies.len() - builders);
    if builders == 0 { within } else { format!("{within}, and {builders} that built it") }
}

/// Returns the signers of a release, each with the problem of its signature, if any.
fn signatures(registry: &Registry, release: &Release) -> Vec<(PublicKey, Option<String>)> {
    let check = |key| registry.verify_signature(release, key).err().map(|error| error.to_string());
    release.signatures.iter().map(|signature| (signature.key, check(&signature.key))).collect()
}

fn print_json(
    registry: &Registry,
    shown: &Shown,
    built_of: &BuiltOf,
    dependents: &[String],
    names: &BTreeMap<PublicKey, String>,
) {
    let Shown { release, manifest, wit, readme, versions, .. } = shown;
    let mut object = described(release);
    object["description"] = json!(manifest.description);
    object["license"] = json!(manifest.license);
    object["permissions"] = json!(manifest.permissions);
    object["signatures"] = signatures(registry, release)
        .into_iter()
        .map(|(key, problem)| json!({ "key": key.to_string(), "name": names.get(&key), "problem": problem }))
        .collect();
    object["versions"] = versions.iter().map(described).collect();
    object["dependencies"] = match built_of {
        Ok(list) => json!(list),
        Err(problem) => json!({ "problem": problem.to_string() }),
    };
    object["dependents"] = json!(dependents);
    object["wit"] = json!(wit);
    object["readme"] = json!(readme);
    show::json_pretty(&object);
}

/// Formats a publisher's text so that it cannot be taken for a line of ours: its further lines are indented.
fn labelled(label: &str, text: &str) -> String {
    format!("{label}: {}", text.lines().collect::<Vec<_>>().join("\n  "))
}

fn print_text(
    registry: &Registry,
    shown: &Shown,
    built_of: &BuiltOf,
    dependents: &[String],
    names: &BTreeMap<PublicKey, String>,
) {
    let Shown { release, manifest, wit, versions, .. } = shown;
    let line = |text: String| show::line(text);
    line(release.full_name().to_string());
    line(format!("sha256:{}  {} bytes", release.digest().hex(), release.component.size));
    if let Some(description) = &manifest.description {
        line(labelled("description", description));
    }
    let since = release.published.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    line(format!("published {}", format::short_time(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))));
    if let Some(origin) = &release.origin {
        line(format!("pulled from {origin}"));
    }
    if release.yanked {
        line("yanked: it is not resolved any more".to_owned());
    }
    if let Some(deprecated) = &release.deprecated {
        line(labelled("deprecated", &deprecated.to_string()));
    }
    if release.breaking {
        line("it breaks what earlier releases had that its version is compatible with".to_owned());
    }
    for (key, problem) in signatures(registry, release) {
        let who = names.get(&key).map_or_else(|| key.to_string(), |name| format!("{name} ({key})"));
        line(match problem {
            None => format!("signed by {who}"),
            Some(problem) => format!("NOT signed by {who}: {problem}"),
        });
    }
    let asks = serde_json::to_value(&manifest.permissions).expect("permissions are plain data");
    for (key, asked) in asks.as_object().into_iter().flatten() {
        if asked.as_array().is_some_and(|asked| !asked.is_empty()) {
            line(format!("asks for {key}: {asked}"));
        }
    }
    let others = versions.iter().filter(|other| other.version != release.version);
    let others: Vec<String> = others.map(|other| format!("{}{}", other.version, super::marks(other))).collect();
    if !others.is_empty() {
        line(format!("other versions: {}", others.join(", ")));
    }
    match built_of {
        Ok(None) => {}
        Ok(Some(list)) => line(format!("dependencies: {}", count(list))),
        Err(problem) => line(format!("dependencies: {problem}")),
    }
    if !dependents.is_empty() {
        line(format!("needed by: {}", dependents.join(", ")));
    }
    line(format!("\n{wit}"));
}
