//! The registry: publishing, mounting signed and compiled tools, searching, and mounting many tools.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::SessionOptions;
use tollhouse_registry::{Digest, PrivateKey, PublishRequest, Registry};
use tollhouse_tests::{Home, built, components};

use crate::calls;
use crate::table::{median, median_of, row, taken};

/// Size of the published component, in bytes.
const SIZE: usize = 2_000_000;
/// Number of releases that are searched, and number of tools that are mounted.
const RELEASES: u64 = 10_000;
const TOOLS: u32 = 100;

/// Measures the registry.
pub(crate) fn measure() {
    row("publish a component of 2 MB, whole command", publish(), "300 ms", None, None);
    row("resolve, verify, load from the cache, call", load(), "3 ms", None, None);
    let (found, command) = search();
    row("search 10,000 releases, in process", found, "50 ms", None, None);
    row("  the same, whole command", command, "", None, None);
    let (session, command) = mounted();
    row("session with 100 tools mounted, in process", session, "", None, None);
    row("  process start to its end, `return 1`", command, "30 ms", None, None);
}

fn directory(home: &Home) -> std::path::PathBuf {
    home.path().join("tollhouse/registry")
}

fn command(home: &Home, words: &[&str]) {
    let status = home.command(words).stdout(Stdio::null()).status().expect("the binary is built");
    assert!(status.success(), "{words:?}");
}

/// Measures publishing a real component that was enlarged. Each round publishes a new version of one package, which is
/// compared with the exports of earlier ones.
fn publish() -> Duration {
    let home = Home::new();
    let real = built().join("../wasm32-wasip2/guest/tollhouse_tool_markdown.wasm");
    let real = std::fs::read(real).expect("it is built: run `cargo xtask build`");
    let mut version = 0;
    median_of(15, || {
        version += 1;
        let filling = SIZE.saturating_sub(real.len());
        let note: String = (0..filling).map(|at| char::from(b'a' + (at * version % 23) as u8)).collect();
        home.file("big.wasm", [real.clone(), section(&note)].concat());
        taken(|| command(&home, &["publish", "big.wasm", "--name", "a:big", "--version", &format!("1.0.{version}")]))
    })
}

/// Returns a custom section of a component, named `note`.
fn section(note: &str) -> Vec<u8> {
    let content = [b"\x04note", note.as_bytes()].concat();
    let mut bytes = vec![0];
    let mut size = content.len();
    // LEB128: seven bits in each byte, and a bit that is set if more bytes follow.
    loop {
        let more = if size > 127 { 0x80 } else { 0 };
        bytes.push((size & 127) as u8 | more);
        size >>= 7;
        if size == 0 {
            break;
        }
    }
    bytes.extend(content);
    bytes
}

/// Measures mounting and calling a tool in a new host, with code that an earlier host compiled.
fn load() -> Duration {
    let home = Home::with_tools(&["stats"]);
    let key = PrivateKey::generate().expect("random numbers");
    let registry = Registry::open(directory(&home)).expect("it opens");
    registry.sign(&"tollhouse:stats@0.1.0".parse().expect("a release"), &key).expect("it signs");
    let signed = format!("require_signature = ['{}']\n", key.public());
    let policy = signed + "[tools]\nstats = 'tollhouse:stats@^0.1'\n[[grant]]\nmethod = 'stats/*'\n";
    median_of(30, || {
        let host = calls::host(home.path());
        let policy = Policy::parse(&policy).expect("a policy");
        taken(|| {
            let session = host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
            session.call("stats/describe", r#"{"values": [1, 2, 3]}"#).expect("it is granted");
        })
    })
}

/// Measures searches. Each reads the registry from the start, as the command does.
fn search() -> (Duration, Duration) {
    let home = Home::new();
    fill(&directory(&home));
    let words = ["thing".to_owned(), "4711".to_owned()];
    let found = median(15, || {
        let found = Registry::unchecked(directory(&home)).search(&words, 10).expect("it searches");
        assert_eq!(found[0].name, "a:tool-4711");
    });
    (found, median(15, || command(&home, &["registry", "search", "thing", "4711"])))
}

/// Publishes one release, and writes the others to the registry in the form of `registry/format.md`.
fn fill(directory: &Path) {
    let registry = Registry::open(directory).expect("it opens");
    let mut request = PublishRequest::new(component("tool-0"));
    let manifest = |number: u64| {
        format!("name = \"a:tool-{number}\"\nversion = \"1.0.0\"\ndescription = \"The thing {number}.\"\n")
    };
    request.manifest = Some(manifest(0));
    registry.publish(request).expect("it publishes");
    let mut index = std::fs::read_to_string(directory.join("index")).expect("it reads");
    let first: Value = serde_json::from_str(index.trim()).expect("a line");
    let mut last = first["sum"].clone();
    for number in 1..RELEASES {
        let text = manifest(number);
        let digest = Digest::of(text.as_bytes());
        std::fs::write(directory.join("blobs/sha256").join(digest.hex()), &text).expect("it writes");
        let mut line = first.clone();
        line.as_object_mut().expect("an object").remove("sum");
        line["seq"] = json!(number);
        line["prev"] = last;
        line["name"] = json!(format!("a:tool-{number}"));
        line["manifest"] = json!({ "digest": digest.to_string(), "size": text.len() });
        let body = line.to_string();
        let body = body.strip_suffix('}').expect("an object");
        let sum = Digest::of(body.as_bytes()).to_string();
        index += &format!("{body},\"sum\":\"{sum}\"}}\n");
        last = json!(sum);
    }
    std::fs::write(directory.join("index"), index).expect("it writes");
}

fn component(name: &str) -> Vec<u8> {
    let wit = format!(
        "package a:{name}@1.0.0; interface api {{ double: func(n: u32) -> u32; }} world tool {{ export api; }}"
    );
    let module = format!(
        "(module (func (export \"a:{name}/api@1.0.0#double\") (param i32) (result i32)
            (i32.mul (local.get 0) (i32.const 2))))"
    );
    components::encode(&wit, "tool", &module)
}

/// Measures mounting tools that were compiled before, without calling them.
fn mounted() -> (Duration, Duration) {
    let home = Home::new();
    let registry = Registry::open(directory(&home)).expect("it opens");
    for number in 0..TOOLS {
        registry.publish(PublishRequest::new(component(&format!("t{number}")))).expect("it publishes");
    }
    let call = format!("for (let n = 0; n < {TOOLS}; n++) await globalThis['t' + n].double({{n}})");
    command(&home, &["run", "--allow", "**", "-e", &call]);
    let session = median_of(15, || {
        let host = calls::host(home.path());
        taken(|| drop(calls::session(&host)))
    });
    (session, median(30, || command(&home, &["run", "--allow", "**", "-e", "return 1"])))
}
