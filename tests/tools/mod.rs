//! Tools: made, published, found, mounted and called.

mod agents;
mod authoring;
mod calls;
mod calls_between_tools;
mod host_functions;
mod name_clashes;
mod network_and_storage;
mod oci;
mod registry;
mod session_files;
mod standard_tools;
mod trust;
mod values;
