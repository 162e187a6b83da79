//! One line of a batch: what it says, and what of it a run is made of.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tollhouse::capability::Limits;
use tollhouse::error::Failure;
use tollhouse::guest::{Language, Script};
use tollhouse::session::Stdin;
use tollhouse::vfs::{self, Errno, Tree};

use crate::run::{Lang, guess, name_in, name_of_code};

/// Where a job's files are, and where its script starts.
pub(super) const DIRECTORY: &str = "/workspace";

/// Permission bits of a file for which the job names none.
const MODE: u32 = 0o644;

/// A job.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    /// Given back with its result.
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    lang: Option<Lang>,
    script: String,
    #[serde(default)]
    stdin: Option<Contents>,
    #[serde(default)]
    files: BTreeMap<String, Contents>,
    #[serde(default)]
    modes: BTreeMap<String, Mode>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Text, or bytes in base64.
#[derive(Debug)]
struct Contents(Vec<u8>);

impl<'de> Deserialize<'de> for Contents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a text, or an object with `base64` alone")]
        enum Spelling {
            Text(String),
            Bytes(Base64),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Base64 {
            base64: String,
        }
        match Spelling::deserialize(deserializer)? {
            Spelling::Text(text) => Ok(Self(text.into_bytes())),
            Spelling::Bytes(Base64 { base64 }) => BASE64.decode(base64).map(Self).map_err(serde::de::Error::custom),
        }
    }
}

/// Permission bits, as an octal text.
#[derive(Debug, Clone, Copy)]
struct Mode(u32);

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let mode = u32::from_str_radix(&text, 8).ok().filter(|mode| digits && *mode <= 0o7777);
        mode.map(Self).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no octal mode, such as 755")))
    }
}

impl Job {
    /// Reads a line; what is wrong comes with the job's id, as far as it can be found.
    pub(super) fn parse(line: &[u8]) -> Result<Self, (Value, Failure)> {
        let job = serde_json::from_slice::<Self>(line).map_err(|error| {
            let id = match serde_json::from_slice(line) {
                Ok(Value::Object(mut object)) => object.remove("id").unwrap_or_default(),
                _ => Value::Null,
            };
            // serde_json says `line 1`, of the one line that it is given.
            let message = error.to_string().replace(" at line 1 column ", " at column ");
            (id, Failure::argument(message))
        })?;
        match job.modes.keys().find(|path| !job.files.contains_key(*path)) {
            None => Ok(job),
            Some(path) => {
                let failure = Failure::argument(format!("`modes` names `{path}`, and `files` does not"));
                Err((job.id, failure))
            }
        }
    }

    /// The files that the script finds: the job's, among those that are mounted.
    pub(super) fn place(&self, mounted: Option<Tree>, limits: &Limits) -> Result<Tree, Failure> {
        let limits = vfs::Limits { bytes: limits.files, file_bytes: u64::MAX, ..vfs::Limits::default() };
        let mut files = mounted.unwrap_or_else(|| Tree::new(limits, 0));
        for (path, contents) in &self.files {
            let mode = self.modes.get(path).map_or(MODE, |mode| mode.0);
            let inside = !path.starts_with('/') && path.split('/').all(|name| name != "..");
            let placed = if inside {
                files.place_file(&format!("{DIRECTORY}/{path}"), &contents.0, mode, 0)
            } else {
                Err(Errno::Access)
            };
            placed.map_err(|error| {
                Failure::argument(format!("cannot place the file `{path}`: {}", error.code()))
                    .with_hint("paths are relative to /workspace, and stay in it")
            })?;
        }
        Ok(files)
    }

    /// What is run. `lang` and `environment` are what the whole batch says; the job's own word wins.
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

    /// What the script reads.
    pub(super) fn stdin(&self) -> Stdin {
        self.stdin.as_ref().map_or(Stdin::Empty, |contents| Stdin::Bytes(contents.0.clone()))
    }
}
