//! The session's files as tools and agents see them: granted paths of them, and what becomes of what they change.

use serde_json::json;
use tollhouse::capability::Policy;
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions};
use tollhouse_tests::{Home, built, root};

/// A home with a tool that does with files what it is told, and asks for these.
fn home(asks: &str) -> Home {
    let home = Home::new();
    let permissions = format!("[permissions]\nfiles = {asks}");
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", &permissions);
    home
}

const GRANTED: &str = "[[grant]]\nmethod = \"**\"\n[tool.filer]\nfiles = [\"/workspace/in:ro\", \"/workspace/out\"]\n";

#[test]
fn tool_with_file_grants_reads_and_writes_only_those() {
    let home = home("[\"/workspace\"]");
    home.file("policy.toml", GRANTED);
    let code = "
        await fs.mkdir('in'); await fs.mkdir('out'); await fs.writeFile('in/a', 'one'); await fs.writeFile('secret', 'x');
        const told = async (call) => { try { return await call } catch (error) { return error.payload ?? error.message } };
        return [
            await told(filer.read({ path: '/workspace/in/a' })),
            await told(filer.write({ path: '/workspace/out/b', text: 'two' })),
            await fs.readFile('out/b'),
            await told(filer.write({ path: '/workspace/in/a', text: 'three' })),
            await told(filer.read({ path: '/workspace/secret' })),
            await told(filer.read({ path: '/workspace/in/../secret' })),
            await told(filer.write({ path: '/tmp/x', text: 'four' })),
            await fs.readFile('in/a'),
        ]";
    let ran = home.js(code, &["--policy", "policy.toml"]);
    let value = &ran["value"];
    assert_eq!((&value[0], &value[1], &value[2]), (&json!("one"), &json!(null), &json!("two")), "{ran}");
    for refused in [3, 4, 5, 6] {
        assert!(value[refused].as_str().is_some_and(|told| told != "x"), "{refused}: {ran}");
    }
    assert_eq!(value[7], "one", "{ran}");
    assert!(value[3].as_str().is_some_and(|told| told.to_lowercase().contains("read")), "{ran}");
}

#[test]
fn tool_without_file_grant_has_no_files() {
    let home = home("[\"/workspace\"]");
    let code = "await fs.writeFile('a', 'one');
        try { await filer.read({ path: '/workspace/a' }) } catch (error) { return error.name }";
    assert_eq!(home.js(code, &["--allow", "**"])["value"], "ToolError");
    // Asked for to read only, it is granted to read only.
    let home = self::home("[\"/workspace:ro\"]");
    home.file("policy.toml", "[[grant]]\nmethod = \"**\"\n[tool.filer]\nfiles = [\"/workspace\"]\n");
    let code = "await fs.writeFile('a', 'one');
        const text = await filer.read({ path: '/workspace/a' });
        try { await filer.write({ path: '/workspace/a', text: 'two' }) } catch { return [text, await fs.readFile('a')] }";
    assert_eq!(home.js(code, &["--policy", "policy.toml"])["value"], json!(["one", "one"]));
}

#[test]
fn calls_at_the_same_time_keep_what_each_wrote() {
    let home = home("[\"/workspace\"]");
    home.file("policy.toml", GRANTED);
    let code = "
        await fs.mkdir('out');
        await Promise.all(['a', 'b', 'c', 'd'].map((name) => filer.write({ path: `/workspace/out/${name}`, text: name })));
        await fs.writeFile('out/e', 'e');
        return (await fs.readdir('out')).sort()";
    assert_eq!(home.js(code, &["--policy", "policy.toml"])["value"], json!(["a", "b", "c", "d", "e"]));
}

#[test]
fn file_quota_applies_to_writes_of_tools() {
    let home = home("[\"/workspace\"]");
    let policy = format!("{GRANTED}[limits]\nfiles = \"300KiB\"\n");
    home.file("policy.toml", policy);
    let code = "
        await fs.mkdir('out');
        const text = 'x'.repeat(200 * 1024);
        const told = async (call) => { try { await call; return 'fine' } catch (error) { return error.payload ?? error.kind } };
        const one = await told(filer.write({ path: '/workspace/out/big', text: text + text }));
        const both = await Promise.all(['a', 'b'].map((name) => told(filer.write({ path: `/workspace/out/${name}`, text }))));
        return [one !== 'fine', both.sort(), (await fs.readdir('out')).length]";
    let ran = home.js(code, &["--policy", "policy.toml"]);
    // Each of the two fits by itself, and not with the other: the one that is told last is told that.
    assert_eq!(ran["value"][1], json!(["fine", "limit"]), "{ran}");
    assert_eq!(ran["value"][0], true, "{ran}");
}

#[test]
fn file_written_by_a_tool_for_a_tool_is_visible_to_the_script() {
    let home = home("[\"/workspace\"]");
    home.publish(&root().join("tests/fixtures/relay"));
    home.file("policy.toml", format!("{GRANTED}[tool.relay]\ntools = [\"filer/write\"]\n"));
    let code = "await fs.mkdir('out'); await relay.note({ path: '/workspace/out/a', text: 'one' });
        const told = [await fs.readFile('out/a')];
        try { await relay.note({ path: '/workspace/in/a', text: 'two' }) } catch (error) { told.push(error.name) }
        return told";
    let ran = home.js(code, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"], json!(["one", "ToolError"]), "{ran}");
}

fn session(home: &Home, policy: &str) -> Session {
    let registry = Some(home.path().join("tollhouse/registry"));
    let host = Host::new(&HostOptions { registry, ..HostOptions::default() }).expect("the engines start");
    let policy = Policy::parse(policy).expect("a policy");
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

fn script(session: &Session, source: &str) -> serde_json::Value {
    let script = Script { source: source.to_owned(), ..Script::default() };
    let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("a run");
    serde_json::to_value(run.finish()).expect("a result")
}

#[test]
fn file_written_by_tools_and_agents_is_visible_to_the_next_run() {
    let home = home("[\"/workspace\"]");
    home.publish(&root().join("tests/fixtures/probe"));
    let session = session(&home, GRANTED);
    assert_eq!(script(&session, "await fs.mkdir('out'); await fs.writeFile('in.txt', 'hello')")["status"], "completed");
    session.call("filer/write", "{\"path\": \"/workspace/out/a\", \"text\": \"one\"}").expect("it may");
    assert_eq!(script(&session, "return await fs.readFile('out/a')")["value"], "one");
    assert_eq!(script(&session, "await fs.rm('out', { recursive: true })")["status"], "completed");
    let agent =
        std::fs::read(built().join("../wasm32-wasip2/guest/tollhouse-fixture-agent.wasm")).expect("it is built");
    let program =
        tollhouse::agent::Program { name: "agent".into(), arguments: vec!["files".into()], ..Default::default() };
    let ended = session.start_component(agent, program, RunOptions::default()).expect("a run").finish();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "Err(PermissionDenied)\n", "{:?}", ended.error);
    assert_eq!(script(&session, "return await fs.readFile('out/text')")["value"], "HELLO");
}
