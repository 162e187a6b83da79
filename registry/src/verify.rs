//! Verification of a whole registry: every line, every blob, every signature.

use std::collections::HashSet;

use crate::{component::Component, digest::Digest, error::Error, index::Release, registry::Registry, wit::WitText};

/// Result of a verification: counts and problems.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verified {
    /// Number of lines of the index.
    pub lines: u64,
    /// Number of bytes of an incomplete last line: its writer was killed, or somebody cut it off. Its release does not
    /// exist, and the next change of the registry removes it.
    pub torn: u64,
    /// Number of releases in the index.
    pub releases: usize,
    /// Number of their signatures.
    pub signatures: usize,
    /// Number of distinct blobs that they name.
    pub blobs: usize,
    /// Total size of these blobs in bytes.
    pub bytes: u64,
    /// Problems that were found.
    pub problems: Vec<Problem>,
}

/// Problem of a release or of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Release, as `NAME@VERSION`. `None` if the problem is the index.
    pub release: Option<String>,
    /// Description of the problem, in a sentence.
    pub problem: String,
    /// Hint on how to fix it.
    pub hint: Option<&'static str>,
}

impl Registry {
    /// Verifies every line of the index and every blob that it names: each must hash to its name, manifests must belong
    /// to their releases, WIT texts must describe their components, and signatures must be valid. `each` is called
    /// before each release with its number, the number of releases, and the release.
    ///
    /// Changes that were written since the start are not verified.
    pub fn verify(&self, mut each: impl FnMut(usize, usize, &Release)) -> Verified {
        let mut verified = Verified::default();
        let releases = match self.read_anew() {
            Ok(anew) => {
                (verified.lines, verified.torn) = (anew.lines, anew.torn);
                anew.releases
            }
            Err(error) => {
                verified.problems.push(Problem::of(None, &error));
                return verified;
            }
        };
        verified.releases = releases.len();
        let mut seen = HashSet::new();
        for (at, release) in releases.iter().enumerate() {
            each(at, releases.len(), release);
            self.verify_release(release, &mut seen, &mut verified);
        }
        verified
    }

    fn verify_release(&self, release: &Release, seen: &mut HashSet<Digest>, verified: &mut Verified) {
        let name = release.full_name().to_string();
        for (_, blob) in release.blobs() {
            if seen.insert(blob.digest) {
                verified.blobs += 1;
                verified.bytes = verified.bytes.saturating_add(blob.size);
            }
        }
        let problems = &mut verified.problems;
        let mut wrong = |problem: Result<(), Problem>| problems.extend(problem.err());
        let of = |error: &Error| Problem::of(Some(&name), error);
        let text = |problem: String| Problem { release: Some(name.clone()), problem, hint: None };
        let component = self.load_component(release).map_err(|error| of(&error));
        let component = component.and_then(|bytes| {
            Component::read(&bytes).map_err(|error| text(format!("the component of `{name}`: {error}")))
        });
        let wit = self.load_wit(release).map_err(|error| of(&error));
        let wit =
            wit.and_then(|wit| WitText::parse(&wit).map_err(|error| text(format!("the WIT of `{name}`: {error}"))));
        match (component, wit) {
            (Ok(component), Ok(wit)) => {
                wrong(wit.check(&component).map_err(|error| text(format!("the WIT of `{name}`: {error}"))));
            }
            (component, wit) => {
                wrong(component.map(drop));
                wrong(wit.map(drop));
            }
        }
        wrong(match self.load_manifest(release) {
            Ok(manifest) if manifest.name == release.name && manifest.version == release.version => Ok(()),
            Ok(manifest) => {
                Err(text(format!("the manifest of `{name}` is of `{}@{}`", manifest.name, manifest.version)))
            }
            Err(error) => Err(of(&error)),
        });
        wrong(self.load_readme(release).map(drop).map_err(|error| of(&error)));
        for signature in &release.signatures {
            verified.signatures += 1;
            wrong(self.verify_signature(release, &signature.key).map_err(|error| Problem {
                release: Some(name.clone()),
                problem: error.to_string(),
                hint: error.hint(),
            }));
        }
    }
}

impl Problem {
    fn of(release: Option<&str>, error: &Error) -> Self {
        let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
        let problem = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        Self { release: release.map(str::to_owned), problem, hint: error.hint() }
    }
}
