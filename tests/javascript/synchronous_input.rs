//! Standard input that a JavaScript script reads without `await`, as Node's `fs.readFileSync(0)` does. What the scripts of
//! `SCRIPTS` print is what Node 20 prints.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse::guest::{Completion, Language, Script, Value as Completed};
use tollhouse::session::{Operation, RunOptions, SessionOptions, Status, Stdin, Step};
use tollhouse_tests::{Home, Ran};

/// Scripts with their input, and what they print.
const SCRIPTS: [(&str, &str, &str); 14] = [
    ("console.log(require('fs').readFileSync(0, 'utf8').toUpperCase())", "a\nb\n", "A\nB\n\n"),
    ("console.log(require('node:fs').readFileSync('/dev/stdin').toString().split('\\n'))", "1\n2", "[ '1', '2' ]\n"),
    ("console.log(require('fs').readFileSync(process.stdin.fd, {encoding: 'utf8'}).length)", "äö\n", "3\n"),
    ("const b = require('fs').readFileSync(0); console.log(Buffer.isBuffer(b), b)", "hi", "true <Buffer 68 69>\n"),
    ("console.log([require('fs').readFileSync(0, 'utf8')])", "", "[ '' ]\n"),
    ("const fs = require('fs'); console.log([fs.readFileSync(0, 'utf8'), fs.readFileSync(0, 'utf8')])", "x", "[ 'x', '' ]\n"),
    (
        "const fs = require('fs'), b = Buffer.alloc(3), seen = []; let n;
         while ((n = fs.readSync(0, b, 0, 3, null)) > 0) seen.push(b.toString('utf8', 0, n));
         console.log(seen, fs.readSync(0, b))",
        "abcdefgh",
        "[ 'abc', 'def', 'gh' ] 0\n",
    ),
    (
        "const fs = require('fs'), b = Buffer.alloc(2); console.log(fs.readSync(0, b), b + '', fs.readFileSync(0, 'utf8'))",
        "abcd",
        "2 ab cd\n",
    ),
    (
        "const b = Buffer.alloc(4, '.'); const n = require('fs').readSync(0, b, 1, 2, -1); console.log(n, b + '')",
        "abcd",
        "2 .ab.\n",
    ),
    (
        "try { require('fs').readSync(0, Buffer.alloc(1), 0, 1, 0) } catch (e) { console.log(e.code, e.message, e.errno) }",
        "ab",
        "ESPIPE ESPIPE: invalid seek, read -29\n",
    ),
    (
        "const fs = require('fs'); const first = fs.readFileSync(0, 'utf8');
         process.stdin.on('data', () => console.log('never')).on('end', () => console.log('end after', [first]))",
        "all",
        "end after [ 'all' ]\n",
    ),
    (
        "const fs = require('fs'); fs.readFileSync(0);
         const lines = require('readline').createInterface({input: process.stdin});
         (async () => { for await (const line of lines) console.log('never', line); console.log('done') })()",
        "a\nb\n",
        "done\n",
    ),
    (
        "const fs = require('fs'); const lines = require('readline').createInterface({input: process.stdin});
         (async () => { for await (const line of lines) { console.log(line, [fs.readFileSync(0, 'utf8')]); break } })()",
        "one\ntwo\n",
        "one [ '' ]\n",
    ),
    (
        "const fs = require('fs'); fs.readFile('/dev/stdin', 'utf8', (error, text) =>
             fs.readFile(0, 'utf8', (_, rest) => console.log([error, text, rest])))",
        "t",
        "[ null, 't', '' ]\n",
    ),
];

/// Runs a command with this input.
fn given(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built: run `cargo xtask test`");
    let mut pipe = child.stdin.take().expect("it is piped");
    // It may stop reading before the end; then its output says why.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().expect("it ends")
    });
    Ran::of(&output)
}

fn js(home: &Home, code: &str, input: &[u8]) -> Ran {
    given(home.command(["run", "-e", code]), input)
}

