use serde_json::json;

use super::super::reflect::tests::function;
use super::*;

fn one(types: &str, ty: &str, value: Value) -> Result<Value, String> {
    let f = function(types, &format!("func(x: {ty})"));
    canonicalize(&f, json!({ "x": value }), u64::MAX).map(|mut v| v["x"].take()).map_err(|error| error.to_string())
}

#[track_caller]
fn good(types: &str, ty: &str, value: Value, canonical: Value) {
    let found = one(types, ty, value).expect("it fits");
    // Numbers compare by their text: `2` and `2.0` are two spellings.
    assert_eq!(found.to_string(), canonical.to_string());
    assert_eq!(one(types, ty, found.clone()), Ok(found), "canonical form is its own canonical form");
}

#[track_caller]
fn bad(types: &str, ty: &str, value: Value, message: &str) {
    assert_eq!(one(types, ty, value).expect_err("it does not fit"), message);
}

#[test]
fn integers_are_exact_and_in_range() {
    for (ty, least, most) in [
        ("s8", json!(-128), json!(127)),
        ("u8", json!(0), json!(255)),
        ("s16", json!(-32768), json!(32767)),
        ("u16", json!(0), json!(65535)),
        ("s32", json!(i32::MIN), json!(i32::MAX)),
        ("u32", json!(0), json!(u32::MAX)),
    ] {
        good("", ty, least.clone(), least.clone());
        good("", ty, most.clone(), most.clone());
        let beyond = json!(most.as_i64().expect("small") + 1);
        bad("", ty, beyond.clone(), &format!("x: expected {ty}, got {beyond}"));
        let below = json!(least.as_i64().expect("small") - 1);
        bad("", ty, below.clone(), &format!("x: expected {ty}, got {below}"));
    }
    good("", "u32", json!(5.0), json!(5));
    good("", "u32", serde_json::from_str("1e4").expect("JSON"), json!(10000));
    good("", "s8", json!(-0.0), json!(0));
    bad("", "u32", json!("12"), "x: expected u32, got \"12\"");
    bad("", "u32", json!(1.5), "x: expected u32, got 1.5");
    bad("", "u32", json!(true), "x: expected u32, got true");
    bad("", "u32", json!(null), "x: expected u32, got null");
}

#[test]
fn wide_integers_are_strings_where_a_double_would_lie() {
    let safe = 9_007_199_254_740_991_u64;
    good("", "u64", json!(safe), json!(safe));
    good("", "u64", json!(safe + 1), json!("9007199254740992"));
    good("", "u64", json!(u64::MAX), json!("18446744073709551615"));
    good("", "u64", json!("18446744073709551615"), json!("18446744073709551615"));
    good("", "u64", json!("7"), json!(7));
    good("", "s64", json!(i64::MIN), json!("-9223372036854775808"));
    good("", "s64", json!("-9007199254740991"), json!(-9_007_199_254_740_991_i64));
    good("", "s64", json!("-9007199254740992"), json!("-9007199254740992"));
    for text in ["18446744073709551616", "-1", "+1", "01", "", " 1", "1.0", "0x1", "-0", "1e3"] {
        assert!(one("", "u64", json!(text)).is_err(), "{text}");
    }
    // Between these doubles there are integers that are not doubles: the intended one is unknown.
    assert!(one("", "u64", json!(9_007_199_254_740_992.0)).is_err());
    assert!(one("", "u64", json!(1e18)).is_err());
}

#[test]
fn floats_have_one_spelling() {
    good("", "f64", json!(2.0), json!(2));
    good("", "f64", json!(2), json!(2));
    good("", "f64", json!(0.1), json!(0.1));
    good("", "f64", json!(-0.0), json!(-0.0));
    good("", "f64", json!(1e300), json!(1e300));
    good("", "f64", json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0));
    for text in ["NaN", "Infinity", "-Infinity"] {
        good("", "f64", json!(text), json!(text));
        good("", "f32", json!(text), json!(text));
    }
    good("", "f32", json!(0.5), json!(0.5));
    good("", "f32", json!(0.1), json!(f64::from(0.1_f32)));
    good("", "f32", json!(f32::MAX), json!(f64::from(f32::MAX)));
    bad("", "f32", json!(1e39), "x: expected f32, got 1e+39");
    bad("", "f64", json!("1"), "x: expected f64, got \"1\"");
    bad("", "f64", json!("nan"), "x: expected f64, got \"nan\"");
}

