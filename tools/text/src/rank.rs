//! Similarity of texts, and ranking by similarity.

use crate::error::Error;

/// Measure of similarity, from 0 (nothing in common) to 1 (equal), ignoring case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Word by word (Monge-Elkan over Jaro-Winkler).
    Words,
    /// Jaro-Winkler over the whole text.
    JaroWinkler,
    /// Edit distance by optimal string alignment, in proportion to the longer text.
    EditDistance,
    /// Share of common pairs of neighbouring characters (Sørensen-Dice).
    SorensenDice,
}

/// Candidate with its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index of the text in the list of candidates.
    pub index: usize,
    /// Similarity, from 0 to 1.
    pub score: f64,
}

/// Ranks `candidates` by similarity to `query`, best first, without those below `min_score`.
///
/// # Errors
///
/// If `min_score` is not within 0 to 1.
pub fn rank(query: &str, candidates: &[String], min_score: f64, metric: Metric) -> Result<Vec<Ranked>, Error> {
    if !(0.0..=1.0).contains(&min_score) {
        return Err(Error::new("minScore", format!("is {min_score}: it must be from 0 to 1")));
    }
    let query = Folded::new(query);
    let mut scored: Vec<(Ranked, f64)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let candidate = Folded::new(candidate);
        let score = query.likeness(&candidate, metric);
        if score >= min_score {
            scored.push((Ranked { index, score }, strsim::jaro_winkler(&query.whole, &candidate.whole)));
        }
    }
    // A stable sort: candidates that are equal in both scores keep their order.
    scored.sort_by(|(a, whole_a), (b, whole_b)| b.score.total_cmp(&a.score).then(whole_b.total_cmp(whole_a)));
    Ok(scored.into_iter().map(|(ranked, _)| ranked).collect())
}

/// Text in lower case, as a whole and split into words.
struct Folded {
    whole: String,
    words: Vec<String>,
}

impl Folded {
    fn new(text: &str) -> Self {
        Self { whole: text.to_lowercase(), words: words(text) }
    }

    fn likeness(&self, other: &Self, metric: Metric) -> f64 {
        match metric {
            Metric::Words => self.words_likeness(other),
            Metric::JaroWinkler => strsim::jaro_winkler(&self.whole, &other.whole),
            Metric::EditDistance => edit_likeness(&self.whole, &other.whole),
            Metric::SorensenDice => strsim::sorensen_dice(&self.whole, &other.whole),
        }
    }

    /// Compares texts word by word, or as a whole if they have no words (such as `++`).
    fn words_likeness(&self, other: &Self) -> f64 {
        if self.words.is_empty() || other.words.is_empty() {
            return strsim::jaro_winkler(&self.whole, &other.whole);
        }
        let best = |word: &String| other.words.iter().map(|own| strsim::jaro_winkler(word, own)).fold(0.0, f64::max);
        self.words.iter().map(best).sum::<f64>() / length(self.words.len())
    }
}

fn edit_likeness(a: &str, b: &str) -> f64 {
    let longer = a.chars().count().max(b.chars().count());
    if longer == 0 { 1.0 } else { 1.0 - length(strsim::osa_distance(a, b)) / length(longer) }
}

/// Converts a length, which fits 32-bit memory, to a float.
fn length(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

/// Splits a text into sequences of letters and digits in lower case, also before a capital letter that follows a small
/// one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for character in text.chars() {
        let ends = !character.is_alphanumeric() || (after_small && character.is_uppercase());
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        after_small = character.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(query: &str, candidates: &[&'static str], metric: Metric) -> Vec<&'static str> {
        let owned: Vec<String> = candidates.iter().map(|&text| text.to_owned()).collect();
        let ranked = rank(query, &owned, 0.0, metric).expect("a good score");
        assert!(ranked.iter().all(|ranked| (0.0..=1.0).contains(&ranked.score)), "{ranked:?}");
        ranked.iter().map(|ranked| candidates[ranked.index]).collect()
    }

    #[test]
    fn rank_by_words_ignores_order_and_spelling_mistakes() {
        assert_eq!(order("jon smiht", &["Ann Lee", "Smith, John"], Metric::Words)[0], "Smith, John");
        let files = ["src/store.rs", "src/guest/driver.rs", "README.md"];
        assert_eq!(order("guest drivr", &files, Metric::Words)[0], "src/guest/driver.rs");
        assert_eq!(order("user name", &["nameless", "getUserName"], Metric::Words)[0], "getUserName");
    }

    #[test]
    fn rank_of_equal_scores_prefers_exact_text_and_then_position() {
        assert_eq!(order("smith", &["John Smith", "Smith", "SMITH"], Metric::Words), ["Smith", "SMITH", "John Smith"]);
    }

    #[test]
    fn rank_by_each_metric_prefers_the_nearest() {
        for metric in [Metric::JaroWinkler, Metric::EditDistance, Metric::SorensenDice] {
            assert_eq!(order("kittne", &["mitten", "kitten", "table"], metric)[0], "kitten", "{metric:?}");
        }
        let one_swap = rank("abcd", &["abdc".into()], 0.0, Metric::EditDistance).expect("a good score");
        assert_eq!(one_swap[0].score, 0.75);
    }

    #[test]
    fn rank_of_empty_text_or_symbols_works() {
        for metric in [Metric::Words, Metric::JaroWinkler, Metric::EditDistance, Metric::SorensenDice] {
            assert_eq!(order("", &["", "a"], metric)[0], "");
            assert_eq!(order("++", &["--", "++"], metric)[0], "++");
        }
        assert_eq!(rank("a", &[], 0.5, Metric::Words), Ok(vec![]));
    }

    #[test]
    fn rank_with_minimum_score_omits_the_rest() {
        let candidates = ["kitten".to_owned(), "xyz".to_owned()];
        assert_eq!(rank("kitten", &candidates, 0.5, Metric::Words), Ok(vec![Ranked { index: 0, score: 1.0 }]));
        assert!(rank("a", &candidates, f64::NAN, Metric::Words).is_err());
        assert!(rank("a", &candidates, 1.5, Metric::Words).is_err());
    }
}
