//! Sessions in a store of one's own, by the library: what they promise, they promise there too, also when it fails.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tollhouse::capability::{Grant, Policy};
use tollhouse::gate::{Audit, AuditFile};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    Host, HostOptions, ImportBudget, ImportOptions, OpenOptions, RunOptions, RunResult, Session, SessionId, Sessions,
    SessionsError, Status, Step,
};
use tollhouse::store::{Batch, BlobFiles, BlobSink, Blobs, MemoryBlobs, MemoryStore, Record, Store, StoreError};
use tollhouse_tests::Home;

/// A store of one's own, which fails when told to.
#[derive(Default)]
struct Own {
    records: MemoryStore,
    commits: AtomicU32,
    /// Number of the next commits that fail, and true if those are made all the same, as when a sync fails.
    fails: AtomicU32,
    makes: AtomicBool,
}

impl Store for Own {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.records.get(key)
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.records.scan(prefix, after, limit)
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let fails = self.fails.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if !fails || self.makes.load(Ordering::Relaxed) {
            self.records.commit(batch)?;
        }
        if fails { Err(io::Error::from(io::ErrorKind::StorageFull).into()) } else { Ok(()) }
    }
}

fn name() -> SessionId {
    "s".parse().expect("a name")
}

fn host(home: &Home) -> Host {
    let registry = Some(home.path().join("tollhouse/registry"));
    Host::new(&HostOptions { registry, ..HostOptions::default() }).expect("the engines start")
}

fn open(host: &Host, sessions: &Sessions) -> Session {
    let grant = Grant::allow("stats/*").expect("a pattern").named("few").calls(1_000_000);
    let policy = Some(Policy::default().with(grant));
    host.open(sessions, &name(), OpenOptions { policy, ..OpenOptions::default() }).expect("it opens")
}

fn script(code: &str) -> Script {
    Script { source: code.to_owned(), ..Script::default() }
}

fn run(session: &Session, code: &str) -> RunResult {
    session.start(Language::JavaScript, script(code), RunOptions::default()).expect("it starts").finish()
}

/// The callback is the embedding program's: in Python it runs the handlers of signals, which may do anything.
#[test]
fn session_that_waits_for_another_process_can_be_used_by_its_callback() {
    let (home, directory) = (Home::with_tools(&["stats"]), tempfile::tempdir().expect("a directory"));
    let (host, own) = (host(&home), Arc::<Own>::default());
    let blobs: Arc<dyn Blobs> = Arc::<MemoryBlobs>::default();
    let place = || Sessions::new(Arc::clone(&own) as Arc<dyn Store>, Arc::clone(&blobs), directory.path());
    // As if it were another process, which has a run.
    let elsewhere = open(&host, &place());
    let wait = script("await new Promise((resolve) => setTimeout(resolve, 1))");
    let mut run = elsewhere.start(Language::JavaScript, wait.clone(), RunOptions::default()).expect("it starts");
    assert!(matches!(run.step(), Step::Blocked(_)));
    let (delegated, asked) = (Arc::<OnceLock<Session>>::default(), Arc::<AtomicU32>::default());
    let (of_callback, questions) = (Arc::clone(&delegated), Arc::clone(&asked));
    let waiting = move || {
        if questions.fetch_add(1, Ordering::Relaxed) == 0 {
            let delegated = of_callback.get().expect("it was set");
            assert!(delegated.start(Language::JavaScript, script(""), RunOptions::default()).is_err(), "it waits too");
        }
        false
    };
    let options = OpenOptions { waiting: Some(Arc::new(waiting)), ..OpenOptions::default() };
    let session = host.open(&place(), &name(), options).expect("it opens");
    assert!(delegated.set(session.delegate(Policy::default()).expect("it has less")).is_ok());
    assert!(session.start(Language::JavaScript, wait.clone(), RunOptions::default()).is_err(), "it is busy");
    assert_eq!(asked.load(Ordering::Relaxed), 2, "once for each of the two that waited");
    drop(run);
    assert_eq!(
        session.start(Language::JavaScript, wait, RunOptions::default()).expect("it starts").finish().run,
        Some(2)
    );
}

