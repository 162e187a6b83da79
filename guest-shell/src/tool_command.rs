//! The command `tool`, and commands for aliases: they determine a method and its arguments from the words, call it, and
//! print the result.
//!
//! The host's gate decides on calls, and the host converts arguments to their types.

mod call;
mod words;

use std::sync::Arc;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use self::call::{Call, USAGE_ERROR};
pub(crate) use self::call::{explain, status};
use self::words::{Help, Special, options, split_name};
use crate::bindings::catalog;
use crate::catalog::{Method, Methods};

/// Name of the command `tool`. Its other names are aliases.
pub(crate) const TOOL: &str = "tool";

const USAGE: &str = "\
usage: tool NAME [--PARAMETER VALUE]...   call a tool: `tool stats.describe --values '[1,2,3]'`
       tool NAME --json '{...}'           the same, its arguments as one JSON object
       tool NAME --each                   a call for each line of standard input, one JSON object a line
       tool --list                        what is mounted
       tool --budgets                     what is left of the budgets, one JSON object a line
       tool --help NAME                   what a tool takes and gives
Without parameters, a JSON object on standard input is taken; of objects that have a line each, all, a call for each.
--raw (-r) prints a string as it is, not as JSON.
";

/// Part of the help on a method that is common to all languages.
const USAGE_OF_ALL: &str = "
Of every command for a tool:
  --json -   the arguments are a JSON object on standard input, as without any flags
  --each     a call for each line of standard input, one JSON object a line
  --raw, -r  print a string as it is, not as JSON
";

/// Command `tool`, which calls tools.
pub(crate) struct ToolCommand {
    methods: Arc<Methods>,
}

impl ToolCommand {
    pub(crate) fn new(methods: Arc<Methods>) -> Self {
        Self { methods }
    }
}

/// Reason why a command ends prematurely.
enum Stop {
    /// Invalid words of the command, with a message for standard error.
    Misuse(String),
    /// Error of the shell: input or output is closed, or the whole script must end.
    Shell(bashkit::Error),
}

impl From<bashkit::Error> for Stop {
    fn from(error: bashkit::Error) -> Self {
        Self::Shell(error)
    }
}

type Run<T> = std::result::Result<T, Stop>;

#[async_trait]
impl Command for ToolCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        match self.run(&context).await {
            Ok(status) => Ok(CommandStatus::with_code(status)),
            Err(Stop::Shell(error)) => Err(error),
            Err(Stop::Misuse(message)) => {
                context.stderr.write_text(&message).await?;
                Ok(CommandStatus::with_code(USAGE_ERROR))
            }
        }
    }
}

impl ToolCommand {
    async fn run(&self, context: &CommandContext<'_>) -> Run<i32> {
        let (words, rest) = match split_name(context.name, context.args) {
            Ok(split) => split,
            Err(special) => return self.special(context, special).await,
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((method, count)) = self.methods.find(&words) else {
            return self.no_method(context, &words, rest).await;
        };
        // All words name a method of an open namespace. The host decides on the call.
        let named = method.open.then(|| method.below(&words[count..]));
        let (method, count) = named.as_ref().map_or((method, count), |named| (named, words.len()));
        // The host refuses words after the name of the method, in the order of the command line.
        let parameters = words[count..].iter().map(|word| (*word).to_owned()).chain(rest.iter().cloned());
        let options = match options(method, parameters.collect()) {
            Ok(options) => options,
            Err(Help) => {
                let help = catalog::help(&method.name).unwrap_or_default();
                return print(context, &format!("{help}{USAGE_OF_ALL}")).await;
            }
        };
        let call = Call { label: self.written(&words[..count]), method, options };
        if call.options.each { call.each(context).await } else { call.once(context).await }
    }

    /// Returns words that name a tool in the form for a script.
    fn written(&self, words: &[&str]) -> String {
        let lacks = words.first().is_some_and(|word| self.methods.lacks_command(word));
        if lacks { format!("{TOOL} {}", words.join(" ")) } else { words.join(" ") }
    }

    /// Handles `tool` alone, `tool --list`, `tool --budgets` and `tool --help`.
    async fn special(&self, context: &CommandContext<'_>, special: Special) -> Run<i32> {
        match special {
            Special::Nothing => Err(Stop::Misuse(USAGE.to_owned())),
            Special::Usage => print(context, USAGE).await,
            Special::List => print(context, &self.list()).await,
            Special::Budgets => print(context, &budgets()).await,
            Special::Unknown(flag) => Err(Stop::Misuse(format!("tool: unknown option `{flag}`\n{USAGE}"))),
        }
    }

    /// Lists one method per line, with a remark after a tab for methods that are mounted but not granted.
    fn list(&self) -> String {
        let line = |method: &Method| {
            let mark = if method.granted { "" } else { "\t(not granted)" };
            format!("{}{mark}\n", method.name)
        };
        self.methods.iter().map(line).collect()
    }

    /// Handles words that do not name a method: prints help on methods that begin with them, or suggestions.
    async fn no_method(&self, context: &CommandContext<'_>, words: &[&str], rest: &[String]) -> Run<i32> {
        let (known, beginning) = self.methods.beginning(words);
        if known == words.len() {
            let help = catalog::help(&beginning).unwrap_or_default();
            if rest.iter().any(|word| word == "--help") {
                return print(context, &help).await;
            }
            return Err(Stop::Misuse(help));
        }
        let unknown = words[known];
        let place = if known == 0 { TOOL.to_owned() } else { self.written(&words[..known]) };
        let nearest = match self.methods.nearest(&beginning, unknown) {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None => String::new(),
        };
        let hint = if known == 0 { "tool --list".to_owned() } else { format!("{place} --help") };
        Err(Stop::Misuse(format!("{place}: there is no `{unknown}`{nearest}\nhint: `{hint}` shows what there is\n")))
    }
}

/// Lists the budgets, one JSON object per line.
fn budgets() -> String {
    let budgets: Vec<serde_json::Value> = serde_json::from_str(&catalog::budgets()).unwrap_or_default();
    budgets.iter().map(|budget| format!("{budget}\n")).collect()
}

async fn print(context: &CommandContext<'_>, text: &str) -> Run<i32> {
    context.stdout.write_all(text.as_bytes()).await?;
    Ok(0)
}
