//! One execution of a command on files: arguments, file system and output.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use bashkit::{Builtin, BuiltinContext, Error, ExecResult, FileSystem, PlacedMessages, Result, async_trait};

use super::quote::quote;
use super::words::{MULTIPLE_TARGETS, Spec, Words};
use crate::clock;

/// Shell variable that holds the umask, in octal.
const UMASK: &str = "_UMASK";
/// Umask of a shell that has not set one.
const DEFAULT_UMASK: u32 = 0o022;

/// Function that runs a command.
pub(super) type Run = for<'a, 'b> fn(&'a mut Call<'b>) -> Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// End of a command. An error is one of the shell, such as a limit that was reached.
pub(super) type Done = Result<()>;

/// Command on files, as it is registered in the shell.
pub(super) struct FileCommand {
    pub(super) name: &'static str,
    pub(super) run: Run,
}

#[async_trait]
impl Builtin for FileCommand {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut call = Call::new(self.name, &context);
        (self.run)(&mut call).await?;
        Ok(call.finish())
    }
}

/// State of one execution of a command.
pub(super) struct Call<'a> {
    pub(super) name: &'static str,
    pub(super) words: &'a [String],
    pub(super) cwd: PathBuf,
    pub(super) fs: Arc<dyn FileSystem>,
    pub(super) umask: u32,
    output: String,
    errors: PlacedMessages,
    pub(super) status: i32,
    context: &'a BuiltinContext<'a>,
}

impl<'a> Call<'a> {
    /// Returns the state at the start of a command.
    pub(super) fn new(name: &'static str, context: &'a BuiltinContext<'a>) -> Self {
        let umask = context.variables.get(UMASK).and_then(|umask| u32::from_str_radix(umask, 8).ok());
        Self {
            name,
            words: context.args,
            cwd: context.cwd.clone(),
            fs: Arc::clone(&context.fs),
            umask: umask.unwrap_or(DEFAULT_UMASK),
            output: String::new(),
            errors: PlacedMessages::new(),
            status: 0,
            context,
        }
    }

    /// Returns the result of the command.
    pub(super) fn finish(self) -> ExecResult {
        ExecResult {
            stderr: self.errors.beside_text(&self.output),
            stdout: self.output.into(),
            exit_code: self.status,
            ..ExecResult::default()
        }
    }

    /// Parses options and operands. Returns `None` after printing a message, if the command line is invalid or asks for
    /// help.
    pub(super) fn options(&mut self, spec: &Spec) -> Option<Words> {
        match Words::read(spec, self.words) {
            Ok(words) if words.has("help") => {
                self.print(&format!("Usage: {} {}\n", self.name, spec.usage));
                None
            }
            Ok(words) if words.has("version") => {
                self.print(&format!("{} (GNU coreutils) 9.1\n", self.name));
                None
            }
            Ok(words) => Some(words),
            Err(mistake) if mistake == MULTIPLE_TARGETS => {
                self.fail(mistake);
                None
            }
            Err(mistake) => {
                self.usage(&mistake);
                None
            }
        }
    }

    /// Writes to standard output.
    pub(super) fn print(&mut self, text: &str) {
        self.output.push_str(text);
    }

    /// Reports a failure, and sets the status to 1.
    pub(super) fn fail(&mut self, what: impl AsRef<str>) {
        self.note(what);
        self.status = 1;
    }

    /// Writes a message that is not about a failure.
    pub(super) fn note(&mut self, what: impl AsRef<str>) {
        self.errors.push(&format!("{}: {}\n", self.name, what.as_ref()), self.output.len());
    }

    /// Reports an invalid command line.
    pub(super) fn usage(&mut self, what: &str) {
        self.fail(what);
        self.errors.push(&format!("Try '{} --help' for more information.\n", self.name), self.output.len());
    }

    /// Reports an operation on a file that failed, with the reason.
    pub(super) fn cannot(&mut self, what: &str, name: &str, error: &Error) {
        let reason = reason(error);
        self.fail(format!("{what} {}: {reason}", quote(name)));
    }

    /// Returns a variable of the environment.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.context.env.get(name).cloned()
    }

    /// Uses fuel for a file. If the script's fuel is exceeded, the command ends at its next step.
    #[expect(clippy::unused_self, reason = "the call is what has fuel")]
    pub(super) fn work(&self) {
        clock::burn(1);
    }

    /// Quotes a word in the style of the locale.
    pub(super) fn locale_quote(&self, word: &str) -> String {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
            let locale = self.context.env.get(name)?;
            (!locale.is_empty()).then(|| locale.to_ascii_lowercase().replace('-', ""))
        });
        match locale.is_some_and(|locale| locale.ends_with("utf8")) {
            true => format!("\u{2018}{word}\u{2019}"),
            false => quote(word),
        }
    }

    /// Returns the absolute path of a name, without `.` and `..`.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        bashkit::vfs_join(&self.cwd, Path::new(name))
    }

    /// Asks a question, and reads a line of standard input. Returns true if it begins with `y`.
    pub(super) async fn confirms(&mut self, question: &str) -> Result<bool> {
        self.errors.push(&format!("{}: {question}? ", self.name), self.output.len());
        // A line at a time: `yes` never ends, and the rest of the input is for later commands.
        let answer = self.context.read_stdin_record(b'\n').await?;
        Ok(matches!(answer.first(), Some(b'y' | b'Y')))
    }
}

/// Returns the reason of an error in the words of the C library.
pub(in crate::commands) fn reason(error: &Error) -> String {
    use std::io::ErrorKind;
    let Error::Io(error) = error else { return error.to_string() };
    let reason = match error.kind() {
        ErrorKind::NotFound => "No such file or directory",
        ErrorKind::PermissionDenied => "Permission denied",
        ErrorKind::IsADirectory => "Is a directory",
        ErrorKind::NotADirectory => "Not a directory",
        ErrorKind::AlreadyExists => "File exists",
        ErrorKind::DirectoryNotEmpty => "Directory not empty",
        ErrorKind::InvalidInput => "Invalid argument",
        _ => return error.to_string(),
    };
    reason.to_owned()
}

/// Returns the kind of an error, if it comes from the file system.
pub(super) fn kind(error: &Error) -> Option<std::io::ErrorKind> {
    match error {
        Error::Io(error) => Some(error.kind()),
        _ => None,
    }
}
