//! Recursive search of directories: the files of each in the order of their names, then its directories.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashkit::Result;
use bashkit::fs::{DirEntry, FileType, normalize_path, vfs_join};
use bashkit::limits::{BudgetedVec, ExecutionBudgetLease};

use super::file_filter::{is_directory_searched, is_entry_searched};
use super::search::Search;

/// A directory above the one that is searched, with its links resolved.
struct Ancestor {
    path: PathBuf,
    parent: Option<Arc<Ancestor>>,
    _lease: Option<ExecutionBudgetLease>,
}

/// A directory that is still to be searched.
struct PendingDirectory {
    path: PathBuf,
    ancestors: Option<Arc<Ancestor>>,
    _lease: Option<ExecutionBudgetLease>,
}

impl Search<'_> {
    /// Searches all that is below `root`; names in the output begin with `operand`.
    pub(super) async fn search_tree(&mut self, operand: &str, root: &Path) -> Result<()> {
        let root = normalize_path(root);
        let mut stack = self.budgeted_vec()?;
        stack.try_push(self.pending(&root, None)?)?;
        while let Some(directory) = stack.pop() {
            self.ctx.consume_budget_work(1)?;
            let name = name_below(operand, &root, &directory.path);
            let Some(ancestors) = self.enter(&directory, &name).await? else {
                continue;
            };
            let mut entries = match self.ctx.fs.read_dir(&directory.path).await {
                Ok(entries) => entries,
                Err(error) => {
                    self.read_error(&name, &error);
                    continue;
                }
            };
            self.ctx.consume_budget_work(entries.len() as u64)?;
            let _listing = self.ctx.lease_budget_bytes(listing_size(&entries))?;
            entries.sort_by(|left, right| left.name.cmp(&right.name));
            let mut below = self.budgeted_vec()?;
            for entry in entries {
                self.ctx.consume_budget_work(1)?;
                let path = vfs_join(&directory.path, &entry.name);
                let Some(file_type) = self.searched_type(&entry, &path).await else {
                    continue;
                };
                if file_type.is_dir() && is_directory_searched(self.options, &entry.name) {
                    below.try_push(self.pending(&path, Some(ancestors.clone()))?)?;
                } else if file_type.is_file() && is_entry_searched(self.options, &entry.name) {
                    self.search_file(&name_below(operand, &root, &path), &path).await?;
                    if self.is_quiet_end() {
                        return Ok(());
                    }
                }
            }
            let (below, _storage) = below.into_parts();
            for directory in below.into_iter().rev() {
                stack.try_push(directory)?;
            }
        }
        Ok(())
    }

    /// Returns the ancestors of what is in a directory; none if it cannot be resolved or contains itself by a link.
    async fn enter(&mut self, directory: &PendingDirectory, name: &str) -> Result<Option<Arc<Ancestor>>> {
        let path = match bashkit::fs::canonicalize(self.ctx.fs.as_ref(), &directory.path).await {
            Ok(path) => path,
            Err(error) => {
                self.read_error(name, &error);
                return Ok(None);
            }
        };
        let mut ancestor = directory.ancestors.as_deref();
        while let Some(above) = ancestor {
            self.ctx.consume_budget_work(1)?;
            if above.path == path {
                self.warn(name, "warning: recursive directory loop");
                return Ok(None);
            }
            ancestor = above.parent.as_deref();
        }
        let size = path.as_os_str().len().saturating_add(std::mem::size_of::<Ancestor>());
        let lease = self.ctx.lease_budget_bytes(size)?;
        Ok(Some(Arc::new(Ancestor { path, parent: directory.ancestors.clone(), _lease: lease })))
    }

    /// Returns the type of an entry, or of what it links to; none for links that are not followed.
    async fn searched_type(&self, entry: &DirEntry, path: &Path) -> Option<FileType> {
        let file_type = entry.metadata.file_type;
        if !file_type.is_symlink() {
            return Some(file_type);
        }
        if !self.options.dereference {
            return None;
        }
        Some(self.ctx.fs.stat(path).await.ok()?.file_type)
    }

    fn pending(&self, path: &Path, ancestors: Option<Arc<Ancestor>>) -> Result<PendingDirectory> {
        let lease = self.ctx.lease_budget_bytes(path.as_os_str().len())?;
        Ok(PendingDirectory { path: path.to_path_buf(), ancestors, _lease: lease })
    }

    fn budgeted_vec<T>(&self) -> Result<BudgetedVec<T>> {
        let budget = self.ctx.execution_budget().map(|budget| budget.try_with(Clone::clone));
        let budget = budget.transpose().map_err(|_| bashkit::Error::Cancelled)?;
        Ok(BudgetedVec::new(budget.as_ref())?)
    }
}

/// Bytes that a listing of a directory takes.
fn listing_size(entries: &Vec<DirEntry>) -> usize {
    let table = entries.capacity().saturating_mul(std::mem::size_of::<DirEntry>());
    entries.iter().fold(table, |bytes, entry| bytes.saturating_add(entry.name.capacity()))
}

/// Returns the name of a file as GNU grep prints it: the operand as typed, a slash, and the path below it.
fn name_below(operand: &str, root: &Path, path: &Path) -> String {
    let Ok(below) = path.strip_prefix(root) else {
        return path.to_string_lossy().into_owned();
    };
    let below: Vec<_> = below.components().map(|component| component.as_os_str().to_string_lossy()).collect();
    match (operand, below.join("/")) {
        (_, below) if below.is_empty() => operand.to_owned(),
        ("", below) => below,
        (_, below) => format!("{}/{below}", operand.trim_end_matches('/')),
    }
}
