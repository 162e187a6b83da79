//! Selection of files by `zip`: entries of the archive, and new files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use bashkit::time::{SystemTime, UNIX_EPOCH};
use bashkit::{CommandContext, FileType, Result, vfs_join};

use super::entry::Entry;
use super::pattern::matches;
use super::zip_options::{Action, Options};
use crate::clock;

/// File for the archive.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Name in the form of the command line; a directory ends with `/`.
    pub(super) given: String,
    /// Name of the file in the archive.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: FileType,
    pub(super) size: u64,
    pub(super) time: u64,
}

/// Mark of an entry, which determines its treatment.
#[derive(Clone, Debug, Default)]
pub(super) struct Mark {
    /// True if the command line selects the entry.
    pub(super) marked: bool,
    /// Name of its file, in the form of the command line.
    given: Option<String>,
    /// File that will replace the entry, if any.
    pub(super) source: Option<Source>,
    /// File that `-m` removes although it does not replace the entry, because it is not newer.
    pub(super) trash: Option<Source>,
    /// True if the file matches the entry.
    pub(super) current: bool,
}

/// Entries and files that the command line selects.
pub(super) struct Selection {
    /// Marks of the entries, in the order of the archive.
    pub(super) marks: Vec<Mark>,
    pub(super) found: Vec<Source>,
    /// Names without a match.
    pub(super) missed: Vec<String>,
    /// True if all files match their entries, and vice versa.
    pub(super) all_current: bool,
}

/// Selector, which resolves the names on the command line.
pub(super) struct Selector<'a, 'c> {
    context: &'a CommandContext<'c>,
    options: &'a Options,
    entries: &'a [Entry],
    /// Index of the first entry of each name.
    places: HashMap<&'a str, usize>,
    /// Names of the command line whose files are new.
    taken: HashSet<String>,
    /// Path of the archive, unless it goes to standard output.
    own: Option<&'a Path>,
    /// Patterns of the option `-R`.
    below: Vec<String>,
    selection: Selection,
}

impl<'a, 'c> Selector<'a, 'c> {
    pub(super) fn new(
        context: &'a CommandContext<'c>,
        options: &'a Options,
        entries: &'a [Entry],
        own: Option<&'a Path>,
    ) -> Self {
        let marks = vec![Mark::default(); entries.len()];
        let selection = Selection { marks, found: Vec::new(), missed: Vec::new(), all_current: true };
        let named = entries.iter().enumerate().rev().map(|(at, entry)| (entry.name.as_str(), at));
        let (places, taken) = (named.collect(), HashSet::new());
        Self { context, options, entries, places, taken, own, below: Vec::new(), selection }
    }

    /// Selects files and entries by names. The error is a message about ambiguous names.
    pub(super) async fn select(mut self, names: &[String]) -> Result<std::result::Result<Selection, String>> {
        if self.options.patterns {
            self.below = names.to_vec();
            self.add(".".to_owned()).await?;
        } else {
            for name in names {
                self.add(name.clone()).await?;
            }
        }
        let all = names.is_empty() && matches!(self.options.action, Action::Update | Action::Freshen);
        for (at, entry) in self.entries.iter().enumerate().filter(|_| all) {
            self.selection.marks[at].marked = self.passes(&entry.name);
        }
        if let Err(why) = self.tell_apart() {
            return Ok(Err(why));
        }
        self.compare().await?;
        Ok(Ok(self.selection))
    }

    /// Adds a name: a file, a directory with its contents, or a pattern of entries.
    async fn add(&mut self, name: String) -> Result<()> {
        let mut pending = vec![name];
        while let Some(given) = pending.pop() {
            clock::burn(1);
            if given == "-" {
                self.take(given, FileType::Fifo);
                continue;
            }
            match self.look(&given).await {
                None => self.mark_by_pattern(given),
                Some((FileType::Directory, ..)) => {
                    let path = vfs_join(self.context.cwd, Path::new(&given));
                    let prefix = match given.as_str() {
                        "." => String::new(),
                        _ if given.ends_with('/') => given,
                        _ => format!("{given}/"),
                    };
                    if !self.options.no_directories {
                        self.take(prefix.clone(), FileType::Directory);
                    }
                    if self.options.recurse || self.options.patterns {
                        let mut children = self.context.fs.read_dir(&path).await?;
                        children.sort_by(|one, other| other.name.cmp(&one.name));
                        pending.extend(children.into_iter().map(|child| format!("{prefix}{}", child.name)));
                    }
                }
                Some((kind, ..)) => self.take(given, kind),
            }
        }
        Ok(())
    }

