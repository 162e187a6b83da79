//! Integers of 64 bits between scripts and mounted servers: exact, or an error that says why.

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

fn pinned() -> Home {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", "normal", ""));
    let ran = home.run(["mcp", "lock"].iter().chain(&ALLOWED));
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

/// 2^53 + 1, which no JavaScript number is.
const CODE: &str = "const { sum } = await fix.add({ a: 9007199254740993n, b: 0 });
    const least = (await fix.add({ a: -9223372036854775808n, b: 0 })).sum;
    const safe = (await fix.add({ a: 9007199254740990, b: 1 })).sum;
    return [typeof sum, `${sum + 1n}`, sum, `${least}`, typeof safe, safe]";

fn expected() -> Value {
    json!([
        "bigint",
        "9007199254740994",
        "9007199254740993",
        "-9223372036854775808",
        "number",
        9_007_199_254_740_991_u64
    ])
}

#[test]
fn integer_of_a_server_is_exact_in_javascript_and_bash() {
    let home = pinned();
    let ran = home.js(CODE, &ALLOWED);
    assert_eq!(ran["value"], expected(), "{ran}");
    let written = home.js("JSON.stringify(await fix.add({ a: 9007199254740993n, b: 0 }))", &ALLOWED);
    assert!(written["error"]["message"].to_string().contains("serialize a BigInt"), "{written}");
    let rounded = home.js("return String(JSON.parse('9007199254740993'))", &ALLOWED);
    assert_eq!(rounded["value"], "9007199254740992", "that of the language rounds: {rounded}");
    let shell = home.sh("fix add --a 9007199254740993 --b 0", &ALLOWED);
    assert!(shell["stdout"].as_str().is_some_and(|out| out.contains("9007199254740993")), "{shell}");
}

#[test]
fn integer_of_a_server_is_exact_when_a_recording_answers() {
    let home = pinned();
    let recorded = home.js(CODE, &[&ALLOWED[..], &["--record", "calls.json"]].concat());
    assert_eq!(recorded["value"], expected(), "{recorded}");
    let replayed = home.js(CODE, &["--replay", "calls.json"]);
    assert_eq!(replayed["value"], expected(), "{replayed}");
}

#[test]
fn big_integer_that_no_integer_parameter_takes_is_refused_with_what_to_give() {
    let home = pinned();
    for (given, said) in [
        ("5n", "Number(5n)"),
        ("2n ** 64n", "18446744073709551616 has more than 64 bits"),
        ("2 ** 53", "as a BigInt such as"),
    ] {
        let ran = home.js(&format!("await fix.add({{ a: {given}, b: 0 }})"), &ALLOWED);
        assert_eq!(ran["error"]["kind"], "argument", "{given}: {ran}");
        assert!(ran["error"]["message"].to_string().contains(said), "{given}: {ran}");
    }
}
