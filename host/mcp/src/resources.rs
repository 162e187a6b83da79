//! Files of sessions as resources: `tollhouse://SESSION/PATH`, with the path percent-encoded.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::SubscriptionContext;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tollhouse::vfs::{ChangeKind, Errno, Kind, Tree, changed_paths};

use crate::arguments::excerpt;
use crate::images;
use crate::sessions::{ClientSessions, MAIN};
use crate::tool_error::ToolError;

const SCHEME: &str = "tollhouse://";

/// Template of all resources, and its variables.
pub(crate) const TEMPLATE: &str = "tollhouse://{session}/{+path}";
pub(crate) const SESSION: &str = "session";
pub(crate) const PATH: &str = "path";

/// Directory whose files are listed.
const LISTED: &str = "/workspace";

/// Resources of one page.
const PAGE: usize = 200;

/// Largest file that is read as a resource, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Most resources that one connection subscribes to.
const MAX_SUBSCRIBED: usize = 1000;

/// Longest URI that is subscribed to, in bytes.
const MAX_URI: usize = 8 << 10;

/// Time between two looks whether a client is still there.
const PRESENCE: Duration = Duration::from_secs(30);

/// Characters of a path that a URI does not have as they are.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the URI of a file.
pub(crate) fn uri(session: &str, path: &str) -> String {
    format!("{SCHEME}{session}{}", utf8_percent_encode(path, ENCODED))
}

/// Returns the session and the path that a URI names.
///
/// # Errors
/// If it is not the URI of a file. A path with `.` or `..` has another URI, which is its only one.
fn parse(uri: &str) -> Result<(String, String), ErrorData> {
    let wrong = |why: &str| {
        let message = format!("`{}` is not a resource: {why}; write {SCHEME}{MAIN}{LISTED}/FILE", excerpt(uri));
        ErrorData::resource_not_found(message, None)
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(|| wrong("it has another scheme"))?;
    let (session, path) = rest.split_once('/').ok_or_else(|| wrong("it has no path"))?;
    let path = percent_decode_str(path).decode_utf8().map_err(|_| wrong("its path is not UTF-8"))?;
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) || path.contains('\0') {
        return Err(wrong("its path has an empty name, `.`, `..` or NUL"));
    }
    Ok((session.to_owned(), format!("/{path}")))
}

/// Returns the files that a URI's session has, and the path in it.
fn resolve(client: &ClientSessions, uri: &str) -> Result<(Tree, String), ErrorData> {
    let (session, path) = parse(uri)?;
    let found = client.get(Some(&session)).and_then(|opened| client.files(&opened));
    let told = |error: ToolError| error.with_names_of(client).to_string();
    let files = found.map_err(|error| ErrorData::resource_not_found(told(error), None))?;
    Ok((files, path))
}

/// Checks that a URI names a file that is there, or could be.
pub(crate) fn check(client: &ClientSessions, uri: &str) -> Result<(), ErrorData> {
    if uri.len() > MAX_URI {
        return Err(ErrorData::invalid_params(format!("a URI has at most {MAX_URI} bytes"), None));
    }
    resolve(client, uri).map(drop)
}

/// Lists the files of the default session under /workspace, in the order of their paths.
pub(crate) fn list(client: &ClientSessions, after: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let failed = |error: String| ErrorData::internal_error(error, None);
    let main = client.get(None).and_then(|main| client.files(&main));
    let files = main.map_err(|error| failed(error.with_names_of(client).to_string()))?;
    let after = match after {
        Some(cursor) => {
            parse(cursor).map(|(_, path)| path).map_err(|_| ErrorData::invalid_params("no such cursor", None))?
        }
        None => String::new(),
    };
    let mut found = Vec::new();
    walk(&files, LISTED, &after, &mut found).map_err(|errno| failed(errno.to_string()))?;
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = if more { found.last().map(|(path, _)| uri(MAIN, path)) } else { None };
    let resources = found.into_iter().map(|(path, size)| {
        let resource = Resource::new(uri(MAIN, &path), path.clone()).with_size(size);
        match mime(&path) {
            Some(mime) => resource.with_mime_type(mime),
            None => resource,
        }
    });
    Ok(ListResourcesResult { next_cursor: next, ..ListResourcesResult::with_all_items(resources.collect()) })
}

