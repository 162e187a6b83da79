//! `tollhouse lock`, and the files that it writes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::HostError;
use tollhouse::tool::{Lock as Pins, LockFile, Locked, MAX_LOCK};
use tollhouse_registry::untrusted_file;

use super::confine::{ConfineArgs, Confinement};
use super::error::USAGE;
use super::locations::Locations;
use super::policy_file::PolicyFile;
use super::registry::trust;
use super::session_args::pair;
use super::terminal_escape::escape_toml_values;
use super::{CliError, Result, show};
use crate::Exit;

/// Name of the lock file beside a policy.
const NAME: &str = "tollhouse.lock";

/// Lock with the file that it was read from.
pub(crate) struct PinnedLock {
    pub(crate) path: PathBuf,
    pub(crate) lock: Pins,
}

/// Pin the packages that a policy mounts: component, WIT, permissions and description of each tool
///
/// The lock is written to `tollhouse.lock` beside the policy, or to `NAME.tollhouse.lock` beside `NAME.toml` if the
/// first belongs to another policy. From then on `run`, `batch`, `call`, `tools` and `session new` mount exactly the
/// pinned releases, and refuse others with a diff. Pins that still match the policy stay; `--update` takes the newest
/// matching release.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse lock --policy policy.toml
  tollhouse lock --policy policy.toml --update stats")]
pub(crate) struct LockCommand {
    /// The policy
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Mount one more package, as `run --tool` does
    #[arg(long = "tool", value_name = "ALIAS=NS:NAME@REQ", value_parser = pair)]
    tools: Vec<(String, String)>,
    /// Re-resolve this pin: its alias, or its package
    #[arg(long, value_name = "NAME")]
    update: Vec<String>,
    /// The lock file, if it is not the one beside the policy
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {alias, name, version, change, component, wit, manifest, permissions, description}
    #[arg(long)]
    json: bool,
}

impl LockCommand {
    /// Pins the packages, and reports them.
    pub(crate) fn execute(&self, locations: &Locations) -> Result {
        self.confine.seal(|| self.touched(locations))?;
        let source = PolicyFile::read(&self.policy)?;
        let mut policy = source.parse()?;
        trust::resolve(&mut policy, locations)?;
        let path = self.locked.clone().map_or_else(|| place(&self.policy), Ok)?;
        let found = if path.exists() { read_file(&path)? } else { LockFile::default() };
        let old = found.lock.clone();
        let kept = self.kept(&old)?;
        let new = self.pin(locations, &policy, &kept)?;
        let written = LockFile { policy: file_name(&self.policy), lock: new.clone() };
        save(&path, &written, &found)?;
        self.print_report(&old, &new);
        Ok(Exit::SUCCESS)
    }

    /// Returns the files that the command accesses: the lock is replaced as a whole, which takes the right to write in
    /// its directory.
    fn touched(&self, locations: &Locations) -> Confinement {
        let beside = candidates(&self.policy);
        let read = [&self.policy].into_iter().chain(&self.locked).chain(&beside);
        let directory = directory(self.locked.as_ref().unwrap_or(&self.policy));
        // A missing file is not created: the error names it.
        Confinement::of(locations, false)
            .reading(read)
            .writing_in(Some(directory).filter(|directory| directory.is_dir()))
    }

    /// Returns the pins of an old lock that are kept.
    fn kept(&self, old: &Pins) -> Result<Pins> {
        let is =
            |update: &String, alias: &String, locked: &Locked| update == alias || *update == locked.name.to_string();
        for update in &self.update {
            if !old.packages.iter().any(|(alias, locked)| is(update, alias, locked)) {
                return Err(CliError::usage(format!("the lock does not pin `{update}`"))
                    .hint("`--update` takes an alias or a package; without it, new packages are pinned"));
            }
        }
        let stays = |alias: &String, locked: &Locked| !self.update.iter().any(|update| is(update, alias, locked));
        let kept = old.packages.iter().filter(|(alias, locked)| stays(alias, locked));
        let packages = kept.map(|(alias, locked)| (alias.clone(), locked.clone())).collect();
        Ok(Pins { packages, servers: old.servers.clone() })
    }

    fn pin(&self, locations: &Locations, policy: &Policy, kept: &Pins) -> Result<Pins> {
        let host = locations.host()?;
        let pinned = host.packages().pin(policy, &self.tools, kept);
        pinned.map_err(|error| CliError::from(HostError::Mount(error)))
    }

