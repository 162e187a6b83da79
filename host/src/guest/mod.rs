//! Script guests: loading, host imports, and conversion of what they return.
//!
//! **Invariant:** a guest imports its world and nothing else, and none of its imports waits for anything but its
//! standard input. Whatever else takes time is an [`Operation`] that a step returns; the session performs it. Nothing here calls a tool.

mod bindings;
mod files;
mod guest_state;
mod inline_script;
mod instance;
mod instance_pool;
mod memory_image;
mod operation;
mod run_usage;
mod script_analysis;
mod stack_overflow;
mod step_input;

pub(crate) use bindings::types::{Mention, MentionedArguments};
pub use guest_state::{Catalog, MountedTool, Output, OutputError, OutputSink, Stream};
pub(crate) use inline_script::{OutputDestination, ScriptEnd, ScriptExit, ScriptRequest, ScriptRunner};
pub use instance::{Guest, GuestError, Guests, Script, Typed};
pub(crate) use instance::{GuestProgress, GuestWorld, RestoredInstance};
pub(crate) use memory_image::{ChangedMemory, MAX_MEMORY, PAGE};
pub(crate) use operation::MAX_STATE_BYTES;
pub use operation::{Completion, Operation, OperationId, Outcome, Pending, ProgramRun, Runnable, Step, Value, Waiting};
pub(crate) use run_usage::RunUsage;
pub(crate) use step_input::{InputError, StepInput};

/// Languages of script guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// JavaScript, on QuickJS; TypeScript, if the script's name ends in `.ts`, `.mts` or `.cts`.
    JavaScript,
    /// bash.
    Shell,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::JavaScript, Self::Shell];

    /// Short name of the language: `js`, `sh`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::Shell => "sh",
        }
    }
}
