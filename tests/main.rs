//! Tests of Tollhouse from outside: a directory for each subject, a file for each feature, the real binary, a home of its own
//! for each test.

mod cli;
mod conformance;
mod crash;
mod javascript;
#[cfg(target_os = "linux")]
mod mcp;
mod policy;
mod programs;
mod repository;
mod security;
mod sessions;
mod shell;
mod tools;
