//! Links of a document, resolved against a base address if there is one.

use scraper::Html;
use url::Url;

use crate::document::{Error, Room, known, parse};
use crate::text::text;

/// Link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Address that the link leads to.
    pub url: String,
    /// Text of the link.
    pub text: String,
    /// Relations of the target to the page.
    pub rel: Vec<String>,
}

/// Base of a page's relative addresses.
#[derive(Debug)]
pub(crate) struct Base(Option<Url>);

impl Base {
    /// Combines the given address with the document's `base` element.
    pub(crate) fn of(document: &Html, given: Option<&str>) -> Result<Self, Error> {
        let parse = |base: &str| {
            let refused = |error: url::ParseError| Error::Base {
                base: base.chars().take(100).collect(),
                reason: error.to_string(),
            };
            Url::parse(base).map_err(refused)
        };
        let given = given.map(parse).transpose()?;
        let own = document.select(&known("base[href]")).find_map(|element| element.attr("href"));
        let own = own.and_then(|own| Url::options().base_url(given.as_ref()).parse(own.trim()).ok());
        Ok(Self(own.or(given)))
    }

    /// Resolves an address, or returns `None` if the result is not a URL.
    pub(crate) fn join(&self, written: &str) -> Option<String> {
        let written = written.trim();
        match &self.0 {
            Some(base) => base.join(written).ok().map(String::from),
            None => Some(written.to_owned()),
        }
    }
}

/// Returns the links of a document.
///
/// # Errors
///
/// `Document`, `Base`, `Result`.
pub fn links(html: &str, base: Option<&str>) -> Result<Vec<Link>, Error> {
    let (document, mut room) = (parse(html)?, Room::default());
    let base = Base::of(&document, base)?;
    let mut links = Vec::new();
    for element in document.select(&known("a[href], area[href]")) {
        let Some(url) = element.attr("href").and_then(|written| base.join(written)) else { continue };
        room.take(url.len())?;
        let text = match element.attr("alt") {
            Some(alt) if element.value().name() == "area" => alt.to_owned(),
            _ => text(element, &mut room)?,
        };
        let rel =
            element.attr("rel").unwrap_or_default().split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        links.push(Link { url, text, rel });
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(html: &str, base: Option<&str>) -> Vec<String> {
        links(html, base).expect("links").into_iter().map(|link| link.url).collect()
    }

    #[test]
    fn links_are_made_absolute() {
        let html = "<a href=b>1</a><a href='/c?q=1#x'>2</a><a href='//other.test/'>3</a><a href='#top'>4</a>
            <a href='mailto:a@b.test'>5</a><a href='http://['>no URL</a><a>none</a>";
        assert_eq!(
            urls(html, Some("https://example.com/a/page")),
            [
                "https://example.com/a/b",
                "https://example.com/c?q=1#x",
                "https://other.test/",
                "https://example.com/a/page#top",
                "mailto:a@b.test",
            ]
        );
        assert_eq!(urls(html, None)[0], "b");
        assert_eq!(urls(html, None).len(), 6);
    }

    #[test]
    fn links_are_resolved_against_the_base_element() {
        let html = "<base href='/deep/'><a href=x REL='NoFollow me'>X <b>y</b></a><map><area href=z alt=Zed></map>";
        let found = links(html, Some("https://example.com/")).expect("links");
        assert_eq!(found[0].url, "https://example.com/deep/x");
        assert_eq!((found[0].text.as_str(), found[0].rel.clone()), ("X y", vec!["nofollow".into(), "me".into()]));
        assert_eq!((found[1].url.as_str(), found[1].text.as_str()), ("https://example.com/deep/z", "Zed"));
        assert!(matches!(links("", Some("no url")), Err(Error::Base { .. })));
    }
}
