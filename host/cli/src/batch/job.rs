//! Jobs of a batch: parsing, and conversion to a run.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tollhouse::capability::Limits;
use tollhouse::error::Failure;
use tollhouse::guest::{Language, Script};
use tollhouse::session::Stdin;
use tollhouse::vfs::{self, Errno, Tree};

use crate::run::{Lang, guess, name_in, name_of_code};

/// Directory of a job's files, in which its script starts.
pub(super) const DIRECTORY: &str = "/workspace";

/// Permission bits of a file for which the job has none.
const MODE: u32 = 0o644;

/// Job as a line describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchJob {
    /// Identifier that is returned with the result.
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    lang: Option<Lang>,
    script: String,
    #[serde(default)]
    stdin: Option<InputContents>,
    #[serde(default, deserialize_with = "unique")]
    files: BTreeMap<String, InputContents>,
    #[serde(default, deserialize_with = "unique")]
    modes: BTreeMap<String, FileMode>,
    #[serde(default, deserialize_with = "unique")]
    env: BTreeMap<String, String>,
}

/// Deserializes an object in which each key appears once: of two values of one key, serde would silently keep the last.
fn unique<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error> {
    struct UniqueKeys<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueKeys<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some((key, value)) = object.next_entry::<String, T>()? {
                if entries.contains_key(&key) {
                    return Err(serde::de::Error::custom(format!("`{key}` appears twice")));
                }
                entries.insert(key, value);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(UniqueKeys(PhantomData))
}

fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
}

/// Finds the id of a line that may be no valid job. An id that appears twice is none.
pub(super) fn id_of(line: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct JobId {
        #[serde(default)]
        id: Value,
    }
    let parsed = is_object(line).then(|| serde_json::from_slice(line));
    parsed.and_then(Result::ok).map_or(Value::Null, |JobId { id }| id)
}

/// Returns true if the id is returned as it was given: other JSON numbers are rounded when they are parsed.
fn is_exact(id: &Value) -> bool {
    match id {
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(entries) => entries.values().all(is_exact),
        _ => true,
    }
}

/// Normalizes a path: `./a//b` is `a/b`.
fn plain(path: &str) -> String {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").collect::<Vec<_>>().join("/")
}

/// Contents of a file: text, or bytes in base64.
#[derive(Debug)]
struct InputContents(Vec<u8>);

impl<'de> Deserialize<'de> for InputContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a text, or an object with `base64` alone")]
        enum ContentsFormat {
            Text(String),
            Bytes(Base64),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Base64 {
            base64: String,
        }
        match ContentsFormat::deserialize(deserializer)? {
            ContentsFormat::Text(text) => Ok(Self(text.into_bytes())),
            ContentsFormat::Bytes(Base64 { base64 }) => {
                BASE64.decode(base64).map(Self).map_err(serde::de::Error::custom)
            }
        }
    }
}

/// Permission bits, as an octal text.
#[derive(Debug, Clone, Copy)]
struct FileMode(u32);

impl<'de> Deserialize<'de> for FileMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let mode = u32::from_str_radix(&text, 8).ok().filter(|mode| digits && *mode <= 0o7777);
        mode.map(Self).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not an octal mode, such as 755")))
    }
}

impl BatchJob {
    /// Parses a line; an error comes with the job's id, as far as it can be found.
    pub(super) fn parse(line: &[u8]) -> Result<Self, (Value, Failure)> {
        if !is_object(line) {
            // serde would accept a list for a job, by the order of its fields.
            return Err((
                Value::Null,
                Failure::argument("a job is a JSON object, such as {\"id\": 1, \"script\": \"...\"}"),
            ));
        }
        let job = serde_json::from_slice::<Self>(line).map_err(|error| {
            // serde_json reports `line 1` of the one line that it is given.
            let message = error.to_string().replace(" at line 1 column ", " at column ");
            (id_of(line), Failure::argument(message))
        })?;
        match job.mistake() {
            None => Ok(job),
            Some(failure) => Err((job.id, failure)),
        }
    }

    /// Returns the problem of a job that contradicts itself, or whose id could not be returned.
    fn mistake(&self) -> Option<Failure> {
        if !is_exact(&self.id) {
            return Some(
                Failure::argument(format!("the id {} would be returned rounded", self.id))
                    .with_hint("write it as a text, or as a whole number of at most 64 bits"),
            );
        }
        if let Some(path) = self.modes.keys().find(|path| !self.files.contains_key(*path)) {
            return Some(Failure::argument(format!("`modes` names `{path}`, and `files` does not")));
        }
        let mut locations: BTreeMap<String, &str> = BTreeMap::new();
        self.files.keys().find_map(|path| {
            let other = locations.insert(plain(path), path)?;
            Some(Failure::argument(format!("`{other}` and `{path}` in `files` are the same file")))
        })
    }

    /// Builds the files that the script finds: the job's, among the mounted ones.
    pub(super) fn place(&self, mounted: Option<Tree>, limits: &Limits) -> Result<Tree, Failure> {
        let limits = vfs::Limits { bytes: limits.files, file_bytes: u64::MAX, ..vfs::Limits::default() };
        let now = vfs::now();
        let mut files = mounted.unwrap_or_else(|| Tree::new(limits, now));
        for (path, contents) in &self.files {
            let mode = self.modes.get(path).map_or(MODE, |mode| mode.0);
            let inside = !path.starts_with('/') && path.split('/').all(|name| name != "..");
            let placed = if inside {
                files.place_file(&format!("{DIRECTORY}/{path}"), &contents.0, mode, now)
            } else {
                Err(Errno::Access)
            };
            placed.map_err(|error| {
                Failure::argument(format!("cannot write the file `{path}`: {}", error.code()))
                    .with_hint("paths are relative to /workspace, and stay in it")
            })?;
        }
        Ok(files)
    }

    /// Returns the language and the script. `lang` and `environment` are those of the whole batch; the job's own take
    /// precedence.
    pub(super) fn script(&self, lang: Option<Lang>, environment: &[(String, String)]) -> (Language, Script) {
        let said = self.lang.or(lang);
        let language = said.map_or_else(|| guess(None, &self.script), Language::from);
        let own = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let shared = environment.iter().filter(|(name, _)| !self.env.contains_key(name)).cloned();
        let script = Script {
            source: self.script.clone(),
            name: name_in(said, name_of_code(language).to_owned()),
            from_file: false,
            arguments: Vec::new(),
            environment: shared.chain(own).collect(),
            typed: None,
        };
        (language, script)
    }

    /// Returns the script's standard input.
    pub(super) fn stdin(&self) -> Stdin {
        self.stdin.as_ref().map_or(Stdin::Empty, |contents| Stdin::Bytes(contents.0.clone()))
    }
}
