//! Metadata that a page contains.

use crate::document::{Error, Room, known, parse};
use crate::links::Base;

/// Metadata of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Title of the page.
    pub title: Option<String>,
    /// Description of the page.
    pub description: Option<String>,
    /// Language of the page.
    pub language: Option<String>,
    /// Canonical address of the page.
    pub canonical: Option<String>,
    /// Address of a picture of the page.
    pub image: Option<String>,
    /// Author of the page.
    pub author: Option<String>,
    /// Date when the page was published.
    pub published: Option<String>,
    /// Names and contents of all `meta` elements with a name.
    pub properties: Vec<(String, String)>,
}

/// Returns the metadata of a document.
///
/// # Errors
///
/// `Document`, `Base`, `Result`.
pub fn metadata(html: &str, base: Option<&str>) -> Result<Metadata, Error> {
    let (document, mut room) = (parse(html)?, Room::default());
    let base = Base::of(&document, base)?;
    let mut properties = Vec::new();
    for element in document.select(&known("meta[content]")) {
        let Some(name) = element.attr("name").or_else(|| element.attr("property")) else { continue };
        let content = element.attr("content").unwrap_or_default().trim();
        room.take(name.len() + content.len())?;
        properties.push((name.trim().to_lowercase(), content.to_owned()));
    }
    let first = |names: &[&str]| {
        let of = |name: &&str| properties.iter().find(|(known, content)| known == name && !content.is_empty());
        names.iter().find_map(of).map(|(_, content)| content.clone())
    };
    let title = document.select(&known("title")).next();
    let title = title.map(|element| element.text().collect::<String>());
    let title = title.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty());
    let attribute = |selector, name| document.select(&known(selector)).find_map(|element| element.attr(name));
    let canonical = attribute("link[rel~=canonical i][href]", "href").map(str::to_owned);
    Ok(Metadata {
        title: title.or_else(|| first(&["og:title", "twitter:title"])),
        description: first(&["description", "og:description", "twitter:description"]),
        language: attribute("html[lang]", "lang").map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        canonical: canonical.or_else(|| first(&["og:url"])).and_then(|url| base.join(&url)),
        image: first(&["og:image", "twitter:image"]).and_then(|url| base.join(&url)),
        author: first(&["author", "article:author"]),
        published: first(&["article:published_time", "date", "dc.date"]),
        properties,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_from_each_of_its_sources() {
        let html = "<html lang=' pt-BR '><head><title> A\n page </title><meta charset=utf-8>
            <meta name=Description content=' Short '><meta property='og:description' content=Long>
            <meta property=og:image content='/i.png'><link rel='x CANONICAL' href='/p'>
            <meta name=author content=Ann><meta property='article:published_time' content=2026-01-02>";
        let found = metadata(html, Some("https://example.com/a/b")).expect("metadata");
        assert_eq!(found.title.as_deref(), Some("A page"));
        assert_eq!(found.description.as_deref(), Some("Short"));
        assert_eq!(found.language.as_deref(), Some("pt-BR"));
        assert_eq!(found.canonical.as_deref(), Some("https://example.com/p"));
        assert_eq!(found.image.as_deref(), Some("https://example.com/i.png"));
        assert_eq!((found.author.as_deref(), found.published.as_deref()), (Some("Ann"), Some("2026-01-02")));
        assert_eq!(found.properties.len(), 5);
        assert_eq!(metadata("", None), Ok(Metadata::default()));
    }

    #[test]
    fn metadata_missing_in_html_is_taken_from_open_graph() {
        let html = "<title> </title><meta property=og:title content=Open><meta property=og:url content=/x>";
        let found = metadata(html, None).expect("metadata");
        assert_eq!((found.title.as_deref(), found.canonical.as_deref()), (Some("Open"), Some("/x")));
    }
}
