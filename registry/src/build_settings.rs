//! Build settings of a package: how its component is built and where a build leaves it. Data only: must not build
//! anything.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{manifest::Manifest, name::Requirement};

/// Build settings of a component: `[build]` in the manifest. Only read on the publisher's machine, by `tollhouse
/// build`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Build {
    /// Toolchain of the component. If `None`, it is inferred from the files in the directory.
    #[serde(default)]
    pub lang: Option<Language>,
    /// A command with its arguments that is run in the package's directory instead of the toolchain's own.
    #[serde(default)]
    pub command: Vec<String>,
    /// The file that the command writes: a component, or a core module that describes its interface. Relative to the
    /// manifest.
    #[serde(default)]
    pub output: Option<String>,
    /// Releases whose exports satisfy imports of the component. They are composed into it.
    #[serde(default)]
    pub compose: Vec<Requirement>,
}

/// A toolchain that builds components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Language {
    /// Rust toolchain with wit-bindgen.
    Rust,
    /// Rust toolchain with cargo-component.
    RustCargoComponent,
    /// JavaScript toolchain ComponentizeJS.
    Js,
    /// Python toolchain componentize-py.
    Python,
    /// C toolchain with clang.
    C,
}

impl Language {
    /// Returns the toolchain's name in a manifest and on the command line.
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
    /// Returns the path of the built component, relative to the manifest: `component` of the manifest, else
    /// `build/PACKAGE.wasm`.
    pub fn built(&self) -> PathBuf {
        match &self.component {
            Some(component) => component.into(),
            None => PathBuf::from("build").join(format!("{}.wasm", self.name.package())),
        }
    }
}
