//! Policies: what a session may call, and how often.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`capability`] | grants: what they cover, their conditions, how they are narrowed; documents of policies |
//! | [`ledger`] | budgets of grants: reservations, settlements, balances |
//!
//! **Invariant:** nothing here runs a tool, writes a file or knows of WebAssembly: it decides on data alone.
#![deny(missing_docs)]

pub mod capability;
pub mod ledger;
