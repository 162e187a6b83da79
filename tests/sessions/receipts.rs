//! Receipts: a run is one signed file, from which anyone can run it again; what was altered is found, even if it is signed.

mod forgery;

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

use self::forgery::Forgery;

/// Charges, of which the dear ones ask and the dearest are refused.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\nstats = 'tollhouse:stats@*'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 1000 }\napprove = { param = 'amount', gt = 10 }\n\
    where = [{ param = 'amount', le = 500 }]\n\
    [[grant]]\nname = 'figures'\nmethod = 'stats/**'\n\
    [journal]\nkeep = 'all'\n";

/// A script that calls tools one after the other and beside each other, is refused, runs bash, draws random numbers, reads the
/// clock, waits, and writes files.
const SCRIPT: &str = "
    const fs = require('node:fs');
    const first = await pay.charges.create({amount: 1, currency: 'EUR'});
    const both = await Promise.all([[1, 2, 3], [4, 5]].map(values => stats.describe({values})));
    fs.writeFileSync('/workspace/out.json', JSON.stringify([both, crypto.randomUUID(), Date.now()]));
    await new Promise(resolve => setTimeout(resolve, 5));
    const bash = await shell('echo $RANDOM > n; stats describe --values [7] | tee figures | wc -l');
    let refused;
    try { await pay.charges.create({amount: 501, currency: 'EUR'}) } catch (error) { refused = error.name }
    const second = await pay.charges.create({amount: 20, currency: 'EUR'});
    console.log('paid', first.total + second.total);
    return [first.total, both.map(it => it.mean), bash.stdout, refused, second.total];";

/// Makes a home with a key that is trusted as `auditor`, and one that is not.
fn home(policy: &str) -> Home {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", policy);
    home.file("script.js", SCRIPT);
    for name in ["auditor", "other"] {
        done(&home, &format!("registry keygen --out {name}.key"));
    }
    trust(&home, &home, "auditor");
    home
}

/// Trusts a key of another home.
fn trust(home: &Home, of: &Home, name: &str) {
    let key = std::fs::read_to_string(of.path().join(format!("{name}.key.pub"))).expect("a key");
    done(home, &format!("registry trust add {name} {}", key.trim()));
}

/// Runs a command that has to succeed.
fn done(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 0, "{command}: {ran:?}");
    ran.stdout
}

/// Runs a command that has to fail, and returns what it said.
fn refused(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 1, "{command}: {ran:?}");
    ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// Runs the script to its end, with an approval in between, and writes its receipt.
fn receipt(home: &Home) -> Value {
    let ran = home.run("run script.js --policy policy.toml --session s --json".split(' '));
    assert_eq!(parsed(&ran)["status"], "suspended", "{ran:?}");
    done(home, "session approve s --by ann");
    let result = parsed(&home.run("session resume s --json".split(' ')));
    assert_eq!(result["status"], "completed", "{result}");
    done(home, "session receipt s s.tlr --key auditor.key");
    result
}

fn verify(home: &Home, file: &str) -> Value {
    parsed(&home.run(["verify", file, "--json"]))
}

/// Outcomes of the repetitions, in the order of the calls: a word for each.
fn outcomes(verification: &Value) -> Vec<&str> {
    let calls = verification["calls"].as_array().expect("calls");
    calls.iter().map(|call| call["repetition"]["outcome"].as_str().unwrap_or("none")).collect()
}

