//! Budgets that several sessions share: a session, its forks, and imports of them; and what an import may spend elsewhere.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Amount, Approve, Grant, Policy};
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    Host, HostOptions, ImportBudget, ImportOptions, ImportedBudget, OpenOptions, RunOptions, RunResult, Session,
    SessionId, Sessions, Status, Step,
};
use tollhouse::store::{Batch, MemoryBlobs, MemoryStore, Record, Store, StoreError};
use tollhouse::tool::{HostCall, HostTool};
use tollhouse_tests::{Home, cycles, root};

use super::{CYCLES, ask, budget, done, random, refused};

/// A home with a session `s` that may make so many calls.
fn home(calls: u64) -> Home {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", format!("[[grant]]\nname = 'few'\nmethod = 'stats/*'\ncalls = {calls}\n"));
    done(&home, &["session", "new", "s", "--policy", "p.toml"]);
    home
}

const CALL: &str = "return (await stats.describe({values: [1]})).mean";

/// Calls until nothing is left, and says each time when the call has returned.
const CALLS: &str = "try { for (let made = 1; ; made++) { await stats.describe({values: [1]}); console.log(made); } }
    catch (error) { if (error.name !== 'CapabilityError') throw error; }";

/// A process that runs a script in a session.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    /// Number of lines that the process has printed, as far as they were read.
    printed: u64,
}

impl Running {
    fn start(home: &Home, session: &str, script: &str) -> Self {
        let mut run = home.command(["run", "--session", session, "--timeout", "10m", "-e", script]);
        let mut child = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, lines, printed: 0 }
    }

    /// Waits for one more line.
    fn next(&mut self) {
        self.lines.next().expect("it goes on").expect("text");
        self.printed += 1;
    }

    /// Reads all that it prints to its end: how many lines, and whether it ended well.
    fn ended(mut self) -> (u64, bool) {
        let rest = self.lines.map_while(Result::ok).filter(|line| !line.is_empty()).count() as u64;
        (self.printed + rest, self.child.wait().expect("it ends").success())
    }

    fn kill(mut self) -> u64 {
        self.child.kill().expect("it runs, or has ended");
        self.ended().0
    }
}

/// The calls that the logs of some sessions say were paid for.
fn admitted(home: &Home, sessions: &[&str]) -> u64 {
    let of = |session: &&str| {
        let log = done(home, &["session", "log", session, "--event", "admitted", "--json"]).stdout;
        log.lines().count() as u64
    };
    sessions.iter().map(of).sum()
}

/// The session runs already when it is forked for the first time, and while its forks run.
#[test]
fn forks_in_processes_at_once_spend_one_budget() {
    const BUDGET: u64 = 240;
    let home = home(BUDGET);
    let mut runs = vec![Running::start(&home, "s", CALLS)];
    runs[0].next();
    done(&home, &["session", "fork", "s", "a"]);
    runs.push(Running::start(&home, "a", CALLS));
    done(&home, &["session", "fork", "a", "b"]);
    runs.push(Running::start(&home, "b", CALLS));
    let ended: Vec<(u64, bool)> = runs.into_iter().map(Running::ended).collect();
    assert!(ended.iter().all(|(_, well)| *well), "{ended:?}");
    assert_eq!(ended.iter().map(|(made, _)| made).sum::<u64>(), BUDGET, "{ended:?}");
    println!("calls of a session, its fork, and the fork's: {ended:?}");
    for session in ["s", "a", "b"] {
        assert_eq!(budget(&home, session, "few"), (BUDGET, 0));
    }
    assert_eq!(admitted(&home, &["s", "a", "b"]), BUDGET);
    done(&home, &["store", "verify"]);
}

