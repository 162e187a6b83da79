//! Workers by client, and clients whose workers have ended.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::process::WorkerProcess;
use super::{LINGER, WorkerLimits};

/// Most clients that the server remembers.
const MAX_CLIENTS: usize = 1024;

/// Longest time between two looks for workers that are not needed any more.
const TIDYING: Duration = Duration::from_secs(30);

/// Time that the starter has to end once all workers have.
const STARTER: Duration = Duration::from_secs(2);

/// Longest time for which a client is refused whose worker could open no session.
const AGAIN: Duration = Duration::from_secs(60);

/// Refusal of a client whose worker has ended with what it had spent.
const LOST: &str = "the process of this client has ended, and with it the count of its budgets: its tokens are refused \
                    until the server starts again";

/// Client, as far as its worker depends on it.
pub(super) struct ClientAccount<'a> {
    /// Name of the first block of its token, or of its subject: what narrower tokens spend is spent together.
    pub(super) name: &'a str,
    /// Time when its first block ends.
    pub(super) expires: Option<SystemTime>,
    /// True if a grant has a budget.
    pub(super) has_budgets: bool,
}

/// All clients that have or had a worker.
pub(super) struct WorkerTable {
    starter: OwnedFd,
    limits: WorkerLimits,
    clients: Mutex<HashMap<String, KnownClient>>,
    /// Number of the workers whose ends are waited for.
    attended: watch::Sender<usize>,
}

struct KnownClient {
    state: ClientState,
    expires: Option<SystemTime>,
}

/// State of a client.
enum ClientState {
    /// A worker answers its requests.
    Served(Arc<WorkerProcess>),
    /// Its worker has ended, and what was spent is lost with it.
    Lost,
    /// Its worker could open no session, and was ended. It is tried again from this time on; `None` for a client with
    /// budgets, since its worker may have said so after it had spent them.
    Refused(Option<Instant>),
}

impl KnownClient {
    fn worker(&self) -> Option<&Arc<WorkerProcess>> {
        match &self.state {
            ClientState::Served(worker) => Some(worker),
            ClientState::Lost | ClientState::Refused(_) => None,
        }
    }
}

