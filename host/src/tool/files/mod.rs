//! The session's files as a tool sees them: `wasi:filesystem` 0.2 on the paths that it was granted.
//!
//! A call works on a snapshot of its run's tree ([`ToolFiles`]); its changes are taken out as edits when it has ended,
//! and are applied to the run's tree, as it is then, when the result is delivered. So concurrent calls do not see each
//! other's work, and a call that is not delivered leaves nothing behind. The exception is a program that is stopped:
//! its changes up to then are kept ([`WorkingFiles::changes`]).
//!
//! - `working_tree`: the snapshot, its operations, and files that are open; no wasmtime there;
//! - `write_operations`: the operations that change entries;
//! - `descriptor`, `stream`: the interface;
//! - this file: the host's state, preopened directories, and conversion of errors.
//!
//! # Semantics
//!
//! The granted directories are preopened under their absolute paths. A granted path that is not a directory, or does
//! not exist yet, is reached through its parent directory, which then shows nothing else. A grant is bound to a name,
//! so a link cannot redirect it. Grants add up.
//!
//! A program also has its working directory, as `.`, with a path upwards.
//!
//! A path is resolved as WASI says: below its descriptor, or it is `not-permitted`. The result is compared with the
//! grants: an access outside of them is `access`, whether or not an entry exists; changing an entry that may only be
//! read is `read-only`. Changing an entry that the session itself makes read-only is `access`, as for scripts.
//!
//! A descriptor follows its entry when that is renamed. A file that is removed while it is open stays readable and
//! writable as long as it is open, and counts towards the quota; a removed directory is empty, and no path in it
//! resolves. A directory may be changed through any descriptor of it, whatever its flags, since C libraries do not
//! request `mutate-directory`: grants decide.
//!
//! There are no hard links (`unsupported`) and no times except that of the last change, and everything is in memory, so
//! `sync` has nothing to do. The time is the call's.
//!
//! **Invariant:** nothing here waits, and nothing touches the host's disk.
//!
//! **Invariant:** rights are determined for each operation, and never stored in a descriptor.

mod descriptor;
mod stream;
#[cfg(test)]
mod tests;
mod working_tree;
mod write_operations;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode as Code;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{self, Descriptor, ErrorCode};
use wasmtime_wasi::p2::bindings::sync::io::error::Error as IoError;

use self::working_tree::{OpenEntry, WorkingTree};
use crate::vfs::{ApplyError, Edit, Errno, Limits, Refusal, Scope, Tree};

/// Most descriptors, and streams of files and directories, that a tool may hold at once: Linux's default for a process.
pub(super) const MAX_OPEN: usize = 1_024;

/// Most bytes of one read or write: the guest chooses the size, and the host provides the memory.
const CHUNK: u64 = 1 << 20;

/// Files of a tool, for one call after another.
pub(crate) struct ToolFiles {
    work: SharedTree,
    base: Tree,
    /// Slot that every open descriptor and stream clones.
    slots: OpenSlot,
}

/// Reference-counted slot, of which there may be [`MAX_OPEN`].
type OpenSlot = Arc<()>;

/// Files of a call that makes calls itself: those calls see them, and their changes are applied to them.
#[derive(Clone, Default)]
pub(crate) struct WorkingFiles(Arc<OnceLock<SharedTree>>);

impl WorkingFiles {
    /// Returns the current files. Returns `None` before the call has begun.
    pub(crate) fn snapshot(&self) -> Option<Tree> {
        Some(self.0.get()?.lock().tree.clone())
    }

    /// Returns the call's changes so far, relative to the files that it began with.
    ///
    /// # Errors
    /// `Io` if removed or replaced content must be read for that, and cannot be.
    pub(crate) fn changes(&self, base: &Tree) -> Result<Vec<Edit>, Errno> {
        let Some(shared) = self.0.get() else { return Ok(Vec::new()) };
        let work = shared.lock();
        work.left.clone().map_or_else(|| work.tree.changes_since(base), Ok)
    }

    /// Applies the changes of a call.
    ///
    /// # Errors
    /// If they do not fit; then nothing is changed.
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

/// Shared state of a tool's descriptors and streams.
#[derive(Clone)]
struct SharedTree(Arc<Mutex<WorkingTree>>);

impl SharedTree {
    fn lock(&self) -> MutexGuard<'_, WorkingTree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolFiles {
    /// Creates an empty file system, until a call begins.
    pub(crate) fn new() -> Self {
        let tree = Tree::new(Limits::default(), 0);
        let work = WorkingTree::new(tree.clone(), Scope::default(), 0);
        Self { work: SharedTree(Arc::new(Mutex::new(work))), base: tree, slots: Arc::default() }
    }

