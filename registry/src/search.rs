//! Full-text search of packages. The search data is kept in a file beside the index, generated from the index and the
//! texts that it names, and generated again when the index has changed. It serves look-ups only: nothing is mounted
//! from it.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    io::{Read as _, Seek as _, SeekFrom},
};

use crate::{
    digest::Digest,
    error::Error,
    index::{Release, last_sum},
    name::PackageName,
    registry::Registry,
    wit::WitText,
};

/// First line of the file. Raise the number when the format of its lines changes.
const FORM: &str = "tollhouse search 1";

/// Bytes of the docs of a package that are searched.
const MAX_DOCS: usize = 20_000;

/// Number of functions that are listed of a found package.
const MAX_FUNCTIONS: usize = 5;

/// Package that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Name of the package.
    pub name: String,
    /// Version that was searched: the highest that is not yanked.
    pub version: String,
    /// Description of the package.
    pub description: String,
    /// Functions with one of the words in their names, a few at most.
    pub functions: Vec<String>,
    /// True if that release is deprecated.
    pub deprecated: bool,
}

/// Line of the search file. Fields are separated by tabs, which no field contains.
#[derive(Clone, Copy)]
struct SearchEntry<'a> {
    name: &'a str,
    version: &'a str,
    /// `d` if deprecated, else empty.
    deprecated: &'a str,
    /// Digests of WIT and manifest, from which the rest was generated.
    of: &'a str,
    description: &'a str,
    /// Names of functions, separated by spaces.
    functions: &'a str,
    /// Docs and description in lower case.
    docs: &'a str,
    /// Imported packages, separated by spaces.
    imports: &'a str,
}

impl Registry {
    /// Finds packages that have all of these words, the best first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, words: &[String], limit: usize) -> Result<Vec<Found>, Error> {
        let words: Vec<String> = words
            .iter()
            .flat_map(|text| text.split_whitespace())
            .map(str::to_lowercase)
            .filter(|word| !word.is_empty())
            .collect();
        let text = self.searched()?;
        let mut ranked: Vec<(usize, SearchEntry<'_>)> =
            entries(&text).filter_map(|entry| Some((entry.rank(&words)?, entry))).collect();
        ranked.sort_by_key(|(rank, entry)| (Reverse(*rank), entry.name));
        Ok(ranked.into_iter().take(limit).map(|(_, entry)| entry.found(&words)).collect())
    }

    /// Lists the packages whose newest releases import an interface of this one, by name.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn dependents(&self, name: &PackageName) -> Result<Vec<String>, Error> {
        let text = self.searched()?;
        let depends = |entry: &SearchEntry<'_>| entry.imports.split(' ').any(|import| import == name.as_str());
        Ok(entries(&text).filter(depends).map(|entry| entry.name.to_owned()).collect())
    }

    /// Returns the lines of the search file, generated again if the index has changed.
    fn searched(&self) -> Result<String, Error> {
        let kept = self.kept();
        if let (Some(head), Some((sum, lines))) = (self.head(), &kept)
            && *sum == head
        {
            return Ok(lines.clone());
        }
        let old = kept.map(|(_, lines)| lines).unwrap_or_default();
        let known: HashMap<&str, SearchEntry<'_>> = entries(&old).map(|entry| (entry.of, entry)).collect();
        let (releases, head) = {
            let cached = self.index()?;
            let head = cached.index.head();
            drop(cached);
            (self.latest()?, head)
        };
        let lines: String = releases.iter().map(|release| self.line(release, &known)).collect();
        if let Some(head) = head {
            let sum = Digest::of(lines.as_bytes());
            // In a registry that this user cannot write, the search works without the file, only slower.
            let _ = self
                .store
                .lock()
                .and_then(|lock| lock.write_search(format!("{FORM} {head} {sum}\n{lines}").as_bytes()));
        }
        Ok(lines)
    }

    /// Reads the file: the sum of the index that it was generated from, and its lines. Returns `None` if it is missing
    /// or damaged.
    fn kept(&self) -> Option<(Digest, String)> {
        let text = self.store.search().ok()??;
        let (head, lines) = text.split_once('\n')?;
        let (made_of, sum) = head.strip_prefix(FORM)?.strip_prefix(' ')?.split_once(' ')?;
        let (made_of, sum) = (made_of.parse().ok()?, sum.parse::<Digest>().ok()?);
        (sum == Digest::of(lines.as_bytes())).then(|| (made_of, lines.to_owned()))
    }

    /// Returns the sum of the index's last line, without reading the other lines. Returns `None` if the index ends in a
    /// torn line.
    fn head(&self) -> Option<Digest> {
        const ENOUGH: u64 = 256;
        let mut file = self.store.open_index().ok()??;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(ENOUGH))).ok()?;
        let mut end = Vec::new();
        file.read_to_end(&mut end).ok()?;
        last_sum(&end)
    }

    /// Makes the line of a release, reusing a known line. A damaged release can be found by its name only.
    fn line(&self, release: &Release, known: &HashMap<&str, SearchEntry<'_>>) -> String {
        let of = format!("{}{}", release.wit.digest.hex(), release.manifest.digest.hex());
        let deprecated = if release.deprecated.is_some() { "d" } else { "" };
        let (name, version) = (&release.name, &release.version);
        let head = format!("{name}\t{version}\t{deprecated}\t{of}");
        if let Some(entry) = known.get(of.as_str()) {
            let SearchEntry { description, functions, docs, imports, .. } = entry;
            return format!("{head}\t{description}\t{functions}\t{docs}\t{imports}\n");
        }
        let description = self.load_manifest(release).ok().and_then(|manifest| manifest.description);
        let description = plain(&description.unwrap_or_default());
        let words = self.load_wit(release).ok().and_then(|text| WitText::parse(&text).ok()).map(|wit| wit.words());
        let words = words.unwrap_or_default();
        let functions = words.functions.into_iter().collect::<Vec<_>>().join(" ");
        let imports = words.imports.into_iter().collect::<Vec<_>>().join(" ");
        let mut docs = plain(&format!("{description} {}", words.docs)).to_lowercase();
        docs.truncate(docs.floor_char_boundary(MAX_DOCS));
        format!("{head}\t{description}\t{functions}\t{docs}\t{imports}\n")
    }
}

