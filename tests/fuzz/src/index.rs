//! The index of a registry: lines that form a hash chain.

use tempfile::TempDir;
use tollhouse_registry::{Digest, Registry};

/// Opens registries with two indexes: the data itself, and a valid chain made from its lines. Each registry must open
/// or be refused, and every release that it lists must be found unless it was yanked.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn index(data: &[u8]) {
    drop(open(data));
    if let Some((registry, _directory)) = open(&chain(data)) {
        for release in registry.list().expect("it was just read") {
            let wanted = format!("={}", release.version).parse().expect("a version is a requirement");
            let found = registry.resolve(&release.name, &wanted);
            assert_eq!(found.is_ok(), !release.yanked, "{}@{}", release.name, release.version);
        }
    }
}

/// Opens a registry with this index. Returns the registry and its temporary directory.
fn open(index: &[u8]) -> Option<(Registry, TempDir)> {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    std::fs::write(directory.path().join("index"), index).expect("it can be written");
    let registry = Registry::open(directory.path()).ok()?;
    registry.latest().expect("it was just read");
    Some((registry, directory))
}

/// Makes a valid chain from lines such as `"op":"yank",…`, by adding numbers and hashes.
fn chain(data: &[u8]) -> Vec<u8> {
    let mut index = Vec::new();
    let mut previous = format!("sha256:{}", "0".repeat(64));
    for (number, line) in data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        let head = format!("{{\"v\":1,\"seq\":{number},\"prev\":\"{previous}\",\"time\":0,");
        let body = [head.as_bytes(), line].concat();
        previous = Digest::of(&body).to_string();
        index.extend_from_slice(&body);
        index.extend_from_slice(format!(",\"sum\":\"{previous}\"}}\n").as_bytes());
    }
    index
}