/// Refusals need no commit: they spend nothing, and start nothing.
#[test]
fn refused_calls_beside_a_granted_one_take_no_commits_of_their_own() {
    let (home, directory) = (Home::with_tools(&["stats"]), tempfile::tempdir().expect("a directory"));
    let (host, own) = (host(&home), Arc::<Own>::default());
    let blobs: Arc<dyn Blobs> = Arc::<MemoryBlobs>::default();
    let sessions = Sessions::new(Arc::clone(&own) as Arc<dyn Store>, blobs, directory.path());
    let session = open(&host, &sessions);
    let commits = |refused: u32| {
        let before = own.commits.load(Ordering::Relaxed);
        let code = format!(
            "const calls = [stats.describe({{values: [1]}})];
            for (let i = 0; i < {refused}; i++) calls.push(stats.describe({{values: 'none'}}));
            return (await Promise.allSettled(calls)).filter((one) => one.status === 'rejected').length"
        );
        assert_eq!(run(&session, &code).value, Some(refused.into()));
        own.commits.load(Ordering::Relaxed) - before
    };
    assert_eq!(commits(40), commits(1));
}

/// Runs until the script waits for a moment, does something, and runs on.
fn run_and_meanwhile(session: &Session, code: &str, meanwhile: impl FnOnce()) -> RunResult {
    let code = format!("await new Promise((resolve) => setTimeout(resolve, 1)); {code}");
    let mut run = session.start(Language::JavaScript, script(&code), RunOptions::default()).expect("it starts");
    let Step::Blocked(started) = run.step() else { panic!("it waits") };
    meanwhile();
    started.into_iter().for_each(|pending| run.perform(pending));
    run.finish()
}

fn events(sessions: &Sessions, event: &str) -> Vec<serde_json::Value> {
    let mut found = Vec::new();
    let take =
        &mut |line: tollhouse::session::LogLine| found.extend((line.event["event"] == event).then_some(line.event));
    sessions.reader().log(&name(), take).expect("it is read");
    found
}

/// The end of a run is in the session's log by the commit that ends it, and in another log that the host gave.
#[test]
fn end_of_a_run_is_once_in_the_log_of_its_session_and_in_another() {
    let (home, directory) = (Home::with_tools(&["stats"]), tempfile::tempdir().expect("a directory"));
    let (host, sessions) = (host(&home), Sessions::in_memory());
    let path = directory.path().join("audit.jsonl");
    let audit: Arc<dyn Audit> = Arc::new(AuditFile::open(&path).expect("it opens"));
    let options = OpenOptions { audit: Some(audit), ..OpenOptions::default() };
    let session = host.open(&sessions, &name(), options).expect("it opens");
    run(&session, "return 1");
    run(&session.delegate(Policy::default()).expect("it is narrower"), "throw 1");
    drop(session);
    let ends = |lines: Vec<serde_json::Value>| -> Vec<(u64, String)> {
        let ended = lines.iter().filter(|line| line["event"] == "ended");
        ended.map(|line| (line["run"].as_u64().expect("a number"), line["status"].to_string())).collect()
    };
    let expected = [(1, "\"completed\"".to_owned()), (2, "\"failed\"".to_owned())];
    assert_eq!(ends(events(&sessions, "ended")), expected);
    let text = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(ends(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()), expected);
}

