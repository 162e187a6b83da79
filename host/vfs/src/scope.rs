//! Scopes: the parts of the tree that were granted, and path resolution confined to them. This is what a tool sees of
//! the session's files.
//!
//! A walk is confined twice. It starts at a directory and never leaves it, neither by `..` nor by an absolute path or
//! link, as WASI requires; and it looks up nothing outside the grants, so that it cannot even tell what exists there.

use super::errno::Errno;
use super::inspect::Stat;
use super::node::{Name, TreeNode};
use super::path::{self, MAX_PATH_BYTES, WalkRules};
use super::tree::Tree;

/// A grant of a path and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Absolute path, without `.` and `..`. It is taken literally: a link at the path, or on the way to it, is not
    /// followed.
    pub path: String,
    /// Set if writing is allowed too.
    pub write: bool,
}

/// A set of grants. Grants only add up: what one of them allows is allowed, whatever the others say.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    grants: Vec<(Vec<Name>, bool)>,
}

/// The access that a scope allows to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AccessLevel {
    /// No access: the path looks as if nothing existed there.
    Nothing,
    /// A directory above a granted path: it can be traversed, and shows only the names that lead there.
    Passage,
    Read,
    Write,
}

impl Scope {
    /// Creates a scope from grants.
    ///
    /// # Errors
    /// `Invalid` for a path that is not absolute or contains `.`, `..`, a NUL or a redundant `/`; `NameTooLong`.
    pub fn new(grants: &[Grant]) -> Result<Scope, Errno> {
        let grants = grants.iter().map(|grant| Ok((path::names(&grant.path)?, grant.write)));
        Ok(Scope { grants: grants.collect::<Result<_, Errno>>()? })
    }

    /// Returns true if nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Returns true if the entry at a path may be read.
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        self.allowed(path) >= AccessLevel::Read
    }

    /// Returns true if the entry at a path may be changed, created or removed.
    #[must_use]
    pub fn writes(&self, path: &str) -> bool {
        self.allowed(path) >= AccessLevel::Write
    }

    /// Returns true if anything at or below a path may be changed.
    #[must_use]
    pub fn writes_below(&self, path: &str) -> bool {
        let path = split(path);
        self.grants.iter().any(|(granted, write)| *write && agree(granted, path.clone()))
    }

    /// Returns the visible names of a directory that is not granted itself: those that lead to a granted path, sorted.
    /// Returns `None` if the directory is granted, and everything in it is visible.
    #[must_use]
    pub fn shown(&self, path: &str) -> Option<Vec<&str>> {
        if self.reads(path) {
            return None;
        }
        let depth = split(path).count();
        let below = self.grants.iter().filter(|(granted, _)| agree(granted, split(path)));
        let mut names: Vec<&str> = below.filter_map(|(granted, _)| Some(&**granted.get(depth)?)).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Lists the directories that a holder of this scope starts from, sorted: the granted ones, and the parents of
    /// granted paths that are not directories, or do not exist. None is reached through a link.
    #[must_use]
    pub fn beginnings(&self, tree: &Tree) -> Vec<String> {
        let is_directory = |names: &[Name]| matches!(tree.entry(names), Ok(TreeNode::Directory(_)));
        let begin = |names: &[Name]| {
            let parent = names.split_last().map(|(_, parent)| parent);
            let found = [Some(names), parent].into_iter().flatten().find(|names| is_directory(names));
            found.map(spell)
        };
        let mut paths: Vec<String> = self.grants.iter().filter_map(|(names, _)| begin(names)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    fn allowed(&self, path: &str) -> AccessLevel {
        self.allow(split(path))
    }

    fn allow<'a>(&self, path: impl Iterator<Item = &'a str> + Clone) -> AccessLevel {
        let depth = path.clone().count();
        let agreeing = self.grants.iter().filter(|(granted, _)| agree(granted, path.clone()));
        let allowed = agreeing.map(|(granted, write)| match (granted.len() <= depth, write) {
            (false, _) => AccessLevel::Passage,
            (true, false) => AccessLevel::Read,
            (true, true) => AccessLevel::Write,
        });
        allowed.max().unwrap_or(AccessLevel::Nothing)
    }
}

/// Returns true if one path equals the other, or is a parent of it.
fn agree<'a>(granted: &[Name], path: impl Iterator<Item = &'a str>) -> bool {
    granted.iter().map(|name| &**name).zip(path).all(|(a, b)| a == b)
}

fn split(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|name| !name.is_empty())
}

fn spell(names: &[Name]) -> String {
    if names.is_empty() { "/".to_owned() } else { names.iter().flat_map(|name| ["/", name]).collect() }
}

/// The reason why a confined walk was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The path leaves the directory that it is confined to.
    #[error("the path leaves its directory")]
    Outside,
    /// The path leads to something that was not granted.
    #[error("not granted")]
    Hidden,
    /// An error that any walk may end with.
    #[error(transparent)]
    Errno(#[from] Errno),
}

