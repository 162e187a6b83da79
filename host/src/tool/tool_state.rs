//! State of a tool's store: its operating system, and its resource usage.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::{SeedableRng as _, TryRng};
use rand_chacha::ChaCha12Rng;
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::captured_output::CapturedOutput;
use super::clock::FixedClock;
use super::files::{FilesView, ToolFiles};
use super::handle_table::HandleTable;
use super::http::OutgoingRequests;
use super::secret::placeholder;
use super::{Authority, CallContext, PeerTools, ToolServices, keyvalue};
use crate::code::{Interrupt, MemoryAccount, MemoryCharge};
use crate::vfs::{Edit, Errno};

/// State of a tool's store.
pub(crate) struct ToolState {
    wasi: WasiCtx,
    pub(super) handles: HandleTable,
    stdout: CapturedOutput,
    stderr: CapturedOutput,
    pub(super) clock: FixedClock,
    random: [SeededRandom; 2],
    /// Seed of the current call.
    seed: [u8; 32],
    /// Files of the tool. `None` until it is granted some or calls functions of files.
    files: Option<ToolFiles>,
    http: WasiHttpCtx,
    outgoing: OutgoingRequests,
    authority: Arc<Authority>,
    services: Arc<ToolServices>,
    /// Other tools that it may call.
    pub(super) peers: Option<Arc<dyn PeerTools>>,
    /// Interrupt of the current call.
    pub(super) interrupt: Interrupt,
    pub(crate) memory: MemoryLimit,
    /// True after a call that ended halfway: the state of the instance is unusable.
    pub(super) trapped: bool,
}

/// Most bytes of the names and values of one message's header fields.
const FIELD_BYTES: usize = 32 << 10;

impl ToolState {
    /// Creates the state of a tool for one call.
    pub(super) fn new(context: &CallContext, memory: u64) -> Self {
        Self::with(context, memory, |_| {})
    }

    /// Creates a state without authority except for the additions of `configure`.
    pub(crate) fn with(context: &CallContext, memory: u64, configure: impl FnOnce(&mut WasiCtxBuilder)) -> Self {
        let (stdout, stderr) = (CapturedOutput::default(), CapturedOutput::default());
        let clock = FixedClock::default();
        let random = [SeededRandom::default(), SeededRandom::default()];
        let mut insecure_seed = [0; 16];
        insecure_seed.copy_from_slice(&context.seed[..16]);
        let mut builder = WasiCtx::builder();
        builder
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .wall_clock(clock.clone())
            .monotonic_clock(clock.clone())
            .secure_random(random[0].clone())
            .insecure_random(random[1].clone())
            .insecure_random_seed(u128::from_le_bytes(insecure_seed))
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        for (name, sees) in context.authority.secrets() {
            let value = context.services.secrets.get(name).filter(|_| sees);
            builder.env(name, value.map_or_else(|| placeholder(name), str::to_owned));
        }
        configure(&mut builder);
        let wasi = builder.build();
        let memory = MemoryLimit::new(&context.memory, memory);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(FIELD_BYTES);
        let mut state = Self {
            wasi,
            handles: HandleTable::new(&context.memory),
            stdout,
            stderr,
            clock,
            random,
            seed: context.seed,
            files: None,
            http,
            outgoing: OutgoingRequests::new(context),
            authority: Arc::clone(&context.authority),
            services: Arc::clone(&context.services),
            peers: None,
            interrupt: Interrupt::default(),
            memory,
            trapped: false,
        };
        state.begin(context);
        state
    }

    /// Limits the printed bytes that are kept of each stream.
    pub(super) fn keep_printed(&self, bytes: usize) {
        [&self.stdout, &self.stderr].into_iter().for_each(|kept| kept.keep_at_most(bytes));
    }

    /// Prepares the state for another call: its own time, random numbers and interrupt.
    pub(super) fn begin(&mut self, context: &CallContext) {
        self.clock.set(context.now);
        for (stream, random) in self.random.iter().enumerate() {
            random.seed(context.seed, stream as u64);
        }
        self.seed = context.seed;
        self.stdout.clear();
        self.stderr.clear();
        self.interrupt = context.interrupt.clone();
        self.memory.refused = None;
        self.outgoing = OutgoingRequests::new(context);
        self.peers.clone_from(&context.peers);
        let scope = context.authority.files();
        // Changes by tools that it calls pass through its view of the files, even if it sees none of them.
        if self.files.is_some() || !scope.is_empty() || self.peers.is_some() {
            let files = self.files.get_or_insert_with(ToolFiles::new);
            files.begin(context.files.clone(), scope.clone(), context.now);
            files.share(&context.working);
        }
    }

    /// Ends the call and returns its changes of files. The instance may be kept, and then must not keep the session
    /// alive.
    ///
    /// # Errors
    /// If the changes cannot be read.
    pub(crate) fn end(&mut self) -> Result<Vec<Edit>, Errno> {
        self.peers = None;
        self.outgoing.end();
        self.files.as_mut().map_or_else(|| Ok(Vec::new()), ToolFiles::end)
    }

    /// Sets the working directory of a program, an absolute path. Without files it has none.
    pub(super) fn enter(&mut self, directory: &str) {
        if let Some(files) = &self.files {
            files.enter(directory);
        }
    }

