//! Clients of `mcp --http --isolate process` that try to reach the process of another client by how they write their requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse_tests::Home;

use super::http::{HttpServer, bearer, seal};

/// Server with two clients, the first of which has a secret in its files.
struct Shared {
    server: HttpServer,
    _home: Home,
    victim: String,
    /// Protocol session of the first client.
    session: String,
    hostile: String,
    /// Protocol session of the second client.
    own: String,
}

impl Shared {
    fn new() -> Self {
        let home = Home::new();
        assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
        let [victim, hostile] = [(); 2].map(|()| bearer(&seal(&home, "")));
        let server = HttpServer::start(&home, &["--issuer", "k.pub", "--isolate", "process"]);
        let session = server.initialize(&[("authorization", &victim)]);
        let wrote = server.js(
            "await fs.writeFile('secret', 'SECRET'); return 1",
            &[("authorization", &victim), ("mcp-session-id", &session)],
        );
        assert_eq!(wrote["structuredContent"]["value"], 1, "{wrote:#}");
        let own = server.initialize(&[("authorization", &hostile)]);
        Self { server, _home: home, victim, session, hostile, own }
    }

    /// Writes a request that reads the secret, with these headers besides those that it needs.
    fn request(&self, target: &str, headers: &str) -> String {
        let body = read().to_string();
        format!(
            "POST {target} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.server.address,
            body.len()
        )
    }

    /// Sends bytes, and returns all that is answered until the server closes or says nothing for some time.
    fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(&self.server.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(3))).expect("it is a time");
        // The server may have had enough.
        let _ = stream.write_all(bytes.as_bytes());
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(read @ 1..) = stream.read(&mut piece) {
            answer.extend_from_slice(&piece[..read]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn status(answer: &str) -> &str {
        answer.split(' ').nth(1).unwrap_or_default()
    }
}

/// Has the server close the connection after its answer.
const CLOSE: &str = "connection: close\r\n";

fn read() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_javascript", "arguments": { "script": "return await fs.readFile('secret', 'utf8')" } } })
}

#[test]
fn requests_of_a_hostile_client_reach_no_session_of_another() {
    let shared = Shared::new();
    let Shared { victim, session, hostile, own, .. } = &shared;
    let mine =
        shared.send(&shared.request("/mcp", &format!("authorization: {victim}\r\nmcp-session-id: {session}\r\n")));
    assert!(mine.contains("SECRET"), "the test reads what there is to read: {mine}");
    let tag = session.split_once('.').expect("it is signed").1;
    let name = session.split_once('.').expect("it is signed").0;
    let own_tag = own.split_once('.').expect("it is signed").1;
    for headers in [
        format!("authorization: {hostile}\r\nmcp-session-id: {session}\r\n"),
        format!("authorization: {hostile}\r\nMCP-SESSION-ID: {session}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {own}\r\nMcp-Session-Id: {session}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {session}\r\nmcp-session-id: {own}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {own}, {session}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {name}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {name}.{own_tag}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {name}.+{}\r\n", &tag[1..]),
        format!("authorization: {hostile}\r\nmcp-session-id: {session}\u{e9}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {own}\r\nauthorization: {victim}\r\n"),
        format!("authorization: {hostile}, {victim}\r\nmcp-session-id: {session}\r\n"),
        format!("authorization: {hostile}\r\nx: y\r\n mcp-session-id: {session}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id : {session}\r\n"),
        format!("authorization: {hostile}\r\nmcp-session-id: {own}\r\nconnection: mcp-session-id, authorization\r\n"),
        format!("mcp-session-id: {session}\r\n"),
        format!("authorization: {hostile}\r\nlast-event-id: 0/0\r\n"),
    ] {
        let answer = shared.send(&shared.request("/mcp", &format!("{headers}{CLOSE}")));
        assert!(answer.starts_with("HTTP/1.1 ") && !answer.contains("SECRET"), "{headers}: {answer}");
    }
    for target in ["//mcp", "/mcp/", "/MCP", "/mcp%2f", "/./mcp", "http://other.example/x", "*", "/mcp/../mcp"] {
        let answer = shared.send(&shared.request(target, &format!("authorization: {hostile}\r\n{CLOSE}")));
        assert!(Shared::status(&answer).starts_with('4'), "{target}: {answer}");
    }
    lives(&shared);
}

/// A request within the body of another is none, whatever the headers say about its length.
#[test]
fn request_within_a_body_is_not_read_as_one() {
    let shared = Shared::new();
    let Shared { victim, session, hostile, own, server, .. } = &shared;
    let inner = shared.request("/mcp", &format!("authorization: {victim}\r\nmcp-session-id: {session}\r\n"));
    let begin = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         authorization: {hostile}\r\nmcp-session-id: {own}\r\n",
        server.address
    );
    for (framing, body) in [
        (format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", 5 + inner.len()), format!("0\r\n\r\n{inner}")),
        ("content-length: 0\r\ncontent-length: 5\r\n".to_owned(), inner.clone()),
        ("transfer-encoding: xchunked\r\n".to_owned(), inner.clone()),
        ("transfer-encoding: chunked, identity\r\n".to_owned(), format!("0\r\n\r\n{inner}")),
        ("content-length: +3\r\n".to_owned(), inner.clone()),
        (format!("content-length: {}\r\n", inner.len()), inner.clone()),
    ] {
        let answer = shared.send(&format!("{begin}{framing}\r\n{body}"));
        let answers = answer.matches("HTTP/1.1 ").count();
        // What is a request of its own after the end of the first is its sender's, who has the token: it is no attack.
        let is_two = framing.contains("chunked\r\n") && !framing.contains("xchunked") && answers == 2;
        assert!(is_two || (!answer.contains("SECRET") && answers <= 1), "{framing}: {answer}");
    }
    lives(&shared);
}

/// Each request is judged by its own token, also on one connection.
#[test]
fn token_replaced_between_requests_of_a_connection_is_judged_anew() {
    let shared = Shared::new();
    let Shared { victim, session, hostile, .. } = &shared;
    let first = shared.request("/mcp", &format!("authorization: {victim}\r\nmcp-session-id: {session}\r\n"));
    for headers in [
        format!("authorization: {hostile}\r\nmcp-session-id: {session}\r\n"),
        format!("mcp-session-id: {session}\r\n"),
        format!("authorization: Bearer x\r\nmcp-session-id: {session}\r\n"),
    ] {
        let answer = shared.send(&format!("{first}{}", shared.request("/mcp", &headers)));
        assert_eq!(
            answer.matches("SECRET").count(),
            shared.send(&first).matches("SECRET").count(),
            "{headers}: {answer}"
        );
        let second = answer.rsplit("HTTP/1.1 ").next().unwrap_or_default();
        assert!(second.starts_with("404") || second.starts_with("401"), "{headers}: {answer}");
    }
    lives(&shared);
}

/// Both clients have what they had.
fn lives(shared: &Shared) {
    let Shared { server, victim, session, hostile, .. } = shared;
    let read = server
        .js("return await fs.readFile('secret', 'utf8')", &[("authorization", victim), ("mcp-session-id", session)]);
    assert_eq!(read["structuredContent"]["value"], "SECRET", "{read:#}");
    let read = server
        .modern_js("return await fs.readFile('secret', 'utf8').catch(e => e.code)", &[("authorization", hostile)]);
    assert_eq!(read["structuredContent"]["value"], "ENOENT", "{read:#}");
}
