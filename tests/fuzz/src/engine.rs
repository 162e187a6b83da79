//! Differential test of the engine that compiles and runs untrusted modules, against an interpreter that shares no code
//! with it.

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread;

use arbitrary::Unstructured;
use wasm_smith::{Config, Module};

/// Total number of loop iterations and calls of a module, after which it traps in both engines.
const FUEL: u32 = 10_000;

/// Largest memory of a module, in bytes. Both engines must allocate it, and all of it is compared.
const MEMORY: u64 = 1 << 20;

/// Returns the settings of the module generator: features that both engines support and whose results are
/// deterministic. NaNs are made canonical.
fn shape() -> Config {
    Config {
        max_imports: 0,
        max_funcs: 20,
        max_memory32_bytes: MEMORY,
        memory_max_size_required: true,
        max_tables: 1,
        max_table_elements: 1_000,
        table_max_size_required: true,
        canonicalize_nans: true,
        export_everything: true,
        bulk_memory_enabled: true,
        // wasmtime is built without a garbage collector, which `externref` needs.
        reference_types_enabled: false,
        gc_enabled: false,
        exceptions_enabled: false,
        extended_const_enabled: false,
        memory64_enabled: false,
        simd_enabled: false,
        relaxed_simd_enabled: false,
        tail_call_enabled: false,
        threads_enabled: false,
        ..Config::default()
    }
}

/// Behaviour of a module: the outcomes of its start function and of each exported function in order, and the final
/// contents of its globals and its memory. A module that overflows a stack has no comparable behaviour, because the
/// sizes of stacks differ between the engines.
#[derive(Debug, PartialEq)]
struct Behaviour {
    outcomes: Vec<Outcome>,
    globals: Vec<(String, Bits)>,
    memory: Option<Vec<u8>>,
}

/// Outcome of a call: its results, or the reason of its trap.
type Outcome = Result<Vec<Bits>, Trap>;

/// Number, compared by its bits.
#[derive(Debug, PartialEq)]
enum Bits {
    Four(u32),
    Eight(u64),
}

/// Reason of a trap, in the detail that both engines report.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trap {
    Unreachable,
    Memory,
    Table,
    Divided,
    Overflow,
    Conversion,
    Missing,
    Signature,
    Stack,
}

/// Stack size for a tool, in bytes: the same as that of the host's threads that call tools.
const STACK: usize = 8 << 20;

/// Returns the argument for a parameter, the same in both engines: arguments of one call differ, and are neither large
/// nor all 0.
fn argument(at: usize) -> i32 {
    [1, 7, -1, 1_000, i32::MIN, 0][at % 6]
}

/// Generates a module from the data, and checks that it behaves the same in Tollhouse's engine and in wasmi.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn engine(data: &[u8]) {
    let Ok(mut module) = Module::new(shape(), &mut Unstructured::new(data)) else { return };
    module.ensure_termination(FUEL).expect("its functions were made, instruction by instruction");
    let bytes = module.to_bytes();
    let (ours, theirs) = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let behaviours = || (compiled::behaviour(&bytes), interpreted::behaviour(&bytes));
        thread
            .spawn_scoped(scope, behaviours)
            .expect("a thread starts")
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))
    });
    if let (Some(ours), Some(theirs)) = (ours, theirs) {
        assert_eq!(ours.outcomes, theirs.outcomes, "what the functions gave, in the order of their names");
        assert_eq!(ours.globals, theirs.globals, "what they left in globals");
        assert!(ours.memory == theirs.memory, "what they left in the memory");
    }
}

/// Sorts the names of exports, which each engine lists in another order.
fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

/// Execution by Tollhouse's engine for tools.
mod compiled {
    use wasmtime::{Engine, Error, Instance, Module, Store, Trap as Code, Val, ValType};

    use super::{Behaviour, Bits, LazyLock, Outcome, Trap, argument, sorted};

    static ENGINE: LazyLock<Engine> = LazyLock::new(|| tollhouse_engine::tool().expect("it starts").0);

    pub(super) fn behaviour(bytes: &[u8]) -> Option<Behaviour> {
        let module = Module::new(&ENGINE, bytes).expect("the engine takes what is valid");
        let mut store = Store::new(&ENGINE, ());
        // The clock of epochs does not advance in this process.
        store.set_epoch_deadline(1);
        let instance = match Instance::new(&mut store, &module, &[]) {
            Ok(instance) => instance,
            Err(error) => return began_with(trap(&error)),
        };
        let mut outcomes = Vec::new();
        let names = sorted(module.exports().map(|export| export.name()));
        for name in &names {
            let Some(function) = instance.get_func(&mut store, name) else { continue };
            let ty = function.ty(&store);
            let arguments: Vec<Val> = ty.params().enumerate().map(|(at, ty)| value(&ty, argument(at))).collect();
            let mut results = vec![Val::I32(0); ty.results().len()];
            let called = function.call(&mut store, &arguments, &mut results);
            outcomes.push(called.map(|()| results.iter().map(bits).collect()).map_err(|error| trap(&error)));
            if outcomes.last() == Some(&Outcome::Err(Trap::Stack)) {
                return None;
            }
        }
        let mut globals = Vec::new();
        for name in &names {
            if let Some(global) = instance.get_global(&mut store, name) {
                globals.push(((*name).to_owned(), bits(&global.get(&mut store))));
            }
        }
        let memories = sorted(module.exports().filter_map(|it| it.ty().memory().map(|_| it.name())));
        let memory = memories.first().and_then(|name| instance.get_memory(&mut store, name));
        Some(Behaviour { outcomes, globals, memory: memory.map(|memory| memory.data(&store).to_vec()) })
    }

