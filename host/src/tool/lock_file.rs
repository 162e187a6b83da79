//! Pinned releases and MCP servers: those of a session, and those of a `tollhouse.lock`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use tollhouse_registry::{Digest, Error as RegistryError, PackageName, Permissions, Registry, Release, Requirement};

use super::mcp_server::PinnedServer;
use super::mounted::MountError;
use super::package::Package;

/// Version of the file format. A reader that does not know it refuses the file.
const FORM: u32 = 1;

/// Largest `tollhouse.lock` that is read, in bytes: that of some five thousand tools.
pub const MAX_LOCK: u64 = 4 << 20;

/// Comment at the head of the file.
const HEAD: &str = "\
# What the policy mounts, to the byte. `tollhouse lock` writes this file: keep it with the policy.
";

/// Bytes of a diff that a message shows.
const MAX_DIFF: usize = 4_000;

/// Prefix of the name of a server among the aliases of a session's record. No alias has a colon.
const SERVER_PREFIX: &str = "mcp:";

/// Pinned releases by alias, and pinned definitions of MCP servers by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "LockRecord", into = "LockRecord")]
pub struct Lock {
    /// Releases by alias.
    pub packages: BTreeMap<String, Locked>,
    /// Definitions of the tools of MCP servers, by the servers' names.
    pub servers: BTreeMap<String, PinnedServer>,
}

/// Lock in a session's record: one map, as earlier versions of this program wrote it for releases alone.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct LockRecord(BTreeMap<String, LockEntry>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LockEntry {
    Package(Locked),
    Server(PinnedServer),
}

impl From<LockRecord> for Lock {
    fn from(record: LockRecord) -> Self {
        let mut lock = Self::default();
        for (name, entry) in record.0 {
            match entry {
                LockEntry::Package(locked) => drop(lock.packages.insert(name, locked)),
                LockEntry::Server(server) => {
                    let name = name.strip_prefix(SERVER_PREFIX).unwrap_or(&name).to_owned();
                    lock.servers.insert(name, server);
                }
            }
        }
        lock
    }
}

impl From<Lock> for LockRecord {
    fn from(lock: Lock) -> Self {
        let packages = lock.packages.into_iter().map(|(alias, locked)| (alias, LockEntry::Package(locked)));
        let server = |(name, server)| (format!("{SERVER_PREFIX}{name}"), LockEntry::Server(server));
        Self(packages.chain(lock.servers.into_iter().map(server)).collect())
    }
}

/// Pinned release, identified by everything that matters of a tool: its code, its interface, its description and its
/// permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    /// Name of the package.
    pub name: PackageName,
    /// Version of the release.
    pub version: semver::Version,
    /// sha256 of the component, in hexadecimal; so are the others.
    pub component: String,
    /// sha256 of the WIT text.
    pub wit: String,
    /// sha256 of the manifest, which holds the description and the requested permissions.
    pub manifest: String,
    /// sha256 of the requested permissions. Earlier versions of this program did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// sha256 of the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Content of a `tollhouse.lock`: the pinned releases, and the policy that they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Name of the policy's file, in the same directory. Earlier versions of this program did not store it.
    pub policy: Option<String>,
    /// Releases that are pinned.
    pub lock: Lock,
}

/// Error of a text that is not a lock file.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The text is not TOML, or has an unknown key.
    #[error("{0}")]
    Text(String),
    /// A later version of this program wrote the file.
    #[error("its format version {0} is unknown to this version of Tollhouse")]
    Newer(u32),
}

/// Lock file as TOML.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockDocument {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    #[serde(default)]
    tool: BTreeMap<String, WrittenTool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    mcp: BTreeMap<String, BTreeMap<String, WrittenDefinition>>,
}

/// Definition of a tool of an MCP server.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDefinition {
    digest: Digest,
    definition: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    package: PackageName,
    version: semver::Version,
    component: Digest,
    wit: Digest,
    manifest: Digest,
    permissions: Digest,
    description: Digest,
}

