//! Recordings: their format, the recorder, and replays.

use std::sync::LazyLock;

use serde_json::json;

use super::*;
use crate::code::MemoryAccount;
use crate::error::Failure;
use crate::guest::Value;
use crate::session::host::HostError;
use crate::vfs::{Action, Edit};

fn call<'a>(run: u64, seq: u64, method: &'a str, arguments: &'a Json) -> AdmittedCall<'a> {
    static MEMORY: LazyLock<MemoryAccount> = LazyLock::new(|| MemoryAccount::new(1 << 30));
    AdmittedCall { run, seq, method, arguments, memory: &MEMORY }
}

fn recorded(made: &[(u64, u64, &str, Json, Json)]) -> Recording {
    let recorder = Recorder::new().expect("there are random numbers");
    let calls = SessionCalls::of(CallSource::Recorded(recorder.clone()), 5).expect("it is new");
    for (run, seq, method, arguments, result) in made {
        assert!(matches!(calls.next(call(*run, *seq, method, arguments)), NextAnswer::OfTool));
        calls.record((*run, *seq), &Ok(Value::Json(result.clone().into())), &[]).expect("it has no files");
    }
    recorder.recording()
}

fn replayed(made: &[(u64, u64, &str, Json, Json)]) -> SessionCalls {
    SessionCalls::of(CallSource::Replayed(recorded(made)), 7).expect("it has no recorder")
}

fn value(answer: NextAnswer) -> Json {
    match answer {
        NextAnswer::Recorded(recorded) => match recorded.result {
            Ok(Value::Json(payload)) => payload.value,
            _ => panic!("it has no value"),
        },
        NextAnswer::Ends(failure) => Json::String(failure.message),
        _ => panic!("it has no value"),
    }
}

#[test]
fn recording_is_read_as_it_was_written() {
    let recording = recorded(&[(1, 2, "a/b", json!({ "x": 2 }), json!(2)), (1, 1, "a/b", json!({}), json!(1))]);
    let text = recording.to_text();
    assert_eq!(Recording::parse(text.as_bytes()).expect("it is one").to_text(), text);
    assert_eq!((recording.header.started, recording.calls[0].seq), (5, 1));
    assert!(recording.has_call("a/b", &json!({ "x": 2 })) && !recording.has_call("a/b", &json!({ "x": 3 })));
}

#[test]
fn text_that_is_no_recording_is_refused_with_the_line() {
    let text = recorded(&[(1, 1, "a/b", json!({}), json!(1))]).to_text();
    let refused = |text: &str| Recording::parse(text.as_bytes()).expect_err("it is none").to_string();
    assert!(refused("").contains("line 1"));
    let other = text.replace("recording 1", "recording 9");
    assert!(refused(&other).contains("has the format `tollhouse recording 9`"));
    assert!(refused(&text.replace("\"seed\":\"", "\"seed\":\"x")).contains("64 hexadecimal digits"));
    assert!(refused(&text.replace("\"started\":5", "\"started\":18446744073709551615")).contains("2262"));
    assert!(refused(&text.replace("\"seq\"", "\"sequence\"")).contains("line 2"));
}

