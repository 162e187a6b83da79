//! Options of `tar`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;
use std::result::Result as StdResult;

use bashkit::builtins::arg_parser::ArgParser;
use bashkit::builtins::ls::glob::glob_match;
use bashkit::limits::BudgetedVec;
use bashkit::{ExecResult, Result};

use super::members::MemberMatching;
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
    /// Directory for names of members and files (`-C`).
    pub(super) directory: Option<&'a str>,
    excludes: Vec<&'a str>,
    /// Files with names of members or files (`-T`).
    pub(super) name_lists: Vec<&'a str>,
    pub(super) verbose: bool,
    pub(super) to_stdout: bool,
    /// Names keep their leading slashes (`-P`).
    pub(super) absolute_names: bool,
    /// Number of leading components that names lose.
    strip_components: usize,
    pub(super) matching: MemberMatching,
    pub(super) old_files: OldFiles,
    /// Files get the time of the extraction (`-m`).
    pub(super) touch: bool,
    /// Files get the permissions of the archive without regard to the umask (`-p`).
    pub(super) same_permissions: bool,
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
        while let Some(word) = parser.positional() {
            let taken = if options_ended || !word.starts_with('-') || word == "-" {
                operands.try_push(word)?;
                Ok(())
            } else if word == "--" {
                options_ended = true;
                Ok(())
            } else if let Some(long) = word.strip_prefix("--") {
                options.take_long(long, &mut parser)
            } else {
                options.take_short(&word[1..], &mut parser)
            };
            if let Err(result) = taken {
                return Ok(Err(result));
            }
        }
        Ok(Ok(options))
    }

    fn take_long(&mut self, option: &'a str, parser: &mut ArgParser<'a>) -> StdResult<(), ExecResult> {
        let (name, attached) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let mut value = || {
            let value = attached.or_else(|| parser.positional());
            value.ok_or_else(|| usage_error(&format!("option '--{name}' requires an argument")))
        };
        match name {
            "file" => self.archive = Some(value()?),
            "directory" => self.directory = Some(value()?),
            "exclude" => self.excludes.push(value()?),
            "files-from" => self.name_lists.push(value()?),
            "strip-components" => self.strip_components = component_count(value()?)?,
            "gzip" | "bzip2" if attached.is_some() => return Err(unrecognized(name)),
            _ => match short_option(name) {
                Some(letter) => self.set(letter),
                None if self.set_by_name(name) => {}
                None if is_without_effect(name) || self.matching.set(name) => {}
                None => return Err(unrecognized(name)),
            },
        }
        Ok(())
    }

    /// Takes short options of one word. Values follow in the next words, except that of a word that begins with `f`
    /// or `C`.
    fn take_short(&mut self, letters: &'a str, parser: &mut ArgParser<'a>) -> StdResult<(), ExecResult> {
        let first = letters.get(..1).filter(|letter| matches!(*letter, "f" | "C"));
        let (letters, attached) = match first {
            Some(letter) if letters.len() > 1 => (letter, Some(&letters[1..])),
            _ => (letters, None),
        };
        for letter in letters.chars() {
            let mut value = || {
                let value = attached.or_else(|| parser.positional());
                value.ok_or_else(|| usage_error(&format!("option requires an argument -- '{letter}'")))
            };
            match letter {
                'f' => self.archive = Some(value()?),
                'C' => self.directory = Some(value()?),
                'T' => self.name_lists.push(value()?),
                'c' | 'r' | 'u' | 'x' | 't' | 'v' | 'z' | 'j' | 'O' | 'a' | 'P' | 'k' | 'm' | 'p' | 'U' => {
                    self.set(letter);
                }
                _ => return Err(usage_error(&format!("invalid option -- '{letter}'"))),
            }
        }
        Ok(())
    }

    /// Applies a short option without a value.
    fn set(&mut self, letter: char) {
        match letter {
            'c' => self.add_task(TarTask::Create),
            'r' => self.add_task(TarTask::Append),
            'u' => self.add_task(TarTask::Update),
            'x' => self.add_task(TarTask::Extract),
            't' => self.add_task(TarTask::List),
            'v' => self.verbose = true,
            'z' => self.compression = ArchiveCompression::Gzip,
            'j' => self.compression = ArchiveCompression::Bzip2,
            'O' => self.to_stdout = true,
            'a' => self.compression_by_name = true,
            'k' => self.old_files = OldFiles::Keep,
            'm' => self.touch = true,
            'p' => self.same_permissions = true,
            // Files are always replaced.
            'U' => {}
            _ => self.absolute_names = true,
        }
    }

    /// Applies a long option without a value that has no letter. Returns false if it is another one.
    fn set_by_name(&mut self, name: &str) -> bool {
        match name {
            "skip-old-files" => self.old_files = OldFiles::Skip,
            "keep-newer-files" => self.old_files = OldFiles::KeepNewer,
            "overwrite" => self.old_files = OldFiles::Replace,
            "no-same-permissions" => self.same_permissions = false,
            _ => return false,
        }
        true
    }

    fn add_task(&mut self, task: TarTask) {
        if !self.tasks.contains(&task) {
            self.tasks.push(task);
        }
    }

    /// Returns the task. The error is the result of a call that has none or several.
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

    /// Returns the compression of a new archive.
    pub(super) fn new_compression(&self) -> ArchiveCompression {
        if self.compression_by_name && self.compression == ArchiveCompression::None {
            ArchiveCompression::named(self.archive())
        } else {
            self.compression
        }
    }

    /// Returns true if a pattern of `--exclude` matches a name, one of its ends, or a directory in these.
    pub(super) fn excludes(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        self.excludes.iter().any(|pattern| {
            let pattern = pattern.trim_end_matches('/');
            let ends = name.match_indices('/').map(|(slash, _)| &name[slash + 1..]);
            std::iter::once(name).chain(ends).any(|end| {
                let directories = end.match_indices('/').map(|(slash, _)| &end[..slash]);
                std::iter::once(end).chain(directories).any(|part| glob_match(part, pattern))
            })
        })
    }

    /// Returns a name without its leading components. None if there is no other component.
    pub(super) fn stripped(&self, name: &str) -> Option<String> {
        if self.strip_components == 0 {
            return Some(name.to_owned());
        }
        let components = name.split('/').filter(|component| !component.is_empty() && *component != ".");
        let rest: Vec<&str> = components.skip(self.strip_components).collect();
        let slash = if name.ends_with('/') { "/" } else { "" };
        (!rest.is_empty()).then(|| rest.join("/") + slash)
    }
}

