//! Spellings of names: WIT's kebab-case and the faces that a method has in JavaScript and in the shell.
//!
//! This file handles text only. Whether a method exists, is mounted or is granted is decided elsewhere; this file
//! defines how names are spelled, and refuses sets of methods whose faces could be mistaken for one another.

mod reserved;

use std::collections::BTreeMap;

/// Longest segment of a name, in bytes: far above what anyone types, low enough to print in an error.
pub(crate) const MAX_SEGMENT: usize = 200;

/// Rule that turns a method's segments into faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Segments are WIT names: kebab-case, shown in lowerCamelCase in JavaScript.
    Wit,
    /// Segments keep the spelling of their owner (a host function, an MCP server) everywhere.
    Own,
}

/// Reason why names cannot be used together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// An alias is not a valid name.
    #[error(
        "alias `{alias}` is not a name: it must have ASCII letters, digits, `-` and `_`, begin with a letter, and have at most 200 bytes"
    )]
    NotAName {
        /// Alias that was rejected.
        alias: String,
    },
    /// Two methods have the same face.
    #[error("`{first}` and `{second}` would both be `{face}` in {place}: mount one of them under another alias")]
    Collision {
        /// First of the two methods.
        first: String,
        /// Second of the two methods.
        second: String,
        /// Name that both would have.
        face: String,
        /// Language of the name: `JavaScript` or `the shell`.
        place: &'static str,
    },
}

/// Converts a kebab-case name to lowerCamelCase: `std-dev` to `stdDev`, `HTTP-get` to `httpGet`, `a-1` to `a1`.
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

/// Converts a kebab-case name to UpperCamelCase, for names of types: `fit-result` to `FitResult`.
#[must_use]
pub fn to_pascal(kebab: &str) -> String {
    let mut name = to_camel(kebab);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// Converts lowerCamelCase or snake_case to kebab-case: `stdDev` and `std_dev` to `std-dev`.
///
/// Names with acronyms or with words that begin with a digit cannot be converted back uniquely (`a1` may be `a-1`):
/// look those up by their [`to_camel`] spelling instead.
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

/// Returns true if `spelled` is a spelling of the WIT name `kebab`: itself, in snake_case, or in lowerCamelCase. WIT's
/// words in upper case may be in lower case.
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

/// Face of a tool under the name of its alias in a script language.
///
/// If that name has another meaning already, the tool lacks this face, and keeps all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Global variable of JavaScript.
    Global,
    /// Command of the shell.
    Command,
}

impl Face {
    /// Array of all kinds of faces.
    pub const ALL: [Self; 2] = [Self::Global, Self::Command];
}

/// Names of one method in every language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faces {
    /// Path in JavaScript: `payments.charges.createRefund`; the flattened name if the alias is not a global.
    pub path: String,
    /// Single name in JavaScript: `payments_charges_createRefund`; `fetch_` for a method that is an alias itself and
    /// not a global.
    pub flat: String,
    /// Command in the shell: `payments charges create-refund`; `tool echo say` if the alias is not a command.
    pub command: String,
    /// True if the alias is a global of JavaScript.
    pub is_global: bool,
    /// True if the alias is a command of the shell.
    pub is_command: bool,
}

impl Faces {
    /// Returns true if the method has a face under its alias.
    #[must_use]
    pub fn has(&self, face: Face) -> bool {
        match face {
            Face::Global => self.is_global,
            Face::Command => self.is_command,
        }
    }

    /// Returns the faces of a method in an open namespace that has these faces. `segments` are joined by `/`.
    #[must_use]
    pub(crate) fn below(&self, segments: &str) -> Self {
        let names: Vec<String> = segments.split('/').map(identifier).collect();
        Self {
            path: format!("{}.{}", self.path, names.join(".")),
            flat: format!("{}_{}", self.flat, names.join("_")),
            command: format!("{} {}", self.command, segments.replace('/', " ")),
            ..*self
        }
    }
}

/// Returns the faces of a canonical method (segments joined by `/`).
#[must_use]
pub fn faces(method: &str, spelling: Spelling) -> Faces {
    let alias = method.split('/').next().unwrap_or(method);
    let has = |face| taken_by(alias, spelling, face).is_none();
    faces_of(method, spelling, has(Face::Global), has(Face::Command))
}

fn faces_of(method: &str, spelling: Spelling, is_global: bool, is_command: bool) -> Faces {
    let segments: Vec<String> = method.split('/').map(|segment| spelled(segment, spelling)).collect();
    let mut flat = segments.join("_");
    // For a method that is an alias itself, the flattened name would be the global that it lacks.
    if !is_global && segments.len() == 1 {
        flat.push('_');
    }
    let path = if is_global { segments.join(".") } else { flat.clone() };
    let words = method.replace('/', " ");
    let command = if is_command { words } else { format!("tool {words}") };
    Faces { path, flat, command, is_global, is_command }
}

/// Spells a segment for JavaScript.
pub(crate) fn spelled(segment: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::Wit => to_camel(segment),
        Spelling::Own => identifier(segment),
    }
}

