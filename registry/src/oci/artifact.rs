//! Releases as OCI artifacts, in the layout of CNCF's TAG Runtime for WebAssembly: a manifest, a config and one layer,
//! the component. Everything else of a release is in the config, under `tollhouse`, since clients of that layout refuse
//! artifacts with unknown layers. The bytes are described in `format.md`; change both together.
//!
//! The same release gives the same bytes, whoever pushes it. Must not transfer anything.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::{OciError, Reference};
use crate::{
    component::Component,
    digest::Digest,
    error::Error,
    index::Release,
    key::PublicKey,
    publish::GivenSignature,
    registry::Registry,
    store::{Blob, length},
};

pub(super) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
pub(super) const COMPONENT_TYPE: &str = "application/wasm";

/// Annotation of the version, as the image specification names it.
pub(super) const VERSION: &str = "org.opencontainers.image.version";
const TITLE: &str = "org.opencontainers.image.title";

/// Largest manifest in bytes, as in other registries.
pub(super) const MAX_MANIFEST: u64 = 4 << 20;

/// Largest config: the largest WIT, manifest and readme, each of whose characters JSON may encode as two.
pub(super) const MAX_CONFIG: u64 = 12 << 20;

/// Largest number of signatures of a release that are transferred.
const MAX_SIGNATURES: usize = 100;

/// Version of the format of our section in the config; there is no other yet.
const FORM: u32 = 1;

/// Artifact that is pushed.
pub(super) struct OciArtifact {
    pub(super) manifest: Vec<u8>,
    pub(super) config: Vec<u8>,
    pub(super) component: Vec<u8>,
}

/// Parts of an OCI image manifest that are used here.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OciManifest {
    schema_version: u32,
    #[serde(default)]
    media_type: Option<String>,
    pub(super) config: BlobDescriptor,
    layers: Vec<BlobDescriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// Reference of a manifest to a blob.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlobDescriptor {
    pub(super) media_type: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// Config, as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactConfig<'a> {
    created: &'a str,
    architecture: &'a str,
    os: &'a str,
    layer_digests: [Digest; 1],
    component: ComponentInterfaces,
    tollhouse: TollhouseSection,
}

#[derive(Serialize)]
struct ComponentInterfaces {
    exports: Vec<String>,
    imports: Vec<String>,
}

/// Config, as it is read. Keys of other programs are ignored.
#[derive(Deserialize)]
struct ForeignConfig {
    tollhouse: Option<serde_json::Value>,
}

/// Parts of a release that the layout has no place for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TollhouseSection {
    v: u32,
    pub(super) manifest: String,
    pub(super) wit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) readme: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signatures: Vec<SignatureEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureEntry {
    key: PublicKey,
    signature: String,
}