impl LockFile {
    /// Parses a `tollhouse.lock`.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let written: LockDocument =
            toml::from_str(text).map_err(|error| LockError::Text(error.message().to_owned()))?;
        if written.version != FORM {
            return Err(LockError::Newer(written.version));
        }
        let locked = written.tool.into_iter().map(|(alias, tool)| {
            let locked = Locked {
                name: tool.package,
                version: tool.version,
                component: tool.component.hex(),
                wit: tool.wit.hex(),
                manifest: tool.manifest.hex(),
                permissions: Some(tool.permissions.hex()),
                description: Some(tool.description.hex()),
            };
            (alias, locked)
        });
        let packages = locked.collect();
        let servers = written.mcp.into_iter().map(|(name, tools)| {
            let mut server = PinnedServer::default();
            for (tool, WrittenDefinition { digest, definition }) in tools {
                let read = server.read(&tool, &digest, &definition);
                read.map_err(|error| LockError::Text(format!("`mcp.{name}`: {error}")))?;
            }
            Ok((name, server))
        });
        let servers = servers.collect::<Result<_, LockError>>()?;
        Ok(Self { policy: written.policy, lock: Lock { packages, servers } })
    }

    /// Formats a `tollhouse.lock`. Returns `None` if a version made the lock that stored less than the file needs.
    #[must_use]
    pub fn to_toml(&self) -> Option<String> {
        let digest = |hex: &String| format!("sha256:{hex}").parse().ok();
        let tool = |(alias, locked): (&String, &Locked)| {
            let tool = WrittenTool {
                package: locked.name.clone(),
                version: locked.version.clone(),
                component: digest(&locked.component)?,
                wit: digest(&locked.wit)?,
                manifest: digest(&locked.manifest)?,
                permissions: digest(locked.permissions.as_ref()?)?,
                description: digest(locked.description.as_ref()?)?,
            };
            Some((alias.clone(), tool))
        };
        let tool = self.lock.packages.iter().map(tool).collect::<Option<_>>()?;
        let definitions = |server: &PinnedServer| {
            let definition = |(name, digest, text): (&str, Digest, &str)| {
                (name.to_owned(), WrittenDefinition { digest, definition: text.to_owned() })
            };
            server.written().map(definition).collect()
        };
        let mcp = self.lock.servers.iter().map(|(name, server)| (name.clone(), definitions(server))).collect();
        let text = toml::to_string(&LockDocument { version: FORM, policy: self.policy.clone(), tool, mcp }).ok()?;
        Some(format!("{HEAD}{text}"))
    }
}

impl Lock {
    /// Parses the pinned releases of a `tollhouse.lock`.
    ///
    /// # Errors
    /// As [`LockFile::parse`].
    pub fn parse(text: &str) -> Result<Self, LockError> {
        Ok(LockFile::parse(text)?.lock)
    }

    /// Formats a `tollhouse.lock` without a policy. As [`LockFile::to_toml`].
    #[must_use]
    pub fn to_toml(&self) -> Option<String> {
        LockFile { policy: None, lock: self.clone() }.to_toml()
    }

