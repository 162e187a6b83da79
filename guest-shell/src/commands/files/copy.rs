//! Copying and moving for `cp`, `mv` and `install`.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use bashkit::{FileType, Metadata, Result};

use super::call::{Call, kind, reason};
use super::place::{base, is_dots, join, parent};
use super::quote::quote;
use super::target::{Backups, Control, back_up};

/// Symbolic links in the source that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// No links are followed (`-P`).
    Never,
    /// Links that are operands are followed (`-H`).
    Operands,
    /// Every link is followed (`-L`).
    Always,
}

/// Treatment of an existing destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// The destination is replaced.
    Replace,
    /// The destination is kept (`-n`).
    Keep,
    /// The user decides (`-i`).
    Ask,
}

/// Operation that makes the destination from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Make {
    Copy,
    /// Moving the source (`mv`).
    Move,
    /// Making a symbolic link to the source (`-s`).
    Symlink,
    /// Making a hard link to the source (`-l`).
    Link,
}

/// Options of copying.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) make: Make,
    pub(super) recursive: bool,
    pub(super) follow: Follow,
    pub(super) existing: Existing,
    /// True if only newer sources are copied (`-u`).
    pub(super) update: bool,
    pub(super) backups: Backups,
    pub(super) verbose: bool,
    /// True if a destination that cannot be written is removed (`-f`).
    pub(super) force: bool,
    /// True if the destination is removed first.
    pub(super) unlink_first: bool,
    pub(super) keep_mode: bool,
    /// New files have the mode of files that nothing was copied to (`--no-preserve=mode`).
    pub(super) default_mode: bool,
    pub(super) keep_time: bool,
    /// True if contents are not copied (`--attributes-only`).
    pub(super) attributes_only: bool,
    /// Mode of new files (`install`).
    pub(super) mode: Option<u32>,
}

/// Operand that is being copied to a target.
struct Operand {
    source: String,
    target: String,
    /// True once the first directory of its copy was created, which must not be copied into itself.
    made: bool,
}

/// Copies made in one execution.
pub(super) struct Copier {
    options: Options,
    /// Directories that were copied or created, with the names of their copies.
    directories: HashMap<PathBuf, String>,
    /// Destinations that were created.
    made: HashSet<PathBuf>,
    /// Operands that are files.
    sources: HashSet<PathBuf>,
}

/// Source and destination with their metadata.
struct Pair<'a> {
    from: &'a str,
    to: &'a str,
    source: Metadata,
    /// Metadata of the destination; `None` if it does not exist.
    target: Option<Metadata>,
    named: bool,
}

impl Copier {
    pub(super) fn new(options: Options) -> Self {
        Self { options, directories: HashMap::new(), made: HashSet::new(), sources: HashSet::new() }
    }

    /// Copies or moves one operand.
    pub(super) async fn operand(&mut self, call: &mut Call<'_>, source: &str, target: &str) -> Result<()> {
        let mut operand = Operand { source: source.to_owned(), target: target.to_owned(), made: false };
        self.entry(call, source, target, None, &mut operand).await.map(|_| ())
    }

    /// Copies a file, or a directory with its contents. Returns true if the destination exists afterwards.
    async fn entry(
        &mut self,
        call: &mut Call<'_>,
        from: &str,
        to: &str,
        above: Option<&Above<'_>>,
        operand: &mut Operand,
    ) -> Result<bool> {
        let named = above.is_none();
        call.work();
        let Some(pair) = self.look(call, from, to, named).await else { return Ok(false) };
        let follows = self.follows(named);
        let is_directory = pair.source.file_type.is_dir();
        let place = match is_directory || named {
            true => call.identity(from, follows).await.unwrap_or_else(|| call.path(from)),
            // The locations of files in subdirectories are not needed.
            false => PathBuf::new(),
        };
        let warns = self.options.make != Make::Move && self.options.mode.is_none();
        if warns && named && !is_directory && !self.sources.insert(place.clone()) && pair.target.is_some() {
            call.note(format!("warning: source file {} specified more than once", quote(from)));
            return Ok(true);
        }
        if self.options.make != Make::Move && is_directory && above.is_some_and(|above| above.holds(&place)) {
            call.fail(format!("cannot copy cyclic symbolic link {}", quote(from)));
            return Ok(false);
        }
        let (backup, is_new) = match self.make_way(call, &pair).await? {
            Way::Blocked => return Ok(false),
            Way::Settled => return Ok(true),
            Way::Clear { backup, is_new } => (backup, is_new),
        };
        if is_directory && self.options.make != Make::Move {
            if let Some(earlier) = self.directories.get(&place).cloned() {
                return Ok(self.again(call, from, to, &earlier, operand).await);
            }
            if named {
                self.directories.insert(place.clone(), to.to_owned());
            }
        }
        if self.options.make == Make::Move {
            return Ok(self.rename(call, &pair, &backup).await);
        }
        if self.options.verbose && !is_directory {
            self.tell(call, from, to, &backup);
        }
        if is_directory {
            return self.directory(call, &pair, is_new, Above { place, above }, operand).await;
        }
        let done = self.file(call, &pair, is_new, follows).await;
        if done && named {
            self.made.extend(call.identity(to, false).await);
        }
        Ok(done)
    }