impl WorkerTable {
    /// Creates a table without workers. The process at the other end of the socket starts them.
    pub(super) fn new(starter: OwnedFd, limits: WorkerLimits) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&starter, true)?;
        Ok(Self { starter, limits, clients: Mutex::default(), attended: watch::Sender::new(0) })
    }

    /// Returns the worker of a client, which is started if there is none. The error says why there can be none.
    pub(super) fn get(self: &Arc<Self>, account: &ClientAccount<'_>) -> Result<Arc<WorkerProcess>, String> {
        let mut clients = self.lock();
        let again = |again: &Option<Instant>| again.is_some_and(|again| again <= Instant::now());
        if clients
            .get(account.name)
            .is_some_and(|client| matches!(&client.state, ClientState::Refused(at) if again(at)))
        {
            clients.remove(account.name);
        }
        let worker = match clients.get(account.name).map(|client| &client.state) {
            Some(ClientState::Served(worker)) => Arc::clone(worker),
            Some(ClientState::Lost) => return Err(LOST.to_owned()),
            Some(ClientState::Refused(again)) => return Err(refused(*again)),
            None => self.start(&mut clients, account)?,
        };
        if account.has_budgets {
            worker.remember_budgets();
        }
        worker.touch();
        Ok(worker)
    }

    fn start(
        self: &Arc<Self>,
        clients: &mut HashMap<String, KnownClient>,
        account: &ClientAccount<'_>,
    ) -> Result<Arc<WorkerProcess>, String> {
        if clients.len() >= MAX_CLIENTS {
            return Err(format!("{MAX_CLIENTS} clients are known here"));
        }
        let most = self.limits.most;
        if clients.values().filter(|client| client.worker().is_some()).count() >= most {
            return Err(format!("{most} clients have processes here, as many as may: `--max-workers`"));
        }
        let started = WorkerProcess::start(&self.starter);
        let (worker, life) = started.map_err(|error| format!("no process can be started for this client: {error}"))?;
        let known = KnownClient { state: ClientState::Served(Arc::clone(&worker)), expires: account.expires };
        clients.insert(account.name.to_owned(), known);
        let (table, name, attended) = (Arc::clone(self), account.name.to_owned(), Arc::clone(&worker));
        self.attended.send_modify(|attended| *attended += 1);
        tokio::spawn(async move {
            let is_lost = attended.attend(life).await;
            table.note_end(&name, &attended, is_lost);
            table.attended.send_modify(|attended| *attended -= 1);
        });
        Ok(worker)
    }

    /// Notes that a worker has ended.
    fn note_end(&self, name: &str, ended: &Arc<WorkerProcess>, is_lost: bool) {
        let mut clients = self.lock();
        let Some(known) = clients.get_mut(name) else { return };
        if !known.worker().is_some_and(|worker| Arc::ptr_eq(worker, ended)) {
            return;
        }
        if is_lost {
            known.state = ClientState::Lost;
        } else {
            clients.remove(name);
        }
    }

    /// Ends a worker that says it could open no session, so that another client can have its place. Its client is refused
    /// for a time, since each attempt would start a process; one with budgets until the server starts again, since the worker
    /// may be lying.
    pub(super) fn give_up(&self, name: &str, worker: &Arc<WorkerProcess>) {
        let mut clients = self.lock();
        let Some(known) = clients.get_mut(name) else { return };
        if known.worker().is_some_and(|known| Arc::ptr_eq(known, worker)) {
            let again = Instant::now().checked_add(self.limits.idle.min(AGAIN));
            known.state = ClientState::Refused(again.filter(|_| !worker.has_budgets()));
            worker.end();
        }
    }

    /// Ends workers that are not needed any more, again and again.
    pub(super) async fn tidy_regularly(self: Arc<Self>) {
        let pause = (self.limits.idle / 2).clamp(Duration::from_millis(100), TIDYING);
        loop {
            tokio::time::sleep(pause).await;
            self.tidy();
        }
    }

    /// Forgets clients whose tokens have expired, and ends workers without requests. A worker whose client has budgets is
    /// kept: they would be whole again.
    fn tidy(&self) {
        // A clock that is set back must not revive a token.
        let margin = Duration::from_secs(60);
        let now = SystemTime::now();
        self.lock().retain(|_, client| {
            let has_expired = client.expires.is_some_and(|end| end + margin <= now);
            let worker = match &client.state {
                ClientState::Served(worker) => worker,
                ClientState::Refused(Some(again)) => return !has_expired && *again > Instant::now(),
                ClientState::Lost | ClientState::Refused(None) => return !has_expired,
            };
            let is_needed = !has_expired && (worker.has_budgets() || !worker.is_idle(self.limits.idle));
            if !is_needed {
                worker.end();
            }
            is_needed
        });
    }

    /// Ends all workers, and waits for that.
    pub(super) async fn end(&self) {
        let workers: Vec<_> = self.lock().drain().filter_map(|(_, client)| client.worker().cloned()).collect();
        workers.iter().for_each(|worker| worker.end());
        let mut attended = self.attended.subscribe();
        // Whoever has not ended by then is killed.
        let _ = tokio::time::timeout(LINGER + STARTER, attended.wait_for(|attended| *attended == 0)).await;
    }

    /// Waits until the starter has ended.
    pub(super) async fn starter_end(&self) -> io::Result<()> {
        let mut starter = UnixStream::from_std(StdStream::from(self.starter.try_clone()?))?;
        // It says nothing.
        starter.read_to_end(&mut Vec::new()).await.map(drop)
    }

    /// Tells the starter to end, and waits for that.
    pub(super) async fn leave_starter(&self) {
        let left = async {
            rustix::net::shutdown(&self.starter, rustix::net::Shutdown::Write)?;
            self.starter_end().await
        };
        // It ends when all workers have ended, also if nobody waits for that.
        let _ = tokio::time::timeout(STARTER, left).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, KnownClient>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a client whose worker could open no session, until this time.
fn refused(again: Option<Instant>) -> String {
    let until = match again {
        None => "until the server starts again".to_owned(),
        Some(again) => {
            let left = again.saturating_duration_since(Instant::now()).as_secs() + 1;
            format!("for another {left} seconds")
        }
    };
    format!("no session can be opened for this client, as its first request was told: its tokens are refused {until}")
}
