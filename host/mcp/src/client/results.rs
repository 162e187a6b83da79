//! Results of a server as results of a tool.
//!
//! Structured content is the result as it is. Without it, texts are one text; if there are images, sounds or resources
//! too, the result is a list of all parts, in which bytes are `Uint8Array` for JavaScript and base64 elsewhere. A link
//! to a resource is data: nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, ResourceContents};
use serde_json::{Value, json};
use tollhouse::error::{Failure, Payload, Special, SpecialKind};
use tollhouse::tool::Secrets;

/// Longest message of a failure that a server makes, in characters.
const MAX_MESSAGE: usize = 4_000;

/// Converts a response to a result.
///
/// # Errors
/// If the server says that the call failed, asks for something, or sends what is no result.
pub(super) fn payload(method: &str, response: CallToolResponse, secrets: &Secrets) -> Result<Payload, Failure> {
    match response {
        CallToolResponse::Complete(result) if result.is_error == Some(true) => Err(failed(result, secrets)),
        CallToolResponse::Complete(result) => complete(method, result),
        CallToolResponse::InputRequired(_) => {
            let failure = Failure::tool(format!("`{method}` asks for input, which no server is given"));
            Err(failure.with_hint("pass what it needs as arguments"))
        }
        _ => Err(Failure::tool(format!("`{method}` answered with something other than a result"))),
    }
}

fn complete(method: &str, result: CallToolResult) -> Result<Payload, Failure> {
    if let Some(structured) = result.structured_content {
        return Ok(structured.into());
    }
    let texts: Option<Vec<&str>> = result.content.iter().map(text).collect();
    match texts {
        Some(texts) if texts.is_empty() => Ok(Value::Null.into()),
        Some(texts) => Ok(Value::String(texts.join("\n")).into()),
        None => parts(method, result.content),
    }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// Lists all parts of a result.
fn parts(method: &str, content: Vec<ContentBlock>) -> Result<Payload, Failure> {
    let mut payload = Payload::default();
    let mut listed = Vec::with_capacity(content.len());
    for block in content {
        let (value, bytes) = part(block);
        if let Some(name) = bytes {
            let encoded = value[name].as_str().unwrap_or_default();
            if BASE64.decode(encoded).is_err() {
                return Err(Failure::tool(format!("`{method}` returned bytes that are not base64")));
            }
            payload.specials.push(Special { pointer: format!("/{}/{name}", listed.len()), kind: SpecialKind::Bytes });
        }
        listed.push(value);
    }
    payload.value = Value::Array(listed);
    Ok(payload)
}

/// Converts one part, and returns the name of its member that holds bytes.
fn part(block: ContentBlock) -> (Value, Option<&'static str>) {
    match block {
        ContentBlock::Text(text) => (json!({ "type": "text", "text": text.text }), None),
        ContentBlock::Image(image) => {
            (json!({ "type": "image", "mimeType": image.mime_type, "data": image.data }), Some("data"))
        }
        ContentBlock::Audio(audio) => {
            (json!({ "type": "audio", "mimeType": audio.mime_type, "data": audio.data }), Some("data"))
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                (json!({ "type": "resource", "uri": uri, "mimeType": mime_type, "text": text }), None)
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                (json!({ "type": "resource", "uri": uri, "mimeType": mime_type, "data": blob }), Some("data"))
            }
            _ => (json!({ "type": "unknown" }), None),
        },
        ContentBlock::ResourceLink(link) => {
            (json!({ "type": "resource_link", "uri": link.uri, "name": link.name, "mimeType": link.mime_type }), None)
        }
        _ => (json!({ "type": "unknown" }), None),
    }
}

/// Converts the list of all parts of a result back to the parts that the server sent. `None` if it is not such a list.
pub(crate) fn blocks(value: &Value) -> Option<Vec<ContentBlock>> {
    let parts = value.as_array().filter(|parts| !parts.is_empty())?;
    parts.iter().map(block).collect()
}

/// Converts one part back.
fn block(part: &Value) -> Option<ContentBlock> {
    let mut sent = part.as_object()?.clone();
    sent.retain(|_, member| !member.is_null());
    if part["type"] == "resource" {
        let mut resource = sent;
        resource.shift_remove("type");
        if let Some(bytes) = resource.shift_remove("data") {
            resource.insert("blob".to_owned(), bytes);
        }
        return serde_json::from_value(json!({ "type": "resource", "resource": resource })).ok();
    }
    serde_json::from_value(Value::Object(sent)).ok()
}

