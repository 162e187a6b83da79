//! The wasmtime engines of Tollhouse: two for guests, of which the shell's has more stack, and two for tools, of which
//! one counts fuel.
//!
//! They are a crate of their own because two programs must agree on every setting: `precompile`, which compiles the
//! guests when Tollhouse is built, and the host, which maps that code into memory. Nothing here instantiates anything,
//! reads a file or knows what a session is.

pub mod guest;
pub mod warm_pages;

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result};

/// Most guests of one language that may live at once in a process: 1,000 sessions whose scripts run scripts. Each takes
/// 4 GiB of address space, of which a process has 128 TiB, and memory only when it is used.
pub const MAX_GUESTS: u32 = 2_000;

/// Most instances of tools that may live at once in a process.
pub const MAX_TOOLS: u32 = 2_000;

/// Number of instances that is tried where there is less address space, for example under `ulimit -v`.
const FALLBACK_INSTANCES: u32 = 100;

/// Largest linear memory: all that 32 bits can address. The memory that a run may use is a limit of its session.
const MAX_MEMORY: usize = 1 << 32;

/// Stack for wasm frames of tools, in bytes.
pub const WASM_STACK: usize = 4 << 20;

/// Stack for wasm frames in the JavaScript guest, in bytes. QuickJS stops itself at 2 MiB of its own stack, which takes
/// several times as much here, because a frame of the interpreter spills more than native code does.
pub const JAVASCRIPT_STACK: usize = 16 << 20;

/// Stack for wasm frames in the shell guest, in bytes. A shell function that calls itself is a chain of futures that
/// poll each other: each level takes some ten KiB, and scripts recurse hundreds deep. The guest's own stack, within its
/// memory, is half as large.
pub const SHELL_STACK: usize = 64 << 20;

/// Bytes of a guest's memory that stay resident in a pool slot for the next instance. A guest touches most of them
/// again, so wiping them is cheaper than faulting them in.
const GUEST_KEEP_RESIDENT: usize = 4 << 20;

/// Bytes of a tool's memory that stay resident. Tools are small: more would be wiped for nothing.
const TOOL_KEEP_RESIDENT: usize = 64 << 10;

/// Creates the engine for script guests, whose code is compiled when Tollhouse is built.
///
/// # Errors
/// If this machine cannot run the engine, for example because it has too little address space.
pub fn guest() -> Result<Engine> {
    Ok(engine(GUEST)?.0)
}

/// Creates the engine for the shell guest. Only its stack differs; it runs the same code.
///
/// # Errors
/// As for [`guest()`].
pub fn shell() -> Result<Engine> {
    Ok(engine(EngineSettings { stack: SHELL_STACK, ..GUEST })?.0)
}

/// Creates the engine for tools, which are compiled when they are first loaded. Returns it with the number of instances
/// that it has room for.
///
/// # Errors
/// As for [`guest()`].
pub fn tool() -> Result<(Engine, u32)> {
    engine(TOOL)
}

/// Creates the engine for tools whose fuel is limited. Its code counts what it executes, which takes time that other
/// tools save.
///
/// # Errors
/// As for [`guest()`].
pub fn metered() -> Result<(Engine, u32)> {
    engine(EngineSettings { metered: true, ..TOOL })
}

/// Opens `/proc/self/pagemap`. wasmtime keeps it open from its first pool on; a process that has become undumpable can
/// no longer open it.
///
/// # Errors
/// As for [`guest()`].
pub fn open_pagemap() -> Result<()> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(1)
        .total_core_instances(1)
        .total_memories(1)
        .total_tables(1)
        .total_stacks(0)
        .max_memory_size(1 << 16)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .concurrency_support(false)
        .memory_reservation(1 << 16)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).map(drop)
}

/// Settings in which the engines differ.
#[derive(Clone, Copy)]
struct EngineSettings {
    instances: u32,
    /// Number of tables for each instance. Room for one takes time at the start, even if it is never used.
    tables: u32,
    keep_resident: usize,
    stack: usize,
    /// True if the code counts fuel.
    metered: bool,
}

const GUEST: EngineSettings = EngineSettings {
    instances: MAX_GUESTS,
    // That of its functions, and that of the functions that it imports.
    tables: 2,
    keep_resident: GUEST_KEEP_RESIDENT,
    stack: JAVASCRIPT_STACK,
    metered: false,
};

const TOOL: EngineSettings = EngineSettings {
    instances: MAX_TOOLS,
    // A composed tool has those of its parts.
    tables: 4,
    keep_resident: TOOL_KEEP_RESIDENT,
    stack: WASM_STACK,
    metered: false,
};

