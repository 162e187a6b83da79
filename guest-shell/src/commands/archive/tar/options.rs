//! Options of `tar`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::result::Result as StdResult;

use bashkit::builtins::arg_parser::ArgParser;
use bashkit::limits::BudgetedVec;
use bashkit::{ExecResult, Result};

use super::attributes::GivenAttributes;
use super::exclusion::Exclusion;
use super::header::ArchiveFormat;
use super::long_options::{Argument, LONG, takes_argument};
use super::members::MemberMatching;
use super::transform::{NameKind, Transform};
use super::usage::{ambiguous, fatal_usage_error, invalid_choice, unrecognized, usage_error};
use crate::commands::archive::codec::ArchiveCompression;

/// Work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TarTask {
    Create,
    Append,
    /// Appends files that are newer than in the archive.
    Update,
    Extract,
    List,
    /// Compares the members with files.
    Compare,
    /// Removes members from the archive.
    Delete,
}

/// Treatment of files that are there already when an archive is extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OldFiles {
    #[default]
    Replace,
    /// A member for which there is a file is an error (`-k`).
    Keep,
    /// A member for which there is a file is left out (`--skip-old-files`).
    Skip,
    /// A member for which there is a file that is as new is left out (`--keep-newer-files`).
    KeepNewer,
}

/// Options of one call.
#[derive(Default)]
pub(super) struct TarOptions<'a> {
    /// Tasks that were named, each once. A call has exactly one.
    tasks: Vec<TarTask>,
    archive: Option<&'a str>,
    compression: ArchiveCompression,
    compression_by_name: bool,
    /// Format of a new archive (`-H`).
    pub(super) format: ArchiveFormat,
    /// Changes of the directory for names of members and files (`-C`), with the number of operands before each.
    pub(super) directories: Vec<(usize, &'a str)>,
    pub(super) exclusion: Exclusion,
    /// Files with patterns of names that are left out (`-X`).
    pub(super) exclude_lists: Vec<&'a str>,
    /// Files with names of members or files (`-T`).
    pub(super) name_lists: Vec<&'a str>,
    /// Names of lists end with null bytes.
    pub(super) null_names: bool,
    /// Number of times that option `-v` was given.
    pub(super) verbosity: usize,
    pub(super) to_stdout: bool,
    /// Names keep their leading slashes (`-P`).
    pub(super) absolute_names: bool,
    /// Number of leading components that names lose.
    strip_components: usize,
    transform: Transform,
    /// Names are listed as they are in the end.
    show_transformed: bool,
    pub(super) matching: MemberMatching,
    pub(super) old_files: OldFiles,
    /// Files get the time of the extraction (`-m`).
    pub(super) touch: bool,
    /// Files get the permissions of the archive without regard to the umask (`-p`).
    pub(super) same_permissions: bool,
    pub(super) attributes: GivenAttributes<'a>,
    /// Date that files must be newer than (`-N`).
    pub(super) newer: Option<&'a str>,
    pub(super) no_recursion: bool,
    /// Links are followed (`-h`).
    pub(super) dereference: bool,
    pub(super) remove_files: bool,
    /// Directory of the extraction (`--one-top-level`); empty for one that is named like the archive.
    pub(super) top_level: Option<&'a str>,
    /// Times are listed with seconds.
    pub(super) full_time: bool,
    /// The number of written bytes is told.
    pub(super) totals: bool,
    pub(super) ignore_failed_read: bool,
    /// Blocks of a record, which the archive's size is a multiple of.
    pub(super) blocking_factor: Option<usize>,
}

