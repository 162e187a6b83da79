//! JavaScript: programs as models write them, with what Node prints for them, and what the guest itself decides.

use std::collections::HashMap;

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

/// A program of `tests/javascript/programs`, and what it prints: standard output, then `[exit N]` if it does not end with 0.
struct Program {
    name: String,
    code: String,
    stdin: Option<String>,
    output: String,
}

impl Program {
    fn read(table: &str, block: &str) -> Self {
        let (head, rest) = block.split_once('\n').expect("a program has a name");
        let (before, output) = rest.split_once("--- output\n").expect("what it prints");
        let (code, stdin) = match before.split_once("--- stdin\n") {
            Some((code, stdin)) => (code, Some(stdin.to_owned())),
            None => (before, None),
        };
        Self { name: format!("{table}: {head}"), code: code.to_owned(), stdin, output: output.to_owned() }
    }

    fn job(&self) -> Value {
        let mut job = json!({ "id": self.name, "lang": "js", "script": self.code });
        if let Some(stdin) = &self.stdin {
            job["stdin"] = stdin.as_str().into();
        }
        job
    }
}

/// Reads the programs, table by table.
fn programs() -> Vec<Program> {
    let directory = root().join("tests/javascript/programs");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the programs are there") {
        let path = entry.expect("it can be read").path();
        let table = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it is text");
        let blocks = text.strip_prefix("=== ").expect("a table begins with a program").split("\n=== ");
        programs.extend(blocks.map(|block| Program::read(&table, &format!("{}\n", block.trim_end_matches('\n')))));
    }
    programs
}

/// Returns what a result of `batch` prints, in the notation of the tables.
fn printed(result: &Value) -> String {
    let mut printed = result["stdout"].as_str().unwrap_or_default().to_owned();
    if !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    match result["exit_code"].as_i64() {
        Some(0) => printed,
        code => printed + &format!("[exit {}]\n", code.unwrap_or(-1)),
    }
}