#[test]
fn chars_strings_and_bytes_are_canonicalized_or_refused() {
    for c in ["a", "\u{d7ff}", "\u{e000}", "\u{10ffff}", "\0", "💡"] {
        good("", "char", json!(c), json!(c));
    }
    bad("", "char", json!(""), "x: expected char, got \"\"");
    bad("", "char", json!("e\u{301}"), "x: expected char, got \"e\u{301}\"");
    good("", "string", json!("12"), json!("12"));
    bad("", "string", json!(12), "x: expected string, got 12");
    good("", "list<u8>", json!("AP8="), json!("AP8="));
    good("", "list<u8>", json!([0, 255]), json!("AP8="));
    good("", "list<u8>", json!(""), json!(""));
    good("", "list<u8>", json!([]), json!(""));
    bad("", "list<u8>", json!([0, 256]), "x[1]: expected u8, got 256");
    for text in ["AP8", "AP9=", "AP8=\n", "AP_8", "====", "a"] {
        assert!(one("", "list<u8>", json!(text)).is_err(), "{text:?}");
    }
    let long = "é".repeat(1000);
    let error = one("", "u8", json!(long)).expect_err("no number");
    assert!(error.chars().count() < 100 && error.ends_with("…\""), "{error}");
}

const TYPES: &str = "record item { price: u32, std-dev: option<f64> } record charge { items: list<item>, HTTP-url: string } \
     enum color { red, dark-blue } flags rights { read, write-all, all } \
     variant shape { circle(f64), named-thing(option<string>), empty } ";

#[test]
fn records_know_three_spellings() {
    let canonical = json!({"items": [{"price": 1, "stdDev": null}], "httpUrl": "u"});
    good(TYPES, "charge", canonical.clone(), canonical.clone());
    good(TYPES, "charge", json!({"HTTP-url": "u", "items": [{"std-dev": null, "price": 1}]}), canonical.clone());
    good(TYPES, "charge", json!({"http_url": "u", "items": [{"price": 1.0}]}), canonical);
    bad(
        TYPES,
        "charge",
        json!({"httpUrl": "u", "items": [{"price": 1}, {"price": 2}, {"price": "12"}]}),
        "x.items[2].price: expected u32, got \"12\"",
    );
    bad(
        TYPES,
        "item",
        json!({"price": 1, "std_dev": 1, "stdDev": 2}),
        "x.stdDev: given twice, as `std_dev` and as `stdDev`",
    );
    bad(TYPES, "item", json!({"prize": 1}), "x.prize: unknown key, did you mean `price`?");
    bad(TYPES, "item", json!({"zzzzzz": 1}), "x.zzzzzz: unknown key, expected one of `price`, `stdDev`");
    bad(TYPES, "item", json!({}), "x.price: missing, expected u32");
    bad(TYPES, "item", json!([]), "x: expected a record `item` {price, stdDev?}, got []");
    bad(
        TYPES,
        "item",
        json!({"__proto__": 1, "price": 1}),
        "x.__proto__: unknown key, expected one of `price`, `stdDev`",
    );
}

#[test]
fn names_of_cases_are_kebab_case() {
    for spelled in ["dark-blue", "darkBlue", "dark_blue"] {
        good(TYPES, "color", json!(spelled), json!("dark-blue"));
    }
    bad(TYPES, "color", json!("Red"), "x: expected one of `red`, `dark-blue`, got \"Red\"");
    good(TYPES, "rights", json!(["all", "writeAll", "all"]), json!(["write-all", "all"]));
    good(TYPES, "rights", json!([]), json!([]));
    bad(TYPES, "rights", json!(["read", "run"]), "x[1]: expected one of `read`, `write-all`, `all`, got \"run\"");
    good(TYPES, "shape", json!({"tag": "circle", "val": 1.0}), json!({"tag": "circle", "val": 1}));
    good(TYPES, "shape", json!({"val": "a", "tag": "namedThing"}), json!({"tag": "named-thing", "val": "a"}));
    good(TYPES, "shape", json!({"tag": "named-thing"}), json!({"tag": "named-thing", "val": null}));
    good(TYPES, "shape", json!({"tag": "empty", "val": null}), json!({"tag": "empty"}));
    bad(TYPES, "shape", json!({"tag": "circle"}), "x.val: missing, expected f64");
    bad(TYPES, "shape", json!({"tag": "empty", "val": 1}), "x.val: expected nothing with tag `empty`, got 1");
    bad(TYPES, "shape", json!({"tag": "empty", "value": 1}), "x.value: unknown key, expected one of `tag`, `val`");
    bad(TYPES, "shape", json!({"circle": 1}), "x.tag: missing, expected a variant `shape`");
    bad(TYPES, "shape", json!("empty"), "x: expected {tag, val}, a variant `shape`, got \"empty\"");
}