    /// Returns true if the other lock pins the same bytes under the same aliases.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let bytes = |lock: &Self| -> Vec<_> {
            let parts = |locked: &Locked| (locked.component.clone(), locked.wit.clone(), locked.manifest.clone());
            lock.packages.iter().map(|(alias, locked)| (alias.clone(), parts(locked))).collect()
        };
        bytes(self) == bytes(other) && self.servers == other.servers
    }

    /// Checks that the lock pins every requested tool, and returns the other pinned releases. For a request of a whole
    /// registry, the pinned releases are the request.
    pub(super) fn check(
        &self,
        named: Option<&BTreeMap<String, String>>,
        more: &[(String, String)],
    ) -> Result<Vec<String>, MountError> {
        let pins = |alias: &str, problem: String| MountError::Pins { alias: alias.to_owned(), problem };
        let asked = || named.into_iter().flatten().chain(more.iter().map(|(alias, requirement)| (alias, requirement)));
        for (alias, requirement) in asked() {
            let wanted: Requirement =
                requirement.parse().map_err(|source| MountError::Requirement { alias: alias.clone(), source })?;
            match self.packages.get(alias) {
                None => return Err(pins(alias, "it is mounted, but the lock does not pin it".to_owned())),
                Some(locked) if !locked.fits(&wanted) => {
                    return Err(pins(alias, format!("the policy requests `{wanted}`, but the lock pins {locked}")));
                }
                Some(_) => {}
            }
        }
        let is_extra = |alias: &&String| named.is_some() && !asked().any(|(other, _)| other == *alias);
        Ok(self.packages.keys().filter(is_extra).cloned().collect())
    }

    /// Checks that the lock pins the servers that a policy names, and no others.
    pub(super) fn check_servers<'n>(&self, named: impl Iterator<Item = &'n String>) -> Result<(), MountError> {
        let named: BTreeSet<&String> = named.collect();
        if let Some(server) = named.iter().find(|name| !self.servers.contains_key(**name)) {
            return Err(MountError::UnpinnedServer((*server).clone()));
        }
        match self.servers.keys().find(|name| !named.contains(name)) {
            None => Ok(()),
            Some(extra) => {
                let problem = "the lock pins this MCP server, but the policy does not name it".to_owned();
                Err(MountError::Pins { alias: extra.clone(), problem })
            }
        }
    }
}

impl Locked {
    /// Pins the release of a package.
    #[must_use]
    pub fn of(package: &Package) -> Self {
        let release = package.release();
        Self {
            name: release.name.clone(),
            version: release.version.clone(),
            component: release.component.digest.hex(),
            wit: release.wit.digest.hex(),
            manifest: release.manifest.digest.hex(),
            permissions: Some(of_permissions(package.permissions())),
            description: Some(of_description(package.description())),
        }
    }

    /// Returns true if the release satisfies a requirement such as `acme:payments@^1`.
    pub(crate) fn fits(&self, wanted: &Requirement) -> bool {
        wanted.name == self.name && wanted.versions.matches(&self.version)
    }

    /// Returns the part of a release that differs from the pinned one, with a diff.
    pub(super) fn differs(
        &self,
        registry: &Registry,
        release: &Release,
    ) -> Result<Option<(&'static str, String)>, RegistryError> {
        let parts = [
            ("component", &self.component, release.component.digest),
            ("interface", &self.wit, release.wit.digest),
            ("manifest", &self.manifest, release.manifest.digest),
        ];
        let mut differing = parts.into_iter().filter(|(_, pinned, found)| **pinned != found.hex());
        let Some((mut what, ..)) = differing.clone().next() else { return Ok(None) };
        if what == "manifest" {
            let manifest = registry.load_manifest(release)?;
            let is = |own: &Option<String>, found: String| own.as_ref().is_none_or(|own| *own == found);
            if !is(&self.description, of_description(manifest.description.as_deref())) {
                what = "description";
            }
            if !is(&self.permissions, of_permissions(&manifest.permissions)) {
                what = "permissions";
            }
        }
        let mut diff: String = differing.by_ref().map(|part| difference(registry, part)).collect();
        if diff.len() > MAX_DIFF {
            diff.truncate(diff.floor_char_boundary(MAX_DIFF));
            diff.push('…');
        }
        Ok(Some((what, diff)))
    }
}

/// Describes the difference of one part: line by line, if both texts exist.
fn difference(registry: &Registry, (part, pinned, found): (&str, &String, Digest)) -> String {
    let text = |digest: &Digest| if part == "component" { None } else { registry.text(digest) };
    let old = format!("sha256:{pinned}").parse().ok();
    match (old.as_ref().and_then(text), text(&found)) {
        (Some(old), Some(new)) => {
            let diff = similar::TextDiff::from_lines(&old, &new);
            diff.unified_diff().header(&format!("{part} sha256:{pinned}"), &format!("{part} {found}")).to_string()
        }
        _ => format!("-{part} sha256:{pinned}\n+{part} {found}\n"),
    }
}

