//! State of the shell that a script leaves for the next one: variables, functions, aliases, and the working directory.
//!
//! The format is bashkit's own state of a shell in JSON, with the text of functions. State that bash discards at the
//! end of a script is omitted: traps, `set` options and the status of the last command.

use std::path::Path;

use bashkit::{Bash, ShellState};
use serde_json::Value;

use crate::bindings::files::{self, Kind};
use crate::shell;

/// Variable with the text of the script.
pub(crate) const SOURCE_VARIABLE: &str = "BASH_EXECUTION_STRING";

/// Parses the state from an earlier script; `None` if it is empty.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<ShellState>, String> {
    if bytes.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes).map(Some).map_err(|error| error.to_string())
}

/// Restores the state in a shell. If the working directory does not exist any more, `directory` is used.
pub(crate) fn restore(bash: &mut Bash, mut state: ShellState, directory: &str) {
    if !is_directory(&state.cwd) {
        let gone = state.cwd.display().to_string();
        shell::complain(&format!("{gone}: no such directory any more; starting in {directory}\n"));
        state.cwd = directory.into();
        state.variables.insert("PWD".to_owned(), directory.to_owned());
    }
    bash.restore_shell_state(&state);
}

fn is_directory(path: &Path) -> bool {
    path.to_str().and_then(|path| files::stat(path, true).ok()).is_some_and(|known| known.kind == Kind::Directory)
}

/// Returns the state of a shell.
pub(crate) fn write(bash: &Bash) -> Result<Vec<u8>, String> {
    let mut state = bash.shell_state();
    state.traps.clear();
    state.last_exit_code = 0;
    state.last_bg_pid = None;
    state.variables.remove(SOURCE_VARIABLE);
    // A value has sorted keys, unlike the state itself, so that equal shells have equal text.
    let mut written = serde_json::to_value(&state).map_err(|error| error.to_string())?;
    if let Some(Value::Object(functions)) = written.get_mut("functions") {
        for function in functions.values_mut().filter_map(Value::as_object_mut) {
            if function.get("source").is_some_and(Value::is_string) {
                function.remove("ast");
            }
        }
    }
    serde_json::to_vec(&written).map_err(|error| error.to_string())
}
