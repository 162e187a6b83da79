//! Archives of sessions, as `session export` or an attacker would write them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tollhouse::store::{ArchiveError, ArchiveWriter, BlobId, BlobSink, MemoryBlobs, Part, read_archive};

/// Largest total size of an archive's parts, in bytes.
const MOST: u64 = 1 << 20;

/// First bytes of data that is compressed with Zstandard.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Reads data as an archive, either compressed or as a bare tar archive whose checksums are corrected first. The
/// archive must be refused, or each blob must match its name and an archive that is written from the parts must be read
/// as the same parts.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn archive(data: &[u8]) {
    let archive = if data.starts_with(&ZSTD) { Cow::Borrowed(data) } else { Cow::Owned(compress(data)) };
    match read(&archive) {
        Ok(parts) => {
            let again = write(&parts);
            assert_eq!(read(&again).expect("what was written is read"), parts);
        }
        Err(error) => assert!(!error.to_string().is_empty(), "an error says something"),
    }
}

fn read(archive: &[u8]) -> Result<Vec<Part>, ArchiveError> {
    let (mut parts, mut bytes) = (Vec::new(), 0);
    read_archive(archive, MOST, |part| {
        bytes += match &part {
            Part::Manifest(bytes) | Part::Record(_, bytes) => bytes.len(),
            Part::Blob(id, bytes) => {
                assert_eq!(BlobId::of(bytes), *id, "a blob is what its name says");
                bytes.len()
            }
        };
        assert!(bytes as u64 <= MOST, "no more than was asked for");
        parts.push(part);
        Ok::<(), ArchiveError>(())
    })
    .map(|()| parts)
}

fn write(parts: &[Part]) -> Vec<u8> {
    let Some((Part::Manifest(manifest), rest)) = parts.split_first() else {
        panic!("an archive begins with a manifest")
    };
    let mut writer = ArchiveWriter::new(Vec::new(), manifest).expect("it was read");
    let memory = MemoryBlobs::default();
    let mut blobs = BTreeMap::new();
    for part in rest {
        match part {
            Part::Manifest(_) => panic!("there is one manifest"),
            Part::Record(name, bytes) => writer.record(name, bytes).expect("records come before blobs, in order"),
            Part::Blob(id, bytes) => {
                (&memory).put(bytes.clone()).expect("there is memory");
                assert!(blobs.insert(*id, ()).is_none(), "a blob is there once");
            }
        }
    }
    writer.blobs(blobs.into_keys(), &memory).expect("they were read");
    writer.finish().expect("there is memory")
}

/// Compresses a tar archive after correcting the checksums of its headers, which a fuzzer does not guess.
fn compress(tar: &[u8]) -> Vec<u8> {
    let mut tar = tar.to_vec();
    let mut at = 0;
    while let Some(header) = tar.get_mut(at..at + 512) {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        if sum == 8 * u32::from(b' ') {
            header[148..156].fill(0);
            break;
        }
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let size = std::str::from_utf8(&header[124..135]).ok().and_then(|text| usize::from_str_radix(text, 8).ok());
        at += 512 + size.unwrap_or(0).div_ceil(512) * 512;
    }
    zstd::encode_all(&tar[..], 1).expect("memory takes it")
}
