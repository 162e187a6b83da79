//! Parameters of the storage format: sizes of the parts that a tree is stored in. Other numbers give equal trees other
//! ids, so changing them needs a new version of the format.
//!
//! Unit tests run with small parts, so that a few entries and a few hundred bytes make many of them, and once more with
//! the real parameters, with the feature `format-sizes` (`cargo xtask test --full`).

/// True if small parts are used for tests.
pub(super) const IS_SMALL: bool = cfg!(all(test, not(feature = "format-sizes")));

/// Average number of entries in a page of a directory. A change rewrites a page, so pages are small; but the list of
/// pages has a line for each, so they are not tiny: 128 entries are some 8 KiB, and a directory of 100,000 has 800
/// lines of some 60 bytes.
pub(super) const PAGE_ENTRIES: u32 = if IS_SMALL { 4 } else { 128 };

/// Maximum size of a file that is stored in its directory's page. A separate blob would cost the page 32 bytes for its
/// name, and the store a file.
pub(super) const INLINE_BYTES: u64 = if IS_SMALL { 8 } else { 128 };

/// Maximum size of a file that is a single blob.
pub(super) const WHOLE_BYTES: u64 = if IS_SMALL { 256 } else { 256 << 10 };

/// Minimum size of a chunk, except the last one of a file.
pub(super) const MIN_CHUNK_BYTES: usize = if IS_SMALL { 64 } else { 64 << 10 };

/// Approximate average size of a chunk.
pub(super) const CHUNK_BYTES: usize = if IS_SMALL { 256 } else { 256 << 10 };

/// Maximum size of a chunk.
pub(super) const MAX_CHUNK_BYTES: usize = if IS_SMALL { 1 << 10 } else { 1 << 20 };

/// Average number of chunks in a list: a gigabyte has some 4,000, and appending to it rewrites one list and the list of
/// lists.
pub(super) const LIST_CHUNKS: u32 = if IS_SMALL { 4 } else { 128 };

/// Maximum number of bytes and of entries that a stored tree may claim: so far below the maximum of `u64` that no sum
/// of checked and added numbers overflows.
pub(super) const MAX_SUM: u64 = 1 << 62;

/// Returns true if a hash is one of the 1 in `count` that end a part. So the boundaries of parts depend on their
/// contents alone, and not on their history.
pub(super) fn ends_part(hash: &[u8; 32], count: u32) -> bool {
    let [a, b, c, d, ..] = *hash;
    u32::from_le_bytes([a, b, c, d]).is_multiple_of(count)
}
