//! The MCP server: what a script costs through it, beyond the run itself; and mounted servers, beside the official client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, SessionOptions};
use tollhouse_tests::mcp_server::{policy_of, python as python_of_tests};
use tollhouse_tests::{Home, root};

use crate::table::{bytes, figure, median, row, taken};

/// Number of calls over standard input and output.
const ROUNDS: usize = 500;

/// Number of clients of the HTTP server, each with a connection that stays open, and the time during which they send
/// requests.
const CLIENTS: usize = 4;
const TIME: Duration = Duration::from_secs(5);

/// Number of clients with tokens of their own.
const TENANTS: usize = 9;

/// Tools that the server exposes in addition to its own, as far as the registry has them.
const TOOLS: [&str; 6] = ["csv", "http", "kv", "markdown", "stats", "text"];

/// Measures calls through MCP.
pub(crate) fn measure() {
    let home = Home::with_tools(&TOOLS);
    let mut server = PipedServer::start(&home, &[]);
    let call = json!({ "name": "run_javascript", "arguments": { "script": "return 1" } });
    let run = {
        let result = server.request("tools/call", call.clone());
        assert_eq!(result["structuredContent"]["value"], 1, "{result:#}");
        median(ROUNDS, || drop(server.request("tools/call", call.clone())))
    };
    row("MCP, stdio: run_javascript of `return 1`, warm session", run, "", None, None);
    let ping = median(ROUNDS, || drop(server.request("ping", json!({}))));
    row("  of that, the protocol: a ping", ping, "", None, None);
    let itself = run_itself();
    row("  of that, the run itself, in a process with it", itself, "", None, None);
    row("  beyond the run", run.saturating_sub(itself), "1 ms", None, None);
    mounted();
    listing();
    let aliases: Vec<String> = TOOLS.iter().flat_map(|tool| ["--expose".to_owned(), (*tool).to_owned()]).collect();
    let arguments: Vec<&str> = ["--allow", "**"].into_iter().chain(aliases.iter().map(String::as_str)).collect();
    let mut exposing = PipedServer::start(&home, &arguments);
    let listed = median(ROUNDS, || drop(exposing.request("tools/list", json!({}))));
    row("  tools/list with the tools of six packages", listed, "20 ms", None, None);
    figure(
        "MCP, HTTP: run_javascript of `return 1`, requests a second",
        &format!("{:.0}", HttpServer::start(&home, &[]).rate("")),
        "3000",
    );
    isolated(&home);
}

/// The same script in a session in memory of this process.
fn run_itself() -> Duration {
    let host = Host::new(&HostOptions::default()).expect("it starts");
    let session = host.session(SessionOptions::default()).expect("it opens");
    let run = || {
        let script = Script { source: "return 1".to_owned(), name: "script.ts".to_owned(), ..Script::default() };
        let started = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
        assert_eq!(started.finish().value, Some(json!(1)));
    };
    median(ROUNDS, run)
}

