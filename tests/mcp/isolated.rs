//! `mcp --http --isolate process`: a process for each client.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tollhouse_tests::Home;
use tollhouse_tests::mcp_server::policy_of;

use super::http::{
    HttpServer, bearer, check_grants_of_tokens, check_refused_tokens, check_room_of_tokens, modern_call, seal,
};
use super::oauth::{check_grants_of_scopes, check_keys_fetched};
use super::tasks::check_tasks_of_clients;

const ISOLATED: [&str; 4] = ["--issuer", "k.pub", "--isolate", "process"];

/// Policy that no session of these servers can have.
const UNFIT: &str = "[[grant]]\nmethod = 'stats/describe'\nwhere = [ { param = 'absent', eq = 1 } ]\n";

/// Process, as `/proc` describes it.
#[derive(Debug)]
struct Found {
    id: u32,
    parent: u32,
    role: String,
}

/// Lists the processes of servers that have this port.
fn processes(server: &HttpServer) -> Vec<Found> {
    let port = server.address.rsplit_once(':').expect("a port").1.to_owned();
    let all =
        fs::read_dir("/proc").expect("there is one").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let found = all.filter_map(|id| {
        let id: u32 = id.parse().ok()?;
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        let parts: Vec<&str> = line.split('\0').collect();
        // The last one counts: a worker has the command line of its starter, and a role of its own.
        let after = |name: &str| parts.windows(2).rfind(|pair| pair[0] == name).map(|pair| pair[1].to_owned());
        if after("--front-port")? != port {
            return None;
        }
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
        Some(Found { id, parent, role: after("--role")? })
    });
    found.collect()
}

/// Returns the processes of clients.
fn workers(server: &HttpServer) -> BTreeSet<u32> {
    processes(server).into_iter().filter(|found| found.role == "worker").map(|found| found.id).collect()
}

/// Waits until there are no processes of a server but those that are expected.
fn wait_for(server: &HttpServer, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes(server).len() != count {
        assert!(Instant::now() < deadline, "{:?}", processes(server));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(id: u32) {
    send_signal(id, Signal::KILL);
}

fn send_signal(id: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(id).expect("it is a process")).expect("it is not 0");
    kill_process(pid, signal).expect("it runs");
}

/// Returns a home with a key and the tool `stats`.
fn home() -> Home {
    let home = Home::with_tools(&["stats"]);
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    home
}

fn free(home: &Home, name: &str) -> String {
    bearer(&seal(home, &format!("[[grant]]\nname = '{name}'\nmethod = 'stats/describe'\n")))
}

fn value(ran: &Value) -> &Value {
    &ran["structuredContent"]["value"]
}

#[test]
fn clients_have_processes_of_their_own() {
    let home = home();
    let (one, two) = (free(&home, "one"), free(&home, "two"));
    let server = HttpServer::start(&home, &ISOLATED);
    let (one, two) = ([("authorization", one.as_str())], [("authorization", two.as_str())]);
    assert!(workers(&server).is_empty(), "there is no client yet");
    assert_eq!(value(&server.modern_js("await fs.writeFile('a', 'mine'); return 1", &one)), 1);
    let first = workers(&server);
    assert_eq!(first.len(), 1);
    assert_eq!(value(&server.modern_js("return await fs.readFile('a', 'utf8').catch(e => e.code)", &two)), "ENOENT");
    let both = workers(&server);
    assert!(both.len() == 2 && both.is_superset(&first), "{both:?} {first:?}");
    // The processes of a client are neither of the front nor of each other.
    let all = processes(&server);
    let starter = all.iter().find(|found| found.role == "starter").expect("it starts them");
    assert_eq!(starter.parent, server.id());
    assert!(all.iter().filter(|found| found.role == "worker").all(|found| found.parent == starter.id), "{all:?}");
    // Each protocol session of a client, and each token that it made narrower, is in its process.
    let session = server.initialize(&one);
    let own = [one[0], ("mcp-session-id", session.as_str())];
    assert_eq!(value(&server.js("return await fs.readFile('a', 'utf8')", &own)), "mine");
    assert_eq!(workers(&server), both);
}

#[test]
fn front_and_workers_are_behind_the_second_wall() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    let held = |id: u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).map(str::to_owned);
        (line("NoNewPrivs:"), line("Seccomp:"))
    };
    let expected = match kernel_has_seccomp() {
        true => (Some("1".to_owned()), Some("2".to_owned())),
        false => return,
    };
    assert_eq!(held(server.id()), expected);
    workers(&server).into_iter().for_each(|id| assert_eq!(held(id), expected));
}

