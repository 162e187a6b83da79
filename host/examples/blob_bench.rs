//! What it costs to make blobs durable: `cargo run --release --example blob_bench [DIR]`. On a machine that does nothing
//! else, and not where many files have just been removed: ext4 then makes new ones slowly.

use std::time::{Duration, Instant};

use tollhouse::store::{BlobError, BlobFiles, BlobSink, BlobSource};

/// How many blobs a commit has.
const COUNTS: [usize; 8] = [1, 2, 3, 4, 8, 16, 100, 1_000];

/// How many megabytes are written at once, as blobs of one.
const MEGABYTES: usize = 1_024;

fn main() -> Result<(), BlobError> {
    let home = tempfile::tempdir().expect("a temporary directory");
    let directory = std::env::args_os().nth(1).map_or_else(|| home.path().to_owned(), Into::into);
    let files = BlobFiles::open(&directory)?;
    let mut number = 0;
    for count in COUNTS {
        let mut times = Vec::new();
        for _ in 0..2_000_usize.div_ceil(count).min(40) {
            let blobs: Vec<Vec<u8>> = (0..count).map(|_| noise(&mut number, 1_000)).collect();
            times.push(commit(&files, blobs)?);
        }
        times.sort_unstable();
        let [least, median] = [times[0], times[times.len() / 2]];
        println!("{count:5} blobs of 1,000 bytes: {median:.2?}, at least {least:.2?}");
    }
    for (what, make) in [("noise", noise as fn(&mut u64, usize) -> Vec<u8>), ("text", text)] {
        let blobs: Vec<Vec<u8>> = (0..MEGABYTES).map(|_| make(&mut number, 1_000_000)).collect();
        let ids: Vec<_> = blobs.iter().map(|blob| tollhouse::store::BlobId::of(blob)).collect();
        let written = commit(&files, blobs)?;
        let fresh = BlobFiles::open(&directory)?;
        let begun = Instant::now();
        ids.iter().try_for_each(|id| fresh.get(id).map(drop))?;
        println!("{MEGABYTES} MB of {what}: written {}, read {}", speed(written), speed(begun.elapsed()));
    }
    Ok(())
}

fn commit(files: &BlobFiles, blobs: Vec<Vec<u8>>) -> Result<Duration, BlobError> {
    let begun = Instant::now();
    let mut upload = files.begin()?;
    for blob in blobs {
        upload.put(blob)?;
    }
    upload.sync()?;
    Ok(begun.elapsed())
}

fn speed(time: Duration) -> String {
    format!("{:.0} MB/s", MEGABYTES as f64 / time.as_secs_f64())
}

fn noise(number: &mut u64, length: usize) -> Vec<u8> {
    *number += 1;
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn text(number: &mut u64, length: usize) -> Vec<u8> {
    *number += 1;
    let words = ["alpha", "beta", "gamma", "delta", "lambda", "theta"];
    let mut text = Vec::with_capacity(length);
    for (at, byte) in noise(number, length).into_iter().enumerate() {
        text.extend_from_slice(words[usize::from(byte) % words.len()].as_bytes());
        text.extend_from_slice(if at % 7 == 0 { b" = 12,\n" } else { b" " });
        if text.len() >= length {
            break;
        }
    }
    text.truncate(length);
    text
}
