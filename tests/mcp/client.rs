//! A client of the server that knows nothing of its libraries: lines of JSON on pipes.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::Home;

/// Longest time to wait for a message.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers a request of the server: with a result, or an object whose `error` is the answer.
type Answer = Box<dyn FnMut(&Value) -> Value>;

/// A running server and its client.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Notifications that have arrived and were not asked for yet.
    pub(super) notifications: VecDeque<Value>,
    answer: Option<Answer>,
    /// Metadata of each request, as clients of 2026-07-28 send it.
    meta: Option<Value>,
}

impl Client {
    /// Starts a server, and speaks the protocol of 2025-11-25 with it.
    pub(super) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::start_as(home, arguments, "2025-11-25", json!({}))
    }

    /// Starts a server for a client with this version and these capabilities.
    pub(super) fn start_as(home: &Home, arguments: &[&str], version: &str, capabilities: Value) -> Self {
        let mut client = Self::spawn(home, arguments);
        if version >= "2026-07-28" {
            client.meta = Some(json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            }));
            return client;
        }
        let answered = client.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(answered["result"]["protocolVersion"], version, "{answered:#}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Starts a server and says nothing yet.
    pub(super) fn spawn(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command(["mcp"].iter().chain(arguments));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary is built: run `cargo xtask test`");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("it is a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, next: 0, notifications: VecDeque::new(), answer: None, meta: None }
    }

    /// Answers requests of the server.
    pub(super) fn answering(mut self, answer: impl FnMut(&Value) -> Value + 'static) -> Self {
        self.answer = Some(Box::new(answer));
        self
    }

    /// Writes a line.
    pub(super) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// Writes bytes.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// Closes the server's input.
    pub(super) fn close(&mut self) {
        drop(self.stdin.take());
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request, and returns its number.
    pub(super) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            let own = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = meta.clone();
            own.into_iter().for_each(|(key, value)| params["_meta"][key] = value);
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.send_line(&request.to_string());
        self.next
    }

    /// Receives the next message; `None` when the server has closed its output.
    pub(super) fn receive(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing: {:?}", self.child),
        }
    }

    /// Waits for the answer to a request; meanwhile answers the server's own, and keeps its notifications.
    pub(super) fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().unwrap_or_else(|| panic!("the server has ended: {:?}", self.stderr()));
            match (message.get("method"), message.get("id")) {
                (None, Some(other)) if *other == id => return message,
                (Some(_), Some(request)) => {
                    let answer = self.answer.as_mut().expect("the server asks a client that cannot answer");
                    let mut answered = answer(&message);
                    if answered.get("error").is_none() {
                        answered = json!({ "result": answered });
                    }
                    (answered["jsonrpc"], answered["id"]) = (json!("2.0"), request.clone());
                    self.send_line(&answered.to_string());
                }
                (Some(_), None) => self.notifications.push_back(message),
                _ => panic!("an answer to nothing: {message}"),
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.wait(id)
    }

    /// Calls a tool, and returns the result.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answered = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answered["error"].is_null(), "{answered:#}");
        answered["result"].clone()
    }

    /// Runs JavaScript, and returns the structured content.
    pub(super) fn js(&mut self, script: &str) -> Value {
        self.call("run_javascript", json!({ "script": script }))["structuredContent"].clone()
    }

    /// Waits until a notification of this method arrives, and returns it.
    pub(super) fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notifications.iter().position(|message| message["method"] == method) {
                return self.notifications.remove(at).expect("it was found");
            }
            let message = self.receive().unwrap_or_else(|| panic!("the server has ended: {:?}", self.stderr()));
            assert!(message.get("id").is_none(), "an answer in between: {message}");
            self.notifications.push_back(message);
        }
    }

    /// Asks the server to end, as a system that shuts down does.
    pub(super) fn signal(&self) {
        self.signal_by(rustix::process::Signal::TERM);
    }

    /// Sends the server a signal.
    pub(super) fn signal_by(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Waits until the server has ended.
    pub(super) fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        while self.child.try_wait().expect("it is waited for").is_none() {
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
        self.child.wait().expect("it has ended")
    }

    /// Kills the server.
    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Closes the server's input, and waits for its end. Returns its status, and what it wrote to standard error.
    pub(super) fn end(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let status = self.ended();
        (status, self.stderr())
    }

    /// Returns what the server has written to standard error, once it has ended.
    fn stderr(&mut self) -> String {
        // It may still run.
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
        }
        text
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended of itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a tool's result.
pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result:#}"))
}

/// Returns the text of a result that is an error.
pub(super) fn error(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result:#}");
    text(result)
}
