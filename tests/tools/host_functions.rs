//! Host functions: what an embedding program gives scripts as tools, behind the same gate as components.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Amount, Clause, Grant, Policy, Scalar, Test, param};
use tollhouse::error::{ErrorKind, Failure};
use tollhouse::guest::{Completion, Language, Script, Value as Answer};
use tollhouse::session::{
    Host, HostOptions, OpenOptions, Operation, RunOptions, RunResult, Session, SessionOptions, Sessions, Status, Step,
    Widening,
};
use tollhouse::store::Backend;
use tollhouse::tool::{HostCall, HostTool};
use tollhouse_tests::Home;

fn weather() -> HostTool {
    let schema = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "description": "Which." }, "days": { "type": "integer" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    let tool = HostTool::new("get_weather", "Tells the weather.", schema).expect("a tool");
    tool.answered_by(|call: &HostCall<'_>| Ok(json!({ "city": call.arguments["city"], "temp": 72 }).into()))
}

fn add() -> HostTool {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
        "required": ["a", "b"],
    });
    let tool = HostTool::new("math.add", "Adds.", schema).expect("a tool");
    tool.answered_by(|call: &HostCall<'_>| {
        let sum = ["a", "b"].iter().filter_map(|name| call.arguments[*name].as_f64()).sum::<f64>();
        Ok(Value::from(sum).into())
    })
}

