//! What tools reach beyond their arguments: the network, secrets on the wire, the session's key-value store. Each thing
//! that is granted has a twin that is not.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::{Host, HostOptions, Session, SessionOptions};
use tollhouse::tool::{Network, Resolver};
use tollhouse_tests::server::{AUTHORITY, Answer, Server};
use tollhouse_tests::{Home, root};

/// A server that says what it was asked for.
fn echo(head: &str) -> Answer {
    let path = head.split(' ').nth(1).unwrap_or_default();
    ("200 OK", vec!["content-type: text/plain".to_owned()], format!("you asked for {path}").into_bytes())
}

/// A policy that grants every method of `http`, and to the tool what `table` says.
fn policy(table: &str) -> String {
    format!("[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n[tool.http]\n{table}\n")
}

/// Fetches, and returns the text or the error's message and hint.
fn fetch(home: &Home, table: &str, arguments: &Value, more: &[&str]) -> String {
    home.file("policy.toml", policy(table));
    let script = format!(
        "try {{ return (await http.fetch({arguments})).text }} catch (error) {{ return error.message + ' | ' + error.hint }}"
    );
    let options: Vec<&str> =
        ["--policy", "policy.toml", "--audit", "audit.jsonl"].iter().chain(more).copied().collect();
    let ran = home.js(&script, &options);
    ran["value"].as_str().map_or_else(|| ran.to_string(), str::to_owned)
}

#[test]
fn http_tool_reaches_only_granted_addresses() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    let at = format!("127.0.0.1:{}", server.port());
    let url = |path: &str| json!({ "url": format!("http://{at}{path}") });
    let rule = format!("http = [\"GET http://{at}/v1\"]");
    assert_eq!(fetch(&home, &rule, &url("/v1/x?q=1"), &[]), "you asked for /v1/x?q=1");
    for path in ["/v1/caf%C3%A9/8%C2%BD", "/v1/.well-known/%E6%97%A5%E6%9C%AC.txt", "/v1/What%3F"] {
        assert_eq!(fetch(&home, &rule, &url(path), &[]), format!("you asked for {path}"));
    }
    let post = json!({ "url": format!("http://{at}/v1"), "method": "POST", "body": "x" });
    let other = Server::start(echo);
    for (table, arguments) in [
        (rule.as_str(), url("/v10")),
        (&rule, url("/v1/%2e%2e/admin")),
        (&rule, url("/v1/../admin")),
        (&rule, url("/v1/..%00/admin")),
        (&rule, url("/v1/%c0%ae%c0%ae/admin")),
        (&rule, url("/v1/%ef%bc%8e%ef%bc%8e/admin")),
        (&rule, url("/v1/\u{ff0e}\u{ff0e}/admin")),
        (&rule, url("/v1/%ef%b8%b0/admin")),
        (&rule, url("/v1/..%ef%b8%94x/admin")),
        (&rule, url("/v1/..%c2%a5../admin")),
        (&rule, url("/v1/%u002e%u002e/admin")),
        (&rule, url("/v1/.%e2%80%8b./admin")),
        (&rule, url("/v1/..%20/admin")),
        (&rule, url("/")),
        (&rule, post),
        (&rule, json!({ "url": format!("http://127.0.0.1:{}/v1", other.port()) })),
        (&rule, json!({ "url": format!("http://localhost:{}/v1", server.port()) })),
        ("", url("/v1")),
        ("http = [\"*\", \"http://*:*\"]", url("/v1")),
        (&format!("http = [\"https://{at}\"]"), url("/v1")),
        // A name that leads home is no way round the address.
        (
            &format!("http = [\"http://localhost:{}\"]", server.port()),
            json!({ "url": format!("http://localhost:{}/v1", server.port()) }),
        ),
    ] {
        let told = fetch(&home, table, &arguments, &[]);
        let refused = ["was refused", "may not", "normal form"].iter().any(|part| told.contains(part));
        assert!(refused, "{table} {arguments}: {told}");
    }
    assert_eq!((server.seen().len(), other.seen().len()), (4, 0), "nothing that was refused arrived");
    let both =
        format!("http = [\"http://localhost:{0}\", \"http://127.0.0.1:{0}\", \"http://[::1]:{0}\"]", server.port());
    let by_name = json!({ "url": format!("http://localhost:{}/v1", server.port()) });
    assert_eq!(fetch(&home, &both, &by_name, &[]), "you asked for /v1", "its address is granted too");
    let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    assert!(log.contains(&format!("\"url\":\"http://{at}/v1/x\",\"refused\":null")), "without the query: {log}");
    assert!(log.contains("no rule that is both requested and granted covers it"), "{log}");
    assert!(log.contains("its host has no public address"), "{log}");
}

