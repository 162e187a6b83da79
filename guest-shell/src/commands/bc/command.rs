//! The shell's command `bc`: files and streams around the [`Machine`].

use std::path::Path;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::super::session::{SLICE, Session};
use super::machine::{Machine, Need};
use super::options::{self, Request};

/// Command that calculates with any precision, as `bc`.
pub(crate) struct Bc;

/// Size of the blocks of standard input that are taken for the program, in bytes. The rest of the input is left for
/// `read()`.
const PROGRAM_BLOCK: usize = 8_192;
const NUMBERS_BLOCK: usize = 4_096;

#[async_trait]
impl Command for Bc {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let variable = |name: &str| context.env.get(name).map(String::as_str);
        let environment: Vec<String> =
            variable("BC_ENV_ARGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let options = match options::read(&environment, context.args, variable("POSIXLY_CORRECT").is_some()) {
            Request::Run(options) => options,
            Request::Print(text) => {
                context.stdout.write_text(text).await?;
                return Ok(CommandStatus::success());
            }
            Request::Wrong(text) => {
                context.stderr.write_text(&text).await?;
                context.stdout.write_text(options::USAGE).await?;
                return Ok(CommandStatus::with_code(1));
            }
        };
        let mut files = options.files.clone().into_iter();
        let mut machine = Machine::new(options, variable("BC_LINE_LENGTH"));
        let mut session = Session::new(&context);
        loop {
            machine.effort.allow_fuel(session.fuel());
            let need = machine.run(SLICE);
            session.write(&machine.output.take(), &std::mem::take(&mut machine.errors)).await?;
            session.account(machine.effort.spent()).await?;
            match need {
                Need::Pause | Need::Fuel => {}
                Need::End(status) => return Ok(CommandStatus::with_code(status)),
                Need::Numbers => machine.feed_numbers(&session.read(NUMBERS_BLOCK).await?),
                Need::Program => match files.next() {
                    Some(file) => match context.fs.read_file(&vfs_join(context.cwd, Path::new(&file))).await {
                        Ok(mut text) => {
                            // A token cannot continue in the next file.
                            text.push(b' ');
                            machine.feed_program(&text);
                        }
                        Err(_) => {
                            let report = format!("File {file} is unavailable.\n");
                            context.stderr.write_text(&report).await?;
                            return Ok(CommandStatus::with_code(1));
                        }
                    },
                    None => match session.read(PROGRAM_BLOCK).await? {
                        text if text.is_empty() => machine.end_program(),
                        text => machine.feed_program(&text),
                    },
                },
            }
        }
    }
}
