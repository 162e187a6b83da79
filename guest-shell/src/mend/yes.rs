//! `yes [STRING]…`: the words, again and again, until nobody reads.
//!
//! bashkit's stops after 10,000 lines. GNU's ("coreutils", `yes`) never does: what ends it is the reader that goes away.
//! That is so here too, up to [`MOST`]. Some readers (`jq`, `sort`) take their input whole before they begin: a `yes`
//! without end would give them nothing, ever.

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use super::stream::{Writer, ended};

pub(super) struct Yes;

/// Bytes that it writes: more than the 100 MB that a pipe is good for, and half of the memory that a script has.
const MOST: usize = 128 << 20;

const HELP: &str = "Usage: yes [STRING]...\nRepeatedly output a line with all specified STRING(s), or 'y'.\n";

#[async_trait]
impl Command for Yes {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let words = match context.args.first().map(String::as_str) {
            Some("--help") => {
                context.stdout.write_text(HELP).await?;
                return Ok(CommandStatus::success());
            }
            Some("--") => &context.args[1..],
            _ => context.args,
        };
        let line = if words.is_empty() { "y\n".to_owned() } else { format!("{}\n", words.join(" ")) };
        let line = bashkit::bytes_of(&line);
        let mut output = Writer::new(&context.stdout);
        for _ in 0..MOST / line.len() + 1 {
            if let Err(error) = output.write(&line).await {
                return ended(error);
            }
        }
        let message = format!("yes: stopped after {MOST} bytes\n");
        context.stderr.write_text(&message).await?;
        Ok(CommandStatus::with_code(1))
    }
}
