//! `node` and `js`: JavaScript scripts, which run in a separate guest with the same files and tools.

use std::path::{Path, PathBuf};

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use crate::bindings::types::{InnerScript, Language, Runnable};
use crate::{env_file, program_command};

/// Names of the commands that run JavaScript.
pub(crate) const NAMES: [&str; 3] = ["node", "nodejs", "js"];

/// Version of Node.js that its emulated globals and modules follow.
const VERSION: &str = "v20.0.0";

const HELP: &str = "\
usage: node [options] FILE [arguments]      (or nodejs, or js)
       node [options] -e CODE [arguments]
       node [options] -p EXPRESSION [arguments]
       ... | node [options] [-] [arguments]

Runs JavaScript, or TypeScript if FILE ends in .ts, on the session's files, with the tools, grants and
budgets of this script. `state` and the working directory are its own.

  -e, --eval CODE    run this text
  -p, --print CODE   run this text, and print the value of its last expression
  -c, --check FILE   say what is wrong with the syntax of FILE; run nothing
  --env-file=FILE    add the variables of FILE (lines NAME=value) to those of the environment
  -                  read the script from standard input, as without FILE
  -v, --version      print the version of Node.js that it behaves like
  -h, --help         print this
";

/// Status of Node.js for an unknown option, and for a missing file of variables.
const BAD_OPTION: i32 = 9;

/// Options of Node.js without effect here.
const IDLE: [&str; 7] = [
    "--no-warnings",
    "--experimental-strip-types",
    "--enable-source-maps",
    "--trace-warnings",
    "--trace-uncaught",
    "--unhandled-rejections=strict",
    "--unhandled-rejections=throw",
];

/// Options of Node.js for memory, which the limits of the session determine here. Values are attached.
const MEMORY: [&str; 4] = ["--max-old-space-size=", "--max-semi-space-size=", "--max-heap-size=", "--stack-size="];

/// Command that runs JavaScript.
pub(crate) struct ScriptCommand;

/// Action that the command line requests.
enum Asked<'a> {
    Text(&'a str),
    Printed(&'a str),
    File(&'a str),
    Checked(&'a str),
    Input,
    Version,
    Help,
}

#[async_trait]
impl Command for ScriptCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let CommandLine { asked, arguments, env_files } = match read_words(context.args) {
            Ok(read) => read,
            Err(why) => return complain(&context, &why, BAD_OPTION).await,
        };
        let mut variables = Vec::new();
        for file in env_files {
            match context.fs.read_file(&absolute(context.cwd, file)).await {
                Ok(bytes) => set_all(&mut variables, env_file::parse(&String::from_utf8_lossy(&bytes))),
                Err(_) => return complain(&context, &format!("{file}: not found"), BAD_OPTION).await,
            }
        }
        let (name, source) = match asked {
            Asked::Text(text) => ("[eval]".to_owned(), text.to_owned()),
            Asked::Printed(text) => {
                let quoted = serde_json::Value::from(text);
                ("[eval]".to_owned(), format!("console.log(eval({quoted}))"))
            }
            Asked::Input => ("[stdin]".to_owned(), read_script(&context).await?),
            Asked::File(path) => match read_file(&context, path).await {
                Ok(found) => found,
                Err(why) => return complain(&context, &why, 1).await,
            },
            Asked::Checked(path) => match read_file(&context, path).await {
                Ok((path, text)) => ("[eval]".to_owned(), check_of(&path, &text)),
                Err(why) => return complain(&context, &why, 1).await,
            },
            Asked::Version => return print(&context, &format!("{VERSION}\n")).await,
            Asked::Help => return print(&context, HELP).await,
        };
        let script = InnerScript { language: Language::Javascript, source, name };
        program_command::run_with(&context, Runnable::Script(script), arguments.to_vec(), variables).await
    }
}

/// Command line of `node`.
struct CommandLine<'a> {
    asked: Asked<'a>,
    /// Arguments of the script.
    arguments: &'a [String],
    /// Files of variables, in their order.
    env_files: Vec<&'a str>,
}

impl<'a> CommandLine<'a> {
    fn new(asked: Asked<'a>, arguments: &'a [String], env_files: Vec<&'a str>) -> Self {
        Self { asked, arguments, env_files }
    }
}

/// Sets variables; of those with the same name, the last one counts.
fn set_all(variables: &mut Vec<(String, String)>, more: Vec<(String, String)>) {
    for (name, value) in more {
        variables.retain(|(other, _)| *other != name);
        variables.push((name, value));
    }
}

/// Returns a script that throws the syntax error of a text, if it has one.
fn check_of(path: &str, text: &str) -> String {
    let [path, text] = [path, text].map(serde_json::Value::from);
    format!("process.getBuiltinModule('module')[Symbol.for('tollhouse.checkSyntax')]({text}, {path})")
}

