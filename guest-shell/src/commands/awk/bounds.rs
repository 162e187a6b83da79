//! Limits of one call of `awk`, which keep a hostile program from exhausting the guest's memory and stack.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Largest nesting depth of expressions and statements that the parser accepts.
pub(super) const MAX_PARSER_DEPTH: usize = 100;

/// Largest number of subscripts in one key of an array (`a[i, j, k]`).
pub(super) const MAX_MULTI_SUBSCRIPTS: usize = 100;

/// Largest depth of nested calls of a program's functions.
pub(super) const MAX_CALL_DEPTH: usize = 64;

/// Largest size of the output, in bytes.
pub(super) const MAX_OUTPUT_BYTES: usize = 10_000_000;

/// Largest number of files and commands that a program writes to.
pub(super) const MAX_OUTPUT_TARGETS: usize = 1_024;

/// Largest number of files that `getline` holds open.
pub(super) const MAX_GETLINE_CACHED_FILES: usize = 100;

/// Largest size of one file that `getline` reads, in bytes.
pub(super) const MAX_GETLINE_FILE_BYTES: usize = 10_000_000;

/// Largest size of all files together that `getline` holds open, in bytes.
pub(super) const MAX_GETLINE_CACHE_BYTES: usize = 10_000_000;

/// Largest size of one string, in bytes.
pub(super) const MAX_STRING_BYTES: usize = 16 * 1024 * 1024;

/// Largest index of a field: an assignment to `$N` makes all fields before it.
pub(super) const MAX_FIELD_INDEX: usize = 100_000;

/// Bytes that a variable or an element of an array counts as, in addition to its name and value.
pub(super) const VARIABLE_OVERHEAD_BYTES: usize = 48;

/// Largest number of compiled regular expressions that are kept for reuse.
pub(super) const REGEX_CACHE_ENTRIES: usize = 64;
