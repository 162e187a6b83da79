//! Blobs that an upload has acknowledged are there after a power cut, and whole; also on a disk that is full.
//!
//! A few cycles; `TOLLHOUSE_CRASH_CYCLES` says how many.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

use tollhouse::store::{BlobError, BlobFiles, BlobId, BlobSink, BlobSource};
use tollhouse_tests::disk::Disk;
use tollhouse_tests::slow_cycles;

/// Number of power cuts, unless `TOLLHOUSE_CRASH_CYCLES` says otherwise.
const CYCLES: u32 = 5;

/// Variables that tell [`child`] where to upload to, and how. Without them, `child` is no test.
const DIRECTORY: &str = "TOLLHOUSE_TEST_BLOBS";
const HOW: &str = "TOLLHOUSE_TEST_HOW";

fn random(below: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) % below
}

/// Bytes of a length that is mostly small, half of them compressible.
fn content() -> Vec<u8> {
    let length = usize::try_from(random(if random(8) == 0 { 200_000 } else { 6_000 })).expect("it is small");
    let seed = random(u64::MAX);
    if random(2) == 0 {
        return seed.to_le_bytes().repeat(length / 8 + 1);
    }
    (0..length as u64 / 8 + 1).flat_map(|n| (seed ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect()
}

/// The process that is killed: this test, run by the others in a process of its own. It says what it has made durable, a
/// line for an upload.
#[test]
fn child() {
    let (Ok(directory), Ok(how)) = (env::var(DIRECTORY), env::var(HOW)) else { return };
    if how == "careless" {
        careless(directory.as_ref());
    }
    let files = BlobFiles::open(directory).expect("it opens");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let mut upload = files.begin().expect("it begins");
                    // Some uploads are large enough for packs.
                    let count = if random(4) == 0 { random(150) } else { random(4) };
                    let ids: Vec<_> = (0..=count).map(|_| upload.put(content()).expect("it is put")).collect();
                    upload.sync().expect("it is synced");
                    say(&ids);
                }
            });
        }
    });
}

/// Renames what was not synced.
fn careless(directory: &Path) -> ! {
    let files = BlobFiles::open(directory).expect("it opens");
    loop {
        let bytes = content();
        let id = BlobId::of(&bytes);
        let path = files.path(&id);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
        fs::write(directory.join("careless"), [&[0], &bytes[..]].concat()).expect("it is written");
        fs::rename(directory.join("careless"), path).expect("it is renamed");
        say(&[id]);
    }
}

fn say(ids: &[BlobId]) {
    let line = ids.iter().map(|id| format!("{id} ")).collect::<String>() + "\n";
    io::stdout().write_all(line.as_bytes()).expect("the parent listens");
}

/// A process that uploads.
struct Uploader {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Uploader {
    fn start(directory: &Path, how: &str) -> Self {
        let mut command = Command::new(env::current_exe().expect("it is known"));
        command.args(["--exact", "crash::blobs::child", "--nocapture"]).env(DIRECTORY, directory).env(HOW, how);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs again");
        let said = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, said }
    }

    /// Reads a line of blobs; what the test harness says is none. False at the end.
    fn read(&mut self, acknowledged: &mut BTreeSet<BlobId>) -> bool {
        let mut line = String::new();
        let read = self.said.read_line(&mut line).expect("it is read") > 0;
        if line.ends_with('\n') {
            acknowledged.extend(line.split_whitespace().filter_map(|word| word.parse::<BlobId>().ok()));
        }
        read
    }

    fn kill(mut self, acknowledged: &mut BTreeSet<BlobId>) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it is dead");
        while self.read(acknowledged) {}
    }
}

/// The first of these that is not there, or not whole; and whatever else is damaged.
fn lost(directory: &Path, acknowledged: &BTreeSet<BlobId>) -> Option<String> {
    let files = BlobFiles::open(directory).expect("it opens");
    let missing = acknowledged.iter().find_map(|id| files.get(id).err().map(|error| error.to_string()));
    missing.or_else(|| {
        let verified = files.verify().expect("it is verified");
        verified.faults.first().map(|fault| fault.error.to_string())
    })
}

/// Uploads, cuts the power, looks; so many times. How many blobs were acknowledged, and what was lost.
fn cut_the_power(disk: &mut Disk, how: &str, cycles: u64) -> (usize, Option<String>) {
    let mut acknowledged = BTreeSet::new();
    for _ in 0..cycles {
        let directory = disk.path().join("store");
        let mut uploader = Uploader::start(&directory, how);
        while acknowledged.is_empty() && uploader.read(&mut acknowledged) {}
        thread::sleep(Duration::from_millis(random(250)));
        uploader.kill(&mut acknowledged);
        disk.cut_the_power().expect("the image can be copied and mounted");
        if let Some(lost) = lost(&directory, &acknowledged) {
            return (acknowledged.len(), Some(lost));
        }
        // The disk is small.
        if acknowledged.len() > 5_000 {
            fs::remove_dir_all(&directory).expect("it is removed");
            acknowledged.clear();
        }
    }
    (acknowledged.len(), None)
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn blobs_survive_a_power_cut() {
    let mut disk = Disk::new(512 << 20);
    let cycles = slow_cycles(CYCLES).into();
    let (acknowledged, lost) = cut_the_power(&mut disk, "carefully", cycles);
    assert_eq!(lost, None);
    println!("{cycles} power cuts, the last with {acknowledged} blobs, none lost");
}

/// The test above would notice.
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn blobs_not_synced_are_lost_in_a_power_cut() {
    let mut disk = Disk::new(512 << 20);
    let (_, lost) = cut_the_power(&mut disk, "careless", 20);
    println!("lost: {}", lost.expect("the page cache is lost, and the test notices"));
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn full_disk_loses_no_acknowledged_blob_in_a_power_cut() {
    let mut disk = Disk::new(24 << 20);
    let directory = disk.path().join("store");
    let files = BlobFiles::open(&directory).expect("it opens");
    // To remove a blob of a pack takes space for a pack: see `reserve.rs` of `tollhouse session gc`.
    let reserve = disk.path().join("reserve");
    let mut held = fs::File::create(&reserve).expect("it is made");
    held.write_all(&vec![0; 2 << 20]).and_then(|()| held.sync_all()).expect("it is durable");
    let mut acknowledged = BTreeSet::new();
    let mut upload = || {
        let mut upload = files.begin()?;
        let ids: Vec<_> = (0..random(120)).map(|_| upload.put(content())).collect::<Result<_, _>>()?;
        upload.sync().map(|()| acknowledged.extend(ids))
    };
    let error = loop {
        if let Err(error) = upload() {
            break error;
        }
    };
    assert!(matches!(error, BlobError::Full { .. }), "{error:?}");
    assert!(matches!(upload(), Err(BlobError::Full { .. }) | Ok(())), "it goes on saying so");
    drop(files);
    disk.cut_the_power().expect("the image can be copied and mounted");
    assert_eq!(lost(&directory, &acknowledged), None);
    let files = BlobFiles::open(&directory).expect("it opens");
    fs::remove_file(reserve).expect("it is there");
    let alone = files.lock_exclusive(Duration::from_secs(5)).expect("it locks").expect("nobody uploads");
    alone.clear_leftovers().expect("they are removed");
    for id in acknowledged.iter().take(acknowledged.len() / 2) {
        alone.remove(id).expect("it is removed");
    }
    drop(alone);
    let mut upload = files.begin().expect("it begins");
    let id = upload.put(b"there is room again".to_vec()).expect("it is put");
    upload.sync().expect("it is synced");
    assert!(files.get(&id).is_ok());
}
