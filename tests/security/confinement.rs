//! What a tool finds of the world: everything it asks for, and nothing with authority. And what it cannot do to it.

use serde_json::json;
use tollhouse_tests::{Home, components};

#[test]
fn tool_without_permissions_has_no_files_environment_or_network() {
    let home = Home::with_fixture();
    let code = "const denied = async call => { try { await call; return false } catch (e) { return e.name === 'ToolError' } };
        return [await denied(probe.readFile({path: '/etc/passwd'})), await denied(probe.readFile({path: '/workspace/x'})),
            await denied(probe.connect({address: '127.0.0.1:80'})), await probe.environment({})]";
    let ran = home.js(code, &["--allow", "**"]);
    assert_eq!(ran["value"], json!([true, true, true, []]), "{ran}");
}

#[test]
fn tool_clock_does_not_advance_during_a_call() {
    let ran = Home::with_fixture().js("return await probe.clocks({})", &["--allow", "**"]);
    assert_eq!(ran["value"][1], 0, "{ran}");
    assert_ne!(ran["value"][0], 0, "{ran}");
}

#[test]
fn tool_that_never_returns_is_stopped() {
    let home = Home::with_fixture();
    for call in ["probe.spin({})", "probe.sleep({millis: 600000})"] {
        let ran = home.js(&format!("await {call}"), &["--allow", "**", "--timeout", "300ms"]);
        assert_eq!(ran["status"], "limited", "{ran}");
        assert!(ran["error"]["message"].as_str().is_some_and(|told| told.contains("300 ms")), "{ran}");
        assert_eq!(ran["calls"][0]["outcome"], "cancelled", "{ran}");
    }
}

#[test]
fn tool_memory_is_limited() {
    let home = Home::with_fixture();
    let code = "try { await probe.allocate({bytes: 500 * 1024 * 1024}) } catch (e) {
        return [e.kind, e.message, Number(await probe.allocate({bytes: 1024}))] }";
    let ran = home.js(code, &["--allow", "**", "--memory", "64MiB"]);
    assert_eq!(ran["value"][0], "limit", "{ran}");
    assert_eq!(ran["value"][2], 1_024, "{ran}");
}

#[test]
fn tool_output_without_reader_is_discarded() {
    let ran =
        Home::with_fixture().js("await probe.print({bytes: 10 * 1024 * 1024}); return 'fine'", &["--allow", "**"]);
    assert_eq!((&ran["value"], &ran["stdout"]), (&json!("fine"), &json!("")), "{ran}");
}

#[test]
fn endless_scripts_are_stopped() {
    let home = Home::new();
    for code in [
        "while (true) {}",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "for (;;) await null",
        "await new Promise(r => setTimeout(r, 1e9))",
    ] {
        let ran = home.js(code, &["--timeout", "400ms"]);
        assert_eq!(ran["status"], "limited", "{code}: {ran}");
        assert_eq!(home.run(["run", "--timeout", "400ms", "-e", code]).status, 4);
    }
    let ran = home.sh("while true; do :; done", &["--timeout", "400ms"]);
    assert_eq!(ran["status"], "limited", "{ran}");
}

#[test]
fn script_memory_is_limited() {
    let ran = Home::new().js("const a = []; while (true) a.push('x'.repeat(1e6))", &["--memory", "64MiB"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("limited"), &json!("limit")), "{ran}");
}

#[test]
fn script_output_is_limited() {
    let home = Home::new();
    home.file("policy.toml", "[limits]\noutput = '1MiB'\n");
    let ran = home.js("while (true) console.log('x'.repeat(1000))", &["--policy", "policy.toml"]);
    assert_eq!(ran["status"], "limited", "{}", ran["error"]);
    assert_eq!(ran["stdout"].as_str().map(str::len), Some(1 << 20));
}

#[test]
fn promise_that_nothing_settles_is_a_deadlock() {
    let ran = Home::new().js("await new Promise(() => {})", &[]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("failed"), &json!("deadlock")), "{ran}");
}

#[test]
fn tool_manifest_limits_lower_those_of_the_session() {
    let home = Home::with_fixture_and("[limits]\nwall = \"200ms\"\nmemory = \"8MiB\"");
    let code = "const seen = [];
        for (const call of [() => probe.spin({}), () => probe.sleep({millis: 600000}), () => probe.allocate({bytes: 16e6})]) {
            try { await call() } catch (e) { seen.push([e.kind, /tool\\.toml/.test(e.hint)]) }
        }
        return [...seen, await probe.remember({})]";
    let ran = home.js(code, &["--allow", "**"]);
    assert_eq!(ran["value"], json!([["limit", true], ["limit", true], ["limit", true], 1]), "{ran}");
}

#[test]
fn tool_that_waits_is_interrupted() {
    let home = Home::with_fixture();
    // `call` makes the call on its own thread: it ends only because the wait itself is interrupted.
    let ran = home.run(["call", "probe/sleep", "{\"millis\": 600000}", "--allow", "**", "--timeout", "300ms"]);
    assert_eq!(ran.status, 4, "{ran:?}");
}

#[test]
fn compiling_takes_none_of_a_runs_time() {
    let home = Home::with_fixture();
    let cache = home.path().join("empty-cache");
    // Compiling the tool takes far longer than this limit, in a process whose cache is empty.
    let code = "return await probe.length({text: 'four'})";
    let mut command = home.command(["run", "-e", code, "--allow", "**", "--timeout", "100ms", "--json"]);
    let output = command.env("XDG_CACHE_HOME", &cache).output().expect("the binary is built");
    let ran: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(ran["value"], 4, "{ran}");
}

/// An interface of WASI that no host here offers may still pass on resources of one that is.
#[test]
fn tool_import_of_unavailable_wasi_interface_is_allowed_unused() {
    let home = Home::new();
    let wit = "package test:idle@0.1.0;
        interface idle { ready: func() -> u32; }
        world tool { import wasi:pipes/pipes@0.1.0; export idle; }
        package wasi:io@0.2.0 { interface streams { resource output-stream; } }
        package wasi:pipes@0.1.0 {
            interface pipes { use wasi:io/streams@0.2.0.{output-stream}; resource pipe; open: func() -> output-stream; }
        }";
    let module = r#"(module (import "wasi:pipes/pipes@0.1.0" "open" (func $open (result i32)))
        (memory (export "memory") 1)
        (func (export "test:idle/idle@0.1.0#ready") (result i32) (i32.const 7)))"#;
    let component = home.file("idle.wasm", components::encode(wit, "tool", module));
    home.publish(&component);
    assert_eq!(home.js("return await idle.ready({})", &["--allow", "**"])["value"], 7);
}