#[test]
fn allow_net_grants_one_host_without_a_policy() {
    let home = Home::with_tools(&["http", "stats"]);
    let (server, other) = (Server::start(echo), Server::start(echo));
    let at = |server: &Server| format!("http://127.0.0.1:{}", server.port());
    let get = |url: &str, more: &[&str]| {
        let script = format!("return await (await fetch('{url}/v1/x')).text()");
        let options: Vec<&str> = ["run", "-e", &script].iter().chain(more).copied().collect();
        home.run(options)
    };
    let allowed = get(&at(&server), &["--allow-net", &at(&server)]);
    assert_eq!(allowed.stdout.trim_end(), "you asked for /v1/x", "{}", allowed.stderr);
    let path = format!("GET {}/v1", at(&server));
    assert_eq!(get(&at(&server), &["--allow-net", &path]).status, 0);
    for (more, told) in [
        (vec![], "--allow-net"),
        (vec!["--allow-net".to_owned(), at(&other)], "was refused"),
        (vec!["--allow-net".to_owned(), format!("POST {}", at(&server))], "was refused"),
        (vec!["--allow-net".to_owned(), format!("{}/v2", at(&server))], "was refused"),
        (vec!["--allow-net".to_owned(), "ftp://x".to_owned()], "ftp"),
    ] {
        let denied = get(&at(&server), &more.iter().map(String::as_str).collect::<Vec<_>>());
        assert_ne!(denied.status, 0);
        assert!(denied.stderr.contains(told), "{more:?}: {}", denied.stderr);
    }
    assert_eq!((server.seen().len(), other.seen().len()), (2, 0), "nothing that was refused arrived");
    let allow = at(&server);
    let stats = home.run(["run", "--allow-net", &allow, "-e", "return (await stats.describe({values: [1]})).mean"]);
    assert_eq!(stats.status, 3, "the other tools are not granted: {}", stats.stderr);
}

