//! Tests of a full disk.

use std::path::PathBuf;
use std::process::Command;

use super::*;

/// A small file system in memory, mounted as long as this lives.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system, which only root may.
    fn mount(home: &TempDir, kilobytes: u32) -> Self {
        let path = home.path().join("small");
        fs::create_dir(&path).expect("it is made");
        let options = format!("size={kilobytes}k,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&path).output();
        assert!(
            mounted.is_ok_and(|mounted| mounted.status.success()),
            "a file system can be mounted here: it takes root"
        );
        Self(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
#[ignore = "mounts a file system: takes root"]
fn full_disk_loses_no_acknowledged_blob_and_can_be_emptied() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let small = SmallDisk::mount(&home, 2_000);
    let files = BlobFiles::open(&small.0).expect("it opens");
    let mut acknowledged = Vec::new();
    let error = (0..)
        .find_map(|n| {
            let mut upload = files.begin().expect("it begins");
            let ids: Result<Vec<BlobId>, _> = (0..5).map(|m| upload.put(content(n * 5 + m))).collect();
            match ids.and_then(|ids| upload.sync().map(|()| ids)) {
                Ok(ids) => acknowledged.extend(ids),
                Err(error) => {
                    let again = upload.put(content(u64::MAX)).expect_err("an upload that failed does no more");
                    assert_eq!((again.to_string(), upload.sync().is_err()), (error.to_string(), true));
                    return Some(error);
                }
            }
            None
        })
        .expect("it is full some day");
    assert!(matches!(error, BlobError::Full { .. }), "{error:?}");
    assert!(error.to_string().starts_with("no space is left on the device that holds `"), "{error}");
    assert_eq!(leftovers(&files), 0);
    assert!(acknowledged.len() > 50);
    for id in &acknowledged {
        files.get(id).expect("it was acknowledged");
    }
    let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("nobody uploads");
    for id in &acknowledged[..50] {
        alone.remove(id).expect("it is removed");
    }
    drop(alone);
    put(&files, (0..20).map(content));
    assert!(files.verify().expect("it is verified").faults.is_empty());
}
