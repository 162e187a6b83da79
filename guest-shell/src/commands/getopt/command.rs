//! The shell's command `getopt`.

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use super::program;

/// Command `getopt`, which normalizes the options of a script.
pub(crate) struct Getopt;

#[async_trait]
impl Command for Getopt {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let outcome = program::run(context.args, |name| context.env.contains_key(name));
        context.stdout.write_text(&outcome.output).await?;
        context.stderr.write_text(&outcome.errors).await?;
        Ok(CommandStatus::with_code(outcome.status))
    }
}
