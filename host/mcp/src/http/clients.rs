//! The sessions that a request reaches.
//!
//! A token's budgets are counted once, however many clients use it, and however its holders narrow it: the session of a
//! narrower token is derived from that of the token above it. So nothing is forgotten before its token has expired.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tollhouse::capability::Policy;
use tollhouse::session::{HostError, Session};
use tollhouse::token::{Token, TokenStage};
use tollhouse::vfs::Tree;

use super::approvers::{ApproverIdentity, ApproverIssuer, NotApprover};
use super::oauth::{AccessTokenJudge, Identity, JudgedToken, SubjectSessions};
use super::opened_once::{OpenedOnce, Slots};
use super::protocol_sessions::{ProtocolSessions, Reservation};
use super::workers::AdmittedClient;
use super::{AcceptedTokens, OpenSession, TokenKey};
use crate::approvals::DeferringApprover;
use crate::server::Server;
use crate::sessions::{ClientSessions, RootSession};
use crate::tool_error::{ToolError, chain};
use crate::waiting_calls::TokenClient;

/// Most tokens and blocks of tokens that have a session.
const MAX_TOKENS: usize = 1024;

/// Most narrower tokens of one token that have a session.
const MAX_NARROWER: usize = 64;

/// Sessions of the client that sent a request, as an extension of the request.
#[derive(Clone)]
pub(super) struct ClientOfRequest(pub(super) Arc<ClientSessions>);

/// Sender of a request.
pub(super) enum Sender {
    /// A client that runs scripts, with its sessions.
    Client(Arc<ClientSessions>),
    /// A client that decides about calls of others.
    Approver(ApproverIdentity),
}

/// Name of a client. Without tokens all clients have an empty one.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientName {
    /// Name of its token, or of its subject with scopes, which no other client has.
    pub(super) own: String,
    /// Name of the first block of its token, or of its subject: what clients of one account take is counted together.
    pub(super) account: String,
}

/// Reason why a request is of nobody.
#[derive(Debug)]
pub(super) enum Unauthorized {
    /// It has no token.
    Missing,
    /// Its token is not accepted, with the reason.
    Refused(String),
    /// Its token has no scope that grants something.
    Insufficient,
    /// It has a token in its address.
    InAddress,
    /// Its session cannot be opened, with the reason.
    Unavailable(String),
}

/// All clients of the server.
pub(super) struct HttpClients {
    server: Server,
    issuer: Option<TokenKey>,
    oauth: Option<AccessTokenJudge>,
    /// Opens the sessions of sealed tokens.
    open: Option<OpenSession>,
    /// Sessions of those with access tokens.
    subjects: Option<SubjectSessions>,
    approvers: Option<ApproverIssuer>,
    /// Client of requests without a protocol session, where no tokens are asked for.
    shared: Arc<ClientSessions>,
    /// Clients by protocol session, where each has its own.
    by_session: Mutex<HashMap<String, Arc<ClientSessions>>>,
    protocol_sessions: ProtocolSessions,
    /// Sessions of tokens and of their first blocks, with the times at which the tokens expire.
    tokens: OpenedOnce<Option<SystemTime>, TokenSession>,
    next: Mutex<u64>,
}

/// Session of a token, or of its first blocks.
#[derive(Clone)]
struct TokenSession {
    session: Session,
    /// Files that the session began with.
    first: Tree,
    client: Arc<ClientSessions>,
}

impl HttpClients {
    pub(super) fn new(
        server: Server,
        accepted: AcceptedTokens,
        open: Option<OpenSession>,
        subjects: Option<SubjectSessions>,
        approvers: Option<ApproverIssuer>,
    ) -> Self {
        let shared = Arc::new(ClientSessions::of_root(&server.0.root));
        let AcceptedTokens { issuer, oauth } = accepted;
        Self {
            server,
            issuer,
            oauth,
            open,
            subjects,
            approvers,
            shared,
            by_session: Mutex::default(),
            protocol_sessions: ProtocolSessions::default(),
            tokens: OpenedOnce::default(),
            next: Mutex::new(1),
        }
    }

    /// Returns the protected resource, if access tokens of an authorization server are accepted.
    pub(super) fn oauth(&self) -> Option<&AccessTokenJudge> {
        self.oauth.as_ref()
    }

    /// Returns true if each request needs a token.
    pub(super) fn asks_tokens(&self) -> bool {
        self.issuer.is_some() || self.oauth.is_some()
    }

