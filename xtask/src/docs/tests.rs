use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::links::Links;
use super::{markdown_files, reference};
use crate::run::root;

/// Creates a repository with these files.
fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        super::write(&directory.path().join(path), text).expect("it is written");
    }
    (directory, files.iter().map(|(path, _)| PathBuf::from(path)).collect())
}

#[test]
fn documentation_links_have_targets() {
    let links = Links::read(&root(), markdown_files().expect("git lists them")).unwrap_or_else(|e| panic!("{e:#}"));
    let pages: Vec<_> = links.pages().collect();
    for entry in fs::read_dir(root().join("docs"))
        .expect("there are guides")
        .chain(fs::read_dir(root().join("docs/formats")).expect("there are formats"))
    {
        let path = entry.expect("it can be read").path();
        let path = path.strip_prefix(root()).expect("it lies there");
        let is_page = path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("SUMMARY.md");
        assert!(!is_page || pages.contains(&path), "docs/SUMMARY.md does not name {}", path.display());
    }
}

#[test]
fn link_to_a_missing_file_or_heading_is_reported_with_its_line() {
    let (directory, files) = repository(&[
        ("docs/SUMMARY.md", "[A](a.md)\n"),
        ("docs/a.md", "# One\n\n[b](b.md) [c](#two) [d](#one) [e](https://example.com/b.md)\n\n![f](../f.svg)\n"),
    ]);
    let error = Links::read(directory.path(), files).err().expect("links are broken").to_string();
    let expected = "links or paths lead nowhere:\ndocs/a.md:3: b.md: there is no such file\ndocs/a.md:3: #two: docs/a.md has no \
                    such heading\ndocs/a.md:5: ../f.svg: there is no such file";
    assert_eq!(error, expected);
}

#[test]
fn heading_that_occurs_twice_has_two_anchors() {
    let (directory, files) = repository(&[
        ("docs/SUMMARY.md", "[A](a.md)\n"),
        ("docs/a.md", "# The `list_files` tool, twice\n# Run\n# Run\n[1](#the-list_files-tool-twice) [2](#run-1)\n"),
    ]);
    Links::read(directory.path(), files).expect("all links are good");
}

#[test]
fn link_to_a_file_that_is_no_page_leads_to_the_repository() {
    let (directory, files) = repository(&[
        ("README.md", "# R\n"),
        ("docs/SUMMARY.md", "[R](../README.md)\n- [A](a.md)\n"),
        ("docs/a.md", "# One\n\n[r](../README.md#r) [s](../src/lib.rs), [s](../src/lib.rs) [t](#one)\n"),
        ("src/lib.rs", ""),
    ]);
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    let links = Links::read(directory.path(), files).expect("all links are good");
    assert_eq!(links.summary().expect("it is written"), "[R](README.md)\n- [A](docs/a.md)\n");
    let source = "https://github.com/tollhouse/tollhouse/blob/main/src/lib.rs";
    let expected = format!("# One\n\n[r](../README.md#r) [s]({source}), [s]({source}) [t](#one)\n");
    assert_eq!(links.rewritten(&PathBuf::from("docs/a.md")).expect("it is written"), expected);
}

#[test]
fn policy_reference_has_a_section_for_each_nested_table() {
    let schema = json!({
        "properties": {
            "grant": { "description": "Grants,\nin order.", "type": "array", "items": { "$ref": "#/$defs/Grant" } },
            "size": { "anyOf": [{ "type": ["string", "null"] }, { "type": "integer" }] },
        },
        "$defs": { "Grant": {
            "description": "A permission.", "required": ["method"],
            "properties": {
                "any": { "type": "array", "items": { "$ref": "#/$defs/Grant" } },
                "method": { "description": "`a|b`", "type": "string" },
            },
        } },
    });
    let text = reference::policy(&schema);
    let (_, tables) = text.split_once("## Top level\n\n").expect("it has a first section");
    let expected = "| key | type | meaning |\n| --- | --- | --- |\n\
         | `grant` | list of [table](#grant) | Grants, in order. |\n\
         | `size` | string or integer |  |\n\
         \n## `grant[]`\n\nA permission.\n\n\
         | key | type | meaning |\n| --- | --- | --- |\n\
         | `any` | list of [table](#grant) |  |\n\
         | `method` | string | `a\\|b` Required. |\n";
    assert_eq!(tables, expected);
}

#[test]
fn path_in_backquotes_without_a_file_is_named_with_its_line() {
    let (directory, files) = repository(&[
        ("docs/SUMMARY.md", "[A](a.md)\n"),
        (
            "docs/a.md",
            "`host/src/` `host/src/main.rs`\n`host/src/lib.rs`, `host/NAME`, `host/*`\n\n    host/b.rs\n\n`tests/a`\n",
        ),
        ("host/README.md", "`tests/b.rs`, `host/target/debug`, `tools/call`\n"),
        ("host/src/main.rs", ""),
        ("host/tests/b.rs", ""),
    ]);
    let error = Links::read(directory.path(), files).err().expect("paths are wrong").to_string();
    let expected = "links or paths lead nowhere:\ndocs/a.md:2: `host/src/lib.rs`: there is no such file\ndocs/a.md:6: \
                    `tests/a`: there is no such file";
    assert_eq!(error, expected);
}
