//! Tests with regular archives and with hostile ones.

use super::*;
use crate::create::{Content, collect, pack};
use crate::read::{content, detect, list};

fn contents(entries: &[(&str, &[u8])]) -> Vec<Content> {
    entries.iter().map(|(name, bytes)| Content { name: (*name).to_owned(), bytes: bytes.to_vec() }).collect()
}

fn unpack(bytes: &[u8], to: &Path) -> Result<Vec<Extracted>, Error> {
    extract(bytes, detect(bytes)?, Bounds::default(), to.to_str().expect("text"), false)
}

/// Returns a tar archive with one entry, whose header has values that no honest program would write.
fn tar_of(name: &str, entry_type: tar::EntryType, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(entry_type);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, content).expect("a tar");
    builder.into_inner().expect("a tar")
}

/// Returns a zip archive in which the only name is replaced by another one of the same length.
fn zip_of(name: &str) -> Vec<u8> {
    let plain = "x".repeat(name.len());
    let bytes = pack(Format::Zip, &contents(&[(&plain, b"harm")])).expect("a zip");
    let mut changed = bytes.clone();
    for place in 0..bytes.len() - name.len() {
        if bytes[place..].starts_with(plain.as_bytes()) {
            changed[place..place + name.len()].copy_from_slice(name.as_bytes());
        }
    }
    changed
}

#[test]
fn archive_packed_is_extracted_equal_in_each_format() {
    let entries = contents(&[("a.txt", b"one"), ("b/c.bin", &[0, 255]), ("b/empty", b"")]);
    for format in [Format::Zip, Format::Tar, Format::TarGz] {
        let directory = tempfile::tempdir().expect("a directory");
        let bytes = pack(format, &entries).expect("an archive");
        assert_eq!(pack(format, &entries).expect("an archive"), bytes, "the same bytes");
        assert_eq!(detect(&bytes), Ok(format));
        let names: Vec<_> = list(&bytes, format, Bounds::default())
            .expect("a list")
            .into_iter()
            .map(|one| (one.name, one.size))
            .collect();
        let expected = [("a.txt".into(), Some(3)), ("b/c.bin".into(), Some(2)), ("b/empty".into(), Some(0))];
        assert_eq!(names, expected, "{format:?}");
        assert_eq!(content(&bytes, format, Bounds::default(), "b/c.bin"), Ok(vec![0, 255]));
        assert_eq!(content(&bytes, format, Bounds::default(), "c").expect_err("none").kind, Kind::NotFound);
        assert_eq!(unpack(&bytes, directory.path()).expect("extracted").len(), 3);
        assert_eq!(fs::read(directory.path().join("b/c.bin")).expect("a file"), [0, 255]);
        let again = unpack(&bytes, directory.path()).expect_err("it is there");
        assert_eq!((again.kind, again.entry.as_deref()), (Kind::Exists, Some("a.txt")));
    }
}

#[test]
fn gzip_of_a_single_file_is_packed_and_listed() {
    let bytes = pack(Format::Gzip, &contents(&[("a.txt", b"one")])).expect("a gzip");
    let entry = list(&bytes, detect(&bytes).expect("gzip"), Bounds::default()).expect("a list").remove(0);
    assert_eq!((entry.name.as_str(), entry.size), ("a.txt", Some(3)));
    assert_eq!(content(&bytes, Format::Gzip, Bounds::default(), "a.txt"), Ok(b"one".to_vec()));
    for wrong in [contents(&[]), contents(&[("a", b""), ("b", b"")]), contents(&[("a/b", b"")])] {
        assert_eq!(pack(Format::Gzip, &wrong).expect_err("not one").kind, Kind::Parameter);
    }
}

#[test]
fn archive_entry_leading_out_is_refused_and_nothing_written() {
    let outside = tempfile::tempdir().expect("a directory");
    let to = outside.path().join("to");
    for name in ["../evil", "a/../../evil", "/tmp/evil", "C:/evil", "..\\evil"] {
        for bytes in [zip_of(name), tar_of(name, tar::EntryType::Regular, "", b"harm")] {
            let error = unpack(&bytes, &to).expect_err(name);
            assert_eq!((error.kind, error.entry.as_deref()), (Kind::UnsafeName, Some(name)), "{error}");
        }
    }
    assert!(!to.exists() && !outside.path().join("evil").exists());
    assert_eq!(pack(Format::Tar, &contents(&[("../x", b"")])).expect_err("out").kind, Kind::UnsafeName);
}

