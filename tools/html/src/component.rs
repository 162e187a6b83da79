//! Binding of the logic to WIT: converts arguments and results. This module does not parse HTML.

use bindings::exports::tollhouse::html::html as wit;

use crate::document::{Error, Room, parse, select, selector};
use crate::links::links;
use crate::metadata::metadata;
use crate::tables::tables;
use crate::text::text;

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn select(html: String, selector: String, limit: Option<u32>) -> Result<Vec<wit::Element>, wit::Error> {
        let found = select(&html, &selector, limit.unwrap_or(1000))?.into_iter();
        Ok(found
            .map(|one| wit::Element { name: one.name, text: one.text, html: one.html, attributes: one.attributes })
            .collect())
    }

    fn to_text(html: String, wanted: Option<String>) -> Result<String, wit::Error> {
        let (document, mut room) = (parse(&html)?, Room::default());
        let Some(wanted) = wanted else { return Ok(text(document.root_element(), &mut room)?) };
        let wanted = selector(&wanted)?;
        let texts = document.select(&wanted).map(|element| text(element, &mut room));
        Ok(texts.collect::<Result<Vec<_>, Error>>()?.join("\n\n"))
    }

    fn links(html: String, base: Option<String>) -> Result<Vec<wit::Link>, wit::Error> {
        let found = links(&html, base.as_deref())?.into_iter();
        Ok(found.map(|link| wit::Link { url: link.url, text: link.text, rel: link.rel }).collect())
    }

    fn tables(html: String, selector: Option<String>) -> Result<Vec<wit::Table>, wit::Error> {
        let found = tables(&html, selector.as_deref())?.into_iter();
        Ok(found.map(|one| wit::Table { caption: one.caption, headers: one.headers, rows: one.rows }).collect())
    }

    fn metadata(html: String, base: Option<String>) -> Result<wit::Page, wit::Error> {
        let found = metadata(&html, base.as_deref())?;
        Ok(wit::Page {
            title: found.title,
            description: found.description,
            language: found.language,
            canonical: found.canonical,
            image: found.image,
            author: found.author,
            published: found.published,
            properties: found.properties,
        })
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Selector { .. } => wit::ErrorKind::Selector,
            Error::Base { .. } => wit::ErrorKind::Base,
            Error::Limit => wit::ErrorKind::Limit,
            Error::Document(_) | Error::Result => wit::ErrorKind::TooLarge,
        };
        Self { kind, message: error.to_string() }
    }
}
