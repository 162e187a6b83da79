//! The tools `list_files`, `read_file` and `write_file`. They see and write what a script could.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tollhouse::session::SessionsError;
use tollhouse::vfs::{self, Errno, Kind, Tree, WriteMode};

use crate::arguments::{Arguments, excerpt};
use crate::definitions::names;
use crate::images;
use crate::sessions::{ClientSessions, HeldSession};
use crate::tool_error::ToolError;

/// Directory where scripts start, to which other paths are relative.
const WORKSPACE: &str = "/workspace";

/// Most entries of a directory that are listed.
const MAX_ENTRIES: usize = 500;

/// Largest picture that is shown.
const MAX_PICTURE: u64 = 1 << 20;

/// Lists a directory.
pub(crate) fn list(
    client: &ClientSessions,
    arguments: Option<JsonObject>,
    text_limit: usize,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::LIST)?;
    let path = absolute(arguments.text("path")?.as_deref().unwrap_or(WORKSPACE));
    let opened = client.get(arguments.text("session")?.as_deref())?;
    let files = client.files(&opened)?;
    let entries = files.read_directory(&path).map_err(|errno| failed(&files, &path, errno))?;
    let (all, mut left) = (entries.len(), text_limit);
    let (mut lines, mut items) = (Vec::new(), Vec::new());
    for entry in entries.into_iter().take(MAX_ENTRIES) {
        let below = format!("{}/{}", path.trim_end_matches('/'), entry.name);
        let size = files.stat(&below, false).map_err(|errno| failed(&files, &below, errno))?.size;
        let (kind, shown) = match entry.kind {
            Kind::Directory => ("directory", format!("{}/", entry.name)),
            Kind::File => ("file", format!("{} ({size} bytes)", entry.name)),
            Kind::Link => ("link", format!("{} (link)", entry.name)),
        };
        let Some(rest) = left.checked_sub(shown.chars().count() + 1) else { break };
        left = rest;
        lines.push(shown);
        items.push(json!({ "name": entry.name, "kind": kind, "size": size }));
    }
    let more = all - items.len();
    if all == 0 {
        lines.push(format!("{path} is empty."));
    }
    if more > 0 {
        lines.push(format!("and {more} more: a script lists them all (`run_bash` with `ls {}`)", excerpt(&path)));
    }
    Ok(result(lines.join("\n"), json!({ "path": path, "entries": items, "more": more })))
}

/// Reads a file, or a part of it.
pub(crate) fn read(
    client: &ClientSessions,
    arguments: Option<JsonObject>,
    text_limit: usize,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::READ)?;
    let path = absolute(&arguments.required("path")?);
    let opened = client.get(arguments.text("session")?.as_deref())?;
    let offset = arguments.number("offset")?.unwrap_or_default();
    let limit = arguments.number("limit")?;
    let files = client.files(&opened)?;
    let fail = |errno| failed(&files, &path, errno);
    let content = files.content(&path).map_err(fail)?;
    let size = content.len();
    if offset == 0
        && limit.is_none()
        && size <= MAX_PICTURE
        && let Some(mime) = images::format(&content.read(0, 12).map_err(fail)?)
    {
        let picture = ContentBlock::image(BASE64_STANDARD.encode(content.to_vec().map_err(fail)?), mime);
        let mut shown = CallToolResult::success(vec![picture]);
        shown.structured_content = Some(json!({ "path": path, "size": size, "offset": 0, "next": null }));
        return Ok(shown);
    }
    // A character has at least one byte, and base64 takes four characters for three.
    let most = u64::try_from(text_limit).unwrap_or(u64::MAX);
    let mut bytes = content.read(offset, limit.unwrap_or(most).min(most)).map_err(fail)?;
    let kept = whole_characters(&bytes);
    let text = kept.map(|kept| {
        bytes.truncate(kept);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let end = offset.saturating_add(bytes.len() as u64);
    let next = (end < size).then_some(end);
    let mut about = json!({ "path": path, "size": size, "offset": offset, "next": next });
    let mut shown = match text {
        Some(text) => {
            about["text"] = Value::String(text.clone());
            text
        }
        None => {
            let encoded = BASE64_STANDARD.encode(&bytes);
            about["base64"] = Value::String(encoded.clone());
            format!("base64: {encoded}")
        }
    };
    if let Some(next) = next {
        shown.push_str(&format!("\n[{size} bytes; go on with \"offset\": {next}]"));
    }
    Ok(result(shown, about))
}

/// Returns how many bytes are whole characters of UTF-8, up to one that is cut off at the end; `None` if it is not text.
fn whole_characters(bytes: &[u8]) -> Option<usize> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Some(bytes.len()),
        // A character that was cut off; if nothing else was read, it would never end.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => Some(error.valid_up_to()),
        Err(_) => None,
    }
}

