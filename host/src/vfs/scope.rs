//! Which parts of the tree somebody was granted, and walks that stay in them: what a tool sees of the session's files.
//!
//! A walk is confined twice. It begins at a directory and never leaves it, neither by `..` nor by an absolute path or
//! link, as WASI wants it; and it looks for nothing outside the grants, so that it cannot even tell what is there.

use super::errno::Errno;
use super::inspect::Stat;
use super::node::{Name, Node};
use super::path::{self, MAX_PATH_BYTES, Rules};
use super::tree::Tree;

/// A path that somebody was granted, with all that is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Absolute, without `.` and `..`. It is taken by its name: a link at it, or on the way to it, is not followed.
    pub path: String,
    /// Whether it may be changed, and not only read.
    pub write: bool,
}

/// What somebody was granted. Grants only add: what one of them allows is allowed, whatever the others say.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    grants: Vec<(Vec<Name>, bool)>,
}

/// How much of a path a scope allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Allowed {
    /// Nothing: it is as if nothing could be there.
    Nothing,
    /// A directory above something that is granted: it may be passed, and shows only what leads there.
    Passage,
    Read,
    Write,
}

impl Scope {
    /// What these grants allow.
    ///
    /// # Errors
    /// `Invalid` for a path that is not absolute or has `.`, `..`, a NUL or needless `/` in it; `NameTooLong`.
    pub fn new(grants: &[Grant]) -> Result<Scope, Errno> {
        let grants = grants.iter().map(|grant| Ok((path::names(&grant.path)?, grant.write)));
        Ok(Scope { grants: grants.collect::<Result<_, Errno>>()? })
    }

    /// Whether nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Whether what is at a path may be read.
    #[must_use]
    pub fn reads(&self, path: &str) -> bool {
        self.allowed(path) >= Allowed::Read
    }

    /// Whether what is at a path may be changed, made or removed.
    #[must_use]
    pub fn writes(&self, path: &str) -> bool {
        self.allowed(path) >= Allowed::Write
    }

    /// Whether anything may be changed that is at a path or below it.
    #[must_use]
    pub fn writes_below(&self, path: &str) -> bool {
        let path = split(path);
        self.grants.iter().any(|(granted, write)| *write && agree(granted, path.clone()))
    }

    /// What a directory shows that is itself not granted: the names in it that lead to something that is, sorted. None
    /// if the directory is granted, and shows all.
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

    /// The directories of a tree in which a holder of this scope begins, sorted: the granted ones, and those that hold
    /// a granted path that is no directory, or is not there. None is reached through a link.
    #[must_use]
    pub fn beginnings(&self, tree: &Tree) -> Vec<String> {
        let is_directory = |names: &[Name]| matches!(tree.entry(names), Ok(Node::Directory(_)));
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

    fn allowed(&self, path: &str) -> Allowed {
        self.allow(split(path))
    }

    fn allow<'a>(&self, path: impl Iterator<Item = &'a str> + Clone) -> Allowed {
        let depth = path.clone().count();
        let agreeing = self.grants.iter().filter(|(granted, _)| agree(granted, path.clone()));
        let allowed = agreeing.map(|(granted, write)| match (granted.len() <= depth, write) {
            (false, _) => Allowed::Passage,
            (true, false) => Allowed::Read,
            (true, true) => Allowed::Write,
        });
        allowed.max().unwrap_or(Allowed::Nothing)
    }
}

/// Whether one path is the other, or above it.
fn agree<'a>(granted: &[Name], path: impl Iterator<Item = &'a str>) -> bool {
    granted.iter().map(|name| &**name).zip(path).all(|(a, b)| a == b)
}

fn split(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|name| !name.is_empty())
}

fn spell(names: &[Name]) -> String {
    if names.is_empty() { "/".to_owned() } else { names.iter().flat_map(|name| ["/", name]).collect() }
}

/// Why a confined walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The path leaves the directory that it was to stay in.
    #[error("the path leaves its directory")]
    Outside,
    /// The path leads to what was not granted.
    #[error("not granted")]
    Hidden,
    /// What any walk may end with.
    #[error(transparent)]
    Errno(#[from] Errno),
}

/// Where a confined walk led.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// Absolute, links resolved (but for one at the end that was not to be followed).
    pub path: String,
    /// What is there, if anything is; what it would be in is there in any case.
    pub stat: Option<Stat>,
    /// Whether a `/` stands behind the last name: only a directory will do.
    pub slash: bool,
    /// Whether the path ends in a name, and not in `.` or `..`.
    pub named: bool,
}

