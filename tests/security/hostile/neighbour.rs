//! A well-behaved session that works in the same process while a case does its worst.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, RunResult, Session, SessionOptions, Status};

/// Limit on the neighbour's time, which is ample: the test is whether it is right, on a machine that others use too.
const WALL: Duration = Duration::from_secs(30);

/// Pause between two rounds, so that the neighbour takes little from the case.
const PAUSE: Duration = Duration::from_millis(10);

/// A session on a thread of its own.
pub(super) struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Neighbour {
    /// Begins to work, until [`Neighbour::leave`].
    pub(super) fn moves_in(host: &Host) -> Self {
        let limits = Limits { wall: WALL, ..Limits::default() };
        let policy = Policy { limits, ..Policy::default().with(Grant::allow("probe/**").expect("a pattern")) };
        let session = host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut rounds = 0;
            while !stopped.load(Ordering::Relaxed) {
                round(&session, rounds);
                rounds += 1;
                std::thread::sleep(PAUSE);
            }
            rounds
        });
        Self { stop, thread }
    }

    /// Stops the neighbour. It must have worked, and all it did must have been right.
    pub(super) fn leaves(self) {
        self.stop.store(true, Ordering::Relaxed);
        let rounds = self.thread.join().expect("the neighbour was disturbed: see above");
        assert!(rounds > 0, "the neighbour did nothing");
    }
}

/// JavaScript that calls a tool, works and keeps a file, and bash that finds it.
fn round(session: &Session, number: u64) {
    let script = format!(
        "const length = await probe.length({{ text: 'x'.repeat({}) }});
         let sum = 0; for (let n = 0; n <= length; n++) sum += n;
         await fs.writeFile('number', '{number}');
         return sum",
        number % 100
    );
    let sum = (number % 100) * (number % 100 + 1) / 2;
    let result = run(session, Language::JavaScript, &script);
    assert_eq!((result.status, &result.value), (Status::Completed, &Some(json!(sum))), "{:?}", result.error);
    let result =
        run(session, Language::Shell, "n=$(cat number); probe length --text four; echo $((n * 2)) | sed 's/^/n /'");
    assert_eq!(String::from_utf8_lossy(&result.stdout), format!("4\nn {}\n", number * 2), "{:?}", result.error);
}

/// Runs one script to its end.
pub(super) fn run(session: &Session, language: Language, source: &str) -> RunResult {
    let script = Script { source: source.to_owned(), name: "round".to_owned(), ..Script::default() };
    session.start(language, script, RunOptions::default()).expect("a run").finish()
}
