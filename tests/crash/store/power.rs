//! Power cuts: a writer on a disk of its own is killed, and the disk then has what had reached it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tollhouse_tests::disk::Disk;

use super::check::{self, Acknowledged};
use super::writer::{Kind, Writer};

/// Room for what is written between two collections of garbage.
const DISK_BYTES: u64 = 256 << 20;

/// Outcome of cutting the power.
pub(super) struct Report {
    pub(super) cycles: u32,
    pub(super) commits: u64,
    /// The first loss; it ends the test.
    pub(super) lost: Option<String>,
}

/// Runs a writer, cuts the power, checks; again and again, until something is lost.
pub(super) fn cut_the_power(kind: Kind, cycles: u32) -> Report {
    let mut disk = Disk::new(DISK_BYTES);
    let mut acknowledged = Acknowledged::default();
    for cycle in 1..=cycles {
        let lost = one(&mut disk, kind, &mut acknowledged).expect("the image can be copied and mounted");
        if lost.is_some() {
            return Report { cycles: cycle, commits: acknowledged.commits(), lost };
        }
    }
    Report { cycles, commits: acknowledged.commits(), lost: None }
}

fn one(disk: &mut Disk, kind: Kind, acknowledged: &mut Acknowledged) -> io::Result<Option<String>> {
    let store = disk.path().join("store");
    let mut writer = Writer::start(&store, kind, 0);
    writer.wait_for_one(acknowledged);
    std::thread::sleep(super::moment());
    writer.kill(acknowledged);
    disk.cut_the_power()?;
    // Only plain sled panics when it reads what it has lost.
    let checked = catch_unwind(AssertUnwindSafe(|| match kind.open(&store) {
        Ok(store) => check::check(&*store, acknowledged),
        Err(error) => Err(format!("it does not open: {error}")),
    }));
    Ok(checked.unwrap_or_else(|_| Err("it panics when it is read".to_owned())).err())
}