/// Turns a name in its owner's spelling into a JavaScript identifier: `search-db` is `search_db`, `1abc` is `_1abc`.
fn identifier(name: &str) -> String {
    let digit = if name.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
    format!("{digit}{}", name.replace('-', "_"))
}

/// Methods of a session by all their faces: finds the method that a script means.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    /// Faces by canonical method.
    methods: BTreeMap<String, Faces>,
    /// Canonical methods by segments in JavaScript's spelling, joined by `.`, or by a name in JavaScript.
    scripts: BTreeMap<String, String>,
}

impl Methods {
    /// Collects methods and checks that no two can be mistaken for one another.
    ///
    /// # Errors
    /// [`NameError`], naming both sides.
    pub fn new<'a>(methods: impl IntoIterator<Item = (&'a str, Spelling)>) -> Result<Self, NameError> {
        let (all, collisions) = Self::collect(methods)?;
        collisions.into_values().next().map_or(Ok(all), Err)
    }

    /// Finds the methods that cannot be beside the others, with the reasons: of two that could be mistaken for one another, that
    /// which comes later.
    ///
    /// # Errors
    /// [`NameError::NotAName`].
    pub fn collisions<'a>(
        methods: impl IntoIterator<Item = (&'a str, Spelling)>,
    ) -> Result<BTreeMap<String, NameError>, NameError> {
        Ok(Self::collect(methods)?.1)
    }

    /// Collects methods, and the collisions of those that come later than the methods that they could be mistaken for.
    fn collect<'a>(
        methods: impl IntoIterator<Item = (&'a str, Spelling)>,
    ) -> Result<(Self, BTreeMap<String, NameError>), NameError> {
        let (mut all, mut collisions) = (Self::default(), BTreeMap::new());
        let mut checked = String::new();
        let (mut is_global, mut is_command) = (true, true);
        for (method, spelling) in methods {
            let alias = method.split('/').next().unwrap_or(method);
            if alias != checked {
                check_alias(alias, spelling)?;
                is_global = taken_by(alias, spelling, Face::Global).is_none();
                is_command = taken_by(alias, spelling, Face::Command).is_none();
                alias.clone_into(&mut checked);
            }
            if let Err(error) = all.add(method, spelling, faces_of(method, spelling, is_global, is_command)) {
                collisions.entry(method.to_owned()).or_insert(error);
            }
        }
        for (method, error) in all.prefix_collisions() {
            collisions.entry(method).or_insert(error);
        }
        Ok((all, collisions))
    }

    /// Returns the canonical method of a name in any of its faces: `payments/charges/create`,
    /// `payments.charges.create`, `payments_charges_create`, or words joined by blanks.
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

    /// Returns the faces of a canonical method.
    #[must_use]
    pub fn faces(&self, method: &str) -> Option<&Faces> {
        self.methods.get(method)
    }

    /// Returns the JavaScript path most similar to `name`, if one is similar enough to be meant.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let dotted = name.replace(['/', ' '], ".");
        nearest(&dotted, self.methods.values().map(|faces| faces.path.as_str()))
    }

    /// Iterates over the canonical methods in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Faces)> {
        self.methods.iter().map(|(method, faces)| (method.as_str(), faces))
    }

    fn add(&mut self, method: &str, spelling: Spelling, faces: Faces) -> Result<(), NameError> {
        let mut names = vec![faces.path.clone(), faces.flat.clone()];
        if !faces.is_global {
            // This spelling is accepted even where there is no JavaScript.
            names.push(method.split('/').map(|segment| spelled(segment, spelling)).collect::<Vec<_>>().join("."));
        }
        for name in &names {
            if let Some(first) = self.scripts.get(name) {
                return Err(collide(first, method, name, "JavaScript"));
            }
        }
        self.scripts.extend(names.into_iter().map(|name| (name, method.to_owned())));
        self.methods.insert(method.to_owned(), faces);
        Ok(())
    }

    /// Finds the methods for which a function would also be the object that holds other functions, or whose flattened name is an
    /// alias.
    fn prefix_collisions(&self) -> Vec<(String, NameError)> {
        let mut found = Vec::new();
        let mut refuse = |first: &str, method: &str, face: &str, place| {
            found.push((method.to_owned(), collide(first, method, face, place)));
        };
        let mut aliases: BTreeMap<&str, &str> = BTreeMap::new();
        for (method, faces) in &self.methods {
            let root = faces.path.split('.').next().unwrap_or(&faces.path);
            aliases.entry(root).or_insert(method);
        }
        for (method, faces) in &self.methods {
            if let Some(first) = aliases.get(faces.flat.as_str()).filter(|_| faces.flat != faces.path) {
                refuse(first, method, &faces.flat, "JavaScript");
            }
            for (at, _) in faces.path.match_indices('.') {
                if let Some(first) = faces.path.get(..at).and_then(|outer| self.scripts.get(outer)) {
                    refuse(first, method, &faces.path[..at], "JavaScript");
                }
            }
            for (at, _) in method.match_indices('/') {
                if let Some((first, _)) = method.get(..at).and_then(|outer| self.methods.get_key_value(outer)) {
                    refuse(first, method, &first.replace('/', " "), "the shell");
                }
            }
        }
        found
    }
}

