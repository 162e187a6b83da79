//! Every WIT type there is: JSON to values to a real component that echoes, and back, is the identity.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tollhouse::tool::reflect::{self, DefaultInterface};
use tollhouse::tool::value::{self, NoHandles, Returned};
use tollhouse::tool::{canonical, types};
use tollhouse_tests::components;
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config as EngineConfig, Engine, Store};

/// A type in WIT, the declarations it needs, and values of it in canonical JSON.
#[derive(Clone, Debug)]
struct Sample {
    declarations: BTreeSet<String>,
    ty: String,
    value: Value,
}

/// Sends a value through a component that echoes its type.
fn echo(engine: &Engine, sample: &Sample) -> Value {
    let bytes = components::echo(&sample.declarations.iter().map(String::as_str).collect::<String>(), &sample.ty);
    let package = reflect::reflect(&bytes, None, &DefaultInterface::Only).expect("it is reflected");
    let function: &types::Function = package.function(&["echo"]).expect("it exports `echo`");
    let mut arguments = json!({ "x": sample.value, "a": 0 });
    for number in 1..=16 {
        arguments[format!("p{number}")] = json!(0);
    }
    let canonical = canonical::canonicalize(function, arguments, u64::MAX).expect("the value fits its type");
    assert_eq!(canonical["x"], sample.value, "canonical values are left alone");
    let lowered = value::lower_arguments(function, canonical, &mut NoHandles).expect("it lowers");

    let component = Component::new(engine, &bytes).expect("it compiles");
    let mut store = Store::new(engine, ());
    let instance = Linker::new(engine).instantiate(&mut store, &component).expect("it imports nothing");
    let within = component.get_export_index(None, function.export.instance.as_deref().expect("an interface"));
    let export = component.get_export_index(within.as_ref(), &function.export.function).expect("it is exported");
    let mut results = vec![Val::Bool(false)];
    let echo = instance.get_func(&mut store, export).expect("it is a function");
    echo.call(&mut store, &lowered, &mut results).expect("it returns");
    match value::lift_result(function, results, &mut NoHandles).expect("it lifts") {
        Returned::Value(payload) => payload.value[0].clone(),
        Returned::Error(payload) => panic!("an error: {payload:?}"),
    }
}

fn engine() -> Engine {
    let mut config = EngineConfig::new();
    config.wasm_component_model_map(true).wasm_component_model_fixed_length_lists(true);
    // The test is about values; compiling quickly lets it try more types.
    config.cranelift_opt_level(wasmtime::OptLevel::None);
    Engine::new(&config).expect("the engine starts")
}

fn plain(ty: &str, value: Value) -> Sample {
    Sample { declarations: BTreeSet::new(), ty: ty.to_owned(), value }
}

/// A 64-bit integer as canonical JSON has it: a number while a double is exact, beyond that a decimal string.
fn integer(value: i128) -> Value {
    if value.unsigned_abs() < 1 << 53 {
        json!(i64::try_from(value).expect("below 2^53"))
    } else {
        json!(value.to_string())
    }
}

fn float(value: f64) -> Value {
    if value.is_nan() {
        json!("NaN")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else if value.fract() == 0.0
        && value.abs() < 9_007_199_254_740_992.0
        && !(value == 0.0 && value.is_sign_negative())
    {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        let whole = value as i64;
        json!(whole)
    } else {
        json!(value)
    }
}

fn leaf() -> impl Strategy<Value = Sample> {
    let edges =
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just((1 << 53) - 1), Just(1 << 53), Just(-(1 << 53)), any::<i64>()];
    prop_oneof![
        any::<bool>().prop_map(|v| plain("bool", json!(v))),
        any::<u8>().prop_map(|v| plain("u8", json!(v))),
        any::<i8>().prop_map(|v| plain("s8", json!(v))),
        any::<u16>().prop_map(|v| plain("u16", json!(v))),
        any::<i16>().prop_map(|v| plain("s16", json!(v))),
        any::<u32>().prop_map(|v| plain("u32", json!(v))),
        any::<i32>().prop_map(|v| plain("s32", json!(v))),
        edges.prop_map(|v| plain("s64", integer(v.into()))),
        prop_oneof![Just(u64::MAX), Just(1 << 63), any::<u64>()].prop_map(|v| plain("u64", integer(v.into()))),
        any::<f64>().prop_map(|v| plain("f64", float(v))),
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0)].prop_map(|v| plain("f64", float(v))),
        any::<f32>().prop_map(|v| plain("f32", float(v.into()))),
        any::<char>().prop_map(|v| plain("char", json!(v))),
        any::<String>().prop_map(|v| plain("string", json!(v))),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(|v| plain("list<u8>", json!(base64(&v)))),
    ]
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let six = (word >> (18 - 6 * digit)) & 63;
            text.push(if digit > chunk.len() { '=' } else { DIGITS[six as usize].into() });
        }
    }
    text
}

