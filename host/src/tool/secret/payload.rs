//! Redaction of tools' results and of failures.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::Secrets;
use crate::error::{Failure, Payload, Special, SpecialKind};

impl Secrets {
    /// Redacts the result of a tool. A place that represents bytes is searched as those bytes; a place that represents
    /// another special value becomes plain text if it held a secret.
    pub(crate) fn redact_payload(&self, payload: &mut Payload) {
        if self.is_silent() {
            return;
        }
        let (old, value) = (std::mem::take(&mut payload.specials), std::mem::take(&mut payload.value));
        let old = old.into_iter().map(|special| (special.pointer, special.kind)).collect();
        let mut walk = PayloadWalk { secrets: self, old, new: Vec::new() };
        payload.value = walk.value(value, &mut PointerPair::default());
        payload.specials = walk.new;
    }

    /// Redacts a failure.
    pub(crate) fn redact_failure(&self, failure: &mut Failure) {
        self.redact(&mut failure.message);
        if let Some(hint) = &mut failure.hint {
            self.redact(hint);
        }
        if let Some(payload) = &mut failure.payload {
            self.redact_payload(payload);
        }
    }

    /// Returns JSON without values of secrets. Returns `None` if it holds none. Text within it is searched as plain
    /// text.
    #[must_use]
    pub fn redact_json(&self, value: &Value) -> Option<Value> {
        if !self.is_held_by(value) {
            return None;
        }
        let mut walk = PayloadWalk { secrets: self, old: HashMap::new(), new: Vec::new() };
        Some(walk.value(value.clone(), &mut PointerPair::default()))
    }

    fn is_held_by(&self, value: &Value) -> bool {
        let holds = |text: &str| self.redact_bytes(text.as_bytes()).is_some();
        match value {
            Value::String(text) => holds(text),
            Value::Number(number) => holds(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.is_held_by(item)),
            Value::Object(fields) => fields.iter().any(|(key, value)| holds(key) || self.is_held_by(value)),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

/// JSON Pointers of one place: before and after redaction of names.
#[derive(Default)]
struct PointerPair {
    old: String,
    new: String,
}

impl PointerPair {
    /// Calls `work` at a place below this one.
    fn below<T>(&mut self, old: &str, new: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let (old_end, new_end) = (self.old.len(), self.new.len());
        for (pointer, step) in [(&mut self.old, old), (&mut self.new, new)] {
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        let done = work(self);
        self.old.truncate(old_end);
        self.new.truncate(new_end);
        done
    }
}

/// Walk through a value.
struct PayloadWalk<'a> {
    secrets: &'a Secrets,
    /// Special values by their place before redaction.
    old: HashMap<String, SpecialKind>,
    new: Vec<Special>,
}

impl PayloadWalk<'_> {
    fn value(&mut self, value: Value, place: &mut PointerPair) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, place)),
            Value::Array(items) => {
                let item = |(index, item): (usize, Value)| {
                    let step = index.to_string();
                    place.below(&step, &step, |place| self.value(item, place))
                };
                Value::Array(items.into_iter().enumerate().map(item).collect())
            }
            Value::Object(fields) => {
                let field = |(old, value): (String, Value)| {
                    let key = self.secrets.redact_text(&old).unwrap_or_else(|| old.clone());
                    let value = place.below(&old, &key, |place| self.value(value, place));
                    (key, value)
                };
                Value::Object(fields.into_iter().map(field).collect())
            }
            Value::Number(number) => match self.secrets.redact_text(&number.to_string()) {
                Some(redacted) => Value::String(redacted),
                None => Value::Number(number),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }

    fn text(&mut self, text: String, place: &PointerPair) -> String {
        let Some(kind) = self.old.remove(&place.old) else {
            return self.secrets.redact_text(&text).unwrap_or(text);
        };
        let redacted = match kind {
            SpecialKind::Bytes => self.bytes(&text),
            SpecialKind::Integer | SpecialKind::Float => match self.secrets.redact_text(&text) {
                // The text no longer represents a number.
                Some(redacted) => return redacted,
                None => None,
            },
        };
        self.new.push(Special { pointer: place.new.clone(), kind });
        redacted.unwrap_or(text)
    }