/// Writes a file in a session that is held.
pub(crate) fn write(
    client: &ClientSessions,
    held: &HeldSession,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ToolError> {
    let opened = &held.opened;
    let mut arguments = Arguments::new(arguments, &names::WRITE)?;
    let path = absolute(&arguments.required("path")?);
    let content = arguments.required("content")?;
    let encoding = arguments.word("encoding", &["utf8", "base64"])?;
    arguments.text("session")?;
    let bytes = match encoding {
        Some("base64") => BASE64_STANDARD.decode(content.trim()).map_err(|error| {
            ToolError::because("`content` is not base64", &error).hint("leave `encoding` out for text")
        })?,
        _ => content.into_bytes(),
    };
    let before = client.files(opened)?;
    let written = opened.session.change(&format!("write {path}"), |files| {
        put(files, &path, &bytes).map_err(|source| SessionsError::File { path: path.clone(), source })
    });
    written.map_err(|error| {
        let error = ToolError::from(error);
        if is_writable(&path) { error } else { error.hint("/workspace and /tmp can be written") }
    })?;
    client.announce(&opened.name, &before, &client.files(opened)?);
    let size = bytes.len();
    let about = json!({ "path": path, "size": size, "session": opened.name });
    Ok(result(format!("{path} has {size} bytes."), about))
}

fn put(files: &mut Tree, path: &str, bytes: &[u8]) -> Result<(), Errno> {
    let now = vfs::now();
    if let Some((directory, _)) = path.rsplit_once('/').filter(|(directory, _)| !directory.is_empty()) {
        match files.create_directory(directory, true, now) {
            Ok(()) | Err(Errno::Exists) => {}
            // Places that are not to be written may exist.
            Err(Errno::Access) if files.stat(directory, true).is_ok() => {}
            Err(errno) => return Err(errno),
        }
    }
    files.write(path, bytes, WriteMode::Replace, now)
}

fn is_writable(path: &str) -> bool {
    ["/workspace/", "/tmp/"].iter().any(|place| path.starts_with(place))
}

/// Returns a path as an absolute one: others are relative to the directory where scripts start.
fn absolute(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{WORKSPACE}/{path}") }
}

/// Creates the error of a path, with the names that are in its directory.
fn failed(files: &Tree, path: &str, errno: Errno) -> ToolError {
    let error = ToolError::new(format!("`{}`: {errno}", excerpt(path)));
    let Some((directory, name)) = path.rsplit_once('/').filter(|_| errno == Errno::NoEntry) else {
        return match errno {
            Errno::IsDirectory => error.hint("`list_files` lists a directory"),
            _ => error,
        };
    };
    let names = files.read_directory(if directory.is_empty() { "/" } else { directory }).unwrap_or_default();
    match crate::arguments::nearest(name, names.iter().map(|entry| entry.name.as_str())) {
        Some(near) => error.hint(format!("did you mean `{directory}/{near}`?")),
        None => error.hint("`list_files` lists what there is"),
    }
}

fn result(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn file_part_cut_within_a_character_leaves_it_for_the_next_part() {
        assert_eq!(whole_characters("aü".as_bytes()), Some(3));
        assert_eq!(whole_characters(&"aü".as_bytes()[..2]), Some(1));
        assert_eq!(whole_characters(b"a\xff"), None);
        assert_eq!(whole_characters(&"ü".as_bytes()[..1]), None);
    }
}
