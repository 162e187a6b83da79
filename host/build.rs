//! Finds the guests that the library embeds: those of `TOLLHOUSE_GUESTS_DIR`, else those that `cargo xtask build` put
//! into `target/guests`, compiled for the machine; else, and where that variable is empty, the portable ones of the crate
//! `tollhouse-guests`.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(compiled_guests)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TOLLHOUSE_GUESTS_DIR");
    let named = env::var_os("TOLLHOUSE_GUESTS_DIR").map(PathBuf::from);
    // What is built for other machines than this one.
    if named.as_ref().is_some_and(|named| named.as_os_str().is_empty()) {
        return;
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let guests = named.clone().unwrap_or_else(|| manifest.join("../target/guests"));
    let digests = ["js", "shell"].map(|name| std::fs::read_to_string(guests.join(name).with_extension("digest")));
    match digests {
        [Ok(js), Ok(shell)] => embed(&guests, &js, &shell),
        // Cargo takes a file that is not there for one that changed, so nothing may be watched here. `cargo xtask build`
        // sees to it that this runs again when there are guests.
        _ if named.is_none() => {}
        _ => println!(
            "cargo::error=TOLLHOUSE_GUESTS_DIR is `{}`, where there are no guests: run `cargo xtask build`, or unset it to \
             use the guests of the crate `tollhouse-guests`",
            guests.display()
        ),
    }
}

/// Has the library embed the guests of this directory.
fn embed(guests: &Path, js: &str, shell: &str) {
    println!("cargo::rustc-cfg=compiled_guests");
    for (name, variable, digest) in [("js", "TOLLHOUSE_GUEST_JS", js), ("shell", "TOLLHOUSE_GUEST_SHELL", shell)] {
        println!("cargo::rerun-if-changed={}", guests.join(name).with_extension("digest").display());
        println!("cargo::rustc-env={variable}={}", digest.trim());
    }
    let guests = guests.canonicalize().expect("it holds the digests just read");
    println!("cargo::rustc-env=TOLLHOUSE_GUESTS={}", guests.display());
}
