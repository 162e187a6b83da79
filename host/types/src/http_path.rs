//! Ambiguous URL paths: request paths that some server may read as other paths. Text only: must not know rules.
//!
//! Servers decode escapes once or more often, fold characters by Unicode's compatibility mappings, or write them in a
//! character set of their own, and then look for separators and dots. A rule names a path as text, so a path with two
//! readings matches no rule.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Characters that separate a path, end it, or escape within it.
const STRUCTURE: &[u8] = b"./\\%;?#";

/// Number of rounds in which escapes are decoded. A path with escapes beyond that is refused.
const MAX_DECODINGS: usize = 4;

/// Returns true if a server may read a path as another one: because of dot segments or separators, escaped any number
/// of times or written in characters that some server folds to them, or because of a character at which a server may
/// cut the path.
pub(crate) fn is_ambiguous(path: &str) -> bool {
    // Only ASCII is sent: other characters are escaped before, unless the caller wants a path with two readings.
    if !path.is_ascii() {
        return true;
    }
    let slashes = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..MAX_DECODINGS {
        let decoded = decode(&bytes);
        // Overlong forms of `.` and `/` are not valid UTF-8.
        let Ok(text) = std::str::from_utf8(&decoded) else { return true };
        let folded: String = text.nfkc().collect();
        if is_odd(text, &folded) || slashes(&decoded) != slashes(path.as_bytes()) {
            return true;
        }
        if decoded == bytes {
            return has_hidden_escape(&folded);
        }
        bytes = decoded;
    }
    true
}

