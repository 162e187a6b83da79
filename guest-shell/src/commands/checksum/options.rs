//! Options of the commands that print checksums.

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use super::algorithm::{DigestAlgorithm, LONGEST_BLAKE2B, PlainSum, has_blake2b};

/// Computation of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    Digest(DigestAlgorithm),
    Sum(PlainSum),
}

/// Command with its own habits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Program {
    /// `md5sum` and its like.
    Digest(&'static str, DigestAlgorithm),
    /// `cksum`, whose options name the algorithm.
    Cksum,
    /// `shasum`, which finds the algorithm of a list by the length of the digests.
    Shasum,
}

/// Options of one call.
pub(super) struct ChecksumOptions {
    pub(super) algorithm: Algorithm,
    /// The option `-a` was given.
    pub(super) names_algorithm: bool,
    pub(super) check: bool,
    pub(super) quiet: bool,
    pub(super) status: bool,
    pub(super) warn: bool,
    pub(super) strict: bool,
    pub(super) ignore_missing: bool,
    /// `-b`, `-t` or neither.
    pub(super) binary: Option<bool>,
    /// Lines of BSD's form, with the name of the digest.
    pub(super) tag: bool,
    pub(super) zero_terminated: bool,
}

const LONG: [(&str, OptArg, char); 9] = [
    ("binary", OptArg::No, 'b'),
    ("check", OptArg::No, 'c'),
    ("ignore-missing", OptArg::No, 'i'),
    ("quiet", OptArg::No, 'q'),
    ("status", OptArg::No, 's'),
    ("strict", OptArg::No, 'S'),
    ("tag", OptArg::No, 'T'),
    ("text", OptArg::No, 't'),
    ("warn", OptArg::No, 'w'),
];

const ZERO: (&str, OptArg, char) = ("zero", OptArg::No, 'z');
const LENGTH: (&str, OptArg, char) = ("length", OptArg::Required, 'l');
const ALGORITHM: (&str, OptArg, char) = ("algorithm", OptArg::Required, 'a');

/// Words of `cksum -a`, in the order in which a wrong one is answered.
const ALGORITHMS: [(&str, Algorithm); 10] = [
    ("bsd", Algorithm::Sum(PlainSum::Bsd)),
    ("sysv", Algorithm::Sum(PlainSum::SystemV)),
    ("crc", Algorithm::Sum(PlainSum::Crc)),
    ("md5", Algorithm::Digest(DigestAlgorithm::Md5)),
    ("sha1", Algorithm::Digest(DigestAlgorithm::Sha1)),
    ("sha224", Algorithm::Digest(DigestAlgorithm::Sha224)),
    ("sha256", Algorithm::Digest(DigestAlgorithm::Sha256)),
    ("sha384", Algorithm::Digest(DigestAlgorithm::Sha384)),
    ("sha512", Algorithm::Digest(DigestAlgorithm::Sha512)),
    ("blake2b", Algorithm::Digest(DigestAlgorithm::Blake2b(LONGEST_BLAKE2B))),
];

impl Program {
    /// Returns the name of the command.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Digest(name, _) => name,
            Self::Cksum => "cksum",
            Self::Shasum => "shasum",
        }
    }

    /// Returns the result of a wrong call.
    pub(super) fn usage_error(self, message: &str) -> ExecResult {
        let name = self.name();
        ExecResult::err(format!("{name}: {message}\nTry '{name} --help' for more information.\n"), 1)
    }

    fn failure(self, message: &str) -> ExecResult {
        ExecResult::err(format!("{}: {message}\n", self.name()), 1)
    }

    /// Reads a command line: options and files. The error is the result of a wrong call.
    pub(super) fn parse(self, words: &[String]) -> Result<(ChecksumOptions, Vec<String>), ExecResult> {
        let has_length = matches!(self, Self::Cksum | Self::Digest(_, DigestAlgorithm::Blake2b(_)));
        let mut long = LONG.to_vec();
        long.push(ZERO);
        let short = match self {
            Self::Cksum => {
                long.extend([LENGTH, ALGORITHM, ("untagged", OptArg::No, 'u'), ("debug", OptArg::No, 'd')]);
                long.retain(|(name, ..)| *name != "binary" && *name != "text");
                "a:cl:wz"
            }
            Self::Shasum => {
                long.extend([ALGORITHM, ("UNIVERSAL", OptArg::No, 'U'), ("01", OptArg::No, '0')]);
                "a:bcstwU0"
            }
            Self::Digest(..) if has_length => {
                long.push(LENGTH);
                "bcl:twz"
            }
            Self::Digest(..) => "bctwz",
        };
        let (given, files) = gnu_getopt(self.name(), words, short, &long, true, 1)?;
        let algorithm = match self {
            Self::Digest(_, algorithm) => Algorithm::Digest(algorithm),
            Self::Cksum => Algorithm::Sum(PlainSum::Crc),
            Self::Shasum => Algorithm::Digest(DigestAlgorithm::Sha1),
        };
        let mut options = ChecksumOptions {
            algorithm,
            names_algorithm: false,
            check: false,
            quiet: false,
            status: false,
            warn: false,
            strict: false,
            ignore_missing: false,
            binary: None,
            // `cksum` writes the name of a digest.
            tag: self == Self::Cksum,
            zero_terminated: false,
        };
        let (mut length, mut tag_given) = (None, false);
        for option in given {
            match option.key {
                'l' => length = option.value,
                'T' => (options.tag, options.binary, tag_given) = (true, Some(true), true),
                _ => options.take(self, option)?,
            }
        }
        if let Some(length) = length {
            options.set_length(self, &length)?;
        }
        match options.conflict(self, tag_given) {
            Some(conflict) => Err(self.usage_error(conflict)),
            None => Ok((options, files)),
        }
    }
}

