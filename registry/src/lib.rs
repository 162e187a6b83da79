//! A local, content-addressed registry of WebAssembly components: name and version to verified bytes.
//!
//! A release is a component, its WIT text with doc comments, and its manifest, under a name and a SemVer version, and
//! never changes. The directory's format is described byte by byte in `format.md`. Registries of containers are reached by [`oci`].
//! [`untrusted_file`] reads what others wrote.
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
//! **Invariant:** what is read was checked against the digest that the index names, each time.
//!
//! **Invariant:** the index names nothing that is not durably there.
//!
//! **Invariant:** everything here is hostile: components, texts, names, the directory itself. Sizes and depths are
//! bounded, and nothing panics.

mod asks;
mod build;
mod cargo;
mod change;
mod component;
mod compose;
mod digest;
mod directory;
mod error;
mod gc;
mod given;
mod http_path;
mod http_rule;
mod identity;
mod index;
mod layout;
mod manifest;
mod manifest_keys;
mod name;
pub mod oci;
mod package;
mod permission;
mod publish;
mod quantity;
mod refusal;
mod registry;
mod search;
mod signature;
mod store;
#[cfg(test)]
mod testing;
mod trust;
pub mod untrusted_file;
mod verify;
mod wit;

pub use build::{Build, Language};
pub use change::{ChangeError, Changed};
pub use component::{
    Anatomy, ComponentError, DependenciesError, Dependency, DependencyKind, MAX_COMPONENT, anatomy, check_instances,
    check_whole, dependencies, finish, without_export,
};
pub use compose::{ComposeError, compose};
pub use digest::{Digest, DigestError};
pub use directory::other_writers;
pub use error::{Error, ResolveError};
pub use gc::Swept;
pub use http_rule::{HttpRequest, HttpRule, HttpRuleError};
pub use index::{Deprecation, Release, Signature};
pub use layout::{Foreign, LayoutError, wkg_layout};
pub use manifest::{DefaultInterface, Effect, Example, InstancePolicy, Limits, MAX_MANIFEST, Manifest, ManifestError};
pub use name::{
    MAX_NAME, NameError, PackageName, ReleaseName, ReleaseNameError, Requirement, RequirementError, VersionsError,
};
pub use package::{PackageError, cargo_built, package_dir, package_manifest, package_wit};
pub use permission::{FileRule, FileRuleError, MAX_PERMISSIONS, Permissions, Secret, is_bucket_name, is_secret_name};
pub use publish::{Checkup, GivenSignature, MAX_README, PublishRequest, Published};
pub use quantity::{LEAST_WITHOUT_UNIT, QuantityError, parse_bytes, parse_duration};
pub use refusal::PublishError;
pub use registry::{Registry, Shown};
pub use search::Found;
pub use signature::{KeyError, PrivateKey, PublicKey, SignatureError};
pub use store::Blob;
pub use trust::{TrustError, TrustedKeys, is_key_name};
pub use verify::{Problem, Verified};
pub use wit::{MAX_WIT, WitError};