/// A secret that may go wherever the tool may, and a policy that does not mount the tool.
#[test]
fn allow_net_widens_no_policy_in_silence() {
    let home = Home::with_tools(&["http", "stats"]);
    home.file("secret.toml", policy("http = [\"https://api.example.com\"]\nsecrets = [\"KEY\"]"));
    home.file("stats.toml", "[tools]\nstats = \"tollhouse:stats\"\n");
    for (file, told) in
        [("secret.toml", "would let the secret `KEY` go there too"), ("stats.toml", "does not mount `http`")]
    {
        let ran = home.run(["run", "--policy", file, "--allow-net", "elsewhere.example", "-e", "1"]);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("--allow-net https://elsewhere.example") && ran.stderr.contains(told),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn http_redirect_is_judged_at_every_hop() {
    let home = Home::with_tools(&["http"]);
    let inner = Server::start(echo);
    let secret = format!("http://127.0.0.1:{}/secret", inner.port());
    let server = Server::start(move |head| match head.split(' ').nth(1) {
        Some("/out") => ("302 Found", vec![format!("location: {secret}")], Vec::new()),
        Some("/on") => ("302 Found", vec!["location: /there".to_owned()], Vec::new()),
        _ => echo(head),
    });
    let at = format!("http://127.0.0.1:{}", server.port());
    let table = format!("http = [\"{at}\"]");
    assert_eq!(fetch(&home, &table, &json!({ "url": format!("{at}/on") }), &[]), "you asked for /there");
    let told = fetch(&home, &table, &json!({ "url": format!("{at}/out") }), &[]);
    assert!(told.contains("/secret") && told.contains("was refused"), "{told}");
    assert_eq!(inner.seen(), Vec::<String>::new());
}

#[test]
fn secret_sent_is_on_the_wire_and_nowhere_else() {
    let home = Home::with_tools(&["http"]);
    // What a server echoes, the tool sees; what the tool says of it is redacted.
    let server = Server::start(|head| ("200 OK", Vec::new(), head.as_bytes().to_vec()));
    let other = Server::start(echo);
    let [at, elsewhere] = [&server, &other].map(|server| format!("http://127.0.0.1:{}", server.port()));
    let table = format!("http = [\"{at}\", \"{elsewhere}\"]\nsecrets = [{{ name = \"KEY\", http = [\"{at}/v1\"] }}]");
    home.file("key", "s3cr3t-value\n");
    let ask = |url: String, header: &str| json!({ "url": url, "headers": [["authorization", header]] });
    let given = ["--secret", "KEY=file:key"];
    let told = fetch(&home, &table, &ask(format!("{at}/v1"), "Bearer {{secret:KEY}}"), &given);
    assert!(server.seen()[0].contains("authorization: Bearer s3cr3t-value\r\n"), "{:?}", server.seen());
    assert!(told.contains("Bearer {{secret:KEY}}") && !told.contains("s3cr3t"), "{told}");
    for arguments in [
        ask(format!("{at}/v2"), "{{secret:KEY}}"),
        ask(format!("{elsewhere}/v1"), "{{secret:KEY}}"),
        ask(format!("{at}/v1"), "{{secret:OTHER}}"),
        ask(format!("{at}/v1"), "{{secret:KEY"),
        ask(format!("{at}/v1"), "{{secret:KEY}} {{secret:}}"),
    ] {
        let told = fetch(&home, &table, &arguments, &given);
        assert!(told.contains("was refused"), "{arguments}: {told}");
    }
    assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
    let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    assert!(!log.contains("s3cr3t"), "{log}");
}

#[test]
fn http_server_that_never_answers_blocks_no_call() {
    let home = Home::with_tools(&["http"]);
    let silent = Server::start(|_| {
        std::thread::sleep(Duration::from_secs(60));
        ("200 OK", Vec::new(), Vec::new())
    });
    let at = format!("http://127.0.0.1:{}", silent.port());
    home.file("policy.toml", policy(&format!("http = [\"{at}\"]")));
    let begun = Instant::now();
    let ran =
        home.js(&format!("await http.get({{ url: '{at}' }})"), &["--policy", "policy.toml", "--timeout", "500ms"]);
    assert_eq!(ran["status"], "limited", "{ran}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it ends long before the server does");
    // In one run, one that waits for nothing else and four at once.
    let race = format!(
        "const all = await Promise.allSettled([1, 2, 3, 4].map(() => http.fetch({{ url: '{at}', timeoutMs: 200 }})));
         return all.map(({{ status }}) => status)"
    );
    let ran = home.js(&race, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"], json!(["rejected", "rejected", "rejected", "rejected"]), "{ran}");
}

#[test]
fn http_body_that_is_too_long_is_an_error_and_run_continues() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_| ("200 OK", Vec::new(), vec![b'x'; 4 << 20]));
    let at = format!("http://127.0.0.1:{}", server.port());
    home.file("policy.toml", policy(&format!("http = [\"{at}\"]")));
    let script = format!(
        "const sizes = [];
         for (const maxBytes of [1 << 20, 8 << 20]) {{
           try {{ sizes.push((await http.fetch({{ url: '{at}', maxBytes }})).text.length) }} catch (error) {{ sizes.push(error.payload.kind) }}
         }}
         return sizes"
    );
    assert_eq!(home.js(&script, &["--policy", "policy.toml"])["value"], json!(["too-large", 4 << 20]));
}

#[test]
fn policy_suggested_from_a_log_grants_addresses_tools_reached() {
    let home = Home::with_tools(&["http", "stats"]);
    home.publish(&root().join("tests/fixtures/relay"));
    let server = Server::start(echo);
    let at = format!("http://127.0.0.1:{}", server.port());
    let script = format!(
        "await relay.mean({{ values: [1] }}).catch(() => {{}}); return await http.get({{ url: '{at}/x' }}).catch((e) => e.name)"
    );
    let with = |policy: &str| home.js(&script, &["--policy", policy, "--audit", "audit.jsonl"]);
    home.file("wide.toml", "[[grant]]\nmethod = \"**\"\n[tool.relay]\ntools = [\"stats/*\"]\n");
    assert_eq!(with("wide.toml")["value"], "ToolError", "the request is refused");
    let refused = home.run(["policy", "suggest", "audit.jsonl"]).stdout;
    let comment = format!("# 1 × tool.http: http = [\"GET {at}\"]");
    assert!(refused.lines().any(|line| line == comment), "{refused}");
    home.file("refused.toml", &refused);
    assert_eq!(with("refused.toml")["value"], "ToolError", "and stays refused: {refused}");
    let http = format!("[tool.http]\nhttp = [\"{at}\"]\n");
    home.file("wide.toml", format!("[[grant]]\nmethod = \"**\"\n[tool.relay]\ntools = [\"stats/*\"]\n{http}"));
    std::fs::remove_file(home.path().join("audit.jsonl")).expect("it was written");
    assert_eq!(with("wide.toml")["value"], "you asked for /x");
    let suggested = home.run(["policy", "suggest", "audit.jsonl"]).stdout;
    home.file("suggested.toml", &suggested);
    assert_eq!(with("suggested.toml")["value"], "you asked for /x", "{suggested}");
    assert!(suggested.contains(&format!("http = [\"GET {at}\"]")), "{suggested}");
    let checked = home.run(["policy", "check", "--policy", "suggested.toml"]).stdout;
    assert!(checked.contains(&format!("tool.http\n  http: GET {at}\n  secrets: none, it asks for *\n")), "{checked}");
    assert!(checked.contains("tool.relay\n  http: none, it asks for https://api.example\n"), "{checked}");
}

#[test]
fn secret_without_tls_is_refused_unless_the_policy_allows_it() {
    let home = Home::with_tools(&["http"]);
    let check = |secret: &str| {
        home.file("policy.toml", policy(&format!("http = [\"http://api.example.com\"]\nsecrets = [{secret}]")));
        home.run(["policy", "check", "--policy", "policy.toml"])
    };
    let refused = check("\"KEY\"");
    assert!(refused.status == 2 && refused.stderr.contains("without TLS"), "{refused:?}");
    let taken = check("{ name = \"KEY\", insecure = true }");
    assert!(taken.status == 0 && taken.stdout.contains("KEY (it may go without TLS)"), "{taken:?}");
}

/// Says these addresses, one answer after another, and counts.
struct Scripted {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

#[async_trait::async_trait]
impl Resolver for Scripted {
    async fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() })
    }
}

