//! Options of the command line.

use crate::commands::option_parser::getopt_long;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};
use lzma_rust2::CheckType;

use super::codec::XzFormat;
use crate::commands::archive::codec::XZ_LEVEL;

/// Task of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum XzTask {
    Compress,
    Decompress,
    Test,
    List,
}

/// Options of one call.
pub(super) struct XzOptions {
    pub(super) task: XzTask,
    pub(super) to_stdout: bool,
    pub(super) keeps: bool,
    pub(super) forces: bool,
    /// Number of times that `-q` was given: 1 leaves out warnings, 2 also errors.
    pub(super) quietness: usize,
    pub(super) is_verbose: bool,
    /// True if warnings leave the status at 0 (`-Q`).
    pub(super) ignores_warnings: bool,
    pub(super) level: u32,
    pub(super) check: CheckType,
    /// Format of what is written, and of what is read if an option says so.
    pub(super) format: Option<XzFormat>,
    pub(super) suffix: Option<String>,
}

const LONG: [(&str, OptArg, char); 34] = [
    ("compress", OptArg::No, 'z'),
    ("decompress", OptArg::No, 'd'),
    ("uncompress", OptArg::No, 'd'),
    ("test", OptArg::No, 't'),
    ("list", OptArg::No, 'l'),
    ("keep", OptArg::No, 'k'),
    ("force", OptArg::No, 'f'),
    ("stdout", OptArg::No, 'c'),
    ("to-stdout", OptArg::No, 'c'),
    ("single-stream", OptArg::No, 'i'),
    ("no-sparse", OptArg::No, 'i'),
    ("ignore-check", OptArg::No, 'i'),
    ("suffix", OptArg::Required, 'S'),
    ("files", OptArg::Optional, 'X'),
    ("files0", OptArg::Optional, 'X'),
    ("format", OptArg::Required, 'F'),
    ("check", OptArg::Required, 'C'),
    ("extreme", OptArg::No, 'e'),
    ("fast", OptArg::No, '0'),
    ("best", OptArg::No, '9'),
    ("threads", OptArg::Required, 'T'),
    ("block-size", OptArg::Required, 'i'),
    ("block-list", OptArg::Required, 'i'),
    ("flush-timeout", OptArg::Required, 'i'),
    ("memlimit", OptArg::Required, 'M'),
    ("memory", OptArg::Required, 'M'),
    ("memlimit-compress", OptArg::Required, 'i'),
    ("memlimit-decompress", OptArg::Required, 'i'),
    ("no-adjust", OptArg::No, 'i'),
    ("quiet", OptArg::No, 'q'),
    ("verbose", OptArg::No, 'v'),
    ("no-warn", OptArg::No, 'Q'),
    ("lzma2", OptArg::Optional, 'i'),
    ("lzma1", OptArg::Optional, 'i'),
];

impl XzOptions {
    /// Reads a command line of a command with its own task, output and format. The error is the result of a wrong call.
    pub(super) fn parse(
        command: &str,
        words: &[String],
        defaults: (XzTask, bool, Option<XzFormat>),
    ) -> Result<(Self, Vec<String>), ExecResult> {
        let (task, to_stdout, format) = defaults;
        let (given, files) = getopt_long(command, words, "zdtlkfcS:F:C:e0123456789T:M:qvQ", &LONG, true, 1)?;
        let mut options = Self {
            task,
            to_stdout,
            keeps: false,
            forces: false,
            quietness: 0,
            is_verbose: false,
            ignores_warnings: false,
            level: XZ_LEVEL,
            check: CheckType::Crc64,
            format,
            suffix: None,
        };
        for option in given {
            options.take(option).map_err(|message| ExecResult::err(format!("{command}: {message}\n"), 1))?;
        }
        options.to_stdout |= files.is_empty();
        Ok((options, files))
    }

    /// Applies an option, or returns a message about its value.
    fn take(&mut self, option: ParsedOpt) -> Result<(), String> {
        let value = option.value.unwrap_or_default();
        match option.key {
            'z' => self.task = XzTask::Compress,
            'd' => self.task = XzTask::Decompress,
            't' => self.task = XzTask::Test,
            'l' => self.task = XzTask::List,
            'k' => self.keeps = true,
            'f' => self.forces = true,
            'c' => self.to_stdout = true,
            'q' => self.quietness += 1,
            'v' => self.is_verbose = true,
            'Q' => self.ignores_warnings = true,
            'S' if value.is_empty() || value.contains('/') => return Err(format!("{value}: Invalid filename suffix")),
            'S' => self.suffix = Some(value),
            'F' => self.format = parse_format(&value)?,
            'C' => self.check = parse_check(&value)?,
            'T' if is_wrong_thread_count(&value) => {
                return Err(format!("{value}: Value is not a non-negative decimal integer"));
            }
            'X' => return Err("--files: give the names as arguments, as with xargs".to_owned()),
            key => {
                // Others change speed or memory, not what the data are.
                if let Some(level) = key.to_digit(10) {
                    self.level = level;
                }
            }
        }
        Ok(())
    }

    /// Returns true if files are written beside those that are read.
    pub(super) fn writes_files(&self) -> bool {
        !self.to_stdout && matches!(self.task, XzTask::Compress | XzTask::Decompress)
    }

    /// Returns the format of compressed data that is written.
    pub(super) fn written_format(&self) -> XzFormat {
        self.format.unwrap_or(XzFormat::Xz)
    }
}

/// Returns true if a text is no number of threads.
fn is_wrong_thread_count(value: &str) -> bool {
    value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_format(value: &str) -> Result<Option<XzFormat>, String> {
    match value {
        "auto" => Ok(None),
        "xz" => Ok(Some(XzFormat::Xz)),
        "lzma" | "alone" => Ok(Some(XzFormat::Lzma)),
        "raw" => Err("raw streams are not supported; use --format=xz or lzma".to_owned()),
        _ => Err(format!("{value}: Unknown file format type")),
    }
}

fn parse_check(value: &str) -> Result<CheckType, String> {
    match value {
        "none" => Ok(CheckType::None),
        "crc32" => Ok(CheckType::Crc32),
        "crc64" => Ok(CheckType::Crc64),
        "sha256" => Ok(CheckType::Sha256),
        _ => Err(format!("{value}: Unsupported integrity check type")),
    }
}
