//! Spellings of names: WIT's kebab-case and the faces that a method has in JavaScript and in the shell.
//!
//! Everything here is about text. Whether a method exists, is mounted or is granted is decided elsewhere; this file only
//! says how names are spelled, and refuses sets of methods whose faces could be mistaken for one another.

mod reserved;

use std::collections::BTreeMap;

use self::reserved::{JAVASCRIPT_GLOBALS, JAVASCRIPT_WORDS, SCRIPT_GLOBALS, SHELL_BUILTINS, SHELL_WORDS};

/// The longest name of a segment, in bytes: far above what anyone types, low enough to print in an error.
pub(super) const MAX_SEGMENT: usize = 200;

/// How a method's segments are turned into faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Segments are WIT names: kebab-case, shown in lowerCamelCase in JavaScript.
    Wit,
    /// Segments are spelled as their owner (a host function, an MCP server) spells them, everywhere.
    Own,
}

/// Why names cannot be used together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// An alias is no name.
    #[error(
        "alias `{alias}` is not a name: it takes ASCII letters, digits, `-` and `_`, begins with a letter, and has at most 200 bytes"
    )]
    NotAName {
        /// The alias as written.
        alias: String,
    },
    /// An alias would hide something a script needs.
    #[error("alias `{alias}` is also {what}: choose another alias for the package")]
    Reserved {
        /// The alias as written.
        alias: String,
        /// What it would hide, for example ``a global of JavaScript (`Map`)``.
        what: String,
    },
    /// Two methods have one face.
    #[error("`{first}` and `{second}` would both be `{face}` in {place}: mount one of them under another alias")]
    Collision {
        /// The method that was there first.
        first: String,
        /// The method that came later.
        second: String,
        /// What they would both be called.
        face: String,
        /// Where: `JavaScript` or `the shell`.
        place: &'static str,
    },
}

/// Brings a kebab-case name to lowerCamelCase: `std-dev` to `stdDev`, `HTTP-get` to `httpGet`, `a-1` to `a1`.
///
/// A word in upper case (WIT allows them) counts as a word like any other.
#[must_use]
pub fn to_camel(kebab: &str) -> String {
    let mut camel = String::with_capacity(kebab.len());
    for word in kebab.split('-').filter(|word| !word.is_empty()) {
        let begin = camel.len();
        if is_upper_word(word) {
            camel.push_str(&word.to_ascii_lowercase());
        } else {
            camel.push_str(word);
        }
        if let (true, Some(first)) = (begin > 0, camel.get_mut(begin..=begin)) {
            first.make_ascii_uppercase();
        }
    }
    camel
}

/// Brings a kebab-case name to UpperCamelCase, for names of types: `fit-result` to `FitResult`.
#[must_use]
pub fn to_pascal(kebab: &str) -> String {
    let mut name = to_camel(kebab);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// Brings lowerCamelCase or snake_case to kebab-case: `stdDev` and `std_dev` to `std-dev`.
///
/// Names with acronyms or with words that begin with a digit have no unique way back (`a1` may be `a-1`): look those up
/// by their [`to_camel`] spelling instead.
#[must_use]
pub fn to_kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 4);
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            if previous_lower {
                kebab.push('-');
            }
            kebab.push(c.to_ascii_lowercase());
            previous_lower = false;
        } else {
            kebab.push(if c == '_' { '-' } else { c });
            previous_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        }
    }
    kebab
}

/// Whether `spelled` is a way to write the WIT name `kebab`: itself, in snake_case, or in lowerCamelCase. Words that WIT
/// has in upper case may be in lower case.
#[must_use]
pub fn is_spelling_of(spelled: &str, kebab: &str) -> bool {
    if spelled == kebab {
        return true;
    }
    if spelled.contains('-') && spelled.contains('_') {
        return false;
    }
    if spelled.contains(['-', '_']) || !kebab.contains('-') {
        let same = |a: u8, b: u8| {
            a == b || (a == b'_' && b == b'-') || (b.is_ascii_uppercase() && a == b.to_ascii_lowercase())
        };
        return spelled.len() == kebab.len() && spelled.bytes().zip(kebab.bytes()).all(|(a, b)| same(a, b));
    }
    spelled == to_camel(kebab)
}