    fn print_report(&self, old: &Pins, new: &Pins) {
        let change = |alias: &String, locked: &Locked| match old.packages.get(alias) {
            None => "pinned",
            Some(before) if before == locked => "kept",
            Some(_) => "updated",
        };
        if self.json {
            let one = |(alias, locked): (&String, &Locked)| {
                let mut object = serde_json::to_value(locked).expect("it is plain data");
                object["alias"] = json!(alias);
                object["change"] = json!(change(alias, locked));
                object
            };
            let listed: Vec<Value> = new.packages.iter().map(one).collect();
            show::json_pretty(&listed);
            return;
        }
        for (alias, locked) in &new.packages {
            show::line(format_args!("{:<8} {alias:<24} {locked}", change(alias, locked)));
        }
        for (alias, locked) in old.packages.iter().filter(|(alias, _)| !new.packages.contains_key(*alias)) {
            show::line(format_args!("{:<8} {alias:<24} {locked}", "removed"));
        }
    }
}

/// Returns the files that may be a policy's lock, its own name first. A policy on standard input has none.
pub(crate) fn candidates(policy: &Path) -> Vec<PathBuf> {
    if policy == Path::new("-") {
        return Vec::new();
    }
    let stem = policy.file_stem().unwrap_or_default();
    let mut own = stem.to_owned();
    own.push(".");
    own.push(NAME);
    vec![policy.with_file_name(own), policy.with_file_name(NAME)]
}

/// Finds the lock of a policy beside it. A lock of another policy in the directory is skipped.
pub(crate) fn of(policy: &Path) -> Result<Option<PinnedLock>> {
    for path in candidates(policy) {
        // A file that cannot be checked is not taken for absent: reading it reports the error.
        if path.try_exists().unwrap_or(true) {
            let found = read_file(&path)?;
            if is_for(&found, policy) {
                return Ok(Some(PinnedLock { path, lock: found.lock }));
            }
        }
    }
    Ok(None)
}

/// Returns the pins of the named lock, or of the one beside a policy; none if there is no lock.
pub(crate) fn pins(policy: &Path, locked: Option<&Path>) -> Result<Pins> {
    match locked {
        Some(path) => read_lock(path),
        None => Ok(of(policy)?.map(|pinned| pinned.lock).unwrap_or_default()),
    }
}

/// Writes a lock, unless it is what was found there.
pub(crate) fn save(path: &Path, written: &LockFile, found: &LockFile) -> Result<()> {
    let text = written.to_toml().expect("it was just made, of all that there is");
    if written == found && path.exists() {
        return Ok(());
    }
    // Whoever reads what is pinned sees all of it.
    let shown = escape_toml_values(&text).filter(|shown| LockFile::parse(shown).is_ok_and(|read| read == *written));
    let text = shown.unwrap_or(text);
    write(path, &text).map_err(|error| CliError::because(format!("cannot write the lock `{}`", path.display()), &error))
}

/// Returns the path where the lock of a policy is written.
pub(crate) fn place(policy: &Path) -> Result<PathBuf> {
    if let Some(found) = of(policy)? {
        return Ok(found.path);
    }
    let candidates = candidates(policy);
    let free = candidates.iter().rev().find(|path| !path.exists());
    free.cloned().ok_or_else(|| {
        CliError::usage("there is no file name for the lock beside the policy")
            .hint("name its file with `--locked FILE`")
    })
}

/// Returns true if a lock binds a policy. A lock that names another policy does not, as long as that policy exists:
/// after a policy is renamed, its lock still binds it.
fn is_for(found: &LockFile, policy: &Path) -> bool {
    match &found.policy {
        Some(name) => found.policy == file_name(policy) || !policy.with_file_name(name).exists(),
        None => true,
    }
}

/// Returns the name of a file, by which a lock names its policy.
pub(crate) fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Reads the pins of a lock.
pub(crate) fn read_lock(path: &Path) -> Result<Pins> {
    Ok(read_file(path)?.lock)
}

/// Reads a lock.
pub(crate) fn read_file(path: &Path) -> Result<LockFile> {
    let failed = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot read the lock `{}`", path.display()), error).status(USAGE)
    };
    let text = untrusted_file::read_named_text(path, MAX_LOCK).map_err(|error| failed(&std::io::Error::from(error)))?;
    LockFile::parse(&text)
        .map_err(|error| failed(&error).hint("`tollhouse lock --policy FILE` writes it; edit the policy instead"))
}

/// Returns the directory of a file.
pub(crate) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces the file as a whole, durably.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = directory(path);
    let mut builder = tempfile::Builder::new();
    // It is kept with the policy, for others to read.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name too: pins survive a power loss.
    if cfg!(unix) { fs::File::open(directory)?.sync_all() } else { Ok(()) }
}
