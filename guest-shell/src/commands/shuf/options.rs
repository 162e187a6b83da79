//! Options of `shuf`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use bashkit::ExecResult;
use bashkit::cached_command;
use bashkit::clap::ArgMatches;
use bashkit::clap::error::ErrorKind;

// The definition of the command line is built once, and cloned for each call.
cached_command!(shuf_cmd, bashkit::builtins::generated::shuf_args::shuf_command());

/// Options of a call.
pub(super) struct ShufOptions {
    pub(super) echo: bool,
    pub(super) repeat: bool,
    pub(super) separator: char,
    pub(super) head_count: Option<u64>,
    pub(super) output: Option<PathBuf>,
    pub(super) input_range: Option<RangeInclusive<u64>>,
    pub(super) random_source: Option<PathBuf>,
    pub(super) operands: Vec<String>,
}

impl ShufOptions {
    /// Parses the arguments of a call. The error is its result.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, ExecResult> {
        let name = std::iter::once(OsString::from("shuf"));
        let matches = shuf_cmd().try_get_matches_from(name.chain(arguments.iter().map(OsString::from)));
        let matches = matches.map_err(|error| {
            let text = error.render().to_string();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExecResult::ok(text),
                _ => ExecResult::err(text, 1),
            }
        })?;
        // Not an option of GNU's.
        if matches.contains_id("random-seed") {
            return Err(ExecResult::err("shuf: unrecognized option '--random-seed'\n", 1));
        }
        Ok(Self::of(&matches))
    }

    fn of(matches: &ArgMatches) -> Self {
        let operands = matches.get_many::<OsString>("file-or-args").into_iter().flatten();
        Self {
            echo: matches.get_flag("echo"),
            repeat: matches.get_flag("repeat"),
            separator: if matches.get_flag("zero-terminated") { '\0' } else { '\n' },
            head_count: matches.get_many::<u64>("head-count").and_then(|mut counts| counts.next_back().copied()),
            output: matches.get_one::<PathBuf>("output").cloned(),
            input_range: matches.get_one::<RangeInclusive<u64>>("input-range").cloned(),
            random_source: matches.get_one::<PathBuf>("random-source").cloned(),
            operands: operands.map(|operand| operand.to_string_lossy().into_owned()).collect(),
        }
    }

    /// Returns the result of a call with too many operands.
    pub(super) fn extra_operand(&self) -> Option<ExecResult> {
        let extra = self.operands.get(1).filter(|_| !self.echo)?;
        let message = format!("shuf: extra operand '{extra}'\nTry 'shuf --help' for more information.\n");
        Some(ExecResult::err(message, 1))
    }

    /// Returns true if lines are read, and from standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        let is_stdin = self.operands.first().is_none_or(|name| name == "-");
        is_stdin && !self.echo && self.input_range.is_none()
    }
}
