//! Scripts that run scripts of the other language: JavaScript's `shell`, `$` and `child_process`, the shell's `node`.

use serde_json::{Value, json};
use tollhouse_tests::Home;

fn js(code: &str) -> Value {
    Home::new().js(code, &[])
}

/// Returns the value of a script that must complete.
fn returned(code: &str) -> Value {
    let ran = js(code);
    assert_eq!(ran["status"], "completed", "{ran}");
    ran["value"].clone()
}

fn sh(code: &str) -> Value {
    Home::new().sh(code, &[])
}

fn out(ran: &Value) -> &str {
    ran["stdout"].as_str().unwrap_or_default()
}

#[test]
fn shell_script_called_from_javascript_returns_output_and_status() {
    let value = returned("return shell('echo hi; echo oops >&2; exit 3')");
    assert_eq!(value, json!({ "stdout": "hi\n", "stderr": "oops\n", "exitCode": 3 }));
    assert_eq!(returned("return shell.run('seq 3 | tac | tr \"\\\\n\" -')"), "3-2-1-");
    let told = returned(
        "try { await shell.run('echo part; ls nowhere') } catch (e) { return [e.name, e.exitCode, e.stdout, e.message] }",
    );
    assert_eq!(told[0], "ShellError");
    assert_eq!((&told[1], &told[2]), (&json!(2), &json!("part\n")));
    assert!(told[3].as_str().is_some_and(|text| text.contains("nowhere")), "{told}");
    assert_eq!(
        returned("return shell.run('tr a-z A-Z; echo $1 $X', {input: 'in ', args: ['one'], env: {X: 'y'}})"),
        "IN one y\n"
    );
}

#[test]
fn words_of_a_template_stay_words() {
    let hostile = r#"const bad = "a'b\"; rm -rf /workspace/* $(touch pwned) `id`\nnext"; await fs.writeFile('kept', '1');
        const echoed = await $`printf '%s|' ${bad} ${['x y', '*']} ${7} ${{raw: '$((1 + 1))'}}`;
        return [echoed.stdout === `${bad}|x y|*|7|2|`, await fs.readdir('/workspace')];"#;
    assert_eq!(returned(hostile), json!([true, ["kept"]]));
    let ways = "await fs.mkdir('d'); await fs.writeFile('d/n.json', '{\"a\":[1]}');
        return [await $`ls`.cwd('d').lines(), await $`cat d/n.json`.json(), (await $`exit 4`.nothrow()).exitCode,
            await $`echo $V`.env({V: 'v'}).text(), await $`wc -c`.input('12345').text()];";
    assert_eq!(returned(ways), json!([["n.json"], { "a": [1] }, 4, "v\n", "5\n"]));
    let told = returned("try { await $`false` } catch (e) { return e.message }");
    assert_eq!(told, "exit status 1: false");
    assert_eq!(returned("try { await $`ls ${undefined}` } catch (e) { return e.name }"), "TypeError");
}

#[test]
fn nested_scripts_share_files_but_no_other_state() {
    let script = "await fs.writeFile('a', 'one'); state = {x: 1};
        const first = await shell.run('cat a; echo two > b; cd /tmp; export V=w; pwd');
        const second = await shell.run('cat b; pwd; echo ${V-unset}');
        return [first, second, await fs.readFile('b', 'utf8'), process.cwd(), process.env.V ?? null];";
    assert_eq!(returned(script), json!(["one/tmp\n", "two\n/workspace\nunset\n", "two\n", "/workspace", null]));
    // What an inner script writes is seen while it still runs.
    let script = "const inner = shell('echo 1 > seen; sleep 0.05; cat answer');
        while (!(await fs.readdir('.')).includes('seen')) await sleep(1);
        await fs.writeFile('answer', '42'); return (await inner).stdout;";
    assert_eq!(returned(script), "42");
}

#[test]
fn nested_scripts_call_tools_through_the_same_gate() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 2\n");
    let ran = home.js(
        "await stats.describe({values: [1]});
        const {stdout, stderr, exitCode} = await shell(`stats describe --json '{\"values\":[3]}' | jq .mean
            node -e 'try { await stats.describe({values: [4]}) } catch (e) { console.log(e.name) }'`);
        return [stdout, exitCode];",
        &["--policy", "p.toml"],
    );
    assert_eq!(ran["value"], json!(["3\nCapabilityError\n", 0]), "{ran}");
    assert_eq!(ran["budgets"][0]["remaining"], 0, "{ran}");
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(3), "{ran}");
}

