//! `ln` and `link`: create links. Hard links are refused, since the file system does not support them.

use std::path::{Path, PathBuf};

use bashkit::Result;

use super::call::{Call, Done, kind, reason};
use super::place::{Missing, Walk, parent};
use super::quote::quote;
use super::target::{Backups, Control, Target, back_up};
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;

const SPEC: Spec = Spec {
    usage: "[OPTION]... TARGET... LINK_NAME",
    short: "bdfinrst:vFLPS:T",
    long: &[
        ("backup", NONE, Takes::Optional),
        ("directory", 'F', Takes::Nothing),
        ("force", 'f', Takes::Nothing),
        ("interactive", 'i', Takes::Nothing),
        ("logical", 'L', Takes::Nothing),
        ("no-dereference", 'n', Takes::Nothing),
        ("no-target-directory", 'T', Takes::Nothing),
        ("physical", 'P', Takes::Nothing),
        ("relative", 'r', Takes::Nothing),
        ("suffix", 'S', Takes::Required),
        ("symbolic", 's', Takes::Nothing),
        ("target-directory", 't', Takes::Required),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

const LINK: Spec = Spec { usage: "FILE1 FILE2", short: "", long: &[], modes: false };

/// Options of creating links.
struct Request {
    symbolic: bool,
    relative: bool,
    force: bool,
    ask: bool,
    logical: bool,
    verbose: bool,
    backups: Backups,
}

/// Runs the command `ln`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&SPEC) else { return Ok(()) };
    let Some(backups) = Backups::read(call, &words) else { return Ok(()) };
    let last = words.last(&["force", "interactive"]);
    let request = Request {
        symbolic: words.has("symbolic"),
        relative: words.has("relative"),
        force: last == Some("force"),
        ask: last == Some("interactive"),
        logical: words.last(&["logical", "physical"]) == Some("logical"),
        verbose: words.has("verbose"),
        backups,
    };
    if request.relative && !request.symbolic {
        call.fail("cannot do --relative without --symbolic");
        return Ok(());
    }
    let Some((targets, place)) = destination(call, &words).await else { return Ok(()) };
    for target in targets {
        request.make(call, &target, &place.of(&target)).await?;
    }
    Ok(())
}

/// Returns targets, and the destination of their links. Returns `None` after reporting invalid operands.
async fn destination(call: &mut Call<'_>, words: &Words) -> Option<(Vec<String>, Target)> {
    let (alone, named) = (words.has("no-target-directory"), words.value("target-directory"));
    let mut targets = words.operands.clone();
    if targets.is_empty() {
        call.usage("missing file operand");
        return None;
    }
    if let Some(directory) = named {
        if alone {
            call.fail("cannot combine --target-directory and --no-target-directory");
            return None;
        }
        return match call.stat(directory).await {
            Ok(found) if found.file_type.is_dir() => Some((targets, Target::Into(directory.to_owned()))),
            Ok(_) => {
                call.fail(format!("target {} is not a directory", quote(directory)));
                None
            }
            Err(error) => {
                call.cannot("failed to access", directory, &error);
                None
            }
        };
    }
    if alone && targets.len() != 2 {
        call.usage(&match &targets[..] {
            [target] => format!("missing destination file operand after {}", quote(target)),
            [_, _, extra, ..] => format!("extra operand {}", quote(extra)),
            _ => "missing file operand".to_owned(),
        });
        return None;
    }
    if targets.len() == 1 {
        return Some((targets, Target::Into(".".to_owned())));
    }
    let last = targets.pop()?;
    let found = match words.has("no-dereference") && !last.ends_with('/') {
        true => call.lstat(&last).await,
        false => call.stat(&last).await,
    };
    if !alone && found.as_ref().is_ok_and(|found| found.file_type.is_dir()) {
        return Some((targets, Target::Into(last)));
    }
    if targets.len() > 1 {
        let why = found.err().map_or_else(|| "Not a directory".to_owned(), |error| reason(&error));
        call.fail(format!("target {}: {why}", quote(&last)));
        return None;
    }
    Some((targets, Target::As(last)))
}

impl Request {
    async fn make(&self, call: &mut Call<'_>, target: &str, name: &str) -> Result<()> {
        call.work();
        if !self.symbolic && !self.may_link(call, target).await {
            return Ok(());
        }
        let mut backup = None;
        if let Ok(found) = call.lstat(name).await {
            if found.file_type.is_dir() && (self.force || self.ask || self.backups.control != Control::Off) {
                call.fail(format!("{}: cannot overwrite directory", super::quote::quote_if_needed(name)));
                return Ok(());
            }
            if self.ask && !call.confirms(&format!("replace {}", quote(name))).await? {
                return Ok(());
            }
            let backed = self.backups.control != Control::Off;
            let destroys = self.force || self.ask || backed;
            if destroys && !(backed && self.symbolic) && self.is_same(call, target, name).await {
                call.fail(format!("{} and {} are the same file", quote(target), quote(name)));
                return Ok(());
            }
            if self.backups.control != Control::Off {
                let to = self.backups.name(call, name).await;
                backup = back_up(call, name, to).await;
                if backup.is_none() {
                    return Ok(());
                }
            } else if (self.force || self.ask)
                && self.symbolic
                && let Err(error) = call.fs.remove(&call.path(name), false).await
            {
                call.cannot("cannot remove", name, &error);
                return Ok(());
            }
        }
        self.create(call, target, name, backup.as_deref()).await;
        Ok(())
    }

    /// Checks the target of a hard link.
    async fn may_link(&self, call: &mut Call<'_>, target: &str) -> bool {
        let found = if self.logical { call.stat(target).await } else { call.lstat(target).await };
        match found {
            Ok(found) if found.file_type.is_dir() => {
                call.fail(format!("{}: hard link not allowed for directory", super::quote::quote_if_needed(target)));
                false
            }
            Ok(_) => true,
            Err(error) => {
                call.cannot("failed to access", target, &error);
                false
            }
        }
    }

    /// Returns true if the link would replace its target.
    async fn is_same(&self, call: &Call<'_>, target: &str, name: &str) -> bool {
        let follow = self.symbolic || self.logical;
        let place = call.identity(name, false).await;
        place.is_some() && call.stat(target).await.is_ok() && call.identity(target, follow).await == place
    }

    async fn create(&self, call: &mut Call<'_>, target: &str, name: &str, backup: Option<&str>) {
        let made = match self.symbolic {
            true if target.is_empty() => Err(super::place::missing()),
            true => {
                let target = if self.relative { relative(call, target, name).await } else { PathBuf::from(target) };
                let made = match name.ends_with('/') {
                    true => Err(super::place::missing()),
                    // Not every file system refuses to replace a file by a link.
                    false if call.lstat(name).await.is_ok() => {
                        Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists).into())
                    }
                    false => call.fs.symlink(&target, &call.path(name)).await,
                };
                made.map(|()| target)
            }
            false => Err(refusal(call, name).await),
        };
        match made {
            Ok(target) if self.verbose => {
                let backup = backup.map(|backup| format!("{} ~ ", quote(backup))).unwrap_or_default();
                call.print(&format!("{backup}{} -> {}\n", quote(name), quote(&target.to_string_lossy())));
            }
            Ok(_) => {}
            Err(error) if self.symbolic => call.cannot("failed to create symbolic link", name, &error),
            Err(error) if kind(&error) == Some(std::io::ErrorKind::AlreadyExists) => {
                call.cannot("failed to create hard link", name, &error);
            }
            Err(error) => {
                let reason = reason(&error);
                call.fail(format!("failed to create hard link {} => {}: {reason}", quote(name), quote(target)));
            }
        }
    }
}

