//! `execSync` and its like: commands that are run to their end within a step of the script. That they are Node's is in
//! `tests/javascript/programs/child.txt`; here is what they cannot do, and what bounds them.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{RunOptions, RunResult, Session, SessionOptions, Status};
use tollhouse_tests::{Home, run};

/// Stands before each script.
const NODE: &str = "const {execSync, execFileSync, spawnSync} = require('child_process');
    const caught = (work) => { try { return ['went well', work()] } catch (e) { return [e.name, e.code ?? null, e.message] } };\n";

/// Returns the value of a script that must complete.
fn returned(home: &Home, code: &str, arguments: &[&str]) -> Value {
    let ran = home.js(&format!("{NODE}{code}"), arguments);
    assert_eq!(ran["status"], "completed", "{ran}");
    ran["value"].clone()
}

/// A session with these limits, and what it runs.
struct Limited {
    _home: Home,
    session: Session,
}

impl Limited {
    fn with(limits: Limits) -> Self {
        let home = Home::with_fixture();
        let grant = Grant::allow("probe/**").expect("a pattern");
        let policy = Policy { limits, ..Policy::default().with(grant) };
        let options = SessionOptions { policy, ..SessionOptions::default() };
        let session = home.host().session(options).expect("a session");
        Self { _home: home, session }
    }

    fn js(&self, code: &str) -> RunResult {
        run(&self.session, Language::JavaScript, &format!("{NODE}{code}"))
    }

    /// The session goes on: with both languages, and the synchronous form too.
    fn works(&self) {
        let result = self.js("return [execSync('echo one').toString(), await shell.run('echo two')]");
        assert_eq!(result.value, Some(json!(["one\n", "two\n"])), "{:?}", result.error);
        assert_eq!(run(&self.session, Language::Shell, "echo three").stdout, b"three\n");
    }

    /// A script that a limit ends, with this in the error's message.
    fn is_limited(&self, code: &str, says: &str) {
        let result = self.js(code);
        assert_eq!(result.status, Status::Limited, "{code}: {:?} {:?}", result.value, result.error);
        let message = result.error.map(|error| error.message).unwrap_or_default();
        assert!(message.contains(says), "{code}: {message}");
        self.works();
    }
}

const LOOP: &str = "while :; do :; done";

