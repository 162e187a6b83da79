//! What a tool finds where it looks for an operating system: everything is there, and nothing has authority.
//!
//! Files: no preopened directory. Environment and arguments: empty. Network: refused. Clocks: fixed at the time of the
//! call. Randomness: seeded by session, run and call, so that a replay draws the same. Standard output and error: kept
//! for the error message of a tool that fails, up to a limit.

use std::time::Duration;

use rand::SeedableRng as _;
use rand_chacha::ChaCha12Rng;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceTable, ResourceType};
use wasmtime::{Engine, ResourceLimiter, Result};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, WasiView};

use super::stdio::Kept;

/// What a tool's store holds.
pub(super) struct ToolState {
    wasi: WasiCtx,
    table: ResourceTable,
    stderr: Kept,
    pub(super) memory: MemoryLimit,
}

impl ToolState {
    /// A world without authority, at a time (nanoseconds since the epoch), with these random numbers.
    pub(super) fn new(now: u64, seed: [u8; 32], memory: u64) -> Self {
        let stderr = Kept::default();
        let random = ChaCha12Rng::from_seed(seed);
        let mut insecure = random.clone();
        // Two interfaces, two sequences of the same seed.
        insecure.set_stream(1);
        let mut insecure_seed = [0; 16];
        insecure_seed.copy_from_slice(&seed[..16]);
        let wasi = WasiCtx::builder()
            .stdout(Kept::default())
            .stderr(stderr.clone())
            .wall_clock(Fixed(now))
            .monotonic_clock(Fixed(now))
            .secure_random(random)
            .insecure_random(insecure)
            .insecure_random_seed(u128::from_le_bytes(insecure_seed))
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let memory = MemoryLimit { limit: usize::try_from(memory).unwrap_or(usize::MAX), refused: false };
        Self { wasi, table: ResourceTable::new(), stderr, memory }
    }

    /// What the tool wrote to its standard error, for example a panic's message.
    pub(super) fn complaint(&self) -> String {
        self.stderr.text()
    }
}

impl WasiView for ToolState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Keeps all memories of an instance together within a limit, and remembers whether it had to.
pub(super) struct MemoryLimit {
    limit: usize,
    pub(super) refused: bool,
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let rest = self.limit.checked_sub(desired.saturating_sub(current));
        match rest {
            Some(rest) => self.limit = rest,
            None => self.refused = true,
        }
        Ok(rest.is_some())
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // The pool's own bound; asking for more is an answer of -1, not a trap.
        Ok(desired <= 100_000)
    }
}

/// A clock that stands still, at nanoseconds since the epoch.
struct Fixed(u64);

impl HostWallClock for Fixed {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl HostMonotonicClock for Fixed {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        self.0
    }
}

/// The packages of WASI 0.2 that [`linker`] offers in whole. A component that was built against an older 0.2 gets the
/// one that is here: they are compatible.
const OFFERED: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

/// Defines what a component imports and no host here offers: it can be imported, and traps with its name when it is
/// called. Nearly every component imports more than it uses.
pub(super) fn define_unoffered(linker: &mut Linker<ToolState>, component: &Component) -> Result<()> {
    let engine = linker.engine().clone();
    for (name, item) in component.component_type().imports(&engine) {
        if !OFFERED.iter().any(|offered| name.starts_with(offered)) {
            trap(&mut linker.root(), &engine, name, name, &item.ty)?;
        }
    }
    Ok(())
}

fn trap(
    at: &mut LinkerInstance<'_, ToolState>,
    engine: &Engine,
    path: &str,
    name: &str,
    item: &ComponentItem,
) -> Result<()> {
    match item {
        ComponentItem::ComponentFunc(_) => {
            let path = path.to_owned();
            at.func_new(name, move |_, _, _, _| Err(wasmtime::format_err!("it called `{path}`, which no host offers")))
        }
        ComponentItem::ComponentInstance(instance) => {
            let mut inner = at.instance(name)?;
            for (export, item) in instance.exports(engine) {
                trap(&mut inner, engine, &format!("{path}#{export}"), export, &item.ty)?;
            }
            Ok(())
        }
        ComponentItem::Resource(_) => at.resource(name, ResourceType::host::<Unoffered>(), |_, _| Ok(())),
        // Types need no definition; what else there is makes linking fail, with its name.
        _ => Ok(()),
    }
}

/// A resource of an interface that no host offers. None is ever made.
struct Unoffered;

/// Everything that a tool may import, made once a process.
pub(super) fn linker(engine: &Engine) -> Result<Linker<ToolState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    Ok(linker)
}