/// The result of a confined walk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// Absolute path, with links resolved (except one at the end that was not to be followed).
    pub path: String,
    /// Metadata of the entry, if it exists; its parent directory exists in any case.
    pub stat: Option<Stat>,
    /// Set if a `/` follows the last name, so that only a directory is acceptable.
    pub slash: bool,
    /// Set if the path ends in a name, and not in `.` or `..`.
    pub named: bool,
}

impl Resolved {
    /// The path, followed by a `/` if it was written so.
    #[must_use]
    pub fn spelling(&self) -> String {
        if self.slash { format!("{}/", self.path) } else { self.path.clone() }
    }
}

impl Tree {
    /// Resolves the relative `path` from the directory at `base`, within `scope`. `follow` says whether a link at its
    /// end is followed.
    ///
    /// # Errors
    /// See [`Refusal`]; `NoEntry` or `NotDirectory` if `base` is not a directory.
    pub fn resolve(&self, base: &str, path: &str, follow: bool, scope: &Scope) -> Result<Resolved, Refusal> {
        let base = path::names(base)?;
        if !matches!(self.entry(&base)?, TreeNode::Directory(_)) {
            return Err(Errno::NotDirectory.into());
        }
        match path {
            "" => return Err(Errno::NoEntry.into()),
            _ if path.len() > MAX_PATH_BYTES => return Err(Errno::NameTooLong.into()),
            _ if path.contains('\0') => return Err(Errno::Invalid.into()),
            _ if path.starts_with('/') => return Err(Refusal::Outside),
            _ => {}
        }
        let found = path::walk(self.root(), &base, path, follow, &ConfinedWalk { floor: base.len(), scope })?;
        let node = found.optional()?;
        if found.slash() && node.is_some_and(|node| node.as_directory().is_none()) {
            return Err(Errno::NotDirectory.into());
        }
        let path = spell(&found.names());
        Ok(Resolved { path, stat: node.map(TreeNode::stat), slash: found.slash(), named: found.named().is_ok() })
    }
}

/// A walk that stays below a directory and within a scope.
struct ConfinedWalk<'s> {
    floor: usize,
    scope: &'s Scope,
}

