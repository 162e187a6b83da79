//! Processes that are killed and power cuts: what was acknowledged is there.

mod blobs;
#[cfg(target_os = "linux")]
mod durable_runs;
mod store;
