//! Walk through directories.
//!
//! The files of a directory are visited in the order of the bytes of their names, so that a run is reproducible; GNU's
//! uses the order of the directory.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;
use std::sync::Arc;

use bashkit::Result;
use bashkit::builtins::{place, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::fs::{canonicalize, vfs_join};

use super::entry::FoundFile;
use super::evaluation::FileProgress;
use super::parse::LinkFollowing;
use super::run::{CurrentFile, FindRun};
use crate::commands::file_status;

/// Directories from a file up to its starting point, to find loops of links.
pub(super) type Ancestry = Option<Arc<AncestorDirectory>>;

/// Directory above a file.
pub(super) struct AncestorDirectory {
    path: PathBuf,
    shown_path: String,
    parent: Ancestry,
}

/// Planned visit.
pub(super) enum PlannedVisit {
    File(PlannedFile),
    /// Directory whose children have been visited.
    BehindChildren(Box<FoundFile>),
}

/// File that is to be visited.
pub(super) struct PlannedFile {
    path: PathBuf,
    shown_path: String,
    starting_point: usize,
    depth: usize,
    ancestry: Ancestry,
}

impl FindRun {
    /// Plans the visit of a starting point.
    pub(super) async fn start(&mut self, starting_point: usize) {
        let shown_path = self.setting.starting_points[starting_point].clone();
        let path = resolve_path(&self.cwd, &shown_path);
        if shown_path.is_empty() || self.setting.fs.lstat(&path).await.is_err() {
            self.complain(&format!("find: '{shown_path}': No such file or directory\n"));
            return;
        }
        let file = PlannedFile { path, shown_path, starting_point, depth: 0, ancestry: None };
        self.visits.push(PlannedVisit::File(file));
    }

    /// Makes a file the current one, or with `-depth` first plans the visits of its contents.
    pub(super) async fn visit(&mut self, visit: PlannedVisit) -> Result<()> {
        let (file, ancestry) = match visit {
            PlannedVisit::BehindChildren(file) => {
                self.set_current(*file, true, None);
                return Ok(());
            }
            PlannedVisit::File(planned) => match self.look_at(planned).await {
                Ok(found) => found,
                Err(message) => {
                    self.complain(&message);
                    return Ok(());
                }
            },
        };
        if self.options.depth_first && file.status().file_type.is_dir() {
            let children = self.children(&file, ancestry).await?;
            self.visits.push(PlannedVisit::BehindChildren(Box::new(file)));
            self.visits.extend(children.into_iter().rev());
        } else {
            self.set_current(file, false, ancestry);
        }
        Ok(())
    }

    fn set_current(&mut self, file: FoundFile, is_behind_children: bool, ancestry: Ancestry) {
        self.current = Some(CurrentFile { file, is_behind_children, progress: FileProgress::default(), ancestry });
    }

    /// Reads the status of a file. The error is a message.
    async fn look_at(&self, planned: PlannedFile) -> std::result::Result<(FoundFile, Ancestry), String> {
        let PlannedFile { path, shown_path, starting_point, depth, ancestry } = planned;
        let fs = self.setting.fs.as_ref();
        let own_status =
            fs.lstat(&path).await.map_err(|error| format!("find: '{shown_path}': {}\n", io_error_reason(&error)))?;
        let mut file = FoundFile {
            directory: path.clone(),
            path,
            shown_path,
            starting_point,
            depth,
            own_status,
            target_status: None,
            link_target: None,
            is_followed: self.follows_at(depth),
            links: 1,
            inode: 0,
        };
        if file.own_status.file_type.is_symlink() {
            file.link_target = fs.read_link(&file.path).await.ok().map(|target| target.to_string_lossy().into_owned());
            if let Ok(target) = canonicalize(fs, &file.path).await {
                file.target_status = fs.stat(&target).await.ok();
                file.directory = target;
            }
        }
        if self.needed.links {
            file.links = file_status::links(fs, &file.directory, file.status()).await;
        }
        if self.needed.inode {
            file.inode = file_status::inode(&place(fs, &file.path, file.is_followed).await);
        }
        match self.find_loop(&file, &ancestry) {
            Some(ancestor) => Err(format!(
                "find: File system loop detected; '{}' is part of the same file system loop as '{}'.\n",
                file.shown_path, ancestor.shown_path
            )),
            None => Ok((file, ancestry)),
        }
    }

    fn follows_at(&self, depth: usize) -> bool {
        match self.options.following {
            LinkFollowing::Never => false,
            LinkFollowing::StartingPoints => depth == 0,
            LinkFollowing::Always => true,
        }
    }

    /// Returns the directory above that a link leads back to (THREAT[TM-DOS-121]).
    fn find_loop(&self, file: &FoundFile, ancestry: &Ancestry) -> Option<Arc<AncestorDirectory>> {
        if !file.status().file_type.is_dir() || self.options.following == LinkFollowing::Never {
            return None;
        }
        let mut ancestors = std::iter::successors(ancestry.clone(), |ancestor| ancestor.parent.clone());
        ancestors.find(|ancestor| ancestor.path == file.directory)
    }

    /// Plans the visits of the files in a directory. There are none for other files, and at `-maxdepth`.
    pub(super) async fn children(&mut self, file: &FoundFile, ancestry: Ancestry) -> Result<Vec<PlannedVisit>> {
        let is_deepest = self.options.max_depth.is_some_and(|depth| file.depth >= depth);
        if !file.status().file_type.is_dir() || is_deepest {
            return Ok(Vec::new());
        }
        let mut children = match self.setting.fs.read_dir(&file.directory).await {
            Ok(children) => children,
            Err(error) => {
                self.complain(&format!("find: '{}': {}\n", file.shown_path, io_error_reason(&error)));
                return Ok(Vec::new());
            }
        };
        self.consume_work(children.len())?;
        children.sort_by(|left, right| left.name.cmp(&right.name));
        let ancestry = (self.options.following != LinkFollowing::Never).then(|| {
            let (path, shown_path) = (file.directory.clone(), file.shown_path.clone());
            Arc::new(AncestorDirectory { path, shown_path, parent: ancestry })
        });
        let visits = children.into_iter().map(|child| {
            PlannedVisit::File(PlannedFile {
                path: vfs_join(&file.directory, &child.name),
                shown_path: file.shown_path_of(&child.name),
                starting_point: file.starting_point,
                depth: file.depth + 1,
                ancestry: ancestry.clone(),
            })
        });
        Ok(visits.collect())
    }
}