/// A misspelt key would be ignored otherwise, and the file would be another recording than the one that was meant.
#[test]
fn recording_with_an_unknown_key_is_refused_with_key_and_line() {
    let recorder = Recorder::new().expect("there are random numbers");
    let calls = SessionCalls::of(CallSource::Recorded(recorder.clone()), 5).expect("it is new");
    let arguments = json!({});
    assert!(matches!(calls.next(call(1, 1, "a/b", &arguments)), NextAnswer::OfTool));
    let edits = [Edit::new("/workspace/f".to_owned(), Action::Remove { directory: false })];
    calls.record((1, 1), &Ok(Value::Json(json!({ "any": 1 }).into())), &edits).expect("it is short");
    assert!(matches!(calls.next(call(1, 2, "a/b", &arguments)), NextAnswer::OfTool));
    calls.record((1, 2), &Err(Failure::tool("it failed")), &[]).expect("it is short");
    let text = recorder.recording().to_text();
    assert!(Recording::parse(text.as_bytes()).is_ok(), "{text}");
    for (key, misspelt, line) in [
        ("\"seed\"", "\"seed\":\"0\",\"sed\"", 1),
        ("\"order\"", "\"ordr\"", 2),
        ("\"answer\"", "\"anwser\"", 2),
        ("\"edits\"", "\"edit\"", 2),
        ("\"directory\"", "\"directory\":true,\"dirctory\"", 2),
        ("\"value\"", "\"value\":1,\"valeu\"", 2),
        ("\"hint\"", "\"hnit\"", 3),
    ] {
        let changed = text.replace(key, misspelt);
        assert_ne!(changed, text, "{key} is in {text}");
        let refused = Recording::parse(changed.as_bytes()).expect_err(misspelt).to_string();
        let name = misspelt.rsplit('"').nth(1).expect("a key");
        assert!(refused.contains(&format!("line {line}: ")) && refused.contains(&format!("`{name}`")), "{refused}");
    }
    let spaced = text.replace('\n', "\n\n").replace("\"order\"", "\"ordr\"");
    assert!(Recording::parse(spaced.as_bytes()).expect_err("it is misspelt").to_string().contains("line 3: "));
}

/// Answers are given in their order: of two in one place, one would be lost, and the script wait for it in vain.
#[test]
fn recording_with_two_answers_in_one_place_or_one_in_none_is_refused() {
    let text = recorded(&[(1, 1, "a/b", json!({}), json!(1)), (1, 2, "a/b", json!({}), json!(2))]).to_text();
    let refused = |text: &str| Recording::parse(text.as_bytes()).expect_err("an answer is lost").to_string();
    let twice = refused(&text.replace("\"order\":2", "\"order\":1"));
    assert!(twice.contains("line 3: ") && twice.contains("the same `order`, 1"), "{twice}");
    let nowhere = refused(&text.replace(",\"order\":1", ""));
    assert!(nowhere.contains("line 2: ") && nowhere.contains("no `order`"), "{nowhere}");
}

#[test]
fn answer_that_no_tool_gives_ends_the_run() {
    let text = recorded(&[(1, 1, "a/b", json!({}), json!([1]))]).to_text();
    for (result, why) in [
        ("{\"exited\":3}", "not what a tool returns"),
        ("{\"json\":{\"value\":[1],\"specials\":{\"/0\":\"bytes\"}}}", "`/0` is no text"),
        ("{\"json\":{\"value\":[\"!!!\"],\"specials\":{\"/0\":\"bytes\"}}}", "`/0` is no base64"),
        ("{\"json\":{\"value\":[\"abc\"],\"specials\":{\"/0\":\"integer\"}}}", "`/0` is no integer"),
        ("{\"json\":{\"value\":[\"inf\"],\"specials\":{\"/0\":\"float\"}}}", "`/0` is no number"),
    ] {
        let text = text.replace("{\"json\":{\"value\":[1]}}", result);
        let recording = Recording::parse(text.as_bytes()).expect("its lines are whole");
        let calls = SessionCalls::of(CallSource::Replayed(recording), 7).expect("it has no recorder");
        let told = value(calls.next(call(1, 1, "a/b", &json!({}))));
        assert!(told.as_str().is_some_and(|told| told.contains(why)), "{told}");
    }
}

#[test]
fn recorder_takes_one_session_and_a_bounded_number_of_bytes() {
    let recorder = Recorder::new().expect("there are random numbers");
    let calls = SessionCalls::of(CallSource::Recorded(recorder.clone()), 5).expect("it is new");
    assert!(matches!(SessionCalls::of(CallSource::Recorded(recorder), 5), Err(HostError::RecorderTaken)));
    let large = json!({ "text": "x".repeat(usize::try_from(Recording::MAX_BYTES).expect("it fits") / 2) });
    assert!(matches!(calls.next(call(1, 1, "a/b", &large)), NextAnswer::OfTool));
    assert!(matches!(calls.next(call(1, 2, "a/b", &large)), NextAnswer::Ends(_)));
}

