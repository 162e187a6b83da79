//! Whatever is wrong, the error says what, where and what to do; and the next run works.

use serde_json::{Value, json};
use tollhouse_tests::Home;

fn told(ran: &Value) -> String {
    format!("{} {}", ran["error"]["message"], ran["error"]["hint"])
}

#[test]
fn script_error_has_its_kind_name_and_message() {
    let home = Home::new();
    for (code, kind, name, message) in [
        ("throw new TypeError('no good')", "exception", "TypeError", "no good"),
        ("throw 'a string'", "exception", "Error", "a string"),
        ("throw null", "exception", "Error", "null"),
        ("let x = ;", "syntax", "SyntaxError", "unexpected"),
        ("return nothere", "exception", "ReferenceError", "nothere"),
        ("const a = {}; a.a = a; return a", "exception", "TypeError", "circular reference"),
        (
            "let a = []; for (let n = 0; n < 100; n++) a = [a]; return a",
            "exception",
            "RangeError",
            "more than 100 deep",
        ),
        ("Promise.reject(new RangeError('unseen')); await null", "exception", "RangeError", "unseen"),
        ("function f() { return f() + 1 } f()", "exception", "RangeError", "stack"),
    ] {
        let ran = home.js(code, &[]);
        assert_eq!(ran["status"], "failed", "{code}: {ran}");
        assert_eq!((&ran["error"]["kind"], &ran["error"]["name"]), (&json!(kind), &json!(name)), "{code}: {ran}");
        assert!(told(&ran).to_lowercase().contains(message), "{code}: {ran}");
        assert_eq!(ran["exit_code"], 1, "{code}");
    }
}

/// A module that is read as the body of a function fails at its first `import`, whatever is wrong.
#[test]
fn module_that_does_not_parse_tells_where_its_mistake_is() {
    let home = Home::new();
    for (code, place) in [
        ("import util from 'node:util';\nlet x = 1;\n:\n", "script:3:1"),
        ("import util from 'node:util';\nconst a = {;\n", "script:2:12"),
        ("import fs, { readFileSync } from 'fs';\nfunction f() {\n  return 1\n", "script:4:"),
        ("import 'fs';\nif (process.argv[9]) return 1;\nconst b = );\n", "script:3:11"),
        ("import { a b } from 'fs';\n", "script:1:12"),
        ("export const a = 1;\nlet let = 2;\n", "script:2:5"),
        ("const text = 'import it';\nconst y = ];\n", "script:2:11"),
    ] {
        let ran = home.js(code, &[]);
        assert_eq!(ran["error"]["name"], "SyntaxError", "{code}: {ran}");
        let location = &ran["error"]["location"];
        let told = format!("{}:{}:{}", "script", location["line"], location["column"]);
        assert!(told.starts_with(place), "{code}: {told} {ran}");
    }
}

#[test]
fn value_nested_to_the_limit_is_returned() {
    let ran = Home::new().js("let a = 5; for (let n = 0; n < 100; n++) a = [a]; return a", &[]);
    let mut value = &ran["value"];
    for _ in 0..100 {
        value = &value[0];
    }
    assert_eq!(value, 5, "{ran}");
}

/// A log puts arguments some levels deeper: one that nobody can read would pass for one that was altered.
#[test]
fn deep_arguments_leave_a_log_that_can_be_read() {
    let home = Home::with_fixture();
    for depth in [99, 100, 120, 126, 127, 200] {
        let arguments = format!("{{\"text\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        for method in ["probe/length", "no/such"] {
            let call = ["call", method, &arguments, "--tool", "probe=test:probe", "--allow", "**"];
            let ran = home.run(call.into_iter().chain(["--audit", "log.jsonl", "--session", "deep"]));
            assert_ne!(ran.status, 0, "{ran:?}");
        }
    }
    let suggested = home.run(["policy", "suggest", "log.jsonl"]);
    assert_eq!(suggested.status, 0, "{suggested:?}");
    let verified = home.run(["store", "verify"]);
    assert_eq!(verified.status, 0, "{verified:?}");
}

/// The text of an error counts against no limit, so it is bounded by itself.
#[test]
fn long_error_is_cut_and_says_so() {
    let home = Home::new();
    let ran = home.js("const e = new Error('\\u0001'.repeat(5e6)); e.name = 'N'.repeat(1e6); throw e", &[]);
    let (name, message) = (ran["error"]["name"].as_str(), ran["error"]["message"].as_str());
    let (name, message) = (name.expect("a name"), message.expect("a message"));
    assert!(message.len() < 263_000 && message.ends_with(" more bytes)"), "{}", message.len());
    assert!(name.len() < 263_000, "{}", name.len());
    let ran = home.js("throw new Error('x'.repeat(200000))", &[]);
    assert_eq!(ran["error"]["message"].as_str().map(str::len), Some(200_000));
}

#[test]
fn stacks_have_the_scripts_own_lines() {
    let home = Home::new();
    home.file("report.js", "const a = 1;\n\nfunction inner() {\n  throw new Error('here');\n}\ninner();\n");
    let ran = home.json(["report.js"]);
    let stack = ran["error"]["stack"].as_str().expect("a stack");
    assert!(stack.contains("report.js:4:"), "{stack}");
    assert!(stack.contains("report.js:6:"), "{stack}");
    let ran = home.js("let a = 1;\nlet b = ;\n", &[]);
    assert!(ran["error"]["stack"].as_str().is_some_and(|stack| stack.contains(":2:")), "{ran}");
}