#[test]
fn programs_run_by_batch_print_what_node_prints() {
    let programs = programs();
    assert!(programs.len() >= 140, "programs are missing: {}", programs.len());
    let lines: String = programs.iter().map(|program| format!("{}\n", program.job())).collect();
    let results = Home::new().batch(&lines, &["--jobs", "2"]);
    let results: HashMap<&str, &Value> =
        results.iter().filter_map(|result| Some((result["id"].as_str()?, result))).collect();
    assert_eq!(results.len(), programs.len(), "names are unique");
    let differs = |program: &&Program| printed(results[program.name.as_str()]).trim_end() != program.output.trim_end();
    let wrong: Vec<String> = programs
        .iter()
        .filter(differs)
        .map(|program| {
            let result = results[program.name.as_str()];
            format!("== {}\nNode:\n{}\nhere:\n{}\n{}", program.name, program.output, printed(result), result["error"])
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

/// The tables are what the Node on this machine prints.
#[cfg(feature = "full")]
#[test]
fn programs_of_the_tables_print_the_same_under_node() {
    let update = root().join("tests/javascript/update.mjs");
    let ran = std::process::Command::new("node").arg(update).arg("--check").output().expect("node is here");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Runs code that may call the tool `stats`.
fn with_stats(home: &Home, code: &str) -> Ran {
    home.run(["run", "--allow", "stats/*", "-e", code])
}

#[test]
fn tool_named_only_in_a_file_or_in_evaluated_text_is_found() {
    let home = Home::with_tools(&["stats"]);
    let mean = "(await stats.describe({ values: [1, 2, 3] })).mean";
    home.file("lib.mjs", format!("export const mean = async () => {mean};"));
    home.file("lib.cjs", format!("exports.mean = async () => {mean};"));
    home.file("lib.ts", format!("export const mean = async (): Promise<number> => {mean};"));
    home.file("main.cjs", "require('./lib.cjs').mean().then(console.log)");
    let mounts = home.path().join("files");
    std::fs::create_dir_all(&mounts).expect("the home can be written");
    for name in ["lib.mjs", "lib.cjs", "lib.ts", "main.cjs"] {
        std::fs::copy(home.path().join(name), mounts.join(name)).expect("the home can be written");
    }
    let mount = format!("{}:/workspace", mounts.display());
    for code in [
        "import { mean } from './lib.mjs'; return await mean()".to_owned(),
        "return await require('./lib.cjs').mean()".to_owned(),
        "import { mean } from './lib.ts'; return await mean()".to_owned(),
        "return await (await import('./' + 'lib.mjs')).mean()".to_owned(),
        "const name = 'st' + 'ats'; return (await eval(name).describe({ values: [1, 2, 3] })).mean".to_owned(),
        "return (await new Function('return ' + 'st' + 'ats')().describe({ values: [1, 2, 3] })).mean".to_owned(),
        "return (await globalThis['st' + 'ats'].describe({ values: [1, 2, 3] })).mean".to_owned(),
        "return (await (0, eval)('st' + 'ats_describe')({ values: [1, 2, 3] })).mean".to_owned(),
        "const { mean } = require('./lib.cjs'); return new Promise((r) => setTimeout(() => r(mean()), 1))".to_owned(),
        "return Number(await shell.run('node main.cjs'))".to_owned(),
    ] {
        let ran = home.run(["run", "--allow", "stats/*", "--mount", mount.as_str(), "-e", code.as_str()]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, "2"), "{code}\n{}", ran.stderr);
    }
}

#[test]
fn tool_global_behaves_as_an_ordinary_global() {
    let home = Home::with_tools(&["stats"]);
    for (code, expected) in [
        (
            "return [typeof stats, typeof stats_describe, typeof statz, 'stats' in globalThis].join()",
            "object,function,undefined,true",
        ),
        ("const stats = 5; return stats", "5"),
        ("var stats = 6; return stats", "6"),
        ("function stats() { return 7 } return stats()", "7"),
        ("stats = 8; return [stats, globalThis.stats].join()", "8,8"),
        ("globalThis.stats = 9; return stats", "9"),
        ("delete globalThis.stats; return [typeof stats, 'stats' in globalThis].join()", "undefined,false"),
        ("stats; delete globalThis.stats; return typeof stats", "undefined"),
        (
            "return [Object.keys(globalThis).includes('stats'), Object.getOwnPropertyNames(globalThis).includes('stats')].join()",
            "false,true",
        ),
        ("return Object.hasOwn(globalThis, 'stats') && stats === globalThis.stats", "true"),
        ("try { return statz } catch (e) { return e.name }", "ReferenceError"),
        ("eval('var stats = 10'); return stats", "10"),
    ] {
        let ran = with_stats(&home, code);
        assert_eq!((ran.status, ran.stdout.trim()), (0, expected), "{code}\n{}", ran.stderr);
    }
}

#[test]
fn tool_without_a_grant_is_found_and_denied() {
    let home = Home::with_tools(&["stats"]);
    let ran = home.run(["run", "-e", "return await eval('st' + 'ats').describe({ values: [1] })"]);
    assert_eq!(ran.status, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("CapabilityError"), "{}", ran.stderr);
}

#[test]
fn clock_advances_while_a_script_computes() {
    let home = Home::new();
    let code = "const start = Date.now(); while (Date.now() - start < 20); const end = performance.now();
        return [Date.now() - start >= 20, end > 15].join()";
    let ran = home.run(["run", "-e", code]);
    assert_eq!(ran.stdout.trim(), "true,true", "{}", ran.stderr);
}

#[test]
fn missing_command_is_an_error_event_as_in_node() {
    let home = Home::new();
    let events = "on('error', (e) => console.log(e.code, e.message, e.path)).on('exit', (c) => console.log('exit', c))";
    for (call, expected) in [
        (format!("spawn('no-such-program', ['x']).{events}"), "ENOENT spawn no-such-program ENOENT no-such-program"),
        (format!("spawn('sh', ['-c', 'exit 127']).{events}"), "exit 127"),
        ("execFile('no-such-program', (e) => console.log(e.code))".to_owned(), "ENOENT"),
    ] {
        let ran = home.run(["run", "-e", &format!("const {{ spawn, execFile }} = require('child_process'); {call}")]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, expected), "{call}\n{}", ran.stderr);
    }
}

#[test]
fn returned_value_loses_nothing_in_silence() {
    let home = Home::new();
    for (code, expected) in [
        ("return new Map([['a', 1], ['b', new Set([1, 2])]])", json!({ "a": 1, "b": [1, 2] })),
        ("return new Map([[1, 'x'], ['k', null]])", json!([[1, "x"], ["k", null]])),
        (
            "return { e: new TypeError('bad'), r: /a/g }",
            json!({ "e": { "name": "TypeError", "message": "bad" }, "r": "/a/g" }),
        ),
    ] {
        let ran = home.js(code, &[]);
        assert_eq!(ran["value"], expected, "{code}\n{ran}");
    }
    let ran = home.run(["run", "-e", "return { list: [1].map(async (x) => x) }"]);
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("value.list[0] is a Promise"), "{}", ran.stderr);
}

#[test]
fn script_of_another_language_is_refused_with_those_there_are() {
    let home = Home::new();
    let script = home.file("a.py", "print(1)\n");
    let ran = home.run(["run", script.to_str().expect("a path of text")]);
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("`a.py` is Python") && ran.stderr.contains("--lang js|ts|sh"), "{}", ran.stderr);
}

#[test]
fn import_of_a_file_beside_the_script_says_how_to_mount_it() {
    let home = Home::new();
    let ran = home.run(["run", "-e", "import { x } from './sums'; return x"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("--mount ./sums.js:/workspace/sums.js"), "{}", ran.stderr);
}

#[test]
fn script_is_a_module_by_its_syntax_wherever_that_stands() {
    let home = Home::new();
    for code in [
        "/* first */ import path from 'node:path'; return path.basename('/a/b')",
        "const x = 1; { } import\n{ basename } from 'path'; return basename('/a/b')",
        "const text = 'import x from \"nowhere\"'; return text.length === 23 && 'b'",
        "// export default\nreturn 'b'",
    ] {
        let ran = home.run(["run", "-e", code]);
        assert_eq!((ran.status, ran.stdout.trim()), (0, "b"), "{code}\n{}", ran.stderr);
    }
}

#[test]
fn typescript_is_told_from_javascript_by_its_syntax_tree() {
    let home = Home::new();
    let code = "interface I {} abstract class A { abstractName; abstract gone: number; }
        class B extends A /* implements */ implements I {} class C /* implements x */ implements I { y = 1 }
        return ['abstractName' in new B(), 'gone' in new B(), new C().y].join()";
    let ran = home.run(["run", "--lang", "ts", "-e", code]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, "true,false,1"), "{}", ran.stderr);
}
