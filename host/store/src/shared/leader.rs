//! The process that holds the store and serves the others.
//!
//! Each connection has two threads: one reads requests and submits commits without waiting for them, one writes answers
//! as they come. So commits of all processes are grouped together, and a follower that sends invalid data, or does not
//! read its answers, delays only itself.

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

use crate::record::{Record, Store, StoreError};

use super::protocol::{
    ClientId, PAGE_BYTES, StoreAnswer, StoreRequest, read_follower_greeting, read_frame, send_leader_greeting,
};
use super::{commit_dedup, socket};

/// Maximum number of requests under way per connection, which bounds the memory that it takes.
const MAX_IN_FLIGHT: usize = 128;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 512;

/// Time limit for the greeting of a new connection.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for a follower to read its answers, once the socket's buffer is full.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for followers to read their last answers when the leader closes the store.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Number of records read at a time for a page.
const PAGE_RECORDS: usize = 256;

/// The open store, and its server.
pub(super) struct StoreLeader {
    /// `None` only while this is being dropped.
    store: Option<Arc<dyn Store>>,
    connection_set: Arc<ConnectionSet>,
    /// `None` only while this is being dropped.
    accepting: Option<JoinHandle<()>>,
    /// `None` only while this is being dropped.
    listener: Option<Arc<UnixListener>>,
    dir: PathBuf,
    /// Held until the store is closed.
    _lock: File,
}