    /// Returns kind, size and time of a file; `None` if it does not exist, or is a followed link without a target.
    async fn look(&self, given: &str) -> Option<(FileType, u64, u64)> {
        if given == "-" {
            return Some((FileType::Fifo, 0, clock::now_micros() / 1_000_000));
        }
        let path = vfs_join(self.context.cwd, Path::new(given));
        let fs = &self.context.fs;
        let found = if self.options.links { fs.lstat(&path).await } else { fs.stat(&path).await }.ok()?;
        Some((found.file_type, found.size, whole_seconds(found.modified)))
    }

    fn mark_by_pattern(&mut self, given: String) {
        let pattern = inside(&given, false);
        let mut any = false;
        for (at, entry) in self.entries.iter().enumerate() {
            if matches(&pattern, &entry.name, false) {
                self.selection.marks[at].marked = self.passes(&entry.name);
                any = true;
            }
        }
        if !any {
            self.selection.missed.push(given);
        }
    }

    /// Adds a file, which marks its entry or becomes a new one.
    fn take(&mut self, given: String, kind: FileType) {
        let name = inside(&given, self.options.junk);
        if name.is_empty() || !self.passes(&inside(&given, false)) {
            return;
        }
        if let Some(&at) = self.places.get(name.as_str()) {
            let mark = &mut self.selection.marks[at];
            (mark.marked, mark.given) = (true, Some(given));
            return;
        }
        let path = vfs_join(self.context.cwd, Path::new(&given));
        if Some(path.as_path()) != self.own && self.taken.insert(given.clone()) {
            self.selection.found.push(Source { given, name, path, kind, size: 0, time: 0 });
        }
    }

    /// Returns true if the patterns of the options admit a name.
    fn passes(&self, name: &str) -> bool {
        let Options { exclude, include, .. } = self.options;
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name, false));
        // A pattern is compared with the same number of parts at the end of the name.
        let below = |pattern: &String| {
            let parts = pattern.matches('/').count() + 1;
            let skipped = name.split('/').count().saturating_sub(parts);
            matches(pattern, name.splitn(skipped + 1, '/').last().unwrap_or_default(), false)
        };
        !named(exclude)
            && (include.is_empty() || named(include))
            && (self.below.is_empty() || self.below.iter().any(below))
    }

    /// Checks that no two files would become the same entry.
    fn tell_apart(&self) -> std::result::Result<(), String> {
        let mut sorted: Vec<&Source> = self.selection.found.iter().collect();
        sorted.sort_by(|one, other| (&one.name, &one.given).cmp(&(&other.name, &other.given)));
        let Some(pair) = sorted.windows(2).find(|pair| pair[0].name == pair[1].name) else { return Ok(()) };
        let junk = if self.options.junk { "\n                     this may be a result of using -j" } else { "" };
        Err(format!(
            "  first full name: {}\n                      second full name: {}\n                     \
             name in zip file repeated: {}{junk}",
            pair[0].given, pair[1].given, pair[0].name
        ))
    }

    /// Compares marked entries and selected files with the existing files.
    async fn compare(&mut self) -> Result<()> {
        let action = self.options.action;
        let mut marks = std::mem::take(&mut self.selection.marks);
        for (mark, entry) in marks.iter_mut().zip(self.entries) {
            if !mark.marked {
                self.selection.all_current = false;
                continue;
            }
            if action == Action::Delete {
                continue;
            }
            let given = mark.given.clone().unwrap_or_else(|| entry.name.clone());
            let Some((kind, size, time)) = self.look(&given).await else {
                (mark.marked, self.selection.all_current) = (false, false);
                continue;
            };
            let path = vfs_join(self.context.cwd, Path::new(&given));
            let source = Source { given, name: entry.name.clone(), path, kind, size, time };
            if action != Action::Add && time <= entry.time {
                mark.marked = false;
                mark.trash = Some(source);
                continue;
            }
            mark.current = time == entry.time && (size == entry.size || kind == FileType::Directory);
            self.selection.all_current &= mark.current;
            mark.source = Some(source);
        }
        self.selection.marks = marks;
        let mut found = Vec::new();
        for source in std::mem::take(&mut self.selection.found) {
            if matches!(action, Action::Delete | Action::Freshen) {
                continue;
            }
            if let Some((_, size, time)) = self.look(&source.given).await {
                found.push(Source { size, time, ..source });
            }
        }
        self.selection.found = found;
        Ok(())
    }
}

/// Returns the name in the archive for a file on the command line.
fn inside(given: &str, junk: bool) -> String {
    let mut name = given.trim_start_matches('/');
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    if junk { name.rsplit('/').next().unwrap_or_default() } else { name }.to_owned()
}

/// Returns the seconds since the Unix epoch.
fn whole_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_archive_lead_down() {
        assert_eq!((inside("/a/b", false), inside("././a", false)), ("a/b".to_owned(), "a".to_owned()));
        assert_eq!((inside("a/b", true), inside("d/", true)), ("b".to_owned(), String::new()));
    }
}
