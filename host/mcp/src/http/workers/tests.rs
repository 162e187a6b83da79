//! Tests with workers that are in the hands of others: threads that answer as they please.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::request::Parts;
use http_body_util::BodyExt as _;
use tokio::runtime::Runtime;

use super::descriptors::receive;
use super::process::{WorkerError, WorkerProcess};
use super::relay::{RelayedAnswer, relay};
use super::table::{ClientAccount, WorkerTable};
use super::{AdmittedClient, WorkerLimits};

/// Worker of a test, as the starter and the worker have it.
struct FakeWorker {
    handed: OwnedFd,
    /// The worker has ended once this is closed.
    life: StdStream,
}

impl FakeWorker {
    /// Says that it accepts connections.
    fn ready(self) -> Self {
        StdStream::from(self.handed.try_clone().expect("there is room")).write_all(&[1]).expect("the front reads it");
        self
    }

    /// Accepts a connection, and reads the request that comes by it.
    fn accept(&self) -> StdStream {
        let [connection] = receive::<1>(&self.handed).expect("it is handed").expect("there is one");
        let mut connection = StdStream::from(connection);
        connection.set_nonblocking(false).expect("it is a socket");
        let mut length = [0; 4];
        connection.read_exact(&mut length).expect("the client comes first");
        let mut client = vec![0; u32::from_be_bytes(length) as usize];
        connection.read_exact(&mut client).expect("it is written whole");
        serde_json::from_slice::<AdmittedClient>(&client).expect("it is a client");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            connection.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        connection
    }

    /// Accepts a connection, and answers these bytes.
    fn answer(&self, bytes: &[u8]) -> StdStream {
        let mut connection = self.accept();
        // The front may have had enough.
        let _ = connection.write_all(bytes);
        connection
    }
}

/// Table whose workers are threads with this behaviour.
fn table(most: usize, idle: Duration, worker: impl Fn(FakeWorker) + Send + Sync + 'static) -> Arc<WorkerTable> {
    let (ours, theirs) = StdStream::pair().expect("a pair");
    let worker = Arc::new(worker);
    thread::spawn(move || {
        while let Ok(Some([handed, life])) = receive::<2>(&theirs) {
            let (worker, fake) = (Arc::clone(&worker), FakeWorker { handed, life: life.into() });
            thread::spawn(move || worker(fake));
        }
    });
    Arc::new(WorkerTable::new(ours.into(), WorkerLimits { most, idle }).expect("it is a socket"))
}

fn account(name: &str, has_budgets: bool) -> ClientAccount<'_> {
    ClientAccount { name, expires: None, has_budgets }
}

fn parts() -> Parts {
    Request::post("/mcp").header("content-type", "application/json").body(()).expect("it is a request").into_parts().0
}

async fn ask(worker: &Arc<WorkerProcess>) -> Result<RelayedAnswer, WorkerError> {
    let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#);
    relay(worker, &AdmittedClient::Sealed(Vec::new()), &parts(), None, body).await
}