/// Creates an engine with the instances asked for, or with few if there is not enough address space.
fn engine(settings: EngineSettings) -> Result<(Engine, u32)> {
    with_settings(settings).or_else(|_| with_settings(EngineSettings { instances: FALLBACK_INSTANCES, ..settings }))
}

fn with_settings(settings: EngineSettings) -> Result<(Engine, u32)> {
    Ok((Engine::new(&config(settings))?, settings.instances))
}

/// Extensions of x86-64 that [`generic_guest()`] uses: those of its level 2, which processors have since 2009.
const X86_64_V2: [&str; 5] = ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// Creates an engine that compiles guests for every machine with this one's architecture and Linux, and not only for those
/// with this one's processor.
///
/// # Errors
/// If there is no compiler for this architecture.
#[expect(unsafe_code, reason = "a flag of the code generator is set by a function that is unsafe")]
pub fn generic_guest() -> Result<Engine> {
    let mut config = config(GUEST);
    // With a target that is named, nothing is taken from this machine's processor.
    config.target(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH))?;
    if cfg!(target_arch = "x86_64") {
        for flag in X86_64_V2 {
            // SAFETY: each flag exists for x86-64, and only lets the compiler use instructions; wasmtime refuses to load the
            // code where the processor lacks them.
            unsafe { config.cranelift_flag_enable(flag) };
        }
    }
    Engine::new(&config)
}

/// Returns the settings of an engine.
fn config(EngineSettings { instances, tables, keep_resident, stack, metered }: EngineSettings) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        // A component is several core instances: its modules, and adapters between them.
        .total_core_instances(instances * 8)
        .total_memories(instances)
        .total_tables(instances * tables)
        // No fiber is ever created, and setting up a thousand guarded stacks takes milliseconds of each start.
        .total_stacks(0)
        .max_memory_size(MAX_MEMORY)
        // The shell's table of functions is the largest known, at about 9,000 elements.
        .table_elements(100_000)
        .max_component_instance_size(16 << 20)
        .max_core_instance_size(16 << 20)
        .max_core_instances_per_component(100)
        .max_memories_per_component(20)
        .max_tables_per_component(100)
        .max_unused_warm_slots(100)
        // Where Linux reports which pages were touched, only those are wiped: dropping a guest then costs a third.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(keep_resident)
        .table_keep_resident(64 << 10);

    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .wasm_component_model_map(true)
        .wasm_component_model_fixed_length_lists(true)
        // Every call into wasm is synchronous and has its thread to itself: no fibers, no tasks (DESIGN §12, Calls).
        .concurrency_support(false)
        .epoch_interruption(true)
        .consume_fuel(metered)
        .max_wasm_stack(stack)
        // No backtrace of wasm is shown, and nothing unwinds through it; both tables are a seventh of the image.
        .generate_address_map(false)
        .native_unwind_info(false)
        // No fiber is ever created; wasmtime only requires the two sizes in order.
        .async_stack_size(stack)
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Fingerprint of everything that compiled code depends on: wasmtime's version, the target, and every setting, as 64
/// hexadecimal digits. Code compiled under another fingerprint must not be loaded.
#[must_use]
pub fn fingerprint(engine: &Engine) -> String {
    let mut hasher = DigestHasher(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let mut hex = String::with_capacity(64);
    for byte in hasher.0.finalize().as_bytes() {
        write!(hex, "{byte:02x}").expect("writing to a string does not fail");
    }
    hex
}

/// Adapter through which `Hash` feeds a hash that is the same in every process.
struct DigestHasher(blake3::Hasher);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.finalize();
        u64::from_le_bytes(digest.as_bytes()[..8].try_into().expect("a digest has 32 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_fingerprint_of_same_engine_repeats() {
        let engine = guest().expect("this machine runs the engine");
        assert_eq!(fingerprint(&engine), fingerprint(&guest().expect("again")));
        assert_eq!(fingerprint(&engine).len(), 64);
    }

    #[test]
    fn code_for_every_machine_runs_on_this_one() {
        let generic = generic_guest().expect("there is a compiler for this machine");
        let code = generic.precompile_component(b"\0asm\x0d\0\x01\0").expect("an empty component compiles");
        let engine = guest().expect("this machine runs the engine");
        #[expect(unsafe_code, reason = "code is loaded")]
        // SAFETY: the code was just compiled.
        unsafe { wasmtime::component::Component::deserialize(&engine, code) }.expect("the code fits the engine");
    }

    /// Code that counts nothing must never be taken for code that counts.
    #[test]
    fn fingerprint_of_metered_code_differs_from_unmetered() {
        let [plain, metered] = [tool(), metered()].map(|engine| engine.expect("this machine runs the engine").0);
        assert_ne!(fingerprint(&plain), fingerprint(&metered));
    }
}
