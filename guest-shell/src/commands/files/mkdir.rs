//! `mkdir`: creates directories.

use super::call::{Call, Done, reason};
use super::mode::Change;
use super::place::is_dots;
use super::quote::quote;
use super::words::Spec;
use crate::commands::getopt::Takes;

const SPEC: Spec = Spec {
    usage: "[OPTION]... DIRECTORY...",
    short: "m:pvZ",
    long: &[("mode", 'm', Takes::Required), ("parents", 'p', Takes::Nothing), ("verbose", 'v', Takes::Nothing)],
    modes: false,
};

/// Runs the command `mkdir`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&SPEC) else { return Ok(()) };
    if words.operands.is_empty() {
        call.usage("missing operand");
        return Ok(());
    }
    let change = match words.value("mode").map(|mode| (mode, Change::parse(mode))) {
        Some((mode, None)) => {
            call.fail(format!("invalid mode {}", call.locale_quote(mode)));
            return Ok(());
        }
        Some((_, change)) => change,
        None => None,
    };
    let verbose = words.has("verbose");
    for name in &words.operands {
        call.work();
        let existed = call.stat(name).await.is_ok_and(|found| found.file_type.is_dir());
        let made = match words.has("parents") {
            true => make_path(call, name, verbose, "created directory").await && !existed,
            false => make(call, name, verbose, "created directory").await,
        };
        if made
            && let Some(change) = &change
            && let Err(error) = call.fs.chmod(&call.path(name), change.of_new_directory(call.umask)).await
        {
            call.cannot("cannot change permissions of", name, &error);
        }
    }
    Ok(())
}

/// Creates one directory, and returns false after it has reported a failure.
async fn make(call: &mut Call<'_>, name: &str, verbose: bool, told: &str) -> bool {
    // An empty name would mean the working directory.
    let made = match name {
        "" => Err(super::place::missing()),
        _ => call.fs.mkdir(&call.path(name), false).await,
    };
    if let Err(error) = made {
        not_made(call, name, &error);
        return false;
    }
    if verbose {
        // GNU's `install` and `mkdir` both print this on standard output.
        let name = quote(name);
        call.print(&format!("{}: {told} {name}\n", call.name));
    }
    true
}

fn not_made(call: &mut Call<'_>, name: &str, error: &bashkit::Error) {
    let (name, reason) = (call.locale_quote(name), reason(error));
    call.fail(format!("cannot create directory {name}: {reason}"));
}

/// Creates a directory and its missing parents. Returns false after reporting a failure.
pub(super) async fn make_path(call: &mut Call<'_>, name: &str, verbose: bool, told: &str) -> bool {
    let mut end = 0;
    let mut made = true;
    // A directory that was just created is empty, so its children need not be looked up, which would resolve the whole
    // path each time.
    let mut fresh = false;
    while made && end < name.len() {
        let rest = &name[end..];
        let start = end + rest.len() - rest.trim_start_matches('/').len();
        end = name[start..].find('/').map_or(name.len(), |length| start + length);
        let (part, path) = (&name[start..end], &name[..end]);
        let is_last = name[end..].trim_start_matches('/').is_empty();
        if part.is_empty() || is_dots(part) && !is_last {
            continue;
        }
        let found = if fresh { None } else { call.stat(path).await.ok() };
        match found {
            Some(found) if found.file_type.is_dir() => {}
            Some(_) if !is_last => {
                not_made(call, path, &super::place::not_directory());
                made = false;
            }
            _ => {
                made = make(call, if is_last { name } else { path }, verbose, told).await;
                fresh = !is_dots(part);
            }
        }
    }
    if name.is_empty() {
        return make(call, name, verbose, told).await;
    }
    made
}