fn kernel_has_seccomp() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("Seccomp_filters:"))
}

/// Root without capabilities is a user: it holds to limits, and to the modes of files that it may write.
#[test]
fn processes_of_a_server_have_no_capabilities_of_root() {
    /// `CAP_DAC_READ_SEARCH`, by which root reads what the command line names, whoever owns it.
    const READ: u64 = 1 << 2;
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    for id in workers(&server).into_iter().chain([server.id()]) {
        for entry in fs::read_dir(format!("/proc/{id}/task")).expect("it runs") {
            let status = fs::read_to_string(entry.expect("a thread").path().join("status")).expect("it runs");
            for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("it is named");
                let left = u64::from_str_radix(line.trim_start_matches(':').trim(), 16).expect("it is a number");
                assert_eq!(left & !READ, 0, "{id}: {name} {left:x}");
            }
        }
    }
}

/// Descriptors that are on their way between processes count for the user, up to the limit of who sends one.
#[test]
fn process_of_a_client_may_have_fewer_descriptors_than_the_front() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    let limits = |id: u32| -> Vec<u64> {
        let limits = fs::read_to_string(format!("/proc/{id}/limits")).expect("it runs");
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).expect("there is one");
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let front = limits(server.id())[0];
    for worker in workers(&server) {
        let own = limits(worker);
        assert!(own.len() == 2 && own.iter().all(|most| *most <= (front / 2).max(256)), "{own:?} of {front}");
    }
}

#[test]
fn grants_of_tokens_hold_in_processes_of_their_own() {
    check_grants_of_tokens(&["--isolate", "process"]);
}

#[test]
fn tokens_are_refused_by_the_front_process() {
    check_refused_tokens(&["--isolate", "process"]);
}

#[test]
fn limits_of_tokens_hold_in_processes_of_their_own() {
    check_room_of_tokens(&["--isolate", "process"]);
}

#[test]
fn grants_of_scopes_hold_in_processes_of_their_own() {
    check_grants_of_scopes(&["--isolate", "process"]);
}

/// The front process reaches nothing but the port of the keys.
#[test]
fn keys_are_fetched_by_the_front_process() {
    check_keys_fetched(&["--isolate", "process"]);
}

#[test]
fn tasks_are_those_of_a_client_in_processes_of_their_own() {
    check_tasks_of_clients(&["--isolate", "process"]);
}

/// Answer to a request, as it comes.
struct Answering(BufReader<TcpStream>);

impl Answering {
    fn to(server: &HttpServer, request: &str) -> Self {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is a time");
        stream.write_all(request.as_bytes()).expect("it reads");
        Self(BufReader::new(stream))
    }

    /// Reads until a line with this text.
    fn expect(&mut self, text: &str) {
        let (mut line, mut read) = (String::new(), String::new());
        while !line.contains(text) {
            read.push_str(&line);
            line.clear();
            assert_ne!(self.0.read_line(&mut line).expect("it comes in time"), 0, "no {text}: {read}");
        }
    }

    /// Reads the rest.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).expect("it ends");
        rest
    }
}