#[test]
fn forks_that_call_in_parallel_spend_one_sum() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'sum'\nmethod = 'stats/*'\nspend = { param = 'values/0', limit = 200 }\n");
    done(&home, &["session", "new", "s", "--policy", "p.toml"]);
    done(&home, &["session", "fork", "s", "a"]);
    let script = "for (let some = true; some;) {
            const ended = await Promise.allSettled(Array.from({length: 7}, () => stats.describe({values: [3]})));
            some = ended.some((one) => one.status === 'fulfilled');
            ended.filter((one) => one.status === 'fulfilled').forEach(() => console.log('paid'));
            const wrong = ended.find((one) => one.reason && one.reason.name !== 'CapabilityError');
            if (wrong) throw wrong.reason;
        }";
    let runs: Vec<Running> = ["s", "a"].iter().map(|session| Running::start(&home, session, script)).collect();
    let ended: Vec<(u64, bool)> = runs.into_iter().map(Running::ended).collect();
    assert!(ended.iter().all(|(_, well)| *well), "{ended:?}");
    assert_eq!(ended.iter().map(|(paid, _)| paid).sum::<u64>(), 66, "66 times 3 of 200: {ended:?}");
    assert_eq!((budget(&home, "s", "sum"), budget(&home, "a", "sum")), ((198, 2), (198, 2)));
    done(&home, &["store", "verify"]);
}

/// A call that was paid for when a process was killed is paid for, whichever session asks; and nothing is paid for
/// twice.
#[test]
fn killed_forks_leave_their_shared_budget_as_it_was_paid() {
    const BUDGET: u64 = 1_000_000;
    let (home, sessions) = (home(BUDGET), ["s", "a", "b"]);
    let mut acknowledged = 0;
    let rounds = cycles(CYCLES);
    for round in 0..rounds {
        let mut runs: Vec<Running> = sessions[..1 + round.min(1) as usize * 2]
            .iter()
            .map(|session| Running::start(&home, session, CALLS))
            .collect();
        for run in &mut runs {
            (0..=random(10)).for_each(|_| run.next());
        }
        if round == 0 {
            // Killed at some moment of its first fork.
            let mut fork = home.command(["session", "fork", "s", "a"]);
            let mut fork = fork.stdout(Stdio::null()).spawn().expect("the binary is built");
            std::thread::sleep(Duration::from_millis(random(60)));
            fork.kill().expect("it runs, or has ended");
            fork.wait().expect("it ends");
        }
        let killed = runs.len() as u64;
        let made: u64 = runs.into_iter().map(Running::kill).sum();
        acknowledged += made;
        if round == 0 {
            let _ = home.run(["session", "fork", "s", "a"]);
            done(&home, &["session", "fork", "a", "b"]);
        }
        let used = budget(&home, "s", "few").0;
        for session in sessions {
            assert_eq!(budget(&home, session, "few"), (used, BUDGET - used));
        }
        assert!((acknowledged..=acknowledged + killed).contains(&used), "{acknowledged} returned, {used} are paid for");
        assert_eq!(admitted(&home, &sessions), used, "each call that was paid for is in a log, once");
        done(&home, &["store", "verify"]);
        acknowledged = used;
    }
    println!("{rounds} rounds, {acknowledged} calls");
}

#[test]
fn forks_imports_and_rollbacks_are_no_way_to_a_new_budget() {
    let home = home(6);
    let call = |session: &str| home.js(CALL, &["--session", session])["status"].clone();
    assert_eq!(call("s"), "completed");
    done(&home, &["session", "export", "s", "s.tlh"]);
    done(&home, &["session", "fork", "s@0", "a"]);
    done(&home, &["session", "fork", "a", "b"]);
    let imported = ask(&home, &["session", "import", "s.tlh", "c"]);
    assert_eq!(imported["budget"], "shared", "{imported}");
    let each = |sessions: &[&str], used: (u64, u64)| {
        sessions.iter().for_each(|session| assert_eq!(budget(&home, session, "few"), used, "{session}"));
    };
    each(&["s", "a", "b", "c"], (1, 5));
    for session in ["b", "c", "s"] {
        assert_eq!(call(session), "completed");
    }
    each(&["s", "a", "b", "c"], (4, 2));
    let shown = done(&home, &["session", "show", "c"]).stdout;
    assert!(shown.contains("what is left is shared with 3 other sessions"), "{shown}");
    assert!(shown.contains("imported: it shares the budgets of `"), "{shown}");
    assert_eq!(ask(&home, &["session", "show", "s"])["shared_with"], 3);
    done(&home, &["store", "verify"]);
    done(&home, &["session", "rollback", "s@0"]);
    done(&home, &["session", "rm", "s", "b"]);
    each(&["a", "c"], (4, 2));
    assert_eq!(call("a"), "completed", "it began with what was spent, and spends");
    assert_eq!(ask(&home, &["session", "import", "s.tlh"])["budget"], "shared", "two of them are here");
    done(&home, &["session", "rm", "c", "s"]);
    assert_eq!(ask(&home, &["session", "show", "a"])["shared_with"], 0);
    each(&["a"], (5, 1));
    assert_eq!((call("a"), call("a")), (json!("completed"), json!("denied")));
    done(&home, &["session", "gc"]);
    done(&home, &["store", "verify"]);
    done(&home, &["session", "rm", "a"]);
    assert_eq!(ask(&home, &["session", "import", "s.tlh"])["budget"], "exhausted", "nobody knows what was spent");
    each(&["s"], (6, 0));
}

