//! The part of a file that an error shows. A file may have lines of any length, and a terminal is not to be filled by one.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, NamedSource, SourceCode, SourceSpan, SpanContents};

/// Most characters of a line that are shown, half of them before the place of the error.
const MAX_LINE: usize = 200;

/// Mark of what is left out of a line.
const LEFT_OUT: &str = "…";

/// File whose long lines are cut, with the columns of the whole lines.
#[derive(Debug)]
pub(crate) struct SourceExcerpt {
    source: NamedSource<String>,
    name: String,
    /// Bytes of the line with the error that are left out before it, less those of the mark.
    hidden: usize,
}

impl SourceExcerpt {
    /// Cuts the long lines of a file. Returns the place of the error in what is left, too.
    pub(crate) fn new(name: String, text: &str, span: Range<usize>) -> (Self, Range<usize>) {
        let (mut cut, mut hidden) = (String::with_capacity(text.len().min(64 << 10)), 0);
        let mut place = Range { start: None, end: None };
        let mut line_start = 0;
        for line in text.split_inclusive('\n') {
            let within = |at: usize| at.checked_sub(line_start).filter(|at| *at < line.len());
            let (start, end) = (within(span.start), within(span.end));
            let window = window(line, start.unwrap_or_default());
            let mark = if window.start > 0 { LEFT_OUT.len() } else { 0 };
            let moved = |at: usize| cut.len() + mark + at.clamp(window.start, window.end) - window.start;
            let (moved_start, moved_end) = (start.map(moved), end.map(moved));
            if moved_start.is_some() {
                (place.start, hidden) = (moved_start, window.start - mark);
            }
            place.end = moved_end.or(place.end);
            if mark > 0 {
                cut.push_str(LEFT_OUT);
            }
            cut.push_str(&line[window.clone()]);
            if window.end < line.len() {
                cut.push_str(LEFT_OUT);
                cut.push_str(if line.ends_with('\n') { "\n" } else { "" });
            }
            line_start += line.len();
        }
        // A place at the end of the file is in none of its lines.
        let start = place.start.unwrap_or(cut.len());
        let end = place.end.unwrap_or(cut.len()).max(start);
        (Self { source: NamedSource::new(&name, cut), name, hidden }, start..end)
    }
}

/// Returns the part of a line that is shown: all of it, or what is around a place.
fn window(line: &str, place: usize) -> Range<usize> {
    if line.len() <= MAX_LINE || line.chars().nth(MAX_LINE).is_none() {
        return 0..line.len();
    }
    let place = line.floor_char_boundary(place);
    let before = line[..place].char_indices().rev().nth(MAX_LINE / 2 - 1).map_or(0, |(at, _)| at);
    let length = line[before..].char_indices().nth(MAX_LINE).map_or(line.len() - before, |(at, _)| at);
    before..before + length
}

impl SourceCode for SourceExcerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.source.read_span(span, before, after)?;
        // What begins with whole lines before the place has no column.
        let column = if before == 0 { found.column() + self.hidden } else { found.column() };
        let (data, place, line, lines) = (found.data(), *found.span(), found.line(), found.line_count());
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), data, place, line, column, lines)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text at the place of an error, the longest line, and line and column as they are told.
    fn shown(text: &str, span: Range<usize>) -> (String, usize, (usize, usize)) {
        let (excerpt, place) = SourceExcerpt::new("f".to_owned(), text, span);
        let longest = excerpt.source.inner().lines().map(|line| line.chars().count()).max().unwrap_or_default();
        let told = excerpt.read_span(&place.clone().into(), 0, 0).expect("it is in the text");
        (excerpt.source.inner()[place].to_owned(), longest, (told.line() + 1, told.column() + 1))
    }

    #[test]
    fn long_lines_are_cut_around_the_place_of_the_error() {
        let long = format!("ok = 1\n{}wrong{}\nlast = 2\n", "ä".repeat(30_000), "b".repeat(30_000));
        let at = 7 + 60_000;
        let (text, longest, told) = shown(&long, at..at + 5);
        assert_eq!((text.as_str(), told), ("wrong", (2, 60_001)));
        assert!(longest <= MAX_LINE + 2, "{longest}");
        let (text, longest, told) = shown(&long, 7..7 + 2);
        assert_eq!((text.as_str(), told), ("ä", (2, 1)));
        assert!(longest <= MAX_LINE + 2, "{longest}");
        // A place that is longer than what is shown of its line.
        let (text, longest, _) = shown(&long, at..at + 20_000);
        assert!(text.starts_with("wrongb") && longest <= MAX_LINE + 2, "{text}");
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        let text = "a = 1\nbb = wrong\n";
        assert_eq!(shown(text, 11..16), ("wrong".to_owned(), 10, (2, 6)));
        assert_eq!(shown(text, 0..text.len() - 1), (text[..text.len() - 1].to_owned(), 10, (1, 1)));
        for end in ["a = ", "a = 1\n", ""] {
            let (excerpt, place) = SourceExcerpt::new("f".to_owned(), end, end.len()..end.len());
            assert_eq!((excerpt.source.inner().as_str(), place), (end, end.len()..end.len()));
        }
    }
}
