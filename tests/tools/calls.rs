//! Tools called from scripts: values, grants, budgets, errors, concurrency.

use serde_json::json;
use tollhouse_tests::Home;

#[test]
fn call_with_grant_returns() {
    let home = Home::with_tools(&["stats"]);
    let code = "return (await stats.describe({values:[1,2,3]})).mean";
    let ran = home.js(code, &["--allow", "stats/*"]);
    assert_eq!(ran["value"], 2);
    let call = &ran["calls"][0];
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(1));
    assert_eq!(call["method"], "stats/describe");
    assert_eq!(call["outcome"], "ok");
    assert_eq!(call["seq"], 1);
    assert_eq!(call["arguments"], json!({ "values": [1, 2, 3] }));
    assert_eq!(call["grant"], "stats/*#0");
}

#[test]
fn call_options_with_unknown_key_are_refused() {
    let home = Home::with_tools(&["stats"]);
    let code =
        "try { await stats.describe({values: [1]}, {retries: 3}); return 'called' } catch (e) { return e.message }";
    let ran = home.js(code, &["--allow", "stats/*"]);
    let told = "stats.describe takes one object, for example stats.describe({values: …}); got a second one with `retries`, \
        whose only option is `signal`";
    assert_eq!(ran["value"], told, "{ran}");
    let code = "return (await stats.describe({values: [1]}, {signal: AbortSignal.timeout(9000)})).mean";
    assert_eq!(home.js(code, &["--allow", "stats/*"])["value"], 1);
}

#[test]
fn call_without_grant_is_denied() {
    let home = Home::with_tools(&["stats"]);
    let code = "return (await stats.describe({values:[1,2,3]})).mean";
    let ran = home.js(code, &[]);
    assert_eq!(ran["status"], "denied");
    assert_eq!(ran["error"]["kind"], "capability");
    assert_eq!(ran["error"]["name"], "CapabilityError");
    assert!(ran["error"]["message"].as_str().is_some_and(|message| message.contains("stats/describe")), "{ran}");
    assert_eq!(ran["calls"][0]["outcome"], "denied");
    assert_eq!(home.run(["run", "-e", code]).status, 3);
    // Caught, it is no failure of the run.
    let caught = home.js("try { await stats.describe({values:[1]}) } catch (e) { return [e.name, e.kind] }", &[]);
    assert_eq!(caught["value"], json!(["CapabilityError", "capability"]));
    assert_eq!(caught["status"], "completed");
}

#[test]
fn call_from_the_shell_reaches_the_same_tools() {
    let home = Home::with_tools(&["stats"]);
    let code = "for f in 1 2; do stats describe --values '[1,2,3]'; done | jq .mean";
    let ran = home.sh(code, &["--allow", "stats/*"]);
    assert_eq!(ran["stdout"], "2\n2\n", "{ran}");
    let other = "tool stats.describe --json '{\"values\": [4]}' | jq .mean; echo '{\"values\": [5]}' | tool stats.describe | jq .mean";
    assert_eq!(home.sh(other, &["--allow", "**"])["stdout"], "4\n5\n");
    let denied = home.sh("stats describe --values '[1]'; echo \"status $?\"", &[]);
    assert_eq!(denied["stdout"], "status 126\n", "{denied}");
    let whole = home.run(["run", "-e", "1", "--allow", "stats"]);
    assert!(whole.status == 2 && whole.stderr.contains("`stats/*`"), "{whole:?}");
    assert!(denied["stderr"].as_str().is_some_and(|told| told.contains("CapabilityError")), "{denied}");
}

