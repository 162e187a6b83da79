//! Commands of our own: a module for each, registered beside bashkit's.

pub(crate) mod jq;
