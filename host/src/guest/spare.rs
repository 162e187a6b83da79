//! Instances made ahead, and those that have served: neither the making nor the taking down of one holds up a script.
//!
//! An instance that is ready has seen no script: it is what a script's own would be, and has the pages of memory besides that
//! every script writes to. One that has served is never used again; here it only waits to be taken down.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::{Result, Store};

use super::bindings::{ScriptGuest, ScriptGuestPre};
use super::state::State;
use crate::code::Interrupt;

/// The most instances that wait to be taken down, and the most bytes by which one has grown that does: together they hold
/// little.
const MAX_SERVED: usize = 4;
const MAX_GROWN: u64 = 4 << 20;

/// How many are made when the last one that was ready is taken: to wake the thread that makes them takes a tenth of a short
/// run. More than these no longer lie in the processor's caches when they are used.
const READY: usize = 3;

/// How long the making of a spare may take: no guest of ours does anything then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The instances of one language that nobody uses.
#[derive(Default)]
pub(super) struct Spares {
    shelf: Arc<Shelf>,
    /// The pages that one is to have.
    pages: Arc<[u32]>,
    /// A process that runs one script needs no spare: none is made before a second one begins.
    used: AtomicBool,
    keeper: OnceLock<Option<Sender<()>>>,
}

#[derive(Default)]
struct Shelf {
    ready: Mutex<Vec<Instance>>,
    served: Mutex<Vec<Instance>>,
}

/// One instance, in its store.
pub(super) struct Instance {
    pub(super) store: Store<State>,
    pub(super) bindings: ScriptGuest,
}

/// An instance that somebody uses.
pub(super) struct Lent {
    /// Taken when this is dropped.
    instance: Option<Instance>,
    /// Its bytes of memory at first.
    bytes: u64,
    shelf: Arc<Shelf>,
}

impl Spares {
    pub(super) fn with_pages(pages: Vec<u32>) -> Self {
        Self { pages: pages.into(), ..Self::default() }
    }

    /// One that is ready, or a new one, watched by this switch. It has its state from [`Lent::wake`].
    ///
    /// # Errors
    /// As `wasmtime`: that there is no room, above all.
    pub(super) fn lend(&self, pre: &ScriptGuestPre<State>, interrupt: &Interrupt) -> Result<Lent> {
        let (ready, is_last) = {
            let mut ready = self.shelf.ready();
            (ready.pop(), ready.is_empty())
        };
        let is_first = !self.used.swap(true, Ordering::Relaxed);
        if is_last && !is_first {
            self.order(pre);
        }
        let mut instance = match ready {
            Some(instance) => instance,
            None => {
                // Those that one script writes to lie in more runs than wasmtime leaves to the next instance.
                let pages = if is_first { &[] } else { &*self.pages };
                // Who waits to be taken down must not keep anybody out.
                Instance::new(pre, &Interrupt::default(), pages).inspect_err(|_| self.shelf.served().clear())?
            }
        };
        // Not before: a run that is stopped by now is to end as such, and not for want of an instance.
        interrupt.watch(&mut instance.store);
        let bytes = instance.store.data().memory.bytes();
        Ok(Lent { instance: Some(instance), bytes, shelf: Arc::clone(&self.shelf) })
    }

    /// Has the next ones made.
    fn order(&self, pre: &ScriptGuestPre<State>) {
        let keeper = self.keeper.get_or_init(|| {
            let (sender, orders) = channel();
            let (shelf, pre, pages) = (Arc::clone(&self.shelf), pre.clone(), Arc::clone(&self.pages));
            let keep = move || orders.into_iter().for_each(|()| shelf.tidy(&pre, &pages));
            // Without the thread each script makes its own.
            std::thread::Builder::new().name("tollhouse-spare".into()).spawn(keep).is_ok().then_some(sender)
        });
        if let Some(keeper) = keeper {
            let _ = keeper.send(());
        }
    }
}

impl Shelf {
    /// Makes what is missing, and takes down what has served.
    fn tidy(&self, pre: &ScriptGuestPre<State>, pages: &[u32]) {
        while self.ready().len() < READY {
            // Where there is no room, nobody gets a spare.
            let interrupt = Interrupt::default();
            interrupt.set_deadline(Instant::now() + PATIENCE);
            let Ok(made) = Instance::new(pre, &interrupt, pages) else { break };
            self.ready().push(made);
        }
        let served = std::mem::take(&mut *self.served());
        drop(served);
    }

    /// Each change is whole, so a poisoned lock is still good.
    fn ready(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance {
    /// One that has these pages.
    fn new(pre: &ScriptGuestPre<State>, interrupt: &Interrupt, pages: &[u32]) -> Result<Self> {
        let mut store = Store::new(pre.engine(), State::asleep());
        store.limiter(|state| &mut state.memory);
        interrupt.watch(&mut store);
        let bindings = pre.instantiate(&mut store)?;
        if !pages.is_empty() {
            bindings.call_touch(&mut store, pages)?;
        }
        Ok(Self { store, bindings })
    }
}

impl Lent {
    /// Gives it the world of a run.
    pub(super) fn wake(&mut self, mut state: State) {
        state.memory.take_over(&self.store.data().memory);
        *self.store.data_mut() = state;
    }
}

impl Deref for Lent {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        self.instance.as_ref().expect("it is taken only when this is dropped")
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Instance {
        self.instance.as_mut().expect("it is taken only when this is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(mut instance) = self.instance.take() else { return };
        let grown = instance.store.data().memory.bytes() - self.bytes;
        // What the run had goes now: only the instance waits.
        *instance.store.data_mut() = State::asleep();
        let mut served = self.shelf.served();
        if grown <= MAX_GROWN && served.len() < MAX_SERVED {
            served.push(instance);
        }
    }
}
