//! Tollhouse runs the code that AI agents write, in WebAssembly, with tools that are WASI components, each call behind
//! one capability-checking gate.
//!
//! # Code map
//!
//! | module | what it holds | may use |
//! | --- | --- | --- |
//! | [`session`] | host, sessions in memory and on disk, runs: the step API and the driver | all below |
//! | [`agent`] | components that call tools: each import led to the gate | `gate`, `tool` |
//! | [`gate`] | the one place where a guest's call becomes a tool's call | `tool`, `capability`, `ledger` |
//! | [`guest`] | script guests: instances, and the imports of their world | `code`, `vfs` |
//! | [`tool`] | packages as typed tools: reflection, values, WASI with the authority granted | `code`, `capability` |
//! | [`code`] | engines, embedded guests, the cache of compiled code, the memory of a session | |
//! | [`token`] | grants, signed, for another host | `capability` |
//! | [`capability`], [`ledger`], [`vfs`] | grants, budgets, files; no wasmtime | `store` |
//! | [`store`] | what outlives a process: records, blobs; no wasmtime | |
//! | [`error`] | the one shape of failures | |
//!
//! **Invariant:** a script guest imports its world (`wit/guest.wit`) and nothing else.
//!
//! **Invariant:** only the gate makes a [`gate::Admission`], and a tool is called only with one. The type has private
//! fields and one place that fills them, `Gate::begin`, where `Gate::admit` ends; `Tool::call` and `Tool::run` take it, and nothing else enters a component by
//! name. `tests/features/architecture.rs` reads that off the source, and outside the crate it does not compile:
//!
//! ```compile_fail,E0451
//! # fn forge(arguments: serde_json::Value) -> tollhouse::gate::Admission {
//! tollhouse::gate::Admission { seq: 1, method: "payments/refund".into(), arguments, debit: None }
//! # }
//! ```
//!
//! **Invariant:** a tool touches what its manifest asks for and the policy grants, and nothing else. What the two come to
//! is worked out once a session, when the gate is made (`gate::tool_gates`), and each request, secret, bucket and call of
//! another tool is judged by it.
//!
//! **Invariant:** a guest never waits inside a call of the host; it returns what it waits for. A script that it runs to its end
//! within its step computes, and nothing in that waits either.
//!
//! **Invariant:** of a session on disk, a call is in the ledger and the log, durably, before the tool starts; whoever writes
//! has the session's turn, and each commit carries its epoch (`session::Sessions`, `gate::Gate::sync`).
//!
//! **Invariant:** the library never prints, never reads the environment and never exits; the command line (`host/cli`) does.
//!
//! # From `run` to a tool and back
//!
//! [`session::Session::start`] instantiates a guest with the session's files. [`session::Run::step`] enters it; the
//! script runs until it awaits `stats.describe({values})`, and the guest returns that it is blocked on a call. The run
//! asks [`gate::Gate::admit`], which finds the tool, brings the arguments to their canonical form, checks their types,
//! finds a grant, debits its budget and puts the call on record. [`session::Run::perform`] hands the admission to a
//! thread, which lowers the arguments, instantiates the tool afresh, calls it and lifts the result.
//! [`session::Run::wait`] receives that, the next `step` delivers it, and the script's promise settles.
#![deny(missing_docs)]

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The guide's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/sessions.md")]
struct Guide;

pub mod agent;
pub mod code;
pub mod error;
pub mod gate;
pub mod guest;
mod json;
pub mod session;
pub mod tool;

pub use tollhouse_policy::{capability, ledger};
pub use {tollhouse_store as store, tollhouse_token as token, tollhouse_vfs as vfs};
