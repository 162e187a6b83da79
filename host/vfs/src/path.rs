//! Path resolution, the only code that interprets paths. Changes nothing.
//!
//! A path is absolute, and is resolved as in POSIX: name by name, following links where they occur, and `..` leads to
//! the parent of the directory reached so far. `..` at the root is the root and an absolute link starts at the root, so
//! no path leaves the tree. A walk may be restricted further: see [`WalkRules`].

use super::directory::DirectoryNode;
use super::errno::Errno;
use super::node::{Name, TreeNode};

/// Maximum length of a name in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// Maximum length of a path, and of the target of a link, in bytes.
pub const MAX_PATH_BYTES: usize = 4_096;

/// Maximum number of names in the path of an entry. Dropping a tree is recursive; at this depth it needs well under 1
/// MiB of stack.
pub const MAX_DEPTH: usize = 512;

/// Maximum number of links followed for one path, the same as in Linux.
pub const MAX_LINKS: usize = 40;

/// The result of resolving a path.
#[derive(Debug)]
pub(super) struct PathLookup<'a> {
    root: &'a TreeNode,
    /// Directories from below the root down to the parent of the entry.
    above: Vec<(&'a Name, &'a TreeNode)>,
    /// Outcome for the last name.
    end: PathEnd<'a>,
    /// Set if a `/` follows the last name.
    slash: bool,
}

#[derive(Debug)]
enum PathEnd<'a> {
    /// The path ends in `/`, `.` or `..`: it refers to the innermost of `above`, or to the root.
    Above,
    /// The entry exists.
    Entry(&'a Name, &'a TreeNode),
    /// No entry has this name.
    Missing { name: &'a str, rest: UnresolvedRest },
}

/// The rest of the path when a name was missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnresolvedRest {
    /// The missing name was the last: an entry of that name can be created.
    Nothing,
    /// This many bytes at the end of the path, as it was written.
    Path { bytes: usize },
    /// A rest after a link that leads nowhere.
    Link,
}

impl<'a> PathLookup<'a> {
    /// Returns the entry. It must exist, and must be a directory if the path ends in `/`.
    pub(super) fn existing(&self) -> Result<&'a TreeNode, Errno> {
        let node = self.entry().ok_or(Errno::NoEntry)?;
        if self.slash && node.as_directory().is_none() { Err(Errno::NotDirectory) } else { Ok(node) }
    }

    /// Returns the entry, if it exists. Fails if not even its parent directory exists.
    pub(super) fn optional(&self) -> Result<Option<&'a TreeNode>, Errno> {
        match self.end {
            PathEnd::Missing { rest: UnresolvedRest::Path { .. } | UnresolvedRest::Link, .. } => Err(Errno::NoEntry),
            _ => Ok(self.entry()),
        }
    }

    /// Returns the rest of the path after the missing name, if the entry is missing.
    pub(super) fn missing(&self) -> Option<UnresolvedRest> {
        match self.end {
            PathEnd::Missing { rest, .. } => Some(rest),
            PathEnd::Above | PathEnd::Entry(..) => None,
        }
    }

    /// Returns true if a `/` follows the last name.
    pub(super) fn slash(&self) -> bool {
        self.slash
    }

    /// Path of the entry, existing or missing, with links resolved.
    pub(super) fn names(&self) -> Vec<Name> {
        let above = self.above.iter().map(|(name, _)| Name::clone(name));
        let last = match self.end {
            PathEnd::Above => None,
            PathEnd::Entry(name, _) => Some(Name::clone(name)),
            PathEnd::Missing { name, .. } => Some(Name::from(name)),
        };
        above.chain(last).collect()
    }

    /// Path of the entry like `names`, for an operation on the name itself (renaming, removing): rejects the root, `.`
    /// and `..`.
    pub(super) fn named(&self) -> Result<Vec<Name>, Errno> {
        match self.end {
            PathEnd::Above if self.above.is_empty() => Err(Errno::Busy),
            PathEnd::Above => Err(Errno::Invalid),
            PathEnd::Entry(..) | PathEnd::Missing { .. } => Ok(self.names()),
        }
    }

    fn entry(&self) -> Option<&'a TreeNode> {
        match self.end {
            PathEnd::Above => Some(self.above.last().map_or(self.root, |(_, node)| node)),
            PathEnd::Entry(_, node) => Some(node),
            PathEnd::Missing { .. } => None,
        }
    }
}

/// Rejects strings that cannot be a path of any tree.
pub(super) fn check(path: &str) -> Result<(), Errno> {
    if path.is_empty() {
        Err(Errno::NoEntry)
    } else if path.len() > MAX_PATH_BYTES {
        Err(Errno::NameTooLong)
    } else if !path.starts_with('/') || path.contains('\0') {
        Err(Errno::Invalid)
    } else {
        Ok(())
    }
}

