//! The guests: built from their sources, or taken from the crate `tollhouse-guests`, which stores them so that building
//! the host needs only Rust's tool chain.
//!
//! A stored guest is used as long as its sources have the digest that `host/guests/manifest.toml` names. `cargo xtask
//! guests` builds and stores the guests again. A build gives the same bytes on every machine with the same rustc and
//! clang, because paths of the machine are removed.

mod manifest;
mod sources;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::manifest::{GuestManifest, StoredGuest};
use crate::build::{Profile, SHELL};
use crate::patched;
use crate::run::{cargo, command, output, root, run, say, target};
use crate::setup;

/// Guest and how it is built.
struct GuestPackage {
    /// Base name of the guest's files.
    name: &'static str,
    /// Cargo package of the guest's core module.
    package: &'static str,
}

const GUESTS: [GuestPackage; 2] = [
    GuestPackage { name: "js", package: "tollhouse-guest-js" },
    GuestPackage { name: "shell", package: "tollhouse-guest-shell" },
];

/// Target that guests are built for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Flag with which the crate `getrandom` takes randomness from a function of the guest, which gets it from the host.
const GETRANDOM: &str = "--cfg=getrandom_backend=\"custom\"";

impl GuestPackage {
    /// Returns the path of a stored file of the guest.
    fn stored(&self, extension: &str) -> PathBuf {
        stored().join(self.name).with_extension(extension)
    }

    /// Returns the path of the built core module in a target directory.
    fn core(&self, target: &Path) -> PathBuf {
        target.join(TARGET).join("guest").join(format!("{}.wasm", self.package.replace('-', "_")))
    }

    /// Builds the core module in a target directory.
    fn build(&self, compiler: &str, target: &Path) -> Result<()> {
        say(&format!("building the {} guest ({TARGET})", self.name));
        let mut cargo = if self.name == "js" {
            let mut js = cargo_for_guests("build", &["--package", self.package])?;
            js.env("CC_wasm32_unknown_unknown", patched::quickjs(compiler)?);
            js
        } else {
            patched::bashkit()?;
            cargo_for_guests("build", &["--locked", "--manifest-path", SHELL])?
        };
        run(cargo.arg("--target-dir").arg(target).env("CARGO_ENCODED_RUSTFLAGS", rustflags(target)?))
    }
}

/// Returns the directory of the crate that stores the guests.
fn stored() -> PathBuf {
    root().join("host/guests")
}

/// Returns a cargo command with the target, profile and flags that guests are built with.
pub(crate) fn cargo_for_guests(subcommand: &str, arguments: &[&str]) -> Result<Command> {
    let mut cargo = cargo(&[subcommand, "--profile", "guest", "--target", TARGET]);
    cargo.args(arguments).env("CARGO_ENCODED_RUSTFLAGS", rustflags(&target())?);
    Ok(cargo)
}

/// Prepares a cargo build whose result runs on every machine of this architecture: the embedded guests use no features
/// of this CPU, and paths of this machine are removed.
pub(crate) fn generic(build: &mut Command) -> Result<&mut Command> {
    run(&mut cargo(&["build", "--bin", "tollhouse-precompile"]))?;
    let out = target().join("generic-guests");
    compile(&target().join("debug/tollhouse-precompile"), &["--generic"], &out)?;
    let flags = remapped(&target())?.join("\x1f");
    Ok(build.env("TOLLHOUSE_GUESTS_DIR", out).env("CARGO_ENCODED_RUSTFLAGS", flags))
}

/// Prepares a cargo build that embeds the guests as they are stored, and has no paths of this machine. Its result compiles
/// the guests when it first starts: compiled ones would take twice the bytes.
pub(crate) fn portable(build: &mut Command) -> Result<&mut Command> {
    let flags = remapped(&target())?.join("\x1f");
    Ok(build.env("TOLLHOUSE_GUESTS_DIR", "").env("CARGO_ENCODED_RUSTFLAGS", flags))
}

/// Returns the compiler flags for guests, in the form of `CARGO_ENCODED_RUSTFLAGS`.
fn rustflags(target: &Path) -> Result<String> {
    Ok([[GETRANDOM.to_owned()].as_slice(), &remapped(target)?].concat().join("\x1f"))
}

/// Returns the compiler flags that remove paths of this machine from the output.
fn remapped(target: &Path) -> Result<[String; 4]> {
    let version = output(command("rustc").arg("-vV"))?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown");
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    let places = [
        (root(), "/tollhouse".to_owned()),
        (target.to_owned(), "/target".to_owned()),
        (setup::cargo_home()?, "/cargo".to_owned()),
        (library, format!("/rustc/{commit}")),
    ];
    Ok(places.map(|(place, name)| format!("--remap-path-prefix={}={name}", place.display())))
}