    /// Returns the sender of a request with this token, and its name. Blocks for as long as opening a session takes.
    pub(super) fn authorize(
        &self,
        judged: Option<&JudgedToken>,
        token: Option<&str>,
        protocol_session: Option<&str>,
    ) -> Result<(Sender, ClientName), Unauthorized> {
        let (client, name) = match judged {
            Some(JudgedToken::Client(identity)) => self.of_subject(identity)?,
            Some(JudgedToken::Approver(approver)) => return Ok(of_approver(approver.clone())),
            None => match self.approver(token)? {
                Some(approver) => return Ok(of_approver(approver)),
                None => self.client(token, protocol_session)?,
            },
        };
        Ok((Sender::Client(client), name))
    }

    /// Returns the client that decides whose token this is; `None` if it is for the issuer of the others to judge.
    fn approver(&self, token: Option<&str>) -> Result<Option<ApproverIdentity>, Unauthorized> {
        let (Some(approvers), Some(token)) = (&self.approvers, token) else { return Ok(None) };
        match approvers.judge(token) {
            Ok(approver) => Ok(Some(approver)),
            Err(NotApprover::OtherKey(_)) if self.issuer.is_some() => Ok(None),
            Err(NotApprover::OtherKey(why) | NotApprover::Refused(why)) => Err(Unauthorized::Refused(why)),
        }
    }

    fn client(
        &self,
        token: Option<&str>,
        protocol_session: Option<&str>,
    ) -> Result<(Arc<ClientSessions>, ClientName), Unauthorized> {
        if self.asks_tokens() {
            let token = token.ok_or(Unauthorized::Missing)?;
            return match &self.issuer {
                Some(issuer) => self.of_stages(issuer.judge(token)?.1),
                None => Err(Unauthorized::Refused("it is not a JSON Web Token".to_owned())),
            };
        }
        let client = match protocol_session {
            // Sessions on disk are for whoever connects: the operator has named one.
            Some(id) if !self.shared.on_disk() => self.of_session(id)?,
            _ => Arc::clone(&self.shared),
        };
        Ok((client, ClientName::default()))
    }

    /// Returns the client of a protocol session, which has a fork of the default session.
    fn of_session(&self, id: &str) -> Result<Arc<ClientSessions>, Unauthorized> {
        let known = lock(&self.by_session).get(id).cloned();
        if let Some(client) = known {
            return Ok(client);
        }
        let number = {
            let mut next = lock(&self.next);
            *next += 1;
            *next
        };
        let unavailable = |error: ToolError| Unauthorized::Unavailable(error.to_string());
        let client = ClientSessions::of_fork(&self.server.0.root, &format!("client-{number}")).map_err(unavailable)?;
        let client = Arc::new(client);
        // Of two requests that came at the same time, the first counts.
        let first = Arc::clone(lock(&self.by_session).entry(id.to_owned()).or_insert_with(|| Arc::clone(&client)));
        if !Arc::ptr_eq(&first, &client) {
            client.remove();
        }
        Ok(first)
    }

    /// Returns the client that another process has admitted, and its name. Blocks for as long as opening a session takes.
    pub(super) fn admitted(&self, client: &AdmittedClient) -> Result<(Arc<ClientSessions>, ClientName), Unauthorized> {
        match client {
            AdmittedClient::Subject(identity) => self.of_subject(identity),
            AdmittedClient::Sealed(blocks) => {
                let stages = TokenStage::of_verified(blocks);
                self.of_stages(stages.map_err(|error| Unauthorized::Refused(chain(&error)))?)
            }
        }
    }

    fn of_subject(&self, identity: &Identity) -> Result<(Arc<ClientSessions>, ClientName), Unauthorized> {
        let subjects = self.subjects.as_ref();
        let none = || Unauthorized::Unavailable("this server has no sessions for access tokens".to_owned());
        subjects.ok_or_else(none)?.client(identity)
    }

