//! No fine clock: what scripts, tools and agents can read of the time, however they try, is what docs/security.md says. No test here
//! measures how long anything takes: each looks at readings that real time would change.

use serde_json::{Value, json};
use tollhouse_tests::{Home, components};

/// Nanoseconds in a millisecond, the unit of every clock of a guest.
const RESOLUTION: u64 = 1_000_000;

/// Reads every clock that a script has, within steps and behind all that ends one: nanoseconds, as texts.
const READINGS: &str = r"
    const readings = [];
    const nanos = (millis) => readings.push(String(Math.round(millis * 1e6)));
    const read = () => {
        nanos(Date.now());
        nanos(new Date().getTime());
        nanos(performance.now());
        nanos(performance.timeOrigin);
        readings.push(String(process.hrtime.bigint()));
        const [seconds, rest] = process.hrtime();
        readings.push(String(BigInt(seconds) * 1000000000n + BigInt(rest)));
        nanos(process.uptime() * 1e3);
        fs.writeFileSync('touched', 'x');
        nanos(fs.statSync('touched').mtimeMs);
    };
    for (let round = 0; round < 20; round++) {
        read();
        for (let count = 0; count < 10000; count++);
        read();
        await new Promise((go) => setTimeout(go, round % 3 + 0.123));
        read();
        await probe.length({ text: 'four' });
        read();
        await fs.promises.readFile('touched');
        read();
        readings.push(...(await shell('echo $EPOCHREALTIME; date +%s%N; stat -c %.9Y touched')).stdout.trim().split('\n')
            .map((line) => line.replace('.', '').padEnd(19, '0')));
        readings.push(...(await probe.clocks({})).slice(0, 1).map(String));
        const { start, end } = (() => { const start = performance.now(); return { start, end: performance.now() } })();
        nanos(end - start);
    }
    return readings";

