//! Differences between two trees as text, for people and for `git apply`: unified diffs in git's style.
//!
//! Files and links are shown. Directories are not, since git does not track them, and neither are times.

use std::fmt::Write as _;

use similar::TextDiff;

use super::changed_paths::{ChangeKind, changed_paths};
use super::content::Content;
use super::errno::Errno;
use super::inspect::Kind;
use super::node::TreeNode;
use super::path;
use super::tree::Tree;

/// Number of leading bytes in which a NUL makes a file binary, the same as in git.
const BINARY_BYTES: usize = 8_000;

/// Limits on the output of [`unified`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnifiedLimits {
    /// Maximum size of a file in bytes: for larger files it is only stated that they differ.
    pub file_bytes: u64,
    /// Approximate maximum size of the text in bytes: the first file that would exceed it is not shown, nor are those
    /// after it.
    pub bytes: usize,
    /// Number of equal lines around each change.
    pub context: usize,
}

impl Default for UnifiedLimits {
    /// Returns files of 1 MiB, 16 MiB of text, and 3 lines around each change.
    fn default() -> Self {
        UnifiedLimits { file_bytes: 1 << 20, bytes: 16 << 20, context: 3 }
    }
}

/// Returns the differences of `new` from `old`, by path. If they exceed the limits, the last line tells how many are
/// not shown.
///
/// # Errors
/// `Io` if something that must be compared cannot be read.
pub fn unified(old: &Tree, new: &Tree, limits: &UnifiedLimits) -> Result<String, Errno> {
    let changes = changed_paths(old, new)?;
    let mut text = String::new();
    for (at, change) in changes.iter().enumerate() {
        let side = |tree: &Tree, there| if there { DiffSide::at(tree, &change.path, limits) } else { Ok(None) };
        let before = side(old, change.kind != ChangeKind::Added)?;
        let after = side(new, change.kind != ChangeKind::Removed)?;
        let section = section(&change.path, before.as_ref(), after.as_ref(), limits);
        if text.len().saturating_add(section.len()) > limits.bytes {
            // Infallible: writing to a `String` only fails by running out of memory.
            let _ = writeln!(text, "... {} more changed paths are not shown", changes.len() - at);
            break;
        }
        text.push_str(&section);
    }
    Ok(text)
}

/// A file or a link on one side of the comparison.
struct DiffSide {
    /// Kind and permission bits, as git writes them.
    mode: u32,
    body: SideContent,
}

#[derive(PartialEq)]
enum SideContent {
    Text(String),
    Binary(Vec<u8>),
    Long(Content),
}

impl DiffSide {
    fn at(tree: &Tree, path: &str, limits: &UnifiedLimits) -> Result<Option<DiffSide>, Errno> {
        let node = tree.entry(&path::names(path)?)?;
        let kind = match node.kind() {
            Kind::Directory => return Ok(None),
            Kind::File => 0o100_000,
            Kind::Link => 0o120_000,
        };
        let body = match node {
            TreeNode::Link(link) => SideContent::Text(link.target.to_string()),
            TreeNode::File(file) if file.content.len() > limits.file_bytes => SideContent::Long(file.content.clone()),
            TreeNode::File(file) => SideContent::of(file.content.to_vec()?),
            TreeNode::Directory(_) => return Ok(None),
        };
        // The permission bits of a link have no meaning.
        let mode = if node.kind() == Kind::Link { kind } else { kind | node.meta().mode };
        Ok(Some(DiffSide { mode, body }))
    }
}

impl SideContent {
    fn of(bytes: Vec<u8>) -> SideContent {
        if bytes.iter().take(BINARY_BYTES).any(|byte| *byte == 0) {
            return SideContent::Binary(bytes);
        }
        String::from_utf8(bytes).map_or_else(|error| SideContent::Binary(error.into_bytes()), SideContent::Text)
    }
}