    /// Begins a call, on a snapshot of its run's tree, at a time in nanoseconds since the Unix epoch. Descriptors that
    /// an earlier call of the same instance left open stay open where the new tree has the same kind of entry at that
    /// path.
    pub(crate) fn begin(&mut self, tree: Tree, scope: Scope, now: u64) {
        self.base = tree.clone();
        self.work.lock().begin(tree, scope, now);
    }

    /// Sets the working directory of a program, an absolute path.
    pub(crate) fn enter(&self, directory: &str) {
        self.work.lock().directory = Some(directory.to_owned());
    }

    /// Shares the files with the calls that this one makes.
    pub(crate) fn share(&self, working: &WorkingFiles) {
        // A context belongs to one call, so it is set once.
        let _ = working.0.set(self.work.clone());
    }

    /// Ends the call and returns its changes. The files must not be used before the next one begins.
    ///
    /// # Errors
    /// `Io` if removed or replaced content must be read for that, and cannot be.
    pub(crate) fn end(&mut self) -> Result<Vec<Edit>, Errno> {
        let empty = Tree::new(Limits::default(), 0);
        let base = std::mem::replace(&mut self.base, empty.clone());
        let mut work = self.work.lock();
        let tree = work.end(empty);
        // From here on the tree no longer shows the call's changes.
        let left = work.left.insert(Vec::new());
        left.clone_from(&tree.changes_since(&base)?);
        Ok(left.clone())
    }

    fn slot(&self) -> Result<OpenSlot, Code> {
        // WASI has no `EMFILE`. One of the clones is our own.
        if Arc::strong_count(&self.slots) > MAX_OPEN {
            Err(Code::InsufficientMemory)
        } else {
            Ok(OpenSlot::clone(&self.slots))
        }
    }
}

/// View that implements `wasi:filesystem`.
pub(crate) struct FilesView<'a> {
    pub(crate) files: &'a mut ToolFiles,
    pub(crate) table: &'a mut ResourceTable,
}

/// Marker for a linker.
struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}

/// Adds `wasi:filesystem` to a linker in place of another implementation. The linker must allow shadowing.
pub(crate) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    files: fn(&mut T) -> FilesView<'_>,
) -> wasmtime::Result<()> {
    types::add_to_linker::<T, HasFiles>(linker, files)?;
    preopens::add_to_linker::<T, HasFiles>(linker, files)
}

/// State of a descriptor's handle.
struct HeldDescriptor {
    open: OpenEntry,
    _slot: OpenSlot,
}

impl FilesView<'_> {
    fn work(&self) -> MutexGuard<'_, WorkingTree> {
        self.files.work.lock()
    }

    /// Returns the state of a handle. The bindings name wasmtime's own descriptors, of which there are none: the number
    /// of a handle always means one of ours.
    fn open(&self, descriptor: &Resource<Descriptor>) -> wasmtime::Result<OpenEntry> {
        Ok(self.table.get(&Resource::<HeldDescriptor>::new_borrow(descriptor.rep()))?.open.clone())
    }

    fn hold(&mut self, open: OpenEntry, slot: OpenSlot) -> wasmtime::Result<Resource<Descriptor>> {
        let held = self.table.push(HeldDescriptor { open, _slot: slot })?;
        Ok(Resource::new_own(held.rep()))
    }
}

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let preopened = self.work().preopened();
        // A guest that calls this again and again gets fewer and fewer, and finally none.
        let held = preopened.into_iter().map_while(|(open, path)| Some((open, self.files.slot().ok()?, path)));
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

/// Returns the error of `wasi:filesystem` for a failed operation on the tree.
fn errno_code(errno: Errno) -> Code {
    match errno {
        Errno::Access => Code::Access,
        Errno::Exists => Code::Exist,
        Errno::TooLarge => Code::FileTooLarge,
        Errno::Invalid => Code::Invalid,
        Errno::IsDirectory => Code::IsDirectory,
        Errno::TooManyLinks => Code::Loop,
        Errno::NameTooLong => Code::NameTooLong,
        Errno::NoEntry => Code::NoEntry,
        Errno::NotDirectory => Code::NotDirectory,
        Errno::NotEmpty => Code::NotEmpty,
        Errno::Quota => Code::Quota,
        Errno::Busy => Code::Busy,
        Errno::Io => Code::Io,
    }
}

/// Returns the error of `wasi:filesystem` for a path that a tool may not reach.
fn refusal_code(refusal: Refusal) -> Code {
    match refusal {
        Refusal::Outside => Code::NotPermitted,
        Refusal::Hidden => Code::Access,
        Refusal::Errno(errno) => errno_code(errno),
    }
}
