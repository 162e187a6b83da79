//! The front process: it decides who sent a request, within limits, and has the client's worker answer it.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode};
use hyper::body::Incoming;
use tokio::task::spawn_blocking;

use super::AdmittedClient;
use super::process::WorkerError;
use super::relay::{RelayedAnswer, relay};
use super::session_names::SessionNames;
use super::table::{ClientAccount, WorkerTable};
use crate::http::clients::Unauthorized;
use crate::http::connections::{SESSION, check_path};
use crate::http::cors::{self, NamedOrigins};
use crate::http::oauth::{JudgedToken, is_jwt};
use crate::http::open_connections::RequestInProgress;
use crate::http::refusals::{
    Answer, bearer, discard, has_token, header, holding, metadata, no_session, read_body, refuse, too_many,
    unauthorized_answer,
};
use crate::http::request_places::{RequestPlace, RequestPlaces};
use crate::http::{AcceptedTokens, HttpOptions};

/// What all connections of the front process share.
pub(super) struct Front {
    tokens: Arc<AcceptedTokens>,
    origins: NamedOrigins,
    max_body: usize,
    places: RequestPlaces,
    names: SessionNames,
    workers: Arc<WorkerTable>,
}

/// Client that sent a request.
struct KnownSender {
    client: AdmittedClient,
    /// Name of its token or subject, which no other client has.
    name: String,
    /// Name of the first block of its token, or of its subject.
    account: String,
    expires: Option<std::time::SystemTime>,
    has_budgets: bool,
}

/// Request that is to be answered by the worker of its client.
struct RelayedRequest {
    sender: KnownSender,
    /// The worker's name of the protocol session.
    session: Option<String>,
    body: Bytes,
}

impl Front {
    pub(super) fn new(
        tokens: AcceptedTokens,
        options: &HttpOptions,
        names: SessionNames,
        workers: Arc<WorkerTable>,
    ) -> Self {
        let origins = NamedOrigins::new(&options.origins);
        let places = RequestPlaces::new(options.max_connections);
        Self { tokens: Arc::new(tokens), origins, max_body: options.max_body, places, names, workers }
    }

    /// Answers a request, also to a web page whose origin is named.
    pub(super) async fn answer(&self, request: Request<Incoming>, in_progress: RequestInProgress) -> Answer {
        let Some(origin) = self.origins.of(request.headers()) else {
            return self.answer_client(request, in_progress).await;
        };
        let (parts, body) = request.into_parts();
        let mut answer = match cors::preflight(&parts) {
            Some(allowed) => allowed,
            None => self.answer_client(Request::from_parts(parts, body), in_progress).await,
        };
        cors::allow(answer.headers_mut(), origin);
        answer
    }

    async fn answer_client(&self, request: Request<Incoming>, in_progress: RequestInProgress) -> Answer {
        let (parts, mut body) = request.into_parts();
        if let Some(document) = metadata(self.tokens.oauth.as_ref(), &parts) {
            return document;
        }
        match self.judge(&parts, &mut body).await {
            Ok((relayed, place)) => holding(self.relay(&parts, relayed).await, (in_progress, place)),
            Err(refused) => {
                drop(in_progress);
                discard(body).await;
                refused
            }
        }
    }

    /// Decides who sent a request, and reads its body. Returns the place of the request among those of all clients, too.
    async fn judge(&self, parts: &Parts, body: &mut Incoming) -> Result<(RelayedRequest, RequestPlace), Answer> {
        check_path(parts)?;
        let refused = |unauthorized| unauthorized_answer(self.tokens.oauth.as_ref(), unauthorized);
        let sender = self.authorize(parts).await.map_err(refused)?;
        let session = match header(&parts.headers, SESSION) {
            Some(shown) => Some(self.names.verified(&shown, &sender.name).ok_or_else(no_session)?),
            None => None,
        };
        let place = self.places.take(&sender.account).ok_or_else(too_many)?;
        let body = read_body(&parts.headers, body, self.max_body).await?;
        Ok((RelayedRequest { sender, session, body }, place))
    }

