//! The process that holds the store, and serves the others.
//!
//! Each connection has two threads: one reads requests and hands commits on without waiting for them, one writes answers
//! as they come. So commits of all processes meet in one group; and a follower that sends nonsense, or does not read what
//! it asked for, holds up itself.

use std::fs::File;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::store::record::{Record, Store, StoreError};

use super::wire::{Answer, Client, PAGE_BYTES, Request, greet_follower, met_follower, read_frame};
use super::{mark, socket};

/// How many requests of one connection may be under way: so much memory it may hold, and no more.
const IN_FLIGHT: usize = 128;

/// The most connections.
const CONNECTIONS: usize = 512;

/// How long a new connection may take to greet.
const GREETING: Duration = Duration::from_secs(5);

/// How long a follower may leave its answers unread, once the leader wants to send more than the socket holds.
const UNREAD: Duration = Duration::from_secs(30);

/// How long a leader that goes waits for followers to take their last answers.
const PARTING: Duration = Duration::from_secs(2);

/// How many records are read at a time for a page.
const PAGE_RECORDS: usize = 256;

/// The store, served.
pub(super) struct Leader {
    /// None only while this is dropped.
    store: Option<Arc<dyn Store>>,
    hall: Arc<Hall>,
    /// None only while this is dropped.
    accepting: Option<JoinHandle<()>>,
    /// The same.
    listener: Option<Arc<UnixListener>>,
    dir: PathBuf,
    /// Held until the store is closed.
    _lock: File,
}

/// Who is connected.
#[derive(Default)]
struct Hall {
    closed: AtomicBool,
    guests: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl Leader {
    /// Opens the store and serves it. Who calls has the lock.
    pub(super) fn start(
        dir: &Path,
        lock: File,
        open: impl Fn(&Path) -> Result<Box<dyn Store>, StoreError>,
    ) -> Result<Self, StoreError> {
        // Before the store is opened: who comes now waits in the queue, and not in a loop.
        let listener = Arc::new(socket::listen(dir)?);
        let store: Arc<dyn Store> = Arc::from(open(dir)?);
        mark::sweep(&*store);
        let hall = Arc::<Hall>::default();
        let accepting = std::thread::Builder::new().name("store accepts".to_owned()).spawn({
            let (hall, store, listener) = (Arc::clone(&hall), Arc::clone(&store), Arc::clone(&listener));
            move || hall.accept(&listener, &store)
        })?;
        let (accepting, listener, dir) = (Some(accepting), Some(listener), dir.to_owned());
        Ok(Self { store: Some(store), hall, accepting, listener, dir, _lock: lock })
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.store.as_ref().expect("it is taken only when this is dropped")
    }
}

impl Drop for Leader {
    /// Answers what has been asked, and hands over: who is connected notices, and finds the lock free when the store has
    /// been closed.
    fn drop(&mut self) {
        self.hall.closed.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts. If that cannot be, it is left to the end of the process.
        let listener = self.listener.take();
        let woken = socket::connect(&self.dir).is_ok() || listener.as_deref().is_some_and(socket::refuse);
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            drop(accepting.join());
        }
        drop(listener);
        let guests = std::mem::take(&mut *self.hall.lock());
        for (stream, _) in &guests {
            // One that has gone already is as well.
            drop(stream.shutdown(Shutdown::Read));
        }
        let begun = Instant::now();
        while begun.elapsed() < PARTING && guests.iter().any(|(_, thread)| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for (stream, thread) in guests {
            // Who has not read its answers by now asks the next leader.
            drop(stream.shutdown(Shutdown::Both));
            drop(thread.join());
        }
        drop(self.store.take());
    }
}

impl Hall {
    fn lock(&self) -> MutexGuard<'_, Vec<(UnixStream, JoinHandle<()>)>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, listener: &UnixListener, store: &Arc<dyn Store>) {
        for stream in listener.incoming() {
            if self.closed.load(Ordering::SeqCst) {
                return;
            }
            match stream {
                // What cannot be taken in is dropped: the other side sees it closed.
                Ok(stream) => drop(self.receive(stream, store)),
                // Too many open files, most likely: they may become fewer.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn receive(&self, stream: UnixStream, store: &Arc<dyn Store>) -> io::Result<()> {
        let mut guests = self.lock();
        guests.retain(|(_, thread)| !thread.is_finished());
        if guests.len() >= CONNECTIONS || !socket::same_user(&stream) {
            return Ok(());
        }
        let (shown, store) = (stream.try_clone()?, Arc::clone(store));
        let thread = std::thread::Builder::new().name("store serves".to_owned()).spawn(move || {
            // Whatever ends a connection ends it for its follower only.
            drop(attend(&stream, &store));
            drop(stream.shutdown(Shutdown::Both));
        })?;
        guests.push((shown, thread));
        Ok(())
    }
}

/// Serves one connection to its end.
fn attend(stream: &UnixStream, store: &Arc<dyn Store>) -> io::Result<()> {
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(UNREAD))?;
    let client = met_follower(stream)?;
    greet_follower(stream)?;
    stream.set_read_timeout(None)?;
    let load = Arc::<Load>::default();
    let (outbox, answers) = channel();
    let desk = Desk { client, store: Arc::clone(store), load: Arc::clone(&load), outbox };
    std::thread::scope(|scope| {
        std::thread::Builder::new().name("store answers".to_owned()).spawn_scoped(scope, move || {
            write(stream, &answers, &load);
            // The reader must not wait for room that nobody makes.
            drop(stream.shutdown(Shutdown::Both));
            load.close();
        })?;
        // With the desk goes the outbox; the writer ends when all that is under way has been answered.
        read(stream, desk)
    })
}

fn read(stream: &UnixStream, desk: Desk) -> io::Result<()> {
    let mut stream = io::BufReader::new(stream);
    loop {
        let (id, request) = Request::read(&read_frame(&mut stream)?)?;
        if !desk.load.begin() {
            return Ok(());
        }
        desk.serve(id, request);
    }
}

/// Writes answers as they come, those that wait together.
fn write(mut stream: &UnixStream, answers: &Receiver<Vec<u8>>, load: &Load) {
    while let Ok(mut frames) = answers.recv() {
        let mut ended = 1;
        while let Ok(frame) = answers.try_recv() {
            frames.extend(frame);
            ended += 1;
        }
        if stream.write_all(&frames).is_err() {
            return;
        }
        load.end(ended);
    }
}

/// How many requests of a connection are under way; none is counted when it is closed.
#[derive(Default)]
struct Load {
    /// How many, and whether it is closed.
    state: Mutex<(usize, bool)>,
    less: Condvar,
}

impl Load {
    fn lock(&self) -> MutexGuard<'_, (usize, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room. False if there will be none.
    fn begin(&self) -> bool {
        let full = |state: &mut (usize, bool)| state.0 >= IN_FLIGHT && !state.1;
        let mut state = self.less.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        !state.1
    }