#[test]
fn nested_options_are_tagged_with_some() {
    good("", "option<u8>", json!(null), json!(null));
    good("", "option<u8>", json!(1), json!(1));
    good("", "option<option<u8>>", json!(null), json!(null));
    good("", "option<option<u8>>", json!({"tag": "some", "val": null}), json!({"tag": "some", "val": null}));
    good("", "option<option<u8>>", json!({"tag": "some"}), json!({"tag": "some", "val": null}));
    good("", "option<option<u8>>", json!({"tag": "some", "val": 1}), json!({"tag": "some", "val": 1}));
    good("", "option<option<u8>>", json!({"tag": "none"}), json!(null));
    bad("", "option<option<u8>>", json!(1), "x: expected {tag, val}, `some`, or null, got 1");
    bad("", "option<u8>", json!(256), "x: expected u8, got 256");
}

#[test]
fn results_tuples_lists_and_maps_are_canonicalized_or_refused() {
    good("", "result<u8, string>", json!({"tag": "ok", "val": 1}), json!({"tag": "ok", "val": 1}));
    good("", "result<_, string>", json!({"tag": "ok"}), json!({"tag": "ok"}));
    bad("", "result<u8>", json!({"tag": "no"}), "x.tag: expected `ok` or `err`, got \"no\"");
    good("", "tuple<u8, string>", json!([1, "a"]), json!([1, "a"]));
    bad("", "tuple<u8, string>", json!([1]), "x: expected a list of 2 values, got a list of 1");
    bad("", "tuple<u8, string>", json!([1, 2]), "x[1]: expected string, got 2");
    good("", "list<u16, 2>", json!([1, 2.0]), json!([1, 2]));
    bad("", "list<u16, 2>", json!([1]), "x: expected a list of 2 u16, got a list of 1");
    bad("", "list<f64>", json!(1), "x: expected a list of f64, got 1");
    good("", "map<string, u8>", json!({"b c": 1, "a": 2.0}), json!({"b c": 1, "a": 2}));
    good("", "map<string, u8>", json!([["a", 1]]), json!({"a": 1}));
    good("", "map<u64, u8>", json!([[7.0, 1], [u64::MAX, 2]]), json!({"7": 1, "18446744073709551615": 2}));
    good("", "map<bool, u8>", json!({"true": 1}), json!({"true": 1}));
    bad("", "map<u8, u8>", json!({"1": 1, "x": 2}), "x.x: expected u8, got \"x\"");
    bad("", "map<u8, u8>", json!([[1, 1], [1.0, 2]]), "x.1: given twice, as `1` and as `1.0`");
    bad("", "map<string, u8>", json!([["a"]]), "x[0]: expected a pair [key, value], got a list of 1");
    bad("", "map<string, u8>", json!({"b c": 300}), "x[\"b c\"]: expected u8, got 300");
}

#[test]
fn arguments_that_are_not_one_object_are_refused() {
    let f = function("", "func(values: list<f64>, mode: option<string>)");
    for (value, got) in [(json!([1]), "a list of 1"), (json!("x"), "\"x\""), (json!(null), "null"), (json!(1), "1")] {
        let error = canonicalize(&f, value, u64::MAX).expect_err("no object").to_string();
        assert_eq!(error, format!("expected one object, {{values, mode?}}, got {got}"));
    }
    let found = canonicalize(&f, json!({"mode": "a", "values": [1]}), u64::MAX).expect("fits");
    assert_eq!(found.to_string(), r#"{"values":[1],"mode":"a"}"#);
}

#[test]
fn options_that_are_left_out_take_bounded_memory() {
    let options: String = (0..500).map(|n| format!("o{n}: option<u32>, ")).collect();
    let f = function(&format!("record wide {{ {options} }}"), "func(x: list<wide>)");
    let many = |count| json!({ "x": vec![json!({}); count] });
    assert!(canonicalize(&f, many(100), 8 << 20).is_ok());
    let error = canonicalize(&f, many(30_000), 8 << 20).expect_err("they would take gigabytes");
    assert!(matches!(&error, ArgumentError::TooLarge { path } if path.starts_with("x[")), "{error}");
    let f = function(&format!("record long {{ a{}: option<u32> }}", "b".repeat(60_000)), "func(x: list<long>)");
    assert!(canonicalize(&f, many(100), 8 << 20).is_ok());
    canonicalize(&f, many(20_000), 8 << 20).expect_err("its name is copied for each");
}

#[test]
fn canonicalization_of_ten_megabytes_is_not_quadratic() {
    let f = function("record p { x: f64, y: option<u32> }", "func(x: list<p>)");
    let items: Vec<Value> = (0..300_000).map(|i| json!({"x": f64::from(i) + 0.5, "y": i})).collect();
    let begin = std::time::Instant::now();
    canonicalize(&f, json!({ "x": items }), u64::MAX).expect("fits");
    // Unoptimised and beside other builds: a bound against quadratic behaviour, not a measurement.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
