//! Heaps of suspended runs: a run that continues from its heap does what it would do after a replay, and a heap that is
//! missing, damaged or another's is replaced by a replay.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tollhouse::capability::{Approve, Grant, JournalRetention, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    Answered, CallListing, HeapUse, Host, ImportOptions, OpenOptions, Overrides, Resolution, RunOptions, RunResult,
    Session, SessionId, Sessions, Status, VerifyOptions,
};
use tollhouse::store::{Batch, BlobSource as _, Blobs as _, MemoryBlobs, MemoryStore, Store};
use tollhouse::tool::{HostCall, HostTool};
use tollhouse_registry::PrivateKey;
use tollhouse_tests::Home;

use super::durable_runs::Numbers;
use super::durable_runs::concurrent_scripts::statement;

/// Number of scripts that are generated, of each language.
const SCRIPTS: u64 = if cfg!(feature = "full") { 500 } else { 20 };

/// Script that is suspended after it computed and wrote something, and again in a loop.
const SCRIPT: &str = "
    const fs = require('node:fs');
    const seen = new Map([[{}, 'object'], ['key', Math.random()]]);
    fs.writeFileSync('/workspace/seen', JSON.stringify([...seen.values()]));
    let sum = 0;
    for (let at = 0; at < 3; at++) {
        sum += (await wait.echo({value: String(at), delay: 0})).length;
        await wait.ask({});
    }
    return [sum, JSON.stringify([...seen.values()]) === fs.readFileSync('/workspace/seen', 'utf8')];";

/// Sessions in memory whose records can be read and altered.
struct OpenStore {
    records: Arc<MemoryStore>,
    blobs: Arc<MemoryBlobs>,
    sessions: Sessions,
    _locks: TempDir,
}

impl OpenStore {
    fn new() -> Self {
        Self::with(Arc::default(), Arc::default())
    }

    fn with(records: Arc<MemoryStore>, blobs: Arc<MemoryBlobs>) -> Self {
        let locks = TempDir::new().expect("a directory");
        let sessions = Sessions::new(records.clone(), blobs.clone(), locks.path());
        Self { records, blobs, sessions, _locks: locks }
    }

    /// Returns the keys and values of the heaps.
    fn heaps(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.records.scan(b"I", None, 100).expect("they are read")
    }

    fn put(&self, key: &[u8], value: Option<Vec<u8>>) {
        let mut batch = Batch::default();
        match value {
            Some(value) => batch.put(key, value),
            None => batch.remove(key),
        }
        self.records.commit(batch).expect("it is written");
    }

    /// Stores a blob, and returns its name.
    fn blob(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut upload = self.blobs.begin().expect("it begins");
        upload.put(bytes).expect("it is put").as_bytes().to_vec()
    }

    /// Copies the records as they are now: as if the process had died.
    fn copy(records: &MemoryStore) -> MemoryStore {
        let copy = MemoryStore::default();
        let mut batch = Batch::default();
        for (key, value) in records.scan(b"", None, usize::MAX).expect("they are read") {
            batch.put(key, value);
        }
        copy.commit(batch).expect("they are written");
        copy
    }
}

fn id() -> SessionId {
    "s".parse().expect("a name")
}

