//! Disks for tests, with simulated power cuts: an ext4 image behind a loop device. A power cut copies the image and
//! mounts the copy. The copy has the data that had reached the device; data in the kernel's page cache, and what the
//! file system's journal had not committed, is lost.
//!
//! The image is on tmpfs so that copying is quick, and is copied again if the kernel wrote to it meanwhile. Data that
//! reached the loop device counts as durable: a disk that loses its own cache is not simulated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Condition of a test with a disk.
const MOUNTS: &str = "an image of a file system can be mounted here: it takes root and loop devices";

/// Mounted disk.
#[derive(Debug)]
pub struct Disk {
    // Declared first, so dropped first: nothing can be removed below a mount.
    mounted: Option<MountedImage>,
    medium: Option<MountedImage>,
    directory: TempDir,
}

impl Disk {
    /// Creates and mounts a disk of this size.
    ///
    /// # Panics
    /// If no file system can be mounted here: tests with disks are ignored, and `cargo xtask test` runs them where it can.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self::make(bytes, None).expect(MOUNTS)
    }

    /// Creates a disk like [`Disk::new`] that fails after this number of bytes was written, until it is
    /// [healed](Disk::heal): writes are accepted and then cannot be stored, so syncs fail, as on a breaking disk.
    ///
    /// # Panics
    /// As [`Disk::new`].
    #[must_use]
    pub fn failing_after(written: u64, bytes: u64) -> Self {
        Self::make(bytes, Some(written)).expect(MOUNTS)
    }

    fn make(bytes: u64, medium: Option<u64>) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("tollhouse-disk").tempdir_in("/dev/shm")?;
        let mut disk = Self { mounted: None, medium: None, directory };
        fs::create_dir(disk.path())?;
        fs::create_dir(disk.medium())?;
        if let Some(room) = medium {
            // The image is sparse, and the file system below it has no room left to fill its holes.
            disk.medium =
                Some(MountedImage::new(&["-t", "tmpfs", "-o", &format!("size={room}")], "medium", &disk.medium())?);
        }
        fs::File::create(disk.image())?.set_len(bytes)?;
        run("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), &disk.image()])?;
        disk.mount()?;
        Ok(disk)
    }

    /// Returns the mount point.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    fn medium(&self) -> PathBuf {
        self.directory.path().join("medium")
    }

    fn image(&self) -> PathBuf {
        self.medium().join("image")
    }

    fn mount(&mut self) -> io::Result<()> {
        self.mounted = Some(MountedImage::new(&["-o", "loop"], self.image(), &self.path())?);
        Ok(())
    }

    /// Makes a failed disk work again. Data that it failed to write is lost.
    ///
    /// # Errors
    /// Fails if the disk was not made by [`Disk::failing_after`].
    pub fn heal(&self) -> io::Result<()> {
        run("mount", &["-o".as_ref(), "remount,size=100%".as_ref(), &self.medium()])
    }

    /// Puts the disk into the state that a power cut at this moment leaves. Nothing on it may be open.
    ///
    /// # Errors
    /// Fails if the image cannot be copied or mounted.
    pub fn cut_the_power(&mut self) -> io::Result<()> {
        let copy = self.medium().join("copy");
        copy_quietly(&self.image(), &copy)?;
        self.mounted = None;
        fs::rename(copy, self.image())?;
        self.mount()
    }
}

/// Copies the image as it is at one moment.
fn copy_quietly(image: &Path, copy: &Path) -> io::Result<()> {
    loop {
        run("cp", &["--sparse=always".as_ref(), image, copy])?;
        if run("cmp", &["--silent".as_ref(), image, copy]).is_ok() {
            return Ok(());
        }
    }
}

fn run(program: &str, arguments: &[&Path]) -> io::Result<()> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Mounted image.
#[derive(Debug)]
struct MountedImage(PathBuf);

impl MountedImage {
    fn new(options: &[&str], what: impl AsRef<Path>, at: &Path) -> io::Result<Self> {
        let options = options.iter().map(Path::new);
        run("mount", &options.chain([what.as_ref(), at]).collect::<Vec<_>>())?;
        Ok(Self(at.to_owned()))
    }
}

impl Drop for MountedImage {
    fn drop(&mut self) {
        // If the disk is still in use, it is unmounted once it no longer is.
        if run("umount", &[&self.0]).is_err() {
            drop(run("umount", &["--lazy".as_ref(), &self.0]));
        }
    }
}