    fn end(&self, requests: usize) {
        let mut state = self.lock();
        state.0 = state.0.saturating_sub(requests);
        self.less.notify_one();
    }

    fn close(&self) {
        self.lock().1 = true;
        self.less.notify_one();
    }
}

/// Where one follower is served.
struct Desk {
    client: Client,
    store: Arc<dyn Store>,
    load: Arc<Load>,
    outbox: Sender<Vec<u8>>,
}

impl Desk {
    fn serve(&self, id: u64, request: Request) {
        let outbox = self.outbox.clone();
        // When the writer has gone, nobody waits for the answer.
        let answer = move |answer: Answer| drop(outbox.send(answer.frame(id)));
        match request {
            Request::Get { key } => answer(or_failed(self.store.get(&key).map(Answer::Value))),
            Request::Scan { prefix, after, limit } => answer(or_failed(self.page(&prefix, after, limit))),
            Request::Commit { slot, sequence, batch } => {
                let done = move |outcome: Result<(), StoreError>| answer(or_failed(outcome.map(|()| Answer::Done)));
                mark::commit_once(&*self.store, (&self.client, slot, sequence), batch, done);
            }
            Request::Compact => {
                let (store, refuse) = (Arc::clone(&self.store), answer.clone());
                let compacting = std::thread::Builder::new().name("store compacts".to_owned()).spawn(move || {
                    let outcome = store.compact();
                    // The leader may close the store as soon as all is answered.
                    drop(store);
                    answer(or_failed(outcome.map(Answer::Compacted)));
                });
                if let Err(error) = compacting {
                    refuse(Answer::Failed(error.into()));
                }
            }
            Request::Bye => {
                mark::forget(&*self.store, &self.client);
                answer(Answer::Done);
            }
        }
    }

    /// As much of a scan as makes a page.
    fn page(&self, prefix: &[u8], mut after: Option<Vec<u8>>, limit: u64) -> Result<Answer, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut page, mut bytes): (Vec<Record>, _) = (Vec::new(), 0);
        loop {
            let wanted = PAGE_RECORDS.min(limit - page.len());
            let records = self.store.scan(prefix, after.as_deref(), wanted)?;
            let more = wanted > 0 && records.len() == wanted;
            bytes += records.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
            page.extend(records);
            if !more || bytes >= PAGE_BYTES {
                return Ok(Answer::Page(page, more));
            }
            after = page.last().map(|(key, _)| key.clone());
        }
    }
}

fn or_failed(outcome: Result<Answer, StoreError>) -> Answer {
    outcome.unwrap_or_else(Answer::Failed)
}
