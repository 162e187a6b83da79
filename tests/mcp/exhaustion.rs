//! Connections and requests by which a client, or a stranger without a token, would keep others out: many, slow, large.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tollhouse_tests::Home;

use super::http::{HttpServer, bearer, is_closed, modern_call, seal};

const ISOLATED: [&str; 2] = ["--isolate", "process"];

/// Head of a request that is read until its line of headers ends: it does not.
const HALF: &str = "POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-a: ";

/// Server that asks for tokens, and two of its clients.
struct Served {
    server: HttpServer,
    one: String,
    two: String,
    home: Home,
}

impl Served {
    fn new(options: &[&str]) -> Self {
        let home = Home::with_tools(&["stats"]);
        assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
        let token = |name| bearer(&seal(&home, &format!("[[grant]]\nname = '{name}'\nmethod = 'stats/describe'\n")));
        let (one, two) = (token("one"), token("two"));
        let server = HttpServer::start(&home, &[&["--issuer", "k.pub"], options].concat());
        Self { server, one, two, home }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.server.address).expect("it listens")
    }

    /// Asserts that a client is answered, and soon.
    fn answers(&self, token: &str) {
        let begun = Instant::now();
        let ran = self.server.modern_js("return 1", &[("authorization", token)]);
        assert_eq!(ran["structuredContent"]["value"], 1, "{ran:#}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    /// Opens a connection on which the body of a request does not come.
    fn begin(&self, token: &str) -> TcpStream {
        let (call, headers) = modern_call("run_javascript", json!({ "script": "return 1" }));
        let (head, body) = self.server.request(&call, &[&headers[..], &[("authorization", token)]].concat());
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body.as_bytes()[..1])).expect("it reads");
        stream
    }
}

/// Returns the status of what a connection answers in this time; nothing if it does not.
fn status(stream: &mut TcpStream, time: Duration) -> String {
    let mut answer = Vec::new();
    stream.set_read_timeout(Some(time)).expect("it is a time");
    // It may be reset after the answer.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    answer.lines().next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned()
}

/// A stranger opens a thousand connections, and sends nothing, or half a head; those who have tokens are answered.
fn check_strangers(options: &[&str]) {
    let served = Served::new(&[&["--max-connections", "8"], options].concat());
    served.answers(&served.one);
    for sent in ["", HALF] {
        let mut open = Vec::new();
        for _ in 0..1000 {
            let mut stream = served.connect();
            // It may be closed already.
            let _ = stream.write_all(sent.as_bytes());
            open.push(stream);
            // As many as this process may have, beside those of other tests.
            if open.len() > 200 {
                open.drain(..100).for_each(drop);
            }
        }
        served.answers(&served.one);
        served.answers(&served.two);
        assert!(is_closed(&mut open[0]), "it has given way");
    }
}

#[test]
fn connections_of_strangers_keep_nobody_out() {
    check_strangers(&[]);
}

#[test]
fn connections_of_strangers_keep_nobody_out_of_processes_of_their_own() {
    check_strangers(&ISOLATED);
}

/// A client has as many requests in progress as it may, and another one is answered.
fn check_share(options: &[&str]) {
    let served = Served::new(&[&["--max-connections", "12"], options].concat());
    served.answers(&served.two);
    let mut begun: Vec<TcpStream> = (0..12).map(|_| served.begin(&served.one)).collect();
    // What is refused is answered two seconds later, without its body.
    std::thread::sleep(Duration::from_secs(5));
    let answers = begun.iter_mut().map(|stream| status(stream, Duration::from_millis(100)));
    let answers: Vec<String> = answers.collect();
    let count = |status: &str| answers.iter().filter(|answer| *answer == status).count();
    // A third of the places are its own.
    assert_eq!((count(""), count("429")), (4, 8), "{answers:?}");
    served.answers(&served.two);
    served.answers(&served.two);
    drop(begun);
    // Requests that were given up leave their places.
    let deadline = Instant::now() + Duration::from_secs(20);
    let (call, headers) = modern_call("run_javascript", json!({ "script": "return 1" }));
    let headers = [&headers[..], &[("authorization", served.one.as_str())]].concat();
    while served.server.post(&call, &headers).status != 200 {
        assert!(Instant::now() < deadline, "its places are not free again");
    }
}

