//! A process that commits from several threads and says what was acknowledged, until it is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tollhouse::store::{Backend, Batch, Record, Store, StoreError, open};

use super::check::{Acknowledged, Thread, commit, head, number};

/// Variables of the environment that the child reads.
const DIR: &str = "TOLLHOUSE_CRASH_DIR";
const KIND: &str = "TOLLHOUSE_CRASH_KIND";
const WRITER: &str = "TOLLHOUSE_CRASH_WRITER";

/// Number of threads of a process that commit.
const THREADS: u32 = 3;

/// Time within which something must have been acknowledged, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kind of store that keeps the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sled,
    Redb,
    /// sled as it comes, with its own `flush`: what the store must not be.
    PlainSled,
}

impl Kind {
    pub(super) fn backend(self) -> Backend {
        match self {
            Self::Sled | Self::PlainSled => Backend::Sled,
            Self::Redb => Backend::Redb,
        }
    }

    pub(super) fn open(self, dir: &Path) -> Result<Box<dyn Store>, StoreError> {
        match self {
            Self::PlainSled => PlainSled::open(dir),
            _ => Ok(Box::new(open(dir, self.backend())?)),
        }
    }
}

/// sled as its documentation shows it; made durable once, when it is opened, so that what it loses it loses by `flush`.
struct PlainSled(sled::Db);

impl PlainSled {
    fn open(dir: &Path) -> Result<Box<dyn Store>, StoreError> {
        let opened = std::panic::catch_unwind(|| sled::open(dir));
        match opened {
            Ok(Ok(db)) => {
                db.flush().map_err(damaged)?;
                for name in ["db", "conf", ".", ".."] {
                    std::fs::File::open(dir.join(name))?.sync_all()?;
                }
                Ok(Box::new(Self(db)))
            }
            Ok(Err(error)) => Err(StoreError::Damaged(error.to_string())),
            Err(_) => Err(StoreError::Damaged("sled panicked".to_owned())),
        }
    }
}

fn damaged(error: sled::Error) -> StoreError {
    StoreError::Damaged(error.to_string())
}

impl Store for PlainSled {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).map_err(damaged)?.map(|value| value.to_vec()))
    }

    fn scan(&self, prefix: &[u8], _: Option<&[u8]>, _: usize) -> Result<Vec<Record>, StoreError> {
        let records = self.0.scan_prefix(prefix).map(|record| {
            let (key, value) = record.map_err(damaged)?;
            Ok((key.to_vec(), value.to_vec()))
        });
        records.collect()
    }

    fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let made = self.0.transaction(|tree| {
            for expectation in &batch.expect {
                if tree.get(&expectation.key)?.as_deref() != expectation.value.as_deref() {
                    let key = expectation.key.clone();
                    return sled::transaction::abort(StoreError::Conflict { key });
                }
            }
            for change in &batch.changes {
                match &change.value {
                    Some(value) => tree.insert(change.key.as_slice(), value.as_slice())?,
                    None => tree.remove(change.key.as_slice())?,
                };
            }
            Ok(())
        });
        made.map_err(|error| match error {
            sled::transaction::TransactionError::Abort(error) => error,
            sled::transaction::TransactionError::Storage(error) => damaged(error),
        })?;
        self.0.flush().map_err(damaged)?;
        Ok(())
    }
}

/// Works as a writer's child process: does nothing, unless a test has started it.
pub(super) fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let variable = |name| std::env::var(name).expect("it is set with the directory");
    let kind = match variable(KIND).as_str() {
        "Sled" => Kind::Sled,
        "PlainSled" => Kind::PlainSled,
        _ => Kind::Redb,
    };
    let writer = variable(WRITER).parse().expect("a number");
    let store = kind.open(&dir).expect("it opens");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &*store;
            scope.spawn(move || write(store, (writer, thread)));
        }
    });
}

