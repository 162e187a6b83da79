//! Prompts that teach a model the sandbox.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use tollhouse::gate::Gate;

use crate::approvals::visible;
use crate::arguments::{excerpt, nearest};
use crate::excerpts::shorten;

const SANDBOX: &str = "sandbox";
const TASK: &str = "task";

/// Most tools that a prompt lists; `search_tools` finds the others.
const MAX_TOOLS: usize = 40;

/// Most characters of a task.
const MAX_TASK: usize = 20_000;

const GUIDE: &str = "\
You have a sandbox. Write one script that does all that can be done without looking at the results in between.

JavaScript (`run_javascript`) runs as in an async function: `await` and `return` work at the top level.
- A tool takes one object of named arguments: `await NAME({key: value})`. Positional arguments are an error.
- `return` a value, or write with `console.log()`. What is neither returned nor written is lost.
- Files: `await fs.readFile(path)`, `await fs.writeFile(path, data)`. /workspace and /tmp can be written.
- `await shell(\"ls | wc -l\")` gives `{stdout, stderr, exitCode}`. Independent calls run at once in `Promise.all`.
- Variables end with the script; files stay. The network is reached through tools only.

bash (`run_bash`) has grep, sed, awk, sort, jq and their like, and the same files. A tool is a command: `stats describe \
--values '[1, 2]' | jq .mean`; `tool --list` and `tool --help NAME` say more.

`search_tools` finds tools, `describe_tools` prints their TypeScript declarations. Pictures that a script leaves in \
/workspace/out are shown. A call that is not granted fails with the reason: change the call, or ask the user; trying to \
get around it is of no use. `suspended` means that a human must approve a call: tell the user, and call `resume` then.";

/// Lists the prompts.
pub(crate) fn all() -> Vec<Prompt> {
    let task = PromptArgument::new("task").with_description("What is to be done").with_required(true);
    vec![
        Prompt::new(SANDBOX, Some("How to work in the sandbox, and the tools that scripts can call"), None)
            .with_title("Work in the sandbox"),
        Prompt::new(TASK, Some("A task that is to be done in the sandbox"), Some(vec![task])).with_title("Do a task"),
    ]
}

/// Returns true if a prompt has an argument.
pub(crate) fn has_argument(prompt: &str, argument: &str) -> bool {
    let found = all().into_iter().find(|known| known.name == prompt).and_then(|known| known.arguments);
    found.is_some_and(|arguments| arguments.iter().any(|known| known.name == argument))
}

/// Returns a prompt.
///
/// # Errors
/// If there is no such prompt, or its argument is missing.
pub(crate) fn get(request: &GetPromptRequestParams, gate: &Gate) -> Result<GetPromptResult, ErrorData> {
    let guide = format!("{GUIDE}\n\n{}", tools(gate));
    let text = match request.name.as_str() {
        SANDBOX => guide,
        TASK => {
            let task = request.arguments.as_ref().and_then(|arguments| arguments.get("task")?.as_str());
            let task = task.ok_or_else(|| ErrorData::invalid_params("the argument `task` is missing", None))?;
            format!("{guide}\n\nThe task:\n{}", shorten(task, MAX_TASK).text)
        }
        other => {
            let near = nearest(other, [SANDBOX, TASK].into_iter());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("there is no prompt `{}`{hint}", excerpt(other));
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// Lists the granted tools, a line each.
fn tools(gate: &Gate) -> String {
    let granted: Vec<_> = gate.tools().iter().filter(|tool| gate.grants(tool.method())).collect();
    if granted.is_empty() {
        return "No tools are granted: scripts have files and what their languages bring.".to_owned();
    }
    let lines = granted.iter().take(MAX_TOOLS).map(|tool| {
        let docs = tool.function().docs.as_deref().map(tollhouse::tool::help::first_sentence).unwrap_or_default();
        format!("- `{}`: {}", tool.path(), visible(&docs))
    });
    let mut text = format!("Tools:\n{}", lines.collect::<Vec<_>>().join("\n"));
    if granted.len() > MAX_TOOLS {
        text.push_str(&format!("\nand {} more.", granted.len() - MAX_TOOLS));
    }
    text
}