#[test]
fn input_that_is_read_at_once_is_what_node_reads() {
    let home = Home::new();
    for (code, input, prints) in SCRIPTS {
        let ran = js(&home, code, input.as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.status), (prints, 0), "{code}\n{}", ran.stderr);
    }
    home.file("input.txt", "from a file");
    let file = std::fs::File::open(home.path().join("input.txt")).expect("it is there");
    let mut command = home.command(["run", "-e", "return require('fs').readFileSync(0, 'utf8')"]);
    let ran = Ran::of(&command.stdin(file).output().expect("it runs"));
    assert_eq!(ran.stdout, "from a file\n", "{ran:?}");
    // Without input it is empty.
    assert_eq!(home.run(["run", "-e", "return require('fs').readFileSync(0).length"]).stdout, "0\n");
}

/// A megabyte comes in many parts; the pipe ends later than the script asks.
#[test]
fn input_of_a_megabyte_is_read_whole() {
    let home = Home::new();
    let code = "const b = require('fs').readFileSync(0); let wrong = 0;
        for (let i = 0; i < b.length; i++) if (b[i] !== ((i & 255) ^ ((i >> 8) & 255))) wrong++;
        return [b.length, wrong, (await stdin.text()).length]";
    let input: Vec<u8> = (0..1_048_583_u32).map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1]).collect();
    let seen: Value = serde_json::from_str(&js(&home, code, &input).stdout).expect("JSON");
    assert_eq!(seen, json!([input.len(), 0, 0]));
}

#[test]
fn input_beyond_the_memory_of_the_run_is_a_limit() {
    let home = Home::new();
    let command =
        home.command(["run", "--json", "--memory", "16MiB", "-e", "return require('fs').readFileSync(0).length"]);
    let ran = given(command, &vec![b'x'; 48 << 20]);
    let result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&result["status"], &result["error"]["kind"]), (&json!("limited"), &json!("limit")), "{result:#}");
    assert!(result["error"]["message"].as_str().is_some_and(|text| text.contains("memory")), "{result:#}");
}

