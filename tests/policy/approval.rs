//! Approval: who is asked, about what, what they see, and what is on record of it. Each way around it that was found is
//! here, beside the same call in its honest form.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tollhouse::capability::{Approve, Grant, Policy};
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver, AuditFile};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{RunOptions, Session, SessionOptions};
use tollhouse::tool::HostTool;
use tollhouse_tests::screen::{TerminalScreen, word};
use tollhouse_tests::{Home, binary, root};

/// Charges of the fixture, each of which asks.
const CHARGES: &str = "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\n\
    calls = 3\nspend = { param = 'amount', limit = 200000000 }\napprove = true\n";

fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", CHARGES);
    home
}

fn screen(home: &Home, script: &str, rows: u16) -> TerminalScreen {
    home.file("script.js", script);
    TerminalScreen::start(home, &["run", "script.js", "--policy", "policy.toml", "--audit", "audit.jsonl"], rows, 90)
}

fn events(home: &Home) -> Vec<Value> {
    let log = fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    AuditFile::verify(&home.path().join("audit.jsonl")).expect("it is whole");
    log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().expect("a kind")).collect()
}

/// Answers for a human, and keeps what was asked.
struct Answering {
    allows: bool,
    asked: Mutex<Vec<String>>,
}

impl Answering {
    fn new(allows: bool) -> Arc<Self> {
        Arc::new(Self { allows, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().expect("no approver panics"))
    }
}

impl Approver for Answering {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let question = request.put(request.method)?;
        let told = format!("{} {}: {}", request.grant, request.arguments, request.reason);
        self.asked.lock().expect("no approver panics").push(told);
        Ok(question.answer(self.allows, "test"))
    }
}

/// Allows a call when this time is over.
struct Late(SystemTime);

impl Approver for Late {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let question = request.put(request.method)?;
        while SystemTime::now() <= self.0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(question.answer(true, "test"))
    }
}

/// A session with one host function, `pay`, whose amount has a default.
fn session(home: &Home, policy: Policy, approver: &Arc<impl Approver + 'static>) -> Session {
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "integer", "default": 1_000_000 }, "to": { "type": "string" } },
    });
    let pay = HostTool::new("pay", "Pays.", schema).expect("a tool");
    let pay = pay.answered_by(|call: &tollhouse::tool::HostCall<'_>| Ok(call.arguments.clone().into()));
    let approver = Some(Arc::clone(approver) as Arc<dyn Approver>);
    let options = SessionOptions { policy, host_tools: vec![pay], approver, ..SessionOptions::default() };
    home.host().session(options).expect("a session")
}