/// Searchable words of a WIT text.
#[derive(Default)]
pub(crate) struct SearchWords {
    /// Names of the exported functions.
    pub(crate) functions: BTreeSet<String>,
    /// Text of all doc comments.
    pub(crate) docs: String,
    /// Names of imported packages, except WASI's.
    pub(crate) imports: BTreeSet<String>,
}

fn entries(text: &str) -> impl Iterator<Item = SearchEntry<'_>> {
    text.lines().filter_map(SearchEntry::parse)
}

impl<'a> SearchEntry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        Some(Self {
            name: next()?,
            version: next()?,
            deprecated: next()?,
            of: next()?,
            description: next()?,
            functions: next()?,
            docs: next()?,
            imports: next()?,
        })
    }

    /// Ranks a package for a search. Returns `None` if a word does not occur.
    fn rank(&self, words: &[String]) -> Option<usize> {
        words.iter().map(|word| self.rank_of(word)).sum()
    }

    fn rank_of(&self, word: &str) -> Option<usize> {
        if self.name.contains(word) {
            let whole = self.name.split([':', '-']).any(|part| part == word);
            return Some(if whole { 32 } else { 16 });
        }
        if self.functions.contains(word) {
            let whole = self.functions.split(' ').any(|name| name == word);
            return Some(if whole { 12 } else { 8 });
        }
        // The docs include the description.
        let docs = self.docs.contains(word);
        docs.then(|| if self.description.to_lowercase().contains(word) { 4 } else { 1 })
    }

    fn found(&self, words: &[String]) -> Found {
        let named = |function: &&str| words.iter().any(|word| function.contains(word.as_str()));
        Found {
            name: self.name.to_owned(),
            version: self.version.to_owned(),
            description: self.description.to_owned(),
            functions: self.functions.split(' ').filter(named).take(MAX_FUNCTIONS).map(str::to_owned).collect(),
            deprecated: !self.deprecated.is_empty(),
        }
    }
}

/// Collapses a text into one line.
fn plain(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        time::{Duration, Instant, SystemTime},
    };

    use crate::{
        Registry,
        index::{ReleaseChange, ReleaseIndex},
        store::Blob,
    };

    /// Creates a registry of many packages by writing its files directly, since publishing takes longer.
    fn filled(directory: &std::path::Path, packages: usize) -> Registry {
        let blobs = directory.join("blobs/sha256");
        fs::create_dir_all(&blobs).expect("it is made");
        fs::create_dir_all(directory.join("tmp")).expect("it is made");
        let put = |bytes: &[u8]| {
            let blob = Blob::of(bytes);
            fs::write(blobs.join(blob.digest.hex()), bytes).expect("it writes");
            blob
        };
        let mut index = ReleaseIndex::default();
        let mut lines = Vec::new();
        let wit = put(crate::testing::CHARGES.as_bytes());
        for number in 0..packages {
            let name = format!("acme:tool-{number}");
            let text = format!("name = \"{name}\"\nversion = \"1.0.0\"\ndescription = \"Does the thing {number}.\"\n");
            let change = ReleaseChange::Publish {
                name: name.parse().expect("a name"),
                version: semver::Version::new(1, 0, 0),
                component: wit,
                wit,
                manifest: put(text.as_bytes()),
                readme: None,
                breaking: false,
                origin: None,
            };
            let line = index.line(change, SystemTime::UNIX_EPOCH);
            index.read(&line).expect("our own line");
            lines.extend(line);
        }
        fs::write(directory.join("index"), lines).expect("it writes");
        Registry::unchecked(directory)
    }

    #[test]
    fn search_of_ten_thousand_releases_is_fast() {
        let directory = tempfile::tempdir().expect("a directory");
        let registry = filled(directory.path(), 10_000);
        let found = |words: &str| {
            let begun = Instant::now();
            let found = Registry::unchecked(directory.path()).search(&[words.to_owned()], 3).expect("it searches");
            (found, begun.elapsed())
        };
        assert_eq!(registry.search(&["charge".into()], 3).expect("it searches").len(), 3);
        let (exact, took) = found("thing 4711");
        assert_eq!(exact[0].name, "acme:tool-4711");
        println!("10,000 releases: {took:?}");
        // An optimised build takes 50 ms; this one is not, and other tests run beside it.
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
