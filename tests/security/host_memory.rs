//! Memory of the host's process while scripts, agents, programs and tools do their worst within the limits of a run.
//!
//! Each test runs the real binary and compares the largest resident set of its process with the limit and a constant.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tollhouse_tests::{Home, Ran, built, components};

/// Memory limit of the runs here.
const LIMIT: u64 = 64 << 20;

/// Limit that shows that what a process has grows by what its limit grows, and not by a multiple of that.
const HIGHER: u64 = 256 << 20;

/// Bytes that a process may have beyond the limits: the binary and its compiled code, the 64 MiB that each guest has for
/// itself, texts that cross its border, and lists that grow by doubling.
const CONSTANT: u64 = 448 << 20;

/// Runs a script within limits and returns what it came to, with the largest resident set of the process, in bytes.
fn measured(home: &Home, limit: u64, arguments: &[&str]) -> (Ran, u64) {
    let memory = format!("memory={limit}B");
    let fixed = ["run", "--limit", &memory, "--timeout", "600s"];
    peak_of(home.command(fixed.iter().copied().chain(arguments.iter().copied())))
}

/// Runs a command and returns what it came to, with the largest resident set of its process, in bytes.
fn peak_of(mut command: Command) -> (Ran, u64) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
    let status = format!("/proc/{}/status", child.id());
    // Read beside: a process whose output nobody reads does not end.
    let reader = std::thread::spawn(move || {
        let mut peak = 0;
        // The largest size only grows, so that the last look before the end is nearly the peak.
        while let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
            // A process that has ended and that nobody waited for has none.
            match kib {
                Some(kib) => peak = kib << 10,
                None => break,
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        peak
    });
    let ran = Ran::of(&child.wait_with_output().expect("it ended"));
    (ran, reader.join().expect("it only reads"))
}

/// Checks that a run ends with this output, and that its process stays within the limit, so many bytes more that other
/// limits allow, and the constant.
fn stays_within(home: &Home, limit: u64, others: u64, arguments: &[&str], expected: &str) {
    stays_below(home, limit, limit + others + CONSTANT, arguments, expected);
}

/// Checks that a run within a limit ends with this output, and that its process has fewer bytes than `most`.
fn stays_below(home: &Home, limit: u64, most: u64, arguments: &[&str], expected: &str) {
    let (ran, peak) = measured(home, limit, arguments);
    println!("{} MiB of {}: {arguments:?}", peak >> 20, most >> 20);
    assert!(
        ran.stdout.contains(expected) || ran.stderr.contains(expected),
        "{} {}",
        head(&ran.stdout),
        head(&ran.stderr)
    );
    assert!(peak > 0 && peak < most, "{} MiB: {arguments:?}", peak >> 20);
}

/// Returns the part of an output that a failed test shows.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(2_000)]
}

const ROWS: &str = "const row = Array(1000).fill(0), rows = Array(1000).fill(row), text = (n) => Array(n).fill(rows);";

#[test]
fn arguments_that_nobody_granted_take_bounded_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = format!("{ROWS} return await stats.describe({{ values: text(14) }}).catch((error) => error.message)");
    stays_within(&home, LIMIT, 0, &["-e", &script], "bytes of memory that are left for them");
}

#[test]
fn arguments_of_calls_at_once_share_the_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = format!(
        "{ROWS} const flat = rows.slice(0, 300).flat();
        const all = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => stats.describe({{ values: flat }})));
        return all.filter((one) => one.status === 'rejected').map((one) => one.reason.message)[0]"
    );
    stays_within(&home, LIMIT, 0, &["--allow", "stats/*", "-e", &script], "bytes of memory that are left for them");
}

#[test]
fn arguments_from_the_shell_take_bounded_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = "z=0,0,0,0,0,0,0,0,0,0; for i in 1 2 3 4 5 6; do z=$z,$z,$z,$z,$z,$z,$z; done
        tool stats describe --json \"{\\\"values\\\":[$z]}\" | head -c 300; echo over";
    stays_within(&home, LIMIT, 0, &["--lang", "sh", "-e", script], "");
}

#[test]
fn value_that_a_script_returns_takes_bounded_memory() {
    let script = format!("{ROWS} return text(14)");
    stays_within(&Home::new(), LIMIT, 0, &["-e", &script], "returned a value of more than");
}