/// Replaces each `%XX` by its byte, once.
fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.first_chunk::<2>().filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let hidden = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match hidden {
            Some(byte) => {
                decoded.push(byte);
                rest = &after[2..];
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    decoded
}

/// Returns true if some server sees a separator or an end in a text other than its own `/`, or a segment of dots.
/// `folded` is the text in Unicode's form NFKC.
fn is_odd(text: &str, folded: &str) -> bool {
    let structure = |text: &str| text.bytes().filter(|byte| STRUCTURE.contains(byte)).count();
    text.chars().any(|c| c.is_control() || is_separator(c))
        || structure(text) != structure(folded)
        || folded.split(|c| c == '/' || is_faint_separator(c)).any(is_dots)
}

/// Returns true for a separator that is not `/`: the backslash, characters that character sets in use encode as one of
/// the two, and characters of mathematics that look like them.
fn is_separator(c: char) -> bool {
    matches!(
        c,
        '\\' | '\u{a5}' // yen sign: `\` of Shift_JIS
            | '\u{b4}' | '\u{2ca}' // acute accents: `/` of Windows-1253 and some others
            | '\u{20a9}' // won sign: `\` of Windows-949 and Johab
            | '\u{2044}' | '\u{2215}' | '\u{29f8}' // fraction and division slashes
            | '\u{2216}' | '\u{29f5}' | '\u{29f9}' // set minus and reverse solidi
    )
}

/// Returns true for characters that the same character sets map to `/`, but which also occur in plain words and
/// numbers: accents, and the slash of a fraction such as `½`. They are refused only where dots beside them would form a
/// segment.
fn is_faint_separator(c: char) -> bool {
    matches!(c, '\u{301}' | '\u{338}' | '\u{2044}')
}

/// Returns true for a segment that some server reads as `.` or `..`: dots and no letter or digit, since servers drop
/// spaces, marks and invisible characters. Text after `;` (parameters), `?`, `#` or `:` (streams of Windows) is cut off
/// first.
fn is_dots(segment: &str) -> bool {
    let is_dot = |c| matches!(c, '.' | '\u{b7}' | '\u{66c}' | '\u{2022}');
    // The fillers of Hangul are invisible letters.
    let is_seen = |c: char| c.is_alphanumeric() && !is_combining_mark(c) && !matches!(c, '\u{115f}' | '\u{1160}');
    let name = segment.split([';', '?', '#', ':']).next().unwrap_or_default();
    name.contains(is_dot) && !name.contains(is_seen)
}

/// Returns true if a text without ordinary escapes has an escape for some server: `%uXXXX`, or one whose digits appear
/// after folding letters and dropping marks.
fn has_hidden_escape(folded: &str) -> bool {
    let chars: Vec<char> = folded.chars().collect();
    let digits = |chars: &[char], count: usize| {
        chars.len() >= count && chars[..count].iter().all(|c| c.is_ascii_hexdigit() || !c.is_ascii())
    };
    (0..chars.len()).any(|at| {
        let after = &chars[at + 1..];
        matches!(chars[at], '%' | '\u{66a}' | '\u{2030}')
            && (digits(after, 2) || after.first().is_some_and(|c| matches!(c, 'u' | 'U') && digits(&after[1..], 4)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Escapes everything but ASCII in a path below `/v1`.
    fn escaped(tail: &str) -> String {
        let escape = |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02x}") };
        format!("/v1/{}", tail.bytes().map(escape).collect::<String>())
    }

    #[test]
    fn http_path_with_two_readings_is_ambiguous() {
        for path in [
            "/v1/../admin",
            "/v1/%2e%2E/admin",
            "/v1/%252e%252e/admin",
            "/v1/%2525252525252e./admin",
            "/v1/..;a=b/admin",
            "/v1/..%3b/admin",
            "/v1/..%3fx/admin",
            "/v1/..%23x/admin",
            "/v1/..::$INDEX_ALLOCATION/admin",
            "/v1/x%2f..%2fadmin",
            "/v1/x%5cadmin",
            "/v1/..%00/admin",
            "/v1/..%2500/admin",
            "/v1/x%0a",
            "/v1/x%c2%85",
            // Overlong encodings, which are not UTF-8.
            "/v1/%c0%ae%c0%ae/admin",
            "/v1/%e0%80%ae./admin",
            "/v1/%25c0%25ae/admin",
            "/v1/caf%e9",
            // Escapes of IIS.
            "/v1/%u002e%u002e/admin",
            "/v1/%U002E./admin",
            "/v1/%25u002e./admin",
            "/v1/%u%30%3002e./admin",
            // Spaces and invisible characters.
            "/v1/..%20/admin",
            "/v1/%20../admin",
            "/v1/.../admin",
            "/v1/..+/admin",
            "/v1/.%20./admin",
        ] {
            assert!(is_ambiguous(path), "{path}");
        }
    }

    #[test]
    fn http_path_with_characters_that_servers_fold_is_ambiguous() {
        for tail in [
            // Escapes in digits that are folded, or whose accents are dropped.
            "%\u{ff12}e%\u{ff12}\u{ff45}/admin",
            "%2\u{117}%2\u{117}/admin",
            "%\u{200b}2e./admin",
            "%\u{ff55}002e./admin",
            "\u{66a}2e\u{2030}2e/admin",
            // Characters that have no slot of their own in a character set.
            "..\u{a0}/admin",
            "..\u{3000}/admin",
            ".\u{200b}./admin",
            ".\u{ad}./admin",
            ".\u{301}./admin",
            ".\u{345}./admin",
            ".\u{3164}./admin",
            ".\u{115f}./admin",
            ".\u{2800}./admin",
            ".\u{e0061}./admin",
            // Separators between dots.
            "x\u{301}..\u{301}../admin",
            "x\u{1ffd}..\u{1ffd}../admin",
            "x/..\u{338}../admin",
            "\u{215f}../../admin",
        ] {
            assert!(is_ambiguous(&escaped(tail)), "{tail:?}");
        }
        assert!(is_ambiguous("/v1/\u{e9}"), "not escaped at all");
    }

    #[test]
    fn http_path_with_one_reading_is_not_ambiguous() {
        for path in [
            "",
            "/",
            "/v1",
            "/v1/",
            "/v1//x",
            "/v1/.well-known/x",
            "/v1/..x",
            "/v1/x..",
            "/v1/a...b",
            "/v1/.x;a=b",
            "/v1/x;v=1.0",
            "/v1/x:y.z",
            "/v1/What%3F",
            "/v1/C%23",
            "/v1/100%25/%7Eme/%5Bx%5D",
            "/v1/100%/50%25up",
            "/v1/%uvw",
            "/v1/a%20b+c",
            "/v1/-/_/@/$/~",
        ] {
            assert!(!is_ambiguous(path), "{path}");
        }
        for tail in [
            "café x%",
            "cafe\u{301}.txt",
            "8½",
            "100% é",
            "col·legi",
            "50‰",
            "日本語.txt",
            "А.С.Пушкин",
            "한국어",
            "क्षि",
            "😀",
            "👩\u{200d}🚀.png",
            "a\u{a0}b",
            "→",
            "no\u{303}",
        ] {
            assert!(!is_ambiguous(&escaped(tail)), "{tail:?}");
        }
    }

    #[test]
    fn characters_that_normalise_to_structure_are_devious_and_letters_are_not() {
        let (mut folded, mut letters) = (0, 0);
        for c in ('\u{80}'..=char::MAX).filter(|c| !c.is_control()) {
            let path = escaped(&format!("x{c}y"));
            if std::iter::once(c).nfkc().any(|c| STRUCTURE.contains(&u8::try_from(c).unwrap_or_default())) {
                assert!(is_ambiguous(&path), "{c:?}");
                folded += 1;
            } else if c.is_alphanumeric() && !is_separator(c) {
                assert!(!is_ambiguous(&path), "{c:?}");
                letters += 1;
            }
        }
        // As Python's `unicodedata` counts them. Later versions of Unicode have more.
        assert!(folded >= 50 && letters > 130_000, "{folded} {letters}");
        for c in ['\u{fe30}', '\u{fe14}', '\u{fe16}', '\u{fe52}', '\u{ff0e}', '\u{ff03}', '\u{2025}', '\u{37e}'] {
            assert!(is_ambiguous(&escaped(&format!("..{c}x/admin"))), "{c:?}");
        }
    }

    /// Characters beyond NFKC that character sets based on ASCII map to an ASCII character, each with one such set:
    /// from the tables of the International Components for Unicode (icu-data, `charset/data/ucm`), without sets of
    /// seven bits, IBM-864, IBM-1102, and private use. Sets of seven bits have `\` in the place of a letter such as
    /// `Ö`, and no Unicode.
    const BEST_FITS: [(char, char, &str); 15] = [
        ('\u{a5}', '\\', "windows-932"),
        ('\u{b4}', '/', "windows-1253"),
        ('\u{b7}', '.', "windows-20127"),
        ('\u{2ca}', '/', "windows-860"),
        ('\u{301}', '/', "windows-860"),
        ('\u{338}', '/', "macos-0_2"),
        ('\u{66a}', '%', "windows-1252"),
        ('\u{66c}', '.', "ibm-1046"),
        ('\u{2022}', '.', "windows-20127"),
        ('\u{2030}', '%', "windows-437"),
        ('\u{2044}', '/', "windows-1252"),
        ('\u{20a9}', '\\', "windows-949"),
        ('\u{2215}', '/', "windows-1252"),
        ('\u{2216}', '\\', "windows-1252"),
        ('\u{2216}', '/', "windows-850"),
    ];

    #[test]
    fn characters_that_character_sets_take_for_structure_are_devious() {
        for (c, read, charset) in BEST_FITS {
            let tail = match read {
                '%' => format!("{c}2e{c}2e/admin"),
                '.' => format!("{c}{c}/admin"),
                _ => format!("x{c}..{c}..{c}admin"),
            };
            assert!(is_ambiguous(&escaped(&tail)), "U+{:04X} is `{read}` in {charset}", u32::from(c));
        }
    }

    /// Resolves a path as the worst server might: it folds by NFKC and by every character set at once, drops invisible
    /// characters, and cuts wherever it can.
    fn resolved_depths(path: &str) -> Vec<i32> {
        let mut text = path.to_owned();
        for _ in 0..8 {
            let folded: String = text.nfkc().collect();
            let fit = |c: char| BEST_FITS.iter().find(|(fits, ..)| *fits == c).map_or(c, |(_, read, _)| *read);
            let folded: String = folded.chars().map(fit).collect();
            text = String::from_utf8_lossy(&decode(folded.as_bytes())).replace("%u002e", ".");
        }
        let mut depth = 0;
        let unseen = |c: char| c.is_whitespace() || is_combining_mark(c) || matches!(c, '\u{200b}' | '\u{1160}');
        let deeper = |segment: &str| {
            let name = segment.split([';', '?', '#', '\0']).next().unwrap_or_default();
            depth += match name.replace(unseen, "").as_str() {
                "" | "." => 0,
                ".." => -1,
                _ => 1,
            };
            depth
        };
        text.split(['/', '\\']).skip(1).map(deeper).collect()
    }

    #[test]
    fn http_path_that_is_ambiguous_leads_out_of_a_resolving_server() {
        for tail in ["%u002e./a", "\u{fe30}/a", "..\u{fe14}x/a", "x\u{a5}..\u{a5}..", ".\u{200b}./a", "%\u{ff12}e./a"] {
            let depths = resolved_depths(&format!("/v1/{tail}"));
            assert!(depths.iter().any(|depth| *depth < 1), "{tail:?} {depths:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn http_path_that_passes_the_check_never_leads_out(
            tail in "(/|\\.|\\.\\.|x|%2e%2e|%2e|%2f|%5C|%25|%00|%c0|%ae|%u002e|%u|[a-c02eE;:? ]|[\u{ff0e}\u{fe30}\u{fe14}\u{a5}\u{b4}\u{b7}\
                \u{2ca}\u{301}\u{338}\u{66a}\u{66c}\u{2022}\u{2030}\u{2044}\u{20a9}\u{2215}\u{2216}\u{200b}\u{3164}\u{ff12}\
                \u{ff45}\u{215f}\u{bd}\u{e9}]){0,10}",
        ) {
            let path = escaped(&tail);
            if !is_ambiguous(&path) {
                let depths = resolved_depths(&path);
                prop_assert!(depths.iter().all(|depth| *depth >= 1), "{} {:?}", path, depths);
            }
        }
    }
}
