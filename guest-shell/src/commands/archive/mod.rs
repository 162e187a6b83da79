//! Archives and compressed files: `tar`, and the families of `gzip`, `bzip2`, `xz` and `zstd`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`tar`] | `tar` |
//! | [`gzip`] | `gzip`, `gunzip`, `zcat` |
//! | [`bzip2`] | `bzip2`, `bunzip2`, `bzcat` |
//! | [`xz`] | `xz`, `unxz`, `xzcat`, `lzma`, `unlzma`, `lzcat` |
//! | [`zstd`] | `zstd`, `unzstd`, `zstdcat` |
//! | [`comparison`] | `diff` and `cmp` of compressed files |
//! | [`search`] | `grep` in compressed files |
//! | [`codec`] | compression and bounded decompression of whole texts |
//!
//! Decompressed data is bounded by the limits of the file system and by a ratio to its compressed size, so that a small
//! archive cannot fill the memory.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

pub(crate) mod bzip2;
mod codec;
pub(crate) mod comparison;
pub(crate) mod gzip;
pub(crate) mod search;
pub(crate) mod tar;
pub(crate) mod xz;
pub(crate) mod zstd;
