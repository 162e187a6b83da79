//! Tree as lines of text.

use super::details;
use super::options::TreeOptions;
use super::walk::{Node, Root};
use crate::commands::file_status::FmtEnv;
use bashkit::fs::FileType;

/// Numbers of directories and of files that were shown.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) directories: usize,
    pub(super) files: usize,
}

impl Counts {
    /// Counts what is in an operand, and the operand itself if anything is in it.
    pub(super) fn add_root(&mut self, root: &Root) {
        match root {
            Root::Directory(node) => {
                self.directories += usize::from(!node.children.is_empty() || node.remark.is_some());
                self.add_children(node);
            }
            Root::Unreadable { is_there, .. } => self.files += usize::from(*is_there),
        }
    }

    fn add_children(&mut self, node: &Node) {
        for child in &node.children {
            if child.is_directory {
                self.directories += 1;
            } else {
                self.files += 1;
            }
            self.add_children(child);
        }
    }

    /// Returns the line of the report.
    fn line(&self, options: &TreeOptions) -> String {
        let directories = if self.directories == 1 { "directory" } else { "directories" };
        let mut line = format!("{} {directories}", self.directories);
        if !options.directories_only {
            let files = if self.files == 1 { "file" } else { "files" };
            line.push_str(&format!(", {} {files}", self.files));
        }
        line + "\n"
    }
}

/// Returns the listing of all operands.
pub(super) fn listing(roots: &[Root], options: &TreeOptions, environment: &FmtEnv) -> String {
    let mut lines = TreeLines { text: String::new(), options, environment };
    let mut counts = Counts::default();
    for root in roots {
        counts.add_root(root);
        match root {
            Root::Directory(node) => lines.add_root(node),
            Root::Unreadable { name, .. } => lines.text.push_str(&format!("{name}  [error opening dir]\n")),
        }
    }
    if !options.no_report {
        lines.text.push('\n');
        lines.text.push_str(&counts.line(options));
    }
    lines.text
}

/// Lines of a listing.
struct TreeLines<'a> {
    text: String,
    options: &'a TreeOptions,
    environment: &'a FmtEnv,
}

impl TreeLines<'_> {
    fn add_root(&mut self, node: &Node) {
        self.add_line(node, &node.name, "", "");
        self.add_children(node, "");
    }

    fn add_children(&mut self, node: &Node, indent: &str) {
        let pieces = match self.options.ascii {
            true => [["|-- ", "|   "], ["`-- ", "    "]],
            false => [["├── ", "│\u{a0}\u{a0} "], ["└── ", "    "]],
        };
        let last = node.children.len();
        for (index, child) in node.children.iter().enumerate() {
            let [branch, behind] = pieces[usize::from(index + 1 == last)];
            let name = if self.options.full_path { &child.path } else { &child.name };
            self.add_line(child, name, indent, branch);
            self.add_children(child, &format!("{indent}{behind}"));
        }
    }

    fn add_line(&mut self, node: &Node, name: &str, indent: &str, branch: &str) {
        let options = self.options;
        let mut details = details::in_brackets(node, options, self.environment);
        if !details.is_empty() {
            details.push_str("  ");
        }
        let lines = if options.no_indent { String::new() } else { format!("{indent}{branch}") };
        let (first, second) = if options.meta_first { (&details, &lines) } else { (&lines, &details) };
        self.text.push_str(&format!("{first}{second}{}", self.quoted(name)));
        match &node.link {
            None if options.classify => {
                let is_fifo = node.status.file_type == FileType::Fifo;
                let class = details::class(node.is_directory, node.status.mode, is_fifo);
                // A root that is written with a slash has it already.
                self.text.push_str(if name.ends_with('/') { "" } else { class });
            }
            None => {}
            Some(link) => {
                self.text.push_str(&format!(" -> {}", self.quoted(&link.target)));
                if let Some(status) = link.status.as_ref().filter(|_| options.classify) {
                    let is_fifo = status.file_type == FileType::Fifo;
                    self.text.push_str(details::class(status.file_type.is_dir(), status.mode, is_fifo));
                }
            }
        }
        if let Some(remark) = &node.remark {
            self.text.push_str(&format!("  [{remark}]"));
        }
        self.text.push('\n');
    }

    fn quoted(&self, name: &str) -> String {
        if self.options.quote { format!("\"{name}\"") } else { name.to_owned() }
    }
}
