//! Tests of archives: what was written is read back, and anything else is rejected.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;
use crate::{BlobFiles, BlobSink, MemoryBlobs};

const MOST: u64 = 1 << 30;

fn read(archive: &[u8], most: u64) -> Result<Vec<Part>, ArchiveError> {
    let mut parts = Vec::new();
    read_archive(archive, most, |part| {
        parts.push(part);
        Ok::<(), ArchiveError>(())
    })
    .map(|()| parts)
}

fn write(manifest: &[u8], records: &BTreeMap<String, Vec<u8>>, blobs: &[Vec<u8>]) -> (Vec<u8>, Vec<Part>) {
    let memory = MemoryBlobs::default();
    let blobs: BTreeMap<BlobId, &Vec<u8>> = blobs.iter().map(|blob| (BlobId::of(blob), blob)).collect();
    let mut parts = vec![Part::Manifest(manifest.to_vec())];
    let mut writer = ArchiveWriter::new(Vec::new(), manifest).expect("it begins");
    for (name, bytes) in records {
        writer.record(name, bytes).expect("it is written");
        parts.push(Part::Record(name.clone(), bytes.clone()));
    }
    for (id, bytes) in &blobs {
        (&memory).put(bytes.to_vec()).expect("there is memory");
        parts.push(Part::Blob(*id, bytes.to_vec()));
    }
    writer.blobs(blobs.into_keys(), &memory).expect("they are written");
    (writer.finish().expect("it ends"), parts)
}

fn small() -> Vec<u8> {
    let records = BTreeMap::from([("audit/1".to_owned(), b"one".to_vec()), ("head".to_owned(), b"two".to_vec())]);
    write(b"{}", &records, &[b"a blob".to_vec(), vec![0; 70_000]]).0
}

/// Builds an archive of these entries, without checks.
fn made_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, bytes) in entries {
        let mut header = Header::new_ustar();
        // Set as raw bytes, since the crate refuses some names that other programs write.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_entry_type(EntryType::Regular);
        header.set_cksum();
        tar.append(&header, *bytes).expect("it is written");
    }
    compress(&tar.into_inner().expect("it ends"))
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("it is compressed")
}

fn refused(archive: &[u8]) -> String {
    read(archive, MOST).expect_err("it does not belong there").to_string()
}

#[test]
fn archive_with_any_byte_changed_or_cut_is_refused() {
    let archive = small();
    let parts = read(&archive, MOST).expect("it is read");
    for at in 0..archive.len() {
        let mut flipped = archive.clone();
        flipped[at] ^= 1 << (at % 8);
        // A few bits of a zstd frame have no meaning.
        assert!(read(&flipped, MOST).is_err() || read(&flipped, MOST).is_ok_and(|read| read == parts), "byte {at}");
        assert!(read(&archive[..at], MOST).is_err(), "cut at {at}");
    }
    assert!(read(&[&archive[..], b"more"].concat(), MOST).is_err());
}

#[test]
fn archive_entry_name_that_is_unsafe_is_refused() {
    let manifest: (&str, &[u8]) = (MANIFEST, b"{}");
    let bad = [
        "records/../head",
        "records//head",
        "records/.head",
        "/records/head",
        "./records/head",
        "records/",
        "records/a/",
        "../records/head",
        "records/a\\b",
        "records/a b",
        "other",
        "blobs",
        "blobs/",
        "blobs/../../etc/passwd",
        "blobs/AB",
        "tollhouse-session.json/x",
        "records/\u{fc}",
    ];
    for name in bad {
        let told = refused(&made_of(&[manifest, (name, b"x")]));
        assert!(
            told.contains("is not an entry of a session archive") || told.contains("is not a valid blob name"),
            "{name}: {told}"
        );
    }
    let upper = format!("blobs/{}", BlobId::of(b"x").to_string().to_uppercase());
    assert!(refused(&made_of(&[manifest, (&upper, b"x")])).contains("is not a valid blob name"));
    let mut writer = ArchiveWriter::new(Vec::new(), b"{}").expect("it begins");
    for name in ["../head", ".head", "", "a//b", "\u{fc}", &"a".repeat(81)] {
        assert!(writer.record(name, b"").is_err(), "{name}");
    }
    writer.record(&"a".repeat(80), b"").expect("it is a name");
}

#[test]
fn archive_with_duplicate_or_unordered_entries_is_refused() {
    let manifest: (&str, &[u8]) = (MANIFEST, b"{}");
    let ids = [b"x", b"y"].map(|bytes| format!("blobs/{}", BlobId::of(bytes)));
    let blobs: [(&str, &[u8]); 2] = [(&ids[0], b"x"), (&ids[1], b"y")];
    let (low, high) = if ids[0] < ids[1] { (blobs[0], blobs[1]) } else { (blobs[1], blobs[0]) };
    read(&made_of(&[manifest, ("records/a", b""), low, high]), MOST).expect("so it may be");
    for entries in [
        vec![("records/a", &b""[..])],
        vec![low],
        vec![manifest, manifest],
        vec![manifest, low, manifest],
        vec![manifest, ("records/a", b""), ("records/a", b"")],
        vec![manifest, ("records/b", b""), ("records/a", b"")],
        vec![manifest, low, ("records/a", b"")],
        vec![manifest, low, low],
        vec![manifest, high, low],
    ] {
        assert!(refused(&made_of(&entries)).contains("is out of order or duplicated"), "{entries:?}");
    }
    assert!(refused(&made_of(&[])).contains("is missing"));
    let mut writer = ArchiveWriter::new(Vec::new(), b"{}").expect("it begins");
    writer.record("b", b"").expect("it is written");
    assert!(writer.record("a", b"").is_err());
}

