//! Limits of a call of `awk`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Depth of nested syntax.
pub(super) const MAX_PARSER_DEPTH: usize = 100;

/// Number of subscripts in one key of an array.
pub(super) const MAX_MULTI_SUBSCRIPTS: usize = 100;

/// Depth of nested calls of functions.
pub(super) const MAX_CALL_DEPTH: usize = 64;

/// Bytes of output.
pub(super) const MAX_OUTPUT_BYTES: usize = 10_000_000;

/// Number of targets of output.
pub(super) const MAX_OUTPUT_TARGETS: usize = 1_024;

/// Number of files that `getline` holds open.
pub(super) const MAX_GETLINE_CACHED_FILES: usize = 100;

/// Bytes of one file that `getline` reads.
pub(super) const MAX_GETLINE_FILE_BYTES: usize = 10_000_000;

/// Bytes of all files that `getline` holds open.
pub(super) const MAX_GETLINE_CACHE_BYTES: usize = 10_000_000;

/// Bytes of one string. THREAT[TM-DOS-110].
pub(super) const MAX_STRING_BYTES: usize = 16 * 1024 * 1024;

/// Index of a field. THREAT[TM-DOS-110].
pub(super) const MAX_FIELD_INDEX: usize = 100_000;

/// Bytes that a variable or an element of an array counts beside its name and value.
pub(super) const VARIABLE_OVERHEAD_BYTES: usize = 48;

/// Number of compiled regular expressions that are held.
pub(super) const REGEX_CACHE_ENTRIES: usize = 64;
