//! A release as an artifact: the layout of CNCF's TAG Runtime for WebAssembly, which is a manifest, a config and one layer,
//! the component. What else a release has is in the config, under `tollhouse`: clients of that layout refuse artifacts
//! with layers that they do not know. The bytes are described in `format.md`; change both together.
//!
//! The same release gives the same bytes, whoever pushes it. Must not move anything.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use super::{OciError, Reference};
use crate::{
    component::Component,
    digest::Digest,
    error::Error,
    index::Release,
    publish::GivenSignature,
    registry::Registry,
    signature::PublicKey,
    store::{Blob, length},
};

pub(super) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const CONFIG_TYPE: &str = "application/vnd.wasm.config.v0+json";
pub(super) const COMPONENT_TYPE: &str = "application/wasm";

/// The version, among the annotations that the image specification names.
pub(super) const VERSION: &str = "org.opencontainers.image.version";
const TITLE: &str = "org.opencontainers.image.title";

/// Largest manifest in bytes, as registries have it.
pub(super) const MAX_MANIFEST: u64 = 4 << 20;

/// Largest config: the largest WIT, manifest and readme, each character of which JSON may write as two.
pub(super) const MAX_CONFIG: u64 = 12 << 20;

/// Most signatures of a release that travel along.
const MAX_SIGNATURES: usize = 100;

/// The only form of what is ours in the config.
const FORM: u32 = 1;

/// What is pushed.
pub(super) struct Artifact {
    pub(super) manifest: Vec<u8>,
    pub(super) config: Vec<u8>,
    pub(super) component: Vec<u8>,
}

/// An OCI image manifest, as far as it matters.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    schema_version: u32,
    #[serde(default)]
    media_type: Option<String>,
    pub(super) config: Descriptor,
    layers: Vec<Descriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// What a manifest says of a blob.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) media_type: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// The config as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    created: &'a str,
    architecture: &'a str,
    os: &'a str,
    layer_digests: [Digest; 1],
    component: Interfaces,
    tollhouse: Section,
}

#[derive(Serialize)]
struct Interfaces {
    exports: Vec<String>,
    imports: Vec<String>,
}

/// The config as it is read. What others write in it is theirs.
#[derive(Deserialize)]
struct ForeignConfig {
    tollhouse: Option<serde_json::Value>,
}

/// What of a release the layout has no place for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    v: u32,
    pub(super) manifest: String,
    pub(super) wit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) readme: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signatures: Vec<Signed>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    key: PublicKey,
    signature: String,
}

impl Artifact {
    /// What a release is elsewhere. Its parts and its signatures are checked.
    pub(super) fn of(registry: &Registry, release: &Release) -> Result<Self, OciError> {
        let component = registry.load_component(release)?;
        let about = registry.load_manifest(release)?;
        let config = Config {
            // A date of its own would make another artifact of the same release.
            created: "1970-01-01T00:00:00Z",
            architecture: "wasm",
            os: "wasip2",
            layer_digests: [release.component.digest],
            component: interfaces(release, &component)?,
            tollhouse: Section {
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
        // What names the file when a client writes one.
        let title = BTreeMap::from([(TITLE.to_owned(), format!("{}.wasm", release.name.package()))]);
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST_TYPE.to_owned()),
            config: Descriptor::of(CONFIG_TYPE, Blob::of(&config), BTreeMap::new()),
            layers: vec![Descriptor::of(COMPONENT_TYPE, release.component, title)],
            annotations,
        };
        Ok(Self { manifest: json(&manifest), config, component })
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data with keys that are text serialises")
}

/// What a component imports and exports, by the names of WIT.
fn interfaces(release: &Release, bytes: &[u8]) -> Result<Interfaces, Error> {
    let component = Component::read(bytes).map_err(|error| Error::Unreadable {
        what: format!("component of `{}`", release.full_name()),
        digest: release.component.digest,
        problem: error.to_string(),
    })?;
    let world = &component.resolve.worlds[component.world];
    let names = |items: &mut dyn Iterator<Item = &wit_parser::WorldKey>| {
        items.map(|key| component.resolve.name_world_key(key)).collect()
    };
    Ok(Interfaces { exports: names(&mut world.exports.keys()), imports: names(&mut world.imports.keys()) })
}

/// The signatures, in the order of their keys: one that does not hold is not passed on.
fn signatures(registry: &Registry, release: &Release) -> Result<Vec<Signed>, OciError> {
    let mut signed = Vec::new();
    for signature in &release.signatures {
        registry.verify_signature(release, &signature.key)?;
        let bytes = registry.load_signature(release, signature)?;
        signed.push(Signed { key: signature.key, signature: STANDARD.encode(bytes) });
    }
    signed.sort_by_key(|signed| signed.key);
    Ok(signed)
}

impl Descriptor {
    fn of(media_type: &str, blob: Blob, annotations: BTreeMap<String, String>) -> Self {
        Self { media_type: media_type.to_owned(), digest: blob.digest, size: blob.size, annotations }
    }
}

impl Manifest {
    /// Reads a manifest that a registry gave, with the type that it said.
    pub(super) fn read(reference: &Reference, bytes: &[u8], said: &str) -> Result<Self, OciError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            media_type: Option<String>,
        }
        let wrong = |problem: String| OciError::not_wasm(reference, problem);
        let head: Head = serde_json::from_slice(bytes).map_err(|error| wrong(format!("its manifest: {error}")))?;
        let media_type = head.media_type.unwrap_or_else(|| said.to_owned());
        if media_type != MANIFEST_TYPE {
            return Err(wrong(format!("it is of type `{media_type}`, and not `{MANIFEST_TYPE}`")));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| wrong(format!("its manifest: {error}")))?;
        if manifest.schema_version != 2 {
            return Err(wrong(format!("its manifest has the form {}", manifest.schema_version)));
        }
        Ok(manifest)
    }

    /// The one layer, a component. More than one is a composition, which the layout says to refuse.
    pub(super) fn component(&self, reference: &Reference) -> Result<&Descriptor, OciError> {
        match &self.layers[..] {
            [layer] if layer.media_type == COMPONENT_TYPE => Ok(layer),
            [layer] => {
                let problem = format!("its layer is of type `{}`, and not `{COMPONENT_TYPE}`", layer.media_type);
                Err(OciError::not_wasm(reference, problem))
            }
            layers => Err(OciError::not_wasm(reference, format!("it has {} layers, and not one", layers.len()))),
        }
    }

    /// What the annotations say the version is.
    pub(super) fn version(&self) -> Option<&str> {
        self.annotations.get(VERSION).map(String::as_str)
    }
}

impl Section {
    /// What is ours in a config; none if somebody else made it.
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

    /// The signatures, unchecked.
    pub(super) fn signatures(&self, reference: &Reference) -> Result<Vec<GivenSignature>, OciError> {
        let read = |signed: &Signed| {
            let bytes = STANDARD.decode(&signed.signature);
            let bytes = bytes.map_err(|_| {
                OciError::not_wasm(reference, format!("its signature by `{}` is no base64", signed.key))
            })?;
            Ok(GivenSignature { key: signed.key, bytes })
        };
        self.signatures.iter().map(read).collect()
    }
}
