//! Streamable HTTP: clients, tokens, limits.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::Home;

/// A server, until this is dropped.
pub(crate) struct HttpServer {
    child: Child,
    pub(super) address: String,
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: String,
}

impl HttpServer {
    pub(super) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::start_at(home, "127.0.0.1:0", arguments)
    }

    pub(super) fn start_at(home: &Home, address: &str, arguments: &[&str]) -> Self {
        Self::of_command(home.command(["mcp", "--http", address].iter().chain(arguments)), std::io::sink())
    }

    /// Starts a server by this command. What it says later on standard error goes to `heard`.
    pub(crate) fn of_command(mut command: Command, mut heard: impl std::io::Write + Send + 'static) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary is built: run `cargo xtask test`");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
        let (mut line, mut said) = (String::new(), String::new());
        while !line.starts_with("listening on ") {
            said.push_str(&line);
            line.clear();
            assert_ne!(stderr.read_line(&mut line).expect("it is text"), 0, "the server has ended: {said}");
        }
        // Who reads less than that has enough of it.
        let _ = heard.write_all(said.as_bytes());
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches("/mcp").to_owned();
        // Warnings that nobody reads must not stop it.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut heard));
        Self { child, address }
    }

    /// Sends a request as it is, and reads the answer.
    pub(super) fn send(&self, head: &str, body: &[u8]) -> Answer {
        self.try_send(head, body).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Does the same; the error says what came of a connection without an answer.
    fn try_send(&self, head: &str, body: &[u8]) -> Result<Answer, String> {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is a time");
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        // A server that refuses a request may not read all of it.
        let read = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).expect("it is text");
        let parts = answer.split_once("\r\n\r\n").ok_or_else(|| format!("{sent:?} {read:?} {answer}"));
        let (head, body) = parts?;
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers =
            lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Ok(Answer { status, headers: headers.collect(), body: body.to_owned() })
    }

    /// Posts a message with further headers.
    pub(super) fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Answer {
        let (head, body) = self.request(message, headers);
        self.send(&head, body.as_bytes())
    }

    /// Returns head and body of the request that posts a message.
    pub(super) fn request(&self, message: &Value, headers: &[(&str, &str)]) -> (String, String) {
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        (format!("{head}\r\n"), body)
    }

    /// Begins a protocol session, and returns its id.
    pub(super) fn initialize(&self, headers: &[(&str, &str)]) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let answer = self.post(&hello, headers);
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.headers.get("mcp-session-id").unwrap_or_else(|| panic!("no session: {answer:?}")).clone();
        let own = [headers, &[("mcp-session-id", id.as_str())]].concat();
        let done = self.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &own);
        assert_eq!(done.status, 202, "{done:?}");
        id
    }

    /// Runs JavaScript in a protocol session, and returns the result of the tool.
    pub(super) fn js(&self, script: &str, headers: &[(&str, &str)]) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "run_javascript", "arguments": { "script": script } } });
        self.post(&call, headers).result()
    }

    /// Runs JavaScript as a client of 2026-07-28.
    pub(crate) fn modern_js(&self, script: &str, headers: &[(&str, &str)]) -> Value {
        self.modern("run_javascript", json!({ "script": script }), headers)
    }

    /// Calls a tool as a client of 2026-07-28.
    pub(super) fn modern(&self, tool: &str, arguments: Value, headers: &[(&str, &str)]) -> Value {
        let (call, own) = modern_call(tool, arguments);
        self.post(&call, &[headers, &own].concat()).result()
    }

    /// Calls a tool as a client of 2026-07-28; `None` if the server does not answer with a result.
    pub(super) fn try_modern(&self, tool: &str, arguments: Value) -> Option<Value> {
        let (call, headers) = modern_call(tool, arguments);
        let (head, body) = self.request(&call, &headers);
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
        let mut answer = String::new();
        // What came before the end counts.
        let _ = stream.read_to_string(&mut answer);
        let events = answer.lines().filter_map(|line| line.strip_prefix("data:").map(str::trim).or(Some(line)));
        let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        // The sizes of chunks are numbers.
        messages.rfind(Value::is_object).and_then(|message| message.get("result").cloned())
    }

    /// Returns the number of the server's process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the server a signal.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Waits until the server has ended.
    pub(super) fn ended(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.child.try_wait().expect("it is waited for").is_none() {
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.wait().expect("it has ended")
    }

    /// Asserts that the server answers once it has noticed that other connections have ended.
    fn lives_soon(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let (call, headers) = modern_call("run_javascript", json!({ "script": "return 1" }));
        let (head, body) = self.request(&call, &headers);
        let answer = loop {
            match self.try_send(&head, body.as_bytes()) {
                Ok(answer) => break answer,
                Err(why) => assert!(Instant::now() < deadline, "{why}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(answer.result()["structuredContent"]["value"], 1);
    }

    /// Asserts that the server still answers.
    fn lives(&self) {
        assert_eq!(self.modern_js("return 1", &[])["structuredContent"]["value"], 1);
    }
}

/// Returns the call of a tool, and its headers, as a client of 2026-07-28 sends them.
pub(super) fn modern_call(tool: &str, arguments: Value) -> (Value, [(&str, &str); 3]) {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } });
    (call, [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)])
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended of itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Returns the last message, of JSON or of a stream of events.
    pub(super) fn message(&self) -> Value {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let json = events.rev().find(|data| data.starts_with('{')).map(str::to_owned);
        let text = json.unwrap_or_else(|| self.chunk());
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no message: {self:?}"))
    }

    /// Returns the body without the sizes of its chunks.
    fn chunk(&self) -> String {
        self.body.lines().filter(|line| line.starts_with('{')).collect()
    }

    pub(super) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let message = self.message();
        assert!(message["error"].is_null(), "{message:#}");
        message["result"].clone()
    }
}

