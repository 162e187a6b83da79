//! One store, many processes.
//!
//! A database is opened by one process at a time, and opening takes a hundred times as long as a commit. So the process
//! that comes first holds the store and serves it to the others over a socket in the store's directory; it is the
//! *leader*, they are its *followers*. When it ends, however it ends, one of them takes its place, and the others turn to
//! that one; what they had asked and was not answered they ask again. No caller notices more than a delay.
//!
//! What is inside:
//! - `lock`: who leads; `socket`: where;
//! - `wire`: what they say to each other;
//! - `leader`, `follower`: the two roles; `role`: which of them this process has;
//! - `mark`: how a commit that is asked for twice is made once.
//!
//! **Invariant:** who has the lock has the store; it gives the lock up when the store is closed, or dies.

#[cfg(not(unix))]
mod alone;
#[cfg(unix)]
mod follower;
#[cfg(unix)]
mod leader;
mod lock;
#[cfg(unix)]
mod mark;
#[cfg(unix)]
mod role;
#[cfg(unix)]
mod socket;
#[cfg(all(test, unix))]
mod tests;
#[cfg(unix)]
mod wire;

use std::path::Path;
#[cfg(unix)]
use std::time::Duration;

use super::record::{Store, StoreError};

#[cfg(not(unix))]
pub use alone::OpenStore;
pub(super) use lock::{holder, lock};
#[cfg(unix)]
pub use role::OpenStore;
#[cfg(unix)]
pub use wire::{rewrite_answer, rewrite_request};

/// How long a leader may leave a follower without an answer, and nobody lead.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(30);

/// How long compacting may take before its leader is taken to hang.
#[cfg(unix)]
const COMPACTING: Duration = Duration::from_secs(3600);

/// Opens the store of a directory for this process alone.
pub(super) type Opener = Box<dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError> + Send + Sync>;
