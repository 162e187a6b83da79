//! Binding of the logic to WIT: converts arguments and results. This module does not process text.

use bindings::exports::tollhouse::text::text as wit;

use crate::error::Error;
use crate::{count, diff, rank, tokens, wrap};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn diff(
        old: String,
        new: String,
        context: Option<u32>,
        old_name: Option<String>,
        new_name: Option<String>,
    ) -> Result<wit::Difference, wit::Error> {
        let names = (old_name.as_deref().unwrap_or("old"), new_name.as_deref().unwrap_or("new"));
        let diff::Difference { unified, added, removed } = diff::diff(&old, &new, context.unwrap_or(3), names)?;
        Ok(wit::Difference { unified, added, removed })
    }

    fn fuzzy_match(
        query: String,
        mut candidates: Vec<String>,
        limit: Option<u32>,
        min_score: Option<f64>,
        metric: Option<wit::Metric>,
    ) -> Result<Vec<wit::Ranked>, wit::Error> {
        let metric = metric.unwrap_or(wit::Metric::Words).into();
        let ranked = rank::rank(&query, &candidates, min_score.unwrap_or(0.0), metric)?;
        let give = |rank::Ranked { index, score }| wit::Ranked {
            candidate: std::mem::take(&mut candidates[index]),
            index: u32::try_from(index).expect("a list in 32-bit memory"),
            score,
        };
        Ok(ranked.into_iter().take(at_most(limit)).map(give).collect())
    }

    fn count(text: String) -> wit::Counts {
        let count::Counts { bytes, characters, words, lines } = count::count(&text);
        wit::Counts {
            bytes: wide(bytes),
            characters: wide(characters),
            words: wide(words),
            lines: wide(lines),
            estimated_tokens: tokens::estimate(&text),
        }
    }

    fn word_frequencies(
        text: String,
        limit: Option<u32>,
        min_length: Option<u32>,
        ignore: Option<Vec<String>>,
    ) -> Vec<wit::WordFrequency> {
        let min_length = min_length.map_or(1, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let frequencies = count::word_frequencies(&text, min_length, &ignore.unwrap_or_default());
        let give = |(word, count)| wit::WordFrequency { word, count };
        frequencies.into_iter().take(at_most(limit)).map(give).collect()
    }

    fn wrap(text: String, width: u32, indent: Option<String>) -> Result<String, wit::Error> {
        Ok(wrap::wrap(&text, width, indent.as_deref().unwrap_or(""))?)
    }
}

fn at_most(limit: Option<u32>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl From<wit::Metric> for rank::Metric {
    fn from(metric: wit::Metric) -> Self {
        match metric {
            wit::Metric::Words => Self::Words,
            wit::Metric::JaroWinkler => Self::JaroWinkler,
            wit::Metric::EditDistance => Self::EditDistance,
            wit::Metric::SorensenDice => Self::SorensenDice,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        Self { kind: wit::ErrorKind::Parameter, message, parameter: error.parameter.to_owned() }
    }
}
