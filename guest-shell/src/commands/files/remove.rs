//! `rm`, `rmdir` and `unlink`: remove files and directories.

use bashkit::{FileType, Metadata, Result};

use super::call::{Call, Done, kind, reason};
use super::place::{base, is_dots, join, parent};
use super::quote::quote;
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;
use crate::commands::option_parser::option_word;

const RM: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    short: "dfirvIR",
    long: &[
        ("dir", 'd', Takes::Nothing),
        ("force", 'f', Takes::Nothing),
        ("interactive", NONE, Takes::Optional),
        ("no-preserve-root", NONE, Takes::Nothing),
        ("one-file-system", NONE, Takes::Nothing),
        ("preserve-root", NONE, Takes::Optional),
        ("recursive", 'r', Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

const RMDIR: Spec = Spec {
    usage: "[OPTION]... DIRECTORY...",
    short: "pv",
    long: &[
        ("ignore-fail-on-non-empty", NONE, Takes::Nothing),
        ("parents", 'p', Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

const UNLINK: Spec = Spec { usage: "FILE", short: "", long: &[], modes: false };

/// Cases in which `rm` asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prompt {
    Never,
    Once,
    Always,
}

/// Words of `--interactive`.
const PROMPTS: [(&str, Prompt); 6] = [
    ("never", Prompt::Never),
    ("no", Prompt::Never),
    ("none", Prompt::Never),
    ("once", Prompt::Once),
    ("always", Prompt::Always),
    ("yes", Prompt::Always),
];

/// Number of operands above which `-I` asks.
const MANY: usize = 3;

/// Parsed command line of `rm`.
struct Removal {
    recursive: bool,
    directories: bool,
    force: bool,
    verbose: bool,
    ask: bool,
}

/// Returns what the options ask for: questions for each file, one question, and silence about missing files. Returns
/// `None` after reporting a wrong option.
fn prompts(call: &mut Call<'_>, words: &Words) -> Option<(bool, bool, bool)> {
    let (mut ask, mut once, mut force) = (false, false, false);
    for option in &words.options {
        let prompt = match (option.name.as_str(), option.value.as_deref()) {
            ("force", _) => {
                (ask, once, force) = (false, false, true);
                continue;
            }
            ("i", _) | ("interactive", None) => Prompt::Always,
            ("I", _) => Prompt::Once,
            ("interactive", Some(when)) => match option_word("--interactive", when, &PROMPTS) {
                Ok(prompt) => prompt,
                Err(message) => {
                    call.usage(&message);
                    return None;
                }
            },
            ("no-preserve-root", _) if !call.words.iter().any(|word| word == "--no-preserve-root") => {
                call.fail("you may not abbreviate the --no-preserve-root option");
                return None;
            }
            ("preserve-root", Some(what)) if what != "all" => {
                call.fail(format!("unrecognized --preserve-root argument: {}", quote(what)));
                return None;
            }
            _ => continue,
        };
        (ask, once, force) = match prompt {
            Prompt::Never => (false, false, force),
            Prompt::Once => (false, true, false),
            Prompt::Always => (true, false, false),
        };
    }
    Some((ask, once, force))
}

/// Runs the command `rm`.
pub(super) async fn rm(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&RM) else { return Ok(()) };
    let Some((ask, once, force)) = prompts(call, &words) else { return Ok(()) };
    let files = &words.operands;
    if files.is_empty() {
        if !force {
            call.usage("missing operand");
        }
        return Ok(());
    }
    let recursive = words.has("recursive") || words.has("R");
    let removal = Removal { recursive, directories: words.has("dir"), force, verbose: words.has("verbose"), ask };
    if once && (recursive || files.len() > MANY) {
        let how = if recursive { " recursively" } else { "" };
        let plural = if files.len() == 1 { "" } else { "s" };
        if !call.confirms(&format!("remove {} argument{plural}{how}", files.len())).await? {
            return Ok(());
        }
    }
    let keep_root = !words.has("no-preserve-root");
    for name in files {
        if recursive && is_dots(base(name)) {
            call.fail(format!("refusing to remove '.' or '..' directory: skipping {}", quote(name)));
            continue;
        }
        if recursive && keep_root && call.path(name).as_os_str() == "/" {
            call.fail(format!("it is dangerous to operate recursively on {}", quote(name)));
            call.note("use --no-preserve-root to override this failsafe");
            continue;
        }
        removal.entry(call, name).await?;
    }
    Ok(())
}

impl Removal {
    /// Removes a file or directory. Returns true if nothing is left of it.
    async fn entry(&self, call: &mut Call<'_>, name: &str) -> Result<bool> {
        call.work();
        let found = match call.lstat(name).await {
            Ok(found) => found,
            Err(error) => {
                let absent =
                    matches!(kind(&error), Some(std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory));
                if !self.force || !absent {
                    call.cannot("cannot remove", name, &error);
                }
                return Ok(self.force && absent);
            }
        };
        if !found.file_type.is_dir() {
            return self.file(call, name, &found).await;
        }
        let entries = call.fs.read_dir(&call.path(name)).await;
        let empty = entries.as_ref().is_ok_and(Vec::is_empty);
        if !self.recursive && !self.directories {
            call.fail(format!("cannot remove {}: Is a directory", quote(name)));
            return Ok(false);
        }
        if !self.recursive && !empty {
            call.fail(format!("cannot remove {}: Directory not empty", quote(name)));
            return Ok(false);
        }
        let mut gone = true;
        if !empty {
            if self.ask && !call.confirms(&format!("descend into directory {}", quote(name))).await? {
                return Ok(false);
            }
            let mut names: Vec<String> = entries.unwrap_or_default().into_iter().map(|entry| entry.name).collect();
            names.sort_unstable();
            for entry in names {
                gone &= Box::pin(self.entry(call, &join(name, &entry))).await?;
            }
        }
        if !gone || self.ask && !call.confirms(&format!("remove directory {}", quote(name))).await? {
            return Ok(false);
        }
        if let Err(error) = call.fs.remove(&call.path(name), false).await {
            call.cannot("cannot remove", name, &error);
            return Ok(false);
        }
        if self.verbose {
            call.print(&format!("removed directory {}\n", quote(name)));
        }
        Ok(true)
    }

    async fn file(&self, call: &mut Call<'_>, name: &str, found: &Metadata) -> Result<bool> {
        if self.ask {
            let what = match found.file_type {
                FileType::Symlink => "symbolic link",
                FileType::Fifo => "fifo",
                _ if found.size == 0 => "regular empty file",
                _ => "regular file",
            };
            if !call.confirms(&format!("remove {what} {}", quote(name))).await? {
                return Ok(false);
            }
        }
        if let Err(error) = call.fs.remove(&call.path(name), false).await {
            call.cannot("cannot remove", name, &error);
            return Ok(false);
        }
        if self.verbose {
            call.print(&format!("removed {}\n", quote(name)));
        }
        Ok(true)
    }
}

/// Runs the command `rmdir`.
pub(super) async fn rmdir(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&RMDIR) else { return Ok(()) };
    if words.operands.is_empty() {
        call.usage("missing operand");
    }
    let tolerant = words.has("ignore-fail-on-non-empty");
    let (parents, verbose) = (words.has("parents"), words.has("verbose"));
    for name in &words.operands {
        let (mut name, mut what) = (name.as_str(), "failed to remove");
        loop {
            call.work();
            if verbose {
                call.print(&format!("rmdir: removing directory, {}\n", quote(name)));
            }
            if let Some(reason) = remove_directory(call, name).await {
                if !tolerant || reason != "Directory not empty" {
                    call.fail(format!("{what} {}: {reason}", quote(name)));
                }
                break;
            }
            name = match name.trim_end_matches('/').contains('/') {
                true if parents => parent(name),
                _ => break,
            };
            what = "failed to remove directory";
        }
    }
    Ok(())
}

/// Removes an empty directory. Returns the reason of a failure.
async fn remove_directory(call: &Call<'_>, name: &str) -> Option<String> {
    let own = call.fs.lstat(&call.path(name)).await;
    if name.ends_with('/') && own.is_ok_and(|found| found.file_type == FileType::Symlink) {
        let leads = call.stat(name).await.is_ok();
        return Some(if leads { "Symbolic link not followed" } else { "Not a directory" }.to_owned());
    }
    match call.lstat(name).await {
        Ok(found) if !found.file_type.is_dir() => return Some("Not a directory".to_owned()),
        Ok(_) => {}
        Err(error) => return Some(reason(&error)),
    }
    if base(name) == "." {
        return Some("Invalid argument".to_owned());
    }
    let entries = call.fs.read_dir(&call.path(name)).await.ok()?;
    if !entries.is_empty() || base(name) == ".." {
        return Some("Directory not empty".to_owned());
    }
    call.fs.remove(&call.path(name), false).await.err().map(|error| reason(&error))
}

/// Runs the command `unlink`.
pub(super) async fn unlink(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&UNLINK) else { return Ok(()) };
    let name = match &words.operands[..] {
        [] => {
            call.usage("missing operand");
            return Ok(());
        }
        [name] => name,
        [_, extra, ..] => {
            call.usage(&format!("extra operand {}", call.locale_quote(extra)));
            return Ok(());
        }
    };
    let reason = match call.lstat(name).await {
        Ok(found) if found.file_type.is_dir() => Some("Is a directory".to_owned()),
        Ok(_) => call.fs.remove(&call.path(name), false).await.err().map(|error| reason(&error)),
        Err(error) => Some(reason(&error)),
    };
    if let Some(reason) = reason {
        call.fail(format!("cannot unlink {}: {reason}", quote(name)));
    }
    Ok(())
}
