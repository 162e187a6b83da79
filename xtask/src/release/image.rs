//! The container image: an OCI image layout in a tar archive, written without a daemon, and without a base image.
//!
//! `docker load`, `podman load` and `skopeo copy oci-archive:…` read it. The image holds the static binary, an
//! unprivileged user, a home directory and `/tmp`, and nothing else.

use anyhow::Result;
use serde_json::{Value, json};

use super::Release;
use super::archive::{FileTree, gzip, sha256};
use super::program::Program;

/// User and group that the program of the image runs as: 65532 is customary for an unprivileged user in images.
pub(super) const USER: u64 = 65532;

/// Home of that user, with the registry, sessions and compiled code.
pub(super) const HOME: &str = "/home/tollhouse";

/// Makes the archive, and returns its name and bytes.
pub(super) fn archive(release: &Release, program: &Program) -> Result<(String, Vec<u8>)> {
    let bytes = layout(release, &files(program))?.tar("", release.epoch)?;
    Ok((format!("tollhouse-{}-oci-amd64.tar", release.version), bytes))
}

/// Returns the file system of the image.
fn files(program: &Program) -> FileTree {
    let mut tree = FileTree::default();
    for (path, content) in program.tree().files() {
        if path.starts_with("bin/") {
            tree.file(format!("usr/{path}"), 0o755, content);
        } else if path.contains("/LICENSE") {
            tree.file(format!("usr/{path}"), 0o644, content);
        }
    }
    let user = format!("root:x:0:0:root:/root:/sbin/nologin\ntollhouse:x:{USER}:{USER}::{HOME}:/sbin/nologin\n");
    tree.file("etc/passwd", 0o644, user);
    tree.file("etc/group", 0o644, format!("root:x:0:\ntollhouse:x:{USER}:\n"));
    tree.directory(HOME.trim_start_matches('/'), 0o755, USER);
    tree.directory("tmp", 0o1777, 0);
    tree
}

/// Returns the files of an OCI image layout that contains one image with one layer.
fn layout(release: &Release, files: &FileTree) -> Result<FileTree> {
    let tar = files.tar("", release.epoch)?;
    let layer = gzip(&tar)?;
    let mut tree = FileTree::default();
    let layer = blob(&mut tree, "application/vnd.oci.image.layer.v1.tar+gzip", layer);
    let config = serde_json::to_vec(&config(release, &sha256(&tar)))?;
    let config = blob(&mut tree, "application/vnd.oci.image.config.v1+json", config);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
    });
    let mut named = blob(&mut tree, "application/vnd.oci.image.manifest.v1+json", serde_json::to_vec(&manifest)?);
    named["platform"] = json!({"architecture": "amd64", "os": "linux"});
    let name = format!("tollhouse:{}", release.version);
    named["annotations"] = json!({
        "io.containerd.image.name": format!("docker.io/library/{name}"),
        "org.opencontainers.image.ref.name": release.version,
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    });
    tree.file("index.json", 0o644, serde_json::to_vec(&index)?);
    tree.file("oci-layout", 0o644, r#"{"imageLayoutVersion":"1.0.0"}"#);
    // Docker before version 25 reads this manifest instead of the index.
    let path = |blob: &Value| format!("blobs/{}", blob["digest"].as_str().unwrap_or_default().replace(':', "/"));
    let docker = json!([{"Config": path(&config), "RepoTags": [name], "Layers": [path(&layer)]}]);
    tree.file("manifest.json", 0o644, serde_json::to_vec(&docker)?);
    Ok(tree)
}

/// Returns the configuration of the image. `layer` is the digest of the uncompressed layer.
fn config(release: &Release, layer: &str) -> Value {
    json!({
        "architecture": "amd64",
        "os": "linux",
        "created": release.time(),
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": [format!("HOME={HOME}"), "PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/tollhouse"],
            "WorkingDir": HOME,
            "Labels": {
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                "org.opencontainers.image.source": super::REPOSITORY,
                "org.opencontainers.image.version": release.version,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": release.time(), "created_by": "cargo xtask release"}],
    })
}

/// Adds a blob to an image layout, and returns its descriptor.
fn blob(tree: &mut FileTree, kind: &str, content: Vec<u8>) -> Value {
    let (digest, size) = (sha256(&content), content.len());
    tree.file(format!("blobs/sha256/{digest}"), 0o644, content);
    json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": size})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    fn json_of(files: &BTreeMap<&str, &[u8]>, path: &str) -> Value {
        serde_json::from_slice(files[path]).expect("it is JSON")
    }

    /// Returns the blob of a descriptor, and checks its digest and size.
    fn described<'t>(files: &BTreeMap<&str, &'t [u8]>, descriptor: &Value) -> &'t [u8] {
        let digest = descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("a digest");
        let blob = files[format!("blobs/sha256/{digest}").as_str()];
        assert_eq!((sha256(blob).as_str(), Some(blob.len() as u64)), (digest, descriptor["size"].as_u64()));
        blob
    }

    #[test]
    fn layout_has_the_digests_that_it_names_and_a_user_that_is_not_root() {
        let release = Release::for_tests();
        let layout = layout(&release, &files(&Program::for_tests())).expect("it is made");
        let files: BTreeMap<&str, &[u8]> = layout.files().collect();
        let index = json_of(&files, "index.json");
        let manifest: Value = serde_json::from_slice(described(&files, &index["manifests"][0])).expect("JSON");
        let config: Value = serde_json::from_slice(described(&files, &manifest["config"])).expect("JSON");
        assert_eq!(config["config"]["User"], "65532:65532");
        let mut tar = Vec::new();
        GzDecoder::new(described(&files, &manifest["layers"][0])).read_to_end(&mut tar).expect("it is compressed");
        assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{}", sha256(&tar))]));
        let docker = json_of(&files, "manifest.json");
        assert!(files.contains_key(docker[0]["Layers"][0].as_str().expect("a path")), "{docker}");
        let mut layer = tar::Archive::new(tar.as_slice());
        let owners: BTreeMap<String, u64> = layer
            .entries()
            .expect("it is an archive")
            .map(|entry| entry.expect("it is whole"))
            .map(|entry| {
                (
                    entry.path().expect("a path").display().to_string().trim_end_matches('/').to_owned(),
                    entry.header().uid().expect("a user"),
                )
            })
            .collect();
        assert_eq!((owners["home/tollhouse"], owners["usr/bin/tollhouse"]), (USER, 0));
    }
}
