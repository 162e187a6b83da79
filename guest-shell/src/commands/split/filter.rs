//! Pieces as the input of a command (`--filter`).

use std::collections::VecDeque;

use async_trait::async_trait;
use bashkit::builtins::{PlanDriver, PlanStep, SubCommand};
use bashkit::{ExecResult, Result, StreamData};

use super::SplitWork;
use super::options::failure;

/// Run of a command for each piece.
pub(super) struct FilterRun {
    filter: String,
    /// Names and contents of the pieces that are left.
    pieces: VecDeque<(String, Vec<u8>)>,
    /// Name of the piece that the command now has.
    current: String,
    /// Result of the call so far.
    result: ExecResult,
    is_exhausted: bool,
    /// True if each run is announced (`--verbose`).
    is_verbose: bool,
    /// True if the next run was announced.
    is_announced: bool,
}

impl FilterRun {
    /// Returns the run for all pieces.
    pub(super) fn new(work: &SplitWork) -> Self {
        let pieces = work.options.cut(&work.data).into_iter();
        let pieces = pieces.filter(|piece| !(work.options.elide && piece.is_empty())).enumerate();
        let named: Vec<_> = pieces.map(|(index, piece)| (work.name(index), piece.into_owned())).collect();
        let is_exhausted = named.iter().any(|(name, _)| name.is_none());
        let pieces = named.into_iter().filter_map(|(name, piece)| Some((name?, piece))).collect();
        let filter = work.options.filter.clone().unwrap_or_default();
        Self {
            filter,
            pieces,
            current: String::new(),
            result: ExecResult::ok(""),
            is_exhausted,
            is_verbose: work.options.verbose,
            is_announced: false,
        }
    }

    /// Returns the run of a call that ends at once with a result.
    pub(super) fn refused(result: ExecResult) -> Self {
        Self {
            filter: String::new(),
            pieces: VecDeque::new(),
            current: String::new(),
            result,
            is_exhausted: false,
            is_verbose: false,
            is_announced: false,
        }
    }

    fn end(&mut self, message: Option<(ExecResult, i32)>) -> PlanStep {
        if let Some((message, status)) = message {
            self.result.stderr.append(&message.stderr);
            self.result.exit_code = status;
        }
        PlanStep::Done(std::mem::replace(&mut self.result, ExecResult::ok("")))
    }
}

#[async_trait]
impl PlanDriver for FilterRun {
    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        if let Some(last) = last {
            self.result.stdout.append(&last.stdout);
            self.result.stderr.append(&last.stderr);
            let status = last.exit_code;
            if status != 0 {
                let message = format!("with FILE={}, exit {status} from command: {}", self.current, self.filter);
                return Ok(self.end(Some((failure(message), status))));
            }
        }
        if let Some((name, _)) = self.pieces.front()
            && self.is_verbose
            && !std::mem::replace(&mut self.is_announced, true)
        {
            let line = StreamData::from(format!("executing with FILE={name}\n"));
            self.result.stdout.append(&line);
            return Ok(PlanStep::Emit { stdout: line, stderr: StreamData::new() });
        }
        self.is_announced = false;
        let Some((name, piece)) = self.pieces.pop_front() else {
            let exhausted = self.is_exhausted.then(|| (failure("output file suffixes exhausted".into()), 1));
            return Ok(self.end(exhausted));
        };
        self.current.clone_from(&name);
        let command = SubCommand {
            name: "sh".to_owned(),
            args: vec!["-c".to_owned(), self.filter.clone()],
            stdin: Some(StreamData::from(piece)),
            assignments: vec![("FILE".to_owned(), name)],
        };
        Ok(PlanStep::Run { command, cwd: None })
    }
}
