//! What `host/src/lib.rs` says of the architecture, read off the source and off the crates: who may name what.

use std::path::{Path, PathBuf};
use std::process::Command;

use tollhouse_tests::root;

/// Crates that decide, count and store.
const PLAIN_CRATES: [&str; 8] = ["audit", "gate", "methods", "policy", "store", "token", "types", "vfs"];

/// The lines of code (no comments, no unit tests) below some directories of `host/src`, with where they stand.
fn lines(directories: &[&str]) -> Vec<(String, String)> {
    lines_below(&root().join("host/src"), directories)
}

fn lines_below(source: &Path, directories: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for directory in directories {
        collect(&source.join(directory), &mut files);
    }
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it is there");
        let name = file.strip_prefix(source).expect("it is below").display().to_string();
        let kept = without_tests(&text).into_iter().filter(|(_, line)| !line.trim_start().starts_with("//"));
        lines.extend(kept.map(|(number, line)| (format!("{name}:{number}"), line.to_owned())));
    }
    assert!(lines.len() > 100, "the source was found");
    lines
}

/// The numbered lines of a formatted source but for the items under `#[cfg(test)]`: each ends on its first line, or with
/// a brace that stands as far in as the item does.
fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let mut kept = Vec::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((number, line)) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push((number, line));
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let closing = [format!("{indent}}}"), format!("{indent}}});"), format!("{indent}];")];
        // Further attributes, then the item.
        let Some((_, item)) = lines.find(|(_, line)| !line.trim_start().starts_with("#[")) else { break };
        if !item.ends_with(';') && !item.ends_with('}') && !item.ends_with(',') {
            lines.find(|(_, line)| closing.iter().any(|closing| line == closing));
        }
    }
    kept
}

#[test]
fn code_after_a_test_module_is_seen() {
    let text = "a\n#[cfg(test)]\nmod tests;\nb\n#[cfg(test)]\nmod more {\n    hidden\n}\nc\n    #[cfg(test)]\n    \
                #[expect(x)]\n    fn f() {\n        hidden\n    }\nd\n#[cfg(test)]\nuse x;\ne";
    let seen: Vec<&str> = without_tests(text).into_iter().map(|(_, line)| line).collect();
    assert_eq!(seen, ["a", "b", "c", "d", "e"]);
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

/// Returns the places where a text stands.
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
fn source_calls_tools_only_with_an_admission() {
    let lines = lines(&["."]);
    // A tool is called with an admission, which the crate of the gate alone makes: its fields are private.
    only_in(&lines, "self.tool.call(", "gate/admitted_call.rs");
    only_in(&lines, "self.tool.run(", "gate/admitted_call.rs");
    only_in(&lines, "instance::call(", "tool/mod.rs");
    only_in(&lines, "program::call(", "tool/mod.rs");
    only_in(&lines, "program::run(", "tool/mod.rs");
    let calls: Vec<String> = places(&lines, "pub(crate) fn call(&self, admission: &Admission");
    assert_eq!(calls.len(), 1, "{calls:?}");
    // Nothing else enters a component by name.
    only_in(&lines, "get_func(", "tool/instance.rs");
    // What a tool may touch is made of a manifest and a policy, there, and a request is judged before it connects.
    only_in(&lines, "Authority::new(", "gate/session_gate.rs");
    only_in(&lines, "TcpStream::connect(", "tool/http/dial.rs");
    only_in(&lines, "Exchange {", "tool/http/");
}

#[test]
fn modules_use_those_below_them() {
    for (module, above) in [
        ("code", ["guest", "tool", "gate", "agent", "session"].as_slice()),
        ("guest", &["tool", "gate", "agent", "session"]),
        ("tool", &["guest", "gate", "agent", "session"]),
        ("gate", &["guest", "agent", "session"]),
        ("agent", &["session"]),
    ] {
        let lines = lines(&[module]);
        for upper in above {
            assert_eq!(places(&lines, &format!("crate::{upper}")), Vec::<String>::new(), "{module} uses {upper}");
        }
    }
}

#[test]
fn source_of_inline_scripts_does_not_use_the_gate() {
    let lines = lines(&["session/inline_runner.rs", "session/nested_scripts.rs"]);
    for text in ["gate", "Admission", "invoke", "OperationExecutor", "wait("] {
        assert_eq!(places(&lines, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn plain_crates_depend_on_no_engine_network_or_runtime() {
    for name in PLAIN_CRATES {
        let package = format!("tollhouse-{name}");
        let mut tree = Command::new(env!("CARGO"));
        tree.args([
            "tree",
            "--offline",
            "--all-features",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{lib}",
        ]);
        let output = tree.args(["--package", &package]).current_dir(root()).output().expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.lines().any(|line| line == format!("tollhouse_{name}")), "{output:?}");
        for crates in ["wasmtime", "wasmparser", "tokio", "hyper", "ureq", "rustls"] {
            assert!(!text.lines().any(|line| line.starts_with(crates)), "{package} uses {crates}");
        }
    }
}

#[test]
fn source_of_libraries_does_not_print_exit_or_read_environment() {
    let mut lines = lines(&["."]);
    lines.extend(PLAIN_CRATES.iter().flat_map(|name| lines_below(&root().join("host").join(name), &["src"])));
    for text in ["println!", "print!(", "std::env::", "process::exit", "dbg!"] {
        assert_eq!(places(&lines, text), Vec::<String>::new(), "{text}");
    }
}
