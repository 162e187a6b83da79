//! Durable commits a second, and how long a store takes to open.
//!
//! `cargo run --release --package tollhouse --features redb --example store_bench [DIR]`

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tollhouse::store::{Backend, Batch, OpenStore, Store, open};

/// How long each figure is measured.
const ROUND: Duration = Duration::from_secs(3);

/// A debit: a small record of a ledger.
const DEBIT_BYTES: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parent = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    println!("in {}: a commit is one record of {DEBIT_BYTES} bytes, durable", parent.display());
    println!("fdatasync of a file that grows, alone: {:>7} /s", syncs(&parent)?);
    for backend in [Backend::Sled, Backend::Redb] {
        let dir = parent.join(format!("tollhouse-bench-{}-{backend}", std::process::id()));
        let measured = measure(backend, &dir);
        std::fs::remove_dir_all(&dir)?;
        match measured {
            Ok(()) => {}
            Err(error) => println!("{backend}: {error}"),
        }
    }
    Ok(())
}

fn measure(backend: Backend, dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (leader, made) = timed(|| open(dir, backend))?;
    println!("{backend}: made in {made:.1?}");
    for threads in [1, 64] {
        println!("{backend}: {threads:>2} threads, in the process that holds it: {:>7} /s", commits(&leader, threads));
    }
    let (follower, opened) = timed(|| open(dir, backend))?;
    println!("{backend}: opened by a follower in {opened:.1?}");
    for threads in [1, 64] {
        println!(
            "{backend}: {threads:>2} threads, of a follower:                {:>7} /s",
            commits(&follower, threads)
        );
    }
    let (_, read) = timed(|| (0..1_000).try_for_each(|_| follower.get(b"head").map(drop)))?;
    println!("{backend}: a read of a follower takes {:.1?}", read / 1_000);
    drop(follower);
    let (compacted, took) = timed(|| leader.compact())?;
    println!("{backend}: compacted from {} to {} KiB in {took:.1?}", compacted.before >> 10, compacted.after >> 10);
    drop(leader);
    let (leader, opened) = timed(|| open(dir, backend))?;
    println!("{backend}: opened by the first process in {opened:.1?}");
    drop(leader);
    Ok(())
}

/// What the disk can do: no commit of one thread is faster.
fn syncs(parent: &Path) -> std::io::Result<u64> {
    let path = parent.join(format!("tollhouse-bench-{}", std::process::id()));
    let mut file = File::create(&path)?;
    let (begun, mut made) = (Instant::now(), 0);
    while begun.elapsed() < ROUND {
        file.write_all(&[1; 2 * DEBIT_BYTES])?;
        file.sync_data()?;
        made += 1;
    }
    std::fs::remove_file(path)?;
    Ok(made / ROUND.as_secs())
}

fn timed<T, E>(what: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let begun = Instant::now();
    what().map(|value| (value, begun.elapsed()))
}

/// Commits a second, each thread with a record of its own, as sessions have.
fn commits(store: &OpenStore, threads: u32) -> u64 {
    let begun = Instant::now();
    let made: u64 = std::thread::scope(|scope| {
        let debits = |thread: u32| {
            move || {
                let mut made = 0_u64;
                while begun.elapsed() < ROUND {
                    let mut batch = Batch::default();
                    let mut debit = [0; DEBIT_BYTES];
                    debit[..8].copy_from_slice(&made.to_be_bytes());
                    batch.put(format!("ledger/{thread}"), debit);
                    store.commit(batch).expect("it commits");
                    made += 1;
                }
                made
            }
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(debits(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    });
    made / begun.elapsed().as_secs()
}
