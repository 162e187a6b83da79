//! Sizes of the parts that a tree is stored in. They belong to the format: another number gives equal trees other ids, so
//! it needs another version of the format.
//!
//! Unit tests run with small parts, so that a few entries and a few hundred bytes make many of them, and once more with the
//! format's own sizes, by the feature `format-sizes` (`cargo xtask test --full`).

/// True if a few entries make many parts.
pub(super) const IS_SMALL: bool = cfg!(all(test, not(feature = "format-sizes")));

/// Entries in a page of a directory, on average. A change rewrites a page, so it is small; and a line for each page, so it
/// is not tiny: 128 entries are some 8 KiB, and a directory of 100,000 has 800 lines of some 60 bytes.
pub(super) const PAGE_ENTRIES: u32 = if IS_SMALL { 4 } else { 128 };

/// The longest file that is stored in its directory's page. A blob of its own would cost the page 32 bytes for its name,
/// and the store a file.
pub(super) const INLINE_BYTES: u64 = if IS_SMALL { 8 } else { 128 };

/// The longest file that is one blob.
pub(super) const WHOLE_BYTES: u64 = if IS_SMALL { 256 } else { 256 << 10 };

/// The shortest chunk of a longer file, but for its last.
pub(super) const MIN_CHUNK_BYTES: usize = if IS_SMALL { 64 } else { 64 << 10 };

/// How long chunks are on average, about.
pub(super) const CHUNK_BYTES: usize = if IS_SMALL { 256 } else { 256 << 10 };

/// The longest chunk.
pub(super) const MAX_CHUNK_BYTES: usize = if IS_SMALL { 1 << 10 } else { 1 << 20 };

/// Chunks in a list, on average: a gigabyte has some 4,000, and what is appended to it rewrites one list and the list of
/// lists.
pub(super) const LIST_CHUNKS: u32 = if IS_SMALL { 4 } else { 128 };

/// The most bytes and the most entries that a stored tree may claim to have: so much less than a `u64` that no sum of what
/// was checked and what is added overflows.
pub(super) const MAX_SUM: u64 = 1 << 62;

/// Whether a hash is one of the 1 in `count` that end a part. So where parts end depends on what is in them alone, and not
/// on how it came there.
pub(super) fn ends_part(hash: &[u8; 32], count: u32) -> bool {
    let [a, b, c, d, ..] = *hash;
    u32::from_le_bytes([a, b, c, d]).is_multiple_of(count)
}
