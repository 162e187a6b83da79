//! The connection of a follower to the process that holds the store.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::protocol::{ClientId, StoreAnswer, StoreRequest, read_frame, read_leader_greeting, send_follower_greeting};
use super::socket;

/// Reason why a request has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestFailure {
    /// The connection to the leader is closed.
    Gone,
    /// The leader does not answer in time.
    Hangs,
}

/// A connection to the leader.
pub(super) struct StoreFollower {
    /// The leader's process id.
    pub(super) pid: u32,
    stream: UnixStream,
    writing: Mutex<()>,
    waiting: Arc<Mutex<PendingAnswers>>,
}

/// Requests that wait for an answer; empty once the connection is closed.
#[derive(Default)]
struct PendingAnswers {
    next: u64,
    senders: HashMap<u64, Sender<StoreAnswer>>,
    closed: bool,
}

impl StoreFollower {
    /// Connects to the leader, which must send its greeting before the deadline. When the connection ends, `lost` is
    /// called on a thread of its own.
    pub(super) fn connect(
        dir: &Path,
        client: &ClientId,
        deadline: Instant,
        lost: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let stream = socket::connect(dir)?;
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        stream.set_write_timeout(Some(left))?;
        send_follower_greeting(&stream, client)?;
        let pid = read_leader_greeting(&stream)?;
        stream.set_read_timeout(None)?;
        let waiting = Arc::<Mutex<PendingAnswers>>::default();
        let (reading, told) = (stream.try_clone()?, Arc::clone(&waiting));
        std::thread::Builder::new().name("store answers".to_owned()).spawn(move || {
            // However reading ends, the connection is no longer usable.
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

    /// Returns true if the connection to the leader is closed.
    pub(super) fn is_lost(&self) -> bool {
        lock(&self.waiting).closed
    }

    /// Sends a request, and waits for its answer until the deadline.
    pub(super) fn ask(&self, request: &StoreRequest, deadline: Instant) -> Result<StoreAnswer, RequestFailure> {
        let (sender, answer) = channel();
        let id = {
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return Err(RequestFailure::Gone);
            }
            waiting.next += 1;
            let id = waiting.next;
            waiting.senders.insert(id, sender);
            id
        };
        let answered = self.send(&request.frame(id), deadline).and_then(|()| {
            let left = deadline.saturating_duration_since(Instant::now());
            answer.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Disconnected => RequestFailure::Gone,
                RecvTimeoutError::Timeout => RequestFailure::Hangs,
            })
        });
        if answered.is_err() {
            lock(&self.waiting).senders.remove(&id);
        }
        answered
    }

    /// Sends a request without waiting for an answer.
    pub(super) fn notify(&self, request: &StoreRequest, deadline: Instant) {
        // A leader that has ended need not be notified.
        drop(self.send(&request.frame(0), deadline));
    }

    fn send(&self, frame: &[u8], deadline: Instant) -> Result<(), RequestFailure> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let sent = self.stream.set_write_timeout(Some(left)).and_then(|()| (&self.stream).write_all(frame));
        sent.map_err(|error| {
            // A partial frame may have been sent: nothing can follow it.
            drop(self.stream.shutdown(Shutdown::Both));
            let timeout = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            if timeout { RequestFailure::Hangs } else { RequestFailure::Gone }
        })
    }
}

impl Drop for StoreFollower {
    fn drop(&mut self) {
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

fn lock(waiting: &Mutex<PendingAnswers>) -> MutexGuard<'_, PendingAnswers> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads answers until the connection is closed, and passes each to the thread that waits for it.
fn read(stream: &UnixStream, waiting: &Mutex<PendingAnswers>) -> io::Result<()> {
    let mut stream = io::BufReader::new(stream);
    loop {
        let (id, answer) = StoreAnswer::read(&read_frame(&mut stream)?)?;
        let sender = lock(waiting).senders.remove(&id);
        if let Some(sender) = sender {
            // The receiver may have given up.
            drop(sender.send(answer));
        }
    }
}
