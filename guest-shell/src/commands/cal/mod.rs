//! `cal`: calendars of months and years, as Debian's `cal` (of `ncal`) prints them to a file.

mod page;

use async_trait::async_trait;
use bashkit::builtins::arg_parser::gnu_getopt;
use bashkit::builtins::{Builtin, Context};
use bashkit::{ExecResult, Result};

use self::page::CalendarPage;
use super::calendar::MONTH_NAMES;
use super::date::Date;

const USAGE: &str = "\
Usage: cal [general options] [-jy] [[month] year]
       cal [general options] [-j] [-m month] [year]
General options: [-31] [-A months] [-B months] [-d yyyy-mm]
";

/// Status of a wrong call.
const USAGE_STATUS: i32 = 64;

/// Command `cal` of the shell.
pub(crate) struct Cal {
    clock: Date,
}

impl Cal {
    /// Returns the command with a clock.
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }
}

fn usage() -> ExecResult {
    ExecResult::err(USAGE, USAGE_STATUS)
}

fn refusal(message: &str) -> ExecResult {
    ExecResult::err(format!("cal: {message}\n"), USAGE_STATUS)
}

/// Command line of one call.
#[derive(Default)]
struct CalendarCall {
    /// True if days are numbered from the first of January (`-j`).
    days_of_year: bool,
    whole_year: bool,
    three_months: bool,
    months_before: i64,
    months_after: i64,
    month: Option<String>,
    /// Month that counts as the current one, in the form `yyyy-mm`.
    today: Option<String>,
    operands: Vec<String>,
}

impl CalendarCall {
    /// Reads a command line. The error is the result of a wrong call.
    fn parse(words: &[String]) -> std::result::Result<Self, ExecResult> {
        let (given, operands) = gnu_getopt("cal", words, "3hjy1A:B:Cd:m:", &[], false, USAGE_STATUS)
            .map_err(|wrong| ExecResult::err(format!("{}{USAGE}", &*wrong.stderr), USAGE_STATUS))?;
        let mut call = Self { operands, ..Self::default() };
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                '3' => call.three_months = true,
                'j' => call.days_of_year = true,
                'y' => call.whole_year = true,
                'A' => call.months_after = leading_number(&value).max(0),
                'B' => call.months_before = leading_number(&value).max(0),
                'd' => call.today = Some(value),
                'm' => call.month = Some(value),
                // A single month is the usual, and this is the only layout.
                '1' | 'C' => {}
                _ => return Err(usage()),
            }
        }
        Ok(call)
    }

    /// Returns the page that is asked for. `now` is the current year and month.
    fn page(&self, now: (i64, i64)) -> std::result::Result<CalendarPage, ExecResult> {
        let (mut year, mut month) = now;
        if let Some(today) = &self.today {
            let (given_year, given_month) = today.split_once('-').unwrap_or((today, ""));
            (year, month) = (leading_number(given_year), leading_number(given_month).max(1));
        }
        let mut has_month = true;
        match self.operands.as_slice() {
            [] => {}
            [given] => {
                year = parse_year(given)?;
                has_month = false;
            }
            [given_month, given] => (month, year) = (parse_month(given_month)?, parse_year(given)?),
            _ => return Err(usage()),
        }
        if let Some(given) = &self.month {
            month = parse_month(given)?;
            has_month = true;
        }
        if !(1..=9999).contains(&year) {
            return Err(refusal(&format!("year `{year}' not in range 1..9999")));
        }
        let whole_year = self.whole_year || !has_month;
        if whole_year && self.three_months && !self.whole_year {
            return Err(refusal("-3 together with a given year but no given month is not supported."));
        }
        let around = i64::from(self.three_months && !whole_year);
        let (first, count) = if whole_year { (1, 12) } else { (month, 1) };
        let before = self.months_before.max(around).min(MOST_MONTHS);
        let after = self.months_after.max(around).min(MOST_MONTHS);
        Ok(CalendarPage {
            first_month: year * 12 + first - 1 - before,
            count: count + before + after,
            days_of_year: self.days_of_year,
        })
    }
}

/// Largest number of months before and after the given one.
const MOST_MONTHS: i64 = 12_000;

/// Returns the number at the beginning of a text, or 0, as C's `atoi`.
fn leading_number(text: &str) -> i64 {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<i32>().map_or(0, |number| sign * i64::from(number))
}

