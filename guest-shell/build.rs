//! Gives the guest a stack of its own size: the other half of `SHELL_STACK` in `host/engine`.

/// Bytes within the guest's memory, at its beginning. Untouched pages of it take no memory.
const STACK: usize = 32 << 20;

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-zstack-size={STACK}");
    println!("cargo::rerun-if-changed=build.rs");
}
