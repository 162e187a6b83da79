//! Calls whose process died: idempotent ones are made again with the same key, and others are in doubt.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::SessionOptions;
use tollhouse_registry::Effect;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, root};

/// Time after which a request that nobody answered is given up by the test.
const PATIENCE: Duration = Duration::from_secs(60);

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// Creates a home whose tool `http` has these further lines in its manifest.
fn home_with(manifest: &str) -> Home {
    let home = Home::new();
    home.publish_with(&root().join("tools/http"), "tollhouse_tool_http.wasm", manifest);
    home
}

/// Starts a server that does not answer its first request, and the others with `paid`.
fn server_silent_at_first() -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |_: &str| {
        if asked.fetch_add(1, Ordering::SeqCst) == 0 {
            std::thread::sleep(PATIENCE);
        }
        ("200 OK", Vec::new(), "paid".into())
    })
}

/// Returns the key of each request that a server has got.
fn keys(server: &Server) -> Vec<Option<String>> {
    let key = |head: &String| {
        let header = head
            .lines()
            .find_map(|line| line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("idempotency-key")));
        header.map(|(_, key)| key.trim().to_owned())
    };
    server.seen().iter().map(key).collect()
}

/// Starts a run that pays, and kills it while the server has the request and has not answered.
fn killed_while_it_pays(home: &Home, server: &Server) {
    let at = format!("http://127.0.0.1:{}", server.port());
    home.file("pay.js", format!("return await (await fetch('{at}/pay', {{method: 'POST', body: '5'}})).text()"));
    let mut command = home.command(["run", "pay.js", "--allow-net", &at, "--session", "s"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
    let waited = std::time::Instant::now();
    while server.seen().is_empty() {
        assert!(waited.elapsed() < PATIENCE, "no request came");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn idempotent_call_interrupted_is_made_again_with_its_key() {
    for manifest in ["effect = 'idempotent'", "[method.fetch]\neffect = 'idempotent'"] {
        let (home, server) = (home_with(manifest), server_silent_at_first());
        killed_while_it_pays(&home, &server);
        let resumed = parsed(&home.run(["session", "resume", "s", "--json"]));
        assert_eq!((&resumed["status"], &resumed["value"]), (&json!("completed"), &json!("paid")), "{resumed:#}");
        let keys = keys(&server);
        let key = keys[0].as_deref().expect("a key");
        assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
        assert_eq!(keys, [Some(key.to_owned()), Some(key.to_owned())]);
        assert_eq!(resumed["calls"].as_array().map(Vec::len), Some(1), "{resumed:#}");
    }
}

/// Checks that the interrupted call is listed, with and without the name of its session.
fn assert_call_in_doubt_is_listed(home: &Home) {
    for arguments in [&["session", "pending", "s", "--json"][..], &["session", "pending", "--json"]] {
        let listed = parsed(&home.run(arguments));
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed:#}");
        let call = &listed[0];
        assert_eq!(
            (&call["kind"], &call["seq"], &call["run"]),
            (&json!("in_doubt"), &json!(1), &json!(1)),
            "{listed:#}"
        );
        assert_eq!((&call["method"], &call["outcome"]), (&json!("http/fetch"), &json!("pending")), "{listed:#}");
        assert_eq!(call["arguments"]["method"], "POST", "{listed:#}");
        assert!(call["hint"].as_str().is_some_and(|hint| hint.contains("session resolve s@1 1")), "{listed:#}");
    }
    let text = home.run(["session", "pending", "s"]).stdout;
    assert!(text.contains("s@1 call 1  http/fetch  in doubt") && text.contains("session resolve s@1 1"), "{text}");
}

/// Only what is declared of the method counts, and what is declared of it counts more than what is declared of all.
#[test]
fn call_that_is_not_idempotent_stays_in_doubt_and_keeps_its_key_when_retried() {
    for manifest in ["", "effect = 'pure'", "[method.get]\neffect = 'idempotent'", "effect = 'once'"] {
        let (home, server) = (home_with(manifest), server_silent_at_first());
        killed_while_it_pays(&home, &server);
        assert_call_in_doubt_is_listed(&home);
        let doubted = parsed(&home.run(["session", "resume", "s", "--json"]));
        assert_eq!(doubted["status"], "in_doubt", "{manifest}: {doubted:#}");
        assert_eq!(server.seen().len(), 1, "it is not made again");
        assert_call_in_doubt_is_listed(&home);
        assert_eq!(home.run(["session", "resolve", "s", "1", "retry"]).status, 0);
        assert_eq!(
            parsed(&home.run(["session", "pending", "--json"])),
            json!([]),
            "a human has said what became of it"
        );
        let resumed = parsed(&home.run(["session", "resume", "s", "--json"]));
        assert_eq!(resumed["value"], "paid", "{resumed:#}");
        let keys = keys(&server);
        assert!(keys[0].is_some() && keys[0] == keys[1], "{keys:?}");
    }
}

#[test]
fn request_has_a_key_of_its_call_unless_it_is_safe_or_has_one() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_: &str| ("200 OK", Vec::new(), "ok".into()));
    let at = format!("http://127.0.0.1:{}", server.port());
    let script = format!(
        "for (const [method, headers] of [['POST', {{}}], ['DELETE', {{}}], ['GET', {{}}], ['PUT', {{'Idempotency-Key': 'mine'}}]])
            await (await fetch('{at}', {{method, headers}})).text();"
    );
    let ran = home.js(&script, &["--allow-net", &at]);
    assert_eq!(ran["status"], "completed", "{ran:#}");
    let keys = keys(&server);
    assert!(keys[0].is_some() && keys[1].is_some() && keys[0] != keys[1], "{keys:?}");
    assert_eq!(keys[2..], [None, Some("mine".to_owned())]);
}

#[test]
fn manifest_with_settings_of_an_unknown_method_is_refused() {
    let home = home_with("[method.fetch]\neffect = 'idempotent'");
    let manifest = home.path().join("package/tool.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written").replace("[method.fetch]", "[method.fetsch]");
    std::fs::write(&manifest, text.replace("version = \"0.1.0\"", "version = \"0.1.1\"")).expect("it can be written");
    let refused = home.run(["publish", "package"]);
    assert!(refused.status != 0 && refused.stderr.contains("the method `fetsch`"), "{refused:?}");
    assert!(!home.run(["registry", "ls"]).stdout.contains("0.1.1"), "nothing was published");
}

/// Calls that a tool makes itself would have other keys when it is called again.
#[test]
fn tool_that_may_call_others_is_not_idempotent_whatever_it_declares() {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/filer"));
    home.publish_with(&root().join("tests/fixtures/relay"), "tollhouse_fixture_relay.wasm", "effect = 'idempotent'");
    let effect = |granted: &str| {
        let policy = format!("[[grant]]\nmethod = '**'\n[tool.relay]\n{granted}\n");
        let policy = Policy::parse(&policy).expect("a policy");
        let session = home.host().session(SessionOptions { policy, ..SessionOptions::default() }).expect("it is made");
        session.gate().effect("relay/mean")
    };
    assert_eq!(effect(""), Effect::Pure);
    assert_eq!(effect("http = ['https://api.example']"), Effect::Idempotent);
    assert_eq!(effect("tools = ['stats/*']"), Effect::Once);
}
