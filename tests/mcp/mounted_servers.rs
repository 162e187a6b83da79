//! MCP servers whose tools are mounted: what they may do, and what becomes of those that misbehave.
//!
//! The server is a fixture in Python's standard library, which does as its tools say.

mod confinement;
mod pins;

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::mcp_server::{policy_of, python};
use tollhouse_tests::{Home, Ran};

use super::client::Client;

/// Longest time until processes that nobody needs any more are gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Policy that mounts the fixture as `fix` in a mode, with further keys of the server.
fn policy(mode: &str, keys: &str) -> String {
    policy_of("fix", mode, keys)
}

/// Home with the policy, whose server's tools are pinned as they are in the normal mode.
fn pinned(keys: &str) -> Home {
    let home = Home::new();
    home.file("policy.toml", policy("normal", keys));
    let ran = home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

/// Runs JavaScript with the server.
fn js(home: &Home, code: &str) -> Value {
    home.js(code, &ALLOWED)
}

fn lock(home: &Home) -> Ran {
    home.run(["mcp", "lock", "--policy", "policy.toml", "--allow-exec", "fix"])
}

/// Returns true if a process is there and not only waited for.
fn is_alive(pid: &Value) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Waits until a process is gone.
fn assert_gone(pid: &Value) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(begun.elapsed() < PATIENCE, "{pid} goes on");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn mcp_server_tool_is_called_with_arguments_that_the_gate_has_checked() {
    let home = pinned("");
    let ran = js(&home, "return [await fix.echo({text: 'hi'}), (await fix.add({a: 2, b: 3})).sum]");
    assert_eq!(ran["value"], json!(["hi", 5]), "{ran}");
    assert_eq!(ran["calls"][0]["method"], "fix/echo", "{ran}");
    for (code, kind) in [
        ("await fix.echo({text: 1})", "argument"),
        ("await fix.echo({})", "argument"),
        ("await fix.echo({text: 'x', more: 1})", "argument"),
        ("await fix.add({a: 1, b: 2.5})", "argument"),
        ("await fix.nothing({})", "argument"),
    ] {
        let ran = js(&home, code);
        assert_eq!(ran["error"]["kind"], kind, "{code}: {ran}");
    }
    let shell = home.sh("fix echo --text there; fix add --a 1 --b 1 | jq .sum", &ALLOWED);
    assert_eq!(shell["stdout"], "\"there\"\n2\n", "{shell}");
    let called = home.run(["call", "fix/add", "{\"a\": 20, \"b\": 22}"].iter().chain(&ALLOWED));
    assert_eq!((called.status, called.stdout.trim()), (0, "{\n  \"sum\": 42\n}"), "{called:?}");
}

#[test]
fn mcp_server_learns_the_idempotency_key_of_each_call() {
    let home = Home::new();
    home.file("policy.toml", policy("metadata", ""));
    assert_eq!(lock(&home).status, 0);
    let ran = js(&home, "return [await fix.metadata(), await fix.metadata()].map(m => m['tollhouse/idempotency-key'])");
    let keys: [String; 2] = serde_json::from_value(ran["value"].clone()).unwrap_or_else(|_| panic!("{ran}"));
    assert!(keys.iter().all(|key| key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit())), "{keys:?}");
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn mcp_server_calls_are_constrained_budgeted_and_denied_like_all() {
    let home = pinned("");
    let text = policy("normal", "").replace(
        "method = \"fix/**\"",
        "method = \"fix/echo\"\nwhere = [{ param = \"text\", starts_with = \"ok\" }]\ncalls = 2",
    );
    home.file("policy.toml", text);
    let code = "const told = []; for (const text of ['ok1', 'no', 'ok2', 'ok3'])
        try { told.push(await fix.echo({text})) } catch (error) { told.push(error.name) }
        try { await fix.add({a: 1, b: 2}) } catch (error) { told.push(error.name) }
        return told";
    let ran = js(&home, code);
    let denied = "CapabilityError";
    assert_eq!(ran["value"], json!(["ok1", denied, "ok2", denied, denied]), "{ran}");
    assert_eq!(ran["budgets"][0]["remaining"], 0, "{ran}");
}

#[test]
fn program_of_a_policy_starts_only_if_the_operator_names_it() {
    let home = Home::new();
    let trace = home.path().join("started");
    let (python, library) = python();
    let script = home.file("trace.py", format!("open({:?}, 'w').write('started')", trace));
    let policy = format!(
        "[tools]\n[mcp.fix]\ncommand = [{python:?}, {script:?}]\nread = [{library:?}]\nwrite = [{:?}]\n[[grant]]\nmethod = \"fix/*\"\n",
        home.path()
    );
    home.file("policy.toml", &policy);
    let unpinned = home.run(["run", "--policy", "policy.toml", "-e", "1"]);
    assert_eq!(unpinned.status, 2, "{unpinned:?}");
    assert!(unpinned.stderr.contains("tollhouse mcp lock --policy FILE --allow-exec fix"), "{unpinned:?}");
    // Pins of somebody else, so that everything could be mounted.
    let other = pinned("");
    let lock = std::fs::read_to_string(other.path().join("tollhouse.lock")).expect("it was written");
    home.file("tollhouse.lock", lock);
    for command in [
        &["run", "-e", "return 1"][..],
        &["call", "fix/echo", "{\"text\": \"x\"}"],
        &["tools"],
        &["types"],
        &["policy", "check"],
        &["mcp", "ls"],
    ] {
        home.run(command.iter().chain(&["--policy", "policy.toml"]));
        assert!(!trace.exists(), "{command:?} started it");
    }
    let called = home.run(["call", "fix/echo", "{\"text\": \"x\"}", "--policy", "policy.toml"]);
    assert!(called.stderr.contains("was not started") && called.stderr.contains("--allow-exec fix"), "{called:?}");
    let named = home.run(["run", "--policy", "policy.toml", "--allow-exec", "fix", "-e", "1"]);
    assert!(trace.exists() && named.status != 0, "it started, and does not speak the protocol: {named:?}");
    let unknown = home.run(["run", "--policy", "policy.toml", "--allow-exec", "fixx", "-e", "1"]);
    assert!(unknown.status == 2 && unknown.stderr.contains("did you mean `fix`?"), "{unknown:?}");
}

/// Whoever reads what a stranger's policy starts sees all of it, and no line that the policy has written.
#[test]
fn server_of_a_policy_is_listed_with_its_variables_and_forges_no_line() {
    let home = Home::new();
    home.file(
        "policy.toml",
        "[tools]\n[mcp.git]\ncommand = ['uvx', \"a\\nb 1 tools uvx\"]\nread = [\"/srv\\n  connects to 443\", '/opt/uv']\n\
         [mcp.git.env]\nLD_PRELOAD = \"/srv/x.so\\n  has your login\"\nTOKEN = 'secret:T'\n",
    );
    let listed = home.run(["mcp", "ls", "--policy", "policy.toml"]);
    assert_eq!((listed.status, listed.stdout.lines().count()), (0, 4), "{listed:?}");
    for shown in ["  has the variables ", "LD_PRELOAD=/srv/x.so", "  has the secrets T\n", " /opt/uv\n"] {
        assert!(listed.stdout.contains(shown), "{shown}: {listed:?}");
    }
}

#[test]
fn tool_that_cannot_be_checked_is_refused_by_name_and_the_others_are_mounted() {
    let home = Home::new();
    home.file("policy.toml", policy("unchecked", ""));
    let ran = lock(&home);
    assert_eq!(ran.status, 0, "{ran:?}");
    for name in ["`fix/remote` is refused", "`fix/../up` is refused", "`fix/doubled` is refused"] {
        assert!(ran.stderr.contains(name), "{ran:?}");
    }
    let code = "try { await fix.remote({}) } catch (error) { return [error.name, error.message, await fix.echo({text: 'x'})] }";
    let ran = js(&home, code);
    assert_eq!((&ran["value"][0], &ran["value"][2]), (&json!("CapabilityError"), &json!("x")), "{ran}");
    let ran = js(&home, "return await fix.doubled({a: 'q'}).catch((error) => error.name)");
    assert_eq!(ran["value"], "CapabilityError", "{ran}");
}

/// A server that has two tools with one name in a language of scripts loses the second, and stops nobody's start.
#[test]
fn tool_whose_name_collides_with_another_of_its_server_is_refused_and_the_others_are_mounted() {
    let home = Home::new();
    home.file("policy.toml", policy("shadow", ""));
    let ran = lock(&home);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("`fix/echo.echo` is refused") && ran.stderr.contains("`fix/echo`"), "{ran:?}");
    let ran = js(&home, "return [await fix.echo({text: 'x'}), typeof fix.echo.echo]");
    assert_eq!(ran["value"], json!(["x", "undefined"]), "{ran}");
    let called = home.run(["call", "fix/echo/echo", "{}"].iter().chain(&ALLOWED));
    assert!(called.status != 0, "{called:?}");
}