#[test]
fn shell_runs_javascript_with_arguments_and_input() {
    let script = "cat > double.js <<'EOF'
const [factor] = process.argv.slice(2).map(Number);
for await (const line of stdin.lines()) console.log(line * factor);
EOF
seq 3 | node double.js 2 | tac; node -p 'const a = 20; a + 1'; js -e 'console.error(\"e\"); process.exit(7)'; echo $?
echo 'console.log(\"from \" + args[0])' | node - here; node double; echo $?; V=1 node -e 'console.log(process.env.V)'";
    let ran = sh(&format!("{script} < /dev/null"));
    assert_eq!(out(&ran), "6\n4\n2\n21\n7\nfrom here\n0\n1\n", "{ran}");
    assert_eq!(ran["stderr"], "e\n", "{ran}");
    let ran = sh("mkdir d; echo 'export const x: number = 5' > d/m.ts; echo 'import {x} from \"./m.ts\"; console.log(x as number)' > d/t.ts
        cd d; node t.ts; node ../d/t.ts; node nowhere.js; echo $?; node --nope; echo $?; node -v; node --help | head -1");
    assert!(out(&ran).starts_with("5\n5\n1\n9\nv20"), "{ran}");
    assert!(out(&ran).contains("usage: node"), "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("/workspace/d/nowhere.js") && told.contains("bad option: --nope"), "{ran}");
}

#[test]
fn nested_script_error_is_on_its_standard_error() {
    let ran = sh(
        "node -e 'null.x'; echo $?; node -e 'let let'; echo $?; node -e 'Promise.reject(new Error(\"lost\"))'; echo $?",
    );
    assert_eq!(out(&ran), "1\n1\n1\n", "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("TypeError") && told.contains("SyntaxError") && told.contains("lost"), "{ran}");
}

#[test]
fn pipes_between_scripts_end() {
    let endless = "node -e 'for (let n = 0; ; n++) { console.log(n); await sleep(0) }' | head -n 2; echo over";
    assert_eq!(out(&sh(endless)), "0\n1\nover\n");
    let large = returned(
        "const all = 'x'.repeat(300_000); const {stdout} = await shell('cat | node -e \"process.stdout.write(await stdin.text())\" | wc -c', {input: all});
        return stdout.trim();",
    );
    assert_eq!(large, "300000");
}

#[test]
fn nested_script_is_stopped_by_abort_or_time_limit() {
    let aborted = "const begun = Date.now();
        try { await shell('sleep 100', {signal: AbortSignal.timeout(50)}); } catch (e) { return [e.name, Date.now() - begun < 50_000]; }";
    assert_eq!(returned(aborted), json!(["TimeoutError", true]));
    let ran = sh("timeout 0.1 node -e 'await sleep(100_000)'; echo $?");
    assert_eq!(out(&ran), "124\n", "{ran}");
    let ran = Home::new().js("await shell('node -e \"for (;;);\"')", &["--timeout", "300ms"]);
    assert_eq!(ran["status"], "limited", "{ran}");
    assert!(ran["error"]["message"].as_str().is_some_and(|text| text.contains("time limit")), "{ran}");
}

/// The fuel of a script counts, whatever the script's end.
#[test]
fn fuel_of_scripts_that_are_stopped_counts() {
    let burn = |times: u32| {
        format!(
            "for (let n = 0; n < {times}; n++) {{
                const stop = new AbortController();
                const inner = shell('for i in $(seq 2000); do :; done; echo > burnt; sleep 1000', {{signal: stop.signal}});
                inner.catch(() => {{}});
                while (!(await fs.readdir('.')).includes('burnt')) await sleep(1);
                stop.abort();
                await fs.rm('burnt');
            }}"
        )
    };
    let used = |code: &str| js(code)["usage"]["fuel"].as_u64().expect("a number");
    let (once, often) = (used(&burn(1)), used(&burn(4)));
    assert!(often > once + 3 * 2000, "{once} {often}");
    let ran = Home::new().js(&burn(100), &["--fuel", "30000"]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("limited"), &json!("limit")), "{ran}");
    // One that traps in the middle of a step had not said how much it used.
    let trap =
        r#"await fs.writeFile('deep.js', "JSON.parse('['.repeat(1e6))"); await shell('node deep.js').catch(() => {});"#;
    assert!(used(&trap.repeat(3)) > used(trap) + 100_000, "what is not known counts as if it were");
    let timed = "for i in 1 2 3; do timeout 0.05 node -e 'for (let n = 0; n < 1e6; n++); await sleep(100_000)'; done";
    let used = sh(timed)["usage"]["fuel"].as_u64().expect("a number");
    assert!(used > 3_000_000, "{used}");
}

