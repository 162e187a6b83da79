//! Tests of all stores together; and a store that fails, for the tests of what stands on one.

mod conformance;
pub(crate) mod failing;
mod faults;
