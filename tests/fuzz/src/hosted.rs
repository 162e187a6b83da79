//! Schemas of host functions, and arguments that are validated against them.

use serde_json::Value;
use tollhouse::tool::HostTool;

/// Largest message about invalid arguments, in bytes.
const LONGEST: usize = 2 << 10;

/// Reads a schema from the first line, and arguments from each of the others. The schema must be refused with a
/// message, or decide quickly and consistently about each of the arguments, whatever the order of their fields.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn hosted(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.lines();
    let Some(Ok(schema)) = lines.next().map(serde_json::from_str::<Value>) else { return };
    let tool = match HostTool::new("pay", "", schema) {
        Ok(tool) => tool,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says something");
            return;
        }
    };
    for arguments in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let checked = tool.canonicalize(arguments.clone());
        assert_eq!(checked, tool.canonicalize(arguments.clone()), "it is the same each time");
        match &checked {
            Ok(canonical) => {
                assert!(arguments.is_object(), "a tool takes an object");
                assert_eq!(tool.canonicalize(canonical.clone()).as_ref(), Ok(canonical), "it is canonical");
            }
            Err(problem) => {
                let problem = problem.to_string();
                assert!(!problem.is_empty() && problem.len() <= LONGEST, "{problem}");
            }
        }
        let again = HostTool::new("pay", "", tool.parameters().clone()).expect("it was one");
        let other = again.canonicalize(turned(&arguments));
        assert_eq!(other.is_ok(), checked.is_ok(), "fields have no order: {arguments}");
    }
}

/// Returns the same value with its fields in reverse order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().rev().map(|(name, value)| (name.clone(), turned(value))).collect(),
        Value::Array(items) => items.iter().map(turned).collect(),
        plain => plain.clone(),
    }
}