#[test]
fn http_clients_have_own_sessions_and_shared_budgets() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 2\n");
    let server = HttpServer::start(&home, &["--policy", "p.toml"]);
    let (one, two) = (server.initialize(&[]), server.initialize(&[]));
    assert_ne!(one, two);
    let [one, two] = [[("mcp-session-id", one.as_str())], [("mcp-session-id", two.as_str())]];
    assert_eq!(server.js("await fs.writeFile('a', 'mine'); return 1", &one)["structuredContent"]["value"], 1);
    let other = server.js("return await fs.readFile('a', 'utf8').catch(error => error.code)", &two);
    assert_eq!(other["structuredContent"]["value"], "ENOENT", "{other:#}");
    assert_eq!(server.js("return await fs.readFile('a', 'utf8')", &one)["structuredContent"]["value"], "mine");
    assert_eq!(server.modern_js("return 5", &[])["structuredContent"]["value"], 5);
    // Nobody reaches the sessions of others by their names.
    for name in ["client-2", "client-3", "mcp.client-2", "mcp"] {
        let script = format!("return 1 // {name}");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "run_javascript", "arguments": { "script": script, "session": name } } });
        let refused = server.post(&call, &one).result();
        assert_eq!(refused["isError"], true, "{refused:#}");
    }
    let listed = server.modern("sessions", json!({ "action": "list" }), &[]);
    assert_eq!(listed["structuredContent"]["sessions"].as_array().map(Vec::len), Some(1), "{listed:#}");
    // A client that connects again gets nothing anew.
    let call = "return (await stats.describe({values: [1]})).mean";
    assert_eq!(server.js(call, &one)["structuredContent"]["value"], 1);
    assert_eq!(server.modern_js(call, &[])["structuredContent"]["value"], 1);
    assert_eq!(server.js(call, &two)["structuredContent"]["status"], "denied");
    let again = server.initialize(&[]);
    assert_eq!(server.js(call, &[("mcp-session-id", &again)])["structuredContent"]["status"], "denied");
    // Sessions of clients that have gone are gone.
    let gone =
        server.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }), &[("mcp-session-id", "none")]);
    assert_eq!(gone.status, 404, "{gone:?}");
}

#[test]
fn client_that_accepts_any_type_is_answered_and_one_that_accepts_none_of_ours_is_not() {
    let server = HttpServer::start(&Home::new(), &[]);
    let (call, headers) = modern_call("run_javascript", json!({ "script": "return 1" }));
    let (head, body) = server.request(&call, &headers);
    for (accepted, status) in [("*/*", 200), ("text/html, */*;q=0.8", 200), ("text/html", 406)] {
        let head = head.replace("application/json, text/event-stream", accepted);
        let answer = server.send(&head, body.as_bytes());
        assert_eq!(answer.status, status, "{accepted}: {answer:?}");
    }
}