#[test]
fn fuel_and_memory_are_the_run_s() {
    let home = Home::new();
    let ran = home.js(
        "await shell('while :; do :; done').catch((error) => console.log(error.name)); for (;;);",
        &["--fuel", "100000"],
    );
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("limited"), &json!("limit")), "{ran}");
    assert_eq!(out(&ran), "LimitError\n", "{ran}");
    assert!(ran["usage"]["fuel"].as_u64().is_some_and(|used| used < 150_000), "the inner script used it: {ran}");
    let inner = "const inner = () => shell('node -e \"console.log(new Uint8Array(200 << 20).length)\"');";
    let limit = ["--memory", "256MiB"];
    let ran = home.js(&format!("{inner} return (await inner()).stdout"), &limit);
    assert_eq!(ran["value"], "209715200\n", "{ran}");
    let held = "const held = new Uint8Array(200 << 20);";
    let ran = home.js(&format!("{inner} {held} const r = await inner(); return [r.stdout, held.length]"), &limit);
    assert_eq!(ran["value"], json!(["", 209_715_200]), "{ran}");
}

#[test]
fn concurrent_reads_of_input_each_get_a_part() {
    let twice = "const [a, b] = await Promise.all([stdin.text(), stdin.text()]); console.log(JSON.stringify(a + b))";
    let ran = Home::new().sh(&format!("printf 'one\\ntwo\\n' | node -e '{twice}'"), &["--timeout", "20s"]);
    assert_eq!(out(&ran), "\"one\\ntwo\\n\"\n", "{ran}");
    let mixed = "let seen = ''; process.stdin.on('data', (part) => (seen += part));
        const done = new Promise((done) => process.stdin.on('end', done));
        const text = stdin.text(); await done; console.log(seen + await text)";
    let ran = Home::new().js(
        &format!("const r = await shell('node -e \"$CODE\"', {{input: 'x'.repeat(200_000), env: {{CODE: {mixed:?}}}}}); return r.stdout.trim().length"),
        &["--timeout", "20s"],
    );
    assert_eq!(ran["value"], 200_000, "{ran}");
    let parts = "const read = () => stdin.lines().next().then((it) => it.value); const all = await Promise.all([read(), read(), read()]);
        console.log(all.filter((it) => it !== undefined).length)";
    let ran = Home::new().sh(&format!("printf 'one\\n' | node -e '{parts}'"), &["--timeout", "20s"]);
    assert_eq!(out(&ran), "1\n", "{ran}");
}

/// A script that nobody reads waits, and one that nobody will read any more ends.
#[test]
fn nested_script_output_waits_for_its_reader() {
    let counted = "const {spawn} = require('child_process');
        const child = spawn('i=0; while :; do printf \"%01000d\\\\n\" 0; i=$((i+1)); echo $i > n; done', {shell: true});
        let length = 0; for await (const part of child.stdout) if ((length += part.length) > 200_000) break;
        const closed = new Promise((done) => child.on('close', (code, signal) => done([code, signal])));
        return [Number(await fs.readFile('n', 'utf8')), await closed];";
    let value = returned(counted);
    assert!(value[0].as_u64().is_some_and(|lines| (200..1000).contains(&lines)), "{value}");
    assert_eq!(value[1], json!([141, null]), "as by SIGPIPE: {value}");
    let idle = "const {spawn} = require('child_process'); const child = spawn('yes'); await sleep(300);
        const part = await new Promise((done) => child.stdout.once('data', done)); child.kill();
        return [String(part).slice(0, 4), await new Promise((done) => child.on('exit', (code, signal) => done(signal)))];";
    assert_eq!(returned(idle), json!(["y\ny\n", "SIGTERM"]));
    let endless = "node -e 'for (let n = 0; ; n++) { console.log(\"x\".repeat(10_000)); await fs.writeFile(\"n\", String(n)) }' | head -n 2 | wc -c; cat n";
    let ran = sh(endless);
    let (read, written) = out(&ran).trim().split_once('\n').expect("two lines");
    assert_eq!(read, "20002", "{ran}");
    assert!(written.parse::<u64>().is_ok_and(|lines| lines < 100), "{ran}");
    let ran = sh("node -e 'const r = await shell(\"yes | head -n 1\"); console.log(r.stdout, r.exitCode)'");
    assert_eq!(out(&ran), "y\n 0\n", "{ran}");
}