/// Commits, and says so, for ever.
fn write(store: &dyn Store, thread: Thread) {
    let mut last = number(store.get(&head(thread)).expect("it reads").as_deref());
    loop {
        let total = store.get(b"total").expect("it reads");
        match store.commit(commit(thread, last + 1, total)) {
            Ok(()) => last += 1,
            Err(StoreError::Conflict { key }) if key == b"total" => continue,
            Err(error) => panic!("{thread:?} after {last}: {error:?}"),
        }
        let line = format!("\nacknowledged {} {} {last}\n", thread.0, thread.1);
        std::io::stdout().lock().write_all(line.as_bytes()).expect("the parent reads");
    }
}

/// Process that writes to the store.
pub(super) struct Writer {
    process: Child,
    lines: Receiver<String>,
}

impl Writer {
    pub(super) fn start(dir: &Path, kind: Kind, writer: u32) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", "crash::store::child", "--nocapture", "--test-threads=1"]);
        command.env(DIR, dir).env(KIND, format!("{kind:?}")).env(WRITER, writer.to_string());
        let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, lines }
    }

    /// Takes down what was acknowledged; false if the time was over first, or there will be no more.
    fn next(&self, patience: Duration, acknowledged: &mut Acknowledged) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if read(&line, acknowledged) => return true,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    pub(super) fn wait_for_one(&self, acknowledged: &mut Acknowledged) {
        assert!(self.next(PATIENCE, acknowledged), "nothing was acknowledged");
    }

    /// Kills it, and takes down what it had said until then.
    pub(super) fn kill(&mut self, acknowledged: &mut Acknowledged) {
        if let Some(status) = self.process.try_wait().expect("it is ours") {
            panic!("the writer ended by itself: {status}");
        }
        self.process.kill().expect("it is ours");
        self.process.wait().expect("it is ours");
        while self.next(PATIENCE, acknowledged) {}
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // After a failure it still runs.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A line that was cut by the kill is no acknowledgement that anybody has seen whole; it has no end of line.
fn read(line: &str, acknowledged: &mut Acknowledged) -> bool {
    let Some(rest) = line.strip_prefix("acknowledged ") else { return false };
    let mut numbers = rest.split(' ').map(|number| number.parse::<u64>().expect("it is written whole"));
    let mut next = || numbers.next().expect("three numbers");
    let small = |number: u64| u32::try_from(number).expect("a small number");
    let (thread, last) = ((small(next()), small(next())), next());
    acknowledged.0.insert(thread, last);
    true
}

/// Several children on one store.
pub(super) struct Writers(Vec<Writer>);

impl Writers {
    pub(super) fn start(dir: &Path, kind: Kind, writers: u32) -> Self {
        Self((0..writers).map(|writer| Writer::start(dir, kind, writer)).collect())
    }

    pub(super) fn wait_for_all(&self, acknowledged: &mut Acknowledged) {
        for writer in &self.0 {
            writer.wait_for_one(acknowledged);
        }
    }

    /// Kills the one that holds the store; how long until another has committed.
    pub(super) fn kill_the_leader(&mut self, dir: &Path, acknowledged: &mut Acknowledged) -> Duration {
        let pid: u32 = std::fs::read_to_string(dir.join("pid")).expect("it says who").trim().parse().expect("a number");
        let leader = self.0.iter().position(|writer| writer.process.id() == pid).expect("one of them leads");
        let mut leader = self.0.swap_remove(leader);
        leader.kill(acknowledged);
        let begun = Instant::now();
        // What they had said before is taken first.
        for writer in &self.0 {
            while writer.next(Duration::ZERO, acknowledged) {}
        }
        for writer in &self.0 {
            writer.wait_for_one(acknowledged);
        }
        begun.elapsed()
    }

    pub(super) fn kill_all(&mut self, acknowledged: &mut Acknowledged) {
        for writer in &mut self.0 {
            writer.kill(acknowledged);
        }
    }
}