#[test]
fn error_shows_its_line_and_column() {
    let home = Home::new();
    home.file(
        "sum.js",
        "const users = [{ n: 1 }];\nfunction sum() {\n\treturn '😀'.length + users.mapp(u => u.n);\n}\nsum();\n",
    );
    let ran = home.json(["sum.js"]);
    let line = "\treturn '😀'.length + users.mapp(u => u.n);";
    let location = json!({ "file": "sum.js", "line": 3, "column": 31, "source": line });
    assert_eq!(ran["error"]["location"], location, "{ran}");
    let shown = home.run(["run", "sum.js"]);
    let marked = format!("sum.js:3\n    {line}\n    \t{}^\nTypeError: ", " ".repeat(27));
    assert!(shown.stderr.starts_with(&marked), "{shown:?}");
    // In a file that it imports, and in one that does not parse.
    home.file("lib.js", "\nexports.f = () => { throw new RangeError('no') };\n");
    let ran = home.json(["--mount", "lib.js:/workspace/lib.js", "-e", "require('./lib.js').f()"]);
    assert_eq!(
        (&ran["error"]["location"]["line"], &ran["error"]["location"]["source"]),
        (&json!(2), &json!(null)),
        "{ran}"
    );
    let ran = home.js("let a = 1;\nlet b = ;\n", &[]);
    assert_eq!(
        (&ran["error"]["location"]["line"], &ran["error"]["location"]["source"]),
        (&json!(2), &json!("let b = ;")),
        "{ran}"
    );
    let ran = home.js("const n: number = 1;\nconst m: = 2;\n", &["--lang", "ts"]);
    assert_eq!(ran["error"]["location"]["line"], 2, "{ran}");
    let ran = home.sh("echo a\nif [ ; then\n", &[]);
    assert_eq!(ran["error"]["location"]["line"], 3, "{ran}");
    // What has no place has none.
    assert_eq!(home.sh("exit 3", &[])["error"].get("location"), None);
}

#[test]
fn returned_values_of_unusual_types_are_serialized() {
    let home = Home::new();
    assert_eq!(home.js("return 2n ** 80n", &[])["value"], "1208925819614629174706176");
    assert_eq!(home.js("return new Uint8Array([1, 2, 255])", &[])["value"], "AQL/");
    assert_eq!(home.js("return undefined", &[])["value"], json!(null));
    assert_eq!(home.js("return 'x'.repeat(10 * 1024 * 1024)", &[])["value"].as_str().map(str::len), Some(10_485_760));
    let printed = home.js("console.log('y'.repeat(10 * 1024 * 1024))", &[]);
    assert_eq!(printed["stdout"].as_str().map(str::len), Some(10_485_761));
}

#[test]
fn script_of_a_megabyte_runs() {
    let home = Home::new();
    let script = format!(
        "let n = 0;\n{}return n",
        "n += 1; // one more of many lines, so that the script is large\n".repeat(16_000)
    );
    assert!(script.len() > 1_000_000);
    let path = home.file("large.js", script);
    assert_eq!(home.json([path])["value"], 16_000);
}

#[test]
fn command_line_that_is_invalid_is_a_usage_error() {
    let home = Home::new();
    for (arguments, message) in [
        (vec!["run"], "required"),
        (vec!["run", "nothere.js"], "nothere.js"),
        (vec!["run", "-e", "1", "--policy", "nothere.toml"], "nothere.toml"),
        (vec!["run", "-e", "1", "--allow", "pay*"], "whole segments"),
        (vec!["run", "-e", "1", "--timeout", "soon"], "soon"),
        (vec!["run", "-e", "1", "--mount", "nocolon"], "nocolon"),
        (vec!["run", "-e", "1", "--mount", "/nothere:/workspace/x"], "/nothere"),
        (vec!["run", "-e", "1", "--tool", "x=acme:nothere@^1"], "acme:nothere"),
        (vec!["run", "-e", "1", "--tool", "x=nonsense"], "nonsense"),
        (vec!["run", "-e", "1", "--lang", "cobol"], "cobol"),
    ] {
        let ran = home.run(&arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    assert_eq!(home.run(["run", "-e", "return 'still works'"]).stdout, "still works\n");
}

#[test]
fn policy_that_is_invalid_is_a_usage_error_with_location() {
    let home = Home::new();
    home.file("policy.toml", "[[grant]]\nmethod = '*'\nwhen = []\n");
    let ran = home.run(["run", "-e", "1", "--policy", "policy.toml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("policy.toml:3:1") && ran.stderr.contains("did you mean `where`?"), "{}", ran.stderr);
}

#[test]
fn tool_version_that_does_not_exist_is_refused_with_alternatives() {
    let home = Home::with_tools(&["stats"]);
    let ran = home.run(["run", "-e", "1", "--tool", "s=tollhouse:stats@^9"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("0.1.0"), "it names what there is: {}", ran.stderr);
    let ran = home.run(["run", "-e", "1", "--tool", "s=tollhouse:stat"]);
    assert!(ran.stderr.contains("tollhouse:stats"), "it names the nearest: {}", ran.stderr);
}

#[test]
fn file_that_is_no_component_is_not_published() {
    let home = Home::with_fixture();
    let whole = tollhouse_tests::components::echo("", "u32");
    for (name, bytes, message) in [
        ("text.wasm", b"this is no WebAssembly".to_vec(), "WebAssembly"),
        ("core.wasm", wat::parse_str("(module)").expect("a module"), "core WebAssembly module"),
        ("cut.wasm", whole[..whole.len() / 2].to_vec(), "cut.wasm"),
        ("empty.wasm", Vec::new(), "empty"),
    ] {
        home.file(name, bytes);
        let ran = home.run(["publish", name]);
        assert_ne!(ran.status, 0, "{name} was published");
        assert!(ran.stderr.contains(message), "{name}: {}", ran.stderr);
    }
    assert_eq!(home.run(["publish", "nothere.wasm"]).status, 2);
}