/// Returns the tools `wait.echo`, which answers after a while, and `wait.ask`, which needs approval.
fn tools(on_echo: impl Fn(&str) + Send + Sync + 'static) -> Vec<HostTool> {
    let schema = |properties: Value| json!({ "type": "object", "properties": properties });
    let parameters = schema(json!({ "value": { "type": "string" }, "delay": { "type": "integer" } }));
    let echo = HostTool::new("wait.echo", "Answers after a while.", parameters).expect("a tool");
    let echo = echo.answered_by(move |call: &HostCall<'_>| {
        std::thread::sleep(Duration::from_millis(call.arguments["delay"].as_u64().unwrap_or_default()));
        on_echo(call.arguments["value"].as_str().unwrap_or_default());
        Ok(call.arguments["value"].clone().into())
    });
    let ask = HostTool::new("wait.ask", "Asks.", schema(json!({}))).expect("a tool");
    vec![echo, ask.answered_by(|_: &HostCall<'_>| Ok(json!("asked").into()))]
}

fn options(tools: Vec<HostTool>) -> OpenOptions {
    let grant = |pattern: &str| Grant::allow(pattern).expect("a pattern");
    let policy = Policy::default().with(grant("wait/echo")).with(grant("wait/ask").approve(Approve::Always));
    let policy = Policy { journal: JournalRetention::All, ..policy };
    OpenOptions { policy: Some(policy), host_tools: tools, ..OpenOptions::default() }
}

fn start(session: &Session, language: Language, source: &str) -> RunResult {
    let script = Script { source: source.to_owned(), ..Script::default() };
    let options = RunOptions { heap: HeapUse::Always, ..RunOptions::default() };
    session.start(language, script, options).expect("it starts").finish()
}

fn approve(sessions: &Sessions) {
    approve_call(sessions, None);
}

fn approve_call(sessions: &Sessions, seq: Option<u64>) {
    let answered =
        Answered { allowed: true, by: "test".to_owned(), reason: None, digest: None, arguments: None, signature: None };
    sessions.call_decisions().decide(&id(), None, seq, &answered, Arc::new(|| true)).expect("one call waits");
}

/// Resumes the run, and returns whether it continued from its heap, with its result.
fn resume(session: &Session, heap: HeapUse) -> (bool, RunResult) {
    let run = session.resume(RunOptions { heap, ..RunOptions::default() }).expect("it is suspended");
    (run.is_from_heap(), run.finish())
}

/// Resumes the run from its heap, with the calls since then.
fn resume_since_heap(session: &Session) -> RunResult {
    let options = RunOptions { heap: HeapUse::Always, calls: CallListing::SinceHeap, ..RunOptions::default() };
    let run = session.resume(options).expect("it is suspended");
    assert!(run.is_from_heap());
    run.finish()
}

/// Returns the description of a heap, and its bytes behind that.
fn described(heap: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_be_bytes(heap[4..8].try_into().expect("four bytes")) as usize;
    let (description, pages) = heap[8..].split_at(length);
    (serde_json::from_slice(description).expect("it is JSON"), pages.to_vec())
}

/// Returns the bytes of a heap with this description.
fn heap_of(magic: &[u8], description: &Value, pages: &[u8]) -> Vec<u8> {
    let description = description.to_string().into_bytes();
    let length = u32::try_from(description.len()).expect("it is short").to_be_bytes();
    [magic, &length, &description, pages].concat()
}

/// Approves and resumes a suspended run until it ends.
fn finish(sessions: &Sessions, session: &Session) -> RunResult {
    loop {
        approve(sessions);
        let (_, result) = resume(session, HeapUse::Always);
        if result.status != Status::Suspended {
            return result;
        }
    }
}

/// One statement of a bash script, which prints whatever could differ between two runs.
fn shell_statement(numbers: &mut Numbers, at: usize) -> String {
    let (delay, other) = (numbers.below(4), numbers.below(4));
    match numbers.below(9) {
        0 => format!("trace \"$(tool wait.echo --value v{at} --delay {delay})\""),
        1 => "trace $RANDOM \"$(date +%s%N)\"".to_owned(),
        2 => format!(
            "tool wait.echo --value a{at} --delay {delay} > a{at} & tool wait.echo --value b --delay {other} > b{at} & wait; trace \"$(cat a{at} b{at})\""
        ),
        3 => format!("printf '%s\\n' {at} b a | sort | tr a-z A-Z >> log; trace \"$(tail -2 log)\""),
        4 => format!("list+=({at}); f{at}() {{ echo \"f $1 {at}\"; }}; trace \"${{list[@]}}\" \"$(f{at} x)\""),
        5 => format!("sleep 0.00{delay}; trace slept"),
        6 => "trace \"$(node -e 'console.log(Math.random())')\"".to_owned(),
        _ => "trace \"$(tool wait.ask)\"; declare -F | wc -l".to_owned(),
    }
}

fn shell_script(numbers: &mut Numbers) -> String {
    let body: String = (0..10).map(|at| shell_statement(numbers, at) + "\n").collect();
    format!(
        "list=(); traced=(); trace() {{ traced+=(\"$*\"); echo \"$*\"; }}\n{body}tool wait.ask\n\
        printf '%s\\n' \"${{traced[@]}}\" > trace"
    )
}

fn javascript(numbers: &mut Numbers) -> String {
    let inline = "trace.push(require('child_process').execSync('node -e \"console.log(Math.random())\"').toString());";
    let body: String = (0..12)
        .map(|at| if numbers.below(8) == 0 { inline.to_owned() } else { statement(numbers, at) } + "\n")
        .collect();
    format!(
        "const fs = require('fs'); const trace = [], later = [];\n{body}\n\
        trace.push(await wait.ask({{}}));\nawait Promise.all(later); return trace"
    )
}

/// Whatever a script has done when it is suspended, its run continues from its heap as it does after a replay: when it has
/// ended, its whole journal is replayed, and has to give the same calls, files and value.
#[test]
fn run_resumed_from_heaps_equals_the_replay_of_its_journal() {
    let (home, key) = (Home::new(), PrivateKey::generate().expect("random"));
    let host = home.host();
    let mut from_heaps = [0; 2];
    for seed in 0..2 * SCRIPTS {
        let numbers = &mut Numbers(seed);
        let (at, language, source) = match seed % 2 {
            0 => (0, Language::JavaScript, javascript(numbers)),
            _ => (1, Language::Shell, shell_script(numbers)),
        };
        let sessions = Sessions::in_memory();
        let session = host.open(&sessions, &id(), options(tools(|_| {}))).expect("it opens");
        let mut result = start(&session, language, &source);
        while result.status == Status::Suspended {
            approve(&sessions);
            let heap = if numbers.below(4) == 0 { HeapUse::Never } else { HeapUse::Always };
            let calls = if numbers.below(2) == 0 { CallListing::All } else { CallListing::SinceHeap };
            let run = session.resume(RunOptions { heap, calls, ..RunOptions::default() }).expect("it is suspended");
            from_heaps[at] += u64::from(run.is_from_heap());
            result = run.finish();
        }
        assert_eq!(result.status, Status::Completed, "seed {seed}: {:?}\n{source}", result.error);
        let options = VerifyOptions { host_tools: tools(|_| {}), ..VerifyOptions::default() };
        let receipt = host.receipt(&sessions, &"s".parse().expect("a point"), &key, &options, Vec::new());
        let (_, verification) = receipt.unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{source}"));
        assert_eq!((verification.value, verification.snapshot), (result.value, result.snapshot), "seed {seed}");
    }
    assert!(from_heaps.iter().all(|number| *number >= SCRIPTS), "{from_heaps:?}");
}

/// Opens a session in this store, and suspends the script in it, with a heap.
fn suspended(host: &Host, store: &OpenStore) -> Session {
    let session = host.open(&store.sessions, &id(), options(tools(|_| {}))).expect("it opens");
    let result = start(&session, Language::JavaScript, SCRIPT);
    assert_eq!(result.status, Status::Suspended, "{:?}", result.error);
    assert_eq!(store.heaps().len(), 1);
    session
}

/// Script that is suspended after many calls, some of which are refused or given up, with a call before that waits longer.
const MANY_CALLS: &str = "
    const first = wait.ask({});
    for (let at = 0; at < 30; at++) await wait.echo({value: String(at), delay: 0});
    await wait.echo({value: 7, delay: 0}).catch(() => {});
    await shell('timeout 0.01 tool wait.echo --value slow --delay 200');
    const second = wait.ask({});
    const answers = [await Promise.race([first, second])];
    await wait.echo({value: 'between', delay: 0});
    answers.push(await first, await second, await wait.ask({}));
    return answers.length";

/// What a run is told and does is the same whether its journal and log are read from their start or from the position of its
/// heap; so is what is recorded of it.
#[test]
fn run_resumed_with_the_calls_since_its_heap_equals_one_with_all_of_them() {
    let home = Home::new();
    let host = home.host();
    let ended = [HeapUse::Never, HeapUse::Always].map(|heap| {
        [CallListing::All, CallListing::SinceHeap].map(|calls| {
            let store = OpenStore::new();
            let session = host.open(&store.sessions, &id(), options(tools(|_| {}))).expect("it opens");
            let mut result = start(&session, Language::JavaScript, MANY_CALLS);
            let mut seen = Vec::new();
            while result.status == Status::Suspended {
                let waits = store.sessions.call_decisions().pending_calls(&id()).expect("they are read");
                let waits: Vec<u64> = waits.iter().map(|call| call.call.seq).collect();
                approve_call(&store.sessions, Some(*waits.last().expect("one waits")));
                let run = session.resume(RunOptions { heap, calls, ..RunOptions::default() }).expect("it is suspended");
                assert_eq!(run.is_from_heap(), heap == HeapUse::Always);
                result = run.finish();
                let earlier = result.calls.earlier();
                let (listed, omitted) = (result.calls.as_slice(), earlier.count());
                assert_eq!(omitted > 0, (heap, calls) == (HeapUse::Always, CallListing::SinceHeap), "{earlier:?}");
                let last = listed.last().map(|call| (call.seq, call.method.clone(), call.outcome));
                let methods: Vec<String> = result.calls.methods().into_iter().map(str::to_owned).collect();
                seen.push((waits, omitted + listed.len() as u64, last, methods));
            }
            assert_eq!(result.status, Status::Completed, "{:?}", result.error);
            let runs = store.sessions.reader().runs(&id()).expect("they are read");
            let record = &runs.last().expect("a run").1;
            (result.value, seen, record.calls, record.denied)
        })
    });
    let [[replayed, same], [listed, omitted]] = ended;
    assert_eq!(replayed.0, Some(json!(4)));
    assert!(replayed == same && replayed == listed && replayed == omitted, "{replayed:?}\n{listed:?}\n{omitted:?}");
}

/// Whatever a heap says of journal and log, no call is counted, approved or decided otherwise than they have it.
#[test]
fn heap_with_another_position_is_refused_or_the_log_is_read_whole() {
    let home = Home::new();
    let host = home.host();
    type Altered<'a> = &'a dyn Fn(&mut Value);
    let digest = || json!("00".repeat(32));
    let cases: [(&str, bool, bool, Altered); 8] = [
        ("as it was", true, true, &|_| {}),
        ("other chunks", false, false, &|position| position["chunks"]["digest"] = digest()),
        ("fewer chunks", false, false, &|position| position["chunks"]["chunks"] = json!(1)),
        ("more chunks", false, false, &|position| position["chunks"]["chunks"] = json!(99)),
        ("another first chunk", false, false, &|position| position["first"] = digest()),
        ("another line of the log", true, false, &|position| position["line_hash"] = digest()),
        ("fewer lines of the log", true, false, &|position| position["lines"] = json!(1)),
        ("fewer calls", true, false, &|position| position["calls"]["admitted"] = json!(0)),
    ];
    for (what, is_used, is_omitted, altered) in cases {
        let store = OpenStore::new();
        let session = suspended(&host, &store);
        let (key, value) = store.heaps().remove(0);
        let heap = store.blobs.get(&<[u8; 32]>::try_from(&value[..32]).expect("32 bytes").into()).expect("it is there");
        let (mut description, pages) = described(&heap);
        altered(&mut description["journal"]);
        let blob = store.blob(heap_of(&heap[..4], &description, &pages));
        store.put(&key, Some([blob.as_slice(), &value[32..]].concat()));
        approve(&store.sessions);
        let options = RunOptions { heap: HeapUse::Always, calls: CallListing::SinceHeap, ..RunOptions::default() };
        let run = session.resume(options).expect("it is suspended");
        assert_eq!(run.is_from_heap(), is_used, "{what}");
        let result = run.finish();
        assert_eq!(result.status, Status::Suspended, "{what}: {:?}", result.error);
        let (listed, omitted) = (result.calls.as_slice().len() as u64, result.calls.earlier().count());
        assert_eq!((listed + omitted, omitted > 0), (4, is_omitted), "{what}");
        assert_eq!(finish(&store.sessions, &session).value, Some(json!([3, true])), "{what}");
    }
}

/// A heap that an earlier release has written names the whole journal by length and hash.
#[test]
fn heap_of_version_1_is_used() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    let session = suspended(&host, &store);
    let (key, value) = store.heaps().remove(0);
    let heap = store.blobs.get(&<[u8; 32]>::try_from(&value[..32]).expect("32 bytes").into()).expect("it is there");
    let (mut description, pages) = described(&heap);
    let journal: Vec<u8> = store
        .records
        .scan(b"J", None, 100)
        .expect("they are read")
        .into_iter()
        .flat_map(|(_, value)| match value[0] {
            0 => value[1..].to_vec(),
            _ => store.blobs.get(&<[u8; 32]>::try_from(&value[1..]).expect("32 bytes").into()).expect("there").to_vec(),
        })
        .collect();
    description["journal"] = json!({ "bytes": journal.len(), "hash": blake3::hash(&journal).to_hex().as_str() });
    description["conditions"]["version"] = json!(1);
    let blob = store.blob(heap_of(b"THH1", &description, &pages));
    store.put(&key, Some([blob.as_slice(), &value[32..]].concat()));
    approve(&store.sessions);
    let result = {
        let options = RunOptions { heap: HeapUse::Always, calls: CallListing::SinceHeap, ..RunOptions::default() };
        let run = session.resume(options).expect("it is suspended");
        assert!(run.is_from_heap());
        run.finish()
    };
    assert_eq!((result.status, result.calls.as_slice().len()), (Status::Suspended, 4), "{:?}", result.error);
    approve(&store.sessions);
    let result = resume_since_heap(&session);
    assert_eq!(result.status, Status::Suspended, "its next heap has a position: {:?}", result.error);
    assert!(result.calls.earlier().count() > 0);
    assert_eq!(finish(&store.sessions, &session).value, Some(json!([3, true])));
}

