//! Evaluation of an expression for a file.
//!
//! An action that runs a command, and a question of `-ok`, interrupt the evaluation. Its effects are discarded, and it
//! is repeated once the result is available, which [`FileProgress`] stores. Effects therefore occur once, in GNU's
//! order.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use bashkit::StreamData;
use bashkit::builtins::SubCommand;
use bashkit::builtins::ls::glob::fnmatch;
use bashkit::fs::{FileSystem, Metadata};

use super::entry::{FoundFile, type_letter};
use super::expression::{
    AgeUnit, CommandAction, Expression, FileAction, FileTest, NewerReference, NumberComparison, PermissionMatch,
    ShellPattern, TimeField,
};
use super::format;
use super::{OWNER_GID, OWNER_UID};
use crate::commands::file_status::{self, FmtEnv, apparent_size, nanos_of};

const MINUTE: i128 = 60_000_000_000;
const DAY: i128 = 24 * 60 * MINUTE;

/// Expression, with the data that is the same for all files.
pub(super) struct SearchSetting {
    pub(super) expression: Expression,
    pub(super) starting_points: Vec<String>,
    pub(super) fs: Arc<dyn FileSystem>,
    /// Time from which ages are counted, in nanoseconds since the epoch.
    pub(super) now: i128,
    pub(super) format: FmtEnv,
}

/// Results of actions upon a file, by the number of the action.
#[derive(Default)]
pub(super) struct FileProgress {
    pub(super) commands: HashMap<usize, CommandResult>,
    pub(super) deletions: HashMap<usize, Result<(), String>>,
    /// Answers to the questions of `-ok`.
    pub(super) answers: HashMap<usize, bool>,
}

/// Result of a command that an action ran.
pub(super) struct CommandResult {
    pub(super) succeeded: bool,
    pub(super) stdout: StreamData,
    pub(super) stderr: StreamData,
}

/// Effect of an action, which is carried out once the whole expression has been evaluated.
pub(super) enum Effect {
    Print(String),
    PrintToFile(usize, String),
    /// Output of the command that an action ran.
    CommandOutput(usize),
    Complain(String),
    /// Adds a path to the arguments of a batched command.
    AddToBatch {
        id: usize,
        path: String,
        directory: Option<PathBuf>,
    },
}

/// Reason for interrupting an evaluation.
pub(super) enum Halt {
    Question { id: usize, question: String },
    Command { id: usize, command: SubCommand, directory: Option<PathBuf> },
    Quit,
}

/// Evaluation of the expression for a file.
pub(super) struct Evaluation<'a> {
    setting: &'a SearchSetting,
    file: &'a FoundFile,
    progress: &'a mut FileProgress,
    pub(super) effects: Vec<Effect>,
    /// True if the search does not descend into the directory.
    pub(super) prunes: bool,
}

type EvaluationFuture<'a> = Pin<Box<dyn Future<Output = Result<bool, Halt>> + Send + 'a>>;

impl<'a> Evaluation<'a> {
    /// Begins the evaluation for a file.
    pub(super) fn new(setting: &'a SearchSetting, file: &'a FoundFile, progress: &'a mut FileProgress) -> Self {
        Self { setting, file, progress, effects: Vec::new(), prunes: false }
    }

    /// Evaluates an expression.
    pub(super) fn evaluate<'b>(&'b mut self, expression: &'b Expression) -> EvaluationFuture<'b>
    where
        'a: 'b,
    {
        Box::pin(async move {
            Ok(match expression {
                Expression::And(left, right) => self.evaluate(left).await? && self.evaluate(right).await?,
                Expression::Or(left, right) => self.evaluate(left).await? || self.evaluate(right).await?,
                Expression::Comma(left, right) => {
                    self.evaluate(left).await?;
                    self.evaluate(right).await?
                }
                Expression::Not(inner) => !self.evaluate(inner).await?,
                Expression::Constant(value) => *value,
                Expression::Test(FileTest::Empty) => self.is_empty().await,
                Expression::Test(test) => self.test(test),
                Expression::Action(action) => self.act(action).await?,
            })
        })
    }