#[test]
fn error_that_a_script_throws_takes_bounded_memory() {
    for script in [
        "throw new Error('x'.repeat(14e6))",
        "const error = new Error('text'); error.name = 'x'.repeat(14e6); throw error",
        "throw 'x'.repeat(14e6)",
        "const error = new Error('text'); error.stack = 'Error: text\\n    at ' + 'x'.repeat(14e6); throw error",
    ] {
        stays_within(&Home::new(), LIMIT, 1, &["-e", script], "more bytes");
    }
}

#[test]
fn arguments_within_the_memory_are_passed() {
    let home = Home::with_tools(&["stats"]);
    let script = format!("{ROWS} return (await stats.describe({{ values: rows.slice(0, 400).flat() }})).count");
    stays_within(&home, LIMIT, 0, &["--allow", "stats/*", "-e", &script], "400000");
}

#[test]
fn strings_and_objects_of_javascript_take_bounded_memory() {
    for script in [
        "const all = []; for (let n = 0; ; n++) all.push('x'.repeat(1 << 20) + n)",
        "let all = {}; for (let n = 0; ; n++) all = { all, n }",
    ] {
        for limit in [LIMIT, HIGHER] {
            stays_within(&Home::new(), limit, 0, &["-e", script], "memory");
        }
    }
}

#[test]
fn variables_of_the_shell_take_bounded_memory() {
    for script in [
        "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done",
        "while :; do all+=(\"$(head -c 100000 /dev/zero | tr '\\0' x)\"); done",
        "head -c 2000000000 /dev/zero | tr '\\0' '\\n' | sort | tail -n 1; echo \"${PIPESTATUS[@]} ended\" >&2; exit 9",
    ] {
        stays_within(&Home::new(), LIMIT, 0, &["--lang", "sh", "-e", script], "");
    }
}

#[test]
fn scripts_within_scripts_share_the_memory() {
    let script = "const one = `node -e 'const all = []; for (;;) all.push(\"x\".repeat(1 << 20) + all.length)'`;
        const ended = await Promise.allSettled([1, 2, 3, 4].map(() => shell(one)));
        return ended.map((one) => one.reason?.message ?? one.value.stderr).join()";
    // Four guests of each language have 64 MiB for themselves.
    stays_within(&Home::new(), LIMIT, 8 * (64 << 20), &["-e", script], "memory");
}

#[test]
fn output_of_scripts_within_scripts_takes_bounded_memory() {
    let script = "const one = `node -e 'for (let n = 0; n < 60; n++) console.log(\"x\".repeat(1 << 20))'`;
        const ended = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => shell(one)));
        return ended.map((one) => one.reason?.message ?? one.value.stdout.length).join()";
    stays_within(&Home::new(), LIMIT, 0, &["-e", script], "memory");
}

#[test]
fn deep_values_are_refused_and_take_bounded_memory() {
    let home = Home::with_fixture();
    let script = "let deep = 0; for (let n = 0; n < 5000; n++) deep = [deep];
        return await probe.length({ text: deep }).catch((error) => error.message)";
    stays_within(&home, LIMIT, 0, &["--allow", "**", "-e", script], "nest");
}

#[test]
fn calls_that_wait_take_bounded_memory() {
    let home = Home::with_fixture();
    let script = "for (let n = 0; n < 10_000; n++) {
            probe.length({ text: 'x'.repeat(256 << 10) }).catch(() => {});
            if (n % 100 === 99) await new Promise((go) => setTimeout(go, 0));
        }";
    let slow = "for (let n = 0; n < 16; n++) probe.spin({}).catch(() => {});";
    stays_within(&home, LIMIT, 0, &["--allow", "**", "-e", &format!("{slow} {script}")], "memory limit");
}

#[test]
fn tools_at_once_take_bounded_memory() {
    let home = Home::with_fixture();
    let script =
        "const all = await Promise.allSettled(Array.from({ length: 16 }, () => probe.allocate({ bytes: 200 << 20 })));
        return all.map((one) => one.reason?.message ?? one.value).join('; ')";
    for limit in [LIMIT, HIGHER] {
        stays_within(&home, limit, 0, &["--allow", "**", "-e", script], "memory limit");
    }
}

