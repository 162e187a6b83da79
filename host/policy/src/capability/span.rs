//! Positions in the text that something was parsed from.

use std::ops::Range;

/// A range of bytes, if it is known. All spans are equal, so that policies with equal contents are equal wherever they
/// are written.
#[derive(Clone, Debug, Default)]
pub struct Span(pub Option<Range<usize>>);

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Span {}
