//! `host/guests/manifest.toml`: digests of the stored guests and of their sources, and the compilers that made them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};
use toml::Table;

/// Description of a stored guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredGuest {
    /// Digest of the guest's sources.
    pub(super) sources: String,
    /// blake3 of the uncompressed component.
    component: String,
    /// sha256 of the compressed component.
    compressed: String,
}

impl StoredGuest {
    /// Describes the files of a guest in a directory.
    pub(super) fn read(directory: &Path, name: &str, sources: String) -> Result<Self> {
        let read = |extension: &str| {
            let path = directory.join(name).with_extension(extension);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let component = String::from_utf8(read("digest")?).context("a digest is text")?;
        Ok(Self { sources, component, compressed: sha256(&read("wasm.zst")?) })
    }
}

/// Manifest of all stored guests.
pub(super) struct GuestManifest {
    rustc: String,
    clang: String,
    guests: BTreeMap<String, StoredGuest>,
}

impl GuestManifest {
    /// Creates a manifest without guests, for these versions of the compilers.
    pub(super) fn made_by(rustc: &str, clang: &str) -> Self {
        Self { rustc: rustc.trim().to_owned(), clang: clang.trim().to_owned(), guests: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, name: &str, guest: StoredGuest) {
        self.guests.insert(name.to_owned(), guest);
    }

    /// Reads the manifest in a directory.
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let path = path(directory);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}: `cargo xtask guests` makes it", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is damaged: `cargo xtask guests` makes it anew", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse()?;
        let word = |table: &Table, key: &str| {
            let value = table.get(key).and_then(|value| value.as_str()).map(str::to_owned);
            value.with_context(|| format!("it has no text `{key}`"))
        };
        let mut manifest = Self::made_by(&word(&table, "rustc")?, &word(&table, "clang")?);
        for (name, value) in &table {
            let Some(guest) = value.as_table() else { continue };
            let [sources, component, compressed] = ["sources", "component", "compressed"].map(|key| word(guest, key));
            manifest.add(name, StoredGuest { sources: sources?, component: component?, compressed: compressed? });
        }
        Ok(manifest)
    }

    fn text(&self) -> String {
        let mut text =
            "# What the guests beside this file were made of and by. Written by `cargo xtask guests`.\n".to_owned();
        for (key, value) in [("rustc", &self.rustc), ("clang", &self.clang)] {
            // Versions of compilers contain nothing to escape; otherwise `parse` would refuse the result.
            writeln!(text, "{key} = \"{value}\"").expect("writing to a string does not fail");
        }
        for (name, StoredGuest { sources, component, compressed }) in &self.guests {
            writeln!(
                text,
                "\n[{name}]\n# sha256 of all that its build reads: see xtask/src/guests/sources.rs.\n\
                 sources = \"{sources}\"\n# blake3 of the component.\ncomponent = \"{component}\"\n\
                 # sha256 of {name}.wasm.zst.\ncompressed = \"{compressed}\""
            )
            .expect("writing to a string does not fail");
        }
        text
    }

    pub(super) fn write(&self, directory: &Path) -> Result<()> {
        std::fs::write(path(directory), self.text())
            .with_context(|| format!("cannot write {}", path(directory).display()))
    }

    /// Returns true if the guest was built from sources with this digest.
    pub(super) fn has(&self, name: &str, sources: &str) -> bool {
        self.guests.get(name).is_some_and(|guest| guest.sources == sources)
    }

    /// Compares the files of a guest with their description in this manifest.
    pub(super) fn compare_guest(&self, name: &str, found: &StoredGuest) -> Result<()> {
        let told = self.guests.get(name).with_context(|| format!("the manifest has no guest {name}"))?;
        if found.component != told.component {
            bail!("the component of the {name} guest has digest {}, and not {}", found.component, told.component);
        }
        if found.compressed != told.compressed {
            bail!("{name}.wasm.zst has digest {}, and not {}", found.compressed, told.compressed);
        }
        Ok(())
    }

    /// Compares guests that were just built with the stored ones.
    pub(super) fn compare(&self, stored: &Self) -> Result<()> {
        if (&self.rustc, &self.clang) != (&stored.rustc, &stored.clang) {
            bail!(
                "the stored guests were made by {} and {}, and cannot be compared with those of {} and {}",
                stored.rustc,
                stored.clang,
                self.rustc,
                self.clang
            );
        }
        self.guests.iter().try_for_each(|(name, built)| stored.compare_guest(name, built))
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join("manifest.toml")
}

/// Computes the digest of bytes.
fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> GuestManifest {
        let mut manifest = GuestManifest::made_by("rustc 1", "clang 2\n");
        let [sources, component, compressed] = ["aa", "bb", "cc"].map(str::to_owned);
        manifest.add("js", StoredGuest { sources, component, compressed });
        manifest
    }

    #[test]
    fn manifest_written_and_read_is_the_same() {
        let read = GuestManifest::parse(&manifest().text()).expect("it is a manifest");
        assert_eq!((read.rustc.as_str(), read.clang.as_str()), ("rustc 1", "clang 2"));
        assert_eq!(read.guests, manifest().guests);
        assert!(read.has("js", "aa") && !read.has("js", "ab") && !read.has("shell", "aa"));
    }

    #[test]
    fn manifest_without_a_digest_is_refused() {
        for key in ["rustc", "sources", "component", "compressed"] {
            let error = GuestManifest::parse(&manifest().text().replace(&format!("{key} ="), "other =")).err();
            assert!(error.is_some_and(|error| error.to_string().contains(key)), "{key}");
        }
    }

    #[test]
    fn guest_with_other_bytes_is_refused_by_name() {
        let mut other = manifest();
        other.guests.get_mut("js").expect("it is there").compressed = "cd".to_owned();
        let error = other.compare(&manifest()).expect_err("the bytes differ").to_string();
        assert!(error.contains("js.wasm.zst") && error.contains("cd"), "{error}");
        let error = GuestManifest::made_by("rustc 2", "clang 2").compare(&manifest()).expect_err("another compiler");
        assert!(error.to_string().contains("rustc 2"), "{error}");
    }
}
