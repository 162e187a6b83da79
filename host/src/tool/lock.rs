//! What pins releases: those that a session was made with, and those of a `tollhouse.lock`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tollhouse_registry::{Digest, Error as RegistryError, PackageName, Permissions, Registry, Release, Requirement};

use super::mounted::MountError;
use super::package::Package;

/// The form of the file. A reader that does not know it refuses the file.
const FORM: u32 = 1;

/// Largest `tollhouse.lock` that is read, in bytes: that of some five thousand tools.
pub const MAX_LOCK: u64 = 4 << 20;

/// What the file says of itself.
const HEAD: &str = "\
# What the policy mounts, to the byte. `tollhouse lock` writes this file: keep it with the policy.
";

/// How much of a diff a message shows, in bytes.
const MAX_DIFF: usize = 4_000;

/// Which release each alias means, for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock(pub BTreeMap<String, Locked>);

/// One release, by all that a tool is: its code, its interface, and what it says and asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    /// The package.
    pub name: PackageName,
    /// Its version.
    pub version: semver::Version,
    /// sha256 of the component, in hexadecimal; so are the others.
    pub component: String,
    /// Of the WIT text.
    pub wit: String,
    /// Of the manifest, which holds the description and what is asked for.
    pub manifest: String,
    /// Of what it asks for. Earlier versions of this program did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<String>,
    /// Of its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A `tollhouse.lock`: what is pinned, and for which policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Name of the policy's file, in the same directory. Earlier versions of this program did not keep it.
    pub policy: Option<String>,
    /// The pinned releases.
    pub lock: Lock,
}

/// Why a text is no lock.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It is no TOML, or has a key that is not known.
    #[error("{0}")]
    Text(String),
    /// A later version of this program wrote it.
    #[error("it has the form {0}, which this version does not know")]
    Newer(u32),
}

/// The file: TOML.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    #[serde(default)]
    tool: BTreeMap<String, WrittenTool>,
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
    /// Reads a `tollhouse.lock`.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let written: Written = toml::from_str(text).map_err(|error| LockError::Text(error.message().to_owned()))?;
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
        Ok(Self { policy: written.policy, lock: Lock(locked.collect()) })
    }

    /// The text of a `tollhouse.lock`. None if it was made by a version that kept less than the file holds.
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
        let tool = self.lock.0.iter().map(tool).collect::<Option<_>>()?;
        let text = toml::to_string(&Written { version: FORM, policy: self.policy.clone(), tool }).ok()?;
        Some(format!("{HEAD}{text}"))
    }
}

impl Lock {
    /// Reads what a `tollhouse.lock` pins.
    ///
    /// # Errors
    /// As [`LockFile::parse`].
    pub fn parse(text: &str) -> Result<Self, LockError> {
        Ok(LockFile::parse(text)?.lock)
    }

    /// The text of a `tollhouse.lock` for no policy in particular. As [`LockFile::to_toml`].
    #[must_use]
    pub fn to_toml(&self) -> Option<String> {
        LockFile { policy: None, lock: self.clone() }.to_toml()
    }

    /// Whether another pins the same bytes under the same aliases.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let bytes = |lock: &Self| -> Vec<_> {
            let parts = |locked: &Locked| (locked.component.clone(), locked.wit.clone(), locked.manifest.clone());
            lock.0.iter().map(|(alias, locked)| (alias.clone(), parts(locked))).collect()
        };
        bytes(self) == bytes(other)
    }

    /// Checks that it pins what is asked for, and gives what it pins beyond that. What is asked for by no name, all of a
    /// registry, is what it pins.
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
            match self.0.get(alias) {
                None => return Err(pins(alias, "it is mounted, and the lock does not pin it".to_owned())),
                Some(locked) if !locked.fits(&wanted) => {
                    return Err(pins(alias, format!("`{wanted}` is asked for, and the lock pins {locked}")));
                }
                Some(_) => {}
            }
        }
        let is_extra = |alias: &&String| named.is_some() && !asked().any(|(other, _)| other == *alias);
        Ok(self.0.keys().filter(is_extra).cloned().collect())
    }
}

impl Locked {
    /// What pins a release.
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

    /// Whether it is what a requirement such as `acme:payments@^1` asks for.
    pub(crate) fn fits(&self, wanted: &Requirement) -> bool {
        wanted.name == self.name && wanted.versions.matches(&self.version)
    }

    /// What of a release is another than what is pinned, and how they differ.
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

/// How one part differs: line by line, if both texts are there.
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
        Lock(BTreeMap::from([("b".to_owned(), locked)]))
    }

    #[test]
    fn what_is_written_is_read() {
        let text = lock().to_toml().expect("all is known");
        assert_eq!(Lock::parse(&text).expect("our own"), lock());
        for (from, to) in [("version = 1", "version = 2"), ("wit =", "with ="), ("sha256:", "sha1:"), ("a:b", "ab")] {
            assert!(Lock::parse(&text.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn it_pins_what_is_asked_for_and_says_what_else() {
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
