//! Pushing: a release to a registry.

use ureq::http::header::{ACCEPT, CONTENT_TYPE};
use ureq::http::{Method, StatusCode, Uri};

use super::artifact::{MANIFEST_TYPE, MAX_MANIFEST, OciArtifact};
use super::client::{RegistryRequest, RepositoryClient, percent};
use super::{OciError, Reference, Remote, Repository};
use crate::{digest::Digest, index::Release, registry::Registry};

/// Media types that a tag may refer to. Registries report that nothing exists if the type of what exists is not
/// accepted, and a tag that refers to something else is not free.
const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json, */*";

/// Result of a push.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pushed {
    /// Location of the artifact: tag and digest.
    pub reference: Reference,
    /// Digest of the manifest.
    pub digest: Digest,
    /// True if the tag referred to it before, so that nothing was sent.
    pub already: bool,
}

impl Remote<'_> {
    /// Pushes a release: component and config first, then the manifest that names them, under a tag. Its parts and
    /// signatures are checked before.
    ///
    /// A tag that refers to another artifact is moved only with `force`. Registries have no compare-and-set: of two
    /// concurrent pushes to one tag the later wins.
    ///
    /// # Errors
    /// If the release was altered, the tag refers to another artifact, or the registry refuses.
    pub fn push(
        &self,
        registry: &Registry,
        release: &Release,
        repository: &Repository,
        tag: &str,
        force: bool,
    ) -> Result<Pushed, OciError> {
        let artifact = OciArtifact::of(registry, release)?;
        let ours = Digest::of(&artifact.manifest);
        let mut reference = Reference { repository: repository.clone(), tag: Some(tag.to_owned()), digest: None };
        let wire = RepositoryClient::new(self, repository, "pull,push")?;
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

impl RepositoryClient<'_> {
    /// Fetches the manifest of a tag or digest, with the media type that the registry reports. Returns `None` if there
    /// is none.
    pub(super) fn manifest(&self, which: &str) -> Result<Option<(Vec<u8>, String)>, OciError> {
        let headers = [(ACCEPT.as_str(), ACCEPTED)];
        let ask = RegistryRequest { headers: &headers, ..RegistryRequest::new(Method::GET, "fetch the manifest") };
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

    /// Uploads a blob, unless the registry has it.
    fn upload(&self, bytes: &[u8], part: &str) -> Result<(), OciError> {
        let digest = Digest::of(bytes);
        let look = RegistryRequest::new(Method::HEAD, "look up blobs");
        if self.ask(&look, self.uri(&format!("blobs/{digest}")))?.status() == StatusCode::OK {
            return Ok(());
        }
        let what = format!("upload the {part}");
        let begin = RegistryRequest { body: Some(&[]), ..RegistryRequest::new(Method::POST, &what) };
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
        let put = RegistryRequest { headers: &headers, body: Some(bytes), ..RegistryRequest::new(Method::PUT, &what) };
        let response = self.ask(&put, to)?;
        if response.status() == StatusCode::CREATED { Ok(()) } else { Err(self.refusal(&put, response)) }
    }

    fn put_manifest(&self, tag: &str, bytes: &[u8]) -> Result<(), OciError> {
        let headers = [(CONTENT_TYPE.as_str(), MANIFEST_TYPE)];
        let put = RegistryRequest {
            headers: &headers,
            body: Some(bytes),
            ..RegistryRequest::new(Method::PUT, "upload the manifest")
        };
        let response = self.ask(&put, self.uri(&format!("manifests/{tag}")))?;
        if response.status() == StatusCode::CREATED { Ok(()) } else { Err(self.refusal(&put, response)) }
    }
}
