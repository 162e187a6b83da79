//! Policies from the command line: checked, explained, suggested, signed, narrowed; and sessions that may do less.

use serde_json::{Value, json};
use tollhouse::capability::{Grant, Policy};
use tollhouse::error::ErrorKind;
use tollhouse::session::{Host, HostError, HostOptions, Session, SessionOptions};
use tollhouse_tests::Home;

const DESCRIBE: &str = "return (await stats.describe({values: [1, 2, 3]})).mean";

fn session(home: &Home, policy: &str) -> Session {
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let policy = Policy::parse(policy).expect("a policy");
    let host = Host::new(&options).expect("the engines start");
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

#[test]
fn audit_log_is_filtered_and_altered_log_is_not_shown() {
    let home = Home::with_tools(&["stats"]);
    let code = "await stats.describe({values: [1]}); await stats.quantiles({values: [1], probabilities: [0.5]}).catch(() => 0);
        await stats.describe({values: ['\\u001b[31m']}).catch(() => 0)";
    for _ in 0..2 {
        home.js(code, &["--allow", "stats/describe", "--audit", "log.jsonl"]);
    }
    let log = |options: &[&str]| home.run(["session", "log", "--audit", "log.jsonl"].iter().chain(options));
    let count = |options: &[&str]| log(options).stdout.lines().count();
    assert_eq!(
        (count(&[]), count(&["--event", "denied"]), count(&["--event", "denied", "--event", "ended"])),
        (12, 4, 6)
    );
    assert_eq!(count(&["--method", "stats/describe"]), 6, "{}", log(&["--method", "stats/describe"]).stdout);
    assert_eq!(count(&["--method", "stats/quantiles", "--run", "1"]), 2);
    assert_eq!(count(&["--grant", "stats/describe#0", "--event", "admitted"]), 2);
    assert!(!log(&[]).stdout.contains('\u{1b}'), "no terminal obeys what a guest said");
    let lines = log(&["--event", "settled", "--json"]).stdout;
    let settled: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("it is JSON");
    assert_eq!((&settled["outcome"], &settled["seq"]), (&json!("ok"), &json!(1)));
    assert_eq!(log(&["--event", "deny"]).status, 2);
    let text = std::fs::read_to_string(home.path().join("log.jsonl")).expect("it is there");
    home.file("log.jsonl", text.replacen("\"ok\"", "\"failed\"", 1));
    let altered = log(&[]);
    assert_eq!((altered.status, altered.stdout.as_str()), (1, ""), "{altered:?}");
}

/// A process that is killed in the middle leaves a log that goes on.
#[test]
fn audit_log_of_killed_process_is_continued() {
    let home = Home::with_tools(&["stats"]);
    let log = home.path().join("log.jsonl");
    let size = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    for _ in 0..5 {
        let before = size();
        let script = "for (;;) await Promise.all([1, 2, 3].map((n) => stats.describe({ values: [n] })))";
        let mut run = home.command(["run", "--allow", "**", "--audit", "log.jsonl", "-e", script]);
        let mut child = run.stdout(std::process::Stdio::null()).spawn().expect("the binary is built");
        let begun = std::time::Instant::now();
        while size() < before + 20_000 {
            assert!(begun.elapsed() < std::time::Duration::from_secs(60), "it writes");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        // Whatever it was writing, the next process takes the log up, and what was there is there.
        let ran = home.run(["run", "--allow", "**", "--audit", "log.jsonl", "-e", DESCRIBE]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let checked = home.run(["policy", "audit", "log.jsonl"]);
        assert_eq!(checked.status, 0, "{checked:?}");
        assert!(size() > before + 19_000);
    }
}

#[test]
fn grants_of_the_same_name_are_refused() {
    let home = Home::with_tools(&["stats"]);
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let grant = || Grant::allow("stats/*").expect("a pattern").named("one");
    let policy = Policy::default().with(grant()).with(grant());
    let host = Host::new(&options).expect("the engines start");
    let made = host.session(SessionOptions { policy, ..SessionOptions::default() });
    assert!(matches!(&made, Err(HostError::Policy(error)) if error.message.contains("two grants are named `one`")));
}

#[test]
fn policy_explain_reports_grants_and_reasons() {
    let home = Home::with_tools(&["stats"]);
    home.file(
        "p.toml",
        "[[grant]]\nname = 'few'\nmethod = 'stats/*'\nwhere = [{ param = 'values/*', le = 100 }]\ncalls = 3\n",
    );
    let explain = |arguments: &str| {
        let ran = home.run(["policy", "explain", "stats.describe", arguments, "--policy", "p.toml", "--json"]);
        (ran.status, serde_json::from_str::<Value>(&ran.stdout).unwrap_or_default())
    };
    let (status, opinions) = explain("{\"values\": [1, 100]}");
    assert_eq!((status, &opinions[0]["why"][0]), (0, &json!("debits one call of `few`")), "{opinions}");
    let (status, opinions) = explain("{\"values\": [1, 101]}");
    assert_eq!((status, &opinions[0]["allows"]), (3, &json!(false)), "{opinions}");
    assert_eq!(opinions[0]["why"][0], "`values/*` must be at most 100; it is 101");
    assert_eq!(explain("{\"values\": 1}").0, 2);
    // Nothing was called or debited.
    let ran = home.js("await stats.describe({values: [1]}); return budgets()[0].used", &["--policy", "p.toml"]);
    assert_eq!(ran["value"], 1, "{ran}");
    let checked = home.run(["policy", "check", "--policy", "p.toml", "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("it is JSON");
    let never = checked["grants"][0]["methods"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|method| method["method"] == "stats/linear-fit");
    assert!(never.is_some_and(|method| method["problem"].is_string()), "{checked}");
}

#[test]
fn policy_suggested_from_a_log_allows_the_logged_calls() {
    let home = Home::with_tools(&["stats"]);
    let code = "await stats.describe({values: [1, 2]});
        await stats.quantiles({values: [1, 2], probabilities: [0.5]}).catch(() => {});";
    home.js(code, &["--allow", "stats/*", "--audit", "log.jsonl"]);
    let suggested = home.run(["policy", "suggest", "log.jsonl"]);
    assert_eq!(suggested.status, 0, "{suggested:?}");
    home.file("suggested.toml", &suggested.stdout);
    // It allows what was seen, and nothing more.
    let again = home.js(code, &["--policy", "suggested.toml", "--audit", "again.jsonl"]);
    let denied =
        |ran: &Value| ran["calls"].as_array().expect("a list").iter().filter(|c| c["outcome"] == "denied").count();
    assert_eq!(denied(&again), 0, "{again}\n{}", suggested.stdout);
    let more = home.js(
        "await stats.describe({values: [1]}); await stats.describe({values: [1]})",
        &["--policy", "suggested.toml"],
    );
    assert_eq!(more["status"], "denied", "{more}");
}

/// A suggested policy stands by itself: without the policy that mounted the tool under that name.
#[test]
fn suggested_policy_mounts_what_was_called_and_nothing_else() {
    let home = Home::with_tools(&["stats", "kv"]);
    let code = "return (await numbers.describe({values: [1, 3]})).mean";
    home.file("first.toml", "[tools]\nnumbers = 'tollhouse:stats'\n[[grant]]\nmethod = 'numbers/*'\n");
    let first = home.js(code, &["--policy", "first.toml", "--audit", "log.jsonl"]);
    assert_eq!(first["value"], 2, "{first}");
    let suggested = home.run(["policy", "suggest", "log.jsonl"]);
    assert!(suggested.stdout.contains("numbers = \"tollhouse:stats@=0.1.0\""), "{suggested:?}");
    home.file("suggested.toml", &suggested.stdout);
    let again = home.js(code, &["--policy", "suggested.toml"]);
    assert_eq!(again["value"], 2, "{again}\n{}", suggested.stdout);
    let listed = home.run(["tools", "--policy", "suggested.toml"]).stdout;
    assert!(listed.contains("numbers/describe") && !listed.contains("kv/") && !listed.contains("stats/"), "{listed}");
}

#[test]
fn suggested_policy_with_hidden_characters_means_what_was_seen() {
    let home = Home::with_tools(&["text"]);
    let code = "await text.count({text: 'a\\u202e\"b\\\\ \\n c\\u200bd'})";
    let ran = home.js(code, &["--allow", "text/*", "--audit", "log.jsonl"]);
    assert_eq!(ran["status"], "completed", "{ran}");
    let suggested = home.run(["policy", "suggest", "log.jsonl"]);
    assert!(!suggested.stdout.contains(['\u{202e}', '\u{200b}']), "{}", suggested.stdout);
    home.file("suggested.toml", &suggested.stdout);
    let again = home.js(code, &["--policy", "suggested.toml"]);
    assert_eq!(again["status"], "completed", "{again}\n{}", suggested.stdout);
    let other = home.js(&code.replace("202e", "202d"), &["--policy", "suggested.toml"]);
    assert_eq!(other["status"], "denied", "{other}");
}

/// A method that a hostile script or tool asked for in vain does not come into the next policy by way of its log.
#[test]
fn policy_suggested_from_a_log_omits_refused_calls() {
    let home = Home::with_tools(&["stats"]);
    let code = "await stats.describe({values: [1]});
        await stats.quantiles({values: [1, 2], probabilities: [0.5]}).catch(() => {});";
    home.js(code, &["--allow", "stats/describe", "--audit", "log.jsonl"]);
    let suggested = home.run(["policy", "suggest", "log.jsonl"]);
    assert!(
        suggested.stdout.lines().any(|line| line.starts_with("# 1 ×") && line.contains("stats/quantiles")),
        "{suggested:?}"
    );
    home.file("suggested.toml", &suggested.stdout);
    let again = home.js(code, &["--policy", "suggested.toml"]);
    let outcomes: Vec<&Value> =
        again["calls"].as_array().expect("a list").iter().map(|call| &call["outcome"]).collect();
    assert_eq!(outcomes, ["ok", "denied"], "{again}");
}

/// Hole 12 of the seed: its log records no tool call and no denial, and the guest can append to it.
#[test]
fn hole_12_the_log_holds_every_call_and_denial_out_of_the_guests_reach() {
    let home = Home::with_fixture();
    let code = "await probe.print({bytes: 10});
        await probe.fail({code: 3}).catch(() => {});
        await probe.length({text: 1}).catch(() => {});
        await fs.writeFile('log.jsonl', 'forged').catch(() => {});
        return (await fs.readdir('/')).join()";
    let ran = home.js(code, &["--allow", "probe/*", "--audit", "log.jsonl"]);
    assert_eq!(ran["status"], "completed", "{ran}");
    let log = std::fs::read_to_string(home.path().join("log.jsonl")).expect("it was written");
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().expect("a kind")).collect();
    let expected = ["started", "admitted", "said", "settled", "admitted", "settled", "denied", "ended"];
    assert_eq!(kinds, expected, "{log}");
    assert_eq!((&events[5]["outcome"], &events[6]["kind"]), (&json!("failed"), &json!("argument")), "{log}");
    assert_eq!(home.run(["policy", "audit", "log.jsonl"]).status, 0);
    home.file("log.jsonl", log.replacen("probe/fail", "probe/text", 1));
    let altered = home.run(["policy", "audit", "log.jsonl"]);
    assert!(altered.status == 1 && altered.stderr.contains("line 6"), "{altered:?}");
    // A log that cannot be trusted is not written on.
    assert_eq!(home.run(["run", "-e", "1", "--audit", "log.jsonl"]).status, 2);
}

/// Hole 7 of the seed: an empty list allows everything, what is malformed is dropped, a child drops its parent's
/// constraint, a signed token is not enforced.
#[test]
fn hole_7_malformed_or_narrower_policies_never_allow_more() {
    let home = Home::with_tools(&["stats"]);
    for policy in ["", "grant = []", "[[grant]]\nmethod = 'stats/quantiles'"] {
        home.file("p.toml", policy);
        assert_eq!(home.js(DESCRIBE, &["--policy", "p.toml"])["status"], "denied", "{policy}");
    }
    for policy in [
        "[[grant]]\nmethod = 'stats/descrbe'",
        "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'values/*', max = 5 }]",
        "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'value', le = 5 }]",
        "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'values/*', le = '5' , le = 6}]",
        "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'values', le = 5 }]",
    ] {
        home.file("p.toml", policy);
        let ran = home.run(["run", "-e", DESCRIBE, "--policy", "p.toml"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{policy}: {ran:?}");
    }
    let parent = session(&home, "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'values/*', le = 5 }]\ncalls = 2");
    let child = parent.delegate(Policy::default().with(Grant::allow("stats/describe").expect("a pattern")));
    let child = child.expect("it is narrower");
    let refused = child.call("stats/describe", "{\"values\": [6]}").expect_err("the parent's clause holds");
    assert_eq!(refused.kind, ErrorKind::Capability);
    assert!(refused.message.contains("at most 5"), "{refused}");
}

/// Hole 8 of the seed: the same tool has other names in JavaScript and shell, and patterns match neither.
#[test]
fn hole_8_method_names_are_the_same_on_every_face() {
    let home = Home::with_tools(&["stats"]);
    for pattern in ["stats/linear-fit", "stats/*", "**/linear-fit"] {
        let allow = ["--allow", pattern];
        for code in ["stats.linearFit", "stats_linearFit"] {
            let ran = home.js(&format!("return (await {code}({{x: [1, 2], y: [2, 4]}})).slope"), &allow);
            assert_eq!(ran["value"], 2, "{pattern} {code}: {ran}");
        }
        for code in ["stats linear-fit", "stats linearFit", "tool stats.linear-fit", "tool stats/linear_fit"] {
            let ran = home.sh(&format!("{code} --x '[1,2]' --y '[2,4]' | jq .slope"), &allow);
            assert_eq!(ran["stdout"], "2\n", "{pattern} {code}: {ran}");
        }
    }
}

#[test]
fn delegate_spends_from_its_parent_and_ends_with_revocation() {
    let home = Home::with_tools(&["stats"]);
    let parent = session(&home, "[[grant]]\nname = 'all'\nmethod = 'stats/*'\ncalls = 3");
    let narrower = || Policy::default().with(Grant::allow("stats/describe").expect("a pattern").calls(2));
    let children = [(); 2].map(|()| parent.delegate(narrower()).expect("it is narrower"));
    let grandchild = children[0].delegate(narrower()).expect("as narrow");
    let arguments = "{\"values\": [1]}";
    assert!(grandchild.call("stats/describe", arguments).is_ok());
    assert!(children[0].call("stats/describe", arguments).is_ok());
    // The first child's two are spent, one of them by its own delegate.
    let refused = grandchild.call("stats/describe", arguments).expect_err("the child's budget is used up");
    assert!(refused.message.contains("stats/describe#0"), "{refused}");
    assert!(children[1].call("stats/describe", arguments).is_ok());
    let refused = children[1].call("stats/describe", arguments).expect_err("the parent's budget is used up");
    assert!(refused.message.contains("grant `all`"), "{refused}");
    assert!(matches!(
        parent.delegate(Policy::default().with(Grant::allow("**").expect("a pattern"))),
        Err(HostError::Narrow(_))
    ));

    let parent = session(&home, "[[grant]]\nname = 'all'\nmethod = 'stats/*'");
    let child = parent.delegate(narrower()).expect("it is narrower");
    assert!(child.call("stats/describe", arguments).is_ok());
    assert!(parent.gate().revoke("all"));
    assert!(child.call("stats/describe", arguments).expect_err("it was revoked").message.contains("was revoked"));
}

#[test]
fn token_is_accepted_offline_narrowed_and_refused_when_revoked() {
    let home = Home::with_tools(&["stats"]);
    let done = |words: &[&str]| {
        let ran = home.run(words);
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        ran.stdout
    };
    done(&["policy", "keygen", "issuer.key"]);
    done(&["policy", "keygen", "other.key"]);
    assert_eq!(home.run(["policy", "keygen", "issuer.key"]).status, 1, "a key is never overwritten");
    home.file("all.toml", "[[grant]]\nmethod = 'stats/*'\ncalls = 5\n");
    home.file("one.toml", "[[grant]]\nmethod = 'stats/describe'\ncalls = 1\n");
    home.file("wider.toml", "[[grant]]\nmethod = '**'\n");
    home.file("all.token", done(&["policy", "seal", "all.toml", "--key", "issuer.key", "--expires", "1h"]));
    home.file("one.token", done(&["policy", "attenuate", "all.token", "one.toml", "--close"]));
    let run = |token: &str, trust: &str| home.js(DESCRIBE, &["--token", token, "--trust", trust]);
    assert_eq!(run("all.token", "issuer.key.pub")["value"], 2);
    let twice = format!("{}; ", DESCRIBE.replacen("return ", "", 1)) + DESCRIBE;
    let ran = home.js(&twice, &["--token", "one.token", "--trust", "issuer.key.pub"]);
    assert_eq!(ran["status"], "denied", "{ran}");
    for words in [
        ["policy", "attenuate", "all.token", "wider.toml"].as_slice(),
        &["policy", "attenuate", "one.token", "one.toml"],
        &["run", "-e", "1", "--token", "all.token", "--trust", "other.key.pub"],
        &["run", "-e", "1", "--token", "all.token"],
        &["run", "-e", "1", "--token", "all.toml", "--trust", "issuer.key.pub"],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, 2, "{words:?}: {ran:?}");
    }
    let shown: Value = serde_json::from_str(&done(&["policy", "inspect", "one.token"])).expect("it is JSON");
    let id = shown["blocks"][1]["revocation_id"].as_str().expect("an id");
    home.file("revoked.txt", format!("# gone\n{id}\n"));
    let revoked = ["--trust", "issuer.key.pub", "--revoked", "revoked.txt"];
    let ran = home.run(["run", "-e", "1", "--token", "one.token"].iter().chain(&revoked));
    assert!(ran.status == 2 && ran.stderr.contains("revoked"), "{ran:?}");
    assert_eq!(home.run(["run", "-e", "1", "--token", "all.token"].iter().chain(&revoked)).status, 0);
}

#[test]
fn token_that_expires_within_a_session_denies_later_calls() {
    let home = Home::with_tools(&["stats"]);
    home.run(["policy", "keygen", "k"]);
    home.file("p.toml", "[[grant]]\nmethod = 'stats/*'\n");
    home.file("t", home.run(["policy", "seal", "p.toml", "--key", "k", "--expires", "3s"]).stdout);
    let code = "const call = () => stats.describe({values: [1]}).then(() => 'ok', e => `${e.message}; ${e.hint}`);
        const first = await call();
        for (let i = 0; i < 100; i++) { await new Promise(r => setTimeout(r, 100)); const last = await call(); if (last !== 'ok') return [first, last]; }
        return [first, 'it never ended']";
    let ran = home.js(code, &["--token", "t", "--trust", "k.pub"]);
    assert_eq!(ran["value"][0], "ok", "{ran}");
    let told = ran["value"][1].as_str().unwrap_or_default();
    assert!(told.contains("has expired") && told.contains("issue grant") && !told.contains("budget"), "{ran}");
}

#[test]
fn hostile_arguments_are_refused() {
    let home = Home::with_tools(&["stats"]);
    let session = session(&home, "[[grant]]\nmethod = 'stats/*'\nwhere = [{ param = 'values/*', le = 5 }]");
    let many: String = (0..100_000).map(|n| format!("\"k{n}\": {n},")).collect();
    for arguments in [
        format!("{{{many}\"values\": [1]}}"),
        format!("{{\"values\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{{\"{}\": [1]}}", "v".repeat(65_536)),
        "{\"values\": [1], \"__proto__\": {\"values\": [9]}}".to_owned(),
        "{\"val\u{200b}ues\": [1]}".to_owned(),
        "{\"values\": [1e400]}".to_owned(),
        "{\"values\": [NaN]}".to_owned(),
        "{\"values\": [1]} {\"values\": [9]}".to_owned(),
        "\u{feff}{\"values\": [1]}".to_owned(),
        String::new(),
    ] {
        let refused = session.call("stats/describe", &arguments).expect_err("it is hostile");
        assert_eq!(refused.kind, ErrorKind::Argument, "{refused}");
        assert!(refused.message.len() < 1_000, "an error is no place for {} bytes", refused.message.len());
    }
    assert!(session.call("stats/describe", "{\"values\": [5]}").is_ok());
}

#[test]
fn policy_check_warns_of_path_prefixes_but_not_of_directories() {
    let home = Home::with_tools(&["text"]);
    let check = |clause: &str| {
        let policy =
            format!("[[grant]]\nname = 'words'\nmethod = 'text/count'\nwhere = [{{ param = 'text', {clause} }}]\n");
        home.file("policy.toml", policy);
        let ran = home.run(["policy", "check", "--policy", "policy.toml"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.stderr
    };
    let told = check("starts_with = '/data'");
    assert!(told.contains("grant `words` compares `text` by its beginning") && told.contains("within"), "{told}");
    assert_eq!(check("within = '/data'"), "");
    assert_eq!(check("starts_with = 'Dear'"), "");
}