/// Returns the section of one path; empty, if only its time has changed, or it is a directory.
fn section(path: &str, before: Option<&DiffSide>, after: Option<&DiffSide>, limits: &UnifiedLimits) -> String {
    let path = path.trim_start_matches('/');
    let (a, b) = (quoted("a", path), quoted("b", path));
    let mut text = String::new();
    let modes = match (before, after) {
        (None, None) => return text,
        (Some(before), Some(after)) if before.mode == after.mode && before.body == after.body => return text,
        (Some(before), Some(after)) if before.mode == after.mode => String::new(),
        (Some(before), Some(after)) => format!("old mode {:o}\nnew mode {:o}\n", before.mode, after.mode),
        (None, Some(after)) => format!("new file mode {:o}\n", after.mode),
        (Some(before), None) => format!("deleted file mode {:o}\n", before.mode),
    };
    let _ = write!(text, "diff --git {a} {b}\n{modes}");
    let nothing = "/dev/null".to_owned();
    let a = if before.is_some() { a } else { nothing.clone() };
    let b = if after.is_some() { b } else { nothing };
    let empty = SideContent::Text(String::new());
    let before = before.map_or(&empty, |side| &side.body);
    let after = after.map_or(&empty, |side| &side.body);
    match (before, after) {
        _ if before == after => {}
        (SideContent::Text(before), SideContent::Text(after)) => {
            let diff = TextDiff::from_lines(before.as_str(), after.as_str());
            let _ =
                write!(text, "{}", diff.unified_diff().context_radius(limits.context).header(&tabbed(&a), &tabbed(&b)));
        }
        (SideContent::Long(_), _) | (_, SideContent::Long(_)) => {
            let _ = writeln!(text, "Files {a} and {b} differ, and are too long to be shown");
        }
        _ => {
            let _ = writeln!(text, "Binary files {a} and {b} differ");
        }
    }
    text
}