/// The receipt of a run that was suspended, approved and resumed verifies on another machine that has the tools and trusts the
/// key: each call is judged, and each one without effects made again.
#[test]
fn receipt_verifies_where_its_tools_are_and_its_key_is_trusted() {
    let home = home(POLICY);
    let result = receipt(&home);
    let elsewhere = Home::with_tools(&["stats"]);
    elsewhere.publish(&root().join("tests/fixtures/payments"));
    std::fs::copy(home.path().join("s.tlr"), elsewhere.path().join("s.tlr")).expect("it is copied");
    let untrusted = refused(&elsewhere, "verify s.tlr");
    assert!(untrusted.contains("which this machine does not trust"), "{untrusted}");
    trust(&elsewhere, &home, "auditor");
    let verification = verify(&elsewhere, "s.tlr");
    assert_eq!(verification["verified"], true, "{verification}");
    assert_eq!(verification["signer"], "auditor");
    assert_eq!(verification["value"], result["value"]);
    assert_eq!(verification["snapshot"], result["snapshot"]);
    assert_eq!(outcomes(&verification), ["same", "same", "same", "same", "none", "same"]);
    let shown = done(&elsewhere, "verify s.tlr --signer auditor");
    assert!(shown.contains("pay/charges/create  allowed by `charges`, made again: same result"), "{shown}");
    trust(&elsewhere, &home, "other");
    let other = refused(&elsewhere, "verify s.tlr --signer other");
    assert!(other.contains("signed by `auditor`, and not by `other`"), "{other}");
}

/// The releases are part of the run: without them, or with others, nothing is verified.
#[test]
fn receipt_without_its_tools_is_not_verified() {
    let home = home(POLICY);
    receipt(&home);
    let empty = Home::with_tools(&["stats"]);
    std::fs::copy(home.path().join("s.tlr"), empty.path().join("s.tlr")).expect("it is copied");
    trust(&empty, &home, "auditor");
    let error = refused(&empty, "verify s.tlr");
    assert!(
        error.contains("no longer has the pinned test:payments@0.1.0") && error.contains("have to be in this registry"),
        "{error}"
    );
}

/// What is altered, how, and what the verification says.
type ForgedCase<'a> = (&'a str, &'a dyn Fn(&mut Forgery), &'a str);

/// Whoever has a trusted key can sign anything, and still not make a run out of what did not happen.
#[test]
fn forged_receipt_is_not_verified_although_it_is_signed() {
    let home = home(POLICY);
    receipt(&home);
    assert_eq!(verify(&home, "s.tlr")["verified"], true);
    let forged = |alter: &dyn Fn(&mut Forgery)| {
        let mut forgery = Forgery::of(&home);
        alter(&mut forgery);
        forgery.write(&home);
        let verification = home.run(["verify", "forged.tlr"]);
        (verification.status, format!("{}{}", verification.stdout, verification.stderr).replace('\n', " "))
    };
    assert_eq!(forged(&|_| {}).0, 0, "an unaltered receipt that is signed again is one");
    let cases: [ForgedCase; 16] = [
        ("value", &|it| it.statement["outcome"]["value"] = json!(7), "the value, the error or the output"),
        ("status", &|it| it.statement["record"]["status"] = json!("failed"), "the run ended as `failed`"),
        (
            "files",
            &|it| it.statement["record"]["snapshot"] = it.statement["record"]["base"].clone(),
            "the files are not",
        ),
        (
            "arguments in the log",
            &|it| it.replace("log/0000", "\"arguments\":{\"values\":[4,5]}", "\"arguments\":{\"values\":[4,6]}"),
            "call 3 is another in its log",
        ),
        ("call in the journal alone", &|it| it.without_call(3), "its log does not have the call"),
        ("call in the log alone", &|it| it.add_call(9), "the script does not make it"),
        ("refusal that has a result", &|it| it.allow_in_journal(5), "its log does not say that it was allowed"),
        ("approval", &|it| it.without("answered"), "without the approval that its grant demands"),
        (
            "budget",
            &|it| it.statement["spent"] = json!([{ "account": "charges", "calls": 2, "spend": "0" }]),
            "refuses it",
        ),
        (
            "result",
            &|it| {
                it.replace("journal/0000", "\"value\":{\"count\":2,\"mean\":4.5", "\"value\":{\"count\":2,\"mean\":4.6")
            },
            "ANOTHER RESULT",
        ),
        ("start of a call", &|it| it.without_start(2), "cannot be made again: its start is not in the journal"),
        ("random numbers of a call", &|it| drop(it.seeds().remove("3")), "cannot be made again"),
        ("end", &|it| it.stop_before(4), "the files are not those"),
        ("session", &|it| it.statement["session"] = json!("s@1\nsigned by `auditor`"), "it is not a receipt"),
        (
            "script",
            &|it| it.statement["record"]["script"] = json!("harmless.js"),
            "the script, which its record names,",
        ),
        (
            "grant",
            &|it| {
                let policy = it.statement["policy"].to_string();
                it.statement["policy"] = policy.replace("500", "5000").parse().expect("JSON");
            },
            "the policy of the session",
        ),
    ];
    for (what, alter, says) in cases {
        let (status, said) = forged(alter);
        assert_eq!(status, 1, "{what}: {said}");
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{what}: {said}");
    }
    // Without the key nothing can be altered at all.
    let mut bytes = std::fs::read(home.path().join("s.tlr")).expect("a receipt");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    home.file("forged.tlr", bytes);
    refused(&home, "verify forged.tlr");
}

