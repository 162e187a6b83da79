//! Conversion of a Markdown document to HTML, and extraction of its headings.

use comrak::nodes::NodeValue;
use comrak::{Anchorizer, Arena, Options, markdown_to_html, parse_document};

/// Parts of GitHub Flavored Markdown that plain CommonMark lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensions {
    /// Tables whose columns are separated by pipes.
    pub tables: bool,
    /// Text that is struck through, as in `~~struck~~`.
    pub strikethrough: bool,
    /// Footnotes and references to them.
    pub footnotes: bool,
    /// List items with a checkbox: `- [ ]`.
    pub task_lists: bool,
    /// Bare addresses that become links.
    pub autolinks: bool,
}

impl Extensions {
    /// All extensions, enabled.
    pub const ALL: Self =
        Self { tables: true, strikethrough: true, footnotes: true, task_lists: true, autolinks: true };

    fn options(self) -> Options<'static> {
        let mut options = Options::default();
        options.extension.table = self.tables;
        options.extension.strikethrough = self.strikethrough;
        options.extension.footnotes = self.footnotes;
        options.extension.tasklist = self.task_lists;
        options.extension.autolink = self.autolinks;
        options
    }
}

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Level of the heading, 1 to 6.
    pub level: u8,
    /// Text of the heading, without markup.
    pub text: String,
    /// Anchor of the heading: the part of a link after `#`, unique in the document.
    pub anchor: String,
    /// Line of the heading, counted from 1.
    pub line: usize,
}

/// Converts a document to a fragment of HTML. Unless `raw_html` is set, HTML in the document is escaped and dangerous
/// addresses are dropped, so that the result is safe to display.
pub fn to_html(text: &str, extensions: Extensions, raw_html: bool) -> String {
    let mut options = extensions.options();
    options.render.escape = !raw_html;
    options.render.r#unsafe = raw_html;
    markdown_to_html(text, &options)
}

/// Returns the headings of a document, in order.
pub fn headings(text: &str) -> Vec<Heading> {
    let arena = Arena::new();
    let root = parse_document(&arena, text, &Extensions::ALL.options());
    let mut anchors = Anchorizer::new();
    let mut headings = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        if let NodeValue::Heading(heading) = &data.value {
            let text = node.collect_text();
            let anchor = anchors.anchorize(&text);
            headings.push(Heading { level: heading.level, text, anchor, line: data.sourcepos.start.line });
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn safe(text: &str) -> String {
        to_html(text, Extensions::ALL, false)
    }

    #[test]
    fn markdown_is_rendered_as_commonmark() {
        assert_eq!(safe("# Hi\n\n*a* `b`"), "<h1>Hi</h1>\n<p><em>a</em> <code>b</code></p>\n");
    }

    #[test]
    fn extensions_can_be_left_out() {
        let text = "| a |\n| - |\n| 1 |\n\n~~x~~ https://example.org [^1]\n\n- [x] done\n\n[^1]: note\n";
        let with = safe(text);
        for part in ["<table>", "<del>x</del>", "href=\"https://example.org\"", "footnote", "checkbox"] {
            assert!(with.contains(part), "{part}: {with}");
        }
        let none =
            Extensions { tables: false, strikethrough: false, footnotes: false, task_lists: false, autolinks: false };
        let without = to_html(text, none, false);
        for part in ["<table>", "<del>", "href=\"https", "footnote", "checkbox"] {
            assert!(!without.contains(part), "{part}: {without}");
        }
    }

    #[test]
    fn html_is_escaped_unless_asked_for() {
        let text = "a <b onclick=\"x()\">b</b>\n\n<script>alert(1)</script>\n";
        let html = safe(text);
        assert!(html.contains("&lt;b onclick=") && html.contains("&lt;script&gt;"), "{html}");
        assert!(!html.contains("<b ") && !html.contains("<script"), "{html}");
        assert!(to_html(text, Extensions::ALL, true).contains("<script>alert(1)</script>"));
    }

    #[test]
    fn dangerous_addresses_are_dropped_unless_asked_for() {
        for link in [
            "[a](javascript:alert(1))",
            "[a](JaVaScRiPt:alert(1))",
            "[a](&#106;avascript:alert(1))",
            "<javascript:alert(1)>",
            "[a]: vbscript:x\n\n[a]",
            "![a](data:text/html;base64,x)",
            "[a](<\u{1}javascript:alert(1)>)",
            "[a](<java\tscript:alert(1)>)",
        ] {
            let html = safe(link).to_lowercase();
            for bad in ["=\"javascript:", "=\"vbscript:", "=\"data:", "\u{1}javascript", "java\tscript"] {
                assert!(!html.contains(bad), "{link}: {html}");
            }
        }
        assert!(to_html("[a](javascript:x)", Extensions::ALL, true).contains("javascript:x"));
    }

    #[test]
    fn headings_have_anchors_and_lines() {
        let found = headings("# A *b* `c`\n\nTitle\n=====\n\n> ## Title\n\n```\n# no\n```\n");
        let heading = |level, text: &str, anchor: &str, line| Heading {
            level,
            text: text.to_owned(),
            anchor: anchor.to_owned(),
            line,
        };
        let expected =
            [heading(1, "A b c", "a-b-c", 1), heading(1, "Title", "title", 3), heading(2, "Title", "title-1", 6)];
        assert_eq!(found, expected);
    }

    // Recursion would overflow a stack of this size, and the smaller one in wasm much earlier.
    #[test]
    fn deep_nesting_does_not_overflow() {
        let run = || {
            for mark in ["> ", "- ", "*a ", "[", "![", "<b>", "~~x "] {
                let text = mark.repeat(5_000);
                assert!(!safe(&text).is_empty());
                headings(&text);
            }
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread").join().expect("no overflow");
    }

    proptest! {
        #[test]
        fn markdown_with_html_tags_renders_none_of_them(text in "[<>a/\"'`*_\\[\\]()!&;:#|~\n -]{0,60}") {
            let html = safe(&text.replace('a', "xyz"));
            prop_assert!(!html.contains("<xyz"), "{}", html);
        }
    }
}