/// Returns the reason why a hard link to a name cannot be made.
pub(super) async fn refusal(call: &Call<'_>, name: &str) -> bashkit::Error {
    let (own, above) = (call.lstat(name).await, call.stat(parent(name)).await);
    match (own, above) {
        (Ok(_), _) => std::io::Error::from(std::io::ErrorKind::AlreadyExists).into(),
        (Err(_), Err(error)) => error,
        (Err(_), Ok(above)) if !above.file_type.is_dir() => super::place::not_directory(),
        (Err(_), Ok(_)) if name.ends_with('/') => super::place::missing(),
        // Message of Linux for a file system without hard links.
        _ => std::io::Error::other("Operation not permitted").into(),
    }
}

/// Returns the target of a link relative to the directory of the link.
async fn relative(call: &Call<'_>, target: &str, name: &str) -> PathBuf {
    let walk = Walk { missing: Missing::Any, follow_links: true, follow_last: true };
    let to = walk.run(&*call.fs, &call.cwd, target).await;
    let from = walk.run(&*call.fs, &call.cwd, parent(name)).await;
    match (from, to) {
        (Ok(from), Ok(to)) => path_from(&from, &to),
        _ => PathBuf::from(target),
    }
}

/// Returns the relative path from a directory to a path.
pub(super) fn path_from(directory: &Path, path: &Path) -> PathBuf {
    let (mut from, mut to) = (directory.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let way: PathBuf = from.map(|_| Path::new("..")).chain(to.map(|part| Path::new(part.as_os_str()))).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

/// Runs the command `link`.
pub(super) async fn link(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&LINK) else { return Ok(()) };
    let (target, name) = match &words.operands[..] {
        [target, name] => (target, name),
        [] => {
            call.usage("missing operand");
            return Ok(());
        }
        [target] => {
            call.usage(&format!("missing operand after {}", call.locale_quote(target)));
            return Ok(());
        }
        [_, _, extra, ..] => {
            call.usage(&format!("extra operand {}", call.locale_quote(extra)));
            return Ok(());
        }
    };
    let error = match call.lstat(target).await {
        Ok(_) => refusal(call, name).await,
        Err(error) => error,
    };
    let reason = reason(&error);
    call.fail(format!("cannot create link {} to {}: {reason}", quote(name), quote(target)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path_from;

    #[test]
    fn path_from_a_directory_leads_up_and_down() {
        let way = |from, to| path_from(Path::new(from), Path::new(to)).to_string_lossy().into_owned();
        assert_eq!(way("/a/b", "/a/c/d"), "../c/d");
        assert_eq!(way("/a", "/a"), ".");
        assert_eq!(way("/", "/a"), "a");
    }
}
