//! Whether everything in a registry is what it was: every line, every blob, every signature.

use std::collections::HashSet;

use crate::{component::Component, digest::Digest, error::Error, index::Release, registry::Registry, wit::Wit};

/// What was looked at, and what is wrong.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verified {
    /// How many lines the index has.
    pub lines: u64,
    /// How many bytes after the last line are of one that is not whole: its writer was killed, or somebody cut it off. No
    /// release of such a line is there, and the next change of the registry removes it.
    pub torn: u64,
    /// How many releases.
    pub releases: usize,
    /// How many signatures they have.
    pub signatures: usize,
    /// How many blobs they name, each once.
    pub blobs: usize,
    /// The bytes of those.
    pub bytes: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The release, `NAME@VERSION`; none if it is the index.
    pub release: Option<String>,
    /// What is wrong, in a sentence.
    pub problem: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

impl Registry {
    /// Checks every line of the index and every blob that it names: that each hashes to its name, that manifests are of
    /// their releases, that WIT texts describe their components, and that signatures are of what they are said to be.
    /// `each` is told which release is next: its number, how many there are, and itself.
    ///
    /// What was written since it began is not looked at.
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
        let wit = wit.and_then(|wit| Wit::parse(&wit).map_err(|error| text(format!("the WIT of `{name}`: {error}"))));
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