fn collide(first: &str, second: &str, face: &str, place: &'static str) -> NameError {
    NameError::Collision { first: first.to_owned(), second: second.to_owned(), face: face.to_owned(), place }
}

/// Returns the candidate most similar to `name`, if it is similar enough to be meant: at most a third of the letters
/// differ.
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

/// Checks that `alias` is a valid name. Its faces are determined by [`taken_by`].
///
/// # Errors
/// [`NameError::NotAName`].
pub fn check_alias(alias: &str, spelling: Spelling) -> Result<(), NameError> {
    let begins = |b: u8| b.is_ascii_alphabetic() || (spelling == Spelling::Own && (b.is_ascii_digit() || b == b'_'));
    let is_name = alias.bytes().next().is_some_and(begins)
        && alias.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && alias.len() <= MAX_SEGMENT;
    if is_name { Ok(()) } else { Err(NameError::NotAName { alias: alias.to_owned() }) }
}

/// Finds the existing owner of the name that a face of an alias would have, for example ``a global of JavaScript
/// (`Map`)``.
#[must_use]
pub fn taken_by(alias: &str, spelling: Spelling, face: Face) -> Option<String> {
    let (lists, name) = match face {
        Face::Global => (reserved::JAVASCRIPT, spelled(alias, spelling)),
        Face::Command => (reserved::SHELL, alias.to_owned()),
    };
    let (_, what) = lists.iter().find(|(list, _)| list.binary_search(&name.as_str()).is_ok())?;
    Some(format!("{what} (`{name}`)"))
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
    fn parameter_name_is_recognized_in_three_spellings_only() {
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
    fn method_collision_names_both_methods() {
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
    fn alias_that_is_no_name_is_refused() {
        for alias in ["", "1a", "a b", "a/b", "é", "-a"] {
            assert!(matches!(check_alias(alias, Spelling::Wit), Err(NameError::NotAName { .. })), "{alias}");
        }
        for alias in ["csv", "my-tools", "my_tools", "echo", "Map", "class"] {
            check_alias(alias, Spelling::Wit).expect("a name");
        }
    }

    #[test]
    fn alias_of_builtin_or_global_loses_that_face_only() {
        let taken = |alias| Face::ALL.map(|face| taken_by(alias, Spelling::Wit, face).is_some());
        for alias in ["Map", "class", "fs", "console", "listTools", "list-tools", "args", "ArgumentError", "toString"] {
            assert_eq!(taken(alias), [true, false], "{alias}");
        }
        for alias in ["echo", "cd", "then", "tool", "node", "awk"] {
            assert_eq!(taken(alias).last(), Some(&true), "{alias}");
        }
        assert_eq!(taken("echo"), [false, true]);
        assert_eq!(taken("sleep"), [true, true]);
        for alias in ["csv", "stats", "text", "markdown", "my-tools", "my_tools"] {
            assert_eq!(taken(alias), [false, false], "{alias}");
        }
        assert_eq!(taken_by("echo", Spelling::Wit, Face::Command).as_deref(), Some("a builtin of the shell (`echo`)"));
    }

    #[test]
    fn faces_of_lost_aliases_name_what_is_left() {
        let shown = |method: &str| {
            let Faces { path, flat, command, .. } = faces(method, Spelling::Wit);
            [path, flat, command]
        };
        assert_eq!(shown("echo/say-it"), ["echo.sayIt", "echo_sayIt", "tool echo say-it"]);
        assert_eq!(shown("crypto/say-it"), ["crypto_sayIt", "crypto_sayIt", "crypto say-it"]);
        assert_eq!(shown("sleep/now"), ["sleep_now", "sleep_now", "tool sleep now"]);
        assert_eq!(shown("fetch"), ["fetch_", "fetch_", "fetch"]);
        let namespace = faces("fs", Spelling::Own).below("read-it/now");
        assert_eq!([namespace.path, namespace.command], ["fs_.read_it.now", "fs read-it now"]);
        let methods = Methods::new([("crypto/say-it", Spelling::Wit)]).expect("a name");
        for name in ["crypto/say-it", "crypto.sayIt", "crypto_sayIt", "crypto say-it"] {
            assert_eq!(methods.resolve(name), Some("crypto/say-it"), "{name}");
        }
    }

    #[test]
    fn name_that_is_left_of_lost_face_can_collide() {
        for (one, other) in [("fetch", "fetch_"), ("crypto/say", "crypto_say"), ("crypto/say", "crypto_say/it")] {
            let pair = [(one, Spelling::Own), (other, Spelling::Own)];
            assert!(matches!(Methods::new(pair), Err(NameError::Collision { .. })), "{one} {other}");
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
