//! Run of `find`, which hands the commands of `-exec` to the interpreter and continues with their results.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use async_trait::async_trait;
use bashkit::builtins::{Context, PlanDriver, PlanStep, SubCommand};
use bashkit::error::io_error_reason;
use bashkit::limits::ExecutionBudget;
use bashkit::{ExecResult, ExecutionCapability, PlacedMessages, Result, StreamData};

use super::entry::FoundFile;
use super::evaluation::{CommandResult, Effect, Evaluation, FileProgress, Halt, SearchSetting, command_of};
use super::expression::{Expression, FileAction, FileTest, NewerReference};
use super::format;
use super::names::{OutputFile, ResolvedNames};
use super::parse::{FindCommandLine, FindOptions};
use super::walk::{Ancestry, PlannedVisit};
use crate::commands::date::Date;
use crate::commands::file_status::FmtEnv;

/// Bytes of output of a call.
pub(super) const MAX_OUTPUT_BYTES: usize = 1_048_576;

/// Largest number of paths for one command of `-exec … {} +`.
const MAX_BATCH_PATHS: usize = 4096;

/// File whose evaluation is under way.
pub(super) struct CurrentFile {
    pub(super) file: FoundFile,
    /// True if the file is visited after its contents.
    pub(super) is_behind_children: bool,
    pub(super) progress: FileProgress,
    pub(super) ancestry: Ancestry,
}

/// Command whose result the run waits for.
enum AwaitedCommand {
    /// Command of an action, by its number.
    OfAction(usize),
    Batch,
}

/// Paths for one command.
struct PathBatch {
    id: usize,
    directory: Option<PathBuf>,
    paths: Vec<String>,
}

/// Attributes that are only looked up if the expression needs them.
#[derive(Default)]
pub(super) struct NeededStatus {
    pub(super) links: bool,
    pub(super) inode: bool,
}

/// State of a run.
pub(super) struct FindRun {
    pub(super) setting: SearchSetting,
    pub(super) options: FindOptions,
    pub(super) cwd: PathBuf,
    budget: Option<ExecutionCapability<ExecutionBudget>>,
    /// Words of the actions that run commands, by their number.
    command_words: HashMap<usize, Vec<String>>,
    pub(super) needed: NeededStatus,
    pub(super) next_starting_point: usize,
    /// Planned visits, in reverse order.
    pub(super) visits: Vec<PlannedVisit>,
    pub(super) current: Option<CurrentFile>,
    awaited: Option<AwaitedCommand>,
    batches: Vec<PathBatch>,
    /// Commands of full batches, with their directories.
    ready: VecDeque<(SubCommand, Option<PathBuf>)>,
    /// True if incomplete batches are to be run, too.
    is_flushed: bool,
    /// True if no further files are visited.
    quits: bool,
    stdout: StreamData,
    stderr: PlacedMessages,
    output_files: Vec<OutputFile>,
    /// Number of bytes that the run itself has written.
    written: usize,
    has_failed: bool,
    /// Lines of standard input that `-ok` has not read yet, in reverse order.
    input: Vec<String>,
}

impl FindRun {
    /// Prepares a run of `find`. The error is a message for the user.
    pub(super) async fn new(
        command_line: FindCommandLine,
        ctx: &Context<'_>,
        clock: Date,
        username: &str,
    ) -> std::result::Result<Self, String> {
        let FindCommandLine { starting_points, mut expression, options, output_files, warnings, .. } = command_line;
        let mut stderr = PlacedMessages::new();
        stderr.push(&warnings.concat(), 0);
        let names = ResolvedNames::resolve(&expression, &output_files, &options, ctx, &clock).await?;
        let mut command_words = HashMap::new();
        let mut needed = NeededStatus::default();
        expression.walk_mut(&mut |part| match part {
            Expression::Action(FileAction::Execute(action)) => {
                command_words.insert(action.id, action.words.clone());
            }
            part => prepare(part, &names, &mut needed),
        });
        let format = FmtEnv { clock, tz: ctx.env.get("TZ").cloned(), username: username.to_owned() };
        let now = reference_time(format.now(), &options);
        Ok(Self {
            setting: SearchSetting { expression, starting_points, fs: ctx.fs.clone(), now, format },
            options,
            cwd: ctx.cwd.clone(),
            budget: ctx.execution_budget(),
            command_words,
            needed,
            next_starting_point: 0,
            visits: Vec::new(),
            current: None,
            awaited: None,
            batches: Vec::new(),
            ready: VecDeque::new(),
            is_flushed: false,
            quits: false,
            stdout: StreamData::new(),
            stderr,
            output_files: names.output_files,
            written: 0,
            has_failed: false,
            input: Vec::new(),
        })
    }