#[test]
fn streams_come_from_the_process_of_a_client_while_its_run_goes_on() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    let session = server.initialize(&[("authorization", &one)]);
    let own = [("authorization", one.as_str()), ("mcp-session-id", session.as_str())];
    let head = |method: &str| {
        format!(
            "{method} /mcp HTTP/1.1\r\nconnection: close\r\nhost: {}\r\nauthorization: {one}\r\nmcp-session-id: {session}\r\n\
             accept: text/event-stream\r\n\r\n",
            server.address
        )
    };
    // Its progress comes before its result, and what it is told meanwhile reaches it.
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "run_javascript", "arguments": { "script": "await new Promise(done => setTimeout(done, 50000))" },
        "_meta": { "progressToken": "mine" } } });
    let (start, body) = server.request(&call, &own);
    let mut run = Answering::to(&server, &format!("{start}{body}"));
    run.expect("\"progressToken\":\"mine\"");
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5, "reason": "x" } });
    assert_eq!(server.post(&cancelled, &own).status, 202);
    let begun = Instant::now();
    assert_eq!(value(&server.js("return 1", &own)), 1);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    // Subscriptions of a protocol session come by its stream, which ends with the session.
    let mut events = Answering::to(&server, &head("GET"));
    events.expect("text/event-stream");
    let uri = "tollhouse://main/workspace/a";
    let subscribe = json!({ "jsonrpc": "2.0", "id": 6, "method": "resources/subscribe", "params": { "uri": uri } });
    server.post(&subscribe, &own).result();
    assert_eq!(value(&server.js("await fs.writeFile('a', 'x'); return 1", &own)), 1);
    events.expect("notifications/resources/updated");
    assert!((200..300).contains(&server.send(&head("DELETE"), b"").status));
    events.rest();
    assert_eq!(server.send(&head("GET"), b"").status, 404);
    // So do those of a client without a protocol session, by a stream of their own.
    let (mut listen, _) = modern_call("", json!({}));
    listen["method"] = "subscriptions/listen".into();
    listen["params"]["notifications"] = json!({ "resourceSubscriptions": [uri] });
    let headers = [
        ("authorization", one.as_str()),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let (start, body) = server.request(&listen, &headers);
    let mut listening = Answering::to(&server, &format!("{start}{body}"));
    listening.expect("notifications/subscriptions/acknowledged");
    let modern = [("authorization", one.as_str())];
    assert_eq!(value(&server.modern_js("await fs.writeFile('a', 'y'); return 1", &modern)), 1);
    listening.expect("notifications/resources/updated");
    assert_eq!(workers(&server).len(), 1);
}

#[test]
fn mounted_servers_are_started_for_each_process_and_end_with_it() {
    let home = home();
    let policy = policy_of("fix", "normal", "");
    home.file("policy.toml", policy.split("[[grant]]").next().unwrap_or_default());
    let mounted = ["--policy", "policy.toml", "--allow-exec", "fix"];
    let lock = home.run(["mcp", "lock"].iter().chain(&mounted));
    assert_eq!(lock.status, 0, "{lock:?}");
    let [one, two] =
        ["one", "two"].map(|name| bearer(&seal(&home, &format!("[[grant]]\nname = '{name}'\nmethod = 'fix/**'\n"))));
    let mut server = HttpServer::start(&home, &[&ISOLATED[..], &mounted].concat());
    let started = |token: &str| {
        let ran = server.modern_js("return (await fix.start({})).own", &[("authorization", token)]);
        let process = value(&ran).as_u64().unwrap_or_else(|| panic!("{ran:#}"));
        format!("/proc/{process}/cmdline")
    };
    let servers = [started(&one), started(&two)];
    assert_ne!(servers[0], servers[1]);
    assert_eq!(workers(&server).len(), 2);
    server.signal(Signal::TERM);
    server.ended();
    let deadline = Instant::now() + Duration::from_secs(20);
    while servers.iter().any(|process| fs::read(process).is_ok_and(|line| !line.is_empty())) {
        assert!(Instant::now() < deadline, "they go on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a call of a script that does not end, and returns its connection.
fn endless(server: &HttpServer, token: &str) -> TcpStream {
    let call = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "run_javascript", "arguments": { "script": "for (;;) {}" } } });
    let session = server.initialize(&[("authorization", token)]);
    let (head, body) = server.request(&call, &[("authorization", token), ("mcp-session-id", &session)]);
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
    std::thread::sleep(Duration::from_millis(500));
    stream
}

