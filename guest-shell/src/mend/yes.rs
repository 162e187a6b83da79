//! `yes [STRING]…`: prints the words repeatedly until the output has no reader.
//!
//! bashkit's ends after 10,000 lines. GNU's ("coreutils", `yes`) ends only when the reader is gone, as this one does up
//! to [`MOST`]. Some readers (`jq`, `sort`) read their entire input first, and would wait for ever for the end of an
//! endless `yes`.

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use super::stream::{Writer, ended};

pub(super) struct Yes;

/// Largest number of bytes of output: more than the 100 MB that fit into a pipe, and half of the memory of a script.
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
            Some("--version") => {
                context.stdout.write_text("yes (GNU coreutils) 9.1\n").await?;
                return Ok(CommandStatus::success());
            }
            Some("--") => &context.args[1..],
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                let wrong = match option.strip_prefix("--") {
                    Some(_) => format!("unrecognized option '{option}'"),
                    None => format!("invalid option -- '{}'", option.chars().nth(1).unwrap_or_default()),
                };
                let message = format!("yes: {wrong}\nTry 'yes --help' for more information.\n");
                context.stderr.write_text(&message).await?;
                return Ok(CommandStatus::with_code(1));
            }
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
