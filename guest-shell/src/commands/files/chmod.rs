//! `chmod`: changes permissions of files.

use bashkit::FileType;

use super::call::{Call, Done, reason};
use super::mode::{Change, symbols};
use super::place::join;
use super::quote::{quote, quote_if_needed};
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;

const SPEC: Spec = Spec {
    usage: "[OPTION]... MODE[,MODE]... FILE...",
    short: "Rcfv",
    long: &[
        ("changes", 'c', Takes::Nothing),
        ("quiet", 'f', Takes::Nothing),
        ("silent", NONE, Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
        ("no-preserve-root", NONE, Takes::Nothing),
        ("preserve-root", NONE, Takes::Nothing),
        ("reference", NONE, Takes::Required),
        ("recursive", 'R', Takes::Nothing),
    ],
    modes: true,
};

/// Parsed command line.
struct Request {
    change: Change,
    quiet: bool,
    verbose: bool,
    changes: bool,
    /// True if the mode is in the position of an option, where permissions that the umask withholds are an error.
    surprises: bool,
}

/// Runs the command `chmod`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&SPEC) else { return Ok(()) };
    let Some((change, surprises, files)) = change_of(call, &words).await else { return Ok(()) };
    let report = words.last(&["verbose", "changes"]);
    let request = Request {
        change,
        quiet: words.has("quiet") || words.has("silent"),
        verbose: report == Some("verbose"),
        changes: report == Some("changes"),
        surprises,
    };
    let recursive = words.has("recursive");
    for file in files {
        let mut open = vec![(file.clone(), true)];
        while let Some((name, named)) = open.pop() {
            if one(call, &request, &name, named).await && recursive {
                let entries = call.fs.read_dir(&call.path(&name)).await?;
                let mut names: Vec<_> = entries.iter().map(|entry| join(&name, &entry.name)).collect();
                names.sort_unstable_by(|one, other| other.cmp(one));
                open.extend(names.into_iter().map(|name| (name, false)));
            }
        }
    }
    Ok(())
}

/// Returns the change, whether its mode is in the position of an option, and the files. Returns `None` after reporting
/// an invalid command line.
async fn change_of<'w>(call: &mut Call<'_>, words: &'w Words) -> Option<(Change, bool, &'w [String])> {
    let operands = &words.operands[..];
    let mode = operands.first();
    let as_option = mode.is_some_and(|mode| mode.starts_with('-') && Change::parse(mode).is_some());
    if let Some(reference) = words.value("reference") {
        if as_option && call.words.iter().any(|word| Some(word) == mode) {
            call.usage("cannot combine mode and --reference options");
            return None;
        }
        if operands.is_empty() {
            call.usage("missing operand");
            return None;
        }
        return match call.stat(reference).await {
            Ok(found) => Some((Change::to(found.mode & 0o7777), false, operands)),
            Err(error) => {
                call.cannot("failed to get attributes of", reference, &error);
                None
            }
        };
    }
    let (mode, files) = operands.split_first().or_else(|| {
        call.usage("missing operand");
        None
    })?;
    match Change::parse(mode) {
        Some(change) if !files.is_empty() => return Some((change, mode.starts_with('-'), files)),
        None if !files.is_empty() => call.usage(&format!("invalid mode: {}", call.locale_quote(mode))),
        _ if as_option => call.usage("missing operand"),
        _ => call.usage(&format!("missing operand after {}", call.locale_quote(mode))),
    }
    None
}

/// Changes the mode of one file. Returns true for a directory that can be entered.
async fn one(call: &mut Call<'_>, request: &Request, name: &str, named: bool) -> bool {
    let own = call.lstat(name).await;
    let is_link = own.as_ref().is_ok_and(|found| found.file_type == FileType::Symlink);
    if is_link && !named {
        if request.verbose {
            call.print(&format!("neither symbolic link {} nor referent has been changed\n", quote(name)));
        }
        return false;
    }
    let found = match call.stat(name).await {
        Ok(found) => found,
        Err(error) => {
            match (is_link, request.quiet) {
                (true, false) => call.fail(format!("cannot operate on dangling symlink {}", quote(name))),
                (false, false) => call.cannot("cannot access", name, &error),
                (_, true) => call.status = 1,
            }
            if request.verbose {
                call.print(&format!("{} could not be accessed\n", quote(name)));
            }
            return false;
        }
    };
    let is_directory = found.file_type.is_dir();
    let old = found.mode & 0o7777;
    let new = request.change.apply(old, is_directory, call.umask);
    if let Err(error) = call.fs.chmod(&call.path(name), new).await {
        let reason = reason(&error);
        call.fail(format!("changing permissions of {}: {reason}", quote(name)));
        return false;
    }
    if old != new && (request.verbose || request.changes) {
        let (from, to) = (symbols(old), symbols(new));
        call.print(&format!("mode of {} changed from {old:04o} ({from}) to {new:04o} ({to})\n", quote(name)));
    } else if request.verbose {
        call.print(&format!("mode of {} retained as {new:04o} ({})\n", quote(name), symbols(new)));
    }
    let expected = request.change.apply(old, is_directory, 0);
    if request.surprises && new & !expected != 0 {
        let name = quote_if_needed(name);
        call.fail(format!("{name}: new permissions are {}, not {}", symbols(new), symbols(expected)));
    }
    is_directory && (named || !is_link)
}