/// Parses the words into an action, the arguments of the script, and options.
fn read_words(words: &[String]) -> std::result::Result<CommandLine<'_>, String> {
    let mut rest = words;
    let mut env_files = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        match word.as_str() {
            "-" => return Ok(CommandLine::new(Asked::Input, after, env_files)),
            "-v" | "--version" => return Ok(CommandLine::new(Asked::Version, after, env_files)),
            "-h" | "--help" => return Ok(CommandLine::new(Asked::Help, after, env_files)),
            "-e" | "--eval" | "-p" | "--print" | "-pe" => {
                let (code, after) = after.split_first().ok_or_else(|| format!("{word} requires an argument"))?;
                let asked = if word.contains('p') { Asked::Printed(code) } else { Asked::Text(code) };
                let arguments = after.strip_prefix(&["--".to_owned()]).unwrap_or(after);
                return Ok(CommandLine::new(asked, arguments, env_files));
            }
            "-c" | "--check" => {
                let (file, after) = after.split_first().ok_or_else(|| format!("{word} requires an argument"))?;
                return Ok(CommandLine::new(Asked::Checked(file), after, env_files));
            }
            "--env-file" => {
                let (file, after) = after.split_first().ok_or_else(|| format!("{word} requires an argument"))?;
                env_files.push(file.as_str());
                rest = after;
            }
            "--" => {
                rest = after;
                break;
            }
            word if is_idle(word) => rest = after,
            word if word.starts_with("--eval=") || word.starts_with("--print=") => {
                let (name, code) = word.split_once('=').unwrap_or_default();
                let asked = if name == "--print" { Asked::Printed(code) } else { Asked::Text(code) };
                let arguments = after.strip_prefix(&["--".to_owned()]).unwrap_or(after);
                return Ok(CommandLine::new(asked, arguments, env_files));
            }
            word if word.starts_with("--env-file=") => {
                env_files.push(word.split_once('=').unwrap_or_default().1);
                rest = after;
            }
            word if word.starts_with('-') => return Err(format!("bad option: {word}")),
            _ => break,
        }
    }
    Ok(match rest.split_first() {
        Some((file, arguments)) => CommandLine::new(Asked::File(file), arguments, env_files),
        None => CommandLine::new(Asked::Input, rest, env_files),
    })
}

/// Returns true for an option without effect.
fn is_idle(word: &str) -> bool {
    let has_memory_prefix = || MEMORY.iter().any(|prefix| word.starts_with(*prefix));
    IDLE.contains(&word) || word.starts_with("--input-type=") || has_memory_prefix()
}

/// Reads a script from standard input, to its end.
async fn read_script(context: &CommandContext<'_>) -> Result<String> {
    let mut text = Vec::new();
    while let Some(chunk) = context.stdin.read_chunk().await? {
        text.extend(chunk);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns path and text of a script.
async fn read_file(context: &CommandContext<'_>, name: &str) -> std::result::Result<(String, String), String> {
    let path = absolute(context.cwd, name);
    let mut failure = None;
    for ending in ["", ".js", ".mjs", ".cjs", ".json"] {
        let path = PathBuf::from(format!("{}{ending}", path.display()));
        match context.fs.read_file(&path).await {
            Ok(bytes) => return Ok((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    let why = failure.map(|error| error.to_string()).unwrap_or_default();
    Err(format!("cannot find module '{}': {why}", path.display()))
}

/// Returns the absolute path, without `.` and `..`.
fn absolute(directory: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::from("/");
    for part in directory.join(name).components() {
        match part {
            std::path::Component::Normal(part) => path.push(part),
            std::path::Component::ParentDir => {
                path.pop();
            }
            _ => {}
        }
    }
    path
}

async fn print(context: &CommandContext<'_>, text: &str) -> Result<CommandStatus> {
    context.stdout.write_all(text.as_bytes()).await?;
    Ok(CommandStatus::success())
}

async fn complain(context: &CommandContext<'_>, why: &str, status: i32) -> Result<CommandStatus> {
    context.stderr.write_text(&format!("{}: {why}\n", context.name)).await?;
    Ok(CommandStatus::with_code(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match read_words(&words) {
            Err(why) => why,
            Ok(CommandLine { asked, arguments, env_files }) => {
                let asked = match asked {
                    Asked::Checked(path) => format!("check {path}"),
                    Asked::Text(text) => format!("text {text}"),
                    Asked::Printed(text) => format!("printed {text}"),
                    Asked::File(path) => format!("file {path}"),
                    Asked::Input => "input".to_owned(),
                    Asked::Version => "version".to_owned(),
                    Asked::Help => "help".to_owned(),
                };
                format!("{}{asked}: {}", env_files.concat(), arguments.join(","))
            }
        }
    }

    #[test]
    fn words_are_those_of_node() {
        assert_eq!(read(&["x.js", "-e", "--", "a"]), "file x.js: -e,--,a");
        assert_eq!(read(&["--no-warnings", "-e", "1", "--", "a"]), "text 1: a");
        assert_eq!(read(&["-p", "1 + 1", "b"]), "printed 1 + 1: b");
        assert_eq!(read(&["-", "a"]), "input: a");
        assert_eq!(read(&[]), "input: ");
        assert_eq!(read(&["--", "-x.js"]), "file -x.js: ");
        assert_eq!(read(&["--max-old-space-size=4096", "--eval=1", "a"]), "text 1: a");
        assert_eq!(read(&["--stack-size=900", "--print=1=1", "--", "a"]), "printed 1=1: a");
        assert_eq!(read(&["--check", "x.js", "a"]), "check x.js: a");
        assert_eq!(read(&["--env-file=.env", "--env-file", "b ", "-c", "x.js"]), ".envb check x.js: ");
        assert_eq!(read(&["-c"]), "-c requires an argument");
        assert_eq!(read(&["-e"]), "-e requires an argument");
        assert_eq!(read(&["--inspect", "x.js"]), "bad option: --inspect");
    }

    #[test]
    fn paths_become_absolute() {
        assert_eq!(absolute(Path::new("/workspace/a"), "../b/./c.js"), Path::new("/workspace/b/c.js"));
        assert_eq!(absolute(Path::new("/workspace"), "/../x"), Path::new("/x"));
    }
}
