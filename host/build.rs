//! Finds the guests that the library embeds: `target/guests/`, made by `cargo xtask build`.

use std::path::PathBuf;

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let guests = match std::env::var_os("TOLLHOUSE_GUESTS_DIR") {
        Some(directory) => PathBuf::from(directory),
        None => manifest.join("../target/guests"),
    };
    println!("cargo::rerun-if-env-changed=TOLLHOUSE_GUESTS_DIR");
    for (name, variable) in [("js", "TOLLHOUSE_GUEST_JS"), ("shell", "TOLLHOUSE_GUEST_SHELL")] {
        let path = guests.join(format!("{name}.digest"));
        println!("cargo::rerun-if-changed={}", path.display());
        let Ok(digest) = std::fs::read_to_string(&path) else {
            println!("cargo::error=the `{name}` guest is not built: run `cargo xtask build`");
            return;
        };
        println!("cargo::rustc-env={variable}={}", digest.trim());
    }
    let guests = guests.canonicalize().expect("it holds the digests just read");
    println!("cargo::rustc-env=TOLLHOUSE_GUESTS={}", guests.display());
}