#[test]
fn results_that_wait_take_bounded_memory() {
    let home = Home::with_fixture();
    let busy = "await new Promise((go) => setTimeout(go, 0)); for (let n = 0; n < 2e7; n++); await Promise.all(all)";
    for call in ["probe.text({ count: 20 << 20 })", "probe.bytes({ count: 1_000_000 })"] {
        let script = format!(
            "const said = []; const note = (what) => said.push(what.message ?? what.length);
            const all = Array.from({{ length: 32 }}, () => {call}.then(note, note)); {busy}; return said.join()"
        );
        stays_within(&home, LIMIT, 0, &["--allow", "**", "-e", &script], "memory");
    }
}

#[test]
fn files_take_bounded_memory() {
    let files = 64 << 20;
    let limit = format!("files={files}B");
    let script = "const part = crypto.getRandomValues(new Uint8Array(65536));
        for (let n = 0; ; n++) { part[n % 65536] = n; await fs.writeFile(`file${n}`, part) }";
    stays_within(&Home::new(), LIMIT, files, &["--limit", &limit, "-e", script], "EDQUOT");
    let script = "for ((n = 0; ; n++)); do head -c 100000 /dev/urandom > file$n || exit 7; done";
    stays_within(&Home::new(), LIMIT, files, &["--limit", &limit, "--lang", "sh", "-e", script], "");
}

/// Zeros take no memory until they are read.
#[test]
fn file_that_is_read_takes_bounded_memory() {
    let script = "fs.writeFileSync('zeros', ''); fs.truncateSync('zeros', 1e9); return fs.readFileSync('zeros').length";
    stays_within(&Home::new(), LIMIT, 0, &["-e", script], "memory limit");
    let script = "fs.writeFileSync('zeros', ''); fs.truncateSync('zeros', 4e7); return fs.readFileSync('zeros').length";
    stays_within(&Home::new(), LIMIT, 0, &["-e", script], "40000000");
}

#[test]
fn log_takes_bounded_memory() {
    let home = Home::with_fixture();
    let script = "for (;;) await probe.length({ text: 'x'.repeat(1 << 20) }).catch(() => {})";
    let log = ["--audit", "log.jsonl", "--limit", "log=1MiB", "-e", script];
    stays_within(&home, LIMIT, 0, &log, "limit `log`");
    let printing = "for (;;) await probe.print({ bytes: 1 << 24 })";
    let log = ["--audit", "log.jsonl", "--limit", "log=1MiB", "--allow", "**", "-e", printing];
    stays_within(&home, LIMIT, 0, &log, "limit `log`");
}

#[test]
fn output_takes_bounded_memory() {
    let output = 64 << 20;
    let script = "for (;;) console.log('x'.repeat(1 << 20))";
    // What is captured is there as bytes, as text and as JSON.
    stays_within(&Home::new(), LIMIT, 3 * output, &["--json", "-e", script], "output limit");
}

/// A component of the fixtures, as a path.
fn fixture(name: &str) -> String {
    let path: PathBuf = built().join("../wasm32-wasip2/guest").join(name);
    assert!(path.exists(), "{} is not built: run `cargo xtask build`", path.display());
    path.display().to_string()
}

#[test]
fn agents_that_are_components_take_bounded_memory() {
    let home = Home::with_fixture();
    let agent = fixture("tollhouse-fixture-agent.wasm");
    for limit in [LIMIT, HIGHER] {
        stays_within(&home, limit, 0, &["--allow", "**", &agent, "--", "allocate"], "memory limit");
    }
    stays_within(&home, LIMIT, 64 << 20, &["--allow", "**", &agent, "--", "print"], "output limit");
}

#[test]
fn programs_take_bounded_memory() {
    let home = Home::new();
    home.publish_program("wasm32-wasip2");
    // Each byte takes long in an unoptimised build: fewer than elsewhere, and fewer are allowed to be in memory.
    let shell = "prog zeros 80000000 | prog cat | prog count";
    stays_below(&home, LIMIT, 128 << 20, &["--allow", "**", "--lang", "sh", "-e", shell], "80000000");
    let called = "const all = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => prog({ arguments: ['zeros', '60000000'] })));
        return all.map((one) => one.reason?.message ?? one.value.stdout.length).join()";
    // Either the calls are told, or the script, which holds what they printed.
    stays_within(&home, LIMIT, 0, &["--allow", "**", "-e", called], "memory");
}