#[test]
fn import_elsewhere_spends_what_its_operator_says() {
    let (home, other) = (home(6), Home::with_tools(&["stats"]));
    done(&home, &["session", "fork", "s", "a"]);
    for session in ["s", "a"] {
        assert_eq!(home.js(CALL, &["--session", session])["status"], "completed");
    }
    done(&home, &["session", "export", "s", "s.tlh"]);
    let file = home.path().join("s.tlh");
    let path = file.to_str().expect("UTF-8");
    let import = |arguments: &[&str]| {
        let ran = done(&other, &[&["session", "import", path], arguments].concat());
        (ran.stdout.trim().to_owned(), ran.stderr)
    };
    let call = |session: &str| other.js(CALL, &["--session", session]);
    let (name, told) = import(&[]);
    assert!(
        name == "s" && told.contains("nothing is left of the budgets of `s`") && told.contains("--budget"),
        "{told}"
    );
    assert_eq!(budget(&other, "s", "few"), (6, 0));
    let denied = call("s");
    assert_eq!((&denied["status"], &denied["error"]["kind"]), (&json!("denied"), &json!("capability")), "{denied}");
    assert!(denied["error"]["message"].as_str().is_some_and(|told| told.contains("budget is used up")), "{denied}");
    // What is imported again shares what the first has: nothing. What the operator gives is nobody else's.
    assert!(import(&["again"]).1.contains("shares its budgets"));
    assert_eq!(budget(&other, "again", "few"), (6, 0));
    for (budgeted, left) in [("keep", 4), ("fresh", 6)] {
        import(&[budgeted, "--budget", budgeted]);
        assert_eq!(budget(&other, budgeted, "few"), (6 - left, left), "what the fork had spent is spent");
        let (shown, log) = (ask(&other, &["session", "show", budgeted]), done(&other, &["session", "log", budgeted]));
        assert_eq!(shown["shared_with"], 0);
        assert_eq!(shown["runs"][2]["status"], "changed", "{shown}");
        assert!(log.stdout.contains("imported: ") && log.stdout.contains(&format!("({budgeted})")), "{log:?}");
        done(&other, &["session", "fork", budgeted, &format!("{budgeted}-fork")]);
        for _ in 0..left / 2 {
            assert_eq!(call(budgeted)["status"], "completed");
            assert_eq!(call(&format!("{budgeted}-fork"))["status"], "completed");
        }
        assert_eq!(call(budgeted)["status"], "denied");
        assert_eq!(call(&format!("{budgeted}-fork"))["status"], "denied");
    }
    assert_eq!(budget(&other, "s", "few"), (6, 0));
    let told = refused(&other, &["session", "import", path, "x", "--budget", "all"], 2);
    assert!(told.contains("`keep` or `fresh`"), "{told}");
    done(&other, &["store", "verify"]);
    // The operator can also grant anew.
    other.file("more.toml", "[[grant]]\nname = 'more'\nmethod = 'stats/*'\ncalls = 1\n");
    done(&other, &["session", "grant", "s", "--policy", "more.toml"]);
    assert_eq!((call("s")["status"].clone(), call("s")["status"].clone()), (json!("completed"), json!("denied")));
    assert_eq!(budget(&home, "s", "few"), (2, 4), "and the session that was exported goes on");
}