/// A call that was made cannot be hidden: neither as one that was refused, nor by leaving it out.
#[test]
fn call_that_was_made_is_not_passed_off_as_refused() {
    let home = home(POLICY);
    home.file(
        "script.js",
        "for (const amount of [5, 501]) try { await pay.charges.create({amount, currency: 'EUR'}) } catch {}",
    );
    done(&home, "run script.js --policy policy.toml --session s");
    done(&home, "session receipt s s.tlr --key auditor.key");
    assert_eq!(verify(&home, "s.tlr")["verified"], true);
    let cases: [ForgedCase; 4] = [
        ("said to be refused", &|it| it.refuse(1, 2, true), "it was refused, and the policy allows it"),
        ("left out", &|it| it.refuse(1, 2, false), "its log does not have the call"),
        ("refusal left out", &|it| it.without("denied"), "its log does not have the call"),
        (
            "refusal of another",
            &|it| it.replace("log/0000", "\"amount\":501", "\"amount\":502"),
            "does not have the call",
        ),
    ];
    for (what, alter, says) in cases {
        let mut forgery = Forgery::of(&home);
        alter(&mut forgery);
        forgery.write(&home);
        let ran = home.run(["verify", "forged.tlr"]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.status, 1, "{what}: {said}");
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{what}: {said}");
    }
}

/// A signed approval is for one call: the signature of a genuine receipt does not approve the call of another script.
#[test]
fn signature_of_another_call_does_not_count_in_a_receipt() {
    let policy = POLICY.replace("approve = { param = 'amount', gt = 10 }", "approve = true\napproved_by = ['cfo']");
    let signed = |amount: u32| {
        let home = home(&policy);
        home.file("script.js", format!("return await pay.charges.create({{amount: {amount}, currency: 'EUR'}})"));
        done(&home, "registry keygen --out cfo.key");
        trust(&home, &home, "cfo");
        let ran = home.run("run script.js --policy policy.toml --session s --json".split(' '));
        assert_eq!(parsed(&ran)["status"], "suspended", "{ran:?}");
        done(&home, "session approve s --key cfo.key");
        done(&home, "session resume s --policy policy.toml");
        done(&home, "session receipt s s.tlr --key auditor.key");
        home
    };
    let (genuine, other) = (signed(20), signed(99));
    assert_eq!(verify(&genuine, "s.tlr")["verified"], true);
    let decision = |it: &Forgery| -> Value {
        let mut journal = it.records["journal/0000"].lines();
        let line = journal.find(|line| line.contains("\"entry\":\"decided\"")).expect("a decision");
        serde_json::from_str(line).expect("JSON")
    };
    let (source, mut forgery) = (Forgery::of(&genuine), Forgery::of(&other));
    let (approved, own) = (decision(&source), decision(&forgery));
    for name in ["digest", "signature"] {
        let text = |of: &Value| of["decision"][name].to_string();
        forgery.change_lines("journal/0000", |line| match line.contains("\"entry\":\"decided\"") {
            true => Some(line.replace(&text(&own), &text(&approved))),
            false => Some(line.to_owned()),
        });
    }
    for name in ["session", "origin"] {
        forgery.statement[name] = source.statement[name].clone();
    }
    forgery.write(&genuine);
    let verification = verify(&genuine, "forged.tlr");
    assert_eq!(verification["verified"], false, "{verification}");
    assert_eq!(verification["calls"][0]["problem"], "it was approved as another call", "{verification}");
}