/// A call of a mounted server's tool, by a script's side, and by the official SDK's client.
fn mounted() {
    let home = Home::new();
    home.file("policy.toml", policy_of("fix", "normal", ""));
    let options = ["--policy", "policy.toml", "--allow-exec", "fix"];
    let locked = home.run(["mcp", "lock"].iter().chain(&options));
    assert_eq!(locked.status, 0, "{locked:?}");
    let mut gateway = PipedServer::start(&home, &[&["--proxy"], &options[..]].concat());
    let call = json!({ "name": "echo", "arguments": { "text": "hi" } });
    let through = median(ROUNDS, || drop(gateway.request("tools/call", call.clone())));
    let script = format!(
        "await fix.echo({{text: 'hi'}}); const begun = performance.now(); \
         for (let i = 0; i < {ROUNDS}; i++) await fix.echo({{text: 'hi'}}); \
         return (performance.now() - begun) / {ROUNDS}"
    );
    let mut server = PipedServer::start(&home, &options);
    let ran = server.request("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    let told = ran["structuredContent"]["value"].as_f64().unwrap_or_else(|| panic!("{ran:#}"));
    let own = Duration::from_secs_f64(told / 1e3);
    let official = official_client();
    let aim = if official.is_some() { "1.2 x" } else { "" };
    row("MCP: a call of a mounted stdio server's tool, of a script", own, aim, None, official);
    row("  through the gateway, with the client's own call", through, "", None, None);
    match official {
        Some(official) => {
            let times = own.as_secs_f64() / official.as_secs_f64();
            figure(
                "  of what the official SDK's client (mcp 2.3) takes, the last column",
                &format!("{times:.2} x"),
                "1.2 x",
            );
        }
        None => println!("  the official SDK's client is not there: TOLLHOUSE_BENCH_MCP names a Python that has it"),
    }
}

/// Returns what the client of the official SDK takes for the same call of the same server.
fn official_client() -> Option<Duration> {
    let python = std::env::var_os("TOLLHOUSE_BENCH_MCP")?;
    let (own, _) = python_of_tests();
    let server = root().join("tests/mcp-server/server.py");
    let mut command = std::process::Command::new(python);
    command.arg(root().join("tests/bench/mcp_client.py")).args([own.as_ref(), server.as_os_str()]);
    let told = command.arg(ROUNDS.to_string()).output().expect("it runs");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let seconds: f64 = String::from_utf8_lossy(&told.stdout).trim().parse().expect("a number");
    Some(Duration::from_secs_f64(seconds))
}

/// Listing 5,000 tools of five mounted servers, all pages.
fn listing() {
    let home = Home::new();
    let names = ["one", "two", "three", "four", "five"];
    let policies = names.map(|name| policy_of(name, "thousand", "").trim_start_matches("[tools]\n").to_owned());
    home.file("policy.toml", format!("[tools]\n{}", policies.concat()));
    let starts: Vec<&str> = names.iter().flat_map(|name| ["--allow-exec", name]).collect();
    let locked = home.run(["mcp", "lock", "--policy", "policy.toml"].iter().chain(&starts));
    assert_eq!(locked.status, 0, "{locked:?}");
    // What is listed is pinned: no server has to run.
    let mut server = PipedServer::start(&home, &["--proxy", "--policy", "policy.toml"]);
    let mut pages = || {
        let (mut lines, mut params) = (Vec::new(), json!({}));
        loop {
            let line = server.answer("tools/list", &params);
            let next = next_cursor(&line);
            lines.push(line);
            match next {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return lines,
            }
        }
    };
    let lines = pages();
    let parsed =
        || -> Vec<Value> { lines.iter().map(|line| serde_json::from_str(line).expect("it is JSON")).collect() };
    let tools = |page: &Value| page["result"]["tools"].as_array().map_or(0, Vec::len);
    assert_eq!(parsed().iter().map(tools).sum::<usize>(), 5_000);
    row("MCP: tools/list with 5,000 mounted tools, all pages", median(20, || drop(pages())), "20 ms", None, None);
    // Whatever the server takes.
    row("  besides, what this client takes to parse them", median(20, || drop(parsed())), "", None, None);
}

/// Returns the cursor of the page that follows, without building the tools of this one.
fn next_cursor(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer {
        result: Page,
    }
    #[derive(serde::Deserialize)]
    struct Page {
        #[serde(rename = "nextCursor")]
        next_cursor: Option<String>,
    }
    serde_json::from_str::<Answer>(line).expect("it is a page").result.next_cursor
}

/// A server on pipes.
struct PipedServer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl PipedServer {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command(["mcp"].iter().chain(arguments));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary is built");
        let (stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut server = Self { child, stdin, stdout: BufReader::with_capacity(64 << 10, stdout), next: 0 };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "b", "version": "1" } });
        server.request("initialize", hello);
        server
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let mut message: Value = serde_json::from_str(&self.answer(method, &params)).expect("it is JSON");
        message["result"].take()
    }

    /// Sends a request, and returns the line that answers it.
    fn answer(&mut self, method: &str, params: &Value) -> String {
        #[derive(serde::Deserialize)]
        struct Message {
            id: Option<u64>,
        }
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        writeln!(self.stdin, "{request}").expect("it reads");
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.stdout.read_line(&mut line).expect("it is text"), 0, "the server has ended");
            let message: Message = serde_json::from_str(&line).expect("it is JSON");
            if message.id == Some(self.next) {
                return line;
            }
        }
    }
}

