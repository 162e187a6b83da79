use serde_json::json;

use super::super::reflect::tests::function;
use super::*;

const TYPES: &str = "record point { x: f64, y: f64 } record charge { amount: u32, note: option<string>, at: point } \
     enum color { red, dark-blue } flags rights { read, write-all } variant shape { circle(f64), empty } ";

fn parse(signature: &str, words: &[&str]) -> Result<Value, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    parse_words(&function(TYPES, signature), &words, u64::MAX).map_err(|error| error.to_string())
}

#[track_caller]
fn good(signature: &str, words: &[&str], expected: Value) {
    assert_eq!(parse(signature, words), Ok(expected));
}

#[track_caller]
fn bad(signature: &str, words: &[&str], message: &str) {
    let error = parse(signature, words).expect_err("it is wrong");
    assert_eq!(error, message);
    assert!(!error.contains('\n'));
}

#[test]
fn scalar_flags_are_parsed_by_type() {
    let f = "func(amount: u32, max-rate: option<f64>)";
    good(f, &["--amount", "500"], json!({"amount": 500, "maxRate": null}));
    good(f, &["--amount=500", "--max-rate", "-0.5"], json!({"amount": 500, "maxRate": -0.5}));
    good(f, &["--maxRate", "NaN", "--amount", "1e3"], json!({"amount": 1000, "maxRate": "NaN"}));
    bad(f, &["--amount", "abc"], "`--amount`: expected u32, got \"abc\"");
    bad(f, &["--amount", "-1"], "`--amount`: expected u32, got -1");
    bad(f, &["--amount", "1", "--amount", "2"], "`--amount` is given more than once");
    bad(f, &["--amount"], "`--amount` needs a value: u32 (`--amount=…` if it begins with `--`)");
    bad(f, &["--amount", "--max-rate"], "`--amount` needs a value: u32 (`--amount=…` if it begins with `--`)");
    bad(f, &[], "`--amount` is missing: u32; usage: --amount <u32> [--max-rate <f64>]");
    bad(f, &["--amout", "1"], "unknown flag `--amout`, did you mean `--amount`?");
    good("func(id: u64)", &["--id", "18446744073709551615"], json!({"id": "18446744073709551615"}));
    good("func()", &[], json!({}));
}

#[test]
fn digits_without_a_declared_type_are_exact() {
    let value = |word| word_value(&Type::from(Shape::Json), word);
    let large = "18446744073709551616";
    assert_eq!((value("18446744073709551615"), value(large)), (json!(u64::MAX), json!(large)));
    assert_eq!((value("-9223372036854775809"), value("1e20")), (json!("-9223372036854775809"), json!(1e20)));
    assert_eq!((value("1-2"), value("[1]")), (json!("1-2"), json!([1])));
}

#[test]
fn strings_are_taken_as_they_are() {
    let f = "func(text: string, other: option<string>)";
    good(f, &["--text", "{\"a\": 1}"], json!({"text": "{\"a\": 1}", "other": null}));
    good(f, &["--text", "12", "--other", "null"], json!({"text": "12", "other": "null"}));
    good(f, &["--text=--x=1"], json!({"text": "--x=1", "other": null}));
    good(f, &["--text="], json!({"text": "", "other": null}));
    good("func(b: list<u8>)", &["--b", "AP8="], json!({"b": "AP8="}));
    good("func(b: list<u8>)", &["--b", "[0, 255]"], json!({"b": "AP8="}));
    bad("func(b: list<u8>)", &["--b", "?"], "`--b`: expected bytes (base64), got \"?\"");
    good("func(c: char)", &["--c", "1"], json!({"c": "1"}));
    good("func(c: color)", &["--c", "darkBlue"], json!({"c": "dark-blue"}));
}

#[test]
fn bool_flags_need_no_value() {
    let f = "func(dry-run: bool, no-wait: option<bool>)";
    good(f, &["--dry-run"], json!({"dryRun": true, "noWait": null}));
    good(f, &["--no-dry-run", "--no-wait"], json!({"dryRun": false, "noWait": true}));
    good(f, &["--dry-run=false", "--no-no-wait"], json!({"dryRun": false, "noWait": false}));
    bad(f, &["--dry-run", "true"], "`--dry-run`: expected nothing, or `--dry-run=true` or `--dry-run=false`, got true");
    bad(f, &["--dry-run=1"], "`--dry-run`: expected bool, got \"1\"");
    bad(f, &["--no-dry-run=1"], "unknown flag `--no-dry-run`, did you mean `--dry-run`?");
}

