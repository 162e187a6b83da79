//! Engines of a compiled expression: one for leftmost matches, one for their longest end.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::{Mutex, OnceLock};

use bashkit::builtins::search_common::{REGEX_DFA_SIZE_LIMIT, REGEX_SIZE_LIMIT};
use bashkit::stream::RAW_BYTES;
use regex::Regex;
use regex_automata::hybrid::dfa::{Cache as DfaCache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::{RegexError, Spans};

/// Compiled expression, with what finds the end of its longest match.
pub(super) struct Engine {
    pub(super) re: Regex,
    pub(super) longest: Option<(DFA, Mutex<DfaCache>)>,
    full: OnceLock<Option<Regex>>,
}

impl Engine {
    pub(super) fn new(pat: &str, needs_longest: bool) -> Result<Engine, RegexError> {
        let re = regex::RegexBuilder::new(pat)
            .size_limit(REGEX_SIZE_LIMIT)
            .dfa_size_limit(REGEX_DFA_SIZE_LIMIT)
            .build()
            .map_err(|e| RegexError(short_error(&e)))?;
        let longest = if needs_longest {
            DFA::builder()
                .configure(
                    DFA::config()
                        .match_kind(MatchKind::All)
                        .cache_capacity(REGEX_DFA_SIZE_LIMIT)
                        .unicode_word_boundary(true),
                )
                .thompson(thompson::Config::new().nfa_size_limit(Some(REGEX_SIZE_LIMIT)))
                .build(pat)
                .ok()
                .map(|dfa| {
                    let cache = dfa.create_cache();
                    (dfa, Mutex::new(cache))
                })
        } else {
            None
        };
        Ok(Engine { re, longest, full: OnceLock::new() })
    }

    pub(super) fn find_at(&self, s: &str, start: usize) -> Option<(usize, usize)> {
        let m = self.re.find_at(s, start)?;
        Some((m.start(), self.longest_end(s, m.start(), m.end())))
    }

    fn longest_end(&self, s: &str, start: usize, end: usize) -> usize {
        let Some((dfa, cache)) = &self.longest else {
            return end;
        };
        if end == s.len() {
            return end;
        }
        let Ok(mut cache) = cache.lock() else {
            return end;
        };
        let input = Input::new(s).range(start..).anchored(Anchored::Yes);
        match dfa.try_search_fwd(&mut cache, &input) {
            Ok(Some(hm)) if hm.offset() > end && s.is_char_boundary(hm.offset()) => hm.offset(),
            _ => end,
        }
    }

    pub(super) fn captures_at(&self, s: &str, start: usize, pattern: &str) -> Option<Spans> {
        let caps = self.re.captures_at(s, start)?;
        let m0 = caps.get(0)?;
        let end = self.longest_end(s, m0.start(), m0.end());
        if end == m0.end() {
            return Some(caps.iter().map(|g| g.map(|m| (m.start(), m.end()))).collect());
        }
        // The longest match is not the leftmost-first one: take groups from
        // a whole-span match of the same pattern on that span.
        let begin = m0.start();
        let full = self.full.get_or_init(|| {
            regex::RegexBuilder::new(&format!("^(?:{pattern})$"))
                .size_limit(REGEX_SIZE_LIMIT)
                .dfa_size_limit(REGEX_DFA_SIZE_LIMIT)
                .build()
                .ok()
        });
        let sub = &s[begin..end];
        if let Some(full) = full
            && let Some(c) = full.captures(sub)
        {
            return Some(c.iter().map(|g| g.map(|m| (begin + m.start(), begin + m.end()))).collect());
        }
        let mut v: Spans = vec![None; caps.len()];
        v[0] = Some((begin, end));
        Some(v)
    }
}

fn short_error(e: &regex::Error) -> String {
    match e {
        regex::Error::CompiledTooBig(_) => "regular expression too big".to_string(),
        _ => {
            let s = e.to_string();
            // The last line of the regex crate's message is the summary.
            let line = s.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("invalid regexp");
            let line = line.trim().trim_start_matches("error: ");
            line.chars().take(200).collect()
        }
    }
}

/// Returns an expression whose classes are without the characters that stand for bytes, but for those that were
/// written out in one.
pub(super) fn without_raw_bytes(pattern: Hir) -> Hir {
    match pattern.into_kind() {
        HirKind::Class(Class::Unicode(mut class)) => {
            let (first, last) = RAW_BYTES.into_inner();
            let all = |range: &ClassUnicodeRange| range.start() <= first && last <= range.end();
            if class.iter().any(all) {
                class.difference(&ClassUnicode::new([ClassUnicodeRange::new(first, last)]));
            }
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(class) => Hir::class(class),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(without_raw_bytes(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(without_raw_bytes(*capture.sub));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(without_raw_bytes).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(without_raw_bytes).collect()),
    }
}
