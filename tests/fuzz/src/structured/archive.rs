//! Uncompressed archives whose entries are in order, or almost.

use arbitrary::{Result, Unstructured};
use tollhouse::store::BlobId;

const CONTENTS: [&[u8]; 4] = [b"", b"x", b"{}", b"a blob"];

/// Generates a manifest, records and blobs, sometimes with an entry too few, too many, or under a wrong name.
pub(super) fn archive(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut tar = Vec::new();
    if !choices.ratio(1, 8)? {
        entry(&mut tar, "tollhouse-session.json", b"{}", choices)?;
    }
    for number in 0..choices.int_in_range(0..=3)? {
        entry(&mut tar, &format!("records/{number:08}"), choices.choose(&CONTENTS)?, choices)?;
    }
    let mut blobs: Vec<(BlobId, &[u8])> = CONTENTS.iter().map(|bytes| (BlobId::of(bytes), *bytes)).collect();
    blobs.sort();
    for (id, bytes) in blobs {
        if choices.ratio(1, 2)? {
            entry(&mut tar, &format!("blobs/{id}"), bytes, choices)?;
        }
    }
    if !choices.ratio(1, 8)? {
        tar.extend([0; 1024]);
    }
    Ok(tar)
}

/// Appends one entry. The fuzz target corrects the checksums of headers.
fn entry(tar: &mut Vec<u8>, name: &str, bytes: &[u8], choices: &mut Unstructured<'_>) -> Result<()> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    for (at, field) in [(100, "0000600"), (108, "0000000"), (116, "0000000"), (136, "00000000000")] {
        header[at..at + field.len()].copy_from_slice(field.as_bytes());
    }
    header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    header[156..157].copy_from_slice(b"0");
    header[257..265].copy_from_slice(b"ustar\x0000");
    if choices.ratio(1, 10)? {
        header[choices.choose_index(300)?] = choices.int_in_range(0..=255)?;
    }
    tar.extend(header);
    tar.extend(bytes);
    tar.resize(tar.len().next_multiple_of(512), 0);
    Ok(())
}
