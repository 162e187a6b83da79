//! A power cut, without a plug to pull: the store is on an ext4 image behind a loop device, and at the moment of the kill
//! the image is copied. The copy has what had reached the device: neither what the kernel still held in its page cache,
//! nor what its journal had not committed. It is then mounted like a disk after a power cut, and is the disk of the next
//! cycle.
//!
//! The image is on tmpfs, so that copying is quick, and is copied again if the kernel wrote to it meanwhile. What reached
//! the loop device counts as durable: a disk that loses its own cache is not simulated.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::check::{self, Acknowledged};
use super::writer::{Kind, Writer};

/// Room for what is written between two collections of garbage.
const IMAGE_BYTES: u64 = 256 << 20;

/// What came of it.
pub(super) struct Report {
    pub(super) cycles: u32,
    pub(super) commits: u64,
    /// The first loss; it ends the test.
    pub(super) lost: Option<String>,
}

/// Runs a writer, cuts the power, checks; again and again, until something is lost. None where that cannot be done.
pub(super) fn cut_the_power(kind: Kind, cycles: u32) -> Option<Report> {
    let bench = match Bench::new() {
        Ok(bench) => bench,
        Err(reason) => {
            println!("skipped: no filesystem image can be mounted here ({reason}); it takes root and loop devices");
            return None;
        }
    };
    let mut acknowledged = Acknowledged::default();
    for cycle in 1..=cycles {
        let lost = one(&bench, kind, &mut acknowledged).expect("the image can be copied and mounted");
        if lost.is_some() {
            return Some(Report { cycles: cycle, commits: acknowledged.commits(), lost });
        }
    }
    Some(Report { cycles, commits: acknowledged.commits(), lost: None })
}

fn one(bench: &Bench, kind: Kind, acknowledged: &mut Acknowledged) -> io::Result<Option<String>> {
    let mounted = Mounted::new(&bench.image(), &bench.mount_point())?;
    let mut writer = Writer::start(&mounted.store(), kind, 0);
    writer.wait_for_one(acknowledged);
    std::thread::sleep(super::moment());
    writer.kill(acknowledged);
    let copy = bench.dir.path().join("copy");
    copy_quietly(&bench.image(), &copy)?;
    drop(mounted);
    fs::rename(copy, bench.image())?;
    let mounted = Mounted::new(&bench.image(), &bench.mount_point())?;
    // Only plain sled panics when it reads what it has lost.
    let checked = catch_unwind(AssertUnwindSafe(|| match kind.open(&mounted.store()) {
        Ok(store) => check::check(&*store, acknowledged),
        Err(error) => Err(format!("it does not open: {error}")),
    }));
    Ok(checked.unwrap_or_else(|_| Err("it panics when it is read".to_owned())).err())
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

fn run(program: &str, arguments: &[&Path]) -> io::Result<Output> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(output);
    }
    Err(io::Error::other(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// A tmpfs with an image.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> io::Result<Self> {
        let bench = Self { dir: tempfile::Builder::new().prefix("tollhouse-power").tempdir_in("/dev/shm")? };
        fs::create_dir(bench.mount_point())?;
        fs::File::create(bench.image())?.set_len(IMAGE_BYTES)?;
        run("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), &bench.image()])?;
        drop(Mounted::new(&bench.image(), &bench.mount_point())?);
        Ok(bench)
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    fn mount_point(&self) -> PathBuf {
        self.dir.path().join("mounted")
    }
}

/// A mounted image.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, at: &Path) -> io::Result<Self> {
        run("mount", &["-o".as_ref(), "loop".as_ref(), image, at])?;
        Ok(Self(at.to_owned()))
    }

    fn store(&self) -> PathBuf {
        self.0.join("store")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Somebody may still look: then it goes when they have looked.
        if run("umount", &[&self.0]).is_err() {
            drop(run("umount", &["--lazy".as_ref(), &self.0]));
        }
    }
}