#[test]
fn nested_script_beyond_limits_is_stopped_and_the_outer_continues() {
    let deep = sh("echo 'node f.sh.js' > f.sh; cat > f.sh.js <<'EOF'
const r = await shell('node f.sh.js'); process.stderr.write(r.stderr); process.exit(r.exitCode);
EOF
node f.sh.js; echo $?; echo on");
    assert!(out(&deep).ends_with("on\n") && !out(&deep).starts_with('0'), "{deep}");
    assert!(deep["stderr"].as_str().is_some_and(|text| text.contains("at most 8 deep")), "{deep}");
    let many = returned(
        "const all = await Promise.allSettled(Array.from({length: 20}, () => shell('sleep 0.05')));
        const refused = all.filter((one) => one.status === 'rejected').map((one) => one.reason);
        return [refused.length, refused[0].name, (await shell('echo on')).stdout];",
    );
    assert_eq!(many, json!([5, "LimitError", "on\n"]));
    let memory = returned(
        "const {exitCode, stderr} = await shell('node -e \"const a = []; for (;;) a.push(new Array(100000).fill(1))\"');
        return [exitCode, /out of memory/.test(stderr), (await shell('echo on')).stdout];",
    );
    assert_eq!(memory, json!([137, true, "on\n"]));
    let used = |code: &str| js(code)["usage"]["fuel"].as_u64().expect("a number");
    let (less, more) = (used("await shell('true')"), used("await shell('for i in $(seq 2000); do :; done')"));
    assert!(more > less + 1000, "{less} {more}: what inner scripts use is the run's");
    let ran = Home::new().js(
        "for (let n = 0; ; n++) { const r = await shell('for i in $(seq 1000); do :; done'); if (r.exitCode) return n; }",
        &["--fuel", "20000"],
    );
    assert!(ran["value"].as_u64().is_some_and(|n| n < 20) || ran["status"] == "limited", "{ran}");
}

#[test]
fn node_s_child_process_is_there() {
    let value = returned(
        "const cp = require('child_process'); const {promisify} = require('util'); const out = [];
        const {stdout} = await promisify(cp.exec)('echo $((6 * 7)); pwd', {cwd: '/tmp'}); out.push(stdout);
        await new Promise((done) => cp.execFile('printf', ['%s-', 'a b', '$HOME'], (error, stdout) => { out.push(error, stdout); done(); }));
        await new Promise((done) => cp.exec('echo no >&2; exit 3', (error, stdout, stderr) => { out.push(error.code, stderr, error.message); done(); }));
        await new Promise((done) => cp.execFile('nosuch', (error) => { out.push(error.code); done(); }));
        const child = cp.spawn('sort', ['-r']); let sorted = ''; child.stdout.on('data', (part) => (sorted += part));
        child.stdin.end('a\\nb\\n'); out.push(await new Promise((done) => child.on('close', (code, signal) => done([code, signal, sorted]))));
        const sleeper = cp.spawn('sleep', ['100']); setTimeout(() => sleeper.kill(), 20);
        out.push(await new Promise((done) => sleeper.on('exit', (code, signal) => done([code, signal]))));
        out.push(cp.execSync('echo at once', {encoding: 'utf8'}));
        return out;",
    );
    assert_eq!(
        value,
        json!([
            "42\n/tmp\n",
            null,
            "a b-$HOME-",
            3,
            "no\n",
            "Command failed: echo no >&2; exit 3\nno\n",
            "ENOENT",
            [0, null, "b\na\n"],
            [null, "SIGTERM"],
            "at once\n"
        ])
    );
}

/// JavaScript, bash, a program and a tool, and back, on one tree of files and one budget.
#[test]
fn javascript_bash_program_and_tool_share_files_and_budget() {
    let home = Home::with_tools(&["stats"]);
    home.publish_program("wasm32-wasip1");
    home.file(
        "p.toml",
        "[[grant]]\nname = 'once'\nmethod = 'stats/describe'\ncalls = 1\n[[grant]]\nmethod = 'prog'\n[tools]\nprog = 'test:prog'\n\
         stats = 'tollhouse:stats'\n[tool.prog]\nfiles = ['/workspace']\n",
    );
    let code = "await fs.writeFile('in.txt', 'n=1\\nn=5\\n');
        const mean = await shell.run(`prog upper < in.txt > out.txt
            sed s/N=// out.txt | node -e 'console.log(JSON.stringify({values: (await stdin.text()).trim().split(/\\\\s+/).map(Number)}))' |
            stats describe | jq .mean`);
        return [mean.trim(), await fs.readFile('out.txt', 'utf8'), budgets()[0].remaining];";
    let ran = home.js(code, &["--policy", "p.toml"]);
    assert_eq!(ran["value"], json!(["3", "N=1\nN=5\n", 0]), "{ran}");
}