/// Returns the words with a first one that has a dash: historically, options of `tar` have none.
pub(super) fn with_dash(words: &[String]) -> Cow<'_, [String]> {
    match words {
        [first, rest @ ..] if !first.starts_with(['-', '+']) => {
            Cow::Owned(std::iter::once(format!("-{first}")).chain(rest.iter().cloned()).collect())
        }
        _ => Cow::Borrowed(words),
    }
}

/// Returns the short option that is the same as a long one without a value.
fn short_option(name: &str) -> Option<char> {
    Some(match name {
        "create" => 'c',
        "append" => 'r',
        "update" => 'u',
        "extract" | "get" => 'x',
        "list" => 't',
        "verbose" => 'v',
        "gzip" => 'z',
        "bzip2" => 'j',
        "to-stdout" => 'O',
        "auto-compress" => 'a',
        "absolute-names" => 'P',
        "keep-old-files" => 'k',
        "touch" => 'm',
        "preserve-permissions" | "same-permissions" => 'p',
        "unlink-first" => 'U',
        _ => return None,
    })
}

/// Returns true for options about owners, of which the file system has no choice.
fn is_without_effect(name: &str) -> bool {
    matches!(name, "no-same-owner" | "same-owner" | "numeric-owner")
}

fn component_count(value: &str) -> StdResult<usize, ExecResult> {
    value.parse().map_err(|_| ExecResult::err(format!("tar: Invalid number of elements: '{value}'\n"), 2))
}

fn unrecognized(name: &str) -> ExecResult {
    usage_error(&format!("unrecognized option '--{name}'"))
}

/// Returns the result of a call with a wrong option.
fn usage_error(message: &str) -> ExecResult {
    usage_result(message, 64)
}

/// Returns the result of a call whose options do not fit together.
pub(super) fn fatal_usage_error(message: &str) -> ExecResult {
    usage_result(message, 2)
}

fn usage_result(message: &str, status: i32) -> ExecResult {
    let help = "Try 'tar --help' or 'tar --usage' for more information.";
    ExecResult::err(format!("tar: {message}\n{help}\n"), status)
}
