//! Answers of a server that cannot be read: the requests that they answer, and errors in their place, so that no call waits for
//! its whole time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, NumberOrString};
use rmcp::service::{RoleClient, RxJsonRpcMessage};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use tollhouse::json;

use crate::line_transport::ScalarSeed;

/// Most digits of an integer that an error shows.
const MAX_DIGITS: usize = 40;

/// Returns the id of the request that a line answers which is no JSON, or exceeds a bound of it: the id is looked for in the part
/// that can be read. `None` for what answers no request of `asked`, whose ids are JSON.
pub(super) fn request_of_line(line: &str, asked: &HashSet<String>) -> Option<String> {
    let mut head = MessageHead::default();
    // What follows the id may be what cannot be read.
    let _ = serde_json::Deserializer::from_str(line).deserialize_map(HeadVisitor(&mut head));
    if head.has_method { None } else { request_of_id(&head.id?, asked) }
}

/// Returns the id of the request that is answered with an id: itself, or the number that it should be.
pub(super) fn request_of_id(id: &Value, asked: &HashSet<String>) -> Option<String> {
    let whole = |number: f64| (number.fract() == 0.0).then(|| format!("{number:.0}"));
    let meant = match id {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number.as_f64().and_then(whole),
        _ => None,
    };
    std::iter::once(id.to_string()).chain(meant).find(|id| asked.contains(id))
}

/// Returns why a message cannot be read although it is JSON: its structured content has an integer that would be rounded.
pub(in crate::client) fn rounded(message: &Map<String, Value>, text: &str) -> Option<String> {
    message.get("result")?.get("structuredContent")?;
    let digits = json::rounded_integer(text)?;
    let shown: String = digits.chars().take(MAX_DIGITS).collect();
    Some(format!("the integer {shown}{} has more than 64 bits", if shown.len() < digits.len() { "…" } else { "" }))
}

/// Returns an error as the answer to a request, whose id is JSON. `None` if it is no id.
pub(super) fn answer(id: &str, why: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id: NumberOrString = serde_json::from_str(id).ok()?;
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, format!("the server's answer cannot be read: {why}"), None);
    Some(JsonRpcMessage::error(error, Some(id)))
}

/// Members of a message that say what it is.
#[derive(Default)]
struct MessageHead {
    id: Option<Value>,
    has_method: bool,
}

/// Visitor of a message that keeps its head, also if the message cannot be read to its end.
struct HeadVisitor<'h>(&'h mut MessageHead);

impl<'de> Visitor<'de> for HeadVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            match &*name {
                "id" => self.0.id = Some(members.next_value_seed(ScalarSeed)?),
                name => {
                    self.0.has_method |= name == "method";
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_found_of_an_answer_that_cannot_be_read() {
        let asked = HashSet::from(["7".to_owned()]);
        let found = |line: &str| request_of_line(line, &asked);
        let deep = "[".repeat(100_000);
        for line in [
            "{\"id\":7,\"result\":{\"n\":1e400}}",
            "{\"result\":{\"n\":1e400},\"id\":7}",
            "{\"id\":7,\"result\":{]}",
            &format!("{{\"id\":7,\"result\":{deep}"),
            &format!("{{\"result\":{deep}{},\"id\":\"7\"}}", "]".repeat(100_000)),
        ] {
            assert_eq!(found(line).as_deref(), Some("7"), "{}", &line[..40.min(line.len())]);
        }
        for line in
            ["{\"id\":8,\"result\":1e400}", "{\"method\":\"ping\",\"id\":7,\"params\":1e400}", "7", "starting…", ""]
        {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn id_of_another_type_is_taken_for_the_number_that_it_writes() {
        let asked = HashSet::from(["7".to_owned(), "-1".to_owned()]);
        for (id, request) in [("7", "7"), ("\"7\"", "7"), ("7.0", "7"), ("-1e0", "-1")] {
            let id: Value = serde_json::from_str(id).expect("JSON");
            assert_eq!(request_of_id(&id, &asked).as_deref(), Some(request), "{id}");
        }
        for id in ["8", "\" 7\"", "7.5", "null", "[7]", "1e300"] {
            assert_eq!(request_of_id(&serde_json::from_str(id).expect("JSON"), &asked), None, "{id}");
        }
    }
}
