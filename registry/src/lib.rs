//! A local, content-addressed registry of WebAssembly components: name and version to verified bytes.
//!
//! A release is a component, its WIT text with doc comments, and its manifest, under a name and a SemVer version, and
//! never changes. The directory's format is described byte by byte in `format.md`. [`oci`] exchanges releases with
//! container registries. [`untrusted_file`] reads files that others wrote.
//!
//! ```no_run
//! use tollhouse_registry::{Registry, Requirement, package_dir};
//!
//! let registry = Registry::open("registry")?;
//! registry.publish(package_dir("tools/stats".as_ref())?)?;
//! let wanted: Requirement = "tollhouse:stats@^0.1".parse()?;
//! let release = registry.resolve(&wanted.name, &wanted.versions)?;
//! let component = registry.load_component(&release)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** content is checked against the digest in the index each time it is read.
//!
//! **Invariant:** the index names only files that are durably stored.
//!
//! **Invariant:** all input is treated as hostile: components, texts, names, the directory itself. Sizes and depths are
//! bounded, and nothing panics.

mod build_settings;
mod cargo;
mod component;
mod compose;
mod digest;
mod directory;
mod error;
mod gc;
mod host_imports;
mod identity;
mod index;
mod manifest;
mod manifest_keys;
pub mod oci;
mod package;
mod publish;
mod publish_error;
mod registry;
mod release_change;
mod search;
mod signature;
mod store;
#[cfg(test)]
mod testing;
mod trust;
mod unused_permissions;
mod verify;
mod wit;
mod wkg_layout;

pub use build_settings::{Build, Language};
pub use component::{
    Anatomy, ComponentError, DependenciesError, Dependency, DependencyKind, MAX_COMPONENT, anatomy, check_instances,
    check_whole, dependencies, finish, without_export,
};
pub use compose::{ComposeError, compose};
pub use digest::{Digest, DigestError};
pub use error::{Error, ResolveError};
pub use gc::Swept;
pub use index::{Deprecation, Release, Signature};
pub use manifest::{
    DefaultInterface, Example, InstancePolicy, Limits, MAX_MANIFEST, Manifest, ManifestError, MethodSettings,
};
pub use package::{PackageError, cargo_built, package_dir, package_manifest, package_wit};
pub use publish::{Checkup, GivenSignature, MAX_README, PublishRequest, Published};
pub use publish_error::PublishError;
pub use registry::{Registry, Shown};
pub use release_change::{ChangeError, Changed};
pub use search::Found;
pub use signature::SignatureError;
pub use store::Blob;
pub use tollhouse_types::effect::Effect;
pub use tollhouse_types::http_rule::{HttpRequest, HttpRule, HttpRuleError};
pub use tollhouse_types::key::{KeyError, PrivateKey, PublicKey, is_key_name};
pub use tollhouse_types::name::{
    MAX_NAME, NameError, PackageName, ReleaseName, ReleaseNameError, Requirement, RequirementError, VersionsError,
};
pub use tollhouse_types::permission::{
    FileRule, FileRuleError, MAX_PERMISSIONS, Permissions, Secret, is_bucket_name, is_secret_name,
};
pub use tollhouse_types::quantity::{LEAST_WITHOUT_UNIT, QuantityError, parse_bytes, parse_duration};
use tollhouse_types::{key, name, permission, quantity};
pub use tollhouse_types::{other_writers, untrusted_file};
pub use trust::{TrustError, TrustedKeys};
pub use verify::{Problem, Verified};
pub use wit::{MAX_WIT, WitError};
pub use wkg_layout::{Foreign, LayoutError, WkgLayout, wkg_layout};