#[test]
fn synchronous_command_that_must_wait_names_the_asynchronous_form() {
    let home = Home::with_tools(&["stats", "http"]);
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = '**'\ncalls = 5\n");
    let code = "const told = [];
        for (const [command, options] of [
          ['stats describe --json \\'{\"values\":[1]}\\''], ['tool stats.describe --json \\'{\"values\":[1]}\\' || echo none'],
          ['curl -s http://127.0.0.1:1/'], ['echo a; sleep 1; echo b'], ['sleep 0.01 & wait'], ['timeout 9 sleep 5'],
          ['node -e \"await stats.describe({values: [1]})\"'], ['node -e \"setTimeout(() => {}, 20)\"'],
          ['node -e \"await fetch(\\'http://127.0.0.1:1/\\')\"'], ['cat', {stdio: 'inherit'}],
        ]) {
          try { execSync(command, options); told.push(command) } catch (e) { told.push([e.code, e.message, e.status]) }
        }
        return told;";
    let ran = home.js(&format!("{NODE}{code}"), &["--policy", "p.toml"]);
    let stats = "the tool `stats/describe`";
    let time = "time to pass (a timer, or `sleep`)";
    let stdin = "the standard input of the script that runs it";
    let wants = [stats, stats, "the tool `http/fetch`", time, time, time, stats, time, "the tool `http/fetch`", stdin];
    let told = ran["value"].as_array().unwrap_or_else(|| panic!("{ran}"));
    assert_eq!(told.len(), wants.len());
    for (told, what) in told.iter().zip(wants) {
        let message = format!(
            "execSync: the command asks for {what}, and a script cannot wait for that without `await`: use `exec`, or \
             `await shell.run(command)`"
        );
        assert_eq!(*told, json!(["ERR_FEATURE_UNAVAILABLE", message, null]), "{ran}");
    }
    // Nothing was judged, called or debited.
    assert_eq!(ran["calls"], json!([]));
    assert!(ran["budgets"].as_array().is_some_and(|all| all.iter().all(|budget| budget["used"] == 0)), "{ran}");
    for (call, instead) in [
        ("execFileSync('sleep', ['1'])", "use `execFile`, or `await shell.run(command)`"),
        ("spawnSync('sleep', ['1'])", "use `spawn`, or `await shell(command)`"),
    ] {
        let told = returned(&home, &format!("return caught(() => {call})"), &[]);
        assert!(told[2].as_str().is_some_and(|text| text.ends_with(instead)), "{told}");
    }
}

#[test]
fn synchronous_command_stopped_keeps_its_effects_and_output() {
    let home = Home::new();
    let code = "try { execSync('echo kept > a; echo out; echo err >&2; sleep 1; echo later > a') }
        catch (e) { return [String(e.stdout), String(e.stderr), await fs.readFile('a', 'utf8')] }";
    assert_eq!(returned(&home, code, &[]), json!(["out\n", "err\n", "kept\n"]));
}

#[test]
fn programs_are_not_run() {
    let home = Home::new();
    home.publish_program("wasm32-wasip1");
    home.file(
        "p.toml",
        "[[grant]]\nmethod = 'prog'\n[tools]\nprog = 'test:prog'\n[tool.prog]\nfiles = ['/workspace']\n",
    );
    let told = returned(&home, "return caught(() => execSync('prog args a || echo no'))", &["--policy", "p.toml"]);
    assert!(told[2].as_str().is_some_and(|text| text.contains("the program `prog`")), "{told}");
}

#[test]
fn time_passes_by_fuel_and_never_goes_back() {
    let home = Home::new();
    let code = "const before = Date.now(), inner = Number(execSync('date +%s%3N')), after = Date.now();
        execSync('i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done');
        const later = Date.now();
        execSync('node -e \"for (let i = 0; i < 4e6; i++);\"');
        return [before <= inner, inner <= after, later - after >= 50, later - after < 5000, Date.now() - later >= 50];";
    assert_eq!(returned(&home, code, &[]), json!([true, true, true, true, true]));
    // A deadline is reached by the same count; a timer of a millisecond and a pause are none that anybody waits for.
    let code = "return [spawnSync('timeout', ['0.2', 'bash', '-c', 'while :; do :; done']).status,
        execSync('node -e \"setTimeout(() => console.log(1), 1); setImmediate(() => console.log(0))\"').toString().length,
        execSync('yes | head -c 1000000 | wc -c').toString().trim()];";
    assert_eq!(returned(&home, code, &[]), json!([124, 4, "1000000"]));
}

#[test]
fn random_numbers_differ_between_commands() {
    let home = Home::new();
    let code = "const draw = () => execSync('echo $RANDOM $RANDOM $RANDOM; node -p \"Math.random()\"').toString();
        const drawn = [draw(), draw(), await shell.run('echo $RANDOM $RANDOM $RANDOM; node -p \"Math.random()\"')];
        return new Set(drawn.flatMap((text) => text.trim().split('\\n'))).size;";
    assert_eq!(returned(&home, code, &[]), 6);
}

#[test]
fn scripts_within_scripts_end_at_the_depth() {
    let home = Home::new();
    let code = "fs.writeFileSync('down.js', `
          const {spawnSync} = require('child_process'), at = Number(process.argv[2]);
          let ended;
          try { ended = spawnSync('node', ['down.js', String(at + 1)], {encoding: 'utf8'}) } catch (e) { ended = {stdout: e.name + ' ' + e.message} }
          console.log(at + ' ' + ended.stdout + (ended.stderr ?? ''))`);
        return execSync('node down.js 0').toString();";
    let told = returned(&home, code, &[]);
    let told = told.as_str().unwrap_or_default();
    // Each level is a shell and a script.
    assert!(told.contains("0 1 2 3"), "{told}");
    assert!(told.contains("scripts run scripts at most 8 deep"), "{told}");
    let few = returned(&home, code, &["--limit", "depth=3"]);
    assert!(few.as_str().is_some_and(|told| told.contains("at most 3 deep") && !told.contains("1 2 ")), "{few}");
    let told = returned(&home, "return caught(() => execSync('node -e 1'))", &["--limit", "processes=2"]);
    let told = told.to_string();
    assert!(told.contains("Command failed") && told.contains("2 scripts of this run"), "{told}");
    // The asynchronous form counts those too that stand still.
    let code =
        "return caught(() => execSync('node -e \"console.log((await shell(\\'echo in\\')).stdout)\"').toString())";
    assert_eq!(returned(&home, code, &[]), json!(["went well", "in\n\n"]));
}

#[test]
fn fuel_of_synchronous_commands_counts_for_the_run() {
    let limited = Limited::with(Limits { fuel: 300_000, ..Limits::default() });
    limited.is_limited(&format!("try {{ execSync('{LOOP}') }} catch {{}} for (;;) ;"), "fuel");
    limited.is_limited(&format!("execSync('{LOOP}')"), "fuel");
    limited.is_limited("execSync('node -e \"for (;;) ;\"')", "fuel");
    limited.is_limited("for (;;) execSync('i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done')", "fuel");
    let spent =
        limited.js("for (let i = 0; i < 10; i++) execSync('i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done')");
    assert_eq!(spent.status, Status::Completed, "{:?}", spent.error);
    assert!(spent.usage.fuel >= 30_000, "{}", spent.usage.fuel);
}

#[test]
fn time_of_synchronous_commands_counts_for_the_run() {
    let limited = Limited::with(Limits {
        wall: Duration::from_millis(800),
        fuel: u64::MAX,
        output: u64::MAX,
        ..Limits::default()
    });
    // None of them ends by itself.
    for code in [
        &format!("try {{ execSync('{LOOP}') }} finally {{ for (;;) ; }}"),
        &format!("execSync('{LOOP}', {{ timeout: 1e9 }})"),
        "for (;;) execSync(':')",
        "execSync('node -e \"for (;;) ;\"')",
        "execSync('yes | cat > /dev/null')",
        "execSync(`node -e \"require('child_process').execSync('while :; do :; done')\"`)",
        // What nobody reads.
        "execSync('yes', { stdio: 'ignore' })",
    ] {
        let result = limited.js(code);
        assert_eq!(result.status, Status::Limited, "{code}: {:?} {:?}", result.value, result.error);
        let message = result.error.map(|error| error.message).unwrap_or_default();
        assert!(message.contains("time limit of 800 ms"), "{code}: {message}");
    }
    limited.works();
}

#[test]
fn synchronous_command_timeout_leaves_the_script_running() {
    let home = Home::new();
    let code = format!(
        "const r = spawnSync('{LOOP}', {{ shell: true, timeout: 100 }}); return [r.error.code, r.signal, execSync('echo on').toString()]"
    );
    assert_eq!(returned(&home, &code, &[]), json!(["ETIMEDOUT", "SIGTERM", "on\n"]));
}

#[test]
fn memory_of_synchronous_commands_counts_for_the_session() {
    let limited = Limited::with(Limits { memory: 96 << 20, output: 1 << 40, ..Limits::default() });
    // Of the child: an error that the script may catch; it has its own memory back.
    for (code, says) in [
        ("execSync('x=y; while :; do x=$x$x; done')", "memory"),
        ("execSync('node -e \"const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))\"')", "memory"),
        // What is kept of its output is the session's too.
        ("execSync('yes', { maxBuffer: Infinity })", "memory limit of"),
    ] {
        let result = limited.js(&format!("const told = caught(() => {code}); execSync('true'); return told"));
        let told = format!("{:?} {:?}", result.value, result.error);
        assert!(
            result.status == Status::Limited || told.contains("LimitError") || told.contains("137"),
            "{code}: {told}"
        );
        assert!(told.contains(says), "{code}: {told}");
        limited.works();
    }
    // What is given to it is held once more meanwhile.
    limited.is_limited("const input = new Uint8Array(60 << 20); execSync('true', { input })", "memory");
    limited.is_limited("execSync(': ' + 'x'.repeat(40 << 20))", "memory");
    // Scripts within scripts have it together.
    let most = limited
        .js("try { execSync('node -e \"const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))\"') } catch {}");
    assert!(most.usage.memory_bytes < (96 << 20) + 3 * (64 << 20), "{}", most.usage.memory_bytes);
    limited.works();
}

#[test]
fn output_is_bounded_and_what_is_inherited_is_the_script_s() {
    let limited = Limited::with(Limits { output: 100_000, ..Limits::default() });
    let result = limited.js("try { execSync('yes', { stdio: 'inherit' }) } catch {} console.log('never')");
    let message = result.error.map(|error| error.message).unwrap_or_default();
    assert_eq!((result.status, result.stdout.len()), (Status::Limited, 100_000), "{message}");
    assert!(message.contains("output limit of 100000 bytes"), "{message}");
    limited.works();
    let told = limited.js("return caught(() => execSync('yes', { maxBuffer: Infinity }))").value;
    let told = told.map(|told| told.to_string()).unwrap_or_default();
    assert!(told.contains("LimitError") && told.contains("output limit of 100000 bytes"), "{told}");
    // Standard error that nobody asked for is the script's as well.
    limited.is_limited("for (;;) { try { execSync('printf %0999d 1 >&2; exit 1') } catch {} }", "output limit");
}

#[test]
fn files_are_bounded_as_the_script_s() {
    let limited = Limited::with(Limits { files: 50_000, ..Limits::default() });
    let result = limited.js("const r = spawnSync('yes > full', { shell: true, encoding: 'utf8' });
        fs.rmSync('full'); fs.writeFileSync('small', 'x'); return [r.status > 0, fs.readdirSync('.')]");
    assert_eq!(result.value, Some(json!([true, ["small"]])), "{:?}", result.error);
    limited.works();
}

#[test]
fn run_cancelled_within_synchronous_command_ends() {
    let limited = Limited::with(Limits { fuel: u64::MAX, ..Limits::default() });
    for command in [LOOP, "node -e 'for (;;) ;'", "yes | cat >/dev/null"] {
        let source = format!("{NODE} try {{ execSync({}) }} finally {{ for (;;) ; }}", json!(command));
        let script = Script { source, name: "script.js".to_owned(), ..Script::default() };
        let run = limited.session.start(Language::JavaScript, script, RunOptions::default()).expect("it is free");
        let handle = run.cancel_handle();
        let stops = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            handle.cancel();
        });
        assert_eq!(run.finish().status, Status::Cancelled, "{command}");
        stops.join().expect("it stops");
        limited.works();
    }
}

