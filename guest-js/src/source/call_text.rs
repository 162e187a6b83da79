//! Text of a call in a script, as `assert` quotes it.

use oxc_allocator::Allocator;
use oxc_ast::ast::CallExpression;
use oxc_ast_visit::{Visit, walk};
use oxc_span::Span;

use super::{Dialect, parse, parse_script};

/// Returns the text of the innermost call around a position. Lines count from 1, and columns count bytes from 1. Lines
/// after the first lose the indentation of the call. Returns `None` if there is no call, or the text does not parse.
pub(crate) fn call_text(source: &str, dialect: Dialect, line: usize, column: usize) -> Option<String> {
    let line_start = line_start(source, line)?;
    let place = u32::try_from(line_start + column.checked_sub(1)?).ok()?;
    let span = innermost_call(source, dialect, place)?;
    let text = source.get(span.start as usize..span.end as usize)?;
    let before = source.get(..span.start as usize)?;
    let indentation = before.rsplit('\n').next().map_or(0, str::len);
    let mut lines = text.split('\n');
    let first = lines.next()?.to_owned();
    Some(lines.fold(first, |text, line| format!("{text}\n  {}", without_indentation(line, indentation))))
}

/// Returns the offset at which a line begins; lines count from 1.
fn line_start(source: &str, line: usize) -> Option<usize> {
    match line.checked_sub(2) {
        None => Some(0),
        Some(ends) => source.match_indices('\n').nth(ends).map(|(end, _)| end + 1),
    }
}

fn without_indentation(line: &str, most: usize) -> &str {
    let blanks = line.bytes().take(most).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &line[blanks..]
}

fn innermost_call(source: &str, dialect: Dialect, place: u32) -> Option<Span> {
    let allocator = Allocator::default();
    // A script may contain constructs that no module has.
    let parsed = parse(&allocator, source, dialect).ok().or_else(|| parse_script(&allocator, source))?;
    let mut finder = InnermostCallFinder { place, found: None };
    finder.visit_program(&parsed.program);
    finder.found
}

/// Visitor that finds the innermost call around a position, which is visited last.
struct InnermostCallFinder {
    place: u32,
    found: Option<Span>,
}

impl<'a> Visit<'a> for InnermostCallFinder {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if !(call.span.start..call.span.end).contains(&self.place) {
            return;
        }
        self.found = Some(call.span);
        walk::walk_call_expression(self, call);
    }
}
