//! Actions of `zip` other than creating the archive: testing, showing the selection, and removing archived files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bashkit::{FileType, Result};

use super::create::{Run, TEST};
use super::entry::{Archive, Damage, Entry};
use super::selection::{Mark, Selection, Source};
use super::zip_options::Action;

impl Run<'_, '_> {
    /// Tests an archive as `unzip -tqq` does, and reports the result.
    pub(super) fn test(&mut self, file: &str, archive: &Archive) -> std::result::Result<(), i32> {
        let mut good = !archive.entries.is_empty();
        if !good {
            self.told += &format!("warning [{file}]:  zipfile is empty\n");
        }
        for (at, entry) in archive.entries.iter().enumerate() {
            let (_, damage) = archive.content(entry);
            let name = &entry.name;
            self.told += &match damage {
                None => continue,
                Some(Damage::Sum { found, expected }) => {
                    format!("{name:<22}  bad CRC {found:08x}  (should be {expected:08x})\n")
                }
                Some(Damage::Encrypted) => format!("   skipping: {name:<22}  encrypted (not supported)\n"),
                Some(Damage::Method(method)) => {
                    format!("   skipping: {name:<22}  unsupported compression method {method}\n")
                }
                Some(Damage::Offset(place)) => {
                    format!("file #{}:  bad zipfile offset (local header sig):  {place}\n", at + 1)
                }
                Some(Damage::Invalid) => format!("  error:  invalid compressed data to inflate {name}\n"),
                Some(Damage::Memory(size)) => {
                    format!("  error:  {name} does not fit into memory: {size} bytes\n")
                }
            };
            good = false;
        }
        if good {
            self.say(&format!("test of {file} OK\n"));
            return Ok(());
        }
        self.told += &format!("test of {file} FAILED\n");
        Err(self.fail(TEST, "original files unmodified"))
    }

    /// Removes archived files, and directories that become empty.
    pub(super) async fn remove_moved(&mut self, moved: &[Source]) -> Result<()> {
        let mut directories: Vec<PathBuf> = Vec::new();
        let mut seen = HashSet::new();
        for source in moved.iter().filter(|source| seen.insert(&source.given)) {
            if source.name.ends_with('/') {
                directories.push(source.path.clone());
                continue;
            }
            if source.kind == FileType::Fifo || self.context.fs.remove(&source.path, false).await.is_err() {
                self.warn(&format!("error deleting {}", source.given));
            }
            if self.options.no_directories && source.name.contains('/') {
                directories.extend(source.path.parent().map(Path::to_owned));
            }
        }
        directories.sort();
        for path in directories.into_iter().rev() {
            // A directory that is not empty remains, without a message.
            let empty = self.context.fs.read_dir(&path).await.is_ok_and(|children| children.is_empty());
            if empty {
                let _ = self.context.fs.remove(&path, false).await;
            }
        }
        Ok(())
    }

    /// Shows the selected files without any changes.
    pub(super) fn show(&mut self, entries: &[Entry], selection: &Selection, all: bool) {
        let head = match self.options.action {
            _ if all => "Archive contains:\n",
            Action::Delete => "Would Delete:\n",
            Action::Freshen => "Would Freshen:\n",
            Action::Add | Action::Update => "Would Add/Update:\n",
        };
        self.say(head);
        let marked = entries.iter().zip(&selection.marks).filter(|(_, mark)| mark.marked || all);
        let size = |mark: &Mark, entry: &Entry| {
            mark.source
                .as_ref()
                .map_or(entry.size, |source| if source.kind == FileType::Directory { 0 } else { source.size })
        };
        let old = marked.map(|(entry, mark)| (entry.name.clone(), size(mark, entry)));
        let new = selection
            .found
            .iter()
            .map(|source| (source.name.clone(), if source.kind == FileType::Directory { 0 } else { source.size }));
        let shown: Vec<(String, u64)> = old.chain(new).collect();
        for (name, _) in &shown {
            self.say(&format!("  {name}\n"));
        }
        let bytes: u64 = shown.iter().map(|(_, size)| size).sum();
        self.told += &format!("Total {} entries ({bytes} bytes)\n", shown.len());
    }
}

/// Returns files that are already in the archive.
pub(super) fn trash(selection: &Selection) -> Vec<Source> {
    selection.marks.iter().filter_map(|mark| mark.trash.clone()).collect()
}