/// Returns the failure of a call that the server says has failed.
fn failed(result: CallToolResult, secrets: &Secrets) -> Failure {
    let texts: Vec<&str> = result.content.iter().filter_map(text).collect();
    let message = texts.join("\n");
    let message = if message.trim().is_empty() { "the server says that it failed, and not why" } else { &message };
    let failure = Failure::tool(shortened(message, secrets));
    match result.structured_content {
        Some(structured) => failure.with_payload(structured.into()),
        None => failure,
    }
}

/// Returns the failure of a call that the server answered with an error of the protocol.
pub(super) fn protocol_error(error: &ErrorData, secrets: &Secrets) -> Failure {
    Failure::tool(shortened(&error.message, secrets)).with_payload(json!({ "code": error.code.0 }).into())
}

/// Shortens a text to what a message may hold, without values of secrets: a part of one would not be found later.
pub(super) fn shortened(text: &str, secrets: &Secrets) -> String {
    let redacted = secrets.redact_text(text);
    let text = redacted.as_deref().unwrap_or(text);
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Value) -> Result<Payload, Failure> {
        let result: CallToolResult = serde_json::from_value(result).expect("a result");
        payload("s/t", CallToolResponse::Complete(result), &Secrets::default())
    }

    #[test]
    fn texts_are_one_text_and_structured_content_is_preferred() {
        let texts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        assert_eq!(of(json!({ "content": texts })).expect("a result").value, json!("a\nb"));
        let both = json!({ "content": texts, "structuredContent": { "n": 1 } });
        assert_eq!(of(both).expect("a result").value, json!({ "n": 1 }));
        assert_eq!(of(json!({ "content": [] })).expect("a result").value, Value::Null);
    }

    #[test]
    fn result_images_and_resources_are_converted_to_bytes() {
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "AAEC" });
        let link = json!({ "type": "resource_link", "uri": "file:///../../etc/passwd", "name": "x" });
        let blob = json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "AA==" } });
        let text = json!({ "type": "text", "text": "see" });
        let payload = of(json!({ "content": [text, image, link, blob] })).expect("a result");
        assert_eq!(payload.value[1]["data"], json!("AAEC"));
        assert_eq!(payload.value[2]["uri"], json!("file:///../../etc/passwd"), "it is data, and nothing opens it");
        let pointers: Vec<_> = payload.specials.iter().map(|special| special.pointer.as_str()).collect();
        assert_eq!(pointers, ["/1/data", "/3/data"]);
        let broken = json!({ "type": "image", "mimeType": "image/png", "data": "no base64!" });
        assert!(of(json!({ "content": [broken] })).expect_err("it is refused").message.contains("not base64"));
    }

    #[test]
    fn parts_of_a_result_are_parts_again() {
        let sent = json!([
            { "type": "text", "text": "see" },
            { "type": "image", "mimeType": "image/png", "data": "AAEC" },
            { "type": "resource", "resource": { "uri": "a:b", "blob": "AA==" } },
            { "type": "resource", "resource": { "uri": "a:c", "mimeType": "text/plain", "text": "x" } },
            { "type": "resource_link", "uri": "a:d", "name": "d" },
        ]);
        let value = of(json!({ "content": sent })).expect("a result").value;
        let back = blocks(&value).expect("they are parts");
        assert_eq!(serde_json::to_value(back).expect("it is JSON"), sent);
        for other in [json!([]), json!([1]), json!({ "type": "text", "text": "x" }), json!([{ "type": "unknown" }])] {
            assert!(blocks(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn error_of_a_server_is_short() {
        let text = json!([{ "type": "text", "text": "é".repeat(1_000_000) }]);
        let failure = of(json!({ "content": text, "isError": true })).expect_err("it failed");
        assert_eq!(failure.message.chars().count(), MAX_MESSAGE + 1);
        let silent = of(json!({ "content": [], "isError": true })).expect_err("it failed");
        assert!(silent.message.contains("and not why"), "{silent}");
    }
}
