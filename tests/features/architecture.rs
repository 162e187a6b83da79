//! What `host/src/lib.rs` says of the architecture, read off the source: who may name what.

use std::path::{Path, PathBuf};

use tollhouse_tests::root;

/// The lines of code (no comments, no unit tests) below some directories of `host/src`, with where they stand.
fn lines(directories: &[&str]) -> Vec<(String, String)> {
    let source = root().join("host/src");
    let mut files = Vec::new();
    for directory in directories {
        collect(&source.join(directory), &mut files);
    }
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it is there");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let name = file.strip_prefix(&source).expect("it is below").display().to_string();
        let kept = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.extend(kept.enumerate().map(|(at, line)| (format!("{name}:{}", at + 1), line.to_owned())));
    }
    assert!(lines.len() > 100, "the source was found");
    lines
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs" || name == "tests" || name == "model.rs");
        if !is_test && (path.is_dir() || path.extension().is_some_and(|extension| extension == "rs")) {
            collect(&path, files);
        }
    }
}

/// Where a text stands.
fn places(lines: &[(String, String)], text: &str) -> Vec<String> {
    lines.iter().filter(|(_, line)| line.contains(text)).map(|(place, _)| place.clone()).collect()
}

fn only_in(lines: &[(String, String)], text: &str, file: &str) {
    let places = places(lines, text);
    assert!(!places.is_empty(), "`{text}` is nowhere: has it another name?");
    assert!(
        places.iter().all(|place| place.starts_with(file)),
        "`{text}` stands in {places:?}, and not only in {file}"
    );
}

#[test]
fn only_the_gate_calls_a_tool() {
    let lines = lines(&["."]);
    // A tool is called with an admission; the gate alone makes one, after it has judged, and alone hands it over.
    only_in(&lines, "Ok(Admission {", "gate/mod.rs");
    only_in(&lines, "self.tool.call(", "gate/admission.rs");
    only_in(&lines, "self.tool.run(", "gate/admission.rs");
    only_in(&lines, "instance::call(", "tool/mod.rs");
    only_in(&lines, "program::call(", "tool/mod.rs");
    only_in(&lines, "program::run(", "tool/mod.rs");
    let calls: Vec<String> = places(&lines, "pub(crate) fn call(&self, admission: &Admission");
    assert_eq!(calls.len(), 1, "{calls:?}");
    // Nothing else enters a component by name.
    only_in(&lines, "get_func(", "tool/instance.rs");
    // What a tool may touch is made of a manifest and a policy, there, and a request is judged before it connects.
    only_in(&lines, "Authority::new(", "gate/power.rs");
    only_in(&lines, "TcpStream::connect(", "tool/http/wire.rs");
    only_in(&lines, "Exchange {", "tool/http/");
}

#[test]
fn what_judges_counts_and_stores_knows_no_engine() {
    let lines = lines(&["capability", "ledger", "store", "vfs", "token"]);
    assert_eq!(places(&lines, "wasmtime"), Vec::<String>::new());
}

#[test]
fn only_the_command_line_prints_reads_the_environment_and_exits() {
    let lines = lines(&["."]);
    for text in ["println!", "print!(", "std::env::", "process::exit", "dbg!"] {
        assert_eq!(places(&lines, text), Vec::<String>::new(), "{text}");
    }
}