    async fn is_empty(&self) -> bool {
        let status = self.file.status();
        if status.file_type.is_dir() {
            self.setting.fs.read_dir(&self.file.directory).await.is_ok_and(|children| children.is_empty())
        } else {
            status.file_type.is_file() && status.size == 0
        }
    }

    fn test(&self, test: &FileTest) -> bool {
        let file = self.file;
        let status = file.status();
        match test {
            FileTest::Name(pattern) => matches(pattern, file.name()),
            FileTest::Path(pattern) => matches(pattern, &file.shown_path),
            FileTest::LinkTarget(pattern) => file.link_target.as_deref().is_some_and(|target| matches(pattern, target)),
            FileTest::Regex(regex) => regex.is_match(&file.shown_path),
            FileTest::Type { letters, of_other_end: false } => letters.contains(&type_letter(status)),
            FileTest::Type { letters, of_other_end: true } => {
                letters.contains(&type_letter(file.status_of_other_end()))
            }
            FileTest::Size { comparison, number, unit } => {
                comparison.test(apparent_size(status).div_ceil(*unit), *number)
            }
            FileTest::Age { unit, comparison, number } => {
                has_age(self.setting.now - nanos_of(status.modified), *unit, *comparison, i128::from(*number))
            }
            FileTest::Newer { field, reference: NewerReference::Nanoseconds(nanos) } => time(status, *field) > *nanos,
            FileTest::Permissions { mode, required } => has_permissions(status.mode & 0o7777, *mode, *required),
            FileTest::Access(bit) => file.status_for_access().is_some_and(|status| (status.mode >> 6) & bit != 0),
            FileTest::Links(comparison, number) => comparison.test(file.links, *number),
            FileTest::Inode(comparison, number) => comparison.test(file.inode, *number),
            FileTest::SameFile { inode, .. } => file.inode == *inode,
            FileTest::User(comparison, number) => comparison.test(OWNER_UID, *number),
            FileTest::Group(comparison, number) => comparison.test(OWNER_GID, *number),
            // `Empty` needs the file system; names and dates are resolved before any file is visited.
            FileTest::Empty | FileTest::Newer { .. } => false,
        }
    }

    async fn act(&mut self, action: &FileAction) -> Result<bool, Halt> {
        match action {
            FileAction::Print(terminator) => {
                self.effects.push(Effect::Print(format!("{}{terminator}", self.file.shown_path)));
            }
            FileAction::Printf(format) => {
                let text = self.render(format);
                self.effects.push(Effect::Print(text));
            }
            FileAction::Ls => {
                let line = self.ls_line();
                self.effects.push(Effect::Print(line));
            }
            FileAction::ToFile { file, action } => return self.act_into_file(*file, action).await,
            FileAction::Delete { id } => return Ok(self.delete(*id).await),
            FileAction::Prune => self.prunes = true,
            FileAction::Quit => return Err(Halt::Quit),
            FileAction::Execute(command) => return self.execute(command),
        }
        Ok(true)
    }

    fn render(&self, format: &str) -> String {
        let start = &self.setting.starting_points[self.file.starting_point];
        format::render(format, self.file, start, &self.setting.format)
    }

    /// Returns the line of `-ls`.
    fn ls_line(&self) -> String {
        let modified = nanos_of(self.file.status().modified);
        let date = if file_status::is_recent(modified, self.setting.now) { "%TH:%TM" } else { " %TY" };
        let mut line = self.render(&format!("%9i %6k %M %3n %-8u %-8g %8s %Tb %Te {date} %p"));
        if let Some(target) = &self.file.link_target {
            line += " -> ";
            line += target;
        }
        line + "\n"
    }

    /// Performs an action that prints to a file.
    async fn act_into_file(&mut self, file: usize, action: &Expression) -> Result<bool, Halt> {
        let first = self.effects.len();
        let value = self.evaluate(action).await?;
        for effect in &mut self.effects[first..] {
            if let Effect::Print(text) = effect {
                *effect = Effect::PrintToFile(file, std::mem::take(text));
            }
        }
        Ok(value)
    }

