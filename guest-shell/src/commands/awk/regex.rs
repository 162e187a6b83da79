//! POSIX ERE (gawk dialect) on top of the `regex` crate, with POSIX
//! leftmost-longest match semantics.
//!
//! Decisions:
//! - Patterns are translated, not passed through: `.` matches newline,
//!   `\y`/`\<`/`\>` are word boundaries, `{` that does not start a valid
//!   interval is literal, a leading `*`/`+`/`?` is literal, bracket
//!   expressions follow POSIX (`]` first is literal, backslash escapes,
//!   `[:class:]`), unknown escapes like `\d` are the literal letter (gawk).
//! - Leftmost-longest: the `regex` crate is leftmost-first. Both agree on
//!   where the leftmost match starts; from that start an anchored lazy DFA
//!   with `MatchKind::All` finds the longest end. Patterns whose
//!   leftmost-first and leftmost-longest results cannot differ (no
//!   alternation, no quantifier followed by more pattern) skip the DFA.
//! - THREAT[TM-DOS-023]: both engines are built with the shared regex size
//!   limits; compiled regexes (and failures) are cached per run with a
//!   bounded entry count and pattern bytes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};

use regex::Regex;
use regex_automata::hybrid::dfa::{Cache as DfaCache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use bashkit::builtins::limits::RUNTIME_REGEX_CACHE_ENTRIES;
use bashkit::builtins::search_common::{REGEX_DFA_SIZE_LIMIT, REGEX_SIZE_LIMIT, bytes_escape};
use bashkit::stream::RAW_BYTES;

pub(crate) struct AwkRegex {
    engine: Engine,
    /// Built for the first match that holds a byte that is no UTF-8.
    characters_only: OnceLock<Option<Box<Engine>>>,
    bytes_match: bool,
    /// Translated pattern, for the engines that are built later.
    rust: String,
}

/// A pattern, compiled.
struct Engine {
    re: Regex,
    longest: Option<(DFA, Mutex<DfaCache>)>,
    full: OnceLock<Option<Regex>>,
}

impl std::fmt::Debug for AwkRegex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.engine.re.as_str())
    }
}

/// Compile failure, as a short user-facing message.
pub(crate) struct RegexError(pub(crate) String);

type Spans = Vec<Option<(usize, usize)>>;

impl AwkRegex {
    pub(crate) fn new(ere: &str, icase: bool) -> Result<AwkRegex, RegexError> {
        let t = translate(ere).map_err(RegexError)?;
        let mut pat = String::with_capacity(t.pattern.len() + 8);
        pat.push_str(if icase { "(?si)" } else { "(?s)" });
        pat.push_str(&t.pattern);
        Self::from_translated(pat, t.needs_longest)
    }

    /// Build from a pattern already in `regex` crate syntax (flags
    /// included). Other POSIX dialects (grep's BRE/ERE) translate with
    /// their own rules and reuse the leftmost-longest machinery here.
    pub(crate) fn from_translated(pat: String, needs_longest: bool) -> Result<AwkRegex, RegexError> {
        Ok(AwkRegex {
            engine: Engine::new(&pat, needs_longest)?,
            characters_only: OnceLock::new(),
            bytes_match: false,
            rust: pat,
        })
    }

    /// As in the locale C: `.`, `[^x]` and the like match a byte that is no UTF-8 too.
    pub(crate) fn matching_bytes(self, bytes_match: bool) -> AwkRegex {
        AwkRegex { bytes_match, ..self }
    }

    pub(crate) fn is_match(&self, s: &str) -> bool {
        self.engine.re.is_match(s)
            && match self.characters_only(s) {
                Some(engine) => engine.re.is_match(s),
                None => true,
            }
    }

    /// Leftmost-longest match at or after byte `start`.
    pub(crate) fn find_at(&self, s: &str, start: usize) -> Option<(usize, usize)> {
        let found = self.engine.find_at(s, start)?;
        match self.characters_only(&s[found.0..found.1]) {
            Some(engine) => engine.find_at(s, start),
            None => Some(found),
        }
    }

    /// Leftmost-longest match with capture group spans (group 0 first).
    pub(crate) fn captures_at(&self, s: &str, start: usize) -> Option<Spans> {
        let groups = self.engine.captures_at(s, start, &self.rust)?;
        let (from, to) = groups.first().copied().flatten()?;
        match self.characters_only(&s[from..to]) {
            Some(engine) => engine.captures_at(s, start, engine.re.as_str()),
            None => Some(groups),
        }
    }