#[test]
fn objects_on_standard_input_are_a_call_each() {
    let home = Home::with_tools(&["stats"]);
    let code = r#"cat > lines <<'END'
{"values": [1, 2]}

 {"values": [6]}
{"values": []}
5
END
        stats describe < lines | jq .mean; echo "status ${PIPESTATUS[0]}"
        printf '{\n"values":\n[7]}' | stats describe | jq .mean
        jq -c . lines | stats describe --each | jq .mean
        stats describe --help | grep -o -- '--each  '"#;
    let ran = home.sh(code, &["--allow", "stats/*"]);
    assert_eq!(ran["stdout"], "1.5\n6\nstatus 2\n7\n1.5\n6\n--each  \n", "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("line 5 is not one JSON object") && told.contains("payload"), "{ran}");
    // Those of the script's own input are as good, and the last line needs no end.
    let own = json!({
        "id": 1, "lang": "sh", "script": "stats describe > means; jq .mean means", "stdin": "{\"values\": [1]}\n{\"values\": [2]}"
    });
    assert_eq!(home.batch(&own.to_string(), &["--allow", "stats/*"])[0]["stdout"], "1\n2\n");
}

#[test]
fn call_budget_with_concurrent_calls_is_not_overspent() {
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", "[[grant]]\nname = 'three'\nmethod = 'stats/*'\ncalls = 3\n");
    let code = "let ok = 0, denied = 0;
        await Promise.all([1, 2, 3, 4, 5].map(n => stats.describe({values: [n]}).then(() => ok++, () => denied++)));
        return [ok, denied]";
    let ran = home.js(code, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"], json!([3, 2]), "{ran}");
    assert_eq!(ran["budgets"], json!([{ "grant": "three", "kind": "calls", "limit": 3, "used": 3, "remaining": 0 }]));
}

#[test]
fn refused_arguments_cost_nothing_and_say_where() {
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", "[[grant]]\nmethod = 'stats/*'\ncalls = 1\n");
    let code = "try { await stats.describe({values: [1, '2']}) } catch (e) { return [e.name, e.message] }";
    let ran = home.js(code, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"][0], "ArgumentError", "{ran}");
    assert!(ran["value"][1].as_str().is_some_and(|message| message.contains("values[1]: expected")), "{ran}");
    assert_eq!(ran["budgets"][0]["used"], 0);
}

#[test]
fn call_in_a_wrong_form_is_explained() {
    let home = Home::with_tools(&["stats"]);
    for (code, told) in [
        ("await stats.describe('x')", "one object"),
        ("await stats.describe([1, 2])", "one object"),
        ("await stats.descrbe({values: [1]})", "stats.describe"),
        ("await stats.describe({vlaues: [1]})", "did you mean `values`"),
        ("await stats.describe({})", "values: missing"),
        ("await stat.describe({values: [1]})", "stat"),
    ] {
        let ran = home.js(code, &["--allow", "**"]);
        let told_all = format!("{} {}", ran["error"]["message"], ran["error"]["hint"]);
        assert!(told_all.contains(told), "{code}: {ran}");
        assert_eq!(ran["status"], "failed", "{code}");
    }
}

/// Whatever the script gives, the call itself is a promise, and an error in it is one of the script's own.
#[test]
fn call_arguments_that_cannot_be_serialized_reject_the_call() {
    let home = Home::with_tools(&["stats"]);
    let code = r#"
        const values = [1, 2];
        const circle = {values};
        circle.self = circle;
        class Sample { constructor() { this.values = values } }
        class Asked { toJSON() { return {values: [4]} } }
        const given = [new Sample(), new Asked(), Object.assign(Object.create(null), {values}), new Proxy({values}, {}),
            circle, {get values() { throw new RangeError('mine') }}, {toJSON: () => 7}, {toJSON() { throw 'text' }},
            new Date(0), new Map(), Promise.resolve({values}), null];
        const told = [];
        for (const one of given) {
            const call = stats.describe(one);
            if (!(call instanceof Promise)) throw new Error('no promise');
            told.push(await call.then((found) => found.mean, (error) => error?.message ?? error));
        }
        return told;"#;
    let ran = home.js(code, &["--allow", "stats/*"]);
    let told = ran["value"].as_array().cloned().unwrap_or_default();
    assert_eq!(told[..4], [json!(1.5), json!(4), json!(1.5), json!(1.5)], "{ran}");
    let messages =
        ["circular reference", "mine", "its JSON is none", "text", "got ", "got ", "`await` missing", "got null"];
    assert_eq!(told.len(), 4 + messages.len(), "{ran}");
    for (told, message) in told[4..].iter().zip(messages) {
        assert!(told.as_str().is_some_and(|told| told.contains(message)), "{told} for {message}");
    }
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(4), "the gate hears of no other: {ran}");
}

#[test]
fn call_error_has_the_location_in_the_script() {
    let home = Home::with_tools(&["stats"]);
    let code = "async function inner() {\n  await null;\n  return stats.describe({values: []});\n}
        try { await inner() } catch (e) { return e.stack }";
    let ran = home.js(code, &["--allow", "stats/*"]);
    let stack = ran["value"].as_str().unwrap_or_default();
    let frames: Vec<_> = stack.lines().skip(1).collect();
    assert!(stack.contains("Error: ") && frames[0].contains("at inner (script:3:"), "{stack}");
    assert!(!stack.contains("tollhouse:"), "{stack}");
}

/// A getter is the script's own code, and stops where the script stops.
#[test]
fn call_argument_getter_beyond_limits_ends_the_script() {
    let home = Home::with_tools(&["stats"]);
    for (getter, kind) in [("while (true);", "limit"), ("process.exit(0);", "exit")] {
        let code = format!(
            "const given = {{get values() {{ {getter} }}}};
            try {{ await stats.describe(given) }} catch {{ console.log('caught') }} finally {{ console.log('finally') }}"
        );
        let ran = home.js(&code, &["--allow", "stats/*", "--timeout", "500ms"]);
        assert_eq!(
            (ran["stdout"].as_str(), ran["calls"].as_array().map(Vec::len)),
            (Some(""), Some(0)),
            "{kind}: {ran}"
        );
        assert_eq!(ran["status"], if kind == "exit" { "completed" } else { "limited" }, "{ran}");
    }
}

#[test]
fn tool_error_is_thrown_with_its_payload() {
    let home = Home::with_fixture();
    let code = "try { await probe.fail({code: 7}) } catch (e) { return [e.name, e.payload.code, e.payload.message] }";
    assert_eq!(home.js(code, &["--allow", "**"])["value"], json!(["ToolError", 7, "problem 7"]));
}

#[test]
fn tool_trap_is_an_error_and_the_next_call_works() {
    let home = Home::with_fixture();
    let code = "const told = [];
        for (const call of [() => probe.panic({message: 'the reason'}), () => probe.recurse({})]) {
            try { await call() } catch (e) { told.push(e.name + ': ' + e.message + ' ' + e.hint) }
        }
        told.push(await probe.remember({}), await probe.remember({}));
        return told";
    let ran = home.js(code, &["--allow", "**"]);
    assert!(ran["value"][0].as_str().is_some_and(|told| told.contains("the reason")), "{ran}");
    assert!(ran["value"][1].as_str().is_some_and(|told| told.contains("`probe/recurse` trapped")), "{ran}");
    // Two calls, two instances: neither sees the other's memory.
    assert_eq!((&ran["value"][2], &ran["value"][3]), (&json!(1), &json!(1)), "{ran}");
}

#[test]
fn calls_run_at_the_same_time() {
    let home = Home::with_fixture();
    let code = "const t = Date.now();
        await Promise.all([1, 2, 3, 4].map(() => probe.sleep({millis: 500})));
        return Date.now() - t";
    let ran = home.js(code, &["--allow", "**"]);
    // One after another they would take 2,000 ms; the bound is far from both.
    assert!(ran["value"].as_u64().is_some_and(|took| (500..1_500).contains(&took)), "{ran}");
}

#[test]
fn call_of_ten_megabytes_passes_both_ways() {
    let home = Home::with_fixture();
    let code = "const text = 'x'.repeat(10 * 1024 * 1024);
        const there = await probe.length({text});
        const back = await probe.text({count: 10 * 1024 * 1024});
        const bytes = await probe.bytes({count: 1024 * 1024});
        return [Number(there), back.length, bytes.length, bytes instanceof Uint8Array, bytes[257]]";
    let ran = home.js(code, &["--allow", "**"]);
    assert_eq!(ran["value"], json!([10_485_760, 10_485_760, 1_048_576, true, 1]), "{}", ran["error"]);
}

#[test]
fn tool_resources_are_handles_that_cannot_be_forged() {
    let home = Home::with_fixture();
    let code = "const counter = await probe.counter.new({start: 5});
        await probe.counter.increment({self: counter, by: 2});
        const now = await probe.counter.increment({self: counter, by: 3});
        await probe.counter.drop({self: counter});
        try { await probe.counter.increment({self: counter, by: 1}) } catch (e) { return [now, typeof counter, e.name] }";
    assert_eq!(home.js(code, &["--allow", "**"])["value"], json!([10, "string", "ArgumentError"]));
    let forged = "try { await probe.counter.increment({self: 'handle:00000000000000000000000000000000', by: 1}) }
        catch (e) { return e.message }";
    let ran = home.js(forged, &["--allow", "**"]);
    assert!(ran["value"].as_str().is_some_and(|told| told.contains("never issued")), "{ran}");
}

#[test]
fn tool_mounted_twice_shares_no_instance_or_handle() {
    let home = Home::with_fixture_and("instance = \"session\"");
    let code = "const seen = [await one.remember({}), await one.remember({}), await two.remember({})];
        const counter = await one.counter.new({start: 1});
        try { await two.counter.increment({self: counter, by: 1}) } catch (error) { seen.push(error.kind) }
        return seen";
    let mounts = ["--allow", "**", "--tool", "one=test:probe", "--tool", "two=test:probe"];
    let ran = home.js(code, &mounts);
    assert_eq!(ran["value"], json!([1, 2, 1, "argument"]), "{ran}");
}

#[test]
fn tool_instance_of_session_lifetime_is_kept_within_its_session() {
    let home = Home::with_fixture_and("instance = \"session\"");
    let code = "const seen = [await probe.remember({}), await probe.remember({})];
        const [first] = await probe.clocks({});
        await new Promise((go) => setTimeout(go, 5));
        const times = [first, (await probe.clocks({}))[0]];
        seen.push(times[0] !== times[1]);
        try { await probe.panic({message: 'gone'}) } catch (e) { seen.push(e.hint.includes('gone')) }
        seen.push(await probe.remember({}));
        return seen";
    // Kept between calls, each with its own time; dropped after a trap; unknown to another session.
    for _ in 0..2 {
        assert_eq!(home.js(code, &["--allow", "**"])["value"], json!([1, 2, true, true, 1]));
    }
}
