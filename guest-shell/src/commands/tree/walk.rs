//! Reading of the directories that are shown.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bashkit::Result;
use bashkit::builtins::{Context, resolve_path};
use bashkit::fs::{FileType, Metadata, canonicalize, vfs_join};

use super::filter::matches_any;
use super::ignore::{IgnoreFile, is_ignored};
use super::options::TreeOptions;
use super::order::sort;
use crate::commands::file_status::apparent_size;

/// File or directory that is shown.
pub(super) struct Node {
    pub(super) name: String,
    /// Name with the path that leads to it from the operand.
    pub(super) path: String,
    /// Status of the file itself, and not of what a link leads to.
    pub(super) status: Metadata,
    pub(super) link: Option<Link>,
    /// The file is a directory, or a link to one.
    pub(super) is_directory: bool,
    pub(super) children: Vec<Node>,
    /// Reason why a directory is not shown with its contents.
    pub(super) remark: Option<String>,
}

/// Symbolic link's target.
pub(super) struct Link {
    pub(super) target: String,
    /// Status of what it leads to, if that is there.
    pub(super) status: Option<Metadata>,
}

impl Node {
    /// Returns the size in bytes.
    pub(super) fn size(&self) -> u64 {
        apparent_size(&self.status)
    }
}

/// Operand with what is in it.
pub(super) enum Root {
    Directory(Node),
    /// Operand that is a file, or not there.
    Unreadable {
        name: String,
        is_there: bool,
    },
}

impl Root {
    /// Returns true for an operand that is not there.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Unreadable { is_there: false, .. })
    }
}

/// Walk through one operand.
pub(super) struct Walk<'a> {
    ctx: &'a Context<'a>,
    options: &'a TreeOptions,
    ignore_files: Vec<IgnoreFile>,
    /// Directories that links lead into, which are not entered once more.
    entered: Vec<PathBuf>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, options: &'a TreeOptions) -> Self {
        Self { ctx, options, ignore_files: Vec::new(), entered: Vec::new() }
    }

    /// Reads an operand and all that is shown of it.
    pub(super) async fn root(&mut self, operand: &str) -> Result<Root> {
        let path = resolve_path(self.ctx.cwd, operand);
        let Ok(status) = self.ctx.fs.stat(&path).await else {
            return Ok(Root::Unreadable { name: operand.to_owned(), is_there: false });
        };
        if !status.file_type.is_dir() {
            return Ok(Root::Unreadable { name: operand.to_owned(), is_there: true });
        }
        let mut node = Node {
            name: operand.to_owned(),
            path: operand.to_owned(),
            status,
            link: None,
            is_directory: true,
            children: Vec::new(),
            remark: None,
        };
        if self.options.follow_links {
            self.entered.push(canonicalize(self.ctx.fs.as_ref(), &path).await.unwrap_or_else(|_| path.clone()));
        }
        self.read(&mut node, path, 1).await?;
        Ok(Root::Directory(node))
    }

    /// Reads what is in a directory.
    fn read<'w>(
        &'w mut self,
        node: &'w mut Node,
        path: PathBuf,
        level: usize,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'w>> {
        Box::pin(async move {
            let entries = self.ctx.fs.read_dir(&path).await?;
            self.ctx.consume_budget_work(1 + u64::try_from(entries.len()).unwrap_or(u64::MAX))?;
            let ignore_files = self.ignore_files.len();
            if self.options.gitignore
                && let Ok(text) = self.ctx.fs.read_file(&path.join(".gitignore")).await
            {
                self.ignore_files.push(IgnoreFile::parse(&path, &String::from_utf8_lossy(&text)));
            }
            let by_pattern = self.takes_pattern_in(node);
            let mut children = Vec::new();
            for entry in entries {
                let child = self.node(node, &path, entry.name, entry.metadata, by_pattern).await;
                children.extend(child);
            }
            match self.options.file_limit {
                Some(limit) if children.len() > limit => {
                    let count = children.len();
                    node.remark = Some(format!("{count} entries exceeds filelimit, not opening dir"));
                }
                _ => {
                    for child in &mut children {
                        self.descend(child, &path, level).await?;
                    }
                    children.retain(|child| !self.options.prune || !is_empty_directory(child, self.options));
                    sort(&mut children, self.options);
                    node.children = children;
                }
            }
            self.ignore_files.truncate(ignore_files);
            Ok(())
        })
    }

    /// Returns true if `-P` counts for the files in a directory, which it does not where the directory matches.
    fn takes_pattern_in(&self, directory: &Node) -> bool {
        let options = self.options;
        let name = directory.name.rsplit('/').next().unwrap_or_default();
        let is_matched = options.match_directories && matches_any(&options.patterns, name, true, options.ignore_case);
        !options.patterns.is_empty() && !is_matched
    }

    /// Returns the node of a file, if that is shown.
    async fn node(
        &self,
        parent: &Node,
        directory: &Path,
        name: String,
        mut status: Metadata,
        by_pattern: bool,
    ) -> Option<Node> {
        let path = vfs_join(directory, &name);
        let mut link = None;
        if status.file_type == FileType::Symlink {
            status = self.ctx.fs.lstat(&path).await.unwrap_or(status);
            let target = self.ctx.fs.read_link(&path).await.ok()?;
            link = Some(Link {
                target: target.to_string_lossy().into_owned(),
                status: self.ctx.fs.stat(&path).await.ok(),
            });
        }
        let leads_to_directory =
            link.as_ref().and_then(|link| link.status.as_ref()).is_some_and(|status| status.file_type.is_dir());
        let is_directory = status.file_type.is_dir() || leads_to_directory;
        let is_descended = status.file_type.is_dir() || (self.options.follow_links && leads_to_directory);
        if !self.options.shows(&name, is_directory, is_descended, by_pattern)
            || is_ignored(&self.ignore_files, &path, is_directory)
        {
            return None;
        }
        let separator = if parent.path.ends_with('/') { "" } else { "/" };
        let shown_path = format!("{}{separator}{name}", parent.path);
        Some(Node { name, path: shown_path, status, link, is_directory, children: Vec::new(), remark: None })
    }

    /// Reads what is in a directory, or in one that a link leads to, unless it is too deep.
    async fn descend(&mut self, node: &mut Node, directory: &Path, level: usize) -> Result<()> {
        let is_link = node.link.is_some();
        if !node.is_directory
            || (is_link && !self.options.follow_links)
            || self.options.level.is_some_and(|most| level >= most)
        {
            return Ok(());
        }
        let mut path = vfs_join(directory, &node.name);
        if self.options.follow_links {
            path = canonicalize(self.ctx.fs.as_ref(), &path).await.unwrap_or(path);
            if is_link && self.entered.contains(&path) {
                node.remark = Some("recursive, not followed".to_owned());
                return Ok(());
            }
            self.entered.push(path.clone());
        }
        self.read(node, path, level + 1).await
    }
}

/// Returns true for a directory that nothing is shown of.
fn is_empty_directory(node: &Node, options: &TreeOptions) -> bool {
    let is_link = node.link.is_some() && !options.follow_links;
    node.is_directory && !is_link && node.children.is_empty() && node.remark.is_none()
}
