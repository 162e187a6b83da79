//! One store shared by many processes.
//!
//! Only one process at a time can open a database, and opening takes a hundred times as long as a commit. So the first
//! process holds the store and serves it to the others over a socket in the store's directory: it is the *leader*, they
//! are its *followers*. When the leader ends, for whatever reason, a follower takes over, and the others connect to
//! that one and repeat their unanswered requests. Callers notice nothing but a delay.
//!
//! Modules:
//! - `leader_lock`: the lock that the leader holds; `socket`: the leader's socket;
//! - `protocol`: the messages between leader and followers;
//! - `leader`, `follower`: the two roles; `election`: which of them this process has;
//! - `commit_dedup`: applies a commit that is requested twice only once.
//!
//! **Invariant:** the process that holds the lock holds the store; it releases the lock when the store is closed, or
//! when the process dies.

#[cfg(unix)]
mod commit_dedup;
#[cfg(unix)]
mod election;
#[cfg(unix)]
mod follower;
#[cfg(unix)]
mod leader;
mod leader_lock;
#[cfg(unix)]
mod protocol;
#[cfg(not(unix))]
mod single_process;
#[cfg(unix)]
mod socket;
#[cfg(all(test, unix))]
mod tests;

use std::path::Path;
#[cfg(unix)]
use std::time::Duration;

use super::record::{Store, StoreError};

#[cfg(unix)]
pub use election::OpenStore;
pub(super) use leader_lock::{holder, lock};
#[cfg(unix)]
pub use protocol::{rewrite_answer, rewrite_request};
#[cfg(not(unix))]
pub use single_process::OpenStore;

/// Time limit for a leader to answer a request, and for the election of a new leader.
#[cfg(unix)]
const LEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for compaction, after which the leader is considered hung.
#[cfg(unix)]
const COMPACTION_TIMEOUT: Duration = Duration::from_secs(3600);

/// Opens the store of a directory for exclusive use by this process.
pub(super) type Opener = Box<dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError> + Send + Sync>;
