//! Tree as XML (`-X`), laid out as `tree` does.

use super::details;
use super::options::{SizeUnit, TreeOptions};
use super::text::Counts;
use super::walk::{Node, Root};
use crate::commands::file_status::{FmtEnv, mode_string};
use bashkit::fs::FileType;

/// Returns the listing of all operands.
pub(super) fn listing(roots: &[Root], options: &TreeOptions, environment: &FmtEnv) -> String {
    let end = if options.no_indent { "" } else { "\n" };
    let mut document = Document { text: String::new(), options, environment };
    document.text.push_str(&format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{end}<tree>{end}"));
    let mut counts = Counts::default();
    for root in roots {
        counts.add_root(root);
        match root {
            Root::Directory(node) => document.add(node, &node.name, 1),
            Root::Unreadable { name, .. } => document.add_error(name),
        }
    }
    if !options.no_report {
        let indent = |level: usize| if options.no_indent { String::new() } else { "  ".repeat(level) };
        let mut report = format!("{}<report>{end}", indent(1));
        report.push_str(&format!("{}<directories>{}</directories>{end}", indent(2), counts.directories));
        if !options.directories_only {
            report.push_str(&format!("{}<files>{}</files>{end}", indent(2), counts.files));
        }
        document.text.push_str(&format!("{report}{}</report>{end}", indent(1)));
    }
    document.text + "</tree>\n"
}

/// XML text that grows.
struct Document<'a> {
    text: String,
    options: &'a TreeOptions,
    environment: &'a FmtEnv,
}

impl Document<'_> {
    fn indent(&mut self, level: usize) {
        if !self.options.no_indent {
            self.text.push_str(&"  ".repeat(level));
        }
    }

    /// Adds what `tree` writes of an operand that is no directory, which is no XML there either.
    fn add_error(&mut self, name: &str) {
        let name = escaped(name);
        self.text.push_str(&format!(" name=\"{name}\"><error>error opening dir</error>\n  </unknown>\n"));
    }

    fn add(&mut self, node: &Node, name: &str, level: usize) {
        let end = if self.options.no_indent { "" } else { "\n" };
        let kind = match node.status.file_type {
            FileType::Directory => "directory",
            FileType::Symlink => "link",
            FileType::Fifo => "fifo",
            FileType::File => "file",
        };
        self.indent(level);
        self.text.push_str(&format!("<{kind} name=\"{}\"", escaped(name)));
        if let Some(link) = &node.link {
            self.text.push_str(&format!(" target=\"{}\"", escaped(&link.target)));
        }
        self.add_details(node);
        self.text.push('>');
        if let Some(remark) = &node.remark {
            self.text.push_str(&format!("<error>{remark}</error>{end}"));
        }
        if !node.children.is_empty() {
            self.text.push_str(end);
            for child in &node.children {
                let name = if self.options.full_path { &child.path } else { &child.name };
                self.add(child, name, level + 1);
            }
            self.indent(level);
        }
        self.text.push_str(&format!("</{kind}>{end}"));
    }

    fn add_details(&mut self, node: &Node) {
        let options = self.options;
        if options.modes {
            let (mode, text) = (node.status.mode & 0o7777, mode_string(&node.status));
            self.text.push_str(&format!(" mode=\"{mode:04o}\" prot=\"{text}\""));
        }
        for (key, _) in [("user", options.user), ("group", options.group)].into_iter().filter(|(_, shown)| *shown) {
            self.text.push_str(&format!(" {key}=\"{}\"", escaped(&self.environment.username)));
        }
        match options.size {
            Some(SizeUnit::Bytes) => self.text.push_str(&format!(" size=\"{}\"", node.size())),
            Some(unit) => {
                let size = details::size(node.size(), unit);
                self.text.push_str(&format!(" size=\"{}\"", size.trim_start()));
            }
            None => {}
        }
        if options.date {
            let date = details::date(node, options, self.environment);
            self.text.push_str(&format!(" time=\"{}\"", escaped(&date)));
        }
    }
}

/// Text of an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
