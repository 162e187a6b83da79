//! Many sessions in one process: who misbehaves does so alone.

use std::sync::Barrier;
use std::time::Duration;

use serde_json::json;
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, RunResult, Session, SessionOptions, Status};
use tollhouse_tests::{Home, run};

/// Number of concurrent sessions.
const SESSIONS: usize = 1_000;

/// Number of sessions of which one is hostile.
const HOSTILE: usize = 10;

/// Stack of each one's thread, in bytes: a run takes what it needs besides.
const STACK: usize = 512 << 10;

/// Scripts of hostile sessions, each of which runs until a limit.
const ATTACKS: [(Language, &str); 6] = [
    (Language::JavaScript, "while (true);"),
    (Language::JavaScript, "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    (Language::JavaScript, "const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length)"),
    (Language::JavaScript, "for (;;) { try { await probe.spin({}) } catch {} }"),
    (Language::Shell, "while :; do :; done"),
    (Language::Shell, "yes"),
];

fn session(host: &Host, limits: Limits) -> Session {
    let policy = Policy { limits, ..Policy::default().with(Grant::allow("probe/**").expect("a pattern")) };
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

/// Runs the script of a well-behaved session: two tools, a file, a script within a script.
fn well(session: &Session, number: usize) -> RunResult {
    let script = format!(
        "await fs.writeFile('number', '{number}');
         const [a, b] = await Promise.all([probe.length({{ text: 'x'.repeat({number}) }}), probe.text({{ count: 2 }})]);
         const inner = await shell('echo $(($(cat number) + 1))');
         return [a, b.length, Number(inner.stdout)]"
    );
    run(session, Language::JavaScript, &script)
}

/// Runs one session, whose own limit on time is that of the test: the test is whether all is right.
fn one(host: &Host, number: usize, together: &Barrier) -> Option<String> {
    let wall = Duration::from_secs(300);
    if number.is_multiple_of(HOSTILE) {
        let (language, source) = ATTACKS[number / HOSTILE % ATTACKS.len()];
        let (tool_wall, calls) = (Duration::from_millis(50), 3);
        let limits =
            Limits { wall, fuel: 100_000, memory: 16 << 20, output: 1 << 20, tool_wall, calls, ..Limits::default() };
        let session = session(host, limits);
        together.wait();
        let result = run(&session, language, source);
        return (result.status != Status::Limited).then(|| format!("{source}: {:?} {:?}", result.status, result.error));
    }
    let session = session(host, Limits { wall, ..Limits::default() });
    together.wait();
    let result = well(&session, number);
    let right = json!([number, 2, number + 1]);
    (result.value != Some(right)).then(|| format!("session {number}: {:?} {:?}", result.value, result.error))
}

#[test]
fn thousand_sessions_with_hostile_ones_among_them_succeed() {
    let home = Home::with_fixture();
    let host = home.host();
    let together = Barrier::new(SESSIONS);
    let begun = std::time::Instant::now();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (host, together) = (&host, &together);
                let builder = std::thread::Builder::new().stack_size(STACK);
                builder.spawn_scoped(scope, move || one(host, number, together)).expect("a thread")
            })
            .collect();
        sessions.into_iter().filter_map(|session| session.join().expect("no session panics")).collect()
    });
    println!("{SESSIONS} sessions took {:?}", begun.elapsed());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let after = session(&host, Limits::default());
    assert_eq!(well(&after, 7).value, Some(json!([7, 2, 8])));
}

/// Sessions that loop, in wasm of every kind, each on a thread of its own; a short run gets done among them.
#[test]
fn short_run_among_many_loops_completes() {
    let home = Home::with_fixture();
    let host = home.host();
    let limits = Limits { wall: Duration::from_secs(300), fuel: u64::MAX, ..Limits::default() };
    let own = session(&host, limits.clone());
    assert_eq!(well(&own, 1).value, Some(json!([1, 2, 2])));
    let loops = [
        (Language::JavaScript, "while (true);"),
        (Language::Shell, "while :; do :; done"),
        (Language::JavaScript, "await probe.spin({})"),
        (Language::JavaScript, "for (;;) await probe.length({ text: '' })"),
    ];
    let sessions: Vec<Session> = (0..80).map(|_| session(&host, limits.clone())).collect();
    let begin = |(session, (language, source)): (&Session, &(Language, &str))| {
        let script = Script { source: (*source).to_owned(), ..Script::default() };
        session.start(*language, script, RunOptions::default()).expect("a run")
    };
    let runs: Vec<_> = sessions.iter().zip(loops.iter().cycle()).map(begin).collect();
    let handles: Vec<_> = runs.iter().map(tollhouse::session::Run::cancel_handle).collect();
    let longest = std::thread::scope(|scope| {
        let looping: Vec<_> = runs.into_iter().map(|run| scope.spawn(move || run.finish())).collect();
        std::thread::sleep(Duration::from_secs(2));
        let one = |number: usize| {
            let begun = std::time::Instant::now();
            assert_eq!(well(&own, number).value, Some(json!([number, 2, number + 1])));
            begun.elapsed()
        };
        let longest = (0..30).map(one).max();
        assert!(looping.iter().all(|run| !run.is_finished()), "they loop on");
        handles.iter().for_each(tollhouse::session::CancelHandle::cancel);
        let ended = looping.into_iter().map(|run| run.join().expect("no run panics"));
        assert!(ended.map(|result| result.status).all(|status| status == Status::Cancelled));
        longest
    });
    println!("the longest of 30 short runs took {longest:?}");
}

/// Guests that were made and do nothing take all the room: who comes then is told, and works once there is some.
#[test]
fn run_without_room_for_a_guest_is_limited() {
    let home = Home::with_fixture();
    let host = home.host();
    let script = || Script { source: "return 1".to_owned(), ..Script::default() };
    let quick = Limits { wall: Duration::from_millis(200), ..Limits::default() };
    let mut held = Vec::new();
    let error = loop {
        let session = session(&host, quick.clone());
        match session.start(Language::JavaScript, script(), RunOptions::default()) {
            Ok(run) => held.push(run),
            Err(error) => break error,
        }
    };
    println!("{} guests", held.len());
    let told = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let told: Vec<String> = told.map(ToString::to_string).collect();
    assert!(
        told[0].contains("no free slot for another guest") && told[0].contains(&held.len().to_string()),
        "{told:?}"
    );
    assert!(held.len() >= SESSIONS, "{}", held.len());
    held.pop();
    assert_eq!(run(&session(&host, Limits::default()), Language::JavaScript, "return 2").value, Some(json!(2)));
    drop(held);
}
