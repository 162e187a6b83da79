//! `--keep-state`: what scripts leave for the next one besides files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions};
use tollhouse_tests::Home;

const KEEP: [&str; 3] = ["--session", "s", "--keep-state"];

/// A value of each kind that JavaScript can clone, and some that are in two places.
const MAKE: &str = r"
    const shared = { deep: [undefined, null, NaN, -Infinity, -0, 1e300, 0.1, 2n ** 70n] };
    const error = new RangeError('far', { cause: shared });
    state = {
        shared, list: [shared, [1, , 3], Object.assign([1], { extra: true })], error,
        map: new Map([[shared, 'key'], ['self', null]]), set: new Set([1, 'a', shared]),
        date: new Date(86400e3), never: new Date(NaN), pattern: /a\/b\n/giu, boxed: [Object(1), Object('s'), Object(false)],
        bytes: new Uint8Array([0, 255, 7]).subarray(1), floats: Float64Array.of(0.5, NaN), big: BigInt64Array.of(-1n),
        buffer: new Uint8Array([1, 2]).buffer, text: 'é\u2028\ud800\0', ['__proto__']: 'own', '': 'empty',
    };
    state.map.set('self', state.map);
    state.me = state;
    return util_inspect(state);
";

/// Looks at a state: as text, and what a text does not show.
const LOOK: &str = r"
    return [util_inspect(state), state.me === state, state.list[0] === state.shared, state.error.cause === state.shared,
        state.map.get(state.shared), state.set.has(state.shared), 1 in state.list[1], state.buffer.byteLength,
        state.text.charCodeAt(2), Object.getPrototypeOf(state) === Object.prototype, state.error.stack.split('\n')[0]];
";

/// Function of a script that prints a value as `console.log` does.
const INSPECT: &str = "const util_inspect = (value) => { console.log(value); return null; };";

fn js(home: &Home, code: &str) -> Value {
    home.js(code, &KEEP)
}

fn sh(home: &Home, code: &str) -> Value {
    home.sh(code, &KEEP)
}

#[test]
fn state_is_restored_as_it_was_left() {
    let home = Home::new();
    let made = js(&home, &format!("{INSPECT}{MAKE}"));
    assert_eq!(made["status"], "completed", "{made}");
    let found = js(&home, &format!("{INSPECT}{LOOK}"));
    assert_eq!(found["stdout"], made["stdout"]);
    assert_eq!(found["value"], json!([null, true, true, true, "key", true, false, 2, 0xd800, true, "RangeError: far"]));
    // And is the same when it is left again: the same blob is named.
    let twice = js(&home, &format!("{INSPECT}{LOOK}"));
    assert_eq!((&twice["stdout"], &twice["value"]), (&found["stdout"], &found["value"]));
    let runs = home.run(["session", "show", "s", "--json"]).stdout;
    let runs: Value = serde_json::from_str(&runs).expect("JSON");
    assert_eq!(runs["runs"][2]["states"], runs["runs"][3]["states"], "{runs}");
}

#[test]
fn state_exists_only_for_runs_that_keep_it() {
    let home = Home::new();
    assert_eq!(js(&home, "state.n = (state.n ?? 0) + 1; return state")["value"], json!({ "n": 1 }));
    assert_eq!(home.js("return typeof state", &["--session", "s"])["value"], "undefined");
    assert_eq!(home.js("globalThis.state = { n: 7 }", &["--session", "s"])["status"], "completed");
    assert_eq!(sh(&home, "n=5; echo $n")["stdout"], "5\n", "of the other language's nothing is changed");
    assert_eq!(js(&home, "state.n++; throw new Error('no')")["status"], "failed");
    assert_eq!(js(&home, "return state.n")["value"], 2, "a script that fails leaves what it has done");
    assert_eq!(js(&home, "state = undefined")["status"], "completed");
    assert_eq!(js(&home, "return state")["value"], json!({}));
    assert_eq!(sh(&home, "echo $n")["stdout"], "5\n");
}

