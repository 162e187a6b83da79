//! Processes that are killed at random moments of runs in sessions, and runs that are resumed until they complete: what
//! takes effect outside takes effect once, what was durable is not lost, and each call is paid for once.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_tests::disk::Disk;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, cycles, slow_cycles};

/// Number of processes that are killed.
fn kills() -> u32 {
    if cfg!(feature = "full") { 1000 } else { cycles(50) }
}

/// Calls of a server that counts, programs, and budgets that count as well.
const POLICY: &str = "[tools]\nhttp = 'tollhouse:http@*'\nprog = 'test:prog'\n\
    [tool.http]\nhttp = ['AT']\n[tool.prog]\nfiles = ['/workspace']\n\
    [[grant]]\nname = 'requests'\nmethod = 'http/**'\ncalls = 100\n\
    [[grant]]\nname = 'programs'\nmethod = 'prog'\ncalls = 100\n";

/// JavaScript: requests one after the other and at once, files, timers.
const JAVASCRIPT: &str = "
    const fs = require('node:fs');
    const get = async path => {
        const answer = await fetch('AT' + path).then(got => got.text(), () => 'lost');
        fs.appendFileSync('out', `${path} ${answer}\\n`);
    };
    for (let at = 0; at < 3; at++) {
        await get(`/a${at}`);
        await Promise.all([get(`/b${at}`), get(`/c${at}`), new Promise(done => setTimeout(done, 5))]);
        console.log(at);
    }";

