//! How a package says that it is built, and where a build leaves what is published. Data only: must not build anything.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{manifest::Manifest, name::Requirement};

/// How a component is made: `[build]` in the manifest. Only read on the publisher's machine, by `tollhouse build`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Build {
    /// With which toolchain. None: what lies in the directory tells.
    #[serde(default)]
    pub lang: Option<Language>,
    /// A command, in words, that is run in the package's directory instead of the toolchain's own.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where that leaves a component, or a core module that describes its interface, relative to the manifest.
    #[serde(default)]
    pub output: Option<String>,
    /// Releases whose exports serve what it imports, from within: they become parts of the component.
    #[serde(default)]
    pub compose: Vec<Requirement>,
}

/// A toolchain that makes components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Language {
    /// Rust, with wit-bindgen.
    Rust,
    /// Rust, with cargo-component.
    RustCargoComponent,
    /// JavaScript, with ComponentizeJS.
    Js,
    /// Python, with componentize-py.
    Python,
    /// C, with clang.
    C,
}

impl Language {
    /// What it is called in a manifest and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::RustCargoComponent => "rust-cargo-component",
            Self::Js => "js",
            Self::Python => "python",
            Self::C => "c",
        }
    }
}

impl Manifest {
    /// Where a build leaves the component, relative to the manifest: where `component` says, else
    /// `build/PACKAGE.wasm`.
    pub fn built(&self) -> PathBuf {
        match &self.component {
            Some(component) => component.into(),
            None => PathBuf::from("build").join(format!("{}.wasm", self.name.package())),
        }
    }
}