#[test]
fn state_that_cannot_be_kept_is_reported_and_the_old_stays() {
    let home = Home::new();
    js(&home, "state.good = 1");
    for (code, why) in [
        ("state.f = () => 1", "DataCloneError"),
        ("state.p = new Proxy({}, {})", "DataCloneError"),
        ("state = Promise.resolve(1)", "DataCloneError"),
        ("Object.defineProperty(state, 'x', { enumerable: true, get() { throw new TypeError('mine') } })", "TypeError"),
        ("let deep = state; for (let i = 0; i < 1e5; i++) deep = deep.next = {};", "RangeError"),
    ] {
        let failed = js(&home, code);
        assert_eq!((&failed["status"], &failed["error"]["name"]), (&json!("failed"), &json!(why)), "{failed}");
        let message = failed["error"]["message"].as_str().expect("a text");
        assert!(message.starts_with("`state` cannot be kept: "), "{message}");
    }
    let thrown = js(&home, "state.f = () => 1; throw new Error('first')");
    assert_eq!(thrown["error"]["message"], "first", "why it failed says more");
    for code in [
        "state.bad = 1; for (;;);",
        "state.bad = 'x'.repeat(17 << 20)",
        "state.toJSON = 1; while (true) state.a = [state.a];",
    ] {
        let limited = home.js(code, &[KEEP.as_slice(), &["--timeout", "2s", "--memory", "64MiB"]].concat());
        assert_eq!(limited["status"], "limited", "{limited}");
    }
    assert_eq!(js(&home, "return state")["value"], json!({ "good": 1 }));
}

#[test]
fn state_of_script_that_replaces_builtins_is_unharmed() {
    let home = Home::new();
    let polluted = "
        state = { list: [1, { a: 2 }], map: new Map([[1, 2]]), re: /x/g, boxed: Object(3) };
        const evil = () => { throw new Error('called') };
        Object.prototype.toJSON = evil; Array.prototype.toJSON = evil; String.prototype.toJSON = evil;
        Array.prototype.push = Array.prototype.join = Array.prototype[Symbol.iterator] = evil;
        Map.prototype.forEach = Map.prototype.get = Map.prototype.set = JSON.stringify = Object.keys = evil;
        Number.prototype.valueOf = Number.prototype.toString = evil;
        Object.defineProperty(Array.prototype, '0', { set: evil, configurable: true });";
    assert_eq!(js(&home, polluted)["status"], "completed");
    let found = js(&home, "return [state.list, [...state.map], String(state.re), state.boxed + 1]");
    assert_eq!(found["value"], json!([[1, { "a": 2 }], [[1, 2]], "/x/g", 4]));
}