#[test]
fn list_flags_given_repeatedly_are_appended() {
    let f = "func(value: list<f64>)";
    good(f, &["--value", "1", "--value", "2"], json!({"value": [1, 2]}));
    good(f, &["--value", "[1,2]", "--value=3"], json!({"value": [1, 2, 3]}));
    good(f, &["--value", "[]"], json!({"value": []}));
    bad(f, &["--value", "1,2"], "`--value[0]`: expected f64, got \"1,2\"");
    let f = "func(tag: list<string>)";
    good(f, &["--tag", "[draft]", "--tag", "[1]"], json!({"tag": ["[draft]", "[1]"]}));
    good(f, &["--tag", "[\"a\",\"b\"]", "--tag", "c,d"], json!({"tag": ["a", "b", "c,d"]}));
    good(
        "func(p: list<tuple<u8, u8>>)",
        &["--p", "[1,2]", "--p", "[[3,4],[5,6]]"],
        json!({"p": [[1, 2], [3, 4], [5, 6]]}),
    );
    good("func(r: rights)", &["--r", "write-all", "--r", "read"], json!({"r": ["read", "write-all"]}));
    good("func(r: option<list<u8, 2>>)", &["--r", "1", "--r", "2"], json!({"r": [1, 2]}));
}

#[test]
fn record_flags_accept_dots_or_json() {
    let f = "func(charge: charge, deep: option<charge>)";
    let charge = json!({"amount": 5, "note": null, "at": {"x": 1, "y": 2}});
    good(
        f,
        &["--charge.amount", "5", "--charge.at.x", "1", "--charge.at.y=2"],
        json!({"charge": charge, "deep": null}),
    );
    good(
        f,
        &["--charge", "{\"amount\": 1, \"at\": {\"x\": 1, \"y\": 2}}", "--charge.amount", "5"],
        json!({"charge": charge, "deep": null}),
    );
    bad(f, &["--charge.at.z", "1"], "unknown flag `--charge.at.z`");
    bad(f, &["--charge", "5"], "`--charge`: expected a record `charge` {amount, note?, at}, got 5");
    bad(f, &["--charge.amount", "x", "--charge.at={}"], "`--charge.amount`: expected u32, got \"x\"");
    bad(
        f,
        &["--charge.amount", "1"],
        "`--charge.at` is missing: a record `point`; usage: --charge <json> [--deep <json>]",
    );
    good("func(s: shape)", &["--s", "empty"], json!({"s": {"tag": "empty"}}));
    good("func(s: shape)", &["--s", "{\"tag\":\"circle\",\"val\":1}"], json!({"s": {"tag": "circle", "val": 1}}));
}

#[test]
fn json_flag_gives_all_arguments_and_other_flags_override_it() {
    let f = "func(std-dev: u32, values: list<u32>)";
    good(f, &["--json", "{\"std_dev\": 1, \"values\": [1]}"], json!({"stdDev": 1, "values": [1]}));
    good(f, &["--std-dev", "2", "--json={\"std_dev\": 1, \"values\": [1]}"], json!({"stdDev": 2, "values": [1]}));
    good(
        f,
        &["--json={\"std_dev\": 1, \"values\": [1]}", "--values", "2", "--values", "3"],
        json!({"stdDev": 1, "values": [2, 3]}),
    );
    bad(f, &["--json", "[1]"], "`--json` takes one JSON object: got a list of 1");
    bad(f, &["--json", "{}", "--json", "{}"], "`--json` is given more than once");
    assert!(parse(f, &["--json", "{"]).expect_err("no JSON").starts_with("`--json` takes one JSON object: "));
    bad(f, &["--json"], "`--json` needs a value: one JSON object (`--json=…` if it begins with `--`)");
    bad(f, &["--json", "{\"x\": 1}"], "x: unknown key, expected one of `stdDev`, `values`");
}

#[test]
fn single_required_parameter_is_accepted_without_flag() {
    let f = "func(text: string, width: option<u32>)";
    good(f, &["# Hi", "--width", "3"], json!({"text": "# Hi", "width": 3}));
    good(f, &["--width", "3", "--", "--text"], json!({"text": "--text", "width": 3}));
    bad(f, &["a", "b"], "unexpected word `b`; usage: --text <string> [--width <u32>]");
    bad(f, &["a", "--text", "b"], "`--text` is given more than once");
    good("func(values: list<f64>)", &["1", "2", "-3"], json!({"values": [1, 2, -3]}));
    bad("func(a: u8, b: u8)", &["1"], "unexpected word `1`; usage: --a <u8> --b <u8>");
    bad("func(a: bool)", &["true"], "unexpected word `true`; usage: --[no-]a");
    bad("func()", &["x"], "unexpected word `x`; usage: no flags");
}

#[test]
fn flag_error_with_line_breaks_in_words_is_one_line() {
    bad("func()", &["a\nb\r"], "unexpected word `a\\nb\\r`; usage: no flags");
    bad("func()", &["--a\nb=1"], "unknown flag `--a\\nb`");
    let f = "func(a: option<charge>)";
    bad(f, &["--json={\"x\\nyz\": 1}"], "[\"x\\nyz\"]: unknown key, expected one of `a`");
    bad(f, &["--a={\"x\\nyz\": 1}"], "a[\"x\\nyz\"]: unknown key, expected one of `amount`, `note`, `at`");
    let twice = "`--a[\"\\n\"]` is given more than once";
    bad("func(a: map<char, u8>)", &["--a=[[\"\\n\",1],[\"\\n\",2]]"], twice);
}
