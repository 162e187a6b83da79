//! Known keys of `tool.toml`, used to suggest the right spelling of a misspelt key. Must not read values.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

const TOP: [&str; 14] = [
    "name",
    "version",
    "description",
    "license",
    "authors",
    "effect",
    "default",
    "instance",
    "permissions",
    "limits",
    "example",
    "method",
    "component",
    "build",
];

/// Tables of the manifest and the keys of each. `example` is a list of tables.
const TABLES: [(&str, &[&str]); 4] = [
    ("permissions", &["files", "http", "keyvalue", "secrets", "tools"]),
    ("limits", &["wall", "fuel", "memory", "output", "argument", "result"]),
    ("example", &["method", "arguments", "result", "result-json", "error"]),
    ("build", &["lang", "command", "output", "compose"]),
];

/// Keys of the table of one method: `[method."charges/create"]`.
const METHOD: [&str; 1] = ["effect"];

/// Finds the first unknown key of a manifest, and returns an error message and the key's place. Returns `None` if all
/// keys are known, or the text is not TOML.
pub(crate) fn unknown(text: &str) -> Option<(String, Range<usize>)> {
    let manifest = DeTable::parse(text).ok()?;
    let manifest = manifest.get_ref();
    stranger(manifest, &TOP, "").or_else(|| unknown_of_method(manifest)).or_else(|| {
        TABLES.iter().find_map(|(name, known)| match manifest.get(*name)?.get_ref() {
            DeValue::Table(table) => stranger(table, known, &format!(" in `[{name}]`")),
            DeValue::Array(items) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(table) => stranger(table, known, &format!(" in `[[{name}]]`")),
                _ => None,
            }),
            _ => None,
        })
    })
}

/// Finds the first unknown key of the tables of single methods.
fn unknown_of_method(manifest: &DeTable<'_>) -> Option<(String, Range<usize>)> {
    let DeValue::Table(methods) = manifest.get("method")?.get_ref() else { return None };
    methods.iter().find_map(|(name, settings)| match settings.get_ref() {
        DeValue::Table(table) => {
            let name = crate::error::excerpt(name.get_ref().as_ref());
            stranger(table, &METHOD, &format!(" in `[method.\"{name}\"]`"))
        }
        _ => None,
    })
}

fn stranger(table: &DeTable<'_>, known: &[&str], place: &str) -> Option<(String, Range<usize>)> {
    let (key, _) = table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref()))?;
    let name = key.get_ref().as_ref();
    let advice = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys: {}", known.join(", ")),
    };
    Some((format!("unknown key `{}`{place}; {advice}", crate::error::excerpt(name)), key.span()))
}

/// Returns a known key within two edits of a misspelt one.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    // Longer names take time, and are not misspellings.
    known.iter().copied().filter(|other| name.len() <= other.len() + 2 && distance(other) <= 2).min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_key_is_explained_where_it_stands() {
        let text = "nmae = 1\n";
        assert_eq!(unknown(text), Some(("unknown key `nmae`; did you mean `name`?".to_owned(), 0..4)));
        let (message, span) = unknown("name = 1\n[limits]\nmemry = 1\n").expect("unknown");
        assert_eq!((message.as_str(), span), ("unknown key `memry` in `[limits]`; did you mean `memory`?", 18..23));
        let (message, _) = unknown("[[example]]\nresults = 1\n").expect("unknown");
        assert_eq!(message, "unknown key `results` in `[[example]]`; did you mean `result`?");
        let (message, span) = unknown("[method.\"a/b\"]\nefect = 1\n").expect("unknown");
        assert_eq!(
            (message.as_str(), span),
            ("unknown key `efect` in `[method.\"a/b\"]`; did you mean `effect`?", 15..20)
        );
        assert_eq!(unknown("[permissions]\nhttp = []\n"), None);
    }

    #[test]
    fn listed_keys_are_those_that_a_manifest_takes() {
        let takes = |text: &str| match crate::Manifest::parse(text) {
            // A value of the wrong type is reported later.
            Err(error) => !error.message().contains("unknown field"),
            Ok(_) => true,
        };
        for key in TOP {
            assert!(takes(&format!("{key} = true\n")), "{key}");
        }
        for key in METHOD {
            assert!(takes(&format!("[method.f]\n{key} = true\n")), "{key}");
        }
        for (table, keys) in TABLES {
            for key in keys {
                assert!(takes(&format!("[{table}]\n{key} = true\n")), "{table}.{key}");
            }
        }
    }
}