    /// Returns true if a link is followed.
    fn follows(&self, named: bool) -> bool {
        match self.options.follow {
            Follow::Never => false,
            Follow::Operands => named,
            Follow::Always => true,
        }
    }

    /// Reads the metadata of source and destination. Returns `None` after reporting a failure.
    async fn look<'a>(&self, call: &mut Call<'_>, from: &'a str, to: &'a str, named: bool) -> Option<Pair<'a>> {
        let source = if self.follows(named) { call.stat(from).await } else { call.lstat(from).await };
        let source = match source {
            Ok(source) => source,
            Err(error) => {
                call.cannot("cannot stat", from, &error);
                return None;
            }
        };
        if source.file_type.is_dir() && !self.options.recursive {
            let hint = if self.options.mode.is_some() { "" } else { "-r not specified; " };
            call.fail(format!("{hint}omitting directory {}", quote(from)));
            return None;
        }
        let options = &self.options;
        let itself = source.file_type == FileType::Symlink
            || options.make != Make::Copy
            || options.backups.control != Control::Off
            || options.unlink_first;
        let target = if itself { call.lstat(to).await } else { call.stat(to).await };
        let target = match target {
            Ok(target) => Some(target),
            Err(error) if kind(&error) == Some(ErrorKind::NotFound) => None,
            // A name of a file with a trailing slash: the error follows when it is created.
            Err(_) if to.ends_with('/') && !source.file_type.is_dir() => None,
            Err(error) => {
                call.cannot("failed to access", to, &error);
                return None;
            }
        };
        Some(Pair { from, to, source, target, named })
    }

    /// Prepares the destination for a copy.
    async fn make_way(&mut self, call: &mut Call<'_>, pair: &Pair<'_>) -> Result<Way> {
        let clear = |is_new| Way::Clear { backup: String::new(), is_new };
        let Some(target) = pair.target.clone() else { return Ok(clear(true)) };
        let (from, to) = (pair.from, pair.to);
        let moves = self.options.make == Make::Move;
        if self.options.existing == Existing::Keep && (moves || !pair.source.file_type.is_dir()) {
            return Ok(Way::Settled);
        }
        match self.may_be_same(call, pair, &target).await {
            Same::Fine => {}
            Same::Done => return Ok(Way::Settled),
            Same::Mistake => {
                call.fail(format!("{} and {} are the same file", quote(from), quote(to)));
                return Ok(Way::Blocked);
            }
        }
        let (is_directory, into) = (pair.source.file_type.is_dir(), target.file_type.is_dir());
        if self.options.update && !is_directory && pair.source.modified <= target.modified {
            return Ok(Way::Settled);
        }
        let asks = self.options.existing == Existing::Ask && (moves || !is_directory);
        if asks && !call.confirms(&format!("overwrite {}", quote(to))).await? {
            return Ok(Way::Settled);
        }
        if self.clash(call, pair, is_directory, into).await {
            return Ok(Way::Blocked);
        }
        let backups = self.options.backups.clone();
        if backups.control != Control::Off && !is_dots(base(from)) && (moves || !into) {
            let backup = backups.name(call, to).await;
            if call.identity(&backup, false).await == call.identity(from, false).await {
                let verb = if moves { "moved" } else { "copied" };
                let (to, from) = (quote(to), quote(from));
                call.fail(format!("backing up {to} might destroy source;  {from} not {verb}"));
                return Ok(Way::Blocked);
            }
            return Ok(match back_up(call, to, backup).await {
                Some(backup) => Way::Clear { backup, is_new: true },
                None => Way::Blocked,
            });
        }
        let replaced = self.options.unlink_first
            || self.options.make == Make::Copy
                && (pair.source.file_type == FileType::Symlink
                    || target.file_type == FileType::Symlink && self.options.follow == Follow::Never);
        if !into && !moves && replaced {
            if let Err(error) = call.fs.remove(&call.path(to), false).await {
                call.cannot("cannot remove", to, &error);
                return Ok(Way::Blocked);
            }
            if self.options.verbose {
                call.print(&format!("removed {}\n", quote(to)));
            }
            return Ok(clear(true));
        }
        Ok(clear(false))
    }

    /// Reports a conflict between a directory and another kind of file.
    async fn clash(&mut self, call: &mut Call<'_>, pair: &Pair<'_>, is_directory: bool, into: bool) -> bool {
        let (from, to) = (pair.from, pair.to);
        let moves = self.options.make == Make::Move;
        let backed = moves && self.options.backups.control != Control::Off;
        if !into {
            if is_directory && !backed {
                call.fail(format!("cannot overwrite non-directory {} with directory {}", quote(to), quote(from)));
                return true;
            }
            let place = call.identity(to, false).await;
            let fresh = place.is_some_and(|place| self.made.contains(&place));
            if pair.named && fresh && self.options.backups.control != Control::Numbered {
                call.fail(format!("will not overwrite just-created {} with {}", quote(to), quote(from)));
                return true;
            }
        } else if !is_directory && !backed {
            call.fail(format!("cannot overwrite directory {} with non-directory", quote(to)));
            return true;
        }
        false
    }

    /// Determines whether source and destination are the same file, and whether that matters: GNU's `same_file_ok`.
    async fn may_be_same(&self, call: &Call<'_>, pair: &Pair<'_>, target: &Metadata) -> Same {
        let options = &self.options;
        let follows = self.follows(pair.named);
        let (from, to) = (call.identity(pair.from, false).await, call.identity(pair.to, false).await);
        let same_entry = from.is_some() && from == to;
        let (from_end, to_end) = (call.identity(pair.from, true).await, call.identity(pair.to, true).await);
        let same_file = from_end.is_some() && from_end == to_end;
        let from_link = call.lstat(pair.from).await.is_ok_and(|found| found.file_type == FileType::Symlink);
        let to_link = call.lstat(pair.to).await.is_ok_and(|found| found.file_type == FileType::Symlink);
        let looked_at = if target.file_type == FileType::Symlink { same_entry } else { same_file || same_entry };
        if options.make == Make::Link && looked_at {
            return Same::Done;
        }
        if !follows && from_link && to_link {
            return if same_entry { Same::Mistake } else { Same::Fine };
        }
        if !same_file && (follows || !same_entry) {
            return Same::Fine;
        }
        if options.unlink_first && from_link && to_link {
            return if same_entry { Same::Mistake } else { Same::Fine };
        }
        if options.backups.control != Control::Off {
            let dangles = options.make != Make::Move && follows && from_link && !to_link;
            return if same_entry || dangles { Same::Mistake } else { Same::Fine };
        }
        if (options.make == Make::Move || options.unlink_first) && to_link && !same_entry {
            return Same::Fine;
        }
        if options.make == Make::Symlink && to_link && !same_entry {
            return Same::Fine;
        }
        Same::Mistake
    }

    /// Handles a source directory that was copied before.
    async fn again(&self, call: &mut Call<'_>, from: &str, to: &str, earlier: &str, operand: &Operand) -> bool {
        if call.identity(from, true).await == call.identity(earlier, true).await {
            let (from, to) = (quote(&operand.source), quote(&operand.target));
            call.fail(format!("cannot copy a directory, {from}, into itself, {to}"));
            return false;
        }
        if to == earlier {
            call.note(format!("warning: source directory {} specified more than once", quote(from)));
            return true;
        }
        call.fail(format!("will not create hard link {} to directory {}", quote(to), quote(earlier)));
        false
    }

    /// Prints the names of source and destination (`-v`).
    fn tell(&self, call: &mut Call<'_>, from: &str, to: &str, backup: &str) {
        let verb = if self.options.make == Make::Move { "renamed " } else { "" };
        let backup = if backup.is_empty() { String::new() } else { format!(" (backup: {})", quote(backup)) };
        call.print(&format!("{verb}{} -> {}{backup}\n", quote(from), quote(to)));
    }

    async fn rename(&mut self, call: &mut Call<'_>, pair: &Pair<'_>, backup: &str) -> bool {
        let (from, to) = (pair.from, pair.to);
        let (source, target) = (call.path(from), call.path(to));
        if is_dots(base(from)) {
            call.fail(format!("cannot move {} to {}: Device or resource busy", quote(from), quote(to)));
            return false;
        }
        if target.starts_with(&source) && source != target {
            call.fail(format!("cannot move {} to a subdirectory of itself, {}", quote(from), quote(to)));
            return false;
        }
        let renamed = match to.ends_with('/') && !pair.source.file_type.is_dir() {
            true => Err(super::place::not_directory()),
            false => call.fs.rename(&source, &target).await,
        };
        if let Err(error) = renamed {
            let reason = reason(&error);
            call.fail(format!("cannot move {} to {}: {reason}", quote(from), quote(to)));
            return false;
        }
        if self.options.verbose {
            self.tell(call, from, to, backup);
        }
        if pair.named {
            self.made.extend(call.identity(to, false).await);
        }
        true
    }

    async fn directory(
        &mut self,
        call: &mut Call<'_>,
        pair: &Pair<'_>,
        is_new: bool,
        above: Above<'_>,
        operand: &mut Operand,
    ) -> Result<bool> {
        let (from, to) = (pair.from, pair.to);
        if is_new {
            if let Err(error) = call.fs.mkdir(&call.path(to), false).await {
                call.cannot("cannot create directory", to, &error);
                return Ok(false);
            }
            if self.options.verbose {
                self.tell(call, from, to, "");
            }
            if !operand.made {
                operand.made = true;
                if let Some(place) = call.identity(to, true).await {
                    self.directories.insert(place, to.to_owned());
                }
            }
        }
        let entries = match call.fs.read_dir(&call.path(from)).await {
            Ok(entries) => entries,
            Err(error) => {
                call.cannot("cannot access", from, &error);
                return Ok(false);
            }
        };
        let mut done = true;
        let mut names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        for name in names {
            let (from, to) = (join(from, &name), join(to, &name));
            done &= Box::pin(self.entry(call, &from, &to, Some(&above), operand)).await?;
        }
        self.keep(call, pair, is_new).await;
        Ok(done)
    }

    /// Sets the mode and the time of a copy to those of its source, as the options require.
    async fn keep(&self, call: &mut Call<'_>, pair: &Pair<'_>, is_new: bool) {
        let path = call.path(pair.to);
        let mode = match self.options.mode {
            Some(mode) => Some(mode),
            None if self.options.keep_mode => Some(pair.source.mode & 0o7777),
            None if is_new && self.options.default_mode => {
                let most = if pair.source.file_type.is_dir() { 0o777 } else { 0o666 };
                Some(most & !call.umask)
            }
            // A new directory keeps the sticky bit, and a file no special bits.
            None if is_new && pair.source.file_type.is_dir() => Some(pair.source.mode & 0o1777 & !call.umask),
            None if is_new => Some(pair.source.mode & 0o777 & !call.umask),
            None => None,
        };
        if let Some(mode) = mode
            && let Err(error) = call.fs.chmod(&path, mode).await
        {
            call.cannot("preserving permissions for", pair.to, &error);
        }
        if self.options.keep_time
            && let Err(error) = call.fs.set_modified_time(&path, pair.source.modified).await
        {
            call.cannot("preserving times for", pair.to, &error);
        }
    }

    /// Copies anything but a directory.
    async fn file(&self, call: &mut Call<'_>, pair: &Pair<'_>, is_new: bool, follows: bool) -> bool {
        let (from, to) = (pair.from, pair.to);
        match self.options.make {
            Make::Symlink => return self.symlink_to(call, from, to).await,
            Make::Link => {
                let reason = reason(&super::ln::refusal(call, to).await);
                call.fail(format!("cannot create hard link {} to {}: {reason}", quote(to), quote(from)));
                return false;
            }
            Make::Copy | Make::Move => {}
        }
        if !follows && pair.source.file_type == FileType::Symlink {
            return self.copy_link(call, from, to).await;
        }
        if self.options.attributes_only {
            if is_new && let Err(error) = call.fs.write_file(&call.path(to), b"").await {
                call.cannot("cannot create regular file", to, &error);
                return false;
            }
            self.keep(call, pair, is_new).await;
            return true;
        }
        let dangling = call.lstat(to).await.is_ok_and(|found| found.file_type == FileType::Symlink)
            && call.stat(to).await.is_err();
        if dangling {
            if !self.options.force {
                call.fail(format!("not writing through dangling symlink {}", quote(to)));
                return false;
            }
            if let Err(error) = call.fs.remove(&call.path(to), false).await {
                call.cannot("cannot remove", to, &error);
                return false;
            }
        }
        // A name with a trailing slash must be a directory.
        let copied = match to.ends_with('/') {
            true => Err(super::place::not_directory()),
            false => self.contents(call, from, to).await,
        };
        if let Err(error) = copied {
            call.cannot("cannot create regular file", to, &error);
            return false;
        }
        self.keep(call, pair, is_new).await;
        true
    }

    async fn contents(&self, call: &Call<'_>, from: &str, to: &str) -> Result<()> {
        let (source, target) = (call.path(from), call.path(to));
        let mode = call.fs.stat(&target).await.ok().map(|found| found.mode);
        call.fs.copy(&source, &target).await?;
        match mode {
            // The file system may have copied the mode as well.
            Some(mode) => call.fs.chmod(&target, mode).await,
            None => Ok(()),
        }
    }

    async fn symlink_to(&self, call: &mut Call<'_>, from: &str, to: &str) -> bool {
        let elsewhere = call.identity(parent(to), true).await != call.identity(".", true).await;
        if !from.starts_with('/') && elsewhere && call.stat(parent(to)).await.is_ok() {
            call.fail(format!(
                "{}: can make relative symbolic links only in current directory",
                super::quote::quote_if_needed(to)
            ));
            return false;
        }
        let target = call.path(to);
        if self.options.force && call.fs.lstat(&target).await.is_ok_and(|found| !found.file_type.is_dir()) {
            // A destination that cannot be removed is reported later, as existing.
            let _ = call.fs.remove(&target, false).await;
        }
        let made = match to.ends_with('/') {
            true => Err(super::place::missing()),
            false => call.fs.symlink(std::path::Path::new(from), &target).await,
        };
        match made {
            Ok(()) => true,
            Err(error) => {
                let reason = reason(&error);
                call.fail(format!("cannot create symbolic link {} to {}: {reason}", quote(to), quote(from)));
                false
            }
        }
    }

    async fn copy_link(&self, call: &mut Call<'_>, from: &str, to: &str) -> bool {
        let target = match call.fs.read_link(&call.path(from)).await {
            Ok(target) => target,
            Err(error) => {
                call.cannot("cannot read symbolic link", from, &error);
                return false;
            }
        };
        match call.fs.symlink(&target, &call.path(to)).await {
            Ok(()) => true,
            Err(error) => {
                call.cannot("cannot create symbolic link", to, &error);
                false
            }
        }
    }
}

/// Result of preparing a destination.
enum Way {
    /// The destination stays, which has been reported.
    Blocked,
    /// Nothing is left to do.
    Settled,
    /// The copy can be made.
    Clear {
        /// Name of the backup; empty if none was made.
        backup: String,
        /// True if the destination no longer exists.
        is_new: bool,
    },
}

/// Consequence of source and destination being the same file.
enum Same {
    /// Absence of a conflict: the files differ, or a copy does no harm.
    Fine,
    /// There is nothing to do.
    Done,
    /// The operation would destroy the file.
    Mistake,
}

/// Directory that is being copied, with the directories that it is in.
struct Above<'a> {
    place: PathBuf,
    above: Option<&'a Above<'a>>,
}

impl Above<'_> {
    fn holds(&self, place: &std::path::Path) -> bool {
        self.place == place || self.above.is_some_and(|above| above.holds(place))
    }
}
