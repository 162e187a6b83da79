//! What pins the releases that a session was made with.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tollhouse_registry::{PackageName, Release, Requirement};

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
}

impl Locked {
    /// What pins a release.
    #[must_use]
    pub fn of(release: &Release) -> Self {
        Self {
            name: release.name.clone(),
            version: release.version.clone(),
            component: release.component.digest.hex(),
            wit: release.wit.digest.hex(),
            manifest: release.manifest.digest.hex(),
        }
    }

    /// Whether it is what a requirement such as `acme:payments@^1` asks for.
    pub(crate) fn fits(&self, requirement: &str) -> bool {
        let requirement = requirement.parse::<Requirement>();
        requirement.is_ok_and(|wanted| wanted.name == self.name && wanted.versions.matches(&self.version))
    }

    /// What of a release is another than what is pinned.
    pub(super) fn differs(&self, release: &Release) -> Option<&'static str> {
        let found = Self::of(release);
        match () {
            () if found.component != self.component => Some("component"),
            () if found.wit != self.wit => Some("interface"),
            () if found.manifest != self.manifest => Some("manifest"),
            () => None,
        }
    }
}

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}