fn scripted(answers: &[&[&str]]) -> Arc<Scripted> {
    let answer = |texts: &&[&str]| texts.iter().map(|text| text.parse().expect("an address")).collect();
    Arc::new(Scripted { answers: Mutex::new(answers.iter().map(answer).collect()), asked: AtomicUsize::new(0) })
}

fn session(home: &Home, network: Network, table: &str) -> Session {
    let registry = Some(home.path().join("tollhouse/registry"));
    let host = Host::new(&HostOptions { registry, network, ..HostOptions::default() }).expect("it starts");
    let policy = Policy::parse(&policy(table)).expect("a policy");
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("it opens")
}

/// Returns the outcome of a request.
fn get(session: &Session, url: &str) -> Result<Value, String> {
    let called = session.call("http/get", &json!({ "url": url }).to_string());
    called.map(|payload| payload.value).map_err(|failure| format!("{failure} | {:?}", failure.hint))
}

#[test]
fn dns_name_rebound_to_ungranted_address_is_refused() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    let url = format!("http://api.test:{}/x", server.port());
    // First it answers with an address that is granted, then with one that is not.
    let resolver = scripted(&[&["127.0.0.1"], &["127.0.0.2"], &["169.254.169.254", "127.0.0.1"], &[]]);
    let table = format!("http = [\"http://api.test:{0}\", \"http://127.0.0.1:{0}\"]", server.port());
    let session = session(&home, Network::default().with_resolver(resolver.clone()), &table);
    assert_eq!(get(&session, &url), Ok(json!("you asked for /x")));
    assert_eq!(resolver.asked.load(Ordering::Relaxed), 1, "what was judged is what connects: it is asked once");
    let told = get(&session, &url).expect_err("another address");
    assert!(told.contains("no rule names 127.0.0.2"), "{told}");
    // Of several, only those that are granted.
    assert_eq!(get(&session, &url), Ok(json!("you asked for /x")));
    assert!(get(&session, &url).expect_err("no address").contains("its host is not found"));
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn tls_server_with_untrusted_certificate_is_refused() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start_tls(echo);
    let table = format!("http = [\"*:{0}\", \"127.0.0.1:{0}\"]", server.port());
    let network = || Network::default().with_resolver(scripted(&[&["127.0.0.1"]]));
    let trusting = network().with_certificates(AUTHORITY.as_bytes()).expect("a certificate");
    let trusting = session(&home, trusting, &table);
    let at = |host: &str| format!("https://{host}:{}/x", server.port());
    assert_eq!(get(&trusting, &at("api.test")), Ok(json!("you asked for /x")));
    assert!(get(&trusting, &at("other.test")).is_err(), "the certificate is for another name");
    assert!(get(&session(&home, network(), &table), &at("api.test")).is_err(), "its authority is not trusted");
    let later = network().with_unread_certificates(AUTHORITY.as_bytes());
    assert_eq!(get(&session(&home, later, &table), &at("api.test")), Ok(json!("you asked for /x")));
    assert_eq!(server.seen().len(), 2);
    for text in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(Network::default().with_certificates(text.as_bytes()).is_err(), "{text}");
        // Who reads them later trusts nobody then.
        let damaged = network().with_unread_certificates(text.as_bytes());
        let told = get(&session(&home, damaged, &table), &at("api.test")).expect_err("no certificates");
        assert!(told.contains("this host's certificates (SSL_CERT_FILE) cannot be read"), "{told}");
    }
}