#[test]
fn archive_blob_that_does_not_match_its_name_is_refused() {
    let name = format!("blobs/{}", BlobId::of(b"x"));
    let archive = made_of(&[(MANIFEST, b"{}"), (&name, b"y")]);
    assert!(refused(&archive).contains(&format!("`{name}` does not match the hash in its name")));
}

#[test]
fn archive_entry_that_is_not_a_regular_file_is_refused() {
    for kind in [b'1', b'2', b'3', b'5', b'7', b'L', b'K', b'x', b'g', b'S', b'V'] {
        let mut tar = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.set_path("records/a").expect("it is short");
        header.set_entry_type(EntryType::new(kind));
        header.set_size(0);
        header.set_cksum();
        tar.append(&header, io::empty()).expect("it is written");
        let archive = compress(&tar.into_inner().expect("it ends"));
        assert!(refused(&archive).contains("is not a regular file"), "{}", char::from(kind));
    }
}

#[test]
fn archive_entry_that_is_too_large_is_refused_before_reading() {
    let mut header = Header::new_ustar();
    header.set_path(MANIFEST).expect("it is short");
    header.set_entry_type(EntryType::Regular);
    header.set_size(MAX_RECORD_BYTES as u64 + 1);
    header.set_cksum();
    let mut tar = header.as_bytes().to_vec();
    tar.extend([0; 1024]);
    assert!(refused(&compress(&tar)).contains("is too large"));
    let archive = small();
    assert!(read(&archive, 70_014).is_ok());
    assert!(matches!(read(&archive, 70_013), Err(ArchiveError::TooLarge(70_013))));
    // A gigabyte of padding after the end, in some kilobytes.
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("it begins");
    zstd.write_all(&zstd::decode_all(&archive[..]).expect("it is whole")).expect("it is written");
    io::copy(&mut io::repeat(0).take(1 << 30), &mut zstd).expect("it is written");
    assert!(refused(&zstd.finish().expect("it ends")).contains("is data after the end"));
}

#[test]
fn archive_entry_shorter_than_its_header_says_is_refused() {
    let mut header = Header::new_ustar();
    header.set_path(MANIFEST).expect("it is short");
    header.set_entry_type(EntryType::Regular);
    header.set_size(10);
    header.set_cksum();
    assert!(refused(&compress(&[header.as_bytes(), &b"{}"[..]].concat())).contains("is truncated"));
}

#[test]
fn archive_with_large_compression_window_is_refused() {
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("it begins");
    zstd.window_log(27).expect("it may be asked for");
    zstd.write_all(&zstd::decode_all(&small()[..]).expect("it is whole")).expect("it is written");
    assert!(read(&zstd.finish().expect("it ends"), MOST).is_err());
}

#[test]
fn archive_blobs_are_stored_by_an_upload() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let files = BlobFiles::open(home.path()).expect("it opens");
    let mut upload = files.begin().expect("it begins");
    read_archive(&small()[..], MOST, |part| {
        if let Part::Blob(id, bytes) = part {
            assert_eq!(upload.put(bytes)?, id);
        }
        Ok::<(), ArchiveError>(())
    })
    .expect("it is read");
    upload.sync().expect("it is synced");
    drop(upload);
    assert_eq!(files.get(&BlobId::of(b"a blob")).expect("it is there"), &b"a blob"[..]);
    let mut writer = ArchiveWriter::new(Vec::new(), b"{}").expect("it begins");
    let missing = writer.blobs([BlobId::of(b"absent")], &files).expect_err("there is none");
    assert!(matches!(missing, ArchiveError::Blob(BlobError::Missing(_))));
}

#[test]
fn archive_is_readable_with_tar() {
    let home = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(home.path().join("session"), small()).expect("it can be written");
    let mut tar = Command::new("tar");
    let listed = tar.args(["--zstd", "-xvf", "session"]).current_dir(home.path()).stderr(Stdio::inherit()).output();
    let names = String::from_utf8(listed.expect("`tar` is installed").stdout).expect("it is text");
    assert!(names.starts_with("tollhouse-session.json\nrecords/audit/1\nrecords/head\nblobs/"), "{names}");
    let blob = home.path().join(format!("blobs/{}", BlobId::of(b"a blob")));
    assert_eq!(std::fs::read(blob).expect("it is there"), b"a blob");
}

proptest! {
    #[test]
    fn archive_written_is_read_back_equal(
        manifest in prop::collection::vec(any::<u8>(), 0..100),
        records in prop::collection::btree_map("[a-z0-9][a-z._-]{0,20}(/[a-z]{1,10})?", prop::collection::vec(any::<u8>(), 0..2_000), 0..5),
        blobs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_000), 0..5),
    ) {
        let (archive, parts) = write(&manifest, &records, &blobs);
        prop_assert_eq!(&write(&manifest, &records, &blobs).0, &archive);
        prop_assert_eq!(read(&archive, MOST).expect("it is read"), parts);
    }

    #[test]
    fn archive_reader_with_arbitrary_bytes_does_not_panic(archive in prop::collection::vec(any::<u8>(), 0..3_000)) {
        let _ = read(&archive, MOST);
        let _ = read(&compress(&archive), MOST);
    }
}