    /// Returns the session's files that the tool may use.
    pub(super) fn files(&mut self) -> FilesView<'_> {
        FilesView { files: self.files.get_or_insert_with(ToolFiles::new), table: self.handles.with_room() }
    }

    /// Returns the part of the session's key-value store that the tool may use.
    pub(super) fn keyvalue(&mut self) -> keyvalue::KeyValueView<'_> {
        let Self { authority, services, handles, memory, .. } = self;
        keyvalue::KeyValueView {
            authority,
            store: &services.store,
            table: handles.with_room(),
            memory: &memory.account,
        }
    }

    /// Returns the seed of the current call's random numbers.
    pub(super) fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns the tool's output by stream.
    pub(super) fn said(&self) -> Vec<(&'static str, String)> {
        let streams = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        let texts = streams.into_iter().map(|(stream, kept)| (stream, kept.text().trim().to_owned()));
        texts.filter(|(_, text)| !text.is_empty()).collect()
    }

    /// Returns the last request of the tool that was refused, with the reason.
    pub(super) fn refused(&self) -> Option<String> {
        self.outgoing.refused()
    }

    /// Returns the tool's standard error, for example a panic's message.
    pub(super) fn complaint(&self) -> String {
        self.stderr.text().trim().to_owned()
    }
}

impl WasiView for ToolState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: self.handles.with_room() }
    }
}

impl WasiHttpView for ToolState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: self.handles.with_room(), hooks: &mut self.outgoing }
    }
}

/// Random numbers from a seed. Clones draw from one sequence.
#[derive(Clone)]
struct SeededRandom(Arc<Mutex<ChaCha12Rng>>);

impl Default for SeededRandom {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ChaCha12Rng::from_seed([0; 32]))))
    }
}

impl SeededRandom {
    /// Restarts the sequence from a seed. Two interfaces use two streams of the same seed.
    fn seed(&self, seed: [u8; 32], stream: u64) {
        let mut random = ChaCha12Rng::from_seed(seed);
        random.set_stream(stream);
        *self.lock() = random;
    }

    fn lock(&self) -> MutexGuard<'_, ChaCha12Rng> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TryRng for SeededRandom {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        self.lock().try_next_u32()
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        self.lock().try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.lock().try_fill_bytes(bytes)
    }
}

/// Bytes of an element of a table: a pointer.
const ELEMENT_BYTES: u64 = size_of::<usize>() as u64;

/// Limit that refused memory to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryRefusal {
    /// Limit of a call: its tool's, or all memory of its session.
    OfCall,
    /// Memory left in the session.
    OfSession,
}

/// Limiter of the memories and tables of one instance: the limit of a call, and the memory left in its session.
pub(crate) struct MemoryLimit {
    limit: u64,
    account: MemoryAccount,
    charge: MemoryCharge,
    /// Limit that refused memory last in the current call.
    pub(crate) refused: Option<MemoryRefusal>,
}

impl MemoryLimit {
    fn new(session: &MemoryAccount, limit: u64) -> Self {
        Self { limit, account: session.clone(), charge: session.open(), refused: None }
    }

    /// Returns the bytes of the instance's memories and tables, which never shrink.
    pub(crate) fn used(&self) -> u64 {
        self.charge.bytes()
    }

    /// Charges more bytes, or records the limit that forbids it.
    fn grow(&mut self, more: u64) -> bool {
        let refused = match self.used().checked_add(more) {
            Some(all) if all <= self.limit => (!self.charge.resize(all)).then_some(MemoryRefusal::OfSession),
            _ => Some(MemoryRefusal::OfCall),
        };
        self.refused = refused.or(self.refused);
        refused.is_none()
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        // Memory beyond the memory's own maximum is not charged.
        Ok(maximum.is_none_or(|most| desired <= most) && self.grow(desired.saturating_sub(current) as u64))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        // The pool's own bound; a request beyond it returns -1 instead of trapping.
        let most = maximum.unwrap_or(usize::MAX).min(100_000);
        let more = (desired.saturating_sub(current) as u64).saturating_mul(ELEMENT_BYTES);
        Ok(desired <= most && self.grow(more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_and_tables_count_against_the_call_and_the_session() {
        let session = MemoryAccount::new(1_000);
        let mut one = MemoryLimit::new(&session, 600);
        let mut other = MemoryLimit::new(&session, 1_000);
        let grow = |limit: &mut MemoryLimit, from, to| limit.memory_growing(from, to, Some(5_000)).expect("it answers");
        assert!(grow(&mut one, 0, 500) && one.table_growing(0, 10, None).expect("it answers"));
        assert_eq!((one.used(), session.taken()), (580, 580));
        assert!(!grow(&mut one, 500, 521));
        assert_eq!(one.refused, Some(MemoryRefusal::OfCall));
        assert!(!grow(&mut other, 0, 421));
        assert_eq!(other.refused, Some(MemoryRefusal::OfSession));
        drop(one);
        assert!(grow(&mut other, 0, 1_000));
        assert_eq!((other.used(), session.left()), (1_000, 0));
    }

    #[test]
    fn memory_growth_beyond_own_maximum_is_not_charged() {
        let session = MemoryAccount::new(1_000);
        let mut limit = MemoryLimit::new(&session, 1_000);
        assert!(!limit.memory_growing(0, 200, Some(100)).expect("it answers"));
        assert!(!limit.table_growing(0, 20, Some(10)).expect("it answers"));
        assert!(!limit.table_growing(0, 100_001, None).expect("it answers"));
        assert_eq!((limit.used(), limit.refused), (0, None));
    }
}
