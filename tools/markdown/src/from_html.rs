//! Conversion of HTML to Markdown.

use std::rc::Rc;

use htmd::options::{BulletListMarker, HrStyle, Options};
use htmd::{HtmlToMarkdown, Node};

use crate::error::Error;

/// Largest depth of nested elements. The converter is recursive, and a tool's stack is small. Pages that people write
/// stay far below.
pub const MAX_DEPTH: usize = 200;

/// Converts a page or a fragment of HTML to Markdown.
///
/// # Errors
///
/// `TooDeep`.
pub fn from_html(html: &str) -> Result<String, Error> {
    let converter = HtmlToMarkdown::builder()
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            hr_style: HrStyle::Dashes,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .skip_tags(vec!["head", "script", "style", "template"])
        // Content for readers without scripts is included.
        .scripting_enabled(false)
        .build();
    let tree = converter.html_to_tree(html).expect("the input is in memory, so reading cannot fail");
    if is_deeper_than(&tree, MAX_DEPTH) {
        return Err(Error::TooDeep { limit: MAX_DEPTH });
    }
    let markdown = converter.tree_to_markdown(&tree);
    Ok(if markdown.is_empty() { markdown } else { markdown + "\n" })
}

/// Returns true if a tree is deeper than a limit. The walk is level by level, without recursion.
fn is_deeper_than(tree: &Rc<Node>, limit: usize) -> bool {
    let mut level = vec![Rc::clone(tree)];
    for _ in 0..=limit {
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn markdown(html: &str) -> String {
        from_html(html).expect("shallow HTML")
    }

    #[test]
    fn html_page_is_converted_to_markdown() {
        let html = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>Hi &amp; bye</h1>\
            <p>A <b>bold</b>, <em>em</em> <a href=\"https://example.org\">link</a>.</p><script>x()</script>\
            <ul><li>one<li>two</ul><ol><li>a</ol><hr><pre><code class=\"language-js\">let a;\n</code></pre></body></html>";
        let expected = "# Hi & bye\n\nA **bold**, *em* [link](https://example.org).\n\n- one\n- two\n\n1. a\n\n- - -\n\n\
            ```js\nlet a;\n```\n";
        assert_eq!(markdown(html), expected);
    }

    #[test]
    fn html_table_is_converted_to_markdown() {
        let html =
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>";
        let table = markdown(html);
        let cells: Vec<String> = table.lines().map(|line| line.replace(' ', "")).collect();
        assert_eq!(cells[0], "|a|b|");
        assert_eq!(cells[2], "|1|2|");
    }

    #[test]
    fn html_without_markup_is_converted_as_text() {
        assert_eq!(markdown(""), "");
        assert_eq!(markdown("just text"), "just text\n");
        assert_eq!(markdown("<noscript><p>here</p></noscript>"), "here\n");
        assert_eq!(markdown("1 < 2 *and* [x]"), "1 < 2 \\*and\\* \\[x\\]\n");
    }

    // The limit must apply before a tool's stack of 1 MiB is used up; the test uses half of it, in an unoptimized
    // build.
    #[test]
    fn deep_nesting_is_refused_before_it_overflows() {
        let run = || {
            for tag in ["div", "blockquote", "b", "ul><li", "span"] {
                assert!(from_html(&format!("<{tag}>").repeat(80)).is_ok(), "{tag}");
            }
            assert!(from_html(&"<div>".repeat(MAX_DEPTH - 5)).is_ok());
            assert_eq!(from_html(&"<div>".repeat(20_000)), Err(Error::TooDeep { limit: MAX_DEPTH }));
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread").join().expect("no overflow");
    }

    proptest! {
        #[test]
        fn html_converter_with_arbitrary_text_does_not_panic(html in "(<(/?(p|b|a|ul|ol|li|table|tr|td|th|pre|code|h1|img|br|select|svg|template))>|[a-z \n*&;|]){0,40}") {
            markdown(&html);
        }
    }
}
