//! `substr`, `index`, `tolower`, `toupper` and `sprintf`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::format::sprintf_of;
use super::super::super::value::Value;
use super::super::{Evaluation, Interpreter};

impl Interpreter {
    /// Returns where a text is found in another; 0 if it is not.
    pub(super) fn index(&self, text: &Value, part: &Value) -> Value {
        let (mut text, mut part) = (self.text_of(text), self.text_of(part));
        if self.settings.ignorecase {
            (text, part) = (text.to_lowercase(), part.to_lowercase());
        }
        let found = text.find(&part);
        Value::Num(found.map_or(0, |position| text[..position].chars().count() + 1) as f64)
    }

    pub(super) fn change_case(&mut self, text: &Value, change: fn(char) -> char) -> Evaluation<Value> {
        let changed: String = self.text_of(text).chars().map(change).collect();
        self.string_fits(changed.len())?;
        Ok(Value::Str(changed))
    }

    /// Formats values, the first of which is the format, as `sprintf` and `printf` do.
    #[inline(never)]
    pub(crate) fn format(&mut self, values: &[Value]) -> Evaluation<String> {
        let format = self.text_of(&values[0]);
        match sprintf_of(self.io.host.characters, &format, &values[1..], &self.settings.convfmt) {
            Ok(text) => {
                self.string_fits(text.len())?;
                Ok(text)
            }
            Err(error) if error.located => Err(self.fatal_error(&error.msg)),
            Err(error) => Err(self.limit_reached(&error.msg)),
        }
    }
}

/// Returns part of a text, as gawk's `substr` does: a start below 1 counts from 1 without shortening the length, and
/// fractions are cut off.
pub(super) fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    // The cast saturates, so that infinity is the longest length.
    let length = match length {
        Some(length) if length.is_nan() || length < 1.0 => return String::new(),
        Some(length) => length as usize,
        None => usize::MAX,
    };
    let skipped = if start >= 1.0 { (start - 1.0) as usize } else { 0 };
    text.chars().skip(skipped).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::substring;

    #[test]
    fn substring_cuts_fractions_off_and_begins_at_one() {
        assert_eq!(substring("hello", 2.0, Some(3.0)), "ell");
        assert_eq!(substring("hello", 0.0, Some(2.0)), "he");
        assert_eq!(substring("hello", -1.0, None), "hello");
        assert_eq!(substring("hello", 1.5, None), "hello");
        assert_eq!(substring("hello world", 1.5, Some(2.3)), "he");
        assert_eq!(substring("hello", 2.0, Some(0.5)), "");
        assert_eq!(substring("olá mundo", 1.0, Some(3.0)), "olá");
        assert_eq!(substring("abc", 5.0, None), "");
    }
}