#[test]
fn http_address_beyond_loopback_without_tokens_is_refused() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let ran = home.run(["mcp", "--http", address]);
        assert!(ran.status == 2 && ran.stderr.contains("not a loopback address"), "{address}: {ran:?}");
    }
    for wrong in ["localhost", "nonsense", ":"] {
        let ran = home.run(["mcp", "--http", wrong]);
        assert!(ran.status == 2 && ran.stderr.contains("is not an address"), "{wrong}: {ran:?}");
    }
}

#[test]
fn http_request_with_other_host_origin_or_path_is_refused() {
    let home = Home::new();
    let server = HttpServer::start(&home, &["--http-origin", "https://good.example:443"]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refused = |headers: &[(&str, &str)]| server.post(&list, headers).status;
    assert_eq!(refused(&[("host", "evil.example")]), 403);
    assert_eq!(refused(&[("origin", "https://evil.example")]), 403);
    assert_eq!(refused(&[("origin", "null")]), 403);
    let good = [("origin", "https://good.example"), ("host", "localhost")];
    let session = server.initialize(&good);
    assert_eq!(
        server.js("return 1", &[&good[..], &[("mcp-session-id", &session)]].concat())["structuredContent"]["value"],
        1
    );
    let lost =
        server.send(&format!("GET /other HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address), b"");
    assert_eq!(lost.status, 404, "{lost:?}");
    server.lives();
}

#[test]
fn bodies_and_connections_beyond_limits_are_refused_and_server_survives() {
    let home = Home::new();
    let server = HttpServer::start(&home, &["--max-body", "10KiB", "--max-connections", "4"]);
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": { "x": "y".repeat(20_000) } });
    assert_eq!(server.post(&large, &[]).status, 413);
    // The answer is seen, however much was sent.
    let larger = json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": { "x": "y".repeat(6_000_000) } });
    assert_eq!(server.post(&larger, &[]).status, 413);
    let endless = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n{}0\r\n\r\n",
        server.address,
        format!("400\r\n{}\r\n", "z".repeat(1024)).repeat(20)
    );
    assert_eq!(server.send(&endless, b"").status, 413);
    for garbage in ["\r\n\r\n", "GARBAGE\r\n\r\n", "POST /mcp HTTP/9.9\r\n\r\n", "\u{0}\u{0}\u{0}\r\n\r\n"] {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        // It may have been closed already.
        let _ = stream.write_all(garbage.as_bytes());
        drop(stream);
    }
    let heads = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\nx: {}\r\n\r\n", server.address, "h".repeat(1 << 20));
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    let _ = stream.write_all(heads.as_bytes());
    drop(stream);
    server.lives_soon();

    // Connections that answer no request give way, the oldest first.
    let mut idle: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(&server.address).expect("it listens")).collect();
    server.lives();
    assert!(is_closed(&mut idle[0]));
    // Those that do keep their places.
    let (head, _) = server.request(&json!({}), &[]);
    let mut busy = idle;
    for stream in &mut busy {
        *stream = TcpStream::connect(&server.address).expect("it listens");
        stream.write_all(head.as_bytes()).expect("it reads");
    }
    // The connections are taken one after the other; the next one finds no room.
    std::thread::sleep(Duration::from_millis(500));
    assert!(is_closed(&mut TcpStream::connect(&server.address).expect("the system takes it")));
    drop(busy);
    server.lives_soon();
}

/// Returns true if the other side closes the connection, without a word.
pub(super) fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a time");
    let read = stream.read(&mut [0; 1]);
    matches!(read, Ok(0) | Err(_)) && !timed_out(&read)
}

fn timed_out(read: &std::io::Result<usize>) -> bool {
    read.as_ref()
        .is_err_and(|error| matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut))
}