impl ChecksumOptions {
    fn take(&mut self, program: Program, option: ParsedOpt) -> Result<(), ExecResult> {
        let value = option.value.unwrap_or_default();
        match option.key {
            'a' => {
                self.algorithm = algorithm(program, &value)?;
                self.names_algorithm = true;
            }
            'b' => self.binary = Some(true),
            't' => self.binary = Some(false),
            'c' => self.check = true,
            'i' => self.ignore_missing = true,
            'q' => self.quiet = true,
            's' => self.status = true,
            'S' => self.strict = true,
            'u' => self.tag = false,
            'w' => self.warn = true,
            'z' => self.zero_terminated = true,
            'U' | '0' => {
                return Err(ExecResult::err(format!("shasum: -{} is not supported here\n", option.key), 1));
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets the length of a digest of BLAKE2b in bits; 0 is the usual one.
    fn set_length(&mut self, program: Program, length: &str) -> Result<(), ExecResult> {
        let Algorithm::Digest(DigestAlgorithm::Blake2b(_)) = self.algorithm else {
            return Err(program.failure("--length is only supported with --algorithm=blake2b"));
        };
        let invalid = |reason: &str| {
            let name = program.name();
            ExecResult::err(format!("{name}: invalid length: '{length}'\n{reason}"), 1)
        };
        let bits: usize = length.parse().map_err(|_| invalid(""))?;
        if bits > 8 * LONGEST_BLAKE2B {
            let reason = "maximum digest length for 'BLAKE2b' is 512 bits";
            return Err(invalid(&format!("{}: {reason}\n", program.name())));
        }
        if !bits.is_multiple_of(8) {
            return Err(invalid(&format!("{}: length is not a multiple of 8\n", program.name())));
        }
        let bytes = if bits == 0 { LONGEST_BLAKE2B } else { bits / 8 };
        if !has_blake2b(bytes) {
            return Err(invalid(&format!("{}: digests of this length are not computed here\n", program.name())));
        }
        self.algorithm = Algorithm::Digest(DigestAlgorithm::Blake2b(bytes));
        Ok(())
    }

    /// Returns the reason why these options do not go together.
    fn conflict(&self, program: Program, tag_given: bool) -> Option<&'static str> {
        let only_for_lists = [
            (self.ignore_missing, "the --ignore-missing option is meaningful only when verifying checksums"),
            (self.status, "the --status option is meaningful only when verifying checksums"),
            (self.warn, "the --warn option is meaningful only when verifying checksums"),
            (self.quiet, "the --quiet option is meaningful only when verifying checksums"),
            (self.strict, "the --strict option is meaningful only when verifying checksums"),
        ];
        if tag_given && self.binary == Some(false) {
            Some("--tag does not support --text mode")
        } else if self.zero_terminated && self.check {
            Some("the --zero option is not supported when verifying checksums")
        } else if tag_given && self.check {
            Some("the --tag option is meaningless when verifying checksums")
        } else if self.binary.is_some() && self.check && program != Program::Shasum {
            Some("the --binary and --text options are meaningless when verifying checksums")
        } else if self.check && matches!(self.algorithm, Algorithm::Sum(_)) && self.names_algorithm {
            Some("--check is not supported with --algorithm={bsd,sysv,crc}")
        } else if self.check {
            None
        } else {
            only_for_lists.into_iter().find(|(given, _)| *given).map(|(_, message)| message)
        }
    }
}

/// Reads the name of an algorithm.
fn algorithm(program: Program, name: &str) -> Result<Algorithm, ExecResult> {
    if program == Program::Shasum {
        let found =
            ["1", "224", "256", "384", "512"].contains(&name).then(|| DigestAlgorithm::of_tag(&format!("SHA{name}")));
        let unknown = || ExecResult::err("shasum: Unrecognized algorithm\nType shasum -h for help\n", 1);
        return found.flatten().map(Algorithm::Digest).ok_or_else(unknown);
    }
    let found = ALGORITHMS.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm);
    found.ok_or_else(|| {
        let known: String = ALGORITHMS.iter().map(|(known, _)| format!("  - '{known}'\n")).collect();
        let message = format!("invalid argument '{name}' for '--algorithm'\nValid arguments are:\n{known}");
        program.usage_error(message.trim_end())
    })
}