fn of_permissions(permissions: &Permissions) -> String {
    let text = serde_json::to_string(permissions).expect("permissions are lists of texts");
    Digest::of(text.as_bytes()).hex()
}

fn of_description(description: Option<&str>) -> String {
    Digest::of(description.unwrap_or_default().as_bytes()).hex()
}

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Lock {
        let hex = |text: &str| Digest::of(text.as_bytes()).hex();
        let locked = Locked {
            name: "a:b".parse().expect("a name"),
            version: semver::Version::new(1, 2, 0),
            component: hex("c"),
            wit: hex("w"),
            manifest: hex("m"),
            permissions: Some(hex("p")),
            description: Some(hex("d")),
        };
        Lock { packages: BTreeMap::from([("b".to_owned(), locked)]), servers: BTreeMap::new() }
    }

    #[test]
    fn lock_file_written_is_read_back_and_malformed_is_refused() {
        let text = lock().to_toml().expect("all is known");
        assert_eq!(Lock::parse(&text).expect("our own"), lock());
        for (from, to) in [("version = 1", "version = 2"), ("wit =", "with ="), ("sha256:", "sha1:"), ("a:b", "ab")] {
            assert!(Lock::parse(&text.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn server_is_written_and_read_and_no_part_of_it_can_be_edited() {
        let schema = serde_json::json!({ "type": "object", "properties": { "q": { "pattern": "^'''\\d$" } } });
        let tool =
            serde_json::json!({ "name": "a.b", "description": "Says \"it\"\n\u{1b}[31m.", "inputSchema": schema });
        let servers = BTreeMap::from([("git".to_owned(), PinnedServer::of([tool]).expect("a definition"))]);
        let lock = Lock { servers, ..lock() };
        let text = lock.to_toml().expect("all is known");
        assert_eq!(Lock::parse(&text).expect("our own"), lock);
        assert!(!text.contains('\u{1b}'), "{text}");
        let record = serde_json::to_string(&lock).expect("plain data");
        assert_eq!(serde_json::from_str::<Lock>(&record).expect("our own"), lock);
        for (from, to) in
            [("Says", "Sings"), ("sha256:", "sha256:0"), ("\"a.b\"]", "\"a.c\"]"), ("definition =", "definitions =")]
        {
            let edited = text.replace(from, to);
            assert!(edited != text && Lock::parse(&edited).is_err(), "{from}");
        }
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(lock.check_servers(names(&["git"]).iter()).is_ok());
        assert!(matches!(lock.check_servers(names(&["git", "x"]).iter()), Err(MountError::UnpinnedServer(_))));
        assert!(matches!(lock.check_servers(names(&[]).iter()), Err(MountError::Pins { .. })));
    }

    #[test]
    fn lock_file_check_reports_tools_that_are_not_pinned_as_requested() {
        let named = |text: &str| -> BTreeMap<String, String> {
            text.split_whitespace()
                .filter_map(|pair| pair.split_once('='))
                .map(|(alias, requirement)| (alias.to_owned(), requirement.to_owned()))
                .collect()
        };
        for (tools, fits) in
            [("b=a:b@^1", true), ("b=a:b@^2", false), ("b=a:c", false), ("b=a:b c=a:c", false), ("c=a:b", false)]
        {
            assert_eq!(lock().check(Some(&named(tools)), &[]).is_ok(), fits, "{tools}");
        }
        assert_eq!(lock().check(Some(&named("")), &[]).expect("nothing is missing"), ["b"]);
        assert!(lock().check(None, &[]).expect("all of a registry is what is pinned").is_empty());
        assert!(lock().check(None, &[("c".to_owned(), "a:c".to_owned())]).is_err());
    }
}