/// An import elsewhere has nothing left of the budgets of a tool that calls tools, too.
#[test]
fn import_elsewhere_has_nothing_left_of_the_budgets_of_its_tools() {
    let [home, other] = [(), ()].map(|()| {
        let home = Home::with_tools(&["stats"]);
        home.publish(&root().join("tests/fixtures/relay"));
        home
    });
    let policy = "[[grant]]\nmethod = 'relay/*'\n[[grant]]\nmethod = 'stats/*'\n\
        [tools]\nrelay = 'test:relay'\nstats = 'tollhouse:stats'\n\
        [tool.relay]\ntools = [{ method = 'stats/*', calls = 2 }]\n";
    home.file("p.toml", policy);
    done(&home, &["session", "new", "s", "--policy", "p.toml"]);
    let call = "return await relay.mean({values: [4]})";
    assert_eq!(home.js(call, &["--session", "s"])["value"], 4.0);
    done(&home, &["session", "fork", "s", "a"]);
    done(&home, &["session", "export", "s", "s.tlh"]);
    assert_eq!(home.js(call, &["--session", "a"])["value"], 4.0);
    assert_ne!(home.js(call, &["--session", "s"])["status"], "completed", "the tool's budget is shared, too");
    let file = home.path().join("s.tlh");
    done(&other, &["session", "import", file.to_str().expect("UTF-8")]);
    assert_ne!(other.js(call, &["--session", "s"])["status"], "completed");
    assert_eq!(other.js("return (await stats.describe({values: [4]})).mean", &["--session", "s"])["value"], 4.0);
    done(&other, &["store", "verify"]);
}

/// Action of a store before it makes a commit.
type Hook = Box<dyn FnOnce() + Send>;

/// A store in memory that lets something happen right before a call of the session `s` is paid for.
#[derive(Default)]
struct Hooked {
    records: MemoryStore,
    hook: Mutex<Option<Hook>>,
    commits: std::sync::atomic::AtomicU32,
}

impl Store for Hooked {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.records.get(key)
    }

    fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.records.scan(prefix, after, limit)
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.commits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if batch.changes.iter().any(|change| change.key.starts_with(b"Es\0")) {
            let hook = self.hook.lock().expect("no hook panics").take();
            hook.into_iter().for_each(|hook| hook());
        }
        self.records.commit(batch)
    }
}

/// Sessions in such a store, and a host.
struct Place {
    store: Arc<Hooked>,
    sessions: Sessions,
    host: Host,
    _turns: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let (store, turns) = (Arc::<Hooked>::default(), tempfile::tempdir().expect("a directory"));
        let records = Arc::clone(&store) as Arc<dyn Store>;
        let sessions = Sessions::new(records, Arc::<MemoryBlobs>::default(), turns.path());
        let host = Host::new(&HostOptions::default()).expect("the engines start");
        Self { store, sessions, host, _turns: turns }
    }

    fn open(&self, id: &str, policy: Option<Policy>, approver: Option<Arc<dyn Approver>>) -> Session {
        let pay = HostTool::new("pay", "Pays.", json!({ "type": "object", "properties": {} })).expect("a tool");
        let pay = pay.answered_by(|_: &HostCall<'_>| Ok(json!("paid").into()));
        let options = OpenOptions { policy, host_tools: vec![pay], approver, ..OpenOptions::default() };
        self.host.open(&self.sessions, &name(id), options).expect("it opens")
    }

    /// Makes the session `s` with these grants.
    fn make(&self, grants: impl IntoIterator<Item = Grant>) -> Session {
        self.open("s", Some(grants.into_iter().fold(Policy::default(), Policy::with)), None)
    }

    fn fork(&self, from: &str, to: &str) {
        self.sessions.fork(&from.parse().expect("a point"), &name(to)).expect("it is free");
    }

    /// The records of families.
    fn shared(&self) -> usize {
        let of = |kind: &[u8]| self.store.scan(kind, None, usize::MAX).expect("it is in memory").len();
        of(b"F") + of(b"G")
    }

    fn used(&self, id: &str) -> u64 {
        self.sessions.reader().spent(&name(id)).expect("it is read").get("few").map_or(0, |used| used.calls)
    }

    fn is_whole(&self) {
        for id in self.sessions.list().expect("they are read") {
            self.sessions.verifier().verify_session(&id).expect("it is whole");
        }
        self.sessions.verifier().verify_families().expect("they are whole");
    }
}