/// Rejects strings that cannot be the target of a link.
pub(super) fn check_target(target: &str) -> Result<(), Errno> {
    if target.is_empty() {
        Err(Errno::NoEntry)
    } else if target.len() > MAX_PATH_BYTES {
        Err(Errno::NameTooLong)
    } else if target.contains('\0') {
        Err(Errno::Invalid)
    } else {
        Ok(())
    }
}

/// Splits a path without `.`, `..` and redundant `/`, as this module and `diff` write them, into names.
pub(super) fn names(path: &str) -> Result<Vec<Name>, Errno> {
    check(path)?;
    if path == "/" {
        return Ok(Vec::new());
    }
    let named = |name: &str| match name {
        "" | "." | ".." => Err(Errno::Invalid),
        name if name.len() > MAX_NAME_BYTES => Err(Errno::NameTooLong),
        name => Ok(Name::from(name)),
    };
    path[1..].split('/').map(named).collect()
}

/// Restrictions of a walk.
pub(super) trait WalkRules {
    /// Error that ends a walk.
    type Stop: From<Errno>;

    /// Called before `..` is followed, with the number of names below the root.
    fn up(&self, depth: usize) -> Result<(), Self::Stop>;

    /// Called before an absolute link is followed to the root.
    fn to_root(&self) -> Result<(), Self::Stop>;

    /// Called before `name` is looked up in a directory, whether or not it exists.
    fn look(&self, directory: &[(&Name, &TreeNode)], name: &str) -> Result<(), Self::Stop>;
}

/// The rules of an unrestricted walk, as in POSIX.
pub(super) struct UnrestrictedWalk;

impl WalkRules for UnrestrictedWalk {
    type Stop = Errno;

    fn up(&self, _: usize) -> Result<(), Errno> {
        Ok(())
    }

    fn to_root(&self) -> Result<(), Errno> {
        Ok(())
    }

    fn look(&self, _: &[(&Name, &TreeNode)], _: &str) -> Result<(), Errno> {
        Ok(())
    }
}

/// Walks `path` from the directory `base` (the root, if it is empty). `follow` says whether a link at the very end is
/// followed; links before the end always are.
pub(super) fn walk<'a, R: WalkRules>(
    root: &'a TreeNode,
    base: &[Name],
    path: &'a str,
    follow: bool,
    rules: &R,
) -> Result<PathLookup<'a>, R::Stop> {
    let mut above = descend(root, base)?;
    let mut texts = vec![path];
    let mut links = 0;
    while let Some(name) = next_name(&mut texts) {
        match name {
            "." => continue,
            ".." => {
                rules.up(above.len())?;
                above.pop();
                continue;
            }
            _ if name.len() > MAX_NAME_BYTES => return Err(Errno::NameTooLong.into()),
            _ => rules.look(&above, name)?,
        }
        let last = texts.iter().all(|text| is_slashes(text));
        let slash = last && texts.iter().any(|text| !text.is_empty());
        let directory = innermost(root, &above)?;
        match directory.get(name)? {
            None => {
                let rest = match (last, texts.as_slice()) {
                    (true, _) => UnresolvedRest::Nothing,
                    (false, [rest]) => UnresolvedRest::Path { bytes: rest.len() },
                    (false, _) => UnresolvedRest::Link,
                };
                return Ok(PathLookup { root, above, end: PathEnd::Missing { name, rest }, slash });
            }
            Some((_, TreeNode::Link(link))) if follow || !last => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::TooManyLinks.into());
                }
                if link.target.starts_with('/') {
                    rules.to_root()?;
                    above.clear();
                }
                texts.push(&link.target);
            }
            Some((name, node)) if last => {
                return Ok(PathLookup { root, above, end: PathEnd::Entry(name, node), slash });
            }
            Some((name, node)) if node.as_directory().is_some() => above.push((name, node)),
            Some(_) => return Err(Errno::NotDirectory.into()),
        }
    }
    Ok(PathLookup { root, above, end: PathEnd::Above, slash: false })
}

fn descend<'a>(root: &'a TreeNode, base: &[Name]) -> Result<Vec<(&'a Name, &'a TreeNode)>, Errno> {
    let mut above = Vec::with_capacity(base.len());
    for name in base {
        let (name, node) = innermost(root, &above)?.get(name)?.ok_or(Errno::NoEntry)?;
        above.push((name, node));
    }
    Ok(above)
}

fn innermost<'a>(root: &'a TreeNode, above: &[(&'a Name, &'a TreeNode)]) -> Result<&'a DirectoryNode, Errno> {
    above.last().map_or(root, |(_, node)| node).as_directory().ok_or(Errno::NotDirectory)
}

/// Takes the next name from the innermost text that still has one: the path itself, or a link's target.
fn next_name<'a>(texts: &mut Vec<&'a str>) -> Option<&'a str> {
    while let Some(text) = texts.pop() {
        let text = text.trim_start_matches('/');
        if !text.is_empty() {
            let (name, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
            texts.push(rest);
            return Some(name);
        }
    }
    None
}

fn is_slashes(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'/')
}
