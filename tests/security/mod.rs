//! Attacks, limits and walls: each fails in the safe way, and the host lives on.

mod clocks;
mod confinement;
mod escape;
mod fuzz_corpora;
mod guest_imports;
#[cfg(target_os = "linux")]
mod host_memory;
mod hostile;
mod limits;
mod second_wall;
mod seed_promises;
#[cfg(unix)]
mod untrusted_files;