fn name(id: &str) -> SessionId {
    id.parse().expect("a name")
}

fn few(calls: u64) -> Grant {
    Grant::allow("pay").expect("a pattern").named("few").calls(calls)
}

fn script(source: &str) -> Script {
    Script { source: source.to_owned(), ..Script::default() }
}

fn run(session: &Session, source: &str) -> RunResult {
    session.start(Language::JavaScript, script(source), RunOptions::default()).expect("it starts").finish()
}

/// Pays so often, at the same time, and returns how often that went well.
fn pay(session: &Session, times: u32) -> u64 {
    let source = format!(
        "const all = await Promise.allSettled(Array.from({{length: {times}}}, () => pay({{}})));
        return all.filter((one) => one.status === 'fulfilled').length"
    );
    run(session, &source).value.and_then(|value| value.as_u64()).unwrap_or_default()
}

#[test]
fn shared_records_exist_only_with_forks_and_go_with_the_last_member() {
    let place = Place::new();
    let session = place.make([few(9)]);
    assert_eq!((pay(&session, 2), place.shared()), (2, 0));
    place.fork("s", "a");
    assert_eq!(place.shared(), 2, "the family, and its one account");
    assert_eq!((pay(&place.open("a", None, None), 3), place.used("s")), (3, 5));
    assert_eq!(pay(&session, 9), 4, "it has them in this process, too");
    place.is_whole();
    let removed = |id: &str| place.sessions.remove(&name(id), &(Arc::new(|| true) as _)).expect("nobody has it");
    removed("s");
    assert_eq!(place.used("a"), 9);
    place.is_whole();
    removed("a");
    assert_eq!(place.store.scan(b"", None, usize::MAX).expect("it is in memory"), [], "nothing is left");
}

/// A call that was judged by what another session has spent meanwhile is judged again: the next grant covers it.
#[test]
fn call_whose_shared_budget_was_spent_meanwhile_is_judged_again() {
    let place = Place::new();
    let more = Grant::allow("pay").expect("a pattern").named("more").calls(1);
    let session = place.make([few(3), more]);
    place.fork("s", "a");
    let wait = "await new Promise((resolve) => setTimeout(resolve, 1));";
    let source = format!("{wait} await pay({{}}); await pay({{}})");
    let mut run = session.start(Language::JavaScript, script(&source), RunOptions::default()).expect("it starts");
    let Step::Blocked(started) = run.step() else { panic!("it waits") };
    // By now it knows of nothing that is spent.
    let elsewhere = place.open("a", None, None);
    assert_eq!(pay(&elsewhere, 3), 3);
    started.into_iter().for_each(|pending| run.perform(pending));
    let result = run.finish();
    let calls: Vec<(u64, &str, Value)> = result
        .calls
        .as_slice()
        .iter()
        .map(|call| (call.seq, call.grant.as_deref().unwrap_or_default(), json!(call.outcome)))
        .collect();
    assert_eq!(calls, [(1, "more", json!("ok")), (2, "few", json!("denied"))]);
    assert_eq!(result.status, Status::Denied);
    assert_eq!((place.used("s"), place.used("a")), (3, 3));
    let left = |session: &Session| session.gate().budgets().iter().map(|one| one.remaining).collect::<Vec<_>>();
    assert_eq!(left(&session), [Amount::whole(0), Amount::whole(0)]);
    // The other one learns of it when it is asked.
    assert_eq!((pay(&elsewhere, 1), left(&elsewhere)), (0, left(&session)));
    place.is_whole();
}

/// Allows every call, after something has happened.
struct Slow(Mutex<Option<Hook>>, Mutex<u32>);

impl Approver for Slow {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        *self.1.lock().expect("no approver panics") += 1;
        let meanwhile = self.0.lock().expect("no approver panics").take();
        meanwhile.into_iter().for_each(|hook| hook());
        Ok(request.put("may it pay?")?.answer(true, "test"))
    }
}