/// A component that holds header fields, as many and as long as it is told, and tells whether a request may have a method and a
/// path of a length.
fn holder() -> Vec<u8> {
    let wit = format!(
        "package test:holder@0.1.0;
        interface holder {{ hold: func(count: u32, bytes: u32) -> u32; method: func(bytes: u32) -> bool; path: func(bytes: u32) -> bool; }}
        world tool {{ import wasi:http/types@0.2.0; export holder; }}
        {}",
        include_str!("../support/http.wit")
    );
    let types = "(import \"wasi:http/types@0.2.0\"";
    let module = format!(
        r#"(module
        {types} "[constructor]fields" (func $fields (result i32)))
        {types} "[method]fields.append" (func $append (param i32 i32 i32 i32 i32 i32)))
        {types} "[constructor]outgoing-request" (func $request (param i32) (result i32)))
        {types} "[method]outgoing-request.set-method" (func $set-method (param i32 i32 i32 i32) (result i32)))
        {types} "[method]outgoing-request.set-path-with-query" (func $set-path (param i32 i32 i32 i32) (result i32)))
        {memory}
        (data (i32.const 1024) "x-key")
        (func (export "test:holder/holder@0.1.0#hold") (param $count i32) (param $bytes i32) (result i32)
            (local $made i32) (local $fields i32)
            (memory.fill (i32.const 131072) (i32.const 97) (local.get $bytes))
            (loop $next
                (local.set $fields (call $fields))
                (call $append (local.get $fields) (i32.const 1024) (i32.const 5)
                    (i32.const 131072) (local.get $bytes) (i32.const 16))
                (local.set $made (i32.add (local.get $made) (i32.eqz (i32.load8_u (i32.const 16)))))
                (br_if $next (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
            (local.get $made))
        (func (export "test:holder/holder@0.1.0#method") (param $bytes i32) (result i32)
            (memory.fill (i32.const 131072) (i32.const 97) (local.get $bytes))
            (i32.eqz (call $set-method (call $request (call $fields)) (i32.const 9) (i32.const 131072) (local.get $bytes))))
        (func (export "test:holder/holder@0.1.0#path") (param $bytes i32) (result i32)
            (memory.fill (i32.const 131072) (i32.const 47) (local.get $bytes))
            (i32.eqz (call $set-path (call $request (call $fields)) (i32.const 1) (i32.const 131072) (local.get $bytes)))))"#,
        memory = components::MEMORY,
    );
    components::encode(&wit, "tool", &module)
}

/// The objects that WASI's implementation holds for a tool without any permission take bounded memory.
#[test]
fn resources_of_wasi_take_bounded_memory() {
    let home = Home::new();
    home.file("holder.wasm", holder());
    assert_eq!(home.run(["publish", "holder.wasm"]).status, 0);
    let allow = ["--allow", "**", "-e"];
    let script = "const hold = () => holder.hold({ count: 20_000, bytes: 30_000 }).catch((error) => `${error.kind} ${error.message}`);
        return (await Promise.all(Array.from({ length: 8 }, hold))).join('\\n')";
    stays_within(&home, LIMIT, 0, &[&allow[..], &[script]].concat(), "handles of its host at once");
    let script =
        "return [await holder.hold({ count: 100, bytes: 30_000 }), await holder.hold({ count: 1, bytes: 70_000 }).catch((error) => error.message),
        await holder.method({ bytes: 20 }), await holder.method({ bytes: 100_000 }),
        await holder.path({ bytes: 8_000 }), await holder.path({ bytes: 60_000 })]";
    let ran = home.js(script, &["--allow", "**"]);
    assert_eq!(
        ran["value"],
        serde_json::json!([100, "`holder/hold` trapped: total size of fields exceeds limit", true, false, true, false]),
        "{ran}"
    );
}