#[test]
fn worker_killed_is_an_error_for_its_client_and_nothing_for_others() {
    let home = home();
    let (one, two) = (free(&home, "one"), free(&home, "two"));
    let server = HttpServer::start(&home, &ISOLATED);
    let others = [("authorization", two.as_str())];
    assert_eq!(value(&server.modern_js("await fs.writeFile('a', 'kept'); return 1", &others)), 1);
    let of_others = workers(&server);
    let mut stream = endless(&server, &one);
    let mine: Vec<u32> = workers(&server).difference(&of_others).copied().collect();
    assert_eq!(mine.len(), 1);
    kill(mine[0]);
    let mut answer = String::new();
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is a time");
    stream.read_to_string(&mut answer).expect("it is answered in order");
    assert!(answer.contains("\"id\":9") && answer.contains("has ended before it answered"), "{answer}");
    // It has another process, and nothing of what was in memory.
    let deadline = Instant::now() + Duration::from_secs(30);
    let again = loop {
        let answer = server.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }), &[("authorization", &one)]);
        if answer.status != 502 {
            break answer.status;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
    };
    assert_ne!(again, 503);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    assert_eq!(value(&server.modern_js("return await fs.readFile('a', 'utf8')", &others)), "kept");
    assert!(workers(&server).is_superset(&of_others));
}

/// Else whoever makes its process end would have whole budgets.
#[test]
fn client_with_budgets_whose_worker_was_killed_is_refused() {
    let home = home();
    let counted = bearer(&seal(&home, "[[grant]]\nmethod = 'stats/describe'\ncalls = 1\n"));
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    let call = "return (await stats.describe({values: [1]})).mean";
    assert_eq!(value(&server.modern_js(call, &[("authorization", &counted)])), 1);
    workers(&server).into_iter().for_each(kill);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let refused = server.post(&list, &[("authorization", &counted)]);
        if refused.status == 503 {
            assert!(refused.body.contains("the count of its budgets"), "{refused:?}");
            break;
        }
        // It is not known yet that the worker has ended.
        assert!(refused.status == 502 && Instant::now() < deadline, "{refused:?}");
    }
    assert_eq!(value(&server.modern_js(call, &[("authorization", &one)])), 1);
}

#[test]
fn processes_of_clients_end_with_the_server() {
    let home = home();
    let one = free(&home, "one");
    for signal in [Signal::TERM, Signal::KILL] {
        let mut server = HttpServer::start(&home, &ISOLATED);
        let mut stream = endless(&server, &one);
        assert_eq!(workers(&server).len(), 1);
        server.signal(signal);
        let status = server.ended();
        if signal == Signal::TERM {
            assert_eq!(status.code(), Some(130), "{status:?}");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("it is answered");
            assert!(answer.contains("cancelled"), "{answer}");
        }
        wait_for(&server, 0);
    }
}

/// Whoever watches the server can start it again.
#[test]
fn server_that_can_start_no_more_processes_ends() {
    let home = home();
    let one = free(&home, "one");
    let mut server = HttpServer::start(&home, &ISOLATED);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    processes(&server).into_iter().filter(|found| found.role == "starter").for_each(|found| kill(found.id));
    let status = server.ended();
    assert_eq!(status.code(), Some(1), "{status:?}");
    wait_for(&server, 0);
}