#[test]
fn call_allowed_by_a_human_is_denied_if_its_shared_budget_is_spent() {
    for (spent, outcome) in [(1, "ok"), (2, "denied")] {
        let place = Arc::new(Place::new());
        let grant = Grant { approve: Approve::Always, ..few(2) };
        drop(place.make([grant]));
        place.fork("s", "a");
        let there = Arc::clone(&place);
        let meanwhile: Hook = Box::new(move || {
            let allows = Arc::new(Slow(Mutex::default(), Mutex::default()));
            assert_eq!(pay(&there.open("a", None, Some(allows)), spent), u64::from(spent));
        });
        let slow = Arc::new(Slow(Mutex::new(Some(meanwhile)), Mutex::default()));
        let result = run(&place.open("s", None, Some(Arc::clone(&slow) as _)), "await pay({})");
        assert_eq!(json!(result.calls.as_slice()[0].outcome), outcome, "{result:?}");
        assert_eq!((result.calls.as_slice().len(), *slow.1.lock().expect("it is ours")), (1, 1), "it is asked once");
        assert_eq!(place.used("s"), u64::from(spent) + u64::from(outcome == "ok"));
        place.is_whole();
    }
}

/// The first fork is made, and spends, between a session's judgement of its calls and the commit that pays for them.
#[test]
fn first_fork_in_the_middle_of_a_call_is_noticed_by_it() {
    for (elsewhere, made) in [(2, 3), (4, 1), (5, 0)] {
        let place = Arc::new(Place::new());
        let session = place.make([few(5)]);
        let there = Arc::clone(&place);
        let hook: Hook = Box::new(move || {
            there.fork("s", "a");
            assert_eq!(pay(&there.open("a", None, None), elsewhere), u64::from(elsewhere));
        });
        *place.store.hook.lock().expect("no hook panics") = Some(hook);
        assert_eq!(pay(&session, 3), made, "each is judged again");
        assert_eq!(place.used("s"), u64::from(elsewhere) + made);
        place.is_whole();
        assert_eq!(pay(&session, 5) + u64::from(elsewhere) + made, 5, "nothing is left");
        place.is_whole();
    }
}

#[test]
fn calls_that_lost_their_budget_to_the_first_fork_are_paid_by_the_next_grant() {
    let place = Arc::new(Place::new());
    let session = place.make([few(5), Grant::allow("pay").expect("a pattern").named("more").calls(2)]);
    let there = Arc::clone(&place);
    let hook: Hook = Box::new(move || {
        there.fork("s", "a");
        assert_eq!(pay(&there.open("a", None, None), 5), 5);
    });
    *place.store.hook.lock().expect("no hook panics") = Some(hook);
    let source = "return (await Promise.allSettled([1, 2, 3].map(() => pay({})))).map((one) => one.status)";
    let result = run(&session, source);
    assert_eq!(result.value, Some(json!(["fulfilled", "fulfilled", "rejected"])), "{result:?}");
    let calls: Vec<(u64, Option<&str>, Value)> =
        result.calls.as_slice().iter().map(|call| (call.seq, call.grant.as_deref(), json!(call.outcome))).collect();
    let denied = (3, Some("few"), json!("denied"));
    assert_eq!(calls, [(1, Some("more"), json!("ok")), (2, Some("more"), json!("ok")), denied]);
    assert_eq!(place.sessions.reader().runs(&name("s")).expect("they are read")[1].1.calls, 2);
    place.is_whole();
}

/// A session that shares its budgets commits no more often than one alone.
#[test]
fn session_with_shared_budget_makes_no_extra_commits() {
    let place = Place::new();
    let session = place.make([few(100)]);
    let commits = || {
        let before = place.store.commits.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(run(&session, "for (let n = 0; n < 10; n++) await pay({})").status, Status::Completed);
        place.store.commits.load(std::sync::atomic::Ordering::Relaxed) - before
    };
    assert_eq!(commits(), 12, "a beginning, the calls, an end");
    place.fork("s", "a");
    assert_eq!(commits(), 12);
}

