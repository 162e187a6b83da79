//! Model Context Protocol, both ways. Server: an agent gets scripts, files and sessions of Tollhouse as tools. Client:
//! tools of other servers are mounted in sessions.
//!
//! The protocol itself (framing, versions, lifecycles, requests and notifications) is that of the official SDK, `rmcp`.
//!
//! | module | contents |
//! | --- | --- |
//! | `server` | requests of a client, and where each is answered |
//! | `definitions` | tools as clients see them: names, schemas, annotations |
//! | `arguments`, `tool_error` | arguments of a tool call, and errors for the model that wrote it |
//! | `sessions` | sessions that a client can reach |
//! | `runs`, `live_output`, `relayed` | runs of scripts: progress, logging, cancellation; behind a gateway, what servers say |
//! | `tasks` | calls of tools: answered when they end, or by a task that the client polls |
//! | `approvals` | calls that wait for consent: the client's user is asked, or the run stays suspended |
//! | `deciding` | the tools of a client that decides about calls of others, and has no other tools |
//! | `waiting_calls` | calls of clients with tokens that wait for such a decision |
//! | `run_report`, `excerpts`, `images` | result of a run: text for the model, structured content, pictures |
//! | `catalog` | mounted tools: search and declarations |
//! | `exposed`, `tool_names` | mounted tools as tools of their own, also of a gateway, which offers nothing else |
//! | `files`, `session_tool`, `pending` | the other tools |
//! | `resources`, `prompts`, `completions` | files of sessions as resources, guides for models, and completions of both |
//! | `stdio`, `line_transport`, `http` | transports |
//! | `client` | the other way: servers whose tools are mounted |
//!
//! **Invariant:** no tool of a client that runs something decides about a call that waits for consent. The decision is the
//! client's answer to an input request of the protocol, or is made elsewhere: on the command line, or by a client that can
//! do nothing else.
//!
//! **Invariant:** a client reaches its own default session and forks of that, with the same policy and budgets.
//!
//! **Invariant:** nothing here executes a tool: a script or a call is a run of the session, behind its gate.
#![deny(missing_docs)]

mod approvals;
mod arguments;
mod catalog;
mod client;
mod completions;
mod deciding;
mod definitions;
mod excerpts;
mod exposed;
mod files;
mod http;
mod images;
mod line_transport;
mod live_output;
mod pending;
mod place_shares;
mod prompts;
mod relayed;
mod resources;
mod run_places;
mod run_report;
mod runs;
mod server;
mod session_tool;
mod sessions;
mod stdio;
mod tasks;
mod tool_error;
mod tool_names;
mod unreadable_sessions;
mod waiting_calls;

pub use approvals::DeferringApprover;
pub use client::{
    ConnectError, LastWords, LoginError, LoginPage, LoginPlace, LoginSession, McpClient, MessageRelay, OnFailure,
    RelayError, SERVER_VARIABLE, ServerConnection, ServerLauncher, ServerPipes, ServerSlot, SignIn, SignInError,
    StartError, StartedServer, relay_stdio, sign_in,
};
pub use http::{
    AcceptedTokens, AccessTokenJudge, Algorithm, ApproverIssuer, HttpAccess, HttpOptions, KeySetError, KeySource,
    KeysError, ListenError, OAuthError, OAuthOptions, OpenSession, ProtectedResource, SubjectSessions, TokenIssuer,
    TokenKey, WorkerLimits, WorkerSessions, bind, serve_front, serve_http, serve_worker, start_workers,
};

pub use server::{Server, ServerOptions};
pub use sessions::{OpenOther, RootSession, StoredRoot};
pub use stdio::{ServeError, Stopper, serve_stdio};
pub use tool_names::ExposeError;
pub use waiting_calls::{TokenClient, WaitingCalls};
