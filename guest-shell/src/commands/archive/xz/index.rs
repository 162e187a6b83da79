//! Sizes that the indexes of a file of xz tell.

use lzma_rust2::CheckType;

use super::codec::XZ_MAGIC;

/// Size of the header of a stream, and of its footer.
pub(super) const HEADER_SIZE: usize = 12;

/// Sums over the streams of a file.
#[derive(Clone, Copy, Default)]
pub(super) struct XzSizes {
    pub(super) streams: usize,
    pub(super) blocks: u64,
    pub(super) compressed: usize,
    pub(super) uncompressed: u64,
    /// Check of all streams; none if they differ.
    pub(super) check: Option<CheckType>,
}

/// Returns the sizes that a file tells. None if it is not well formed.
pub(super) fn sizes(file: &[u8]) -> Option<XzSizes> {
    let mut sizes = XzSizes { compressed: file.len(), ..XzSizes::default() };
    let mut rest = file;
    while !rest.is_empty() {
        if rest.len().is_multiple_of(4) && rest.ends_with(&[0; 4]) {
            // Zeros fill the space behind a stream.
            rest = &rest[..rest.len() - 4];
            continue;
        }
        rest = &rest[..rest.len().checked_sub(add_last_stream(rest, &mut sizes)?)?];
    }
    (sizes.streams > 0).then_some(sizes)
}

/// Adds the last stream of a file to the sums, and returns its size.
fn add_last_stream(file: &[u8], sizes: &mut XzSizes) -> Option<usize> {
    let body = file.get(..file.len().checked_sub(HEADER_SIZE)?)?;
    let footer = &file[body.len()..];
    if footer[10..] != *b"YZ" {
        return None;
    }
    let words = u32::from_le_bytes(footer[4..8].try_into().ok()?);
    let index_size = (usize::try_from(words).ok()? + 1).checked_mul(4)?;
    let index = body.get(body.len().checked_sub(index_size)?..)?;
    let (first, mut records) = index.split_first()?;
    if *first != 0 {
        return None;
    }
    let count = take_number(&mut records)?;
    let mut blocks_size = 0u64;
    for _ in 0..count {
        let size = take_number(&mut records)?;
        blocks_size = blocks_size.checked_add(size.checked_next_multiple_of(4)?)?;
        sizes.uncompressed = sizes.uncompressed.checked_add(take_number(&mut records)?)?;
    }
    let size = usize::try_from(blocks_size).ok()?.checked_add(index_size + 2 * HEADER_SIZE)?;
    if !file.get(file.len().checked_sub(size)?..)?.starts_with(XZ_MAGIC) {
        return None;
    }
    let check = [CheckType::None, CheckType::Crc32, CheckType::Crc64, CheckType::Sha256]
        .into_iter()
        .find(|check| *check as u8 == footer[9]);
    sizes.check = if sizes.streams == 0 { check } else { sizes.check.filter(|first| Some(*first) == check) };
    sizes.streams += 1;
    sizes.blocks += count;
    Some(size)
}

/// Takes a number in groups of seven bits, the least significant ones first.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