/// An answer that cannot be read ends its call at once, and no other.
#[test]
fn answer_that_cannot_be_read_is_an_error_of_its_call_and_the_next_one_works() {
    let home = Home::new();
    home.file("policy.toml", policy("garble", "timeout = \"60s\""));
    assert_eq!(lock(&home).status, 0);
    let begun = Instant::now();
    for (tool, told) in
        [("deep", "nested more than"), ("infinite", "out of range"), ("broken", "line 1"), ("other_id", "its id")]
    {
        let code = format!(
            "let told; try {{ await fix.{tool}({{}}); told = 'returned' }} catch (error) {{ told = error.message }}
             return [told, await fix.echo({{text: 'next'}})]"
        );
        let ran = js(&home, &code);
        let message = ran["value"][0].as_str().unwrap_or_default();
        assert!(message.contains("answer cannot be read") && message.contains(told), "{tool}: {ran}");
        assert_eq!(ran["value"][1], "next", "{tool}: {ran}");
    }
    assert!(begun.elapsed() < Duration::from_secs(50), "nobody waited for the timeout of a call");
    // The same for a start, which would wait for a minute.
    home.file("policy.toml", policy("unreadable", ""));
    let begun = Instant::now();
    let ran = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
    assert!(ran.status != 0 && ran.stderr.contains("answer cannot be read"), "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn server_that_does_not_start_is_an_error_that_says_why() {
    let home = pinned("");
    for (mode, told) in [("exit", "cannot start: \u{fffd}[31mno licence"), ("html", "closed its output")] {
        home.file("policy.toml", policy(mode, ""));
        let ran = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
        assert!(ran.status != 0 && ran.stderr.contains(told) && !ran.stderr.contains('\u{1b}'), "{mode}: {ran:?}");
    }
    home.file("policy.toml", "[tools]\n[mcp.fix]\ncommand = [\"/nowhere/server\"]\n[[grant]]\nmethod = \"fix/**\"\n");
    let ran = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
    assert!(ran.status != 0 && ran.stderr.contains("cannot run `/nowhere/server`"), "{ran:?}");
}

#[test]
fn failures_of_a_server_are_errors_of_the_call_and_the_run_goes_on() {
    let home = pinned("timeout = \"15s\"");
    let failing = |tool: &str| {
        let code = format!(
            "let told; try {{ await fix.{tool}({{}}); told = ['returned'] }} catch (error) {{ told = [error.name, error.message] }}
             return told.concat('went on', await shell('echo on'))"
        );
        let ran = js(&home, &code);
        assert_eq!((&ran["status"], &ran["value"][2]), (&json!("completed"), &json!("went on")), "{tool}: {ran}");
        (
            ran["value"][0].as_str().unwrap_or_default().to_owned(),
            ran["value"][1].as_str().unwrap_or_default().to_owned(),
        )
    };
    for (tool, name, told) in [
        ("fail", "ToolError", "there is no such ticket"),
        ("lie", "ToolError", "its own schema of the result refuses"),
        ("die", "ToolError", "has ended"),
        ("hang", "LimitError", "was not answered within 15000 ms"),
        ("flood", "LimitError", "nobody asked for"),
        ("giga", "LimitError", "a message of more than 16777216 bytes"),
        ("wide", "LimitError", "values take more than"),
        ("ask", "ToolError", ""),
    ] {
        let (found, message) = failing(tool);
        assert!(found == name && message.contains(told), "{tool}: {found}: {message}");
    }
}

#[test]
fn calls_after_the_end_of_a_server_say_so() {
    let home = pinned("");
    let code = "const told = []; for (const call of [() => fix.die({}), () => fix.echo({text: 'x'})])
        try { await call() } catch (error) { told.push(error.message, error.hint) } return told";
    let ran = js(&home, code);
    for at in [0, 2] {
        assert!(ran["value"][at].as_str().is_some_and(|told| told.contains("`fix` has ended")), "{ran}");
    }
    assert!(ran["value"][1].as_str().is_some_and(|told| told.contains("about to die")), "{ran}");
    assert_eq!(js(&home, "return await fix.echo({text: 'again'})")["value"], "again", "the next run starts it again");
}

#[test]
fn answers_to_other_requests_and_other_lines_are_not_taken_for_the_answer() {
    let home = pinned("");
    let ran = js(&home, "return [await fix.wrong({}), await fix.junk({}), await fix.echo({text: 'x'})]");
    assert_eq!(ran["value"], json!(["for you", "after the junk", "x"]), "{ran}");
}

#[test]
fn server_that_asks_for_sampling_input_roots_or_tools_is_refused() {
    let ran = js(&pinned(""), "return await fix.sample({})");
    let refused = json!({
        "sampling/createMessage": "refused", "elicitation/create": "refused", "roots/list": "refused", "tools/call": "refused",
    });
    assert_eq!(ran["value"], refused, "{ran}");
}

#[test]
fn mcp_server_images_are_converted_to_bytes() {
    let code = "const [text, image] = await fix.image({});
        return [text.text, image.mimeType, image.data instanceof Uint8Array, [...image.data]]";
    let ran = js(&pinned(""), code);
    assert_eq!(ran["value"], json!(["see", "image/png", true, [0, 1, 2]]), "{ran}");
}

#[test]
fn escape_sequences_of_a_server_reach_no_terminal_as_they_are() {
    let home = pinned("");
    let ran = home.run(["call", "fix/escape", "{}"].iter().chain(&ALLOWED));
    assert!(ran.status != 0 && ran.stderr.contains("reversed"), "{ran:?}");
    assert!(!ran.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran:?}");
}

#[test]
fn payload_of_an_error_has_the_limits_of_a_result() {
    let home = pinned("");
    let limited = format!("{}[limits]\nresult = \"1MiB\"\n", policy("normal", ""));
    home.file("policy.toml", limited);
    let code = "try { await fix.burden({}) } catch (error) { return [error.name, error.payload ?? null, error.hint] }";
    let ran = js(&home, code);
    assert_eq!(ran["value"][0], "ToolError", "{ran}");
    assert_eq!(ran["value"][1], Value::Null, "{}", ran.to_string().len());
    assert!(ran["value"][2].as_str().is_some_and(|hint| hint.contains("was left out")), "{}", ran["value"][2]);
}

#[test]
fn session_on_disk_keeps_its_servers_and_their_pins() {
    let home = pinned("");
    let named = ["--session", "s"];
    let first = home.json(["-e", "return await fix.echo({text: 'one'})"].iter().chain(&ALLOWED).chain(&named));
    assert_eq!(first["value"], "one", "{first}");
    // Without the operator's word the tools are there, and cannot be called.
    let second = home.json(["-e", "return await fix.echo({text: 'two'})"].iter().chain(&named));
    assert!(second["error"]["message"].as_str().is_some_and(|told| told.contains("was not started")), "{second}");
    let third = home.json(["-e", "return await fix.echo({text: 'three'})"].iter().chain(&ALLOWED).chain(&named));
    assert_eq!(third["value"], "three", "{third}");
    // Other pins are other tools.
    home.file("policy.toml", policy("poisoned", ""));
    assert_eq!(lock(&home).status, 0);
    let changed = home.run(["run", "-e", "1"].iter().chain(&ALLOWED).chain(&named));
    assert_eq!(changed.status, 2, "{changed:?}");
}

#[test]
fn batch_and_repl_call_servers_too() {
    let home = pinned("");
    let lines = (0..8).map(|id| format!("{{\"id\": {id}, \"script\": \"return await fix.echo({{text: '{id}'}})\"}}\n"));
    let mut ran = home.batch(&lines.collect::<String>(), &ALLOWED);
    ran.sort_by_key(|result| result["id"].as_u64());
    let values: Vec<&Value> = ran.iter().map(|result| &result["value"]).collect();
    assert_eq!(values, ["0", "1", "2", "3", "4", "5", "6", "7"], "{ran:?}");
    let script = home.file("inputs", "await fix.echo({text: 'typed'})\n");
    let mut command = home.command(["repl"].iter().chain(&ALLOWED));
    let ran = Ran::of(&command.stdin(std::fs::File::open(script).expect("it is there")).output().expect("it runs"));
    assert!(ran.stdout.contains("typed"), "{ran:?}");
}

#[test]
fn servers_are_added_to_a_policy_and_removed_and_its_comments_stay() {
    let home = Home::new();
    home.file("agent.toml", "# Ours.\n[tools]\n\n[[grant]] # all of it\nmethod = \"git/**\"\n");
    let policy = ["--policy", "agent.toml"];
    let add = ["mcp", "add", "git", "--read", "/srv", "--port", "443", "--env", "TOKEN=secret:T"];
    let added = home.run(add.iter().chain(&policy).chain(&["--", "uvx", "mcp-server-git"]));
    assert_eq!(added.status, 0, "{added:?}");
    let again = home.run(add.iter().chain(&policy).chain(&["--", "other"]));
    assert!(again.status == 2 && again.stderr.contains("already has"), "{again:?}");
    let configuration = json!({ "theme": "dark", "mcpServers": {
        "GitHub (work)": { "command": "npx", "args": ["-y", "server-github"], "env": { "GITHUB_TOKEN": "ghp_0123456789" } },
        "nothing": { "type": "stdio" },
        "remote": { "type": "http", "url": "https://example.com" },
    } });
    home.file("claude.json", configuration.to_string());
    let imported = home.run(["mcp", "add", "--from", "claude.json"].iter().chain(&policy));
    assert!(imported.status == 0 && imported.stderr.contains("`nothing` is left out"), "{imported:?}");
    let text = std::fs::read_to_string(home.path().join("agent.toml")).expect("it is there");
    assert!(text.starts_with("# Ours.") && text.contains("# all of it"), "{text}");
    assert!(!text.contains("ghp_0123456789"), "tokens are secrets: {text}");
    let listed = home.run(["mcp", "ls", "--json"].iter().chain(&policy));
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed:?}"));
    assert_eq!(listed[0]["server"], "git", "{listed}");
    assert_eq!((&listed[0]["ports"], &listed[0]["env"]["TOKEN"]), (&json!([443]), &json!("secret:T")), "{listed}");
    assert_eq!(listed[1]["server"], "github-work", "{listed}");
    assert_eq!(listed[1]["env"]["GITHUB_TOKEN"], "secret:GITHUB_TOKEN", "{listed}");
    assert_eq!(
        (&listed[2]["server"], &listed[2]["url"]),
        (&json!("remote"), &json!("https://example.com")),
        "{listed}"
    );
    let before = std::fs::read_to_string(home.path().join("agent.toml")).expect("it is there");
    let invalid = home.run(["mcp", "add", "BAD NAME"].iter().chain(&policy).chain(&["--", "x"]));
    assert!(invalid.status == 2 && invalid.stderr.contains("not a name of a server"), "{invalid:?}");
    assert_eq!(std::fs::read_to_string(home.path().join("agent.toml")).expect("it is there"), before);
    for name in ["git", "github-work", "remote"] {
        assert_eq!(home.run(["mcp", "rm", name].iter().chain(&policy)).status, 0, "{name}");
    }
    assert_eq!(home.run(["mcp", "ls"].iter().chain(&policy)).stdout, "");
    assert_eq!(home.run(["mcp", "rm", "git"].iter().chain(&policy)).status, 2);
}

