//! The shell's command `dc`: files and streams around the [`Machine`].

use std::path::Path;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::super::session::{SLICE, Session};
use super::machine::{Machine, Need};
use super::options::{self, Part, Request};

/// Command that calculates in postfix notation, as `dc`.
pub(crate) struct Dc;

/// Size of the blocks of standard input that are read, in bytes.
const BLOCK: usize = 4_096;

#[async_trait]
impl Command for Dc {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let parts = match options::read(context.args) {
            Request::Run(parts) => parts,
            Request::Print(text) => {
                context.stdout.write_text(text).await?;
                return Ok(CommandStatus::success());
            }
            Request::Wrong(text) => {
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(1));
            }
        };
        let mut parts = parts.into_iter();
        let mut machine = Machine::new(context.env.get("DC_LINE_LENGTH").map(String::as_str));
        let mut session = Session::new(&context);
        loop {
            machine.effort.allow_fuel(session.fuel());
            let need = machine.run(SLICE);
            session.write(&std::mem::take(&mut machine.output), &std::mem::take(&mut machine.errors)).await?;
            session.account(machine.effort.spent()).await?;
            match need {
                Need::Pause | Need::Fuel => {}
                Need::End(status) => return Ok(CommandStatus::with_code(status)),
                Need::File => machine.feed_file(b""),
                Need::Input => machine.feed_input(&session.read(BLOCK).await?),
                Need::Part => match parts.next() {
                    None => return Ok(CommandStatus::success()),
                    Some(Part::Expression(text)) => machine.begin_expression(&text),
                    Some(Part::File(name)) if name == "-" => machine.begin_input(),
                    Some(Part::File(name)) => {
                        match context.fs.read_file(&vfs_join(context.cwd, Path::new(&name))).await {
                            Ok(text) => {
                                machine.begin_file();
                                machine.feed_file(&text);
                            }
                            Err(_) => {
                                let report = format!("dc: Could not open file {name}\n");
                                context.stderr.write_text(&report).await?;
                            }
                        }
                    }
                },
            }
        }
    }
}