    /// Returns true if the expression asks questions.
    pub(super) fn asks(&self) -> bool {
        let mut asks = false;
        self.setting.expression.walk(&mut |part| {
            asks |= matches!(part, Expression::Action(FileAction::Execute(action)) if action.asks);
        });
        asks
    }

    /// Sets the answers to questions, one per line.
    pub(super) fn set_input(&mut self, text: &str) {
        self.input = text.lines().rev().map(str::to_owned).collect();
    }

    pub(super) fn consume_work(&self, units: usize) -> Result<()> {
        if let Some(budget) = &self.budget {
            budget
                .try_with(|budget| budget.consume_work(u64::try_from(units).unwrap_or(u64::MAX)))
                .map_err(|_| bashkit::Error::Cancelled)??;
        }
        Ok(())
    }

    /// Reports a failure.
    pub(super) fn complain(&mut self, message: &str) {
        self.stderr.push(message, self.stdout.len());
        self.has_failed = true;
    }

    /// Adds both streams of a command to those of the run.
    fn take_output(&mut self, stdout: &StreamData, stderr: &StreamData) {
        self.stderr.push_stream(stderr, stdout, self.stdout.len());
        self.stdout.append(stdout);
    }

    /// Takes the result of the command that the run waited for.
    fn take_result(&mut self, result: ExecResult) {
        let succeeded = result.exit_code == 0;
        match self.awaited.take() {
            Some(AwaitedCommand::OfAction(id)) => {
                if let Some(current) = &mut self.current {
                    let result = CommandResult { succeeded, stdout: result.stdout, stderr: result.stderr };
                    current.progress.commands.insert(id, result);
                }
            }
            Some(AwaitedCommand::Batch) => {
                self.take_output(&result.stdout, &result.stderr);
                self.has_failed |= !succeeded;
            }
            None => {}
        }
    }

    /// Evaluates the expression for a file as far as possible. Returns the command whose result is needed.
    async fn evaluate(&mut self, mut current: CurrentFile) -> Result<Option<PlanStep>> {
        let mut evaluation = Evaluation::new(&self.setting, &current.file, &mut current.progress);
        let outcome = match current.file.depth < self.options.min_depth {
            true => Ok(true),
            false => evaluation.evaluate(&self.setting.expression).await,
        };
        let Evaluation { effects, prunes, .. } = evaluation;
        match outcome {
            Err(Halt::Question { id, question }) => {
                self.stderr.push(&question, self.stdout.len());
                let answer = self.input.pop().unwrap_or_default();
                current.progress.answers.insert(id, answer.starts_with(['y', 'Y']));
                self.current = Some(current);
            }
            Err(Halt::Command { id, command, directory }) => {
                self.current = Some(current);
                self.awaited = Some(AwaitedCommand::OfAction(id));
                return Ok(Some(PlanStep::Run { command, cwd: directory }));
            }
            Err(Halt::Quit) => {
                self.commit(effects, &current.progress);
                self.quits = true;
            }
            Ok(_) => {
                self.commit(effects, &current.progress);
                // Children are listed after the evaluation, so that -prune and -quit can prevent it.
                if !current.is_behind_children && !prunes && !self.quits {
                    let children = self.children(&current.file, current.ancestry).await?;
                    self.visits.extend(children.into_iter().rev());
                }
            }
        }
        Ok(None)
    }

    fn commit(&mut self, effects: Vec<Effect>, progress: &FileProgress) {
        for effect in effects {
            match effect {
                Effect::Print(text) => {
                    if !self.may_write(&text) {
                        return;
                    }
                    self.stdout.push_str(&text);
                }
                Effect::PrintToFile(file, text) => {
                    if !self.may_write(&text) {
                        return;
                    }
                    self.output_files[file].text += &text;
                }
                Effect::CommandOutput(id) => {
                    if let Some(result) = progress.commands.get(&id) {
                        self.take_output(&result.stdout, &result.stderr);
                    }
                }
                Effect::Complain(message) => self.complain(&message),
                Effect::AddToBatch { id, path, directory } => self.add_to_batch(id, path, directory),
            }
        }
    }

