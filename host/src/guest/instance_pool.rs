//! Pool of instances: created ahead of use, and dropped beside the next run, so that neither delays a script.
//!
//! A ready instance has seen no script: it equals a new one, but already has the memory pages that every script writes
//! to. A used instance is never used again; it only waits to be dropped.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::{Result, Store};

use super::bindings::{ScriptGuest, ScriptGuestPre};
use super::guest_state::GuestState;
use crate::code::Interrupt;

/// Most used instances that wait to be dropped, and the most bytes by which such an instance may have grown: together
/// they hold little memory.
const MAX_SERVED: usize = 4;
const MAX_GROWN: u64 = 4 << 20;

/// Number of ready instances that are created when the last one was taken: waking the thread that creates them takes a
/// tenth of a short run. More than these would no longer lie in the processor's caches when they are used.
const READY: usize = 3;

/// Most time that the creation of an instance may take. A guest of ours does nothing then.
const PATIENCE: Duration = Duration::from_secs(1);

/// Unused instances of one language.
#[derive(Default)]
pub(super) struct InstancePool {
    shelf: Arc<PoolShelf>,
    /// Memory pages that a ready instance has touched.
    pages: Arc<[u32]>,
    /// True once an instance was taken. A process that runs one script needs no ready instance: none is created before
    /// a second script starts.
    used: AtomicBool,
    keeper: OnceLock<Option<Sender<()>>>,
}

#[derive(Default)]
struct PoolShelf {
    ready: Mutex<Vec<GuestInstance>>,
    served: Mutex<Vec<GuestInstance>>,
}

/// One instance, in its store.
pub(super) struct GuestInstance {
    pub(super) store: Store<GuestState>,
    pub(super) bindings: ScriptGuest,
}

/// Instance in use, which returns to the pool when it is dropped.
pub(super) struct PooledInstance {
    /// Always set until the drop.
    instance: Option<GuestInstance>,
    /// Bytes of memory at the start of the script.
    bytes: u64,
    shelf: Arc<PoolShelf>,
}

impl InstancePool {
    pub(super) fn with_pages(pages: Vec<u32>) -> Self {
        Self { pages: pages.into(), ..Self::default() }
    }

    /// Takes a ready instance or creates one, watched by this interrupt. [`PooledInstance::wake`] sets its state.
    ///
    /// # Errors
    /// Those of wasmtime, above all that the pool has no free slot.
    pub(super) fn take(&self, pre: &ScriptGuestPre<GuestState>, interrupt: &Interrupt) -> Result<PooledInstance> {
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
                // The pages that one script writes to lie in more contiguous runs than wasmtime leaves to the next
                // instance.
                let pages = if is_first { &[] } else { &*self.pages };
                // Instances that wait to be dropped must not keep others out.
                GuestInstance::new(pre, &Interrupt::default(), pages).inspect_err(|_| self.shelf.served().clear())?
            }
        };
        // Not earlier: a run that is already stopped must end as stopped, and not for want of an instance.
        interrupt.watch(&mut instance.store);
        Ok(self.pooled(instance))
    }

    /// Creates an instance whose memory is the guest's image: ready ones have had pages touched, which their allocator
    /// remembers.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub(super) fn take_untouched(&self, pre: &ScriptGuestPre<GuestState>) -> Result<PooledInstance> {
        let instance = GuestInstance::new(pre, &Interrupt::default(), &[]);
        Ok(self.pooled(instance.inspect_err(|_| self.shelf.served().clear())?))
    }

    fn pooled(&self, instance: GuestInstance) -> PooledInstance {
        let bytes = instance.store.data().memory.bytes();
        PooledInstance { instance: Some(instance), bytes, shelf: Arc::clone(&self.shelf) }
    }

    /// Signals the thread that creates ready instances.
    fn order(&self, pre: &ScriptGuestPre<GuestState>) {
        let keeper = self.keeper.get_or_init(|| {
            let (sender, orders) = channel();
            let (shelf, pre, pages) = (Arc::clone(&self.shelf), pre.clone(), Arc::clone(&self.pages));
            let keep = move || orders.into_iter().for_each(|()| shelf.tidy(&pre, &pages));
            // Without the thread, each script creates its own instance.
            std::thread::Builder::new().name("tollhouse-spare".into()).spawn(keep).is_ok().then_some(sender)
        });
        if let Some(keeper) = keeper {
            let _ = keeper.send(());
        }
    }
}

impl PoolShelf {
    /// Creates the ready instances that are missing, and drops used ones.
    fn tidy(&self, pre: &ScriptGuestPre<GuestState>, pages: &[u32]) {
        while self.ready().len() < READY {
            // Where the pool is full, nothing is created ahead.
            let interrupt = Interrupt::default();
            interrupt.set_deadline(Instant::now() + PATIENCE);
            let Ok(made) = GuestInstance::new(pre, &interrupt, pages) else { break };
            self.ready().push(made);
        }
        let served = std::mem::take(&mut *self.served());
        drop(served);
    }

    /// Locks the ready instances. No change can be seen half done, so a poisoned lock is still good.
    fn ready(&self) -> MutexGuard<'_, Vec<GuestInstance>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self) -> MutexGuard<'_, Vec<GuestInstance>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GuestInstance {
    /// Creates an instance that has touched these pages.
    fn new(pre: &ScriptGuestPre<GuestState>, interrupt: &Interrupt, pages: &[u32]) -> Result<Self> {
        let mut store = Store::new(pre.engine(), GuestState::asleep());
        store.limiter(|state| &mut state.memory);
        interrupt.watch(&mut store);
        let bindings = pre.instantiate(&mut store)?;
        if !pages.is_empty() {
            bindings.call_touch(&mut store, pages)?;
        }
        Ok(Self { store, bindings })
    }
}

impl PooledInstance {
    /// Gives the instance the state of a run.
    pub(super) fn wake(&mut self, mut state: GuestState) {
        state.memory.take_over(&self.store.data().memory);
        *self.store.data_mut() = state;
    }
}

impl Deref for PooledInstance {
    type Target = GuestInstance;

    fn deref(&self) -> &GuestInstance {
        self.instance.as_ref().expect("it is taken only when this is dropped")
    }
}

impl DerefMut for PooledInstance {
    fn deref_mut(&mut self) -> &mut GuestInstance {
        self.instance.as_mut().expect("it is taken only when this is dropped")
    }
}

impl Drop for PooledInstance {
    fn drop(&mut self) {
        let Some(mut instance) = self.instance.take() else { return };
        let grown = instance.store.data().memory.bytes() - self.bytes;
        // The run's own data is dropped now: only the instance waits.
        *instance.store.data_mut() = GuestState::asleep();
        let mut served = self.shelf.served();
        if grown <= MAX_GROWN && served.len() < MAX_SERVED {
            served.push(instance);
        }
    }
}