#[test]
fn clocks_of_scripts_and_tools_count_whole_milliseconds() {
    let home = Home::with_fixture();
    let ran = home.js(READINGS, &["--allow", "**"]);
    let readings: Vec<u64> = ran["value"]
        .as_array()
        .unwrap_or_else(|| panic!("{ran}"))
        .iter()
        .map(|reading| reading.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{reading}")))
        .collect();
    assert_eq!(readings.len(), 20 * 45);
    // `Date.now() * 1e6` is no exact double: it is off by less than a microsecond.
    let off = |reading: u64| (reading % RESOLUTION).min(RESOLUTION - reading % RESOLUTION);
    let finer: Vec<&u64> = readings.iter().filter(|reading| off(**reading) >= 1_000).collect();
    assert!(finer.is_empty(), "{} of {}, so {:?}", finer.len(), readings.len(), &finer[..finer.len().min(5)]);
}

/// The clock that a script reads while it computes depends on the computation alone: twice the same, whatever the
/// machine does.
#[test]
fn clock_of_javascript_follows_fuel_and_not_time_within_a_step() {
    let home = Home::new();
    let script = "const start = Date.now(), seen = [];
        const note = () => seen.push(Date.now() - start, performance.now() === performance.now());
        for (const count of [0, 1e3, 3e4, 1e5, 1e6, 3e6]) {
            for (let at = 0; at < count; at++);
            note();
            fs.writeFileSync('file', 'x'.repeat(1e6));
            fs.readFileSync('file');
            note();
            crypto.getRandomValues(new Uint8Array(60000));
            JSON.parse(JSON.stringify(new Array(1000).fill('text')));
            note();
        }
        const edge = Date.now();
        let ticks = 0;
        while (Date.now() === edge) ticks++;
        return [...seen, ticks]";
    let first = home.js(script, &[]);
    let seen = first["value"].as_array().unwrap_or_else(|| panic!("{first}"));
    assert_eq!(seen.len(), 37, "{first}");
    assert!(seen.iter().filter_map(Value::as_u64).any(|millis| millis > 0), "it goes on, by fuel: {first}");
    for _ in 0..5 {
        assert_eq!(home.js(script, &[])["value"], first["value"]);
    }
}

/// A script has nothing to count with beside its clock: no threads, and nothing that measures by another clock. (A
/// `SharedArrayBuffer` and `Atomics` are there: nothing shares the one, and nobody else changes what the other reads.)
#[test]
fn script_has_no_counting_thread_beside_its_clock() {
    let home = Home::new();
    // The channels of messages lead within one thread: a message is delivered between two steps of the script.
    let script = "const names = ['Worker', 'SharedWorker', 'WebAssembly', 'requestAnimationFrame'];
        const there = names.filter((name) => typeof globalThis[name] !== 'undefined');
        for (const name of ['worker_threads', 'cluster', 'inspector', 'perf_hooks']) {
            try {
                const found = require(name);
                if (name === 'worker_threads') {
                    try { new found.Worker('0', { eval: true }); there.push('Worker') } catch {}
                } else if (name !== 'perf_hooks') there.push(name);
                else {
                    try { found.monitorEventLoopDelay(); there.push('monitorEventLoopDelay') } catch {}
                    // What these measure are whole milliseconds of the script's clock.
                    const histogram = found.createHistogram();
                    for (let round = 0; round < 50; round++) histogram.recordDelta(await sleep(1));
                    const { idle, active } = performance.eventLoopUtilization();
                    const shared = new Int32Array(new SharedArrayBuffer(4)), begun = performance.now();
                    Atomics.wait(shared, 0, 0, 0.25);
                    const times = [idle, active, performance.now() - begun, ...[...histogram.percentiles.values()].map((nanos) => nanos / 1e6)];
                    // A histogram keeps three figures.
                    there.push(...times.filter((time) => Math.abs(time - Math.round(time)) > time / 500));
                }
            } catch (error) {
                if (name === 'perf_hooks') there.push(String(error));
            }
        }
        return there";
    assert_eq!(home.js(script, &[])["value"], json!([]));
}

/// Timers, calls and scripts that were begun earlier go on while a script computes, and nothing of them shows within the step.
#[test]
fn events_during_a_step_are_not_visible_within_it() {
    let home = Home::with_fixture();
    let script = "let fired = 0;
        setTimeout(() => fired++, 1);
        probe.length({ text: 'four' }).then(() => fired++);
        const counted = shell('for n in 1 2 3; do echo $n > counter; sleep 0.001; done');
        await new Promise((go) => setTimeout(go, 1));
        const before = fired, seen = new Set();
        const counter = () => fs.existsSync('counter') ? fs.readFileSync('counter', 'utf8').trim() : '';
        for (let round = 0; round < 2000; round++) {
            for (let count = 0; count < 500; count++);
            seen.add(`${fired} ${counter()}`);
        }
        await counted;
        return [seen.size, fired, counter()]";
    let ran = home.js(script, &["--allow", "**"]);
    assert_eq!(ran["value"], json!([1, 2, "3"]), "{ran}");
}

/// A component that measures how long it computes, by each means that it has; `export` is what it gives the result as.
fn measuring(export: &str) -> Vec<u8> {
    let wit = "package test:clock@0.1.0;
        interface clock { measured: func() -> u32; }
        world tool { include clocks; export clock; }
        world agent { include clocks; export wasi:cli/run@0.2.0; }
        world clocks {
            import wasi:clocks/monotonic-clock@0.2.0; import wasi:clocks/wall-clock@0.2.0; import wasi:io/poll@0.2.0;
        }
        package wasi:cli@0.2.0 { interface run { run: func() -> result; } }
        package wasi:io@0.2.0 {
            interface poll { resource pollable { block: func(); } poll: func(in: list<borrow<pollable>>) -> list<u32>; }
        }
        package wasi:clocks@0.2.0 {
            interface monotonic-clock {
                use wasi:io/poll@0.2.0.{pollable};
                now: func() -> u64; subscribe-duration: func(when: u64) -> pollable;
            }
            interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }
        }";
    let module = format!(
        r#"(module
        (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $now (result i64)))
        (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $timer (param i64) (result i32)))
        (import "wasi:clocks/wall-clock@0.2.0" "now" (func $wall (param i32)))
        (import "wasi:io/poll@0.2.0" "poll" (func $poll (param i32 i32 i32)))
        (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
        {MEMORY}
        (func $compute (local $left i32)
            (local.set $left (i32.const 500000000))
            (loop $again (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))
        ;; How many are due of a timer and of one that is due at once.
        (func $due (param $which i32) (result i32)
            (i32.store (i32.const 64) (local.get $which))
            (i32.store (i32.const 68) (call $timer (i64.const 0)))
            (call $poll (i32.const 64) (i32.const 2) (i32.const 80))
            (i32.load (i32.const 84)))
        (func $measured (result i32) (local $flags i32) (local $before i64) (local $which i32)
            (local.set $before (call $now))
            ;; 1: the clock counts less than milliseconds; 2: so does the other one.
            (local.set $flags (i64.ne (i64.rem_u (local.get $before) (i64.const 1000000)) (i64.const 0)))
            (call $wall (i32.const 32))
            (local.set $flags (i32.add (local.get $flags) (i32.mul (i32.const 2)
                (i32.ne (i32.rem_u (i32.load (i32.const 40)) (i32.const 1000000)) (i32.const 0)))))
            (local.set $which (call $timer (i64.const 50000000)))
            (call $compute)
            ;; 4: the clock went on; 8: the timer did.
            (local.set $flags (i32.add (local.get $flags)
                (i32.mul (i32.const 4) (i64.ne (call $now) (local.get $before)))))
            (local.set $flags (i32.add (local.get $flags)
                (i32.mul (i32.const 8) (i32.ne (call $due (local.get $which)) (i32.const 1)))))
            ;; 16: a timer is not due after a longer wait.
            (local.set $which (call $timer (i64.const 1000000)))
            (call $block (call $timer (i64.const 2000000)))
            (i32.add (local.get $flags) (i32.mul (i32.const 16) (i32.ne (call $due (local.get $which)) (i32.const 2)))))
        (func (export "{export}") (result i32) {body}))"#,
        MEMORY = components::MEMORY,
        body = match export {
            "wasi:cli/run@0.2.0#run" => "(i32.ne (call $measured) (i32.const 0))",
            _ => "(call $measured)",
        }
    );
    components::encode(wit, if export.starts_with("wasi") { "agent" } else { "tool" }, &module)
}

#[test]
fn timers_of_a_tool_do_not_measure_what_it_computes() {
    let home = Home::new();
    let component = home.file("clock.wasm", measuring("test:clock/clock@0.1.0#measured"));
    home.publish(&component);
    let ran = home.js("return await clock.measured({})", &["--allow", "**"]);
    assert_eq!(ran["value"], 0, "{ran}");
}

#[test]
fn timers_of_an_agent_do_not_measure_what_it_computes() {
    let home = Home::new();
    home.file("agent.wasm", measuring("wasi:cli/run@0.2.0#run"));
    let ran = home.json(["agent.wasm"]);
    assert_eq!((&ran["status"], &ran["exit_code"]), (&json!("completed"), &json!(0)), "{ran}");
}
