//! A worker, as the front process sees it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::descriptors::send;
use super::{LINGER, MAX_OF_WORKER};

/// Time that a worker has to start, on a busy machine.
const START: Duration = Duration::from_secs(60);

/// Time for which a worker may take no connections before a request is refused.
const BUSY: Duration = Duration::from_secs(5);

/// Most bytes of the report on a worker's end.
const MAX_REPORT: u64 = 512;

/// Process of a client.
pub(super) struct WorkerProcess {
    /// Socket by which it is handed connections. It writes a byte there once it accepts them.
    handing: UnixStream,
    permits: Arc<Semaphore>,
    state: watch::Sender<WorkerState>,
    /// Cancelled when it is told to end.
    ending: CancellationToken,
    /// True if what its client has spent has to be remembered.
    has_budgets: AtomicBool,
    /// Time at which a request ended last.
    used: Mutex<Instant>,
}

/// State of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WorkerState {
    Starting,
    Ready,
    /// It has ended, as the text says.
    Ended(String),
}

/// Reason why a worker has not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkerError {
    /// It has ended, or was never there.
    #[error("the process of this client has ended before it answered: {0}")]
    Ended(String),
    /// It does not start.
    #[error("the process of this client does not start in time")]
    Slow,
    /// It has as many connections as it may, or takes none.
    #[error("the process of this client takes no more requests at the moment")]
    Busy,
    /// The system has no room for a connection.
    #[error("there is no room for a connection")]
    NoRoom(#[source] io::Error),
    /// Its answer is none.
    #[error("the process of this client has answered with something that is no answer")]
    Strange,
}

/// Use of a worker, until this is dropped.
pub(super) struct WorkerUse {
    worker: Arc<WorkerProcess>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for WorkerUse {
    fn drop(&mut self) {
        self.worker.touch();
    }
}

impl WorkerProcess {
    /// Has a worker started. Returns it with the socket on which its end is reported.
    pub(super) fn start(starter: &OwnedFd) -> io::Result<(Arc<Self>, UnixStream)> {
        let (handing, handed) = StdStream::pair()?;
        let (life, watched) = StdStream::pair()?;
        handing.set_nonblocking(true)?;
        life.set_nonblocking(true)?;
        send(starter, &[handed.as_fd(), watched.as_fd()])?;
        let worker = Self {
            handing: UnixStream::from_std(handing)?,
            permits: Arc::new(Semaphore::new(MAX_OF_WORKER)),
            state: watch::Sender::new(WorkerState::Starting),
            ending: CancellationToken::new(),
            has_budgets: AtomicBool::new(false),
            used: Mutex::new(Instant::now()),
        };
        Ok((Arc::new(worker), UnixStream::from_std(life)?))
    }

    /// Waits until the worker has ended. Returns true if what its client has spent is lost by that.
    pub(super) async fn attend(&self, life: UnixStream) -> bool {
        let mut told = Vec::new();
        let mut life = life.take(MAX_REPORT);
        let ready = async {
            self.await_ready().await;
            std::future::pending::<()>().await;
        };
        let told_to_end = async {
            self.ending.cancelled().await;
            tokio::time::sleep(LINGER).await;
        };
        tokio::select! {
            // However it ended.
            _ = life.read_to_end(&mut told) => {}
            () = ready => {}
            // The starter kills it once the socket is closed.
            () = told_to_end => {}
        }
        let told = match told.is_empty() {
            true => "the process that started it has ended".to_owned(),
            false => String::from_utf8_lossy(&told).into_owned(),
        };
        let before = self.state.send_replace(WorkerState::Ended(told));
        before == WorkerState::Ready && self.has_budgets() && !self.ending.is_cancelled()
    }

    /// Waits until the worker accepts connections, and notes that.
    async fn await_ready(&self) {
        let mut byte = [0];
        while self.handing.readable().await.is_ok() {
            match self.handing.try_read(&mut byte) {
                Ok(1) => drop(self.state.send_replace(WorkerState::Ready)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                // Its end is reported elsewhere.
                _ => {}
            }
            return;
        }
    }

    /// Opens a connection to the worker.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<(UnixStream, WorkerUse), WorkerError> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| WorkerError::Busy)?;
        let in_use = WorkerUse { worker: Arc::clone(self), _permit: permit };
        let mut state = self.state.subscribe();
        let started = tokio::time::timeout(START, state.wait_for(|state| *state != WorkerState::Starting));
        let Ok(Ok(state)) = started.await.map(|state| state.map(|state| state.clone())) else {
            return Err(WorkerError::Slow);
        };
        if let WorkerState::Ended(how) = state {
            return Err(WorkerError::Ended(how));
        }
        let (ours, theirs) = UnixStream::pair().map_err(WorkerError::NoRoom)?;
        match tokio::time::timeout(BUSY, self.hand(&theirs)).await {
            Ok(Ok(())) => Ok((ours, in_use)),
            Ok(Err(error)) => Err(WorkerError::Ended(error.to_string())),
            Err(_) => Err(WorkerError::Busy),
        }
    }

    async fn hand(&self, connection: &UnixStream) -> io::Result<()> {
        loop {
            self.handing.writable().await?;
            let sent = || send(&self.handing, &[connection.as_fd()]);
            match self.handing.try_io(Interest::WRITABLE, sent) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                handed => return handed,
            }
        }
    }

    /// Tells the worker to end: it takes no more connections, cancels its runs and answers.
    pub(super) fn end(&self) {
        self.ending.cancel();
        // It may have ended.
        let _ = rustix::net::shutdown(&self.handing, rustix::net::Shutdown::Both);
    }

    /// Notes that what the client spends has to be remembered.
    pub(super) fn remember_budgets(&self) {
        self.has_budgets.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_budgets(&self) -> bool {
        self.has_budgets.load(Ordering::Relaxed)
    }

    /// Returns true if the worker has had no request for this time.
    pub(super) fn is_idle(&self, time: Duration) -> bool {
        self.permits.available_permits() == MAX_OF_WORKER && self.last_used().elapsed() >= time
    }

    /// Notes that the worker is used now.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