/// Seals a policy into a token.
pub(crate) fn seal(home: &Home, policy: &str) -> String {
    home.file("sealed.toml", policy);
    let sealed = home.run(["policy", "seal", "sealed.toml", "--key", "k"]);
    assert_eq!(sealed.status, 0, "{sealed:?}");
    sealed.stdout.trim().to_owned()
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn http_client_with_token_has_exactly_its_grants() {
    check_grants_of_tokens(&[]);
}

/// Checks that, with these options.
pub(super) fn check_grants_of_tokens(options: &[&str]) {
    let home = Home::with_tools(&["stats", "markdown"]);
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let few = seal(&home, "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 3\n");
    let none = seal(&home, "");
    let server = HttpServer::start(&home, &[&["--issuer", "k.pub"], options].concat());
    let call = "return (await stats.describe({values: [1]})).mean";
    let with = |token: &str, script: &str| {
        server.modern_js(script, &[("authorization", &bearer(token))])["structuredContent"].clone()
    };
    assert_eq!(with(&few, call)["value"], 1);
    assert_eq!(with(&none, call)["status"], "denied");
    assert_eq!(with(&few, "return await markdown.toHtml({text: '# x'})")["status"], "denied");
    assert_eq!(with(&few, "await fs.writeFile('a', 'mine'); return 1")["value"], 1);
    assert_eq!(with(&none, "return await fs.readFile('a', 'utf8').catch(error => error.code)")["value"], "ENOENT");

    // A narrower token shares the budget of the one above it, and none of its files.
    home.file("few.token", &few);
    home.file("narrower.toml", "[[grant]]\nmethod = 'stats/describe'\n");
    let narrower = home.run(["policy", "attenuate", "few.token", "narrower.toml"]).stdout.trim().to_owned();
    let again = home.run(["policy", "attenuate", "few.token", "narrower.toml"]).stdout.trim().to_owned();
    assert_ne!(narrower, again, "each is signed anew");
    assert_eq!(with(&narrower, "return await fs.readFile('a', 'utf8').catch(error => error.code)")["value"], "ENOENT");
    assert_eq!(with(&narrower, call)["value"], 1);
    assert_eq!(with(&again, call)["value"], 1);
    for token in [&few, &narrower, &again] {
        assert_eq!(with(token, call)["status"], "denied", "three calls were made");
    }
}

#[test]
fn requests_without_a_valid_token_are_refused() {
    check_refused_tokens(&[]);
}

/// Checks that, with these options.
pub(super) fn check_refused_tokens(options: &[&str]) {
    let home = Home::with_tools(&["stats"]);
    for key in ["k", "other"] {
        assert_eq!(home.run(["policy", "keygen", key]).status, 0);
    }
    let good = seal(&home, "[[grant]]\nmethod = 'stats/**'\n");
    let bad = seal(&home, "[[grant]]\nmethod = 'stats/*'\n");
    home.file("sealed.toml", "[[grant]]\nmethod = 'stats/**'\n");
    let forged = home.run(["policy", "seal", "sealed.toml", "--key", "other"]).stdout.trim().to_owned();
    let old = home.run(["policy", "seal", "sealed.toml", "--key", "k", "--expires", "1s"]).stdout.trim().to_owned();
    home.file("bad.token", &bad);
    let inspected = home.run(["policy", "inspect", "bad.token"]);
    let inspected: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    let id = inspected["blocks"][0]["revocation_id"].as_str().expect("an id");
    home.file("revoked", format!("{id}\n"));
    std::thread::sleep(Duration::from_millis(2100));
    let server = HttpServer::start(&home, &[&["--issuer", "k.pub", "--issuer-revoked", "revoked"], options].concat());
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let missing = server.post(&list, &[]);
    assert_eq!((missing.status, missing.headers.get("www-authenticate").map(String::as_str)), (401, Some("Bearer")));
    for token in [bearer(&forged), bearer(&old), bearer(&bad), bearer("x"), "Basic eDp5".to_owned(), good.clone()] {
        let refused = server.post(&list, &[("authorization", &token)]);
        assert_eq!(refused.status, 401, "{token}: {refused:?}");
    }
    // Of two tokens none counts.
    let both = [("authorization", bearer(&good)), ("authorization", bearer(&good))];
    let both: Vec<(&str, &str)> = both.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(server.post(&list, &both).status, 401);
    // A protocol session is its token's.
    let mine = bearer(&good);
    let session = server.initialize(&[("authorization", &mine)]);
    let own = [("authorization", mine.as_str()), ("mcp-session-id", session.as_str())];
    assert_eq!(server.js("return 1", &own)["structuredContent"]["value"], 1);
    let other = bearer(&seal(&home, "[[grant]]\nmethod = 'stats/describe'\n"));
    let stolen = server.post(&list, &[("authorization", &other), ("mcp-session-id", &session)]);
    assert_eq!(stolen.status, 404, "{stolen:?}");
    for conflict in [["--allow", "stats/*"], ["--session", "s"], ["--policy", "sealed.toml"]] {
        let ran =
            home.run(["mcp", "--http", "127.0.0.1:0", "--issuer", "k.pub"].iter().chain(options).chain(&conflict));
        assert_eq!(ran.status, 2, "{ran:?}");
    }
}

#[test]
fn http_client_disconnected_stops_its_run() {
    let home = Home::new();
    let server = HttpServer::start(&home, &["--timeout", "50s"]);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_javascript", "arguments": { "script": "for (;;) {}" },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
    .to_string();
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: run_javascript\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    std::thread::sleep(Duration::from_millis(500));
    drop(stream);
    let begun = std::time::Instant::now();
    // The shared session has one run at a time.
    server.lives();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn holder_of_a_token_takes_no_room_of_others() {
    check_room_of_tokens(&[]);
}

/// Checks that, with these options.
pub(super) fn check_room_of_tokens(options: &[&str]) {
    let home = Home::with_tools(&["stats"]);
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let (greedy, other) = (seal(&home, "[[grant]]\nmethod = 'stats/**'\n"), seal(&home, ""));
    let server = HttpServer::start(&home, &[&["--issuer", "k.pub"], options].concat());
    let (mine, others) = (bearer(&greedy), bearer(&other));
    let mine = [("authorization", mine.as_str())];
    (0..32).for_each(|_| drop(server.initialize(&mine)));
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    assert_eq!(server.post(&hello, &mine).status, 503);
    // Requests without a protocol session need no room.
    assert_eq!(server.modern_js("return 1", &mine)["structuredContent"]["value"], 1);
    home.file("greedy.token", &greedy);
    home.file("narrower.toml", "[[grant]]\nmethod = 'stats/describe'\n");
    let narrower = || home.run(["policy", "attenuate", "greedy.token", "narrower.toml"]).stdout.trim().to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "x" });
    let statuses: Vec<u16> =
        (0..66).map(|_| server.post(&list, &[("authorization", &bearer(&narrower()))]).status).collect();
    assert!(statuses[..64].iter().all(|status| *status != 503) && statuses[65] == 503, "{statuses:?}");
    server.initialize(&[("authorization", &others)]);
    assert_eq!(server.modern_js("return 1", &[("authorization", &others)])["structuredContent"]["value"], 1);
    assert_eq!(server.modern_js("return 1", &mine)["structuredContent"]["value"], 1);
}

