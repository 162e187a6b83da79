//! What tests of the commands share.

pub(crate) use bashkit::testing::assert_no_leak;
use bashkit::{Bash, BashBuilder, ExecResult, StreamData};

/// A shell with all commands.
pub(crate) struct Shell(BashBuilder, &'static str);

/// Begins a shell with all commands.
pub(crate) fn builder() -> Shell {
    Shell(Bash::builder(), "sandbox")
}

impl Shell {
    /// Sets the user.
    pub(crate) fn username(self, user: &'static str) -> Self {
        Self(self.0.username(user), user)
    }

    /// Makes the shell.
    pub(crate) fn build(self) -> Bash {
        let mut bash = self.0.build();
        super::utilities::add(&mut bash, self.1);
        bash
    }
}

/// Standard input of a command.
pub(crate) fn test_stream(text: &str) -> &'static StreamData {
    Box::leak(Box::new(StreamData::from(text)))
}

/// Standard input of a command, or none.
pub(crate) fn test_stream_opt(text: Option<&str>) -> Option<&'static StreamData> {
    text.map(test_stream)
}

/// Runs a script in a new shell.
pub(crate) async fn run(script: &str) -> ExecResult {
    let result = builder().build().exec(script).await;
    result.unwrap_or_else(|error| ExecResult::err(error.to_string(), 1))
}
