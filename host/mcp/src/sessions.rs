//! Sessions that a client can reach: its default session, and forks of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rmcp::model::Tool;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tollhouse::session::{At, HostError, Point, Session, SessionId, Sessions, SessionsError, Waiting};
use tollhouse::vfs::Tree;

use crate::approvals::{AskedCalls, DeferringApprover};
use crate::arguments::{excerpt, nearest};
use crate::resources::FilesChanged;
use crate::tasks::ClientTasks;
use crate::tool_error::ToolError;

/// Name of the default session, as clients see it.
pub(crate) const MAIN: &str = "main";

/// Changes of files that wait for a subscriber. One that is slower is told that the list changed.
const MAX_CHANGES: usize = 64;

/// Most sessions of one client. Each keeps its files.
const MAX_SESSIONS: usize = 32;

/// Most calls of tools that one client has at a time. Each may wait for a session, and keeps its arguments.
const MAX_REQUESTS: usize = 64;

/// Opens a session of the store that is a fork of the root session: with the secrets and limits of the operator, and
/// this approver and waiting callback.
pub type OpenOther =
    Arc<dyn Fn(&SessionId, Arc<DeferringApprover>, Waiting) -> Result<Session, HostError> + Send + Sync>;

/// Session that the operator opened, and the store that it is in.
#[derive(Clone)]
pub struct RootSession {
    /// The session.
    pub session: Session,
    /// Approver that the session was opened with.
    pub approver: Arc<DeferringApprover>,
    /// Store and name of the session. With `None`, the session is not stored: it can be neither forked nor rolled back.
    pub stored: Option<StoredRoot>,
}

/// Location of the root session in its store.
#[derive(Clone)]
pub struct StoredRoot {
    /// The store.
    pub sessions: Sessions,
    /// Name of the session there.
    pub id: SessionId,
    /// True if the store outlives this process, so that others can decide about calls of its sessions.
    pub on_disk: bool,
    /// True if other clients of this server decide about calls of its sessions.
    pub has_approvers: bool,
    /// Opens forks of the session.
    pub open: OpenOther,
}

/// Session that is open for a client.
pub(crate) struct OpenedSession {
    /// Name of the session, as the client sees it.
    pub(crate) name: String,
    pub(crate) session: Session,
    pub(crate) approver: Arc<DeferringApprover>,
    /// Held by whatever uses the session, one after the other.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Calls that the client was asked about.
    pub(crate) asked: AskedCalls,
    /// Set while nobody waits for the session any more, although another process has it.
    pub(crate) given_up: Arc<AtomicBool>,
    /// Mounted tools that are listed as tools of the protocol, sorted by name, once they were asked for: a client asks for all
    /// of them with each conversation. The tools of a session and what they are granted never change.
    pub(crate) listed: OnceLock<Vec<Arc<Tool>>>,
}

/// Session that nothing else uses until this is dropped.
pub(crate) struct HeldSession {
    pub(crate) opened: Arc<OpenedSession>,
    _turn: OwnedMutexGuard<()>,
}

/// Name of a session that cannot be read, with the reason.
pub(crate) type UnreadableSession = (String, ToolError);

/// Sessions of one client.
pub(crate) struct ClientSessions {
    /// Account that the client belongs to: what clients of one account take is counted together. Empty for the operator's.
    account: String,
    stored: Option<StoredRoot>,
    /// Name of the default session in the store; those of the others begin with it and a dot.
    prefix: String,
    opened: Mutex<BTreeMap<String, Arc<OpenedSession>>>,
    /// Held while a session is forked, so that two forks cannot both be the last one.
    forking: Mutex<()>,
    /// Requests that the client may have at a time.
    requests: Arc<Semaphore>,
    /// Long calls of the client.
    pub(crate) tasks: ClientTasks,
    changes: broadcast::Sender<Arc<FilesChanged>>,
}