impl OciArtifact {
    /// Makes the artifact of a release. Its parts and its signatures are checked.
    pub(super) fn of(registry: &Registry, release: &Release) -> Result<Self, OciError> {
        let component = registry.load_component(release)?;
        let about = registry.load_manifest(release)?;
        let config = ArtifactConfig {
            // A real date would make another artifact of the same release.
            created: "1970-01-01T00:00:00Z",
            architecture: "wasm",
            os: "wasip2",
            layer_digests: [release.component.digest],
            component: interfaces(release, &component)?,
            tollhouse: TollhouseSection {
                v: FORM,
                manifest: registry.load_text(release, &release.manifest, "manifest")?,
                wit: registry.load_wit(release)?,
                readme: registry.load_readme(release)?,
                signatures: signatures(registry, release)?,
            },
        };
        let config = json(&config);
        if length(&config) > MAX_CONFIG {
            return Err(OciError::TooLarge { what: "config of the artifact".into(), limit: MAX_CONFIG });
        }
        let mut annotations = BTreeMap::from([
            (VERSION.to_owned(), release.version.to_string()),
            (TITLE.to_owned(), release.name.to_string()),
        ]);
        let more = [("description", about.description), ("licenses", about.license)];
        let authors = ("authors", (!about.authors.is_empty()).then(|| about.authors.join(", ")));
        for (key, text) in more.into_iter().chain([authors]) {
            annotations.extend(text.map(|text| (format!("org.opencontainers.image.{key}"), text)));
        }
        // File name that clients use when they save the layer.
        let title = BTreeMap::from([(TITLE.to_owned(), format!("{}.wasm", release.name.package()))]);
        let manifest = OciManifest {
            schema_version: 2,
            media_type: Some(MANIFEST_TYPE.to_owned()),
            config: BlobDescriptor::of(CONFIG_TYPE, Blob::of(&config), BTreeMap::new()),
            layers: vec![BlobDescriptor::of(COMPONENT_TYPE, release.component, title)],
            annotations,
        };
        Ok(Self { manifest: json(&manifest), config, component })
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data with keys that are text serialises")
}

/// Returns the imports and exports of a component by their WIT names.
fn interfaces(release: &Release, bytes: &[u8]) -> Result<ComponentInterfaces, Error> {
    let component = Component::read(bytes).map_err(|error| Error::Unreadable {
        what: format!("component of `{}`", release.full_name()),
        digest: release.component.digest,
        problem: error.to_string(),
    })?;
    let world = &component.resolve.worlds[component.world];
    let names = |items: &mut dyn Iterator<Item = &wit_parser::WorldKey>| {
        items.map(|key| component.resolve.name_world_key(key)).collect()
    };
    Ok(ComponentInterfaces { exports: names(&mut world.exports.keys()), imports: names(&mut world.imports.keys()) })
}

/// Returns the signatures in the order of their keys. An invalid one is an error, and is not passed on.
fn signatures(registry: &Registry, release: &Release) -> Result<Vec<SignatureEntry>, OciError> {
    let mut signed = Vec::new();
    for signature in &release.signatures {
        registry.verify_signature(release, &signature.key)?;
        let bytes = registry.load_signature(release, signature)?;
        signed.push(SignatureEntry { key: signature.key, signature: STANDARD.encode(bytes) });
    }
    signed.sort_by_key(|signed| signed.key);
    Ok(signed)
}

impl BlobDescriptor {
    fn of(media_type: &str, blob: Blob, annotations: BTreeMap<String, String>) -> Self {
        Self { media_type: media_type.to_owned(), digest: blob.digest, size: blob.size, annotations }
    }
}

impl OciManifest {
    /// Parses a manifest from a registry, with the media type that the registry reported.
    pub(super) fn read(reference: &Reference, bytes: &[u8], said: &str) -> Result<Self, OciError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct MediaTypeHeader {
            media_type: Option<String>,
        }
        let wrong = |problem: String| OciError::not_wasm(reference, problem);
        let head: MediaTypeHeader =
            serde_json::from_slice(bytes).map_err(|error| wrong(format!("its manifest: {error}")))?;
        let media_type = head.media_type.unwrap_or_else(|| said.to_owned());
        if media_type != MANIFEST_TYPE {
            return Err(wrong(format!("its type is `{media_type}` instead of `{MANIFEST_TYPE}`")));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| wrong(format!("its manifest: {error}")))?;
        if manifest.schema_version != 2 {
            return Err(wrong(format!("its manifest has the unknown schema version {}", manifest.schema_version)));
        }
        Ok(manifest)
    }

    /// Returns the only layer, a component. Several layers are a composition, which the layout requires to be refused.
    pub(super) fn component(&self, reference: &Reference) -> Result<&BlobDescriptor, OciError> {
        match &self.layers[..] {
            [layer] if layer.media_type == COMPONENT_TYPE => Ok(layer),
            [layer] => {
                let problem = format!("its layer has the type `{}` instead of `{COMPONENT_TYPE}`", layer.media_type);
                Err(OciError::not_wasm(reference, problem))
            }
            layers => Err(OciError::not_wasm(reference, format!("it has {} layers instead of one", layers.len()))),
        }
    }

    /// Returns the version according to the annotations.
    pub(super) fn version(&self) -> Option<&str> {
        self.annotations.get(VERSION).map(String::as_str)
    }
}

impl TollhouseSection {
    /// Parses our section of a config. Returns `None` if another program made the config.
    pub(super) fn read(reference: &Reference, config: &[u8]) -> Result<Option<Self>, OciError> {
        let wrong = |problem: String| OciError::not_wasm(reference, format!("its config: {problem}"));
        let config: ForeignConfig = serde_json::from_slice(config).map_err(|error| wrong(error.to_string()))?;
        let Some(section) = config.tollhouse else { return Ok(None) };
        if section.get("v").and_then(serde_json::Value::as_u64) != Some(u64::from(FORM)) {
            return Err(wrong("a later version of Tollhouse wrote it".into()));
        }
        let section: Self = serde_json::from_value(section).map_err(|error| wrong(error.to_string()))?;
        if section.signatures.len() > MAX_SIGNATURES {
            return Err(wrong(format!("it has more than {MAX_SIGNATURES} signatures")));
        }
        Ok(Some(section))
    }

    /// Returns the signatures, unchecked.
    pub(super) fn signatures(&self, reference: &Reference) -> Result<Vec<GivenSignature>, OciError> {
        let read = |signed: &SignatureEntry| {
            let bytes = STANDARD.decode(&signed.signature);
            let bytes = bytes.map_err(|_| {
                OciError::not_wasm(reference, format!("its signature by `{}` is not base64", signed.key))
            })?;
            Ok(GivenSignature { key: signed.key, bytes })
        };
        self.signatures.iter().map(read).collect()
    }
}