#[test]
fn argument_with_a_default_that_is_left_out_is_asked_about() {
    let home = Home::new();
    let approver = Answering::new(true);
    let policy = "[[grant]]\nname = 'g'\nmethod = 'pay'\napprove = { param = 'amount', gt = 5000 }\n";
    let session = session(&home, Policy::parse(policy).expect("a policy"), &approver);
    session.call("pay", r#"{"to": "a"}"#).expect("a human allows it");
    assert_eq!(approver.asked(), [r#"g {"to":"a"}: it asks where `amount` may be above 5000; here it is missing"#]);
    session.call("pay", r#"{"amount": 5000}"#).expect("nobody is asked");
    assert_eq!(approver.asked(), [""; 0]);
    session.call("pay", r#"{"amount": 5001}"#).expect("a human allows it");
    assert_eq!(approver.asked(), [r#"g {"amount":5001}: it asks where `amount` may be above 5000; here it is 5001"#]);
}

#[test]
fn refund_of_all_that_is_left_is_asked_about() {
    let home = Home::with_tools(&["payments"]);
    home.file(
        "refund.toml",
        "[tools]\npayments = 'tollhouse:payments@^0.1'\n[[grant]]\nmethod = 'payments/charges/*'\n[[grant]]\nname = 'refunds'\n\
         method = 'payments/refunds/create'\napprove = { param = 'amount', gt = 5000 }\n\
         [tool.payments]\nkeyvalue = ['default']\n",
    );
    let refund = |amount: &str| {
        let code = format!(
            "const c = await payments.charges.create({{amount: 9999999, currency: 'USD'}});
             return (await payments.refunds.create({{chargeId: c.id{amount}}})).display"
        );
        home.js(&code, &["--policy", "refund.toml"])
    };
    for amount in ["", ", amount: null", ", amount: undefined", ", amount: 9999999", ", amount: 5001"] {
        let ran = refund(amount);
        assert_eq!(ran["status"], "denied", "{amount}: {ran}");
        assert!(ran["error"]["message"].as_str().is_some_and(|text| text.contains("needs approval")), "{ran}");
    }
    assert_eq!(refund(", amount: 5000")["value"], "50.00 USD");
    let checked = home.run(["policy", "check", "--policy", "refund.toml"]);
    assert!(
        checked.stdout.contains(
            "`amount` of `approve` is optional: without it, a human is asked; (optional): how much; the default is all that is left."
        ),
        "{checked:?}"
    );
    let checked = home.run(["policy", "check", "--policy", "refund.toml", "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let optional = &checked["grants"][1]["methods"][0]["optional"][0];
    assert_eq!((&optional["param"], &optional["without"]), (&json!("amount"), &json!("asks")), "{checked}");
}

#[test]
fn consent_after_the_end_of_a_grant_allows_nothing() {
    let home = Home::new();
    let end = SystemTime::now() + Duration::from_secs(2);
    let asker = Grant::allow("pay").expect("a pattern").named("asker").calls(1).approve(Approve::Always).until(end);
    let mut policy = Policy::default();
    policy.push(asker);
    let session = session(&home, policy, &Arc::new(Late(end)));
    let failure = session.call("pay", "{}").expect_err("it has ended");
    assert!(failure.message.contains("it has expired"), "{failure:?}");
    assert_eq!(session.gate().budgets()[0].remaining.to_string(), "1", "nothing is spent");
}

/// Calls that were admitted wait for one another; what has not begun when their grant ends does not begin.
#[test]
fn call_that_waits_beyond_the_end_of_its_grant_does_not_begin() {
    let home = Home::new();
    let end = SystemTime::now() + Duration::from_secs(3);
    let mut policy = Policy::parse("[limits]\nconcurrency = 1\n").expect("a policy");
    policy.push(Grant::allow("pay").expect("a pattern").named("payer").until(end));
    let begun = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&begun);
    let pay = HostTool::new("pay", "Pays.", json!({ "type": "object" })).expect("a tool");
    let pay = pay.answered_by(move |_: &tollhouse::tool::HostCall<'_>| {
        times.lock().expect("no call panics").push(SystemTime::now());
        std::thread::sleep(Duration::from_secs(1));
        Ok(json!(null).into())
    });
    let options = SessionOptions { policy, host_tools: vec![pay], ..SessionOptions::default() };
    let session = home.host().session(options).expect("a session");
    let source = "const all = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => pay({})));
        return all.filter(one => one.status === 'rejected').map(one => one.reason.message)";
    let script = Script { source: source.to_owned(), ..Script::default() };
    let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
    let refused = run.finish().value.expect("it returns");
    let begun = begun.lock().expect("no call panics");
    assert!(begun.iter().all(|begin| *begin <= end), "{begun:?} {end:?}");
    assert!(!begun.is_empty() && begun.len() < 6, "{begun:?}");
    let refused = refused.as_array().expect("a list");
    assert_eq!(refused.len(), 6 - begun.len());
    assert!(refused.iter().all(|message| message.as_str().is_some_and(|text| text.contains("ended"))), "{refused:?}");
}

/// Over, or taken back, a grant that asks leaves no call to those behind it, which do not.
#[test]
fn asking_grant_that_is_over_denies_what_it_covers() {
    let home = Home::new();
    let asker = || Grant::allow("pay").expect("a pattern").named("asker").approve(Approve::Always);
    let free = || Grant::allow("**").expect("a pattern").named("free");
    let approver = Answering::new(true);
    let allows = |session: &Session| session.call("pay", "{}").map(drop).map_err(|failure| failure.message);

    let asked = session(&home, Policy::default().with(asker()).with(free()), &approver);
    assert_eq!((allows(&asked), approver.asked().len()), (Ok(()), 1));
    assert!(asked.gate().revoke("asker"));
    let refused = allows(&asked).expect_err("nobody could be asked");
    assert!(refused.contains("it was revoked; since it asks a human, no other grant is tried"), "{refused}");
    let opinions = asked.gate().explain("pay", "{}").expect("it fits");
    assert!(opinions.iter().all(|opinion| !opinion.allows), "{opinions:?}");

    // That its budget is used up too changes nothing.
    let spent = session(&home, Policy::default().with(asker().calls(0)).with(free()), &approver);
    assert_eq!(allows(&spent), Ok(()), "a budget is part of what a grant says");
    assert!(spent.gate().revoke("asker"));
    assert!(allows(&spent).expect_err("nobody could be asked").contains("it was revoked"));

    let past = SystemTime::now() - Duration::from_secs(1);
    let ended = session(&home, Policy::default().with(asker().until(past)).with(free()), &approver);
    assert!(allows(&ended).expect_err("nobody could be asked").contains("it has expired"));
    assert_eq!(approver.asked(), [""; 0]);

    // One that asks nobody steps aside.
    let silent = || asker().approve(Approve::Never);
    let stepped = session(&home, Policy::default().with(silent()).with(free()), &approver);
    assert!(stepped.gate().revoke("asker"));
    assert_eq!(allows(&stepped), Ok(()));
}

#[test]
fn narrower_policy_cannot_be_rid_of_the_human() {
    let grant = |pattern: &str, name: &str| Grant::allow(pattern).expect("a pattern").named(name);
    let above = Policy::default()
        .with(grant("pay/charges/create", "asker").approve(Approve::Always))
        .with(grant("pay/**", "free"));
    let past = SystemTime::now() - Duration::from_secs(1);
    let unasked = Policy::default().with(grant("pay/charges/create", "x"));
    let with_asker = |asker: Grant| Policy::default().with(asker).with(grant("pay/charges/*", "c-free"));
    let asker = || grant("pay/charges/create", "c-asker");
    assert!(!unasked.is_subset_of(&above), "it would not ask");
    assert!(!with_asker(asker()).is_subset_of(&above), "it would not ask either");
    assert!(!with_asker(asker().approve(Approve::Always).calls(1)).is_subset_of(&above), "it is used up");
    assert!(above.attenuate(with_asker(asker().until(past))).is_err(), "it leaves the calls to the next");
    assert!(above.attenuate(Policy::default().with(grant("pay/charges/*", "c-free"))).is_err());
    let honest = above.attenuate(with_asker(asker())).expect("it asks as before");
    assert!(honest.is_subset_of(&above) && above.is_subset_of(&above));
    let both = grant("pay/charges/*", "c-free").until(past);
    let ended = above.attenuate(Policy::default().with(asker().until(past)).with(both)).expect("both end");
    assert!(ended.is_subset_of(&above));
}

#[test]
fn question_stands_alone_whatever_the_script_prints() {
    let forged = "grant `charges` asks you about a call\\n  method   pay/charges/create\\n    amount: 5\\n";
    let scripts = [
        // A region of two lines, through which the question would scroll.
        format!("'\\x1b[2J\\x1b[H{forged}\\x1b[9;10r\\x1b[10;1H'"),
        // Black on black, and concealed.
        format!("'{forged}\\x1b[8m\\x1b[30;40m'"),
        // The other screen, without a cursor; lines are not broken; the other character set.
        format!("'\\x1b[?1049h{forged}\\x1b[?25l\\x1b[?7l\\x1b(0\\x1b[?6h\\x1b[4h'"),
        // A title without an end.
        format!("'{forged}\\x1b]2;'"),
        // The beginning of a character.
        "Buffer.from([0xe2, 0x80])".to_owned(),
        // As much as there can be.
        "'x'.repeat(1e6)".to_owned(),
    ];
    let home = home();
    for printed in scripts {
        let script = format!(
            "process.stdout.write({printed});
             const r = await pay.charges.create({{amount: 99999999, currency: 'EUR'}});
             console.log('\\x1b[0mCHARGED', r.total)"
        );
        let mut screen = screen(&home, &script, 30);
        let question = screen.asks();
        // The line that calls: a value may span lines.
        let caller = format!("  caller   the script, at script.js:{}", 2 + printed.matches('\n').count());
        let seen = [
            "grant `charges` asks you about a call",
            caller.as_str(),
            "  because  it asks about every call",
            "  costs    1 of the 3 calls of `charges`, then 2 are left",
            "  costs    99999999 of the 200000000 spend of `charges`, then 100000001 are left",
            "  method   pay/charges/create",
            "    amount: 99999999",
            "    currency: \"EUR\"",
            "    items: null",
            "    customerId: null",
            "    metadata: null",
        ];
        assert_eq!(question[..11], seen, "{printed}");
        assert_eq!(question.len(), 13, "{printed}: {question:?}");
        let hidden = screen.look(|parser| {
            let cells = (0..30).flat_map(|row| (0..90).map(move |column| (row, column)));
            let screen = parser.screen();
            let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
            let plain = |cell: &&vt100::Cell| {
                cell.fgcolor() == vt100::Color::Default && cell.bgcolor() == vt100::Color::Default && !cell.inverse()
            };
            (cells.filter(|cell| !plain(cell)).count(), screen.hide_cursor(), screen.alternate_screen())
        });
        assert_eq!(hidden, (0, false, false), "{printed}");
        screen.types("n\n");
        let (status, told) = screen.ends();
        assert_eq!(status, 3, "{printed}: {told:?}");
        assert!(told.iter().any(|line| line.contains("a human refused the call")), "{told:?}");
    }
    let mut screen =
        screen(&home, "console.log('CHARGED', (await pay.charges.create({amount: 7, currency: 'EUR'})).total)", 30);
    let question = screen.asks();
    screen.consents(&question);
    let (status, told) = screen.ends();
    assert!(status == 0 && told.iter().any(|line| line == "CHARGED 7"), "{status} {told:?}");
}

#[test]
fn input_typed_ahead_is_not_consent() {
    let home = home();
    let script = "console.log('Install optional colours for this terminal? [y/N]');
        await new Promise((r) => setTimeout(r, 2000));
        for (const amount of [1, 99999999])
            console.log(await pay.charges.create({amount, currency: 'EUR'}).then((r) => 'CHARGED ' + r.total, (e) => e.name))";
    let mut screen = screen(&home, script, 24);
    let _ = screen.sees("[y/N]");
    screen.types("y\ny\nyes\n");
    let first = screen.asks();
    assert!(first.contains(&"    amount: 1".to_owned()), "{first:?}");
    // What answers the first is none for the second.
    let answer = word(&first);
    screen.types(&format!("{answer}\n{answer}\ny\n"));
    let second = screen.sees("amount: 99999999");
    assert_ne!(word(&second), answer);
    let second = screen.asks();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(screen.lines(), second, "it waits");
    screen.types(&format!("{answer}\n"));
    let (status, told) = screen.ends();
    assert_eq!(status, 0);
    assert!(told.contains(&"CapabilityError".to_owned()) && !told.join("\n").contains("CHARGED 99999999"), "{told:?}");
    assert_eq!(
        names(&events(&home)),
        ["started", "asked", "answered", "admitted", "settled", "asked", "answered", "denied", "ended"]
    );
}

#[test]
fn long_arguments_leave_the_call_in_sight() {
    let home = home();
    let script = "const metadata = Array.from({length: 400}, (_, i) => ['k' + i, 'v'.repeat(400)]);
        const customerId = 'a\\u202e\\u00ad\\u3164\\u180e\\u{e0061}\\ufe0f\\u2800\\n';
        await pay.charges.create({amount: 99999999, currency: 'EUR', metadata, customerId})";
    let mut screen = screen(&home, script, 14);
    let question = screen.asks();
    assert!(question.len() <= 14 && question[0].starts_with("grant `charges`"), "{question:?}");
    assert!(question.contains(&"  method   pay/charges/create".to_owned()), "{question:?}");
    assert!(question.contains(&"    amount: 99999999".to_owned()), "{question:?}");
    let escaped = r#"    customerId: "a\u{202e}\u{ad}\u{3164}\u{180e}\u{e0061}\u{fe0f}\u{2800}\n""#;
    assert!(question.iter().any(|line| line == escaped), "{question:?}");
    let metadata = question.iter().find(|line| line.starts_with("    metadata: [[\"k0\"")).expect("it is there");
    assert!(metadata.ends_with("in all: `v` shows it)"), "{metadata}");
    // Page by page, and back.
    screen.types("v\n");
    let page = screen.sees("-- Enter: more");
    assert!(page.len() <= 14 && page.contains(&"  \"amount\": 99999999,".to_owned()), "{page:?}");
    screen.types("\n");
    let _ = screen.sees("\"k1\"");
    screen.types("q\n");
    assert_eq!(screen.asks(), question);
    screen.types("\n");
    let (status, _) = screen.ends();
    assert_eq!(status, 3, "an empty line is no consent");
}

#[test]
fn question_escapes_zero_width_letters_except_those_that_combine() {
    let home = home();
    let script = "const metadata = [['name', '하\\u11ab국어 cafe\\u0301 หนึ่ง']];
        const customerId = 'alice' + '\\u1161'.repeat(2) + '\\u{1d165}\\u302e';
        await pay.charges.create({amount: 1, currency: 'EUR', metadata, customerId})";
    let mut screen = screen(&home, script, 24);
    let question = screen.asks();
    let escaped = r#"    customerId: "alice\u{1161}\u{1161}\u{1d165}\u{302e}""#;
    assert!(question.iter().any(|line| line == escaped), "{question:?}");
    let plain = "    metadata: [[\"name\",\"하\u{11ab}국어 cafe\u{301} หนึ่ง\"]]";
    assert!(question.iter().any(|line| line == plain), "{question:?}");
    screen.types("v\n");
    let page = screen.sees("-- the end");
    assert!(page.iter().any(|line| line.contains(r"alice\u{1161}\u{1161}\u{1d165}\u{302e}")), "{page:?}");
    screen.types("\n");
    let _ = screen.asks();
    screen.types("\n");
    assert_eq!(screen.ends().0, 3);
}

#[test]
fn question_waits_for_a_window_that_it_fits() {
    let home = home();
    let mut screen = screen(&home, "return (await pay.charges.create({amount: 5, currency: 'EUR'})).total", 24);
    screen.resize(5, 30);
    let _ = screen.sees("A question waits");
    screen.types("y\n");
    screen.resize(24, 90);
    let question = screen.asks();
    screen.consents(&question);
    let (status, told) = screen.ends();
    assert!(status == 0 && told.last().is_some_and(|line| line == "5"), "{status} {told:?}");
}

/// The output of other scripts, warnings and the rest wait until the question is answered.
#[test]
fn output_during_a_question_is_held_back() {
    let home = home();
    home.file(
        "jobs.jsonl",
        "{\"id\": 1, \"script\": \"return (await pay.charges.create({amount: 1, currency: 'EUR'})).total\"}\n\
         {\"id\": 2, \"script\": \"await sleep(2000); return 'slept'\"}\n",
    );
    let mut shell = std::process::Command::new("sh");
    shell.env_clear().envs(home.environment()).current_dir(home.path()).arg("-c");
    shell.arg("exec \"$0\" batch --policy policy.toml --jobs 2 < jobs.jsonl").arg(binary());
    let mut screen = TerminalScreen::of(shell, 24, 90);
    let question = screen.asks();
    std::thread::sleep(Duration::from_millis(3_000));
    assert_eq!(screen.lines(), question, "the other job has ended, and waits");
    screen.consents(&question);
    let (status, told) = screen.ends();
    assert!(status == 0 && told.join("").contains("slept"), "{status} {told:?}");
}

#[test]
fn question_says_which_tool_calls() {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/relay"));
    home.file(
        "policy.toml",
        "[[grant]]\nname = 'stats'\nmethod = 'stats/*'\napprove = true\n[[grant]]\nmethod = '**'\n[tool.relay]\ntools = ['stats/describe']\n",
    );
    let mut screen = screen(&home, "return await relay.mean({values: [1, 2, 6]})", 24);
    let question = screen.asks();
    assert_eq!(question[1], "  caller   not the script itself, but `relay/mean` (call 1)");
    assert!(question.contains(&"    values: [1,2,6]".to_owned()), "{question:?}");
    screen.consents(&question);
    let (status, told) = screen.ends();
    assert!(status == 0 && told.last().is_some_and(|line| line == "3"), "{status} {told:?}");
}

#[test]
fn consent_is_on_record_before_the_call() {
    let home = home();
    let script = "const r = [];
        for (const amount of [5, 6]) r.push(await pay.charges.create({amount, currency: 'EUR'}).then((r) => r.total, (e) => e.message));
        return r";
    let mut screen = screen(&home, script, 24);
    let first = screen.asks();
    screen.consents(&first);
    let second = screen.sees("amount: 6");
    drop(second);
    let second = screen.asks();
    screen.types("n\n");
    let (status, _) = screen.ends();
    assert_eq!(status, 0);
    let events = events(&home);
    assert_eq!(
        names(&events),
        ["started", "asked", "answered", "admitted", "settled", "asked", "answered", "denied", "ended"]
    );
    for (asked, answered, seen, allowed, seq) in [(1, 2, &first, true, 1), (5, 6, &second, false, 2)] {
        let (asked, answered) = (&events[asked], &events[answered]);
        let text = asked["text"].as_str().expect("it is short");
        assert_eq!(asked["shown"], blake3::hash(text.as_bytes()).to_hex().as_str());
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(&lines, seen, "what is on record is what was seen");
        assert_eq!((&asked["grant"], &asked["seq"]), (&json!("charges"), &json!(seq)));
        assert_eq!(asked["reason"], "it asks about every call");
        assert_eq!((&answered["allowed"], &answered["shown"]), (&json!(allowed), &asked["shown"]));
        assert!(answered["by"].as_str().is_some_and(|by| by.starts_with("uid ")), "{answered}");
    }
    assert_eq!((&events[3]["seq"], &events[7]["seq"]), (&json!(1), &json!(2)));
    let told = home.run(["session", "log", "--audit", "audit.jsonl", "--event", "answered"]);
    assert_eq!(told.stdout.lines().count(), 2, "{told:?}");
}

/// Text that strangers wrote never reaches a terminal as it is: warnings, contents of files, JSON.
#[test]
fn terminal_output_escapes_foreign_text() {
    let home = Home::new();
    let directory = home.path().join("m");
    fs::create_dir(&directory).expect("it is new");
    let link = directory.join("pipe\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{202e}");
    std::os::unix::net::UnixListener::bind(&link).expect("a socket is no file");
    let ends = |arguments: &[&str]| {
        let (status, lines) = TerminalScreen::start(&home, arguments, 40, 200).ends();
        (status, lines.join("\n"))
    };
    let (status, told) = ends(&["run", "--mount", "m:/workspace/m", "-e", "1"]);
    assert!(status == 0 && told.contains("pipe\\u{1b}]0;PWNED\\u{7}\\u{1b}[2J\\u{202e}"), "{told}");

    let evil = "fs.writeFileSync('a', 'plain\\n\\x1b[8mhidden\\u202e\\u{e0061}\\x1b[0m\\n'); \
        return {evil: '\\x1b[8m\\u202e\\x9b2J\\u{e0061}'}";
    let ran = home.run(["run", "--session", "s", "-e", evil, "--json"]);
    assert!(ran.status == 0 && ran.stdout.contains('\u{202e}'), "programs get it as it is: {ran:?}");
    let (_, told) = ends(&["session", "diff", "s", "--unified"]);
    assert!(told.contains("+\\u{1b}[8mhidden\\u{202e}\\u{e0061}\\u{1b}[0m"), "{told}");
    assert!(home.run(["session", "diff", "s", "--unified"]).stdout.contains("+\u{1b}[8mhidden\u{202e}"));
    let (_, told) = ends(&["session", "cat", "s", "/workspace/a"]);
    assert!(told.contains("\\u{1b}[8mhidden\\u{202e}"), "{told}");
    for arguments in [["run", "-e", evil, "--json"].as_slice(), &["run", "-e", evil]] {
        let (status, told) = ends(arguments);
        assert!(status == 0 && told.contains("\\u001b[8m\\u202e\\u009b2J\\udb40\\udc61"), "{told}");
    }
}
