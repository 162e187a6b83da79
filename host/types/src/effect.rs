//! Effect of repeating a call of a tool.

use serde::{Deserialize, Serialize};

/// Effect of repeating a call, which decides what becomes of a call whose process died before its result was on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// No effect besides the result and files of the session: a call may be repeated any number of times.
    Pure,
    /// Repeating a call with the same idempotency key has the same effect as making it once.
    Idempotent,
    /// Each call takes effect again, so it is never repeated without asking.
    Once,
}

impl Effect {
    /// Returns the word for it, as manifests and journals have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_word_is_its_written_form() {
        for effect in [Effect::Pure, Effect::Idempotent, Effect::Once] {
            assert_eq!(serde_json::to_value(effect).expect("a word"), effect.word());
        }
    }
}
