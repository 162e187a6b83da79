//! Integers of 64 bits between scripts and mounted servers: exact, or an error that says why.

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

/// Home with the fixture in a mode, whose tools are pinned.
fn pinned(mode: &str) -> Home {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", mode, ""));
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
    let home = pinned("normal");
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
fn big_integer_that_no_integer_parameter_takes_is_refused_with_what_to_give() {
    let home = pinned("normal");
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

#[test]
fn integer_of_more_than_64_bits_of_a_server_is_an_error_of_its_call_and_the_next_one_works() {
    let home = pinned("garble");
    let code = "let told; try { told = await fix.huge({}) } catch (error) { told = error.message }
        return [told, await fix.echo({ text: 'next' })]";
    let ran = home.js(code, &ALLOWED);
    let told = ran["value"][0].as_str().unwrap_or_default();
    assert!(told.contains("the integer 18446744073709551616 has more than 64 bits"), "{ran}");
    assert_eq!(ran["value"][1], "next", "{ran}");
}
