//! A release to a registry.

use ureq::http::header::{ACCEPT, CONTENT_TYPE};
use ureq::http::{Method, StatusCode, Uri};

use super::artifact::{Artifact, MANIFEST_TYPE, MAX_MANIFEST};
use super::wire::{Ask, Wire, percent};
use super::{OciError, Reference, Remote, Repository};
use crate::{digest::Digest, index::Release, registry::Registry};

/// What a tag may name. Registries say that there is nothing where the type of what is there is not asked for, and a tag
/// that names something else is not free.
const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json, */*";

/// What was pushed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pushed {
    /// Where it is now: tag and digest.
    pub reference: Reference,
    /// The digest of its manifest.
    pub digest: Digest,
    /// Whether the tag named it before. Then nothing was sent.
    pub already: bool,
}

impl Remote<'_> {
    /// Pushes a release: component and config first, then the manifest that names them, under a tag. Its parts and
    /// signatures are checked before.
    ///
    /// A tag that names something else is moved only with `force`. Registries cannot compare and set: of two who push to one
    /// tag at once the later wins.
    ///
    /// # Errors
    /// If the release was altered, the tag names something else, or the registry refuses.
    pub fn push(
        &self,
        registry: &Registry,
        release: &Release,
        repository: &Repository,
        tag: &str,
        force: bool,
    ) -> Result<Pushed, OciError> {
        let artifact = Artifact::of(registry, release)?;
        let ours = Digest::of(&artifact.manifest);
        let mut reference = Reference { repository: repository.clone(), tag: Some(tag.to_owned()), digest: None };
        let wire = Wire::new(self, repository, "pull,push")?;
        let found = wire.manifest(tag)?.map(|(bytes, _)| Digest::of(&bytes));
        let already = found == Some(ours);
        if let Some(found) = found.filter(|_| !already && !force) {
            return Err(OciError::Taken { reference: reference.to_string(), found, ours });
        }
        reference.digest = Some(ours);
        if !already {
            wire.upload(&artifact.component, "component")?;
            wire.upload(&artifact.config, "config")?;
            wire.put_manifest(tag, &artifact.manifest)?;
        }
        Ok(Pushed { reference, digest: ours, already })
    }
}

impl Wire<'_> {
    /// What a tag or a digest names, and the type that the registry says it has. None if there is nothing.
    pub(super) fn manifest(&self, which: &str) -> Result<Option<(Vec<u8>, String)>, OciError> {
        let headers = [(ACCEPT.as_str(), ACCEPTED)];
        let ask = Ask { headers: &headers, ..Ask::new(Method::GET, "give the manifest") };
        let response = self.ask(&ask, self.uri(&format!("manifests/{which}")))?;
        match response.status() {
            StatusCode::OK => {
                let said = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let said = said.unwrap_or_default().to_owned();
                Ok(Some((self.read(response, "manifest", MAX_MANIFEST)?, said)))
            }
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.refusal(&ask, response)),
        }
    }

    /// Sends a blob, unless it is there.
    fn upload(&self, bytes: &[u8], part: &str) -> Result<(), OciError> {
        let digest = Digest::of(bytes);
        let look = Ask::new(Method::HEAD, "say what it has");
        if self.ask(&look, self.uri(&format!("blobs/{digest}")))?.status() == StatusCode::OK {
            return Ok(());
        }
        let what = format!("take the {part}");
        let begin = Ask { body: Some(&[]), ..Ask::new(Method::POST, &what) };
        let begun = self.uri("blobs/uploads/");
        let response = self.ask(&begin, begun.clone())?;
        if response.status() != StatusCode::ACCEPTED {
            return Err(self.refusal(&begin, response));
        }
        let to = self.location(&begun, response.headers())?.to_string();
        let separator = if to.contains('?') { '&' } else { '?' };
        let to = format!("{to}{separator}digest={}", percent(&digest.to_string()));
        let to: Uri =
            to.parse().map_err(|_| OciError::Redirected { host: self.host(), to: crate::error::excerpt(&to) })?;
        let headers = [(CONTENT_TYPE.as_str(), "application/octet-stream")];
        let put = Ask { headers: &headers, body: Some(bytes), ..Ask::new(Method::PUT, &what) };
        let response = self.ask(&put, to)?;
        if response.status() == StatusCode::CREATED { Ok(()) } else { Err(self.refusal(&put, response)) }
    }

    fn put_manifest(&self, tag: &str, bytes: &[u8]) -> Result<(), OciError> {
        let headers = [(CONTENT_TYPE.as_str(), MANIFEST_TYPE)];
        let put = Ask { headers: &headers, body: Some(bytes), ..Ask::new(Method::PUT, "take the manifest") };
        let response = self.ask(&put, self.uri(&format!("manifests/{tag}")))?;
        if response.status() == StatusCode::CREATED { Ok(()) } else { Err(self.refusal(&put, response)) }
    }
}
