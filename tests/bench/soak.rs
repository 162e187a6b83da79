//! Runs many concurrent sessions for a long time, some with hostile scripts: `cargo xtask soak [--minutes N]
//! [--sessions M]`.
//!
//! Each of M threads makes a session, runs a script in it, checks the result, and drops the session, over and over.
//! Wrong results are printed; they, or growing memory, make the process fail.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tollhouse::capability::{Grant, Limits, Policy};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, RunResult, SessionOptions, Status};
use tollhouse_tests::Home;

use crate::calls::host;
use crate::table::{bytes, time};

/// One in this many runs is hostile.
const HOSTILE: u64 = 10;

/// Interval between reports of progress.
const REPORT: Duration = Duration::from_secs(10);

/// Largest allowed ratio of the resident memory at the end to that after a tenth of the time.
const GROWTH: f64 = 1.15;

/// Script, with a check of its result.
struct SoakScript {
    name: &'static str,
    language: Language,
    source: &'static str,
    right: fn(&RunResult) -> bool,
}

/// Scripts of normal use.
const GOOD: [SoakScript; 6] = [
    SoakScript {
        name: "js: tool calls at once",
        language: Language::JavaScript,
        source: "const all = await Promise.all([1, 2, 3].map((n) => stats.describe({ values: [n, n + 2] })));
            return all.map(({ mean }) => mean)",
        right: |ran| ran.value == Some(json!([2, 3, 4])),
    },
    SoakScript {
        name: "js: files and text",
        language: Language::JavaScript,
        source: "for (let n = 0; n < 20; n++) await fs.writeFile(`/workspace/${n}.txt`, `line ${n}\\n`.repeat(n));
            let lines = 0;
            for (const name of await fs.readdir('/workspace'))
                lines += (await fs.readFile(`/workspace/${name}`)).split('\\n').length - 1;
            return lines",
        right: |ran| ran.value == Some(json!(190)),
    },
    SoakScript {
        name: "js: a timer, and an error that is caught",
        language: Language::JavaScript,
        source: "await new Promise((done) => setTimeout(done, 5));
            try { await stats.describe({ values: [] }) } catch (error) { return error.name }",
        right: |ran| ran.value == Some(json!("ToolError")),
    },
    SoakScript {
        name: "sh: a pipeline",
        language: Language::Shell,
        source: "for n in 3 1 2; do echo \"line $n\"; done | sort | sed 's/line/row/' | tr '\\n' ' '",
        right: |ran| ran.stdout == b"row 1 row 2 row 3 ",
    },
    SoakScript {
        name: "sh: a tool and jq",
        language: Language::Shell,
        source: "stats describe --values '[1, 2, 6]' | jq .mean; false; echo \"status $?\"",
        right: |ran| ran.stdout == b"3\nstatus 1\n",
    },
    SoakScript {
        name: "js: bash in JavaScript",
        language: Language::JavaScript,
        source: "return (await shell('echo one two | wc -w')).stdout.trim()",
        right: |ran| ran.value == Some(json!("2")),
    },
];

/// Scripts that attack the host, or fail.
const BAD: [SoakScript; 10] = [
    SoakScript {
        name: "an endless loop",
        language: Language::JavaScript,
        source: "while (true);",
        right: |ran| ran.status == Status::Limited,
    },
    SoakScript {
        name: "a regular expression that never ends",
        language: Language::JavaScript,
        source: "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        right: |ran| ran.status == Status::Limited,
    },
    SoakScript {
        name: "strings that fill the memory",
        language: Language::JavaScript,
        source: "const all = []; while (true) all.push('x'.repeat(1 << 20) + all.length);",
        right: |ran| ran.status == Status::Limited,
    },
    SoakScript {
        name: "arrays that fill the memory",
        language: Language::Shell,
        source: "a=(x); while true; do a+=(\"${a[@]}\"); done",
        right: |ran| ran.status == Status::Limited,
    },
    SoakScript {
        name: "output without end",
        language: Language::Shell,
        source: "yes | cat",
        right: |ran| ran.status == Status::Limited,
    },
    SoakScript {
        name: "files that fill the quota",
        language: Language::JavaScript,
        source: "try { for (let n = 0; ; n++) await fs.writeFile(`/workspace/${n}`, 'x'.repeat(1 << 20)) }
            catch (error) { return error.code }",
        right: |ran| matches!(&ran.value, Some(code) if code == "EDQUOT" || code == "ENOSPC"),
    },
    SoakScript {
        name: "deep recursion",
        language: Language::JavaScript,
        source: "const f = (n) => f(n + 1) + 1; try { f(0) } catch (error) { return error.name }",
        right: |ran| ran.value == Some(json!("RangeError")),
    },
    SoakScript {
        name: "a fork bomb",
        language: Language::Shell,
        source: ":() { : | : & }; :; wait; echo survived",
        right: |ran| matches!(ran.status, Status::Limited | Status::Completed | Status::Failed),
    },
    SoakScript {
        name: "a call that nobody granted",
        language: Language::JavaScript,
        source: "await stats.quantiles({ values: [1], probabilities: [0.5] })",
        right: |ran| ran.status == Status::Denied,
    },
    SoakScript {
        name: "JSON 100,000 deep",
        language: Language::JavaScript,
        source: "JSON.parse('['.repeat(100000) + ']'.repeat(100000)); return 1",
        right: |ran| ran.value == Some(json!(1)) || matches!(ran.status, Status::Limited | Status::Failed),
    },
];

/// Observations about one kind of script.
#[derive(Default)]
struct ScriptObservations {
    times: Vec<Duration>,
    wrong: u64,
}