/// The heap is a copy of what the journal says: without it, or with another, nothing is lost.
#[test]
fn heap_that_is_missing_damaged_or_of_another_run_is_replaced_by_a_replay() {
    let home = Home::new();
    let host = home.host();
    let other = OpenStore::new();
    drop(suspended(&host, &other));
    let (_, others) = other.heaps().remove(0);
    let others = other.blobs.get(&<[u8; 32]>::try_from(&others[..32]).expect("32 bytes").into()).expect("it is there");
    type Altered<'a> = &'a dyn Fn(&OpenStore, &[u8]) -> Option<Vec<u8>>;
    let with_heap =
        |store: &OpenStore, value: &[u8], bytes: Vec<u8>| Some([store.blob(bytes).as_slice(), &value[32..]].concat());
    let cases: [(&str, bool, Altered); 7] = [
        ("unaltered", true, &|_, value| Some(value.to_vec())),
        ("removed", false, &|_, _| None),
        ("a blob that is missing", false, &|_, value| Some([&[7; 32], &value[32..]].concat())),
        ("files that are missing", false, &|_, value| Some([&value[..32], &[7; 32]].concat())),
        ("no names of blobs", false, &|_, value| Some(value[..40].to_vec())),
        ("other bytes", false, &|store, value| with_heap(store, value, b"no heap".to_vec())),
        ("the heap of another run", false, &|store, value| with_heap(store, value, others.to_vec())),
    ];
    for (what, is_used, altered) in cases {
        let store = OpenStore::new();
        let session = suspended(&host, &store);
        let (key, value) = store.heaps().remove(0);
        let altered = altered(&store, &value);
        store.put(&key, altered);
        approve(&store.sessions);
        let (is_from_heap, result) = resume(&session, HeapUse::Always);
        assert_eq!((is_from_heap, result.status), (is_used, Status::Suspended), "{what}: {:?}", result.error);
        assert_eq!(result.calls.as_slice().len(), 4, "{what}");
        let result = finish(&store.sessions, &session);
        assert_eq!(result.value, Some(json!([3, true])), "{what}: {:?}", result.error);
        assert!(store.heaps().is_empty(), "a run that has ended has no heap");
    }
}

