//! The session's files as a tool sees them: `wasi:filesystem` 0.2 on the paths that it was granted.
//!
//! A call works on a snapshot of its run's tree ([`Files`]); what it changed is taken out as edits when it has ended,
//! and whoever delivers its result applies them to the run's tree as that is then. So calls at the same time do not see
//! each other's work, and a call that is not delivered leaves nothing behind; but for a program that is stopped: what it
//! had changed by then is taken out of its hands ([`Working::changes`]).
//!
//! - `work`: the snapshot, what may be done to it, and what becomes of files that are open; no wasmtime there;
//! - `change`: the half of that which changes entries;
//! - `descriptor`, `stream`: the interface;
//! - this file: what the host holds, preopened directories, and how errors are told.
//!
//! # What a tool finds
//!
//! Preopened are the granted directories, under their absolute paths. A granted path that is no directory, or not there
//! yet, is reached in its directory, which then shows nothing else. A grant is taken by its name, so no link makes
//! another of it. Grants add up.
//!
//! A program finds the directory that it works in as well, as `.`, and from there the way up.
//!
//! A path is resolved as WASI says: below the descriptor that it begins at, or it is `not-permitted`. Where it leads is
//! then looked for in the grants: what is outside of them is `access`, whether or not anything is there; what may only
//! be read is `read-only` to whoever changes it. What the session itself makes read-only is `access`, as for scripts.
//!
//! A descriptor follows its entry when that is renamed. A file that is removed while it is open stays readable and
//! writable there, as long as it is open, and counts towards the quota; a directory that is removed is empty, and
//! nothing can be found in it. A directory is changed through any descriptor of it, whatever flags that was opened
//! with, since C libraries do not ask for `mutate-directory`: grants decide.
//!
//! There are no hard links (`unsupported`), no times but that of the last change, and all of it is in memory, so
//! `sync` has nothing to do. The time is the call's.
//!
//! **Invariant:** nothing here waits, and nothing touches the host's disk.
//!
//! **Invariant:** rights are looked up anew for each operation, and never kept in a descriptor.

mod change;
mod descriptor;
mod stream;
#[cfg(test)]
mod tests;
mod work;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode as Code;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{self, Descriptor, ErrorCode};
use wasmtime_wasi::p2::bindings::sync::io::error::Error as IoError;

use self::work::{Open, Work};
use crate::vfs::{ApplyError, Edit, Errno, Limits, Refusal, Scope, Tree};

/// How many descriptors, and streams of files and directories, a tool may hold at once: what Linux gives a process.
pub(super) const MAX_OPEN: usize = 1_024;

/// How many bytes go in or out at once: more is the guest's wish, and the host's memory.
const CHUNK: u64 = 1 << 20;

/// A tool's files, for one call after another.
pub(crate) struct Files {
    work: Shared,
    base: Tree,
    /// Every open thing holds a clone.
    slots: Slot,
}

/// A place among [`MAX_OPEN`].
type Slot = Arc<()>;

/// The files of a call that makes calls: what those see, and where what they changed goes.
#[derive(Clone, Default)]
pub(crate) struct Working(Arc<OnceLock<Shared>>);

impl Working {
    /// The files as they are now; none if the call has not begun.
    pub(crate) fn snapshot(&self) -> Option<Tree> {
        Some(self.0.get()?.lock().tree.clone())
    }

    /// What the call has changed until now, of the files that it began with.
    ///
    /// # Errors
    /// `Io` if what it removed or replaced must be read for that, and cannot be.
    pub(crate) fn changes(&self, base: &Tree) -> Result<Vec<Edit>, Errno> {
        let Some(shared) = self.0.get() else { return Ok(Vec::new()) };
        let work = shared.lock();
        work.left.clone().map_or_else(|| work.tree.changes_since(base), Ok)
    }

    /// Takes on what a call changed.
    ///
    /// # Errors
    /// If that does not fit; then nothing is changed.
    pub(crate) fn apply(&self, edits: &[Edit]) -> Result<(), ApplyError> {
        let Some(shared) = self.0.get().filter(|_| !edits.is_empty()) else { return Ok(()) };
        let mut work = shared.lock();
        let mut tree = work.tree.clone();
        tree.apply(edits)?;
        let (scope, now) = (work.scope.clone(), work.now);
        work.begin(tree, scope, now);
        Ok(())
    }
}

