//! A process that asks the one that holds the store.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::socket;
use super::wire::{Answer, Client, Request, greet_leader, met_leader, read_frame};

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// The leader has gone.
    Gone,
    /// The leader is there and does not answer.
    Hangs,
}

/// A connection to the leader.
pub(super) struct Follower {
    /// The leader's process id.
    pub(super) pid: u32,
    stream: UnixStream,
    writing: Mutex<()>,
    waiting: Arc<Mutex<Waiting>>,
}

/// Who waits for which answer; none any more when the connection is closed.
#[derive(Default)]
struct Waiting {
    next: u64,
    senders: HashMap<u64, Sender<Answer>>,
    closed: bool,
}

impl Follower {
    /// Connects to the leader, who must greet before the time is over. When it is gone, `lost` is called, on a thread of
    /// its own.
    pub(super) fn connect(
        dir: &Path,
        client: &Client,
        deadline: Instant,
        lost: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let stream = socket::connect(dir)?;
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        stream.set_write_timeout(Some(left))?;
        greet_leader(&stream, client)?;
        let pid = met_leader(&stream)?;
        stream.set_read_timeout(None)?;
        let waiting = Arc::<Mutex<Waiting>>::default();
        let (reading, told) = (stream.try_clone()?, Arc::clone(&waiting));
        std::thread::Builder::new().name("store answers".to_owned()).spawn(move || {
            // However reading ends, the connection is of no more use.
            drop(read(&reading, &told));
            drop(reading.shutdown(Shutdown::Both));
            {
                let mut waiting = lock(&told);
                waiting.closed = true;
                waiting.senders.clear();
            }
            lost();
        })?;
        Ok(Self { pid, stream, writing: Mutex::default(), waiting })
    }

    /// Whether the leader has gone.
    pub(super) fn is_lost(&self) -> bool {
        lock(&self.waiting).closed
    }

    /// Asks, and waits for the answer until the time is over.
    pub(super) fn ask(&self, request: &Request, deadline: Instant) -> Result<Answer, Missed> {
        let (sender, answer) = channel();
        let id = {
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return Err(Missed::Gone);
            }
            waiting.next += 1;
            let id = waiting.next;
            waiting.senders.insert(id, sender);
            id
        };
        let answered = self.send(&request.frame(id), deadline).and_then(|()| {
            let left = deadline.saturating_duration_since(Instant::now());
            answer.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Disconnected => Missed::Gone,
                RecvTimeoutError::Timeout => Missed::Hangs,
            })
        });
        if answered.is_err() {
            lock(&self.waiting).senders.remove(&id);
        }
        answered
    }

    /// Sends without waiting for an answer.
    pub(super) fn tell(&self, request: &Request, deadline: Instant) {
        // Who is not there is not told.
        drop(self.send(&request.frame(0), deadline));
    }

    fn send(&self, frame: &[u8], deadline: Instant) -> Result<(), Missed> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let sent = self.stream.set_write_timeout(Some(left)).and_then(|()| (&self.stream).write_all(frame));
        sent.map_err(|error| {
            // Half a frame may be out: nothing can follow it.
            drop(self.stream.shutdown(Shutdown::Both));
            let timeout = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            if timeout { Missed::Hangs } else { Missed::Gone }
        })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads answers to the end of the connection, and gives each to who waits for it.
fn read(stream: &UnixStream, waiting: &Mutex<Waiting>) -> io::Result<()> {
    let mut stream = io::BufReader::new(stream);
    loop {
        let (id, answer) = Answer::read(&read_frame(&mut stream)?)?;
        let sender = lock(waiting).senders.remove(&id);
        if let Some(sender) = sender {
            // It may have stopped waiting.
            drop(sender.send(answer));
        }
    }
}
