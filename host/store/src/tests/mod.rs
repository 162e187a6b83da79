//! Tests of all stores.

mod conformance;
mod faults;