/// A composite around other samples.
fn composite(inner: impl Strategy<Value = Sample> + Clone + 'static) -> impl Strategy<Value = Sample> {
    let pair = (inner.clone(), inner.clone(), any::<u8>());
    let list = (inner.clone(), 0..4_usize).prop_filter_map("`list<u8>` is bytes", |(sample, count)| {
        let value = vec![sample.value; count];
        (sample.ty != "u8").then(|| Sample {
            ty: format!("list<{}>", sample.ty),
            value: json!(value),
            declarations: sample.declarations,
        })
    });
    let option = (inner.clone(), any::<bool>()).prop_map(|(sample, some)| {
        let nested = sample.ty.starts_with("option<");
        let value = match (some, nested) {
            (false, _) => Value::Null,
            (true, false) => sample.value,
            (true, true) => json!({ "tag": "some", "val": sample.value }),
        };
        Sample { ty: format!("option<{}>", sample.ty), value, declarations: sample.declarations }
    });
    prop_oneof![list, option, pair.prop_map(|(a, b, choice)| aggregate(a, b, choice))]
}

fn aggregate(a: Sample, b: Sample, choice: u8) -> Sample {
    // A type is named after what it is, so that the two sides may declare the same one.
    let mut hasher = DefaultHasher::new();
    (&a.ty, &b.ty, choice % 6).hash(&mut hasher);
    let name = format!("named-h{}", hasher.finish());
    let mut declarations: BTreeSet<String> = a.declarations.union(&b.declarations).cloned().collect();
    let (ty, value) = match choice % 6 {
        0 => (format!("tuple<{}, {}>", a.ty, b.ty), json!([a.value, b.value])),
        1 => {
            declarations.insert(format!("  record {name} {{ first-one: {}, b2: {} }}\n", a.ty, b.ty));
            (name, json!({ "firstOne": a.value, "b2": b.value }))
        }
        2 => {
            declarations.insert(format!("  variant {name} {{ none-at-all, one({}), other-one({}) }}\n", a.ty, b.ty));
            let value = match choice % 3 {
                0 => json!({ "tag": "none-at-all" }),
                1 => json!({ "tag": "one", "val": a.value }),
                _ => json!({ "tag": "other-one", "val": b.value }),
            };
            (name, value)
        }
        3 => {
            let value = if choice >= 128 {
                json!({ "tag": "ok", "val": a.value })
            } else {
                json!({ "tag": "err", "val": b.value })
            };
            (format!("result<{}, {}>", a.ty, b.ty), value)
        }
        4 => {
            declarations.insert(format!("  enum {name} {{ red, deep-blue, green }}\n"));
            (name, json!(["red", "deep-blue", "green"][usize::from(choice / 6) % 3]))
        }
        _ => {
            declarations.insert(format!("  flags {name} {{ read, write-all, run }}\n"));
            let all = ["read", "write-all", "run"];
            (
                name,
                json!(
                    all.iter()
                        .enumerate()
                        .filter(|(bit, _)| choice >> (bit + 3) & 1 == 1)
                        .map(|(_, flag)| flag)
                        .collect::<Vec<_>>()
                ),
            )
        }
    };
    Sample { declarations, ty, value }
}

#[test]
fn value_of_every_type_is_returned_unchanged() {
    let engine = engine();
    let samples = leaf().prop_recursive(3, 12, 3, |inner| composite(inner.boxed()));
    let mut runner = TestRunner::new(Config { cases: 96, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&samples, |sample| {
        prop_assert_eq!(echo(&engine, &sample), sample.value.clone(), "{:?}", sample);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn maps_and_fixed_lists_are_returned_unchanged() {
    let engine = engine();
    for (ty, value) in [("list<u16, 3>", json!([1, 2, 65_535])), ("map<string, u32>", json!({ "a": 1, "b": 2 }))] {
        let sample = plain(ty, value.clone());
        assert_eq!(echo(&engine, &sample), value, "{ty}");
    }
}