    /// Returns the base64 of bytes without secrets. Returns `None` if they hold none.
    fn bytes(&self, text: &str) -> Option<String> {
        match BASE64.decode(text) {
            Ok(bytes) => self.secrets.redact_bytes(&bytes).map(|redacted| BASE64.encode(redacted)),
            // The host wrote this base64. If that ever changes, the text is withheld.
            Err(_) => Some(String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        Secrets::default().with("KEY", "s3cr3t-value").and_then(|all| all.with("PIN", "314159265")).expect("secrets")
    }

    /// Each text was once searched for among all special values: a minute instead of a moment.
    #[test]
    fn result_of_many_special_values_is_searched_once() {
        let items: Vec<Value> = (0..200_000).map(|n| json!(["plain", (1_u64 << 60).to_string(), n])).collect();
        let special = |n| Special { pointer: format!("/{n}/1"), kind: SpecialKind::Integer };
        let mut payload = Payload { value: Value::Array(items), specials: (0..200_000).map(special).collect() };
        let before = payload.clone();
        secrets().redact_payload(&mut payload);
        assert!(payload == before, "nothing of it is secret");
    }

    #[test]
    fn values_in_results_and_failures_are_replaced() {
        let mut payload =
            Payload { value: json!({"a": ["x s3cr3t-value y", 1], "s3cr3t-value": null}), ..Payload::default() };
        secrets().redact_payload(&mut payload);
        assert_eq!(payload.value, json!({"a": ["x {{secret:KEY}} y", 1], "{{secret:KEY}}": null}));
        let mut failure = Failure::tool("s3cr3t-value")
            .with_hint("s3cr3t-value")
            .with_payload(Payload { value: json!("s3cr3t-value"), ..Payload::default() });
        secrets().redact_failure(&mut failure);
        assert!(!format!("{failure:?}").contains("s3cr3t-value"));
    }

    #[test]
    fn bytes_are_searched_as_bytes_and_stay_bytes() {
        let special = |pointer: &str, kind| Special { pointer: pointer.to_owned(), kind };
        let mut payload = Payload {
            value: json!({
                "s3cr3t-value": [BASE64.encode(b"\xff s3cr3t-value \xfe"), "314159265"],
                "plain": BASE64.encode(b"\xff\xfe"),
                "number": 314159265,
                "big": "18446744073709551615",
            }),
            specials: vec![
                special("/s3cr3t-value/0", SpecialKind::Bytes),
                special("/s3cr3t-value/1", SpecialKind::Integer),
                special("/plain", SpecialKind::Bytes),
                special("/big", SpecialKind::Integer),
            ],
        };
        secrets().redact_payload(&mut payload);
        assert_eq!(
            payload.value,
            json!({
                "{{secret:KEY}}": [BASE64.encode(b"\xff {{secret:KEY}} \xfe"), "{{secret:PIN}}"],
                "plain": BASE64.encode(b"\xff\xfe"),
                "number": "{{secret:PIN}}",
                "big": "18446744073709551615",
            })
        );
        assert_eq!(
            payload.specials,
            [
                special("/{{secret:KEY}}/0", SpecialKind::Bytes),
                special("/plain", SpecialKind::Bytes),
                special("/big", SpecialKind::Integer),
            ]
        );
    }

    #[test]
    fn payload_without_secret_is_unchanged() {
        let value = json!({"a": ["x", 1.5, null, true], "b": "%41\\u0041+"});
        let mut payload = Payload { value: value.clone(), ..Payload::default() };
        secrets().redact_payload(&mut payload);
        assert_eq!(payload.value, value);
        assert_eq!(secrets().redact_json(&value), None);
        assert_eq!(secrets().redact_json(&json!([314159265])), Some(json!(["{{secret:PIN}}"])));
    }
}