    fn began_with(trap: Trap) -> Option<Behaviour> {
        (trap != Trap::Stack).then(|| Behaviour { outcomes: vec![Err(trap)], globals: Vec::new(), memory: None })
    }

    fn value(ty: &ValType, number: i32) -> Val {
        match ty {
            ValType::I32 => Val::I32(number),
            ValType::I64 => Val::I64(i64::from(number)),
            ValType::F32 => Val::F32((number as f32).to_bits()),
            ValType::F64 => Val::F64(f64::from(number).to_bits()),
            other => panic!("no such type is made: {other}"),
        }
    }

    fn bits(value: &Val) -> Bits {
        match value {
            Val::I32(number) => Bits::Four(number.cast_unsigned()),
            Val::I64(number) => Bits::Eight(number.cast_unsigned()),
            Val::F32(bits) => Bits::Four(*bits),
            Val::F64(bits) => Bits::Eight(*bits),
            other => panic!("no such value is made: {other:?}"),
        }
    }

    fn trap(error: &Error) -> Trap {
        match error.downcast_ref::<Code>() {
            Some(Code::UnreachableCodeReached) => Trap::Unreachable,
            Some(Code::MemoryOutOfBounds) => Trap::Memory,
            Some(Code::TableOutOfBounds) => Trap::Table,
            Some(Code::IntegerDivisionByZero) => Trap::Divided,
            Some(Code::IntegerOverflow) => Trap::Overflow,
            Some(Code::BadConversionToInteger) => Trap::Conversion,
            Some(Code::IndirectCallToNull) => Trap::Missing,
            Some(Code::BadSignature) => Trap::Signature,
            Some(Code::StackOverflow) => Trap::Stack,
            _ => panic!("the engine fails otherwise than code can: {error:?}"),
        }
    }
}

/// Execution by wasmi, an interpreter.
mod interpreted {
    use wasmi::errors::{ErrorKind, InstantiationError};
    use wasmi::{Engine, Error, Extern, Linker, Module, Store, TrapCode as Code, Val, ValType};

    use super::{Behaviour, Bits, LazyLock, Outcome, Trap, argument, sorted};

    static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);

    pub(super) fn behaviour(bytes: &[u8]) -> Option<Behaviour> {
        let module = Module::new(&ENGINE, bytes).expect("the interpreter takes what is valid");
        let mut store = Store::new(&ENGINE, ());
        let instance = match Linker::<()>::new(&ENGINE).instantiate_and_start(&mut store, &module) {
            Ok(instance) => instance,
            Err(error) => return began_with(trap(&error)),
        };
        let (mut outcomes, mut globals, mut memory) = (Vec::new(), Vec::new(), None);
        let names = sorted(module.exports().map(|export| export.name()));
        for name in &names {
            let Some(function) = instance.get_func(&store, name) else { continue };
            let ty = function.ty(&store);
            let arguments: Vec<Val> = ty.params().iter().enumerate().map(|(at, ty)| value(*ty, argument(at))).collect();
            let mut results = vec![Val::I32(0); ty.results().len()];
            let called = function.call(&mut store, &arguments, &mut results);
            outcomes.push(called.map(|()| results.iter().map(bits).collect()).map_err(|error| trap(&error)));
            if outcomes.last() == Some(&Outcome::Err(Trap::Stack)) {
                return None;
            }
        }
        for name in &names {
            match instance.get_export(&store, name) {
                Some(Extern::Global(global)) => globals.push(((*name).to_owned(), bits(&global.get(&store)))),
                Some(Extern::Memory(found)) if memory.is_none() => memory = Some(found.data(&store).to_vec()),
                _ => {}
            }
        }
        Some(Behaviour { outcomes, globals, memory })
    }

    fn began_with(trap: Trap) -> Option<Behaviour> {
        (trap != Trap::Stack).then(|| Behaviour { outcomes: vec![Err(trap)], globals: Vec::new(), memory: None })
    }

    fn value(ty: ValType, number: i32) -> Val {
        match ty {
            ValType::I32 => Val::I32(number),
            ValType::I64 => Val::I64(i64::from(number)),
            ValType::F32 => Val::F32((number as f32).into()),
            ValType::F64 => Val::F64(f64::from(number).into()),
            other => panic!("no such type is made: {other:?}"),
        }
    }

    fn bits(value: &Val) -> Bits {
        match value {
            Val::I32(number) => Bits::Four(number.cast_unsigned()),
            Val::I64(number) => Bits::Eight(number.cast_unsigned()),
            Val::F32(number) => Bits::Four(number.to_bits()),
            Val::F64(number) => Bits::Eight(number.to_bits()),
            other => panic!("no such value is made: {other:?}"),
        }
    }

    fn trap(error: &Error) -> Trap {
        if let ErrorKind::Instantiation(InstantiationError::ElementSegmentDoesNotFit { .. }) | ErrorKind::Table(_) =
            error.kind()
        {
            return Trap::Table;
        }
        match error.as_trap_code() {
            Some(Code::UnreachableCodeReached) => Trap::Unreachable,
            Some(Code::MemoryOutOfBounds) => Trap::Memory,
            Some(Code::TableOutOfBounds) => Trap::Table,
            Some(Code::IntegerDivisionByZero) => Trap::Divided,
            Some(Code::IntegerOverflow) => Trap::Overflow,
            Some(Code::BadConversionToInteger) => Trap::Conversion,
            Some(Code::IndirectCallToNull) => Trap::Missing,
            Some(Code::BadSignature) => Trap::Signature,
            Some(Code::StackOverflow) => Trap::Stack,
            _ => panic!("the interpreter fails otherwise than code can: {error:?}"),
        }
    }
}