/// The open connections, each with the thread that serves it.
#[derive(Default)]
struct ConnectionSet {
    closed: AtomicBool,
    connections: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl StoreLeader {
    /// Opens the store and serves it. The caller holds the lock.
    pub(super) fn start(
        dir: &Path,
        lock: File,
        open: impl Fn(&Path) -> Result<Box<dyn Store>, StoreError>,
    ) -> Result<Self, StoreError> {
        // Listening starts before the store is opened, so that early followers wait in the socket's queue instead of
        // polling.
        let listener = Arc::new(socket::listen(dir)?);
        let store: Arc<dyn Store> = Arc::from(open(dir)?);
        commit_dedup::remove_stale_marks(&*store);
        let connection_set = Arc::<ConnectionSet>::default();
        let accepting = std::thread::Builder::new().name("store accepts".to_owned()).spawn({
            let (connection_set, store, listener) =
                (Arc::clone(&connection_set), Arc::clone(&store), Arc::clone(&listener));
            move || connection_set.accept(&listener, &store)
        })?;
        let (accepting, listener, dir) = (Some(accepting), Some(listener), dir.to_owned());
        Ok(Self { store: Some(store), connection_set, accepting, listener, dir, _lock: lock })
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.store.as_ref().expect("it is taken only when this is dropped")
    }
}

impl Drop for StoreLeader {
    /// Answers the pending requests, and hands over: followers notice the closed connection, and the lock is free once
    /// the store has been closed.
    fn drop(&mut self) {
        self.connection_set.closed.store(true, Ordering::SeqCst);
        // Wakes the accepting thread. If that is impossible, the thread is left until the process ends.
        let listener = self.listener.take();
        let woken = socket::connect(&self.dir).is_ok() || listener.as_deref().is_some_and(socket::refuse);
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            drop(accepting.join());
        }
        drop(listener);
        let connections = std::mem::take(&mut *self.connection_set.lock());
        for (stream, _) in &connections {
            // A connection that is closed already needs no shutdown.
            drop(stream.shutdown(Shutdown::Read));
        }
        let begun = Instant::now();
        while begun.elapsed() < SHUTDOWN_TIMEOUT && connections.iter().any(|(_, thread)| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for (stream, thread) in connections {
            // A follower that has not read its answers by now will ask the next leader.
            drop(stream.shutdown(Shutdown::Both));
            drop(thread.join());
        }
        drop(self.store.take());
    }
}

impl ConnectionSet {
    fn lock(&self) -> MutexGuard<'_, Vec<(UnixStream, JoinHandle<()>)>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, listener: &UnixListener, store: &Arc<dyn Store>) {
        for stream in listener.incoming() {
            if self.closed.load(Ordering::SeqCst) {
                return;
            }
            match stream {
                // A connection that cannot be served is dropped: the peer sees it closed.
                Ok(stream) => drop(self.receive(stream, store)),
                // Most likely too many open files, which may be temporary.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn receive(&self, stream: UnixStream, store: &Arc<dyn Store>) -> io::Result<()> {
        let mut connections = self.lock();
        connections.retain(|(_, thread)| !thread.is_finished());
        if connections.len() >= MAX_CONNECTIONS || !socket::same_user(&stream) {
            return Ok(());
        }
        let (shown, store) = (stream.try_clone()?, Arc::clone(store));
        let thread = std::thread::Builder::new().name("store serves".to_owned()).spawn(move || {
            // An error on a connection ends it for its follower only.
            drop(serve_connection(&stream, &store));
            drop(stream.shutdown(Shutdown::Both));
        })?;
        connections.push((shown, thread));
        Ok(())
    }
}

/// Serves one connection until it is closed.
fn serve_connection(stream: &UnixStream, store: &Arc<dyn Store>) -> io::Result<()> {
    stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let client = read_follower_greeting(stream)?;
    send_leader_greeting(stream)?;
    stream.set_read_timeout(None)?;
    let load = Arc::<InFlight>::default();
    let (outbox, answers) = channel();
    let handler = ConnectionHandler { client, store: Arc::clone(store), load: Arc::clone(&load), outbox };
    std::thread::scope(|scope| {
        std::thread::Builder::new().name("store answers".to_owned()).spawn_scoped(scope, move || {
            write(stream, &answers, &load);
            // The reader must not wait for room that nobody will make.
            drop(stream.shutdown(Shutdown::Both));
            load.close();
        })?;
        // Dropping the handler drops the outbox; the writer ends once all pending requests have been answered.
        read(stream, handler)
    })
}

fn read(stream: &UnixStream, handler: ConnectionHandler) -> io::Result<()> {
    let mut stream = io::BufReader::new(stream);
    loop {
        let (id, request) = StoreRequest::read(&read_frame(&mut stream)?)?;
        if !handler.load.begin() {
            return Ok(());
        }
        handler.serve(id, request);
    }
}

/// Writes answers as they come, several at a time if they queue up.
fn write(mut stream: &UnixStream, answers: &Receiver<Vec<u8>>, load: &InFlight) {
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

/// Counter of the requests of a connection that are under way; closed when the connection is.
#[derive(Default)]
struct InFlight {
    /// Number of requests, and whether the counter is closed.
    state: Mutex<(usize, bool)>,
    less: Condvar,
}

impl InFlight {
    fn lock(&self) -> MutexGuard<'_, (usize, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another request may begin. Returns false if the connection is closed.
    fn begin(&self) -> bool {
        let full = |state: &mut (usize, bool)| state.0 >= MAX_IN_FLIGHT && !state.1;
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

/// Handles the requests of one follower.
struct ConnectionHandler {
    client: ClientId,
    store: Arc<dyn Store>,
    load: Arc<InFlight>,
    outbox: Sender<Vec<u8>>,
}

impl ConnectionHandler {
    fn serve(&self, id: u64, request: StoreRequest) {
        let outbox = self.outbox.clone();
        // If the writer has ended, nobody waits for the answer.
        let answer = move |answer: StoreAnswer| drop(outbox.send(answer.frame(id)));
        match request {
            StoreRequest::Get { key } => answer(or_failed(self.store.get(&key).map(StoreAnswer::Value))),
            StoreRequest::Scan { prefix, after, limit } => answer(or_failed(self.page(&prefix, after, limit))),
            StoreRequest::Commit { slot, sequence, batch } => {
                let done =
                    move |outcome: Result<(), StoreError>| answer(or_failed(outcome.map(|()| StoreAnswer::Done)));
                commit_dedup::commit_once(&*self.store, (&self.client, slot, sequence), batch, done);
            }
            StoreRequest::Compact => {
                let (store, refuse) = (Arc::clone(&self.store), answer.clone());
                let compacting = std::thread::Builder::new().name("store compacts".to_owned()).spawn(move || {
                    let outcome = store.compact();
                    // The leader may close the store as soon as all requests have been answered.
                    drop(store);
                    answer(or_failed(outcome.map(StoreAnswer::Compacted)));
                });
                if let Err(error) = compacting {
                    refuse(StoreAnswer::Failed(error.into()));
                }
            }
            StoreRequest::Bye => {
                commit_dedup::remove_marks(&*self.store, &self.client);
                answer(StoreAnswer::Done);
            }
        }
    }

    /// Reads one page of a scan.
    fn page(&self, prefix: &[u8], mut after: Option<Vec<u8>>, limit: u64) -> Result<StoreAnswer, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut page, mut bytes): (Vec<Record>, _) = (Vec::new(), 0);
        loop {
            let wanted = PAGE_RECORDS.min(limit - page.len());
            let records = self.store.scan(prefix, after.as_deref(), wanted)?;
            let more = wanted > 0 && records.len() == wanted;
            bytes += records.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
            page.extend(records);
            if !more || bytes >= PAGE_BYTES {
                return Ok(StoreAnswer::Page(page, more));
            }
            after = page.last().map(|(key, _)| key.clone());
        }
    }
}

fn or_failed(outcome: Result<StoreAnswer, StoreError>) -> StoreAnswer {
    outcome.unwrap_or_else(StoreAnswer::Failed)
}
