//! Where the seed system's promises broke when it was run, a test for each. Most of it is proved in detail elsewhere:
//!
//! | hole | what broke there | here, and in detail in |
//! | --- | --- | --- |
//! | 1 | loops, regular expressions and jq hang, and SIGINT does nothing | `hole_1_…`; `cancellation`, `hostile` (`loops`), `shell::limits` |
//! | 2 | a long print, argument or error kills the sandbox | `hole_2_…`; `calls::call_of_ten_megabytes_passes_both_ways`, `hostile` (`output`) |
//! | 3 | twelve tools leave no room for a script | `hole_3_…` |
//! | 4 | deep recursion, deep JSON and `1e1000` in jq kill it | `hole_4_…`; `hostile` (`stack`), `shell::limits::jq_that_recurses_for_ever_is_limited` |
//! | 5 | memory and files without limit | `hole_5_…`; `hostile` (`memory`), `scripts_in_scripts::fuel_and_memory_are_the_run_s` |
//! | 6 | a stopped script goes on inside the next run | `hole_6_…`; `cancellation::run_cancelled_makes_no_further_calls` |
//! | 10 | 22.9 MB leak for each sandbox | `hole_10_…`; `cargo xtask soak` |
//! | 11 | nothing runs at the same time, timers do not wait, a second run deadlocks | `hole_11_…`; `calls::calls_run_at_the_same_time`, `step_api`, `concurrent_sessions` |

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::gate::Audit;
use tollhouse::guest::Language;
use tollhouse::session::{Host, Session, SessionOptions, Status};
use tollhouse_tests::{AdmissionCount, Home, run};

fn session(host: &Host, limits: Limits, audit: Option<Arc<dyn Audit>>) -> Session {
    let policy = Policy { limits, ..Policy::default().with(Grant::allow("probe/**").expect("a pattern")) };
    host.session(SessionOptions { policy, audit, ..SessionOptions::default() }).expect("a session")
}

/// The session's next run, with a tool and a script within the script.
fn works(session: &Session) {
    let script = "return [await probe.length({ text: 'four' }), (await shell('echo hi')).stdout]";
    let result = run(session, Language::JavaScript, script);
    assert_eq!(result.value, Some(json!([4, "hi\n"])), "{:?}", result.error);
}

