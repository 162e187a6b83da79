//! Latency of a short run while many other sessions loop: no run waits long for its turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, Session, SessionOptions};
use tollhouse_tests::Home;

use crate::calls::host;
use crate::table::{figure, time};

/// Number of other sessions that loop.
const LOOPS: usize = 200;

/// Number of short runs that are timed.
const ROUNDS: usize = 100;

/// Time that the loops run before anything is measured.
const SETTLING: Duration = Duration::from_secs(3);

/// Endless scripts, in JavaScript and in bash.
const ENDLESS: [(Language, &str); 2] =
    [(Language::JavaScript, "while (true);"), (Language::Shell, "while :; do :; done")];

/// Short script, with a call.
const SHORT: (Language, &str) = (Language::JavaScript, "return (await stats.describe({ values: [1, 2, 3] })).mean");

pub(crate) fn measure() {
    let home = Home::with_tools(&["stats"]);
    let host = host(home.path());
    let own = session(&host);
    // The first run compiles the tool.
    drop(start(&own, SHORT).finish());
    let alone = runs(&own);
    let beside = beside_loops(&host, || runs(&own));
    row("a short run with a call, p50", &alone, 50, "");
    row(&format!("the same while {LOOPS} sessions loop, p50"), &beside, 50, "");
    row(&format!("the same while {LOOPS} sessions loop, p99"), &beside, 99, "<100 ms");
    row(&format!("the same while {LOOPS} sessions loop, longest"), &beside, 100, "");
}

fn row(what: &str, times: &[Duration], share: usize, aim: &str) {
    figure(what, &time(times[(times.len() - 1) * share / 100]), aim);
}

fn session(host: &Host) -> Session {
    let limits = Limits { wall: Duration::from_secs(600), fuel: u64::MAX, ..Limits::default() };
    let policy = Policy { limits, ..Policy::default() }.with(Grant::allow("stats/describe").expect("a pattern"));
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

/// Returns the durations of short runs, sorted.
fn runs(session: &Session) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            // A pause, so that each run starts from rest like a request from outside.
            std::thread::sleep(Duration::from_millis(5));
            let begun = Instant::now();
            drop(start(session, SHORT).finish());
            begun.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn start(session: &Session, (language, source): (Language, &str)) -> tollhouse::session::Run {
    let script = Script { source: source.to_owned(), name: "bench".to_owned(), ..Script::default() };
    session.start(language, script, RunOptions::default()).expect("a run")
}

/// Measures something while other sessions loop.
fn beside_loops<T>(host: &Host, measure: impl FnOnce() -> T) -> T {
    let begun = AtomicUsize::new(0);
    let sessions: Vec<Session> = (0..LOOPS).map(|_| session(host)).collect();
    let endless = ENDLESS.iter().cycle();
    let loops: Vec<_> = sessions.iter().zip(endless).map(|(session, script)| start(session, *script)).collect();
    let handles: Vec<_> = loops.iter().map(tollhouse::session::Run::cancel_handle).collect();
    std::thread::scope(|scope| {
        for run in loops {
            let begun = &begun;
            scope.spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                drop(run.finish());
            });
        }
        while begun.load(Ordering::Relaxed) < LOOPS {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Waits until all loops are under way.
        std::thread::sleep(SETTLING);
        let measured = measure();
        handles.iter().for_each(tollhouse::session::CancelHandle::cancel);
        measured
    })
}