impl Resolved {
    /// The path, with a `/` behind it if it was written so.
    #[must_use]
    pub fn spelling(&self) -> String {
        if self.slash { format!("{}/", self.path) } else { self.path.clone() }
    }
}

impl Tree {
    /// Finds what the relative `path` leads to from the directory at `base`, within `scope`. `follow` says whether a
    /// link at its end is followed.
    ///
    /// # Errors
    /// See [`Refusal`]; what is at `base` must be a directory, else it is `NoEntry` or `NotDirectory`.
    pub fn resolve(&self, base: &str, path: &str, follow: bool, scope: &Scope) -> Result<Resolved, Refusal> {
        let base = path::names(base)?;
        if !matches!(self.entry(&base)?, Node::Directory(_)) {
            return Err(Errno::NotDirectory.into());
        }
        match path {
            "" => return Err(Errno::NoEntry.into()),
            _ if path.len() > MAX_PATH_BYTES => return Err(Errno::NameTooLong.into()),
            _ if path.contains('\0') => return Err(Errno::Invalid.into()),
            _ if path.starts_with('/') => return Err(Refusal::Outside),
            _ => {}
        }
        let found = path::walk(self.root(), &base, path, follow, &Confined { floor: base.len(), scope })?;
        let node = found.optional()?;
        if found.slash() && node.is_some_and(|node| node.as_directory().is_none()) {
            return Err(Errno::NotDirectory.into());
        }
        let path = spell(&found.names());
        Ok(Resolved { path, stat: node.map(Node::stat), slash: found.slash(), named: found.named().is_ok() })
    }
}

/// A walk that stays below a directory, and within a scope.
struct Confined<'s> {
    floor: usize,
    scope: &'s Scope,
}

impl Rules for Confined<'_> {
    type Stop = Refusal;

    fn up(&self, depth: usize) -> Result<(), Refusal> {
        if depth > self.floor { Ok(()) } else { Err(Refusal::Outside) }
    }

    fn to_root(&self) -> Result<(), Refusal> {
        Err(Refusal::Outside)
    }

    fn look(&self, directory: &[(&Name, &Node)], name: &str) -> Result<(), Refusal> {
        let path = directory.iter().map(|(name, _)| &***name).chain([name]);
        if self.scope.allow(path) > Allowed::Nothing { Ok(()) } else { Err(Refusal::Hidden) }
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

    /// `/workspace/in/{a, d/b}` and `/workspace/out/x`.
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
    fn grants_only_add() {
        let scope = scope(&[("/a", false), ("/a/b", true), ("/a/b/c", false), ("/d/e/f", true)]);
        assert!(scope.reads("/a") && scope.reads("/a/x/y") && !scope.writes("/a") && !scope.writes("/a/bb"));
        assert!(scope.writes("/a/b") && scope.writes("/a/b/c/d"), "a narrower grant takes nothing away");
        assert!(!scope.reads("/") && !scope.reads("/ab") && !scope.reads("/d/e"));
        assert!(scope.writes_below("/") && scope.writes_below("/d") && !scope.writes_below("/a/x"));
    }

    #[test]
    fn the_root_and_nothing_can_be_granted() {
        let everything = scope(&[("/", true)]);
        assert!(everything.writes("/") && everything.writes("/a/b") && everything.shown("/").is_none());
        let nothing = scope(&[]);
        assert!(!nothing.reads("/") && !nothing.reads("/a") && nothing.beginnings(&tree()).is_empty());
        assert_eq!(tree().resolve("/", "workspace", true, &nothing), Err(Refusal::Hidden));
    }

    #[test]
    fn a_grant_that_is_no_path_is_refused() {
        for path in ["", "a", "/a/", "//a", "/a/../b", "/.", "/a\0"] {
            let grant = Grant { path: path.to_owned(), write: false };
            assert!(Scope::new(&[grant]).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_passage_shows_what_leads_on() {
        let scope = scope(&[("/a/b/c", false), ("/a/d", true), ("/a/b", false), ("/e", false)]);
        assert_eq!(scope.shown("/a"), Some(vec!["b", "d"]));
        assert_eq!(scope.shown("/"), Some(vec!["a", "e"]));
        assert_eq!(scope.shown("/a/d"), None);
        assert_eq!(scope.shown("/f"), Some(vec![]));
    }

    #[test]
    fn one_begins_in_granted_directories_and_beside_granted_files() {
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
    fn a_walk_stays_below_its_base() {
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
    fn what_is_not_granted_looks_as_if_it_could_be_anything() {
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
    fn posix_holds_inside() {
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