/// A namespace that says what it was called with.
fn stripe() -> HostTool {
    let tool = HostTool::namespace("stripe", "A payment processor.").expect("a namespace");
    tool.answered_by(|call: &HostCall<'_>| Ok(json!([call.method, call.arguments]).into()))
}

fn policy(grants: impl IntoIterator<Item = Grant>) -> Policy {
    let nothing = Policy { tools: Some(Default::default()), ..Policy::default() };
    grants.into_iter().fold(nothing, Policy::with)
}

fn allow(pattern: &str) -> Grant {
    Grant::allow(pattern).expect("a pattern")
}

fn at_most(path: &str, limit: i64) -> Clause {
    Clause::Param(param(path).expect("a path").at_most(limit))
}

fn host() -> Host {
    Host::new(&HostOptions::default()).expect("the engines start")
}

fn session(tools: Vec<HostTool>, grants: impl IntoIterator<Item = Grant>) -> Session {
    let options = SessionOptions { policy: policy(grants), host_tools: tools, ..SessionOptions::default() };
    host().session(options).expect("a session")
}

fn run(session: &Session, language: Language, source: &str) -> RunResult {
    let script = Script { source: source.to_owned(), name: "test".to_owned(), ..Script::default() };
    session.start(language, script, RunOptions::default()).expect("it starts").finish()
}

fn javascript(session: &Session, source: &str) -> Value {
    let result = run(session, Language::JavaScript, source);
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
    result.value.unwrap_or_default()
}

fn refused(session: &Session, source: &str) -> (ErrorKind, String) {
    let error = run(session, Language::JavaScript, source).error.expect("it is refused");
    (error.kind, error.message)
}

#[test]
fn host_function_is_callable_from_every_face() {
    let session = session(vec![weather(), add(), stripe()], [allow("**")]);
    assert_eq!(javascript(&session, "return (await get_weather({city: 'SF'})).temp"), json!(72));
    assert_eq!(
        javascript(&session, "return [await math.add({a: 1, b: 2}), await math_add({a: 1, b: 2})]"),
        json!([3, 3])
    );
    for line in [
        "get_weather --city SF",
        "tool get_weather --city SF",
        "tool get_weather --json '{\"city\":\"SF\"}'",
        "get_weather SF",
    ] {
        let result = run(&session, Language::Shell, &format!("{line} | jq .temp"));
        assert_eq!(result.stdout, b"72\n", "{line}: {}", String::from_utf8_lossy(&result.stderr));
    }
    let help = run(&session, Language::Shell, "get_weather --help").stdout;
    let help = String::from_utf8_lossy(&help).into_owned();
    assert!(help.contains("Tells the weather.") && help.contains("--city"), "{help}");
    let info = javascript(&session, "return getToolInfo('get_weather')");
    assert_eq!(info["parameters"]["properties"]["city"]["description"], "Which.", "its own schema");
    assert_eq!(info["id"], "mcp:get_weather");
    let names = javascript(&session, "return __tools__");
    assert!(names.as_array().expect("an array").contains(&"get_weather".into()), "{names}");
    let declared = session.gate().tools().typescript(&|_| true);
    assert!(declared.contains("* Tells the weather."), "{declared}");
    assert!(declared.contains("declare function get_weather(args: "), "{declared}");
}

#[test]
fn help_shows_the_default_of_a_parameter_that_takes_no_null() {
    let schema = json!({ "type": "object", "properties": { "days": { "type": "integer", "default": 3 } } });
    let plan = HostTool::new("plan", "Plans.", schema).expect("a tool");
    let session = session(vec![plan.answered_by(|_: &HostCall<'_>| Ok(json!(1).into()))], [allow("**")]);
    let help = run(&session, Language::Shell, "plan --help").stdout;
    let help = String::from_utf8_lossy(&help).into_owned();
    assert!(help.contains("(s64, default 3)") && !help.contains("null"), "{help}");
    assert_eq!(
        javascript(&session, "return await plan({days: null}).catch(error => error.name)"),
        json!("ArgumentError")
    );
}

#[test]
fn host_functions_are_declared_as_they_are_called_and_answer() {
    let schema = json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] });
    let result = json!({ "type": "array", "items": { "enum": ["a", "b"] }, "description": "All." });
    let find = HostTool::new("search-db.find-all", "Finds.", schema).and_then(|tool| tool.returning(result.clone()));
    let find = find.expect("a tool").answered_by(|_: &HostCall<'_>| Ok(json!(["a"]).into()));
    let session = session(vec![find, stripe()], [allow("**")]);
    assert_eq!(javascript(&session, "return await search_db.find_all({id: 1})"), json!(["a"]));
    let declared = session.gate().tools().typescript(&|_| true);
    assert!(declared.contains("declare const search_db: {"), "{declared}");
    assert!(declared.contains("find_all(args: { id: number }): Promise<(\"a\" | \"b\")[]>;"), "{declared}");
    assert!(declared.contains("@returns All."), "{declared}");
    assert!(declared.contains("declare const stripe: stripe.Methods;"), "{declared}");
    assert_eq!(javascript(&session, "return getToolInfo('search_db.find_all').result"), result);
}

#[test]
fn host_function_call_of_wrong_schema_or_spelling_is_refused() {
    let called = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&called);
    let tool = weather().answered_by(move |_: &HostCall<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Value::Null.into())
    });
    let session = session(vec![tool], [allow("get_weather")]);
    for (arguments, told) in [
        ("{city: 123}", "city: 123 is not of type \"string\""),
        ("{}", "\"city\" is a required property"),
        ("{City: 'SF'}", "'City' was unexpected"),
        ("{city: 'SF', days: 1.5}", "days: 1.5 is not of type \"integer\""),
        ("{city: 'SF', more: 1}", "'more' was unexpected"),
    ] {
        let (kind, message) = refused(&session, &format!("await get_weather({arguments})"));
        assert_eq!(kind, ErrorKind::Argument, "{message}");
        assert!(message.contains(told), "{message}");
    }
    assert_eq!(called.load(Ordering::Relaxed), 0);
}

