//! Utilities for tests of the commands.

pub(crate) use bashkit::testing::assert_no_leak;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bashkit::fs::{FileSystem, InMemoryFs};
use bashkit::{
    Bash, BashBuilder, Builtin, BuiltinContext, BuiltinRegistry, ExecOptions, ExecResult, LiveStream, StreamData,
    async_trait,
};
use chrono::DateTime;

use super::date::Date;
use super::timeout::Timeout;

/// Builder of a shell with all commands.
pub(crate) struct ShellBuilder {
    builder: BashBuilder,
    user: &'static str,
    clock: Date,
}

/// Returns a builder of a shell with all commands.
pub(crate) fn builder() -> ShellBuilder {
    ShellBuilder { builder: Bash::builder(), user: "sandbox", clock: Date::new() }
}

impl ShellBuilder {
    /// Sets the name of the user.
    pub(crate) fn username(self, user: &'static str) -> Self {
        Self { builder: self.builder.username(user), user, ..self }
    }

    /// Sets the clock to a fixed second.
    pub(crate) fn fixed_epoch(self, epoch: i64) -> Self {
        let clock = Date::with_fixed_epoch(DateTime::from_timestamp(epoch, 0).expect("a second of our time"));
        Self { builder: self.builder.fixed_epoch(epoch), clock, ..self }
    }

    /// Adds a command that waits, as the world's `sleep` does.
    pub(crate) fn sleep(self) -> Self {
        self.builtin("sleep", Sleep)
    }

    /// Adds a command.
    pub(crate) fn builtin(self, name: &str, command: impl Builtin + 'static) -> Self {
        Self { builder: self.builder.builtin(name, Box::new(command)), ..self }
    }

    /// Builds the shell with its utilities.
    pub(crate) fn build(self) -> Bash {
        let builder = self.builder.builtin("timeout", Box::new(Timeout::new(|_| None)));
        super::add_all_with_clock(builder, &BuiltinRegistry::new(), self.user, self.clock).build()
    }
}

/// Command that waits for a number of seconds.
struct Sleep;

#[async_trait]
impl Builtin for Sleep {
    async fn execute(&self, context: BuiltinContext<'_>) -> bashkit::Result<ExecResult> {
        let seconds = context.args.first().and_then(|word| word.parse().ok()).expect("a number of seconds");
        bashkit::time_compat::sleep(Duration::from_secs_f64(seconds)).await;
        Ok(ExecResult::ok(String::new()))
    }
}

/// Returns standard input of a command.
pub(crate) fn test_stream(text: &str) -> &'static StreamData {
    Box::leak(Box::new(StreamData::from(text)))
}

/// Returns optional standard input of a command.
pub(crate) fn test_stream_opt(text: Option<&str>) -> Option<&'static StreamData> {
    text.map(test_stream)
}

/// Returns an empty file system in memory, and a directory in it.
pub(crate) async fn home_directory() -> (Arc<InMemoryFs>, PathBuf) {
    let fs = Arc::new(InMemoryFs::new());
    let directory = PathBuf::from("/home/user");
    fs.mkdir(&directory, true).await.expect("a new directory");
    (fs, directory)
}

/// Calls a command outside of a shell.
pub(crate) async fn call(command: &dyn Builtin, fs: Arc<dyn FileSystem>, cwd: &Path, words: &[&str]) -> ExecResult {
    call_with_input(command, fs, cwd, words, None).await
}

/// [`call`] with files in the root directory, and with standard input.
pub(crate) async fn call_with_files(
    command: &dyn Builtin,
    words: &[&str],
    stdin: Option<&str>,
    files: &[(&str, &[u8])],
) -> ExecResult {
    let fs = Arc::new(InMemoryFs::new());
    for (path, content) in files {
        fs.write_file(Path::new(path), content).await.expect("a new file");
    }
    call_with_input(command, fs, Path::new("/"), words, stdin).await
}

async fn call_with_input(
    command: &dyn Builtin,
    fs: Arc<dyn FileSystem>,
    cwd: &Path,
    words: &[&str],
    stdin: Option<&str>,
) -> ExecResult {
    let args: Vec<String> = words.iter().map(ToString::to_string).collect();
    let (env, mut variables, mut cwd) = (HashMap::new(), HashMap::new(), cwd.to_path_buf());
    let context = BuiltinContext {
        args: &args,
        env: &env,
        variables: &mut variables,
        cwd: &mut cwd,
        fs,
        stdin: test_stream_opt(stdin),
        shell: None,
    };
    command.execute(context).await.expect("no limit is reached")
}

/// Runs a script in a new shell.
pub(crate) async fn run(script: &str) -> ExecResult {
    let result = builder().build().exec(script).await;
    result.unwrap_or_else(|error| ExecResult::err(error.to_string(), 1))
}

/// Runs a script in a new shell that delivers its output as it comes. Returns its standard output.
pub(crate) async fn run_live(script: &str) -> String {
    let written = Arc::new(Mutex::new(Vec::new()));
    let output = Arc::clone(&written);
    let options = ExecOptions::new().live(move |stream, bytes: &[u8]| {
        if stream == LiveStream::Stdout {
            output.lock().expect("nothing panics with the lock").extend_from_slice(bytes);
        }
        async {}
    });
    builder().build().exec_with_options(script, options).await.expect("no limit is reached");
    let written = written.lock().expect("nothing panics with the lock");
    String::from_utf8_lossy(&written).into_owned()
}
