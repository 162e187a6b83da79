//! Several addresses in one: `{a,b}`, `[1-9]`, `[01-10:2]`, `[a-z]`.

/// Largest number of addresses for one word.
const MOST: usize = 100_000;

/// Largest total length of the addresses for one word.
const MOST_BYTES: usize = 16 << 20;

/// Address that a word expands to, and its values of the sets, for `#1` in file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) url: String,
    pub(super) parts: Vec<String>,
}

/// Returns all addresses that a word expands to. The error is a message.
pub(super) fn expand(word: &str) -> Result<Vec<Expanded>, String> {
    let mut all = vec![Expanded::default()];
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        if all.len() > 1 && all.iter().map(Expanded::bytes).sum::<usize>() > MOST_BYTES {
            return Err(too_large());
        }
        let position = word.len() - rest.len() + 1;
        match first {
            '{' => {
                let end = rest.find('}').ok_or_else(|| format!("unmatched brace in URL position {position}"))?;
                let set: Vec<String> = rest[1..end].split(',').map(str::to_owned).collect();
                // Empty braces are not a set.
                if end == 1 {
                    all.iter_mut().for_each(|expanded| expanded.url.push_str("{}"));
                } else {
                    all = product(&all, &set)?;
                }
                rest = &rest[end + 1..];
            }
            '[' if !is_ip(rest) => {
                let wrong = || format!("bad range specification in URL position {position}");
                let end = rest.find(']').ok_or_else(wrong)?;
                all = product(&all, &range(&rest[1..end]).ok_or_else(wrong)?)?;
                rest = &rest[end + 1..];
            }
            '[' => {
                let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                all.iter_mut().for_each(|expanded| expanded.url.push_str(&rest[..end]));
                rest = &rest[end..];
            }
            '\\' if rest[1..].starts_with(['{', '}', '[', ']']) => {
                all.iter_mut().for_each(|expanded| expanded.url.push_str(&rest[1..2]));
                rest = &rest[2..];
            }
            other => {
                let begin = other.len_utf8();
                let run = rest[begin..].find(['{', '[', '\\']).map_or(rest.len(), |end| begin + end);
                if all.len() > 1 && run.saturating_mul(all.len()) > MOST_BYTES {
                    return Err(too_large());
                }
                all.iter_mut().for_each(|expanded| expanded.url.push_str(&rest[..run]));
                rest = &rest[run..];
            }
        }
    }
    Ok(all)
}

/// Returns a file name in which the values of the sets replace `#1`, `#2`, …
pub(super) fn name(pattern: &str, parts: &[String]) -> String {
    let mut name = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('#') {
        name.push_str(&rest[..at]);
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[at + 1..at + 1 + digits].parse::<usize>().ok();
        match number.and_then(|number| parts.get(number.checked_sub(1)?)) {
            Some(part) => name.push_str(part),
            None => name.push_str(&rest[at..at + 1 + digits]),
        }
        rest = &rest[at + 1 + digits..];
    }
    name + rest
}

/// Returns true if a bracket contains an IP address: `[::1]`.
fn is_ip(rest: &str) -> bool {
    rest.find(']').is_some_and(|end| rest[1..end].parse::<std::net::Ipv6Addr>().is_ok())
}

impl Expanded {
    /// Returns the number of bytes in memory.
    fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.len() + size_of::<String>()).sum();
        self.url.len() + parts + size_of::<Self>()
    }
}

fn too_large() -> String {
    format!("a URL stands for URLs of more than {MOST_BYTES} bytes")
}

fn product(all: &[Expanded], set: &[String]) -> Result<Vec<Expanded>, String> {
    if all.len().saturating_mul(set.len()) > MOST {
        return Err(format!("a URL stands for more than {MOST}"));
    }
    let bytes: usize = all.iter().map(Expanded::bytes).sum();
    let parts: usize = set.iter().map(|part| 2 * part.len() + size_of::<String>()).sum();
    if bytes.saturating_mul(set.len()).saturating_add(parts.saturating_mul(all.len())) > MOST_BYTES {
        return Err(too_large());
    }
    let with = |one: &Expanded, part: &String| {
        let mut one = one.clone();
        one.url.push_str(part);
        one.parts.push(part.clone());
        one
    };
    Ok(all.iter().flat_map(|one| set.iter().map(move |part| with(one, part))).collect())
}

/// Returns the members of a range: numbers, padded like the first one, or letters.
fn range(text: &str) -> Option<Vec<String>> {
    let (ends, step) = match text.split_once(':') {
        Some((ends, step)) => (ends, step.parse::<usize>().ok().filter(|step| *step > 0)?),
        None => (text, 1),
    };
    let (low, high) = ends.split_once('-')?;
    if let (Ok(first), Ok(last)) = (low.parse::<u64>(), high.parse::<u64>()) {
        // A 64-bit number has at most 20 digits.
        if low.len() > 20 {
            return None;
        }
        let width = if low.starts_with('0') { low.len() } else { 0 };
        let count = usize::try_from(last.checked_sub(first)?).ok()? / step;
        if count >= MOST {
            return None;
        }
        return Some((first..=last).step_by(step).map(|number| format!("{number:0width$}")).collect());
    }
    let letter = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    let (first, last) = (letter(low)?, letter(high)?);
    (first <= last && first.is_lowercase() == last.is_lowercase())
        .then(|| (first..=last).step_by(step).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(word: &str) -> Vec<String> {
        expand(word).expect(word).into_iter().map(|expanded| expanded.url).collect()
    }

    #[test]
    fn sets_and_ranges_are_expanded() {
        assert_eq!(urls("a/{x,y}/[1-2]"), ["a/x/1", "a/x/2", "a/y/1", "a/y/2"]);
        assert_eq!(urls("[08-10]"), ["08", "09", "10"]);
        assert_eq!(urls("[0-10:5]"), ["0", "5", "10"]);
        assert_eq!(urls("[a-c]"), ["a", "b", "c"]);
        assert_eq!(urls("http://[::1]/{}\\[x\\]"), ["http://[::1]/{}[x]"]);
        assert!(expand("[z-a]").is_err() && expand("{a").is_err() && expand("[1-9").is_err());
        assert!(expand("[0-99999999]").is_err());
        let long = "x".repeat(100_000);
        assert!(expand(&format!("{long}[1-1000]")).is_err() && expand(&format!("[1-1000]{long}")).is_err());
        assert_eq!(urls("[1-100000]").len(), 100_000);
    }

    #[test]
    fn names_hold_parts() {
        let parts = ["a".to_owned(), "b".to_owned()];
        assert_eq!(name("#2_#1_#3_#.txt", &parts), "b_a_#3_#.txt");
    }
}
