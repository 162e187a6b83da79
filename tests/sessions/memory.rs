//! The memory of a session is one sum: its scripts, its tools, the calls that wait and their results. Who wants more than is
//! left is told of the limit, and what is given back is free for others.

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

const MEMORY: &str = "memory=64MiB";

/// Runs JavaScript with everything granted, in a session of 64 MiB.
fn js(home: &Home, code: &str) -> Value {
    home.js(code, &["--allow", "**", "--limit", MEMORY, "--timeout", "60s"])
}

/// The message names the limit and what shares it, and the hint says how to raise it.
fn says_that_it_is_shared(told: &Value) {
    let (kind, message, hint) = (&told[0], told[1].as_str().unwrap_or_default(), told[2].as_str().unwrap_or_default());
    assert_eq!(kind, "limit", "{told}");
    assert!(
        message.contains("memory limit of 67108864 bytes, which scripts, calls and tools of a session share"),
        "{told}"
    );
    assert!(hint.contains("raise `memory`"), "{told}");
}

/// Function of a script that gives the parts of an error.
const TOLD: &str = "const told = (error) => [error.kind, error.message, error.hint];";

#[test]
fn kept_instances_share_the_memory_of_their_session() {
    let home = Home::with_fixture();
    let code = format!(
        "{TOLD} const kept = [];
        let refused;
        try {{ for (let n = 0; n < 90; n++) kept.push(await probe.counter.new({{ start: n }})) }}
        catch (error) {{ refused = told(error) }}
        const many = kept.length;
        for (const self of kept.splice(0, 30)) await probe.counter.drop({{ self }});
        const again = await probe.counter.new({{ start: 7 }});
        return [refused, many, await probe.counter.increment({{ self: again, by: 1 }})]"
    );
    let ran = js(&home, &code);
    says_that_it_is_shared(&ran["value"][0]);
    // An instance of the fixture has a little more than 1 MiB.
    assert!(ran["value"][1].as_u64().is_some_and(|many| (30..64).contains(&many)), "{ran}");
    assert_eq!(ran["value"][2], 8, "what was dropped is free: {ran}");
}

#[test]
fn tool_beside_kept_instances_has_what_is_left() {
    let home = Home::with_fixture();
    let code = |kept: u32| {
        format!(
            "{TOLD} const kept = [];
            for (let n = 0; n < {kept}; n++) kept.push(await probe.counter.new({{ start: n }}));
            try {{ return await probe.allocate({{ bytes: 40 << 20 }}) }} catch (error) {{ return told(error) }}"
        )
    };
    assert_eq!(js(&home, &code(1))["value"], 40 << 20);
    says_that_it_is_shared(&js(&home, &code(25))["value"]);
}

#[test]
fn script_beside_kept_instances_has_what_is_left() {
    let home = Home::with_fixture();
    // A script has 64 MiB for itself besides: so much that it reaches into what its session shares.
    let code = |kept: u32| {
        format!(
            "globalThis.kept = [];
            for (let n = 0; n < {kept}; n++) kept.push(await probe.counter.new({{ start: n }}));
            const all = [];
            for (let n = 0; n < 100; n++) all.push('x'.repeat(1 << 20) + n);
            return all.length"
        )
    };
    let within = |code: &str| home.js(code, &["--allow", "**", "--limit", "memory=128MiB", "--timeout", "60s"]);
    assert_eq!(within(&code(0))["value"], 100);
    let ran = within(&code(90));
    let message = ran["error"]["message"].as_str().unwrap_or_default();
    assert!(ran["status"] == "limited" && message.contains("memory"), "{ran}");
}

#[test]
fn tools_that_call_tools_share_the_memory_of_their_session() {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/relay"));
    let aliases = ["a", "b", "c", "d", "e", "f"];
    let mut policy = "[[grant]]\nmethod = \"**\"\n[tools]\n".to_owned();
    for alias in aliases {
        policy += &format!("{alias} = \"test:relay\"\n");
    }
    for pair in aliases.windows(2) {
        policy += &format!("[tool.{}]\ntools = [\"{}/*\"]\n", pair[0], pair[1]);
    }
    home.file("policy.toml", policy);
    // Each of them waits for the next one, and the last one looks at its environment.
    let code = "let [method, args] = ['f/environment', {}];
        for (const alias of ['e', 'd', 'c', 'b']) [method, args] = [`${alias}/ask`, { method, arguments: JSON.stringify(args) }];
        try { return await a.ask({ method, arguments: JSON.stringify(args) }) }
        catch (error) { return JSON.stringify([error.message, error.payload ?? null]) }";
    let within = |memory: &str| {
        let ran = home.js(code, &["--policy", "policy.toml", "--limit", memory, "--timeout", "60s"]);
        ran["value"].as_str().unwrap_or_else(|| panic!("{ran}")).to_owned()
    };
    let enough = within("memory=64MiB");
    assert!(!enough.contains("limit"), "{enough}");
    let short = within("memory=4MiB");
    assert!(short.contains("limit") && short.contains("tools of a session share"), "{short}");
}

