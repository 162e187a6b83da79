//! The life of a run that nobody watches: it stops at a payment, moves to another machine, is approved there with a
//! signature, goes on in its middle, and is proved to a third party; the original takes the other branch.
//!
//! Each home stands for a machine: they share files that are handed over, and public keys.

use std::fs;

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

/// Payments, of which those above 10 ask and the head of finance has to sign; figures; a program.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\nstats = 'tollhouse:stats@*'\nprog = 'test:prog'\n\
    [tool.prog]\nfiles = ['/workspace']\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 100 }\napprove = { param = 'amount', gt = 10 }\napproved_by = ['cfo']\n\
    [[grant]]\nname = 'lists'\nmethod = 'pay/charges/list'\ncalls = 4\n\
    [[grant]]\nname = 'figures'\nmethod = 'stats/**'\n\
    [[grant]]\nname = 'programs'\nmethod = 'prog'\ncalls = 9\n\
    [journal]\nkeep = 'all'\n";

/// A script that runs bash, which calls two components and a program, and that pays within a loop, beside another call.
const SCRIPT: &str = r#"
    const fs = require('node:fs');
    const report = [];
    for (const month of [1, 2, 3]) {
        const bash = await shell(`stats describe --values '[${month}, 9]' | jq -r .mean | tee mean
            pay charges list --limit ${month} | jq -r 'join(" ")' | prog upper > charges-${month}`);
        const [paid, figures] = await Promise.all([
            pay.charges.create({amount: 10 + 5 * (month - 1), currency: 'EUR'})
                .then(charge => charge.total, error => error.name),
            stats.describe({values: [month, 2 * month]}),
        ]);
        fs.appendFileSync('ledger', `${month} ${paid} ${crypto.randomUUID()}\n`);
        console.log(month, bash.stdout.trim(), paid, figures.mean);
        report.push(paid);
        if (typeof paid !== 'number') break;
    }
    return [report, fs.readFileSync('charges-1', 'utf8')];"#;

/// Makes a home with the tools and the policy.
fn machine() -> Home {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/payments"));
    home.publish_program("wasm32-wasip1");
    home.file("policy.toml", POLICY);
    home.file("script.js", SCRIPT);
    home
}

/// Runs a command that has to succeed.
fn done(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 0, "{command}: {ran:?}");
    ran.stdout
}

/// Makes a key in a home, which others trust by its name.
fn key(home: &Home, name: &str, others: &[&Home]) {
    done(home, &format!("registry keygen --out {name}.key"));
    let public = fs::read_to_string(home.path().join(format!("{name}.key.pub"))).expect("a key");
    for other in others {
        done(other, &format!("registry trust add {name} {}", public.trim()));
    }
}

/// Copies a file to the home of another machine.
fn send(from: &Home, to: &Home, file: &str) {
    fs::copy(from.path().join(file), to.path().join(file)).expect("the file is there");
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn resume(home: &Home, session: &str) -> Value {
    parsed(&home.run(format!("session resume {session} --policy policy.toml --json").split(' ')))
}

/// Returns what is spent of a grant's budget.
fn used(result: &Value, grant: &str, kind: &str) -> u64 {
    let budgets = result["budgets"].as_array().expect("budgets");
    let budget = budgets.iter().find(|budget| budget["grant"] == grant && budget["kind"] == kind);
    budget.and_then(|budget| budget["used"].as_u64()).unwrap_or_else(|| panic!("no budget of {grant}: {result:#}"))
}

fn waiting(home: &Home, session: &str) -> Value {
    let pending = parsed(&home.run(["session", "pending", session, "--json"]));
    assert_eq!(pending.as_array().map(Vec::len), Some(1), "{pending:#}");
    pending[0].clone()
}

#[test]
fn run_that_waits_moves_is_signed_elsewhere_and_goes_on_in_the_middle() {
    let (here, there, auditor) = (machine(), machine(), machine());
    let finance = Home::new();
    key(&finance, "cfo", &[&here, &there, &auditor]);
    key(&there, "there", &[&there, &auditor]);

    // The first month is paid; the second payment, beside another call, waits for a human.
    let first = parsed(&here.run("run script.js --policy policy.toml --session books --json".split(' ')));
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("1 5 10 1.5\n")), "{first:#}");
    let asked = waiting(&here, "books");
    assert_eq!((&asked["arguments"]["amount"], &asked["approved_by"]), (&json!(15), &json!(["cfo"])), "{asked:#}");

    // It is handed over. The original is fenced: it is not resumed, and takes no decision.
    done(&here, "session export books books.tlh --hand-over");
    for command in ["session resume books --policy policy.toml", "session deny books", "run script.js --session books"]
    {
        let refused = here.run(command.split(' '));
        assert!(refused.status == 1 && refused.stderr.contains("handed over"), "{command}: {refused:?}");
    }

    // Elsewhere it asks the same question, which the head of finance signs.
    send(&here, &there, "books.tlh");
    done(&there, "session import books.tlh moved");
    let asked_there = waiting(&there, "moved");
    assert_eq!(asked_there["arguments"], asked["arguments"], "{asked_there:#}");
    assert_eq!(resume(&there, "moved")["status"], "suspended", "nobody has approved it");
    send(&finance, &there, "cfo.key");
    done(&there, "session approve moved --key cfo.key");

    // It goes on in the middle, with the rest of its budgets, and stops at the third payment.
    let second = resume(&there, "moved");
    assert_eq!((&second["status"], &second["stdout"]), (&json!("suspended"), &json!("2 5.5 15 3\n")), "{second:#}");
    done(&there, "session approve moved --key cfo.key");
    let last = resume(&there, "moved");
    assert_eq!((&last["status"], &last["stdout"]), (&json!("completed"), &json!("3 6 20 4.5\n")), "{last:#}");
    assert_eq!(last["value"], json!([[10, 15, 20], "ANYBODY-1\n"]), "{last:#}");
    let spent = ["charges", "lists", "programs"].map(|grant| used(&last, grant, "calls"));
    assert_eq!((spent, used(&last, "charges", "spend")), ([3, 3, 3], 45), "no call was made twice: {last:#}");

    // A third party verifies the receipt: decisions, signatures, arguments, results, files.
    done(&there, "session receipt moved books.tlr --key there.key");
    send(&there, &auditor, "books.tlr");
    let verified = parsed(&auditor.run("verify books.tlr --signer there --json".split(' ')));
    assert_eq!(verified["verified"], true, "{verified:#}");
    let repeated = verified["calls"].as_array().expect("calls").iter();
    let repeated = repeated.filter(|call| call["repetition"]["outcome"] == "same").count();
    assert!(repeated >= 12, "calls of components are made again: {verified:#}");

    // A fork of the original at the question takes the other branch: its budgets went elsewhere, so that it pays nothing.
    done(&here, &format!("session fork books@1 branch --at {}", asked["seq"]));
    let branch = resume(&here, "branch");
    assert_eq!(branch["value"], json!([[10, "CapabilityError"], "ANYBODY-1\n"]), "{branch:#}");
    let calls = branch["calls"].as_array().expect("calls").iter();
    let denied: Vec<&Value> = calls.filter(|call| call["outcome"] == "denied").map(|call| &call["seq"]).collect();
    assert_eq!(denied, [&asked["seq"]], "{branch:#}");
    for home in [&here, &there] {
        done(home, "store verify");
    }
}
