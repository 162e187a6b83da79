//! JSON that guests make.

use serde_json::Value;

/// How deep it may nest. `serde_json` reads 127 levels, and a log, a result or an answer puts what it holds a few deeper: a
/// script must not write what makes a log unreadable.
const MAX_DEPTH: usize = 100;

/// Reads a text. What is wrong with it, in words.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if nests_within(&value, MAX_DEPTH) { Ok(value) } else { Err(format!("it is nested more than {MAX_DEPTH} deep")) }
}

fn nests_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| nests_within(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|field| nests_within(field, depth - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_too_deep_is_refused() {
        for (depth, fits) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (127, false), (100_000, false)] {
            let lists = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            assert_eq!((parse(&lists).is_ok(), parse(&objects).is_ok()), (fits, fits), "{depth}");
        }
    }
}