#[test]
fn shell_state_is_restored_in_the_next_run() {
    let home = Home::new();
    let left = sh(
        &home,
        "mkdir -p a/b; cd a/b; export E=exported; plain='two words'; list=(1 '2 3'); declare -A map=([k]=v); declare -i n=4
         readonly R=fixed; greet() { local who=$1; echo \"hello $who\"; }; shopt -s expand_aliases nullglob; alias ll='echo aliased'
         set -e; trap 'echo bye' EXIT; pushd /tmp >/dev/null; popd >/dev/null; exit 3",
    );
    assert_eq!((&left["exit_code"], &left["stdout"]), (&json!(3), &json!("bye\n")), "{left}");
    let found = sh(
        &home,
        "echo $? $PWD; env | grep ^E=; echo \"$plain\" ${#list[@]} \"${list[1]}\" ${map[k]}; n=n+1; echo $n; greet you
         ll; echo *.none; (R=2) 2>/dev/null || echo readonly; false; echo $-; cd -P ..; pwd",
    );
    let expected = "0 /workspace/a/b\nE=exported\ntwo words 2 2 3 v\n5\nhello you\naliased\n\nreadonly\n";
    let printed = found["stdout"].as_str().expect("a text");
    assert!(printed.starts_with(expected) && printed.ends_with("\n/workspace/a\n"), "{found}");
    assert!(!printed["0 ".len()..].lines().any(|line| line == "bye"), "a trap is its own script's: {printed}");
}

#[test]
fn shell_state_with_missing_directory_warns() {
    let home = Home::new();
    sh(&home, "mkdir gone; cd gone; export WHO=kept");
    home.js("await fs.rm('/workspace/gone', { recursive: true })", &["--session", "s"]);
    let found = home.sh("pwd; echo $WHO $PWD", &[KEEP.as_slice(), &["--env", "WHO=given"]].concat());
    assert_eq!(found["stdout"], "/workspace\ngiven /workspace\n", "{found}");
    assert_eq!(found["stderr"], "/workspace/gone: no such directory any more; starting in /workspace\n");
}

#[test]
fn shell_function_restored_reads_the_script_input() {
    let home = Home::new();
    sh(&home, "first() { read -r line; echo \"got $line\"; }; count() { wc -l; }");
    let input = home.file("input", "one\ntwo\n");
    let run = |code: &str| {
        let mut command = home.command([&["run", "--lang", "sh", "-e", code], KEEP.as_slice()].concat());
        let output = command.stdin(File::open(&input).expect("it was written")).output().expect("the binary is built");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(run("first; first"), "got one\ngot two\n");
    assert_eq!(run("count").trim(), "2");
}

#[test]
fn state_follows_files_through_forks_rollbacks_and_archives() {
    let home = Home::new();
    let n = |session: &str, code: &str| home.js(code, &["--session", session, "--keep-state"])["value"].clone();
    let done = |arguments: &[&str]| {
        let ran = home.run(arguments);
        assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    };
    // Long, so that it is no blob of a file's.
    let more = "state.list = (state.list ?? []).concat('x'.repeat(9000)); return state.list.length";
    assert_eq!((n("s", more), n("s", more)), (json!(1), json!(2)));
    done(&["session", "fork", "s@1", "early"]);
    done(&["session", "fork", "s", "late"]);
    assert_eq!((n("early", more), n("late", more)), (json!(2), json!(3)));
    done(&["session", "rollback", "s@1"]);
    assert_eq!(n("s", more), json!(2));
    done(&["session", "rollback", "s@0"]);
    assert_eq!(n("s", "return state"), json!({}));
    done(&["session", "export", "late", "late.tlh"]);
    for session in ["early", "late", "s"] {
        done(&["session", "rm", session]);
    }
    done(&["session", "gc"]);
    done(&["session", "import", "late.tlh"]);
    done(&["session", "gc"]);
    done(&["store", "verify"]);
    assert_eq!(n("late", more), json!(4));
}

#[test]
fn state_damaged_on_disk_is_not_served() {
    let home = Home::new();
    js(&home, "state.word = 'x'.repeat(5000)");
    let blobs = home.path().join("tollhouse/store/blobs");
    let mut flipped = 0;
    for entry in walk(&blobs) {
        let mut bytes = fs::read(&entry).expect("a blob");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&entry, bytes).expect("a blob");
        flipped += 1;
    }
    assert!(flipped > 0);
    let told = home.run(["run", "-e", "return state", "--session", "s", "--keep-state"]);
    assert_ne!(told.status, 0, "{told:?}");
    assert!(told.stderr.contains("blob"), "{told:?}");
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn state_without_session_or_script_is_a_usage_error() {
    let home = Home::new();
    let told = home.run(["run", "-e", "1", "--keep-state"]);
    assert!(told.status == 2 && told.stderr.contains("--session"), "{told:?}");
    home.file("agent.wasm", "\0asm");
    let told = home.run(["run", "agent.wasm", "--session", "s", "--keep-state"]);
    assert!(told.status == 2 && told.stderr.contains("a component keeps no state"), "{told:?}");
}

#[test]
fn state_of_session_in_memory_is_kept() {
    let host = Host::new(&HostOptions::default()).expect("a host");
    let session = host.session(SessionOptions::default()).expect("a session");
    let run = |session: &Session, language, source: &str, keep_state| {
        let script = Script { source: source.to_owned(), ..Script::default() };
        let options = RunOptions { keep_state, ..RunOptions::default() };
        session.start(language, script, options).expect("it is free").finish()
    };
    let count = "state.n = (state.n ?? 0) + 1; return state.n";
    assert_eq!(run(&session, Language::JavaScript, count, true).value, Some(json!(1)));
    assert_eq!(run(&session, Language::Shell, "n=1", true).exit_code, 0);
    assert_eq!(run(&session, Language::JavaScript, "return 1", false).value, Some(json!(1)));
    assert_eq!(run(&session, Language::JavaScript, count, true).value, Some(json!(2)));
    assert_eq!(run(&session, Language::Shell, "exit $((n + 1))", true).exit_code, 2);
}