/// Compiles the guests that the host embeds into `target/guests`.
pub(crate) fn prepare(profile: Profile) -> Result<()> {
    let out = target().join("guests");
    let first = !out.join("shell.digest").exists();
    compile(&target().join(profile.directory()).join("tollhouse-precompile"), &[], &out)?;
    if first {
        // A host that was built before embeds the stored guests. Its build script would not run again by itself.
        let mut clean = cargo(&["clean", "--quiet", "--package", "tollhouse"]);
        run(clean.args(profile.flag()))?;
    }
    Ok(())
}

/// Compiles the guests into a directory with `tollhouse-precompile`: the stored ones, or freshly built ones if the
/// sources have changed.
fn compile(compiler: &Path, flags: &[&str], out: &Path) -> Result<()> {
    std::fs::create_dir_all(out)?;
    let manifest = GuestManifest::read(&stored())?;
    for guest in &GUESTS {
        let sources = sources::digest(guest.name)?;
        let origin = if manifest.has(guest.name, &sources) {
            guest.stored("wasm.zst")
        } else {
            say(&format!("the sources of the {} guest are not those of the stored one", guest.name));
            guest.build(&setup::wasm_compiler()?, &target())?;
            guest.core(&target())
        };
        let made = out.join(guest.name);
        // Modification times are not enough: a stored guest that git checked out may be older than the compiled one.
        let stamp = format!("{}\n{sources}\n", origin.display());
        let made_of = made.with_extension("made-of");
        let same = std::fs::read_to_string(&made_of).is_ok_and(|made_of| made_of == stamp);
        if same && newer(&made.with_extension("digest"), &[&origin, compiler])? {
            continue;
        }
        say(&format!("compiling the {} guest", guest.name));
        run(command(compiler).args(flags).arg(&origin).arg(&made))?;
        std::fs::write(made_of, stamp)?;
    }
    Ok(())
}

/// Builds the guests from their sources and stores them; with `check`, only compares them with the stored ones.
pub(crate) fn renew(check: bool) -> Result<()> {
    let c = setup::wasm_compiler()?;
    say("building what pre-initialises the guests");
    run(&mut cargo(&["build", "--bin", "tollhouse-precompile"]))?;
    let precompile = target().join("debug/tollhouse-precompile");
    let mut manifest = GuestManifest::made_by(&output(command("rustc").arg("--version"))?, &version_of(&c)?);
    let directory = target().join("portable-guests");
    std::fs::create_dir_all(&directory)?;
    for guest in &GUESTS {
        let sources = sources::digest(guest.name)?;
        guest.build(&c, &target())?;
        let made = directory.join(guest.name);
        say(&format!("pre-initialising the {} guest", guest.name));
        run(command(&precompile).arg("--portable").arg(guest.core(&target())).arg(&made))?;
        manifest.add(guest.name, StoredGuest::read(&directory, guest.name, sources)?);
    }
    if check {
        return manifest.compare(&GuestManifest::read(&stored())?);
    }
    for guest in &GUESTS {
        for extension in ["wasm.zst", "pages", "digest"] {
            let made = directory.join(guest.name).with_extension(extension);
            std::fs::copy(&made, guest.stored(extension)).with_context(|| format!("cannot copy {}", made.display()))?;
        }
    }
    manifest.write(&stored())?;
    say("stored in host/guests: commit them with their sources");
    Ok(())
}

/// Refuses stored guests that differ from the manifest, or whose sources have changed.
pub(crate) fn check() -> Result<()> {
    let manifest = GuestManifest::read(&stored())?;
    for guest in &GUESTS {
        let sources = sources::digest(guest.name)?;
        if !manifest.has(guest.name, &sources) {
            bail!(
                "the stored {} guest, host/guests/{}.wasm.zst, was made of other sources than these (digest {sources}): run \
                 `cargo xtask guests`, and commit host/guests",
                guest.name,
                guest.name
            );
        }
        let stored = StoredGuest::read(&stored(), guest.name, sources)?;
        manifest.compare_guest(guest.name, &stored)?;
    }
    Ok(())
}

/// Returns the first line of a compiler's version message.
fn version_of(compiler: &str) -> Result<String> {
    Ok(output(command(compiler).arg("--version"))?.lines().next().unwrap_or_default().to_owned())
}

/// Returns true if a file exists and is newer than all of `sources`.
fn newer(made: &Path, sources: &[&Path]) -> Result<bool> {
    let Ok(made) = made.metadata() else { return Ok(false) };
    let made = made.modified()?;
    for source in sources {
        let changed = source.metadata().with_context(|| format!("{} is not there", source.display()))?.modified()?;
        if changed > made {
            return Ok(false);
        }
    }
    Ok(true)
}