/// A recording of a stranger takes no more memory than its run may use: its values are counted before they are made.
#[test]
fn recording_of_many_values_takes_bounded_memory() {
    let home = Home::with_tools(&["stats"]);
    let allow = ["--allow", "stats/*", "-e", "return await stats.describe({ values: [1, 2, 3] })"];
    let record = [&["run", "--record", "calls.rec"][..], &allow].concat();
    assert_eq!(home.run(&record).status, 0);
    let recorded = std::fs::read_to_string(home.path().join("calls.rec")).expect("it was written");
    let (header, _) = recorded.split_once('\n').expect("a header and a call");
    let zeros = format!("[0{}]", ",0".repeat(10_000_000));
    let lists = format!("[[]{}]", ",[]".repeat(3_000_000));
    for (name, values) in [("zeros", &zeros), ("lists", &lists)] {
        let answers = format!(
            "{{\"run\":1,\"seq\":1,\"method\":\"stats/describe\",\"arguments\":{{\"values\":[1,2,3]}},\"answer\":{{\"result\":{{\"json\":{{\"value\":{values}}}}}}},\"order\":1}}"
        );
        let arguments =
            format!("{{\"run\":1,\"seq\":1,\"method\":\"stats/describe\",\"arguments\":{{\"values\":{values}}}}}");
        for (place, line) in [("answer", answers), ("arguments", arguments)] {
            home.file("big.rec", format!("{header}\n{line}\n"));
            let replay = [&["--replay", "big.rec"][..], &allow].concat();
            println!("{name} in the {place}");
            stays_within(&home, LIMIT, 0, &replay, "it takes more than the memory limit of 67108864 bytes");
        }
    }
    let short = "{\"run\":1,\"seq\":1,\"method\":\"a/b\",\"arguments\":{}}\n".repeat(1_000_000);
    home.file("big.rec", format!("{header}\n{short}"));
    let replay = [&["--replay", "big.rec"][..], &allow].concat();
    stays_within(&home, LIMIT, 0, &replay, "it takes more than the memory limit of 67108864 bytes");
    // The twin: one that fits is replayed.
    home.file("big.rec", recorded);
    stays_within(&home, LIMIT, 0, &replay, "mean");
}

/// A component that returns as many zeros as it is told.
fn zeros() -> Vec<u8> {
    let wit = "package test:zeros@0.1.0;
        interface zeros { zeros: func(count: u32) -> list<u32>; }
        world tool { export zeros; }";
    let module = r#"(module
        (memory (export "memory") 64)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1048576))
        (func (export "test:zeros/zeros@0.1.0#zeros") (param $count i32) (result i32)
            (i32.store (i32.const 16) (i32.const 1024))
            (i32.store (i32.const 20) (local.get $count))
            (i32.const 16)))"#;
    components::encode(wit, "tool", module)
}

/// A value takes thirty-six times the memory of its text, and a run that makes one call after the other never holds two.
#[test]
fn journal_of_many_values_takes_bounded_memory_when_it_is_read() {
    let home = Home::new();
    home.file("zeros.wasm", zeros());
    assert_eq!(home.run(["publish", "zeros.wasm"]).status, 0);
    let policy = "[tools]\nzeros = 'test:zeros@0.1.0'\n[[grant]]\nmethod = 'zeros/*'\ncalls = 15\n\
        [[grant]]\nmethod = 'zeros/*'\napprove = true\n[limits]\nmemory = '64MiB'\nwall = '600s'\n\
        [journal]\nkeep = 'all'\n";
    home.file("p.toml", policy);
    assert_eq!(home.run(["session", "new", "s", "--policy", "p.toml"]).status, 0);
    let script = "let sum = 0;
        for (let n = 0; n < 15; n++) sum += (await zeros.zeros({ count: 300_000 })).length;
        return sum + (await zeros.zeros({ count: 1 })).length";
    let suspended = home.run(["run", "--session", "s", "--no-wait", "-e", script]);
    assert_eq!(suspended.status, 5, "{} {}", suspended.stdout, head(&suspended.stderr));
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    // Nine million bytes of text are 324 million bytes of values. Only one guest runs, so that less is allowed than elsewhere.
    let most = LIMIT + (128 << 20);
    let within = |arguments: &[&str], expected: &str| {
        let (ran, peak) = peak_of(home.command(arguments.iter().copied()));
        println!("{} MiB of {}: {arguments:?}", peak >> 20, most >> 20);
        assert!(ran.status == 0 && ran.stdout.contains(expected), "{} {}", head(&ran.stdout), head(&ran.stderr));
        assert!(peak > 0 && peak < most, "{} MiB: {arguments:?}", peak >> 20);
    };
    within(&["session", "fork", "s@1", "t", "--at", "16"], "");
    within(&["session", "replay", "s@1"], "zeros");
    within(&["session", "resume", "s"], "4500001");
    within(&["session", "why", "s", "/workspace"], "");
    assert_eq!(home.run(["registry", "keygen", "--out", "signer.key"]).status, 0);
    within(&["session", "receipt", "s@1", "run.receipt", "--key", "signer.key"], "");
}
