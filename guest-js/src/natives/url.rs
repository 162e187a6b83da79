//! URLs by the standard of the WHATWG. The prelude gets a URL as the list of its parts.

use rquickjs::{Ctx, Object, Result};
use url::{Url, quirks};

use super::add_all;
use crate::text::Text;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "parseUrl" => parse, "changeUrl" => change, "domainToAscii" => to_ascii, "domainToUnicode" => to_unicode)
}

/// Parses a URL, which may be relative to a base (`""` for none). Returns its parts, or an empty list if it is invalid.
fn parse(text: Text, base: Text) -> Vec<String> {
    let parsed =
        if base.0.is_empty() { Url::parse(&text.0) } else { Url::parse(&base.0).and_then(|base| base.join(&text.0)) };
    parsed.map_or_else(|_| Vec::new(), |url| parts(&url))
}

/// Returns the parts of a URL, in the order in which the prelude reads them.
fn parts(url: &Url) -> Vec<String> {
    let parts = [
        quirks::href(url),
        &quirks::origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    parts.map(str::to_owned).to_vec()
}

/// Sets one part of a URL. An invalid value leaves the URL unchanged; only for an invalid `href` the result is empty.
fn change(href: Text, part: Text, value: Text) -> Vec<String> {
    let Ok(mut url) = Url::parse(&href.0) else { return Vec::new() };
    let value = value.0.as_str();
    let refused = match part.0.as_str() {
        "href" => return parse(Text(value.to_owned()), Text(String::new())),
        "protocol" => quirks::set_protocol(&mut url, value),
        "username" => quirks::set_username(&mut url, value),
        "password" => quirks::set_password(&mut url, value),
        "host" => quirks::set_host(&mut url, value),
        "hostname" => quirks::set_hostname(&mut url, value),
        "port" => quirks::set_port(&mut url, value),
        "pathname" => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
        _ => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
    };
    // The standard requires that invalid values are ignored.
    let _ = refused;
    parts(&url)
}

fn to_ascii(domain: Text) -> String {
    quirks::domain_to_ascii(&domain.0)
}

fn to_unicode(domain: Text) -> String {
    quirks::domain_to_unicode(&domain.0)
}
