//! Utilities for tests of the commands.

pub(crate) use bashkit::testing::assert_no_leak;
use std::time::Duration;

use bashkit::{Bash, BashBuilder, Builtin, BuiltinContext, BuiltinRegistry, ExecResult, StreamData, async_trait};
use chrono::DateTime;

use super::date::Date;

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
        Self { builder: self.builder.builtin("sleep", Box::new(Sleep)), ..self }
    }

    /// Builds the shell with its utilities.
    pub(crate) fn build(self) -> Bash {
        super::add_all_with_clock(self.builder, &BuiltinRegistry::new(), self.user, self.clock).build()
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

/// Runs a script in a new shell.
pub(crate) async fn run(script: &str) -> ExecResult {
    let result = builder().build().exec(script).await;
    result.unwrap_or_else(|error| ExecResult::err(error.to_string(), 1))
}
