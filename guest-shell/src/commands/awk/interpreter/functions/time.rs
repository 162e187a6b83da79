//! `strftime`, `mktime` and the time of `systime`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::{Expr, special};
use super::super::super::value::Value;
use super::super::{Evaluation, Interpreter};

/// Format of `strftime()` if `PROCINFO["strftime"]` is not set.
const DEFAULT_FORMAT: &str = "%a %b %e %H:%M:%S %Z %Y";

impl Interpreter {
    /// Returns the time of the sandbox, in seconds since 1970.
    pub(super) fn now(&self) -> f64 {
        self.io.host.clock.now_epoch().0 as f64
    }

    pub(super) async fn strftime(&mut self, arguments: &[Expr]) -> Evaluation<Value> {
        let format = match arguments.first() {
            Some(format) => self.eval_text(format).await?,
            None => {
                self.global_element_text(special::PROCINFO, "strftime").unwrap_or_else(|| DEFAULT_FORMAT.to_string())
            }
        };
        let time = match arguments.get(1) {
            Some(time) => Some(self.eval(time).await?.to_num() as i64),
            None => None,
        };
        let is_utc = match arguments.get(2) {
            Some(is_utc) => self.eval(is_utc).await?.to_bool(),
            None => false,
        };
        let format = if is_utc { with_zone_gmt(&format) } else { format };
        let zone = self.time_zone(is_utc);
        let text = self.io.host.clock.strftime(zone.as_ref(), time, &format).unwrap_or_default();
        self.string_fits(text.len())?;
        Ok(Value::Str(text))
    }

    /// Returns the time that `year month day hour minute second [daylight]` means; -1 if it means none. Daylight saving
    /// time is told by a number above 0, its absence by 0; a negative number leaves it to the zone.
    pub(super) fn mktime(&self, text: &str, is_utc: bool) -> f64 {
        let words: Vec<&str> = text.split_whitespace().collect();
        let numbers: Vec<i64> = words.iter().map_while(|word| word.parse().ok()).collect();
        let Some(&date) = numbers.first_chunk::<6>().filter(|_| words.len() <= 7) else {
            return -1.0;
        };
        let daylight = numbers.get(6).filter(|daylight| **daylight >= 0).map(|daylight| *daylight > 0);
        let zone = self.time_zone(is_utc);
        self.io.host.clock.mktime(zone.as_ref(), date, daylight).map_or(-1.0, |time| time as f64)
    }

    fn time_zone(&self, is_utc: bool) -> Option<String> {
        if is_utc {
            return Some("UTC".to_string());
        }
        self.io.host.env.iter().find(|(name, _)| name == "TZ").map(|(_, value)| value.clone())
    }
}

/// Returns a format of `strftime` with `GMT` in place of `%Z`, as `gmtime()` names its zone.
fn with_zone_gmt(format: &str) -> String {
    let mut output = String::with_capacity(format.len());
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        match (character, (character == '%').then(|| characters.next()).flatten()) {
            ('%', Some('Z')) => output.push_str("GMT"),
            (other, behind) => {
                output.push(other);
                output.extend(behind);
            }
        }
    }
    output
}
