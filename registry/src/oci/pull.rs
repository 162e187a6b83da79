//! A release from a registry: what it would be here. Whether it becomes that, a publish decides.

use semver::Version;

use super::artifact::{CONFIG_TYPE, MAX_CONFIG, Manifest, Section};
use super::wire::Wire;
use super::{OciError, Origin, Reference, Remote};
use crate::{
    component::MAX_COMPONENT, digest::Digest, index::Release, name::PackageName, publish::PublishRequest,
    registry::Registry, store::Blob,
};

/// What an artifact is called here, if it does not say, and what may come of it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Wanted {
    /// The name. An artifact of Tollhouse must say the same.
    pub name: Option<PackageName>,
    /// The version. An artifact of Tollhouse must say the same.
    pub version: Option<Version>,
}

impl Wanted {
    /// Whether a release is called so.
    fn is(&self, release: &Release) -> bool {
        self.name.as_ref().is_none_or(|name| *name == release.name)
            && self.version.as_ref().is_none_or(|version| *version == release.version)
    }
}

impl Remote<'_> {
    /// Fetches an artifact. What comes of it is to be published: nothing was written, and only its digests were checked.
    ///
    /// One that Tollhouse pushed has manifest, WIT text, readme and signatures with it. Anybody else's is a component, whose
    /// version its tag or its annotations may say.
    ///
    /// # Errors
    /// If it is not there, not what was pinned, too large, or no artifact of WebAssembly.
    pub fn pull(&self, reference: &Reference, wanted: Wanted) -> Result<PublishRequest, OciError> {
        let pinned = reference.digest.map(|digest| digest.to_string());
        let which = reference.tag.as_deref().or(pinned.as_deref());
        let which = which.ok_or_else(|| OciError::Which { reference: reference.to_string() })?;
        let wire = Wire::new(self, &reference.repository, "pull")?;
        let (bytes, said) =
            wire.manifest(which)?.ok_or_else(|| OciError::NotFound { reference: reference.to_string() })?;
        let found = Digest::of(&bytes);
        if let Some(expected) = reference.digest.filter(|digest| *digest != found) {
            return Err(match reference.tag {
                Some(_) => OciError::Moved { reference: reference.to_string(), found },
                None => OciError::Altered { what: "manifest".into(), expected, found },
            });
        }
        let manifest = Manifest::read(reference, &bytes, &said)?;
        let layer = manifest.component(reference)?;
        let config = &manifest.config;
        let section = if config.media_type == CONFIG_TYPE {
            let bytes = wire.blob(Blob { digest: config.digest, size: config.size }, "config", MAX_CONFIG)?;
            Section::read(reference, &bytes)?
        } else {
            None
        };
        let limit = u64::try_from(MAX_COMPONENT).unwrap_or(u64::MAX);
        let component = wire.blob(Blob { digest: layer.digest, size: layer.size }, "component", limit)?;
        let mut request = PublishRequest::new(component);
        request.origin = Some(Origin { repository: reference.repository.clone(), manifest: found });
        let version = |text: &str| text.parse().ok();
        // A tag that is a version says which one was asked for.
        let tagged = reference.tag.as_deref().and_then(version);
        (request.name, request.version) = (wanted.name, wanted.version.or(tagged));
        match section {
            Some(section) => {
                request.signatures = section.signatures(reference)?;
                (request.manifest, request.wit) = (Some(section.manifest), Some(section.wit));
                request.readme = section.readme;
            }
            None => request.version = request.version.or_else(|| manifest.version().and_then(version)),
        }
        Ok(request)
    }
}

impl Registry {
    /// The release that was pulled as an artifact of this digest, if it is here and whole.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn pulled(&self, manifest: &Digest, wanted: &Wanted) -> Result<Option<Release>, crate::Error> {
        let is = |release: &Release| {
            release.origin.as_ref().is_some_and(|origin| origin.manifest == *manifest) && wanted.is(release)
        };
        Ok(self.list()?.into_iter().find(is).filter(|release| self.is_whole(release)))
    }

    fn is_whole(&self, release: &Release) -> bool {
        let parts = self.load_component(release).is_ok()
            && self.load_wit(release).is_ok()
            && self.load_manifest(release).is_ok()
            && self.load_readme(release).is_ok();
        parts && release.signatures.iter().all(|signature| self.verify_signature(release, &signature.key).is_ok())
    }
}
