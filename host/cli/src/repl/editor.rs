//! Interactive input at a terminal: the prompt, line editing, history.

use std::borrow::Cow;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};
use tollhouse::session::Host;
use tollhouse::tool::names::Face;

use super::super::signals::CANCELLED;
use super::super::{CliError, Result, show};
use super::command::{self, InputOutcome};
use super::complete::{CompletionSources, ToolCompletion};
use super::context::{ReplContext, is_open};
use super::script::answer;

/// Most inputs in the history.
const MAX_HISTORY: usize = 1_000;

/// Bytes of the longest input in the history: longer ones were pasted.
const MAX_ENTRY: usize = 8 << 10;

/// Size of the largest history file that is read, in bytes. `MAX_HISTORY` times `MAX_ENTRY`, and no more than a
/// moment's work.
const MAX_FILE: u64 = 8 << 20;

/// Completion, highlighting and input checks of the line editor.
struct EditorHelper {
    host: Host,
    known: CompletionSources,
    colors: bool,
}

type Line = Editor<EditorHelper, FileHistory>;

impl Helper for EditorHelper {}

impl Hinter for EditorHelper {
    type Hint = String;
}

impl Validator for EditorHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        let goes_on =
            !input.trim().is_empty() && !command::is_one(input) && is_open(&self.host, self.known.lang, input);
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for EditorHelper {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.known.offers(line.get(..at).unwrap_or(line)))
    }
}

impl Highlighter for EditorHelper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.colors { format!("\x1b[1;32m{prompt}\x1b[0m").into() } else { prompt.into() }
    }
}

/// History file.
struct HistoryFile {
    /// `None` if there is no file, or none is wanted.
    path: Option<PathBuf>,
    /// True if inputs are written to the file.
    on: bool,
}

/// Runs typed inputs to the end, and returns the status of the last. `state` is the directory of the history.
pub(super) fn converse(context: &mut ReplContext, state: Option<&Path>, named: bool) -> Result<u8> {
    let failed = |error: ReadlineError| CliError::because("cannot use the terminal", &error);
    let config = Config::builder()
        .max_history_size(MAX_HISTORY)
        .map_err(failed)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(if context.colors { ColorMode::Forced } else { ColorMode::Disabled })
        .auto_add_history(false)
        .build();
    let mut line = Line::with_config(config).map_err(failed)?;
    let mut history = HistoryFile { path: state.and_then(|state| prepare(state, &mut line)), on: true };
    greet(context, named);
    let tools = tools(context);
    let mut status = 0;
    loop {
        let asked = EditorHelper { host: context.host.clone(), known: known(context, &tools), colors: context.colors };
        line.set_helper(Some(asked));
        match line.readline(&prompt(context)) {
            Ok(input) if input.trim().is_empty() => {}
            Ok(input) => {
                remember(&mut line, &history, &input);
                if input.trim_start().starts_with(".history") && input.split_whitespace().next() == Some(".history") {
                    status = history.command(&input);
                    continue;
                }
                match answer(context, &input) {
                    InputOutcome::Continue(done) => status = done,
                    InputOutcome::Exit(done) => return Ok(done.unwrap_or(status)),
                }
                if context.interrupt.is_ended() {
                    return Ok(CANCELLED);
                }
            }
            // The line is cleared.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(status),
            // The window was resized, or the process was stopped and continued.
            Err(ReadlineError::Signal(_)) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

fn greet(context: &ReplContext, named: bool) {
    let what = match &context.stored {
        Some(stored) if named => format!("the session `{}`", stored.id),
        _ => "a session that ends with it".to_owned(),
    };
    let version = env!("CARGO_PKG_VERSION");
    show::styled(context.dim(&format!("tollhouse {version}, {what}. `.help` lists the commands, Ctrl-D ends")));
}

fn prompt(context: &ReplContext) -> String {
    if context.lang.is_shell() {
        format!("sh {}> ", context.directory.escape_debug())
    } else {
        format!("{}> ", context.word())
    }
}

/// Returns the current sources of completions.
fn known(context: &ReplContext, tools: &Arc<[ToolCompletion]>) -> CompletionSources {
    CompletionSources {
        lang: context.lang,
        tools: Arc::clone(tools),
        files: context.files().ok(),
        place: context.place().to_owned(),
    }
}

/// Returns the mounted tools, which stay the same while the session is open.
fn tools(context: &ReplContext) -> Arc<[ToolCompletion]> {
    let tools = context.session.gate().tools();
    let named = tools.iter().map(|tool| {
        let described = tool.describe(true);
        let properties = described["parameters"]["properties"].as_object();
        let options = properties.into_iter().flat_map(|properties| properties.keys()).map(|key| option(key));
        ToolCompletion {
            method: tool.method().to_owned(),
            path: tool.path().to_owned(),
            is_command: tool.has(Face::Command),
            options: options.collect(),
        }
    });
    named.collect()
}

/// Returns a parameter as an option: `maxItems` is `--max-items`.
fn option(key: &str) -> String {
    let mut option = "--".to_owned();
    for char in key.chars() {
        if char.is_uppercase() {
            option.push('-');
        }
        option.extend(char.to_lowercase());
    }
    option
}

/// Creates and reads the history file, which only its owner can read. Without one, the repl works as well.
fn prepare(state: &Path, line: &mut Line) -> Option<PathBuf> {
    let path = state.join("repl-history");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(state).and_then(|()| private(&path));
    let read = made.and_then(|()| {
        if fs::metadata(&path)?.len() > MAX_FILE {
            return Err(std::io::Error::other(format!("it has more than {} MiB", MAX_FILE >> 20)));
        }
        line.load_history(&path).map_err(std::io::Error::other)
    });
    match read {
        Ok(()) => Some(path),
        Err(error) => {
            note!("warning: there is no history in `{}`: {error}", path.display());
            None
        }
    }
}

fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file: File = File::options().append(true).create(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

/// Adds an input to the history, and at once to its file: another repl may use it.
fn remember(line: &mut Line, history: &HistoryFile, input: &str) {
    // What the editor has, it writes sooner or later.
    let wanted = history.on && input.len() <= MAX_ENTRY;
    if !wanted || !matches!(line.add_history_entry(input), Ok(true)) {
        return;
    }
    let Some(path) = history.path.as_deref() else { return };
    if let Err(error) = line.append_history(path) {
        note!("warning: cannot write the history `{}`: {error}", path.display());
    }
}

impl HistoryFile {
    /// Executes `.history …`, and returns its status.
    fn command(&mut self, input: &str) -> u8 {
        match input.split_whitespace().skip(1).collect::<Vec<_>>().as_slice() {
            [] => {}
            ["on"] => self.on = true,
            ["off"] => self.on = false,
            _ => {
                return CliError::usage("`.history` takes `on` or `off`").show_status();
            }
        }
        show::line(match &self.path {
            None => "inputs are kept as long as the repl".to_owned(),
            Some(path) if self.on => format!("inputs are kept in {}", path.display()),
            Some(_) => "inputs are no longer kept".to_owned(),
        });
        0
    }
}
