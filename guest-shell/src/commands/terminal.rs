//! `tput` and `stty` without a terminal. Queries are answered for a terminal of 80 by 24 without colours. Changes to
//! the terminal are refused.

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

/// Size that is reported without a terminal.
const COLUMNS: &str = "80";
const LINES: &str = "24";

/// Known capabilities that a plain text terminal lacks. They cause no error, and print nothing.
const SILENT: [&str; 34] = [
    "bel", "blink", "bold", "civis", "clear", "cnorm", "cr", "cub", "cub1", "cud", "cuf", "cup", "cuu", "cuu1",
    "cvvis", "dim", "ed", "el", "el1", "home", "init", "invis", "op", "rc", "reset", "rev", "rmcup", "rmso", "rmul",
    "sc", "setab", "setaf", "sgr0", "smcup",
];
const MORE_SILENT: [&str; 6] = ["setb", "setf", "sitm", "ritm", "smso", "smul"];

/// Status of `tput` for a flag that a plain text terminal lacks.
const LACKING: i32 = 1;
const USAGE: i32 = 2;
const UNKNOWN: i32 = 4;

/// Command that reports the capabilities of the terminal, as `tput`.
pub(super) struct Tput;

#[async_trait]
impl Command for Tput {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let mut words = context.args.iter().map(String::as_str).peekable();
        let mut many = false;
        while let Some(option) = words.next_if(|word| word.starts_with('-')) {
            match option {
                "-S" => many = true,
                "-T" => drop(words.next()),
                "-V" => {
                    context.stdout.write_text("ncurses 6.4 (tollhouse)\n").await?;
                    return Ok(CommandStatus::success());
                }
                option if option.starts_with("-T") => {}
                _ => return usage(&context).await,
            }
        }
        let asked: Vec<String> = match many {
            false => words.next().map(str::to_owned).into_iter().collect(),
            true => {
                let mut text = Vec::new();
                while let Some(chunk) = context.stdin.read_chunk().await? {
                    text.extend(chunk);
                }
                let lines = String::from_utf8_lossy(&text).into_owned();
                lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
            }
        };
        if asked.is_empty() {
            return usage(&context).await;
        }
        let mut status = 0;
        for name in &asked {
            status = answer(&context, name).await?;
        }
        Ok(CommandStatus::with_code(status))
    }
}

async fn usage(context: &CommandContext<'_>) -> Result<CommandStatus> {
    context.stderr.write_text("usage: tput [-V] [-S] [-T term] capname\n").await?;
    Ok(CommandStatus::with_code(USAGE))
}

/// Prints one capability and returns the status.
async fn answer(context: &CommandContext<'_>, name: &str) -> Result<i32> {
    let variable = |name: &str| context.env.get(name).filter(|value| value.parse::<u32>().is_ok_and(|size| size > 0));
    let value = match name {
        "cols" => variable("COLUMNS").map_or(COLUMNS, String::as_str),
        "lines" => variable("LINES").map_or(LINES, String::as_str),
        "longname" => "no terminal",
        // As for terminals without colours.
        "colors" => "-1",
        name if SILENT.contains(&name) || MORE_SILENT.contains(&name) => return Ok(0),
        // Flags that a plain text terminal lacks.
        "am" | "bce" | "hs" | "km" | "mir" | "msgr" | "xenl" => return Ok(LACKING),
        name => {
            context.stderr.write_text(&format!("tput: unknown terminfo capability '{name}'\n")).await?;
            return Ok(UNKNOWN);
        }
    };
    // A text is printed with a line break.
    let end = if name == "longname" { "" } else { "\n" };
    context.stdout.write_text(&format!("{value}{end}")).await?;
    Ok(0)
}

/// Command that reports the settings of the terminal, as `stty`.
pub(super) struct Stty;

#[async_trait]
impl Command for Stty {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let (text, status) = match context.args.first().map(String::as_str) {
            Some("--help") => ("Usage: stty [SETTING]...\nThere is no terminal to set here.\n", 0),
            Some("--version") => ("stty (GNU coreutils) 9.1\n", 0),
            _ => ("stty: 'standard input': Inappropriate ioctl for device\n", 1),
        };
        let stream = if status == 0 { &context.stdout } else { &context.stderr };
        stream.write_text(text).await?;
        Ok(CommandStatus::with_code(status))
    }
}
