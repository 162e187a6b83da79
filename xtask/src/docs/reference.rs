//! Reference pages that are generated from the code: the commands, the keys of policies, the Python package.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::{command, output};

/// Generated page of the reference.
pub(super) struct ReferencePage {
    /// Path of the page, relative to the root of the site's sources.
    pub(super) path: PathBuf,
    pub(super) text: String,
    title: String,
    /// Level in the table of contents: 0 for a top-level page, 1 for a page below the one before it.
    depth: usize,
}

impl ReferencePage {
    fn new(path: &str, title: &str, depth: usize, text: String) -> Self {
        Self { path: PathBuf::from("reference").join(path), text, title: title.to_owned(), depth }
    }

    /// Returns the line of the page in the table of contents.
    pub(super) fn entry(&self) -> String {
        format!("{}- [{}]({})\n", "  ".repeat(self.depth), self.title, self.path.display())
    }
}

/// Generates the pages of the reference by running the binary `tollhouse`.
pub(super) fn pages(tollhouse: &Path) -> Result<Vec<ReferencePage>> {
    let mut pages = commands(tollhouse)?;
    let schema = output(command(tollhouse).args(["policy", "schema"]))?;
    let schema = serde_json::from_str(&schema).context("`tollhouse policy schema` printed no JSON")?;
    pages.push(ReferencePage::new("policy.md", "Keys of policies", 0, policy(&schema)));
    let python = "# The Python package\n\nThe [reference of `tollhouse`](../python/index.html) is made from the docstrings of the package.\n";
    pages.push(ReferencePage::new("python.md", "The Python package", 0, python.to_owned()));
    Ok(pages)
}

/// Generates a page with the common options, and one for each command with its subcommands.
fn commands(tollhouse: &Path) -> Result<Vec<ReferencePage>> {
    let manual = tempfile::tempdir()?;
    output(command(tollhouse).arg("man").arg(manual.path()))?;
    let mut subcommands = BTreeMap::<String, Vec<String>>::new();
    for entry in std::fs::read_dir(manual.path())? {
        let name = entry?.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // Manual pages are named like `tollhouse-registry-trust-add`; no command has a `-` in its name.
        let Some(words) = name.strip_prefix("tollhouse-") else { continue };
        let first = words.split('-').next().unwrap_or(words);
        subcommands.entry(first.to_owned()).or_default().push(words.replace('-', " "));
    }
    let text = format!("# Commands\n\n{}", help(tollhouse, "")?);
    let mut pages = vec![ReferencePage::new("commands/index.md", "Commands", 0, text)];
    for (name, mut all) in subcommands {
        all.sort();
        let mut text = format!("# tollhouse {name}\n\n");
        for words in &all {
            if *words != name {
                write!(text, "## tollhouse {words}\n\n")?;
            }
            text.push_str(&help(tollhouse, words)?);
        }
        pages.push(ReferencePage::new(&format!("commands/{name}.md"), &format!("tollhouse {name}"), 1, text));
    }
    Ok(pages)
}

/// Returns the output of `--help` as a code block.
fn help(tollhouse: &Path, words: &str) -> Result<String> {
    let mut program = command(tollhouse);
    program.args(words.split_whitespace()).arg("--help").env("COLUMNS", "84");
    Ok(format!("```text\n{}\n```\n\n", output(&mut program)?.trim_end()))
}

/// Generates one section for each table of a policy, from the JSON Schema.
pub(super) fn policy(schema: &Value) -> String {
    let mut text = String::from(
        "# Keys of policies\n\n[Policies](../docs/policies.md) explains them with examples. This page is made from \
         `tollhouse policy schema`.\n",
    );
    let mut sections = PolicySections { schema, waiting: vec![(String::new(), schema)], known: BTreeMap::new() };
    while !sections.waiting.is_empty() {
        let (path, table) = sections.waiting.remove(0);
        if path.is_empty() {
            text.push_str("\n## Top level\n\n");
        } else {
            let described = table["description"].as_str().map(|words| format!("{}\n\n", one_line(words)));
            _ = write!(text, "\n## `{path}`\n\n{}", described.unwrap_or_default());
        }
        text.push_str("| key | type | meaning |\n| --- | --- | --- |\n");
        let required: Vec<&str> =
            table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, value) in table["properties"].as_object().into_iter().flatten() {
            let kind = sections.kind(value, &join(&path, key));
            let must = if required.contains(&key.as_str()) { " Required." } else { "" };
            let words = one_line(value["description"].as_str().unwrap_or_default());
            _ = writeln!(text, "| `{key}` | {} | {}{must} |", kind.replace('|', "\\|"), words.replace('|', "\\|"));
        }
    }
    text
}

/// Sections for the tables of a policy, while they are written.
struct PolicySections<'s> {
    schema: &'s Value,
    /// Paths and schemas of the tables that have no section yet.
    waiting: Vec<(String, &'s Value)>,
    /// Path of the section of each definition.
    known: BTreeMap<&'s str, String>,
}

impl<'s> PolicySections<'s> {
    /// Describes the type of a value in words, with links to the sections of tables.
    fn kind(&mut self, schema: &'s Value, path: &str) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/")) {
            let definition = &self.schema["$defs"][name];
            if !definition["properties"].is_object() {
                return self.kind(definition, path);
            }
            let section = self.known.entry(name).or_insert_with(|| {
                self.waiting.push((path.to_owned(), definition));
                path.to_owned()
            });
            let anchor: String = section.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
            return format!("[table](#{})", anchor.to_lowercase());
        }
        if let Some(kinds) = schema["anyOf"].as_array() {
            let mut names: Vec<String> = kinds.iter().map(|one| self.kind(one, path)).collect();
            names.retain(|name| name != "null");
            return names.join(" or ");
        }
        match &schema["type"] {
            Value::Array(kinds) => {
                let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
                kinds.map(|kind| self.named(kind, schema, path)).collect::<Vec<_>>().join(" or ")
            }
            Value::String(kind) => self.named(kind, schema, path),
            _ => "any".to_owned(),
        }
    }

    fn named(&mut self, kind: &str, schema: &'s Value, path: &str) -> String {
        match kind {
            "array" => format!("list of {}", self.kind(&schema["items"], &format!("{path}[]"))),
            "object" if schema["additionalProperties"].is_object() => {
                format!("table of {}", self.kind(&schema["additionalProperties"], &format!("{path}.NAME")))
            }
            kind => kind.to_owned(),
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
