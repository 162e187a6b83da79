use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tool::types::{Export, FunctionKind};

/// Generates types of every shape except handles, to a depth of four.
fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Shape::Bool),
        Just(Shape::S8),
        Just(Shape::U8),
        Just(Shape::S16),
        Just(Shape::U16),
        Just(Shape::S32),
        Just(Shape::U32),
        Just(Shape::S64),
        Just(Shape::U64),
        Just(Shape::F32),
        Just(Shape::F64),
        Just(Shape::Char),
        Just(Shape::String),
        Just(Shape::Bytes),
        Just(Shape::Enum(cases(3))),
        Just(Shape::Flags(cases(4))),
    ]
    .prop_map(Type::from);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        let maybe = prop::option::of(inner.clone().prop_map(Box::new));
        let key =
            prop_oneof![Just(Shape::Bool), Just(Shape::S64), Just(Shape::U64), Just(Shape::Char), Just(Shape::String)];
        prop_oneof![
            inner.clone().prop_map(list_of),
            (inner.clone(), 0_u32..4).prop_map(|(ty, n)| Shape::FixedList(Box::new(ty), n)),
            inner.clone().prop_map(|ty| Shape::Option(Box::new(ty))),
            some.clone().prop_map(Shape::Tuple),
            some.clone().prop_map(|types| {
                Shape::Record(
                    types.into_iter().enumerate().map(|(i, ty)| Field::new(format!("the-x{i}"), ty)).collect(),
                )
            }),
            some.prop_map(|types| {
                let with = types.into_iter().enumerate().map(|(i, ty)| Case::new(format!("case-x{i}"), Some(ty)));
                Shape::Variant(with.chain([Case::new("no-thing", None)]).collect())
            }),
            (maybe.clone(), maybe).prop_map(|(ok, err)| Shape::Result { ok, err }),
            (key, inner).prop_map(|(key, ty)| Shape::Map(Box::new(key.into()), Box::new(ty))),
        ]
        .prop_map(Type::from)
    })
}

/// Returns the shape of a list: `list<u8>` is bytes, and no other list of `u8` exists.
fn list_of(ty: Type) -> Shape {
    if ty.shape == Shape::U8 { Shape::Bytes } else { Shape::List(Box::new(ty)) }
}

fn cases(count: usize) -> Members<Case> {
    (0..count).map(|i| Case::new(format!("name-x{i}"), None)).collect()
}

fn edges<T: std::fmt::Debug + Clone + 'static>(edges: &'static [T], any: BoxedStrategy<T>) -> BoxedStrategy<T> {
    prop_oneof![prop::sample::select(edges), any].boxed()
}

/// Generates values of a scalar type; `None` if it is none.
fn scalars(shape: &Shape) -> Option<BoxedStrategy<Val>> {
    let values = match shape {
        Shape::Bool => any::<bool>().prop_map(Val::Bool).boxed(),
        Shape::S8 => any::<i8>().prop_map(Val::S8).boxed(),
        Shape::U8 => any::<u8>().prop_map(Val::U8).boxed(),
        Shape::S16 => any::<i16>().prop_map(Val::S16).boxed(),
        Shape::U16 => any::<u16>().prop_map(Val::U16).boxed(),
        Shape::S32 => edges(&[i32::MIN, -1, 0, i32::MAX], any::<i32>().boxed()).prop_map(Val::S32).boxed(),
        Shape::U32 => edges(&[0, 1, u32::MAX], any::<u32>().boxed()).prop_map(Val::U32).boxed(),
        Shape::S64 => {
            const EDGES: &[i64] = &[i64::MIN, i64::MAX, -(1 << 53), -(1 << 53) + 1, (1 << 53) - 1, 1 << 53, 0, -1];
            edges(EDGES, any::<i64>().boxed()).prop_map(Val::S64).boxed()
        }
        Shape::U64 => edges(&[0, (1 << 53) - 1, 1 << 53, u64::MAX], any::<u64>().boxed()).prop_map(Val::U64).boxed(),
        Shape::F32 => {
            const EDGES: &[f32] =
                &[-0.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.1];
            edges(EDGES, any::<f32>().boxed()).prop_map(Val::Float32).boxed()
        }
        Shape::F64 => {
            const EDGES: &[f64] = &[
                -0.0,
                0.0,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                9_007_199_254_740_993.0,
                5e-324,
                1e21,
                -3.0,
            ];
            edges(EDGES, any::<f64>().boxed()).prop_map(Val::Float64).boxed()
        }
        Shape::Char => {
            edges(&['\0', '\u{d7ff}', '\u{e000}', '\u{10ffff}', '"'], any::<char>().boxed()).prop_map(Val::Char).boxed()
        }
        Shape::String => any::<String>().prop_map(Val::String).boxed(),
        _ => return None,
    };
    Some(values)
}

