//! Walking a path: the only code that reads one. Changes nothing.
//!
//! A path is absolute, and is resolved as POSIX does: name by name, links followed where they stand, `..` from where
//! the walk then is. `..` above the root is the root and an absolute link starts at the root, so no path leaves the
//! tree. A walk may be bound by more than that: see [`Rules`].

use super::directory::Directory;
use super::errno::Errno;
use super::node::{Name, Node};

/// The longest name.
pub const MAX_NAME_BYTES: usize = 255;

/// The longest path, and the longest target of a link.
pub const MAX_PATH_BYTES: usize = 4_096;

/// The most names in the path of an entry. Dropping a tree recurses; at this depth it needs well under 1 MiB of stack.
pub const MAX_DEPTH: usize = 512;

/// The most links followed for one path: what Linux follows.
pub const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Found<'a> {
    root: &'a Node,
    /// The directories from below the root down to the parent of the entry.
    above: Vec<(&'a Name, &'a Node)>,
    /// What became of the last name.
    end: End<'a>,
    /// Whether a `/` stands behind the last name.
    slash: bool,
}

#[derive(Debug)]
enum End<'a> {
    /// The path ended in `/`, `.` or `..`: it names the innermost of `above`, or the root.
    Above,
    /// There is an entry.
    Entry(&'a Name, &'a Node),
    /// There is none of this name.
    Missing { name: &'a str, rest: Rest },
}

/// What was still to be walked when a name was missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: an entry of that name could be made.
    Nothing,
    /// So many bytes at the end of the path, as it was written.
    Path { bytes: usize },
    /// Something, behind a link that leads nowhere.
    Link,
}

impl<'a> Found<'a> {
    /// The entry. It must be there, and be a directory if the path ends in `/`.
    pub(super) fn existing(&self) -> Result<&'a Node, Errno> {
        let node = self.entry().ok_or(Errno::NoEntry)?;
        if self.slash && node.as_directory().is_none() { Err(Errno::NotDirectory) } else { Ok(node) }
    }

    /// The entry, if there is one. Fails if there is not even the directory that it would be in.
    pub(super) fn optional(&self) -> Result<Option<&'a Node>, Errno> {
        match self.end {
            End::Missing { rest: Rest::Path { .. } | Rest::Link, .. } => Err(Errno::NoEntry),
            _ => Ok(self.entry()),
        }
    }

    /// If the entry is not there: what was to be walked behind it.
    pub(super) fn missing(&self) -> Option<Rest> {
        match self.end {
            End::Missing { rest, .. } => Some(rest),
            End::Above | End::Entry(..) => None,
        }
    }

    /// Whether a `/` stands behind the last name.
    pub(super) fn slash(&self) -> bool {
        self.slash
    }

    /// The path of the entry, links resolved; of the missing one, if it is missing.
    pub(super) fn names(&self) -> Vec<Name> {
        let above = self.above.iter().map(|(name, _)| Name::clone(name));
        let last = match self.end {
            End::Above => None,
            End::Entry(name, _) => Some(Name::clone(name)),
            End::Missing { name, .. } => Some(Name::from(name)),
        };
        above.chain(last).collect()
    }

    /// As `names`, for an operation on the name itself (renaming, removing): neither the root nor `.` or `..` will do.
    pub(super) fn named(&self) -> Result<Vec<Name>, Errno> {
        match self.end {
            End::Above if self.above.is_empty() => Err(Errno::Busy),
            End::Above => Err(Errno::Invalid),
            End::Entry(..) | End::Missing { .. } => Ok(self.names()),
        }
    }

    fn entry(&self) -> Option<&'a Node> {
        match self.end {
            End::Above => Some(self.above.last().map_or(self.root, |(_, node)| node)),
            End::Entry(_, node) => Some(node),
            End::Missing { .. } => None,
        }
    }
}

/// Refuses what cannot be a path of the tree, whatever the tree holds.
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

/// Refuses what cannot be the target of a link.
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

/// The names of a path without `.`, `..` and needless `/`, as this module and `diff` write them.
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

/// What a walk may not do.
pub(super) trait Rules {
    /// What ends a walk.
    type Stop: From<Errno>;

    /// Asked before `..`, so many names below the root.
    fn up(&self, depth: usize) -> Result<(), Self::Stop>;

    /// Asked before a link is followed to the root.
    fn to_root(&self) -> Result<(), Self::Stop>;

    /// Asked before `name` is looked for in a directory, whether or not it is there.
    fn look(&self, directory: &[(&Name, &Node)], name: &str) -> Result<(), Self::Stop>;
}

/// The whole tree, as POSIX says.
pub(super) struct Anywhere;

impl Rules for Anywhere {
    type Stop = Errno;

    fn up(&self, _: usize) -> Result<(), Errno> {
        Ok(())
    }

    fn to_root(&self) -> Result<(), Errno> {
        Ok(())
    }

    fn look(&self, _: &[(&Name, &Node)], _: &str) -> Result<(), Errno> {
        Ok(())
    }
}

/// Walks `path` from the directory `base` (the root, if it is empty). `follow` says whether a link at the very end is
/// followed; those before it always are.
pub(super) fn walk<'a, R: Rules>(
    root: &'a Node,
    base: &[Name],
    path: &'a str,
    follow: bool,
    rules: &R,
) -> Result<Found<'a>, R::Stop> {
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
                    (true, _) => Rest::Nothing,
                    (false, [rest]) => Rest::Path { bytes: rest.len() },
                    (false, _) => Rest::Link,
                };
                return Ok(Found { root, above, end: End::Missing { name, rest }, slash });
            }
            Some((_, Node::Link(link))) if follow || !last => {
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
            Some((name, node)) if last => return Ok(Found { root, above, end: End::Entry(name, node), slash }),
            Some((name, node)) if node.as_directory().is_some() => above.push((name, node)),
            Some(_) => return Err(Errno::NotDirectory.into()),
        }
    }
    Ok(Found { root, above, end: End::Above, slash: false })
}

fn descend<'a>(root: &'a Node, base: &[Name]) -> Result<Vec<(&'a Name, &'a Node)>, Errno> {
    let mut above = Vec::with_capacity(base.len());
    for name in base {
        let (name, node) = innermost(root, &above)?.get(name)?.ok_or(Errno::NoEntry)?;
        above.push((name, node));
    }
    Ok(above)
}

fn innermost<'a>(root: &'a Node, above: &[(&'a Name, &'a Node)]) -> Result<&'a Directory, Errno> {
    above.last().map_or(root, |(_, node)| node).as_directory().ok_or(Errno::NotDirectory)
}

/// Takes the next name from the innermost of the texts that still has one: the path itself, or a link's target.
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