#[test]
fn clock_of_a_replay_begins_where_the_recording_began() {
    let calls = replayed(&[]);
    assert_eq!(7_u64.wrapping_add(calls.ahead), 5);
}

#[test]
fn equal_calls_are_answered_in_order_and_others_in_any() {
    let (same, none) = (json!({ "x": 1 }), json!({}));
    let calls = replayed(&[
        (1, 1, "a/b", same.clone(), json!("first")),
        (1, 2, "a/c", none.clone(), json!("other")),
        (1, 3, "a/b", same.clone(), json!("second")),
        (2, 1, "a/b", same.clone(), json!("of the next run")),
    ]);
    assert_eq!(value(calls.next(call(1, 1, "a/c", &none))), "other");
    assert_eq!(value(calls.next(call(1, 2, "a/b", &same))), "first");
    assert!(calls.missing(1).expect("one is left").message.contains("call 3 of the recording, of `a/b`"));
    assert_eq!(value(calls.next(call(1, 3, "a/b", &same))), "second");
    assert!(calls.missing(1).is_none() && calls.missing(2).is_some());
    assert!(value(calls.next(call(1, 4, "a/b", &same))).as_str().expect("text").contains("no further call"));
    assert_eq!(value(calls.next(call(2, 1, "a/b", &same))), "of the next run");
}

#[test]
fn call_that_differs_is_an_error_with_the_difference() {
    let calls = replayed(&[(1, 1, "a/b", json!({ "x": 1, "y": 2, "z": 3 }), json!(1))]);
    let arguments = json!({ "x": 1, "y": "é".repeat(100), "w": 4 });
    let told = value(calls.next(call(1, 1, "a/b", &arguments)));
    let end = "`z` was 3, and is nothing; `w` was nothing, and is 4";
    let expected = format!("call 1 differs: `y` was 2, and is \"{}…; {end}", "é".repeat(79));
    assert!(told.as_str().is_some_and(|told| told.ends_with(&expected)), "{told}");
}

/// The values of a line take many times the memory of its text, and the time that takes is the run's.
#[test]
fn recording_is_read_within_the_limits_of_its_run() {
    let many = |count: usize| json!(vec![0; count]);
    let text = recorded(&[(1, 1, "a/b", json!({}), many(100_000)), (1, 2, "a/b", many(100_000), json!(1))]).to_text();
    let limits = |memory, wall| Limits { memory, wall, ..Limits::default() };
    let long = Duration::from_secs(3600);
    assert!(Recording::parse_within(text.as_bytes(), &limits(64 << 20, long)).is_ok());
    for memory in [text.len() as u64 - 1, 1 << 20, 4 << 20] {
        let refused = Recording::parse_within(text.as_bytes(), &limits(memory, long));
        assert!(matches!(refused, Err(RecordingError::Memory(told)) if told == memory), "{memory}: {refused:?}");
    }
    let refused = Recording::parse_within(text.as_bytes(), &limits(64 << 20, Duration::ZERO));
    assert!(matches!(refused, Err(RecordingError::Time(_))), "{refused:?}");
}

#[test]
fn values_of_a_recording_are_charged_to_the_run() {
    let text = recorded(&[(1, 1, "a/b", json!({}), json!(vec![0; 100_000]))]).to_text();
    let recording = Recording::parse(text.as_bytes()).expect("it is one");
    let calls = SessionCalls::of(CallSource::Replayed(recording), 7).expect("it has no recorder");
    let memory = MemoryAccount::new(4 << 20);
    let arguments = json!({});
    let made = AdmittedCall { run: 1, seq: 1, method: "a/b", arguments: &arguments, memory: &memory };
    assert!(matches!(calls.next(made), NextAnswer::Ends(failure) if failure.message.contains("memory limit")));
}