/// Collects files below a directory whose paths follow `after`, at most one more than a page has.
fn walk(files: &Tree, directory: &str, after: &str, found: &mut Vec<(String, u64)>) -> Result<(), Errno> {
    let entries = match files.read_directory(directory) {
        // The directory was removed.
        Err(Errno::NoEntry | Errno::NotDirectory) => return Ok(()),
        entries => entries?,
    };
    // Paths are ordered as bytes, and `/` sorts among the characters of names: a directory counts as its name with `/`.
    let mut paths: Vec<(String, Kind)> = entries
        .into_iter()
        .map(|entry| {
            (format!("{directory}/{}{}", entry.name, if entry.kind == Kind::Directory { "/" } else { "" }), entry.kind)
        })
        .collect();
    paths.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    for (path, kind) in paths {
        if found.len() > PAGE {
            break;
        }
        match kind {
            // What is below may follow `after` even if the directory does not.
            Kind::Directory if path.as_str() > after || after.starts_with(&path) => {
                walk(files, path.trim_end_matches('/'), after, found)?;
            }
            Kind::File if path.as_str() > after => found.push((path.clone(), files.stat_here(&path)?.size)),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a file.
pub(crate) fn read(client: &ClientSessions, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (files, path) = resolve(client, uri)?;
    let missing = |errno: Errno| ErrorData::resource_not_found(format!("`{}`: {errno}", excerpt(&path)), None);
    let size = files.content(&path).map_err(missing)?.len();
    if size > MAX_BYTES {
        let message = format!("`{}` has {size} bytes, more than {MAX_BYTES}: `read_file` reads parts", excerpt(&path));
        return Err(ErrorData::invalid_params(message, None));
    }
    let bytes = files.read_file(&path).map_err(missing)?;
    let picture = images::format(&bytes);
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(mime(&path).unwrap_or("text/plain")),
        Err(error) => {
            let mime = picture.or_else(|| mime(&path)).unwrap_or("application/octet-stream");
            ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri).with_mime_type(mime)
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Returns the templates of all resources.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new(TEMPLATE, "file");
    vec![template.with_title("File of a session").with_description("`main` is the default session")]
}

/// Returns the type that a path's extension stands for.
fn mime(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" => "text/html",
        "json" => "application/json",
        "js" | "mjs" => "text/javascript",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => return None,
    })
}

/// Files of a session that have changed.
#[derive(Debug)]
pub(crate) struct FilesChanged {
    uris: BTreeSet<String>,
    /// True if a file of the list is new or gone.
    list: bool,
}

impl FilesChanged {
    /// Compares the files of a session; `None` if nothing has changed.
    pub(crate) fn of(session: &str, before: &Tree, after: &Tree) -> Option<Self> {
        let changes = changed_paths(before, after).ok().filter(|changes| !changes.is_empty())?;
        let is_listed = session == MAIN;
        let list = changes
            .iter()
            .any(|change| is_listed && change.kind != ChangeKind::Modified && change.path.starts_with(LISTED));
        Some(Self { uris: changes.iter().map(|change| uri(session, &change.path)).collect(), list })
    }
}

/// Adds a resource to those that a connection subscribes to.
pub(crate) fn remember(subscribed: &Mutex<BTreeSet<String>>, uri: String) -> Result<(), ErrorData> {
    let mut subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
    if subscribed.len() >= MAX_SUBSCRIBED {
        return Err(ErrorData::invalid_params(
            format!("a connection has at most {MAX_SUBSCRIBED} subscriptions"),
            None,
        ));
    }
    subscribed.insert(uri);
    Ok(())
}

/// Tells a client of an earlier revision of the protocol about changes, until its connection ends.
pub(crate) async fn forward(
    mut changes: Receiver<Arc<FilesChanged>>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    peer: Peer<RoleServer>,
) {
    loop {
        let changed = tokio::select! {
            changed = changes.recv() => changed,
            () = tokio::time::sleep(PRESENCE) => match peer.is_transport_closed() {
                true => return,
                false => continue,
            },
        };
        let changed = match changed {
            Ok(changed) => changed,
            Err(RecvError::Lagged(_)) => Arc::new(FilesChanged { uris: BTreeSet::new(), list: true }),
            Err(RecvError::Closed) => return,
        };
        let wanted: Vec<String> = {
            let subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            changed.uris.intersection(&subscribed).cloned().collect()
        };
        for uri in wanted {
            if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
        if changed.list && peer.notify_resource_list_changed().await.is_err() || peer.is_transport_closed() {
            return;
        }
    }
}

/// Tells a subscription about the changes that it is for, until it is cancelled.
pub(crate) async fn listen(mut changes: Receiver<Arc<FilesChanged>>, context: &SubscriptionContext) {
    let sink = context.sink();
    let accepted = sink.accepted();
    let wanted: BTreeSet<&String> = accepted.resource_subscriptions.iter().flatten().collect();
    let list = accepted.resources_list_changed == Some(true);
    loop {
        let changed = tokio::select! {
            changed = changes.recv() => changed,
            () = context.cancelled() => return,
        };
        let changed = match changed {
            Ok(changed) => changed,
            Err(RecvError::Lagged(_)) => Arc::new(FilesChanged { uris: BTreeSet::new(), list: true }),
            Err(RecvError::Closed) => return,
        };
        for uri in changed.uris.iter().filter(|uri| wanted.contains(uri)) {
            if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                return;
            }
        }
        if list && changed.list && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tollhouse::vfs::{Limits, WriteMode};

    use super::*;

    #[test]
    fn uris_are_read_as_they_are_written_and_none_climbs() {
        for path in ["/workspace/a b.txt", "/workspace/ü/100%", "/tmp/x?y#z"] {
            let uri = uri("main", path);
            assert_eq!(parse(&uri).map_err(|error| error.message), Ok(("main".to_owned(), path.to_owned())), "{uri}");
        }
        for wrong in [
            "file:///etc/passwd",
            "tollhouse://main",
            "tollhouse://main/",
            "tollhouse://main/workspace/../../etc/passwd",
            "tollhouse://main/workspace/%2e%2e/%2e%2e/etc/passwd",
            "tollhouse://main/workspace//a",
            "tollhouse://main/a%00b",
            "tollhouse://main/%ff",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pages_have_each_file_once_whatever_the_names() {
        let mut files = Tree::new(Limits { entries: 10_000, ..Limits::default() }, 0);
        let mut expected = BTreeSet::new();
        for number in 0..PAGE {
            for path in
                [format!("/workspace/a{number}"), format!("/workspace/a{number}.d/x"), format!("/workspace/b/{number}")]
            {
                let (directory, _) = path.rsplit_once('/').expect("it is absolute");
                let made = files.create_directory(directory, true, 1);
                assert!(matches!(made, Ok(()) | Err(Errno::Exists)), "{made:?}");
                files.write(&path, b"x", WriteMode::Create, 1).expect("there is room");
                expected.insert(path);
            }
        }
        let (mut after, mut seen) = (String::new(), Vec::new());
        loop {
            let mut page = Vec::new();
            walk(&files, LISTED, &after, &mut page).expect("it is read");
            let more = page.len() > PAGE;
            page.truncate(PAGE);
            seen.extend(page.into_iter().map(|(path, _)| path));
            if !more {
                break;
            }
            after = seen.last().expect("a page has entries").clone();
        }
        assert_eq!(seen.len(), expected.len());
        assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}