#[test]
fn cancelled_run_does_not_wait_for_a_server() {
    let home = pinned("timeout = \"300s\"");
    let begun = Instant::now();
    let ran = home.js("await fix.hang({})", &[&ALLOWED[..], &["--timeout", "1s"]].concat());
    assert_eq!(ran["status"], "limited", "{ran}");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

#[test]
fn hidden_characters_of_definitions_are_shown_as_codes_and_warned_of() {
    let home = Home::new();
    home.file("policy.toml", policy("hidden", ""));
    let ran = lock(&home);
    assert!(ran.status == 0 && ran.stderr.contains("warning: the definition of `fix/echo`"), "{ran:?}");
    let hidden = ['\u{1b}', '\u{202e}', '\u{200b}'];
    let written = std::fs::read_to_string(home.path().join("tollhouse.lock")).expect("it was written");
    assert!(!written.contains(hidden) && written.contains("202e"), "{written}");
    let mut client = Client::start(&home, &ALLOWED);
    let searched = client.call("search_tools", json!({ "query": "echo" }));
    let described = client.call("describe_tools", json!({ "methods": ["fix/echo"] }));
    let prompt = client.request("prompts/get", json!({ "name": "sandbox" }));
    drop(client);
    let mut client = Client::start(&home, &[&["--proxy"][..], &ALLOWED].concat());
    let tools = client.request("tools/list", json!({}));
    for shown in [searched, described, prompt, tools] {
        let mut texts = Vec::new();
        collect(&shown, &mut texts);
        assert!(texts.iter().all(|text| !text.contains(hidden)), "{shown:#}");
        assert!(texts.iter().any(|text| text.contains("\\u{202e}")), "{shown:#}");
    }
    assert_eq!(client.call("echo", json!({ "text": "x" }))["content"][0]["text"], "x");
}

/// Collects the texts of a value.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        _ => {}
    }
}