#[test]
fn pages_of_named_origins_may_ask_and_see_the_session() {
    let home = Home::new();
    let server = HttpServer::start(&home, &["--http-origin", "https://good.example:443"]);
    let ask = |origin: &str| {
        let head = format!(
            "OPTIONS /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\norigin: {origin}\r\n\
             access-control-request-method: POST\r\n\
             access-control-request-headers: authorization, content-type, mcp-session-id, x-other\r\n\r\n",
            server.address
        );
        server.send(&head, b"")
    };
    let allowed = ask("https://good.example");
    let header = |answer: &Answer, name: &str| answer.headers.get(name).cloned().unwrap_or_default();
    assert_eq!(allowed.status, 204, "{allowed:?}");
    assert_eq!(header(&allowed, "access-control-allow-origin"), "https://good.example", "{allowed:?}");
    let names = header(&allowed, "access-control-allow-headers");
    assert!(
        names.contains("mcp-session-id") && names.contains("authorization") && !names.contains("x-other"),
        "{names}"
    );
    let refused = ask("https://evil.example");
    assert!(refused.status >= 400 && !refused.headers.contains_key("access-control-allow-origin"), "{refused:?}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = server.post(&list, &[("origin", "https://good.example"), ("host", "localhost")]);
    assert_eq!(header(&answer, "access-control-allow-origin"), "https://good.example", "{answer:?}");
    assert!(header(&answer, "access-control-expose-headers").contains("Mcp-Session-Id"), "{answer:?}");
    let own = server.post(&list, &[]);
    assert!(!own.headers.contains_key("access-control-allow-origin"), "{own:?}");
}