    async fn authorize(&self, parts: &Parts) -> Result<KnownSender, Unauthorized> {
        if has_token(parts.uri.query().unwrap_or_default()) {
            return Err(Unauthorized::InAddress);
        }
        let token = bearer(&parts.headers).ok_or(Unauthorized::Missing)?;
        match &self.tokens.oauth {
            Some(oauth) if is_jwt(&token) => {
                let JudgedToken::Client(identity) = oauth.judge(&token).await? else {
                    // The calls that wait are in the processes of other clients.
                    return Err(Unauthorized::Refused("no call of this server can be decided about".to_owned()));
                };
                let (name, account) = (identity.name(), identity.subject_name());
                let (client, has_budgets) = (AdmittedClient::Subject(identity), oauth.has_budgets());
                Ok(KnownSender { client, name, account, expires: None, has_budgets })
            }
            _ => {
                let tokens = Arc::clone(&self.tokens);
                let judged = spawn_blocking(move || of_sealed(&tokens, &token)).await;
                judged.unwrap_or_else(|error| Err(Unauthorized::Unavailable(error.to_string())))
            }
        }
    }

    /// Has the worker of the client answer. A protocol session that begins is named for this client.
    async fn relay(&self, parts: &Parts, relayed: RelayedRequest) -> Answer {
        let RelayedRequest { sender, session, body } = relayed;
        let KnownSender { client, name, account, expires, has_budgets } = &sender;
        let account = ClientAccount { name: account, expires: *expires, has_budgets: *has_budgets };
        let worker = match self.workers.get(&account) {
            Ok(worker) => worker,
            Err(why) => return refuse(StatusCode::SERVICE_UNAVAILABLE, &why),
        };
        let answered = relay(&worker, client, parts, session.as_deref(), body).await;
        let RelayedAnswer { mut answer, begun, has_no_session } = match answered {
            Ok(answered) => answered,
            Err(error) => return refuse(status_of(&error), &crate::tool_error::chain(&error)),
        };
        if has_no_session {
            self.workers.give_up(account.name, &worker);
        }
        if let Some(begun) = begun {
            let shown = self.names.signed(&begun, name).and_then(|shown| HeaderValue::try_from(shown).ok());
            let Some(shown) = shown else {
                return refuse(StatusCode::BAD_GATEWAY, &WorkerError::Strange.to_string());
            };
            answer.headers_mut().insert(SESSION, shown);
        }
        answer
    }
}

/// Judges a sealed token.
fn of_sealed(tokens: &AcceptedTokens, text: &str) -> Result<KnownSender, Unauthorized> {
    let issuer = tokens.issuer.as_ref();
    let issuer = issuer.ok_or_else(|| Unauthorized::Refused("it is not a JSON Web Token".to_owned()))?;
    let (token, stages) = issuer.judge(text)?;
    let ids: Vec<&str> = stages.iter().map(|stage| stage.id.as_str()).collect();
    let first = stages.first().ok_or_else(|| Unauthorized::Refused("it is empty".to_owned()))?;
    let has_budgets = stages
        .iter()
        .flat_map(|stage| &stage.policy.grants)
        .any(|grant| grant.calls.is_some() || grant.spend.is_some());
    Ok(KnownSender {
        client: AdmittedClient::Sealed(token.inspect().blocks),
        name: ids.join("."),
        account: first.id.clone(),
        expires: first.expires,
        has_budgets,
    })
}

/// Returns the status of an answer to a client whose worker has not answered.
fn status_of(error: &WorkerError) -> StatusCode {
    match error {
        WorkerError::Ended(_) | WorkerError::Strange => StatusCode::BAD_GATEWAY,
        WorkerError::Slow => StatusCode::GATEWAY_TIMEOUT,
        WorkerError::Busy | WorkerError::NoRoom(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
