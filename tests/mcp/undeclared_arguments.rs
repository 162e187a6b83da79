//! Arguments that a mounted server's schema does not declare: what was judged is what the server reads.

use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;
use tollhouse_tests::screen::TerminalScreen;

const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "fix"];

/// Home with the fixture that shows its arguments, and a policy whose grants have these conditions.
fn home(conditions: &str) -> Home {
    let home = Home::new();
    let policy = policy_of("fix", "pay", "");
    home.file("policy.toml", format!("{policy}{conditions}\n"));
    let ran = home.run(["mcp", "lock"].iter().chain(&ALLOWED));
    assert_eq!(ran.status, 0, "{ran:?}");
    home
}

/// Calls a method, and returns what the server got, or the message of the error.
fn called(home: &Home, call: &str) -> Value {
    let code =
        format!("try {{ return (await fix.{call}).got }} catch (error) {{ return error.name + ': ' + error.message }}");
    home.js(&code, &ALLOWED)["value"].clone()
}

#[test]
fn argument_that_a_servers_schema_does_not_declare_is_refused_unless_the_schema_takes_it() {
    let home = home("");
    for refused in [
        "plain({amount: 5, note: 'x'})",
        "plain({note: 'x'})",
        "nested({items: [{amount: 1}, {amount: 2, note: 'x'}]})",
    ] {
        let told = called(&home, refused);
        assert!(told.as_str().is_some_and(|told| told.contains("has no parameter `note`")), "{refused}: {told}");
    }
    assert_eq!(called(&home, "plain({amount: 5})"), json!({ "amount": 5 }));
    assert_eq!(called(&home, "open({amount: 5, note: 'x'})"), json!({ "amount": 5, "note": "x" }));
    assert_eq!(called(&home, "any({note: 'x'})"), json!({ "note": "x" }));
    assert_eq!(called(&home, "nested({items: [{amount: 1}]})"), json!({ "items": [{ "amount": 1 }] }));
}

#[test]
fn argument_in_another_spelling_of_a_declared_one_is_refused_by_every_schema() {
    let home = home("where = [{ param = \"amount\", le = 100 }]");
    for tool in ["plain", "open"] {
        for name in ["Amount", "AMOUNT", "amount ", "a_mount", "amount\\u0000", "\\uff41mount", "__proto__"] {
            let call = format!("{tool}(JSON.parse('{{\"amount\":5,\"{}\":99999}}'))", name.replace('\\', "\\\\"));
            let told = called(&home, &call);
            assert!(told.as_str().is_some_and(|told| told.starts_with("ArgumentError")), "{call}: {told}");
        }
        assert_eq!(called(&home, &format!("{tool}({{amount: 5}})")), json!({ "amount": 5 }));
    }
}

#[test]
fn approval_is_not_got_round_by_another_spelling() {
    let home = home("approve = { param = \"amount\", gt = 5000 }");
    for tool in ["plain", "open", "any"] {
        let told = called(&home, &format!("{tool}({{amount: 5, Amount: 99999}})"));
        assert!(told.as_str().is_some_and(|told| told.starts_with("ArgumentError")), "{tool}: {told}");
        assert_eq!(called(&home, &format!("{tool}({{amount: 5}})")), json!({ "amount": 5 }), "nobody has to be asked");
    }
}

#[test]
fn policy_names_arguments_that_an_open_schema_does_not_declare() {
    let home = home("");
    let only_open = |clause: &str| {
        let policy = policy_of("fix", "pay", "").replace("fix/**", "fix/open");
        home.file("policy.toml", format!("{policy}where = [{{ {clause} }}]\n"));
    };
    only_open("param = \"force\", not_exists = true");
    assert_eq!(called(&home, "open({amount: 5, note: 'x'})"), json!({ "amount": 5, "note": "x" }));
    let told = called(&home, "open({amount: 5, force: true})");
    assert!(told.as_str().is_some_and(|told| told.starts_with("CapabilityError")), "{told}");
    let told = called(&home, "open({amount: 5, Force: true})");
    assert!(told.as_str().is_some_and(|told| told.contains("`Force` could be taken for the `force`")), "{told}");
    let checked = home.run(["policy", "check", "--policy", "policy.toml"]);
    assert!(checked.stdout.contains("takes arguments that it does not declare"), "{checked:?}");
    let checked = home.run(["policy", "check", "--policy", "policy.toml", "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    assert_eq!(checked["grants"][0]["methods"][0]["takes_undeclared"], true, "{checked}");
    // A schema that takes nothing else has no such argument.
    let policy = policy_of("fix", "pay", "").replace("fix/**", "fix/plain");
    home.file("policy.toml", format!("{policy}where = [{{ param = \"force\", not_exists = true }}]\n"));
    let refused = home.run(["policy", "check", "--policy", "policy.toml"]);
    assert!(refused.stderr.contains("no parameter `force`"), "{refused:?}");
}

#[test]
fn question_shows_what_the_grant_reads_before_what_a_script_invents() {
    let home = home("approve = true");
    let policy = policy_of("fix", "pay", "");
    for more in ["", "where = [{ param = \"amount\", exists = true }]\n"] {
        home.file("policy.toml", format!("{policy}approve = true\n{more}"));
        let invented: String = (0..30).map(|number| format!("note{number}: 'x', ")).collect();
        home.file("script.js", format!("await fix.open({{ {invented} amount: 99999 }})"));
        let arguments = [&["run", "script.js"], &ALLOWED[..]].concat();
        let mut screen = TerminalScreen::start(&home, &arguments, 24, 90);
        let question = screen.asks();
        let place = |text: &str| question.iter().position(|line| line.starts_with(text));
        let (amount, first) = (place("    amount: 99999"), place("    (not declared) note0: \"x\""));
        assert!(amount.is_some() && first.is_some() && amount < first, "{question:?}");
        assert!(question.iter().any(|line| line.contains("more arguments: `v` shows them")), "{question:?}");
        screen.types("\n");
        assert_eq!(screen.ends().0, 3, "it was refused");
    }
}