impl<'a> TarOptions<'a> {
    /// Reads a command line, and adds its operands to `operands`. The error is the result of a wrong call.
    pub(super) fn parse(
        words: &'a [String],
        operands: &mut BudgetedVec<&'a str>,
    ) -> Result<StdResult<TarOptions<'a>, ExecResult>> {
        let mut options = Self::default();
        let mut parser = ArgParser::new(words);
        let mut options_ended = false;
        // Historically, the first word has options without a dash.
        let mut is_old = words.first().is_some_and(|word| !word.starts_with('-') && !word.is_empty());
        while let Some(word) = parser.positional() {
            let count = operands.len();
            let taken = if std::mem::take(&mut is_old) {
                options.take_old(word, &mut parser, count)
            } else if options_ended || !word.starts_with('-') || word == "-" {
                operands.try_push(word)?;
                Ok(())
            } else if word == "--" {
                options_ended = true;
                Ok(())
            } else if let Some(long) = word.strip_prefix("--") {
                match options.take_long(long, &mut parser, count) {
                    Ok(None) => Ok(()),
                    Ok(Some(file)) => {
                        operands.try_push(file)?;
                        Ok(())
                    }
                    Err(result) => Err(result),
                }
            } else {
                options.take_short(&word[1..], &mut parser, count)
            };
            if let Err(result) = taken {
                return Ok(Err(result));
            }
        }
        Ok(Ok(options))
    }

    /// Takes a long option, which may be shortened. Returns the operand that `--add-file` is.
    fn take_long(
        &mut self,
        option: &'a str,
        parser: &mut ArgParser<'a>,
        operands: usize,
    ) -> StdResult<Option<&'a str>, ExecResult> {
        let (given, attached) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let (name, argument, letter) = match LONG.iter().find(|(name, ..)| *name == given) {
            Some(known) => *known,
            None => match LONG.iter().filter(|(name, ..)| name.starts_with(given)).collect::<Vec<_>>().as_slice() {
                [] => return Err(unrecognized(given)),
                [known] => **known,
                several => return Err(ambiguous(given, several)),
            },
        };
        let value = match argument {
            Argument::None if attached.is_some() => {
                return Err(usage_error(&format!("option '--{name}' doesn't allow an argument")));
            }
            Argument::None => "",
            Argument::Optional => attached.unwrap_or_default(),
            Argument::Required => match attached.or_else(|| parser.positional()) {
                Some(value) => value,
                None => return Err(usage_error(&format!("option '--{name}' requires an argument"))),
            },
        };
        if name == "add-file" {
            return Ok(Some(value));
        }
        if letter != '\0' {
            self.set(letter, value, operands)?;
        } else if !self.set_attribute(name, value)? && !self.matching.set(name) {
            self.set_by_name(name, value)?;
        }
        Ok(None)
    }

    /// Takes the letters of the first word, whose values are the words behind it, in their order.
    fn take_old(&mut self, letters: &'a str, parser: &mut ArgParser<'a>, operands: usize) -> StdResult<(), ExecResult> {
        for letter in letters.chars() {
            let value = match takes_argument(letter) {
                None => return Err(usage_error(&format!("invalid option -- '{letter}'"))),
                Some(false) => "",
                Some(true) => match parser.positional() {
                    Some(value) => value,
                    None => return Err(fatal_usage_error(&format!("Old option '{letter}' requires an argument."))),
                },
            };
            self.set(letter, value, operands)?;
        }
        Ok(())
    }

    /// Takes the letters of a word. What is behind one with a value is its value, or else the next word.
    fn take_short(
        &mut self,
        letters: &'a str,
        parser: &mut ArgParser<'a>,
        operands: usize,
    ) -> StdResult<(), ExecResult> {
        for (at, letter) in letters.char_indices() {
            match takes_argument(letter) {
                None => return Err(usage_error(&format!("invalid option -- '{letter}'"))),
                Some(false) => self.set(letter, "", operands)?,
                Some(true) => {
                    let rest = &letters[at + letter.len_utf8()..];
                    let value = if rest.is_empty() { parser.positional() } else { Some(rest) };
                    let missing = || usage_error(&format!("option requires an argument -- '{letter}'"));
                    return self.set(letter, value.ok_or_else(missing)?, operands);
                }
            }
        }
        Ok(())
    }

    /// Applies a short option.
    fn set(&mut self, letter: char, value: &'a str, operands: usize) -> StdResult<(), ExecResult> {
        match letter {
            'c' => self.add_task(TarTask::Create),
            'r' => self.add_task(TarTask::Append),
            'u' => self.add_task(TarTask::Update),
            'x' => self.add_task(TarTask::Extract),
            't' => self.add_task(TarTask::List),
            'd' => self.add_task(TarTask::Compare),
            'f' => self.archive = Some(value),
            'C' => self.directories.push((operands, value)),
            'T' => self.name_lists.push(value),
            'X' => self.exclude_lists.push(value),
            'N' => self.newer = Some(value),
            'b' => self.blocking_factor = Some(blocking_factor(value)?),
            'H' => self.format = parse_format(value)?,
            'I' => self.compression = compression_of_program(value)?,
            'v' => self.verbosity += 1,
            'z' => self.compression = ArchiveCompression::Gzip,
            'j' => self.compression = ArchiveCompression::Bzip2,
            'J' => self.compression = ArchiveCompression::Xz,
            'Z' => return Err(missing_program("compress")),
            'O' => self.to_stdout = true,
            'a' => self.compression_by_name = true,
            'h' => self.dereference = true,
            'k' => self.old_files = OldFiles::Keep,
            'm' => self.touch = true,
            'p' => self.same_permissions = true,
            'P' => self.absolute_names = true,
            // Files are always replaced, nobody is asked whether to overwrite, and there are no sparse files, no
            // owners to restore and no other file systems.
            _ => {}
        }
        Ok(())
    }

    /// Applies a long option about attributes of members. Returns false if it is another one.
    fn set_attribute(&mut self, name: &str, value: &'a str) -> StdResult<bool, ExecResult> {
        match name {
            "owner" => self.attributes.owner = Some(value),
            "group" => self.attributes.group = Some(value),
            "mode" => self.attributes.mode = Some(value),
            "mtime" => self.attributes.time = Some(value),
            "numeric-owner" => self.attributes.numeric = true,
            "no-same-permissions" => self.same_permissions = false,
            "sort" => match value {
                // Directories are read in the order of the names.
                "none" | "name" => {}
                _ => return Err(invalid_choice("sort", value, &["none", "name"])),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Applies a long option that has no letter.
    fn set_by_name(&mut self, name: &str, value: &'a str) -> StdResult<(), ExecResult> {
        match name {
            "delete" => self.add_task(TarTask::Delete),
            "exclude" => self.exclusion.add(value),
            "exclude-vcs" => self.exclusion.add_version_control(),
            "exclude-backups" => [".#*", "*~", "#*#"].into_iter().for_each(|pattern| self.exclusion.add(pattern)),
            "strip-components" => self.strip_components = component_count(value)?,
            "transform" | "xform" => self.transform.add(value).map_err(|message| fatal_usage_error(&message))?,
            "show-transformed-names" | "show-stored-names" => self.show_transformed = true,
            "null" => self.null_names = true,
            "no-null" => self.null_names = false,
            "recursion" => self.no_recursion = false,
            "no-recursion" => self.no_recursion = true,
            "remove-files" => self.remove_files = true,
            "one-top-level" => self.top_level = Some(value),
            "full-time" => self.full_time = true,
            "totals" => self.totals = true,
            "ignore-failed-read" => self.ignore_failed_read = true,
            "skip-old-files" => self.old_files = OldFiles::Skip,
            "keep-newer-files" => self.old_files = OldFiles::KeepNewer,
            "overwrite" => self.old_files = OldFiles::Replace,
            "newer-mtime" => self.newer = Some(value),
            "lzma" => self.compression = ArchiveCompression::Lzma,
            "zstd" => self.compression = ArchiveCompression::Zstd,
            "lzip" | "lzop" => return Err(missing_program(name)),
            // Warnings, owners and metadata of a directory that was there: nothing depends on them here.
            _ => {}
        }
        Ok(())
    }

    fn add_task(&mut self, task: TarTask) {
        if !self.tasks.contains(&task) {
            self.tasks.push(task);
        }
    }

    /// Returns the task of the call. The error is the result of a call that names none, or several.
    pub(super) fn task(&self) -> StdResult<TarTask, ExecResult> {
        match self.tasks.as_slice() {
            [task] => Ok(*task),
            [] => {
                Err(fatal_usage_error("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"))
            }
            _ => Err(fatal_usage_error(
                "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option",
            )),
        }
    }

    /// Returns the name of the archive; `-` is standard input or output.
    pub(super) fn archive(&self) -> &'a str {
        self.archive.unwrap_or("-")
    }

    /// Returns the compression that the options name.
    pub(super) fn compression(&self) -> ArchiveCompression {
        self.compression
    }

    /// Returns the compression of a new archive. The error is the result of one that is not there.
    pub(super) fn new_compression(&self) -> StdResult<ArchiveCompression, ExecResult> {
        if !self.compression_by_name || self.compression != ArchiveCompression::None {
            return Ok(self.compression);
        }
        let suffix = self.archive().rsplit('.').next().unwrap_or_default();
        match suffix {
            "lz" | "lzo" | "Z" | "taZ" => Err(missing_program(suffix)),
            _ => Ok(ArchiveCompression::named(self.archive())),
        }
    }

    /// Returns a name or a link's target as the options change it. None if no component is left.
    pub(super) fn transformed(&self, name: &str, kind: NameKind) -> Option<String> {
        // The slash behind a directory is none of the name's.
        let (bare, slash) = name.strip_suffix('/').map_or((name, ""), |bare| (bare, "/"));
        let name = self.transform.apply(bare, kind) + slash;
        if self.strip_components == 0 || kind == NameKind::LinkTarget {
            return Some(name);
        }
        let components = name.split('/').filter(|component| !component.is_empty() && *component != ".");
        let rest: Vec<&str> = components.skip(self.strip_components).collect();
        let slash = if name.ends_with('/') { "/" } else { "" };
        (!rest.is_empty()).then(|| rest.join("/") + slash)
    }

    /// Returns the form of a name that is listed.
    pub(super) fn shown<'n>(&self, original: &'n str, transformed: &'n str) -> &'n str {
        if self.show_transformed { transformed } else { original }
    }
}

fn component_count(value: &str) -> StdResult<usize, ExecResult> {
    value.parse().map_err(|_| ExecResult::err(format!("tar: Invalid number of elements: '{value}'\n"), 2))
}

fn blocking_factor(value: &str) -> StdResult<usize, ExecResult> {
    let factor = value.parse().ok().filter(|factor| (1..=1 << 20).contains(factor));
    factor.ok_or_else(|| fatal_usage_error("Invalid blocking factor"))
}

fn parse_format(value: &str) -> StdResult<ArchiveFormat, ExecResult> {
    match value {
        "gnu" | "oldgnu" => Ok(ArchiveFormat::Gnu),
        "ustar" => Ok(ArchiveFormat::Ustar),
        "posix" | "pax" => Ok(ArchiveFormat::Pax),
        "v7" => Err(ExecResult::err("tar: archives of the format 'v7' are not written here; use ustar\n", 2)),
        _ => Err(fatal_usage_error(&format!("{value}: Invalid archive format"))),
    }
}

fn compression_of_program(command: &str) -> StdResult<ArchiveCompression, ExecResult> {
    match command.split_whitespace().next().map(|name| name.rsplit('/').next().unwrap_or_default()) {
        Some("gzip" | "pigz") => Ok(ArchiveCompression::Gzip),
        Some("bzip2" | "pbzip2") => Ok(ArchiveCompression::Bzip2),
        Some("xz" | "pixz") => Ok(ArchiveCompression::Xz),
        Some("lzma") => Ok(ArchiveCompression::Lzma),
        Some("zstd" | "zstdmt" | "pzstd") => Ok(ArchiveCompression::Zstd),
        _ => Err(missing_program(command)),
    }
}

/// Returns the result of a compression whose program is not there.
fn missing_program(name: &str) -> ExecResult {
    let message = format!("tar (child): {name}: Cannot exec: No such file or directory\n");
    ExecResult::err(message + "tar (child): Error is not recoverable: exiting now\n", 2)
}
