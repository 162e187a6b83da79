//! Archives and compressed files: `tar`, the family of `gzip` and the family of `bzip2`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`tar`] | `tar` |
//! | [`gzip`] | `gzip`, `gunzip`, `zcat` |
//! | [`bzip2`] | `bzip2`, `bunzip2`, `bzcat` |
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