/// A heap is written when the run is suspended, and not again as long as nothing has happened.
#[test]
fn run_that_waits_again_keeps_its_heap() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    let session = suspended(&host, &store);
    let before = store.heaps();
    for heap in [HeapUse::Always, HeapUse::AfterMuchWork] {
        let (is_from_heap, result) = resume(&session, heap);
        assert_eq!((is_from_heap, result.status), (true, Status::Suspended));
        assert_eq!(store.heaps(), before);
    }
    let (is_from_heap, result) = resume(&session, HeapUse::Never);
    assert_eq!((is_from_heap, result.status), (false, Status::Suspended));
    approve(&store.sessions);
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.status), (true, Status::Suspended));
    assert_ne!(store.heaps(), before);
}

/// A run that did little is replayed sooner than its heap is written.
#[test]
fn run_of_little_work_has_no_heap_unless_asked_for() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    let session = host.open(&store.sessions, &id(), options(tools(|_| {}))).expect("it opens");
    let suspend = |source: String| {
        let script = Script { source, ..Script::default() };
        let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
        assert_eq!(run.finish().status, Status::Suspended);
        let heaps = store.heaps().len();
        store.sessions.unfinished_runs().abandon(&id(), Arc::new(|| true)).expect("it is suspended");
        assert!(store.heaps().is_empty(), "a run that was abandoned has no heap");
        heaps
    };
    assert_eq!(suspend(SCRIPT.to_owned()), 0);
    let many = "for (let at = 0; at < 250; at++) await new Promise(done => setTimeout(done, 0)); await wait.ask({})";
    assert_eq!(suspend(many.to_owned()), 1);
    let long = "let sum = 0; for (let at = 0; at < 3e6; at++) sum += at; await wait.ask({}); return sum";
    assert_eq!(suspend(long.to_owned()), 1, "a replay would compute all of it again");
}

