//! Options of `gzip`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::arg_parser::OptArg;
use flate2::Compression;

/// Short options in the form of `getopt`.
pub(super) const SHORT: &str = "ab:cdfhklLmMnNqrS:tvV123456789";

pub(super) const LONG: [(&str, OptArg, char); 24] = [
    ("ascii", OptArg::No, 'a'),
    ("to-stdout", OptArg::No, 'c'),
    ("stdout", OptArg::No, 'c'),
    ("decompress", OptArg::No, 'd'),
    ("uncompress", OptArg::No, 'd'),
    ("force", OptArg::No, 'f'),
    ("help", OptArg::No, 'h'),
    ("keep", OptArg::No, 'k'),
    ("list", OptArg::No, 'l'),
    ("license", OptArg::No, 'L'),
    ("no-name", OptArg::No, 'n'),
    ("name", OptArg::No, 'N'),
    ("quiet", OptArg::No, 'q'),
    ("silent", OptArg::No, 'q'),
    ("recursive", OptArg::No, 'r'),
    ("suffix", OptArg::Required, 'S'),
    ("synchronous", OptArg::No, 'm'),
    ("test", OptArg::No, 't'),
    ("verbose", OptArg::No, 'v'),
    ("version", OptArg::No, 'V'),
    ("fast", OptArg::No, '1'),
    ("best", OptArg::No, '9'),
    ("bits", OptArg::Required, 'b'),
    ("rsyncable", OptArg::No, 'm'),
];

/// Options of one call.
pub(super) struct GzipOptions {
    pub(super) to_stdout: bool,
    pub(super) decompress: bool,
    pub(super) force: bool,
    pub(super) keep: bool,
    pub(super) list: bool,
    pub(super) quiet: bool,
    pub(super) recursive: bool,
    pub(super) test: bool,
    pub(super) verbose: bool,
    /// True if the name is stored and restored (`-N`), false if not (`-n`); without either option it is only stored.
    pub(super) name: Option<bool>,
    pub(super) level: Compression,
    pub(super) suffix: String,
}

impl GzipOptions {
    pub(super) fn new(decompress: bool, to_stdout: bool) -> Self {
        Self {
            to_stdout,
            decompress,
            force: false,
            keep: false,
            list: false,
            quiet: false,
            recursive: false,
            test: false,
            verbose: false,
            name: None,
            level: Compression::default(),
            suffix: ".gz".to_string(),
        }
    }

    /// Applies an option that only sets something.
    pub(super) fn set(&mut self, key: char) {
        match key {
            'c' => self.to_stdout = true,
            'd' => self.decompress = true,
            'f' => self.force = true,
            'k' => self.keep = true,
            'l' => self.list = true,
            'n' => self.name = Some(false),
            'N' => self.name = Some(true),
            'q' => self.quiet = true,
            'r' => self.recursive = true,
            't' => self.test = true,
            'v' => self.verbose = true,
            '1'..='9' => self.level = Compression::new(u32::from(key) - u32::from('0')),
            // Options without an effect here: times are always kept, and output is written at once.
            _ => {}
        }
    }

    pub(super) fn unpacks(&self) -> bool {
        self.decompress || self.list || self.test
    }

    pub(super) fn writes_files(&self) -> bool {
        !(self.to_stdout || self.list || self.test)
    }

    /// Returns the known suffix of a name, as it is written there.
    pub(super) fn known_suffix<'n>(&self, name: &'n str) -> Option<&'n str> {
        let known = [".gz", ".z", ".taz", ".tgz", "-gz", "-z", "_z"];
        let known = std::iter::once(self.suffix.as_str()).chain(known);
        known
            .filter_map(|suffix| Some((name.len().checked_sub(suffix.len())?, suffix)))
            .filter(|(at, _)| *at > 0 && !name[..*at].ends_with('/'))
            .find_map(|(at, suffix)| {
                let end = name.get(at..)?;
                end.eq_ignore_ascii_case(suffix).then_some(end)
            })
    }

    /// Returns the name of the file that is unpacked from one.
    pub(super) fn unpacked_name(&self, name: &str) -> Option<String> {
        let suffix = self.known_suffix(name)?;
        let stem = &name[..name.len() - suffix.len()];
        match suffix.to_ascii_lowercase().as_str() {
            ".tgz" | ".taz" => Some(format!("{stem}.tar")),
            _ => Some(stem.to_string()),
        }
    }
}