    /// Returns the client of a token that was narrowed in these stages.
    fn of_stages(&self, stages: Vec<TokenStage>) -> Result<(Arc<ClientSessions>, ClientName), Unauthorized> {
        let none = || Unauthorized::Unavailable("this server has no sessions for sealed tokens".to_owned());
        let open_first = self.open.as_ref().ok_or_else(none)?;
        let unavailable = |error: &dyn std::error::Error| Unauthorized::Unavailable(chain(error));
        let mut name = String::new();
        let mut above: Option<TokenSession> = None;
        let first = stages.first().map(|stage| stage.id.clone()).unwrap_or_default();
        let owner = TokenClient::Sealed(first.clone());
        for stage in stages {
            name = if name.is_empty() { stage.id } else { format!("{name}.{}", stage.id) };
            let open = || {
                let opened = match &above {
                    None => open_first(&owner, stage.policy),
                    Some(above) => below(above, stage.policy),
                };
                let session = opened.map_err(|error| unavailable(&error))?;
                let approver = Arc::<DeferringApprover>::default();
                let root = RootSession { session: session.clone(), approver, stored: None };
                let client = Arc::new(ClientSessions::of_account(&root, first.clone()));
                let first_files = above.as_ref().map_or_else(|| session.files(), |above| above.first.clone());
                Ok(TokenSession { session, first: first_files, client })
            };
            above = Some(self.tokens.get_or_open(&name, stage.expires, |slots| make_room(slots, &name), open)?);
        }
        let known = above.ok_or_else(|| Unauthorized::Refused("it is empty".to_owned()))?;
        Ok((known.client, ClientName { own: name, account: first }))
    }

    /// Returns true if a session of a token or of a subject is open, or is about to be.
    pub(super) fn has_sessions(&self) -> bool {
        self.tokens.has_any() || self.subjects.as_ref().is_some_and(SubjectSessions::has_any)
    }

    /// Returns true if a request of this client may use a protocol session.
    pub(super) fn owns(&self, protocol_session: &str, name: &ClientName) -> bool {
        self.protocol_sessions.owns(protocol_session, &name.own)
    }

    /// Reserves a place for a protocol session of a client; `None` if it has as many as it may.
    pub(super) fn reserve(&self, name: &ClientName) -> Option<Reservation> {
        self.protocol_sessions.reserve(name)
    }

    /// Lists the protocol sessions that have owners or clients.
    pub(super) fn known(&self) -> BTreeSet<String> {
        let mut known = self.protocol_sessions.known();
        known.extend(lock(&self.by_session).keys().cloned());
        known
    }

    /// Removes the clients of protocol sessions that have ended, with their sessions.
    pub(super) fn remove(&self, ended: &BTreeSet<String>) {
        self.protocol_sessions.remove(ended);
        let clients: Vec<Arc<ClientSessions>> =
            lock(&self.by_session).extract_if(|id, _| ended.contains(id)).map(|(_, client)| client).collect();
        clients.iter().for_each(|client| client.remove());
    }
}

impl TokenKey {
    /// Judges a sealed token, and returns it with the stages in which it was narrowed.
    pub(super) fn judge(&self, text: &str) -> Result<(Token, Vec<TokenStage>), Unauthorized> {
        let refused = |error: &dyn std::error::Error| Unauthorized::Refused(chain(error));
        let token = Token::parse(text).map_err(|error| refused(&error))?;
        let stages = token.stages(&self.key, &self.revoked, SystemTime::now()).map_err(|error| refused(&error))?;
        Ok((token, stages))
    }
}

/// Returns a client that decides as the sender of its request, with its name.
fn of_approver(approver: ApproverIdentity) -> (Sender, ClientName) {
    let name = approver.name();
    (Sender::Approver(approver), name)
}

/// Opens the session of a narrower token. It shares budgets with the session above, and none of its files.
fn below(above: &TokenSession, policy: Policy) -> Result<Session, HostError> {
    let session = above.session.delegate(policy)?;
    session.change("first files", |files| {
        let limits = files.limits();
        *files = above.first.clone();
        files.set_limits(limits);
        Ok(())
    })?;
    Ok(session)
}

/// Makes room for the session of a token: those of expired ones are dropped. A token that is valid is never forgotten,
/// since its budgets would be whole again. A holder can narrow a token as often as he likes: that takes no room of
/// others.
fn make_room(tokens: &mut Slots<Option<SystemTime>, TokenSession>, name: &str) -> Result<(), Unauthorized> {
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let of_name = first(name);
    let is_full = |tokens: &Slots<Option<SystemTime>, TokenSession>| {
        let narrower = tokens.keys().filter(|other| first(other) == of_name).count();
        (tokens.len() >= MAX_TOKENS, narrower > MAX_NARROWER)
    };
    if is_full(tokens) == (false, false) {
        return Ok(());
    }
    // A clock that is set back must not revive a token.
    let margin = Duration::from_secs(60);
    let now = SystemTime::now();
    tokens.retain(|_, known| known.about.is_none_or(|end| end + margin > now));
    match is_full(tokens) {
        (false, false) => Ok(()),
        (true, _) => Err(Unauthorized::Unavailable(format!("{MAX_TOKENS} tokens are in use"))),
        (false, true) => {
            Err(Unauthorized::Unavailable(format!("{MAX_NARROWER} narrower tokens of this one are in use")))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