fn is_upper_word(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_uppercase()) && !word.bytes().any(|b| b.is_ascii_lowercase())
}

/// The faces of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faces {
    /// In JavaScript: `payments.charges.createRefund`.
    pub path: String,
    /// In JavaScript as one name: `payments_charges_createRefund`.
    pub flat: String,
    /// In the shell: `payments charges create-refund`.
    pub words: Vec<String>,
}

/// The faces of a canonical method (segments joined by `/`).
#[must_use]
pub fn faces(method: &str, spelling: Spelling) -> Faces {
    let segment = |s: &str| match spelling {
        Spelling::Wit => to_camel(s),
        Spelling::Own => identifier(s),
    };
    let segments: Vec<String> = method.split('/').map(segment).collect();
    Faces { path: segments.join("."), flat: segments.join("_"), words: method.split('/').map(str::to_owned).collect() }
}

/// A name as its owner spells it, as JavaScript can write it: `search-db` is `search_db`, `1abc` is `_1abc`.
fn identifier(name: &str) -> String {
    let digit = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    format!("{digit}{}", name.replace('-', "_"))
}

/// The methods of a session by all their faces: finds the method that a script means.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    /// Canonical method to its faces.
    methods: BTreeMap<String, Faces>,
    /// JavaScript path or flattened name to canonical method.
    scripts: BTreeMap<String, String>,
}

impl Methods {
    /// Gathers methods and checks that no two can be mistaken for one another, and that no alias (first segment) hides a
    /// global, a reserved word or a builtin.
    ///
    /// # Errors
    /// [`NameError`], naming both sides.
    pub fn new<'a>(methods: impl IntoIterator<Item = (&'a str, Spelling)>) -> Result<Self, NameError> {
        let mut all = Self::default();
        let mut checked = String::new();
        for (method, spelling) in methods {
            let alias = method.split('/').next().unwrap_or(method);
            if alias != checked {
                check_alias(alias, spelling)?;
                alias.clone_into(&mut checked);
            }
            all.add(method, faces(method, spelling))?;
        }
        all.check_prefixes()?;
        Ok(all)
    }

    /// Canonical method of a name in any of its faces: `payments/charges/create`, `payments.charges.create`,
    /// `payments_charges_create`, or words joined by blanks.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&str> {
        if let Some((method, _)) = self.methods.get_key_value(name) {
            return Some(method);
        }
        if let Some(method) = self.scripts.get(name) {
            return Some(method);
        }
        let slashed = name.replace([' ', '.'], "/");
        let found = self.methods.get_key_value(&slashed).map(|(method, _)| method);
        found.or_else(|| self.scripts.get(&slashed.replace('/', "."))).map(String::as_str)
    }

    /// The faces of a canonical method.
    #[must_use]
    pub fn faces(&self, method: &str) -> Option<&Faces> {
        self.methods.get(method)
    }

    /// The JavaScript path whose spelling is nearest to `name`, if one is near enough to be meant.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let dotted = name.replace(['/', ' '], ".");
        nearest(&dotted, self.methods.values().map(|faces| faces.path.as_str()))
    }

    /// Canonical methods in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Faces)> {
        self.methods.iter().map(|(method, faces)| (method.as_str(), faces))
    }

    fn add(&mut self, method: &str, faces: Faces) -> Result<(), NameError> {
        let collision = |first: &str, face: &str| NameError::Collision {
            first: first.to_owned(),
            second: method.to_owned(),
            face: face.to_owned(),
            place: "JavaScript",
        };
        if let Some(first) = self.scripts.get(&faces.path) {
            return Err(collision(first, &faces.path));
        }
        if let Some(first) = self.scripts.get(&faces.flat) {
            return Err(collision(first, &faces.flat));
        }
        self.scripts.insert(faces.path.clone(), method.to_owned());
        if faces.flat != faces.path {
            self.scripts.insert(faces.flat.clone(), method.to_owned());
        }
        self.methods.insert(method.to_owned(), faces);
        Ok(())
    }

    /// A function cannot also be the object that holds other functions, and a flattened name cannot be an alias.
    fn check_prefixes(&self) -> Result<(), NameError> {
        let mut aliases: BTreeMap<&str, &str> = BTreeMap::new();
        for (method, faces) in &self.methods {
            let root = faces.path.split('.').next().unwrap_or(&faces.path);
            aliases.entry(root).or_insert(method);
        }
        for (method, faces) in &self.methods {
            if let Some(first) = aliases.get(faces.flat.as_str()).filter(|_| faces.flat != faces.path) {
                return Err(collide(first, method, &faces.flat, "JavaScript"));
            }
            for (at, _) in faces.path.match_indices('.') {
                if let Some(first) = faces.path.get(..at).and_then(|outer| self.scripts.get(outer)) {
                    return Err(collide(first, method, &faces.path[..at], "JavaScript"));
                }
            }
            for (at, _) in method.match_indices('/') {
                if let Some((first, _)) = method.get(..at).and_then(|outer| self.methods.get_key_value(outer)) {
                    return Err(collide(first, method, &first.replace('/', " "), "the shell"));
                }
            }
        }
        Ok(())
    }
}