#[test]
fn hole_1_endless_script_is_stopped_and_the_session_works() {
    let home = Home::with_fixture();
    for (lang, code) in [
        ("js", "while(true){}"),
        ("js", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
        ("sh", "jq -n 'def f: f; f'"),
        ("sh", "while :; do :; done"),
    ] {
        let ran = home.run(["run", "--session", "s", "--timeout", "500ms", "--lang", lang, "-e", code]);
        assert!(
            ran.status == 4 && ran.stderr.contains("500 ms") && ran.stderr.contains("--timeout"),
            "{code}: {ran:?}"
        );
        let next = home.run(["run", "--session", "s", "-e", "return 6 * 7"]);
        assert_eq!((next.status, next.stdout.as_str()), (0, "42\n"), "{code}: {next:?}");
    }
}

#[test]
fn hole_2_output_of_ten_megabytes_passes_and_limits_are_named() {
    let home = Home::with_fixture();
    let host = home.host();
    let wide = session(&host, Limits::default(), None);
    let ten = 10 << 20;
    let result = run(&wide, Language::JavaScript, &format!("console.log('x'.repeat({ten}))"));
    assert_eq!((result.status, result.stdout.len()), (Status::Completed, ten + 1), "{:?}", result.error);
    let result = run(&wide, Language::Shell, &format!("yes | tr -d '\\n' | head -c {ten}; echo"));
    assert_eq!((result.status, result.stdout.len()), (Status::Completed, ten + 1), "{:?}", result.error);
    let both = format!(
        "const text = 'x'.repeat({ten});
        return [await probe.length({{ text }}), (await probe.text({{ count: {ten} }})).length]"
    );
    assert_eq!(run(&wide, Language::JavaScript, &both).value, Some(json!([ten, ten])));
    let error = "try { await probe.panic({ message: 'x'.repeat(1e6) }) } catch (error) { return error.name }";
    assert_eq!(run(&wide, Language::JavaScript, error).value, Some(json!("ToolError")));
    works(&wide);
    let (output, argument, result) = (5_999, 8_192, 8_192);
    let narrow = session(&host, Limits { output, argument, result, ..Limits::default() }, None);
    for (script, value, name) in [
        ("console.log('x'.repeat(6000))", "5999", "`output`"),
        ("await probe.length({ text: 'x'.repeat(9000) })", "8192", "`argument`"),
        ("await probe.text({ count: 9000 })", "8192", "`result`"),
    ] {
        let ended = run(&narrow, Language::JavaScript, script);
        let error = ended.error.expect("a limit");
        let hint = error.hint.as_deref().unwrap_or_default();
        assert!(
            ended.status == Status::Limited && error.message.contains(value) && hint.contains(name),
            "{error} {hint}"
        );
        works(&narrow);
    }
}

#[test]
fn hole_3_a_script_of_a_megabyte_and_a_thousand_tools() {
    let home = Home::with_fixture();
    let mut policy = "[[grant]]\nmethod = \"**\"\n[tools]\n".to_owned();
    for number in 0..1_000 {
        writeln!(policy, "probe{number} = \"test:probe\"").expect("a string");
    }
    home.file("policy.toml", policy);
    let comment = "// what an agent says to itself\n".repeat((1 << 20) / 32);
    let script =
        format!("{comment}return await probe0.length({{ text: 'a' }}) + await probe999.length({{ text: 'bc' }})");
    home.file("script.js", &script);
    let ran = home.run(["run", "--policy", "policy.toml", "script.js"]);
    assert_eq!((script.len() > 1 << 20, ran.status, ran.stdout.as_str()), (true, 0, "3\n"), "{ran:?}");
}

#[test]
fn hole_4_too_deep_recursion_is_an_error_and_the_session_works() {
    let home = Home::with_fixture();
    let session = session(&home.host(), Limits::default(), None);
    let caught = "const f = (n) => n === 0 ? 0 : 1 + f(n - 1);
        const told = [f(585), f(1000)];
        try { f(1e9) } catch (error) { told.push(error.name) }
        return told";
    let result = run(&session, Language::JavaScript, caught);
    assert_eq!(result.value, Some(json!([585, 1000, "RangeError"])), "{:?}", result.error);
    let deep = "JSON.parse('['.repeat(100000) + ']'.repeat(100000))";
    let result = run(&session, Language::JavaScript, deep);
    assert!(result.error.as_ref().is_none_or(|error| error.kind != tollhouse::error::ErrorKind::Host), "{result:?}");
    works(&session);
    let result = run(&session, Language::Shell, "jq -n '1e1000'; echo \"status $?\"");
    let stdout = String::from_utf8_lossy(&result.stdout);
    assert!(result.status == Status::Completed && stdout.contains("status "), "{stdout} {:?}", result.error);
    let result = run(&session, Language::Shell, "f() { f; }; f");
    assert_eq!(result.status, Status::Limited, "{:?}", result.error);
    works(&session);
}

#[test]
fn hole_5_memory_and_files_end_at_their_limits() {
    let home = Home::with_fixture();
    let limits = Limits { memory: 32 << 20, files: 8 << 20, ..Limits::default() };
    let session = session(&home.host(), limits, None);
    for (language, script) in [
        (Language::JavaScript, "const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))"),
        (Language::JavaScript, "const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length)"),
        (Language::Shell, "text=x; while :; do text+=$text; done"),
    ] {
        let result = run(&session, language, script);
        let error = result.error.as_ref().expect("a limit");
        assert!(result.status == Status::Limited && error.message.contains("memory"), "{script}: {error}");
        assert!(result.usage.memory_bytes < 200 << 20, "{script}: {}", result.usage.memory_bytes);
        works(&session);
    }
    let quota = "try { for (let n = 0; ; n++) await fs.writeFile(`${n}`, 'x'.repeat(1 << 20)) } catch (error) { return error.code }";
    let result = run(&session, Language::JavaScript, quota);
    assert!(matches!(result.value.as_ref().and_then(Value::as_str), Some("EDQUOT" | "ENOSPC")), "{:?}", result.value);
    assert!(result.usage.file_bytes <= 8 << 20, "{}", result.usage.file_bytes);
    works(&session);
}

#[test]
fn hole_6_stopped_script_makes_no_calls_in_the_next_run() {
    let home = Home::with_fixture();
    let admitted = Arc::new(AdmissionCount::default());
    let limits = Limits { wall: Duration::from_millis(500), ..Limits::default() };
    let session = session(&home.host(), limits, Some(Arc::clone(&admitted) as Arc<dyn Audit>));
    // Compiled before it counts.
    let _ = session.call("probe/length", r#"{"text": ""}"#);
    for script in [
        "for (;;) await probe.remember({})",
        "setInterval(() => probe.remember({}).catch(() => {}), 1); await new Promise(() => {})",
        "await shell('while :; do probe remember; done')",
    ] {
        let result = run(&session, Language::JavaScript, script);
        assert_eq!(result.status, Status::Limited, "{script}: {:?}", result.error);
        let before = admitted.count();
        // The next run takes as long as the stopped one would have needed for hundreds of calls.
        let next = run(&session, Language::JavaScript, "await new Promise((go) => setTimeout(go, 200)); return 1");
        assert_eq!((next.value, next.calls.as_slice().len()), (Some(json!(1)), 0), "{script}");
        assert_eq!(admitted.count(), before, "{script}");
    }
}

/// Returns the number of sandboxes to make and drop: `TOLLHOUSE_SANDBOXES`, or few. The row says 10,000.
fn sandboxes() -> usize {
    std::env::var("TOLLHOUSE_SANDBOXES").ok().and_then(|count| count.parse().ok()).unwrap_or(400)
}

/// The resident memory of this process, in MiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok()).unwrap_or_default() / 1024
}

#[test]
fn hole_10_sandboxes_leave_nothing_behind() {
    let home = Home::with_fixture();
    let host = home.host();
    let one = |number: usize| {
        let session = session(&host, Limits::default(), None);
        let script =
            format!("await fs.writeFile('n', 'x'.repeat({number})); return await probe.length({{ text: 'four' }})");
        assert_eq!(run(&session, Language::JavaScript, &script).value, Some(json!(4)));
        if number.is_multiple_of(10) {
            assert_eq!(run(&session, Language::Shell, "probe length --text four").stdout, b"4\n");
        }
    };
    let count = sandboxes();
    // The pool keeps what it had: the first ones are not counted.
    (0..100).for_each(one);
    let before = resident();
    (0..count).for_each(one);
    let after = resident();
    println!("{count} sandboxes: {before} MiB before, {after} MiB after");
    // Of the seed's 22.9 MB each it would be gigabytes. What an allocator keeps for itself does not grow with the count.
    assert!(after < before + 48, "{before} MiB before {count} sandboxes, {after} MiB after");
}

#[test]
fn hole_11_calls_and_runs_go_on_at_once_and_timers_wait() {
    let home = Home::with_fixture();
    let host = home.host();
    let own = session(&host, Limits::default(), None);
    let timers = "const t = Date.now(), seen = [];
        const after = (time) => new Promise((go) => setTimeout(() => { seen.push(time); go() }, time));
        await Promise.all([after(200), after(20), after(100)]);
        return [seen, Date.now() - t >= 200]";
    assert_eq!(run(&own, Language::JavaScript, timers).value, Some(json!([[20, 100, 200], true])));
    // A tool that waits ten minutes, given up: the session goes on.
    let gives_up = "const stop = new AbortController(); setTimeout(() => stop.abort(), 50);
        const slow = probe.sleep({ millis: 6e5 }, { signal: stop.signal }).catch((error) => error.kind ?? error.name);
        return await Promise.race([slow, new Promise((go) => setTimeout(() => go('timer'), 2000))])";
    let result = run(&own, Language::JavaScript, gives_up);
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
    // Two runs at the same time.
    std::thread::scope(|scope| {
        let both = [0, 1].map(|_| {
            let other = session(&host, Limits::default(), None);
            scope.spawn(move || run(&other, Language::JavaScript, "await probe.sleep({ millis: 300 }); return 1").value)
        });
        assert!(both.into_iter().all(|run| run.join().expect("it ends") == Some(json!(1))));
    });
    // Of one session on disk the second waits for the first.
    let kept = |code: &str| home.command(["run", "--session", "s", "-e", code]).spawn().expect("it runs");
    let runs = [kept("await new Promise((go) => setTimeout(go, 300))"), kept("return 1")];
    assert!(runs.into_iter().all(|mut run| run.wait().expect("it ends").success()));
}