#[test]
fn session_in_a_custom_store_is_kept() {
    let (home, directory) = (Home::with_tools(&["stats"]), tempfile::tempdir().expect("a directory"));
    let (host, own) = (host(&home), Arc::<Own>::default());
    let blobs: Arc<dyn Blobs> = Arc::new(BlobFiles::open(directory.path()).expect("it opens"));
    let place = || {
        let records = Arc::clone(&own) as Arc<dyn Store>;
        Sessions::new(records, Arc::clone(&blobs), &directory.path().join("turns"))
    };
    let call = "return (await stats.describe({values: [1]})).mean";
    let code = format!("await fs.writeFile('/workspace/a', 'x'.repeat(500000)); {call}");
    assert_eq!(run(&open(&host, &place()), &code).value, Some(1.into()));
    let commits = own.commits.load(Ordering::Relaxed);
    // As if it were another process.
    let sessions = place();
    assert_eq!(run(&open(&host, &sessions), call).run, Some(2));
    assert!(own.commits.load(Ordering::Relaxed) >= commits + 3, "a beginning, a call and an end");
    assert_eq!(sessions.reader().balances(&name()).expect("they are read")["few"].calls, 2);
    sessions.label(&name(), "good", Some(1)).expect("there is run 1");
    sessions.fork(&"s@good".parse().expect("a point"), &"t".parse().expect("a name")).expect("it is free");
    for id in sessions.list().expect("they are read") {
        assert!(sessions.verifier().verify_session(&id).expect("it is whole").blobs > 1);
    }
    let file = sessions.transfer().export(&name(), Vec::new()).expect("it is written").0;
    let other = Sessions::in_memory();
    let keep = ImportOptions { budget: Some(ImportBudget::Keep), ..ImportOptions::default() };
    other.transfer().import(file.as_slice(), &keep).expect("it is read");
    let result = run(&open(&host, &other), call);
    assert_eq!((result.run, result.value), (Some(4), Some(1.into())), "it goes on elsewhere, behind its import");
    assert!(
        matches!(sessions.garbage_collector().collect(false), Err(SessionsError::NoFiles)),
        "it does not know whose blobs these are"
    );
    for id in sessions.list().expect("they are read") {
        sessions.remove(&id, &(Arc::new(|| false) as _)).expect("nobody has it");
    }
    assert_eq!(own.scan(b"", None, usize::MAX).expect("it is read"), [], "nothing is left");
}

#[test]
fn run_whose_end_cannot_be_kept_has_one_outcome_in_the_log() {
    let home = Home::with_tools(&["stats"]);
    let (host, directory) = (host(&home), tempfile::tempdir().expect("a directory"));
    for (makes, fails) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let own = Arc::<Own>::default();
        let records = Arc::clone(&own) as Arc<dyn Store>;
        let sessions = Sessions::new(records, Arc::<MemoryBlobs>::default(), directory.path());
        let session = open(&host, &sessions);
        let result = run_and_meanwhile(&session, "await fs.writeFile('/workspace/a', 'x')", || {
            own.makes.store(makes, Ordering::Relaxed);
            own.fails.store(fails, Ordering::Relaxed);
        });
        let told = &result.error.as_ref().expect("it is told").message;
        assert!(told.contains("cannot be kept") && told.contains("no space is left"), "{told}");
        assert_eq!((result.status, own.fails.load(Ordering::Relaxed)), (Status::Failed, 0));
        let next = run(&session, "return await fs.exists('/workspace/a')");
        assert_eq!(next.value, Some(false.into()), "as it was before: made {makes}, {fails} failed");
        let ended = events(&sessions, "ended");
        let ended: Vec<_> = ended.iter().filter(|event| event["run"] == 1).collect();
        assert_eq!(ended.len(), 1, "{ended:?}");
        let record = &sessions.reader().runs(&name()).expect("they are read")[1].1;
        assert_eq!(ended[0]["status"], record.status.word(), "{ended:?}");
        assert!(["failed", "interrupted"].contains(&record.status.word()), "{record:?}");
        sessions.verifier().verify_session(&name()).expect("it is whole");
    }
}