impl ClientSessions {
    /// Creates the sessions of a client whose default session is the root session itself.
    pub(crate) fn of_root(root: &RootSession) -> Self {
        Self::of_account(root, String::new())
    }

    /// Creates the sessions of a client of an account, whose default session is the root session itself.
    pub(crate) fn of_account(root: &RootSession, account: String) -> Self {
        let prefix = root.stored.as_ref().map_or_else(|| MAIN.to_owned(), |stored| stored.id.to_string());
        let main = OpenedSession::new(MAIN, root.session.clone(), Arc::clone(&root.approver), Arc::default());
        let opened = Mutex::new([(MAIN.to_owned(), main)].into());
        Self::new(root.stored.clone(), prefix, opened, account)
    }

    fn new(
        stored: Option<StoredRoot>,
        prefix: String,
        opened: Mutex<BTreeMap<String, Arc<OpenedSession>>>,
        account: String,
    ) -> Self {
        let (forking, requests) = (Mutex::default(), Arc::new(Semaphore::new(MAX_REQUESTS)));
        let (tasks, changes) = (ClientTasks::default(), broadcast::Sender::new(MAX_CHANGES));
        Self { account, stored, prefix, opened, forking, requests, tasks, changes }
    }

    /// Creates the sessions of a client whose default session is a new fork of the root session, as that was created. Its
    /// name must not begin with that of the root session, from which nothing of this client is to be reached.
    ///
    /// # Errors
    /// If the root session cannot be forked.
    pub(crate) fn of_fork(root: &RootSession, name: &str) -> Result<Self, ToolError> {
        let Some(stored) = &root.stored else {
            return Err(ToolError::new("the session is not stored, and cannot be forked"));
        };
        let id = parse(name)?;
        stored.sessions.fork(&Point { session: stored.id.clone(), at: At::Run(0) }, &id)?;
        let client = Self::new(Some(stored.clone()), id.to_string(), Mutex::default(), String::new());
        client.open(MAIN)?;
        Ok(client)
    }

    /// Returns the account that the client belongs to; an empty one for clients of the operator.
    pub(crate) fn account(&self) -> &str {
        &self.account
    }

    /// Counts a call of a tool until the permit is dropped.
    ///
    /// # Errors
    /// If the client has too many already.
    pub(crate) fn begin_request(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        Arc::clone(&self.requests).try_acquire_owned().map_err(|_| {
            ToolError::new(format!("at most {MAX_REQUESTS} calls of tools are answered at a time"))
                .hint("wait for answers, and make one script of many calls")
        })
    }

    /// Returns the store, and the name of the default session there.
    ///
    /// # Errors
    /// If the sessions of the client are not stored.
    pub(crate) fn store(&self) -> Result<&Sessions, ToolError> {
        let stored = self.stored.as_ref().ok_or_else(|| {
            ToolError::new(
                "this connection has one session, which is not stored: it can be neither forked nor rolled back",
            )
            .hint("copy files within the session instead")
        })?;
        Ok(&stored.sessions)
    }

    /// Returns the name of the default session in the store.
    pub(crate) fn stored_name(&self) -> &str {
        &self.prefix
    }

