//! Pulling: a release from a registry as a request to publish it. Whether it becomes a release here is decided by
//! publishing.

use semver::Version;

use super::artifact::{CONFIG_TYPE, MAX_CONFIG, OciManifest, TollhouseSection};
use super::client::RepositoryClient;
use super::{OciError, Origin, Reference, Remote};
use crate::{
    component::MAX_COMPONENT, digest::Digest, index::Release, name::PackageName, publish::PublishRequest,
    registry::Registry, store::Blob,
};

/// Name and version that a pulled artifact must have, or gets if it states none.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Wanted {
    /// Expected name. An artifact of Tollhouse must have the same.
    pub name: Option<PackageName>,
    /// Expected version. An artifact of Tollhouse must have the same.
    pub version: Option<Version>,
}

impl Wanted {
    /// Returns true if a release has this name and version.
    fn is(&self, release: &Release) -> bool {
        self.name.as_ref().is_none_or(|name| *name == release.name)
            && self.version.as_ref().is_none_or(|version| *version == release.version)
    }
}

impl Remote<'_> {
    /// Fetches an artifact and returns a request to publish it. Nothing is written, and only digests are checked.
    ///
    /// An artifact that Tollhouse pushed includes manifest, WIT text, readme and signatures. Any other is only a
    /// component, whose version may come from its tag or annotations.
    ///
    /// # Errors
    /// If it does not exist, does not match the pinned digest, is too large, or is not WebAssembly.
    pub fn pull(&self, reference: &Reference, wanted: Wanted) -> Result<PublishRequest, OciError> {
        let pinned = reference.digest.map(|digest| digest.to_string());
        let which = reference.tag.as_deref().or(pinned.as_deref());
        let which = which.ok_or_else(|| OciError::Which { reference: reference.to_string() })?;
        let wire = RepositoryClient::new(self, &reference.repository, "pull")?;
        let (bytes, said) =
            wire.manifest(which)?.ok_or_else(|| OciError::NotFound { reference: reference.to_string() })?;
        let found = Digest::of(&bytes);
        if let Some(expected) = reference.digest.filter(|digest| *digest != found) {
            return Err(match reference.tag {
                Some(_) => OciError::Moved { reference: reference.to_string(), found },
                None => OciError::Altered { what: "manifest".into(), expected, found },
            });
        }
        let manifest = OciManifest::read(reference, &bytes, &said)?;
        let layer = manifest.component(reference)?;
        let config = &manifest.config;
        let section = if config.media_type == CONFIG_TYPE {
            let bytes = wire.blob(Blob { digest: config.digest, size: config.size }, "config", MAX_CONFIG)?;
            TollhouseSection::read(reference, &bytes)?
        } else {
            None
        };
        let limit = u64::try_from(MAX_COMPONENT).unwrap_or(u64::MAX);
        let component = wire.blob(Blob { digest: layer.digest, size: layer.size }, "component", limit)?;
        let mut request = PublishRequest::new(component);
        request.origin = Some(Origin { repository: reference.repository.clone(), manifest: found });
        let version = |text: &str| text.parse().ok();
        // A tag that is a version states the requested version.
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
    /// Returns the intact local release that was pulled as an artifact of this digest, if there is one.
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