#[test]
fn configurations_of_clients_are_taken_over_and_what_is_not_is_told() {
    let home = Home::new();
    home.file(
        "mcp.json",
        "\u{feff}{ // VS Code\n \"servers\": {
            \"good\": { \"command\": \"npx\", \"args\": [\"-y\", \"server\", \"--api-key=abc\"], \"cwd\": \"/x\", \"envFile\": \".env\", },
            \"off\": { \"command\": \"npx\", \"disabled\": true },
            \"there\": { \"command\": \"${workspaceFolder}/server\" },
            \"old\": { \"type\": \"sse\", \"url\": \"https://old.example/sse\" },
        }, /* Claude Code */ \"projects\": { \"/p\": { \"mcpServers\": { \"mine\": { \"url\": \"https://mine.example/mcp\" } } } } }",
    );
    let ran = home.run(["mcp", "add", "--policy", "policy.toml", "--from", "mcp.json"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "added good\nadded mine\n"), "{ran:?}");
    for told in [
        "`off` is left out: it is disabled",
        "`there` is left out: `${workspaceFolder}`",
        "`old` is left out: it speaks the SSE",
        "the `cwd` of `good`",
        "the `envFile` of `good`",
        "the arguments of `good` seem to have a secret",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    }
}

#[test]
fn call_of_a_server_that_was_not_started_spends_nothing() {
    let home = pinned("");
    let limited = policy("normal", "").replace("method = \"fix/**\"", "method = \"fix/**\"\ncalls = 1");
    assert!(limited.contains("calls = 1"), "{limited}");
    home.file("policy.toml", limited);
    let named = ["--session", "s", "--policy", "policy.toml"];
    let code = "const told = []; for (let n = 0; n < 3; n++) await fix.echo({text: 'x'}).catch(error => told.push(error.message)); return told";
    let first = home.json(["-e", code].iter().chain(&named));
    let told = first["value"].as_array().expect("three errors");
    assert!(
        told.len() == 3 && told.iter().all(|told| told.as_str().is_some_and(|told| told.contains("was not started"))),
        "{first}"
    );
    let second =
        home.json(["-e", "return await fix.echo({text: 'two'})"].iter().chain(&ALLOWED).chain(&["--session", "s"]));
    assert_eq!(second["value"], "two", "{second}");
}