    /// Counts the bytes of a text as written, and ends the run if they exceed the limit (THREAT[TM-DOS-121]).
    fn may_write(&mut self, text: &str) -> bool {
        if self.written + text.len() > MAX_OUTPUT_BYTES {
            self.complain("find: output size limit exceeded\n");
            self.quits = true;
            return false;
        }
        self.written += text.len();
        true
    }

    fn add_to_batch(&mut self, id: usize, path: String, directory: Option<PathBuf>) {
        let known = self.batches.iter().position(|batch| batch.id == id && batch.directory == directory);
        let at = known.unwrap_or_else(|| {
            self.batches.push(PathBatch { id, directory, paths: Vec::new() });
            self.batches.len() - 1
        });
        self.batches[at].paths.push(path);
        if self.batches[at].paths.len() >= MAX_BATCH_PATHS {
            let full = self.batches.remove(at);
            self.make_ready(full);
        }
    }

    fn make_ready(&mut self, batch: PathBatch) {
        let words = self.command_words.get(&batch.id).map(Vec::as_slice).unwrap_or_default();
        // The last word is `{}`.
        let mut words = words[..words.len().saturating_sub(1)].to_vec();
        words.extend(batch.paths);
        self.ready.push_back((command_of(words), batch.directory));
    }

    /// Begins the next visit, or returns false if none is left.
    async fn go_on(&mut self) -> Result<bool> {
        if self.quits {
            return Ok(false);
        }
        if let Some(visit) = self.visits.pop() {
            self.visit(visit).await?;
            return Ok(true);
        }
        if self.next_starting_point < self.setting.starting_points.len() {
            self.next_starting_point += 1;
            self.start(self.next_starting_point - 1).await;
            return Ok(true);
        }
        Ok(false)
    }

    async fn finish(&mut self) -> ExecResult {
        for OutputFile { path, text } in std::mem::take(&mut self.output_files) {
            if !text.is_empty()
                && let Err(error) = self.setting.fs.write_file(&path, &bashkit::bytes_of(&text)).await
            {
                self.complain(&format!("find: '{}': {}\n", path.display(), io_error_reason(&error)));
            }
        }
        ExecResult {
            stdout: std::mem::take(&mut self.stdout),
            stderr: std::mem::take(&mut self.stderr).into(),
            exit_code: i32::from(self.has_failed),
            ..Default::default()
        }
    }
}

#[async_trait]
impl PlanDriver for FindRun {
    async fn next(&mut self, last: Option<ExecResult>) -> Result<PlanStep> {
        if let Some(result) = last {
            self.take_result(result);
        }
        loop {
            if let Some((command, cwd)) = self.ready.pop_front() {
                self.awaited = Some(AwaitedCommand::Batch);
                return Ok(PlanStep::Run { command, cwd });
            }
            if let Some(current) = self.current.take() {
                if let Some(step) = self.evaluate(current).await? {
                    return Ok(step);
                }
            } else if self.go_on().await? {
                // A file may have become the current one.
            } else if !self.is_flushed {
                // GNU's runs the commands of `{} +` even after -quit.
                self.is_flushed = true;
                for batch in std::mem::take(&mut self.batches) {
                    self.make_ready(batch);
                }
            } else {
                return Ok(PlanStep::Done(self.finish().await));
            }
        }
    }
}

/// Inserts resolved names into an expression, and records which attributes it needs.
fn prepare(part: &mut Expression, names: &ResolvedNames, needed: &mut NeededStatus) {
    match part {
        Expression::Test(FileTest::Newer { reference, .. }) => {
            if let NewerReference::File(name) | NewerReference::Date(name) = reference {
                *reference = NewerReference::Nanoseconds(names.times.get(name).copied().unwrap_or(0));
            }
        }
        Expression::Test(FileTest::SameFile { name, inode }) => {
            needed.inode = true;
            *inode = names.inodes.get(name).copied().unwrap_or(0);
        }
        Expression::Test(FileTest::Links(..)) => needed.links = true,
        Expression::Test(FileTest::Inode(..)) => needed.inode = true,
        Expression::Action(FileAction::Printf(text)) => {
            needed.links |= format::asks_for(text, 'n');
            needed.inode |= format::asks_for(text, 'i');
        }
        Expression::Action(FileAction::Ls) => (needed.links, needed.inode) = (true, true),
        _ => {}
    }
}

/// Returns the time from which ages are counted: now, or with `-daystart` the end of today.
fn reference_time(now: i128, options: &FindOptions) -> i128 {
    const DAY: i128 = 86_400_000_000_000;
    if options.day_start { now.div_euclid(DAY) * DAY + DAY } else { now }
}