/// Generates values of a type, as a component would return them.
fn values(ty: &Type) -> BoxedStrategy<Val> {
    let boxed = |ty: &Type| values(ty).prop_map(Box::new).boxed();
    let side = |ty: &Option<Box<Type>>| -> BoxedStrategy<Option<Box<Val>>> {
        ty.as_ref().map_or_else(|| Just(None).boxed(), |ty| boxed(ty).prop_map(Some).boxed())
    };
    if let Some(scalars) = scalars(&ty.shape) {
        return scalars;
    }
    match &ty.shape {
        Shape::Bytes => prop::collection::vec(any::<u8>().prop_map(Val::U8), 0..6).prop_map(Val::List).boxed(),
        Shape::List(inner) => prop::collection::vec(values(inner), 0..4).prop_map(Val::List).boxed(),
        Shape::FixedList(inner, count) => {
            let count = usize::try_from(*count).expect("small");
            prop::collection::vec(values(inner), count).prop_map(Val::FixedLengthList).boxed()
        }
        Shape::Tuple(members) => members.iter().map(values).collect::<Vec<_>>().prop_map(Val::Tuple).boxed(),
        Shape::Record(fields) => {
            let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
            let all = fields.iter().map(|field| values(&field.ty)).collect::<Vec<_>>();
            all.prop_map(move |values| Val::Record(names.iter().cloned().zip(values).collect())).boxed()
        }
        Shape::Variant(cases) => {
            let cases = cases.iter().map(|case| {
                let name = case.name.clone();
                side(&case.ty.clone().map(Box::new)).prop_map(move |val| Val::Variant(name.clone(), val)).boxed()
            });
            proptest::strategy::Union::new(cases.collect::<Vec<_>>()).boxed()
        }
        Shape::Enum(cases) => {
            let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
            prop::sample::select(names).prop_map(Val::Enum).boxed()
        }
        Shape::Flags(cases) => {
            let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
            prop::sample::subsequence(names, 0..=cases.len()).prop_map(Val::Flags).boxed()
        }
        Shape::Option(inner) => prop::option::of(boxed(inner)).prop_map(Val::Option).boxed(),
        Shape::Result { ok, err } => {
            prop_oneof![side(ok).prop_map(|v| Val::Result(Ok(v))), side(err).prop_map(|v| Val::Result(Err(v)))].boxed()
        }
        Shape::Map(key, item) => prop::collection::vec((values(key), values(item)), 0..3)
            .prop_map(|entries| {
                let mut unique: Vec<(Val, Val)> = Vec::new();
                for entry in entries {
                    if unique.iter().all(|(key, _)| *key != entry.0) {
                        unique.push(entry);
                    }
                }
                Val::Map(unique)
            })
            .boxed(),
        _ => unreachable!("scalars are above, and others are not generated"),
    }
}

fn typed_values() -> impl Strategy<Value = (Type, Val)> {
    types().prop_flat_map(|ty| values(&ty).prop_map(move |val| (ty.clone(), val)))
}

