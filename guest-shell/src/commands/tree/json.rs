//! Tree as JSON (`-J`), laid out as `tree` does.

use super::details;
use super::options::{SizeUnit, TreeOptions};
use super::text::Counts;
use super::walk::{Node, Root};
use crate::commands::file_status::{FmtEnv, mode_string};
use bashkit::fs::FileType;

/// Returns the listing of all operands.
pub(super) fn listing(roots: &[Root], options: &TreeOptions, environment: &FmtEnv) -> String {
    let end = if options.no_indent { "" } else { "\n" };
    let mut document = Document { text: format!("[{end}"), options, environment };
    let mut counts = Counts::default();
    for (index, root) in roots.iter().enumerate() {
        counts.add_root(root);
        match root {
            Root::Directory(node) => document.add(node, &node.name, 1),
            Root::Unreadable { name, .. } => document.add_error(name),
        }
        let separator = if index + 1 < roots.len() { "," } else { "" };
        document.text.push_str(&format!("{separator}{end}"));
    }
    if options.no_report {
        let last = if options.no_indent { "" } else { "\n" };
        return document.text + last + "]\n";
    }
    let files = if options.directories_only { String::new() } else { format!(",\"files\":{}", counts.files) };
    let indent = if options.no_indent { "" } else { "  " };
    let report = format!("{{\"type\":\"report\",\"directories\":{}{files}}}", counts.directories);
    document.text.push_str(&format!(",{end}{indent}{report}{end}]\n"));
    document.text
}

/// JSON text that grows.
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

    /// Adds what `tree` writes of an operand that is no directory, which is no JSON there either.
    fn add_error(&mut self, name: &str) {
        self.text.push_str(&format!(",\"name\":\"{}\",\"contents\":[", escaped(name)));
        self.text.push_str("{\"error\": \"error opening dir\"}\n\n  ]}");
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
        self.text.push_str(&format!("{{\"type\":\"{kind}\",\"name\":\"{}\"", escaped(name)));
        if let Some(link) = &node.link {
            self.text.push_str(&format!(",\"target\":\"{}\"", escaped(&link.target)));
        }
        self.add_details(node);
        if node.children.is_empty() {
            self.text.push('}');
            if let Some(remark) = &node.remark {
                self.text.push_str(&format!("{{\"error\": \"{remark}\"}}{end}"));
            }
            return;
        }
        self.text.push_str(&format!(",\"contents\":[{end}"));
        for (index, child) in node.children.iter().enumerate() {
            let name = if self.options.full_path { &child.path } else { &child.name };
            self.add(child, name, level + 1);
            let separator = if index + 1 < node.children.len() { "," } else { "" };
            self.text.push_str(&format!("{separator}{end}"));
        }
        self.indent(level);
        self.text.push_str("]}");
    }

    fn add_details(&mut self, node: &Node) {
        let options = self.options;
        if options.modes {
            let (mode, text) = (node.status.mode & 0o7777, mode_string(&node.status));
            self.text.push_str(&format!(",\"mode\":\"{mode:04o}\",\"prot\":\"{text}\""));
        }
        for (key, _) in [("user", options.user), ("group", options.group)].into_iter().filter(|(_, shown)| *shown) {
            self.text.push_str(&format!(",\"{key}\":\"{}\"", escaped(&self.environment.username)));
        }
        match options.size {
            Some(SizeUnit::Bytes) => self.text.push_str(&format!(",\"size\":{}", node.size())),
            Some(unit) => {
                let size = details::size(node.size(), unit);
                self.text.push_str(&format!(",\"size\":\"{}\"", size.trim_start()));
            }
            None => {}
        }
        if options.date {
            let date = details::date(node, options, self.environment);
            self.text.push_str(&format!(",\"time\":\"{}\"", escaped(&date)));
        }
    }
}

/// Text of a JSON string.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