fn collide(first: &str, second: &str, face: &str, place: &'static str) -> NameError {
    NameError::Collision { first: first.to_owned(), second: second.to_owned(), face: face.to_owned(), place }
}

/// The candidate nearest to `name`, if it is near enough to be meant: at most a third of the letters differ.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance costs (length of name) × (length of candidate): a hostile script must not make that large.
    if name.len() > MAX_SEGMENT {
        return None;
    }
    let most = name.chars().count().max(3) / 3;
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most * 4)
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Checks that `alias` is a name and hides nothing.
///
/// # Errors
/// [`NameError::NotAName`], [`NameError::Reserved`].
pub fn check_alias(alias: &str, spelling: Spelling) -> Result<(), NameError> {
    let begins = |b: u8| b.is_ascii_alphabetic() || (spelling == Spelling::Own && (b.is_ascii_digit() || b == b'_'));
    let is_name = alias.bytes().next().is_some_and(begins)
        && alias.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && alias.len() <= MAX_SEGMENT;
    if !is_name {
        return Err(NameError::NotAName { alias: alias.to_owned() });
    }
    match taken_by(alias, spelling) {
        Some(what) => Err(NameError::Reserved { alias: alias.to_owned(), what }),
        None => Ok(()),
    }
}

/// Finds what has an alias's name in JavaScript or in the shell, for example ``a global of JavaScript (`Map`)``.
#[must_use]
pub fn taken_by(alias: &str, spelling: Spelling) -> Option<String> {
    let script = match spelling {
        Spelling::Wit => to_camel(alias),
        Spelling::Own => identifier(alias),
    };
    let lists: [(&[&str], &str, &str); 5] = [
        (JAVASCRIPT_WORDS, script.as_str(), "a reserved word of JavaScript"),
        (JAVASCRIPT_GLOBALS, script.as_str(), "a global of JavaScript"),
        (SCRIPT_GLOBALS, script.as_str(), "a name that Tollhouse gives to scripts"),
        (SHELL_WORDS, alias, "a reserved word of the shell"),
        (SHELL_BUILTINS, alias, "a builtin of the shell"),
    ];
    let found = lists.into_iter().find(|(list, name, _)| list.contains(name));
    found.map(|(_, name, what)| format!("{what} (`{name}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_keeps_acronyms_and_digits_readable() {
        for (kebab, camel) in [
            ("describe", "describe"),
            ("std-dev", "stdDev"),
            ("HTTP-get", "httpGet"),
            ("get-HTTP-2-page", "getHttp2Page"),
            ("a-1", "a1"),
            ("a-1b-c", "a1bC"),
            ("u8-list", "u8List"),
            ("X", "x"),
            ("HTTP2-get", "http2Get"),
        ] {
            assert_eq!(to_camel(kebab), camel, "{kebab}");
        }
        assert_eq!(to_pascal("fit-result"), "FitResult");
        assert_eq!(to_kebab("createRefund"), "create-refund");
        assert_eq!(to_kebab("create_refund"), "create-refund");
    }

    #[test]
    fn only_three_spellings_count() {
        for good in ["std-dev", "std_dev", "stdDev"] {
            assert!(is_spelling_of(good, "std-dev"), "{good}");
        }
        for bad in ["Std-dev", "stddev", "std-_dev", "STD_DEV", "StdDev", "std dev", ""] {
            assert!(!is_spelling_of(bad, "std-dev"), "{bad}");
        }
        for good in ["HTTP-get", "http-get", "http_get", "HTTP_get", "httpGet"] {
            assert!(is_spelling_of(good, "HTTP-get"), "{good}");
        }
        assert!(!is_spelling_of("hTTPGet", "HTTP-get"));
        assert!(is_spelling_of("x", "X"));
        assert!(!is_spelling_of("X", "x"));
        assert!(!is_spelling_of("a_b-c", "a-b-c"));
    }

    #[test]
    fn methods_are_found_by_every_face() {
        let methods = Methods::new([("payments/charges/create-refund", Spelling::Wit), ("get_weather", Spelling::Own)])
            .expect("distinct");
        for name in [
            "payments/charges/create-refund",
            "payments.charges.createRefund",
            "payments_charges_createRefund",
            "payments.charges.create-refund",
            "payments charges create-refund",
            "payments charges createRefund",
        ] {
            assert_eq!(methods.resolve(name), Some("payments/charges/create-refund"), "{name}");
        }
        assert_eq!(methods.resolve("get_weather"), Some("get_weather"));
        assert_eq!(methods.resolve("getWeather"), None);
        assert_eq!(methods.nearest("payments.charge.createRefund"), Some("payments.charges.createRefund"));
        assert_eq!(methods.nearest("weather"), None);
    }

    #[test]
    fn collisions_name_both_methods() {
        let collide = |a: &str, b: &str| {
            Methods::new([(a, Spelling::Wit), (b, Spelling::Wit)]).map(|_| ()).map_err(|e| e.to_string())
        };
        assert_eq!(
            collide("p/a-1", "p/a1").expect_err("same camel"),
            "`p/a-1` and `p/a1` would both be `p.a1` in JavaScript: mount one of them under another alias"
        );
        assert!(collide("a/b", "a_b/c").expect_err("flat is an alias").contains("`a_b`"));
        assert!(collide("a/b/c", "a/b").expect_err("function and namespace").contains("`a/b/c`"));
        assert!(collide("a_b/c", "a/b_c").is_err());
        collide("a/b", "a/c").expect("distinct");
    }

    #[test]
    fn reserved_aliases_are_refused() {
        for alias in ["Map", "class", "echo", "then", "fs", "console", "tool", "listTools", "list-tools"] {
            assert!(matches!(check_alias(alias, Spelling::Wit), Err(NameError::Reserved { .. })), "{alias}");
        }
        for alias in ["", "1a", "a b", "a/b", "é", "-a"] {
            assert!(matches!(check_alias(alias, Spelling::Wit), Err(NameError::NotAName { .. })), "{alias}");
        }
        for alias in ["csv", "stats", "text", "markdown", "my-tools", "my_tools"] {
            check_alias(alias, Spelling::Wit).expect("free");
        }
    }

    #[test]
    fn nearest_survives_long_and_odd_names() {
        let long = "é".repeat(100_000);
        assert_eq!(nearest(&long, ["describe"]), None);
        assert_eq!(nearest("discribe", ["describe", "mean"]), Some("describe"));
        assert_eq!(nearest("", ["a"]), Some("a"));
    }
}