/// Asks a worker that answers with these bytes, and closes its connection.
fn answered(bytes: &'static [u8]) -> Result<RelayedAnswer, WorkerError> {
    runtime().block_on(async {
        let table = table(1, Duration::MAX, move |worker| drop(worker.ready().answer(bytes)));
        ask(&table.get(&account("a", false)).expect("there is room")).await
    })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[test]
fn answer_of_a_worker_has_no_header_that_is_the_front_s() {
    let RelayedAnswer { answer, begun, has_no_session } = answered(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nset-cookie: a=b\r\nwww-authenticate: Bearer\r\n\
        access-control-allow-origin: *\r\ncache-control: public, s-maxage=9999999\r\nmcp-session-id: another\r\nlocation: http://x\r\ncontent-length: 2\r\n\r\n{}",
    )
    .expect("it is an answer");
    let names: Vec<&str> = answer.headers().keys().map(http::HeaderName::as_str).collect();
    assert_eq!(
        (names, begun.as_deref(), has_no_session),
        (vec!["content-type", "cache-control"], Some("another"), false)
    );
    assert_eq!(answer.headers()["cache-control"], "no-store");
}

#[test]
fn answer_that_is_none_of_http_is_refused() {
    for strange in [
        &b"hello\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"",
    ] {
        let error = answered(strange).map(|relayed| relayed.answer.status()).expect_err("it is refused");
        assert!(matches!(error, WorkerError::Strange | WorkerError::Ended(_)), "{strange:?}: {error}");
    }
}

#[test]
fn head_without_end_is_refused() {
    let error = runtime().block_on(async {
        let table = table(1, Duration::MAX, |worker| {
            let mut connection = worker.ready().answer(b"HTTP/1.1 200 OK\r\n");
            while connection.write_all(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").is_ok() {}
        });
        ask(&table.get(&account("a", false)).expect("there is room")).await.map(drop)
    });
    assert!(matches!(error, Err(WorkerError::Strange | WorkerError::Ended(_))), "{error:?}");
}

/// What the client does not take, the front does not take either; and once the client is gone, so is the connection.
#[test]
fn worker_that_floods_waits_for_its_client() {
    let (told, written) = std::sync::mpsc::channel();
    runtime().block_on(async move {
        let table = table(1, Duration::MAX, move |worker| {
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
            let (mut connection, mut count) = (worker.ready().answer(head), 0_u64);
            while connection.write_all(b"4\r\naaaa\r\n").is_ok() {
                count += 4;
            }
            told.send(count).expect("the test waits");
        });
        let RelayedAnswer { answer, .. } =
            ask(&table.get(&account("a", false)).expect("there is room")).await.expect("it answers");
        let mut body = answer.into_body();
        assert!(body.frame().await.expect("there is more").is_ok());
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(body);
        let count = tokio::task::spawn_blocking(move || written.recv_timeout(Duration::from_secs(30))).await;
        let count = count.expect("no panic").expect("its connection was closed");
        assert!(count < 4 << 20, "{count} bytes were taken");
    });
}

#[test]
fn stream_that_breaks_off_ends_with_an_error_for_its_request() {
    let text = runtime().block_on(async {
        let table = table(1, Duration::MAX, |worker| {
            drop(worker.ready().answer(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n",
            ));
        });
        let RelayedAnswer { answer, .. } = ask(&table.get(&account("a", false)).expect("there is room")).await.expect("it answers");
        answer.into_body().collect().await.expect("the stream ends in order").to_bytes()
    });
    let text = std::str::from_utf8(&text).expect("it is text");
    let last = text.trim_end().rsplit_once("data: ").expect("there is a message").1;
    let message: serde_json::Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!((&message["id"], &message["error"]["code"]), (&7.into(), &(-32603).into()), "{text}");
}

/// Its grants would have whole budgets again.
#[test]
fn client_with_budgets_is_refused_once_its_worker_has_ended() {
    runtime().block_on(async {
        let table = table(8, Duration::MAX, |worker| drop(worker.ready().accept()));
        for (name, has_budgets) in [("free", false), ("counted", true)] {
            let account = account(name, has_budgets);
            let worker = table.get(&account).expect("there is room");
            ask(&worker).await.map(drop).expect_err("its worker ends instead");
            let deadline = Instant::now() + Duration::from_secs(10);
            let again = loop {
                match table.get(&account) {
                    Ok(found) if Arc::ptr_eq(&found, &worker) => assert!(Instant::now() < deadline, "{name}"),
                    other => break other.map(drop),
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            };
            assert_eq!(again.is_err(), has_budgets, "{name}: {again:?}");
        }
    });
}

#[test]
fn worker_that_never_started_has_lost_no_budgets() {
    runtime().block_on(async {
        let table =
            table(8, Duration::MAX, |mut worker| worker.life.write_all(b"exit status: 2").expect("it is heard"));
        let worker = table.get(&account("a", true)).expect("there is room");
        let error = ask(&worker).await.map(drop).expect_err("it has ended");
        assert!(error.to_string().contains("exit status: 2"), "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        table.get(&account("a", true)).map(drop).expect("it is tried again");
    });
}

#[test]
fn workers_beyond_the_limit_are_refused_until_an_idle_one_has_ended() {
    runtime().block_on(async {
        let table = table(2, Duration::from_millis(200), |worker| {
            let worker = worker.ready();
            while receive::<1>(&worker.handed).is_ok_and(|handed| handed.is_some()) {}
        });
        table.get(&account("free", false)).map(drop).expect("there is room");
        table.get(&account("counted", true)).map(drop).expect("there is room");
        let refused = table.get(&account("third", false)).map(drop).expect_err("there are two");
        assert!(refused.contains("--max-workers"), "{refused}");
        let tidying = tokio::spawn(Arc::clone(&table).tidy_regularly());
        tokio::time::sleep(Duration::from_secs(1)).await;
        tidying.abort();
        table.get(&account("third", false)).map(drop).expect("the one without budgets has ended");
        let refused = table.get(&account("fourth", false)).map(drop).expect_err("what was counted is kept");
        assert!(refused.contains("--max-workers"), "{refused}");
        table.end().await;
    });
}

/// Whoever took a worker over could say so after it has spent the budgets of its client.
#[test]
fn worker_without_a_session_leaves_its_place_and_its_client_is_refused_for_a_time() {
    const REFUSAL: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\ntollhouse-no-session: true\r\ncontent-length: 0\r\n\r\n";
    runtime().block_on(async {
        let idle = Duration::from_millis(500);
        let table = table(1, idle, |worker| {
            let worker = worker.ready();
            drop(worker.answer(REFUSAL));
            // It does not end of itself.
            while receive::<1>(&worker.handed).is_ok_and(|handed| handed.is_some()) {}
        });
        let refused = |name: &'static str, has_budgets: bool| {
            let table = Arc::clone(&table);
            async move {
                let worker = table.get(&account(name, has_budgets)).expect("there is room");
                let relayed = ask(&worker).await.expect("it answers");
                assert!(relayed.has_no_session && !relayed.answer.headers().contains_key("tollhouse-no-session"));
                table.give_up(name, &worker);
            }
        };
        refused("free", false).await;
        let told = table.get(&account("free", false)).map(drop).expect_err("each attempt would start a process");
        assert!(told.contains("for another 1 seconds"), "{told}");
        refused("counted", true).await;
        tokio::time::sleep(2 * idle).await;
        let told = table.get(&account("counted", true)).map(drop).expect_err("its budgets would be whole again");
        assert!(told.contains("until the server starts again"), "{told}");
        table.get(&account("free", false)).map(drop).expect("it is tried again");
    });
}

/// Whoever waits for the answer is its own client, and takes nothing with it when it leaves.
#[test]
fn worker_that_never_answers_is_free_again_when_its_client_leaves() {
    runtime().block_on(async {
        let table = table(1, Duration::MAX, |worker| {
            let worker = worker.ready();
            let mut connection = worker.accept();
            // The body of the request, and then the end.
            let mut rest = Vec::new();
            connection.read_to_end(&mut rest).expect("the front closes it");
            drop(worker.accept());
        });
        let worker = table.get(&account("a", false)).expect("there is room");
        let asked = tokio::time::timeout(Duration::from_millis(200), ask(&worker)).await;
        assert!(asked.map(drop).is_err(), "it does not answer");
        assert!(worker.is_idle(Duration::ZERO), "nobody uses it any more");
        // It is told that the client has left: it takes the next request.
        ask(&worker).await.map(drop).expect_err("it ends instead of an answer");
    });
}

#[test]
fn body_of_another_length_than_its_head_says_is_incomplete_or_cut() {
    let body = |bytes: &'static [u8]| {
        runtime().block_on(async {
            let table = table(1, Duration::MAX, move |worker| drop(worker.ready().answer(bytes)));
            let worker = table.get(&account("a", false)).expect("there is room");
            let RelayedAnswer { answer, .. } = ask(&worker).await.expect("it is an answer");
            answer.into_body().collect().await.map(http_body_util::Collected::to_bytes)
        })
    };
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{}";
    assert!(body(head).is_err(), "its client is not to take it for complete");
    let long = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    assert_eq!(&body(long).expect("it is complete")[..], b"{}");
}