/// What the descriptors and streams of a tool work on together.
#[derive(Clone)]
struct Shared(Arc<Mutex<Work>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    /// No files, until a call begins.
    pub(crate) fn new() -> Self {
        let tree = Tree::new(Limits::default(), 0);
        let work = Work::new(tree.clone(), Scope::default(), 0);
        Self { work: Shared(Arc::new(Mutex::new(work))), base: tree, slots: Arc::default() }
    }

    /// A call begins, on a snapshot of its run's tree, at a time in nanoseconds since the Unix epoch. What an earlier
    /// call of the same instance left open stays so where the new tree has the same kind of entry at that path.
    pub(crate) fn begin(&mut self, tree: Tree, scope: Scope, now: u64) {
        self.base = tree.clone();
        self.work.lock().begin(tree, scope, now);
    }

    /// Says where the program works that begins: absolute.
    pub(crate) fn enter(&self, directory: &str) {
        self.work.lock().directory = Some(directory.to_owned());
    }

    /// Lets the calls that this one makes see its files.
    pub(crate) fn share(&self, working: &Working) {
        // A context is of one call, so it is set once.
        let _ = working.0.set(self.work.clone());
    }

    /// The call has ended: what it changed. Nothing may be done with the files before the next one begins.
    ///
    /// # Errors
    /// `Io` if what it removed or replaced must be read for that, and cannot be.
    pub(crate) fn end(&mut self) -> Result<Vec<Edit>, Errno> {
        let empty = Tree::new(Limits::default(), 0);
        let base = std::mem::replace(&mut self.base, empty.clone());
        let mut work = self.work.lock();
        let tree = work.end(empty);
        // From here on the tree says nothing of what the call changed.
        let left = work.left.insert(Vec::new());
        left.clone_from(&tree.changes_since(&base)?);
        Ok(left.clone())
    }

    fn slot(&self) -> Result<Slot, Code> {
        // WASI has no `EMFILE`. One of the clones is ours.
        if Arc::strong_count(&self.slots) > MAX_OPEN {
            Err(Code::InsufficientMemory)
        } else {
            Ok(Slot::clone(&self.slots))
        }
    }
}

/// What `wasi:filesystem` is implemented for.
pub(crate) struct FilesView<'a> {
    pub(crate) files: &'a mut Files,
    pub(crate) table: &'a mut ResourceTable,
}

/// Says so to a linker.
struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}

/// Adds `wasi:filesystem` to a linker, in the place of another, which must allow that.
pub(crate) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    files: fn(&mut T) -> FilesView<'_>,
) -> wasmtime::Result<()> {
    types::add_to_linker::<T, HasFiles>(linker, files)?;
    preopens::add_to_linker::<T, HasFiles>(linker, files)
}

/// What a descriptor's handle stands for.
struct Held {
    open: Open,
    _slot: Slot,
}

impl FilesView<'_> {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.files.work.lock()
    }

    /// What a handle stands for. The bindings name wasmtime's own descriptors, of which there are none: the number of a
    /// handle always stands for one of ours.
    fn open(&self, descriptor: &Resource<Descriptor>) -> wasmtime::Result<Open> {
        Ok(self.table.get(&Resource::<Held>::new_borrow(descriptor.rep()))?.open.clone())
    }

    fn hold(&mut self, open: Open, slot: Slot) -> wasmtime::Result<Resource<Descriptor>> {
        let held = self.table.push(Held { open, _slot: slot })?;
        Ok(Resource::new_own(held.rep()))
    }
}

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let beginnings = self.work().beginnings();
        // A guest that asks again and again gets fewer and fewer, and then none.
        let held = beginnings.into_iter().map_while(|(open, path)| Some((open, self.files.slot().ok()?, path)));
        let held: Vec<_> = held.collect();
        held.into_iter().map(|(open, slot, path)| Ok((self.hold(open, slot)?, path))).collect()
    }
}

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        Ok(error.downcast()?.into())
    }

    fn filesystem_error_code(&mut self, error: Resource<IoError>) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.downcast_ref::<Code>().map(|code| (*code).into()))
    }
}

impl From<Errno> for Code {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::Access => Self::Access,
            Errno::Exists => Self::Exist,
            Errno::TooLarge => Self::FileTooLarge,
            Errno::Invalid => Self::Invalid,
            Errno::IsDirectory => Self::IsDirectory,
            Errno::TooManyLinks => Self::Loop,
            Errno::NameTooLong => Self::NameTooLong,
            Errno::NoEntry => Self::NoEntry,
            Errno::NotDirectory => Self::NotDirectory,
            Errno::NotEmpty => Self::NotEmpty,
            Errno::Quota => Self::Quota,
            Errno::Busy => Self::Busy,
            Errno::Io => Self::Io,
        }
    }
}

impl From<Refusal> for Code {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Outside => Self::NotPermitted,
            Refusal::Hidden => Self::Access,
            Refusal::Errno(errno) => errno.into(),
        }
    }
}