/// An owner that has lost the lock, and does not know it, changes nothing.
#[test]
fn session_removed_is_not_changed_by_its_late_owner() {
    let home = Home::with_tools(&["stats"]);
    let (host, records, blobs) = (host(&home), Arc::<MemoryStore>::default(), Arc::<MemoryBlobs>::default());
    let directory = tempfile::tempdir().expect("a directory");
    let place = |locks: &Path| Sessions::new(Arc::clone(&records) as Arc<dyn Store>, Arc::clone(&blobs) as _, locks);
    // Two directories of locks: neither knows what the other has locked.
    let (sessions, others) = (place(&directory.path().join("one")), place(&directory.path().join("other")));
    for late in ["await fs.writeFile('/workspace/a', 'late')", "return (await stats.describe({values: [1]})).mean"] {
        let session = open(&host, &sessions);
        run(&session, "1");
        let mut stands = None;
        let result = run_and_meanwhile(&session, late, || {
            others.remove(&name(), &(Arc::new(|| false) as _)).expect("nobody has it there");
            run(&open(&host, &others), "await fs.writeFile('/workspace/b', 'new')");
            stands = Some(records.scan(b"", None, usize::MAX).expect("it is read"));
        });
        let told = &result.error.as_ref().expect("it is told").message;
        assert!(result.status == Status::Failed && told.contains("another process has taken over"), "{result:?}");
        assert_eq!(Some(records.scan(b"", None, usize::MAX).expect("it is read")), stands, "nothing has changed");
        let again = session.start(Language::JavaScript, script("1"), RunOptions::default()).map(drop);
        assert!(again.is_err_and(|error| error.to_string().contains("another one with its name was created")));
        others.verifier().verify_session(&name()).expect("it is whole");
        assert_eq!(
            others.reader().files(&name().as_str().parse().expect("a point")).expect("it is read").usage().entries,
            3
        );
        others.remove(&name(), &(Arc::new(|| false) as _)).expect("nobody has it");
    }
}

/// Looking at a session that spends all the time ends, and what is wrong with it is found all the same.
#[test]
fn session_that_is_always_busy_can_be_verified() {
    let home = Home::with_tools(&["stats"]);
    let (host, records) = (host(&home), Arc::<MemoryStore>::default());
    let directory = tempfile::tempdir().expect("a directory");
    let place = Arc::clone(&records) as Arc<dyn Store>;
    let sessions = Sessions::new(place, Arc::<MemoryBlobs>::default(), directory.path());
    let session = open(&host, &sessions);
    let code = script("for (;;) await stats.describe({values: [1]})");
    let run = session.start(Language::JavaScript, code, RunOptions::default()).expect("it starts");
    let cancel = run.cancel_handle();
    let running = std::thread::spawn(move || run.finish());
    let spent = || sessions.reader().balances(&name()).expect("they are read").get("few").map_or(0, |used| used.calls);
    while spent() < 100 {
        assert!(!running.is_finished());
    }
    sessions.verifier().verify_session(&name()).expect("it is whole");
    let before = spent();
    let mut batch = Batch::default();
    for call in 0..3000_u64 {
        let key = [b"Es\0".as_slice(), &1_u64.to_be_bytes(), &(call | 1 << 40).to_be_bytes()].concat();
        batch.put(key, b"\0{\"method\":\"x\",\"debits\":[[\"few\",null]],\"outcome\":\"ok\"}");
    }
    records.commit(batch).expect("it is in memory");
    let told = sessions.verifier().verify_session(&name()).expect_err("nobody has made these calls").to_string();
    assert!(told.contains("its balances are not the sums of its ledger"), "{told}");
    assert!(spent() > before && !running.is_finished(), "it has run all the time");
    cancel.cancel();
    assert_eq!(running.join().expect("it ends").status, Status::Cancelled);
}