/// Duration of the test, and number of concurrent sessions.
pub(crate) struct SoakTest {
    time: Duration,
    sessions: usize,
}

impl SoakTest {
    /// Reads `--minutes N --sessions M`; returns `None` for anything else.
    pub(crate) fn from(mut arguments: &[String]) -> Option<Self> {
        let mut soak = Self { time: Duration::from_secs(60), sessions: 32 };
        while let [option, value, rest @ ..] = arguments {
            match option.as_str() {
                "--minutes" => {
                    let minutes: f64 = value.parse().ok()?;
                    soak.time = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
                }
                "--sessions" => soak.sessions = value.parse().ok().filter(|sessions| *sessions > 0)?,
                _ => return None,
            }
            arguments = rest;
        }
        arguments.is_empty().then_some(soak)
    }

    /// Runs the test and prints the observations. Returns true if all results were right.
    pub(crate) fn run(&self) -> bool {
        let home = Home::with_tools(&["stats"]);
        let host = host(home.path());
        let (seen, made, over) = (Mutex::default(), AtomicU64::new(0), AtomicBool::new(false));
        let begun = Instant::now();
        println!("{} sessions at once for {:?}, one in {HOSTILE} of them hostile", self.sessions, self.time);
        let memory = std::thread::scope(|scope| {
            for thread in 0..self.sessions {
                let (host, seen, made, over) = (&host, &seen, &made, &over);
                scope.spawn(move || turns(host, thread as u64, seen, made, over));
            }
            let memory = watch(self.time, &made);
            over.store(true, Ordering::Relaxed);
            memory
        });
        let wrong = report(seen.into_inner().expect("no thread panicked"), begun.elapsed());
        wrong == 0 && !grown(&memory)
    }
}

/// Runs scripts on one thread until the time is over.
fn turns(
    host: &Host,
    thread: u64,
    seen: &Mutex<BTreeMap<&'static str, ScriptObservations>>,
    made: &AtomicU64,
    over: &AtomicBool,
) {
    // The order differs between threads, and is the same in each soak test.
    let mut state = thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while !over.load(Ordering::Relaxed) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = state >> 33;
        let works: &[SoakScript] = if pick.is_multiple_of(HOSTILE) { &BAD } else { &GOOD };
        let work = &works[(pick / HOSTILE) as usize % works.len()];
        let begun = Instant::now();
        let ran = run(host, work);
        let taken = begun.elapsed();
        made.fetch_add(1, Ordering::Relaxed);
        let right = (work.right)(&ran);
        if !right {
            println!("WRONG: {}: {:?} {:?} {:?}", work.name, ran.status, ran.value, ran.error);
        }
        let mut seen = seen.lock().expect("no thread panicked");
        let entry = seen.entry(work.name).or_default();
        entry.times.push(taken);
        entry.wrong += u64::from(!right);
    }
}

fn run(host: &Host, work: &SoakScript) -> RunResult {
    let limits = Limits {
        // More than good scripts take, although waiting for a turn counts; a fork bomb uses all of it.
        wall: Duration::from_secs(20),
        fuel: 3_000_000,
        memory: 32 << 20,
        output: 1 << 20,
        files: 8 << 20,
        ..Limits::default()
    };
    let policy = Policy { limits, ..Policy::default() }.with(Grant::allow("stats/describe").expect("a pattern"));
    let session = host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
    let script = Script { source: work.source.to_owned(), name: "soak".to_owned(), ..Script::default() };
    session.start(work.language, script, RunOptions::default()).expect("a run").finish()
}

/// Prints progress until the time is over. Returns samples of the resident memory, in bytes.
fn watch(time: Duration, made: &AtomicU64) -> Vec<f64> {
    let (begun, mut memory) = (Instant::now(), Vec::new());
    let step = REPORT.min(time / 20);
    while begun.elapsed() < time {
        std::thread::sleep(step);
        let (resident, threads) = process();
        memory.push(resident);
        let (elapsed, made) = (begun.elapsed().as_secs(), made.load(Ordering::Relaxed));
        println!("{elapsed:>6} s {made:>9} runs {:>11} resident {threads:>5} threads", bytes(resident));
    }
    memory
}

/// Returns the resident memory of this process in bytes, and its number of threads.
fn process() -> (f64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |key: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    };
    (number("VmRSS:") as f64 * 1024.0, number("Threads:"))
}

/// Prints the durations of each kind of script, and returns the number of wrong results.
fn report(seen: BTreeMap<&'static str, ScriptObservations>, elapsed: Duration) -> u64 {
    println!("{:<42} {:>8} {:>6} {:>10} {:>10} {:>10}", "", "runs", "wrong", "p50", "p99", "longest");
    let (mut all, mut wrong) = (0, 0);
    for (name, ScriptObservations { mut times, wrong: not_right }) in seen {
        times.sort();
        let at = |share: usize| time(times[(times.len() - 1) * share / 100]);
        println!("{name:<42} {:>8} {not_right:>6} {:>10} {:>10} {:>10}", times.len(), at(50), at(99), at(100));
        (all, wrong) = (all + times.len(), wrong + not_right);
    }
    println!("{all} runs, {wrong} wrong, {:.0} a second", all as f64 / elapsed.as_secs_f64());
    wrong
}

/// Returns true if the resident memory has grown too much, and prints the growth.
fn grown(memory: &[f64]) -> bool {
    let (Some(last), Some(early)) = (memory.last(), memory.get(memory.len() / 10)) else { return true };
    let middle = memory[memory.len() / 2];
    println!("resident memory: {} early, {} in the middle, {} at the end", bytes(*early), bytes(middle), bytes(*last));
    *last > early * GROWTH
}