impl Drop for PipedServer {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server by HTTP.
struct HttpServer {
    child: Child,
    address: String,
}

impl HttpServer {
    fn start(home: &Home, options: &[&str]) -> Self {
        let mut command = home.command(["mcp", "--http", "127.0.0.1:0"].iter().chain(options));
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it is built");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut line).expect("it is text");
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches("/mcp").to_owned();
        Self { child, address }
    }

    /// Returns the number of answered requests per second, of several clients with a protocol session each.
    fn rate(&self, header: &str) -> f64 {
        let answered = AtomicU32::new(0);
        let time = taken(|| {
            std::thread::scope(|scope| {
                for _ in 0..CLIENTS {
                    scope.spawn(|| requests(&self.address, header, TIME, &answered));
                }
            });
        });
        f64::from(answered.load(Ordering::Relaxed)) / time.as_secs_f64()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process for each client costs: its start with the first request, further requests, its memory.
fn isolated(home: &Home) {
    assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
    let token = |number: usize| {
        home.file("sealed.toml", format!("[[grant]]\nname = 'client {number}'\nmethod = 'stats/*'\n"));
        let sealed = home.run(["policy", "seal", "sealed.toml", "--key", "k"]);
        format!("authorization: Bearer {}\r\n", sealed.stdout.trim())
    };
    let tokens: Vec<String> = (0..TENANTS).map(token).collect();
    for isolation in ["sandbox", "process"] {
        let server = HttpServer::start(home, &["--issuer", "k.pub", "--isolate", isolation]);
        let ignored = AtomicU32::new(0);
        let first = |token: &String| taken(|| requests(&server.address, token, Duration::from_nanos(1), &ignored));
        let mut times: Vec<Duration> = tokens.iter().map(first).collect();
        times.sort();
        row(&format!("MCP, HTTP: a client's first session and run, {isolation}"), times[TENANTS / 2], "", None, None);
        let rate = server.rate(&tokens[0]);
        figure(&format!("  further runs a second, --isolate {isolation}"), &format!("{rate:.0}"), "");
        if let Some(memory) = memory_of_workers(&server) {
            figure("  memory of the process of a client", &bytes(memory), "");
        }
    }
}

/// Returns the private memory of the processes of clients, on average; `None` if there are none.
fn memory_of_workers(server: &HttpServer) -> Option<f64> {
    let port = server.address.rsplit_once(':')?.1;
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        // Another process may have ended meanwhile.
        let Ok(line) = std::fs::read_to_string(entry.path().join("cmdline")) else { continue };
        if !line.contains("--role\0worker") || !line.contains(&format!("--front-port\0{port}\0")) {
            continue;
        }
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let private = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        found.push(private.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1024.0);
    }
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

/// Sends one request after the other until the time is over.
fn requests(address: &str, header: &str, time: Duration, answered: &AtomicU32) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_nodelay(true).expect("it is a socket");
    let post = |session: &str, message: Value| {
        let body = message.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{header}{session}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "b", "version": "1" } } });
    let head = exchange(&mut stream, &post("", hello));
    let id = head.lines().find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    let session = format!("mcp-session-id: {}\r\n", id.expect("a session"));
    let call = post(
        &session,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "run_javascript", "arguments": { "script": "return 1" } } }),
    );
    let begun = Instant::now();
    loop {
        let answer = exchange(&mut stream, &call);
        assert!(answer.contains("\"completed\""), "{answer}");
        answered.fetch_add(1, Ordering::Relaxed);
        if begun.elapsed() >= time {
            return;
        }
    }
}

/// Sends a request, and reads the chunked answer to its end.
fn exchange(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    let mut piece = [0; 16 << 10];
    while !answer.ends_with(b"0\r\n\r\n") {
        let read = stream.read(&mut piece).expect("it answers");
        assert_ne!(read, 0, "the server closes");
        answer.extend_from_slice(&piece[..read]);
    }
    String::from_utf8(answer).expect("it is text")
}