fn parse_year(text: &str) -> std::result::Result<i64, ExecResult> {
    let valid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let year = text.parse().ok().filter(|_| valid);
    year.ok_or_else(|| refusal(&format!("not a valid year {text}")))
}

/// Returns the number of a month that is given as a number or as the beginning of its name.
fn parse_month(text: &str) -> std::result::Result<i64, ExecResult> {
    let number = text.parse().ok().filter(|number| (1..=12).contains(number));
    let start = text.get(..3).map(str::to_ascii_lowercase);
    let named = (1..).zip(MONTH_NAMES).find(|(_, name)| Some(name[..3].to_ascii_lowercase()) == start);
    number
        .or(named.map(|(number, _)| number))
        .ok_or_else(|| refusal(&format!("{text} is neither a month number (1..12) nor a name")))
}

#[async_trait]
impl Builtin for Cal {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let call = match CalendarCall::parse(ctx.args) {
            Ok(call) => call,
            Err(wrong) => return Ok(wrong),
        };
        let now = self.clock.strftime(ctx.env.get("TZ"), None, "%Y %m").unwrap_or_default();
        let (year, month) = now.split_once(' ').unwrap_or_default();
        match call.page((leading_number(year), leading_number(month))) {
            Ok(page) => {
                ctx.consume_budget_work(page.count.unsigned_abs())?;
                Ok(ExecResult::ok(page.text()))
            }
            Err(wrong) => Ok(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn month_is_printed_as_debian_prints_it() {
        let february = "   February 2020      \nSu Mo Tu We Th Fr Sa  \n                   1  \n 2  3  4  5  6  7  8  \n 9 10 11 12 13 14 15  \n16 17 18 19 20 21 22  \n23 24 25 26 27 28 29  \n                      \n";
        for script in ["cal 2 2020", "cal feb 2020", "cal -m 02 2020", "cal -d 2020-02", "cal -1 FEBRUARY 2020"] {
            assert_eq!(&*run(script).await.stdout, february, "{script}");
        }
        let reform = "   September 1752     \nSu Mo Tu We Th Fr Sa  \n       1  2 14 15 16  \n17 18 19 20 21 22 23  \n24 25 26 27 28 29 30  \n";
        assert!(run("cal 9 1752").await.stdout.starts_with(reform));
        let numbered = run("cal -j 9 1752 | head -3").await;
        let expected = "      September 1752         \n Su  Mo  Tu  We  Th  Fr  Sa  \n        245 246 247 248 249  \n";
        assert_eq!(&*numbered.stdout, expected);
    }

    #[tokio::test]
    async fn months_side_by_side_have_their_years() {
        for (script, head) in [
            ("cal -3 1 2025", "   December 2024          January 2025         February 2025      "),
            ("cal -A1 1 2020", "    January 2020         February 2020      "),
            ("cal -j -3 1 2020", "       December 2019                January 2020          "),
            ("cal 2021", "                            2021"),
            ("cal -3 2 2020", "                            2020"),
            ("cal -jy 5 2021", "                         2021"),
            ("cal -3 12 9999", "   November 9999         December 9999         January 10000      "),
        ] {
            let result = run(&format!("{script} | head -1")).await;
            assert_eq!((&*result.stdout, result.exit_code), (&*format!("{head}\n"), 0), "{script}");
        }
        let result = run("cal 2025 | wc -l; cal 2025 | tail -1; cal -jy 2021 | sed -n 2p").await;
        let expected = "36\n                      30                                          \n          January                     February            \n";
        assert_eq!(&*result.stdout, expected);
    }

    #[tokio::test]
    async fn wrong_month_or_year_is_an_error() {
        for (script, message) in [
            ("cal 13 2020", "cal: 13 is neither a month number (1..12) nor a name"),
            ("cal ju 2020", "cal: ju is neither a month number (1..12) nor a name"),
            ("cal foo", "cal: not a valid year foo"),
            ("cal 0", "cal: year `0' not in range 1..9999"),
            ("cal -3 2021", "cal: -3 together with a given year but no given month is not supported."),
            ("cal -x", "cal: invalid option -- 'x'"),
            ("cal 1 2 2020", "Usage: cal [general options] [-jy] [[month] year]"),
        ] {
            let result = run(script).await;
            assert_eq!((result.stderr.lines().next(), result.exit_code), (Some(message), 64), "{script}");
        }
    }
}