/// Files that a command writes before it is stopped, whatever stops it, are the session's; and none is lost.
#[test]
fn files_come_back_whatever_ends_a_command() {
    let limited = Limited::with(Limits { memory: 64 << 20, ..Limits::default() });
    let code = "fs.writeFileSync('own', '1');
        for (const [name, end] of Object.entries({ asked: 'sleep 1', limit: 'x=y; while :; do x=$x$x; done', exit: 'exit 3',
            syntax: 'if', deep: 'f() { f; }; f', inner: 'node -e \"throw 1\"', within: 'node -e \"fs.writeFileSync(\\'by-node\\', \\'1\\'); for (let a = [];;) a.push(new Uint8Array(1e6))\"' }))
          try { execSync(`echo ${name} > ${name}\\n${end}`, { stdio: 'ignore' }) } catch {}
        try { spawnSync('echo t > time; while :; do :; done', { shell: true, timeout: 50 }) } catch {}
        try { spawnSync('echo o > over; yes', { shell: true, maxBuffer: 9 }) } catch {}
        return fs.readdirSync('.').sort();";
    let result = limited.js(code);
    let wants =
        json!(["asked", "by-node", "deep", "exit", "inner", "limit", "over", "own", "syntax", "time", "within"]);
    assert_eq!(result.value, Some(wants), "{:?}", result.error);
    limited.works();
}

/// Tools that the script has begun go on beside a command, and come to their end after it.
#[test]
fn calls_beside_a_command_are_made_and_settled() {
    let limited = Limited::with(Limits::default());
    let code = "const length = probe.length({ text: 'four' });
        const other = shell.run('echo beside > beside; cat beside');
        const first = execSync('ls; echo first > first').toString();
        return [first, await other, fs.readdirSync('.'), await length];";
    let result = limited.js(code);
    assert_eq!(result.value, Some(json!(["", "beside\n", ["beside", "first"], 4])), "{:?}", result.error);
    assert_eq!(result.calls.as_slice().len(), 1);
    limited.works();
}