/// With other limits, a replay could end otherwise.
#[test]
fn run_resumed_with_other_limits_is_replayed() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    drop(suspended(&host, &store));
    let limits = Overrides { memory: Some(100 << 20), ..Overrides::default() };
    let session =
        host.open(&store.sessions, &id(), OpenOptions { limits, ..options(tools(|_| {})) }).expect("it opens");
    approve(&store.sessions);
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.status), (false, Status::Suspended));
    assert_eq!(finish(&store.sessions, &session).value, Some(json!([3, true])));
}

/// A memory that has grown is grown again by the guest's own allocator, of which no trace may be left.
#[test]
fn run_whose_memory_has_grown_continues_from_its_heap() {
    let home = Home::new();
    let host = home.host();
    let javascript = "const held = Array.from({length: 10}, (_, at) => new Uint8Array(1 << 20).fill(at));
        await wait.ask({}); const more = new Uint8Array(4 << 20).fill(9);
        return [held.map(bytes => bytes.every(byte => byte === bytes[0]) && bytes[0]), more.every(byte => byte === 9)]";
    let shell = "x=$(head -c 4000000 /dev/zero | tr '\\0' a); tool wait.ask; echo ${#x} ${x:3999990}";
    let cases = [(Language::JavaScript, javascript, 13_762_560), (Language::Shell, shell, 35_848_192)];
    for (language, source, image) in cases {
        let store = OpenStore::new();
        let session = host.open(&store.sessions, &id(), options(tools(|_| {}))).expect("it opens");
        let result = start(&session, language, source);
        assert_eq!(result.status, Status::Suspended, "{:?}", result.error);
        assert!(result.usage.memory_bytes > image, "the memory has not grown: {}", result.usage.memory_bytes);
        approve(&store.sessions);
        let (is_from_heap, result) = resume(&session, HeapUse::Always);
        assert_eq!((is_from_heap, result.status), (true, Status::Completed), "{:?}", result.error);
        match language {
            Language::Shell => assert_eq!(result.stdout, b"\"asked\"\n4000000 aaaaaaaaaa\n"),
            _ => assert_eq!(result.value, Some(json!([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], true]))),
        }
    }
}

