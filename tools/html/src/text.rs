//! Text of an element, laid out as a reader sees it.

use scraper::node::Element;
use scraper::{ElementRef, Node};

use ego_tree::iter::Edge;

use crate::document::{Error, Room};

/// Elements whose text is not displayed.
const HIDDEN: [&str; 8] = ["head", "script", "style", "template", "noscript", "iframe", "object", "select"];
/// Elements that are separated by an empty line.
const APART: [&str; 12] = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "table"];
/// Elements that begin a new line.
const LINES: [&str; 26] = [
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "nav",
    "section",
    "tr",
    "thead",
    "tbody",
    "tfoot",
    "details",
];

/// Text that is being assembled.
#[derive(Default)]
struct Lines {
    text: String,
    /// Number of line ends before the next word.
    breaks: usize,
    /// True if a space must come before the next word.
    space: bool,
    /// Number of `pre` elements that are open.
    pre: usize,
}

impl Lines {
    fn apart(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
        self.space = false;
    }

    fn begin(&mut self) {
        if !self.text.is_empty() {
            self.text.extend(std::iter::repeat_n('\n', self.breaks));
            if self.breaks == 0 && self.space && !self.text.ends_with([' ', '\n', '\t']) {
                self.text.push(' ');
            }
        }
        (self.breaks, self.space) = (0, false);
    }

    fn add(&mut self, text: &str) {
        if self.pre > 0 {
            self.begin();
            self.text.push_str(text);
            return;
        }
        let space = |character: char| character.is_ascii_whitespace();
        self.space |= text.starts_with(space);
        for word in text.split(space).filter(|word| !word.is_empty()) {
            self.begin();
            self.text.push_str(word);
            self.space = true;
        }
        if !text.ends_with(space) && !text.is_empty() {
            self.space = false;
        }
    }

    /// Opens an element. The outermost element of a query is not treated as a list item.
    fn open(&mut self, element: &Element, itself: bool) {
        match element.name() {
            "br" => {
                self.breaks += 1;
                self.space = false;
            }
            "img" => self.add(element.attr("alt").unwrap_or_default()),
            name => {
                if breaks(name) > 0 {
                    self.apart(breaks(name));
                }
                if name == "li" && !itself {
                    self.begin();
                    self.text.push_str("- ");
                }
                self.pre += usize::from(name == "pre");
            }
        }
    }

    fn close(&mut self, element: &Element) {
        let name = element.name();
        self.pre -= usize::from(name == "pre");
        if breaks(name) > 0 {
            self.apart(breaks(name));
        }
        if matches!(name, "td" | "th") {
            self.begin();
            self.text.push('\t');
        }
    }
}

fn breaks(name: &str) -> usize {
    if APART.contains(&name) { 2 } else { usize::from(LINES.contains(&name)) }
}

fn is_hidden(element: &Element) -> bool {
    HIDDEN.contains(&element.name()) || element.attr("hidden").is_some()
}

/// Returns the text of an element.
///
/// # Errors
///
/// `Result`.
pub fn text(element: ElementRef<'_>, room: &mut Room) -> Result<String, Error> {
    let (mut lines, mut hidden) = (Lines::default(), 0_usize);
    for edge in element.traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(inner) if is_hidden(inner) => hidden += 1,
                Node::Element(inner) if hidden == 0 => lines.open(inner, node.id() == element.id()),
                Node::Text(text) if hidden == 0 => lines.add(text),
                _ => {}
            },
            Edge::Close(node) => match node.value() {
                Node::Element(inner) if is_hidden(inner) => hidden -= 1,
                Node::Element(inner) if hidden == 0 => lines.close(inner),
                _ => {}
            },
        }
    }
    // Tabs separate cells; one after the last cell is removed.
    let trimmed: Vec<&str> = lines.text.split('\n').map(|line| line.trim_end_matches(['\t', ' '])).collect();
    let text = trimmed.join("\n").trim_matches('\n').to_owned();
    room.take(text.len())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    fn of(html: &str) -> String {
        text(parse(html).expect("a document").root_element(), &mut Room::default()).expect("a text")
    }

    #[test]
    fn html_text_is_laid_out_as_a_reader_sees_it() {
        for (html, expected) in [
            ("", ""),
            ("<h1>Title</h1>\n<p>One <b>two</b>, three.\n<p>Four", "Title\n\nOne two, three.\n\nFour"),
            ("a<br>b<br><br>c", "a\nb\n\nc"),
            ("<ul><li>One<li>Two <i>x</i></ul>after", "- One\n- Two x\n\nafter"),
            ("<pre>  a\n    b</pre>", "  a\n    b"),
            ("<title>t</title><style>p{}</style><p>x<script>1</script>y", "xy"),
            ("<p hidden>no</p><p>yes</p>", "yes"),
            ("<img alt='a cat'> sits", "a cat sits"),
            ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "1\t2\n3\t4"),
            ("a&nbsp;&lt;b&gt; &amp; c", "a\u{a0}<b> & c"),
            ("<div><div>a</div></div><div>b</div>", "a\nb"),
            ("one<span> two</span> <em>three</em>", "one two three"),
        ] {
            assert_eq!(of(html), expected, "{html}");
        }
    }
}