    /// Returns true if the sessions outlive this process.
    pub(crate) fn on_disk(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.on_disk)
    }

    /// Returns true if other clients of the server decide about calls of these sessions.
    pub(crate) fn has_approvers(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.has_approvers)
    }

    /// Returns the session with a name, which is opened if it is not open yet; the default session without a name.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be opened.
    pub(crate) fn get(&self, name: Option<&str>) -> Result<Arc<OpenedSession>, ToolError> {
        let name = name.unwrap_or(MAIN);
        match self.find_open(name) {
            Some(opened) => Ok(opened),
            None => self.open(name),
        }
    }

    /// Returns the session with a name if it is open already.
    pub(crate) fn find_open(&self, name: &str) -> Option<Arc<OpenedSession>> {
        self.opened().get(name).cloned()
    }

    /// Lists the names of the client's sessions, the default session first.
    ///
    /// # Errors
    /// If the store, or one of the sessions, cannot be read.
    pub(crate) fn names(&self) -> Result<Vec<String>, ToolError> {
        let (names, unreadable) = self.readable_names()?;
        unreadable.into_iter().next().map_or(Ok(names), |(_, error)| Err(error))
    }

    /// Lists the names of the client's sessions that can be read, the default session first; and those of sessions that are
    /// the client's by their names, and cannot be read.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn readable_names(&self) -> Result<(Vec<String>, Vec<UnreadableSession>), ToolError> {
        let (mut names, mut unreadable) = (vec![MAIN.to_owned()], Vec::new());
        let Some(stored) = &self.stored else { return Ok((names, unreadable)) };
        let prefix = format!("{}.", self.prefix);
        for id in stored.sessions.list()? {
            let Some(name) = id.as_str().strip_prefix(&prefix) else { continue };
            match self.is_descendant(stored, &id) {
                Ok(true) => names.push(name.to_owned()),
                Ok(false) => {}
                Err(error) => unreadable.push((name.to_owned(), error)),
            }
        }
        Ok((names, unreadable))
    }

    /// Forks a session at a point into a new one with this name.
    ///
    /// # Errors
    /// If there is no such point, the name is taken or no name, or there are too many sessions.
    pub(crate) fn fork(&self, from: &Point, to: &str) -> Result<(), ToolError> {
        let sessions = self.store()?;
        let id = self.id(to)?;
        let _forking = self.forking.lock().unwrap_or_else(PoisonError::into_inner);
        if self.names()?.len() >= MAX_SESSIONS {
            return Err(ToolError::new(format!("a client has at most {MAX_SESSIONS} sessions"))
                .hint("use one of those that `sessions` with action `list` shows"));
        }
        match sessions.fork(from, &id) {
            Err(SessionsError::Exists(_)) => {
                Err(ToolError::new(format!("a session `{to}` already exists")).hint("choose another `to`"))
            }
            forked => Ok(forked?),
        }
    }

    /// Returns the point of a session that a client names: the session, and optionally a run's number.
    ///
    /// # Errors
    /// If there is no such session.
    pub(crate) fn point(&self, name: Option<&str>, run: Option<u64>) -> Result<Point, ToolError> {
        self.store()?;
        let opened = self.get(name)?;
        let session = self.id(&opened.name)?;
        Ok(Point { session, at: run.map_or(At::Head, At::Run) })
    }

    /// Returns the name of a client's session in the store.
    ///
    /// # Errors
    /// If it is no name of a session.
    pub(crate) fn id(&self, name: &str) -> Result<SessionId, ToolError> {
        match name {
            MAIN => parse(&self.prefix),
            // Names with dots could be those of another client's sessions.
            _ if name.is_empty() || name.contains('.') => {
                Err(ToolError::new(format!("`{}` is not a session name", excerpt(name)))
                    .hint("use letters, digits, `-` and `_`"))
            }
            // The client knows its sessions without the prefix.
            _ => format!("{}.{name}", self.prefix).parse().map_err(|_| {
                ToolError::new(format!("`{}` is not a session name, or too long", excerpt(name)))
                    .hint("use letters, digits, `-` and `_`")
            }),
        }
    }

    /// Returns the current files of a session, as the last commit of any process left them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn files(&self, opened: &OpenedSession) -> Result<Tree, ToolError> {
        match &self.stored {
            Some(stored) => {
                Ok(stored.sessions.reader().files(&Point { session: self.id(&opened.name)?, at: At::Head })?)
            }
            None => Ok(opened.session.files()),
        }
    }

    /// Tells subscribers which files of a session have changed, if there are any subscribers.
    pub(crate) fn announce(&self, session: &str, before: &Tree, after: &Tree) {
        if self.changes.receiver_count() > 0
            && let Some(changed) = FilesChanged::of(session, before, after)
        {
            // The last subscriber may have left meanwhile.
            let _ = self.changes.send(Arc::new(changed));
        }
    }

    /// Subscribes to changes of files.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Arc<FilesChanged>> {
        self.changes.subscribe()
    }

    /// Removes the client's sessions from the store. Their runs are cancelled.
    pub(crate) fn remove(&self) {
        let Some(stored) = &self.stored else { return };
        let names = self.names().unwrap_or_default();
        for id in names.iter().rev().filter_map(|name| self.id(name).ok()) {
            // Whoever forks the session meanwhile keeps the fork; what cannot be removed ends with the process.
            let _ = stored.sessions.remove(&id, &(Arc::new(|| true) as Waiting));
        }
    }

    fn open(&self, name: &str) -> Result<Arc<OpenedSession>, ToolError> {
        let unknown = || self.unknown(name);
        let Some(stored) = &self.stored else { return Err(unknown()) };
        let id = self.id(name)?;
        if name != MAIN && (!stored.sessions.contains(&id)? || !self.is_descendant(stored, &id)?) {
            return Err(unknown());
        }
        let given_up = Arc::<AtomicBool>::default();
        let waiting: Waiting = {
            let given_up = Arc::clone(&given_up);
            Arc::new(move || !given_up.load(Ordering::Relaxed))
        };
        let approver = Arc::<DeferringApprover>::default();
        let session = (stored.open)(&id, Arc::clone(&approver), waiting)?;
        let opened = OpenedSession::new(name, session, approver, given_up);
        // Of two that opened it at the same time, the first counts.
        Ok(Arc::clone(self.opened().entry(name.to_owned()).or_insert(opened)))
    }

    /// Returns true if a session is a fork of the client's default session, or of one of its forks. Another session of
    /// the store whose name looks like one may have other grants.
    fn is_descendant(&self, stored: &StoredRoot, id: &SessionId) -> Result<bool, ToolError> {
        let mut id = id.clone();
        for _ in 0..=MAX_SESSIONS {
            if id.as_str() == self.prefix {
                return Ok(true);
            }
            let shown = match stored.sessions.show(&id) {
                Ok(shown) => shown,
                Err(SessionsError::Unknown { .. }) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            match shown.created.from {
                Some(origin) => id = origin.session,
                None => return Ok(false),
            }
        }
        Ok(false)
    }

    fn unknown(&self, name: &str) -> ToolError {
        let error = ToolError::new(format!("there is no session `{}`", excerpt(name)));
        let names = self.names().unwrap_or_default();
        match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if self.stored.is_none() => error.hint("leave `session` out: this connection has one session"),
            None => error.hint("`sessions` with action `create` makes one; leave `session` out for the default one"),
        }
    }

    fn opened(&self) -> MutexGuard<'_, BTreeMap<String, Arc<OpenedSession>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenedSession {
    fn new(name: &str, session: Session, approver: Arc<DeferringApprover>, given_up: Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            session,
            approver,
            turn: Arc::default(),
            asked: AskedCalls::default(),
            given_up,
            listed: OnceLock::new(),
        })
    }

    /// Waits until nothing else uses the session. A thread must not wait for that: the run that uses the session needs
    /// threads to end.
    ///
    /// # Errors
    /// If the request is cancelled.
    pub(crate) async fn hold(self: Arc<Self>, cancelled: &CancellationToken) -> Result<HeldSession, ToolError> {
        tokio::select! {
            turn = Arc::clone(&self.turn).lock_owned() => Ok(HeldSession { opened: self, _turn: turn }),
            () = cancelled.cancelled() => Err(ToolError::cancelled()),
        }
    }
}

fn parse(id: &str) -> Result<SessionId, ToolError> {
    id.parse().map_err(|error| ToolError::because("that is not a session name", &error))
}