    /// The engine that decides about `matched`, where that is not the usual one: a byte that is
    /// no UTF-8 is no character, and nothing but itself matches it. What holds no such byte both
    /// engines match alike, and the usual one is smaller.
    fn characters_only(&self, matched: &str) -> Option<&Engine> {
        if self.bytes_match || !bashkit::stream::has_raw_bytes(matched) {
            return None;
        }
        let build = || {
            let pattern = regex_syntax::parse(&self.rust).ok()?;
            let pattern = without_raw_bytes(pattern).to_string();
            Engine::new(&pattern, self.engine.longest.is_some()).ok().map(Box::new)
        };
        self.characters_only.get_or_init(build).as_deref()
    }
}

/// The pattern whose classes are without the characters that stand for bytes, but for those
/// that were written out in one.
fn without_raw_bytes(pattern: Hir) -> Hir {
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

impl Engine {
    fn new(pat: &str, needs_longest: bool) -> Result<Engine, RegexError> {
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

    fn find_at(&self, s: &str, start: usize) -> Option<(usize, usize)> {
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

    fn captures_at(&self, s: &str, start: usize, pattern: &str) -> Option<Spans> {
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

struct Translated {
    pattern: String,
    needs_longest: bool,
}

fn regex_syntax_is_meta(c: char) -> bool {
    matches!(
        c,
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#' | '&' | '-' | '~'
    )
}

/// What gawk has to say against an expression, if it has.
pub(super) fn check(ere: &str) -> Result<(), String> {
    translate(ere).map(|_| ())
}

/// Translate a POSIX/gawk ERE to `regex` crate syntax; or say what is wrong
/// with it, as the C library does.
fn translate(ere: &str) -> Result<Translated, String> {
    let mut chars: Vec<char> = ere.chars().collect();
    let mut out = String::with_capacity(ere.len() + 8);
    let mut i = 0;
    // A quantifier here would have nothing to repeat (start, after `(`,
    // `|`, `^`): POSIX/gawk treat it as literal.
    let mut at_start = true;
    let mut has_alt = false;
    let mut quantified = false;
    let mut needs_longest = false;
    let mut depth = 0usize;
    // Escape only regex metacharacters: `\<`, `\>` and friends are
    // assertions in the regex crate, not literals.
    let push_lit = |out: &mut String, c: char| {
        if regex_syntax_is_meta(c) {
            out.push('\\');
        }
        out.push(c);
    };
    while i < chars.len() {
        let c = chars[i];
        // An atom after a quantifier means the match length can trade off.
        let is_quant = matches!(c, '*' | '+' | '?' | '{');
        if quantified && !is_quant && c != ')' && c != '|' && c != '$' {
            needs_longest = true;
        }
        match c {
            '\\' => {
                i += 1;
                let Some(&e) = chars.get(i) else {
                    return Err("Trailing backslash".to_string());
                };
                if let Some((c, next)) = bytes_escape(&chars, i, byte_escape) {
                    if c == '\\' {
                        push_lit(&mut out, c);
                        at_start = false;
                        i = next;
                    } else {
                        // gawk reads the character as if it were written there.
                        i -= 1;
                        chars.splice(i..next, [c]);
                    }
                    continue;
                }
                match e {
                    'y' => out.push_str("\\b"),
                    'B' => out.push_str("\\B"),
                    '<' => out.push_str("\\b{start}"),
                    '>' => out.push_str("\\b{end}"),
                    '`' => out.push_str("\\A"),
                    '\'' => out.push_str("\\z"),
                    's' | 'S' | 'w' | 'W' => {
                        out.push('\\');
                        out.push(e);
                    }
                    'n' => out.push_str("\\n"),
                    't' => out.push_str("\\t"),
                    'r' => out.push_str("\\r"),
                    'f' => out.push_str("\\x0C"),
                    'v' => out.push_str("\\x0B"),
                    'a' => out.push_str("\\x07"),
                    'b' => out.push_str("\\x08"),
                    other => push_lit(&mut out, other),
                }
                at_start = false;
                i += 1;
            }
            '[' => {
                let (class, next) = bracket(&chars, i)?;
                out.push_str(&class);
                i = next;
                at_start = false;
            }
            '(' => {
                out.push('(');
                depth += 1;
                at_start = true;
                i += 1;
            }
            ')' => {
                if depth > 0 {
                    depth -= 1;
                    out.push(')');
                } else {
                    out.push_str("\\)");
                }
                at_start = false;
                i += 1;
            }
            '|' => {
                out.push('|');
                has_alt = true;
                at_start = true;
                i += 1;
            }
            '^' => {
                out.push('^');
                at_start = true;
                i += 1;
            }
            '$' => {
                out.push('$');
                at_start = false;
                i += 1;
            }
            '*' | '+' | '?' => {
                if at_start {
                    push_lit(&mut out, c);
                    at_start = false;
                } else {
                    out.push(c);
                    quantified = true;
                }
                i += 1;
            }
            '{' => match interval(&chars, i) {
                Some((text, next)) if !at_start => {
                    out.push_str(&text);
                    quantified = true;
                    i = next;
                }
                _ => {
                    out.push_str("\\{");
                    at_start = false;
                    i += 1;
                }
            },
            '}' => {
                out.push_str("\\}");
                at_start = false;
                i += 1;
            }
            '.' => {
                out.push('.');
                at_start = false;
                i += 1;
            }
            c => {
                push_lit(&mut out, c);
                at_start = false;
                i += 1;
            }
        }
    }
    if depth > 0 {
        return Err("Unmatched ( or \\(".to_string());
    }
    Ok(Translated { pattern: out, needs_longest: needs_longest || has_alt })
}

/// `{n}`, `{n,}`, `{n,m}`, `{,m}` starting at `i`; `None` if not valid.
fn interval(chars: &[char], i: usize) -> Option<(String, usize)> {
    let mut j = i + 1;
    let mut lo = String::new();
    while let Some(c) = chars.get(j).filter(|c| c.is_ascii_digit()) {
        lo.push(*c);
        j += 1;
    }
    let mut hi = None;
    if chars.get(j) == Some(&',') {
        j += 1;
        let mut h = String::new();
        while let Some(c) = chars.get(j).filter(|c| c.is_ascii_digit()) {
            h.push(*c);
            j += 1;
        }
        hi = Some(h);
    }
    if chars.get(j) != Some(&'}') {
        return None;
    }
    if lo.is_empty() && hi.as_ref().is_none_or(|h| h.is_empty()) {
        return None;
    }
    let lo = if lo.is_empty() { "0".to_string() } else { lo };
    let text = match hi {
        None => format!("{{{lo}}}"),
        Some(h) if h.is_empty() => format!("{{{lo},}}"),
        Some(h) => format!("{{{lo},{h}}}"),
    };
    Some((text, j + 1))
}

/// Translate a bracket expression starting at `chars[i] == '['`.
fn bracket(chars: &[char], i: usize) -> Result<(String, usize), String> {
    const OPEN: &str = "Unmatched [, [^, [:, [., or [=";
    let mut j = i + 1;
    let mut out = String::from("[");
    if chars.get(j) == Some(&'^') {
        out.push('^');
        j += 1;
    }
    if j >= chars.len() {
        return Err("Invalid regular expression".to_string());
    }
    let mut first = true;
    let mut items = 0;
    loop {
        let c = *chars.get(j).ok_or(OPEN)?;
        if c == ']' && !first {
            j += 1;
            break;
        }
        first = false;
        // [:class:], [.c.], [=c=]
        if c == '['
            && let Some(&d) = chars.get(j + 1)
            && matches!(d, ':' | '.' | '=')
        {
            let mut k = j + 2;
            let mut name = String::new();
            while k + 1 < chars.len() && !(chars[k] == d && chars[k + 1] == ']') {
                name.push(chars[k]);
                k += 1;
            }
            if k + 1 >= chars.len() {
                return Err(OPEN.to_string());
            }
            j = k + 2;
            if d == ':' {
                out.push_str(match name.as_str() {
                    "alpha" => "\\p{Alphabetic}",
                    "upper" => "\\p{Uppercase}",
                    "lower" => "\\p{Lowercase}",
                    "alnum" => "\\p{Alphabetic}0-9",
                    "digit" => "0-9",
                    "space" => "\\s",
                    "blank" => " \\t",
                    "punct" => "[:punct:]",
                    "print" => "[:print:]",
                    "graph" => "[:graph:]",
                    "cntrl" => "[:cntrl:]",
                    "xdigit" => "[:xdigit:]",
                    "word" => "\\w",
                    _ => return Err("Invalid character class name".to_string()),
                });
            } else {
                for ch in name.chars() {
                    class_lit(&mut out, ch);
                }
            }
            items += 1;
            continue;
        }
        let (lit, next) = class_char(chars, j);
        j = next;
        // Range?
        if chars.get(j) == Some(&'-') && chars.get(j + 1).is_some_and(|&n| n != ']') {
            let (hi, after) = class_char(chars, j + 1);
            if hi < lit {
                return Err("Invalid range end".to_string());
            }
            class_lit(&mut out, lit);
            out.push('-');
            class_lit(&mut out, hi);
            j = after;
        } else {
            class_lit(&mut out, lit);
        }
        items += 1;
    }
    if items == 0 {
        return Err(OPEN.to_string());
    }
    out.push(']');
    Ok((out, j))
}

/// The byte of `\ooo` or `\xhh`, with `chars[i]` behind the backslash, and where what follows
/// begins.
fn byte_escape(chars: &[char], i: usize) -> Option<(u8, usize)> {
    let (from, radix, most) = match chars.get(i)? {
        '0'..='7' => (i, 8, 3),
        'x' => (i + 1, 16, 2),
        _ => return None,
    };
    let digits = chars.get(from..)?.iter().map_while(|c| c.to_digit(radix)).take(most);
    let (count, value) = digits.fold((0, 0), |(count, value), digit| (count + 1, value * radix + digit));
    (count > 0).then_some(((value & 0xff) as u8, from + count))
}

/// One (possibly escaped) character inside a bracket expression.
fn class_char(chars: &[char], j: usize) -> (char, usize) {
    if chars[j] == '\\'
        && let Some(escaped) = bytes_escape(chars, j + 1, byte_escape)
    {
        return escaped;
    }
    if chars[j] == '\\'
        && let Some(&e) = chars.get(j + 1)
    {
        let c = match e {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'b' => '\x08',
            other => other,
        };
        return (c, j + 2);
    }
    (chars[j], j + 1)
}

fn class_lit(out: &mut String, c: char) {
    if regex_syntax_is_meta(c) {
        out.push('\\');
    }
    out.push(c);
}

/// Per-run cache of compiled dynamic regexes (strings used as regexes).
#[derive(Default)]
pub(crate) struct RegexCache {
    entries: HashMap<(Arc<str>, bool), Result<Arc<AwkRegex>, String>>,
    order: VecDeque<(Arc<str>, bool)>,
    bytes: usize,
    /// See [`AwkRegex::matching_bytes`].
    pub(super) bytes_match: bool,
}

impl RegexCache {
    pub(crate) fn new(bytes_match: bool) -> Self {
        Self { bytes_match, ..Self::default() }
    }

    pub(crate) fn get(&mut self, pattern: &str, icase: bool) -> Result<Arc<AwkRegex>, String> {
        if let Some(r) = self.entries.get(&(Arc::from(pattern), icase)) {
            return r.clone();
        }
        if pattern.len() > REGEX_SIZE_LIMIT {
            return Err("regular expression too big".to_string());
        }
        let compiled = AwkRegex::new(pattern, icase)
            .map(|regex| Arc::new(regex.matching_bytes(self.bytes_match)))
            .map_err(|e| e.0);
        while self.entries.len() >= RUNTIME_REGEX_CACHE_ENTRIES || self.bytes + pattern.len() > REGEX_SIZE_LIMIT {
            let Some(old) = self.order.pop_front() else {
                break;
            };
            self.bytes -= old.0.len();
            self.entries.remove(&old);
        }
        let key: (Arc<str>, bool) = (Arc::from(pattern), icase);
        self.bytes += pattern.len();
        self.order.push_back(key.clone());
        self.entries.insert(key, compiled.clone());
        compiled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn re(p: &str) -> AwkRegex {
        AwkRegex::new(p, false).ok().unwrap()
    }

    #[test]
    fn leftmost_longest() {
        assert_eq!(re("ab|abcd").find_at("xabcd", 0), Some((1, 5)));
        assert_eq!(re("a*(ab)?b?").find_at("aab", 0), Some((0, 3)));
        assert_eq!(re("x*").find_at("abc", 0), Some((0, 0)));
        assert_eq!(re("(a|ab)(c|bcd)").find_at("abcd", 0), Some((0, 4)));
    }

    #[test]
    fn translation() {
        assert!(re("a.b").is_match("a\nb"));
        assert!(re("[/]").is_match("/"));
        assert!(re("[]a]").is_match("]"));
        assert!(re("[^]a]").is_match("b"));
        assert!(re("a{2}").is_match("aa"));
        assert!(re("{").is_match("{"));
        assert!(re("a{").is_match("a{"));
        assert!(re("^+").is_match("+"));
        assert!(!re("^+").is_match("a"));
        assert!(re("\\yfoo\\y").is_match("a foo b"));
        assert!(re("[[:alpha:]]+").is_match("olá"));
        assert!(re("\\.").is_match("."));
        assert!(!re("\\.").is_match("a"));
        assert!(re("\\d").is_match("d"));
        assert!(re("[a\\]]").is_match("]"));
        assert!(re("a|").is_match("b"));
        assert!(re("\\<the\\>").is_match("in the end"));
        assert!(!re("\\<the\\>").is_match("other"));
    }

    #[test]
    fn captures_follow_longest() {
        let r = re("(a|ab)(c|bcd)");
        let c = r.captures_at("abcd", 0).unwrap();
        assert_eq!(c[0], Some((0, 4)));
    }

    #[test]
    fn huge_pattern_fails_cleanly() {
        assert!(AwkRegex::new("((a|b){1000}){1000}", false).is_err());
    }
}