/// What is read without `await` and with it are parts of one input.
#[test]
fn bytes_are_given_once_to_whoever_reads_first() {
    let home = Home::new();
    let code = "const fs = require('fs'); const b = Buffer.alloc(4);
        fs.readSync(0, b); console.log(b + '');
        for await (const line of stdin.lines()) { console.log('line', line); if (line === 'two') break; }
        console.log([fs.readFileSync(0, 'utf8')], [await stdin.text()]);";
    let ran = js(&home, code, b"one\ntwo\nthree\n");
    assert_eq!(ran.stdout, "one\n\nline two\n[ '' ] [ '' ]\n", "{ran:?}");

    // An answer comes before the next part is written: nothing waits for the end of the input.
    let code = "const fs = require('fs'); const b = Buffer.alloc(100);
        for (let n; (n = fs.readSync(0, b)) > 0;) console.log('got ' + b.toString('utf8', 0, n));";
    let mut command = home.command(["run", "-e", code]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut input = child.stdin.take().expect("it is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    for part in ["a", "b"] {
        input.write_all(part.as_bytes()).expect("it reads");
        assert_eq!(lines.next().expect("a line comes").expect("it can be read"), format!("got {part}"));
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

/// The pipe stays open: only the limit of time, or a signal, ends the script.
#[test]
fn waiting_for_input_ends_with_the_time_and_with_a_signal() {
    let home = Home::new();
    let open = |arguments: &[&str]| {
        let code = "try { require('fs').readFileSync(0) } finally { console.log('never') }";
        let mut command = home.command(["run", "-e", code].iter().chain(arguments));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let began = Instant::now();
    let mut child = open(&["--timeout", "300ms"]);
    let input = child.stdin.take();
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    drop(input);
    assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{ran:?}");
    assert!(ran.stderr.contains("time limit of 300 ms"), "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(20));

    #[cfg(unix)]
    {
        let mut child = open(&[]);
        let input = child.stdin.take();
        std::thread::sleep(Duration::from_millis(700));
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
        let ran = Ran::of(&child.wait_with_output().expect("it ends"));
        drop(input);
        assert_eq!((ran.status, ran.stdout.as_str()), (130, ""), "{ran:?}");
    }
}

/// A policy under which a payment waits for approval.
fn asking_home() -> Home {
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", "[tools]\nstats = 'tollhouse:stats@*'\n[[grant]]\nmethod = 'stats/**'\napprove = true\n");
    home
}

#[test]
fn run_that_is_suspended_after_its_input_continues_with_the_same() {
    let home = asking_home();
    let code = "const fs = require('fs'); const b = Buffer.alloc(2); fs.readSync(0, b);
        const values = JSON.parse(b + fs.readFileSync(0, 'utf8'));
        const { mean } = await stats.describe({ values });
        return [values, mean, fs.readFileSync(0, 'utf8'), await stdin.text()]";
    let run = home.command(["run", "-e", code, "--policy", "policy.toml", "--session", "s", "--json"]);
    let first: Value = serde_json::from_str(&given(run, b"[1, 2, 6]").stdout).expect("JSON");
    assert_eq!(first["status"], "suspended", "{first:#}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    // What the resuming process has as its input is another input.
    let resumed = given(home.command(["session", "resume", "s", "--json"]), b"[7]");
    let last: Value = serde_json::from_str(&resumed.stdout).unwrap_or_else(|_| panic!("{resumed:?}"));
    assert_eq!(last["value"], json!([[1, 2, 6], 3, "", ""]), "{last:#}");

    // A part that was not read is lost, and reading it says so.
    let code = "const fs = require('fs'); const b = Buffer.alloc(65536); fs.readSync(0, b);
        await stats.describe({ values: [1] });
        try { return fs.readFileSync(0, 'utf8').length } catch (error) { return [error.code, error.message] }";
    let run = home.command(["run", "-e", code, "--policy", "policy.toml", "--session", "t", "--json"]);
    let first: Value = serde_json::from_str(&given(run, &[b'x'; 200_000]).stdout).expect("JSON");
    assert_eq!(first["status"], "suspended", "{first:#}");
    assert_eq!(home.run(["session", "approve", "t"]).status, 0);
    let last: Value = serde_json::from_str(&home.run(["session", "resume", "t", "--json"]).stdout).expect("JSON");
    assert!(
        last["value"][1].as_str().is_some_and(|text| text.contains("the rest of standard input is lost")),
        "{last:#}"
    );
}

/// The shell that writes the input goes on between two steps of the script: the script starts anew when all of it is there.
#[test]
fn nested_script_reads_what_its_pipeline_writes() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("work")).expect("the home can be written");
    home.file("work/big.txt", "0123456789abcde\n".repeat(1 << 16));
    let read = "const t = require('fs').readFileSync(0, 'utf8')";
    let scripts = [
        ("printf 'b\\na\\n' | node -e \"READ; console.log(t.split('\\n').sort())\"".to_owned(), "[ '', 'a', 'b' ]\n"),
        ("cat /data/big.txt | node -e \"READ; console.log(t.length)\" | cat".to_owned(), "1048576\n"),
        (
            "(sleep 0.1; echo late) | node -e \"console.log('first'); READ; console.log([t])\"".to_owned(),
            "first\n[ 'late\\n' ]\n",
        ),
        ("node -e \"READ; console.log([t])\" < /data/small.txt".to_owned(), "[ 'small' ]\n"),
        ("node -e \"READ; console.log([t])\" <<< here".to_owned(), "[ 'here\\n' ]\n"),
        ("node -e \"READ; console.log([t])\" < /dev/null".to_owned(), "[ '' ]\n"),
        // Files that the abandoned step changed are as they were.
        (
            "echo x | node -e \"require('fs').appendFileSync('log', 'once'); READ; console.log([t])\"; cat log"
                .to_owned(),
            "[ 'x\\n' ]\nonce",
        ),
    ];
    home.file("work/small.txt", "small");
    for (script, prints) in scripts {
        let code = script.replace("READ", read);
        let ran = home.run(["run", "--lang", "sh", "-e", &code, "--mount", "work:/data:ro"]);
        assert_eq!((ran.stdout.as_str(), ran.status), (prints, 0), "{code}\n{}", ran.stderr);
    }
    // The shell's own input, which it hands on.
    let code = "node -e \"READ; console.log([t])\"".replace("READ", read);
    assert_eq!(given(home.command(["run", "--lang", "sh", "-e", &code]), b"own").stdout, "[ 'own' ]\n");
}

#[test]
fn script_of_exec_sync_reads_its_own_input() {
    let home = Home::new();
    let code = "const { execSync, execFileSync } = require('child_process');
        const read = \"console.log([require('fs').readFileSync(0, 'utf8')])\";
        console.log(execFileSync('node', ['-e', read], { input: 'given', encoding: 'utf8' }));
        console.log(execSync(`echo piped | node -e \"${read}\"`, { encoding: 'utf8' }));
        try { execFileSync('node', ['-e', read], { stdio: ['inherit', 'pipe', 'pipe'] }) }
        catch (error) { console.log(error.message) }
        console.log(require('fs').readFileSync(0, 'utf8'));";
    let ran = js(&home, code, b"outer");
    let expected = "[ 'given' ]\n\n[ 'piped\\n' ]\n\n";
    assert!(ran.stdout.starts_with(expected) && ran.stdout.ends_with("\nouter\n"), "{ran:?}");
    assert!(ran.stdout.contains("asks for the standard input of the script that runs it"), "{ran:?}");
}

/// A nested script that has waited before cannot start anew: the error names the form that waits, and loses nothing.
#[test]
fn input_that_cannot_be_had_is_an_error_that_names_the_asynchronous_form() {
    let home = Home::new();
    let code = "(sleep 0.2; echo late) | node -e \"
        await new Promise(done => setTimeout(done, 1));
        try { require('fs').readFileSync(0) } catch (error) { console.log(error.code, error.message, error.hint) }
        console.log([await stdin.text()])\"";
    let ran = home.run(["run", "--lang", "sh", "-e", code]);
    assert!(ran.stdout.starts_with("EAGAIN standard input cannot be read at once here, since"), "{ran:?}");
    assert!(ran.stdout.contains("await stdin.text()") && ran.stdout.ends_with("[ 'late\\n' ]\n"), "{ran:?}");

    // A host that gives the input itself, between two steps.
    let session = home.host().session(SessionOptions::default()).expect("a session");
    let source =
        "try { require('fs').readFileSync(0) } catch (error) { console.log(error.code) } return await stdin.text()";
    let script = Script { source: source.to_owned(), name: "script".to_owned(), ..Script::default() };
    let options = RunOptions { stdin: Stdin::OfDriver, ..RunOptions::default() };
    let mut run = session.start(Language::JavaScript, script, options).expect("a run");
    let mut parts = vec![Vec::new(), b"driven".to_vec()];
    let result = loop {
        match run.step() {
            Step::Finished(result) => break result,
            Step::Blocked(started) => {
                for pending in started {
                    assert!(matches!(pending.operation, Operation::Read { .. }));
                    let part = parts.pop().expect("it has ended");
                    run.resume(Completion { id: pending.id, result: Ok(Completed::Bytes(part)) });
                }
                run.wait();
            }
        }
    };
    assert_eq!((result.status, result.value), (Status::Completed, Some(json!("driven"))));
    assert_eq!(String::from_utf8_lossy(&result.stdout), "EAGAIN\n");
}
