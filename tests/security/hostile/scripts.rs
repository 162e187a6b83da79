//! The scripts: each in a session of its own, with limits that are quickly reached, and after it the session's next runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse::capability::{Limits, Policy};
use tollhouse::error::ErrorKind;
use tollhouse::gate::{Audit, AuditError, CallOutcome, Event};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, RunResult, Session, SessionOptions, Status};
use tollhouse::vfs::Tree;
use tollhouse_tests::{Home, components, root};

use super::case::Case;
use super::neighbour::{self, Neighbour};

/// Words that the head of a script may have.
const WORDS: [&str; 11] = [
    "status",
    "error",
    "name",
    "message contains",
    "hint contains",
    "stdout",
    "stdout bytes",
    "value",
    "calls",
    "exit",
    "limits",
];

/// Policy of a script, unless its head says otherwise, with the tools that the script finds: one that misbehaves on
/// request, the same with two calls of a budget, and one that gives back what it is given, up to an amount.
const POLICY: &str = r#"
[tools]
probe = "test:probe"
limited = "test:probe"
mirror = "evil:mirror"

[[grant]]
method = "probe/**"

[[grant]]
method = "limited/**"
calls = 2

[[grant]]
method = "mirror/*"
where = [{ param = "amount", le = 100 }]

[limits]
fuel = 1000000
memory = "32MiB"
output = "1MiB"
argument = "1MiB"
result = "1MiB"
files = "16MiB"
"#;

/// The longest that a script may take which is to reach a limit, whichever is the first.
const SHORT: &str = "wall = \"1s\"";

/// The longest of any other, unless its head says otherwise: on a busy machine, too, it comes to its end.
const LONG: &str = "wall = \"30s\"";

/// Time by which a run may exceed its limit: the machine is busy, and what a step holds is given back first.
const LATE: Duration = Duration::from_secs(5);

/// Panics of any thread of this process. None is ever right, wherever it is caught.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A home with the tools of [`POLICY`].
fn home() -> Home {
    let home = Home::with_fixture();
    let mirror = Case::read(&root().join("tests/hostile/mirror.wat"), &["wit"]);
    let wit: String = mirror.each("wit").collect::<Vec<_>>().join("\n");
    let component = home.file("mirror.wasm", components::encode(&wit, "tool", &mirror.text));
    home.publish(&component);
    home
}

/// The host of a home. Compiled code is that which the binary has.
pub(super) fn host(home: &Home) -> Host {
    let cache = home.environment().into_iter().find(|(name, _)| *name == "XDG_CACHE_HOME");
    let options = HostOptions {
        cache: cache.map(|(_, directory)| PathBuf::from(directory).join("tollhouse")),
        registry: Some(home.path().join("tollhouse/registry")),
        ..HostOptions::default()
    };
    Host::new(&options).expect("the engines start")
}

/// Runs the scripts of a group beside a well-behaved session.
pub(super) fn run(directory: &str, extension: &str) {
    panicked();
    let home = home();
    std::fs::create_dir(home.path().join("data")).expect("the home can be written");
    home.file("data/given", "given\n");
    let host = host(&home);
    let neighbour = Neighbour::moves_in(&host);
    let mut wrong = Vec::new();
    for case in Case::all(&format!("scripts/{directory}"), extension, &WORDS) {
        let mut faults = attack(&host, &home, &case);
        faults.extend(panicked());
        wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", case.name)));
    }
    neighbour.leaves();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Returns a problem if the host has panicked since the last call, on whichever thread.
pub(super) fn panicked() -> Option<String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            before(panic);
        }));
    });
    (PANICS.swap(0, Ordering::Relaxed) > 0).then(|| "the host panicked: see above".to_owned())
}

/// Runs one script, and what its session runs next; says what was not as it must be.
fn attack(host: &Host, home: &Home, case: &Case) -> Vec<String> {
    let judged = Arc::new(Judged::default());
    let (session, limits) = session(host, home, case, Arc::clone(&judged));
    let extension = case.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let language = if extension == "sh" { Language::Shell } else { Language::JavaScript };
    let script =
        Script { source: case.text.clone(), name: format!("/workspace/case.{extension}"), ..Script::default() };
    let begun = Instant::now();
    let result = session.start(language, script, RunOptions::default()).expect("a run").finish();
    let mut wrong = compare(case, &result);
    if begun.elapsed() > limits.wall + LATE {
        wrong.push(format!("it ended after {:?}", begun.elapsed()));
    }
    wrong.extend(judged.differs(&result));
    wrong.extend(next(&session));
    wrong
}

