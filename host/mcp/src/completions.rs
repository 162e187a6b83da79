//! Completions of the arguments of resource templates and prompts: names of sessions, and paths of their files.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use tollhouse::vfs::Kind;

use crate::arguments::excerpt;
use crate::prompts;
use crate::resources::{PATH, SESSION, TEMPLATE};
use crate::sessions::ClientSessions;

/// Returns the values that an argument may have, as far as it is written.
///
/// # Errors
/// If there is no such prompt, template or argument, or the session cannot be read.
pub(crate) fn complete(client: &ClientSessions, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let ArgumentInfo { name, value, .. } = &request.argument;
    let unknown = || ErrorData::invalid_params(format!("there is no argument `{}`", excerpt(name)), None);
    let failed = |error: crate::tool_error::ToolError| ErrorData::invalid_params(error.to_string(), None);
    let mut values = match &request.r#ref {
        // A task is a text that nobody knows before it is written.
        Reference::Prompt(prompt) if prompts::has_argument(&prompt.name, name) => Vec::new(),
        Reference::Resource(template) if template.uri == TEMPLATE => match name.as_str() {
            SESSION => {
                let names = client.names().map_err(failed)?;
                names.into_iter().filter(|name| name.starts_with(value.as_str())).collect()
            }
            PATH => {
                let session = request.context.as_ref().and_then(|context| context.get_argument(SESSION));
                let opened = client.get(session.map(String::as_str)).map_err(failed)?;
                let files = client.files(&opened).map_err(failed)?;
                paths(value, |directory| {
                    let entries = files.read_directory(directory).unwrap_or_default();
                    entries.into_iter().map(|entry| (entry.name.to_string(), entry.kind == Kind::Directory)).collect()
                })
            }
            _ => return Err(unknown()),
        },
        Reference::Prompt(_) => return Err(unknown()),
        _ => return Err(ErrorData::invalid_params(format!("there is no such template; there is {TEMPLATE}"), None)),
    };
    values.sort_unstable();
    let all = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(values, u32::try_from(all).ok(), all > CompletionInfo::MAX_VALUES);
    completion.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

/// Completes the last name of a path, which has no slash before it: the template has one. Directories end with a slash,
/// behind which their files are completed.
fn paths(written: &str, entries: impl Fn(&str) -> Vec<(String, bool)>) -> Vec<String> {
    let (directory, begun) = match written.rsplit_once('/') {
        Some((directory, begun)) => (format!("{directory}/"), begun),
        None => (String::new(), written),
    };
    let found = entries(&format!("/{}", directory.trim_end_matches('/'))).into_iter();
    let found = found.filter(|(name, _)| name.starts_with(begun));
    found.map(|(name, is_directory)| format!("{directory}{name}{}", if is_directory { "/" } else { "" })).collect()
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn last_name_of_a_path_is_completed() {
        let entries = |directory: &str| match directory {
            "/" => vec![("workspace".to_owned(), true), ("tmp".to_owned(), true)],
            "/workspace" => vec![("report.md".to_owned(), false), ("raw".to_owned(), true)],
            _ => Vec::new(),
        };
        assert_eq!(paths("", entries), ["workspace/", "tmp/"]);
        assert_eq!(paths("wo", entries), ["workspace/"]);
        assert_eq!(paths("workspace/r", entries), ["workspace/report.md", "workspace/raw/"]);
        assert_eq!(paths("workspace/x", entries), Vec::<String>::new());
        assert_eq!(paths("../", entries), Vec::<String>::new());
    }
}