#[test]
fn client_with_many_requests_leaves_room_for_another() {
    check_share(&[]);
}

#[test]
fn client_with_many_requests_leaves_room_for_another_in_processes_of_their_own() {
    check_share(&ISOLATED);
}

/// A holder makes its token narrower 64 times: together, the tokens have a run for each of the 64 places. Another client
/// is answered, and the holder too once its runs are given up.
#[test]
fn runs_of_narrower_tokens_leave_room_for_another_client() {
    let served = Served::new(&[]);
    served.answers(&served.two);
    let home = &served.home;
    home.file("one.token", served.one.trim_start_matches("Bearer "));
    home.file("narrower.toml", "[[grant]]\nname = 'one'\nmethod = 'stats/describe'\n");
    let waits =
        modern_call("run_javascript", json!({ "script": "await new Promise(done => setTimeout(done, 40_000))" }));
    let narrower = |_| bearer(home.run(["policy", "attenuate", "one.token", "narrower.toml"]).stdout.trim());
    let run = |token: String| {
        let (head, body) = served.server.request(&waits.0, &[&waits.1[..], &[("authorization", &token)]].concat());
        let mut stream = served.connect();
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
        stream
    };
    let running: Vec<TcpStream> = (0..64).map(narrower).map(run).collect();
    std::thread::sleep(Duration::from_secs(3));
    for _ in 0..3 {
        let begun = Instant::now();
        served.answers(&served.two);
        assert!(begun.elapsed() < Duration::from_secs(10), "it waited for runs of others: {:?}", begun.elapsed());
    }
    drop(running);
    served.answers(&served.one);
}

/// Bodies beyond the limit are refused by their declared length, and where the limit is reached; heads without end are.
fn check_sizes(options: &[&str]) {
    let served = Served::new(&[&["--max-body", "10KiB"], options].concat());
    let (call, headers) =
        modern_call("run_javascript", json!({ "script": format!("return 1 // {}", "x".repeat(20_000)) }));
    let headers = [&headers[..], &[("authorization", served.one.as_str())]].concat();
    assert_eq!(served.server.post(&call, &headers).status, 413);
    let (head, body) = served.server.request(&call, &headers);
    let chunked = head.replace(&format!("content-length: {}", body.len()), "transfer-encoding: chunked");
    assert!(chunked.contains("chunked"));
    let whole = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    assert_eq!(served.server.send(&chunked, whole.as_bytes()).status, 413);
    // One that never ends is not read for ever.
    let mut endless = served.connect();
    endless.set_write_timeout(Some(Duration::from_secs(20))).expect("it is a time");
    endless.write_all(chunked.as_bytes()).expect("it reads");
    let piece = format!("10000\r\n{}\r\n", "y".repeat(0x10000));
    let taken = (0..4096).take_while(|_| endless.write_all(piece.as_bytes()).is_ok()).count();
    assert!(taken < 4096, "256 MiB of a body were taken");
    // A body that says it is larger than any memory is refused before it comes.
    let huge = head.replace(&format!("content-length: {}", body.len()), "content-length: 18446744073709551615");
    let refused = served.server.send(&huge, b"").status;
    assert!(matches!(refused, 400 | 413 | 431), "{refused}");
    let mut head = served.connect();
    head.set_write_timeout(Some(Duration::from_secs(20))).expect("it is a time");
    head.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n").expect("it reads");
    let line = format!("x-a: {}\r\n", "h".repeat(1000));
    let taken = (0..65_536).take_while(|_| head.write_all(line.as_bytes()).is_ok()).count();
    assert!(taken < 65_536, "64 MiB of a head were taken");
    served.answers(&served.one);
}

#[test]
fn bodies_and_heads_without_measure_are_refused() {
    check_sizes(&[]);
}

#[test]
fn bodies_and_heads_without_measure_are_refused_before_processes_of_clients() {
    check_sizes(&ISOLATED);
}

/// Highest memory that a process has had, in bytes.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("there is one");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") << 10
}

