//! Pages of months. Before 14 September 1752, days are those of the Julian calendar, as in the English-speaking world.

use crate::commands::calendar::MONTH_NAMES;

/// Lines of weeks in each month.
const WEEK_LINES: usize = 6;

/// Consecutive months that `cal` prints, with the numbering of their days.
pub(super) struct CalendarPage {
    /// Number of the first month, counted from January of the year 0.
    pub(super) first_month: i64,
    /// Number of months on the page.
    pub(super) count: i64,
    /// True if days are numbered from the first of January.
    pub(super) days_of_year: bool,
}

/// Returns true if a year has a leap day.
fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year <= 1752 || year % 100 != 0 || year % 400 == 0)
}

/// Returns the days of a month, without those that the reform of the calendar left out.
fn days_of_month(year: i64, month: i64) -> impl Iterator<Item = i64> {
    let last = match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=last).filter(move |day| (year, month) != (1752, 9) || !(3..=13).contains(day))
}

/// Returns the Julian day number of a date.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let before_march = (14 - month) / 12;
    let years = year + 4800 - before_march;
    let months = month + 12 * before_march - 3;
    let days = day + (153 * months + 2) / 5 + 365 * years + years / 4;
    if (year, month, day) < (1752, 9, 14) { days - 32_083 } else { days - years / 100 + years / 400 - 32_045 }
}

impl CalendarPage {
    /// Returns the number of months beside each other.
    fn months_per_row(&self) -> i64 {
        if self.days_of_year { 2 } else { 3 }
    }

    /// Returns the width of a number.
    fn cell_width(&self) -> usize {
        if self.days_of_year { 3 } else { 2 }
    }

    /// Returns the width of a week.
    fn week_width(&self) -> usize {
        7 * self.cell_width() + 6
    }

    /// Returns the lines of the page.
    pub(super) fn text(&self) -> String {
        let per_row = self.months_per_row();
        // Rows that begin with January have the year above them.
        let has_year_lines = self.first_month % 12 == 0 && self.count >= per_row;
        let mut text = String::new();
        let mut first = 0;
        while first < self.count {
            if first > 0 {
                text.push('\n');
            }
            let year = (self.first_month + first).div_euclid(12).to_string();
            if has_year_lines && (self.first_month + first) % 12 == 0 {
                let columns = usize::try_from(per_row).expect("two or three") * self.week_width();
                let indent = (columns - year.len()) / 2;
                text.push_str(&format!("{:indent$}{year}\n", ""));
            }
            let months = first..self.count.min(first + per_row);
            let blocks: Vec<_> =
                months.map(|index| self.month_lines(self.first_month + index, !has_year_lines)).collect();
            for line in 0..WEEK_LINES + 2 {
                text.extend(blocks.iter().map(|block| &*block[line]));
                text.push('\n');
            }
            first += per_row;
        }
        text
    }

    /// Returns the lines of a month: its name, the days of the week, and the weeks.
    fn month_lines(&self, index: i64, with_year: bool) -> Vec<String> {
        let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
        let name = MONTH_NAMES[usize::try_from(month - 1).expect("less than 12")];
        let title = if with_year { format!("{name} {year}") } else { name.to_owned() };
        let (cell, width) = (self.cell_width(), self.week_width());
        let indent = width.saturating_sub(title.len()) / 2;
        let names = ["Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"].map(|name| format!("{name:>cell$}")).join(" ");
        let mut lines = vec![format!("{:indent$}{title}", ""), names];
        let start = day_number(year, month, 1);
        let blank = usize::try_from((start + 1).rem_euclid(7)).expect("less than 7");
        let mut cells = vec![String::new(); blank];
        cells.extend(days_of_month(year, month).map(|day| match self.days_of_year {
            true => (day_number(year, month, day) - day_number(year, 1, 1) + 1).to_string(),
            false => day.to_string(),
        }));
        for week in 0..WEEK_LINES {
            let days = cells.iter().skip(week * 7).take(7).map(|day| format!("{day:>cell$}"));
            lines.push(days.collect::<Vec<_>>().join(" "));
        }
        lines.iter().map(|line| format!("{line:width$}  ")).collect()
    }
}
