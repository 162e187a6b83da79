//! Tollhouse runs the code that AI agents write, in WebAssembly, with tools that are WASI components, each call behind
//! one capability-checking gate.
//!
//! # Code map
//!
//! | module | contents | uses, besides `error` |
//! | --- | --- | --- |
//! | [`session`] | host, sessions in memory and on disk, runs: the step API and the driver | all below |
//! | [`agent`] | components that call tools: each import goes through the gate | `gate`, `tool`, `guest`, `code` |
//! | [`gate`] | drives the gate of a session: logs what it decides, asks humans, makes admitted calls | `tool`, `code`, `tollhouse-gate`, `tollhouse-audit` |
//! | [`guest`] | script guests: instances, and the imports of their world | `code`, `vfs` |
//! | [`tool`] | packages as tools: decoding, values, WASI with the authority granted | `code`, `capability`, `vfs`, `tollhouse-gate`, `tollhouse-audit` |
//! | [`code`] | engines, embedded guests, the cache of compiled code | |
//! | `tollhouse-audit` | the audit log, chained and verified | `tollhouse-gate` |
//! | `tollhouse-gate` | decides about calls: the one place where a guest's call becomes an admission | `tollhouse-methods`, `capability`, `ledger` |
//! | `tollhouse-methods` | what can be called, as data: types, names, canonical arguments, declarations | |
//! | [`token`] | signed grants, for another host: the crate `tollhouse-token` | `capability` |
//! | [`capability`], [`ledger`] | grants and budgets: the crate `tollhouse-policy` | |
//! | [`vfs`] | files: the crate `tollhouse-vfs` | `store` |
//! | [`store`] | durable records and blobs: the crate `tollhouse-store` | |
//! | [`error`] | the one type of failures: of the crate `tollhouse-types` | |
//! | [`remedy`] | what can be done about an error, in the words of each interface: of the same crate | |
//!
//! The crates that decide, count and store build without wasmtime, an HTTP client or an asynchronous runtime.
//!
//! **Invariant:** a script guest imports its world (`wit/guest.wit`) and nothing else.
//!
//! **Invariant:** only the crate `tollhouse-gate` makes a [`gate::Admission`], whose fields are private, and a tool is
//! called only with one: `Tool::call` and `Tool::run` take it, and nothing else enters a component by name
//! (`tests/repository/architecture.rs`). It cannot be forged or changed, by this crate either:
//!
//! ```compile_fail,E0451
//! # use tollhouse::gate::Admission;
//! # fn forge(judged: Admission) -> Admission {
//! Admission { seq: 2, ..judged }
//! # }
//! ```
//!
//! **Invariant:** a tool accesses what its manifest asks for and the policy grants, and nothing else. This authority is
//! determined once a session, when the gate is created (`gate::session_gate`), and each request, secret, bucket and call
//! of another tool is checked against it.
//!
//! **Invariant:** a guest never waits inside a call to the host, except for its standard input (`session::run_input`); it
//! returns the operations that it waits for. A script that it runs to completion within its step does not wait either.
//!
//! **Invariant:** in a session on disk, a call is durable in the ledger and the log before the tool starts; whoever
//! writes holds the session's lock, and each commit carries its epoch (`session::Sessions`, `gate::SessionGate::sync`).
//!
//! **Invariant:** the library never prints, never reads the environment and never exits; the command line
//! (`host/cli`) does.
//!
//! # From `run` to a tool and back
//!
//! [`session::Session::start`] instantiates a guest with the session's files. [`session::Run::step`] enters it; the
//! script runs until it awaits `stats.describe({values})`, and the guest returns that it is blocked on a call. The run
//! asks [`gate::SessionGate`], whose rules (`tollhouse_gate::Gate::judge`) find the method, bring the arguments to their
//! canonical form, check their types, find a grant and debit its budget; the admission is logged.
//! [`session::Run::perform`] hands it with its tool to a thread, which lowers the arguments, instantiates the tool
//! afresh, calls it and lifts the result. [`session::Run::wait`] receives that, the next `step` delivers it, and the
//! script's promise settles.
#![deny(missing_docs)]

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The guide's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/sessions.md")]
struct Guide;

/// The tutorial's program, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/tutorials/rust.md")]
struct Tutorial;

pub mod agent;
pub mod code;
pub mod gate;
pub mod guest;
pub mod session;
pub mod tool;

pub use tollhouse_policy::{capability, ledger};
pub use tollhouse_types::json;
pub use tollhouse_types::{error, remedy};
pub use {tollhouse_store as store, tollhouse_token as token, tollhouse_vfs as vfs};