/// What a receipt makes a verifier read is bounded by `--memory`, and of a stranger's nothing is read but the signature.
#[test]
fn receipt_that_takes_much_memory_is_refused() {
    let home = home(POLICY);
    receipt(&home);
    let mut forgery = Forgery::of(&home);
    let many = format!("[{}0]", "0,".repeat(4 << 20));
    forgery.statement["outcome"]["value"] = many.parse().expect("JSON");
    forgery.write(&home);
    let error = refused(&home, "verify forged.tlr --memory 64MiB");
    assert!(error.contains("take more than the 67108864 bytes of memory"), "{error}");
    // Nor does a line get past the bound that one reader of JSON refuses, and another takes.
    let mut forgery = Forgery::of(&home);
    let twice = format!("{{\"entry\":\"unreplayable\",\"what\":\"x\",\"a\":0,\"a\":{many}}}\n");
    forgery.records.get_mut("journal/0000").expect("a journal").push_str(&twice);
    forgery.write(&home);
    let error = refused(&home, "verify forged.tlr --memory 64MiB");
    assert!(error.contains("take more than") || error.contains("is not JSON"), "{error}");
    done(&home, "registry trust rm auditor");
    let error = refused(&home, "verify forged.tlr --memory 64MiB");
    assert!(error.contains("which this machine does not trust"), "{error}");
}

/// A call of a tool with effects is not made again: its result is the recorded one. One without effects has the same time and
/// the same random numbers when it is made again, and the files with which it was called.
#[test]
fn call_without_effects_is_made_again_as_it_was_and_no_other() {
    let home = Home::with_fixture();
    home.publish(&root().join("tools/kv"));
    home.file(
        "policy.toml",
        "[[grant]]\nmethod = 'probe/**'\n[[grant]]\nmethod = 'kv/**'\n[tool.kv]\nkeyvalue = ['default']\n\
         [journal]\nkeep = 'all'\n",
    );
    done(&home, "registry keygen --out auditor.key");
    trust(&home, &home, "auditor");
    let script = "const all = await Promise.all([probe.clocks(), probe.random(), probe.random()]);
        await kv.set({key: 'a', value: '1'}); return [...all, await probe.random()]";
    let ran = home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    done(&home, "session receipt s s.tlr --key auditor.key");
    let verification = verify(&home, "s.tlr");
    assert_eq!(verification["verified"], true, "{verification}");
    assert_eq!(outcomes(&verification), ["same", "same", "same", "not_made", "same"]);
    assert_eq!(verification["calls"][3]["repetition"]["reason"], "it may have effects", "{verification}");
}

/// The calls of a run by another release: what differs is shown, and the script is given the recorded results.
#[test]
fn replay_against_another_release_shows_what_differs() {
    let home = home(POLICY);
    receipt(&home);
    let payments = root().join("tests/fixtures/payments");
    let next = |version: &str, more: &str| {
        let manifest = std::fs::read_to_string(payments.join("tool.toml")).expect("a manifest");
        let manifest = manifest.replace("version = \"0.1.0\"", &format!("version = \"{version}\""));
        let package = home.path().join("next");
        std::fs::create_dir_all(package.join("wit")).expect("it is made");
        for entry in std::fs::read_dir(payments.join("wit")).expect("WIT") {
            let path = entry.expect("a file").path();
            std::fs::copy(&path, package.join("wit").join(path.file_name().expect("a name"))).expect("it is copied");
        }
        let built = tollhouse_tests::built().join("../wasm32-wasip2/guest/tollhouse_fixture_payments.wasm");
        std::fs::copy(built, package.join("component.wasm")).expect("it is built");
        std::fs::write(package.join("tool.toml"), format!("component = \"component.wasm\"\n{manifest}\n{more}"))
            .expect("it is written");
        home.run(["publish", package.to_str().expect("text")])
    };
    let published = next("0.1.1", "[limits]\nresult = '10B'\n");
    assert_eq!(published.status, 0, "{published:?}");
    assert_eq!(done(&home, "session replay s --against test:payments@0.1.0").matches("same result").count(), 2);
    let ran = home.run("session replay s --against test:payments@0.1.1".split(' '));
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("ANOTHER RESULT") && ran.stdout.contains("exceeds the limit of 10"), "{}", ran.stdout);
    let unknown = refused(&home, "session replay s --against test:other@1.0.0");
    assert!(unknown.contains("the run has no tool of the package `test:other`"), "{unknown}");
}

