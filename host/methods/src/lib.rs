//! Methods that scripts may call, as data: their types, their names in each language, the canonical form of their
//! arguments, and what is generated from them for authors.
//!
//! | module | contents |
//! | --- | --- |
//! | [`declaration`] | a method with the limits and permissions of its package; the check of a call's arguments |
//! | [`catalog`] | the methods of a session, by each of their names |
//! | [`types`] | the type model: functions, parameters, shapes |
//! | [`reflect`] | the model of a package, read from its world |
//! | [`host_method`] | methods of the embedding program, described by JSON Schema |
//! | [`names`] | spellings of names, and names that scripts cannot use |
//! | [`canonical`] | the canonical form of arguments |
//! | [`words`] | words of a command line as arguments |
//! | [`schema`], [`typescript`], [`python`], [`help`] | descriptions and declarations for authors |
//!
//! **Invariant:** nothing here calls a tool or knows an engine; a component is a name and types.
#![deny(missing_docs)]

pub mod canonical;
pub mod catalog;
pub mod declaration;
pub mod help;
pub mod host_method;
mod missing_faces;
pub mod names;
pub mod python;
pub mod reflect;
pub mod schema;
mod type_names;
pub mod types;
pub mod typescript;
pub mod words;

pub use catalog::{Catalog, CatalogError, Clash};
pub use declaration::{CallLimits, MethodDeclaration, PackageDeclaration};
pub use host_method::{HostMethod, HostMethodError, SchemaMismatch};
pub use missing_faces::LostFace;
pub use names::nearest;
