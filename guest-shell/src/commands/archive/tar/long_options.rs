//! Table of the options.

/// Argument of a long option.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Argument {
    None,
    Optional,
    Required,
}

/// Long option: its name, its argument, and the letter that means the same, or NUL.
pub(super) type LongOption = (&'static str, Argument, char);

use Argument::{None, Optional, Required};

/// Long options that are taken.
pub(super) const LONG: &[LongOption] = &[
    ("absolute-names", None, 'P'),
    ("add-file", Required, '\0'),
    ("after-date", Required, 'N'),
    ("anchored", None, '\0'),
    ("append", None, 'r'),
    ("auto-compress", None, 'a'),
    ("blocking-factor", Required, 'b'),
    ("bzip2", None, 'j'),
    ("compare", None, 'd'),
    ("create", None, 'c'),
    ("delete", None, '\0'),
    ("dereference", None, 'h'),
    ("diff", None, 'd'),
    ("directory", Required, 'C'),
    ("exclude", Required, '\0'),
    ("exclude-backups", None, '\0'),
    ("exclude-from", Required, 'X'),
    ("exclude-vcs", None, '\0'),
    ("extract", None, 'x'),
    ("file", Required, 'f'),
    ("files-from", Required, 'T'),
    ("force-local", None, '\0'),
    ("format", Required, 'H'),
    ("full-time", None, '\0'),
    ("get", None, 'x'),
    ("group", Required, '\0'),
    ("gunzip", None, 'z'),
    ("gzip", None, 'z'),
    ("ignore-case", None, '\0'),
    ("ignore-failed-read", None, '\0'),
    ("keep-newer-files", None, '\0'),
    ("keep-old-files", None, 'k'),
    ("list", None, 't'),
    ("lzip", None, '\0'),
    ("lzma", None, '\0'),
    ("lzop", None, '\0'),
    ("mode", Required, '\0'),
    ("mtime", Required, '\0'),
    ("newer", Required, 'N'),
    ("newer-mtime", Required, '\0'),
    ("no-anchored", None, '\0'),
    ("no-ignore-case", None, '\0'),
    ("no-null", None, '\0'),
    ("no-overwrite-dir", None, '\0'),
    ("no-recursion", None, '\0'),
    ("no-same-owner", None, 'o'),
    ("no-same-permissions", None, '\0'),
    ("no-wildcards", None, '\0'),
    ("no-wildcards-match-slash", None, '\0'),
    ("null", None, '\0'),
    ("numeric-owner", None, '\0'),
    ("one-file-system", None, 'l'),
    ("one-top-level", Optional, '\0'),
    ("overwrite", None, '\0'),
    ("owner", Required, '\0'),
    ("preserve-permissions", None, 'p'),
    ("recursion", None, '\0'),
    ("recursive-unlink", None, '\0'),
    ("remove-files", None, '\0'),
    ("same-owner", None, 's'),
    ("same-permissions", None, 'p'),
    ("show-stored-names", None, '\0'),
    ("show-transformed-names", None, '\0'),
    ("skip-old-files", None, '\0'),
    ("sort", Required, '\0'),
    ("sparse", None, 'S'),
    ("strip-components", Required, '\0'),
    ("to-stdout", None, 'O'),
    ("totals", None, '\0'),
    ("touch", None, 'm'),
    ("transform", Required, '\0'),
    ("unlink-first", None, 'U'),
    ("update", None, 'u'),
    ("use-compress-program", Required, 'I'),
    ("verbose", None, 'v'),
    ("warning", Required, '\0'),
    ("wildcards", None, '\0'),
    ("wildcards-match-slash", None, '\0'),
    ("xform", Required, '\0'),
    ("xz", None, 'J'),
    ("zstd", None, '\0'),
];

/// Returns true if a letter takes an argument; nothing for a letter that is no option.
pub(super) fn takes_argument(letter: char) -> Option<bool> {
    match letter {
        'b' | 'C' | 'f' | 'H' | 'I' | 'N' | 'T' | 'X' => Some(true),
        'a' | 'c' | 'd' | 'h' | 'j' | 'J' | 'k' | 'l' | 'm' | 'O' | 'o' | 'p' | 'P' | 'r' | 's' | 'S' | 't' | 'u'
        | 'U' | 'v' | 'x' | 'z' | 'Z' => Some(false),
        _ => Option::None,
    }
}