fn session(host: &Host, home: &Home, case: &Case, judged: Arc<Judged>) -> (Session, Limits) {
    let own = case.get("limits").unwrap_or_default().replace(", ", "\n");
    let any = case.get("status") == Some("limited") && case.get("message contains").is_none();
    let wall = if any { SHORT } else { LONG };
    let kept: Vec<&str> = POLICY
        .lines()
        .chain([wall])
        .filter(|line| !own.lines().any(|own| own.split(' ').next() == line.split(' ').next()))
        .collect();
    let policy = Policy::parse(&format!("{}\n{own}\n", kept.join("\n")));
    let policy = policy.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let limits = policy.limits.clone();
    let mut files = Tree::new(tollhouse::vfs::Limits { bytes: limits.files, ..tollhouse::vfs::Limits::default() }, 0);
    files.mount_directory(&home.path().join("data"), "/workspace/data", true, 0).expect("it is there");
    let options = SessionOptions { policy, files: Some(files), audit: Some(judged), ..SessionOptions::default() };
    (host.session(options).expect("a session"), limits)
}

/// Compares a result with the script's head, and with what holds for every run.
pub(super) fn compare(case: &Case, result: &RunResult) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |what: &str, expected: Option<String>, got: String| {
        if let Some(expected) = expected
            && expected != got
        {
            wrong.push(format!("{what}: expected {expected}, got {got} ({:?})", result.error));
        }
    };
    let (error, stdout) = (result.error.as_ref(), String::from_utf8_lossy(&result.stdout));
    let kind = error.map_or(Value::Null, |error| json!(error.kind));
    expect("status", Some(case.get("status").expect("every head has one").to_owned()), result.status.word().to_owned());
    expect("error", case.get("error").map(str::to_owned), kind.as_str().unwrap_or("none").to_owned());
    expect("name", case.get("name").map(str::to_owned), error.map_or("none", |error| &error.name).to_owned());
    expect("stdout", case.json("stdout").map(|text| text.to_string()), json!(stdout).to_string());
    expect("stdout bytes", case.get("stdout bytes").map(str::to_owned), result.stdout.len().to_string());
    let value = result.value.clone().unwrap_or_default();
    expect("value", case.json("value").map(|value| value.to_string()), value.to_string());
    expect("exit", case.get("exit").map(str::to_owned), result.exit_code.to_string());
    let outcomes: Vec<_> = result.calls.as_slice().iter().map(|call| json!(call.outcome)).collect();
    let outcomes: Vec<&str> = outcomes.iter().filter_map(Value::as_str).collect();
    expect("calls", case.get("calls").map(str::to_owned), outcomes.join(" "));
    let told = |word: &str, text: &str| {
        let missing = case.each(word).find(|part| !text.contains(part));
        missing.map(|part| format!("{word}: no `{part}` in `{text}`"))
    };
    let message = error.map_or("", |error| &error.message);
    let hint = error.and_then(|error| error.hint.as_deref()).unwrap_or_default();
    let told = [told("message contains", message), told("hint contains", hint), unhelpful(result)];
    wrong.extend(told.into_iter().flatten());
    wrong
}

/// Whatever a script does, it is no fault of the host, a limit says which, and no call is left open.
fn unhelpful(result: &RunResult) -> Option<String> {
    if result.calls.as_slice().iter().any(|call| call.outcome == CallOutcome::Pending) {
        return Some("a call is not settled".to_owned());
    }
    let error = result.error.as_ref()?;
    let named = error.message.contains("stack limit") || error.message.chars().any(|char| char.is_ascii_digit());
    match error.kind {
        ErrorKind::Host => Some(format!("the host is said to be at fault: {error}")),
        ErrorKind::Limit if !named => Some(format!("the limit has no value: {error}")),
        ErrorKind::Limit if error.hint.is_none() => Some(format!("nothing says what to do: {error}")),
        _ => None,
    }
}

/// The session's next runs, in both languages, with a call.
pub(super) fn next(session: &Session) -> Option<String> {
    let script = "return 38 + await probe.length({ text: 'four' })";
    let result = neighbour::run(session, Language::JavaScript, script);
    if (result.status, result.value) != (Status::Completed, Some(json!(42))) {
        return Some(format!("the next run of JavaScript: {:?}", result.error));
    }
    let result = neighbour::run(session, Language::Shell, "echo $((38 + $(probe length --text four)))");
    (result.stdout != b"42\n").then(|| format!("the next run of bash: {:?}", result.error))
}

/// Decisions of the gate, by the audit log.
#[derive(Default)]
struct Judged(Mutex<Vec<Value>>);

impl Judged {
    /// Returns true if the tool `mirror` gave back anything but what was judged: a script whose value has its fields
    /// returns what that tool gave.
    fn differs(&self, result: &RunResult) -> Option<String> {
        let judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = result.value.as_ref().filter(|value| value.get("amount").is_some() && value.get("to").is_some())?;
        (judged.last() != Some(value)).then(|| format!("judged {:?}, received {value}", judged.last()))
    }
}

impl Audit for Judged {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        if let Event::Admitted { method: "mirror/show", arguments, .. } = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((*arguments).clone());
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}