/// A recursive schema cannot keep the host busy for ever, even one that refers to itself in two branches of a choice,
/// and so looks at each level twice as often as at the one above it.
#[test]
fn arguments_that_a_schema_would_look_at_for_ever_are_refused_or_judged() {
    let case = |kind: &str| {
        let left = json!({ "$ref": "#/$defs/Expression" });
        json!({ "type": "object", "properties": { "left": left, "kind": { "const": kind } } })
    };
    let schema = json!({
        "type": "object",
        "$defs": { "Expression": { "anyOf": [case("and"), case("or"), { "type": "number" }] } },
        "properties": { "expression": { "$ref": "#/$defs/Expression" } },
    });
    let tool = HostTool::new("logic.evaluate", "Evaluates.", schema).expect("a tool");
    let tool = tool.answered_by(|_: &HostCall<'_>| Ok(json!("done").into()));
    let session = session(vec![tool], [allow("logic/evaluate")]);
    let nested = |leaf: &str| {
        let nest = "for (let n = 0; n < 95; n++) expression = { kind: 'or', left: expression }";
        format!("let expression = {leaf}; {nest}; return await logic.evaluate({{ expression }})")
    };
    let (kind, message) = refused(&session, &nested("'bad'"));
    assert_eq!(kind, ErrorKind::Argument, "{message}");
    assert_eq!(javascript(&session, &nested("5")), json!("done"));
}

#[test]
fn grants_hold_for_host_functions() {
    let grant = allow("math/add").when(at_most("a", 10)).calls(2);
    let session = session(vec![add(), weather()], [grant]);
    let (kind, message) = refused(&session, "await math.add({a: 11, b: 1})");
    assert_eq!(kind, ErrorKind::Capability, "{message}");
    assert_eq!(refused(&session, "await get_weather({city: 'SF'})").0, ErrorKind::Capability);
    assert_eq!(javascript(&session, "return await math.add({a: 10, b: 1}) + await math.add({a: 1, b: 1})"), json!(13));
    assert_eq!(refused(&session, "await math.add({a: 1, b: 1})").0, ErrorKind::Capability, "the budget is spent");
}

#[test]
fn host_function_grant_that_can_never_hold_is_refused() {
    let is = Test::Eq(Scalar::String("SF".to_owned()));
    let unknown = allow("get_weather").when(Clause::Param(param("citty").expect("a path").test(is)));
    let options =
        SessionOptions { policy: policy([unknown]), host_tools: vec![weather()], ..SessionOptions::default() };
    let error = host().session(options).err().expect("it is misspelt").to_string();
    assert!(error.contains("there is no parameter `citty`"), "{error}");
    let options = SessionOptions {
        policy: policy([allow("get_wether")]),
        host_tools: vec![weather()],
        ..SessionOptions::default()
    };
    let error = host().session(options).err().expect("it is misspelt").to_string();
    assert!(error.contains("`get_wether` covers nothing"), "{error}");
}

#[test]
fn members_of_an_open_namespace_are_judged_one_by_one() {
    let small = allow("stripe/charges/*").when(at_most("amount", 1_000));
    let session = session(vec![stripe()], [small, allow("stripe/balance")]);
    let answer = json!(["stripe/charges/create", { "amount": 500 }]);
    assert_eq!(javascript(&session, "return await stripe.charges.create({amount: 500})"), answer);
    assert_eq!(javascript(&session, "return (await stripe.balance({}))[0]"), json!("stripe/balance"));
    for line in [
        "stripe charges create --amount 500",
        "tool stripe.charges.create --amount 500",
        "tool stripe/charges/create --json '{\"amount\":500}'",
    ] {
        let result = run(&session, Language::Shell, &format!("{line} | jq -c ."));
        assert_eq!(String::from_utf8_lossy(&result.stdout).trim(), answer.to_string(), "{line}");
    }
    for script in [
        "await stripe.charges.create({amount: 5000})",
        "await stripe.charges.create({amount: '500'})",
        "await stripe.charges.create({})",
        "await stripe.refunds.create({amount: 1})",
        "await stripe.charges({amount: 1})",
        "await stripe({amount: 1})",
        "await stripe.charges.create.now({amount: 1})",
        "await stripe.charges['create/now']({amount: 1})",
    ] {
        assert_eq!(refused(&session, script).0, ErrorKind::Capability, "{script}");
    }
    let (kind, message) = refused(&session, "await stripe.charges['../x']({amount: 1})");
    assert_eq!(kind, ErrorKind::Argument, "{message}");
    assert_eq!(
        run(&session, Language::JavaScript, "await strype.charges.create({})").error.expect("no such name").name,
        "ReferenceError"
    );
}

#[test]
fn host_function_budget_on_undeclared_argument_takes_numbers_only() {
    let spend = allow("stripe/**").spend("amount", Amount::whole(100)).expect("a path");
    let session = session(vec![stripe()], [spend]);
    for arguments in ["{}", "{amount: '50'}", "{amount: [50]}", "{amount: null}", "{amount: -50}", "{amount: 101}"] {
        let script = format!("await stripe.charges.create({arguments})");
        assert_eq!(refused(&session, &script).0, ErrorKind::Capability, "{arguments}");
    }
    assert_eq!(javascript(&session, "await stripe.charges.create({amount: 60}); return 1"), json!(1));
    assert_eq!(refused(&session, "await stripe.charges.create({amount: 60})").0, ErrorKind::Capability);
}

#[test]
fn host_function_namespace_is_awaitable_and_printable() {
    let session = session(vec![stripe()], [allow("stripe/**")]);
    assert_eq!(javascript(&session, "const s = await stripe; return typeof s.charges.create"), json!("function"));
    assert_eq!(run(&session, Language::JavaScript, "console.log(stripe)").status, Status::Completed);
    assert_eq!(run(&session, Language::JavaScript, "stripe.charges = 5; 'use strict'").status, Status::Completed);
}

#[test]
fn names_that_cannot_be_told_apart_are_refused() {
    let twice =
        SessionOptions { policy: policy([]), host_tools: vec![stripe(), stripe()], ..SessionOptions::default() };
    assert!(host().session(twice).is_err());
    let within = HostTool::new("stripe.charges", "", json!({ "type": "object" })).expect("a tool");
    let within = SessionOptions { policy: policy([]), host_tools: vec![stripe(), within], ..SessionOptions::default() };
    assert!(host().session(within).is_err());
    let home = Home::with_fixture();
    let hidden = HostTool::new("probe.mine", "", json!({ "type": "object" })).expect("a tool");
    let options = SessionOptions { host_tools: vec![hidden], ..SessionOptions::default() };
    let error = home.host().session(options).err().expect("the package has that name").to_string();
    assert!(error.contains("`probe`"), "{error}");
}

#[test]
fn host_function_error_is_catchable_by_the_script() {
    let tool =
        HostTool::new("boom", "", json!({ "type": "object" })).expect("a tool").answered_by(|_: &HostCall<'_>| {
            Err(Failure::tool("KeyError: 'x'").with_payload(json!({ "type": "KeyError" }).into()))
        });
    let session = session(vec![tool], [allow("boom")]);
    let script = "try { await boom({}) } catch (error) { return [error.name, error.message, error.payload.type] }";
    assert_eq!(javascript(&session, script), json!(["ToolError", "KeyError: 'x'", "KeyError"]));
}