/// A fork that an earlier version made shares nothing, and a fork of now shares with the session that it is made of.
#[test]
fn forks_of_an_earlier_version_keep_budgets_of_their_own() {
    let place = Place::new();
    let session = place.make([few(3)]);
    assert_eq!(pay(&session, 1), 1);
    place.fork("s", "old");
    // As it was kept: the first record without a family, and no records of families.
    let mut batch = Batch::default();
    let first = place.store.get(b"Sold").expect("it is in memory").expect("it is there");
    let mut first: Value = serde_json::from_slice(&first).expect("JSON");
    first.as_object_mut().expect("an object").remove("family").expect("it has one");
    assert_eq!(first.as_object().expect("an object").keys().collect::<Vec<_>>(), ["created", "seed", "from"]);
    batch.put(b"Sold", first.to_string());
    for kind in [b"F", b"G"] {
        let found = place.store.scan(kind, None, usize::MAX).expect("it is in memory");
        found.into_iter().for_each(|(key, _)| batch.remove(key));
    }
    place.store.commit(batch).expect("it is in memory");
    let old = place.open("old", None, None);
    assert_eq!((pay(&old, 1), place.used("old"), place.used("s"), place.shared()), (1, 2, 1, 0));
    place.fork("old", "new");
    assert_eq!((pay(&place.open("new", None, None), 5), pay(&old, 5)), (1, 0));
    assert_eq!((place.used("old"), place.used("new"), place.used("s")), (3, 3, 1));
    assert_eq!(pay(&session, 5), 2);
    place.is_whole();
}

#[test]
fn import_into_the_store_of_its_session_shares_only_what_is_known_there() {
    let place = Place::new();
    let session = place.make([few(5)]);
    assert_eq!(pay(&session, 2), 2);
    let file = place.sessions.transfer().export(&name("s"), Vec::new()).expect("it is written").0;
    let import = |id: &str, budget| {
        let options = ImportOptions { name: Some(name(id)), budget, ..ImportOptions::default() };
        place.sessions.transfer().import(file.as_slice(), &options).expect("it is whole").budget
    };
    assert_eq!(pay(&session, 1), 1);
    assert_eq!((import("a", None), place.used("a")), (ImportedBudget::Shared, 3));
    assert_eq!((import("b", Some(ImportBudget::Keep)), place.used("b")), (ImportedBudget::Kept, 2));
    assert_eq!((import("c", Some(ImportBudget::Fresh)), place.used("c")), (ImportedBudget::Fresh, 0));
    assert_eq!(pay(&place.open("a", None, None), 9), 2);
    assert_eq!(pay(&place.open("b", None, None), 9), 3);
    assert_eq!(pay(&place.open("c", None, None), 9), 5);
    assert_eq!(pay(&session, 9), 0);
    place.is_whole();
    // A grant that no session here has is not shared with any.
    let elsewhere = Place::new();
    drop(elsewhere.make([few(5)]));
    let other = Place::new();
    let exported = elsewhere.sessions.transfer().export(&name("s"), Vec::new()).expect("it is written").0;
    let keep = ImportOptions { budget: Some(ImportBudget::Keep), ..ImportOptions::default() };
    other.sessions.transfer().import(exported.as_slice(), &keep).expect("it is whole");
    let policy = other.store.get(b"Ps").expect("it is in memory").expect("it is there");
    let mut policy: Value = serde_json::from_slice(&policy[1..]).expect("JSON");
    let wide = json!({ "name": "wide", "method": "**", "calls": 100 });
    policy["grant"].as_array_mut().expect("it has grants").push(wide);
    let mut batch = Batch::default();
    batch.put(b"Ps", [&[0], policy.to_string().as_bytes()].concat());
    other.store.commit(batch).expect("it is in memory");
    let back = other.sessions.transfer().export(&name("s"), Vec::new()).expect("it is written").0;
    let options = ImportOptions { name: Some(name("back")), ..ImportOptions::default() };
    let imported = elsewhere.sessions.transfer().import(back.as_slice(), &options).expect("it is whole");
    assert_eq!(imported.budget, ImportedBudget::Shared);
    assert_eq!(elsewhere.sessions.reader().spent(&name("back")).expect("it is read")["wide"].calls, 100);
    assert_eq!(pay(&elsewhere.open("back", None, None), 9), 5);
    assert_eq!(elsewhere.used("s"), 5);
    elsewhere.is_whole();
}
