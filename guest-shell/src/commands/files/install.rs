//! `install`: copies files, sets their modes, and creates directories.

use super::call::{Call, Done};
use super::copy::{Copier, Existing, Follow, Make, Options};
use super::mkdir::make_path;
use super::mode::Change;
use super::place::parent;
use super::target::{Backups, find};
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;

const SPEC: Spec = Spec {
    usage: "[OPTION]... SOURCE... DEST",
    short: "bcCsDdg:m:o:pt:TvS:Z",
    long: &[
        ("backup", NONE, Takes::Optional),
        ("compare", 'C', Takes::Nothing),
        ("directory", 'd', Takes::Nothing),
        ("group", 'g', Takes::Required),
        ("mode", 'm', Takes::Required),
        ("no-target-directory", 'T', Takes::Nothing),
        ("owner", 'o', Takes::Required),
        ("preserve-timestamps", 'p', Takes::Nothing),
        ("strip", 's', Takes::Nothing),
        ("suffix", 'S', Takes::Required),
        ("target-directory", 't', Takes::Required),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

/// Default mode of installed files.
const MODE: u32 = 0o755;

/// Runs the command `install`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&SPEC) else { return Ok(()) };
    if words.has("owner") || words.has("group") || words.has("strip") {
        call.fail("--owner, --group and --strip are not available: files have no owners here, and no symbols");
        return Ok(());
    }
    let mode = match words.value("mode").map(|mode| (mode, Change::parse(mode))) {
        Some((mode, None)) => {
            call.fail(format!("invalid mode {}", call.locale_quote(mode)));
            return Ok(());
        }
        Some((_, Some(change))) => Some(change),
        None => None,
    };
    let of = |is_directory| mode.as_ref().map_or(MODE, |change| change.apply(0, is_directory, 0));
    let verbose = words.has("verbose");
    if words.has("directory") && words.has("target-directory") {
        call.fail("target directory not allowed when installing a directory");
        return Ok(());
    }
    if words.has("directory") {
        if words.operands.is_empty() {
            call.usage("missing file operand");
        }
        for name in &words.operands {
            let existed = call.stat(name).await.is_ok_and(|found| found.file_type.is_dir());
            if make_path(call, name, verbose, "creating directory").await
                && (!existed || mode.is_some())
                && let Err(error) = call.fs.chmod(&call.path(name), of(true)).await
            {
                call.cannot("cannot change permissions of", name, &error);
            }
        }
        return Ok(());
    }
    copies(call, &words, of(false)).await
}

async fn copies(call: &mut Call<'_>, words: &Words, mode: u32) -> Done {
    let Some(backups) = Backups::read(call, words) else { return Ok(()) };
    let verbose = words.has("verbose");
    if words.has("D") && !leading(call, words, verbose).await {
        return Ok(());
    }
    let Some((sources, target)) = find(call, words).await else { return Ok(()) };
    let options = Options {
        make: Make::Copy,
        recursive: false,
        follow: Follow::Always,
        existing: Existing::Replace,
        update: false,
        backups,
        verbose,
        force: true,
        unlink_first: true,
        keep_mode: false,
        default_mode: false,
        keep_time: words.has("preserve-timestamps"),
        attributes_only: false,
        mode: Some(mode),
    };
    let mut copier = Copier::new(options);
    for source in sources {
        let to = target.of(&source);
        if words.has("compare") && is_same(call, &source, &to, mode).await {
            continue;
        }
        copier.operand(call, &source, &to).await?;
    }
    Ok(())
}

/// Creates the parent directories of a destination (`-D`). Returns false if that failed.
async fn leading(call: &mut Call<'_>, words: &Words, verbose: bool) -> bool {
    let directory = match (words.value("target-directory"), &words.operands[..]) {
        (Some(directory), _) => directory.to_owned(),
        (None, [_, target]) => parent(target).to_owned(),
        (None, _) => return true,
    };
    call.stat(&directory).await.is_ok_and(|found| found.file_type.is_dir())
        || make_path(call, &directory, verbose, "creating directory").await
}

/// Returns true if the destination is up to date already (`-C`).
async fn is_same(call: &Call<'_>, source: &str, to: &str, mode: u32) -> bool {
    let same_mode = call.lstat(to).await.is_ok_and(|found| found.file_type.is_file() && found.mode & 0o7777 == mode);
    let read = |name: &str| {
        let (fs, path) = (std::sync::Arc::clone(&call.fs), call.path(name));
        async move { fs.read_file(&path).await.ok() }
    };
    same_mode && matches!((read(source).await, read(to).await), (Some(one), Some(other)) if one == other)
}