/// One that was taken over would go on without anybody to end it. A stopped one stands for it: it does nothing of itself.
#[test]
fn process_of_a_client_that_does_not_end_itself_dies_with_the_starter() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &ISOLATED);
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    let clients = workers(&server);
    clients.iter().for_each(|id| send_signal(*id, Signal::STOP));
    processes(&server).into_iter().filter(|found| found.role == "starter").for_each(|found| kill(found.id));
    let deadline = Instant::now() + Duration::from_secs(5);
    while !workers(&server).is_empty() {
        assert!(Instant::now() < deadline, "{clients:?} go on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Nothing but its starter may start a worker: else nobody would end it.
#[test]
fn process_of_a_client_without_its_starter_does_not_begin() {
    let home = home();
    let ran =
        home.run(["mcp", "--http", "127.0.0.1:0", "--issuer", "k.pub", "--isolate", "process", "--role", "worker"]);
    assert!(ran.status != 0 && ran.stderr.contains("was not started by a server"), "{ran:?}");
}

/// It has nothing to do any more, and others may be waiting for its place.
#[test]
fn client_whose_session_cannot_be_opened_leaves_its_place_to_others() {
    let home = home();
    let (unfit, one) = (bearer(&seal(&home, UNFIT)), free(&home, "one"));
    let server = HttpServer::start(&home, &[&ISOLATED[..], &["--max-workers", "1"]].concat());
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = server.post(&list, &[("authorization", &unfit)]);
    assert!(refused.status == 503 && refused.body.contains("absent"), "{refused:?}");
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    let again = server.post(&list, &[("authorization", &unfit)]);
    assert!(again.status == 503 && again.body.contains("no session can be opened for this client"), "{again:?}");
}

#[test]
fn process_of_a_client_without_requests_ends() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &[&ISOLATED[..], &["--worker-idle", "1s"]].concat());
    let mine = [("authorization", one.as_str())];
    assert_eq!(value(&server.modern_js("await fs.writeFile('a', 'mine'); return 1", &mine)), 1);
    // The starter stays.
    wait_for(&server, 1);
    assert_eq!(value(&server.modern_js("return await fs.readFile('a', 'utf8').catch(e => e.code)", &mine)), "ENOENT");
}

#[test]
fn clients_beyond_the_number_of_processes_are_refused() {
    let home = home();
    let (one, two) = (free(&home, "one"), free(&home, "two"));
    let server = HttpServer::start(&home, &[&ISOLATED[..], &["--max-workers", "1"]].concat());
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = server.post(&list, &[("authorization", &two)]);
    assert!(refused.status == 503 && refused.body.contains("--max-workers"), "{refused:?}");
    assert_eq!(value(&server.modern_js("return 2", &[("authorization", &one)])), 2);
}

#[test]
fn client_that_leaves_stops_its_run_in_its_process() {
    let home = home();
    let one = free(&home, "one");
    let server = HttpServer::start(&home, &[&ISOLATED[..], &["--timeout", "300s"]].concat());
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_javascript", "arguments": { "script": "for (;;) {}" },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } });
    let headers = [
        ("authorization", one.as_str()),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "run_javascript"),
    ];
    let (head, body) = server.request(&call, &headers);
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
    std::thread::sleep(Duration::from_secs(1));
    drop(stream);
    // The session has one run at a time.
    assert_eq!(value(&server.modern_js("return 1", &[("authorization", &one)])), 1);
}

#[test]
fn processes_without_tokens_or_with_one_log_are_usage_errors() {
    let home = home();
    for (options, told) in [
        (&["--isolate", "process"][..], "for clients with tokens"),
        (&["--issuer", "k.pub", "--isolate", "process", "--audit", "log"], "cannot keep one log"),
        (&["--issuer", "k.pub", "--isolate", "process", "--tool", "x=absent:tool"], "absent:tool"),
    ] {
        let ran = home.run(["mcp", "--http", "127.0.0.1:0"].iter().chain(options));
        assert!(ran.status != 0 && ran.stderr.contains(told), "{ran:?}");
    }
}
