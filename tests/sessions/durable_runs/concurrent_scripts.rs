//! Generated scripts that do many things at once, and go the same way again when they are resumed.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Approve, Grant, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Answered, OpenOptions, RunOptions, SessionId, Sessions, Status};
use tollhouse::tool::{HostCall, HostTool};
use tollhouse_tests::Home;

use super::Numbers;

/// Number of concurrent scripts that are generated.
const SCRIPTS: u64 = if cfg!(feature = "full") { 1000 } else { 60 };

/// One statement of a concurrent script, which adds to `trace` whatever could differ between two runs.
pub(in crate::sessions) fn statement(numbers: &mut Numbers, at: usize) -> String {
    let (delay, other) = (numbers.below(4), numbers.below(4));
    let echo = format!("wait.echo({{value: '{at}', delay: {delay}}})");
    let late = format!("new Promise(done => setTimeout(() => done('late {at}'), {other}))");
    match numbers.below(10) {
        0 => format!("trace.push(await {echo});"),
        1 => format!("trace.push(await Promise.all([{echo}, wait.echo({{value: 'b{at}', delay: {other}}}), {late}]));"),
        2 => {
            format!("trace.push(await Promise.race([{echo}, {late}, wait.echo({{value: 'c{at}', delay: {other}}})]));")
        }
        3 => format!(
            "later.push({echo}.then(value => trace.push(['then', value])), {late}.then(value => trace.push(value)));"
        ),
        4 => "trace.push([Math.random(), Date.now(), crypto.randomUUID(), Math.round(performance.now())]);".to_owned(),
        5 => format!(
            "trace.push((await shell('(sleep 0.00{delay}; echo slow) & echo $RANDOM; wait; ls | sort; date +%s%N')).stdout);"
        ),
        6 => format!(
            "fs.appendFileSync('file', '{at}\\n'); trace.push(fs.statSync('file').mtimeMs, fs.readFileSync('file', 'utf8'));"
        ),
        7 => format!("setTimeout(() => trace.push('timer {at}'), {delay});"),
        8 => format!(
            "trace.push(await Promise.any([{echo}, Promise.reject(1)]), (await shell('wait echo --value s{at} --delay {delay} | cat; node -e \"console.log(Math.random())\"')).stdout);"
        ),
        _ => "console.log('T' + JSON.stringify(trace)); trace.push(await wait.ask({}));".to_owned(),
    }
}

/// Whatever a script does at once, a resumed run goes the same way: all that it saw before it was suspended it sees
/// again. The tool answers after a random time, so completions come in any order.
#[test]
fn concurrent_scripts_see_the_same_again() {
    let home = Home::new();
    let host = home.host();
    let schema = |properties: Value| json!({ "type": "object", "properties": properties });
    let echo = HostTool::new(
        "wait.echo",
        "Answers after a while.",
        schema(json!({ "value": { "type": "string" }, "delay": { "type": "integer" } })),
    );
    let echo = echo.expect("a tool").answered_by(|call: &HostCall<'_>| {
        std::thread::sleep(Duration::from_millis(call.arguments["delay"].as_u64().unwrap_or_default()));
        Ok(call.arguments["value"].clone().into())
    });
    let ask = HostTool::new("wait.ask", "Asks.", schema(json!({}))).expect("a tool");
    let ask = ask.answered_by(|_: &HostCall<'_>| Ok(json!("asked").into()));
    let grant = |pattern: &str| Grant::allow(pattern).expect("a pattern");
    let name: SessionId = "s".parse().expect("a name");
    let answered =
        Answered { allowed: true, by: "test".to_owned(), reason: None, digest: None, arguments: None, signature: None };
    for seed in 0..SCRIPTS {
        let numbers = &mut Numbers(seed);
        let body: String = (0..12).map(|at| statement(numbers, at) + "\n    ").collect();
        let source = format!(
            "const fs = require('fs'); const trace = [], later = [];\n    {body}\n\
            console.log('T' + JSON.stringify(trace)); trace.push(await wait.ask({{}}));\n\
            await Promise.all(later); return trace"
        );
        let policy = Policy::default().with(grant("wait/echo")).with(grant("wait/ask").approve(Approve::Always));
        let options =
            OpenOptions { policy: Some(policy), host_tools: vec![echo.clone(), ask.clone()], ..OpenOptions::default() };
        let sessions = Sessions::in_memory();
        let session = host.open(&sessions, &name, options).expect("it opens");
        let script = Script { source: source.clone(), ..Script::default() };
        let mut result =
            session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts").finish();
        let mut printed: Vec<String> = Vec::new();
        for _ in 0..20 {
            let output = String::from_utf8(result.stdout.clone()).expect("text");
            printed.extend(output.lines().filter_map(|line| line.strip_prefix('T')).map(str::to_owned));
            if result.status != Status::Suspended {
                break;
            }
            sessions.call_decisions().decide(&name, None, None, &answered, Arc::new(|| true)).expect("one call waits");
            result = session.resume(RunOptions::default()).expect("it is suspended").finish();
        }
        assert_eq!(result.status, Status::Completed, "seed {seed}: {:?}\n{source}", result.error);
        let trace = result.value.expect("it returns").as_array().expect("a list").clone();
        for earlier in printed {
            let earlier: Vec<Value> = serde_json::from_str(&earlier).expect("JSON");
            assert_eq!(trace[..earlier.len()], earlier, "seed {seed}\n{source}");
        }
    }
}
