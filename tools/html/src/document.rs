//! Documents and queries for their elements.

use scraper::{ElementRef, Html, Selector};

use crate::text::text;

/// Largest document, in bytes.
pub const MAX_DOCUMENT: usize = 16 << 20;
/// Largest result, in bytes. Nested elements contain the same text many times.
pub const MAX_RESULT: usize = 32 << 20;
/// Longest selector, in bytes. The parser is recursive.
const MAX_SELECTOR: usize = 1000;

/// Reason why a document cannot be queried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The selector is not valid CSS.
    #[error("`{selector}` is no selector: {reason}")]
    Selector {
        /// Selector that was given.
        selector: String,
        /// Message of the selector parser.
        reason: String,
    },
    /// The base address is not an absolute URL.
    #[error("`{base}` is no absolute URL: {reason}")]
    Base {
        /// Base address that was given.
        base: String,
        /// Message of the URL parser.
        reason: String,
    },
    /// A limit is invalid.
    #[error("the limit is 1 to 100000")]
    Limit,
    /// The document is too large.
    #[error("the document has {0} bytes: at most {MAX_DOCUMENT} are taken")]
    Document(usize),
    /// The result is too large.
    #[error("the result is larger than {MAX_RESULT} bytes: select less")]
    Result,
}

/// Number of bytes that the result may still take.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_RESULT)
    }
}

impl Room {
    /// Takes `bytes` from the room.
    ///
    /// # Errors
    ///
    /// `Result`.
    pub fn take(&mut self, bytes: usize) -> Result<(), Error> {
        // Each value has an overhead besides its bytes.
        self.0 = self.0.checked_sub(bytes.saturating_add(16)).ok_or(Error::Result)?;
        Ok(())
    }
}

/// Element in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Name of the element.
    pub name: String,
    /// Text of the element.
    pub text: String,
    /// HTML of the element.
    pub html: String,
    /// Attributes of the element.
    pub attributes: Vec<(String, String)>,
}

/// Parses an HTML document.
///
/// # Errors
///
/// `Document`.
pub fn parse(html: &str) -> Result<Html, Error> {
    if html.len() > MAX_DOCUMENT {
        return Err(Error::Document(html.len()));
    }
    Ok(Html::parse_document(html))
}

/// Parses a CSS selector.
///
/// # Errors
///
/// `Selector`.
pub fn selector(text: &str) -> Result<Selector, Error> {
    let refused = |reason: String| Error::Selector { selector: text.chars().take(100).collect(), reason };
    if text.len() > MAX_SELECTOR {
        return Err(refused(format!("it has more than {MAX_SELECTOR} bytes")));
    }
    Selector::parse(text).map_err(|error| refused(error.to_string()))
}

/// Parses a selector that is part of this program.
pub(crate) fn known(text: &'static str) -> Selector {
    Selector::parse(text).expect("it is written here")
}

/// Returns the elements that a selector matches.
///
/// # Errors
///
/// `Document`, `Selector`, `Limit`, `Result`.
pub fn select(html: &str, wanted: &str, limit: u32) -> Result<Vec<Element>, Error> {
    if !(1..=100_000).contains(&limit) {
        return Err(Error::Limit);
    }
    let (document, wanted, mut room) = (parse(html)?, selector(wanted)?, Room::default());
    let matched = document.select(&wanted).take(limit as usize);
    matched.map(|element| shown(element, &mut room)).collect()
}

fn shown(element: ElementRef<'_>, room: &mut Room) -> Result<Element, Error> {
    let text = text(element, room)?;
    let html = element.html();
    room.take(html.len())?;
    let attributes = element.value().attrs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Element { name: element.value().name().to_owned(), text, html, attributes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_selected_in_order() {
        let html = "<div><p class=x>One<p>Two <b>bold</b></div><p class='x y' title='a &amp; b'>Three";
        let found = select(html, "p.x", 1000).expect("a result");
        assert_eq!(found.iter().map(|element| element.text.as_str()).collect::<Vec<_>>(), ["One", "Three"]);
        assert_eq!(found[1].html, "<p class=\"x y\" title=\"a &amp; b\">Three</p>");
        assert_eq!(found[1].attributes[1], ("title".into(), "a & b".into()));
        assert_eq!(select(html, "p", 2).expect("a result").len(), 2);
        assert_eq!(select("<ul><li>One<li>Two</ul>", "li", 9).expect("a result")[1].text, "Two");
        assert_eq!(select(html, "div:has(b) > p:nth-child(2)", 9).expect("a result")[0].text, "Two bold");
        assert_eq!(select("", "p", 1), Ok(Vec::new()));
    }

    #[test]
    fn selector_that_is_invalid_is_refused() {
        let deep = ":is(".repeat(300);
        for wrong in ["", "p[", "..", "p::", "a >", ":nth-child(x)", &deep, &"x".repeat(1001)] {
            assert!(matches!(select("<p>", wrong, 1), Err(Error::Selector { .. })), "{wrong}");
        }
        assert_eq!(select("<p>", "p", 0), Err(Error::Limit));
    }

    #[test]
    fn html_bombs_are_errors() {
        assert!(matches!(select(&" ".repeat(MAX_DOCUMENT + 1), "p", 1), Err(Error::Document(_))));
        // Each of many nested elements contains the text of all inner ones.
        let nested = "<div>some text ".repeat(3_000);
        assert_eq!(select(&nested, "div", 100_000), Err(Error::Result));
        let deep = "<span>".repeat(20_000);
        assert_eq!(select(&deep, "i", 1), Ok(Vec::new()), "a deep tree takes no stack");
    }
}