/// Respells every key and case, without changing their meaning.
fn respell(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            object.into_iter().rev().map(|(key, value)| (respell_key(key), respell(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(respell).collect(),
        Value::String(text) if text.starts_with("case-x") || text.starts_with("name-x") => {
            Value::String(text.replace('-', "_"))
        }
        other => other,
    }
}

fn respell_key(key: String) -> String {
    if key.starts_with("theX") { key.replace("theX", "the-x") } else { key }
}

proptest! {
    #[test]
    fn lifted_value_is_canonical_and_lowers_to_itself((ty, val) in typed_values()) {
        let payload = lift(val, &ty, &mut NoHandles).expect("it is of this type");
        let text = payload.value.to_string();
        // Through text and back, as on the way to a guest.
        let read: Value = serde_json::from_str(&text).expect("JSON");
        let canonical = canonical::canonicalize_value(&ty, read, "x", u64::MAX).expect("what a tool returns, a tool takes");
        prop_assert_eq!(canonical.to_string(), text.clone());
        let again = canonical::canonicalize_value(&ty, canonical.clone(), "x", u64::MAX).expect("idempotent");
        prop_assert_eq!(again.to_string(), text.clone());
        let lowered = lower(canonical, &ty, &mut NoHandles).expect("canonical");
        let back = lift(lowered, &ty, &mut NoHandles).expect("it is of this type");
        prop_assert_eq!(back.value.to_string(), text);
        prop_assert_eq!(back.specials, payload.specials);
    }

    #[test]
    fn value_in_other_spellings_has_the_same_canonical_form((ty, val) in typed_values()) {
        let value = lift(val, &ty, &mut NoHandles).expect("it is of this type").value;
        let text = value.to_string();
        let maps = format!("{ty:?}").contains("Map(");
        // In a map the order of keys is the caller's, and a key may look like a field.
        prop_assume!(!maps && !text.contains("case-x\\"));
        let spelled = respell(value);
        let canonical = canonical::canonicalize_value(&ty, spelled, "x", u64::MAX);
        if let Ok(canonical) = canonical {
            prop_assert_eq!(canonical.to_string(), text);
        } else {
            prop_assert!(false, "{:?}", canonical);
        }
    }

    #[test]
    fn specials_point_at_strings((ty, val) in typed_values()) {
        let payload = lift(val, &ty, &mut NoHandles).expect("it is of this type");
        for special in &payload.specials {
            let found = payload.value.pointer(&special.pointer);
            prop_assert!(found.is_some_and(Value::is_string), "{} in {}", special.pointer, payload.value);
        }
    }

    #[test]
    fn conversion_of_values_of_other_types_does_not_panic(ty in types(), (_, val) in typed_values()) {
        if let Ok(payload) = lift(val.clone(), &ty, &mut NoHandles) {
            let _ = lower(payload.value, &ty, &mut NoHandles);
        }
        if let Ok(payload) = lift(val, &ty, &mut NoHandles) {
            let _ = canonical::canonicalize_value(&ty, payload.value, "", u64::MAX);
        }
    }
}

#[test]
fn specials_are_listed_in_order_with_pointers() {
    let ty = Type::from(Shape::Record(
        [
            Field::new("big-one", Shape::U64),
            Field::new("raw", Shape::List(Box::new(Shape::Bytes.into()))),
            Field::new("by-name", Shape::Map(Box::new(Shape::String.into()), Box::new(Shape::F64.into()))),
        ]
        .into_iter()
        .collect(),
    ));
    let val = Val::Record(vec![
        ("big-one".to_owned(), Val::U64(u64::MAX)),
        ("raw".to_owned(), Val::List(vec![Val::List(vec![Val::U8(0), Val::U8(255)])])),
        ("by-name".to_owned(), Val::Map(vec![(Val::String("a/b~c".to_owned()), Val::Float64(f64::NAN))])),
    ]);
    let payload = lift(val, &ty, &mut NoHandles).expect("fits");
    assert_eq!(payload.value, json!({"bigOne": "18446744073709551615", "raw": ["AP8="], "byName": {"a/b~c": "NaN"}}));
    let special = |pointer: &str, kind| Special { pointer: pointer.to_owned(), kind };
    assert_eq!(
        payload.specials,
        [
            special("/bigOne", SpecialKind::Integer),
            special("/raw/0", SpecialKind::Bytes),
            special("/byName/a~1b~0c", SpecialKind::Float),
        ]
    );
}

#[test]
fn map_with_duplicate_keys_keeps_the_last_entry() {
    let ty = Type::from(Shape::Map(Box::new(Shape::U8.into()), Box::new(Shape::U64.into())));
    let entry = |key, value| (Val::U8(key), Val::U64(value));
    let val = Val::Map(vec![entry(1, u64::MAX), entry(2, 2), entry(1, 3)]);
    let payload = lift(val, &ty, &mut NoHandles).expect("fits");
    assert_eq!(payload.value, json!({"2": 2, "1": 3}));
    assert_eq!(payload.specials, []);
}

#[test]
fn result_is_lifted_as_value_or_error() {
    let function = |result: Option<Type>| Function {
        path: vec!["f".to_owned()],
        docs: None,
        params: Members::default(),
        result,
        kind: FunctionKind::Free,
        export: Export { instance: None, function: "f".to_owned() },
        schemas: None,
    };
    let result = Type::from(Shape::Result { ok: None, err: Some(Box::new(Shape::Bytes.into())) });
    let ok = lift_result(&function(Some(result.clone())), vec![Val::Result(Ok(None))], &mut NoHandles);
    assert_eq!(ok, Ok(Returned::Value(Payload::default())));
    let bytes = Some(Box::new(Val::List(vec![Val::U8(1)])));
    let err = lift_result(&function(Some(result)), vec![Val::Result(Err(bytes))], &mut NoHandles);
    let Ok(Returned::Error(payload)) = err else { panic!("{err:?}") };
    assert_eq!(payload.value, json!("AQ=="));
    assert_eq!(payload.specials, [Special { pointer: String::new(), kind: SpecialKind::Bytes }]);
    assert_eq!(lift_result(&function(None), Vec::new(), &mut NoHandles), Ok(Returned::Value(Payload::default())));
    assert!(lift_result(&function(Some(Shape::U8.into())), Vec::new(), &mut NoHandles).is_err());
}

#[test]
fn handle_not_issued_by_its_keeper_is_refused() {
    let resource = Resource { instance: "a:b/c".to_owned(), name: "counter".to_owned() };
    let error = lower(json!("x"), &Shape::Own(resource.clone()).into(), &mut NoHandles).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "`x` is not a handle of `counter`: it was never issued in this run, or was dropped or given away"
    );
    assert!(lower(json!(1), &Shape::Borrow(resource).into(), &mut NoHandles).is_err());
}