const KV: &str = "[tools]\nkv = \"tollhouse:kv\"\nother = \"tollhouse:kv\"\n[[grant]]\nmethod = \"**\"\n";

#[test]
fn keyvalue_store_keeps_entries_per_tool() {
    let home = Home::with_tools(&["kv"]);
    home.file(
        "policy.toml",
        format!("{KV}[tool.kv]\nkeyvalue = [\"default\"]\n[tool.other]\nkeyvalue = [\"default\"]\n"),
    );
    let script = "
        await kv.set({ key: 'user/7', value: 'Ann' });
        await kv.setMany({ entries: [['user/8', 'Bob'], ['x', '1']] });
        const count = await kv.increment({ key: 'visits', by: 41 }) + await kv.increment({ key: 'visits', by: -40 });
        await kv.delete({ key: 'x' });
        return [count, await kv.get({ key: 'visits' }), await kv.list({ prefix: 'user/' }), await kv.list({}),
            await kv.getMany({ keys: ['user/7', 'no'] }), await other.list({}), await other.get({ key: 'user/7' })]";
    let ran = home.js(script, &["--policy", "policy.toml"]);
    let users = json!(["user/7", "user/8"]);
    assert_eq!(ran["value"], json!([42, "1", users, ["user/7", "user/8", "visits"], ["Ann", null], [], null]), "{ran}");
}

#[test]
fn keyvalue_store_not_granted_or_full_says_so() {
    let home = Home::with_tools(&["kv"]);
    home.file("policy.toml", format!("{KV}[tool.kv]\nkeyvalue = [\"default\"]\n"));
    let script = "
        const told = [];
        const attempt = async (call) => { try { await call() } catch (error) { told.push(error.payload.kind, error.message) } };
        await attempt(() => other.set({ key: 'a', value: '1' }));
        const value = 'x'.repeat(4 << 20);
        await attempt(() => kv.set({ key: 'big', value: value + 'x' }));
        await attempt(() => kv.set({ key: 'k'.repeat(2000), value: '1' }));
        told.push((await kv.list({})).length);
        return told";
    let ran = home.js(script, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"][0], "denied", "{ran}");
    assert!(ran["value"][3].as_str().is_some_and(|told| told.contains("at most 4194304 bytes")), "{ran}");
    assert_eq!((&ran["value"][4], &ran["value"][6]), (&json!("key"), &json!(0)), "{ran}");
}