/// bash: requests one after the other, in a pipeline with a program, and in the background.
const SHELL: &str = "
    get() { echo \"$1 $(curl -sf AT$1 || echo lost)\" >> out; }
    for at in 0 1; do get /a$at; done
    { curl -sf AT/b0 || echo lost; } | prog upper | sed 's,^,/b0 ,' >> out
    get /c0 & wait
    prog write file text; prog cat file > copy; get /c1";

/// JavaScript that runs bash that runs JavaScript, and programs that talk.
const NESTED: &str = "
    const fs = require('node:fs');
    const run = async script => { const ran = await shell(script); if (ran.stderr) throw new Error(ran.stderr) };
    await run(`echo \"/a0 $(curl -sf AT/a0 || echo lost)\" >> out`);
    await run(`node -e \"fetch('AT/a1').then(got => got.text(), () => 'lost').then(text => console.log('/a1 ' + text))\" >> out`);
    const both = await Promise.all(['/b0', '/b1'].map(path => fetch('AT' + path).then(got => got.text(), () => 'lost')));
    fs.appendFileSync('out', both.map((text, at) => `/b${at} ${text}\\n`).join(''));
    await run(`printf '/c0 ' >> out; { curl -sf AT/c0 || echo lost; } | prog cat | prog cat >> out`);";

/// Scripts, each with its language and the requests that it makes.
const SCRIPTS: [(&str, &str, &[&str]); 3] = [
    ("js", JAVASCRIPT, &["/a0", "/b0", "/c0", "/a1", "/b1", "/c1", "/a2", "/b2", "/c2"]),
    ("sh", SHELL, &["/a0", "/a1", "/b0", "/c0", "/c1"]),
    ("js", NESTED, &["/a0", "/a1", "/b0", "/b1", "/c0"]),
];

/// Small generator of numbers, so that a failure names its seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Server that answers each request with its number, and knows which answer each path was given.
struct Counter {
    server: Server,
    answers: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
}

impl Counter {
    fn start() -> Self {
        let answers = Arc::<Mutex<BTreeMap<String, Vec<String>>>>::default();
        let given = Arc::clone(&answers);
        let server = Server::start(move |head: &str| {
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut given = given.lock().expect("no thread panics with it");
            let number = given.values().map(Vec::len).sum::<usize>();
            let answer = format!("N{number}");
            given.entry(path).or_default().push(answer.clone());
            ("200 OK", Vec::new(), format!("{answer}\n").into())
        });
        Self { server, answers }
    }

    fn at(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    fn answers(&self) -> BTreeMap<String, Vec<String>> {
        self.answers.lock().expect("no thread panics with it").clone()
    }
}

/// Runs of one session that are killed and resumed.
struct Victim<'a> {
    home: &'a Home,
    /// Options of the store.
    store: Vec<String>,
    /// Policy and script.
    begin: Vec<String>,
    counter: &'a Counter,
    /// Address of the session's requests: a directory of the server.
    at: String,
    /// Paths of requests of which a human said that they failed.
    lost: BTreeSet<String>,
}

impl<'a> Victim<'a> {
    fn new(home: &'a Home, store: &[String], counter: &'a Counter, round: usize, script: (&str, &str)) -> Self {
        let (language, source) = script;
        let at = format!("{}/{round}", counter.at());
        let policy = home.file("policy.toml", POLICY.replace("AT", &counter.at()));
        let begin = ["run", "--lang", language, "-e", &source.replace("AT", &at), "--policy"];
        let begin = begin.into_iter().map(str::to_owned).chain([policy.display().to_string()]).collect();
        Self { home, store: store.to_vec(), begin, counter, at, lost: BTreeSet::new() }
    }

    fn name(&self) -> String {
        format!("s{}", self.at.rsplit('/').next().unwrap_or_default())
    }

    fn ran(&self, arguments: &[&str]) -> Ran {
        self.home.run(arguments.iter().copied().chain(self.store.iter().map(String::as_str)))
    }

    /// Returns the command line that begins the run, or continues it.
    fn next(&self) -> Option<Vec<String>> {
        let show = self.ran(&["session", "show", &self.name(), "--json"]);
        let show: Value = serde_json::from_str(&show.stdout).unwrap_or_default();
        let mut arguments = match show["runs"][1]["status"].as_str().unwrap_or_default() {
            "" => [self.begin.as_slice(), &["--session".to_owned(), self.name()]].concat(),
            "completed" => return None,
            _ => ["session", "resume", &self.name()].map(str::to_owned).to_vec(),
        };
        arguments.push("--json".to_owned());
        arguments.extend_from_slice(&self.store);
        Some(arguments)
    }

    /// Runs until the end or for this time, and returns the result of a process that was not killed.
    fn attempt(&mut self, arguments: &[String], time: Duration) -> Option<Value> {
        let mut command = self.home.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it is built");
        let begun = Instant::now();
        while begun.elapsed() < time && child.try_wait().expect("it is ours").is_none() {
            std::thread::sleep(Duration::from_millis(3));
        }
        let _ = child.kill();
        let output = child.wait_with_output().expect("it ends");
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Says what became of the calls in doubt, as whoever asks the server would.
    fn resolve(&mut self, result: &Value) {
        let answers = self.counter.answers();
        for call in result["calls"].as_array().expect("calls").iter().filter(|call| call["outcome"] == "pending") {
            let Some(path) = call["arguments"]["url"].as_str().and_then(|url| url.strip_prefix(&self.counter.at()))
            else {
                continue;
            };
            let (seq, is_made) = (call["seq"].to_string(), answers.contains_key(path));
            let fate: &[&str] = if is_made { &["fail", "its answer is lost"] } else { &["retry"] };
            let name = self.name();
            let resolved = self.ran(&[&["session", "resolve", &name, &seq], fate].concat());
            // A call that has not started is not in doubt.
            assert!(resolved.status == 0 || resolved.stderr.contains("in doubt"), "{resolved:?}");
            if is_made && resolved.status == 0 {
                self.lost.insert(path.to_owned());
            }
        }
    }

    /// Checks what the run has left, and what it has done.
    fn check(&self, result: Option<&Value>, paths: &[&str], seed: u64) {
        let name = self.name();
        let answers = self.counter.answers();
        let prefix = self.at.strip_prefix(&self.counter.at()).unwrap_or_default();
        let out = self.ran(&["session", "cat", &name, "/workspace/out"]).stdout;
        let mut seen: Vec<&str> = Vec::new();
        for line in out.lines().filter(|line| !line.is_empty()) {
            let (path, answer) = line.split_once(' ').unwrap_or_else(|| panic!("seed {seed}: {out}"));
            let given = answers.get(&format!("{prefix}{path}")).map(Vec::as_slice).unwrap_or_default();
            assert_eq!(given.len(), 1, "seed {seed}: `{path}` is requested once: {given:?}\n{out}");
            let is_lost = answer.eq_ignore_ascii_case("lost") && self.lost.contains(&format!("{prefix}{path}"));
            assert!(is_lost || answer == given[0], "seed {seed}: `{path}` was answered {given:?}, not {answer}\n{out}");
            seen.push(path);
        }
        seen.sort_unstable();
        let mut all = paths.to_vec();
        all.sort_unstable();
        assert_eq!(seen, all, "seed {seed}: {out}");
        let shown = self.ran(&["session", "show", &name, "--json"]).stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("seed {seed}: {shown}"));
        let budgets = shown["budgets"].as_array().expect("budgets");
        let requests = budgets.iter().find(|budget| budget["grant"] == "requests").expect("a budget");
        assert_eq!(requests["used"], paths.len(), "seed {seed}: {shown:#} {result:#?}");
        let programs = self.begin.iter().map(|text| text.matches("prog ").count()).sum::<usize>();
        let used = budgets.iter().find(|budget| budget["grant"] == "programs").expect("a budget")["used"].clone();
        assert_eq!(used, programs, "seed {seed}: {shown:#}");
        let verified = self.ran(&["store", "verify"]);
        assert_eq!(verified.status, 0, "seed {seed}: {verified:?}");
    }
}

/// Kills runs of all scripts in a store, `crash` after each, until so many were killed.
fn survive(store: &[String], most: u32, mut crash: impl FnMut()) -> u32 {
    let home = Home::with_tools(&["http"]);
    home.publish_program("wasm32-wasip1");
    let counter = Counter::start();
    let seed = std::env::var("TOLLHOUSE_CRASH_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("seed {seed}");
    let (mut numbers, mut killed) = (Numbers(seed), 0);
    for round in 0.. {
        if killed >= most {
            break;
        }
        let (language, source, paths) = SCRIPTS[round % SCRIPTS.len()];
        let mut victim = Victim::new(&home, store, &counter, round, (language, source));
        let (mut last, mut attempts) = (None, 0);
        while let Some(arguments) = victim.next() {
            attempts += 1;
            assert!(attempts < 60, "seed {seed}: {last:#?}");
            // Long enough for a whole run, in the end.
            let time = Duration::from_millis(20 + numbers.below(300 + 50 * attempts));
            last = victim.attempt(&arguments, time);
            match &last {
                None => {
                    killed += 1;
                    crash();
                }
                Some(result) if result["status"] == "in_doubt" => victim.resolve(result),
                Some(result) => assert_eq!(result["status"], "completed", "seed {seed}: {result:#}"),
            }
        }
        victim.check(last.as_ref(), paths, seed);
    }
    killed
}

#[test]
fn durable_effects_happen_once_despite_kills() {
    let killed = survive(&[], kills(), || {});
    println!("{killed} processes were killed");
}

/// The same where the machine loses its power: what was acknowledged is durable, and not only in a cache.
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn durable_effects_happen_once_despite_power_cuts() {
    let disk = Disk::new(256 << 20);
    let store = disk.path().join("store");
    let disk = std::cell::RefCell::new(disk);
    let store = ["--store".to_owned(), store.display().to_string()];
    let cut = || disk.borrow_mut().cut_the_power().expect("the image can be copied and mounted");
    let cuts = survive(&store, slow_cycles(if cfg!(feature = "full") { 60 } else { 6 }), cut);
    println!("{cuts} power cuts");
}
