//! Selection of the file for a diff, and detection of diffs that were already applied.

use bashkit::{FileType, Result};

use super::command::{Run, shown};
use super::diff::{FileDiff, Presence};

/// Mask of the file type in modes.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;

/// File to which a diff applies.
#[derive(Debug, Default)]
pub(super) struct Subject {
    /// Name of the file that is read, if known.
    pub(super) name: Option<String>,
    /// True if the diff is of symbolic links.
    pub(super) link: bool,
    /// True if the diff is skipped, after a message with the reason.
    pub(super) skipped: bool,
}

/// Decision about a diff that looks reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Anyway,
    Reversed,
    Skip,
}

/// Type and size of an existing file.
type Found = Option<(FileType, u64)>;

impl Run<'_, '_> {
    /// Selects the file for a diff, and reverses the diff if the options request it.
    pub(super) async fn subject(&mut self, diff: &mut FileDiff) -> Result<Subject> {
        let file_type = match (diff.old_mode.map(|mode| mode & TYPE), diff.new_mode.map(|mode| mode & TYPE)) {
            (Some(old), Some(new)) if old != new => None,
            (old, new) => Some(old.or(new).unwrap_or(REGULAR)),
        };
        let mut subject = Subject { link: file_type == Some(SYMLINK), ..Subject::default() };
        let kind = match file_type {
            Some(SYMLINK) => Some(FileType::Symlink),
            Some(REGULAR) => Some(FileType::File),
            _ => None,
        };
        if let Some(name) = self.options.operands.first().cloned() {
            let found = self.look(&name).await;
            if found.is_none_or(|(found, _)| Some(found) == kind) {
                subject.skipped = self.looks_reversed(diff, &name, found);
            }
            subject.name = Some(name);
        } else {
            self.choose(diff, kind, &mut subject).await;
        }
        if let (false, None, Some(name)) = (subject.skipped, file_type, &subject.name) {
            let (old, new) = (diff.old_mode.unwrap_or_default() & TYPE, diff.new_mode.unwrap_or_default() & TYPE);
            let name = shown(name);
            self.told += &format!("File {name}: can't change file type from 0{old:o} to 0{new:o}.\n");
            subject.skipped = true;
        }
        Ok(subject)
    }

    /// Selects the file by the names in a diff.
    async fn choose(&mut self, diff: &mut FileDiff, kind: Option<FileType>, subject: &mut Subject) {
        // In the order of the text, even if the diff is reversed.
        let (first, second) = if self.options.reverse { (1, 0) } else { (0, 1) };
        let both = [&diff.old_name, &diff.new_name];
        let names: Vec<String> =
            [both[first], both[second]].into_iter().filter_map(|name| self.stripped(name.as_deref())).collect();
        let mut there = Vec::new();
        for name in &names {
            if let Some(found) = self.look(name).await {
                there.push((name.clone(), found));
            }
        }
        let best = there.into_iter().min_by_key(|(name, _)| rank(name));
        let last = names.last().cloned();
        if let Some((name, found)) = best {
            if Some(found.0) == kind {
                subject.skipped = self.looks_reversed(diff, &name, Some(found));
            }
            subject.name = Some(name);
        } else if let Some(last) = last {
            if self.asks_reversed(diff, None) {
                subject.skipped = self.looks_reversed(diff, &last, None);
                subject.name = Some(last);
            } else if diff.before != Presence::Present {
                subject.name = names.iter().min_by_key(|name| rank(name)).cloned();
            }
        }
        let both =
            self.stripped(diff.old_name.as_deref()).is_some() && self.stripped(diff.new_name.as_deref()).is_some();
        if (diff.rename || diff.copy) && !(both && subject.name.is_some()) {
            let verb = if diff.rename { "rename" } else { "copy" };
            self.told += &format!("Cannot {verb} file without two valid file names\n");
            subject.skipped = true;
        }
    }