#[test]
fn host_functions_run_beside_each_other_and_end_with_the_run() {
    // Each of four waits for the other three.
    let all = Barrier::new(4);
    let tool = HostTool::new("slow", "", json!({ "type": "object" })).expect("a tool");
    let slow = tool.answered_by(move |call: &HostCall<'_>| {
        if call.arguments["until"] != "over" {
            all.wait();
        } else {
            while !call.is_over() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(Value::Null.into())
    });
    let session = session(vec![slow], [allow("slow")]);
    assert_eq!(javascript(&session, "await Promise.all([1, 2, 3, 4].map(() => slow({}))); return 1"), json!(1));
    let script = Script { source: "await slow({until: 'over'})".to_owned(), ..Script::default() };
    let mut run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
    let cancel = run.cancel_handle();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
    });
    let result = loop {
        match run.step() {
            Step::Finished(result) => break result,
            Step::Blocked(started) => started.into_iter().for_each(|pending| run.perform(pending)),
        }
        run.wait();
    };
    assert_eq!(result.status, Status::Cancelled);
    assert_eq!(javascript(&session, "return 2"), json!(2), "the session goes on");
}

#[test]
fn host_function_without_handler_is_answered_by_the_driver() {
    let tool = HostTool::new("ask", "", json!({ "type": "object" })).expect("a tool");
    let session = session(vec![tool], [allow("ask")]);
    let script = Script { source: "return await ask({n: 1})".to_owned(), ..Script::default() };
    let mut run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
    let Step::Blocked(started) = run.step() else { panic!("it waits") };
    let Operation::Call(call) = &started[0].operation else { panic!("for a call") };
    assert_eq!((call.method(), call.arguments()), ("ask", &json!({ "n": 1 })));
    run.resume(Completion { id: started[0].id, result: Ok(Answer::Json(json!(42).into())) });
    let Step::Finished(result) = run.step() else { panic!("it ends") };
    assert_eq!(result.value, Some(json!(42)));
    let (kind, message) = refused(&session, "await ask({})");
    assert_eq!(kind, ErrorKind::Host);
    assert!(message.contains("has no answer"), "{message}");
}