/// A body within the limit holds two million values, of which the SDK would make half a gigabyte.
#[test]
fn values_of_a_request_take_bounded_memory() {
    let served = Served::new(&[]);
    served.answers(&served.one);
    let before = peak(served.server.id());
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let cut = "0,".repeat(1_900_000);
    for (value, statuses) in [
        (format!("[{}0]", "0,".repeat(1_900_000)), [413, 413]),
        (format!("[{}[]]", "[],".repeat(1_300_000)), [413, 413]),
        (format!("[{}0]", "{\"a\":0},".repeat(450_000)), [413, 413]),
        // What another parser reads no further reads on.
        (format!("[{deep},{cut}0]"), [400, 413]),
        (format!("[\"\u{fffd}\",{cut}"), [400, 413]),
    ] {
        let (call, headers) = modern_call("run_javascript", json!({ "script": "return 1", "stdin": "VALUE" }));
        let headers = [&headers[..], &[("authorization", served.one.as_str())]].concat();
        let (head, body) = served.server.request(&call, &headers);
        let whole = body.replace("\"VALUE\"", &value);
        let head =
            head.replace(&format!("content-length: {}", body.len()), &format!("content-length: {}", whole.len()));
        // The text of a character that is none, as bytes.
        let bytes: Vec<u8> = match value.contains('\u{fffd}') {
            true => whole
                .replace('\u{fffd}', "\u{1}\u{1}\u{1}")
                .bytes()
                .map(|byte| if byte == 1 { 0xff } else { byte })
                .collect(),
            false => whole.into_bytes(),
        };
        let status = served.server.send(&head, &bytes).status;
        assert!(statuses.contains(&status), "{} bytes: {status}", bytes.len());
    }
    // As many as there may be, and a text that fills the body, are taken.
    let text = format!("return '{}'.length", "x".repeat(3 << 20));
    let ran = served.server.modern_js(&text, &[("authorization", &served.one)]);
    assert_eq!(ran["structuredContent"]["value"], 3 << 20);
    served.answers(&served.two);
    let more = peak(served.server.id()).saturating_sub(before);
    assert!(more < 300 << 20, "{more} bytes");
}

/// Sends a byte every half second until the connection is closed. Returns the answer's status and the time.
fn trickle(mut stream: TcpStream, token: &str) -> (String, Duration) {
    let begun = Instant::now();
    let mut bytes = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\nx-a: ").into_bytes();
    bytes.resize(400, b'x');
    for byte in bytes {
        if stream.write_all(&[byte]).is_err() || begun.elapsed() > Duration::from_secs(100) {
            break;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    (status(&mut stream, Duration::from_secs(90)), begun.elapsed())
}

/// Requests that come byte by byte end, each at its time: a head after a minute, a body after half of one.
fn check_slow(options: &[&str]) {
    let served = Served::new(options);
    served.answers(&served.one);
    std::thread::scope(|scope| {
        let head = scope.spawn(|| trickle(served.connect(), &served.one));
        let body = scope.spawn(|| {
            let (begun, mut stream) = (Instant::now(), served.begin(&served.one));
            let (mut answer, mut byte) = (Vec::new(), [0; 64]);
            stream.set_read_timeout(Some(Duration::from_millis(500))).expect("it is a time");
            while answer.is_empty() && begun.elapsed() < Duration::from_secs(100) && stream.write_all(b" ").is_ok() {
                let read = stream.read(&mut byte).unwrap_or_default();
                answer.extend_from_slice(&byte[..read]);
            }
            (String::from_utf8_lossy(&answer).into_owned(), begun.elapsed())
        });
        let (answer, time) = body.join().expect("no panic");
        assert!(answer.starts_with("HTTP/1.1 408") && time < Duration::from_secs(60), "{answer} {time:?}");
        let (status, time) = head.join().expect("no panic");
        assert!(["", "408"].contains(&status.as_str()) && time < Duration::from_secs(95), "{status} {time:?}");
    });
    served.answers(&served.one);
}

#[test]
fn requests_that_come_byte_by_byte_end_in_time() {
    check_slow(&[]);
}

#[test]
fn requests_that_come_byte_by_byte_end_in_time_before_processes_of_clients() {
    check_slow(&ISOLATED);
}