#[test]
fn instances_that_wait_give_way_to_calls() {
    let home = Home::with_fixture_and("instance = \"session\"");
    let code = |bytes: u32| {
        format!(
            "const seen = [await one.remember({{}})];
            await one.allocate({{ bytes: 20 << 20 }});
            seen.push(await one.remember({{}}));
            seen.push(await two.allocate({{ bytes: {bytes} << 20 }}));
            seen.push(await one.remember({{}}));
            return seen"
        )
    };
    let mounts = ["--allow", "**", "--tool", "one=test:probe", "--tool", "two=test:probe", "--limit", MEMORY];
    // Beside 10 MiB the first one goes on waiting; for 55 MiB it is given up, and the next call finds a fresh one.
    assert_eq!(home.js(&code(10), &mounts)["value"], json!([1, 2, 10 << 20, 3]));
    assert_eq!(home.js(&code(55), &mounts)["value"], json!([1, 2, 55 << 20, 1]));
}

/// Calls that end while the script works: nobody takes their results yet.
#[test]
fn results_that_wait_share_the_memory_of_their_session() {
    let home = Home::with_fixture();
    let code = |calls: u32| {
        format!(
            "const said = new Set();
            const call = () => probe.text({{ count: 8 << 20 }}).then((text) => said.add(text.length), (error) => said.add(error.kind));
            const calls = Array.from({{ length: {calls} }}, call);
            await new Promise((go) => setTimeout(go, 0));
            for (let n = 0; n < 2e7; n++);
            await Promise.all(calls);
            return [...said].sort()"
        )
    };
    assert_eq!(js(&home, &code(2))["value"], json!([8 << 20]));
    assert_eq!(js(&home, &code(16))["value"], json!([8 << 20, "limit"]));
}

/// A list takes many times its bytes as values of a component.
#[test]
fn values_that_are_too_much_at_once_are_known() {
    let home = Home::with_fixture();
    let code = |count: u32| {
        format!(
            "try {{ return (await probe.bytes({{ count: {count} }})).length }}
            catch (error) {{ return [error.kind, error.message, error.hint] }}"
        )
    };
    assert_eq!(js(&home, &code(500_000))["value"], 500_000);
    let ran = js(&home, &code(5_000_000));
    let told = &ran["value"];
    assert_eq!(told[0], "limit", "{ran}");
    assert!(told[1].as_str().is_some_and(|message| message.contains("to its host at once")), "{ran}");
    assert!(told[2].as_str().is_some_and(|hint| hint.contains("raise `memory`")), "{ran}");
    let more = home.js(&code(5_000_000), &["--allow", "**", "--limit", "memory=1GiB", "--timeout", "60s"]);
    assert_eq!(more["value"], 5_000_000, "what the hint says helps");
}

/// Bytes are text to the gate, and become values of 40 bytes each for the tool.
#[test]
fn bytes_passed_to_tools_are_charged_as_converted() {
    let home = Home::with_tools(&["archive"]);
    let code = |count: u32| {
        format!(
            "try {{ return await archive.list({{ bytes: new Uint8Array({count}) }}) }}
            catch (error) {{ return [error.kind, error.message] }}"
        )
    };
    let small = js(&home, &code(100_000));
    assert_eq!(small["value"][0], "tool", "it is no archive: {small}");
    let large = js(&home, &code(3_000_000));
    assert_eq!(large["value"][0], "limit", "{large}");
    assert!(
        large["value"][1].as_str().is_some_and(|message| message.contains("the arguments take more than")),
        "{large}"
    );
}

/// A script that another one runs writes as long as its step lasts; who runs it may not read.
#[test]
fn output_that_nobody_reads_yet_shares_the_memory_of_its_session() {
    let home = Home::new();
    let code = |mebibytes: u32| {
        format!(
            "const inner = `node -e 'for (let n = 0; n < {mebibytes}; n++) console.log(\"x\".repeat(1048575))'`;
            try {{ return (await shell(inner)).stdout.length }} catch (error) {{ return [error.kind, error.message] }}"
        )
    };
    assert_eq!(js(&home, &code(4))["value"], 4 << 20);
    let ran = home.js(&code(40), &["--limit", "memory=16MiB", "--timeout", "60s"]);
    assert!(ran["status"] == "limited" && ran.to_string().contains("`memory`"), "{ran}");
}