#[test]
fn host_functions_are_supplied_at_each_opening_of_a_session() {
    let home = Home::new();
    let sessions = Sessions::open(&home.path().join("store"), Backend::Sled).expect("a store");
    let id = "s1".parse().expect("a name");
    let open = |tools: Vec<HostTool>| {
        let options = OpenOptions {
            policy: Some(policy([allow("get_weather").calls(3)])),
            host_tools: tools,
            ..OpenOptions::default()
        };
        host().open(&sessions, &id, options)
    };
    let temp = "return (await get_weather({city: 'SF'})).temp";
    assert_eq!(javascript(&open(vec![weather()]).expect("it is made"), temp), json!(72));
    let again = open(vec![weather()]).expect("it is there");
    assert_eq!(javascript(&again, &format!("await get_weather({{city: 'LA'}}); {temp}")), json!(72));
    assert_eq!(refused(&again, temp).0, ErrorKind::Capability, "the budget is the session's");
    drop(again);
    assert!(open(Vec::new()).is_err(), "what is granted must be there");
}

#[test]
fn call_of_withdrawn_function_is_denied_and_spends_nothing() {
    let gone = HostTool::new("get_weather", "Gone.", json!({ "type": "object" })).expect("a tool");
    let gone = gone.withdrawn("it is not available any more");
    let members = HostTool::namespace("stripe", "Gone.").expect("a namespace").withdrawn("it is gone");
    let session =
        session(vec![gone, members, add()], [allow("get_weather").calls(1), allow("stripe/*"), allow("math/*")]);
    for _ in 0..2 {
        let denied = refused(&session, "await get_weather({city: 'SF'})");
        assert_eq!(denied, (ErrorKind::Capability, "`get_weather`: it is not available any more".to_owned()));
    }
    assert_eq!(refused(&session, "await stripe.charge({})").1, "`stripe/charge`: it is gone");
    assert!(!session.gate().grants("get_weather"));
    assert!(session.gate().explain("get_weather", r#"{"city":"SF"}"#).is_err());
    let budget =
        session.gate().budgets().into_iter().find(|budget| budget.grant.starts_with("get_weather")).expect("a budget");
    assert_eq!(json!(budget)["remaining"], json!(1));
}

#[test]
fn added_grant_may_cover_host_function() {
    let home = Home::new();
    let sessions = Sessions::open(&home.path().join("store"), Backend::Sled).expect("a store");
    let id = "s1".parse().expect("a name");
    let open = |policy| {
        let options = OpenOptions { policy, host_tools: vec![weather(), add()], ..OpenOptions::default() };
        host().open(&sessions, &id, options).expect("it is opened")
    };
    let temp = "return (await get_weather({city: 'SF'})).temp";
    assert_eq!(refused(&open(Some(policy([allow("math/*")]))), temp).0, ErrorKind::Capability);
    let more = || Widening { grants: vec![allow("get_weather").calls(1)], ..Widening::default() };
    let unknown = host().widen(&sessions, &id, more(), None);
    assert!(unknown.is_err(), "the host has no such function unless it is given");
    let known = Widening { host_tools: vec![weather(), add()], ..more() };
    host().widen(&sessions, &id, known, None).expect("it makes sense");
    assert_eq!(javascript(&open(None), temp), json!(72));
}