/// Quotes a path as git does, if it contains characters that could be misread.
fn quoted(side: &str, path: &str) -> String {
    if !path.chars().any(|letter| letter.is_control() || letter == '"' || letter == '\\') {
        return format!("{side}/{path}");
    }
    let mut text = format!("\"{side}/");
    for letter in path.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            letter if letter.is_control() => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// Formats a path in a line that may end with a time: if it contains spaces, a tab marks its end.
fn tabbed(path: &str) -> String {
    if path.contains(' ') && !path.starts_with('"') { format!("{path}\t") } else { path.to_owned() }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::super::{Limits, WriteMode};
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        let lines: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        tree.place_file("/workspace/a", lines.as_bytes(), 0o644, 1).expect("within limits");
        tree.place_file("/workspace/gone", b"x\ny", 0o755, 1).expect("within limits");
        tree.place_file("/workspace/bin", b"\0\x01", 0o644, 1).expect("within limits");
        tree.create_link("a", "/workspace/l", 1).expect("writable");
        tree
    }

    fn diff(old: &Tree, new: &Tree) -> String {
        unified(old, new, &UnifiedLimits::default()).expect("all is in memory")
    }

    fn changed() -> Tree {
        let mut new = tree();
        let lines: String =
            (1..=20).map(|n| if n == 10 { "ten\n".to_owned() } else { format!("line {n}\n") }).collect();
        new.write("/workspace/a", lines.as_bytes(), WriteMode::Replace, 2).expect("writable");
        new.set_mode("/workspace/a", 0o755).expect("writable");
        new.remove("/workspace/gone", false, 2).expect("writable");
        new.write("/workspace/bin", b"\0\x02", WriteMode::Replace, 2).expect("writable");
        new.remove("/workspace/l", false, 2).expect("writable");
        new.create_link("bin", "/workspace/l", 2).expect("writable");
        new.write("/workspace/new name", b"n\n", WriteMode::Create, 2).expect("writable");
        new.write("/workspace/empty", b"", WriteMode::Create, 2).expect("writable");
        new.create_directory("/workspace/d", false, 2).expect("writable");
        new
    }

    #[test]
    fn unified_diff_matches_the_format_of_git() {
        let expected = "\
diff --git a/workspace/a b/workspace/a
old mode 100644
new mode 100755
--- a/workspace/a
+++ b/workspace/a
@@ -7,7 +7,7 @@
 line 7
 line 8
 line 9
-line 10
+ten
 line 11
 line 12
 line 13
diff --git a/workspace/bin b/workspace/bin
Binary files a/workspace/bin and b/workspace/bin differ
diff --git a/workspace/empty b/workspace/empty
new file mode 100644
diff --git a/workspace/gone b/workspace/gone
deleted file mode 100755
--- a/workspace/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-x
-y
\\ No newline at end of file
diff --git a/workspace/l b/workspace/l
--- a/workspace/l
+++ b/workspace/l
@@ -1 +1 @@
-a
\\ No newline at end of file
+bin
\\ No newline at end of file
diff --git a/workspace/new name b/workspace/new name
new file mode 100644
--- /dev/null
+++ b/workspace/new name\t
@@ -0,0 +1 @@
+n
";
        assert_eq!(diff(&tree(), &changed()), expected);
        assert_eq!(diff(&tree(), &tree()), "");
        let mut later = tree();
        later.set_modified("/workspace/a", 9).expect("writable");
        assert_eq!(diff(&tree(), &later), "", "a time is not shown");
    }

    #[test]
    fn unified_diff_is_applied_by_git() {
        let mut new = changed();
        new.write("/workspace/bin", b"\0\x01", WriteMode::Replace, 1).expect("writable");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |path: &str| directory.path().join(path.trim_start_matches('/'));
        fs::create_dir(at("workspace")).expect("made");
        for path in ["/workspace/a", "/workspace/gone", "/workspace/bin"] {
            fs::write(at(path), tree().read_file(path).expect("there")).expect("written");
            let mode = tree().stat(path, false).expect("there").mode;
            fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).expect("set");
        }
        std::os::unix::fs::symlink("a", at("workspace/l")).expect("made");
        fs::write(at("patch"), diff(&tree(), &new)).expect("written");
        let applied = Command::new("git").args(["apply", "patch"]).current_dir(directory.path()).status();
        // If git is not installed, there is nothing to compare with.
        if let Ok(status) = applied {
            assert!(status.success());
            assert_eq!(fs::read(at("workspace/a")).ok(), new.read_file("/workspace/a").ok());
            assert_eq!(fs::read(at("workspace/new name")).ok().as_deref(), Some(b"n\n".as_slice()));
            assert_eq!(fs::read_link(at("workspace/l")).ok(), Some("bin".into()));
            assert!(!at("workspace/gone").exists() && at("workspace/empty").exists());
        }
    }

    #[test]
    fn unified_diff_of_changed_entry_kind_is_removal_and_creation() {
        let old = tree();
        let mut new = old.clone();
        new.remove("/workspace/l", false, 2).expect("writable");
        new.write("/workspace/l", b"now\n", WriteMode::Create, 2).expect("writable");
        let told = diff(&old, &new);
        let lines: Vec<_> = told.lines().filter(|line| line.contains("mode")).collect();
        assert_eq!(lines, ["deleted file mode 120000", "new file mode 100644"]);
    }

    #[test]
    fn unified_diff_escapes_names_that_look_like_headers() {
        let old = tree();
        let mut new = old.clone();
        new.write("/workspace/x\n+++ b-y\t\"\\\u{1b}é", b"n\n", WriteMode::Create, 2).expect("writable");
        let told = diff(&old, &new);
        let name = "workspace/x\\n+++ b-y\\t\\\"\\\\\\033é\"";
        assert!(told.starts_with(&format!("diff --git \"a/{name} \"b/{name}\nnew file")), "{told}");
        assert_eq!(told.lines().filter(|line| line.starts_with("+++")).count(), 1);
    }

    #[test]
    fn unified_diff_beyond_its_limits_counts_what_is_omitted() {
        let limits = UnifiedLimits { file_bytes: 100, ..UnifiedLimits::default() };
        let told = unified(&tree(), &changed(), &limits).expect("all is in memory");
        assert!(
            told.contains("Files a/workspace/a and b/workspace/a differ, and are too long to be shown\n"),
            "{told}"
        );
        let limits = UnifiedLimits { bytes: 500, ..UnifiedLimits::default() };
        let told = unified(&tree(), &changed(), &limits).expect("all is in memory");
        assert!(told.len() < 600 && told.ends_with("more changed paths are not shown\n"), "{told}");
    }
}