#[test]
fn import_beside_abandoned_uploads_succeeds() {
    let from = Sessions::in_memory();
    let host = Host::new(&HostOptions::default()).expect("the engines start");
    let write = "for (let n = 0; n < 600; n++) await fs.writeFile(`/workspace/${n}`, `${Math.random()} `.repeat(n))";
    let session = host.open(&from, &name(), OpenOptions::default()).expect("it opens");
    assert_eq!(run(&session, write).status, Status::Completed);
    let file = from.transfer().export(&name(), Vec::new()).expect("it is written").0;
    let directory = tempfile::tempdir().expect("a directory");
    let files = Arc::new(BlobFiles::open(directory.path()).expect("it opens"));
    let ended = AtomicBool::new(false);
    let given_up = std::thread::scope(|scope| {
        let giving_up = scope.spawn(|| {
            let mut given_up = 0_u32;
            while !ended.load(Ordering::Relaxed) {
                let mut upload = files.begin().expect("it begins");
                // Another upload of the place may have ended it, too.
                drop(upload.put(given_up.to_be_bytes().repeat(50)));
                drop(upload);
                given_up += 1;
                // Ever more rarely: whoever is disturbed more often than its disk syncs never ends.
                std::thread::sleep(Duration::from_millis(2 * u64::from(given_up)));
            }
            given_up
        });
        let imported = (0..3).try_for_each(|_| {
            let blobs = Arc::clone(&files) as Arc<dyn Blobs>;
            let sessions = Sessions::new(Arc::<MemoryStore>::default(), blobs, &directory.path().join("turns"));
            sessions.transfer().import(file.as_slice(), &ImportOptions::default())?;
            sessions.verifier().verify_session(&name()).map(drop)
        });
        ended.store(true, Ordering::Relaxed);
        imported.expect("it begins again as often as it takes");
        giving_up.join().expect("it ends")
    });
    assert!(given_up > 3, "{given_up}");
}

#[test]
fn files_are_changed_between_runs_and_kept_or_not_at_all() {
    let (home, directory) = (Home::with_tools(&["stats"]), tempfile::tempdir().expect("a directory"));
    let (host, own) = (host(&home), Arc::<Own>::default());
    let blobs: Arc<dyn Blobs> = Arc::new(BlobFiles::open(directory.path()).expect("it opens"));
    let place = || {
        let records = Arc::clone(&own) as Arc<dyn Store>;
        Sessions::new(records, Arc::clone(&blobs), &directory.path().join("turns"))
    };
    let put = |session: &Session, bytes: &[u8]| {
        session.change("put a", |files| {
            let put = files.place_file("/workspace/a", bytes, 0o644, 0);
            put.map_err(|source| SessionsError::File { path: "/workspace/a".to_owned(), source })
        })
    };
    let read = "return await fs.readFile('/workspace/a', 'utf8')";
    let (sessions, elsewhere) = (place(), place());
    let (session, other) = (open(&host, &sessions), open(&host, &elsewhere));
    put(&session, b"1").expect("nobody runs it");
    assert_eq!(session.files().read_file("/workspace/a").expect("it is there"), b"1");
    assert_eq!(run(&session, read).value, Some("1".into()));
    other.refresh().expect("it is read");
    assert_eq!(other.files().read_file("/workspace/a").expect("it is there"), b"1", "another process sees it");
    put(&other, b"2").expect("nobody runs it");
    assert_eq!(run(&session, read).value, Some("2".into()), "a run begins with what is there");
    let changed = events(&sessions, "changed");
    assert_eq!(changed.iter().map(|line| line["run"].clone()).collect::<Vec<_>>(), [1, 3]);

    own.fails.store(1, Ordering::Relaxed);
    put(&session, b"3").expect_err("it cannot be kept");
    assert_eq!(session.files().read_file("/workspace/a").expect("it is there"), b"2", "as it was");
    let late = run_and_meanwhile(&session, read, || {
        let busy = put(&session, b"4").expect_err("a run goes on");
        assert!(matches!(busy, tollhouse::session::HostError::Busy), "{busy}");
    });
    assert_eq!(late.value, Some("2".into()));
    sessions.verifier().verify_session(&name()).expect("it is whole");

    let memory = host.session(tollhouse::session::SessionOptions::default()).expect("no tools");
    put(&memory, b"5").expect("nobody runs it");
    assert_eq!(run(&memory, read).value, Some("5".into()));

    for session in [&memory, &session] {
        let panics = || session.change("panics", |_| panic!("it does"));
        catch_unwind(AssertUnwindSafe(panics)).expect_err("it does");
        put(session, b"6").expect("it is free again");
        assert_eq!(run(session, read).value, Some("6".into()));
    }
}