    async fn delete(&mut self, id: usize) -> bool {
        let deletion = match self.progress.deletions.remove(&id) {
            Some(deletion) => deletion,
            None => delete(self.setting.fs.as_ref(), self.file).await,
        };
        if let Err(message) = &deletion {
            self.effects.push(Effect::Complain(message.clone()));
        }
        let is_deleted = deletion.is_ok();
        self.progress.deletions.insert(id, deletion);
        is_deleted
    }

    fn execute(&mut self, action: &CommandAction) -> Result<bool, Halt> {
        let id = action.id;
        let path = path_for_command(self.file, action.in_directory);
        let result = self.progress.commands.get(&id);
        if action.asks && result.is_none() {
            match self.progress.answers.get(&id) {
                None => {
                    let question = format!("< {} ... {path} > ? ", action.words[0]);
                    return Err(Halt::Question { id, question });
                }
                Some(false) => return Ok(false),
                Some(true) => {}
            }
        }
        let parent = || self.file.path.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        let directory = action.in_directory.then(parent);
        if action.is_batch {
            self.effects.push(Effect::AddToBatch { id, path, directory });
            return Ok(true);
        }
        match result {
            Some(result) => {
                self.effects.push(Effect::CommandOutput(id));
                Ok(result.succeeded)
            }
            None => {
                let words = action.words.iter().map(|word| word.replace("{}", &path)).collect();
                Err(Halt::Command { id, command: command_of(words), directory })
            }
        }
    }
}

/// Returns a command from its name and arguments.
pub(super) fn command_of(words: Vec<String>) -> SubCommand {
    let mut words = words.into_iter();
    SubCommand { name: words.next().unwrap_or_default(), args: words.collect(), stdin: None, assignments: Vec::new() }
}

fn matches(pattern: &ShellPattern, text: &str) -> bool {
    fnmatch(text, &pattern.pattern, pattern.ignore_case)
}

fn time(status: &Metadata, field: TimeField) -> i128 {
    match field {
        TimeField::Modified => nanos_of(status.modified),
        TimeField::Created => nanos_of(status.created),
    }
}

fn has_age(age: i128, unit: AgeUnit, comparison: NumberComparison, number: i128) -> bool {
    match (unit, comparison) {
        (AgeUnit::Days, _) => comparison.test(age.div_euclid(DAY), number),
        (AgeUnit::Minutes, NumberComparison::Greater) => age > number * MINUTE,
        (AgeUnit::Minutes, NumberComparison::Less) => age < number * MINUTE,
        (AgeUnit::Minutes, NumberComparison::Equal) => age > (number - 1) * MINUTE && age <= number * MINUTE,
    }
}

fn has_permissions(bits: u32, mode: u32, required: PermissionMatch) -> bool {
    match required {
        PermissionMatch::Exact => bits == mode,
        PermissionMatch::All => bits & mode == mode,
        PermissionMatch::Any => mode == 0 || bits & mode != 0,
    }
}

/// Returns the path in a command's arguments, which begins with `./` for `-execdir`. As in GNU's, the root stays as it
/// is.
fn path_for_command(file: &FoundFile, in_directory: bool) -> String {
    let name = file.name();
    if !in_directory {
        file.shown_path.clone()
    } else if name.starts_with('/') {
        name.to_owned()
    } else {
        let slash = if file.shown_path.ends_with('/') { "/" } else { "" };
        format!("./{name}{slash}")
    }
}

/// Deletes a file or an empty directory. The error is a message.
async fn delete(fs: &dyn FileSystem, file: &FoundFile) -> Result<(), String> {
    // As GNU's, silently skips the starting point `.`.
    if file.depth == 0 && matches!(file.shown_path.as_str(), "." | "./") {
        return Ok(());
    }
    let complain = |reason: String| format!("find: cannot delete '{}': {reason}\n", file.shown_path);
    if file.own_status.file_type.is_dir() {
        let children = fs.read_dir(&file.path).await.map_err(|error| complain(error.to_string()))?;
        if !children.is_empty() {
            return Err(complain("Directory not empty".to_owned()));
        }
    }
    fs.remove(&file.path, false).await.map_err(|error| complain(error.to_string()))
}