    /// Returns true if a diff looks already applied: it creates an existing file, or deletes a missing one.
    fn asks_reversed(&self, diff: &FileDiff, found: Found) -> bool {
        let (absent, empty) = (found.is_none(), found.is_none_or(|(_, size)| size == 0));
        let said = if empty { diff.after } else { diff.before };
        let (here, there) = if absent { (diff.after, diff.before) } else { (diff.before, diff.after) };
        // Checksums of git identify empty files, which may be created or removed.
        if empty && here == Presence::Empty && there == Presence::Absent {
            return false;
        }
        said > if empty { Presence::Present } else { Presence::Empty }
    }

    /// Handles a diff that looks reversed. Returns true if it is skipped.
    fn looks_reversed(&mut self, diff: &mut FileDiff, name: &str, found: Found) -> bool {
        if !self.asks_reversed(diff, found) {
            return false;
        }
        let (would, which) = match found {
            None => ("delete", "does not exist"),
            Some((_, 0)) => ("empty out", "is already empty"),
            Some(_) => ("create", "already exists"),
        };
        let when = if self.options.reverse { ", when reversed," } else { "" };
        let why = format!("The next patch{when} would {would} the file {},\nwhich {which}!", shown(name));
        match self.ask_reversed(&why) {
            Verdict::Anyway => false,
            Verdict::Reversed => {
                diff.reverse();
                false
            }
            Verdict::Skip => true,
        }
    }

    /// Reports that a diff looks reversed. Since nobody can answer, the options decide.
    pub(super) fn ask_reversed(&mut self, why: &str) -> Verdict {
        let options = self.options;
        if options.forward || !(options.force && options.silent) {
            self.told += why;
        }
        let (verb, reverse) = if options.reverse { ("Ignor", true) } else { ("Assum", false) };
        if options.forward {
            self.told += "  Skipping patch.\n";
            return Verdict::Skip;
        }
        if options.force {
            self.say("  Applying it anyway.\n");
            return Verdict::Anyway;
        }
        if options.batch {
            self.say(if reverse { "  Ignoring -R.\n" } else { "  Assuming -R.\n" });
            return Verdict::Reversed;
        }
        self.told += &format!("  {verb}e -R? [n] \nApply anyway? [n] \n");
        self.say("Skipping patch.\n");
        Verdict::Skip
    }

    pub(super) async fn look(&self, name: &str) -> Found {
        let found = self.context.fs.lstat(&self.path(name)).await.ok()?;
        Some((found.file_type, found.size))
    }

    /// Returns a name without the stripped parts; `None` for a missing file and for a name that must not be written.
    pub(super) fn stripped(&self, name: Option<&str>) -> Option<String> {
        let name = name?;
        let stripped = match self.options.strip {
            None => name.rsplit('/').next().unwrap_or_default().to_owned(),
            Some(count) => {
                let mut rest = name;
                for _ in 0..count {
                    let (_, after) = rest.split_once('/')?;
                    rest = after.trim_start_matches('/');
                }
                rest.to_owned()
            }
        };
        let leads_out = stripped.starts_with('/') || stripped.split('/').any(|part| part == "..");
        (!stripped.is_empty() && !leads_out).then_some(stripped)
    }

    /// Reports that no file was found.
    pub(super) fn not_found(&mut self, diff: &FileDiff) {
        let advice = if self.options.strip.is_some() { "used the wrong" } else { "should have used the" };
        self.say(&format!(
            "can't find file to patch at input line {}\nPerhaps you {advice} -p or --strip option?\n",
            diff.line
        ));
        self.told.push_str("The text leading up to this was:\n--------------------------\n");
        let header: Vec<String> =
            diff.header.iter().map(|line| String::from_utf8_lossy(line).trim_end_matches('\n').to_owned()).collect();
        for line in header {
            self.told += &format!("|{line}\n");
        }
        self.told += "--------------------------\n";
        if self.options.force || self.options.batch {
            self.told += "No file to patch.  Skipping patch.\n";
            return;
        }
        self.told += "File to patch: \nSkip this patch? [y] \n";
        self.say("Skipping patch.\n");
    }
}

/// Returns the rank of a name, the best first: few directories, a short last part, a short name.
fn rank(name: &str) -> (usize, usize, usize) {
    (name.matches('/').count(), name.rsplit('/').next().unwrap_or_default().len(), name.len())
}