#[test]
fn links_and_devices_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    use tar::EntryType as Type;
    for (kind, expected) in [
        (Type::Symlink, Kind::Link),
        (Type::Link, Kind::Link),
        (Type::Fifo, Kind::Unsupported),
        (Type::Char, Kind::Unsupported),
    ] {
        let error = unpack(&tar_of("way", kind, "/etc", b""), directory.path()).expect_err("refused");
        assert_eq!((error.kind, error.entry.as_deref()), (expected, Some("way")));
    }
    // A link that existed before must not lead out of the directory either.
    let other = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(other.path(), directory.path().join("way")).expect("a link");
    let bytes = pack(Format::Zip, &contents(&[("way/x", b"harm")])).expect("a zip");
    assert_eq!(unpack(&bytes, directory.path()).expect_err("a link").kind, Kind::Link);
    assert!(!other.path().join("x").exists());
    let paths = [directory.path().display().to_string()];
    assert_eq!(collect(&paths).expect_err("a link").kind, Kind::Link);
}

#[test]
fn bombs_are_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("to");
    let big = vec![0; 3 << 20];
    let entries = contents(&[("small", b"x"), ("big", &big)]);
    let bounds = Bounds { bytes: 1 << 20, entries: 10 };
    for format in [Format::Zip, Format::Tar, Format::TarGz] {
        let bytes = pack(format, &entries).expect("an archive");
        let error = extract(&bytes, format, bounds, to.to_str().expect("text"), false).expect_err("a bomb");
        assert_eq!((error.kind, error.entry.as_deref()), (Kind::TooLarge, Some("big")), "{format:?}: {error}");
    }
    let gzip = pack(Format::Gzip, &entries[1..]).expect("a gzip");
    assert_eq!(list(&gzip, Format::Gzip, bounds).expect_err("a bomb").kind, Kind::TooLarge);
    let many: Vec<_> = (0..11).map(|number| Content { name: number.to_string(), bytes: Vec::new() }).collect();
    for format in [Format::Zip, Format::Tar, Format::TarGz] {
        let bytes = pack(format, &many).expect("an archive");
        assert_eq!(list(&bytes, format, bounds).expect_err("too many").kind, Kind::TooLarge);
    }
    assert!(!to.exists());
}

#[test]
fn zip_entry_with_false_size_is_refused() {
    let big = vec![0; 3 << 20];
    let mut bytes = pack(Format::Zip, &contents(&[("big", &big)])).expect("a zip");
    let size = u32::try_from(big.len()).expect("small").to_le_bytes();
    for place in 0..bytes.len() - 4 {
        if bytes[place..place + 4] == size {
            bytes[place..place + 4].copy_from_slice(&[1, 0, 0, 0]);
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let bounds = Bounds { bytes: 1 << 20, entries: 10 };
    let error =
        extract(&bytes, Format::Zip, bounds, directory.path().to_str().expect("text"), false).expect_err("a lie");
    assert!(matches!(error.kind, Kind::TooLarge | Kind::Damaged), "{error}");
    assert!(!directory.path().join("big").exists());
}

#[test]
fn damaged_archives_end_in_errors() {
    let entries = contents(&[("a.txt", &[7; 2000]), ("b", b"two")]);
    let directory = tempfile::tempdir().expect("a directory");
    for format in [Format::Zip, Format::Tar, Format::TarGz] {
        let bytes = pack(format, &entries).expect("an archive");
        for cut in [1, 10, 100, bytes.len() / 2] {
            let told = extract(&bytes[..cut.min(bytes.len())], format, Bounds::default(), "/nowhere", false);
            assert!(told.is_err(), "{format:?} cut at {cut}");
        }
        for place in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[place] ^= 0x55;
            // Any result is fine, but not a panic.
            let _ = list(&changed, format, Bounds::default());
        }
    }
    assert_eq!(detect(b"hello").expect_err("none").kind, Kind::Format);
    let twice = tar_of("a", tar::EntryType::Regular, "", b"1");
    let joined: Vec<u8> = [&twice[..1024], &twice].concat();
    assert_eq!(unpack(&joined, directory.path()).expect_err("twice").kind, Kind::UnsafeName);
}

#[test]
fn files_are_collected_in_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let base = directory.path().join("out");
    fs::create_dir_all(base.join("sub")).expect("directories");
    for (name, text) in [("z", "1"), ("a", "2"), ("sub/m", "3")] {
        fs::write(base.join(name), text).expect("a file");
    }
    let found = collect(&[base.display().to_string()]).expect("files");
    let names: Vec<_> = found.iter().map(|content| content.name.as_str()).collect();
    assert_eq!(names, ["out/a", "out/sub/m", "out/z"]);
    assert_eq!(collect(&["/nothing/here".into()]).expect_err("none").kind, Kind::NotFound);
    assert_eq!(collect(&["relative".into()]).expect_err("relative").kind, Kind::Parameter);
}
