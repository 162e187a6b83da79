//! Multipart forms (`-F`).

use super::codes::{Problem, USAGE};
use super::data;
use crate::commands::web::files::Files;

/// Field in the syntax of `-F`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Field {
    name: String,
    /// Content that is sent: a text, or the name of a file.
    content: String,
    source: Source,
    content_type: Option<String>,
    file_name: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Source {
    #[default]
    Text,
    /// File with its name (`@`).
    File,
    /// Content of a file (`<`).
    Content,
}

/// Returns the body for these fields. The second element of a field is true for a plain string.
pub(super) async fn body(
    fields: &[(String, bool)],
    boundary: &str,
    files: &Files<'_, '_>,
) -> bashkit::Result<Result<Vec<u8>, Problem>> {
    let mut body = Vec::new();
    for (text, plain) in fields {
        let field = match parse(text, *plain) {
            Ok(field) => field,
            Err(why) => return Ok(Err(Problem::told(USAGE, why))),
        };
        let bytes = match field.source {
            Source::Text => bashkit::bytes_of(&field.content).into_owned(),
            Source::File | Source::Content => match data::read(&field.content, files).await? {
                Ok(bytes) => bytes,
                Err(problem) => return Ok(Err(problem)),
            },
        };
        body.extend(format!("--{boundary}\r\n{}\r\n", field.head()).into_bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").into_bytes());
    Ok(Ok(body))
}

impl Field {
    /// Returns the headers of the part, each with its line end.
    fn head(&self) -> String {
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", escaped(&self.name));
        let own = (self.source == Source::File).then(|| self.content.rsplit('/').next().unwrap_or_default());
        if let Some(name) = self.file_name.as_deref().or(own) {
            head.push_str(&format!("; filename=\"{}\"", escaped(name)));
        }
        head.push_str("\r\n");
        let guessed = own.map(|own| content_type(self.file_name.as_deref().unwrap_or(own)));
        if let Some(kind) = self.content_type.as_deref().or(guessed) {
            head.push_str(&format!("Content-Type: {kind}\r\n"));
        }
        head
    }
}

fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns the type for a file name, as curl guesses it.
fn content_type(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    let known = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let found = known.iter().find(|(ending, _)| name.ends_with(ending));
    found.map_or("application/octet-stream", |(_, kind)| kind)
}

/// Parses a field of a form. The error is a message.
fn parse(text: &str, plain: bool) -> Result<Field, String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "Illegally formatted input field!".to_owned())?;
    let mut field = Field { name: name.to_owned(), ..Field::default() };
    if plain {
        value.clone_into(&mut field.content);
        return Ok(field);
    }
    let (source, rest) = match value.as_bytes().first() {
        Some(b'@') => (Source::File, &value[1..]),
        Some(b'<') => (Source::Content, &value[1..]),
        _ => (Source::Text, value),
    };
    field.source = source;
    let mut rest = rest;
    field.content = word(&mut rest);
    if source == Source::File && field.content.contains(',') {
        return Err(format!("option -F: several files in one field are not supported here: {value}"));
    }
    while let Some(after) = rest.strip_prefix(';') {
        rest = after.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix("type=") {
            rest = after;
            field.content_type = Some(word(&mut rest));
        } else if let Some(after) = rest.strip_prefix("filename=") {
            rest = after;
            field.file_name = Some(word(&mut rest));
        } else {
            let more = word(&mut rest);
            match &mut field.content_type {
                // Parameter of the type: `;charset=utf-8`.
                Some(kind) => kind.push_str(&format!(";{more}")),
                None if more.is_empty() => {}
                None => return Err(format!("option -F: `;{more}` is not supported here: {value}")),
            }
        }
    }
    Ok(field)
}

/// Consumes a word up to `;`, which may appear in quotes.
fn word(rest: &mut &str) -> String {
    if let Some(quoted) = rest.strip_prefix('"') {
        let mut text = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    *rest = quoted[at + 1..].trim_start_matches(' ');
                    return text;
                }
                '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                other => text.push(other),
            }
        }
        // An unterminated quote is literal.
    }
    let end = rest.find(';').unwrap_or(rest.len());
    let text = rest[..end].to_owned();
    *rest = &rest[end..];
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> String {
        let field = parse(text, false).expect(text);
        format!("{}|{}", field.head().replace("\r\n", " "), field.content)
    }

    #[test]
    fn fields_say_what_they_are() {
        assert_eq!(head("a=1"), "Content-Disposition: form-data; name=\"a\" |1");
        assert_eq!(
            head("f=@d/x.txt"),
            "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\" Content-Type: text/plain |d/x.txt"
        );
        assert_eq!(
            head("f=@x;type=text/csv;charset=utf-8;filename=\"a;b\""),
            "Content-Disposition: form-data; name=\"f\"; filename=\"a;b\" Content-Type: text/csv;charset=utf-8 |x"
        );
        assert_eq!(head("g=<x"), "Content-Disposition: form-data; name=\"g\" |x");
        assert_eq!(
            head("j={};type=application/json"),
            "Content-Disposition: form-data; name=\"j\" Content-Type: application/json |{}"
        );
    }

    #[test]
    fn what_is_no_field_is_refused() {
        assert!(parse("a", false).is_err() && parse("a=1;2", false).is_err() && parse("a=@x,y", false).is_err());
        assert_eq!(parse("a=1;2", true).map(|field| field.content), Ok("1;2".to_owned()));
    }
}
