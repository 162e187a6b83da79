//! Tests of all stores, and a store that fails for the tests of the code above.

mod conformance;
pub(crate) mod failing;
mod faults;