impl WalkRules for ConfinedWalk<'_> {
    type Stop = Refusal;

    fn up(&self, depth: usize) -> Result<(), Refusal> {
        if depth > self.floor { Ok(()) } else { Err(Refusal::Outside) }
    }

    fn to_root(&self) -> Result<(), Refusal> {
        Err(Refusal::Outside)
    }

    fn look(&self, directory: &[(&Name, &TreeNode)], name: &str) -> Result<(), Refusal> {
        let path = directory.iter().map(|(name, _)| &***name).chain([name]);
        if self.scope.allow(path) > AccessLevel::Nothing { Ok(()) } else { Err(Refusal::Hidden) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Limits, MAX_LINKS, WriteMode};
    use super::*;

    fn scope(grants: &[(&str, bool)]) -> Scope {
        let grants: Vec<_> =
            grants.iter().map(|(path, write)| Grant { path: (*path).to_owned(), write: *write }).collect();
        Scope::new(&grants).expect("absolute paths")
    }

    /// A tree with `/workspace/in/{a, d/b}` and `/workspace/out/x`.
    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        for path in ["/workspace/in/a", "/workspace/in/d/b", "/workspace/out/x"] {
            tree.place_file(path, b"", 0o644, 1).expect("within limits");
        }
        tree
    }

    fn link(tree: &mut Tree, target: &str, path: &str) {
        tree.create_link(target, path, 1).expect("writable");
    }

    #[test]
    fn scope_grants_are_cumulative() {
        let scope = scope(&[("/a", false), ("/a/b", true), ("/a/b/c", false), ("/d/e/f", true)]);
        assert!(scope.reads("/a") && scope.reads("/a/x/y") && !scope.writes("/a") && !scope.writes("/a/bb"));
        assert!(scope.writes("/a/b") && scope.writes("/a/b/c/d"), "a narrower grant takes nothing away");
        assert!(!scope.reads("/") && !scope.reads("/ab") && !scope.reads("/d/e"));
        assert!(scope.writes_below("/") && scope.writes_below("/d") && !scope.writes_below("/a/x"));
    }

    #[test]
    fn scope_may_grant_the_root_or_nothing() {
        let everything = scope(&[("/", true)]);
        assert!(everything.writes("/") && everything.writes("/a/b") && everything.shown("/").is_none());
        let nothing = scope(&[]);
        assert!(!nothing.reads("/") && !nothing.reads("/a") && nothing.beginnings(&tree()).is_empty());
        assert_eq!(tree().resolve("/", "workspace", true, &nothing), Err(Refusal::Hidden));
    }

    #[test]
    fn scope_with_invalid_path_is_refused() {
        for path in ["", "a", "/a/", "//a", "/a/../b", "/.", "/a\0"] {
            let grant = Grant { path: path.to_owned(), write: false };
            assert!(Scope::new(&[grant]).is_err(), "{path:?}");
        }
    }

    #[test]
    fn scope_shows_only_entries_that_lead_to_grants() {
        let scope = scope(&[("/a/b/c", false), ("/a/d", true), ("/a/b", false), ("/e", false)]);
        assert_eq!(scope.shown("/a"), Some(vec!["b", "d"]));
        assert_eq!(scope.shown("/"), Some(vec!["a", "e"]));
        assert_eq!(scope.shown("/a/d"), None);
        assert_eq!(scope.shown("/f"), Some(vec![]));
    }

    #[test]
    fn scope_begins_at_granted_directories_and_parents_of_granted_files() {
        let mut tree = tree();
        link(&mut tree, "in", "/workspace/l");
        let begin = |path: &str| scope(&[(path, false)]).beginnings(&tree);
        assert_eq!(begin("/workspace/in"), ["/workspace/in"]);
        assert_eq!(begin("/workspace/in/a"), ["/workspace/in"]);
        assert_eq!(begin("/workspace/new"), ["/workspace"]);
        assert_eq!(begin("/"), ["/"]);
        assert_eq!(begin("/new"), ["/"]);
        assert!(begin("/workspace/none/new").is_empty());
        assert!(begin("/workspace/l/d").is_empty(), "not through a link");
        assert_eq!(begin("/workspace/l"), ["/workspace"], "a link is no directory");
        let twice = scope(&[("/workspace/in/a", false), ("/workspace/in", true), ("/tmp", false)]);
        assert_eq!(twice.beginnings(&tree), ["/tmp", "/workspace/in"]);
    }

    #[test]
    fn resolution_stays_below_its_base() {
        let mut tree = tree();
        link(&mut tree, "/workspace/in/a", "/workspace/in/absolute");
        link(&mut tree, "../out/x", "/workspace/in/up");
        link(&mut tree, "../a", "/workspace/in/d/back");
        let scope = scope(&[("/workspace", true)]);
        let resolve = |path: &str| tree.resolve("/workspace/in", path, true, &scope).map(|found| found.path);
        let found = |path: &str| Ok(path.to_owned());
        assert_eq!(resolve("d/../a"), found("/workspace/in/a"));
        assert_eq!(resolve("."), found("/workspace/in"));
        assert_eq!(resolve("d/back"), found("/workspace/in/a"));
        for path in ["..", "../in/a", "d/../../in/a", "/workspace/in/a", "/", "absolute", "up"] {
            assert_eq!(resolve(path), Err(Refusal::Outside), "{path}");
        }
        let link = tree.resolve("/workspace/in", "up", false, &scope).expect("the link itself is inside");
        assert_eq!((link.stat.map(|stat| stat.kind), link.named), (Some(Kind::Link), true));
        assert_eq!(tree.resolve("/workspace/in/a", "x", true, &scope), Err(Errno::NotDirectory.into()));
    }

    #[test]
    fn path_not_granted_is_hidden_whether_or_not_it_exists() {
        let mut tree = tree();
        link(&mut tree, "out/x", "/workspace/granted");
        let scope = scope(&[("/workspace/in", false), ("/workspace/granted", true), ("/workspace/new", true)]);
        let resolve = |path: &str| tree.resolve("/workspace", path, true, &scope).map(|found| found.path);
        for path in ["out", "none", "out/x", "none/x", "out/../in", "none/../in", "granted"] {
            assert_eq!(resolve(path), Err(Refusal::Hidden), "{path}");
        }
        assert_eq!(resolve("in/d/../../in/a"), Ok("/workspace/in/a".to_owned()));
        assert_eq!(tree.resolve("/workspace", "new", true, &scope).map(|found| found.stat), Ok(None));
        assert_eq!(resolve("new/x"), Err(Errno::NoEntry.into()));
    }

    #[test]
    fn resolution_within_a_grant_follows_posix() {
        let mut tree = tree();
        let scope = scope(&[("/workspace", true)]);
        for at in 0..=MAX_LINKS {
            link(&mut tree, &format!("l{}", at + 1), &format!("/workspace/l{at}"));
        }
        tree.write(&format!("/workspace/l{}", MAX_LINKS + 1), b"", WriteMode::Create, 1).expect("writable");
        let resolve = |path: &str| tree.resolve("/workspace", path, true, &scope);
        assert!(resolve("l1").is_ok());
        assert_eq!(resolve("l0"), Err(Errno::TooManyLinks.into()));
        assert_eq!(resolve(""), Err(Errno::NoEntry.into()));
        assert_eq!(resolve("in\0"), Err(Errno::Invalid.into()));
        assert_eq!(resolve(&"n".repeat(256)), Err(Errno::NameTooLong.into()));
        assert_eq!(resolve(&"./".repeat(2_049)), Err(Errno::NameTooLong.into()));
        assert_eq!(resolve("in/a/"), Err(Errno::NotDirectory.into()));
        assert_eq!(resolve("in/a/.."), Err(Errno::NotDirectory.into()));
        assert_eq!(resolve("none/.."), Err(Errno::NoEntry.into()));
        let directory = resolve("in/d/").expect("there");
        assert_eq!((directory.spelling().as_str(), directory.named), ("/workspace/in/d/", true));
        assert!(!resolve("in/d/.").expect("there").named);
    }
}