/// Only a run that has ended, and whose journal is kept, has a receipt; and only a key signs one.
#[test]
fn receipt_of_a_run_that_goes_on_or_left_no_journal_is_refused() {
    let home = home(&POLICY.replace("[journal]\nkeep = 'all'\n", ""));
    let ran = home.run("run script.js --policy policy.toml --session s --json".split(' '));
    assert_eq!(parsed(&ran)["status"], "suspended", "{ran:?}");
    let goes_on = refused(&home, "session receipt s s.tlr --key auditor.key");
    assert!(goes_on.contains("run 1 of the session `s` has not ended"), "{goes_on}");
    done(&home, "session deny s");
    home.run("session resume s".split(' '));
    let gone = refused(&home, "session receipt s s.tlr --key auditor.key");
    assert!(gone.contains("is not kept") && gone.contains("[journal] keep"), "{gone}");
    assert!(!home.path().join("s.tlr").exists(), "nothing was written");
}

#[test]
fn receipt_of_an_edited_call_verifies_and_one_whose_question_is_missing_does_not() {
    let home = home(POLICY);
    let script = "return (await pay.charges.create({amount: 400, currency: 'EUR'})).total";
    let waits = home.js(script, &["--policy", "policy.toml", "--session", "s"]);
    assert_eq!(waits["status"], "suspended", "{waits}");
    // Nobody has to be asked about the new amount.
    done(&home, "session edit s {\"amount\":5,\"currency\":\"EUR\"}");
    let result = parsed(&home.run("session resume s --json".split(' ')));
    assert_eq!(result["status"], "completed", "{result}");
    done(&home, "session receipt s s.tlr --key auditor.key");
    let verified = verify(&home, "s.tlr");
    assert_eq!(verified["calls"][0]["arguments"]["amount"], 5, "{verified}");
    assert_eq!(verified["calls"][0]["verdict"], "allowed", "{verified}");

    let mut forgery = Forgery::of(&home);
    let is_question = |line: &str| line.contains("\"entry\":\"deferred\"");
    forgery.change_lines("journal/0000", |line| (!is_question(line)).then(|| line.to_owned()));
    forgery.write(&home);
    let said = refused(&home, "verify forged.tlr");
    assert!(said.contains("call 1 is another in its log"), "{said}");
}

/// What a record says of the run as a whole is in the log too.
#[test]
fn record_of_a_receipt_that_its_log_contradicts_is_not_verified() {
    let home = home(POLICY);
    receipt(&home);
    let cases: [ForgedCase; 5] = [
        ("calls", &|it| it.statement["record"]["calls"] = json!(99), "and 99 and"),
        ("denied calls", &|it| it.statement["record"]["denied"] = json!(99), "and 99 are stated"),
        ("most calls", &|it| it.statement["record"]["calls"] = json!(u64::MAX), "are stated"),
        ("start", &|it| it.statement["record"]["started"] = json!(1), "the log has other times"),
        ("end", &|it| it.statement["record"]["ended"] = json!(1_u64 << 63), "the log has other times"),
    ];
    for (what, alter, says) in cases {
        let mut forgery = Forgery::of(&home);
        alter(&mut forgery);
        forgery.write(&home);
        let ran = home.run(["verify", "forged.tlr"]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.status, 1, "{what}: {said}");
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{what}: {said}");
    }
    let ran = home.run(["verify", "s.tlr"]);
    assert!(ran.status == 0 && ran.stdout.contains("the name of the session is the signer's word"), "{ran:?}");
}