/// No limit of memory depends on a heap: it is within what each guest has besides its limit.
#[test]
fn run_with_much_memory_has_no_heap() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    let session = host.open(&store.sessions, &id(), options(tools(|_| {}))).expect("it opens");
    let source = "const held = new Uint8Array(80 << 20).fill(1); await wait.ask({}); return held[7]";
    let result = start(&session, Language::JavaScript, source);
    assert_eq!((result.status, store.heaps().len()), (Status::Suspended, 0));
    assert_eq!(finish(&store.sessions, &session).value, Some(json!(1)));
}

/// A process that dies after it has continued from a heap leaves a longer journal: the next one continues from the heap,
/// and is given the rest.
#[test]
fn interrupted_run_continues_from_its_heap_and_the_rest_of_its_journal() {
    let home = Home::new();
    let (host, store) = (home.host(), OpenStore::new());
    let died = Arc::new(Mutex::new(None));
    let (records, kept) = (Arc::clone(&store.records), Arc::clone(&died));
    let on_echo = move |value: &str| {
        if value == "2" {
            *kept.lock().expect("nobody panics") = Some(OpenStore::copy(&records));
        }
    };
    let session = host.open(&store.sessions, &id(), options(tools(on_echo))).expect("it opens");
    let source = SCRIPT.replace("await wait.ask({});", "if (at === 0) await wait.ask({});");
    assert_eq!(start(&session, Language::JavaScript, &source).status, Status::Suspended);
    approve(&store.sessions);
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.value), (true, Some(json!([3, true]))));

    let copied = died.lock().expect("nobody panics").take().expect("the tool was called");
    let after = OpenStore::with(Arc::new(copied), Arc::clone(&store.blobs));
    let session = host.open(&after.sessions, &id(), options(tools(|_| {}))).expect("it opens");
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.status), (true, Status::InDoubt), "{:?}", result.error);
    let runs = after.sessions.unfinished_runs();
    runs.resolve(&id(), None, 4, &Resolution::Retry, "test", Arc::new(|| true)).expect("it is in doubt");
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.value), (true, Some(json!([3, true]))), "{:?}", result.error);
    assert_eq!(result.calls.as_slice().len(), 4);
}

/// A heap stays in its store: where a session is moved to, its run is replayed.
#[test]
fn session_that_is_handed_over_goes_without_its_heap() {
    let home = Home::new();
    let (host, store, target) = (home.host(), OpenStore::new(), OpenStore::new());
    drop(suspended(&host, &store));
    let (archive, _) =
        store.sessions.transfer().hand_over(&id(), Vec::new(), Arc::new(|| true)).expect("it is handed over");
    target.sessions.transfer().import(&archive[..], &ImportOptions::default()).expect("it is imported");
    assert!(target.heaps().is_empty());
    let session = host.open(&target.sessions, &id(), options(tools(|_| {}))).expect("it opens");
    approve(&target.sessions);
    let (is_from_heap, result) = resume(&session, HeapUse::Always);
    assert_eq!((is_from_heap, result.status), (false, Status::Suspended), "{:?}", result.error);
    assert_eq!(finish(&target.sessions, &session).value, Some(json!([3, true])));
}
